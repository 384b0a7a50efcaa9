"""Unified diffs as models write them, and the well-formed ones checked against unidiff."""

from __future__ import annotations

import pytest
from unidiff import PatchSet

from repair.errors import MalformedPatchError
from repair.patch import Edit, EditKind, EditStatus, apply_reply, parse_unified_diff

OLD = (
    b"import os\n\n\ndef area(w, h):\n    size = w + h\n\n    return size\n\n\n"
    b"def name():\n    return os.name\n"
)
NEW = OLD.replace(b"w + h", b"w * h")
BODY = " def area(w, h):\n-    size = w + h\n+    size = w * h\n \n     return size\n"


@pytest.mark.parametrize(
    "diff",
    [
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n{BODY}", id="well formed"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ -90,9 +95,2 @@\n{BODY}", id="wrong numbers"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ -4,1 +4,1 @@\n{BODY}", id="counts too small"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ -4,40 +4,40 @@\n{BODY}\n", id="counts too large"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ ... @@\n{BODY}", id="no numbers"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@\n{BODY}", id="bare header"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n@@ def area(w, h):\n{BODY}", id="named header"),
        pytest.param(f"--- a/m.py\n+++ b/m.py\n{BODY}", id="no header"),
        pytest.param(f"--- m.py\n+++ m.py\n@@ -4,4 +4,4 @@\n{BODY}", id="no prefixes"),
        pytest.param(
            f"--- m.py\t2024-01-01\n+++ m.py\t2024-01-02\n@@ -4,4 +4,4 @@\n{BODY}", id="times"
        ),
        pytest.param(
            f"Fix:\n```diff\n--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n{BODY}```\nDone.", id="fence"
        ),
        pytest.param(
            f"```diff\n--- a/m.py\n+++ b/m.py\n@@ -4 +4 @@\n{BODY}```\nDone.", id="fence, counts"
        ),
        pytest.param(
            "--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n"
            "def area(w, h):\n-    size = w + h\n+    size = w * h\n\n    return size\n",
            id="context without its space",
        ),
        pytest.param(
            "--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n"
            " def  area(w, h):\n-  size = w + h\n+  size = w * h\n",
            id="wrong white space inside",
        ),
        pytest.param(
            "--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n-size = w + h\n+size = w * h\n",
            id="no indentation",
        ),
        pytest.param(
            "diff --git a/m.py b/m.py\nindex 1111111..2222222 100644\n"
            f"--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n{BODY}-- \n2.39.5\n",
            id="mail",
        ),
    ],
)
def test_one_change_in_many_dresses(diff: str) -> None:
    outcome = apply_reply({"m.py": OLD}, diff)
    assert outcome.status is EditStatus.APPLIED, outcome
    assert outcome.patch is not None
    assert outcome.patch.files == {"m.py": NEW}


def test_windows_diffs_apply_to_unix_files() -> None:
    diff = f"--- a/m.py\n+++ b/m.py\n@@ -4,4 +4,4 @@\n{BODY}".replace("\n", "\r\n")
    outcome = apply_reply({"m.py": OLD}, diff)
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {"m.py": NEW}


def test_several_hunks_with_wrong_counts_and_files() -> None:
    diff = (
        "--- a/m.py\n+++ b/m.py\n@@ -1,9 +1,9 @@\n-import os\n+import os.path\n"
        "@@ -50 +50 @@\n-    size = w + h\n+    size = w * h\n"
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,7 @@\n+x = 1\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-y = 1\n"
        "diff --git a/old.py b/name d.py\nsimilarity index 100%\n"
        "rename from old.py\nrename to name d.py\n"
    )
    files = {"m.py": OLD, "gone.py": b"y = 1\n", "old.py": b"z = 1\n"}
    outcome = apply_reply(files, diff)
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {
        "m.py": NEW.replace(b"import os\n", b"import os.path\n"),
        "new.py": b"x = 1\n",
        "gone.py": None,
        "old.py": None,
        "name d.py": b"z = 1\n",
    }


def test_deleted_lines_that_look_like_headers() -> None:
    old = b"select 1\n-- comment\n++ more\nselect 2\n"
    diff = (
        "--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,3 @@\n"
        " select 1\n--- comment\n-++ more\n+++ other\n select 2\n"
    )
    outcome = apply_reply({"q.sql": old}, diff)
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {"q.sql": b"select 1\n++ other\nselect 2\n"}


def test_a_pure_insertion_goes_behind_its_line() -> None:
    diff = "--- a/m.txt\n+++ b/m.txt\n@@ -1,0 +2,1 @@\n+b\n@@ -2,0 +4 @@\n+d\n"
    outcome = apply_reply({"m.txt": b"a\nc\n"}, diff)
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {"m.txt": b"a\nb\nc\nd\n"}


@pytest.mark.parametrize("text", ["", "prose\n+ not a diff\n", "@@ -1 +1 @@\n-a\n+b\n"])
def test_texts_without_a_diff(text: str) -> None:
    with pytest.raises(MalformedPatchError):
        parse_unified_diff(text)


def test_hunks_are_those_that_unidiff_reads() -> None:
    diff = (
        "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,3 @@\n import os\n+import re\n \n"
        f"@@ -4,4 +5,4 @@\n{BODY}"
        "--- a/n.py\n+++ b/n.py\n@@ -7 +7 @@\n-a\n+b\n"
    )
    expected = [
        Edit(
            file.path,
            "".join(str(line.value) for line in hunk if not line.is_added),
            "".join(str(line.value) for line in hunk if not line.is_removed),
            hunk.source_start,
            EditKind.REPLACE,
        )
        for file in PatchSet(diff)
        for hunk in file
    ]
    assert parse_unified_diff(diff) == tuple(expected)


def test_a_diff_of_a_file_with_conflict_marks_is_a_diff() -> None:
    diff = "--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1 @@\n-<<<<<<< HEAD\n x\n"
    outcome = apply_reply({"c.txt": b"<<<<<<< HEAD\nx\n"}, diff)
    assert outcome.patch is not None, outcome
    assert outcome.patch.files == {"c.txt": b"x\n"}
