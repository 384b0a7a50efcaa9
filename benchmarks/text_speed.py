"""CPU time of text retrieval on one source tree, beside rank_bm25 in the same run.

    python benchmarks/text_speed.py TREE [--query-terms 300]

Parsing is not timed. Both sides get the same documents (the file, classes and functions of every
Python file) and the same tokenizer, cold, so that both builds begin with raw words.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from rank_bm25 import BM25Okapi

from indexes.facts import FileFacts
from indexes.parsing import extract_facts
from indexes.text import (
    Bm25Parameters,
    IdfVariant,
    PhraseIndex,
    PhraseIndexBuilder,
    TextIndex,
    TextIndexBuilder,
    Tokenizer,
    WindowIndex,
    build_windows,
)

FIELDS = ("name", "signature", "docstring", "body", "comments", "strings", "path")
PEER_FIELD = "body"
PEER_QUERY_TERMS = 20
"""rank_bm25 walks all documents for every term in Python, so its query is kept short."""
REPEATS = 5

Document = dict[str, dict[str, int]]
T = TypeVar("T")


def measure(work: Callable[[], T], repeats: int = 1) -> tuple[T, float]:
    """Result and least CPU seconds of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return result, best


def iter_documents(path: str, facts: FileFacts, tokenizer: Tokenizer) -> Iterator[Document]:
    """Documents of one file: its own, then one for each class and function."""
    names = [("", "", facts.docstring)] + [
        (definition.name, definition.signature, definition.docstring)
        for definition in facts.definitions
    ]
    for (name, signature, docstring), text in zip(names, facts.texts, strict=True):
        yield {
            "name": {name.rsplit(".", 1)[-1]: 1} if name else {},
            "signature": tokenizer.text_words(signature),
            "docstring": tokenizer.text_words(docstring),
            "body": text.words,
            "comments": tokenizer.text_words(text.comments),
            "strings": tokenizer.text_words("\n".join(text.strings)),
            "path": {} if name else dict(Counter(Path(path).with_suffix("").parts)),
        }


def build_index(documents: list[Document]) -> TextIndex:
    """One cold build, tokenizer included."""
    builder = TextIndexBuilder(FIELDS)
    for document in documents:
        builder.add(document)
    return builder.build()


def reload(index: TextIndex) -> TextIndex:
    """What loading costs once the store has handed over its bytes."""
    loaded = TextIndex.from_arrays(index.to_arrays())
    loaded.scores("name", ["first"])
    return loaded


