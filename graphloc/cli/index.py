"""``graphloc index``: read a repository into its index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.options import index_options, json_option, repository_argument
from graphloc.cli.output import write_json, write_line
from graphloc.cli.repository import IndexedTree, TreeChoice, TreeOptions, describe_tree, open_tree
from indexes.source import printable_path

SCHEMA = "graphloc.index/1"
_SHOWN_PROBLEMS = 10
"""Files named one by one for each kind of problem; JSON names all."""


@click.command("index")
@repository_argument
@index_options
@json_option
@debug_option
def command(repo: Path, as_json: bool, **choice: Unpack[TreeOptions]) -> None:
    """Read a repository into its index.

    Only what has changed since the last time is read. The other commands do this by themselves;
    do it ahead where time matters. Files that do not parse are indexed as far as they do.
    """
    start = time.perf_counter()
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        elapsed_ms = (time.perf_counter() - start) * 1000
        if as_json:
            write_json(_document(repo, tree, elapsed_ms))
        else:
            _write_summary(tree, elapsed_ms)


def _document(repo: Path, tree: IndexedTree, elapsed_ms: float) -> dict[str, object]:
    info = tree.snapshot.info
    return {
        "schema": SCHEMA,
        "repo": printable_path(str(repo)),
        "revision": tree.snapshot.revision,
        "index": printable_path(str(tree.store.directory)),
        "elapsed_ms": round(elapsed_ms, 1),
        "files": info.n_files,
        "files_read": tree.report.n_read,
        "lines": info.n_lines,
        "entities": len(tree.snapshot.entities),
        "edges": len(tree.snapshot.graph),
        "failures": [
            {"path": printable_path(path), "line": line, "message": message}
            for path, line, message in info.failures
        ],
        "missing": [
            {"path": printable_path(path), "reason": reason} for path, reason in info.missing
        ],
    }


def _write_summary(tree: IndexedTree, elapsed_ms: float) -> None:
    info = tree.snapshot.info
    write_line(f"{describe_tree(tree.source)}: {info.n_files:,} files, {info.n_lines:,} lines")
    write_line(f"{len(tree.snapshot.entities):,} entities, {len(tree.snapshot.graph):,} edges")
    write_line(f"{_what_was_read(tree)} in {elapsed_ms / 1000:.2f} s")
    write_line(f"index in {printable_path(str(tree.store.directory))}")
    broken = [f"{printable_path(path)}:{line}: {text}" for path, line, text in info.failures]
    _write_problems("places did not parse; what surrounds them is indexed", broken)
    absent = [f"{printable_path(path)}: {reason}" for path, reason in info.missing]
    _write_problems("files left out", absent)


def _what_was_read(tree: IndexedTree) -> str:
    if tree.report.reused_snapshot:
        return "nothing has changed, checked"
    return f"{tree.report.n_read:,} changed files read"


def _write_problems(title: str, problems: list[str]) -> None:
    if not problems:
        return
    write_line(f"{len(problems):,} {title}:")
    for problem in problems[:_SHOWN_PROBLEMS]:
        write_line(f"  {problem}")
    if len(problems) > _SHOWN_PROBLEMS:
        write_line(f"  and {len(problems) - _SHOWN_PROBLEMS:,} more, see --json")
