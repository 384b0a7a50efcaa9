"""Edits meet files: how forgiving matching is, what it must never touch, what each failure is."""

from __future__ import annotations

import codecs

import pytest

from repair.patch import Edit, EditKind, EditStatus, apply_edits, apply_reply

CODE = (
    "class Stack:\n    def push(self, item):\n        self.items.append(item)\n\n"
    "    def pop(self):\n        return self.items.pop(0)\n"
)


def applied(files: dict[str, bytes], *edits: Edit) -> dict[str, bytes | None]:
    outcome = apply_edits(files, edits)
    assert outcome.status is EditStatus.APPLIED, outcome
    assert outcome.patch is not None
    return outcome.patch.files


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        pytest.param(
            "        return self.items.pop(0)\n", "        return self.items.pop()\n", id="exact"
        ),
        pytest.param(
            "        return   self.items.pop(0)  \n",
            "        return self.items.pop()\n",
            id="white space inside and behind",
        ),
        pytest.param(
            "return self.items.pop(0)\n", "return self.items.pop()\n", id="no indentation"
        ),
        pytest.param(
            "\n  def pop(self):\n      return self.items.pop(0)\n\n",
            "\n  def pop(self):\n      return self.items.pop()\n\n",
            id="shifted, with blank lines around",
        ),
        pytest.param(
            "            return self.items.pop(0)\n",
            "            return self.items.pop()\n",
            id="indented too deep",
        ),
    ],
)
def test_matching_forgives_white_space(search: str, replace: str) -> None:
    files = applied({"s.py": CODE.encode()}, Edit("s.py", search, replace))
    assert files == {"s.py": CODE.replace("pop(0)", "pop()").encode()}


def test_context_lines_keep_the_files_own_white_space() -> None:
    old = b"x = 1   \ny =\t2\nz = 3\n"
    files = applied({"m.py": old}, Edit("m.py", "x = 1\ny = 2\nz = 3\n", "x = 1\ny = 2\nz = 4\n"))
    assert files["m.py"] == b"x = 1   \ny =\t2\nz = 4\n"


def test_added_lines_move_with_a_shifted_match() -> None:
    edit = Edit(
        "s.py",
        "def pop(self):\n    return self.items.pop(0)\n",
        "def pop(self):\n    if not self.items:\n        raise IndexError\n"
        "    return self.items.pop()\n",
    )
    new = applied({"s.py": CODE.encode()}, edit)["s.py"]
    assert new is not None
    assert b"        if not self.items:\n            raise IndexError\n        return" in new


def test_tabs_of_the_file_are_kept_when_the_edit_is_bare() -> None:
    old = b"def f():\n\tif a:\n\t\treturn 1\n"
    new = applied({"m.py": old}, Edit("m.py", "return 1\n", "return 2\n"))["m.py"]
    assert new == b"def f():\n\tif a:\n\t\treturn 2\n"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("has_end", [True, False])
def test_line_ends_stay(newline: bytes, has_end: bool) -> None:
    lines = [b"a = 1", b"b = 2", b"c = 3"]
    old = newline.join(lines) + (newline if has_end else b"")
    for index, line in enumerate(lines):
        text = line.decode()
        edit = Edit("m.py", f"{text}\n", f"{text}0\nx = 9\n")
        expected = newline.join([*lines[:index], line + b"0", b"x = 9", *lines[index + 1 :]])
        assert applied({"m.py": old}, edit)["m.py"] == expected + (newline if has_end else b"")


def test_mixed_line_ends_stay_line_by_line() -> None:
    old = b"a = 1\r\nb = 2\nc = 3\rd = 4\r\n"
    new = applied({"m.py": old}, Edit("m.py", "b = 2\nc = 3\n", "b = 2\nc = 5\n"))["m.py"]
    assert new == b"a = 1\r\nb = 2\nc = 5\nd = 4\r\n"


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(codecs.BOM_UTF8 + "é = 1\nb = 2\n".encode(), id="mark"),
        pytest.param(b"# -*- coding: latin-1 -*-\ns = '\xe9'\nb = 2\n", id="latin-1"),
        pytest.param("é = 1\nb = 2\n".encode("utf-16"), id="utf-16"),
        pytest.param(
            codecs.BOM_UTF16_BE + "é = 1\nb = 2\n".encode("utf-16-be"), id="utf-16, big end first"
        ),
        pytest.param(b"s = '\xff\xfe\x81'\nb = 2\n", id="no encoding at all"),
        pytest.param(b"s = 1\x0c\x0b\x1c\xc2\x85\nb = 2\n", id="odd separators"),
    ],
)
def test_encodings_stay(old: bytes) -> None:
    new = applied({"m.txt": old}, Edit("m.txt", "b = 2\n", "b = 3\n"))["m.txt"]
    assert new == old.replace(b"2", b"3")


def test_a_diff_can_change_the_final_line_end() -> None:
    add = "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"
    cut = "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n"
    for old, diff, new in ((b"x", add, b"x\n"), (b"x\n", cut, b"x")):
        outcome = apply_reply({"m.txt": old}, diff)
        assert outcome.patch is not None, outcome
        assert outcome.patch.files == {"m.txt": new}


