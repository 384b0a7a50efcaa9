"""Program inside a sandbox: imports the program and its tests once, forks for every variant.

``python -c SOURCE`` reads JSON lines from standard input, first a configuration, then variants, and
writes JSON lines to the file or pipe the configuration names. It needs nothing but the standard
library and pytest, so that it runs under the program's own interpreter.

A variant whose edits stay inside one function is put into the running program: the function's code
object is replaced. Any other one is loaded anew in its child. Time is processor time, so that
a busy machine rejects nobody; variants that run out of it are tried again at the end with more.
"""

from __future__ import annotations

import ast
import collections
import gc
import importlib.machinery
import io
import json
import os
import resource
import selectors
import signal
import sys
import time
import tokenize
import types
import warnings

PASSED, FAILED, ERROR, SKIPPED, OUT_OF_TIME, CRASHED = "PFESTC"
_IMPORT_FACTOR = 20
"""Loading the program may take this many times as long as its slowest test, and a second more."""
_WALL_FACTOR = 20.0
_WALL_FLOOR_S = 5.0
# A child that sleeps uses no processor time; this much wall clock ends it.
_MESSAGE_CHARS = 2000
_COROUTINE_FLAGS = 0x80 | 0x20 | 0x200
"""Code flags of coroutines, generators and asynchronous generators."""


class Server:
    """A pytest plugin that, in place of running the collected tests, serves variants."""

    def __init__(self, config, variants, output):
        self.config = config
        self.variants = variants
        self.output = output
        self.items = []
        self.calls = {}
        self.flaky = set()
        self.has_served = False
        self.outcomes = {}
        self.limit_s = config["baseline_s"]

    def pytest_runtestloop(self, session):
        """Serve; called once when the tests are collected."""
        order = {name: index for index, name in enumerate(self.config["tests"])}
        known = [item for item in session.items if item.nodeid in order]
        self.items = sorted(known, key=lambda item: order[item.nodeid])
        self.calls = {item.nodeid: plain_call(item) for item in self.items}
        self.serve()
        return True

    def serve(self):
        """Run the unchanged program, then every variant."""
        self.has_served = True
        self.functions = find_functions()
        gc.collect()
        gc.freeze()  # children then touch, and so copy, less of the parent's memory
        missing = [name for name in self.config["tests"] if name not in self.names()]
        self.send({"id": -2, "missing": missing})
        self.baseline()
        if self.config["measure_only"]:
            return
        Loop(self).run()
        self.send({"id": -3})

    def names(self):
        return {item.nodeid for item in self.items}

    def send(self, message):
        self.output.write(json.dumps(message) + "\n")
        self.output.flush()

    def baseline(self):
        """Run all tests, each in a child of its own; the slowest passing one sets the limit."""
        slowest = 0.0
        expected = set(self.config["passing"])
        for names in (self.config["passing"], self.config["failing"]):
            for name in names:
                if name not in expected:
                    self.limit_s = self.scaled(slowest)
                outcome = Loop(self).single({"id": -1, "tests": [name]})
                cpu_s = outcome["cpu"].get(name, 0.0)
                passes = outcome["status"].get(name) == PASSED
                if passes != (name in expected):
                    self.flaky.add(name)
                elif passes:
                    slowest = max(slowest, cpu_s)
                self.send(
                    {
                        "id": -1,
                        "status": outcome["status"],
                        "cpu": outcome["cpu"],
                        "messages": outcome["messages"],
                    }
                )
        self.limit_s = self.scaled(slowest)
        self.config["tests"] = [name for name in self.config["tests"] if name not in self.flaky]

    def scaled(self, slowest_s):
        return max(self.config["floor_s"], slowest_s * self.config["slack"])


