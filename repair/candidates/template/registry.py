"""All templates, in a fixed order."""

from __future__ import annotations

from repair.candidates.template import (
    calls,
    conditions,
    constants,
    definitions,
    flow,
    indexing,
    names,
    operators,
    statements,
    strings,
)
from repair.candidates.template.model import Template

TEMPLATES: tuple[Template, ...] = (
    *operators.TEMPLATES,
    *conditions.TEMPLATES,
    *constants.TEMPLATES,
    *names.TEMPLATES,
    *calls.TEMPLATES,
    *indexing.TEMPLATES,
    *statements.TEMPLATES,
    *flow.TEMPLATES,
    *strings.TEMPLATES,
    *definitions.TEMPLATES,
)
