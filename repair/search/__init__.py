"""Repair by search: templates propose, tests decide; no model, no network."""

from repair.search.model import Budget, PlausiblePatch, SearchReport, StopCause
from repair.search.mutation import MutationReport, MutationSurvivor, measure_mutation_score
from repair.search.template_search import TemplateSearch, find_template_repair

__all__ = [
    "Budget",
    "MutationReport",
    "MutationSurvivor",
    "PlausiblePatch",
    "SearchReport",
    "StopCause",
    "TemplateSearch",
    "find_template_repair",
    "measure_mutation_score",
]
