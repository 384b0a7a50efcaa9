"""Ensembles of regression trees, evaluated with numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexes.arrays import Arrays

_Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class TreeEnsemble:
    """Sum of regression trees over named columns.

    Attributes
    ----------
    columns
        Names of the matrix's columns, in order.
    features, lefts, rights
        (n_trees, n_nodes) int16: column tested at a node, and the nodes behind it; a leaf points to
        itself on both sides.
    thresholds
        (n_trees, n_nodes) float32: a value not above it goes left.
    values
        (n_trees, n_nodes) float32: a leaf's output; 0 at inner nodes.
    depth
        Longest way to a leaf.
    """

    columns: tuple[str, ...]
    features: npt.NDArray[np.int16]
    thresholds: npt.NDArray[np.float32]
    lefts: npt.NDArray[np.int16]
    rights: npt.NDArray[np.int16]
    values: npt.NDArray[np.float32]
    depth: int

    def predict(
        self, names: Sequence[str], matrix: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """(n,) outputs for the rows of a matrix whose columns have these names.

        A column that the trees know and the matrix has not counts as 0. O(n * trees * depth).
        """
        rows = np.ascontiguousarray(self._arrange(names, matrix), dtype=np.float32)
        n, n_columns = rows.shape
        cells = rows.ravel()
        row_starts = np.arange(n, dtype=np.int32) * n_columns
        features, thresholds, children, roots = self._flat
        at = np.repeat(roots[:, None], n, axis=1)
        for _ in range(self.depth):
            goes_right = cells.take(features.take(at) + row_starts) > thresholds.take(at)
            at = children.take(2 * at + goes_right)
        sums = self.values.ravel().take(at).sum(axis=0, dtype=np.float64)
        return np.asarray(sums, dtype=np.float32)

    @cached_property
    def _flat(self) -> tuple[_Numbers, npt.NDArray[np.float32], _Numbers, _Numbers]:
        """Column and threshold of each node, its children side by side, and each tree's root.

        Nodes of all trees are numbered through, so that one `take` serves them all.
        """
        n_trees, n_nodes = self.features.shape
        roots = np.arange(n_trees, dtype=np.int32) * n_nodes
        children = np.stack([self.lefts, self.rights], axis=2) + roots[:, None, None]
        features = self.features.ravel().astype(np.int32)
        return features, self.thresholds.ravel(), children.ravel().astype(np.int32), roots

    def _arrange(
        self, names: Sequence[str], matrix: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        if tuple(names) == self.columns:
            return matrix
        places = {name: place for place, name in enumerate(names)}
        arranged = np.zeros((len(matrix), len(self.columns)), dtype=np.float32)
        for column, name in enumerate(self.columns):
            if name in places:
                arranged[:, column] = matrix[:, places[name]]
        return arranged

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The trees as arrays; the columns' names are kept elsewhere."""
        return {
            "features": self.features,
            "thresholds": self.thresholds,
            "lefts": self.lefts,
            "rights": self.rights,
            "values": self.values,
            "depth": np.array([self.depth], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, columns: Sequence[str], arrays: Arrays) -> TreeEnsemble:
        """Inverse of `to_arrays`."""
        return cls(
            tuple(columns),
            arrays["features"],
            arrays["thresholds"],
            arrays["lefts"],
            arrays["rights"],
            arrays["values"],
            int(arrays["depth"][0]),
        )
