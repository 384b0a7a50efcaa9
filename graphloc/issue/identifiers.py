"""Names that look like code, with where they stand and how often."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable

from graphloc.issue.model import Identifier, IdentifierKind, Place

_MAX_LENGTH = 160
_MIN_WORD_LENGTH = 2
_NAME = re.compile(
    r"(?<![\w$\\])(?<!\w\.)[^\W\d]\w*+(?:(?:\.|::|#(?=[a-z_]))[^\W\d]\w*+)*+(?P<call>\()?", re.ASCII
)
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z]\w*+(?:-\w++)*+")
_KEYWORD = re.compile(r"(?<![\w.\-$\"'/])[a-z_]\w*+(?==(?!=))", re.ASCII)
_DECORATOR = re.compile(r"(?<![\w.@])@([^\W\d]\w*+(?:\.\w++)*+)", re.ASCII)
_SEPARATOR = re.compile(r"::|#")
_DUNDER = re.compile(r"__\w+__$")
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_*$|_+[A-Z][A-Z0-9]+$")
_PASCAL = re.compile(
    r"_*[A-Z](?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]+$|_+[A-Z][A-Za-z0-9]+$"
)
_CAMEL = re.compile(r"_*[a-z](?=[a-z0-9]*[A-Z])[A-Za-z0-9]+$")
_PLURAL_CAPITALS = re.compile(r"[A-Z]+s$")
_WITH_DIGIT = re.compile(r"[a-z]{2,}\d[a-z0-9]*[a-z][a-z0-9]*$")
_CALLED_CODE = re.compile(
    r"(?<![\w.-])(?P<before>[A-Za-z]\w{2,60}+)(?= (?:method|function|class|decorator|attribute"
    r"|argument|parameter|kwarg|keyword|property|module|subclass|classmethod|mixin)s?\b)"
    r"|(?<!\w)(?:method|function|class|decorator|attribute|argument|parameter|property|module) "
    r"(?P<after>[A-Za-z]\w{2,60}+)(?![\w-])",
    re.ASCII,
)
_LONE_CAPITALS = re.compile(r"[A-Z][A-Z0-9]{2,}$")
_ABBREVIATION = re.compile(
    r"(?:[A-Za-z]\.)*[A-Za-z]$|.*\.(?:com|org|net|io|dev|ai)$|(?:www|vs|etc)\."
)
_PLACE_ORDER = {place: rank for rank, place in enumerate(Place)}
_CODE_PLACES = frozenset({Place.INLINE_CODE, Place.CODE_BLOCK, Place.TRACEBACK})
_STOPS = frozenset(
    """
    self cls print len range open str int list dict set tuple isinstance type super float bool repr
    sorted enumerate zip map min max sum any all abs iter next id getattr setattr hasattr
    """.split()  # noqa: SIM905 -- a list of forty words one a line hides the code
).union(keyword.kwlist)
_FILE_EXTENSIONS = frozenset(
    {"py", "pyi", "pyx", "ipynb", "md", "rst", "txt", "yaml", "yml", "toml", "cfg", "ini", "pdf"}
    | {"png", "jpg", "csv", "log", "so", "js", "html", "css", "c", "h"}
)
_PLAIN_ENGLISH = frozenset(
    """
    the this that these those which what when where with without and but not for from into its our
    your their any all some each every other another same new old first last second only also both
    such following given above below default custom optional required private public static abstract
    base main class method function argument parameter attribute property module decorator keyword
    used using called calls should would could can may might will does has have was were are been
    being takes itself name names named like instead than because while there here python user
    inside installation install solved only most best right wrong correct standard
    """.split()  # noqa: SIM905 -- a list of sixty words one a line hides the code
)


def classify_name(name: str) -> IdentifierKind | None:
    """Return how a name is written; None for a plain word, which may be prose."""
    if "." in name:
        return IdentifierKind.DOTTED if _is_dotted_code(name) else None
    if _PLURAL_CAPITALS.match(name):
        return None
    if _DUNDER.match(name):
        return IdentifierKind.DUNDER
    if _CONSTANT.match(name):
        return IdentifierKind.CONSTANT
    if "_" in name.strip("_") or (name.startswith("_") and name.islower()):
        return IdentifierKind.SNAKE_CASE
    if _PASCAL.match(name):
        return IdentifierKind.PASCAL_CASE
    if _CAMEL.match(name):
        return IdentifierKind.CAMEL_CASE
    return IdentifierKind.WORD if _WITH_DIGIT.match(name) else None


def _is_dotted_code(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last not in _FILE_EXTENSIONS and _ABBREVIATION.match(name) is None


class IdentifierCounter:
    """Collects names place by place."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, IdentifierKind], Counter[Place]] = {}

    def add(self, name: str, kind: IdentifierKind, place: Place, count: int = 1) -> None:
        """Count a name; those that are too long to be one, and Python's own words, are left out."""
        is_extension = kind is IdentifierKind.WORD and name in _FILE_EXTENSIONS
        if 1 < len(name) <= _MAX_LENGTH and name not in _STOPS and not is_extension:
            self._counts.setdefault((name, kind), Counter())[place] += count

    def add_names(self, names: Iterable[str], place: Place) -> None:
        """Count names that are known to be code, plain words included."""
        for name in names:
            self.add(name, classify_name(name) or IdentifierKind.WORD, place)

    def names(self) -> set[str]:
        """Return the names counted so far."""
        return {name for name, _ in self._counts}

    def add_text(self, text: str, place: Place, *, is_code: bool = False) -> None:
        """Count every name in `text` (without URLs). Linear in its length.

        Plain words count when they are called, when they are all that back ticks hold, or when
        they stand in capitals inside code. Each line of inline code is the content of one pair
        of back ticks; `is_code` says so of other places.
        """
        in_code = is_code or place in _CODE_PLACES
        is_inline = is_code or place is Place.INLINE_CODE
        alone = frozenset(text.split("\n")) if is_inline else frozenset()
        for (token, called), count in Counter(
            (match[0].removesuffix("("), bool(match["call"])) for match in _NAME.finditer(text)
        ).items():
            name = _SEPARATOR.sub(".", token) if len(token) <= _MAX_LENGTH else ""
            kind = classify_name(name)
            is_marked = called or token in alone
            if kind is None and _is_word(name, is_marked=is_marked, in_code=in_code):
                kind = IdentifierKind.WORD
            if kind is not None:
                self.add(name, kind, place, count)
        self._add_marked(_OPTION, IdentifierKind.OPTION, text, place)
        self._add_marked(_KEYWORD, IdentifierKind.KEYWORD, text, place)
        if not in_code:
            self._add_described(text, place)
        else:
            self._add_marked(_DECORATOR, IdentifierKind.DECORATOR, text, place)

    def _add_marked(
        self, pattern: re.Pattern[str], kind: IdentifierKind, text: str, place: Place
    ) -> None:
        for token, count in Counter(match[0] for match in pattern.finditer(text)).items():
            self.add(token.lstrip("-@"), kind, place, count)

    def _add_described(self, text: str, place: Place) -> None:
        """Count plain words that prose calls code: "the squeeze method", "class Series"."""
        for match in _CALLED_CODE.finditer(text):
            name = match["before"] or match["after"]
            if name.lower() not in _PLAIN_ENGLISH and classify_name(name) is None:
                self.add(name, IdentifierKind.WORD, place)

    def identifiers(self) -> tuple[Identifier, ...]:
        """Return what was counted: by best place, then most frequent first, then by name."""
        found = [
            Identifier(
                name,
                kind,
                tuple(sorted(counts.items(), key=lambda item: _PLACE_ORDER[item[0]])),
            )
            for (name, kind), counts in self._counts.items()
        ]
        found.sort(key=lambda i: (_PLACE_ORDER[i.counts[0][0]], -i.count, i.name, i.kind))
        return tuple(found)


def _is_word(name: str, *, is_marked: bool, in_code: bool) -> bool:
    """Whether a plain word is a name, by what surrounds it."""
    if len(name) < _MIN_WORD_LENGTH or "." in name:
        return False
    return is_marked or (in_code and _LONE_CAPITALS.match(name) is not None)
