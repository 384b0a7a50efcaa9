"""From suspicious lines to edits worth trying, best first, no two with one meaning."""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from indexes.errors import InputError
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
from repair.candidates.template.relevance import header_lines, iter_relevant
from repair.candidates.template.scope import ScopeTable
from repair.candidates.template.source import FUNCTIONS, SourceModule, Unit
from repair.model import Variant

_Item = TypeVar("_Item", str, tuple[str, str])
_STATEMENT_SHARE = 0.9
"""Suspiciousness that an expression has of its statement, whose first line is what tracers see."""
_CROWDING = 0.5
"""Power of the number of proposals at one site by which each loses score: a template that proposes
a hundred things is less sure of each than one that proposes two, but not fifty times less."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    score: float
    order: int
    unit: Unit
    template: EditTemplate
    rewrite: Rewrite
    line: int


class TemplateEngine:
    """Edits of one file by templates.

    Parameters
    ----------
    module
        The file, parsed once.
    ingredients
        Names from other files.
    templates, priors
        What to apply, and how often each kind is the fix; see `priors`.
    """

    def __init__(
        self,
        module: SourceModule,
        *,
        ingredients: Ingredients | None = None,
        templates: Iterable[Template] = TEMPLATES,
        priors: Mapping[EditTemplate, float] = PRIORS,
    ) -> None:
        self.module = module
        self._ingredients = ingredients or Ingredients()
        self._priors = priors
        self._scopes = ScopeTable(module)
        self._templates = tuple(templates)

    @cached_property
    def _by_type(self) -> dict[type[ast.AST], list[Template]]:
        found: dict[type[ast.AST], list[Template]] = defaultdict(list)
        for template in self._templates:
            for type_ in template.on:
                found[type_].append(template)
        return found

    def iter_candidates(self, suspiciousness: Mapping[int, float]) -> Iterator[TemplateCandidate]:
        """Yield edits at suspicious lines, highest score first, ties in source order.

        Parameters
        ----------
        suspiciousness
            Score of each 1-based line, 0 to 1; lines without one are not edited.

        Notes
        -----
        The score is ``suspiciousness * prior * weight / n ** 0.5`` with n proposals of one template
        at one node. Edits that do not compile, that change nothing, and that give the function the
        same syntax tree as an earlier one are left out; that check is made as they are consumed.
        """
        proposals = sorted(self._proposals(suspiciousness), key=lambda p: (-p.score, p.order))
        seen: set[str | None] = {None}
        for proposal in proposals:
            if proposal.unit not in self._original_keys:
                key = self.module.edit_key(proposal.unit, ())
                self._original_keys[proposal.unit] = key
                seen.add(key)
            edits = proposal.rewrite.edits
            key = self.module.edit_key(proposal.unit, edits)
            if key in seen or key == self._original_keys[proposal.unit]:
                continue
            seen.add(key)
            variant = Variant(self.module.path, edits, _hot_unit(self.module, proposal))
            yield TemplateCandidate(
                variant, proposal.template, proposal.line, proposal.score, key or ""
            )

    @cached_property
    def _original_keys(self) -> dict[Unit, str | None]:
        return {}

    def _proposals(self, suspiciousness: Mapping[int, float]) -> Iterator[_Proposal]:
        order = 0
        for unit in self.module.units:
            last_line = unit.node.end_lineno or unit.first_line
            if not any(
                suspiciousness.get(n, 0.0) > 0 for n in range(unit.first_line, last_line + 1)
            ):
                continue
            for node in iter_relevant(unit.node):
                score = self._suspiciousness(node, suspiciousness)
                if score <= 0:
                    continue
                site = Site(self.module, self._scopes, unit, node, self._ingredients)
                for template in self._by_type.get(type(node), ()):
                    rewrites = list(template.rewrite(site))
                    base = score * self._priors[template.name] / (len(rewrites) or 1) ** _CROWDING
                    for rewrite in rewrites:
                        order += 1
                        line = min(header_lines(site.statement), default=unit.first_line)
                        yield _Proposal(
                            base * rewrite.weight, order, unit, template.name, rewrite, line
                        )

    def _suspiciousness(self, node: ast.AST, lines: Mapping[int, float]) -> float:
        own = max((lines.get(line, 0.0) for line in header_lines(node)), default=0.0)
        statement: ast.AST | None = node
        while statement is not None and not isinstance(statement, ast.stmt):
            statement = self.module.parents.get(statement)
        if statement is None or statement is node:
            return own
        around = max((lines.get(line, 0.0) for line in header_lines(statement)), default=0.0)
        return max(own, around * _STATEMENT_SHARE) if not math.isinf(around) else around


def _hot_unit(module: SourceModule, proposal: _Proposal) -> tuple[int, str] | None:
    """Return the function to replace in place; `None` if an edit lies outside of its body."""
    node = proposal.unit.node
    if not isinstance(node, FUNCTIONS):
        return None
    start = module.line_start(node.body[0].lineno)
    if node.body[0].lineno == node.lineno:
        start = module.span(node.body[0])[0]
    inside = all(
        start <= edit.start and edit.end <= proposal.unit.end + 2 for edit in proposal.rewrite.edits
    )
    return (proposal.unit.first_line, proposal.unit.name) if inside else None


def find_ingredients(sources: Iterable[bytes]) -> Ingredients:
    """Collect names from other files that parse; the most frequent first, ties by name."""
    attributes: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    members: Counter[tuple[str, str]] = Counter()
    for data in sources:
        try:
            tree = SourceModule("", data).tree
        except InputError:
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name):
                    attributes[name] += 1
                case ast.FunctionDef(name=name):
                    attributes[name] += 1
                case ast.Import(names=aliases):
                    modules.update(alias.name for alias in aliases if not alias.asname)
                case ast.ImportFrom(module=str(module), names=aliases, level=0):
                    members.update((module, alias.name) for alias in aliases if not alias.asname)
    return Ingredients(_ranked(attributes), _ranked(modules), _ranked(members))


def _ranked(counts: Counter[_Item]) -> tuple[_Item, ...]:
    return tuple(sorted(counts, key=lambda item: (-counts[item], item)))
