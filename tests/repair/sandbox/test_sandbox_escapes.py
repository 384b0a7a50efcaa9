"""What code under test may try: contained, or declared as not contained, kind by kind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from repair.errors import UnsafePathError
from repair.sandbox import MIB, RunResult, SandboxKind, StopReason, Threat, Workspace

from .conftest import IMAGE, REPOSITORY, Bench

OUTSIDE_TEXT = "the user's own"


@dataclass(frozen=True)
class Scene:
    """What surrounds an attempt: a file outside, a server and a process of the user."""

    outside: Path
    port: int
    neighbour: subprocess.Popen[bytes]
    workspace: Workspace
    result: RunResult


@dataclass(frozen=True)
class Attempt:
    """A script, the limits it runs under and what has to be true afterwards."""

    threat: Threat
    script: str
    contained: Callable[[Scene], bool]
    limits: dict[str, float]


def attempt(
    threat: Threat, name: str, script: str, contained: Callable[[Scene], bool], **limits: float
) -> object:
    return pytest.param(Attempt(threat, script, contained, limits), id=f"{threat.value}: {name}")


def _is_symlink_proof(scene: Scene) -> bool:
    """Read and write where the links are, close the workspace, and look outside."""
    name = scene.outside.name
    for path in ("calc.py", f"folder/{name}", "pipe"):
        with pytest.raises(UnsafePathError):
            scene.workspace.read(path)
    with pytest.raises(UnsafePathError):
        scene.workspace.write(f"folder/{name}", b"changed")
    scene.workspace.write("calc.py", b"changed")
    written = scene.workspace.read("calc.py")
    scene.workspace.close()
    return written == b"changed" and scene.outside.read_text() == OUTSIDE_TEXT


_PRELUDE = "import os, signal, socket, sys, time\noutside, port = sys.argv[1], int(sys.argv[2])\n"

ATTEMPTS = [
    attempt(
        Threat.NETWORK,
        "a server of this machine",
        "try:\n socket.create_connection(('127.0.0.1', port), 2)\n print('reached')\n"
        "except OSError as e:\n print('refused', e)",
        lambda scene: "refused" in scene.result.stdout,
    ),
    attempt(
        Threat.NETWORK,
        "a route to elsewhere",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try:\n s.connect(('192.0.2.1', 9))\n print('reached')\n"
        "except OSError as e:\n print('refused', e)",
        lambda scene: "refused" in scene.result.stdout,
    ),
    attempt(
        Threat.OUTSIDE_WRITES,
        "files and kernel settings",
        "for p in (outside, outside + '.new', '/usr/x', '/etc/passwd', '/x', '/dev/x',\n"
        "          '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/x'):\n"
        " try:\n  os.makedirs(os.path.dirname(p), exist_ok=True)\n  open(p, 'a').write('')\n"
        "  print('wrote', p) if not p.startswith(outside) else None\n"
        " except OSError:\n  pass\n"
        "print('done')",
        lambda scene: (
            scene.result.stdout == "done\n"
            and scene.outside.read_text() == OUTSIDE_TEXT
            and not Path(f"{scene.outside}.new").exists()
        ),
    ),
    attempt(
        Threat.OUTSIDE_WRITES,
        "shared temporary folders",
        "for d in ('/tmp', '/var/tmp', '/dev/shm'):\n"
        " try:\n  open(d + '/' + sys.argv[3], 'w').write('x')\n except OSError:\n  pass",
        lambda scene: (
            not any(
                Path(folder, scene.outside.name).exists()
                for folder in ("/tmp", "/var/tmp", "/dev/shm")
            )
        ),
    ),
    attempt(
        Threat.SECRETS,
        "files of the user and the system",
        f"for p in (outside, '/etc/shadow', '/proc/1/environ', {str(Path.home())!r} + '/.profile',"
        f" {str(Path.home())!r} + '/.bashrc'):\n"
        " try:\n  print('read', p, open(p).read(50))\n except OSError:\n  pass\n"
        "for p in ('/home', '/srv', '/mnt', '/media', '/boot'):\n"
        " try:\n  print('listed', p) if os.listdir(p) else None\n except OSError:\n  pass\n"
        "print('variables', 'GRAPHLOC_SECRET' in os.environ)",
        lambda scene: (
            OUTSIDE_TEXT not in scene.result.stdout
            and "root:" not in scene.result.stdout
            and "listed" not in scene.result.stdout
            and "/.profile" not in scene.result.stdout
            and "/.bashrc" not in scene.result.stdout
            and "GRAPHLOC_SECRET" not in scene.result.stdout
            and "variables False" in scene.result.stdout
        ),
    ),
    attempt(
        Threat.HOST_PROCESSES,
        "signals to everyone",
        "for pid in (int(p) for p in os.listdir('/proc') if p.isdigit()):\n"
        " try:\n  print(open(f'/proc/{pid}/cmdline').read())\n"
        "  os.kill(pid, 9) if pid not in (1, 2, os.getpid(), os.getppid()) else None\n"
        " except OSError:\n  pass",
        lambda scene: (
            scene.neighbour.poll() is None
            and "neighbour" not in scene.result.stdout
            and scene.result.exit_code == 0
        ),
    ),
    attempt(
        Threat.FORK_BOMB,
        "children that wait",
        "n = 0\ntry:\n"
        " while n < 3000:\n  pid = os.fork()\n  n += 1\n  pid or (time.sleep(60), os._exit(0))\n"
        "except OSError:\n pass\nprint(n, flush=True)",
        lambda scene: int(scene.result.stdout) <= 40,
    ),
    attempt(
        Threat.FORK_BOMB,
        "children that fork",
        "while True:\n try:\n  os.fork()\n except OSError:\n  pass",
        lambda scene: scene.result.stopped_by in (StopReason.WALL_CLOCK, StopReason.PROCESSES),
        wall_s=2,
    ),
    attempt(
        Threat.MEMORY_BOMB,
        "one process, bit by bit",
        "kept = []\nwhile True:\n kept.append(bytearray(b'x') * (8 << 20))\n time.sleep(0.01)",
        lambda scene: scene.result.out_of_memory,
        memory_bytes=200 * MIB,
    ),
    attempt(
        Threat.MEMORY_BOMB,
        "one process, all at once",
        "kept = bytearray(1 << 40)\nprint('had it')",
        lambda scene: not scene.result.is_success and "had it" not in scene.result.stdout,
        memory_bytes=200 * MIB,
    ),
    attempt(
        Threat.MEMORY_BOMB,
        "many processes, each a little",
        "for _ in range(8):\n"
        " if not os.fork():\n  kept = bytearray(b'x') * (60 << 20)\n  time.sleep(60)\n"
        "time.sleep(60)",
        lambda scene: scene.result.out_of_memory,
        memory_bytes=200 * MIB,
    ),
    attempt(
        Threat.OUTPUT_FLOOD,
        "ten gigabytes",
        "block = b'x' * (1 << 20)\nfor _ in range(10240):\n os.write(1, block)",
        lambda scene: (
            scene.result.is_truncated
            and len(scene.result.stdout) < MIB + 100
            and "bytes left out" in scene.result.stdout
        ),
        wall_s=4,
    ),
    attempt(
        Threat.LARGE_FILES,
        "a file without end",
        "with open('big', 'wb') as f:\n while True:\n  f.write(b'x' * (1 << 20))",
        lambda scene: (
            not scene.result.is_success
            and (scene.workspace.root / "big").stat().st_size <= 20 * MIB
        ),
        file_bytes=20 * MIB,
    ),
    attempt(
        Threat.ENDLESS_RUN,
        "SIGTERM ignored",
        "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):\n"
        " signal.signal(s, signal.SIG_IGN)\n"
        "print('on', flush=True)\nwhile True:\n time.sleep(1)",
        lambda scene: (
            scene.result.stopped_by is StopReason.WALL_CLOCK
            and scene.result.timed_out
            and scene.result.stdout == "on\n"
        ),
        wall_s=1.5,
    ),
    attempt(
        Threat.ENDLESS_RUN,
        "processor time in several processes",
        "[os.fork() for _ in range(2)]\nwhile True:\n pass",
        lambda scene: scene.result.stopped_by is StopReason.CPU_TIME and scene.result.cpu_s > 0.5,
        cpu_s=1,
    ),
    attempt(
        Threat.DAEMONS,
        "double fork into a new session",
        "if not os.fork():\n os.setsid()\n if not os.fork():\n"
        "  os.close(1)\n  os.close(2)\n"
        "  while True:\n   time.sleep(0.1)\n os._exit(0)\n"
        "time.sleep(0.3)\nprint('done')",
        lambda scene: scene.result.is_success and scene.result.stdout == "done\n",
    ),
    attempt(
        Threat.DAEMONS,
        "one that keeps the output open",
        "if not os.fork():\n os.setsid()\n time.sleep(600)\nprint('done')",
        lambda scene: scene.result.is_success and scene.result.duration_s < 15,
    ),
    attempt(
        Threat.SYMLINKS,
        "links in the place of files and folders",
        "os.remove('calc.py')\nos.symlink(outside, 'calc.py')\n"
        "os.symlink(os.path.dirname(outside), 'folder')\nos.mkfifo('pipe')",
        _is_symlink_proof,
    ),
]


@pytest.mark.parametrize("case", ATTEMPTS)
def test_attempt_is_contained_or_declared(
    case: Attempt,
    bench: Bench,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    protection = bench.sandbox.describe()
    if case.threat not in protection.contained:
        assert bench.sandbox.kind is SandboxKind.LOCAL
        assert case.threat in protection.uncontained
        return
    monkeypatch.setenv("GRAPHLOC_SECRET", OUTSIDE_TEXT)
    outside = tmp_path / f"outside-{bench.word}"
    outside.write_text(OUTSIDE_TEXT)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "neighbour"]) as n,
    ):
        try:
            port = server.getsockname()[1]
            arguments = (str(outside), str(port), outside.name)
            result = bench.run(_PRELUDE + case.script, workspace, *arguments, **case.limits)
            scene = Scene(outside, port, n, workspace, result)
            assert case.contained(scene), result
        finally:
            n.kill()
    assert bench.left() == []
    assert str(workspace.base) not in Path("/proc/self/mounts").read_text()


def test_local_declares_what_it_lets_through(bench: Bench) -> None:
    protection = bench.sandbox.describe()
    assert protection.kind is bench.sandbox.kind
    expected = {Threat.NETWORK, Threat.OUTSIDE_WRITES, Threat.SECRETS, Threat.FORK_BOMB}
    if bench.sandbox.kind is SandboxKind.LOCAL:
        assert protection.uncontained == expected | {Threat.HOST_PROCESSES}
        text = " ".join(protection.caveats)
        for word in ("network", "files", "processes without end", "signal"):
            assert word in text
    else:
        assert not protection.uncontained


_PARENT = """\
import sys
from pathlib import Path
from repair.sandbox import *
kind, image, python, project, place, word = sys.argv[1:]
roots = find_python_environment(Path(sys.executable)).roots
sandbox = open_sandbox(SandboxKind(kind), readonly=roots, image=image)
with Workspace.copy(Path(project), parent=Path(place)) as workspace:
    script = (
        "import os, signal, time\\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n"
        "os.fork() or os.setsid()\\n"
        "open('ready', 'w').close()\\n"
        "time.sleep(600)"
    )
    sandbox.run([python, "-c", script, word], workdir=workspace)
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_the_parent(
    sign: signal.Signals, bench: Bench, project: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    kind, word = bench.sandbox.kind, bench.word
    arguments = [kind, IMAGE, bench.python, str(project), str(place), word]
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, *arguments], cwd=REPOSITORY, stderr=subprocess.PIPE
    ) as parent:
        try:
            _wait_until(lambda: bool(list(place.glob("*/tree/ready"))), parent)
            parent.send_signal(sign)
            _, errors = parent.communicate(timeout=30)
        finally:
            with suppress(ProcessLookupError):
                parent.kill()
    assert parent.returncode in (-sign, 128 + sign), errors
    assert bench.left() == []
    if sign is signal.SIGINT:
        assert list(place.iterdir()) == []
        return
    with Workspace.copy(project, parent=place) as workspace:
        assert list(place.iterdir()) == [workspace.base]


def _wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_command_is_nobody_special(bench: Bench, workspace: Workspace) -> None:
    if bench.sandbox.kind is SandboxKind.LOCAL:
        return
    script = "import os\nprint(os.getuid(), os.getgid(), open('/proc/self/status').read())"
    result = bench.run(script, workspace)
    uid, gid, *_ = result.stdout.split()
    assert uid == gid != "0"
    assert int(uid) == (1000 if os.geteuid() else workspace.owner)
    lines = dict(line.split(":\t", 1) for line in result.stdout.splitlines() if ":\t" in line)
    assert int(lines["CapEff"], 16) == int(lines["CapPrm"], 16) == 0
    assert lines["NoNewPrivs"] == "1"
