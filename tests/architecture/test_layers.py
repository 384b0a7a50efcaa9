"""Imports point one way, as pyproject.toml has it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("graphloc", "indexes", "repair")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


def test_contracts_are_kept(tmp_path):
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--cache-dir", tmp_path / "cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package):
    assert (ROOT / package / "py.typed").is_file()


def test_nothing_prints_outside_the_command_line():
    prints = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        if "cli" not in path.relative_to(ROOT).parts
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"print", "input"}
    ]
    assert prints == []


def test_modules_are_nouns():
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "tools_common"}
    assert [path for path in MODULES if path.stem in banned or path.parent.name in banned] == []


def test_nothing_is_left_undone():
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in MODULES
        for word in words
        if word in path.read_text("utf-8")
    ]
    assert found == []
