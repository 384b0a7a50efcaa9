"""Running the MCP server over stdio or over HTTP."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graphloc.locators.mcp_server import make_server
from graphloc.locators.mcp_settings import HttpSettings
from graphloc.locators.tools import ToolBox

HTTP_PATH = "/mcp"


def serve_stdio(box: ToolBox, root: Path) -> None:
    """Serve over stdin and stdout until stdin ends. Nothing else may write to stdout."""
    anyio.run(make_server(box, root).run_stdio_async)


def serve_http(
    box: ToolBox, root: Path, settings: HttpSettings, on_listening: Callable[[str], None]
) -> None:
    """Serve over streamable HTTP until the process is interrupted.

    Parameters
    ----------
    box
        What answers.
    root
        The folder of the repository.
    settings
        Where to listen. Requests that name another host, or come from a web page of another origin,
        are refused, so that no web site can reach the server through a browser (DNS rebinding).
    on_listening
        Told the URL once requests are accepted.

    Raises
    ------
    InputError
        If it cannot listen there.
    """
    import uvicorn  # noqa: PLC0415 - 0.1 s that stdio should not wait for

    listener = settings.listen()
    app: ASGIApp = make_server(box, root).streamable_http_app(
        streamable_http_path=HTTP_PATH,
        host=settings.host,
        transport_security=_security(settings.host_names),
    )
    if settings.token is not None:
        app = TokenGate(app, settings.token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    on_listening(_url(settings.host, listener))
    with listener:
        anyio.run(lambda: server.serve(sockets=[listener]))


class TokenGate:
    """Lets through only requests that carry the bearer token (RFC 6750)."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not self._is_welcome(scope):
            refusal = JSONResponse(
                {"error": "a bearer token is needed"},
                status_code=401,
                headers={"WWW-Authenticate": 'Bearer realm="graphloc"'},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_welcome(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        kind, _, token = given.partition(b" ")
        # Compared in constant time, so that nobody can find the token by its parts.
        return hmac.compare_digest(kind.lower() + b" " + token, self._expected)


def _security(names: tuple[str, ...]) -> TransportSecuritySettings:
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[pattern for name in names for pattern in (name, f"{name}:*")],
        allowed_origins=[pattern for name in origins for pattern in (name, f"{name}:*")],
    )


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{HTTP_PATH}"
