"""The table of entities: every node of a snapshot, one row each, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexes.arrays import Arrays, pack_texts, unpack_texts
from indexes.errors import EntityNotFoundError
from indexes.facts import Definition, FileFacts
from indexes.model import (
    PYTHON_SUFFIXES,
    Entity,
    EntityKind,
    Span,
    entity_id,
    is_test_path,
    split_entity_id,
)

ROOT = "."
"""Id of the folder that holds everything."""
KINDS = (EntityKind.DIRECTORY, EntityKind.FILE, EntityKind.CLASS, EntityKind.FUNCTION)
DIRECTORY, FILE, CLASS, FUNCTION = range(4)
_SHORT_DOCSTRING_CHARS = 300


class EntityTable:
    """All entities of a snapshot.

    Rows: folders sorted by path, then each file (sorted by path) followed by its definitions in
    order of their first line. Definitions of one name in one file (overloads, property accessors,
    alternatives under ``if``) share one row, whose span is that of the longest.

    Parameters
    ----------
    arrays
        Columns as `build_entities` makes them and `to_arrays` gives them back.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)
        self.kinds: npt.NDArray[np.uint8] = arrays["kinds"]
        """(n,) uint8: index into `KINDS`."""
        self.files: npt.NDArray[np.int32] = arrays["files"]
        """(n,) int32: number of the file an entity is in; -1 for folders."""
        self.parents: npt.NDArray[np.int32] = arrays["parents"]
        """(n,) int32: row of the entity around it; -1 for the root."""
        self.starts: npt.NDArray[np.int32] = arrays["starts"]
        self.ends: npt.NDArray[np.int32] = arrays["ends"]
        """(n,) int32: first and last line; 0 for folders."""
        self.file_rows: npt.NDArray[np.int32] = arrays["file_rows"]
        """(n_files,) int32: row of each file."""
        self.is_test: npt.NDArray[np.bool_] = arrays["is_test"]
        """(n,) bool: whether the entity's file is a test file."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def n_files(self) -> int:
        """Number of files."""
        return len(self.file_rows)

    @cached_property
    def names(self) -> list[str]:
        """Qualified name inside its file of each row; the path for files and folders."""
        return unpack_texts(self._arrays["names"], len(self))

    @cached_property
    def paths(self) -> list[str]:
        """Path of each file, in the order of file numbers."""
        return [self.names[row] for row in self.file_rows.tolist()]

    @cached_property
    def ids(self) -> list[str]:
        """Id of each row."""
        paths, names = self.paths, self.names
        return [
            names[row] if kind <= FILE else entity_id(paths[file], names[row])
            for row, (kind, file) in enumerate(
                zip(self.kinds.tolist(), self.files.tolist(), strict=True)
            )
        ]

    @cached_property
    def signatures(self) -> list[str]:
        """Signature of each row; empty for files and folders."""
        return unpack_texts(self._arrays["signatures"], len(self))

    @cached_property
    def docstrings(self) -> list[str]:
        """First part of each row's docstring."""
        return unpack_texts(self._arrays["docstrings"], len(self))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.ids)}

    def find(self, entity: str) -> int | None:
        """Row of an entity, or `None`."""
        return self._rows.get(entity)

    def get(self, entity: str) -> int:
        """Row of an entity.

        Raises
        ------
        EntityNotFoundError
            With close names in the message.
        """
        row = self.find(entity)
        if row is None:
            raise EntityNotFoundError(
                f"no entity {entity!r} in the index{self._suggest(entity)}", entity=entity
            )
        return row

    def _suggest(self, entity: str) -> str:
        is_path = "/" in entity or entity.endswith(PYTHON_SUFFIXES)
        qualified = split_entity_id(entity)[1] or ("" if is_path else entity)
        last = qualified.rsplit(".", 1)[-1] or entity.rsplit("/", 1)[-1]
        ends = (f".{last}", f":{last}") if qualified else (f"/{last}",)
        close = [name for name in self.ids if name.endswith(ends)]
        if close:
            return ": did you mean " + ", ".join(close[:3]) + "?"
        return ": names look like path/to/file.py:Class.method, see `graphloc search`"

    def entity(self, row: int) -> Entity:
        """One row as a value."""
        kind = KINDS[self.kinds[row]]
        file = int(self.files[row])
        name = self.names[row]
        return Entity(
            id=self.ids[row],
            kind=kind,
            path=self.paths[file] if file >= 0 else name,
            name=name if self.kinds[row] > FILE else name.rsplit("/", 1)[-1],
            span=Span(int(self.starts[row]), int(self.ends[row])),
            is_test=bool(self.is_test[row]),
            signature=self.signatures[row],
            docstring=self.docstrings[row],
        )

    def rows_of_file(self, file: int) -> range:
        """Rows of a file: the file itself, then its definitions."""
        start = int(self.file_rows[file])
        end = int(self.file_rows[file + 1]) if file + 1 < self.n_files else len(self)
        return range(start, end)

    @cached_property
    def _span_starts(self) -> npt.NDArray[np.int64]:
        """(n_files + 1,) where each file's spans begin in the column of spans."""
        files = self.files[self._arrays["spans"][:, 2]]
        return np.searchsorted(files, np.arange(self.n_files + 1))

    def at_line(self, file: int, line: int) -> int:
        """Row of the innermost entity of a file that holds the line; the file's when none does."""
        start, end = self._span_starts[file], self._span_starts[file + 1]
        spans = self._arrays["spans"][start:end]
        # Spans nest and come in the order of their first lines, so the last fitting is innermost.
        rows = spans[(spans[:, 0] <= line) & (line <= spans[:, 1]), 2]
        return int(rows[-1]) if len(rows) else int(self.file_rows[file])

    def children(self, row: int) -> list[int]:
        """Rows directly inside a row."""
        return np.flatnonzero(self.parents == row).tolist()

    def iter_ancestors(self, row: int) -> Iterator[int]:
        """Rows around a row, innermost first."""
        row = int(self.parents[row])
        while row >= 0:
            yield row
            row = int(self.parents[row])

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The columns, for storing."""
        return self._arrays


class _Draft:
    """Rows while a table is built."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.files: list[int] = []
        self.parents: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.names: list[str] = []
        self.signatures: list[str] = []
        self.docstrings: list[str] = []
        self.is_test: list[bool] = []
        self.file_rows: list[int] = []
        self.spans: list[tuple[int, int, int]] = []

    def add(self, kind: int, file: int, parent: int, name: str, is_test: bool) -> int:
        self.kinds.append(kind)
        self.files.append(file)
        self.parents.append(parent)
        self.names.append(name)
        self.is_test.append(is_test)
        self.starts.append(0)
        self.ends.append(0)
        self.signatures.append("")
        self.docstrings.append("")
        return len(self.kinds) - 1

    def add_file(self, path: str, facts: FileFacts, folder_row: int) -> list[int]:
        """Add a file and its definitions; the row of each owner number."""
        test = is_test_path(path)
        number = len(self.file_rows)
        row = self.add(FILE, number, folder_row, path, test)
        self.file_rows.append(row)
        self.starts[row], self.ends[row] = 1, max(facts.line_count, 1)
        self.docstrings[row] = facts.docstring[:_SHORT_DOCSTRING_CHARS]
        owners = [row]
        known: dict[str, int] = {}
        for definition in facts.definitions:
            at = known.get(definition.name)
            if at is None:
                kind = CLASS if definition.is_class else FUNCTION
                at = self.add(kind, number, owners[definition.parent], definition.name, test)
                known[definition.name] = at
            self._describe(at, definition)
            self.spans.append((definition.start_line, definition.end_line, at))
            owners.append(at)
        return owners

    def _describe(self, row: int, definition: Definition) -> None:
        length = definition.end_line - definition.start_line
        if self.starts[row] and length <= self.ends[row] - self.starts[row]:
            return
        self.starts[row], self.ends[row] = definition.start_line, definition.end_line
        self.signatures[row] = definition.signature
        self.docstrings[row] = definition.docstring[:_SHORT_DOCSTRING_CHARS]

    def build(self) -> EntityTable:
        return EntityTable(
            {
                "kinds": np.array(self.kinds, dtype=np.uint8),
                "files": np.array(self.files, dtype=np.int32),
                "parents": np.array(self.parents, dtype=np.int32),
                "starts": np.array(self.starts, dtype=np.int32),
                "ends": np.array(self.ends, dtype=np.int32),
                "is_test": np.array(self.is_test, dtype=np.bool_),
                "file_rows": np.array(self.file_rows, dtype=np.int32),
                "spans": np.array(self.spans, dtype=np.int32).reshape(-1, 3),
                "names": pack_texts(self.names),
                "signatures": pack_texts(self.signatures),
                "docstrings": pack_texts(self.docstrings),
            }
        )


def build_entities(files: Mapping[str, FileFacts]) -> tuple[EntityTable, list[list[int]]]:
    """Make the table of all entities.

    Parameters
    ----------
    files
        Facts by path, sorted by path.

    Returns
    -------
    table
        The entities.
    owner_rows
        For each file the row of each owner number (0 is the file).
    """
    draft = _Draft()
    folder_rows = {"": draft.add(DIRECTORY, -1, -1, ROOT, False)}
    for folder in sorted(_folders(files)):
        parent = folder_rows[folder.rpartition("/")[0]]
        folder_rows[folder] = draft.add(DIRECTORY, -1, parent, folder, is_test_path(f"{folder}/_"))
    owner_rows = [
        draft.add_file(path, facts, folder_rows[path.rpartition("/")[0]])
        for path, facts in files.items()
    ]
    return draft.build(), owner_rows


def _folders(paths: Mapping[str, FileFacts]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
