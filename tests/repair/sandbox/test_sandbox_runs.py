"""Ordinary commands in each kind of sandbox."""

from __future__ import annotations

import pytest

from repair.errors import SandboxUnavailableError
from repair.patch import FileChange, build_patch
from repair.sandbox import Limits, SandboxKind, Workspace, open_sandbox

from .conftest import Bench


def test_a_projects_tests_run(bench: Bench, workspace: Workspace) -> None:
    command = [bench.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    passed = bench.sandbox.run(command, workdir=workspace)
    assert passed.is_success, passed
    assert "1 passed" in passed.stdout
    source = workspace.read("calc.py")
    assert source is not None
    patch = build_patch([FileChange("calc.py", source, source.replace(b"+", b"-"))])
    workspace.apply(patch)
    failed = bench.sandbox.run(command, workdir=workspace)
    assert (failed.exit_code, failed.stopped_by) == (1, None)
    assert "assert -1 == 3" in failed.stdout
    workspace.revert(patch)
    assert bench.sandbox.run(command, workdir=workspace).is_success
    assert (workspace.source / "calc.py").read_bytes() == source


@pytest.mark.parametrize(
    ("script", "exit_code", "stdout", "stderr"),
    [
        ("print('out')", 0, "out\n", ""),
        ("import sys; print('err', file=sys.stderr); sys.exit(3)", 3, "", "err\n"),
        ("import os; os.kill(os.getpid(), 9)", 137, "", ""),
        ("import os; os.abort()", 134, "", ""),
        ("import sys; print(sys.stdin.read())", 0, "given\n", ""),
        ("import os; print(os.environ['EXTRA'], os.environ['LANG'])", 0, "more C.UTF-8\n", ""),
        ("import os; os.write(1, b'\\xff')", 0, "�", ""),
        ("import os; print(sorted(os.listdir()))", 0, "['calc.py', 'test_calc.py']\n", ""),
        ("import os; open('new', 'w').close(); os.rename('new', 'newer')", 0, "", ""),
        ("import tempfile; tempfile.TemporaryFile().write(b'x')", 0, "", ""),
        ("import multiprocessing as m; m.Queue().put(1)", 0, "", ""),
        ("import threading as t; x = t.Thread(target=print); x.start(); x.join()", 0, "\n", ""),
    ],
)
def test_results(
    bench: Bench, workspace: Workspace, script: str, exit_code: int, stdout: str, stderr: str
) -> None:
    result = bench.sandbox.run(
        [bench.python, "-c", script], workdir=workspace, env={"EXTRA": "more"}, stdin=b"given"
    )
    assert (result.exit_code, result.stdout, result.stderr) == (exit_code, stdout, stderr)
    assert result.stopped_by is None
    assert not result.is_truncated


def test_a_command_that_is_not_there(bench: Bench, workspace: Workspace) -> None:
    result = bench.sandbox.run(["no-such-program"], workdir=workspace)
    assert result.exit_code == 127
    assert "no-such-program" in result.stderr


def test_processor_time_is_measured(bench: Bench, workspace: Workspace) -> None:
    result = bench.run("import time\nwhile time.process_time() < 0.5: pass", workspace)
    assert result.is_success, result
    assert result.cpu_s > 0.4
    assert result.duration_s > 0.4


def test_output_keeps_both_ends(bench: Bench, workspace: Workspace) -> None:
    script = "print('start')\nfor _ in range(10000): print('x' * 99)\nprint('end')"
    command = [bench.python, "-c", script]
    result = bench.sandbox.run(command, workdir=workspace, limits=Limits(output_bytes=1000))
    assert result.is_truncated
    assert result.stdout.startswith("start\n")
    assert result.stdout.endswith("end\n")
    assert "bytes left out" in result.stdout
    assert len(result.stdout) < 1100


def test_no_variable_is_handed_on(
    bench: Bench, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    result = bench.run("import os; print(dict(os.environ))", workspace)
    assert "hush" not in result.stdout


def test_an_unknown_image_is_named(docker_image: str) -> None:
    with pytest.raises(SandboxUnavailableError, match="docker pull no/such"):
        open_sandbox(SandboxKind.DOCKER, image="no/such")
    with pytest.raises(SandboxUnavailableError, match="needs an image"):
        open_sandbox(SandboxKind.DOCKER)


test_an_unknown_image_is_named = pytest.mark.docker(test_an_unknown_image_is_named)
