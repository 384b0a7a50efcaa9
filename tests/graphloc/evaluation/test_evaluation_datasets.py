from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from graphloc.evaluation.datasets import load_dataset
from indexes.errors import DatasetError
from tests.graphloc.evaluation.sample_repositories import line, write_lines

GOOD = line("a__a-1", "a/a", "abc", patch="", ignored=[1])
BAD = {
    "{": "is not JSON",
    "[]": "is no JSON object",
    '{"instance_id": "x"}': "lacks repo",
    line("x", "a/a", "abc", patch="").replace('"base_commit": "abc", ', ""): "lacks base_commit",
    line("x", "a/a", "abc"): "none of patch, gold_files and edit_functions",
    line("x", "no-owner", "abc", patch=""): "repo",
    line("x", "a/a", "--upload-pack=x", patch=""): "base_commit",
    line("x", "a/a", "abc", edit_functions="not a list"): "no list of strings",
    line("x", "a/a", "abc", patch=7): "patch",
}


def test_reads_the_published_fields(tmp_path: Path) -> None:
    text = line("a__a-2", "a/b.c", "def", edit_functions=["x.py:f"], gold_files='["x.py"]')
    path = write_lines(tmp_path / "d.jsonl", ["\ufeff" + GOOD, "", text])
    dataset = load_dataset(path)
    first, second = dataset.instances
    assert (first.instance_id, first.patch, first.edit_functions) == ("a__a-1", "", None)
    assert first.issue_text == "Adder.add loses the value"
    assert (second.edit_functions, second.gold_files) == (("x.py:f",), ("x.py",))
    assert (dataset.name, dataset.size, dataset.failures) == ("d.jsonl", 2, ())


@pytest.mark.parametrize(("bad", "said"), BAD.items())
def test_a_bad_line_names_file_line_and_remedy(tmp_path: Path, bad: str, said: str) -> None:
    path = write_lines(tmp_path / "d.jsonl", [GOOD, bad])
    with pytest.raises(DatasetError, match=said) as caught:
        load_dataset(path)
    assert caught.value.message.startswith(f"{path}:2: ")
    assert "\n" not in caught.value.message
    assert pickle.loads(pickle.dumps(caught.value)).values["line"] == 2


def test_bad_lines_stop_no_other(tmp_path: Path) -> None:
    lines = [GOOD, *BAD, GOOD, line("b__b-1", "b/b", "abc", patch="")]
    dataset = load_dataset(write_lines(tmp_path / "d.jsonl", lines), keep_going=True)
    assert [instance.instance_id for instance in dataset.instances] == ["a__a-1", "b__b-1"]
    assert len(dataset.failures) == len(BAD) + 1
    assert dataset.failures[0].instance_id == "line 2"
    assert "that of line 1" in dataset.failures[-1].reason
    assert dataset.size == len(lines)


def test_a_repeated_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="that of line 1, too"):
        load_dataset(write_lines(tmp_path / "d.jsonl", [GOOD, GOOD]))


@pytest.mark.parametrize("content", [None, b"", b"\n \n"])
def test_no_dataset(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "d.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"JSONL|no instance"):
        load_dataset(path, keep_going=True)
