"""From raw words and prose to the terms that text retrieval counts.

A raw word is an identifier or a word of prose. Its terms are its parts, lower-cased and stemmed,
and, when there are several parts, the whole name as well: ``getUserNames`` gives
``get_user_names``, ``get``, ``user``, ``name``. A whole is its parts joined by underscores, so
every naming convention yields the same one, and none can be taken for a part.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import chain

from snowballstemmer.english_stemmer import EnglishStemmer

from indexes.text.stop_words import STOP_WORDS

TOKENIZER_VERSION = 1
"""Raise it whenever a word's terms change; stored indexes depend on it."""

MAX_WORD_LENGTH = 128
"""Longer words are encoded data, not names; they have no terms."""

_SINGLE_CAPITAL = r"(?:(?<=0)A(?=A[as]|[^Aas]|\Z)[as0]*)*"
_PART = re.compile(
    "|".join(
        (
            r"A{2,}s(?![as])",  # a plural acronym: URLs
            r"A+(?=A[as])",  # an acronym before a capitalized word: HTTP in HTTPServer
            rf"A+0+{_SINGLE_CAPITAL}",  # an acronym with a number: UTF8
            r"A+(?![as])",  # an acronym before anything else
            rf"A?[as0]+{_SINGLE_CAPITAL}",  # an ordinary word; Conv2D keeps its last capital
        )
    )
)
"""A part, over a word's character classes.

``A`` is a capital, ``s`` that letter, ``a`` any other letter, ``0`` a digit, ``_`` what separates.
"""

_ASCII_CLASSES = (
    dict.fromkeys(range(128), "_")
    | dict.fromkeys(map(ord, string.ascii_uppercase), "A")
    | dict.fromkeys(map(ord, string.ascii_lowercase), "a")
    | dict.fromkeys(map(ord, string.digits), "0")
    | {ord("s"): "s"}
)

_PROSE_TOKEN = re.compile(r"`?\w+(?:\.\w+)*[`(]?")
"""A word or dotted name, with the marks beside it that say it is code."""
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+(?:[eE]\d+)?")


def tokenizer_version() -> str:
    """Name what a word's terms depend on: the rules here and the stemmer's release."""
    return f"{TOKENIZER_VERSION}+snowball{version('snowballstemmer')}"


def split_identifier(word: str) -> tuple[str, ...]:
    """Split a name into its parts, lower-cased, in order.

    Underscores, dots and other punctuation separate parts, and so does a change of case. Digits
    belong to the letters before them. Names outside ASCII are normalized as Python does (NFKC).

    Examples
    --------
    >>> split_identifier("parseHTTP2Response")
    ('parse', 'http2', 'response')
    >>> split_identifier("__getitem__"), split_identifier("utf8")
    (('getitem',), ('utf8',))
    """
    if word.isascii():
        classes = word.translate(_ASCII_CLASSES)
        lower = word.lower()
        return tuple(lower[match.start() : match.end()] for match in _PART.finditer(classes))
    word = unicodedata.normalize("NFKC", word)
    classes = "".join(map(_character_class, word))
    parts = (word[match.start() : match.end()] for match in _PART.finditer(classes))
    return tuple(unicodedata.normalize("NFKC", part.lower()) for part in parts)


def _character_class(char: str) -> str:
    if char.isdecimal():
        return "0"
    if char == "_" or not f"a{char}".isidentifier():
        return "_"
    if char == "s":
        return "s"
    return "A" if char.lower() != char else "a"


class _Derived(dict[str, tuple[str, ...]]):
    """A cache that derives what it lacks; looking up what it has runs no Python code."""

    def __init__(self, derive: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._derive = derive

    def __missing__(self, key: str) -> tuple[str, ...]:
        value = self[key] = self._derive(key)
        return value


class Tokenizer:
    """Maps words to terms and remembers the answer for every distinct word.

    Share one among all indexes and queries of a process: its cache grows with the vocabulary, not
    with the text (about 60,000 words for sympy). Not safe for use by two threads at once.
    """

    def __init__(self) -> None:
        self._stemmer = EnglishStemmer()
        self._stems: dict[str, str] = {}
        self._terms = _Derived(self._derive_terms)
        self._words = _Derived(self._derive_words)

    def identifier_terms(self, word: str) -> tuple[str, ...]:
        """Terms of one raw word: the whole name if it has several parts, then its stemmed parts.

        Examples
        --------
        >>> Tokenizer().identifier_terms("HTTPServers")
        ('http_servers', 'http', 'server')
        """
        return self._terms[word]

    def text_terms(self, text: str) -> list[str]:
        """Terms of prose in order, repeats kept: those of every word in `iter_words`."""
        return list(chain.from_iterable(map(self._terms.__getitem__, self.iter_words(text))))

    def text_words(self, text: str) -> dict[str, int]:
        """Count the raw words of prose; what `TextIndexBuilder.add` takes for a prose field."""
        return Counter(self.iter_words(text)) if text else {}

    def iter_words(self, text: str) -> Iterator[str]:
        """Iterate over the raw words of prose in order, without numbers and stop words.

        A stop word stays where it is plainly code: in backticks, before a parenthesis, or inside
        a dotted name (```where```, ``all()``, ``frame.where``).
        """
        return chain.from_iterable(map(self._words.__getitem__, _PROSE_TOKEN.findall(text)))

    @staticmethod
    def _derive_words(token: str) -> tuple[str, ...]:
        name = token.strip("`(")
        words = tuple(word for word in name.split(".") if not _NUMBER.fullmatch(word))
        if name == token and len(words) == 1 and words[0].lower() in STOP_WORDS:
            return ()
        return words

    def _derive_terms(self, word: str) -> tuple[str, ...]:
        if len(word) > MAX_WORD_LENGTH:
            return ()
        parts = split_identifier(word)
        stems = tuple(self._stem(part) for part in parts)
        return ("_".join(parts), *stems) if len(parts) > 1 else stems

    def _stem(self, part: str) -> str:
        stem = self._stems.get(part)
        if stem is None:
            stem = self._stemmer.stemWord(part) if part.isalpha() else part
            self._stems[part] = stem
        return stem
