"""What indexing and localizing cost on one tree, beside a bare parse of it, in one run.

    python benchmarks/speed.py TREE [--rev REV] [--issue FILE] [--stages] [--json FILE]

Commands run as processes of their own, with a fresh index in a temporary folder; their CPU time is
that of the process and all its descendants, user and system. The tree itself is only read: the file
that is changed belongs to a copy of its Python files.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_python

from graphloc.issue import Issue, read_issue
from graphloc.localization import Localizer
from indexes.builder import build_index
from indexes.documents import build_text
from indexes.facts import decode_facts, encode_facts
from indexes.graph import EntityTable, build_entities, build_graph
from indexes.graph.entities import FUNCTION
from indexes.history import load_history
from indexes.parsing import extract_facts
from indexes.snapshot import Snapshot, pack_parts
from indexes.source import Source, SourceEntry, may_be_python, open_source, python_entries
from indexes.store import Store
from indexes.text import Tokenizer

REPEATS = 3
"""Short measurements are the least of so many."""
WARM_REPEATS = 7
TARGET_COLD = 4.0
"""Most CPU time of a cold index, in bare parses."""
TARGET_UNCHANGED = 0.10
"""Most CPU time of an unchanged re-index, in cold ones."""
_PR_SET_CHILD_SUBREAPER = 36
_SAMPLE_S = 0.02
_PROJECT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took."""

    cpu_s: float
    """User and system time of the process and its descendants."""
    wall_s: float
    largest_mb: float
    """Largest resident set of any one of the processes."""
    together_mb: float
    """Largest sum of all resident sets at one time, sampled; shared pages count several times."""


def adopt_orphans() -> None:
    """Become the parent of processes that outlive theirs, so that their CPU time is counted."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(*arguments: object) -> Cost:
    """Run graphloc to its end, and all processes that it started."""
    command = [sys.executable, "-m", "graphloc", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(_PROJECT)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        sampler = MemorySampler(process.pid)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - started
    largest = max([usage.ru_maxrss, *wait_for_orphans()])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)} failed: exit code {process.returncode}")
    return Cost(
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        wall_s=wall_s,
        largest_mb=largest / 1024,
        together_mb=sampler.stop(),
    )


def wait_for_orphans() -> list[int]:
    """Largest resident sets (kB) of all children that are left, once they have ended."""
    found = []
    with suppress(ChildProcessError):
        while True:
            found.append(os.wait4(-1, 0)[2].ru_maxrss)
    return found


class MemorySampler:
    """Looks at the resident sets of a process and its descendants, again and again."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> float:
        """End; the largest sum, in MB."""
        self._done.set()
        self._thread.join()
        return self._most * resource.getpagesize() / 1e6

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE_S):
            self._most = max(self._most, resident_pages(self._pid))


