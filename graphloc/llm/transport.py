"""The one place that knows the `openai` package: one HTTP request, one JSON object or error.

The package is an extra (``pip install 'graphloc[llm]'``) and is imported when a transport is made.
Its own retries are off, so that every request is counted; replies are read in pieces, because its
time-outs bound the wait for each piece only, and a server that drips would never time out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphloc.llm.errors import (
    BadReplyError,
    ModelConnectionError,
    ModelError,
    ModelSettingsError,
    ModelTimeoutError,
)
from graphloc.llm.failures import ServerAnswer, translate_failure
from graphloc.llm.redaction import Redactor
from graphloc.llm.settings import ModelSettings
from repair.ports import JsonObject, JsonValue

if TYPE_CHECKING:
    import openai

_NO_KEY = "none"
"""The package insists on a key; servers that want none ignore it."""
_MAX_REPLY_BYTES = 64 * 2**20
"""A completion of a million tokens is some 5 MB; more than this is no completion."""


class Transport:
    """A connection pool to one server; safe to use from several threads.

    Raises
    ------
    ModelSettingsError
        The `openai` package is not installed.
    """

    def __init__(self, settings: ModelSettings) -> None:
        try:
            import openai  # noqa: PLC0415
        except ImportError as error:
            raise ModelSettingsError(
                "models need the openai package: pip install 'graphloc[llm]'"
            ) from error
        self._openai = openai
        self._redactor = Redactor(settings.api_key)
        self._client = openai.OpenAI(
            api_key=settings.api_key.get_secret_value() or _NO_KEY,
            base_url=settings.base_url,
            max_retries=0,
            # A proxy from the environment cannot reach a server on this machine.
            http_client=openai.DefaultHttpxClient(trust_env=not settings.is_loopback),
        )

    def send(self, body: JsonObject, timeout_s: float) -> JsonObject:
        """Ask for a completion.

        Parameters
        ----------
        body : mapping
            The request's JSON.
        timeout_s : float
            For the whole request, in seconds.

        Raises
        ------
        ModelError
            A kind below it, as `graphloc.llm.errors` lists them. No error of the `openai` package
            is chained: those hold the Authorization header.
        """
        started = time.monotonic()
        failure: ModelError
        try:
            return self._completed(self._post(body, timeout_s, started + timeout_s))
        except ModelError as error:
            failure = error
        except self._openai.APIStatusError as error:
            failure = self._status_failure(error)
        except self._openai.APIError as error:
            failure = self._connection_failure(error, timeout_s)
        except _http_errors() as error:
            failure = self._connection_failure(error, timeout_s)
        # Raised here and not in the handlers: `from None` would hide the openai error in printed
        # tracebacks, but keep it as the context, where loggers and debuggers find the header.
        raise failure

    def find_models(self, timeout_s: float) -> tuple[str, ...]:
        """Return the names of the models that the server offers; errors as for `send`."""
        failure: ModelError
        try:
            return tuple(model.id for model in self._client.models.list(timeout=timeout_s))
        except self._openai.APIStatusError as error:
            failure = self._status_failure(error)
        except self._openai.APIError as error:
            failure = self._connection_failure(error, timeout_s)
        raise failure

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _post(self, body: JsonObject, timeout_s: float, deadline: float) -> str:
        arguments: dict[str, Any] = dict(body)
        pieces: list[bytes] = []
        size_bytes = 0
        with self._client.chat.completions.with_streaming_response.create(
            **arguments, timeout=timeout_s
        ) as response:
            for piece in response.iter_bytes():
                pieces.append(piece)
                size_bytes += len(piece)
                if time.monotonic() > deadline:
                    raise _timed_out(timeout_s)
                if size_bytes > _MAX_REPLY_BYTES:
                    raise BadReplyError(f"the server's reply is over {_MAX_REPLY_BYTES} bytes")
        return self._redactor.clean(b"".join(pieces).decode("utf-8", "replace"))

    def _completed(self, text: str) -> JsonObject:
        try:
            payload: JsonValue = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, Mapping):
            raise BadReplyError(f"the server's reply is no JSON object: {text[:80]!r}")
        error = payload.get("error")
        if error and not payload.get("choices"):
            # Routers report failures of the provider behind them with status 200.
            code = error.get("code") if isinstance(error, Mapping) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            raise translate_failure(ServerAnswer(status, {}, payload), self._redactor)
        return payload

    def _status_failure(self, error: openai.APIStatusError) -> ModelError:
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        body: Any = error.body
        return translate_failure(ServerAnswer(error.status_code, headers, body), self._redactor)

    def _connection_failure(self, error: Exception, timeout_s: float) -> ModelError:
        if "timeout" in type(error).__name__.lower():
            return _timed_out(timeout_s)
        cause = error.__cause__ or error
        return ModelConnectionError(
            f"no reply from the model's server ({type(cause).__name__}: "
            f"{self._redactor.clean(str(cause))}): check OPENAI_BASE_URL and that it runs"
        )


def _timed_out(timeout_s: float) -> ModelTimeoutError:
    return ModelTimeoutError(f"the model took longer than {timeout_s:g} s", timeout_s=timeout_s)


def _http_errors() -> tuple[type[Exception], ...]:
    """Return the errors that reading a body may raise: those of the HTTP library under `openai`.

    It is httpx up to version 2 and httpx2 from version 3 on.
    """
    loaded = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(module.HTTPError for module in loaded if module is not None)
