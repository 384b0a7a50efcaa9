"""``graphloc doctor``: tell what works here, and what is missing."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from graphloc import __version__
from graphloc.cli.commands import debug_option
from graphloc.cli.options import (
    OutputFormat,
    format_option,
    index_directory_option,
    repository_argument,
)
from graphloc.cli.output import write_json
from indexes.errors import GraphlocError
from indexes.source import open_source, printable_path
from indexes.store import Store, index_directory

SCHEMA = "graphloc.doctor/1"
_ANSWER_S = 10
"""Longest wait for another program's answer."""
_LIBRARIES = ("tree-sitter", "tree-sitter-python", "numpy", "networkx", "rank-bm25", "click")
_EXTRAS = (("dask", "distributed", "evaluate --engine dask"),)
"""Name of the extra, the module it brings, what it is for."""


class State(StrEnum):
    """What a check came to."""

    WORKS = "works"
    ABSENT = "absent"
    """Missing, but only some commands want it."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    what: str
    state: State
    detail: str


@click.command("doctor")
@repository_argument
@index_directory_option
@format_option
@debug_option
def command(repo: Path, index_dir: Path | None, output_format: str) -> int:
    """Tell what works here, and what is missing.

    Looks at git, the libraries, the index of REPO, the sandboxes and the optional extras. Nothing
    is built or changed. The exit code is 1 if something that is needed is broken.
    """
    findings = list(_examine(repo, index_dir))
    if output_format == OutputFormat.JSON:
        write_json(
            {
                "schema": SCHEMA,
                "findings": [
                    {"what": found.what, "state": str(found.state), "detail": found.detail}
                    for found in findings
                ],
            }
        )
    else:
        from graphloc.cli.tables import write_table  # noqa: PLC0415 - JSON needs no rich

        rows = [(found.what, str(found.state), found.detail) for found in findings]
        write_table(("what", "state", "detail"), rows, output_format)
    return 1 if any(found.state is State.BROKEN for found in findings) else 0


def _examine(repo: Path, index_dir: Path | None) -> Iterator[Finding]:
    yield Finding("graphloc", State.WORKS, __version__)
    yield Finding("python", State.WORKS, f"{platform.python_version()} on {platform.platform()}")
    yield Finding("sqlite", State.WORKS, sqlite3.sqlite_version)
    yield from map(_library, _LIBRARIES)
    git = "revisions and ignore rules need it: install git"
    yield _program("git", ("git", "--version"), absence=git, is_needed=True)
    yield _check("repository", lambda: _describe_repository(repo))
    yield _check("index", lambda: _describe_index(repo, index_dir))
    box = ("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--", "true")
    yield _program("bubblewrap", box, absence="the sandbox of choice: install bubblewrap")
    daemon = ("docker", "version", "--format", "{{.Server.Version}}")
    yield _program("docker", daemon, absence="a sandbox: install docker and start its daemon")
    for extra, module, purpose in _EXTRAS:
        found = importlib.util.find_spec(module) is not None
        how = purpose if found else f"{purpose}: pip install 'graphloc[{extra}]'"
        yield Finding(f"extra {extra}", State.WORKS if found else State.ABSENT, how)


def _library(name: str) -> Finding:
    try:
        return Finding(name, State.WORKS, version(name))
    except PackageNotFoundError:
        return Finding(name, State.BROKEN, f"not installed: pip install {name}")


def _program(
    what: str, arguments: tuple[str, ...], *, absence: str, is_needed: bool = False
) -> Finding:
    """Try a program in a way that changes nothing."""
    if shutil.which(arguments[0]) is None:
        return Finding(what, State.BROKEN if is_needed else State.ABSENT, absence)
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(what, State.ABSENT, f"does not answer ({type(error).__name__}): {absence}")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return Finding(what, State.ABSENT, f"does not work here ({said})")
    return Finding(what, State.WORKS, done.stdout.strip() or arguments[0])


def _check(what: str, describe: Callable[[], str]) -> Finding:
    try:
        return Finding(what, State.WORKS, describe())
    except GraphlocError as error:
        return Finding(what, State.BROKEN, error.message)


def _describe_repository(repo: Path) -> str:
    source = open_source(repo)
    history = "with history" if source.has_history else "without history"
    return f"{printable_path(str(source.root))} ({source.revision[:12]}), {history}"


def _describe_index(repo: Path, index_dir: Path | None) -> str:
    """Return where the index is, and open it if there is one."""
    folder = index_directory(open_source(repo).root, index_dir)
    where = printable_path(str(folder))
    sizes = [path.stat().st_size for path in folder.glob("index.sqlite*")]
    if not sizes:
        return f"none yet, will be in {where}"
    with Store.open(folder) as store:
        rights = "read-only" if store.read_only else "writable"
        latest = "with" if store.latest_snapshot() else "without"
        return f"{where}, {sum(sizes) / 1e6:.1f} MB, {rights}, {latest} a snapshot"
