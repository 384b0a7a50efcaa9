"""Retrieval of fragments, against a slow transcription of RepoCoder's rules."""

from __future__ import annotations

import random
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from graphloc.completion.baselines import RepoCoder, first_query, next_query
from graphloc.completion.files import load_texts
from graphloc.completion.fragments import (
    Fragment,
    HoleContext,
    choose_fragments,
    make_context,
    render_fragment,
)
from graphloc.completion.hole import Hole, find_function_hole
from graphloc.completion.tokens import count_tokens
from graphloc.completion.window_retrieval import (
    Bm25Windows,
    WindowRetriever,
    bm25_retriever,
    jaccard_retriever,
)
from indexes.parsing import outline
from indexes.source import open_source
from indexes.text import Tokenizer, build_windows

from .conftest import Silent

ROOT = Path(__file__).parents[3]
N_HOLES = 20


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    texts = load_texts(open_source(ROOT / "indexes"))
    texts["copy/of_builder.py"] = texts["builder.py"]  # so that windows with two places occur
    return texts


@pytest.fixture(scope="module")
def holes(files: dict[str, str]) -> list[Hole]:
    candidates = [
        (path, each.name)
        for path, text in sorted(files.items())
        for each in outline(text.encode())
        if not each.is_class and each.end_line - each.line > 6
    ]
    chosen = random.Random(7).sample(candidates, N_HOLES - 4)
    chosen += [("builder.py", name) for name in ("build_index", "_read_facts", "_blobs")]
    chosen.append(("copy/of_builder.py", "_describe"))
    return [find_function_hole(files[path].encode(), path, name) for path, name in chosen]


def literal_windows(files: dict[str, str]) -> dict[str, list[tuple[str, int, int]]]:
    """Windows of 20 lines around every tenth line, identical texts merged."""
    merged: dict[str, list[tuple[str, int, int]]] = {}
    for path, text in files.items():
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        line = 0
        while line < len(lines):
            start, end = max(0, line - 10), min(len(lines), line + 10)
            merged.setdefault("\n".join(lines[start:end]), []).append((path, start, end))
            line += 10
    return merged


def literal_tokens(text: str) -> set[str]:
    return set(re.findall(r"\w+|[^\w\s]", text))


def literal_moved(
    files: dict[str, str], context: HoleContext, places: list[tuple[str, int, int]]
) -> list[str]:
    """Lines of the window ten lines further down, at the first place where it misses the hole."""
    for path, _, end in places:
        lines = files[path].split("\n")
        if lines[-1] == "":
            lines.pop()
        new_end = min(end + 10, len(lines))
        if path != context.hole.path or new_end < context.hole.line:
            return lines[max(0, new_end - 20) : new_end]
    return []


def literal_fragments(
    files: dict[str, str], context: HoleContext, query: str, *, moved: bool
) -> list[str]:
    """Rendered fragments in the order of the prompt."""
    wanted = literal_tokens(query)
    scored = []
    for text, places in literal_windows(files).items():
        if all(
            path == context.hole.path and end > context.context_start for path, _, end in places
        ):
            continue
        tokens = literal_tokens(text)
        union = wanted | tokens
        score = Fraction(len(wanted & tokens), len(union)) if union else Fraction(0)
        scored.append((score, text, places))
    scored.sort(key=lambda each: each[0])  # stable: of equal ones the later is the better
    prompt: list[str] = []
    used = 20
    for _, text, places in scored[-20:][::-1]:
        if len(prompt) == 10:
            break
        shown = literal_moved(files, context, places) if moved else text.split("\n")
        if not shown:
            continue
        paths = list(dict.fromkeys(path for path, _, _ in places))
        rule = "# " + "-" * 50
        block = "\n".join(
            ["# From:", *[f"# {path}" for path in paths], rule, *[f"# {x}" for x in shown], rule]
        )
        tokens_used = count_tokens(block + "\n")
        if used + tokens_used < 2000:
            prompt.insert(0, block + "\n")
            used += tokens_used
    return prompt


