"""The table of entities."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.arrays import pack_arrays, unpack_arrays
from indexes.errors import EntityNotFoundError
from indexes.graph import EntityTable
from indexes.model import EntityKind, Span
from tests.indexes.sample_facts import table_of

SHAPES = '''"""Shapes
of all kinds."""

import abc
from typing import overload


class Shape(abc.ABC):
    """A shape."""

    @property
    def area(self):
        """Size."""
        return 0

    @area.setter
    @abc.abstractmethod
    def area(self, value):
        def check(number):
            if number < 0:
                raise ValueError(number)
            return number

        self.value = check(value)

    class Meta:
        def name(self): return "shape"


@overload
def scale(shape: int) -> int: ...
@overload
def scale(shape: str) -> str: ...
def scale(shape):
    """Make it larger."""
    result = shape * 2
    return result


if True:
    async def load(path): pass
else:
    async def load(path):
        return path
'''
FILES = {
    "geometry/shapes.py": SHAPES,
    "geometry/__init__.py": "",
    "geometry/deep/er/line.py": "def draw(): ...",
    "tests/test_shapes.py": "def test_area():\n    pass\n",
    "top.py": "def main(): pass\n",
}


@pytest.fixture(scope="module")
def table() -> EntityTable:
    return table_of(FILES)


def line_of(text: str, part: str) -> int:
    """1-based line of the first line that holds a text."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def test_folders_come_first_then_each_file_with_what_is_in_it(table: EntityTable) -> None:
    assert table.ids == [
        ".",
        "geometry",
        "geometry/deep",
        "geometry/deep/er",
        "tests",
        "geometry/__init__.py",
        "geometry/deep/er/line.py",
        "geometry/deep/er/line.py:draw",
        "geometry/shapes.py",
        "geometry/shapes.py:Shape",
        "geometry/shapes.py:Shape.area",
        "geometry/shapes.py:Shape.area.check",
        "geometry/shapes.py:Shape.Meta",
        "geometry/shapes.py:Shape.Meta.name",
        "geometry/shapes.py:scale",
        "geometry/shapes.py:load",
        "tests/test_shapes.py",
        "tests/test_shapes.py:test_area",
        "top.py",
        "top.py:main",
    ]


def test_every_entity_is_inside_the_one_that_its_name_says(table: EntityTable) -> None:
    around = {table.ids[row]: table.ids[table.parents[row]] for row in range(1, len(table))}

    assert table.parents[0] == -1
    assert around["geometry"] == "."
    assert around["geometry/deep/er"] == "geometry/deep"
    assert around["top.py"] == "."
    assert around["geometry/shapes.py:Shape"] == "geometry/shapes.py"
    assert around["geometry/shapes.py:Shape.Meta.name"] == "geometry/shapes.py:Shape.Meta"
    assert around["geometry/shapes.py:Shape.area.check"] == "geometry/shapes.py:Shape.area"


def test_children_and_ancestors(table: EntityTable) -> None:
    shape = table.get("geometry/shapes.py:Shape")
    name = table.get("geometry/shapes.py:Shape.Meta.name")

    assert [table.ids[row] for row in table.children(shape)] == [
        "geometry/shapes.py:Shape.area",
        "geometry/shapes.py:Shape.Meta",
    ]
    assert [table.ids[row] for row in table.iter_ancestors(name)] == [
        "geometry/shapes.py:Shape.Meta",
        "geometry/shapes.py:Shape",
        "geometry/shapes.py",
        "geometry",
        ".",
    ]
    assert table.children(name) == []


def test_an_entity_as_a_value(table: EntityTable) -> None:
    function = table.entity(table.get("geometry/shapes.py:Shape.Meta.name"))
    file = table.entity(table.get("geometry/shapes.py"))
    folder = table.entity(table.get("geometry/deep"))

    assert (function.kind, function.path) == (EntityKind.FUNCTION, "geometry/shapes.py")
    assert (function.name, function.signature) == ("Shape.Meta.name", "(self)")
    assert (file.kind, file.name, file.docstring) == (
        EntityKind.FILE,
        "shapes.py",
        "Shapes\nof all kinds.",
    )
    assert file.span == Span(1, len(SHAPES.splitlines()))
    assert (folder.kind, folder.name, folder.path) == (
        EntityKind.DIRECTORY,
        "deep",
        "geometry/deep",
    )
    assert folder.span == Span(0, 0)


def test_decorators_belong_to_a_span(table: EntityTable) -> None:
    area = table.entity(table.get("geometry/shapes.py:Shape.area"))
    # The setter is longer than the getter, so the span is its.
    assert area.span.start_line == line_of(SHAPES, "@area.setter")
    assert area.span.end_line == line_of(SHAPES, "check(value)")


