"""Files that are not as one would wish: each is indexed as far as it goes, and reported."""

from __future__ import annotations

import codecs
import os

import pytest

from tests.functional.sample_trees import commit, git, write

GOOD = "def still_found():\n    pass\n"


def find(cli, folder, name):
    """The one entity of that name."""
    results = cli("search", name, folder, "--kind", "function", "--format", "json").json()[
        "results"
    ]
    (found,) = [result for result in results if result["entity"].endswith(f":{name}")]
    return found


@pytest.mark.parametrize(
    "source",
    [
        b"def broken(:\n    pass\n\n\ndef still_found():\n    pass\n",
        b"if x:\n  y = = 1\n\n\ndef still_found():\n    pass\n",
        b"<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> b\n\n\ndef still_found():\n    pass\n",
    ],
    ids=["parameters", "assignment", "merge conflict"],
)
def test_files_that_do_not_parse_are_indexed_in_part(cli, tmp_path, source):
    folder = write(tmp_path / "folder", {"odd.py": source, "good.py": b"def good():\n    pass\n"})
    result = cli("index", folder, "--json")
    assert result.code == 0
    document = result.json()
    assert document["files"] == 2
    assert {failure["path"] for failure in document["failures"]} == {"odd.py"}
    assert "did not parse" in cli("index", folder).out
    assert find(cli, folder, "still_found")["path"] == "odd.py"
    assert find(cli, folder, "good")["path"] == "good.py"


def test_an_open_bracket_hides_what_follows_but_is_reported(cli, tmp_path):
    folder = write(tmp_path / "folder", {"odd.py": f"x = [1,\n\n{GOOD}", "good.py": GOOD})
    document = cli("index", folder, "--json").json()
    assert document["files"] == 2
    assert {failure["path"] for failure in document["failures"]} == {"odd.py"}
    found = cli("search", "still_found", folder, "--format", "json").json()["results"]
    assert "good.py:still_found" in {result["entity"] for result in found}


def test_python_2(cli, tmp_path):
    source = "print 'hello', 1\nexec 'x' in d\nx = 0777L\n\n\ndef still_found((a, b)):\n"
    source += "    try:\n        raise E, 'x'\n    except E, e:\n        print >>f, `e`\n"
    folder = write(tmp_path / "folder", {"odd.py": source, "good.py": "def good():\n    pass\n"})
    assert cli("index", folder).code == 0
    assert find(cli, folder, "good")["path"] == "good.py"
    assert find(cli, folder, "still_found")["start_line"] == 6


def test_localize_tells_once_that_files_did_not_parse(cli, tmp_path):
    folder = write(tmp_path / "folder", {"odd.py": b"def broken(:\n\n" + GOOD.encode()})
    arguments = ("localize", folder, "--text", "still_found is wrong")
    assert "1 files did not parse whole" in cli(*arguments).err
    assert cli(*arguments).err == ""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (codecs.BOM_UTF8 + b"# bom\n" + GOOD.encode(), 2),
        (GOOD.encode("utf-16"), 1),
        (codecs.BOM_UTF16_BE + GOOD.encode("utf-16-be"), 1),
        ("# -*- coding: latin-1 -*-\nname = 'Größe'\n".encode("latin-1") + GOOD.encode(), 3),
        (b"# coding: no-such-codec\n" + GOOD.encode(), 2),
        (b"x = '\xff\xfe'\n" + GOOD.encode(), 2),
        (b"a = 1\r\nb = 2\r\n" + GOOD.replace("\n", "\r\n").encode(), 3),
        (b"a = 1\rb = 2\r" + GOOD.replace("\n", "\r").encode(), 3),
        (b"a = 1\n\x0c\n" + GOOD.encode(), 3),
        (b"a = 1\nb = '\x00'\n" + GOOD.encode(), 3),
        (b"a = 1" + b"\n" * 70_000 + GOOD.encode(), 70_001),
        (b"# remark\n" * 40_000 + GOOD.encode(), 40_001),
    ],
    ids=[
        "utf-8 mark",
        "utf-16",
        "utf-16 big endian",
        "latin-1",
        "unknown coding",
        "not utf-8",
        "crlf",
        "lone cr",
        "form feed",
        "nul",
        "many lines",
        "many comments",
    ],
)
def test_encodings_and_line_ends(cli, tmp_path, source, line):
    folder = write(tmp_path / "folder", {"odd.py": source})
    found = find(cli, folder, "still_found")
    assert (found["start_line"], found["end_line"]) == (line, line + 1)


