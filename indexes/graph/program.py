"""All files of a snapshot linked together, as far as names alone decide it.

Scopes of all files get one running number. What can be said without following values is said here:
which scope a name belongs to, what an import binds, which bases a class has, in which order its
attributes are looked up. `indexes.graph.evaluation` asks the rest.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from indexes.facts import Binding, FileFacts, Import, Name, Parameter, Scope
from indexes.graph.modules import Module, ModuleMap
from indexes.graph.values import EMPTY, ValueKind, Values, ValueSet
from indexes.model import is_test_path

_BUILTINS = frozenset(dir(builtins))


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One way a name is bound in a scope; exactly one of four is set."""

    definition: int = -1
    """Scope of a class or function."""
    imported: Import | None = None
    binding: Binding | None = None
    binding_scope: int = -1
    """Where the binding's value is evaluated (not the name's own scope after ``global``)."""
    parameter: Parameter | None = None


Table: TypeAlias = dict[str, list[Slot]]


@dataclass(slots=True)
class LinkedFile:
    """One file's place in the program."""

    path: str
    facts: FileFacts
    first_scope: int
    first_site: int
    module: int
    """Value number of the file's module."""
    is_test: bool
    stars: list[Import] = field(default_factory=list)
    tables: dict[int, Table] = field(default_factory=dict)


class Program:
    """The linked files.

    Parameters
    ----------
    files
        Facts by path. The order of paths decides all numbering, so sort them.
    """

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.values = Values()
        self.modules = ModuleMap(files)
        self.files: list[LinkedFile] = []
        self.file_numbers: dict[str, int] = {}
        self.scopes: list[Scope] = []
        self.file_of: list[int] = []
        self.parents: list[int] = []
        """The scope around each scope, or -1."""
        self._module_objects: list[Module] = []
        self._module_numbers: dict[Module, int] = {}
        self._static: dict[tuple[int, str], ValueSet | None] = {}
        self._found: dict[tuple[int, str], tuple[int, list[Slot]] | None] = {}
        self._pending: set[tuple[int, str]] = set()
        self._origins: dict[tuple[int, str], int] = {}
        for path, facts in files.items():
            self._add(path, facts)

    def _add(self, path: str, facts: FileFacts) -> None:
        number = len(self.files)
        first_site = self.files[-1].first_site + 1_000_000 if self.files else 0
        module = self._module_value(_as_module(path))
        linked = LinkedFile(path, facts, len(self.scopes), first_site, module, is_test_path(path))
        self.file_numbers[path] = number
        self.files.append(linked)
        self.scopes.extend(facts.scopes)
        self.file_of.extend([number] * len(facts.scopes))
        base = linked.first_scope
        self.parents.extend([s.parent + base if s.parent >= 0 else -1 for s in facts.scopes])
        _fill_tables(linked)

    # --- scopes -----------------------------------------------------------------------------

    def linked(self, scope: int) -> LinkedFile:
        """The file that holds a scope."""
        return self.files[self.file_of[scope]]

    def parent(self, scope: int) -> int:
        """The scope around a scope, or -1."""
        return self.parents[scope]

    def table(self, scope: int) -> Table:
        """Names bound in a scope."""
        linked = self.linked(scope)
        return linked.tables.get(scope - linked.first_scope, _NO_TABLE)

    def find(self, scope: int, name: str) -> tuple[int, list[Slot]] | None:
        """The scope a name read in `scope` belongs to, and its slots there; `None` if not bound.

        Python's rule: the scope itself, then enclosing functions (classes are passed over), then
        the module.
        """
        key = (scope, name)
        if key not in self._found:
            self._found[key] = self._find(scope, name)
        return self._found[key]

    def _find(self, scope: int, name: str) -> tuple[int, list[Slot]] | None:
        at, first = scope, True
        while at >= 0:
            data = self.scopes[at]
            if first or data.kind != "class":
                if name in data.globals:
                    at = self.linked(scope).first_scope
                slots = self.table(at).get(name)
                if slots and name not in data.nonlocals:
                    return at, slots
            first = False
            at = self.parent(at)
        return None

    # --- what names alone decide ------------------------------------------------------------

    def static(self, scope: int, name: str) -> ValueSet | None:
        """Values of a name read in `scope` if definitions and imports alone bind it, else `None`.

        A name that nothing binds is a builtin or, with a star import of something unknown, opaque.
        """
        key = (scope, name)
        if key in self._static:
            return self._static[key]
        if key in self._pending:
            return EMPTY
        self._pending.add(key)
        found = self.find(scope, name)
        if found is None:
            result: ValueSet | None = self._unbound(scope, name)
        else:
            result = self._static_slots(found[0], found[1])
        self._pending.discard(key)
        self._static[key] = result
        return result

    def _unbound(self, scope: int, name: str) -> ValueSet | None:
        starred = self._through_stars(scope, name)
        if starred is not None:
            return starred[0]
        if name in _BUILTINS:
            return self.values.only(ValueKind.EXTERNAL, f"builtins.{name}")
        return EMPTY

    def _through_stars(self, scope: int, name: str) -> tuple[ValueSet | None] | None:
        origin = self.star_origin(scope, name)
        return None if origin < 0 else (self.static(origin, name),)

    def star_origin(self, scope: int, name: str) -> int:
        """Module scope that star imports, of whatever length of chain, take `name` from, or -1."""
        key = (self.file_of[scope], name)
        if key not in self._origins:
            self._origins[key] = self._find_origin(key[0], name, {key[0]})
        return self._origins[key]

    def _find_origin(self, file: int, name: str, seen: set[int]) -> int:
        """Depth first, later imports before earlier ones; modules may import each other."""
        linked = self.files[file]
        for item in reversed(linked.stars):
            module = self._import_module(item, linked.path)
            if module is None or module.file is None:
                continue
            number = self.file_numbers[module.file]
            if number in seen or self._is_hidden(number, name):
                continue
            seen.add(number)
            scope = self.files[number].first_scope
            if self.find(scope, name):
                return scope
            deeper = self._find_origin(number, name, seen)
            if deeper >= 0:
                return deeper
        return -1

    def _is_hidden(self, file: int, name: str) -> bool:
        """Whether a star import of a module leaves a name out."""
        exports = self.files[file].facts.exports
        return name not in exports if exports is not None else name.startswith("_")

    def _static_slots(self, scope: int, slots: Sequence[Slot]) -> ValueSet | None:
        result: set[int] = set()  # generated files bind one name thousands of times
        for slot in slots:
            if slot.definition >= 0:
                data = self.scopes[slot.definition]
                if data.decorators:
                    return None
                kind = ValueKind.CLASS if data.kind == "class" else ValueKind.FUNCTION
                result |= self.values.only(kind, slot.definition)
            elif slot.imported is not None:
                values = self.imported(slot.imported, self.linked(scope).path)
                if values is None:
                    return None
                result |= values
            else:
                return None
        return frozenset(result)

    def imported(self, item: Import, path: str) -> ValueSet | None:
        """Values an import binds; `None` where they depend on assignments of another file."""
        module = self._import_module(item, path)
        dotted = f"{'.' * item.level}{item.module}"
        if module is None:
            if not item.name:
                name = item.module if item.alias else item.module.split(".", 1)[0]
                return self.values.only(ValueKind.EXTERNAL, name)
            return self.values.only(ValueKind.EXTERNAL, f"{dotted}.{item.name}")
        if not item.name:
            if item.alias:
                return self.module_values(module)
            top = self.modules.resolve(item.module.split(".", 1)[0], path)
            return self.module_values(top or module)
        return self.module_attribute(module, item.name)

    def import_origin(self, item: Import, path: str) -> int:
        """Module scope whose variable an import binds, or -1."""
        module = self._import_module(item, path)
        if module is None or module.file is None or not item.name:
            return -1
        return self.files[self.file_numbers[module.file]].first_scope

    def _import_module(self, item: Import, path: str) -> Module | None:
        if item.level:
            return self.modules.resolve_relative(item.module, item.level, path)
        return self.modules.resolve(item.module, path)

    def resolve_import(self, item: Import, path: str) -> Module | None:
        """The module an import statement names, if the repository holds it."""
        return self._import_module(item, path)

    def module_attribute(self, module: Module, name: str) -> ValueSet | None:
        """Values of ``module.name``; `None` where they depend on assignments."""
        if module.file is not None:
            scope = self.files[self.file_numbers[module.file]].first_scope
            if self.find(scope, name) is not None or self._through_stars(scope, name) is not None:
                own = self.static(scope, name)
                if own != EMPTY:
                    return own
        below = self.modules.submodule(module, name)
        return self.module_values(below) if below is not None else EMPTY

    def module_values(self, module: Module) -> ValueSet:
        """The set of just this module."""
        return self.values.singleton(self._module_value(module))

    def module_object(self, number: int) -> Module:
        """The module that a `MODULE` value's payload names."""
        return self._module_objects[number]

    def _module_value(self, module: Module) -> int:
        number = self._module_numbers.get(module)
        if number is None:
            number = self._module_numbers[module] = len(self._module_objects)
            self._module_objects.append(module)
        return self.values.number(ValueKind.MODULE, number)


