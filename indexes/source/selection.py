"""Choosing the Python files of a source."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexes.model import PYTHON_SUFFIXES
from indexes.source.model import Source, SourceEntry

_PYTHON_SHEBANG = re.compile(rb"#![^\n]*\b(?:python|pypy|uv run)\b|#![^\n]*\b(?:python|pypy)\d")
_MAX_SCRIPT_BYTES = 1 << 18
"""Executables without a suffix beyond 256 KiB are taken for binaries and not read."""


def may_be_python(path: str, executable: bool) -> bool:
    """Whether a file is Python by its suffix, or may turn out to be an executable script."""
    name = path.rpartition("/")[2]
    return name.endswith(PYTHON_SUFFIXES) or (executable and "." not in name)


def python_entries(source: Source, entries: Iterable[SourceEntry]) -> list[SourceEntry]:
    """Return the entries that are Python, in their order.

    By suffix (``.py``, ``.pyi``, ``.pyw``); executables without any suffix by a first line such as
    ``#!/usr/bin/env python3``. Of the files only the latter are read.
    """
    candidates = [e for e in entries if may_be_python(e.path, e.executable)]
    unsure = [e for e in candidates if not e.path.endswith(PYTHON_SUFFIXES)]
    small = [entry for entry in unsure if entry.size <= _MAX_SCRIPT_BYTES]
    scripts = {e.path for e, data in source.read(small) if _PYTHON_SHEBANG.match(data)}
    return [e for e in candidates if e.path.endswith(PYTHON_SUFFIXES) or e.path in scripts]