class Loop:
    """Runs variants in children, several at a time, and sends each one's outcome as it ends."""

    def __init__(self, server):
        self.server = server
        self.jobs = server.config["jobs"]
        self.selector = selectors.DefaultSelector()
        self.running = {}
        self.retries = collections.deque()
        self.retry_left_s = server.config["retry_s"]

    def run(self):
        waiting = self.server.variants
        while True:
            while len(self.running) < self.jobs:
                variant = self.next_variant(waiting)
                if variant is None:
                    break
                self.start(variant)
            if not self.running:
                return
            self.collect()

    def next_variant(self, waiting):
        try:
            return next(waiting)
        except StopIteration:
            pass
        if self.retries and self.retry_left_s > 0:
            variant = self.retries.popleft()
            variant["is_retry"] = True
            return variant
        return None

    def single(self, variant):
        """Run one variant and return its outcome."""
        self.start(variant)
        while self.running:
            finished = self.collect(send=False)
            if finished:
                return finished[0]
        raise RuntimeError("the child was lost")

    def start(self, variant):
        reader, writer = os.pipe()
        limit_s = self.server.limit_s
        if variant.get("is_retry"):
            limit_s *= self.server.config["retry_factor"]
        pid = os.fork()
        if not pid:
            os.close(reader)
            run_child(self.server, variant, limit_s, writer)
        os.close(writer)
        child = Child(variant, pid, reader, limit_s)
        self.running[reader] = child
        self.selector.register(reader, selectors.EVENT_READ, child)

    def collect(self, send=True):
        """Wait a moment; return outcomes of the children that ended."""
        finished = []
        for key, _ in self.selector.select(0.05):
            if not key.data.read():
                finished.append(self.finish(key.data, send))
        now = time.monotonic()
        for child in list(self.running.values()):
            if now > child.deadline:
                os.kill(child.pid, signal.SIGKILL)
                child.is_late = True
        return finished

    def finish(self, child, send):
        self.selector.unregister(child.reader)
        del self.running[child.reader]
        os.close(child.reader)
        _, status, usage = os.wait4(child.pid, 0)
        outcome = child.outcome(status, usage.ru_utime + usage.ru_stime)
        is_late = OUT_OF_TIME in outcome["status"].values()
        if child.variant.get("is_retry"):
            self.retry_left_s -= outcome["cpu_s"]
        elif is_late and send and self.retry_left_s > 0:
            self.retries.append(child.variant)
            outcome["is_final"] = False
        if send:
            self.server.send(outcome)
        return outcome


class Child:
    """One forked process and what it has said so far."""

    def __init__(self, variant, pid, reader, limit_s):
        self.variant = variant
        self.pid = pid
        self.reader = reader
        self.deadline = time.monotonic() + _WALL_FLOOR_S + limit_s * _WALL_FACTOR
        self.data = b""
        self.is_late = False

    def read(self):
        chunk = os.read(self.reader, 1 << 16)
        self.data += chunk
        return bool(chunk)

    def outcome(self, wait_status, cpu_s):
        """Put together what the child reported and how it ended."""
        status, cpu, messages, current, ended, reason = {}, {}, {}, None, False, ""
        for line in self.data.split(b"\n"):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "start" in message:
                current = message["start"]
            elif "end" in message:
                ended, reason = True, message["end"]
            else:
                status[message["test"]] = message["status"]
                cpu[message["test"]] = message["cpu"]
                if message["text"]:
                    messages[message["test"]] = message["text"]
                current = None
        if not ended:
            is_late = self.is_late or os.WIFSIGNALED(wait_status) and os.WTERMSIG(wait_status) in (
                signal.SIGPROF,
                signal.SIGXCPU,
            )
            code = OUT_OF_TIME if is_late else CRASHED
            status[current or (self.variant.get("tests") or ["(loading)"])[0]] = code
        return {
            "id": self.variant["id"],
            "status": status,
            "cpu": cpu,
            "cpu_s": cpu_s,
            "messages": messages,
            "reason": reason,
            "is_final": True,
        }


def run_child(server, variant, limit_s, writer):
    """Make the variant and run its tests; never returns."""
    reporter = Reporter(server, variant, limit_s, writer)
    try:
        silence(server.config["memory_bytes"])
        reporter.arm(limit_s * _IMPORT_FACTOR + 1.0)
        mode = install(server, variant)
        if mode == "hot":
            reporter.calls = server.calls
            reporter.run(server.items)
        elif mode == "cold":
            run_anew(server, variant, reporter)
        reporter.write({"end": "" if mode in ("hot", "cold") else mode})
    except BaseException as error:
        reporter.write({"end": f"{type(error).__name__}: {error}"[:_MESSAGE_CHARS]})
    finally:
        os._exit(0)