_NO_TABLE: Table = {}


def _as_module(path: str) -> Module:
    folder, _, name = path.rpartition("/")
    return Module(folder if name.startswith("__init__.") else None, path)


def _fill_tables(linked: LinkedFile) -> None:
    """Enter every binding of the file into the table of the scope that its name belongs to."""
    facts, base = linked.facts, linked.first_scope
    for owner, definition in enumerate(facts.definitions, 1):
        simple = definition.name.rsplit(".", 1)[-1]
        _enter(linked, definition.parent, simple, Slot(base + owner))
    for item in facts.imports:
        if item.name == "*":
            linked.stars.append(item)
        else:
            bound = item.alias or item.module.split(".", 1)[0]
            _enter(linked, item.scope, bound, Slot(-1, item))
    for index, scope in enumerate(facts.scopes):
        if not scope.parameters and not scope.bindings:
            continue
        table = linked.tables.setdefault(index, {})
        for parameter in scope.parameters:
            table.setdefault(parameter.name, []).append(Slot(-1, None, None, -1, parameter))
        moved = scope.globals or scope.nonlocals
        for binding in scope.bindings:
            target = binding.target
            if type(target) is Name:
                slot = Slot(-1, None, binding, base + index)
                if moved:
                    _enter(linked, index, target.id, slot)
                else:
                    table.setdefault(target.id, []).append(slot)


def _enter(linked: LinkedFile, scope: int, name: str, slot: Slot) -> None:
    data = linked.facts.scopes[scope]
    if name in data.globals:
        scope = 0
    elif name in data.nonlocals:
        scope = _nonlocal_scope(linked, scope, name)
    linked.tables.setdefault(scope, {}).setdefault(name, []).append(slot)


def _nonlocal_scope(linked: LinkedFile, scope: int, name: str) -> int:
    """The enclosing function that binds a nonlocal name; the nearest one when none does yet."""
    at = linked.facts.scopes[scope].parent
    nearest = at
    while at > 0:
        if name in linked.tables.get(at, {}) or any(
            type(binding.target) is Name and binding.target.id == name
            for binding in linked.facts.scopes[at].bindings
        ):
            return at
        at = linked.facts.scopes[at].parent
    return max(nearest, 0)
