"""Published baselines that need no graph: BM25 over texts, and RepoCoder's Jaccard windows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

from graphloc.evaluation.methods import MethodRegistry, RankingContext
from graphloc.evaluation.model import Ranked, Ranking, canonical_function
from indexes.facts import Definition
from indexes.model import Span, entity_id
from indexes.parsing import outline
from indexes.source import Source, SourceEntry
from indexes.text import WindowIndex, build_windows

_WORD = re.compile(r"\w+")


def baseline_registry() -> MethodRegistry:
    """Return the baselines of this module by name."""
    return {"bm25": Bm25Baseline, "jaccard": JaccardBaseline}


@dataclass(frozen=True, slots=True)
class Bag:
    """The words of one document: of a file, or of a function or class in it."""

    name: str
    """Qualified name inside the file; empty for the file itself."""
    words: Counter[str]
    size: int
    """Number of words, repetitions included."""


@dataclass(slots=True)
class Bm25Baseline:
    """Okapi BM25 over whole files, and over the texts of functions and classes.

    The parameters are `rank_bm25`'s (k1 = 1.5, b = 0.75, epsilon = 0.25) and words are what
    ``\\w+`` matches in lower case: the plain baseline that SWE-bench (Jimenez et al., ICLR 2024)
    and its successors report. A class's text is that outside of its methods; nested functions
    belong to the function around them. Ties are broken by name.
    """

    name: str = "bm25"
    fingerprint: str = "1"
    _root: Path | None = None
    _bags: dict[str, list[Bag]] = field(default_factory=dict)
    """By blob id, of the repository worked on last."""

    def rank(self, context: RankingContext) -> Ranking:
        """Rank by the words of the issue. Linear in the words of the tree that are new."""
        files: list[tuple[str, Bag]] = []
        functions: list[tuple[str, Bag]] = []
        for entry, bags in self._read(context.source, context.find_entries()):
            files.append((entry.path, bags[0]))
            functions.extend((entity_id(entry.path, bag.name), bag) for bag in bags[1:])
        query = Counter(_find_words(context.instance.issue_text))
        return Ranking(
            files=_best(_score(files, query), context.depth),
            functions=_best(_score(functions, query), context.depth),
        )

    def _read(
        self, source: Source, entries: Sequence[SourceEntry]
    ) -> Iterator[tuple[SourceEntry, list[Bag]]]:
        if self._root != source.root:
            self._root, self._bags = source.root, {}
        new = [entry for entry in entries if entry.blob_id not in self._bags]
        for entry, data in source.read(new):
            self._bags[entry.blob_id] = _read_bags(data)
        for entry in entries:
            if entry.blob_id in self._bags:
                yield entry, self._bags[entry.blob_id]


def _find_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _read_bags(data: bytes) -> list[Bag]:
    """Return the bag of a file, then those of its functions and classes."""
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    bags = [_bag("", text)]
    for definition, nested in _find_units(outline(data)):
        own = set(range(definition.start_line, definition.end_line + 1))
        for span in nested:
            own.difference_update(range(span.start_line, span.end_line + 1))
        own_lines = (lines[number - 1] for number in sorted(own) if number <= len(lines))
        bags.append(_bag(definition.name, "\n".join(own_lines)))
    return bags


def _bag(name: str, text: str) -> Bag:
    words = _find_words(text)
    return Bag(name, Counter(words), len(words))


def _find_units(definitions: Sequence[Definition]) -> list[tuple[Definition, list[Span]]]:
    """Return classes and functions that are in no function, with the spans that are not theirs."""
    inside = [False]  # by owner number: whether it is, or is in, a function
    units: dict[int, tuple[Definition, list[Span]]] = {}
    for number, definition in enumerate(definitions, 1):
        if not inside[definition.parent]:
            units[number] = (definition, [])
            if definition.parent:
                units[definition.parent][1].append(_span(definition))
        inside.append(inside[definition.parent] or not definition.is_class)
    return list(units.values())


def _span(definition: Definition) -> Span:
    return Span(definition.start_line, definition.end_line)


class _CountedBm25(BM25Okapi):  # type: ignore[misc]  # the package has no annotations
    """BM25Okapi over documents whose words are counted already."""

    def _initialize(self, corpus: Iterable[Bag]) -> Counter[str]:
        holding: Counter[str] = Counter()
        for bag in corpus:
            self.doc_len.append(bag.size)
            self.doc_freqs.append(bag.words)
            holding.update(bag.words.keys())
        self.corpus_size = len(self.doc_len)
        self.avgdl = sum(self.doc_len) / self.corpus_size
        return holding


def _score(documents: Sequence[tuple[str, Bag]], query: Counter[str]) -> dict[str, float]:
    """Return BM25 scores by canonical name; the best one where several documents share it."""
    bags = [bag for _, bag in documents]
    if not any(bag.size for bag in bags):
        return {}
    index = _CountedBm25(bags)
    scores: npt.NDArray[np.float64] = np.zeros(len(bags))
    for word, count in query.items():
        if word in index.idf:
            scores += count * index.get_scores([word])
    return _by_name((name for name, _ in documents), scores)


def _by_name(names: Iterable[str], scores: Iterable[float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for name, score in zip(map(canonical_function, names), map(float, scores), strict=True):
        best[name] = max(score, best.get(name, score))
    return best


def _best(scores: dict[str, float], depth: int) -> tuple[Ranked, ...]:
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return tuple(Ranked(name, scores[name]) for name in ordered[:depth])


@dataclass(slots=True)
class JaccardBaseline:
    """The best window of 20 lines of each file and function, by Jaccard similarity of tokens.

    RepoCoder's retrieval (Zhang et al., EMNLP 2023, https://arxiv.org/abs/2303.12570) with the
    issue's text as the query; see `indexes.text.windows`. A function's windows are those that share
    a line with it. What shares no token with the issue is not ranked. Ties are broken by name.
    """

    name: str = "jaccard"
    fingerprint: str = "1"
    _root: Path | None = None
    _outlines: dict[str, list[tuple[str, Span]]] = field(default_factory=dict)
    """Names and spans by blob id, of the repository worked on last."""

    def rank(self, context: RankingContext) -> Ranking:
        """Rank by similar windows. Linear in the tokens of the tree's distinct lines."""
        if self._root != context.source.root:
            self._root, self._outlines = context.source.root, {}
        texts: dict[str, str] = {}
        units: dict[str, list[tuple[str, Span]]] = {}
        for entry, data in context.source.read(context.find_entries()):
            texts[entry.path] = data.decode("utf-8", "replace")
            units[entry.path] = self._outline(entry.blob_id, data)
        found = _window_scores(texts, context.instance.issue_text)
        files = {path: max(score for _, score in windows) for path, windows in found.items()}
        functions = [
            (entity_id(path, name), _best_window(windows, span))
            for path, windows in found.items()
            for name, span in units[path]
        ]
        names, scores = [name for name, _ in functions], [score for _, score in functions]
        similar = {name: score for name, score in _by_name(names, scores).items() if score}
        return Ranking(files=_best(files, context.depth), functions=_best(similar, context.depth))

    def _outline(self, blob_id: str, data: bytes) -> list[tuple[str, Span]]:
        if blob_id not in self._outlines:
            units = _find_units(outline(data))
            self._outlines[blob_id] = [(unit.name, _span(unit)) for unit, _ in units]
        return self._outlines[blob_id]


def _window_scores(texts: dict[str, str], query: str) -> dict[str, list[tuple[Span, float]]]:
    """Return the windows of each file that share a token with the query."""
    found: dict[str, list[tuple[Span, float]]] = {}
    index = WindowIndex(build_windows(texts))
    for window, score in zip(index.windows, index.similarities(query).tolist(), strict=True):
        if score:
            for place in window.places:
                found.setdefault(place.path, []).append((place.span, score))
    return found


def _best_window(windows: Sequence[tuple[Span, float]], unit: Span) -> float:
    return max(
        (
            score
            for span, score in windows
            if span.start_line <= unit.end_line and unit.start_line <= span.end_line
        ),
        default=0.0,
    )
