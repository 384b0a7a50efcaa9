"""Signals: each one a small unit that scores entities and files by one kind of evidence."""

from graphloc.localization.signals.base import Column, Signal, SignalColumns
from graphloc.localization.signals.lexical import LexicalSignal
from graphloc.localization.signals.naming import NameSignal
from graphloc.localization.signals.neighbors import NeighborSignal
from graphloc.localization.signals.past import HistorySignal
from graphloc.localization.signals.places import (
    FrameSignal,
    MessageSignal,
    PathSignal,
    PermalinkSignal,
)
from graphloc.localization.signals.priors import PriorSignal

__all__ = [
    "Column",
    "FrameSignal",
    "HistorySignal",
    "LexicalSignal",
    "MessageSignal",
    "NameSignal",
    "NeighborSignal",
    "PathSignal",
    "PermalinkSignal",
    "PriorSignal",
    "Signal",
    "SignalColumns",
    "default_signals",
]


def default_signals() -> tuple[Signal, ...]:
    """All signals, in the order in which evidence names them."""
    return (
        LexicalSignal(),
        NameSignal(),
        PathSignal(),
        FrameSignal(),
        PermalinkSignal(),
        MessageSignal(),
        HistorySignal(),
        NeighborSignal(),
        PriorSignal(),
    )
