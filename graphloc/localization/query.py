"""An issue and a snapshot side by side: what every signal works on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphloc.issue import Issue
from indexes.history import History
from indexes.snapshot import Snapshot
from indexes.text import Tokenizer

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

MAX_QUERY_TERMS = 400
"""The rarest terms of a long issue carry it; the rest costs time only."""
_DAMPING = 0.5
"""A term that occurs c times in the issue counts c ** 0.5 times: logs repeat themselves."""


class NameIndex:
    """Rows of a snapshot by simple name; one per snapshot, made when first needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        entities = snapshot.entities
        self.exact: dict[str, list[int]] = {}
        self.folded: dict[str, list[int]] = {}
        names, kinds = entities.names, entities.kinds.tolist()
        for row, name in enumerate(names):
            if kinds[row] >= 2:
                simple = name.rpartition(".")[2]
                self.exact.setdefault(simple, []).append(row)
                self.folded.setdefault(simple.lower(), []).append(row)
        self._paths = [path.lower() for path in entities.paths]
        self.files: dict[str, list[int]] = {}
        for number, path in enumerate(self._paths):
            self.files.setdefault(path.rpartition("/")[2], []).append(number)
        self.by_id = {name: row for row, name in enumerate(entities.ids)}

    def find_files(self, suffix: str) -> list[int]:
        """File numbers whose path ends with `suffix` at a slash, without regard to case."""
        suffix = suffix.lower().strip("/")
        candidates = self.files.get(suffix.rpartition("/")[2], [])
        return [n for n in candidates if self._ends_with(n, suffix)]

    def _ends_with(self, number: int, suffix: str) -> bool:
        path = self._paths[number]
        return path == suffix or path.endswith(f"/{suffix}")


class Query:
    """One issue against one snapshot.

    Attributes
    ----------
    issue, snapshot, history
        As given.
    title_terms, full_terms
        Terms with weights: of the title alone, of title, prose and code.
    """

    def __init__(
        self,
        issue: Issue,
        snapshot: Snapshot,
        names: NameIndex,
        tokenizer: Tokenizer,
        history: History | None = None,
    ) -> None:
        self.issue = issue
        self.snapshot = snapshot
        self.names = names
        self.tokenizer = tokenizer
        self.history = history
        self.title_terms = self._weigh(tokenizer.text_terms(issue.title))
        self.full_terms = self._weigh(tokenizer.text_terms(issue.searched_text))

    def _weigh(self, terms: list[str]) -> Mapping[str, float]:
        counts = Counter(terms)
        text = self.snapshot.text
        if len(counts) > MAX_QUERY_TERMS:
            rarest = sorted(counts, key=lambda term: (-text.idf("body", term), term))
            kept = rarest[:MAX_QUERY_TERMS]
            counts = Counter({term: counts[term] for term in kept})
        return {term: count**_DAMPING for term, count in counts.items()}

    def as_written(self, term: str) -> str:
        """The issue's first word that has the term; terms are stems and not to be read."""
        return self._words.get(term, term)

    @cached_property
    def _words(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for word in self.tokenizer.iter_words(self.issue.searched_text):
            for term in self.tokenizer.identifier_terms(word):
                found.setdefault(term, word)
        return found

    @cached_property
    def files(self) -> Ints:
        """(n_entities,) file number of each row; -1 for folders."""
        return self.snapshot.entities.files.astype(np.int64)

    @property
    def n_files(self) -> int:
        """Number of files."""
        return self.snapshot.entities.n_files

    def best_per_file(self, values: Floats) -> Floats:
        """(n_files,) largest value among each file's rows; values must not be negative."""
        best = np.zeros(self.n_files, dtype=np.float32)
        rows = self.files >= 0
        np.maximum.at(best, self.files[rows], values[rows])
        return best

    def sum_per_file(self, values: Floats) -> Floats:
        """(n_files,) sum over each file's rows."""
        rows = self.files >= 0
        summed = np.bincount(self.files[rows], weights=values[rows], minlength=self.n_files)
        return summed.astype(np.float32)
