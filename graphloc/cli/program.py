"""The program: its commands, its exit codes, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from graphloc import __version__
from graphloc.cli.commands import (
    CommandEntry,
    InterruptedByUserError,
    LazyGroup,
    OutputClosedError,
    Session,
    debug_option,
)
from indexes.errors import GraphlocError
from indexes.source.model import printable_path

EXIT_DONE = 0
EXIT_FOUND_NOTHING = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT

COMMANDS = (
    CommandEntry("index", "graphloc.cli.index", "Read a repository into its index."),
    CommandEntry("localize", "graphloc.cli.localize", "Name the places an issue is about."),
    CommandEntry("search", "graphloc.cli.search", "Find entities by name and by words."),
    CommandEntry("graph", "graphloc.cli.graph", "Look at the code graph, or export it."),
    CommandEntry("evaluate", "graphloc.cli.evaluate", "Measure locators on a dataset of issues."),
    CommandEntry(
        "complete-eval", "graphloc.cli.complete", "Measure methods that write missing functions."
    ),
    CommandEntry("mcp", "graphloc.cli.mcp", "Serve the repository to coding agents."),
    CommandEntry("tools", "graphloc.cli.tools", "Print tools for function calling, or call one."),
    CommandEntry("doctor", "graphloc.cli.doctor", "Tell what works here, and what is missing."),
)


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="graphloc", message="%(prog)s %(version)s")
@debug_option
def program() -> None:
    """Name the files, classes and functions that an issue is about, and say why.

    REPO is a folder: a work tree, a bare clone, a folder inside one, or no repository at all. It
    defaults to the current directory.

    Exit codes: 0 done; 1 ran but found nothing, or some instances failed; 2 the usage or the input
    is wrong; 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code.
    """
    _prepare_streams()
    session = Session()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments), session)
        sys.stdout.flush()
    except (BrokenPipeError, OutputClosedError):
        _abandon_stdout()
        return EXIT_DONE
    except OSError as error:
        return _report(error, f"the output cannot be written: {error.strerror}", session)
    return code


def _run(arguments: list[str], session: Session) -> int:
    try:
        result = program.main(arguments, prog_name="graphloc", standalone_mode=False, obj=session)
    except (BrokenPipeError, OutputClosedError):
        raise
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return EXIT_ERROR
    except click.UsageError as error:
        return _report(error, _usage_message(error), session)
    except GraphlocError as error:
        return _report(error, error.message, session, code=error.exit_code)
    except (KeyboardInterrupt, InterruptedByUserError, click.Abort) as error:
        return _report(error, "interrupted", session, code=EXIT_INTERRUPTED)
    except OSError as error:
        return _report(error, _system_message(error), session)
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback for users
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return _report(
            error, f"internal error, {what}: run again with --debug and report it", session
        )
    return result if isinstance(result, int) else EXIT_DONE


def _report(error: BaseException, message: str, session: Session, code: int = EXIT_ERROR) -> int:
    """Say in one line what went wrong."""
    with suppress(OSError):
        if session.debug:
            traceback.print_exception(error)
        line = " ".join(map(printable_path, message.splitlines()))
        print(f"graphloc: {line}", file=sys.stderr, flush=True)
    return code


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx is not None else "graphloc"
    message = error.format_message().rstrip(".")
    return f"{message[:1].lower()}{message[1:]}: see `{command} --help`"


def _system_message(error: OSError) -> str:
    where = error.filename
    if isinstance(where, bytes):
        where = os.fsdecode(where)
    what = error.strerror or type(error).__name__
    return f"{where}: {what}" if isinstance(where, str) else f"the system says: {what}"


def _prepare_streams() -> None:
    """Let no character that a terminal cannot show end the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _abandon_stdout() -> None:
    """Point stdout elsewhere: whoever read it has left, and Python flushes once more at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
