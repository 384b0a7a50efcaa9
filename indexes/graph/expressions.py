"""Values of expressions other than names and calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from indexes.facts import (
    Attribute,
    Awaited,
    Call,
    Choice,
    ClassObject,
    Collection,
    Delegated,
    Element,
    Entered,
    Expr,
    Lambda,
    Literal,
    Name,
    Raised,
    Slice,
    Star,
    Subscript,
)
from indexes.graph.frames import Frame
from indexes.graph.values import EMPTY, ValueKind, ValueSet, union
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

Reader = Callable[..., ValueSet]
"""Gives the values of one kind of expression in a frame."""


class ExpressionEvaluator:
    """What attribute reads, displays, subscripts and the like give."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values

    def readers(self) -> dict[type, Reader]:
        """What evaluates each kind of expression; names and calls are not among them."""
        return {
            Attribute: self._attribute,
            Subscript: self._subscript,
            Collection: self._collection,
            Lambda: self._lambda,
            Choice: self._choice,
            Element: self._element,
            Entered: self._entered,
            Awaited: self._inner,
            Star: self._inner,
            Slice: self._slice,
            Raised: self._raised,
            Delegated: self._element,
            Literal: _nothing,
            ClassObject: _nothing,
        }

    def _attribute(self, expression: Attribute, frame: Frame) -> ValueSet:
        receivers = self._e.evaluate(expression.value, frame)
        if not receivers:
            return EMPTY
        read = self._e.members.attribute
        if len(receivers) == 1:
            (only,) = receivers
            return read(only, expression.attr, expression.line)
        return EMPTY.union(*[read(v, expression.attr, expression.line) for v in receivers])

    def _subscript(self, expression: Subscript, frame: Frame) -> ValueSet:
        values = self._e.evaluate(expression.value, frame)
        return union([self._e.protocols.item(value, expression.key) for value in values])

    def _collection(self, expression: Collection, frame: Frame) -> ValueSet:
        site = frame.file.first_site + expression.site
        for key, item in expression.items:
            values = self._e.evaluate(item, frame)
            if type(item) is Star or key == "**":
                for value in values:
                    self._e.put(site, "", self._e.protocols.iterate(value, 0))
            else:
                self._e.put(site, key, values)
        return self._values.only(ValueKind.CONTAINER, site)

    def _lambda(self, expression: Lambda, frame: Frame) -> ValueSet:
        return self._values.only(ValueKind.FUNCTION, frame.file.first_scope + expression.scope)

    def _choice(self, expression: Choice, frame: Frame) -> ValueSet:
        return union([self._e.evaluate(item, frame) for item in expression.items])

    def _inner(self, expression: Awaited | Star, frame: Frame) -> ValueSet:
        return self._e.evaluate(expression.value, frame)

    def _raised(self, expression: Raised, frame: Frame) -> ValueSet:
        calls, line = self._e.calls, expression.line
        values = self._e.evaluate(expression.value, frame)
        for value in values:
            if self._values.kinds[value] == ValueKind.CLASS:
                confidence = Confidence.INFERRED if self._e.dynamic else Confidence.CERTAIN
                calls.call(value, calls.nothing, line, confidence)
        return values

    def _slice(self, expression: Slice, frame: Frame) -> ValueSet:
        values = self._e.evaluate(expression.value, frame)
        if not expression.start:
            return values
        return frozenset([self._part(value, expression) for value in values])

    def _part(self, value: int, expression: Slice) -> int:
        """The elements between constant bounds, renumbered, if all positions are known."""
        if self._values.kinds[value] != ValueKind.CONTAINER:
            return value
        held = self._e.held(self._values.scope(value))
        if not held or not all(key.isdigit() for key, _ in held):
            return value
        start = int(expression.start)
        stop = int(expression.stop) if expression.stop else sys.maxsize
        pairs = {(str(int(k) - start), v) for k, v in held if start <= int(k) < stop}
        if not pairs:
            return value
        return self._values.number(ValueKind.CONTAINER, self._e.annotations.site(frozenset(pairs)))

    def _element(self, expression: Element | Delegated, frame: Frame) -> ValueSet:
        values = self._e.evaluate(expression.value, frame)
        return union([self._e.protocols.iterate(value, expression.line) for value in values])

    def _entered(self, expression: Entered, frame: Frame) -> ValueSet:
        values = self._e.evaluate(expression.value, frame)
        return union([self._e.protocols.enter(value, expression.line) for value in values])

    def is_direct(self, expression: Expr, frame: Frame) -> bool:
        """Whether names and attribute look-up alone say what the expression is."""
        if type(expression) is Name:
            name = expression.id
            while name not in frame.table and frame.outer is not None:
                frame = frame.outer
            return name in frame.sure
        if type(expression) is Attribute:
            inner = expression.value
            return type(inner) is not Attribute and self.is_direct(inner, frame)
        if type(expression) is Call and type(expression.function) is Name:
            if expression.function.id == "super":
                return True
            known = self._e.names.read(expression.function, frame)
            kinds = self._values.kinds
            classes = all(kinds[value] == ValueKind.CLASS for value in known)
            return classes and self.is_direct(expression.function, frame)
        return False


def _nothing(expression: Expr, frame: Frame) -> ValueSet:
    """Literals carry no callable."""
    return EMPTY
