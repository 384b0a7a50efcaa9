"""From a model's reply to the body of a function."""

from __future__ import annotations

import re

from graphloc.completion.errors import AnswerError, HoleError
from graphloc.completion.hole import Hole, find_function_hole
from graphloc.completion.indentation import fit_body, is_body, leading_blanks, string_lines

_FENCE = re.compile(
    r"(?:^|(?<=[\s:.]))(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A fence; some models open it on a line that has begun already."""


def read_code(reply: str) -> str:
    """Return the code of a reply: its last fenced block that is not empty, or all of it.

    A fence that is never closed, as in a reply that was cut off, reaches to the end.
    """
    blocks = [match[2] for match in _FENCE.finditer(reply)]
    filled = [block for block in blocks if block.strip()]
    return filled[-1] if filled else "" if blocks else reply


def read_body(reply: str, hole: Hole) -> str:
    """Return the body that a reply gives for a hole, at the hole's indentation.

    The reply may hold the body alone, the whole function (its header and, where the hole keeps the
    docstring, that too are taken off), or a continuation of the prompt that runs on into what
    follows the function, which is cut off.

    Raises
    ------
    AnswerError
        It holds no code.
    """
    code = read_code(reply)
    body = _inside_function(code, hole) or _before_dedent(code, hole)
    lines = fit_body(body, hole.indent)
    if not lines:
        raise AnswerError("the reply holds no code")
    return "\n".join(lines) + "\n"


def is_valid(body: str, hole: Hole) -> bool:
    """Whether the body parses where it is to stand."""
    return is_body(fit_body(body, hole.indent), hole.indent)


def _inside_function(code: str, hole: Hole) -> str:
    """Body of the wanted function, where the code defines it."""
    name = hole.function.rpartition(".")[2]
    if not name or not re.search(
        rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", code, re.MULTILINE
    ):
        return ""
    data = code.encode("utf-8", "replace")
    for candidate in (hole.function, name):
        try:
            found = find_function_hole(data, hole.path, candidate)
        except HoleError:
            continue
        if hole.has_docstring or not found.has_docstring:
            return found.removed
        return _with_docstring(found)
    return ""


def _with_docstring(found: Hole) -> str:
    """Body and docstring, for a hole that lacks one."""
    lines = found.before.split("\n")
    inside = string_lines(lines)
    first = len(lines) - 1
    while first > 0 and (inside[first] or lines[first].lstrip()[:1] not in "\"'rRuUbB#"):
        first -= 1
    return "\n".join(lines[first:]) + found.removed


def _before_dedent(code: str, hole: Hole) -> str:
    """Cut off what stands left of the body, unless the whole fits as it is."""
    if is_body(fit_body(code, hole.indent), hole.indent):
        return code
    lines = code.split("\n")
    inside = string_lines(lines)
    filled = [n for n, line in enumerate(lines) if line.strip()]
    for number in filled[1:]:
        shallow = len(leading_blanks(lines[number])) < len(hole.indent)
        if (
            shallow
            and not inside[number]
            and not lines[number].lstrip().startswith((")", "]", "}"))
        ):
            kept = "\n".join(lines[:number])
            if is_body(fit_body(kept, hole.indent), hole.indent):
                return kept
    return code
