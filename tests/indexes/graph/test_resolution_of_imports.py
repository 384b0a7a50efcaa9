"""Names across files: imports, re-exports, stars, cycles, roots."""

import pytest

from indexes.model import Confidence
from tests.indexes.graph.annotated_cases import check, resolve

CASES: dict[str, dict[str, str]] = {
    "re-export chain": {
        "pkg/__init__.py": "from .api import run",
        "pkg/api.py": "from pkg._impl import run",
        "pkg/_impl.py": "def run(): pass",
        "main.py": "import pkg\npkg.run()  #> pkg/_impl.py:run",
    },
    "star import without a list of names": {
        "lib.py": "def f(): pass\ndef _g(): pass",
        "main.py": "from lib import *\nf()  #> lib.py:f\n_g()  #>",
    },
    "star import with a list of names": {
        "lib.py": "__all__ = ['_g']\ndef f(): pass\ndef _g(): pass",
        "main.py": "from lib import *\nf()  #>\n_g()  #> lib.py:_g",
    },
    "star imports in a circle": {
        "a.py": "from b import *\nfrom c import *",
        "b.py": "from c import *\nfrom a import *",
        "c.py": "from a import *\ndef f(): pass",
        "main.py": "from a import *\nf()  #> c.py:f\nmissing()  #>",
    },
    "conditional import": {
        "fast.py": "def f(): pass",
        "slow.py": "def f(): pass",
        "main.py": """
            try:
                from fast import f
            except ImportError:
                from slow import f
            f()  #> fast.py:f, slow.py:f
            """,
    },
    "cycle": {
        "a.py": "import b\ndef f():\n    b.g()  #> b.py:g",
        "b.py": "import a\ndef g():\n    a.f()  #> a.py:f",
    },
    "submodule as attribute": {
        "pkg/__init__.py": "",
        "pkg/sub.py": "def f(): pass",
        "main.py": "import pkg.sub\npkg.sub.f()  #> pkg/sub.py:f",
    },
    "namespace package": {
        "space/one/mod.py": "def f(): pass",
        "main.py": "from space.one import mod\nmod.f()  #> space/one/mod.py:f",
    },
    "src layout": {
        "src/pkg/__init__.py": "",
        "src/pkg/core.py": "def f(): pass",
        "tests/test_core.py": "from pkg.core import f\nf()  #> src/pkg/core.py:f",
    },
    "several roots": {
        "services/one/src/alpha/__init__.py": "def f(): pass",
        "services/two/src/beta/__init__.py": "def f(): pass",
        "services/two/tests/test_beta.py": """
            import alpha, beta
            alpha.f()  #> services/one/src/alpha/__init__.py:f
            beta.f()  #> services/two/src/beta/__init__.py:f
            """,
    },
    "relative import": {
        "pkg/__init__.py": "",
        "pkg/a.py": "def f(): pass",
        "pkg/sub/__init__.py": "",
        "pkg/sub/b.py": "from ..a import f as g\ng()  #> pkg/a.py:f",
    },
    "function-local import": {
        "lib.py": "def f(): pass",
        "main.py": "def run():\n    from lib import f\n    f()  #> lib.py:f",
    },
    "a test file named like a library module": {
        "tests/json.py": "def dumps(x): pass",
        "pkg/__init__.py": "",
        "pkg/a.py": "import json\njson.dumps(1)  #>",
    },
    "application object of another file": {
        "app.py": """
            class App:
                def route(self, path):
                    def decorate(view):
                        return view
                    return decorate
                def run(self): pass
            app = App()
            """,
        "views.py": """
            from app import app
            @app.route("/")  #> app.py:App.route
            def index(): pass
            app.run()  #> app.py:App.run
            index()  #> views.py:index
            """,
    },
    "base class of another file": {
        "base.py": "class Base:\n    def run(self): pass",
        "child.py": """
            import base
            class Child(base.Base): pass
            Child().run()  #> base.py:Base.run, child.py:Child
            """,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_import_case(name: str) -> None:
    check(CASES[name])


def test_confidence_tells_names_from_flow() -> None:
    found = resolve({
        "a.py": "def f(): pass\nf()\ndef run(callback):\n    callback()\nrun(f)\n",
    })  # fmt: skip
    assert found["a.py", 2] == {"a.py:f": Confidence.CERTAIN}
    assert found["a.py", 4] == {"a.py:f": Confidence.INFERRED}
