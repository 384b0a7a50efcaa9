"""How much room a text takes in a model's prompt, without any model's vocabulary."""

from __future__ import annotations

CHARS_PER_TOKEN = 3
"""Characters of code a token. Vocabularies of today's models need 3 to 4 for Python and for JSON;
the lower end keeps the bound for all of them."""


def count_tokens(text: str) -> int:
    """Return at least as many tokens as a model will count in Python code or in JSON.

    >>> count_tokens("def f(): pass")
    5
    """
    return -(-len(text) // CHARS_PER_TOKEN)
