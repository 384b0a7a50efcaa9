"""RepoEval's function-level problems: JSONL of holes, beside a folder of repositories.

Zhang et al., "RepoCoder" (EMNLP 2023), https://arxiv.org/abs/2303.12570. A line has ``prompt`` and
``metadata`` with ``task_id``, ``ground_truth``, ``fpath_tuple`` (the repository's folder first),
``lineno`` or ``line_no`` (0-based line at which the body starts) and ``function_name``. The ids of
the released file are not unique, so instances are numbered by line. A list ``tests`` in the
metadata, or a map of tests, names the held-out tests; otherwise all test files of the repository
are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphloc.completion.errors import HoleError
from graphloc.completion.hole import Hole, find_line_hole
from graphloc.completion.model import CompletionTask
from indexes.errors import DatasetError
from indexes.model import Span, is_test_path
from indexes.source import open_source
from repair.patch import is_safe_path
from repair.patch.source_text import read_source, split_lines, without_end

TestMap = Mapping[str, Sequence[str]]
"""Instance id, or name of a repository, -> files or node ids as pytest takes them."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One problem with what decides about answers."""

    id: str
    task: CompletionTask
    truth: str
    tests: tuple[str, ...]
    """What pytest is given; none means that nothing decides."""


@dataclass(frozen=True, slots=True)
class CompletionDataset:
    """Problems, and the digest of the file they came from."""

    digest: str
    """SHA-256."""
    instances: tuple[Instance, ...]


def load_repoeval(
    path: Path, repositories: Path, tests: TestMap | None = None
) -> CompletionDataset:
    """Read a file of problems and find each hole in its repository.

    Raises
    ------
    DatasetError
        A line cannot be read, its file is not there, or the ground truth is not in the file.
    """
    try:
        data = path.read_bytes()
        lines = data.decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read: {error}", path=str(path)) from error
    reader = _Reader(repositories, tests or {}, {})
    instances = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            instances.append(reader.instance(json.loads(line), number))
        except (KeyError, TypeError, ValueError, HoleError) as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DatasetError(
                f"{path}, line {number}: {what}", path=str(path), line=number
            ) from error
    return CompletionDataset(hashlib.sha256(data).hexdigest(), tuple(instances))


def find_test_files(repository: Path) -> tuple[str, ...]:
    """Return the files of a repository that hold tests; set-up in ``conftest.py`` is none."""
    entries = open_source(repository).entries(None, lambda path, _: path.endswith(".py"))
    return tuple(
        entry.path
        for entry in entries
        if is_test_path(entry.path) and not entry.path.endswith(("conftest.py", "__init__.py"))
    )


@dataclass(slots=True)
class _Reader:
    """Makes instances; the test files of a repository are looked for once."""

    repositories: Path
    tests: TestMap
    test_files: dict[Path, tuple[str, ...]]

    def instance(self, row: Mapping[str, Any], number: int) -> Instance:
        metadata = row["metadata"]
        folder, *parts = metadata["fpath_tuple"]
        path = "/".join(parts)
        if not is_safe_path(path) or not is_safe_path(folder):
            raise ValueError(f"{folder}/{path} is no path inside the repositories")
        repository = self.repositories / folder
        try:
            data = (repository / path).read_bytes()
        except OSError as error:
            raise ValueError(f"{repository / path} cannot be read ({error.strerror})") from error
        truth = metadata["ground_truth"]
        line = metadata["line_no"] if "line_no" in metadata else metadata["lineno"]
        hole = _find_hole(data, path, truth, line, metadata.get("function_name") or "")
        name = f"{folder}/{number}"
        if repository not in self.test_files:
            self.test_files[repository] = find_test_files(repository)
        hidden = self.test_files[repository]
        tests = metadata.get("tests") or self.tests.get(name) or self.tests.get(folder)
        deciding = tuple(tests) if tests else tuple(f for f in hidden if _is_collected(f))
        named = {test.partition("::")[0] for test in deciding}
        task = CompletionTask(repository, hole, tuple(sorted({*hidden, *named})))
        return Instance(name, task, truth, deciding)


def _is_collected(path: str) -> bool:
    """Whether pytest takes the file for tests by its name."""
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def _find_hole(data: bytes, path: str, truth: str, line: int, function: str) -> Hole:
    """Cut the ground truth out at its line, or at the only place where it stands."""
    wanted = [text.rstrip() for text in map(without_end, split_lines(truth))]
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        raise ValueError("the ground truth is empty")
    lines = [without_end(text).rstrip() for text in read_source(data).lines]
    places = [
        start
        for start in range(len(lines) - len(wanted) + 1)
        if lines[start : start + len(wanted)] == wanted
    ]
    if line not in places and len(places) != 1:
        raise ValueError(f"the ground truth does not stand at line {line + 1} of {path}")
    start = line if line in places else places[0]
    return find_line_hole(data, path, Span(start + 1, start + len(wanted)), function=function)
