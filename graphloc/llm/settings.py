"""Which model, where, and how patiently: the client's settings, from arguments and environment.

========================  =============================================================
``OPENAI_API_KEY``        key sent as a bearer token; local servers need none
``OPENAI_BASE_URL``       address of the server, usually ending in ``/v1``
``GRAPHLOC_MODEL``        the model's name when none is given
``GRAPHLOC_PRICES``       TOML file of prices (see `graphloc.llm.prices`)
``GRAPHLOC_RECORD``       file of recorded replies
``GRAPHLOC_RECORD_MODE``  ``record`` (default when a file is named), ``replay`` or ``off``
========================  =============================================================
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphloc.llm.errors import ModelSettingsError
from graphloc.llm.record import RecordMode, ReplyRecord
from graphloc.llm.retry import RetryPolicy

OPENAI_BASE_URL = "https://api.openai.com/v1"


class NativeMode(StrEnum):
    """Whether to use what the server offers, or the same thing spelt out in the prompt."""

    AUTO = "auto"
    """The server's own until it refuses, the prompt from then on."""
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How to reach one model.

    Raises
    ------
    ModelSettingsError
        No model is named, the URL is no plain http(s) address, or a figure is out of range.
    """

    model: str
    base_url: str = OPENAI_BASE_URL
    api_key: SecretStr = field(default_factory=lambda: SecretStr(""))
    tools: NativeMode = NativeMode.AUTO
    """Tool calls through the API, or through the text protocol of `graphloc.llm.text_tools`."""
    json_schema: NativeMode = NativeMode.AUTO
    """Structured output through ``response_format``, or through the prompt."""
    request_timeout_s: float = 300.0
    """For one HTTP request. Half of long agent turns on small local servers take over a minute."""
    total_timeout_s: float = 900.0
    """For one reply with all its attempts and the waits between them."""
    max_concurrency: int = 4
    """HTTP requests under way at once, over all threads."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        if not self.model:
            raise ModelSettingsError("no model is named: pass --model NAME or set GRAPHLOC_MODEL")
        _check_url(self.base_url)
        if min(self.request_timeout_s, self.total_timeout_s) <= 0 or self.max_concurrency < 1:
            raise ModelSettingsError("time-outs and the number of concurrent requests must be > 0")
        if not self.api_key.get_secret_value() and self.base_url == OPENAI_BASE_URL:
            raise ModelSettingsError(
                "api.openai.com needs a key: set OPENAI_API_KEY, "
                "or OPENAI_BASE_URL for another server"
            )

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], *, model: str | None = None, base_url: str | None = None
    ) -> ModelSettings:
        """Read the settings; arguments go before variables, and empty variables count as unset."""
        return cls(
            model=model or environ.get("GRAPHLOC_MODEL", ""),
            base_url=base_url or environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL,
            api_key=SecretStr(environ.get("OPENAI_API_KEY", "").strip()),
        )

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine; proxies are left out then."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """Where replies are recorded, and which way."""

    path: Path | None = None
    mode: RecordMode = RecordMode.OFF

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> RecordSettings:
        """Read GRAPHLOC_RECORD and GRAPHLOC_RECORD_MODE."""
        path = environ.get("GRAPHLOC_RECORD", "")
        mode = environ.get("GRAPHLOC_RECORD_MODE", "") or (
            RecordMode.RECORD if path else RecordMode.OFF
        )
        if mode not in set(RecordMode):
            raise ModelSettingsError("GRAPHLOC_RECORD_MODE must be off, record or replay")
        if mode != RecordMode.OFF and not path:
            raise ModelSettingsError("GRAPHLOC_RECORD_MODE needs GRAPHLOC_RECORD, the file to use")
        return cls(Path(path) if path else None, RecordMode(mode))

    def open(self) -> ReplyRecord | None:
        """Open the record; None when there is to be none. Errors as for `ReplyRecord`."""
        if self.path is None or self.mode is RecordMode.OFF:
            return None
        return ReplyRecord(self.path, self.mode)


def _check_url(url: str) -> None:
    """Refuse addresses that are none or that hold credentials, which libraries would log."""
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_plain = False
    if not is_plain:
        raise ModelSettingsError("OPENAI_BASE_URL must look like http://127.0.0.1:8080/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ModelSettingsError(
            "OPENAI_BASE_URL must hold no user, password or query: put the key into OPENAI_API_KEY"
        )
