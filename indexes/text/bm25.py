"""The BM25 formula, over numpy arrays: idf, length norms, saturation.

Follows Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with two variants of the idf.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]


class IdfVariant(StrEnum):
    """How rarity becomes weight.

    `OKAPI` is ``log((N - df + 0.5) / (df + 0.5))``, where a term of more than half of the documents
    gets `epsilon` times the vocabulary's mean idf instead: what ``rank_bm25.BM25Okapi`` computes.
    That floor can exceed the idf of rarer terms, and it depends on the whole vocabulary.

    `LUCENE` is ``log(1 + (N - df + 0.5) / (df + 0.5))``: always positive and falling in df, so a
    match never costs a document anything and frequent terms stay below rare ones. Small groups
    of documents (the files of a small package) need that most.
    """

    OKAPI = "okapi"
    LUCENE = "lucene"


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """Constants of the formula; the defaults are those of ``rank_bm25.BM25Okapi``."""

    k1: float = 1.5
    """How late a term's frequency saturates, >= 0."""
    b: float = 0.75
    """How much length counts, 0 to 1."""
    epsilon: float = 0.25
    """Share of the mean idf given to terms with negative Okapi idf."""
    idf: IdfVariant = IdfVariant.OKAPI


DEFAULT_PARAMETERS = Bm25Parameters()


def inverse_document_frequencies(
    document_frequencies: IntArray,
    n_docs: int,
    parameters: Bm25Parameters,
    average_idf: float,
) -> FloatArray:
    """Weigh terms by rarity; terms that no document has weigh 0.

    Parameters
    ----------
    document_frequencies : (n_terms,) int
        Number of documents that hold each term.
    average_idf : float
        What `average_okapi_idf` gives for the whole vocabulary; unused by `IdfVariant.LUCENE`.
    """
    if parameters.idf is IdfVariant.LUCENE:
        df = document_frequencies.astype(np.float64)
        idf = np.log1p((n_docs - df + 0.5) / (df + 0.5))
    else:
        idf = _okapi_idf(document_frequencies, n_docs)
        idf[idf < 0] = parameters.epsilon * average_idf
    idf[document_frequencies == 0] = 0.0
    return idf


def average_okapi_idf(document_frequencies: IntArray, n_docs: int) -> float:
    """Mean Okapi idf, negative ones included, of the terms that occur; 0 if none does."""
    occurring = document_frequencies[document_frequencies > 0]
    return float(_okapi_idf(occurring, n_docs).mean()) if occurring.size else 0.0


def _okapi_idf(document_frequencies: IntArray, n_docs: int) -> FloatArray:
    df = document_frequencies.astype(np.float64)
    return np.log(n_docs - df + 0.5) - np.log(df + 0.5)


def length_norms(lengths: IntArray | FloatArray, parameters: Bm25Parameters) -> FloatArray:
    """Return ``k1 * (1 - b + b * length / mean length)`` of each document, empty ones included.

    Returns
    -------
    (n_docs,) float64
    """
    total = float(lengths.sum(dtype=np.float64))
    scale = parameters.b * lengths.size / total if total else 0.0
    norms = parameters.k1 * (1.0 - parameters.b + scale * lengths)
    return np.asarray(norms, dtype=np.float64)


def saturate(frequencies: IntArray | FloatArray, norms: FloatArray, k1: float) -> FloatArray:
    """Return ``tf * (k1 + 1) / (tf + norm)`` for frequencies of at least 1."""
    return np.asarray(frequencies * (k1 + 1.0) / (frequencies + norms), dtype=np.float64)