def test_fragments_are_those_of_the_rules(files: dict[str, str], holes: list[Hole]) -> None:
    retriever = jaccard_retriever(files)
    compared = 0
    for hole in holes:
        context = make_context(hole, budget_tokens=600)
        lines = hole.before.split("\n")[:-1]
        query = "\n".join(lines[max(context.context_start, hole.line - 20) : hole.line])
        assert first_query(context) == query
        for moved, asked in ((True, query), (False, next_query(context, hole.removed))):
            found = retriever.find_fragments(context, asked, moved=moved)
            chosen = [render_fragment(each) for each in choose_fragments(found)]
            assert chosen == literal_fragments(files, context, asked, moved=moved)
            compared += len(chosen)
    assert len(holes) == N_HOLES
    assert compared > 5 * N_HOLES


def test_the_second_query_is_ten_lines_before_and_ten_predicted(holes: list[Hole]) -> None:
    context = make_context(holes[0])
    predicted = "\n".join(f"    line{n}\n" for n in range(15))
    lines = next_query(context, predicted).split("\n")
    before = [line for line in holes[0].before.split("\n")[:-1][-10:] if line.strip()]
    assert lines == before + [f"    line{n}" for n in range(10)]


def test_the_prefix_is_whole_lines_within_the_budget(holes: list[Hole]) -> None:
    for hole in holes:
        context = make_context(hole, budget_tokens=300)
        kept = context.visible_lines
        assert kept == hole.prefix_lines[len(hole.prefix_lines) - len(kept) :]
        assert sum(count_tokens(line + "\n") for line in kept) <= 300 or len(kept) == 1
        if context.context_start:
            more = hole.prefix_lines[context.context_start - 1 :]
            assert sum(count_tokens(line + "\n") for line in more) > 300


def test_an_oversize_fragment_is_skipped_and_the_best_comes_last() -> None:
    def fragment(name: str, words: int) -> Fragment:
        return Fragment(" ".join([name] * words), (), 1.0)

    found = [fragment("best", 30), fragment("huge", 5000), *(fragment("x", 5) for _ in range(12))]
    chosen = choose_fragments(found)
    assert chosen[-1].text.startswith("best")
    assert len(chosen) == 10
    assert not any("huge" in each.text for each in chosen)


def test_nothing_in_common_scores_zero(files: dict[str, str], holes: list[Hole]) -> None:
    found = jaccard_retriever({"a.py": "", "b.py": "\n\n"}).find_fragments(
        make_context(holes[0]), ""
    )
    assert [each.score for each in found] == [0.0]


def test_bm25_scores_are_rank_bm25s(files: dict[str, str]) -> None:
    windows, tokenizer = build_windows(files), Tokenizer()

    def terms(text: str) -> list[str]:
        return [t for word in re.findall(r"\w+", text) for t in tokenizer.identifier_terms(word)]

    query = "def build_index(source, store): return Snapshot"
    reference = BM25Okapi([terms(window.text) for window in windows]).get_scores(terms(query))
    assert Bm25Windows(windows, tokenizer).similarities(query) == pytest.approx(
        reference, rel=1e-4, abs=1e-4
    )


def test_bm25_obeys_the_same_rules(files: dict[str, str], holes: list[Hole]) -> None:
    retriever = bm25_retriever(files)
    assert isinstance(retriever, WindowRetriever)
    for hole in holes[-4:]:
        context = make_context(hole, budget_tokens=200)
        found = retriever.find_fragments(context, first_query(context))
        assert len(found) == 20
        for fragment in found:
            assert any(
                place.path != hole.path or place.span.end_line <= context.context_start
                for place in fragment.places
            )


def test_methods_are_named_after_what_they_do(files: dict[str, str]) -> None:
    jaccard, bm25 = jaccard_retriever(files), bm25_retriever(files)
    names = [RepoCoder(Silent(), r, n).name for r in (jaccard, bm25) for n in (1, 3)]
    assert names == ["rag", "repocoder", "rag-bm25", "repocoder-bm25"]
    assert max(Counter(names).values()) == 1
