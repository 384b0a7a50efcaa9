"""What the code in an issue imports, calls and defines."""

from __future__ import annotations

from graphloc.issue import Snippets, read_issue


def code(text: str, language: str = "python") -> Snippets:
    return read_issue(f"Title\n\n```{language}\n{text}\n```").code


def test_python() -> None:
    snippets = code(
        "import numpy as np\nfrom pkg.io import Writer as W, open_all\n\n"
        "class Mine(W):\n    async def run(self):\n        self.out.flush(force=True)\n\n"
        "w = W(np.zeros(3))\nw.add_page(size=1)\n"
    )
    assert snippets.imported == ("numpy", "pkg.io.Writer", "pkg.io.open_all")
    assert set(snippets.called) == {"W", "np.zeros", "w.add_page", "self.out.flush"}
    assert "pkg.io.Writer.add_page" in snippets.qualified
    assert "numpy.zeros" in snippets.qualified
    assert set(snippets.keywords) == {"force", "size"}
    assert snippets.classes == ("Mine",)
    assert snippets.functions == ("run",)


def test_doctest_session() -> None:
    snippets = code(">>> import shelf\n>>> for b in shelf:\n...     b.sort(key=1)\n[3, open(4)]")
    assert snippets.source == "import shelf\nfor b in shelf:\n    b.sort(key=1)"
    assert snippets.called == ("b.sort",)


def test_ipython_session() -> None:
    snippets = code("In [1]: import shelf\n   ...: shelf.fill()\nOut[1]: drop(3)\n%timeit x()")
    assert snippets.source == "import shelf\nshelf.fill()"


def test_imports_of_one_block_serve_the_next() -> None:
    issue = read_issue("T\n\n```python\nimport a.b as c\n```\n\n```python\nc.d(1)\n```")
    assert "a.b.d" in issue.code.qualified


def test_broken_code_is_read_with_patterns() -> None:
    snippets = code(
        "from pkg import one, two as deux\nimport x.y\nclass Bad(Base)\n"
        "  obj.go(deep=1 ...\nuno.dos"
    )
    assert snippets.imported == ("pkg.one", "pkg.two", "x.y")
    assert snippets.classes == ("Bad",)
    assert "obj.go" in snippets.called
    assert "uno.dos" in snippets.attributes
    assert "deep" in snippets.keywords


def test_parts_that_parse_are_parsed() -> None:
    snippets = code("import shelf\n\nwhat is this\n\nb = shelf.Box()\nb.lift()")
    assert "shelf.Box.lift" in snippets.qualified


def test_other_languages_are_left_alone() -> None:
    assert code("SELECT count(x) FROM t", "sql") == Snippets()


def test_inline_code_is_read() -> None:
    assert read_issue("T\n\n`shelf.fill(n=1)`").code.called == ("shelf.fill",)


def test_invalid_escapes_do_not_warn() -> None:
    assert code("x = re.compile('\\d')").called == ("re.compile",)


def test_tracebacks_are_no_source() -> None:
    snippets = code(
        'go()\nTraceback (most recent call last):\n  File "m.py", line 1, in f\nOSError'
    )
    assert snippets.source == "go()"
