"""Building prompts so that providers' prefix caches serve most of them.

Providers keep the work done for a prompt and reuse it for the longest identical prefix of later
ones, at up to a tenth of the price. The repair papers sample many times over one repository and one
issue; PhoenixRepair (RQ5, table V) reports that its many branches cost 1.85 times a single agent
run because system prompt, repository context and issue come from the cache. That works only if what
varies comes last, so parts are ordered by how long they stay the same, whatever order they were
added in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from os.path import commonprefix

from repair.ports import Message, Role


class Stability(IntEnum):
    """How long a part of a prompt stays the same, the most stable first."""

    SYSTEM = 0
    """The same in every call of a kind: role, rules, output format."""
    REPOSITORY = 1
    """The same for a repository: its map, its conventions."""
    ISSUE = 2
    """The same for an issue: its text, the failing tests."""
    BRANCH = 3
    """The same along one branch of the work: a location, its code."""
    VOLATILE = 4
    """Differs from call to call: guidance, the last failure, the question."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of text with the time it stays the same."""

    stability: Stability
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """An immutable prompt; `add` returns a longer one, so that branches share their beginning.

    >>> base = Prompt().add(Stability.SYSTEM, "You mend code.").add(Stability.ISSUE, "It crashes.")
    >>> [m.content for m in base.add(Stability.VOLATILE, "Where?").messages()]
    ['You mend code.', 'It crashes.\\n\\nWhere?']
    """

    parts: tuple[PromptPart, ...] = ()

    def add(self, stability: Stability, text: str) -> Prompt:
        """Return the prompt with one more part; an empty text adds nothing."""
        return Prompt((*self.parts, PromptPart(stability, text))) if text else self

    def messages(self, turns: Sequence[Message] = ()) -> tuple[Message, ...]:
        """Return a system message, one user message, then the `turns` of a conversation.

        Parts of one stability keep the order they were added in. One user message only, because
        the chat templates of many open models want users and assistants to take turns.
        """
        ordered = sorted(self.parts, key=lambda part: part.stability)
        system = _joined(p.text for p in ordered if p.stability is Stability.SYSTEM)
        user = _joined(p.text for p in ordered if p.stability is not Stability.SYSTEM)
        opening = ((Role.SYSTEM, system), (Role.USER, user))
        return (*(Message(role, text) for role, text in opening if text), *turns)


def shared_prefix_chars(first: Sequence[Message], second: Sequence[Message]) -> int:
    """Return how many characters two prompts have in common from the start."""
    return _shared_chars(_flat(first), _flat(second))


def prefix_share(prompts: Sequence[Sequence[Message]]) -> float:
    """Return the share of all characters that a perfect prefix cache would serve.

    Parameters
    ----------
    prompts : sequence of prompts
        In the order they are sent; each may reuse the longest prefix of any earlier one.

    Returns
    -------
    float
        In [0, 1); 0 for fewer than two prompts. O(n^2) comparisons for n prompts.
    """
    texts = [_flat(prompt) for prompt in prompts]
    shared = sum(
        max(_shared_chars(text, earlier) for earlier in texts[:index])
        for index, text in enumerate(texts)
        if index
    )
    total = sum(len(text) for text in texts)
    return shared / total if total else 0.0


def _shared_chars(first: str, second: str) -> int:
    return len(commonprefix([first, second]))  # noqa: RUF071 - by character is what is meant


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)


def _flat(messages: Sequence[Message]) -> str:
    return "".join(
        json.dumps([m.role, m.content, [c.id for c in m.tool_calls], m.tool_call_id])[:-1]
        for m in messages
    )
