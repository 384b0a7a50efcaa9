"""An issue and a snapshot side by side: what every signal works on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphloc.issue import Issue
from indexes.graph.entities import CLASS
from indexes.history import History
from indexes.snapshot import Snapshot
from indexes.text import Bm25Parameters, IdfVariant, Tokenizer

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

MAX_QUERY_TERMS = 400
"""The rarest terms of a long issue carry it; the rest costs time only."""
_DAMPING = 0.5
"""A term that occurs c times in the issue counts c ** 0.5 times: logs repeat themselves."""
LEXICAL_PARAMETERS = Bm25Parameters(idf=IdfVariant.LUCENE)
"""The positive idf variant: common words of an issue must not count against an entity."""


class NameIndex:
    """Rows of a snapshot by simple name; one per snapshot, made when first needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        entities = snapshot.entities
        self.exact: dict[str, list[int]] = {}
        """Rows of classes and functions by the last part of their name."""
        for row, (name, kind) in enumerate(
            zip(entities.names, entities.kinds.tolist(), strict=True)
        ):
            if kind >= CLASS:
                self.exact.setdefault(name.rpartition(".")[2], []).append(row)
        self._paths = [path.lower() for path in entities.paths]
        self.files: dict[str, list[int]] = {}
        for number, path in enumerate(self._paths):
            self.files.setdefault(path.rpartition("/")[2], []).append(number)

    @cached_property
    def folded(self) -> dict[str, list[int]]:
        """Rows by name in lower case, in order."""
        found: dict[str, list[int]] = {}
        for name, rows in self.exact.items():
            found.setdefault(name.lower(), []).extend(rows)
        return {name: sorted(rows) for name, rows in found.items()}

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
    ranked, ranked_files
        (n_entities,) and (n_files,) bool: what may be among the results; tests only if asked for.
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
        *,
        include_tests: bool = False,
    ) -> None:
        self.issue = issue
        self.snapshot = snapshot
        self.names = names
        self.tokenizer = tokenizer
        self.history = history
        entities = snapshot.entities
        self.ranked = np.ones(len(entities), np.bool_) if include_tests else ~entities.is_test
        self.ranked_files = self.ranked[entities.file_rows]
        self.title_terms = self._weigh(tokenizer.text_terms(issue.title))
        self.full_terms = self._weigh(tokenizer.text_terms(issue.searched_text))
        self._scores: dict[tuple[str, str], Floats] = {}
        self._group_scores: dict[tuple[str, str], Floats] = {}

    def _weigh(self, terms: list[str]) -> Mapping[str, float]:
        counts = Counter(terms)
        text = self.snapshot.text
        if len(counts) > MAX_QUERY_TERMS:
            rarest = sorted(counts, key=lambda term: (-text.idf("body", term), term))
            kept = rarest[:MAX_QUERY_TERMS]
            counts = Counter({term: counts[term] for term in kept})
        return {term: count**_DAMPING for term, count in counts.items()}

    def terms_of(self, part: str) -> Mapping[str, float]:
        """Weighted terms of a part of the issue, ``title`` or ``full``."""
        return self.title_terms if part == "title" else self.full_terms

    def scores(self, part: str, field: str) -> Floats:
        """(n_entities,) BM25 of a part of the issue in one field; worked out once."""
        found = self._scores.get((part, field))
        if found is None:
            terms = self.terms_of(part)
            found = self.snapshot.text.scores(field, terms, LEXICAL_PARAMETERS)
            self._scores[part, field] = found
        return found

    def group_scores(self, part: str, field: str) -> Floats:
        """(n_files,) the same with each file as one document."""
        found = self._group_scores.get((part, field))
        if found is None:
            found = self.snapshot.text.group_scores(
                field, self.terms_of(part), self.files, self.n_files, LEXICAL_PARAMETERS
            )
            self._group_scores[part, field] = found
        return found

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
        # A file's rows follow each other, and the last file's end the table.
        return np.maximum.reduceat(values, self.snapshot.entities.file_rows)

    def sum_per_file(self, values: Floats) -> Floats:
        """(n_files,) sum over each file's rows."""
        first = self._first_file_row
        summed = np.bincount(self.files[first:], weights=values[first:], minlength=self.n_files)
        return summed.astype(np.float32)

    @cached_property
    def _first_file_row(self) -> int:
        """Row behind the folders'."""
        rows = self.snapshot.entities.file_rows
        return int(rows[0]) if len(rows) else len(self.files)