def resident_pages(pid: int) -> int:
    """Resident pages of a process and its descendants; 0 for one that has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return pages + sum(resident_pages(int(child)) for child in children)


def least_cpu_s(work: Callable[[], object], repeats: int) -> float:
    """Least CPU time of this process over several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def parse_all(sources: list[bytes]) -> None:
    """What any tool that uses tree-sitter pays before it knows a thing."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    for data in sources:
        parser.parse(data)


def copy_tree(contents: list[tuple[SourceEntry, bytes]], folder: Path) -> Path:
    """Write the Python files into a folder; return the one in the middle, which is to change."""
    for entry, data in contents:
        path = folder / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / contents[len(contents) // 2][0].path


def read_tree(source: Source) -> list[tuple[SourceEntry, bytes]]:
    """All Python files with their bytes."""
    entries = python_entries(source, source.entries(None, may_be_python))
    return list(source.read(entries))


def default_issue(entities: EntityTable) -> str:
    """An issue about the function in the middle of those that have a docstring."""
    rows = [
        row
        for row in range(len(entities))
        if entities.kinds[row] == FUNCTION and entities.docstrings[row].strip()
    ]
    if not rows:
        return "Something fails"
    entity = entities.entity(rows[len(rows) // 2])
    title = entity.docstring.strip().splitlines()[0]
    name = entity.name.rpartition(".")[2]
    return (
        f"{title} does not work\n\nSince the last release `{name}` gives a wrong result:\n\n"
        f"```\nTraceback (most recent call last):\n"
        f'  File "{entity.path}", line {entity.span.end_line}, in {name}\n'
        f"ValueError: the result is wrong\n```\n"
    )


def measure_warm(snapshot: Snapshot, localizer: Localizer, issue: Issue) -> dict[str, float]:
    """Milliseconds of a query once everything is loaded."""
    localizer.localize(issue)
    cpu_s = least_cpu_s(lambda: localizer.localize(issue), WARM_REPEATS)
    return {"cpu_ms": round(cpu_s * 1e3, 1), "entities": len(snapshot.entities)}


def measure_stages(contents: list[tuple[SourceEntry, bytes]]) -> dict[str, float]:
    """CPU seconds of the steps of a cold index, one after the other in this process."""
    stages: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        started = time.process_time()
        result = work()
        stages[name] = round(time.process_time() - started, 3)
        return result

    distinct = {entry.blob_id: data for entry, data in contents}
    facts = timed("extract", lambda: {b: extract_facts(data) for b, data in distinct.items()})
    packed = timed("encode", lambda: {b: encode_facts(value) for b, value in facts.items()})
    known = timed("decode", lambda: {b: decode_facts(value) for b, value in packed.items()})
    files = {entry.path: known[entry.blob_id] for entry, _ in contents}
    entities, rows = timed("entities", lambda: build_entities(files))
    text, phrases = timed("text", lambda: build_text(files, entities, rows))
    graph = timed("graph", lambda: build_graph(files, entities, rows))
    timed("pack", lambda: pack_parts(entities, graph, text, phrases))
    return stages


def measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """All measurements of one tree."""
    source = open_source(options.tree, options.rev)
    contents = read_tree(source)
    distinct = list({entry.blob_id: data for entry, data in contents}.values())
    bare_s = least_cpu_s(lambda: parse_all(distinct), 2)
    place = ["--index-dir", work / "index"]
    tree = [options.tree, *(["--rev", options.rev] if options.rev else []), *place]
    cold = run("index", *tree)
    unchanged = min((run("index", *tree) for _ in range(REPEATS)), key=lambda cost: cost.cpu_s)
    changed_file = copy_tree(contents, work / "copy")
    run("index", work / "copy", *place)
    with changed_file.open("a") as file:
        file.write("\n\ndef added_by_benchmark(value):\n    return value\n")
    one_changed = run("index", work / "copy", *place)
    tokenizer = Tokenizer()
    with Store.open(work / "index") as store:
        snapshot, _ = build_index(source, store, tokenizer=tokenizer)
        text = options.issue.read_text() if options.issue else default_issue(snapshot.entities)
        (work / "issue.md").write_text(text)
        query = ["localize", *tree, "--issue", work / "issue.md", "--format", "json"]
        first = run(*query)
        query_costs = [run(*query) for _ in range(REPEATS)]
        localizer = Localizer(snapshot, load_history(source, store, tokenizer), tokenizer=tokenizer)
        warm = measure_warm(snapshot, localizer, read_issue(text))
    return {
        "tree": str(options.tree),
        "revision": source.revision,
        "python": platform.python_version(),
        "files": len(contents),
        "distinct_files": len(distinct),
        "bytes": sum(map(len, distinct)),
        "bare_parse_cpu_s": round(bare_s, 3),
        "cold_index": asdict(cold),
        "cold_index_in_bare_parses": round(cold.cpu_s / bare_s, 2),
        "unchanged_index": asdict(unchanged),
        "unchanged_share_of_cold": round(unchanged.cpu_s / cold.cpu_s, 3),
        "one_file_changed_index": asdict(one_changed),
        "first_localize": asdict(first),
        "cold_localize": asdict(min(query_costs, key=lambda cost: cost.cpu_s)),
        "warm_localize": warm,
        "index_bytes": sum(path.stat().st_size for path in (work / "index").iterdir()),
        "stages_cpu_s": measure_stages(contents) if options.stages else {},
    }


def report(found: dict[str, Any]) -> None:
    """Print what people want to see."""
    print(f"{found['tree']} at {found['revision'][:12]}, Python {found['python']}")
    print(
        f"read               {found['bytes']:>12,} bytes in {found['distinct_files']:,} distinct "
        f"files of {found['files']:,}"
    )
    print(f"bare parse         {found['bare_parse_cpu_s']:>8.2f} CPU s")
    remarks = {
        "cold_index": f"{found['cold_index_in_bare_parses']} bare parses (at most {TARGET_COLD})",
        "unchanged_index": f"{found['unchanged_share_of_cold']:.1%} of cold "
        f"(at most {TARGET_UNCHANGED:.0%})",
        "one_file_changed_index": "",
        "first_localize": "reads the history",
        "cold_localize": "a process on an existing index",
    }
    for name, remark in remarks.items():
        cost = found[name]
        label = name.replace("_", " ")
        print(
            f"{label:<22} {cost['cpu_s']:>4.2f} CPU s  {cost['wall_s']:>6.2f} s  "
            f"{cost['largest_mb']:>5.0f} MB, {cost['together_mb']:>5.0f} MB together  {remark}"
        )
    print(f"warm localize      {found['warm_localize']['cpu_ms']:>8.1f} CPU ms")
    print(f"index on disk      {found['index_bytes'] / 1e6:>8.1f} MB")
    for name, seconds in found["stages_cpu_s"].items():
        print(f"  {name:<16} {seconds:>8.2f} CPU s")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rev")
    parser.add_argument("--issue", type=Path, help="made up from the tree by default")
    parser.add_argument("--stages", action="store_true", help="show what a cold index consists of")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    options.tree = options.tree.absolute()
    adopt_orphans()
    work = Path(tempfile.mkdtemp(prefix="graphloc-speed-"))
    try:
        found = measure(options, work)
    finally:
        shutil.rmtree(work)
    report(found)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
