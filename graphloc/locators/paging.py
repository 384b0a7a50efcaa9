"""Answers that fit into a bound of tokens, and the cursors under which the rest is kept."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from graphloc.locators.answers import Part
from graphloc.locators.errors import UnknownCursorError
from graphloc.locators.tokens import count_tokens

MOST_CURSORS = 512
"""Rests kept, about 20 kB each; the ones given out first are forgotten first."""
_CURSOR_BYTES = 12
"""Too many to guess another conversation's."""
_CURSOR_TOKENS = 20
"""Room that the cursor and the count take in an answer."""


class Answer(Part):
    """What a tool answers. Subclasses add ``results``, if there are any, and what holds for all."""

    n_left: int = Field(0, description="How many results follow under next_cursor.")
    next_cursor: str | None = Field(
        None, description="Give it to the same tool as cursor for the rest; null at the end."
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is cut."""

    answer: type[Answer]
    results: Sequence[Part] = ()
    head: Mapping[str, object] = field(default_factory=dict)
    """Fields besides the results; every page has them."""


class Pager:
    """Cuts answers, and keeps what has been cut off. Threads may share it."""

    def __init__(self, most_cursors: int = MOST_CURSORS) -> None:
        self._most = most_cursors
        self._lock = threading.Lock()
        self._rests: OrderedDict[str, tuple[str, Draft]] = OrderedDict()

    def cut(self, tool: str, draft: Draft, max_tokens: int) -> Answer:
        """Return as many results as there is room for, one at least."""
        head = draft.answer.model_validate({**draft.head, "results": ()})
        room = max_tokens - head.n_tokens - _CURSOR_TOKENS
        shown: list[Part] = []
        rest = list(draft.results)[::-1]
        while rest and (room > 0 or not shown):
            result = rest.pop()
            if result.n_tokens > room:
                if shown and not _is_worth_cutting(result, room, max_tokens):
                    rest.append(result)
                    break
                result, left = result.fit(room)
                rest += [left] if left is not None else []
            room -= result.n_tokens + count_tokens(",")
            shown.append(result)
        cursor = self._keep(tool, draft, rest[::-1]) if rest else None
        results = {"results": tuple(shown)} if shown else {}
        return head.model_copy(update={"n_left": len(rest), "next_cursor": cursor, **results})

    def go_on(self, tool: str, cursor: str, max_tokens: int) -> Answer:
        """Return what follows the answer that gave the cursor; asking again gives the same.

        Raises
        ------
        UnknownCursorError
            If this tool has not given it, or it was too long ago.
        """
        with self._lock:
            known = self._rests.get(cursor)
        if known is None or known[0] != tool:
            raise UnknownCursorError(
                f"{tool} knows no such cursor, or no longer: ask again without a cursor"
            )
        return self.cut(tool, known[1], max_tokens)

    def _keep(self, tool: str, draft: Draft, rest: list[Part]) -> str:
        cursor = secrets.token_urlsafe(_CURSOR_BYTES)
        with self._lock:
            self._rests[cursor] = tool, Draft(draft.answer, rest, draft.head)
            if len(self._rests) > self._most:
                self._rests.popitem(last=False)
        return cursor


def _is_worth_cutting(result: Part, room: int, max_tokens: int) -> bool:
    """Whether to begin a result that does not fit: only one that fits on no page, and with room."""
    return result.n_tokens > max_tokens and room > max_tokens // 2
