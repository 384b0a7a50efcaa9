"""Asking a model with an account of calls and tokens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from repair.ports import ChatModel, ChatReply, ChatRequest, Usage


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are drawn."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def request(self, request: ChatRequest) -> ChatRequest:
        """Return the request with these settings."""
        return replace(
            request, temperature=self.temperature, max_tokens=self.max_tokens, seed=self.seed
        )


@dataclass(slots=True)
class Account:
    """A model, and what has been asked of it for one task."""

    model: ChatModel
    sampling: Sampling = field(default_factory=Sampling)
    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return one reply.

        Raises
        ------
        indexes.errors.GraphlocError
            As `ChatModel.complete`.
        """
        (reply,) = self.model.complete(self.sampling.request(request))
        self.calls += 1
        self.usage += reply.usage
        return reply
