from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphloc.evaluation.errors import GoldError
from graphloc.evaluation.gold import named_gold, patch_gold
from graphloc.evaluation.model import Gold, Instance
from indexes.source import open_source
from tests.graphloc.evaluation.sample_repositories import CALC, SampleRepository

FILES = {"calc.py": CALC, "notes.md": "x\n", "tests/test_calc.py": "def test_add():\n    pass\n"}


def find_gold(path: Path, changes: Mapping[str, str | None], **fields: bool) -> Gold:
    repository = SampleRepository.create(path / "repository", FILES)
    return gold_of(repository, repository.patch(changes), **fields)


def gold_of(repository: SampleRepository, patch: str, **fields: bool) -> Gold:
    instance = Instance("i", "a/a", repository.head(), "", patch=patch, **fields)
    return patch_gold(instance, open_source(repository.path, repository.head()))


@pytest.mark.parametrize(
    ("old", "new", "modules", "functions"),
    [
        ("total = self.start + value", "total = value", {"Adder"}, {"Adder.add"}),
        ("        return total\n", "", {"Adder"}, {"Adder.add"}),
        (
            "        return total\n",
            "        print()\n        return total\n",
            {"Adder"},
            {"Adder.add"},
        ),
        (
            "        return total\n",
            "        return total\n        # end\n",
            {"Adder"},
            {"Adder.add"},
        ),
        ("self.start = start", "self.start = 0", {"Adder"}, {"Adder"}),
        ("    @property\n", "", {"Adder"}, {"Adder.double"}),
        ("item + 1", "item + 2", {"outer"}, {"outer"}),
        ("    return LIMIT\n", "    return LIMIT\n    # end\n", {"last"}, {"last"}),
        ("step = 1", "step = 2", {"Adder"}, set()),
        ("LIMIT = 10", "LIMIT = 11", set(), set()),
        ("import os\n", "import os\nimport re\n", set(), set()),
        ("    return LIMIT\n", "    return LIMIT\n\n\ndef new():\n    pass\n", set(), set()),
        (
            "        return total\n",
            "        return total\n\n    def new(self):\n        pass\n",
            {"Adder"},
            {"Adder"},
        ),
        (
            "        return 2 * self.start\n",
            "        return 2 * self.start\n\n    async def new(self):\n        pass\n",
            {"Adder"},
            {"Adder"},
        ),
    ],
)
def test_one_change(
    tmp_path: Path, old: str, new: str, modules: set[str], functions: set[str]
) -> None:
    assert CALC.count(old) == 1
    gold = find_gold(tmp_path, {"calc.py": CALC.replace(old, new)})
    assert gold.files == {"calc.py"}
    assert gold.modules == {f"calc.py:{name}" for name in modules}
    assert gold.functions == {f"calc.py:{name}" for name in functions}


def test_a_new_method_counts_for_its_class_only_if_nothing_else_is_changed(tmp_path: Path) -> None:
    changed = CALC.replace("return LIMIT", "return 2").replace(
        "    @property", "    def new(self):\n        pass\n\n    @property"
    )
    gold = find_gold(tmp_path, {"calc.py": changed})
    assert gold.functions == {"calc.py:last"}
    assert gold.modules == {"calc.py:last", "calc.py:Adder"}


def test_a_nested_function_counts_as_the_outer_one(tmp_path: Path) -> None:
    gold = find_gold(tmp_path, {"calc.py": CALC.replace("item + 1", "item + 2")})
    assert gold.aliases == {"calc.py:outer.inner": "calc.py:outer"}


def test_only_python_files_that_were_there(tmp_path: Path) -> None:
    changes = {
        "calc.py": CALC.replace("step = 1", "step = 2"),
        "notes.md": "y\n",
        "new.py": "def f():\n    pass\n",
        "tests/test_calc.py": "def test_add():\n    assert 1\n",
    }
    assert find_gold(tmp_path / "a", changes).files == {"calc.py"}
    whole = find_gold(tmp_path / "b", changes, has_test_patch=True)
    assert whole.files == {"calc.py", "tests/test_calc.py"}
    assert whole.functions == {"tests/test_calc.py:test_add"}


def test_deleted_and_renamed_files(tmp_path: Path) -> None:
    deleted = find_gold(tmp_path / "a", {"calc.py": None})
    assert "calc.py:outer" in deleted.functions
    renamed = find_gold(tmp_path / "b", {"calc.py": None, "sums.py": CALC})
    assert (renamed.files, renamed.functions) == ({"calc.py"}, frozenset())
    edited = CALC.replace("return LIMIT", "return 2")
    both = find_gold(tmp_path / "c", {"calc.py": None, "sums.py": edited})
    assert both.functions == {"calc.py:last"}


def test_a_form_feed_ends_no_line(tmp_path: Path) -> None:
    text = CALC.replace("import os\n", "import os\n\f\n")
    repository = SampleRepository.create(tmp_path / "r", {"calc.py": text})
    patch = repository.patch({"calc.py": text.replace("self.start + value", "value")})
    assert gold_of(repository, patch).functions == {"calc.py:Adder.add"}


def test_a_patch_whose_lines_have_moved_is_found_again(tmp_path: Path) -> None:
    repository = SampleRepository.create(tmp_path / "r", FILES)
    patch = repository.patch({"calc.py": CALC.replace("return 2 * self.start", "return 2")})
    repository.commit({"calc.py": '"""Sums."""\n' + "\n" * 7 + CALC})
    assert gold_of(repository, patch).functions == {"calc.py:Adder.double"}


def test_a_patch_without_context(tmp_path: Path) -> None:
    repository = SampleRepository.create(tmp_path / "r", FILES)
    patch = "--- a/calc.py\n+++ b/calc.py\n@@ -14,0 +15 @@\n+        # end\n"
    assert gold_of(repository, patch).functions == {"calc.py:Adder.add"}


def test_what_does_not_fit_is_an_error(tmp_path: Path) -> None:
    repository = SampleRepository.create(tmp_path / "r", FILES)
    absent = "--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-a\n+b\n"
    with pytest.raises(GoldError, match=r"gone\.py.*does not hold"):
        gold_of(repository, absent)
    with pytest.raises(GoldError, match="no unified diff"):
        gold_of(repository, "--- a/calc.py\n+++ b/calc.py\n@@ -1,9 +1,9 @@\n-a\n+b\n")


def test_gold_that_an_instance_names() -> None:
    instance = Instance(
        "i",
        "a/a",
        "abc",
        "",
        gold_files=("a.py", "b.py", "README.md", "tests/test_a.py"),
        edit_functions=("a.py:C.__init__", "a.py:C.m", "tests/test_a.py:test_x"),
    )
    gold = named_gold(instance)
    assert gold is not None
    assert gold.files == {"a.py", "b.py"}
    assert gold.modules == {"a.py:C"}
    assert gold.functions == {"a.py:C", "a.py:C.m"}
    with_tests = named_gold(instance, include_tests=True)
    assert with_tests is not None
    assert "tests/test_a.py:test_x" in with_tests.functions
    assert named_gold(Instance("i", "a/a", "abc", "", patch="")) is None


def test_files_follow_from_functions_where_none_are_named() -> None:
    gold = named_gold(Instance("i", "a/a", "abc", "", edit_functions=("a.py:f", "b.py:g")))
    assert gold is not None
    assert gold.files == {"a.py", "b.py"}
