"""Reading a repository's Python files as text."""

from __future__ import annotations

from indexes.source import Source, may_be_python, python_entries
from repair.patch.source_text import read_source


def load_texts(source: Source) -> dict[str, str]:
    """Return the text of each Python file by path, sorted; what cannot be read is left out."""
    entries = python_entries(source, source.entries(None, may_be_python))
    return {entry.path: "".join(read_source(data).lines) for entry, data in source.read(entries)}
