"""Postings seen by groups of documents: every group as if it were one document."""

from __future__ import annotations

import numpy as np

from indexes.text.bm25 import FloatArray, average_okapi_idf
from indexes.text.postings import Int64Array, Postings


def group_frequencies(
    postings: Postings, term_ids: Int64Array, groups: Int64Array, n_groups: int
) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Sum up the frequencies of some terms within each group.

    Parameters
    ----------
    groups : (n_docs,) int64
        Each document's group; `n_groups` for documents to leave out.

    Returns
    -------
    rows, columns, frequencies : (n,) int64, (n,) int64, (n,) float64
        Position in `term_ids`, group, and frequency > 0 of each pair that occurs.
    """
    positions = postings.positions(term_ids)
    rows = np.repeat(np.arange(term_ids.size), postings.document_frequencies(term_ids))
    width = n_groups + 1
    sums = np.bincount(
        rows * width + groups[postings.docs[positions]],
        weights=postings.frequencies[positions],
        minlength=term_ids.size * width,
    )
    cells = np.flatnonzero(sums)
    rows, columns = cells // width, cells % width
    inside = columns < n_groups
    return rows[inside], columns[inside], np.asarray(sums[cells[inside]], dtype=np.float64)


def average_group_idf(postings: Postings, groups: Int64Array, n_groups: int) -> float:
    """Mean Okapi idf of the field's terms, with groups as the documents.

    Takes the groups as `group_frequencies` does. Complexity: O(n_postings), or O(n log n) if
    groups do not ascend with documents.
    """
    width = n_groups + 1
    n_terms = postings.indptr.size - 1
    rows = np.repeat(np.arange(n_terms), np.diff(postings.indptr))
    columns = groups[postings.docs]
    inside = columns < n_groups
    rows, cells = rows[inside], (rows * width + columns)[inside]
    steps = np.diff(cells, prepend=-1)
    if (steps < 0).any():
        cells.sort()
        rows, steps = cells // width, np.diff(cells, prepend=-1)
    return average_okapi_idf(np.bincount(rows[steps > 0], minlength=n_terms), n_groups)
