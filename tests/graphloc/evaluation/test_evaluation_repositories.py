from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphloc.evaluation.clones import commit_times, complete_commit
from graphloc.evaluation.errors import CloneError
from graphloc.evaluation.repositories import Repositories, load_repository_map
from indexes.errors import InputError, RepositoryNotFoundError
from indexes.source import open_source
from tests.graphloc.evaluation.sample_repositories import SampleRepository, git

FILES = {"a.py": "A = 1\n", "big.bin": "x" * 999}


@pytest.mark.parametrize(
    "layout",
    [
        "own/name",
        "own__name",
        "own+name",
        "own+name/repo",
        "own/name/repo",
        "OWN__Name",
        "Own/NAME",
    ],
)
def test_layouts_of_a_folder(tmp_path: Path, layout: str) -> None:
    made = SampleRepository.create(tmp_path / layout, FILES)
    assert Repositories(tmp_path, remote=None).get("own/name") == made.path


def test_a_bare_clone(tmp_path: Path) -> None:
    SampleRepository.create(tmp_path / "origin", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", "origin", "own+name/repo")
    assert Repositories(tmp_path, remote=None).get("own/name") == tmp_path / "own+name" / "repo"


def test_the_exact_name_wins(tmp_path: Path) -> None:
    SampleRepository.create(tmp_path / "OWN__name", FILES)
    exact = SampleRepository.create(tmp_path / "own__name", FILES)
    assert Repositories(tmp_path, remote=None).get("own/name") == exact.path


def test_a_folder_that_is_no_clone_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "own" / "name").mkdir(parents=True)
    with pytest.raises(RepositoryNotFoundError, match="--repo-map"):
        Repositories(tmp_path, remote=None).get("own/name")


@pytest.mark.parametrize("name", ["map.toml", "map.json"])
def test_a_map_comes_first(tmp_path: Path, name: str) -> None:
    SampleRepository.create(tmp_path / "own__name", FILES)
    mapped = SampleRepository.create(tmp_path / "elsewhere", FILES)
    content = {"Own/name": "elsewhere", "other/one": "nowhere"}
    toml = "".join(f'"{key}" = "{value}"\n' for key, value in content.items())
    (tmp_path / name).write_text(toml if name.endswith("toml") else json.dumps(content))
    repositories = Repositories(tmp_path, load_repository_map(tmp_path / name), remote=None)
    assert repositories.get("own/name") == mapped.path
    with pytest.raises(RepositoryNotFoundError, match="correct the map"):
        repositories.get("other/one")


@pytest.mark.parametrize(
    ("name", "text"), [("m.toml", "= 1"), ("m.json", "{"), ("m.json", "[]"), ("m.toml", "a = 1")]
)
def test_a_map_that_is_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="repository map"):
        load_repository_map(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        load_repository_map(tmp_path / "absent.toml")


def make_remote(folder: Path) -> tuple[str, str, str]:
    """Return a remote's address and two commits, the second on no branch."""
    made = SampleRepository.create(folder / "own" / "name", FILES)
    git(made.path, "config", "uploadpack.allowFilter", "true")
    git(made.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    first = made.head()
    second = made.commit({"b.py": "B = 1\n"})
    git(made.path, "reset", "--quiet", "--hard", first)
    return folder.as_uri(), first, second


def test_clones_without_blobs_and_fetches_those_of_a_commit(tmp_path: Path) -> None:
    remote, first, second = make_remote(tmp_path / "remote")
    repositories = Repositories(tmp_path / "clones", remote=remote)
    path = repositories.get("own/name")
    assert path == tmp_path / "clones" / "own__name"
    assert repositories.get("own/name") == path
    assert open_source(path, first).entries() == []
    complete_commit(path, first)
    source = open_source(path, first)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert [missing.path for missing in source.missing] == ["big.bin"]
    complete_commit(path, second)
    assert [entry.path for entry in open_source(path, second).entries()] == ["a.py", "b.py"]
    assert [child.name for child in (tmp_path / "clones").iterdir()] == ["own__name"]


def test_what_cannot_be_had_is_a_clear_error(tmp_path: Path) -> None:
    remote, first, _ = make_remote(tmp_path / "remote")
    nowhere = Repositories(tmp_path / "clones", remote=(tmp_path / "none").as_uri())
    with pytest.raises(CloneError, match=r"own/name is not at hand.*--repo-map") as caught:
        nowhere.get("own/name")
    assert "\n" not in caught.value.message
    assert list((tmp_path / "clones").iterdir()) == []
    path = Repositories(tmp_path / "clones", remote=remote).get("own/name")
    (tmp_path / "remote").rename(tmp_path / "unplugged")
    with pytest.raises(CloneError, match=f"files of {first}"):
        complete_commit(path, first)
    with pytest.raises(CloneError, match="commit 0123"):
        complete_commit(path, "0123" * 10)


def test_times_of_commits_that_are_there(tmp_path: Path) -> None:
    made = SampleRepository.create(tmp_path / "r", FILES)
    times = commit_times(made.path, [made.head(), "0123" * 10])
    assert times == {made.head(): int(git(made.path, "log", "-1", "--format=%ct"))}
