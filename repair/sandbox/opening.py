"""Choosing a sandbox."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from repair.errors import SandboxUnavailableError
from repair.sandbox.bubblewrap import INSTALL, open_bubblewrap
from repair.sandbox.docker import open_docker
from repair.sandbox.local import LocalSandbox
from repair.sandbox.model import Sandbox, SandboxKind


def open_sandbox(
    kind: SandboxKind | None = None, *, readonly: Iterable[Path] = (), image: str | None = None
) -> Sandbox:
    """Return a sandbox that works on this machine.

    Parameters
    ----------
    kind
        Which one; left out, bubblewrap, or docker where that does not work and an image is named.
        ``local`` is never chosen by itself.
    readonly
        Folders that bubblewrap shows read-only, such as `PythonEnvironment.roots`.
    image
        Docker image with the program's dependencies.

    Raises
    ------
    SandboxUnavailableError
        It cannot be used here; the message says what to install or start.
    """
    match kind:
        case SandboxKind.LOCAL:
            return LocalSandbox()
        case SandboxKind.DOCKER:
            return open_docker(image)
        case SandboxKind.BUBBLEWRAP:
            return open_bubblewrap(readonly)
        case None:
            return _open_default(readonly, image)


def _open_default(readonly: Iterable[Path], image: str | None) -> Sandbox:
    try:
        return open_bubblewrap(readonly)
    except SandboxUnavailableError as error:
        if image is not None:
            return open_docker(image)
        raise SandboxUnavailableError(
            f"{error.message}; or name a docker image; or, for code you trust, --sandbox local "
            f"(default: {INSTALL})"
        ) from error
