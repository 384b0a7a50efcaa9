"""Errors of the repair loop; each is a named cause below `indexes.errors.GraphlocError`.

::

    GraphlocError
    |-- MalformedPatchError     a text holds no edit that could be understood
    |-- SandboxError            a sandbox failed at its own work, not the command inside
    |-- InputError
        |-- SandboxUnavailableError   the kind of sandbox asked for cannot be used here
        |-- UnsafePathError           a path leads out of the workspace
"""

from __future__ import annotations

from indexes.errors import GraphlocError, InputError


class MalformedPatchError(GraphlocError):
    """A text holds no edit that could be understood."""


class SandboxError(GraphlocError):
    """A sandbox failed at its own work; what ran inside is not to blame."""


class SandboxUnavailableError(InputError):
    """The kind of sandbox asked for cannot be used on this machine."""


class UnsafePathError(InputError):
    """A path leads out of the workspace, by its name or through a symbolic link."""
