"""What tokens cost, as told by the user: graphloc ships no prices, because they change.

A table is a TOML file with one section a model, in US dollars per million tokens::

    [deepseek-chat]
    prompt = 0.28
    cached_prompt = 0.028
    completion = 0.42
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from graphloc.llm.errors import ModelSettingsError
from repair.ports import Usage

_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    completion: float
    cached_prompt: float | None = None
    """For prompt tokens from the provider's cache; the full price when unknown, an upper bound."""

    def __post_init__(self) -> None:
        figures = (self.prompt, self.completion, self.cached_prompt or 0.0)
        if not all(0.0 <= figure < float("inf") for figure in figures):
            raise ValueError("prices must be 0 or more")

    def cost_usd(self, usage: Usage) -> float:
        """Return the cost of `usage` in US dollars."""
        cached = self.prompt if self.cached_prompt is None else self.cached_prompt
        fresh_tokens = usage.prompt_tokens - usage.cached_prompt_tokens
        return (
            fresh_tokens * self.prompt
            + usage.cached_prompt_tokens * cached
            + usage.completion_tokens * self.completion
        ) / _PER_MILLION


def prices_from_environment(environ: Mapping[str, str]) -> dict[str, Price]:
    """Load the table that GRAPHLOC_PRICES names; empty without one. Errors as for `load_prices`."""
    path = environ.get("GRAPHLOC_PRICES", "")
    return load_prices(Path(path)) if path else {}


def load_prices(path: Path) -> dict[str, Price]:
    """Read a price table, model's name -> price.

    Raises
    ------
    ModelSettingsError
        The file cannot be read or is no such table.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(table, dict[str, Price])
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise ModelSettingsError(
            f"prices in {path} cannot be read: {error}", path=str(path)
        ) from error
