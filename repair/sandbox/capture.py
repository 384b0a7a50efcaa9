"""Keeping the first and the last part of an output of any length."""

from __future__ import annotations


class BoundedOutput:
    """Holds at most `cap_bytes` of what is fed: the first half and the last half.

    Test runners say at the end what failed, so the end is worth as much as the beginning.
    """

    def __init__(self, cap_bytes: int) -> None:
        self._half = max(1, cap_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def is_truncated(self) -> bool:
        """Whether something was dropped."""
        return self._dropped > 0

    def feed(self, data: bytes) -> None:
        """Take the next piece; amortized O(len(data))."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def text(self) -> str:
        """Return what was kept, with a line that says how much is missing between."""
        if not self._dropped:
            return bytes(self._head + self._tail).decode("utf-8", "replace")
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        return f"{head}\n[... {self._dropped} bytes left out ...]\n{tail}"
