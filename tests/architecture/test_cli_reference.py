"""The command line's reference is its own help, and every command is tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from graphloc.cli.commands import LazyGroup
from graphloc.cli.program import program
from graphloc.cli.reference import iter_help, render_reference

ROOT = Path(__file__).parents[2]


def iter_commands(group: LazyGroup, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for entry in group.entries.values():
        command = entry.load()
        if isinstance(command, LazyGroup):
            yield from iter_commands(command, (*prefix, entry.name))
        else:
            yield (*prefix, entry.name)


COMMANDS = list(iter_commands(program))


def get_command(names: tuple[str, ...]) -> click.Command:
    command: click.Command = program
    for name in names:
        assert isinstance(command, LazyGroup)
        command = command.entries[name].load()
    return command


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs/cli.md").read_text("utf-8") == render_reference(), "run `make docs`"


def test_summaries_are_the_first_sentence_of_the_help():
    def check(group):
        for entry in group.entries.values():
            command = entry.load()
            assert (command.help or "").startswith(entry.summary.rstrip(".")), entry.name
            if isinstance(command, LazyGroup):
                check(command)

    check(program)


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_tested(names):
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")]
    called = ", ".join(f'"{name}"' for name in names)
    assert any(called in text for text in texts), f"no test runs {' '.join(names)}"
    for parameter in get_command(names).params:
        if isinstance(parameter, click.Option):
            option = parameter.opts[0]
            assert any(f'"{option}"' in text for text in texts), f"no test uses {option}"


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_option_is_explained(names):
    for parameter in get_command(names).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_every_command_is_in_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"graphloc ([a-z][\w-]*(?: (?:stats|neighbors|path|export))?)", readme))
    assert {" ".join(names) for names in COMMANDS} <= named


def test_help_fits_eighty_columns():
    for name, text in iter_help(program):
        assert max(map(len, text.splitlines())) <= 80, name
