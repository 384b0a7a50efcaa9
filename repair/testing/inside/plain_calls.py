"""Tests that are nothing but a function call, and their call.

In a fresh child pytest's own way of running a test takes 4 ms of processor time, the call of a
small function 0.1 ms. A test with fixtures, marks, a class, set-up functions or hooks of the
program's own goes pytest's way. This looks at private parts of pytest; where they are missing, so
does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from repair.testing.inside.statuses import FAILED, PASSED, SKIPPED

Call = tuple[Callable[..., object], dict[str, Any]]
_COROUTINE_FLAGS = 0x80 | 0x20 | 0x200
"""Code flags of coroutines, generators and asynchronous generators (`inspect.CO_*`)."""
_HOOKS = (
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_protocol",
    "pytest_runtest_teardown",
    "pytest_pyfunc_call",
)


def plain_call(item: Any) -> Call | None:
    """Return a test's function and arguments where that is all there is to it, else `None`."""
    try:
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        is_plain = (
            item.cls is None
            and type(item).__name__ == "Function"
            and _has_parameters_only(item, given)
            and {mark.name for mark in item.iter_markers()} <= {"parametrize"}
            and not hasattr(item.module, "setup_function")
            and not hasattr(item.module, "setup_module")
            and not item.obj.__code__.co_flags & _COROUTINE_FLAGS
            and not item.config.getini("filterwarnings")
            and not _has_own_hooks(item.config)
        )
    except AttributeError:
        return None
    return (item.obj, given) if is_plain else None


def _has_parameters_only(item: Any, given: dict[str, Any]) -> bool:
    """Whether all of a test's arguments come from plain ``parametrize`` marks."""
    definitions = item._fixtureinfo.name2fixturedefs
    makers = {one.func.__name__ for found in definitions.values() for one in found}
    is_complete = set(item._fixtureinfo.argnames) == set(given) and set(definitions) <= set(given)
    return is_complete and makers <= {"get_direct_param_fixture_func"}


def _has_own_hooks(config: Any) -> bool:
    """Whether a ``conftest.py`` takes part in running tests."""
    return any(
        str(implementation.plugin_name).endswith("conftest.py")
        for hook in _HOOKS
        for implementation in getattr(config.hook, hook).get_hookimpls()
    )


def call_plainly(call: Call) -> tuple[str, str]:
    """Run a test function; return its status and why."""
    function, arguments = call
    try:
        function(**arguments)
    except BaseException as error:  # noqa: BLE001 - a test may fail with anything, SystemExit too
        status = SKIPPED if type(error).__name__ == "Skipped" else FAILED
        return status, type(error).__name__
    return PASSED, ""
