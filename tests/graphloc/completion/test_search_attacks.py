"""The code searcher's allow-list: what searches passes, what writes, runs or leaves is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphloc.completion.agent.inspection import CodeSearcher
from graphloc.completion.agent.search_commands import PROGRAMS, read_search_command
from graphloc.completion.agent.shell_words import split_pipeline
from graphloc.completion.errors import CommandRefusedError
from repair.sandbox import Workspace, open_sandbox

ATTACKS = [
    "find . -delete",
    "find . -name '*.py' -delete",
    "find . -exec rm {} +",
    "find . -execdir rm {} +",
    "find . -ok rm {} +",
    "find . -fprint stolen.txt",
    "find . -fprintf stolen.txt %p",
    "find . -fls stolen.txt",
    "find -files0-from list -print",
    "find / -name passwd",
    "find .. -name '*.py'",
    "find ./../x",
    "xargs rm",
    "find . -print0 | xargs -0 rm",
    "find . | xargs -I{} sh -c {}",
    "find . | xargs -P 4 grep x",
    "find . | xargs -a list grep x",
    "find . | xargs --arg-file=list grep x",
    "find . | xargs xargs rm",
    "find . | xargs find . -delete",
    "find . | xargs sort",
    "find . | xargs awk 1",
    "find . | xargs tail",
    "find . | xargs -n rm grep x",
    "find . | xargs -- -x rm",
    "find . | xargs",
    "grep x a.py; rm a.py",
    "grep x a.py && rm a.py",
    "grep x a.py || rm a.py",
    "grep x a.py & rm a.py",
    "grep x a.py |& rm",
    "grep x a.py > out",
    "grep x < a.py",
    "grep $(rm a.py) x",
    'grep "$(rm a.py)" x',
    "grep `rm a.py` x",
    'grep "`rm a.py`" x',
    "grep ${HOME} x",
    'grep "$HOME" x',
    "grep $'\\n' x",
    "(rm a.py)",
    "grep x a.py\nrm a.py",
    "grep x a.py\r\nrm a.py",
    "grep 'x\nrm a.py' a.py",
    "grep x \\\nrm",
    "grep x a.py\0rm",
    "grep x 'a.py",
    "grep x a.py \\",
    "grep x a.py |",
    "| grep x",
    "",
    "rm -rf .",
    "sh -c 'rm a.py'",
    "/bin/rm a.py",
    "./grep x",
    "GREP_OPTIONS=x grep x",
    "env rm a.py",
    "grep -f patterns a.py",
    "grep --file=patterns a.py",
    "grep -r x /etc",
    "grep -r x ~/.ssh",
    "grep -r x ../other",
    "grep -r x -- ../other",
    "cat /etc/passwd",
    "cat ../secret",
    "cat tests/../../secret",
    "head -n 5 /etc/passwd",
    "tail -f a.py",
    "tail --follow=name a.py",
    "tail -F a.py",
    "tail --pid=1 a.py",
    "sort -o a.py a.py",
    "sort -oa.py a.py",
    "sort --output=a.py a.py",
    "sort --outp=a.py a.py",
    "sort -ro a.py a.py",
    "sort --compress-program=rm a.py",
    "sort -T /tmp a.py",
    "sort --files0-from=list",
    "uniq a.py b.py",
    "uniq -c a.py b.py",
    "wc --files0-from=list",
    "less -o a.py b.py",
    "less +!rm a.py",
    "less --log-file=a.py b.py",
    "awk 'BEGIN{system(\"rm a.py\")}'",
    "awk 'BEGIN { system (\"rm a.py\") }'",
    "awk 'BEGIN{print 1 > \"a.py\"}'",
    "awk 'BEGIN{print 1 >> \"a.py\"}'",
    "awk '{print $1 > $2}' a.py",
    'awk \'{ print "}" > "a.py" }\' a.py',
    'awk \'/"/{print > "a.py"}\' a.py',
    'awk \'BEGIN{print "rm a.py" | "sh"}\'',
    "awk 'BEGIN{\"rm a.py\" | getline}'",
    "awk 'BEGIN{\"rm a.py\" |& getline x}'",
    "awk 'BEGIN{while((getline x < \"/etc/passwd\")>0) print x}'",
    'awk \'BEGIN{f="system"; @f("rm a.py")}\'',
    "awk '@include \"x\"'",
    "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"}1' a.py",
    "awk -f program.awk a.py",
    "awk -i inplace 1 a.py",
    "awk -l extension 1 a.py",
    "awk -E program a.py",
    "awk -W exec=program",
    "awk -o out 1 a.py",
    "awk --file=program a.py",
    "awk 1 /etc/passwd",
    "awk 1 ../secret",
    "awk -v x",
    "awk",
    "cut -f1 /etc/passwd",
    "x" * 5000,
]
SEARCHES = [
    "grep -rn 'def area' --include=*.py .",
    "grep -rnE 'a|b;c>d' .",
    "grep -A3 -B 2 -e area shapes.py",
    "grep -20 area shapes.py",
    'grep -n "self\\.side$" shapes.py',
    "egrep 'x|y' shapes.py",
    "fgrep area shapes.py",
    "find . -name '*.py' -not -path './tests/*' -type f | head -5",
    "find . \\( -name a.py -o -name b.py \\) -print0 | xargs -0 grep -l area",
    "find . -name *.py | xargs -n 5 grep -n area | sort -u | wc -l",
    "find . | xargs -I{} head -n 1 {}",
    "cat shapes.py | head -n 20 | tail -n +5",
    "less shapes.py",
    "sort -t, -k2,2 -rn shapes.py | uniq -c",
    "cut -d: -f1,2 shapes.py",
    "awk 'NR>=5 && NR<10' shapes.py",
    "awk 'NR>5{print $1}' shapes.py",
    "awk -F: -v n=3 '{print $1, n}' shapes.py",
    "awk '/class/ || /def/ {c += 1} END {print c}' shapes.py",
    "wc -l shapes.py units.py",
]


@pytest.fixture
def searcher(toy: Path) -> Iterator[tuple[CodeSearcher, Workspace]]:
    with Workspace.copy(toy) as workspace:
        yield CodeSearcher(workspace, open_sandbox()), workspace


def tree_of(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_attacks_are_refused_and_change_nothing(
    searcher: tuple[CodeSearcher, Workspace], toy: Path
) -> None:
    tool, workspace = searcher
    before = tree_of(workspace.root)
    for command in ATTACKS:
        with pytest.raises(CommandRefusedError):
            pytest.fail(f"{command!r} gave {tool.call({'command': command})}")
    assert tree_of(workspace.root) == before == tree_of(toy)


@pytest.mark.parametrize("command", SEARCHES)
def test_searches_are_run(command: str, searcher: tuple[CodeSearcher, Workspace]) -> None:
    tool, workspace = searcher
    before = tree_of(workspace.root)
    answer = tool.call({"command": command})
    assert answer
    assert "invalid" not in answer
    assert "not found" not in answer
    assert tree_of(workspace.root) == before


def test_answers_are_what_a_shell_would_give(searcher: tuple[CodeSearcher, Workspace]) -> None:
    tool, _ = searcher
    found = tool.call({"command": "grep -rn 'def area' . --include=*.py | cut -d: -f1,2 | sort -V"})
    assert found == "./shapes.py:9\n./shapes.py:24"
    assert tool.call({"command": "find . -name '*.py' | wc -l"}) == "5"
    assert tool.call({"command": "find . -name '*.py'", "path": "tests"}) == "./test_shapes.py"
    assert tool.call({"command": "grep nothing_like_it shapes.py"}) == "(nothing found)"


def test_links_out_of_the_repository_lead_nowhere(toy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hidden words")
    (toy / "link.txt").symlink_to(tmp_path / "secret.txt")
    (toy / "folder").symlink_to(tmp_path)
    with Workspace.copy(toy) as workspace:
        tool = CodeSearcher(workspace, open_sandbox())
        for command in ("cat link.txt", "grep -R hidden .", "cat folder/secret.txt"):
            assert "hidden words" not in tool.call({"command": command})


@given(st.text(max_size=40))
def test_whatever_passes_is_on_the_list(text: str) -> None:
    try:
        pipeline = read_search_command(text)
    except CommandRefusedError:
        return
    assert all(words[0] in PROGRAMS for words in pipeline)


@given(st.lists(st.text("ab '\"\\$|;*#é-", min_size=1, max_size=6), min_size=1, max_size=4))
def test_quoted_words_come_back(words: list[str]) -> None:
    import shlex

    assert split_pipeline(shlex.join(words)) == [words]


def test_the_programs_of_the_paper_exist_here() -> None:
    assert {"find", "grep", "egrep", "fgrep", "xargs", "head", "tail"} <= PROGRAMS
    assert {"cat", "less", "wc", "sort", "uniq", "awk", "cut"} <= PROGRAMS
    assert all(shutil.which(name) for name in PROGRAMS - {"less", "egrep", "fgrep"})
