"""What can go wrong between graphloc and a chat model.

::

    GraphlocError
    |-- InputError
    |   |-- ModelSettingsError          no model named, bad URL, no key, package missing, bad prices
    |       |-- PriceUnknownError       a money budget for a model without a price
    |-- ModelError
        |-- ModelConnectionError        no connection, or it was dropped
        |-- ModelTimeoutError           one request or the whole call took too long
        |-- RateLimitedError            429 to the last attempt
        |-- ModelServerError            5xx (or 408, 409) to the last attempt
        |-- BadReplyError               the reply is not what the protocol says
        |   |-- StructuredOutputError   the reply does not fit the schema, nor after one repair
        |-- RequestRejectedError        4xx: asking again will not help
        |   |-- AuthenticationError     key missing, wrong or not allowed; quota used up
        |   |-- ModelNotFoundError      the server has no such model or path
        |   |-- ContextOverflowError    the prompt is too long: shorten it
        |-- BudgetExceededError         requests, tokens or money are used up
        |-- RecordError                 the record of replies cannot be used
            |-- RecordMissingError      replay only, and this request was never recorded

Errors of the `openai` package never leave `graphloc.llm.transport`: they hold the request with its
Authorization header, and their texts may quote the key.
"""

from __future__ import annotations

from indexes.errors import GraphlocError, InputError


class ModelSettingsError(InputError):
    """The model cannot be set up as asked."""


class PriceUnknownError(ModelSettingsError):
    """A budget in money needs a price for the model; `model` names it."""


class ModelError(GraphlocError):
    """The model gave no usable reply; `status` holds the HTTP status where there was one."""


class ModelConnectionError(ModelError):
    """The server could not be reached or dropped the connection."""


class ModelTimeoutError(ModelError):
    """The reply took longer than allowed; `timeout_s` says how long that was."""


class RateLimitedError(ModelError):
    """The server kept asking to slow down; `retry_after_s` is its last wish, or None."""


class ModelServerError(ModelError):
    """The server failed."""


class BadReplyError(ModelError):
    """The server answered with something that is no chat completion."""


class StructuredOutputError(BadReplyError):
    """The reply does not fit the schema; `text` holds the last reply, `problem` what is wrong."""


class RequestRejectedError(ModelError):
    """The server refused the request; `param` and `code` are the server's, or empty."""


class AuthenticationError(RequestRejectedError):
    """The key is missing, wrong, not allowed to use the model, or its quota is used up."""

    exit_code = 2


class ModelNotFoundError(RequestRejectedError):
    """The server does not know the model or the path."""

    exit_code = 2


class ContextOverflowError(RequestRejectedError):
    """The prompt does not fit; `limit_tokens` and `prompt_tokens` are the server's or None."""


class BudgetExceededError(ModelError):
    """A budget is used up; `what` is requests, tokens or usd, with `limit` and `spent`."""


class RecordError(ModelError):
    """The file of recorded replies cannot be used; `path` names it."""

    exit_code = 2


class RecordMissingError(RecordError):
    """Only recorded replies may be used and this request has none; `key` is its digest."""
