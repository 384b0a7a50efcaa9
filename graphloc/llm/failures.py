"""From an HTTP status and what the server said to one of graphloc's errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graphloc.llm.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    ModelNotFoundError,
    ModelServerError,
    RateLimitedError,
    RequestRejectedError,
)
from graphloc.llm.redaction import Redactor
from graphloc.llm.retry import is_retry_status, parse_retry_after
from repair.ports import JsonValue

_MAX_MESSAGE_CHARS = 500

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size"  # OpenAI's and llama.cpp's codes
    r"|maximum (?:context|model|prompt|input) length"  # OpenAI, vLLM, Together, xAI
    r"|exceeds? the (?:available |model'?s? |maximum )*context"  # llama.cpp, Ollama, SGLang
    r"|longer than the (?:maximum )?(?:model|context)"  # vLLM, SGLang
    r"|exceeded max(?:imum)? context"  # Ollama
    r"|context (?:length|window|size) (?:exceeded|is too small)"
    r"|(?:prompt|input|messages?) (?:is|are) too (?:long|large)"  # Anthropic, OpenRouter
    r"|prompt too long"
    r"|exceeds? the maximum number of (?:input )?tokens"  # Gemini
    r"|reduce the length of the (?:messages|prompt|input)"  # Groq and other copies of OpenAI
    r"|must be <= \d+\. Given"  # text-generation-inference
    r"|context the overflows",  # LM Studio, spelt so
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:maximum (?:context|model|prompt|input) length (?:is|of)|must be <=|n_ctx\D+"
    r"|maximum (?:model|context) length of|max(?:imum)? context length (?:is|of)"
    r"|context (?:size|length|window)\D{0,12}|number of tokens allowed \(|>)\s*(\d{3,})",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:requested(?: about)?|resulted in|prompt \(length|too long:|token count \("
    r"|request \(|prompt contains(?: at least)?|n_prompt_tokens\D+|Given:)\s*`?(\d{3,})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An answer that is no completion."""

    status: int
    headers: Mapping[str, str]
    """Keys in lower case."""
    body: JsonValue
    """Decoded JSON, or the text."""


def translate_failure(answer: ServerAnswer, redactor: Redactor) -> ModelError:
    """Return the error for an HTTP status of 400 and above."""
    said, code, param = (redactor.clean(t)[:_MAX_MESSAGE_CHARS] for t in _read_body(answer.body))
    status = answer.status
    values: dict[str, str | int] = {
        "status": status,
        "server_message": said,
        "code": code,
        "param": param,
    }
    what = f"the model's server answered {status}: {said or 'without a message'}"
    if code == "insufficient_quota" or status in {401, 402, 403}:
        return AuthenticationError(f"{what} (check OPENAI_API_KEY and its quota)", **values)
    if status == 413 or (status != 429 and _OVERFLOW.search(f"{code} {said}")):
        return _overflow(f"{code} {said} {_figures(answer.body)}", values)
    if is_retry_status(status):
        retry_after_s = parse_retry_after(answer.headers)
        error = RateLimitedError if status == 429 else ModelServerError
        return error(what, retry_after_s=retry_after_s, **values)
    if status == 404 and "tool" not in said:
        return ModelNotFoundError(
            f"{what} (check the model's name, and that the base URL ends as the server wants, "
            "usually in /v1)",
            **values,
        )
    return RequestRejectedError(what, **values)


def _overflow(said: str, values: dict[str, str | int]) -> ContextOverflowError:
    limit, asked = _LIMIT.search(said), _ASKED.search(said)
    return ContextOverflowError(
        "the prompt is longer than the model's context: shorten it",
        limit_tokens=int(limit.group(1)) if limit else None,
        prompt_tokens=int(asked.group(1)) if asked else None,
        **values,
    )


def _read_body(body: JsonValue) -> tuple[str, str, str]:
    """Return (message, code, param) out of the shapes that servers send errors in."""
    if isinstance(body, str):
        return body.strip(), "", ""
    if not isinstance(body, Mapping):
        return "", "", ""
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return str(error), "", ""
    said = next((str(error[key]) for key in ("message", "detail", "error") if error.get(key)), "")
    code = error.get("code") if isinstance(error.get("code"), str) else error.get("type")
    return said, str(code or ""), str(error.get("param") or "")


def _figures(body: JsonValue) -> str:
    """Return llama.cpp's figures, which stand beside the message."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    return " ".join(f"{key} {error[key]}" for key in ("n_ctx", "n_prompt_tokens") if key in error)
