"""The methods by name, as the command line offers them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphloc.completion.agent.tdd_agent import TddAgent
from graphloc.completion.agent.variants import VARIANTS
from graphloc.completion.baselines import REPOCODER_ITERATIONS, InFile, RepoCoder
from graphloc.completion.files import load_texts
from graphloc.completion.harness import Method
from graphloc.completion.model import Completer
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.completion.window_retrieval import bm25_retriever, jaccard_retriever
from indexes.errors import InputError
from indexes.source import open_source
from repair.ports import ChatModel

_ITERATIONS = {"rag": 1, "repocoder": REPOCODER_ITERATIONS}
_RETRIEVERS = {"": jaccard_retriever, "-bm25": bm25_retriever}
METHOD_NAMES = (
    "in-file",
    *(f"{base}{suffix}" for base in _ITERATIONS for suffix in _RETRIEVERS),
    *VARIANTS,
)
"""In the order of the paper's tables."""


def get_method(name: str, model: ChatModel, environment: PytestEnvironment) -> Method:
    """Return a method with the paper's settings.

    Raises
    ------
    InputError
        There is none of that name.
    """
    make = _maker(name, model, environment)
    settings = f"{name} {model.name} {environment.limits} {environment.sandbox.kind}"
    return Method(name, settings, make)


def _maker(
    name: str, model: ChatModel, environment: PytestEnvironment
) -> Callable[[Path], Completer]:
    if name == "in-file":
        return lambda repository: InFile(model)
    if name in VARIANTS:
        return lambda repository: TddAgent(model, environment, VARIANTS[name])
    base, _, suffix = name.partition("-")
    index = _RETRIEVERS.get(f"-{suffix}" if suffix else "")
    if base not in _ITERATIONS or index is None:
        raise InputError(f"there is no method {name}: choose from {', '.join(METHOD_NAMES)}")
    return lambda repository: RepoCoder(
        model, index(load_texts(open_source(repository))), _ITERATIONS[base]
    )
