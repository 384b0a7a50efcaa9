"""Frames and errors of every tool's tracebacks, whole and mangled."""

from __future__ import annotations

import textwrap

import pytest

from graphloc.issue import ErrorKind, Frame, Issue, read_issue


def read(text: str) -> Issue:
    return read_issue(textwrap.dedent(text))


def places(issue: Issue) -> list[tuple[str, int | None, str | None]]:
    return [(frame.path, frame.line, frame.function) for frame in issue.frames]


def test_cpython_traceback() -> None:
    issue = read("""\
        Saving fails
        ```
        Traceback (most recent call last):
          File "run.py", line 3, in <module>
            shelf.save()
          File "/home/ann/venv/lib/python3.12/site-packages/shelves/store.py", line 41, in save
            return self._write(data)
                   ~~~~~~~~~~~^^^^^^
        shelves.errors.FullError: no room on shelf 3
        ```
        """)
    assert issue.frames == (
        Frame("run.py", 3, "<module>", "shelf.save()", 1, 0),
        Frame("shelves/store.py", 41, "save", "return self._write(data)", 0, 0),
    )
    error = issue.errors[0]
    assert (error.type, error.message, error.traceback) == (
        "shelves.errors.FullError",
        "no room on shelf 3",
        0,
    )
    assert issue.frames[1].suffixes == ("shelves/store.py", "store.py")


def test_bare_traceback_is_an_issue() -> None:
    issue = read("""\
        Traceback (most recent call last):
          File "a/b.py", line 1, in f
            g()
        KeyError: 'x'
        """)
    assert issue.title == "Traceback (most recent call last):"
    assert places(issue) == [("a/b.py", 1, "f")]
    assert issue.errors[0].type == "KeyError"


def test_chained_tracebacks_are_numbered() -> None:
    issue = read("""\
        Chained
        Traceback (most recent call last):
          File "one.py", line 1, in first
            x()
        OSError: gone

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "two.py", line 2, in second
            y()
        RuntimeError: worse

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "three.py", line 3, in third
        SystemExit
        """)
    assert [(f.path, f.traceback, f.position) for f in issue.frames] == [
        ("one.py", 0, 0),
        ("two.py", 1, 0),
        ("three.py", 2, 0),
    ]
    assert [(e.type, e.traceback) for e in issue.errors] == [
        ("OSError", 0),
        ("RuntimeError", 1),
        ("SystemExit", 2),
    ]


def test_exception_group_margins() -> None:
    issue = read("""\
        Groups
          + Exception Group Traceback (most recent call last):
          |   File "app/main.py", line 8, in run
          |     await gather()
          | ExceptionGroup: unhandled errors (1 sub-exception)
          +-+---------------- 1 ----------------
            | Traceback (most recent call last):
            |   File "app/task.py", line 21, in work
            |     raise ValueError("bad seed")
            | ValueError: bad seed
            +------------------------------------
        """)
    assert places(issue) == [("app/main.py", 8, "run"), ("app/task.py", 21, "work")]
    assert [f.code for f in issue.frames] == ["await gather()", 'raise ValueError("bad seed")']
    assert ("ValueError", "bad seed") in [(e.type, e.message) for e in issue.errors]
    assert {f.traceback for f in issue.frames} == {0, 1}


def test_terminal_colours() -> None:
    text = (
        "Colours\n\x1b[1mTraceback (most recent call last):\x1b[0m\n"
        '  File \x1b[35m"c.py"\x1b[0m, line \x1b[35m5\x1b[0m, in \x1b[35mpaint\x1b[0m\n'
        "    \x1b[31mbrush\x1b[0m()\n\x1b[1;35mNameError\x1b[0m: \x1b[35mname 'brush'\x1b[0m\n"
    )
    issue = read_issue(text)
    assert issue.frames == (Frame("c.py", 5, "paint", "brush()", 0, 0),)
    assert issue.errors[0].message == "name 'brush'"


def test_ipython_8() -> None:
    issue = read("""\
        Notebook
        ```
        ---------------------------------------------------------------------------
        ZeroDivisionError                         Traceback (most recent call last)
        Cell In[3], line 2
              1 model = Model()
        ----> 2 model.fit()

        File ~/venvs/x/lib/python3.11/site-packages/fitting/core.py:77, in Model.fit(self, data)
             75     total = 0
             76     if data is None:
        ---> 77         return total / 0

        ZeroDivisionError: division by zero
        ```
        """)
    assert issue.frames == (
        Frame("In[3]", 2, None, "model.fit()", 1, 0),
        Frame("fitting/core.py", 77, "Model.fit", "return total / 0", 0, 0),
    )
    assert issue.errors[0].message == "division by zero"


def test_ipython_before_8() -> None:
    issue = read("""\
        Old notebook

            TypeError                                 Traceback (most recent call last)
            <ipython-input-7-ab12> in <module>()
            ----> 1 load(3)

            ~/env/lib/python3.6/site-packages/loading/io.py in load(path)
                 10 def load(path):
            ---> 11     return open(path + "")

            TypeError: unsupported operand
        """)
    assert places(issue) == [
        ("ipython-input-7-ab12", 1, "<module>"),
        ("loading/io.py", 11, "load"),
    ]


def test_input_in_with_cell_line() -> None:
    issue = read("Cells\n\nInput In [4], in <cell line: 1>()\n----> 1 go()\n\nNameError: go\n")
    assert places(issue) == [("In [4]", 1, "<cell line: 1>")]


