"""The reference of the command line, written from its own help: ``docs/cli.md``.

``python -m graphloc.cli.reference [--check] FILE`` writes the file, or tells whether it is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from graphloc.cli.commands import LazyGroup
from graphloc.cli.program import program

_HELP_COLUMNS = 80
_INTRODUCTION = """# The command line

Written by `make docs` from the program's own help; do not edit.
"""


def render_reference() -> str:
    """Return the reference as Markdown, one section a command."""
    sections = [f"\n## {name}\n\n```\n{help_text}\n```\n" for name, help_text in iter_help(program)]
    return _INTRODUCTION + "".join(sections)


def iter_help(
    command: click.Command, parent: click.Context | None = None, name: str = "graphloc"
) -> Iterator[tuple[str, str]]:
    """Yield (full name, help) of a command and of those below it."""
    context = click.Context(
        command, parent, name, terminal_width=_HELP_COLUMNS, **command.context_settings
    )
    yield context.command_path, command.get_help(context)
    if isinstance(command, LazyGroup):
        for entry in command.entries.values():
            yield from iter_help(entry.load(), context, entry.name)


def main(arguments: list[str]) -> int:
    """Write or check the file; 1 if it is stale."""
    path = Path(arguments[-1])
    wanted = render_reference()
    if "--check" not in arguments:
        path.write_text(wanted, encoding="utf-8")
        return 0
    if path.is_file() and path.read_text(encoding="utf-8") == wanted:
        return 0
    print(f"{path} is stale: run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
