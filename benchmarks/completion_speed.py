"""How long retrieval for a completion takes on a large repository, once it is indexed.

python benchmarks/completion_speed.py /path/to/repository [--holes 50]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path

from graphloc.completion.baselines import first_query
from graphloc.completion.files import load_texts
from graphloc.completion.fragments import Retriever, choose_fragments, make_context
from graphloc.completion.hole import Hole, find_function_hole
from graphloc.completion.window_retrieval import bm25_retriever, jaccard_retriever
from indexes.parsing import outline
from indexes.source import open_source


def main() -> None:
    """Print one line a retriever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--holes", type=int, default=50)
    options = parser.parse_args()
    files = load_texts(open_source(options.repository))
    holes = _holes(files, options.holes)
    print(f"{len(files)} files, {sum(text.count(chr(10)) for text in files.values())} lines")
    for make in (jaccard_retriever, bm25_retriever):
        started = time.perf_counter()
        retriever = make(files)
        indexed_s = time.perf_counter() - started
        print(f"{retriever.name}: indexed in {indexed_s:.1f} s; {_timings(retriever, holes)}")


def _holes(files: dict[str, str], count: int) -> list[Hole]:
    paths = random.Random(1).sample(sorted(files), min(len(files), 4 * count))
    holes = []
    for path in paths:
        data = files[path].encode()
        names = [each.name for each in outline(data) if not each.is_class]
        if names:
            holes.append(find_function_hole(data, path, names[len(names) // 2]))
    return holes[:count]


def _timings(retriever: Retriever, holes: list[Hole]) -> str:
    elapsed_ms = []
    for hole in holes:
        started = time.perf_counter()
        context = make_context(hole)
        choose_fragments(retriever.find_fragments(context, first_query(context), moved=True))
        elapsed_ms.append(1000 * (time.perf_counter() - started))
    elapsed_ms.sort()
    p95 = elapsed_ms[int(0.95 * (len(elapsed_ms) - 1))]
    return (
        f"{len(holes)} retrievals: median {statistics.median(elapsed_ms):.0f} ms, "
        f"p95 {p95:.0f} ms, max {elapsed_ms[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
