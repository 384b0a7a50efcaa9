"""The tools that models are given: LocAgent's three, localization, explanation, indexing.

Defined once. `mcp_server` serves them, `schemas` prints them for function calling, and whoever runs
an agent in this process calls them through a `ToolBox`. The three graph tools follow LocAgent (Chen
et al. 2025, https://arxiv.org/abs/2503.09089): SearchEntity, TraverseGraph and RetrieveEntity.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, ValidationError

from graphloc.locators.answers import (
    EntityId,
    EntityPart,
    Found,
    Link,
    Place,
    Reached,
    Reason,
    describe_entity,
    describe_found,
    describe_link,
    describe_place,
    describe_reached,
    describe_reason,
)
from graphloc.locators.arguments import (
    MOST_MAX_TOKENS,
    ExplainArguments,
    LocalizeArguments,
    PageArguments,
    ReindexArguments,
    RetrieveArguments,
    SearchArguments,
    TraverseArguments,
    describe_problems,
)
from graphloc.locators.code_answers import Code, describe_code
from graphloc.locators.errors import ArgumentsError
from graphloc.locators.model import Refresh
from graphloc.locators.paging import Answer, Draft, Pager
from graphloc.locators.quoting import shown

if TYPE_CHECKING:
    from graphloc.locators.locator import Locator
    from indexes.builder import Progress


class LocalizeAnswer(Answer):
    """Answer of ``localize``: places, the surest first."""

    revision: str = Field(description="Commit id, or worktree.")
    results: tuple[Place, ...]


class SearchAnswer(Answer):
    """Answer of ``search_entity``."""

    results: tuple[Found, ...]


class TraverseAnswer(Answer):
    """Answer of ``traverse_graph``: what was reached, the nearest first."""

    starts: tuple[EntityId, ...]
    is_cut: bool = Field(description="Whether the walk was ended, as there is too much around.")
    results: tuple[Reached, ...]


class RetrieveAnswer(Answer):
    """Answer of ``retrieve_entity``."""

    results: tuple[Code, ...]


class ExplainAnswer(Answer):
    """Answer of ``explain``: the evidence, the strongest first."""

    entity: EntityPart
    rank: int | None = Field(description="Among its kind; null if it is not ranked so high.")
    n_ranked: int = Field(description="How many of its kind were ranked.")
    confidence: float | None
    best: EntityId | None = Field(description="First of its kind.")
    path: tuple[Link, ...] = Field(description="Shortest way from there to the entity.")
    results: tuple[Reason, ...]


class ReindexAnswer(Answer):
    """Answer of ``reindex``."""

    revision: str = Field(description="Commit id, or worktree.")
    n_files: int
    n_read: int = Field(description="Files read, as they are new or have changed.")
    has_changed: bool = Field(description="Whether anything differs from before.")
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[Answer]
    ask: Callable[[Locator, Refresh, BaseModel], Draft]
    """Given a locator that is up to date, and arguments of the type above."""


def _localize(locator: Locator, refreshed: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, LocalizeArguments)
    found = locator.locate(
        arguments.issue,
        top_k=arguments.top_k,
        include_tests=arguments.include_tests,
        level=arguments.level,
    )
    places = [describe_place(result, rank) for rank, result in enumerate(found.results, 1)]
    return Draft(LocalizeAnswer, places, {"revision": refreshed.revision})


def _search(locator: Locator, _: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, SearchArguments)
    found = locator.search_entity(arguments.terms, arguments.kinds, arguments.top_k)
    return Draft(SearchAnswer, [describe_found(entity) for entity in found])


def _traverse(locator: Locator, _: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, TraverseArguments)
    found = locator.traverse_graph(
        arguments.start_entities,
        arguments.direction,
        arguments.hops,
        edge_kinds=arguments.edge_kinds,
        entity_kinds=arguments.entity_kinds,
        min_confidence=arguments.min_confidence,
    )
    head = {"starts": tuple(entity.id for entity in found.starts), "is_cut": found.is_cut}
    return Draft(TraverseAnswer, [describe_reached(reached) for reached in found.reached], head)


def _retrieve(locator: Locator, _: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, RetrieveArguments)
    found = locator.retrieve_entity(arguments.ids)
    return Draft(RetrieveAnswer, [describe_code(entity) for entity in found])


def _explain(locator: Locator, _: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, ExplainArguments)
    found = locator.explain(arguments.issue, arguments.entity)
    head = {
        "entity": describe_entity(found.entity),
        "rank": found.rank,
        "n_ranked": found.n_ranked,
        "confidence": found.confidence,
        "best": found.best,
        "path": tuple(describe_link(edge) for edge in found.path[:_MOST_STEPS]),
    }
    return Draft(ExplainAnswer, [describe_reason(reason) for reason in found.evidence], head)


def _reindex(_: Locator, refreshed: Refresh, arguments: BaseModel) -> Draft:
    assert isinstance(arguments, ReindexArguments)
    head = {
        "revision": refreshed.revision,
        "n_files": refreshed.n_files,
        "n_read": refreshed.n_read,
        "has_changed": refreshed.has_changed,
        "elapsed_ms": round(refreshed.elapsed_ms, 1),
    }
    return Draft(ReindexAnswer, (), head)


_MOST_STEPS = 4
"""Edges of an explanation's path that are shown."""