def silence(memory_bytes):
    """Send output nowhere and bound memory, so that a runaway child harms only itself."""
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, used + memory_bytes))


class Reporter:
    """Runs items in a child and writes a line per test; also a pytest plugin for new sessions."""

    def __init__(self, server, variant, limit_s, writer):
        self.config = server.config
        self.wanted = variant.get("tests") or server.config["tests"]
        self.failing = set(server.config["failing"])
        self.limit_s = limit_s
        self.writer = writer
        self.reports = []
        self.calls = {}
        self.has_failed = False

    def write(self, message):
        os.write(self.writer, json.dumps(message).encode() + b"\n")

    def arm(self, seconds):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtestloop(self, session):
        order = {name: index for index, name in enumerate(self.wanted)}
        known = [item for item in session.items if item.nodeid in order]
        self.run(sorted(known, key=lambda item: order[item.nodeid]))
        return True

    def run(self, items):
        """Run tests in order; stop at the first failure among those that pass without a change."""
        chosen = [item for item in items if item.nodeid in set(self.wanted)]
        for item, following in zip(chosen, [*chosen[1:], None]):
            if self.has_failed and not (
                self.config["keep_going"] and item.nodeid in self.failing
            ):
                return
            self.run_one(item, following)

    def run_one(self, item, following):
        self.write({"start": item.nodeid})
        self.reports = []
        before = time.process_time()
        self.arm(self.limit_s)
        call = self.calls.get(item.nodeid)
        if call is not None and not self.config["messages"]:
            status, text = call_plainly(call)
        else:
            status, text = self.run_protocol(item, following)
        self.has_failed = self.has_failed or status in (FAILED, ERROR)
        self.write(
            {
                "test": item.nodeid,
                "status": status,
                "cpu": round(time.process_time() - before, 6),
                "text": text if self.config["messages"] else "",
            }
        )

    def run_protocol(self, item, following):
        """Run a test as pytest does, with its fixtures and all plugins."""
        if not self.config["messages"]:
            item.repr_failure = item._repr_failure_py = brief  # tracebacks take longer than tests
        plugins = item.config.pluginmanager
        is_new = not plugins.is_registered(self)
        if is_new:
            plugins.register(self)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            if is_new:
                plugins.unregister(self)
        return classify(self.reports)


def plain_call(item):
    """Return a test function's call where that is all there is to running it, else `None`.

    In a fresh child pytest's own way takes 4 ms of processor time, the call of a small function
    0.1 ms. A test with fixtures, marks, a class, set-up functions or hooks of the program's own
    goes pytest's way. This looks at private parts of pytest; where they are others, so does it.
    """
    try:
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        definitions = item._fixtureinfo.name2fixturedefs
        names = [one.func.__name__ for found in definitions.values() for one in found]
        is_plain = (
            item.cls is None
            and type(item).__name__ == "Function"
            and set(item._fixtureinfo.argnames) == set(given) >= set(definitions)
            and set(names) <= {"get_direct_param_fixture_func"}
            and {mark.name for mark in item.iter_markers()} <= {"parametrize"}
            and not hasattr(item.module, "setup_function")
            and not hasattr(item.module, "setup_module")
            and not item.obj.__code__.co_flags & _COROUTINE_FLAGS
            and not item.config.getini("filterwarnings")
            and not has_own_hooks(item.config)
        )
    except AttributeError:
        return None
    return (item.obj, given) if is_plain else None


def has_own_hooks(config):
    """Whether a ``conftest.py`` takes part in running tests."""
    hooks = ("pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_protocol")
    return any(
        str(implementation.plugin_name).endswith("conftest.py")
        for hook in (*hooks, "pytest_pyfunc_call", "pytest_runtest_teardown")
        for implementation in getattr(config.hook, hook).get_hookimpls()
    )


