"""Localizations as JSON, in the schema ``graphloc.localize/1``."""

from __future__ import annotations

from collections.abc import Iterable

from graphloc.cli.output import entity_fields
from graphloc.localization import Evidence, Localization, RankedEntity
from indexes.source import printable_path

SCHEMA = "graphloc.localize/1"


def localization_document(
    repo: str, revision: str, found: Localization, results: Iterable[RankedEntity]
) -> dict[str, object]:
    """Return the document; the order of its fields is part of the contract.

    A list of which nothing speaks for any entity is empty, as the table is.
    """
    return {
        "schema": SCHEMA,
        "repo": printable_path(repo),
        "revision": revision,
        "elapsed_ms": round(found.elapsed_ms, 1),
        "issue": found.issue.to_json_fields(),
        "results": [_result(result) for result in results],
        "files": [_result(result) for result in _matched(found.files)],
        "classes": [_result(result) for result in _matched(found.classes)],
        "functions": [_result(result) for result in _matched(found.functions)],
    }


def _matched(ranked: tuple[RankedEntity, ...]) -> tuple[RankedEntity, ...]:
    return ranked if any(result.evidence for result in ranked) else ()


def _result(result: RankedEntity) -> dict[str, object]:
    return {
        "rank": result.rank,
        **entity_fields(result.entity),
        "score": result.score,
        "confidence": result.confidence,
        "evidence": [_evidence(evidence) for evidence in result.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "signal": evidence.signal,
        "detail": evidence.detail,
        "weight": evidence.weight,
        "hops": [printable_path(hop) for hop in evidence.hops],
    }
