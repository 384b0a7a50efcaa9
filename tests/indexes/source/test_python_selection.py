"""Which files count as Python."""

from __future__ import annotations

import pytest

from indexes.source import may_be_python, open_source, python_entries


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_suffixes_and_shebangs(make_repository, rev):
    repository = make_repository()
    for path in ("a.py", "b.pyi", "c.pyw", "README.md", "d.pyc", "py"):
        repository.write(path, "x = 1\n")
    scripts = {
        "bin/env": "#!/usr/bin/env python3\n",
        "bin/direct": "#!/usr/bin/python3.11 -E\n",
        "bin/two": "#! /usr/bin/python2\n",
        "bin/uv": "#!/usr/bin/env -S uv run --script\n",
        "bin/pypy": "#!/opt/pypy3\n",
        "bin/shell": "#!/bin/sh\n# python\n",
        "bin/plain": "python\n",
        "bin/empty": "",
        "bin/run.sh": "#!/usr/bin/env python3\n",
        "bin/big": "#!/usr/bin/env python3\n" + "#" * (1 << 18),
    }
    for path, text in scripts.items():
        repository.write(path, text).chmod(0o755)
    repository.write("bin/not-executable", "#!/usr/bin/env python3\n").chmod(0o644)
    repository.commit()
    source = open_source(repository.path, rev)
    found = [entry.path for entry in python_entries(source, source.entries())]
    assert found == [
        "a.py", "b.pyi", "bin/direct", "bin/env", "bin/pypy", "bin/two", "bin/uv", "c.pyw",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "executable", "expected"),
    [
        ("a/b.py", False, True),
        ("a.d/tool", True, True),
        ("a.d/tool", False, False),
        ("tool.sh", True, False),
    ],
)
def test_candidates(path, executable, expected):
    assert may_be_python(path, executable) is expected
