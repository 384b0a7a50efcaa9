"""What of the machine a Python program needs to see: its interpreter and its packages."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from indexes.errors import InputError

_PROBE = """\
import json, sys
prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
print(json.dumps([prefixes, [entry for entry in sys.path if entry]]))
"""
_PROBE_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """An interpreter and the folders and links it is made of."""

    executable: Path
    """As given, not resolved: a virtual environment is known by its link."""
    roots: tuple[Path, ...]
    """To be shown read-only to whoever runs it, each at its own path."""


def find_python_environment(python: Path) -> PythonEnvironment:
    """Ask an interpreter where it and its packages live.

    Raises
    ------
    InputError
        `python` cannot be run.

    Notes
    -----
    ``PYTHONPATH`` is left out: sandboxes do not hand the caller's variables on either.
    """
    executable = Path(os.path.abspath(python))
    try:
        answer = subprocess.run(
            [executable, "-c", _PROBE],
            cwd="/",
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            check=True,
            timeout=_PROBE_TIMEOUT_S,
        )
        prefixes, entries = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InputError(f"{python} is not a working Python: {error}", path=str(python)) from error
    wanted = [Path(item) for item in (*prefixes, *entries)] + _link_chain(executable)
    roots: list[Path] = []
    for path in sorted({place for item in wanted for place in (item, item.resolve())}):
        if path.exists() and not any(path.is_relative_to(root) for root in roots):
            roots.append(path)
    return PythonEnvironment(executable, tuple(roots))


def _link_chain(executable: Path) -> list[Path]:
    """Return an executable and each link on the way to what it really is."""
    chain = [executable]
    while chain[-1].is_symlink() and len(chain) < 40:  # as many as Linux follows
        target = chain[-1].parent / os.readlink(chain[-1])
        chain.append(Path(os.path.normpath(target)))
    return chain
