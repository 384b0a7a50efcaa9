; What one pass over a Python file looks for. Everything else in the tree is never visited.

(function_definition) @function
(class_definition) @class
(lambda) @lambda

(import_statement) @import
(import_from_statement) @import_from

(assignment) @assignment
(augmented_assignment) @augmented
(named_expression) @named
(for_statement) @for
(for_in_clause) @for
(with_item) @with
(except_clause) @except
(return_statement) @return
(raise_statement) @raise
(yield) @yield
(global_statement) @global
(nonlocal_statement) @nonlocal

(call) @call
(attribute) @attribute
(decorator) @decorator

(comment) @comment
(string) @string
