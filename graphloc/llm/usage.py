"""Reading how many tokens a reply took; vendors name the cached part differently.

=========================================  ===========================================
``prompt_tokens_details.cached_tokens``    OpenAI, vLLM, llama.cpp, Groq, OpenRouter
``prompt_cache_hit_tokens``                DeepSeek
``cached_tokens``                          Moonshot
``cache_read_input_tokens``                Anthropic; with ``input_tokens`` the cached part is
                                           on top, with ``prompt_tokens`` it is included
``input_tokens_details.cached_tokens``     OpenAI Responses and its copies
``timings.cache_n`` beside ``usage``       older llama.cpp
=========================================  ===========================================
"""

from __future__ import annotations

from collections.abc import Mapping

from repair.ports import JsonObject, JsonValue, Usage

CHARS_PER_TOKEN = 3
"""Code runs at 3 to 4 characters a token in common tokenizers; the lower end over-estimates, so a
budget errs on the safe side."""


def read_usage(payload: JsonObject) -> Usage | None:
    """Read the usage of a chat completion; None when the server reports none."""
    usage = _object(payload.get("usage"))
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens")) or _count(usage.get("output_tokens"))
    cached = _read_cached(usage) or _count(_object(payload.get("timings")).get("cache_n"))
    if not prompt:
        prompt = _count(usage.get("input_tokens"))
        if "input_tokens_details" not in usage:
            prompt += _count(usage.get("cache_read_input_tokens"))
            prompt += _count(usage.get("cache_creation_input_tokens"))
    if not prompt and not completion:
        return None
    return Usage(prompt, min(cached, prompt), completion)


def estimate_usage(*, prompt_chars: int, completion_chars: int) -> Usage:
    """Guess the usage from the lengths of the texts."""
    return Usage(
        prompt_tokens=-(-prompt_chars // CHARS_PER_TOKEN),
        completion_tokens=-(-completion_chars // CHARS_PER_TOKEN),
        is_estimated=True,
    )


def _read_cached(usage: JsonObject) -> int:
    candidates = (
        _object(usage.get("prompt_tokens_details")).get("cached_tokens"),
        _object(usage.get("input_tokens_details")).get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cache_read_input_tokens"),
        usage.get("cached_tokens"),
    )
    return max(_count(candidate) for candidate in candidates)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _count(value: JsonValue) -> int:
    """Read a count; what is no number counts as 0, as vendors send null for "none"."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < float("inf") else 0