def call_plainly(call):
    """Run a test function; return its status and why."""
    function, arguments = call
    try:
        function(**arguments)
    except BaseException as error:  # tests fail with exceptions of any kind
        status = SKIPPED if type(error).__name__ == "Skipped" else FAILED
        return status, type(error).__name__
    return PASSED, ""


def brief(excinfo, *_, **__):
    """Stand in for pytest's rendering of a failure."""
    return excinfo.typename


def classify(reports):
    """Return a test's status and why, from its reports for set-up, call and tear-down."""
    for report in reports:
        if report.failed:
            status = FAILED if report.when == "call" else ERROR
            return status, str(report.longrepr)[-_MESSAGE_CHARS:]
    if any(report.skipped for report in reports):
        return SKIPPED, ""
    return (PASSED, "") if reports else (ERROR, "the test did not run")


def install(server, variant):
    """Change the running program; return how: ``hot``, ``cold``, or the reason why not."""
    if not variant.get("edits"):
        return "hot"
    path = os.path.abspath(variant["path"])
    text = edited_text(path, variant["edits"])
    if variant["unit"] and server.items:
        code = unit_code(path, text, *variant["unit"])
        originals = server.functions.get((path, *variant["unit"]), ())
        if code is not None and originals:
            if all(one.__code__.co_freevars == code.co_freevars for one in originals):
                for function in originals:
                    function.__code__ = code
                return "hot"
    load_from(path, text)
    return "cold"


def edited_text(path, edits):
    with open(path, "rb") as file:
        data = file.read()
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    text = data.decode(encoding)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def find_functions():
    """Return all functions alive by file, first line and name."""
    found = {}
    for item in gc.get_objects():
        if type(item) is types.FunctionType:
            code = item.__code__
            key = (os.path.abspath(code.co_filename), code.co_firstlineno, code.co_name)
            found.setdefault(key, []).append(item)
    return found


def unit_code(path, text, first_line, name):
    """Compile one function of a file, in its classes but without the rest of the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    future = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    reduced = reduce_to(tree.body, first_line, name)
    if reduced is None:
        return None
    tree.body = [*future, reduced]
    module = compile(tree, path, "exec", dont_inherit=True)
    return find_code(module, first_line, name)


def reduce_to(body, first_line, name):
    """Return the statement that holds the function, its class without other members."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = reduce_to(node.body, first_line, name)
            if inner is not None:
                node.body = [inner]
                return node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            if min([node.lineno, *(item.lineno for item in node.decorator_list)]) == first_line:
                return node
    return None


def find_code(code, first_line, name):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name and constant.co_firstlineno == first_line:
                return constant
            inner = find_code(constant, first_line, name)
            if inner is not None:
                return inner
    return None


def load_from(path, text):
    """Let the next import of a file read other text."""
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, fullname):
        if os.path.abspath(self.path) == path:
            return compile(text, path, "exec", dont_inherit=True)
        return original(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code


def run_anew(server, variant, reporter):
    """Forget all modules of the tree and run a new session on it."""
    import pytest

    root = os.getcwd() + os.sep
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and os.path.abspath(file).startswith(root):
            del sys.modules[name]
    pytest.main([*server.config["options"], *reporter.wanted], plugins=[reporter])


def read_variants(lines):
    for line in lines:
        if line.strip():
            yield json.loads(line)


def main():
    """Serve the variants on standard input until they end or nobody reads the outcomes."""
    import pytest

    lines = io.TextIOWrapper(os.fdopen(os.dup(0), "rb"), encoding="utf-8")
    config = json.loads(lines.readline())
    sys.path[:0] = [place for place in config["path"] if place not in sys.path]
    sys.dont_write_bytecode = True
    with open(config["output"], "w", encoding="utf-8") as output:
        server = Server(config, read_variants(lines), output)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        try:
            pytest.main([*config["options"], *config["tests"]], plugins=[server])
            if not server.has_served:
                server.serve()
        except BrokenPipeError:
            os._exit(0)


if __name__ == "__main__":
    main()
