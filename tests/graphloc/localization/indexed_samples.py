"""Small trees, indexed, for signals to be asked about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphloc.issue import read_issue
from graphloc.localization import Localizer
from graphloc.localization.query import NameIndex, Query
from graphloc.localization.signals import Column, Signal
from indexes.builder import build_index
from indexes.history import History, load_history
from indexes.snapshot import Snapshot
from indexes.source import open_source
from indexes.store import Store
from indexes.text import Tokenizer

BAKERY = {
    "setup.py": "from setuptools import setup\n\nsetup()\n",
    "bakery/__init__.py": '"""A bakery."""\n\nfrom bakery.oven import Oven\n',
    "bakery/oven.py": '''"""Ovens and their heat."""

from bakery.dough import Dough, knead
from bakery.errors import OvenError


class Oven:
    """Bakes dough into bread."""

    def __init__(self, celsius):
        self.celsius = celsius

    def bake(self, dough):
        """Bake until the crust is brown."""
        if self.celsius > 300:
            raise OvenError("oven is too hot: %d degrees, at most %d" % (self.celsius, 300))
        return self._crust(knead(dough))

    def _crust(self, dough):
        return dough.name


class SteamOven(Oven):
    """Bakes with steam."""

    def bake(self, dough):
        return super().bake(dough).strip()
''',
    "bakery/dough.py": '''"""Dough and what is done with it."""


class Dough:
    """Flour and water."""

    def __init__(self, name):
        self.name = name

    def rise(self, minutes):
        # Yeast wants warmth.
        return ferment(self, minutes)


def knead(dough):
    """Work the gluten."""
    return dough


def ferment(dough, minutes):
    return dough if minutes else None
''',
    "bakery/errors.py": '''class OvenError(Exception):
    """Something about an oven."""
''',
    "bakery/util/__init__.py": "",
    "bakery/util/clock.py": "def now_minutes():\n    return 0\n",
    "docs/conf.py": "project = 'bakery'\n",
    "tests/test_oven.py": """from bakery import Oven
from bakery.dough import Dough


def test_brown_crust():
    assert Oven(200).bake(Dough("rye")) == "rye"
""",
}


@dataclass(frozen=True)
class Sample:
    """A tree's snapshot and history."""

    snapshot: Snapshot
    history: History | None = None

    def query(self, issue: str) -> Query:
        """An issue against the tree."""
        names = NameIndex(self.snapshot)
        return Query(read_issue(issue), self.snapshot, names, Tokenizer(), self.history)

    def localizer(self, **options: object) -> Localizer:
        """A localizer of the tree."""
        return Localizer(self.snapshot, self.history, **options)  # type: ignore[arg-type]

    def entities(self, signal: Signal, column: str, issue: str) -> dict[str, float]:
        """What a column says of entities: values above zero, by id."""
        found = get_column(signal.compute(self.query(issue)).entities, column)
        ids = self.snapshot.entities.ids
        return {ids[row]: float(value) for row, value in enumerate(found.values) if value}

    def files(self, signal: Signal, column: str, issue: str) -> dict[str, float]:
        """What a column says of files: values above zero, by path."""
        found = get_column(signal.compute(self.query(issue)).files, column)
        paths = self.snapshot.entities.paths
        return {paths[n]: float(value) for n, value in enumerate(found.values) if value}

    def reason(self, signal: Signal, column: str, issue: str, place: str) -> str:
        """What a column says about an entity, or about a file by its path."""
        columns = signal.compute(self.query(issue))
        if ":" in place:
            row = self.snapshot.entities.get(place)
            return get_column(columns.entities, column).explain(row)
        return get_column(columns.files, column).explain(self.snapshot.entities.paths.index(place))


def get_column(columns: tuple[Column, ...], name: str) -> Column:
    """The column of that name."""
    return next(column for column in columns if column.name == name)


def index_sample(folder: Path, index: Path, rev: str | None = None) -> Sample:
    """Index a folder; everything is loaded, so that the store may close."""
    source = open_source(folder, rev)
    with Store.open(index) as store:
        snapshot, _ = build_index(source, store, jobs=1)
        history = load_history(source, store)
        for part in ("entities", "graph", "text", "phrases"):
            getattr(snapshot, part)
    return Sample(snapshot, history)
