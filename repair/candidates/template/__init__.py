"""Edits by templates: small, common repairs at suspicious lines, no model needed."""

from repair.candidates.template.engine import TemplateEngine, find_ingredients
from repair.candidates.template.model import (
    EditTemplate,
    Ingredients,
    Rewrite,
    Site,
    Template,
    TemplateCandidate,
)
from repair.candidates.template.priors import PRIORS
from repair.candidates.template.registry import TEMPLATES
from repair.candidates.template.source import SourceModule

__all__ = [
    "PRIORS",
    "TEMPLATES",
    "EditTemplate",
    "Ingredients",
    "Rewrite",
    "Site",
    "SourceModule",
    "Template",
    "TemplateCandidate",
    "TemplateEngine",
    "find_ingredients",
]
