"""A normal form of patches: two that differ in format or comments only are one candidate.

Python files are compared as syntax trees (docstrings stay, since programs read them), files that do
not parse as streams of tokens without comments, all others as lines without trailing white space.
The idea of voting over normalized patches is Agentless's (https://arxiv.org/abs/2407.01489).
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
import warnings

from indexes.model import PYTHON_SUFFIXES
from repair.patch.model import Patch

_DROPPED = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_LAYOUT = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE})


def canonical_key(patch: Patch) -> str:
    """Return a digest that is equal for patches of one tree with the same meaning.

    Files that only change in format or comments do not count; a patch with none but those has the
    key of the empty patch.
    """
    digest = hashlib.sha256()
    for change in patch.changes:
        old, new = normal_form(change.path, change.old), normal_form(change.path, change.new)
        if old != new:
            for part in (change.path, new):
                encoded = part.encode("utf-8", "surrogateescape")
                digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()


def normal_form(path: str, data: bytes | None) -> str:
    """Return the text by which two versions of a file are compared; tagged with how it was made."""
    if data is None:
        return "absent"
    if path.endswith(PYTHON_SUFFIXES):
        form = _tree(data) or _tokens(data)
        if form is not None:
            return form
    lines = (line.rstrip() for line in data.splitlines())
    return "lines " + b"\n".join(lines).decode("latin-1")


def _tree(data: bytes) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "tree " + ast.dump(ast.parse(data))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _tokens(data: bytes) -> str | None:
    """Return kinds of layout tokens and texts of the others, as far as both can be told."""
    try:
        found = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeError):
        return None
    kept = (token for token in found if token.type not in _DROPPED)
    return "tokens " + "\x1f".join(
        f"<{token.type}>" if token.type in _LAYOUT else token.string for token in kept
    )