def report_bm25(documents: list[Document], groups: np.ndarray, n_terms: int) -> None:
    """Build, load and query times, and the ratios to rank_bm25 on one field."""
    pairs = sum(len(words) for document in documents for words in document.values())
    index, build_s = measure(lambda: build_index(documents), 2)
    _, load_s = measure(lambda: reload(index), REPEATS)
    size = sum(array.nbytes for array in index.to_arrays().values())
    random = np.random.default_rng(0)
    numbers = random.choice(len(index.vocabulary), n_terms, replace=False)
    frequent = [term for term, _ in peer_counts(documents).most_common(n_terms // 10)]
    query = [index.vocabulary[int(number)].decode() for number in numbers][: -len(frequent)]
    query += frequent
    lucene = Bm25Parameters(idf=IdfVariant.LUCENE)
    n_groups = int(groups.max()) + 1
    print(f"documents {len(documents)}  pairs {pairs}  terms {len(index.vocabulary)}")
    print(f"build {build_s:.2f} s  load {load_s * 1e3:.1f} ms  arrays {size / 1e6:.1f} MB")
    for name, parameters in (("okapi", Bm25Parameters()), ("lucene", lucene)):
        _, query_s = measure(
            lambda p=parameters: [index.scores(field, query, p) for field in FIELDS], REPEATS
        )
        _, group_s = measure(
            lambda p=parameters: [
                index.group_scores(field, query, groups, n_groups, p) for field in FIELDS
            ],
            REPEATS,
        )
        print(
            f"{n_terms} terms, {len(FIELDS)} fields, {name}: documents {query_s * 1e3:.1f} ms  "
            f"{n_groups} files {group_s * 1e3:.1f} ms"
        )
    report_peer(documents, query[-PEER_QUERY_TERMS:])


def peer_counts(documents: list[Document]) -> Counter[str]:
    """Terms of the field that rank_bm25 is given, by number of documents."""
    tokenizer = Tokenizer()
    return Counter(
        term
        for document in documents
        for term in {t for word in document[PEER_FIELD] for t in tokenizer.identifier_terms(word)}
    )


def report_peer(documents: list[Document], query: list[str]) -> None:
    """The same field on both sides; scores must agree."""

    def tokenize() -> list[list[str]]:
        tokenizer = Tokenizer()
        return [
            [
                term
                for word, count in document[PEER_FIELD].items()
                for term in tokenizer.identifier_terms(word) * count
            ]
            for document in documents
        ]

    one_field = [{"body": document[PEER_FIELD]} for document in documents]
    ours, our_build_s = measure(lambda: build_index(one_field))
    corpus, tokenize_s = measure(tokenize)
    peer, peer_build_s = measure(lambda: BM25Okapi(corpus))
    peer_build_s += tokenize_s
    scores, our_query_s = measure(lambda: ours.scores("body", query), REPEATS)
    expected, peer_query_s = measure(lambda: peer.get_scores(query))
    np.testing.assert_allclose(scores, expected, atol=1e-3)
    print(
        f"one field: build {our_build_s:.2f} s against rank_bm25's {peer_build_s:.2f} s "
        f"({tokenize_s:.2f} s of it tokenizing) "
        f"({peer_build_s / our_build_s:.1f} times as fast); {len(query)} terms "
        f"{our_query_s * 1e3:.1f} ms against {peer_query_s * 1e3:.0f} ms "
        f"({peer_query_s / our_query_s:.0f} times as fast)"
    )


def report_phrases(facts: list[FileFacts], issue: str) -> None:
    """Build, load and query times of the message index."""

    def build() -> PhraseIndex:
        builder, doc = PhraseIndexBuilder(), 0
        for file_facts in facts:
            for doc, text in enumerate(file_facts.texts, doc):  # noqa: B020
                builder.add(doc, text.strings)
            doc += 1
        return builder.build(doc)

    index, build_s = measure(build)
    size = sum(array.nbytes for array in index.to_arrays().values())
    matches, query_s = measure(lambda: index.find_matches(issue), REPEATS)
    print(
        f"phrases: build {build_s:.2f} s  arrays {size / 1e6:.1f} MB  query of "
        f"{len(issue.split())} words {query_s * 1e3:.1f} ms, {len(matches)} matches"
    )


def report_windows(files: dict[str, str]) -> None:
    """Build and query times of Jaccard windows."""
    windows, cut_s = measure(lambda: build_windows(files))
    index, build_s = measure(lambda: WindowIndex(windows))
    query = windows[len(windows) // 2].text
    _, query_s = measure(lambda: index.search(query), REPEATS)
    print(
        f"windows: {len(windows)}  cut {cut_s:.2f} s  index {build_s:.2f} s  "
        f"query {query_s * 1e3:.1f} ms"
    )


def main() -> None:
    """Run all measurements on the tree named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--query-terms", type=int, default=300)
    options = parser.parse_args()
    data = {
        path.relative_to(options.tree).as_posix(): path.read_bytes()
        for path in sorted(options.tree.rglob("*.py"))
    }
    facts = {path: extract_facts(source) for path, source in data.items()}
    tokenizer = Tokenizer()
    documents, text_s = measure(
        lambda: [
            document
            for path, file_facts in facts.items()
            for document in iter_documents(path, file_facts, tokenizer)
        ]
    )
    print(f"words of docstrings, comments and strings: {text_s:.2f} s")
    sizes = [len(file_facts.texts) for file_facts in facts.values()]
    report_bm25(documents, np.repeat(np.arange(len(sizes)), sizes), options.query_terms)
    longest = max((f.docstring for f in facts.values()), key=len)
    report_phrases(list(facts.values()), longest[:5000])
    report_windows({path: source.decode(errors="replace") for path, source in data.items()})


if __name__ == "__main__":
    main()
