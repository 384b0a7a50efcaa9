"""Reading datasets: JSON lines with SWE-bench's field names.

An instance has `instance_id`, `repo`, `base_commit`, `problem_statement` and either `patch` or
`gold_files` / `edit_functions`; further fields are ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from graphloc.evaluation.model import Failure, Instance
from indexes.errors import DatasetError


def _read_list(value: Any) -> Any:
    """Accept a list written as JSON text, as exports of columnar formats have it."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError("is no list of strings") from error
    return value


_Names = Annotated[tuple[str, ...] | None, BeforeValidator(_read_list)]
_Text = Annotated[str, Field(min_length=1)]


class InstanceRecord(BaseModel):
    """One line of a dataset, as published."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    instance_id: _Text
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    base_commit: Annotated[str, Field(pattern=r"^[0-9A-Za-z][\w./-]*$")]
    problem_statement: str
    patch: str | None = None
    gold_files: _Names = None
    edit_functions: _Names = None
    test_patch: str | None = None

    @model_validator(mode="after")
    def _has_gold(self) -> InstanceRecord:
        if self.patch is None and self.gold_files is None and self.edit_functions is None:
            raise ValueError("has none of patch, gold_files and edit_functions: add one")
        return self

    def instance(self) -> Instance:
        """Return the line as the rest of the package knows it."""
        return Instance(
            instance_id=self.instance_id,
            repo=self.repo,
            base_commit=self.base_commit,
            issue_text=self.problem_statement,
            patch=self.patch,
            gold_files=self.gold_files,
            edit_functions=self.edit_functions,
            has_test_patch=self.test_patch is not None,
        )


@dataclass(frozen=True, slots=True)
class Dataset:
    """The instances of one file, in its order, and the lines that hold none."""

    name: str
    instances: tuple[Instance, ...]
    failures: tuple[Failure, ...] = ()
    """Lines that cannot be used; their ids are the instance's own where it can be read."""
    digest: str = ""
    """SHA-256 of the file's bytes, in hex."""

    @property
    def size(self) -> int:
        """Number of instances, unusable ones included."""
        return len(self.instances) + len(self.failures)


def load_dataset(path: Path, *, keep_going: bool = False) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : Path
        A file of JSON lines, UTF-8; blank lines are skipped.
    keep_going : bool
        Put lines that cannot be used into `Dataset.failures` instead of raising at the first.

    Raises
    ------
    DatasetError
        If the file cannot be read or holds no line, or a line cannot be used: it is no JSON, lacks
        a field, or repeats an earlier instance_id. Says which line and how to mend it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read ({error.strerror}): name a JSONL file", path=str(path)
        ) from error
    instances: list[Instance] = []
    failures: list[Failure] = []
    seen: dict[str, int] = {}
    for number, line in _iter_lines(data):
        try:
            instances.append(_read_instance(line, path, number, seen))
        except DatasetError as error:
            if not keep_going:
                raise
            failures.append(Failure(_name_of(line, number), error.message))
    if not instances and not failures:
        raise DatasetError(
            f"{path} holds no instance: write one JSON object a line", path=str(path)
        )
    digest = hashlib.sha256(data).hexdigest()
    return Dataset(path.name, tuple(instances), tuple(failures), digest)


def _iter_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _read_instance(line: bytes, path: Path, number: int, seen: dict[str, int]) -> Instance:
    try:
        instance = InstanceRecord.model_validate_json(line).instance()
    except ValidationError as error:
        raise line_error(path, number, error) from error
    first = seen.setdefault(instance.instance_id, number)
    if first != number:
        raise DatasetError(
            f"{path}:{number}: instance_id {instance.instance_id} is that of line {first}, too: "
            "remove one of the lines",
            path=str(path),
            line=number,
        )
    return instance


def line_error(path: Path, number: int, error: ValidationError) -> DatasetError:
    """Translate pydantic's complaint about one line, the first of them only."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "json_invalid":
        what = (
            f"is not JSON ({first['msg'].removeprefix('Invalid JSON: ')}): write one object a line"
        )
    elif first["type"] == "model_type":
        what = "is no JSON object: write one a line"
    elif first["type"] == "missing":
        what = f"lacks {where}: add it, or leave the line out"
    elif where:
        what = f"{where}: {first['msg']}: correct it, or leave the line out"
    else:
        what = first["msg"].removeprefix("Value error, ")
    return DatasetError(f"{path}:{number}: {what}", path=str(path), line=number)


def _name_of(line: bytes, number: int) -> str:
    """Return the instance's own id if the line is good enough for that, else the line's number."""
    try:
        value = json.loads(line)
    except ValueError:
        return f"line {number}"
    name = value.get("instance_id") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name else f"line {number}"
