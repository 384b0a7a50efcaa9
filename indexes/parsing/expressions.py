"""From syntax nodes to flow expressions (`indexes.facts.Expr`).

Only what a function, class, module or instance can travel through is kept. Calls and attribute
reads met on the way are marked, so that the rest of the pass does not visit them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from indexes.facts import (
    Attribute,
    Awaited,
    Call,
    Choice,
    Collection,
    Delegated,
    Expr,
    Lambda,
    Literal,
    Name,
    Slice,
    Star,
    Subscript,
)
from indexes.parsing.tree import SourceTree, first_child, kind_ids

UNKNOWN = Literal("")
"""A value of which nothing is known."""
_BOUNDS = re.compile(r"(\d*) ?: ?(\d*)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)

_LONGEST_DOTTED = 40
_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "list": "list",
    "tuple": "tuple",
    "set": "set",
    "dictionary": "dict",
}
_COMPREHENSIONS = {
    "list_comprehension": "list",
    "set_comprehension": "set",
    "generator_expression": "generator",
    "dictionary_comprehension": "dict",
}


_Handler = Callable[[Node], Expr | None]
_Handlers = dict[int, _Handler]


class ExpressionReader:
    """Turns nodes of one file into expressions.

    Attributes
    ----------
    seen
        End offsets of the calls and attributes that were converted or must not count as reads;
        an end offset is unique among them.
    overwritten
        First bytes of values that nothing can use (`indexes.parsing.overwrites`).
    lambdas
        Scope index of each lambda by its first byte.
    """

    def __init__(self, source: SourceTree, lambdas: dict[int, int]) -> None:
        self._source = source
        self.lambdas = lambdas
        self.seen: set[int] = set()
        self.too_deep: set[int] = set()
        self.overwritten: set[int] = set()
        self._names: dict[str, Name] = {}
        self._sites = 0
        self._keyword_argument = kind_ids("keyword_argument")
        self._dictionary_splat = kind_ids("dictionary_splat")
        self._comment = kind_ids("comment")
        self._argument_list = kind_ids("argument_list")
        self._handlers = self._build_handlers()
        self._carriers = {
            kind: handler for kind, handler in self._handlers.items() if handler != self._literal
        }

    def read(self, node: Node | None) -> Expr | None:
        """The expression of a node; `None` when nothing can travel through it."""
        return None if node is None else self._enter(node, self._any)

    def carrier(self, node: Node | None) -> Expr | None:
        """Like `read`, but `None` for literals too: their types never travel as arguments."""
        return None if node is None else self._enter(node, self._carry)

    def _enter(self, node: Node, read: _Handler) -> Expr | None:
        try:
            return read(node)
        except RecursionError:  # generated data; reported as a failure of that line
            self.too_deep.add(self._source.line_at(node.start_byte))
            return None

    def _any(self, node: Node) -> Expr | None:
        handler = self._handlers.get(node.kind_id)
        return None if handler is None else handler(node)

    def _carry(self, node: Node) -> Expr | None:
        handler = self._carriers.get(node.kind_id)
        if handler is None:
            return None
        expression = handler(node)
        if type(expression) is Literal or (type(expression) is Collection and not expression.items):
            return None
        return expression

    def _build_handlers(self) -> _Handlers:
        handlers: dict[str, _Handler] = {
            "identifier": self._identifier,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "lambda": self._lambda,
            "await": self._await,
            "parenthesized_expression": self._first_child,
            "expression_list": self._sequence,
            "conditional_expression": self._conditional,
            "boolean_operator": self._boolean,
            "named_expression": self._named,
            "assignment": self._assignment,
            "list_splat": self._star,
            "list": self._sequence,
            "tuple": self._sequence,
            "set": self._sequence,
            "dictionary": self._dictionary,
        }
        for kind in _COMPREHENSIONS:
            handlers[kind] = self._comprehension
        for kind in ("string", "concatenated_string", "integer", "float"):
            handlers[kind] = self._literal
        return {number: handlers[kind] for kind in handlers for number in kind_ids(kind)}

    def _identifier(self, node: Node) -> Expr:
        return self.name(self._source.slice(node.start_byte, node.end_byte))

    def name(self, text: str) -> Name:
        """The name of that text; one object a file."""
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = Name(text)
        return name

    def _attribute(self, node: Node) -> Expr:
        start, end = node.start_byte, node.end_byte
        text = self._source.slice(start, end)
        if _DOTTED.fullmatch(text):
            return self._dotted(text, start, end)
        self.seen.add(end)
        value, *_, name = node.children
        known = self._any(value)
        start = name.start_byte
        return Attribute(
            UNKNOWN if known is None else known,
            self._source.slice(start, end),
            self._source.line_at(start),
        )

    def _dotted(self, text: str, start: int, end: int) -> Expr:
        """``a.b.c`` from its text alone, which is quicker than from its nodes."""
        line = self._source.line_at(end)
        first, *attributes = text.split(".")
        if len(attributes) > _LONGEST_DOTTED:
            self.seen.update(range(start, end + 1))
            return self.name(first)
        expression: Expr = self.name(first)
        offset = start + len(first)
        for attribute in attributes:
            offset += len(attribute) + 1
            self.seen.add(offset)
            expression = Attribute(expression, attribute, line)
        return expression

    def _call(self, node: Node) -> Expr:
        self.seen.add(node.end_byte)
        children = node.children
        function, arguments = children[0], children[-1]
        target = self._any(function)
        line = self._source.line_at(function.end_byte)
        if arguments.kind_id in self._argument_list:
            positional, keywords = self.arguments(arguments)
        else:  # a lone generator expression
            positional, keywords = (self._carry(arguments),), ()
        return Call(UNKNOWN if target is None else target, positional, keywords, line)

    def arguments(
        self, node: Node
    ) -> tuple[tuple[Expr | None, ...], tuple[tuple[str, Expr | None], ...]]:
        """Positional and keyword arguments of an ``argument_list``."""
        positional: list[Expr | None] = []
        keywords: list[tuple[str, Expr | None]] = []
        for child in node.named_children:
            kind = child.kind_id
            if kind in self._carriers:
                positional.append(self._carry(child))
            elif kind in self._keyword_argument:
                name, *_, value = child.children
                keywords.append((self._source.text_of(name), self._carry(value)))
            elif kind in self._dictionary_splat:
                keywords.append(("**", self._inner(child)))
            elif kind not in self._comment:
                positional.append(None)
        while positional and positional[-1] is None:
            positional.pop()
        return tuple(positional), tuple(keywords)

    def _subscript(self, node: Node) -> Expr | None:
        children = node.named_children
        value = self._any(children[0])
        if value is None or type(value) is Literal:
            return None
        if len(children) == 2 and children[1].type == "slice":
            return self._slice(value, children[1])
        key = self.key(children[1]) if len(children) == 2 else ""
        return Subscript(value, key)

    def _slice(self, value: Expr, node: Node) -> Slice:
        """``value[a:b]``; a step, or a bound that is no number, leaves the bounds unknown."""
        text = self._source.text_of(node)
        bounds = _BOUNDS.fullmatch(text)
        return Slice(value) if bounds is None else Slice(value, bounds[1] or "0", bounds[2])

    def key(self, node: Node) -> str:
        """A constant subscript's text; empty when it is no constant."""
        kind = node.type
        if kind == "string":
            text = self._source.text_of(node)
            return "'" + text.lstrip("rRbBuU").strip("'\"") + "'"
        if kind == "integer":
            return self._source.text_of(node)
        if kind == "unary_operator":
            return self._source.text_of(node).replace(" ", "")
        return ""

    def _lambda(self, node: Node) -> Expr | None:
        scope = self.lambdas.get(node.start_byte)
        return None if scope is None else Lambda(scope)

    def _await(self, node: Node) -> Expr | None:
        value = self._inner(node)
        return None if value is None else Awaited(value)

    def _first_child(self, node: Node) -> Expr | None:
        return self._inner(node)

    def _conditional(self, node: Node) -> Expr | None:
        children = node.named_children
        return self._choice([children[0], children[-1]])

    def _boolean(self, node: Node) -> Expr | None:
        children = node.named_children
        return self._choice([children[0], children[-1]])

    def _choice(self, nodes: list[Node]) -> Expr | None:
        items = tuple(item for item in map(self._carry, nodes) if item is not None)
        if not items:
            return None
        return items[0] if len(items) == 1 else Choice(items)

    def _named(self, node: Node) -> Expr | None:
        return self._field(node, "value")

    def _assignment(self, node: Node) -> Expr | None:
        return self._field(node, "right")

    def _inner(self, node: Node) -> Expr | None:
        """What the first named child carries."""
        child = first_child(node)
        return None if child is None else self._carry(child)

    def _field(self, node: Node, name: str) -> Expr | None:
        """What a field of the node carries."""
        child = node.child_by_field_name(name)
        return None if child is None else self._carry(child)

    def _star(self, node: Node) -> Expr | None:
        value = self._inner(node)
        return None if value is None else Star(value)

    def _sequence(self, node: Node) -> Expr:
        items: list[tuple[str, Expr]] = []
        for position, child in enumerate(node.named_children):
            item = self._carry(child)
            if item is not None:
                items.append((str(position), item))
        kind = _LITERALS.get(node.type, "tuple")
        return self._collection(kind, items)

    def _dictionary(self, node: Node) -> Expr:
        items: list[tuple[str, Expr]] = []
        for child in node.named_children:
            if child.type == "pair":
                key, held = child.child_by_field_name("key"), child.child_by_field_name("value")
                value = self._carry(held) if held is not None else None
                if held is not None and held.start_byte in self.overwritten:
                    value = UNKNOWN
                if value is not None:
                    items.append((self.key(key) if key is not None else "", value))
            elif child.type == "dictionary_splat":
                value = self._inner(child)
                if value is not None:
                    items.append(("**", value))
        return self._collection("dict", items)

    def _comprehension(self, node: Node) -> Expr:
        kind = _COMPREHENSIONS[node.type]
        body = node.child_by_field_name("body")
        if body is not None and body.type == "pair":
            body = body.child_by_field_name("value")
        item = self._carry(body) if body is not None else None
        return self._collection(kind, [("", item)] if item is not None else [])

    def _collection(self, kind: str, items: list[tuple[str, Expr]]) -> Collection:
        self._sites += 1
        return Collection(kind, tuple(items), self._sites)

    def _literal(self, node: Node) -> Expr:
        return Literal(_LITERALS[node.type])

    def delegated(self, node: Node) -> Expr | None:
        """The elements that a ``yield from`` hands on."""
        value = self.carrier(node)
        if value is None:
            return None
        return Delegated(value, self._source.line_at(node.start_byte))
