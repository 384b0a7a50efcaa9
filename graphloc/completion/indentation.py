"""Giving code another indentation without touching the insides of its strings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence

_INDENT = re.compile(r"[ \t]*")


def fit_body(source: str, indent: str) -> list[str]:
    """Return the lines of a function's body at the wanted indentation, without line ends.

    Lines inside triple-quoted strings stay as they are. Blank lines around the body are dropped.
    Models that go on right behind a prompt's last blank leave the first line without indentation;
    it is then taken to be on a level with the rest, if only that gives valid Python.

    Parameters
    ----------
    source
        Statements at any common indentation.
    indent
        Blanks or tabs in front of each statement.

    Returns
    -------
    list of str
        Empty for a source without statements.
    """
    lines = _without_blank_ends(_split(source))
    if not lines:
        return []
    as_is = _reindent(lines, indent)
    rest = _common_indent(lines[1:], string_lines(lines)[1:])
    goes_on = not leading_blanks(lines[0]) and len(rest) >= len(indent) > 0
    if goes_on and not is_body(as_is, indent):
        levelled = _reindent([rest + lines[0].lstrip(), *lines[1:]], indent)
        if is_body(levelled, indent):
            return levelled
    return as_is


def is_body(lines: Sequence[str], indent: str) -> bool:
    """Whether the lines, at that indentation, are valid as the body of a function.

    A coroutine is tried as well as a plain function, since each allows what the other forbids.
    Without indentation the lines are taken as those of a module.
    """
    body = "\n".join(lines) + "\n"
    if not indent:
        return _parses(body)
    # The level around it lets bodies of any depth stand under a header of one blank.
    outer, inner = ("if 1:\n", " ") if len(indent) > 1 else ("", "")
    return any(_parses(f"{outer}{inner}{kind} _():\n{body}") for kind in ("def", "async def"))


def _parses(code: str) -> bool:
    try:
        compile(code, "answer", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def leading_blanks(line: str) -> str:
    """Return the blanks and tabs a line starts with."""
    match = _INDENT.match(line)
    return match.group() if match else ""


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _without_blank_ends(lines: list[str]) -> list[str]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _reindent(lines: Sequence[str], indent: str) -> list[str]:
    inside = string_lines(lines)
    common = _common_indent(lines, inside)
    return [
        line if kept else (indent + line[len(common) :] if line.strip() else line[len(common) :])
        for line, kept in zip(lines, inside, strict=True)
    ]


def _common_indent(lines: Sequence[str], inside: Sequence[bool]) -> str:
    counted = [
        line
        for line, kept in zip(lines, inside, strict=True)
        if line.strip() and not kept and not line.lstrip().startswith("#")
    ] or [line for line in lines if line.strip()]
    indents = [leading_blanks(line) for line in counted]
    shortest = min(indents, key=len, default="")
    while not all(each.startswith(shortest) for each in indents):
        shortest = shortest[:-1]
    return shortest


def string_lines(lines: Sequence[str]) -> list[bool]:
    """Tell for each line whether it begins inside a string that started on an earlier one.

    What the tokenizer cannot read counts as code.
    """
    inside = [False] * len(lines)
    # The extra level lets the body start at any indentation.
    indent = leading_blanks(lines[0]) if lines else ""
    offset = 1 if indent else 0
    text = "\n".join([*(["if 1:"] if indent else []), *lines, ""])
    f_starts: list[int] = []
    names = (getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "TSTRING_START", -1))
    ends = (getattr(tokenize, "FSTRING_END", -1), getattr(tokenize, "TSTRING_END", -1))
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in names:
                f_starts.append(token.start[0])
            elif token.type in ends or token.type == tokenize.STRING:
                first = f_starts.pop() if token.type in ends else token.start[0]
                for row in range(first + 1, token.end[0] + 1):
                    inside[row - 1 - offset] = True
    except (tokenize.TokenError, SyntaxError, IndexError):
        return inside
    return inside
