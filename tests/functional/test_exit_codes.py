"""What the program does with its streams, its signals and wrong usage, whatever the command."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time

import pytest

from graphloc import __version__
from tests.functional.sample_trees import make_big_folder


def test_version_and_help(cli):
    assert cli("--version").out == f"graphloc {__version__}\n"
    for option in ("-h", "--help"):
        result = cli(option)
        assert result.code == 0
        assert "localize" in result.out
    nothing = cli()
    assert nothing.code == 2
    assert "Usage: graphloc" in nothing.err


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_greeting_imports_nothing_heavy(cli, option):
    env = cli.environment() | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(cli.command(option), env=env, capture_output=True, text=True, check=True)
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not imported & {"numpy", "rich", "networkx", "pydantic", "tree_sitter", "unidiff"}


def test_localizing_imports_only_what_it_uses(cli, shop):
    arguments = ("localize", shop, "--text", "GiftCart", "--format", "json")
    cli(*arguments)
    env = cli.environment() | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(
        cli.command(*arguments), env=env, capture_output=True, text=True, check=True
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "numpy" in imported
    assert not imported & {"rich", "networkx", "pydantic", "unidiff", "rank_bm25", "openai"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["indx"], "no such command 'indx'"),
        (["index", "--bogus"], "--bogus"),
        (["localize", "--level", "line", "--text", "x"], "--level"),
        (["localize", "--format", "xml", "--text", "x"], "--format"),
        (["search"], "QUERY"),
        (["graph", "path", "a.py"], "TO"),
        (["graph", "neighbors", "a.py", "--hops", "0"], "--hops"),
        (["graph", "neighbors", "a.py", "--edge", "calls"], "--edge"),
        (["graph", "export", "--to", "dot"], "--to"),
        (["graph", "export", "--to", "json", "--min-confidence", "2"], "--min-confidence"),
        (["evaluate"], "DATASET"),
        (["evaluate", "x.jsonl", "--engine", "slurm"], "--engine"),
        (["index", "nowhere"], "nowhere does not exist: name the folder of a repository"),
        (["index", "--rev", "no-such-revision", "shop"], "no-such-revision"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(cli, shop, arguments, message):
    result = cli(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert message in result.err
    assert result.err.startswith("graphloc: ")
    assert result.err.count("\n") == 1


def test_debug_shows_the_traceback(cli):
    for arguments in (("index", "nowhere", "--debug"), ("--debug", "index", "nowhere")):
        result = cli(*arguments)
        assert result.code == 2
        assert "Traceback (most recent call last)" in result.err
        assert result.err.splitlines()[-1].startswith("graphloc: nowhere does not exist")


def test_a_closed_pipe_is_no_error(cli, shop):
    (shop / "many.py").write_text("".join(f"def f{n}():\n    pass\n\n" for n in range(20_000)))
    process = cli.start("graph", "export", shop, "--to", "json")
    assert process.stdout.readline().startswith(b'{"schema"')
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
    process.stderr.close()


def test_a_full_disk_under_stdout(cli, shop):
    with open("/dev/full", "wb") as full:
        process = cli.start("search", "cart", shop, "--format", "json", stdout=full)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors == b"graphloc: the output cannot be written: No space left on device\n"


def test_interrupting_ends_all_processes(cli, tmp_path):
    folder = make_big_folder(tmp_path / "folder")
    process = cli.start("index", folder, "--jobs", 2, start_new_session=True)
    wait_for_children(process.pid, 4)  # two workers, and two that look after them
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert errors == b"graphloc: interrupted\n"
    assert_group_is_gone(process.pid)
    assert cli("index", folder, "--jobs", 2).code == 0


def wait_for_children(pid: int, count: int) -> None:
    """Wait until the process has so many descendants."""
    for _ in range(600):
        if len(group_members(pid)) > count:
            return
        time.sleep(0.01)
    raise AssertionError("no worker process was started")


def group_members(group: int) -> list[int]:
    """Processes of a group that still run."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state, _, members = file.read().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(members) == group and state != "Z":
            found.append(int(name))
    return found


def assert_group_is_gone(group: int) -> None:
    for _ in range(500):
        if not group_members(group):
            return
        time.sleep(0.02)
    raise AssertionError(f"still running: {group_members(group)}")


@pytest.mark.parametrize("output_format", ["table", "markdown", "json"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_locale(cli, shop, output_format, encoding):
    (shop / "shop/straße_日本.py").write_text('def grüßen():\n    """Größe – ≥ 5."""\n')
    env = {"PYTHONIOENCODING": encoding, "LANG": "C", "PYTHONUTF8": "0"}
    text = b"gr\xc3\xbc\xc3\x9fen \xe2\x89\xa5 \xe6\x97\xa5\xe6\x9c\xac fails"
    result = cli("localize", shop, "--issue", "-", "--format", output_format, stdin=text, env=env)
    assert result.code == 0
    result.out.encode(encoding, "surrogateescape")
    if output_format == "json":
        first = result.json()["results"][0]["entity"]
        assert first.startswith("shop/straße_日本.py")


def run_on_terminal(cli, *arguments, env=None, columns=80):
    """Output of a run whose streams are a terminal."""
    ours, theirs = pty.openpty()
    environment = cli.environment(
        {"TERM": "xterm-256color", "COLUMNS": str(columns), **(env or {})}
    )
    process = cli.start(*arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    return process.wait(60), b"".join(pieces).decode()


def test_color_is_for_terminals_that_want_it(cli, shop):
    arguments = ("localize", shop, "--text", "GiftCart.total is wrong")
    assert "\x1b" not in cli(*arguments).out
    code, out = run_on_terminal(cli, *arguments)
    assert code == 0
    assert "\x1b[1m" in out
    _, plain = run_on_terminal(cli, *arguments, env={"NO_COLOR": "1"})
    assert "\x1b[36m" in out
    assert "\x1b[36m" not in plain


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_tables_fit_the_terminal(cli, shop, columns):
    for arguments in (
        ("localize", shop, "--text", "GiftCart.total is wrong", "--explain"),
        ("search", "cart", shop),
    ):
        _, out = run_on_terminal(
            cli, *arguments, columns=columns, env={"NO_COLOR": "1", "TERM": "dumb"}
        )
        assert max(map(len, out.splitlines())) <= columns


def test_progress_is_drawn_on_terminals_only(cli, tmp_path):
    folder = make_big_folder(tmp_path / "folder")
    _, out = run_on_terminal(cli, "index", folder, "--jobs", 1)
    assert "Reading files" in out
    result = cli("index", folder, "--index-dir", tmp_path / "index")
    assert result.err == ""
    assert "Reading files" not in result.out