def test_pytest_long_style() -> None:
    issue = read("""\
        Test fails
        ```
        ____________________ test_sum ____________________

            def test_sum():
        >       assert total([1, 2]) == 4

        tests/test_sum.py:12:
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

            def total(values):
                values = list(values)
        >       return add(values)
        E       ValueError: odd length

        src/sums/core.py:33: ValueError
        ```
        """)
    assert issue.frames == (
        Frame("tests/test_sum.py", 12, "test_sum", "assert total([1, 2]) == 4", 1, 0),
        Frame("src/sums/core.py", 33, "total", "return add(values)", 0, 0),
    )
    assert [(e.type, e.message) for e in issue.errors] == [("ValueError", "odd length")]


def test_pytest_short_style() -> None:
    issue = read("""\
        Short
        ```
        tests/test_a.py:5: in test_a
            run()
        src/a.py:9: in run
            raise KeyError("k")
        E   KeyError: 'k'
        ```
        """)
    assert issue.frames == (
        Frame("tests/test_a.py", 5, "test_a", "run()", 1, 0),
        Frame("src/a.py", 9, "run", 'raise KeyError("k")', 0, 0),
    )


def test_pytest_listing_does_not_swallow_the_issue() -> None:
    issue = read("""\
        Title
        Please look at `first_name` below.

        ```python
        second_name = 1
        x.py:73: ValueError
        ```
        """)
    assert "Please look at `first_name` below." in issue.prose
    assert places(issue) == [("x.py", 73, None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> /srv/app/views.py(12)index()\n-> return page\n", ("srv/app/views.py", 12, "index")),
        ("  /srv/app/views.py(14)show()\n", ("srv/app/views.py", 14, "show")),
        ("lib/defer.py:580:_runCallbacks\n", ("lib/defer.py", 580, "_runCallbacks")),
        ("│ /opt/x/cli.py:34 in main   │\n│  ❱ 34 │ go() │\n", ("opt/x/cli.py", 34, "main")),
        ("    serve (web/server.py:88)\n", ("web/server.py", 88, "serve")),
    ],
)
def test_other_tools(text: str, expected: tuple[str, int, str]) -> None:
    issue = read_issue("Other tools\n\n" + text)
    assert places(issue) == [expected]


def test_most_recent_call_first() -> None:
    issue = read("""\
        Crash
        Current thread 0x00007f (most recent call first):
          File "/x/lib/python3.12/site-packages/deep/inner.py", line 4 in poke
          File "main.py", line 9 in <module>
        """)
    assert [(f.function, f.position) for f in issue.frames] == [("poke", 0), ("<module>", 1)]


def test_quoted_and_prefixed() -> None:
    issue = read("""\
        Mail
        > Traceback (most recent call last):
        >   File "q.py", line 1, in ask
        >     answer()
        > IndexError: no answer

        10:00:01 worker[12]: Traceback (most recent call last):
        10:00:01 worker[12]:   File "w.py", line 7, in work
        10:00:02 worker[12]:     step()
        10:00:02 worker[12]: LookupError: no step
        """)
    assert issue.frames == (
        Frame("q.py", 1, "ask", "answer()", 0, 0),
        Frame("w.py", 7, "work", "step()", 0, 1),
    )
    assert [(e.type, e.message) for e in issue.errors[:2]] == [
        ("IndexError", "no answer"),
        ("LookupError", "no step"),
    ]


def test_lost_indentation_and_wrapped_line() -> None:
    issue = read("""\
        Mangled
        Traceback (most recent call last):
        File "m/n.py", line 5, in go
        stop()
        File "m/very/long/
        path.py", line 6, in stop
        halt()
        RuntimeError: halted
        """)
    assert issue.frames == (
        Frame("m/n.py", 5, "go", "stop()", 1, 0),
        Frame("m/very/long/path.py", 6, "stop", "halt()", 0, 0),
    )
    assert issue.errors[0].message == "halted"


def test_lost_line_breaks() -> None:
    issue = read_issue('One line\nFile "a.py", line 1, in f g()  File "b.py", line 2, in g h()\n')
    assert issue.frames == (
        Frame("a.py", 1, "f", "g()", 1, 0),
        Frame("b.py", 2, "g", "h()", 0, 0),
    )


def test_traceback_printed_as_a_json_string() -> None:
    issue = read_issue(
        'Log\n{"msg": "Traceback (most recent call last):\\n  File \\"j/k.py\\", line 3, in dump\\n'
        '    x()\\nTypeError: not JSON"}\n'
    )
    assert issue.frames == (Frame("j/k.py", 3, "dump", "x()", 0, 0),)
    assert issue.errors[0].type == "TypeError"


def test_syntax_error_has_no_function() -> None:
    issue = read_issue('S\n  File "s.py", line 3\n    x = = 1\n        ^\nSyntaxError: invalid\n')
    assert issue.frames == (Frame("s.py", 3, None, "x = = 1", 0, 0),)


def test_windows_path() -> None:
    issue = read_issue(
        'W\n  File "C:\\Py\\Lib\\site-packages\\win\\reg.py", line 2, in read\n    pass\n'
    )
    assert places(issue) == [("win/reg.py", 2, "read")]


def test_java_frames_are_left_alone() -> None:
    issue = read_issue("J\n\tat org.acme.Main.run(Main.java:62)\n  at src/main.rs:5:3\n")
    assert issue.frames == ()


def test_warning_line_is_no_frame() -> None:
    issue = read_issue("W\n\n/x/site-packages/z/io.py:614: UserWarning: slow path taken\n")
    assert issue.frames == ()
    error = issue.errors[0]
    assert (error.type, error.message, error.kind) == (
        "UserWarning",
        "slow path taken",
        ErrorKind.WARNING,
    )
    assert ("z/io.py", 614) in [(p.path, p.line) for p in issue.paths]
