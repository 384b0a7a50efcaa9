"""Reading an issue: the recipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from graphloc.issue.boilerplate import remove_boilerplate
from graphloc.issue.characters import clean_text
from graphloc.issue.failures import find_errors, find_messages, merge_errors
from graphloc.issue.identifiers import IdentifierCounter
from graphloc.issue.language import detect_language
from graphloc.issue.markdown import find_blocks, find_inline_code, remove_inline_code
from graphloc.issue.model import (
    Block,
    BlockKind,
    DocumentationLink,
    Identifier,
    Issue,
    PathMention,
    Place,
    Snippets,
)
from graphloc.issue.paths import find_paths
from graphloc.issue.permalinks import (
    blank_urls,
    find_urls,
    parse_documentation_link,
    parse_permalink,
)
from graphloc.issue.snippets import read_snippets
from graphloc.issue.tracebacks import Tracebacks, find_tracebacks
from indexes.errors import EmptyIssueError

_MARKUP_LINE = re.compile(r"\s*(?:```|~~~|<!--|<pre>|\{\{\{)")
_PATH = re.compile(r"(?<![\w.~:-])[\w.~:-]*+[\\/][^\s\"',():]*+")
"""A path in a traceback: its parts say no more about names than `Issue.frames` does."""


def read_issue(text: str) -> Issue:
    """Read an issue in GitHub's markdown, Trac's or Jira's markup, plain text, or a bare traceback.

    Parameters
    ----------
    text : str
        Title in the first line that is not empty, then the body. Any characters.

    Returns
    -------
    Issue

    Raises
    ------
    EmptyIssueError
        The text holds nothing but white space. Nothing else is ever raised.

    Notes
    -----
    Linear in the length of the text: every pattern is bounded, possessive or anchored.
    """
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise EmptyIssueError("the issue is empty: give it a title or a text to search for")
    lines = cleaned.split("\n")
    title, body_row = _find_title(lines)
    tracebacks = find_tracebacks(lines)
    parts = _take_apart(lines, body_row, tracebacks)
    urls = list(dict.fromkeys(find_urls("\n".join([title, *parts.texts()]))))
    code = read_snippets(parts.code_without_tracebacks, parts.inline)
    documentation = tuple(filter(None, map(parse_documentation_link, urls)))
    return Issue(
        title=title,
        body="\n".join(lines[body_row:]).strip("\n"),
        prose=tuple(parts.prose),
        code_blocks=tuple(parts.code),
        inline_code=tuple(parts.inline),
        identifiers=_find_identifiers(title, parts, code, tracebacks, documentation),
        paths=_find_paths(title, parts),
        frames=tracebacks.frames,
        errors=merge_errors(tracebacks.errors, tuple(find_errors(_joined(title, parts)))),
        messages=tuple(find_messages(_joined(title, parts))),
        permalinks=tuple(filter(None, map(parse_permalink, urls))),
        documentation=documentation,
        code=code,
        language=detect_language("\n".join([title, *parts.prose])),
    )


@dataclass(slots=True)
class _Parts:
    """The body, sorted by place."""

    prose: list[str]
    inline: list[str]
    code: list[Block]
    code_without_tracebacks: list[Block]
    traceback: str

    def texts(self) -> Iterator[str]:
        yield from self.prose
        yield from (block.text for block in self.code)

    def by_place(self) -> Iterator[tuple[Place, str]]:
        """Each text once; inline code is taken out of the prose it stands in."""
        yield Place.PROSE, blank_urls("\n\n".join(map(remove_inline_code, self.prose)))
        yield Place.INLINE_CODE, blank_urls("\n".join(self.inline))
        yield (
            Place.CODE_BLOCK,
            blank_urls("\n\n".join(block.text for block in self.code_without_tracebacks)),
        )
        yield Place.TRACEBACK, blank_urls(self.traceback)


def _find_title(lines: list[str]) -> tuple[str, int]:
    """Return the title and the row at which the body begins.

    A text that begins with code or a comment has no title of its own: its first line with content
    serves, and the body is all of it.
    """
    rows = [row for row, line in enumerate(lines) if line.strip()]
    row = next((row for row in rows if not _MARKUP_LINE.match(lines[row])), rows[0])
    line = lines[row].strip()
    return line.lstrip("#= ").strip() or line, row + 1 if row == rows[0] else 0


def _take_apart(lines: list[str], body_row: int, tracebacks: Tracebacks) -> _Parts:
    blocks = find_blocks([""] * body_row + lines[body_row:])
    kept = list(remove_boilerplate(blocks)) or blocks
    prose, code, bare = [], [], []
    for block in kept:
        rest = _without_rows(block, tracebacks.rows)
        if block.kind is BlockKind.CODE:
            code.append(block)
            bare.append(rest)
        elif rest.text.strip():
            prose.append(_squeeze(rest.lines))
    return _Parts(
        prose,
        [inline for paragraph in prose for inline in find_inline_code(paragraph)],
        code,
        bare,
        "\n".join(lines[row] for row in sorted(tracebacks.rows) if row < len(lines)),
    )


def _without_rows(block: Block, rows: frozenset[int]) -> Block:
    if not rows or rows.isdisjoint(range(block.start, block.start + len(block.lines))):
        return block
    lines = tuple("" if row in rows else line for row, line in enumerate(block.lines, block.start))
    return replace(block, lines=lines)


def _squeeze(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line.strip())


def _joined(title: str, parts: _Parts) -> str:
    """Everything but tracebacks' own rows, whose errors are known, as one text."""
    code = (block.text for block in parts.code_without_tracebacks)
    return blank_urls("\n".join([title, *parts.prose, *code]))


def _find_identifiers(
    title: str,
    parts: _Parts,
    code: Snippets,
    tracebacks: Tracebacks,
    documentation: tuple[DocumentationLink, ...],
) -> tuple[Identifier, ...]:
    counter = IdentifierCounter()
    counter.add_text(blank_urls(remove_inline_code(title)), Place.TITLE)
    counter.add_text("\n".join(find_inline_code(title)), Place.TITLE, is_code=True)
    for place, text in parts.by_place():
        names = _PATH.sub(" ", text) if place is Place.TRACEBACK else text
        counter.add_text(names, place)
    for link in documentation:
        for text in (link.anchor, *link.words[-1:]):
            counter.add_text(text, Place.LINK)
    _add_plain_words(counter, code, tracebacks)
    return counter.identifiers()


def _add_plain_words(counter: IdentifierCounter, code: Snippets, tracebacks: Tracebacks) -> None:
    """Add what only a parse or a frame shows to be a name, unless the text gave it already."""
    used = {name.rpartition(".")[2] for name in (*code.called, *code.attributes)}
    words = {*used, *code.classes, *code.functions} - counter.names()
    counter.add_names(sorted(words), Place.CODE_BLOCK)
    functions = {frame.function for frame in tracebacks.frames if frame.function}
    names = {name for name in functions if not name.startswith("<")} - counter.names()
    counter.add_names(sorted(names), Place.TRACEBACK)


def _find_paths(title: str, parts: _Parts) -> tuple[PathMention, ...]:
    found = list(find_paths(blank_urls(title), Place.TITLE))
    found.extend(find_paths(blank_urls("\n\n".join(parts.prose)), Place.PROSE))
    seen = {mention.path for mention in found}
    for place, text in parts.by_place():
        if place is Place.INLINE_CODE:
            found.extend(m for m in find_paths(text, place) if m.path not in seen)
        elif place is not Place.PROSE:
            found.extend(find_paths(text, place))
    return tuple(dict.fromkeys(found))