def test_later_edits_see_earlier_ones() -> None:
    files = applied(
        {"m.py": b"a = 1\n"},
        Edit("m.py", "a = 1\n", "a = 2\nb = 1\n"),
        Edit("m.py", "b = 1\n", "b = 3\n"),
    )
    assert files == {"m.py": b"a = 2\nb = 3\n"}


def test_files_come_go_and_move() -> None:
    files = {"old.py": b"x = 1\n", "gone.py": b"y = 1\n"}
    edits = (
        Edit("new.py", "", "z = 1\n"),
        Edit("gone.py", "y = 1\n", "", kind=EditKind.DELETE),
        Edit("old.py", "", "", kind=EditKind.RENAME, new_path="pkg/moved.py"),
        Edit("pkg/moved.py", "x = 1\n", "x = 2\n"),
    )
    assert applied(files, *edits) == {
        "gone.py": None,
        "new.py": b"z = 1\n",
        "old.py": None,
        "pkg/moved.py": b"x = 2\n",
    }


def test_a_right_line_number_tells_equal_places_apart() -> None:
    old = b"x\ny\nx\n"
    assert applied({"m.txt": old}, Edit("m.txt", "x\n", "z\n", line=3)) == {"m.txt": b"x\ny\nz\n"}
    wrong = apply_edits({"m.txt": old}, [Edit("m.txt", "x\n", "z\n", line=2)])
    assert wrong.status is EditStatus.AMBIGUOUS


def test_a_name_with_a_diff_prefix_is_found() -> None:
    assert applied({"m.py": b"a = 1\n"}, Edit("a/m.py", "a = 1\n", "a = 2\n")) == {
        "m.py": b"a = 2\n"
    }
    both = {"a/m.py": b"a = 1\n", "m.py": b"a = 1\n"}
    assert applied(both, Edit("a/m.py", "a = 1\n", "a = 2\n")) == {"a/m.py": b"a = 2\n"}


@pytest.mark.parametrize(
    ("edit", "status", "part"),
    [
        (Edit("m.py", "b = 1\n", "b = 2\n"), EditStatus.DOES_NOT_MATCH, "first missing: 'b = 1'"),
        (Edit("m.py", "pass\n", "return\n"), EditStatus.AMBIGUOUS, "2 places match, at lines 3, 5"),
        (Edit("m.py", "a = 1\n", "a = (\n"), EditStatus.DOES_NOT_PARSE, "line 1"),
        (Edit("m.py", "a = 1\n", "a = 1\n"), EditStatus.NO_CHANGE, "stay"),
        (Edit("n.py", "a = 1\n", "a = 2\n"), EditStatus.UNKNOWN_FILE, "no such file"),
        (Edit("../m.py", "a = 1\n", "a = 2\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (Edit("/etc/passwd", "", "x\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (Edit("pkg/../../m.py", "", "x\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (Edit(".git/config", "", "x\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (Edit("sub/.GIT/hooks/x", "", "x\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (Edit("C:\\x.py", "", "x\n"), EditStatus.OUTSIDE_REPOSITORY, "leads out"),
        (
            Edit("m.py", "", "", kind=EditKind.RENAME, new_path="../x.py"),
            EditStatus.OUTSIDE_REPOSITORY,
            "leads out",
        ),
        (Edit("l.py", "s = 1\n", "s = '→'\n"), EditStatus.MALFORMED, "has no '→'"),
        (Edit("m.py", "", "x = 1\n"), EditStatus.DOES_NOT_MATCH, "nothing to search for"),
        (Edit("m.py", "", "x = 1\n", kind=EditKind.CREATE), EditStatus.DOES_NOT_MATCH, "exists"),
        (Edit("m.py", "q\n", "", kind=EditKind.DELETE), EditStatus.DOES_NOT_MATCH, "other lines"),
    ],
)
def test_failures_have_names(edit: Edit, status: EditStatus, part: str) -> None:
    files = {
        "m.py": b"a = 1\nif a:\n    pass\nelse:\n    pass\n",
        "l.py": b"# coding: latin-1\ns = 1\n",
    }
    outcome = apply_edits(files, [edit])
    assert (outcome.status, outcome.patch) == (status, None)
    assert part in outcome.message


def test_all_edits_or_none() -> None:
    outcome = apply_edits(
        {"m.py": b"a = 1\n"}, [Edit("m.py", "a = 1\n", "a = 2\n"), Edit("m.py", "zz\n", "y\n")]
    )
    assert outcome.status is EditStatus.DOES_NOT_MATCH
    assert outcome.patch is None


def test_a_file_that_never_parsed_need_not_parse() -> None:
    files = applied({"py2.py": b"print 'a'\nx = 1\n"}, Edit("py2.py", "x = 1\n", "x = 2\n"))
    assert files == {"py2.py": b"print 'a'\nx = 2\n"}


@pytest.mark.parametrize("text", ["", "no edits here", "m.py\n<<<<<<< SEARCH\na\n=======\n"])
def test_replies_without_edits_are_malformed(text: str) -> None:
    assert apply_reply({"m.py": b"a\n"}, text).status is EditStatus.MALFORMED
