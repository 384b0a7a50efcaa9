"""What we write, git applies; what git writes, we read."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repair.patch import EditStatus, FileChange, Patch, apply_edits, build_patch, parse_unified_diff
from repair.patch.quoting import quote_path, unquote_path

_LINES = st.lists(
    st.sampled_from([b"a", b"b", b"", b"c  ", b"\tx", b"--- a", b"+++ b", b"@@ -1 +1 @@", b"\xff"]),
    max_size=12,
)
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
_CONTENTS = st.builds(
    lambda lines, end, cut: end.join(lines) + (b"" if cut or not lines else end),
    _LINES,
    _ENDS,
    st.booleans(),
) | st.binary(max_size=40)
_SIDES = st.none() | _CONTENTS
_SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_SLOW
@given(old=_SIDES, new=_SIDES)
def test_git_applies_the_diff_of_any_two_contents(git_apply, old, new) -> None:
    patch = build_patch([FileChange("dir/f.txt", old, new)])
    before = {} if old is None else {"dir/f.txt": old}
    after = {} if new is None else {"dir/f.txt": new}
    if old == new:
        assert patch == Patch((), b"")
    else:
        assert git_apply(before, patch) == after


@pytest.mark.parametrize(
    "path",
    [
        "with space.py",
        'quo"te.py',
        "tab\there.py",
        "new\nline.py",
        "übung/漢字.py",
        "back\\slash.py",
        "a/b.py",
        "b/a b/b/x.py",
        "bytes\udcff.py",
        "-dash.py",
    ],
)
def test_names_of_all_sorts(git_apply, path: str) -> None:
    old, new = b"x\ny\n", b"x\nz\n"
    changes = {
        "change": (old, new),
        "new": (None, new),
        "gone": (old, None),
        "binary": (b"\0", new),
    }
    for before, after in changes.values():
        patch = build_patch([FileChange(path, before, after)])
        result = git_apply({} if before is None else {path: before}, patch)
        assert result == ({} if after is None else {path: after})
    assert unquote_path(quote_path(path).decode()) == path


def test_many_files_and_hunks_apply_at_once(git_apply) -> None:
    old = b"".join(b"line %d\n" % i for i in range(60))
    new = old.replace(b"line 3\n", b"").replace(b"line 30\n", b"x\ny\n") + b"end"
    files = {"a.txt": old, "b.txt": b"", "c.bin": b"\0\1" * 500, "gone.txt": b"x"}
    after = {"a.txt": new, "b.txt": b"x\n", "c.bin": b"\0\2" * 700, "n/new.txt": b"n\r\n"}
    paths = files.keys() | after.keys()
    patch = build_patch(FileChange(path, files.get(path), after.get(path)) for path in paths)
    assert patch.diff.count(b"\n@@ ") == 6
    assert git_apply(files, patch) == after


def test_an_empty_file_comes_and_goes(git_apply) -> None:
    assert git_apply({}, build_patch([FileChange("e.py", None, b"")])) == {"e.py": b""}
    assert git_apply({"e.py": b""}, build_patch([FileChange("e.py", b"", None)])) == {}


def _git_diff(root: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    for name, files in (("old", before), ("new", after)):
        for path, data in files.items():
            target = root / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        (root / name).mkdir(exist_ok=True)
    git = ["git", "--git-dir", root / ".git", "--work-tree"]
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run([*git, root / "old", "add", "-A"], check=True)
    done = subprocess.run(
        [*git, root / "new", "-c", "core.quotePath=true", "diff", "--no-renames"],
        check=True,
        capture_output=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape")


_TEXT = st.builds(
    lambda lines, cut: b"\n".join(lines) + (b"" if cut or not lines else b"\n"),
    st.lists(
        st.sampled_from([b"a", b"b", b"", b"c  ", b"\tx", b"-- a", b"++ b", b"@@"]), max_size=9
    ),
    st.booleans(),
)


@_SLOW
@given(old=_TEXT, new=_TEXT)
def test_diffs_of_git_apply_to_their_old_side(tmp_path_factory, old: bytes, new: bytes) -> None:
    if old == new:
        return
    text = _git_diff(tmp_path_factory.mktemp("d"), {"p q/ü.txt": old}, {"p q/ü.txt": new})
    outcome = apply_edits({"p q/ü.txt": old}, parse_unified_diff(text))
    assert outcome.status is EditStatus.APPLIED, (outcome, text)
    assert outcome.patch is not None
    assert outcome.patch.files == {"p q/ü.txt": new}


def test_a_deletion_of_git_is_read(tmp_path: Path) -> None:
    text = _git_diff(
        tmp_path, {"gone.txt": b"x\n", "empty.txt": b"", "keep": b"k\n"}, {"keep": b"k\n"}
    )
    outcome = apply_edits({"gone.txt": b"x\n", "empty.txt": b""}, parse_unified_diff(text))
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {"gone.txt": None, "empty.txt": None}
