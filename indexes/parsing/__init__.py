"""From source bytes to facts. One module a language; tree-sitter queries beside it."""

from indexes.parsing.python import MAX_SOURCE_BYTES, extract_facts, outline

__all__ = ["MAX_SOURCE_BYTES", "extract_facts", "outline"]
