"""Where the MCP server listens, and who may talk to it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from indexes.errors import InputError

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_MIN_TOKEN_CHARS = 16
"""Shorter ones can be guessed by trying."""
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Settings of the HTTP transport.

    Raises
    ------
    InputError
        If it would listen elsewhere than on loopback without a token, or the token is too short or
        cannot stand in a header.
    """

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free one."""
    token: str | None = None
    """Bearer token that every request must carry."""
    allowed_hosts: tuple[str, ...] = ()
    """Names besides its own under which the server may be asked for, without port."""

    def __post_init__(self) -> None:
        if self.token is None:
            if not is_loopback(self.host):
                raise InputError(
                    f"{self.host} can be reached from other machines: give a --token that "
                    "clients have to send, or listen on 127.0.0.1"
                )
        elif len(self.token) < _MIN_TOKEN_CHARS or not (
            self.token.isascii() and self.token.isprintable() and " " not in self.token
        ):
            raise InputError(
                f"the token must have {_MIN_TOKEN_CHARS} or more printable ASCII characters and "
                "no blanks, as `openssl rand -hex 16` makes it"
            )

    @property
    def host_names(self) -> tuple[str, ...]:
        """Names that a Host header may have; of an address that means all, the machine's own."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        machine = () if is_loopback(self.host) else (own, socket.gethostname())
        return tuple(dict.fromkeys((*_LOOPBACK_NAMES, *machine, *self.allowed_hosts)))

    def listen(self) -> socket.socket:
        """Return a socket that listens.

        Raises
        ------
        InputError
            If there is no such address here, or the port is taken.
        """
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            return socket.create_server((self.host, self.port), family=family, backlog=_BACKLOG)
        except OSError as error:
            raise InputError(
                f"cannot listen on {self.host} port {self.port} ({error.strerror}): choose another "
                "with --host and --port"
            ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
