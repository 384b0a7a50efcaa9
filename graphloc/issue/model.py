"""What reading an issue yields: immutable values, in the order in which the text holds them.

Names and paths are kept as the reporter wrote them, less what only typography adds: call
parentheses, back slashes, ``#`` and ``::`` between a class and its method. Nothing here knows a
repository; matching is the localizer's work.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Place(StrEnum):
    """Where in an issue something was found."""

    TITLE = "title"
    PROSE = "prose"
    INLINE_CODE = "inline_code"
    CODE_BLOCK = "code_block"
    TRACEBACK = "traceback"
    LINK = "link"


class BlockKind(StrEnum):
    """Kinds of blocks an issue's body is made of."""

    HEADING = "heading"
    PROSE = "prose"
    QUOTE = "quote"
    CODE = "code"


class IdentifierKind(StrEnum):
    """How a name is written, or what marks it as a name."""

    SNAKE_CASE = "snake_case"
    CAMEL_CASE = "camel_case"
    PASCAL_CASE = "pascal_case"
    CONSTANT = "constant"
    DUNDER = "dunder"
    DOTTED = "dotted"
    DECORATOR = "decorator"
    OPTION = "option"
    KEYWORD = "keyword"
    WORD = "word"
    """A plain word that only its surroundings (back ticks, a call) mark as code."""


class ErrorKind(StrEnum):
    """What a failure is stated as."""

    EXCEPTION = "exception"
    WARNING = "warning"
    LOG = "log"


class IssueLanguage(StrEnum):
    """Natural language of an issue's prose."""

    ENGLISH = "english"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines of one kind, its markup removed."""

    kind: BlockKind
    lines: tuple[str, ...]
    start: int
    """0-based row of the first line in the cleaned text; the rows are contiguous."""
    language: str = ""
    """Info word of a fence in lower case; empty when there is none."""

    @property
    def text(self) -> str:
        """The lines joined."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name that looks like code."""

    name: str
    """For options without the dashes in front; for dotted names without call parentheses."""
    kind: IdentifierKind
    counts: tuple[tuple[Place, int], ...]
    """How often it occurs in each place, ordered as `Place` is."""

    @property
    def count(self) -> int:
        """Occurrences over all places."""
        return sum(count for _, count in self.counts)

    @property
    def places(self) -> frozenset[Place]:
        """The places it occurs in."""
        return frozenset(place for place, _ in self.counts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names between the dots."""
        return tuple(self.name.split("."))


@dataclass(frozen=True, slots=True)
class PathMention:
    """A file or folder that the text names."""

    path: str
    """Forward slashes; what lies before the package in an absolute path is cut off."""
    text: str
    """As written, line number and test name left out."""
    place: Place
    line: int | None = None
    node: str = ""
    """``TestClass.test_x`` of a pytest node id."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """`path` and its ends, longest first, the last one being the file's own name."""
        return path_suffixes(self.path)


@dataclass(frozen=True, slots=True)
class Frame:
    """One entry of a traceback."""

    path: str
    """Forward slashes; what lies before the package in an absolute path is cut off."""
    line: int | None
    function: str | None
    code: str | None
    position: int
    """0 is nearest to the failure."""
    traceback: int
    """Number of its traceback in the issue, from 0."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """`path` and its ends, longest first, the last one being the file's own name."""
        return path_suffixes(self.path)


@dataclass(frozen=True, slots=True)
class ReportedError:
    """An exception, a warning or a log line that tells of a failure."""

    type: str
    """Dotted as written; for log lines the level."""
    message: str
    kind: ErrorKind
    traceback: int | None = None
    """Number of the traceback that it ends."""


@dataclass(frozen=True, slots=True)
class Permalink:
    """A link to a file of a forge (GitHub, GitLab, Bitbucket and their like)."""

    url: str
    path: str
    revision: str
    repo: str
    """``owner/name``; groups of GitLab included."""
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentationLink:
    """A link to a page of documentation."""

    url: str
    words: tuple[str, ...]
    """Last parts of the page's path, without ``.html``."""
    anchor: str
    """Often the dotted name of what the page documents."""


@dataclass(frozen=True, slots=True)
class Snippets:
    """What the code in an issue does, block by block. Each tuple is free of duplicates."""

    source: str = ""
    """All snippets, prompts stripped, tracebacks left out."""
    imported: tuple[str, ...] = ()
    """Dotted modules and names: ``a.b`` of ``import a.b``, ``a.b.c`` of ``from a.b import c``."""
    called: tuple[str, ...] = ()
    """Dotted names that are called, as written."""
    attributes: tuple[str, ...] = ()
    """Attribute chains, called or not, as written."""
    qualified: tuple[str, ...] = ()
    """Chains with the first name replaced by what it stands for: the import behind an alias, or
    the class behind a variable (``w = pkg.Writer(); w.add()`` gives ``pkg.Writer.add``)."""
    keywords: tuple[str, ...] = ()
    """Names of keyword arguments."""
    classes: tuple[str, ...] = ()
    """Classes that the snippets define."""
    functions: tuple[str, ...] = ()
    """Functions that the snippets define."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as a program can use it."""

    title: str
    body: str
    """Everything behind the title, cleaned of control characters only."""
    prose: tuple[str, ...]
    """Paragraphs and quotes without the template's boilerplate, without tracebacks."""
    code_blocks: tuple[Block, ...]
    """Code as written, without environment listings; tracebacks in fences included."""
    inline_code: tuple[str, ...]
    identifiers: tuple[Identifier, ...]
    """Most frequent first within the best place; see `find_identifiers`."""
    paths: tuple[PathMention, ...]
    frames: tuple[Frame, ...]
    errors: tuple[ReportedError, ...]
    messages: tuple[str, ...]
    """Quoted texts of three words or more."""
    permalinks: tuple[Permalink, ...]
    documentation: tuple[DocumentationLink, ...]
    code: Snippets
    language: IssueLanguage

    @property
    def searched_text(self) -> str:
        """Title, prose and code without boilerplate: what text retrieval should be given."""
        return "\n\n".join([self.title, *self.prose, *(block.text for block in self.code_blocks)])

    def to_json_fields(self) -> dict[str, object]:
        """Return the ``issue`` object of ``graphloc localize --format json``."""
        return {
            "title": self.title,
            "identifiers": [identifier.name for identifier in self.identifiers],
            "frames": [
                {"path": frame.path, "line": frame.line, "function": frame.function}
                for frame in self.frames
            ],
            "paths": list(dict.fromkeys(mention.path for mention in self.paths)),
        }


def path_suffixes(path: str) -> tuple[str, ...]:
    """Return `path` and its ends at each slash, longest first."""
    parts = path.split("/")
    return tuple("/".join(parts[start:]) for start in range(len(parts)))
