"""The tools that look at the repository: folders, files, outlines, lexical search."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from graphloc.completion.agent.arguments import (
    get_flag,
    get_number,
    get_path,
    get_text,
    parameters,
)
from graphloc.completion.agent.search_commands import read_search_command
from graphloc.completion.errors import ToolError
from graphloc.completion.pytest_runs import stable_text
from indexes.facts import Definition
from indexes.parsing import outline
from repair.errors import UnsafePathError
from repair.patch.source_text import read_source, without_end
from repair.ports import JsonObject, ToolSchema
from repair.sandbox import MIB, Limits, Sandbox, Workspace

MAX_LINES = 200
"""Lines of a file that one call shows; the paper's cap."""
MAX_ENTRIES = 200
"""Entries of a folder that are listed unless another number is asked for."""
_MOST_ENTRIES = 1000
_MAX_LINE_CHARS = 500
_LEFT_OUT = frozenset({".git", "__pycache__"})
SEARCH_LIMITS = Limits(
    wall_s=20.0, cpu_s=20.0, memory_bytes=512 * MIB, processes=16, output_bytes=4 * MIB
)


class DirectoryViewer:
    """Lists a folder."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    schema = ToolSchema(
        "view_directory",
        "List a folder of the repository: sub-folders end in a slash; hidden entries are left out.",
        parameters(
            path=("string", "Folder, relative to the repository; its root if left out."),
            recursive=("boolean", "List what is inside sub-folders, too."),
            show_hidden=("boolean", "List hidden entries, too."),
            max_results=("integer", f"Most entries to list; {MAX_ENTRIES} if left out."),
        ),
    )

    def call(self, arguments: JsonObject) -> str:
        """List it, sorted by name."""
        path = get_path(arguments, "path", ".")
        most = min(_MOST_ENTRIES, get_number(arguments, "max_results", MAX_ENTRIES))
        if most < 1:
            raise ToolError("max_results has to be at least 1")
        folder = real_folder(self._workspace, path)
        hidden = get_flag(arguments, "show_hidden")
        lines: list[str] = []
        for entry in _entries(folder, folder, get_flag(arguments, "recursive"), hidden):
            if len(lines) == most:
                lines.append(f"[more entries left out: the first {most} are shown]")
                break
            lines.append(entry)
        return "\n".join(lines) or "(empty)"


class FileReader:
    """Shows lines of a file."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    schema = ToolSchema(
        "read_file",
        f"Show lines of a file with their numbers, at most {MAX_LINES} a call.",
        parameters(
            ("path",),
            path=("string", "File, relative to the repository."),
            start_line=("integer", "First line, from 1; 1 if left out."),
            end_line=("integer", "Last line, inclusive."),
        ),
    )

    def call(self, arguments: JsonObject) -> str:
        """Show them."""
        path = get_path(arguments, "path")
        lines = read_lines(self._workspace, path)
        start = get_number(arguments, "start_line", 1)
        end = get_number(arguments, "end_line", start + MAX_LINES - 1)
        if not lines:
            return f"{path} is empty"
        if start < 1 or end < start:
            raise ToolError(f"lines {start}-{end} are no range: it starts at 1 and ends at its end")
        if start > len(lines):
            raise ToolError(f"{path} has {len(lines)} lines")
        last = min(end, len(lines), start + MAX_LINES - 1)
        shown = [
            f"{number}\t{_cut(line)}" for number, line in enumerate(lines[start - 1 : last], start)
        ]
        if last < min(end, len(lines)) or (last < len(lines) and "end_line" not in arguments):
            shown.append(f"[{path} has {len(lines)} lines; read on from {last + 1}]")
        return "\n".join(shown)


class StructureInspector:
    """Shows the outline of a Python file."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    schema = ToolSchema(
        "inspect_structure",
        "Show classes, functions and methods of a Python file with signatures and line numbers.",
        parameters(("path",), path=("string", "Python file, relative to the repository.")),
    )

    def call(self, arguments: JsonObject) -> str:
        """Show it."""
        path = get_path(arguments, "path")
        text = "\n".join(read_lines(self._workspace, path))
        lines = [_outline_line(each) for each in outline(text.encode("utf-8", "replace"))]
        return "\n".join(lines) or f"{path} defines no class or function"


class CodeSearcher:
    """Runs search commands, each program by itself, in the sandbox and without a shell."""

    def __init__(self, workspace: Workspace, sandbox: Sandbox) -> None:
        self._workspace = workspace
        self._sandbox = sandbox

    schema = ToolSchema(
        "search_code",
        "Search the repository with grep, find and the like; pipes are allowed, nothing else of a "
        "shell is: grep -rn 'def parse' --include=*.py src | head -20",
        parameters(
            ("command",),
            command=("string", "The command."),
            path=("string", "Folder to search in; the repository's root if left out."),
        ),
    )

    def call(self, arguments: JsonObject) -> str:
        """Run it.

        Raises
        ------
        CommandRefusedError
            A program or argument is not on the allow-list.
        """
        pipeline = read_search_command(get_text(arguments, "command"))
        folder = get_path(arguments, "path", ".")
        real_folder(self._workspace, folder)
        data, problems = b"", []
        for program in pipeline:
            # env changes into the folder: the sandbox itself always starts at the root.
            words = program if folder == "." else ["env", "-C", folder, *program]
            result = self._sandbox.run(
                words, workdir=self._workspace, limits=SEARCH_LIMITS, stdin=data
            )
            data = result.stdout.encode()
            if result.stderr.strip():
                problems.append(result.stderr.strip())
            if result.stopped_by is not None:
                problems.append(f"{program[0]} was stopped: {result.stopped_by}")
        text = stable_text(data.decode("utf-8", "replace"), self._workspace)
        return "\n".join([text or "(nothing found)", *problems])


def read_lines(workspace: Workspace, path: str) -> list[str]:
    """Return a file's lines without their ends.

    Raises
    ------
    ToolError
        There is no such file, or it is no regular one.
    """
    try:
        data = workspace.read(path)
    except UnsafePathError as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}") from error
    if data is None:
        raise ToolError(f"there is no file {path}")
    if b"\0" in data[:8000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ToolError(f"{path} is not text")
    return [without_end(line) for line in read_source(data).lines]


def real_folder(workspace: Workspace, path: str) -> Path:
    """Return a folder of the workspace that is reached through no link.

    Raises
    ------
    ToolError
        There is none.
    """
    folder = workspace.root
    for part in () if path == "." else path.split("/"):
        folder = folder / part
        if folder.is_symlink():
            raise ToolError(f"{path} is a link")
    if not folder.is_dir():
        raise ToolError(f"there is no folder {path}")
    return folder


def _entries(root: Path, folder: Path, recursive: bool, hidden: bool) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _LEFT_OUT or (entry.name.startswith(".") and not hidden):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        name = os.path.relpath(entry.path, root)
        yield f"{name}/" if is_folder else name
        if is_folder and recursive:
            yield from _entries(root, Path(entry.path), recursive, hidden)


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}[...]"


def _outline_line(definition: Definition) -> str:
    depth = definition.name.count(".")
    word = "class" if definition.is_class else "async def" if definition.is_async else "def"
    name = definition.name.rpartition(".")[2]
    where = f"lines {definition.start_line}-{definition.end_line}"
    return f"{'    ' * depth}{word} {name}{definition.signature}  # {where}"
