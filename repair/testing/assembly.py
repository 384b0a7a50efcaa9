"""Makes one script of several of our modules, so that nothing has to be installed in a sandbox."""

from __future__ import annotations

import inspect
from types import ModuleType

_PREFIX = "repair.testing.inside"
_ALIAS = "_graphloc_inside"
"""The name they have inside: the program under test may have a package of the original name."""
_LOADER = """\
import sys, types
sys.modules[{alias!r}] = types.ModuleType({alias!r})
for name, source in {sources!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
module.main()
"""


def assembled(*modules: ModuleType) -> str:
    """Return the source of a script that loads the modules in order and calls the last's ``main``.

    Each module may import those before it. The script fits in a command's argument, which Linux
    bounds at 128 KiB, as long as the modules do.
    """
    sources = [
        (
            module.__name__.replace(_PREFIX, _ALIAS),
            inspect.getsource(module).replace(f"from {_PREFIX}", f"from {_ALIAS}"),
        )
        for module in modules
    ]
    return _LOADER.format(alias=_ALIAS, sources=sources)
