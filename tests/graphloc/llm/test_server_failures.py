"""What servers say, and the error it becomes."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from graphloc.llm.errors import (
    AuthenticationError,
    ContextOverflowError,
    RateLimitedError,
    RequestRejectedError,
)
from graphloc.llm.failures import ServerAnswer, translate_failure
from graphloc.llm.redaction import Redactor

OVERFLOWS = [
    # (status, body, limit, prompt)
    (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 9000 tokens.",
                "code": "context_length_exceeded",
            }
        },
        8192,
        9000,
    ),
    (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested "
            "5000 tokens (4000 in the messages, 1000 in the completion).",
            "code": 400,
        },
        4096,
        5000,
    ),
    (
        400,
        {
            "error": {
                "message": "The decoder prompt (length 5121) is longer than the maximum model "
                "length of 4096."
            }
        },
        4096,
        5121,
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 2100,
                "n_ctx": 2048,
            }
        },
        2048,
        2100,
    ),
    (
        400,
        {"error": {"message": "request (5000 tokens) exceeds the available context size (4096)"}},
        4096,
        5000,
    ),
    (500, {"error": "the input length exceeds the context length"}, None, None),
    (
        400,
        {"error": {"message": "prompt too long; exceeded max context length by 12 tokens"}},
        None,
        None,
    ),
    (
        400,
        {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
        200000,
        210000,
    ),
    (
        400,
        {
            "error": {
                "message": "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576)."
            }
        },
        1048576,
        1200000,
    ),
    (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
            "Given: 5000 `inputs` tokens and 100 `max_new_tokens`"
        },
        4096,
        5000,
    ),
    (413, "Request Entity Too Large", None, None),
    (
        400,
        {"error": {"message": "Please reduce the length of the messages or completion."}},
        None,
        None,
    ),
]


@pytest.mark.parametrize(("status", "body", "limit", "asked"), OVERFLOWS)
def test_a_prompt_that_is_too_long_is_told_by_its_wording(status, body, limit, asked):
    error = translate_failure(ServerAnswer(status, {}, body), Redactor(SecretStr("")))
    assert type(error) is ContextOverflowError
    assert error.values["limit_tokens"] == limit
    assert error.values["prompt_tokens"] == asked


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "temperature must be at most 2"}}, RequestRejectedError),
        (400, {"detail": "max_tokens is too large"}, RequestRejectedError),
        (402, {"error": {"message": "Insufficient Balance"}}, AuthenticationError),
        (
            429,
            {"error": {"message": "Rate limit: please reduce the length of the messages"}},
            RateLimitedError,
        ),
        (418, None, RequestRejectedError),
        (400, {"error": None}, RequestRejectedError),
    ],
)
def test_other_refusals_are_not_taken_for_it(status, body, kind):
    error = translate_failure(ServerAnswer(status, {}, body), Redactor(SecretStr("")))
    assert type(error) is kind
    assert str(status) in error.message
