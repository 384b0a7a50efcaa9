"""Classes: bases, method resolution order, attribute look-up, subclasses."""

from __future__ import annotations

from collections import defaultdict

from indexes.facts import Attribute, Call, Choice, Expr, Name, Subscript
from indexes.graph.program import Program, Slot
from indexes.graph.values import EMPTY, ValueKind, ValueSet

_DEEPEST = 12


class Hierarchy:
    """Inheritance among the classes of a program; class numbers are scope numbers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._bases: dict[int, tuple[int, ...]] = {}
        self._orders: dict[int, tuple[int, ...]] = {}
        self._foreign: dict[int, bool] = {}
        self._children: dict[int, list[int]] | None = None
        self._pending: set[int] = set()
        self._descendants: dict[int, list[int]] = {}
        self._members: dict[int, dict[str, tuple[int, list[Slot]] | None]] = {}

    def bases(self, cls: int) -> tuple[int, ...]:
        """Direct base classes that the repository defines, in order."""
        if cls not in self._bases:
            self._bases[cls] = ()  # a class that inherits from itself through names has no bases
            self._bases[cls] = self._find_bases(cls)
        return self._bases[cls]

    def _find_bases(self, cls: int) -> tuple[int, ...]:
        values = self._program.values
        found: list[int] = []
        foreign = False
        for expression in self._program.scopes[cls].bases:
            known = self.static_value(expression, self._program.parent(cls))
            classes = [values.scope(v) for v in sorted(known) if values.kinds[v] == ValueKind.CLASS]
            found += [base for base in classes if base != cls and base not in found]
            foreign = foreign or not classes
        self._foreign[cls] = foreign
        return tuple(found)

    def static_value(self, expression: Expr, scope: int, depth: int = 0) -> ValueSet:
        """Values of an expression as far as names, attributes of modules and aliases tell."""
        if depth > _DEEPEST:
            return EMPTY
        if type(expression) is Name:
            return self._static_name(scope, expression.id, depth)
        if type(expression) is Attribute:
            return self._static_attribute(expression, scope, depth)
        if type(expression) is Subscript:  # Generic[T]
            return self.static_value(expression.value, scope, depth + 1)
        if type(expression) is Choice:
            parts = [self.static_value(item, scope, depth + 1) for item in expression.items]
            return EMPTY.union(*parts)
        if type(expression) is Call:  # with_metaclass(Meta, Base) and the like
            parts = [
                self.static_value(item, scope, depth + 1)
                for item in expression.arguments[-1:]
                if item is not None
            ]
            return EMPTY.union(*parts)
        return EMPTY

    def _static_name(self, scope: int, name: str, depth: int) -> ValueSet:
        program = self._program
        known = program.static(scope, name)
        if known is not None:
            return known
        found = program.find(scope, name)
        if found is None:
            origin = program.star_origin(scope, name)
            return self._static_name(origin, name, depth + 1) if origin >= 0 else EMPTY
        parts = [self._static_slot(found[0], slot, depth) for slot in found[1]]
        return EMPTY.union(*parts)

    def _static_slot(self, scope: int, slot: Slot, depth: int) -> ValueSet:
        program = self._program
        if depth > _DEEPEST:
            return EMPTY
        if slot.definition >= 0:
            data = program.scopes[slot.definition]
            kind = ValueKind.CLASS if data.kind == "class" else ValueKind.FUNCTION
            return program.values.only(kind, slot.definition)
        if slot.imported is not None:
            path = program.linked(scope).path
            known = program.imported(slot.imported, path)
            if known is not None:
                return known
            origin = program.import_origin(slot.imported, path)
            name = slot.imported.name
            return self._static_name(origin, name, depth + 1) if origin >= 0 else EMPTY
        if slot.binding is not None:
            return self.static_value(slot.binding.value, slot.binding_scope, depth + 1)
        return EMPTY

    def _static_attribute(self, expression: Attribute, scope: int, depth: int) -> ValueSet:
        program = self._program
        parts: list[ValueSet] = []
        for value in self.static_value(expression.value, scope, depth + 1):
            kind = program.values.kinds[value]
            if kind == ValueKind.MODULE:
                module = program.module_object(program.values.scope(value))
                known = program.module_attribute(module, expression.attr)
                if known is None and module.file is not None:
                    inner = program.files[program.file_numbers[module.file]].first_scope
                    known = self._static_name(inner, expression.attr, depth + 1)
                parts.append(known or EMPTY)
            elif kind == ValueKind.CLASS:
                cls = program.values.scope(value)
                slots = program.table(cls).get(expression.attr, ())
                parts += [self._static_slot(cls, slot, depth + 1) for slot in slots]
            elif kind == ValueKind.EXTERNAL:
                dotted = f"{program.values.payloads[value][0]}.{expression.attr}"
                parts.append(program.values.only(ValueKind.EXTERNAL, dotted))
        return EMPTY.union(*parts)

    def order(self, cls: int) -> tuple[int, ...]:
        """Method resolution order: C3 linearization (https://www.python.org/download/releases/2.3/mro/).

        Bases outside the repository are left out. Where C3 has no answer (inconsistent or cyclic
        bases), depth first, each class once.
        """
        known = self._orders.get(cls)
        if known is not None:
            return known
        if cls in self._pending:
            return (cls,)
        self._pending.add(cls)
        bases = self.bases(cls)
        merged = _merge([list(self.order(base)) for base in bases] + [list(bases)])
        if merged is None:
            merged = list(dict.fromkeys(c for base in bases for c in self.order(base)))
        result = (cls, *(other for other in merged if other != cls))
        self._pending.discard(cls)
        self._orders[cls] = result
        return result

    def has_foreign_base(self, cls: int) -> bool:
        """Whether some class in the order has a base that the repository does not define."""
        return any(self._is_foreign(each) for each in self.order(cls))

    def _is_foreign(self, cls: int) -> bool:
        self.bases(cls)
        return self._foreign.get(cls, False)

    def lookup(self, cls: int, name: str) -> tuple[int, list[Slot]] | None:
        """The first class in the order whose body binds `name`, with its slots."""
        members = self._members.setdefault(cls, {})
        if name not in members:
            members[name] = self.lookup_after(cls, name, 0)
        return members[name]

    def lookup_after(self, cls: int, name: str, skip: int) -> tuple[int, list[Slot]] | None:
        """Like `lookup` without the first `skip` classes of the order."""
        for each in self.order(cls)[skip:]:
            slots = self._program.table(each).get(name)
            if slots:
                return each, slots
        return None

    def descendants(self, cls: int) -> list[int]:
        """All classes below a class, nearest first, each once."""
        known = self._descendants.get(cls)
        if known is not None:
            return known
        children = self._children_map()
        found: dict[int, None] = {}
        row = [cls]
        while row:
            row = [child for each in row for child in children.get(each, ()) if child not in found]
            found.update(dict.fromkeys(row))
        found.pop(cls, None)
        self._descendants[cls] = list(found)
        return self._descendants[cls]

    def _children_map(self) -> dict[int, list[int]]:
        if self._children is None:
            children: dict[int, list[int]] = defaultdict(list)
            for number, scope in enumerate(self._program.scopes):
                if scope.kind == "class":
                    for base in self.bases(number):
                        children[base].append(number)
            self._children = dict(children)
        return self._children


def _merge(sequences: list[list[int]]) -> list[int] | None:
    """C3's merge; `None` when the heads block each other."""
    result: list[int] = []
    sequences = [list(sequence) for sequence in sequences if sequence]
    while sequences:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            return None
        result.append(head)
        sequences = [[c for c in sequence if c != head] for sequence in sequences]
        sequences = [sequence for sequence in sequences if sequence]
    return result
