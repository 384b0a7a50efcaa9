from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphloc.evaluation.model import Gold, Level, Ranked, Ranking
from graphloc.evaluation.predictions import (
    Prediction,
    encode_prediction,
    load_predictions,
    names_at,
)
from indexes.errors import DatasetError


def load(path: Path, *records: object) -> list[Prediction]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return load_predictions(path)


def names(prediction: Prediction, level: Level, gold: Gold | None = None) -> list[str]:
    return [place.entity for place in names_at(prediction.ranking, level, gold)]


def test_what_other_tools_write(tmp_path: Path) -> None:
    (found,) = load(
        tmp_path / "locagent.jsonl",
        {
            "instance_id": "i",
            "found_files": ["./a.py", "a.py", "b.py"],
            "found_modules": None,
            "found_entities": [
                "a.py:C.m",
                "a.py::C.__init__",
                "a.py:C",
                "b.py:f()",
                "b.py",
                "a.py:C.m",
            ],
            "raw_output_loc": ["..."],
        },
    )
    assert found.method == "locagent"
    assert names(found, Level.FILE) == ["a.py", "b.py"]
    assert names(found, Level.MODULE) == ["a.py:C", "b.py:f"]
    assert names(found, Level.FUNCTION) == ["a.py:C.m", "a.py:C", "b.py:f"]


def test_samples_are_merged_by_reciprocal_rank(tmp_path: Path) -> None:
    (found,) = load(
        tmp_path / "p.jsonl",
        {
            "instance_id": "i",
            "found_files": [["a.py", "b.py"], ["b.py"], []],
            "found_entities": [[]],
        },
    )
    assert names(found, Level.FILE) == ["b.py", "a.py"]
    assert names(found, Level.FUNCTION) == []


def test_empty_lists_follow_from_the_entities(tmp_path: Path) -> None:
    (found,) = load(
        tmp_path / "p.jsonl", {"instance_id": "i", "found_entities": ["b.py:f", "a.py:C.m"]}
    )
    assert names(found, Level.FILE) == ["b.py", "a.py"]
    assert names(found, Level.MODULE) == ["b.py:f", "a.py:C"]


def test_modules_that_are_named_stay(tmp_path: Path) -> None:
    record = {"instance_id": "i", "found_modules": ["z.py:Z"], "found_entities": ["b.py:f"]}
    (found,) = load(tmp_path / "p.jsonl", record)
    assert names(found, Level.MODULE) == ["z.py:Z"]


def test_a_nested_function_that_is_gold_counts_as_the_outer_one(tmp_path: Path) -> None:
    gold = Gold(functions=frozenset({"a.py:f"}), aliases={"a.py:f.g": "a.py:f"})
    (found,) = load(
        tmp_path / "p.jsonl", {"instance_id": "i", "found_entities": ["a.py:f.g", "a.py:f.h"]}
    )
    assert names(found, Level.FUNCTION, gold) == ["a.py:f", "a.py:f.h"]


def test_the_last_line_of_an_instance_counts(tmp_path: Path) -> None:
    first = {"instance_id": "i", "found_files": ["a.py"]}
    again = {"instance_id": "i", "found_files": ["b.py"]}
    other = {"instance_id": "i", "found_files": ["c.py"], "method": "m"}
    found = load(tmp_path / "p.jsonl", first, again, other)
    assert [names(prediction, Level.FILE) for prediction in found] == [["b.py"], ["c.py"]]


@pytest.mark.parametrize("confidences", [[0.5, 0.25], {"found_entities": [0.5, 0.25]}])
def test_confidences_beside_the_entities(tmp_path: Path, confidences: object) -> None:
    record = {
        "instance_id": "i",
        "found_entities": ["a.py:f", "a.py:g"],
        "confidences": confidences,
    }
    (found,) = load(tmp_path / "p.jsonl", record)
    assert [place.confidence for place in found.ranking.functions] == [0.5, 0.25]


@pytest.mark.parametrize(
    "bad", ["{", "[]", '{"found_files": []}', '{"instance_id": "i", "found_files": 3}']
)
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"instance_id": "i"}\n\n' + bad + "\n")
    with pytest.raises(DatasetError, match=r"p\.jsonl:3: "):
        load_predictions(path)
    with pytest.raises(DatasetError, match="cannot be read"):
        load_predictions(tmp_path / "absent.jsonl")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a.py:f", "a.py:C.m", "b/c.py:C", "d e.py:g"]), unique=True),
    st.one_of(st.none(), st.floats(0, 1)),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, entities: list[str], confidence: float | None
) -> None:
    functions = tuple(Ranked(e, 1 / rank, confidence) for rank, e in enumerate(entities, 1))
    ranking = Ranking(files=(Ranked("z.py", 1.0, 0.5),), functions=functions)
    path = tmp_path_factory.mktemp("p") / "p.jsonl"
    path.write_bytes(encode_prediction(Prediction("i", "m", ranking, 1.5)))
    (found,) = load_predictions(path)
    assert (found.instance_id, found.method, found.elapsed_ms) == ("i", "m", 1.5)
    assert found.ranking.functions == functions
    assert found.ranking.files == ranking.files
    written = json.loads(path.read_text())
    assert written["found_modules"] == names(found, Level.MODULE)


def test_names_that_are_no_unicode_can_be_written(tmp_path: Path) -> None:
    ranking = Ranking(files=(Ranked("a\udcff.py", 1.0),))
    line = encode_prediction(Prediction("i", "m", ranking))
    assert json.loads(line)["found_files"] == ["a\\xff.py"]