def test_a_generated_file_of_ten_megabytes(cli, tmp_path):
    rows = "".join(f"    ({n}, 'entry number {n}', [0.5, {n}, None]),\n" for n in range(230_000))
    source = f"TABLE = [\n{rows}]\n\n\n{GOOD}"
    assert len(source) > 10_000_000
    folder = write(tmp_path / "folder", {"data.py": source, "good.py": "def good():\n    pass\n"})
    result = cli("index", folder)
    assert result.code == 0
    assert "data.py:1: larger than" in result.out
    assert find(cli, folder, "good")["path"] == "good.py"


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 5_000 + "1" + ")" * 5_000 + "\n",
        "x = " + "[" * 5_000 + "]" * 5_000 + "\n",
        "x = " + "-" * 5_000 + "1\n",
        "x = a" + ".b()" * 5_000 + "\n",
        "x = 1" + " + 1" * 5_000 + "\n",
        "x = " + "lambda: " * 5_000 + "1\n",
        "".join("  " * depth + f"def f{depth}():\n" for depth in range(90)) + "  " * 90 + "pass\n",
        "".join("\t" * depth + "if x:\n" for depth in range(5_000)) + "\t" * 5_000 + "pass\n",
        "if a:\n    pass\n" + "elif b:\n    pass\n" * 5_000,
        "x = f(" * 5_000 + ")" * 5_000 + "\n",
    ],
    ids=[
        "parentheses",
        "lists",
        "signs",
        "chained calls",
        "sums",
        "lambdas",
        "functions",
        "blocks",
        "elif",
        "calls",
    ],
)
def test_deep_nesting(cli, tmp_path, source):
    folder = write(tmp_path / "folder", {"deep.py": f"{source}\n\n{GOOD}", "good.py": GOOD})
    result = cli("index", folder, "--json")
    assert result.code == 0, result.err
    assert result.json()["files"] == 2
    found = cli("search", "still_found", folder, "--format", "json").json()["results"]
    assert "good.py:still_found" in {result["entity"] for result in found}


NAMES = [
    b"a b.py",
    b"new\nline.py",
    b"tab\there.py",
    b"quote\"'.py",
    b"back\\slash.py",
    b"caf\xc3\xa9.py",
    b"caf\xe9.py",
    b"-dash.py",
    b"semi;colon:x.py",
    "日本語.py".encode(),
    b"esc\x1b[31m.py",
    b"a|b`c.py",
]


@pytest.fixture
def odd_names(tmp_path):
    """A folder of files with odd names, each with a function of its own."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"def odd_%d():\n    pass\n" % number)
    return folder


@pytest.mark.parametrize("with_git", [True, False])
def test_odd_names(cli, odd_names, with_git):
    if with_git:
        git(odd_names, "init", "--quiet")
        commit(odd_names)
    revision = ("--rev", "HEAD") if with_git else ()
    assert cli("index", odd_names, "--json", *revision).json()["files"] == len(NAMES)
    exported = cli("graph", "export", odd_names, "--to", "json", *revision).json()
    assert len(exported["nodes"]) == 1 + 2 * len(NAMES)
    assert cli("graph", "export", odd_names, "--to", "graphml", *revision).code == 0
    text = " ".join(f"odd_{number}" for number in range(len(NAMES)))
    for output_format in ("json", "table", "markdown"):
        options = ("--top-k", 20, "--format", output_format, "--level", "function")
        result = cli("localize", odd_names, "--text", text, *options, *revision)
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "new\\nline.py" in result.out.replace("\\\\", "\\")


def test_printed_names_are_understood(cli, odd_names):
    results = cli("search", "odd_1", odd_names, "--format", "json").json()["results"]
    (printed,) = [r["entity"] for r in results if r["entity"].endswith(":odd_1")]
    assert printed == "new\\nline.py:odd_1"
    assert cli("graph", "neighbors", printed, odd_names).code == 0
    raw = b"caf\xe9.py:odd_6"
    assert cli("graph", "neighbors", raw, odd_names).code == 0
    assert cli("graph", "neighbors", "caf\\xe9.py:odd_6", odd_names).code == 0
    assert cli("graph", "neighbors", b"caf\xc3\xa9.py:odd_5", odd_names).code == 0


def test_control_characters_in_sources_do_not_reach_the_terminal(cli, tmp_path):
    source = (
        b'def shown():\n    """\x1b]0;evil\x07 docs"""\n    raise E("bad \x1b[31m message here")\n'
    )
    folder = write(tmp_path / "folder", {"a.py": source})
    for output_format in ("table", "markdown"):
        text = "shown: bad \x1b[31m message here"
        result = cli("localize", folder, "--text", text, "--format", output_format, "--explain")
        assert result.code == 0
        assert "\x1b" not in result.out
