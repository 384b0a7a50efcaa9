"""Who may talk to the server over HTTP."""

from __future__ import annotations

import pytest

from graphloc import InputError
from graphloc.locators.mcp_settings import HttpSettings, is_loopback

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert HttpSettings(host).token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org", ""])
def test_elsewhere_a_token_is_needed(host: str) -> None:
    with pytest.raises(InputError, match="--token"):
        HttpSettings(host)
    assert HttpSettings(host, token=TOKEN).token == TOKEN


@pytest.mark.parametrize("token", ["", "short", " " * 20, "a" * 15 + "\n", "é" * 20])
def test_tokens_that_are_weak_or_fit_no_header_are_refused(token: str) -> None:
    with pytest.raises(InputError, match="token must"):
        HttpSettings(token=token)


def test_a_machine_is_asked_for_by_its_own_names() -> None:
    assert HttpSettings().host_names == ("127.0.0.1", "localhost", "[::1]")
    names = HttpSettings("10.0.0.7", token=TOKEN, allowed_hosts=("code.example",)).host_names
    assert {"10.0.0.7", "code.example"} <= set(names)


def test_a_taken_port_is_said() -> None:
    with HttpSettings().listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port}"):
            HttpSettings(port=port).listen()
