"""Whether prose is English."""

from __future__ import annotations

import re

from graphloc.issue.model import IssueLanguage

_SAMPLE = 20_000
"""Characters looked at; more prose than that says nothing new."""
_MIN_WORDS = 12
_MIN_SHARE = 0.08
"""Function words make up 30 to 50% of English prose; other Latin-script languages stay under 5%
(they share a few such as "in" and "a")."""
_MAX_FOREIGN = 0.2
_FUNCTION_WORDS = frozenset(
    {"the", "is", "are", "was", "be", "to", "of", "and", "that", "this", "it", "for", "with", "not"}
    | {"when", "on", "as", "if", "from", "can", "should", "which", "have", "has", "but", "there"}
    | {"i", "you", "we", "would"}
)
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(prose: str) -> IssueLanguage:
    """Tell English from other languages by script and by the share of English function words.

    Texts of fewer than twelve words count as English unless their script says otherwise.
    """
    words = _WORD.findall(prose[:_SAMPLE].lower())
    letters = sum(map(len, words))
    foreign = sum(not character.isascii() for word in words for character in word)
    if letters and foreign > _MAX_FOREIGN * letters:
        return IssueLanguage.OTHER
    known = sum(word in _FUNCTION_WORDS for word in words)
    is_english = len(words) < _MIN_WORDS or known >= _MIN_SHARE * len(words)
    return IssueLanguage.ENGLISH if is_english else IssueLanguage.OTHER
