"""Reading the arguments of a tool call, and what a tool is."""

from __future__ import annotations

from typing import Protocol

from graphloc.completion.errors import ToolError
from repair.patch import is_safe_path
from repair.ports import JsonObject, ToolSchema


class Tool(Protocol):
    """Something the model may call."""

    @property
    def schema(self) -> ToolSchema:
        """Name, description and parameters."""
        ...

    def call(self, arguments: JsonObject) -> str:
        """Do it and say what came of it.

        Raises
        ------
        ToolError
            The call makes no sense; the message is sent back to the model.
        """
        ...


def get_text(arguments: JsonObject, name: str, default: str | None = None) -> str:
    """Return an argument that is text.

    Raises
    ------
    ToolError
        It is missing and has no default, or is something else.
    """
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolError(f"the argument {name} has to be text")
    return value


def get_number(arguments: JsonObject, name: str, default: int) -> int:
    """Return an argument that is a whole number; errors as for `get_text`."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolError(f"the argument {name} has to be a whole number")
    return value


def get_flag(arguments: JsonObject, name: str) -> bool:
    """Return an argument that is true or false, false if left out; errors as for `get_text`."""
    value = arguments.get(name)
    if value is None:
        return False
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise ToolError(f"the argument {name} has to be true or false")
    return value


def get_path(arguments: JsonObject, name: str, default: str | None = None) -> str:
    """Return a path inside the repository, ``.`` for its root.

    Raises
    ------
    ToolError
        It is absolute or leads out.
    """
    path = get_text(arguments, name, default).strip()
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/") or "."
    if path != "." and not is_safe_path(path):
        raise ToolError(f"{path}: name paths inside the repository, relative to it")
    return path


def parameters(required: tuple[str, ...] = (), **properties: tuple[str, str]) -> JsonObject:
    """Return the JSON Schema of arguments given as name = (type, description)."""
    return {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": text} for name, (kind, text) in properties.items()
        },
        "required": list(required),
    }
