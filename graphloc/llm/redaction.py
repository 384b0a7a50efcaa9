"""Keeping the API key out of everything that is written, logged or raised."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import SecretStr

REDACTED = "***"
MIN_SECRET_CHARS = 12
"""Shorter keys are stand-ins for servers that want none ("ollama", "EMPTY", "not-needed"); blotting
those out would damage ordinary prose. Every hosted provider's keys are 30 characters and more."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces the key in any text by three stars."""

    key: SecretStr

    def clean(self, text: str) -> str:
        """Return `text` without the key."""
        secret = self.key.get_secret_value()
        return text.replace(secret, REDACTED) if len(secret) >= MIN_SECRET_CHARS else text