TOOLS = (
    Tool(
        "localize",
        "Localize an issue",
        "Rank the files, classes and functions of the repository that have to change to resolve "
        "an issue (a bug report, a feature request or a traceback). Each comes with the "
        "probability that the fix changes it, and with reasons. Start here.",
        LocalizeArguments,
        LocalizeAnswer,
        _localize,
    ),
    Tool(
        "search_entity",
        "Search entities",
        "Find files, classes and functions by name or by words in their code, comments and "
        "strings. Returns ids for traverse_graph and retrieve_entity.",
        SearchArguments,
        SearchAnswer,
        _search,
    ),
    Tool(
        "traverse_graph",
        "Traverse the code graph",
        "Follow the code graph from entities over some hops: what contains, imports, invokes, "
        "inherits from, overrides, references or tests what, and which files change together.",
        TraverseArguments,
        TraverseAnswer,
        _traverse,
    ),
    Tool(
        "retrieve_entity",
        "Retrieve source code",
        "Show the source code of entities with line numbers, signature, and what they use and "
        "are used by. A folder shows what it contains.",
        RetrieveArguments,
        RetrieveAnswer,
        _retrieve,
    ),
    Tool(
        "explain",
        "Explain a place",
        "Say where one entity is in the ranking for an issue, and list all evidence for it; "
        "and how it is connected with the first one.",
        ExplainArguments,
        ExplainAnswer,
        _explain,
    ),
    Tool(
        "reindex",
        "Bring the index up to date",
        "Read the files that have changed. The other tools do so before they answer; call it to "
        "have the work done ahead, or to learn whether anything has changed.",
        ReindexArguments,
        ReindexAnswer,
        _reindex,
    ),
)
FUNCTION_NAMES = ("localize", "search_entity", "traverse_graph", "retrieve_entity")
"""The tools that function calling is given: those that answer questions about code."""


def get_tool(name: str) -> Tool:
    """Return the tool of that name.

    Raises
    ------
    ArgumentsError
        If there is none.
    """
    for tool in TOOLS:
        if tool.name == name:
            return tool
    known = ", ".join(tool.name for tool in TOOLS)
    raise ArgumentsError(f"there is no tool {shown(name)!r}: there are {known}")


@dataclass(frozen=True, slots=True)
class Question:
    """A call of a tool that has been understood."""

    tool: Tool
    arguments: BaseModel
    is_page: bool = False
    """Whether it asks for the rest of an answer."""


def read_question(name: str, arguments: Mapping[str, object]) -> Question:
    """Return the call that a model means.

    Raises
    ------
    ArgumentsError
        If there is no such tool, or the arguments are not those of its schema.
    """
    tool = get_tool(name)
    try:
        if arguments.get("cursor") is not None:
            return Question(tool, PageArguments.model_validate(arguments), is_page=True)
        return Question(tool, tool.arguments.model_validate(arguments))
    except ValidationError as error:
        raise describe_problems(error) from error


class ToolBox:
    """The tools at work on one locator. Threads may share it.

    Parameters
    ----------
    open_locator
        Called when a tool is first used, as only then all that analyses code has to be imported.
    """

    def __init__(self, open_locator: Callable[[], Locator]) -> None:
        self._open = open_locator
        self._opening = threading.Lock()
        self._locator: Locator | None = None
        self._pager = Pager()

    @property
    def locator(self) -> Locator:
        """What answers."""
        with self._opening:
            if self._locator is None:
                self._locator = self._open()
            return self._locator

    def close(self) -> None:
        """Close the locator, if it has been opened."""
        with self._opening:
            if self._locator is not None:
                self._locator.close()

    def call(
        self, name: str, arguments: Mapping[str, object], progress: Progress | None = None
    ) -> Answer:
        """Call a tool. The index is brought up to date before.

        Parameters
        ----------
        name
            Of the tool.
        arguments
            As a model gave them.
        progress
            As for `Locator.refresh`.

        Raises
        ------
        ArgumentsError
            If there is no such tool, or the arguments are not those of its schema.
        UnknownCursorError
            If the tool did not give the cursor, or has forgotten it.
        GraphlocError
            Whatever the locator raises.
        """
        question = read_question(name, arguments)
        return self.answer(question, None if question.is_page else self.locator.refresh(progress))

    def answer(self, question: Question, refreshed: Refresh | None) -> Answer:
        """Answer a question; errors as for `call`.

        Parameters
        ----------
        question
            What `read_question` returned.
        refreshed
            What `Locator.refresh` returned after the question was asked. Pages need none, as they
            go on with an answer that has been worked out.
        """
        name, asked = question.tool.name, question.arguments
        if question.is_page:
            assert isinstance(asked, PageArguments)
            return self._pager.go_on(name, asked.cursor or "", asked.max_tokens)
        draft = question.tool.ask(self.locator, refreshed or self.locator.refresh(), asked)
        bound = asked.max_tokens if isinstance(asked, PageArguments) else MOST_MAX_TOKENS
        return self._pager.cut(name, draft, bound)
