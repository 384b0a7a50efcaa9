"""Localization: from an issue and a snapshot to ranked entities with confidence and evidence."""

from graphloc.localization.localizer import Localizer
from graphloc.localization.model import Evidence, Localization, RankedEntity

__all__ = ["Evidence", "Localization", "Localizer", "RankedEntity"]
