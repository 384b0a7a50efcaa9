; What the parser could not make sense of; asked only of trees that have errors.

(ERROR) @error
(MISSING) @missing
