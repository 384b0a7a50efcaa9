"""What the text indexes are made of: for every entity its words by field, and its messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from indexes.facts import Definition, FileFacts, OwnerText
from indexes.graph import EntityTable
from indexes.text import PhraseIndex, PhraseIndexBuilder, TextIndex, TextIndexBuilder, Tokenizer

FIELDS = ("name", "context", "signature", "docstring", "body", "comments", "strings")
"""name: the entity's own; context: names of what is around it, and its path; signature: parameters,
annotations, bases, decorators; body: identifiers in code; the rest as it says."""
_WORD = re.compile(r"[^\W\d]\w*")
_MIN_MESSAGE_CHARS = 8


def build_text(
    files: Mapping[str, FileFacts],
    entities: EntityTable,
    owner_rows: list[list[int]],
    tokenizer: Tokenizer | None = None,
) -> tuple[TextIndex, PhraseIndex]:
    """Index the words of all entities; documents are numbered as rows of the table."""
    documents: list[dict[str, Counter[str]]] = [{} for _ in range(len(entities))]
    phrases = PhraseIndexBuilder()
    for (path, facts), rows in zip(files.items(), owner_rows, strict=True):
        _add_file(documents, path, facts, rows)
        for row, text in zip(rows, facts.texts, strict=True):
            messages = [text for text in text.strings if len(text) >= _MIN_MESSAGE_CHARS]
            if messages:
                phrases.add(row, messages)
    builder = TextIndexBuilder(FIELDS, tokenizer)
    for document in documents:
        builder.add(document)
    return builder.build(), phrases.build(len(entities))


def _add_file(
    documents: list[dict[str, Counter[str]]], path: str, facts: FileFacts, rows: list[int]
) -> None:
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0]
    if stem == "__init__":
        folder, _, stem = folder.rpartition("/")
    around = Counter(_WORD.findall(folder))
    _add(documents[rows[0]], "name", {stem: 1})
    _add(documents[rows[0]], "context", around)
    _add(documents[rows[0]], "docstring", Counter(_WORD.findall(facts.docstring)))
    _add_text(documents[rows[0]], facts.texts[0])
    around = around + Counter({stem: 1})
    for owner, definition in enumerate(facts.definitions, 1):
        document = documents[rows[owner]]
        _add_definition(document, definition, around)
        _add_text(document, facts.texts[owner])


def _add_definition(
    document: dict[str, Counter[str]], definition: Definition, around: Counter[str]
) -> None:
    *parents, name = definition.name.split(".")
    if "name" not in document:
        _add(document, "name", {name: 1})
        _add(document, "context", around + Counter(parents))
    words = Counter(_WORD.findall(definition.signature))
    for decorator in definition.decorators:
        words.update(_WORD.findall(decorator))
    _add(document, "signature", words)
    _add(document, "docstring", Counter(_WORD.findall(definition.docstring)))


def _add_text(document: dict[str, Counter[str]], text: OwnerText) -> None:
    _add(document, "body", text.words)
    if text.comments:
        _add(document, "comments", Counter(_WORD.findall(text.comments)))
    if text.strings:
        _add(document, "strings", Counter(_WORD.findall("\n".join(text.strings))))


def _add(document: dict[str, Counter[str]], field: str, words: Mapping[str, int]) -> None:
    if not words:
        return
    known = document.get(field)
    if known is None:
        document[field] = Counter(words)
    else:
        known.update(words)
