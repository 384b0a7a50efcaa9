"""The flow summary of a file: its scopes, imports, bindings, returns and calls."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from tree_sitter import Node

from indexes.facts import (
    Binding,
    Element,
    Entered,
    Expr,
    Import,
    Literal,
    Parameter,
    Raised,
    Scope,
    Slice,
    Subscript,
)
from indexes.parsing.annotations import AnnotationReader
from indexes.parsing.expressions import UNKNOWN, ExpressionReader
from indexes.parsing.outline import Outline, innermost_marks
from indexes.parsing.overwrites import find_overwritten
from indexes.parsing.tree import SourceTree, first_child, kind_ids, python_language

_POSITIONAL, _EITHER, _VARARGS, _KEYWORD_ONLY, _KWARGS = range(5)
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list"})


@dataclass(slots=True)
class _ScopeDraft:
    """A scope while its file is read."""

    kind: str
    parent: int
    owner: int
    parameters: tuple[Parameter, ...] = ()
    returns: list[Expr] = field(default_factory=list)
    yields: list[Expr] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    effects: list[Expr] = field(default_factory=list)
    bases: list[Expr] = field(default_factory=list)
    decorators: list[Expr] = field(default_factory=list)
    return_annotation: Expr | None = None
    globals: list[str] = field(default_factory=list)
    nonlocals: list[str] = field(default_factory=list)
    is_async: bool = False
    metaclass: Expr | None = None

    def freeze(self) -> Scope:
        return Scope(
            self.kind,
            self.parent,
            self.owner,
            self.parameters,
            tuple(self.returns),
            tuple(self.yields),
            tuple(self.bindings),
            tuple(self.effects),
            tuple(self.bases),
            tuple(self.decorators),
            self.return_annotation,
            tuple(self.globals),
            tuple(self.nonlocals),
            self.is_async,
            self.metaclass,
        )


@dataclass(frozen=True, slots=True)
class Flow:
    """What `read_flow` returns."""

    scopes: tuple[Scope, ...]
    imports: tuple[Import, ...]
    exports: tuple[str, ...] | None
    too_deep: tuple[int, ...]
    """Lines of expressions that were nested too deep to follow."""


class FlowReader:
    """One pass over the captures of one file, in the order of `read`."""

    def __init__(
        self, source: SourceTree, captures: dict[str, list[Node]], outline: Outline
    ) -> None:
        self._source = source
        self._captures = captures
        self._outline = outline
        self._annotations = AnnotationReader()
        self._scopes: list[_ScopeDraft] = [_ScopeDraft("module", -1, 0)]
        self._imports: list[Import] = []
        self._exports: list[str] | None = None
        self._scope_marks: tuple[list[int], list[int]] = ([0], [0])
        self._expressions = ExpressionReader(source, {})
        self._identifier = kind_ids("identifier")
        self._equals = python_language().id_for_node_kind("=", False)

    def read(self) -> Flow:
        """Read everything: definitions first, then statements, loose calls last."""
        self._open_scopes()
        self._read_definitions()
        self._read_lambdas()
        self._read_imports()
        self._read_statements()
        self._read_loose_expressions()
        return Flow(
            tuple(draft.freeze() for draft in self._scopes),
            tuple(self._imports),
            tuple(self._exports) if self._exports is not None else None,
            tuple(sorted(self._expressions.too_deep)),
        )

    # --- scopes -----------------------------------------------------------------------------

    def _open_scopes(self) -> None:
        for number, definition in enumerate(self._outline.definitions, 1):
            kind = "class" if definition.is_class else "function"
            draft = _ScopeDraft(kind, definition.parent, number, is_async=definition.is_async)
            self._scopes.append(draft)
        spans = [
            (body.start_byte, node.end_byte, number)
            for number, node in enumerate(self._outline.nodes, 1)
            if (body := node.child_by_field_name("body")) is not None
        ]
        self._scope_marks = innermost_marks(spans)
        lambdas = sorted(self._captures.get("lambda", []), key=lambda node: node.start_byte)
        for index, node in enumerate(lambdas, len(self._scopes)):
            self._expressions.lambdas[node.start_byte] = index
            spans.append((first_byte_of_body(node), node.end_byte, index))
        if lambdas:
            self._scope_marks = innermost_marks(sorted(spans))
        for node in lambdas:
            parent = self._scope_index(node.start_byte)
            self._scopes.append(_ScopeDraft("lambda", parent, self._scopes[parent].owner))

    def _scope_index(self, offset: int) -> int:
        marks, numbers = self._scope_marks
        return numbers[bisect_right(marks, offset) - 1]

    def _scope_at(self, offset: int) -> _ScopeDraft:
        return self._scopes[self._scope_index(offset)]

    def _read_definitions(self) -> None:
        for number, node in enumerate(self._outline.nodes, 1):
            draft = self._scopes[number]
            if draft.kind == "class":
                self._read_bases(node, draft)
            else:
                draft.parameters = self._parameters(node.child_by_field_name("parameters"))
                draft.return_annotation = self._annotation(node.child_by_field_name("return_type"))
        for node in self._captures.get("decorator", []):
            self._read_decorator(node)

    def _read_decorator(self, node: Node) -> None:
        expression = self._expressions.read(first_child(node))
        parent = node.parent
        target = parent.child_by_field_name("definition") if parent is not None else None
        if expression is None or target is None:
            return
        body = target.child_by_field_name("body")
        if body is not None:
            self._scope_at(body.start_byte).decorators.append(expression)

    def _read_bases(self, node: Node, draft: _ScopeDraft) -> None:
        bases = node.child_by_field_name("superclasses")
        if bases is None:
            return
        positional, keywords = self._expressions.arguments(bases)
        draft.bases.extend(base for base in positional if base is not None)
        for name, value in keywords:
            if name == "metaclass":
                draft.metaclass = value

    def _read_lambdas(self) -> None:
        for node in self._captures.get("lambda", []):
            index = self._expressions.lambdas.get(node.start_byte)
            if index is None:
                continue
            draft = self._scopes[index]
            draft.parameters = self._parameters(node.child_by_field_name("parameters"))
            body = self._expressions.read(node.child_by_field_name("body"))
            if body is not None:
                draft.returns.append(body)

    def _parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        kind = _EITHER
        for child in node.named_children if node is not None else ():
            if child.type == "keyword_separator":
                kind = _KEYWORD_ONLY
            elif child.type == "positional_separator":
                found = [
                    Parameter(item.name, _POSITIONAL, item.default, item.annotation)
                    for item in found
                ]
            else:
                parameter = self._parameter(child, kind)
                if parameter is not None:
                    found.append(parameter)
                    kind = _KEYWORD_ONLY if parameter.kind == _VARARGS else kind
        return tuple(found)

    def _parameter(self, node: Node, kind: int) -> Parameter | None:
        name: Node | None = node
        default = annotation = None
        if node.type in {"default_parameter", "typed_default_parameter"}:
            name = node.child_by_field_name("name")
            default = self._expressions.carrier(node.child_by_field_name("value"))
        elif node.type == "typed_parameter":
            name = first_child(node)
        if node.type.startswith("typed"):
            annotation = self._annotation(node.child_by_field_name("type"))
        if name is not None and name.type == "list_splat_pattern":
            name, kind = first_child(name), _VARARGS
        elif name is not None and name.type == "dictionary_splat_pattern":
            name, kind = first_child(name), _KWARGS
        if name is None or name.type not in {"identifier", "tuple_pattern"}:
            return None
        return Parameter(self._source.text_of(name), kind, default, annotation)

    def _annotation(self, node: Node | None) -> Expr | None:
        if node is None:
            return None
        line = self._source.line_at(node.start_byte)
        return self._annotations.read(self._source.text_of(node), line)

    # --- imports ----------------------------------------------------------------------------

    def _read_imports(self) -> None:
        for node in self._captures.get("import", []):
            scope = self._scope_index(node.start_byte)
            for child in node.named_children:
                module, alias = self._aliased(child)
                self._add_import(node, scope, (module, "", alias, 0))
        for node in self._captures.get("import_from", []):
            self._read_import_from(node, self._scope_index(node.start_byte))
        self._imports.sort(key=lambda item: item.line)

    def _add_import(self, node: Node, scope: int, what: tuple[str, str, str, int]) -> None:
        line = self._source.line_at(node.start_byte)
        self._imports.append(Import(*what, line, scope))

    def _read_import_from(self, node: Node, scope: int) -> None:
        base = node.child_by_field_name("module_name")
        if base is None:
            return
        text = self._source.text_of(base).replace(" ", "")
        module = text.lstrip(".")
        level = len(text) - len(module)
        for child in node.named_children:
            if child == base:
                continue
            if child.type == "wildcard_import":
                self._add_import(node, scope, (module, "*", "", level))
            elif child.type in {"dotted_name", "aliased_import"}:
                name, alias = self._aliased(child)
                self._add_import(node, scope, (module, name, alias or name, level))

    def _aliased(self, node: Node) -> tuple[str, str]:
        if node.type != "aliased_import":
            return self._source.text_of(node), ""
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return (
            self._source.text_of(name) if name is not None else "",
            self._source.text_of(alias) if alias is not None else "",
        )

    # --- statements -------------------------------------------------------------------------

    def _read_statements(self) -> None:
        assignments = self._captures.get("assignment", [])
        self._expressions.overwritten = find_overwritten(self._source, assignments)
        for kind, read in (
            ("assignment", self._read_assignment),
            ("named", self._read_named),
            ("augmented", self._read_augmented),
            ("for", self._read_loop),
            ("with", self._read_with),
            ("except", self._read_except),
            ("return", self._read_return),
            ("yield", self._read_yield),
            ("raise", self._read_raise),
            ("global", self._read_declaration),
            ("nonlocal", self._read_declaration),
        ):
            for node in self._captures.get(kind, []):
                read(node)

    def _read_named(self, node: Node) -> None:
        value = self._expressions.read(node.child_by_field_name("value"))
        self._bind(node.child_by_field_name("name"), value)

    def _read_return(self, node: Node) -> None:
        value = self._expressions.carrier(first_child(node))
        if value is not None:
            self._scope_at(node.start_byte).returns.append(value)

    def _read_raise(self, node: Node) -> None:
        raised = first_child(node)
        if raised is None or raised.type not in {"identifier", "attribute"}:
            return
        value = self._expressions.carrier(raised)
        if value is not None:
            line = self._source.line_at(node.start_byte)
            self._scope_at(node.start_byte).effects.append(Raised(value, line))

    def _read_declaration(self, node: Node) -> None:
        names = [self._source.text_of(child) for child in node.named_children]
        scope = self._scope_at(node.start_byte)
        is_global = node.type == "global_statement"
        (scope.globals if is_global else scope.nonlocals).extend(names)

    def _read_assignment(self, node: Node) -> None:
        children = node.children
        if len(children) == 3 and children[1].kind_id == self._equals:  # the usual shape
            left: Node | None = children[0]
            right: Node | None = children[2]
            annotation = None
        else:
            left = node.child_by_field_name("left")
            right = node.child_by_field_name("right")
            annotation = self._annotation(node.child_by_field_name("type"))
        value = self._expressions.read(right)
        if right is not None and right.start_byte in self._expressions.overwritten:
            value = UNKNOWN
        self._bind(left, value, annotation)
        if left is not None and right is not None and self._is_exports(left):
            self._exports = self._string_list(right)

    def _is_exports(self, node: Node) -> bool:
        start = node.start_byte
        return self._source.data.startswith(b"__all__", start) and node.end_byte - start == 7

    def _string_list(self, node: Node) -> list[str] | None:
        if node.type not in {"list", "tuple"}:
            return None
        items = [child for child in node.named_children if child.type != "comment"]
        if any(child.type != "string" for child in items):
            return None
        return [self._source.text_of(child).strip("rRbBuU").strip("'\"") for child in items]

    def _read_augmented(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        if self._is_exports(left):
            self._exports = None
        self._bind(left, self._expressions.carrier(node.child_by_field_name("right")))

    def _read_loop(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        value = self._expressions.carrier(right)
        left = node.child_by_field_name("left")
        if value is None or right is None:
            self._bind(left, None)
            return
        element = Element(value, self._source.line_at(right.start_byte))
        self._bind(left, element)

    def _read_with(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is None:
            return
        target = None
        if value.type == "as_pattern":
            target = value.child_by_field_name("alias")
            value = first_child(value)
        expression = self._expressions.carrier(value)
        if value is None or expression is None:
            entered: Expr | None = None
        else:
            entered = Entered(expression, self._source.line_at(value.start_byte))
        if target is not None:
            self._bind(first_child(target), entered)
        elif entered is not None:
            self._scope_at(node.start_byte).effects.append(entered)

    def _read_except(self, node: Node) -> None:
        pattern = node.child_by_field_name("value")
        if pattern is None or pattern.type != "as_pattern":
            return
        alias = pattern.child_by_field_name("alias")
        caught = first_child(pattern)
        if alias is None or caught is None:
            return
        annotation = self._annotation(caught)
        self._bind(first_child(alias), UNKNOWN, annotation)

    def _read_yield(self, node: Node) -> None:
        value = first_child(node)
        if value is None:
            return
        delegates = any(child.type == "from" for child in node.children)
        expression = (
            self._expressions.delegated(value) if delegates else self._expressions.carrier(value)
        )
        if expression is not None:
            self._scope_at(node.start_byte).yields.append(expression)

    def _bind(
        self, target: Node | None, value: Expr | None, annotation: Expr | None = None
    ) -> None:
        """Record ``target = value``; patterns are taken apart."""
        if target is None:
            return
        if target.kind_id in self._identifier:
            start = target.start_byte
            name = self._expressions.name(self._source.slice(start, target.end_byte))
            value = UNKNOWN if value is None else value
            binding = Binding(name, value, self._source.line_at(start), annotation)
            self._scope_at(start).bindings.append(binding)
            return
        kind = target.type
        if kind in {"attribute", "subscript"}:
            self._bind_place(target, value, annotation)
        elif kind in _PATTERNS:
            self._bind_pattern(target, value)
        elif kind in {"list_splat_pattern", "list_splat"}:
            self._bind(first_child(target), Slice(value) if value is not None else None)
        elif kind == "parenthesized_expression":
            self._bind(first_child(target), value, annotation)

    def _bind_place(self, target: Node, value: Expr | None, annotation: Expr | None) -> None:
        place = self._expressions.read(target)
        useful = value is not None and type(value) is not Literal
        if place is not None and (useful or annotation is not None):
            line = self._source.line_at(target.start_byte)
            value = value if value is not None else UNKNOWN
            binding = Binding(place, value, line, annotation)
            self._scope_at(target.start_byte).bindings.append(binding)

    def _bind_pattern(self, target: Node, value: Expr | None) -> None:
        children = [child for child in target.named_children if child.type != "comment"]
        starred = any(child.type.startswith("list_splat") for child in children)
        for position, child in enumerate(children):
            part: Expr | None = None
            if value is not None and type(value) is not Literal:
                key = "" if starred else str(position)
                part = value if child.type.startswith("list_splat") else Subscript(value, key)
            self._bind(child, part)

    # --- what is left -----------------------------------------------------------------------

    def _read_loose_expressions(self) -> None:
        """Calls and attribute reads that no statement above has taken in, outermost first."""
        seen = self._expressions.seen
        loose = [
            (node.start_byte, -end, node)
            for kind in ("call", "attribute")
            for node in self._captures.get(kind, [])
            if (end := node.end_byte) not in seen
        ]
        loose.sort(key=lambda item: item[:2])
        for start, negative_end, node in loose:
            if -negative_end in seen:
                continue
            expression = self._expressions.read(node)
            if expression is not None:
                self._scope_at(start).effects.append(expression)


def first_byte_of_body(node: Node) -> int:
    """Where a lambda's own scope starts; its end when it has no body."""
    body = node.child_by_field_name("body")
    return body.start_byte if body is not None else node.end_byte


def read_flow(source: SourceTree, captures: dict[str, list[Node]], outline: Outline) -> Flow:
    """The flow summary of a file."""
    return FlowReader(source, captures, outline).read()
