"""What a model may say when it calls a tool: validated, bounded, each part described."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from graphloc.locators.errors import ArgumentsError
from graphloc.locators.model import Direction, ResultLevel
from indexes.model import EdgeKind, EntityKind

DEFAULT_MAX_TOKENS = 4_000
"""About a tenth of what hosts let a tool's answer take (Claude Code warns from 10,000)."""
MIN_MAX_TOKENS, MOST_MAX_TOKENS = 500, 50_000
"""Below, one result may not fit; above, no host takes it."""
_MAX_ISSUE_CHARS = 1_000_000
_MAX_NAME_CHARS = 4_096
"""The longest path that systems take."""
_MOST_NAMES = 50
_SHOWN_PROBLEMS = 5


def _as_list(value: object) -> object:
    """Take a lone name for a list of one, and a list written as JSON for what it says."""
    if not isinstance(value, str):
        return value
    if value.startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return [value]


Name = Annotated[str, Field(max_length=_MAX_NAME_CHARS)]
_Issue = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_MAX_ISSUE_CHARS,
        description=(
            "The issue: its title in the first line, then the body with tracebacks and code as "
            "reported; or a bare traceback."
        ),
    ),
]


def _names(description: str) -> object:
    return Field(min_length=1, max_length=_MOST_NAMES, description=description)


class PageArguments(BaseModel):
    """The arguments that bound an answer; all tools have them, and they suffice to go on."""

    model_config = ConfigDict(frozen=True)

    max_tokens: int = Field(
        DEFAULT_MAX_TOKENS,
        ge=MIN_MAX_TOKENS,
        le=MOST_MAX_TOKENS,
        description="Most tokens of the answer; the rest is had with the cursor.",
    )
    cursor: str | None = Field(
        None,
        max_length=64,
        description=(
            "next_cursor of an earlier answer of this tool, to get what follows it; the other "
            "arguments are not looked at then, so long ones may be left empty."
        ),
    )


class LocalizeArguments(PageArguments):
    """Arguments of ``localize``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issue: _Issue
    top_k: int = Field(10, ge=1, le=100, description="How many places to name.")
    level: ResultLevel = Field(
        ResultLevel.ALL, description="What to name; all puts the kinds into one list."
    )
    include_tests: bool = Field(False, description="Rank test files and what is in them, too.")


class SearchArguments(PageArguments):
    """Arguments of ``search_entity``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    terms: Annotated[
        tuple[Name, ...],
        _names("Names such as Store.open or cart.py, or words; each is searched for by itself."),
        BeforeValidator(_as_list),
    ]
    kinds: Annotated[
        tuple[EntityKind, ...],
        Field(max_length=10, description="Kinds of entities wanted; all when empty."),
        BeforeValidator(_as_list),
    ] = ()
    top_k: int = Field(10, ge=1, le=100, description="How many entities to return.")


class TraverseArguments(PageArguments):
    """Arguments of ``traverse_graph``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start_entities: Annotated[
        tuple[Name, ...],
        _names("Ids of entities, such as path/to/file.py:Class.method."),
        BeforeValidator(_as_list),
    ]
    direction: Direction = Field(
        Direction.BOTH,
        description=(
            "downstream: what the entities contain, import, call, inherit from or reference; "
            "upstream: what does so to them; or both."
        ),
    )
    hops: int = Field(1, ge=1, le=10, description="How many edges to go.")
    edge_kinds: Annotated[
        tuple[EdgeKind, ...],
        Field(max_length=20, description="Kinds of edges to follow; all when empty."),
        BeforeValidator(_as_list),
    ] = ()
    entity_kinds: Annotated[
        tuple[EntityKind, ...],
        Field(
            max_length=10,
            description="Kinds of entities to return and to walk through; all when empty.",
        ),
        BeforeValidator(_as_list),
    ] = ()
    min_confidence: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Leave out edges that are less sure: 1 certain, 0.8 inferred, 0.4 guessed.",
    )


class RetrieveArguments(PageArguments):
    """Arguments of ``retrieve_entity``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ids: Annotated[
        tuple[Name, ...],
        _names("Ids of entities, such as path/to/file.py or path/to/file.py:Class.method."),
        BeforeValidator(_as_list),
    ]


class ExplainArguments(PageArguments):
    """Arguments of ``explain``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issue: _Issue
    entity: Name = Field(description="Id of a file, class or function.")


class ReindexArguments(BaseModel):
    """Arguments of ``reindex``: none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def describe_problems(error: ValidationError) -> ArgumentsError:
    """Return the error for wrong arguments; it repeats no value, as they may be anything."""
    problems = [
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    listed = "; ".join(problems[:_SHOWN_PROBLEMS])
    return ArgumentsError(f"the arguments are wrong: {listed}")