def test_definitions_of_one_name_share_a_row_with_the_longest_one_s_span(
    table: EntityTable,
) -> None:
    scale = table.entity(table.get("geometry/shapes.py:scale"))
    load = table.entity(table.get("geometry/shapes.py:load"))

    assert scale.span == Span(line_of(SHAPES, "def scale(shape):"), line_of(SHAPES, "return resul"))
    assert scale.docstring == "Make it larger."
    assert load.span.end_line == len(SHAPES.splitlines())


@pytest.mark.parametrize(
    ("part", "entity"),
    [
        ("import abc", ""),
        ("class Shape", "Shape"),
        ('"""A shape."""', "Shape"),
        ("@property", "Shape.area"),
        ("return 0", "Shape.area"),
        ("@area.setter", "Shape.area"),
        ("raise ValueError", "Shape.area.check"),
        ("self.value =", "Shape.area"),
        ("def name(self)", "Shape.Meta.name"),
        ("scale(shape: int)", "scale"),
        ("scale(shape: str)", "scale"),
        ("result = shape", "scale"),
        ("if True", ""),
        ("async def load(path): pass", "load"),
        ("return path", "load"),
    ],
)
def test_the_innermost_entity_at_a_line(table: EntityTable, part: str, entity: str) -> None:
    file = table.paths.index("geometry/shapes.py")
    row = table.at_line(file, line_of(SHAPES, part))
    expected = f"geometry/shapes.py:{entity}" if entity else "geometry/shapes.py"
    assert table.ids[row] == expected


def test_lines_outside_of_a_file_are_its_own(table: EntityTable) -> None:
    file = table.paths.index("geometry/shapes.py")
    assert table.at_line(file, 0) == table.file_rows[file]
    assert table.at_line(file, 10_000) == table.file_rows[file]
    empty = table.paths.index("geometry/__init__.py")
    assert table.at_line(empty, 1) == table.file_rows[empty]


@given(depths=st.lists(st.integers(0, 4), min_size=1, max_size=25))
def test_lines_of_random_nests_belong_to_the_shortest_span_around_them(depths: list[int]) -> None:
    lines, names, last = [], [], -1
    for number, depth in enumerate(depths):
        last = min(depth, last + 1)
        lines += [f"{'    ' * last}def f{number}():", f"{'    ' * (last + 1)}x = {number}"]
        names.append(f"f{number}")
    table = table_of({"nest.py": "\n".join(lines) + "\n"})

    for line in range(1, len(lines) + 1):
        around = [
            (table.ends[row] - table.starts[row], row)
            for row in range(2, len(table))
            if table.starts[row] <= line <= table.ends[row]
        ]
        assert table.at_line(0, line) == min(around)[1]


def test_rows_of_a_file_follow_each_other(table: EntityTable) -> None:
    for file, path in enumerate(table.paths):
        rows = table.rows_of_file(file)
        assert table.ids[rows[0]] == path
        assert {table.paths[table.files[row]] for row in rows} == {path}
    assert sum(len(table.rows_of_file(file)) for file in range(table.n_files)) == len(table) - 5


def test_tests_are_marked_by_their_file(table: EntityTable) -> None:
    marked = {table.ids[row] for row in range(len(table)) if table.is_test[row]}
    assert marked == {"tests", "tests/test_shapes.py", "tests/test_shapes.py:test_area"}
    assert table.entity(table.get("tests/test_shapes.py:test_area")).is_test


def test_unknown_entities_are_refused_with_close_names(table: EntityTable) -> None:
    assert table.find("geometry/shapes.py:Shape.volume") is None
    with pytest.raises(EntityNotFoundError) as caught:
        table.get("shapes.py:Circle.area")
    assert "did you mean geometry/shapes.py:Shape.area?" in caught.value.message
    assert caught.value.values == {"entity": "shapes.py:Circle.area"}
    assert caught.value.exit_code == 2

    with pytest.raises(EntityNotFoundError, match=r"did you mean geometry/deep/er/line\.py\?"):
        table.get("line.py")


def test_an_unknown_entity_like_no_other_is_told_how_names_look(table: EntityTable) -> None:
    with pytest.raises(EntityNotFoundError, match="names look like") as caught:
        table.get("nothing_at_all")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.message, again.values) == (caught.value.message, caught.value.values)


def test_a_table_comes_back_from_its_arrays(table: EntityTable) -> None:
    again = EntityTable(unpack_arrays(pack_arrays(table.to_arrays())))

    assert [again.entity(row) for row in range(len(again))] == [
        table.entity(row) for row in range(len(table))
    ]
    file = table.paths.index("geometry/shapes.py")
    lines = range(1, len(SHAPES.splitlines()) + 1)
    assert [again.at_line(file, n) for n in lines] == [table.at_line(file, n) for n in lines]


def test_a_tree_without_files_has_its_root_alone() -> None:
    table = table_of({})
    assert (len(table), table.n_files, table.ids, table.paths) == (1, 0, ["."], [])
    again = EntityTable(unpack_arrays(pack_arrays(table.to_arrays())))
    assert again.entity(0).kind == EntityKind.DIRECTORY
