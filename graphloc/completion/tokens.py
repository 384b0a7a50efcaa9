"""Counting tokens without a vocabulary, so that no network is needed.

Byte-pair tokenizers of code models first cut text with one pattern (words with the character in
front of them, groups of digits, runs of punctuation, white space) and then split the rarer pieces.
The first step is done exactly here, the second is estimated from lengths.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"[^\r\n\w]?[^\W\d_]+"  # a word with one leading character
    r"|_[^\W\d_]+"
    r"|\d{1,3}"
    r"| ?(?:[^\w\s]|_)+[\r\n]*"  # punctuation, line ends behind it included
    r"|\s*[\r\n]+"
    r"|[^\S\r\n]+(?=[^\S\r\n]\S)"  # indentation, less the blank that goes with the next word
    r"|\s+"
)
WHOLE_WORD_CHARS = 9
"""Words up to this length, leading character included, count as one token."""
SUBWORD_CHARS = 4
"""Characters of each further token of a longer word."""
PUNCTUATION_CHARS = 2
"""Characters of one token of punctuation."""


def count_tokens(text: str) -> int:
    """Estimate how many tokens a code model's tokenizer makes of a text.

    The three constants were fitted to OpenAI's ``cl100k_base`` (npm package gpt-tokenizer) on 1,640
    pieces of 40 lines from 121 files of sympy, click, networkx, pydantic, dask and this project:
    99.7% of the true total, mean error of one piece 4.0%, 95th percentile 11%. O(length).
    """
    return sum(_piece_tokens(match.group()) for match in _PIECE.finditer(text))


def _piece_tokens(piece: str) -> int:
    if piece[-1].isalpha():
        return 1 + _ceil(max(0, len(piece) - WHOLE_WORD_CHARS), SUBWORD_CHARS)
    if piece.isspace() or piece[-1].isdigit():
        return 1
    return _ceil(len(piece.strip()), PUNCTUATION_CHARS)


def _ceil(amount: int, per: int) -> int:
    return -(-amount // per)
