"""Figures of merit: exact match, edit similarity, pass@k.

Exact match and edit similarity are RepoCoder's, https://arxiv.org/abs/2303.12570 (section 4.3):
blank lines and the blanks around each line do not count. pass@k is Chen et al.,
"Evaluating Large Language Models Trained on Code", https://arxiv.org/abs/2107.03374.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexes.errors import InputError


def is_exact_match(prediction: str, truth: str) -> bool:
    """Whether both have the same lines, blank ones and outer blanks left out."""
    return _lines(prediction) == _lines(truth)


def edit_similarity(prediction: str, truth: str) -> float:
    """Return 1 - Levenshtein distance / length of the longer, in [0, 1]; 1 for two empty ones.

    Texts are compared by character, after `is_exact_match`'s clean-up. O(len * len).
    """
    first, second = ("\n".join(_lines(text)) for text in (prediction, truth))
    longer = max(len(first), len(second))
    return 1.0 - _distance(first, second) / longer if longer else 1.0


def pass_at_k(n_samples: int, n_correct: int, k: int) -> float:
    """Estimate without bias the probability that one of k samples is correct.

    ``1 - C(n - c, k) / C(n, k)``, as a product, which cannot overflow.

    Raises
    ------
    InputError
        Fewer samples than k, or figures that cannot be.
    """
    if not (0 <= n_correct <= n_samples and 1 <= k <= n_samples):
        raise InputError(f"pass@{k} cannot be told from {n_correct} of {n_samples} samples")
    miss = 1.0
    for i in range(n_samples - n_correct + 1, n_samples + 1):
        miss *= max(0.0, 1.0 - k / i)
    return 1.0 - miss


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float:
    """Return the mean of `pass_at_k` over problems given as (samples, correct); 0 for none."""
    values = [pass_at_k(n, c, k) for n, c in counts]
    return sum(values) / len(values) if values else 0.0


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _distance(first: Sequence[str], second: Sequence[str]) -> int:
    if len(first) < len(second):
        first, second = second, first
    row = list(range(len(second) + 1))
    for number, left in enumerate(first, 1):
        above, row[0] = row[0], number
        for column, right in enumerate(second, 1):
            change = above + (left != right)
            above = row[column]
            row[column] = min(change, above + 1, row[column - 1] + 1)
    return row[-1]
