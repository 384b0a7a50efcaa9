"""Fragments of code put in front of what is to be completed, and how many of them fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphloc.completion.hole import Hole
from graphloc.completion.tokens import count_tokens
from indexes.text.windows import WindowPlace

FRAGMENT_BUDGET_TOKENS = 2000
"""RepoCoder's half of a context of 4,000 tokens."""
PREFIX_BUDGET_TOKENS = 2000
"""The other half: what stands in front of the hole in its own file."""
MAX_FRAGMENTS = 10
TOP_K = 20
"""RepoCoder's numbers: at most ten of the twenty best."""
HEADING_TOKENS = 20
"""What RepoCoder reserves for the line above the fragments."""
HEADING = "# Code fragments from elsewhere in this repository that may help:"
RULE = "# " + "-" * 50

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of the repository's code, with every place that holds it."""

    text: str
    """As it is shown; lines joined by ``\\n``."""
    places: tuple[WindowPlace, ...]
    """Where the piece that was found stands; what is shown may be moved against it."""
    score: float


@dataclass(frozen=True, slots=True)
class HoleContext:
    """A hole with the lines of its file that the model gets to see."""

    hole: Hole
    context_start: int
    """0-based line at which the prefix in the prompt starts."""

    @property
    def visible_lines(self) -> list[str]:
        """The prefix."""
        return self.hole.prefix_lines[self.context_start :]

    def is_before_context(self, path: str, end_line: int) -> bool:
        """Whether code up to `end_line` (inclusive, 1-based) neither repeats nor follows it."""
        return path != self.hole.path or end_line <= self.context_start

    def last_lines(self, count: int) -> list[str]:
        """The visible lines right in front of the hole, at most `count`."""
        return self.visible_lines[-count:] if count else []


class Retriever(Protocol):
    """Finds code that helps to fill a hole."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    def find_fragments(
        self, context: HoleContext, query: str, *, top_k: int = TOP_K, moved: bool = False
    ) -> list[Fragment]:
        """Find at most `top_k` fragments, best first.

        Parameters
        ----------
        context
            The hole; nothing of its own file that ends behind the prompt's start is found.
        query
            Lines of code.
        top_k
            Most fragments.
        moved
            Show what follows the place that was found, where the retriever knows it.
        """
        ...


def make_context(
    hole: Hole,
    *,
    budget_tokens: int = PREFIX_BUDGET_TOKENS,
    count: TokenCounter = count_tokens,
) -> HoleContext:
    """Choose how many whole lines in front of a hole fit the budget; at least one is kept."""
    lines = hole.prefix_lines
    start, used = len(lines), 0
    while start > 0:
        used += count(lines[start - 1] + "\n")
        if used > budget_tokens and start < len(lines):
            break
        start -= 1
    return HoleContext(hole, start)


def render_fragment(fragment: Fragment) -> str:
    """Return a fragment as comments: its paths, a rule, its lines, a rule."""
    paths = dict.fromkeys(place.path for place in fragment.places)
    lines = ["# From:", *(f"# {path}" for path in paths), RULE]
    lines += [f"# {line}" for line in fragment.text.split("\n")]
    return "\n".join([*lines, RULE]) + "\n"


def choose_fragments(
    found: Sequence[Fragment],
    *,
    budget_tokens: int = FRAGMENT_BUDGET_TOKENS,
    max_fragments: int = MAX_FRAGMENTS,
    count: TokenCounter = count_tokens,
) -> list[Fragment]:
    """Take the best fragments that fit, and put the best last.

    Parameters
    ----------
    found
        Best first. One that does not fit any more is skipped, and the next one tried.

    Returns
    -------
    list of Fragment
        In the order of the prompt.
    """
    chosen: list[Fragment] = []
    used = HEADING_TOKENS
    for fragment in found:
        if len(chosen) >= max_fragments:
            break
        tokens = count(render_fragment(fragment))
        if used + tokens < budget_tokens:
            used += tokens
            chosen.append(fragment)
    return chosen[::-1]


def render_fragments(fragments: Sequence[Fragment]) -> str:
    """Return the comments to put in front of the prefix; empty without fragments."""
    if not fragments:
        return ""
    return "\n".join([HEADING, RULE]) + "\n" + "".join(map(render_fragment, fragments))
