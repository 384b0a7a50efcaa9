"""The output folder of an evaluation: what is finished stays, whatever happens to the process.

``predictions.jsonl`` grows by whole lines, each flushed to the disk; ``run.json`` says which
dataset, methods and settings they belong to; ``metrics.json`` is written last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from graphloc.evaluation.errors import RunMismatchError
from graphloc.evaluation.predictions import Prediction, encode_prediction, load_predictions
from indexes.errors import DiskFullError

_PREDICTIONS = "predictions.jsonl"
_RUN = "run.json"
_METRICS = "metrics.json"
_PREVIOUS = "predictions.previous.jsonl"
_SCHEMA = "graphloc.run/1"


class Run(msgspec.Struct, frozen=True):
    """What the predictions of a folder depend on."""

    dataset: str
    """SHA-256 of the dataset."""
    methods: dict[str, str]
    """Fingerprints by name."""
    include_tests: bool
    depth: int
    schema: str = _SCHEMA


class Journal:
    """Appends predictions to a folder; a context manager.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    run : Run
    resume : bool
        Keep the predictions that the folder holds, less a last line that was cut off. Otherwise
        they are moved to ``predictions.previous.jsonl``.

    Raises
    ------
    RunMismatchError
        If those predictions are another run's.
    DatasetError
        If a line other than the last cannot be read.
    DiskFullError
        If the folder cannot be written.
    """

    def __init__(self, folder: Path, run: Run, *, resume: bool) -> None:
        self._folder = folder
        path = folder / _PREDICTIONS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if resume:
                _check(folder / _RUN, run, has_predictions=path.exists())
                _mend(path)
            elif path.exists():
                os.replace(path, folder / _PREVIOUS)
            self.finished: list[Prediction] = load_predictions(path) if path.exists() else []
            replace_file(folder / _RUN, msgspec.json.format(msgspec.json.encode(run)))
            self._file: IO[bytes] = path.open("ab")
        except OSError as error:
            raise _unwritable(folder, error) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, predictions: Iterable[Prediction]) -> None:
        """Append predictions; they are on the disk when this returns."""
        try:
            self._file.write(b"".join(map(encode_prediction, predictions)))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._folder, error) from error


def save_metrics(folder: Path, document: bytes) -> None:
    """Write ``metrics.json``, whole or not at all.

    Raises
    ------
    DiskFullError
        If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / _METRICS, document)
    except OSError as error:
        raise _unwritable(folder, error) from error


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at any moment it holds the old or the new content."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(data + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def _check(path: Path, run: Run, *, has_predictions: bool) -> None:
    """Refuse to resume what another run began."""
    if not has_predictions:
        return
    try:
        begun = msgspec.json.decode(path.read_bytes(), type=Run)
    except (FileNotFoundError, msgspec.DecodeError) as error:
        raise RunMismatchError(
            f"{path} does not tell which run {path.parent} belongs to: "
            "name another --output, or leave --resume out",
            path=str(path),
        ) from error
    differing = [key for key in Run.__struct_fields__ if getattr(begun, key) != getattr(run, key)]
    if differing:
        what = " and ".join(key.replace("_", " ") for key in differing)
        raise RunMismatchError(
            f"{path.parent} holds a run with another {what}: name another --output, run with the "
            "same again, or leave --resume out to start anew",
            path=str(path.parent),
            differing=differing,
        )


def _mend(path: Path) -> None:
    """Cut off a last line without its end: it was being written when the process was killed."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _unwritable(folder: Path, error: OSError) -> DiskFullError:
    return DiskFullError(
        f"{folder} cannot be written ({error.strerror}): make room, or name another --output",
        path=str(folder),
    )
