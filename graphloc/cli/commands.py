"""Commands that are imported when they are used, and the option that all of them have."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(slots=True)
class Session:
    """What holds for one run of the program, whatever its command."""

    debug: bool = False
    """Show tracebacks."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command by name; its module holds it as `command`."""

    name: str
    module: str
    summary: str
    """What the list of commands says; the first sentence of the command's own help."""

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = importlib.import_module(self.module).command
        return command


class OutputClosedError(Exception):
    """Whoever read stdout has left."""


class InterruptedByUserError(Exception):
    """The user pressed Ctrl-C."""


class LazyGroup(click.Group):
    """A group that knows its commands by name alone until one is asked for."""

    def __init__(
        self, *arguments: Any, entries: Sequence[CommandEntry] = (), **settings: Any
    ) -> None:
        settings["no_args_is_help"] = True
        super().__init__(*arguments, **settings)
        self.entries = {entry.name: entry for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which people need them."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name."""
        entry = self.entries.get(cmd_name)
        return entry.load() if entry is not None else None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; click has ways of its own with closed pipes and Ctrl-C."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise OutputClosedError from error
        except KeyboardInterrupt as error:
            raise InterruptedByUserError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.summary) for entry in self.entries.values()])


def debug_option(function: _Command) -> _Command:
    """Add ``--debug``."""
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_set_debug,
        help="Show tracebacks of errors.",
    )(function)


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.obj, Session):
        ctx.obj.debug = True
