"""What past commits say about files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphloc.localization.signals import HistorySignal
from tests.functional.sample_trees import commit, git, make_repository, write
from tests.graphloc.localization.indexed_samples import Sample, index_sample

COLUMNS = ("past_similar", "past_similar_best", "past_frequency", "past_recency", "past_together")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that change for different reasons."""
    files = {name: "x = 0\n" for name in ("parser.py", "lexer.py", "printer.py", "old.py")}
    repo = make_repository(tmp_path_factory.mktemp("history") / "repo", files)
    changes = [
        ("Indent nested brackets", ["printer.py"]),
        ("Fix unicode escapes in tokens", ["parser.py", "lexer.py"]),
        ("Speed up tokens", ["parser.py", "lexer.py"]),
        ("Drop what nobody needs", ["gone.py"]),
        ("Unicode escapes again", ["lexer.py"]),
    ]
    for number, (message, paths) in enumerate(changes, 1):
        write(repo, {path: f"x = {number}\n" for path in paths})
        commit(repo, message)
    (repo / "gone.py").unlink()
    commit(repo, "Remove it")
    return repo


@pytest.fixture(scope="module")
def sample(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return index_sample(repo, tmp_path_factory.mktemp("index"))


def test_files_of_commits_about_the_same_words_are_found(sample: Sample) -> None:
    issue = "Unicode escapes are lost"
    found = sample.files(HistorySignal(), "past_similar", issue)
    assert set(found) == {"lexer.py", "parser.py"}
    assert found["lexer.py"] > found["parser.py"]
    reason = sample.reason(HistorySignal(), "past_similar", issue, "lexer.py")
    assert reason == "changed by past commits about the same words"
    assert sample.reason(HistorySignal(), "past_similar", issue, "printer.py") == ""


def test_the_best_commit_counts_apart_from_the_sum(sample: Sample) -> None:
    issue = "Unicode escapes are lost"
    best = sample.files(HistorySignal(), "past_similar_best", issue)
    summed = sample.files(HistorySignal(), "past_similar", issue)
    assert best["parser.py"] == pytest.approx(summed["parser.py"])
    assert best["lexer.py"] < summed["lexer.py"]


def test_frequency_counts_commits_and_recency_lets_old_ones_fade(sample: Sample) -> None:
    frequency = sample.files(HistorySignal(), "past_frequency", "x")
    recency = sample.files(HistorySignal(), "past_recency", "x")
    assert frequency["lexer.py"] == pytest.approx(np.log1p(4))
    assert frequency["old.py"] == pytest.approx(np.log1p(1))
    assert recency["lexer.py"] < frequency["lexer.py"]
    assert set(frequency) == {"parser.py", "lexer.py", "printer.py", "old.py"}


def test_files_changed_together_with_the_best_ones_are_found(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = {f"m{n}.py": f"unrelated{n} = 0\n" for n in range(12)}
    files |= {f"zebra{n}.py": "zebra = 0\n" for n in range(5)}
    folder = tmp_path_factory.mktemp("together")
    repo = make_repository(folder / "repo", {"seed.py": "seed = 0\n"})
    write(repo, {name: files[name] for name in ("zebra0.py", "m3.py")})
    commit(repo, "One")
    write(repo, files)
    commit(repo, "Two")
    found = index_sample(repo, folder / "index").files(
        HistorySignal(), "past_together", "Zebra\n\nthe zebra is lost"
    )
    assert max(found, key=lambda path: found[path]) == "m3.py"
    assert not any(path.startswith("zebra") for path in found)


def test_later_commits_are_not_known_to_an_earlier_revision(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-list", "--max-parents=0", "HEAD")
    sample = index_sample(repo, tmp_path / "index", first)
    assert sample.files(HistorySignal(), "past_similar", "Unicode escapes are lost") == {}
    frequency = sample.files(HistorySignal(), "past_frequency", "x")
    assert list(frequency.values()) == pytest.approx([np.log1p(1)] * 4)


def test_without_history_all_columns_are_there_and_zero(bakery: Sample) -> None:
    columns = HistorySignal().compute(bakery.query("anything")).files
    assert tuple(column.name for column in columns) == COLUMNS
    assert all(not column.values.any() for column in columns)
    assert {column.values.shape for column in columns} == {(bakery.snapshot.entities.n_files,)}


def test_one_signal_serves_several_histories_of_a_snapshot(sample: Sample) -> None:
    signal = HistorySignal()
    before = sample.files(signal, "past_frequency", "x")
    without = Sample(sample.snapshot, None)
    assert without.files(signal, "past_frequency", "x") == {}
    assert sample.files(signal, "past_frequency", "x") == before
