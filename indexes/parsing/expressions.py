"""From syntax nodes to flow expressions (`indexes.facts.Expr`).

Only what a function, class, module or instance can travel through is kept. Calls and attribute
reads met on the way are marked, so that the rest of the pass does not visit them again.
"""

from __future__ import annotations

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
from indexes.parsing.tree import SourceTree, first_child

UNKNOWN = Literal("")
"""A value of which nothing is known."""
DEEPEST = 120
"""Expressions nested deeper than this are not followed; they are generated data."""

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


class ExpressionReader:
    """Turns nodes of one file into expressions.

    Attributes
    ----------
    seen
        End offsets of the calls and attributes that were converted or must not count as reads;
        an end offset is unique among them.
    lambdas
        Scope index of each lambda by its first byte.
    """

    def __init__(self, source: SourceTree, lambdas: dict[int, int]) -> None:
        self._source = source
        self.lambdas = lambdas
        self.seen: set[int] = set()
        self.too_deep: set[int] = set()
        self._depth = 0
        self._handlers = self._build_handlers()

    def read(self, node: Node | None) -> Expr | None:
        """The expression of a node; `None` when nothing can travel through it."""
        if node is None:
            return None
        handler = self._handlers.get(node.type)
        if handler is None:
            return None
        if self._depth >= DEEPEST:
            self.too_deep.add(self._source.line_at(node.start_byte))
            return None
        self._depth += 1
        try:
            return handler(node)
        finally:
            self._depth -= 1

    def carrier(self, node: Node | None) -> Expr | None:
        """Like `read`, but `None` for literals too: their types never travel as arguments."""
        expression = self.read(node)
        return None if type(expression) is Literal else expression

    def _build_handlers(self) -> dict[str, Callable[[Node], Expr | None]]:
        handlers: dict[str, Callable[[Node], Expr | None]] = {
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
        return handlers

    def _identifier(self, node: Node) -> Expr:
        start = node.start_byte
        return Name(self._source.slice(start, node.end_byte), self._source.line_at(start))

    def _attribute(self, node: Node) -> Expr:
        self.seen.add(node.end_byte)
        children = node.children
        name = children[-1]
        value = self.read(children[0])
        return Attribute(
            UNKNOWN if value is None else value,
            self._source.slice(name.start_byte, name.end_byte),
            self._source.line_at(name.start_byte),
        )

    def _call(self, node: Node) -> Expr:
        self.seen.add(node.end_byte)
        children = node.children
        function, arguments = children[0], children[-1]
        target = self.read(function)
        line = self._source.line_at(max(function.end_byte - 1, 0))
        if arguments.type != "argument_list":
            only = self.carrier(arguments)
            return Call(UNKNOWN if target is None else target, (only,), (), line)
        positional, keywords = self.arguments(arguments)
        return Call(UNKNOWN if target is None else target, positional, keywords, line)

    def arguments(
        self, node: Node
    ) -> tuple[tuple[Expr | None, ...], tuple[tuple[str, Expr | None], ...]]:
        """Positional and keyword arguments of an ``argument_list``."""
        positional: list[Expr | None] = []
        keywords: list[tuple[str, Expr | None]] = []
        for child in node.named_children:
            kind = child.type
            if kind == "keyword_argument":
                name = child.child_by_field_name("name")
                value = self.carrier(child.child_by_field_name("value"))
                keywords.append((self._source.text_of(name) if name else "", value))
            elif kind == "dictionary_splat":
                keywords.append(("**", self.carrier(first_child(child))))
            elif kind != "comment":
                positional.append(self.carrier(child))
        while positional and positional[-1] is None:
            positional.pop()
        return tuple(positional), tuple(keywords)

    def _subscript(self, node: Node) -> Expr | None:
        children = node.named_children
        value = self.read(children[0])
        if value is None or type(value) is Literal:
            return None
        if len(children) == 2 and children[1].type == "slice":
            return Slice(value)
        key = self.key(children[1]) if len(children) == 2 else ""
        return Subscript(value, key)

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
        value = self.carrier(first_child(node))
        return None if value is None else Awaited(value)

    def _first_child(self, node: Node) -> Expr | None:
        return self.read(first_child(node))

    def _conditional(self, node: Node) -> Expr | None:
        children = node.named_children
        return self._choice([children[0], children[-1]])

    def _boolean(self, node: Node) -> Expr | None:
        children = node.named_children
        return self._choice([children[0], children[-1]])

    def _choice(self, nodes: list[Node]) -> Expr | None:
        items = tuple(item for item in map(self.carrier, nodes) if item is not None)
        if not items:
            return None
        return items[0] if len(items) == 1 else Choice(items)

    def _named(self, node: Node) -> Expr | None:
        return self.read(node.child_by_field_name("value"))

    def _assignment(self, node: Node) -> Expr | None:
        return self.read(node.child_by_field_name("right"))

    def _star(self, node: Node) -> Expr | None:
        value = self.carrier(first_child(node))
        return None if value is None else Star(value)

    def _sequence(self, node: Node) -> Expr:
        items: list[tuple[str, Expr]] = []
        for position, child in enumerate(node.named_children):
            item = self.carrier(child)
            if item is not None:
                items.append((str(position), item))
        kind = _LITERALS.get(node.type, "tuple")
        return Collection(kind, tuple(items)) if items else Literal(kind)

    def _dictionary(self, node: Node) -> Expr:
        items: list[tuple[str, Expr]] = []
        for child in node.named_children:
            if child.type == "pair":
                key = child.child_by_field_name("key")
                value = self.carrier(child.child_by_field_name("value"))
                if value is not None:
                    items.append((self.key(key) if key is not None else "", value))
            elif child.type == "dictionary_splat":
                value = self.carrier(first_child(child))
                if value is not None:
                    items.append(("**", value))
        return Collection("dict", tuple(items)) if items else Literal("dict")

    def _comprehension(self, node: Node) -> Expr:
        kind = _COMPREHENSIONS[node.type]
        body = node.child_by_field_name("body")
        if body is not None and body.type == "pair":
            body = body.child_by_field_name("value")
        item = self.carrier(body)
        return Collection(kind, (("", item),)) if item is not None else Literal(kind)

    def _literal(self, node: Node) -> Expr:
        return Literal(_LITERALS[node.type])

    def delegated(self, node: Node) -> Expr | None:
        """The elements that a ``yield from`` hands on."""
        value = self.carrier(node)
        if value is None:
            return None
        return Delegated(value, self._source.line_at(node.start_byte))

