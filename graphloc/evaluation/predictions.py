"""Predictions: rankings on file, one JSON object a line, under LocAgent's field names.

`found_files`, `found_modules` and `found_entities` are lists of names, best first. What other
tools write is taken as it is meant: duplicates, missing and null lists, one list per sample,
``path::name``, ``name()`` and leading ``./``. A line may also hold `method`, `confidences` (lists
under the same three names, beside the names) and `elapsed_ms`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from graphloc.evaluation.datasets import line_error
from graphloc.evaluation.model import (
    Gold,
    Level,
    Ranked,
    Ranking,
    canonical_function,
    module_of,
    unique,
)
from indexes.errors import DatasetError
from indexes.model import split_entity_id
from indexes.source import printable_path


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one method found for one instance."""

    instance_id: str
    method: str
    ranking: Ranking
    elapsed_ms: float | None = None


def _flatten(value: Any) -> Any:
    """Merge one list per sample into one; None is an empty list."""
    if value is None:
        return []
    if not isinstance(value, list) or not any(isinstance(item, list) for item in value):
        return value
    samples = [item if isinstance(item, list) else [item] for item in value]
    return merge_samples([[name for name in s if isinstance(name, str)] for s in samples])


def merge_samples(samples: Sequence[Sequence[str]]) -> list[str]:
    """Merge rankings by the sum of reciprocal ranks; ties in order of first appearance.

    >>> merge_samples([["a", "b"], ["b", "c"]])
    ['b', 'a', 'c']
    """
    votes: defaultdict[str, float] = defaultdict(float)
    for sample in samples:
        for rank, name in enumerate(unique(sample), 1):
            votes[name] += 1 / rank
    return sorted(votes, key=lambda name: -votes[name])


def _listed(value: Any) -> Any:
    """Accept a flat list of confidences as that of the entities."""
    return {"found_entities": value} if isinstance(value, list) else value or {}


_Names = Annotated[tuple[str, ...], BeforeValidator(_flatten)]
_Confidence = Annotated[float, Field(ge=0, le=1)]


class _Confidences(BaseModel):
    model_config = ConfigDict(frozen=True)

    found_files: tuple[_Confidence, ...] = ()
    found_modules: tuple[_Confidence, ...] = ()
    found_entities: tuple[_Confidence, ...] = ()


class PredictionRecord(BaseModel):
    """One line of a predictions file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    instance_id: Annotated[str, Field(min_length=1)]
    method: str | None = None
    found_files: _Names = ()
    found_modules: _Names = ()
    found_entities: _Names = ()
    confidences: Annotated[_Confidences, BeforeValidator(_listed)] = _Confidences()
    elapsed_ms: float | None = None

    def prediction(self, method: str) -> Prediction:
        """Return the line as the rest of the package knows it; `method` names a nameless one."""
        stated = self.confidences
        ranking = Ranking(
            files=_ranked(self.found_files, stated.found_files),
            modules=_ranked(self.found_modules, stated.found_modules),
            functions=_ranked(self.found_entities, stated.found_entities),
        )
        return Prediction(self.instance_id, self.method or method, ranking, self.elapsed_ms)


def _ranked(names: Sequence[str], confidences: Sequence[float]) -> tuple[Ranked, ...]:
    """Put names and confidences together; lists of unequal length are not beside each other."""
    stated = confidences if len(confidences) == len(names) else [None] * len(names)
    return tuple(
        Ranked(_clean(name), 1 / rank, confidence)
        for rank, (name, confidence) in enumerate(zip(names, stated, strict=True), 1)
    )


def _clean(name: str) -> str:
    name = name.strip().strip("`").replace("::", ":")
    return name.removesuffix("()").removeprefix("./").lstrip("/")


def load_predictions(path: Path) -> list[Prediction]:
    """Read a predictions file of any tool.

    Lines without `method` get the file's name. Of several lines for one instance and method the
    last counts, as tools append when they run again.

    Raises
    ------
    DatasetError
        If the file cannot be read, or a line is no such object; says which.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read ({error.strerror}): name a JSONL file", path=str(path)
        ) from error
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            prediction = _read_line(line, path, number)
            found[prediction.instance_id, prediction.method] = prediction
    return list(found.values())


def _read_line(line: bytes, path: Path, number: int) -> Prediction:
    try:
        return PredictionRecord.model_validate_json(line).prediction(path.stem)
    except ValidationError as error:
        raise line_error(path, number, error) from error


def encode_prediction(prediction: Prediction) -> bytes:
    """Return the line for a prediction, with its line end."""
    names = with_derived(prediction.ranking)
    record = PredictionRecord(
        instance_id=prediction.instance_id,
        method=prediction.method,
        found_files=_names(names.files),
        found_modules=_names(names.modules),
        found_entities=_names(names.functions),
        confidences=_Confidences(
            found_files=_confidences(names.files),
            found_modules=_confidences(names.modules),
            found_entities=_confidences(names.functions),
        ),
        elapsed_ms=prediction.elapsed_ms,
    )
    return record.model_dump_json().encode() + b"\n"


def _names(places: Sequence[Ranked]) -> tuple[str, ...]:
    return tuple(printable_path(place.entity) for place in places)


def _confidences(places: Sequence[Ranked]) -> tuple[float, ...]:
    stated = tuple(place.confidence for place in places if place.confidence is not None)
    return stated if len(stated) == len(places) else ()


def with_derived(ranking: Ranking) -> Ranking:
    """Fill empty lists of modules and files from the functions, in the order of their first one."""
    return Ranking(
        ranking.files or _renamed(ranking.functions, lambda name: split_entity_id(name)[0]),
        ranking.modules or _renamed(ranking.functions, module_of),
        ranking.functions,
    )


def names_at(ranking: Ranking, level: Level, gold: Gold | None = None) -> tuple[Ranked, ...]:
    """Return a ranking's places at one level under their canonical names, each once.

    Entities that are no more than a file are left out of the levels below it. Aliases of the gold
    turn changed nested functions into the function that counts for them.
    """
    whole = with_derived(ranking)
    aliases = gold.aliases if gold is not None else {}
    if level is Level.FILE:
        return _renamed(whole.files, lambda name: split_entity_id(name)[0])
    if level is Level.MODULE:
        return _renamed(whole.modules, module_of)
    named = tuple(place for place in whole.functions if split_entity_id(place.entity)[1])
    return _renamed(named, lambda name: canonical_function(aliases.get(name, name)))


def _renamed(places: Sequence[Ranked], rename: Callable[[str], str]) -> tuple[Ranked, ...]:
    """Rename places and keep the first of each name."""
    first: dict[str, Ranked] = {}
    for place in places:
        name = rename(place.entity)
        if name and name not in first:
            first[name] = Ranked(name, place.score, place.confidence)
    return tuple(first.values())
