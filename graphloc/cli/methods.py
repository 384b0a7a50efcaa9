"""The methods that ``graphloc evaluate`` knows: the baselines, and graphloc itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from graphloc import __version__
from graphloc.evaluation.baselines import baseline_registry
from graphloc.evaluation.methods import MethodRegistry, RankingContext
from graphloc.evaluation.model import Ranked, Ranking, module_of
from graphloc.issue import read_issue
from graphloc.localization import Localizer, RankedEntity
from graphloc.localization.ranker import Ranker, WeightedRanker
from indexes.builder import build_index
from indexes.history import load_history
from indexes.store import Store, index_directory
from indexes.text import Tokenizer, tokenizer_version

WEIGHTED = "graphloc-weighted"


@dataclass(slots=True)
class GraphlocMethod:
    """graphloc's own localizer, without a model.

    The index of each repository is shared by all its instances, so that only the first pays for
    more than what changed between two commits.
    """

    index_root: Path | None = None
    """Folder for the indexes, one a repository; in the clones themselves without it."""
    name: str = "graphloc"
    """``graphloc``, or ``graphloc-weighted`` for the ranking by hand-set weights."""
    fingerprint: str = field(default_factory=lambda: f"{__version__} {_code_digest()}")
    _tokenizers: list[Tokenizer] = field(default_factory=list, repr=False)
    """The one of this process, once it is needed; it does not travel."""

    def __getstate__(self) -> tuple[Path | None, str, str]:
        return self.index_root, self.name, self.fingerprint

    def __setstate__(self, state: tuple[Path | None, str, str]) -> None:
        self.index_root, self.name, self.fingerprint = state
        self._tokenizers = []

    def rank(self, context: RankingContext) -> Ranking:
        """Index the tree as far as need be, and localize the issue in it."""
        issue = read_issue(context.instance.issue_text)
        with Store.open(self._index_directory(context)) as store:
            # Evaluations use all cores by running instances side by side.
            snapshot, _ = build_index(context.source, store, jobs=1, tokenizer=self._tokenizer)
            history = load_history(context.source, store, self._tokenizer)
            localizer = Localizer(snapshot, history, ranker=self._ranker, tokenizer=self._tokenizer)
            found = localizer.localize(
                issue, top_k=context.depth, include_tests=context.include_tests
            )
        by_score = sorted(
            (*found.classes, *found.functions), key=lambda result: (-result.score, result.entity.id)
        )
        return Ranking(
            files=tuple(_ranked(found.files)),
            modules=tuple(_as_modules(by_score)),
            functions=tuple(_ranked(found.functions)),
        )

    @property
    def _ranker(self) -> Ranker | None:
        return WeightedRanker() if self.name == WEIGHTED else None

    @property
    def _tokenizer(self) -> Tokenizer:
        if not self._tokenizers:
            self._tokenizers.append(Tokenizer())
        return self._tokenizers[0]

    def _index_directory(self, context: RankingContext) -> Path:
        root = context.source.root
        if self.index_root is None:
            return index_directory(root)
        return index_directory(root, self.index_root / context.instance.repo.replace("/", "__"))


def _code_digest() -> str:
    """Digest of the code that rankings depend on, the learned parts beside it included.

    Versions alone would let a run be resumed after a weight has changed.
    """
    digest = hashlib.sha256(tokenizer_version().encode())
    for package in ("indexes", "graphloc.issue", "graphloc.localization"):
        for path in _find_files(resources.files(package)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _find_files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _find_files(entry)
        elif entry.is_file():
            yield entry


def _ranked(results: Iterable[RankedEntity]) -> Iterable[Ranked]:
    return (Ranked(r.entity.id, r.score, r.confidence) for r in results)


def _as_modules(results: Iterable[RankedEntity]) -> Iterator[Ranked]:
    """Top-level classes and functions, each where the best of what it holds stands."""
    seen: set[str] = set()
    for result in results:
        module = module_of(result.entity.id)
        if module not in seen:
            seen.add(module)
            yield Ranked(module, result.score, result.confidence)


def method_registry(index_root: Path | None) -> MethodRegistry:
    """Return all methods by name."""
    return {
        **baseline_registry(),
        "graphloc": partial(GraphlocMethod, index_root),
        WEIGHTED: partial(GraphlocMethod, index_root, WEIGHTED),
    }
