"""Text retrieval over a repository: words to terms, BM25 by field, messages, Jaccard windows."""

from indexes.text.bm25 import Bm25Parameters, IdfVariant
from indexes.text.builder import TextIndexBuilder
from indexes.text.errors import UnknownFieldError
from indexes.text.index import TextIndex
from indexes.text.phrases import PhraseIndex, PhraseIndexBuilder, PhraseMatch
from indexes.text.tokenizer import Tokenizer, split_identifier, tokenizer_version
from indexes.text.windows import Window, WindowIndex, WindowPlace, build_windows

__all__ = [
    "Bm25Parameters",
    "IdfVariant",
    "PhraseIndex",
    "PhraseIndexBuilder",
    "PhraseMatch",
    "TextIndex",
    "TextIndexBuilder",
    "Tokenizer",
    "UnknownFieldError",
    "Window",
    "WindowIndex",
    "WindowPlace",
    "build_windows",
    "split_identifier",
    "tokenizer_version",
]
