"""Finding what a Python is made of."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from indexes.errors import InputError
from repair.sandbox import find_python_environment


def test_a_virtual_environment_and_its_base(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    found = find_python_environment(python)
    assert found.executable == python
    covered = [tmp_path / "env", Path(sys.base_prefix), Path(sys.executable).resolve()]
    for path in covered:
        assert any(path.is_relative_to(root) for root in found.roots), (path, found.roots)
    for root in found.roots:
        assert not any(root != other and root.is_relative_to(other) for other in found.roots)


def test_what_is_no_python_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none", Path("/bin/false")):
        with pytest.raises(InputError, match="not a working Python"):
            find_python_environment(path)
