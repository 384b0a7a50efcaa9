"""What holds for any text at all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphloc.issue import read_issue
from graphloc.issue.characters import clean_text
from indexes.errors import EmptyIssueError

_PIECES = [
    "```", "```python", "~~~", "`", "``", "> ", ">>> ", "... ", "    ", "\t", "\n", "\n\n", "\r\n",
    "# ", "**", "<!--", "-->", "<pre>", "</pre>", "<details>", "{{{", "}}}", "{code}", "- [x] ",
    "Traceback (most recent call last):\n", '  File "a/b.py", line 3, in go\n', "    x()\n",
    "KeyError: 'k'\n", "E   ValueError: bad\n", "a.py:3: in f\n", "a.py:3: ValueError\n",
    "----> 3 x\n", "Cell In[1], line 1\n", "~/x/y.py in f(a)\n", "  | ", "\\n", '\\"', "\x1b[1m",
    "https://github.com/o/r/blob/m/a.py#L1", "https://[", "src/x.py", "C:\\x\\y.py", "x.y.z()",
    "snake_case", "CamelCase", "--opt-ion", "key=", "@deco", "A#b", "a::b", "'three words here'",
    "import a.b as c\n", "from a import (b,\n", "def f(:\n", "class A:\n", "(", "[", "\ud800",
    "\x00",
    "é", "中文", "python: 3.1\n", "### Environment\n", "_No response_", "line 3 of ", "ERROR: ",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))


@settings(max_examples=300, deadline=None)
@given(texts)
def test_reads_any_text_alike_each_time(text: str) -> None:
    try:
        issue = read_issue(text)
    except EmptyIssueError:
        assert not clean_text(text).strip()
        return
    assert issue == read_issue(text)
    issue.searched_text.encode()


@settings(max_examples=300, deadline=None)
@given(texts.map(lambda text: "T\n" + text))
def test_what_is_extracted_stands_in_the_text(text: str) -> None:
    issue = read_issue(text)
    cleaned = clean_text(text)
    flat = re.sub(r"[\\/]+", "/", cleaned)
    for identifier in issue.identifiers:
        assert all(part in cleaned for part in re.split(r"\W+", identifier.name))
    for mention in issue.paths:
        assert mention.text in cleaned
    for frame in issue.frames:
        assert all(part in flat for part in frame.path.split("/"))
        assert frame.line is None or str(frame.line) in cleaned
    for error in issue.errors:
        assert error.type in cleaned
    for link in issue.permalinks:
        assert link.url in cleaned


@settings(max_examples=100, deadline=None)
@given(texts.map(lambda text: "T\n" + text))
def test_positions_count_up_from_the_failure(text: str) -> None:
    by_traceback: dict[int, list[int]] = {}
    for frame in read_issue(text).frames:
        by_traceback.setdefault(frame.traceback, []).append(frame.position)
    assert sorted(by_traceback) == list(range(len(by_traceback)))
    for positions in by_traceback.values():
        assert sorted(positions) == list(range(len(positions)))


_REPEATED = [
    ">", "a.a.a.", "```\n", "`", "(", "((\n", "<!--", "<!--\n", "<!-- -->", "<pre>\n", "{{{\n",
    "a <pre>x</pre>", "# ", "--", "**", 'File "', 'File "a", line 1\n', "http://", "https://a)",
    "'a b ", "E  A: b\n", "not ", "\n.a", "Error", "\\n", "\x1b[", "    a\n", ">>> a\n",
    "I read ", "x: 1.0\n", "a/b.py ", "- [ ] ", " `a",
]  # fmt: skip


@pytest.mark.parametrize("piece", _REPEATED)
def test_long_repetitions_end(piece: str) -> None:
    """100 kB each: with a quadratic pattern these would run for minutes."""
    issue = read_issue("T\n" + piece * (100_000 // len(piece)))
    assert issue.title == "T"
