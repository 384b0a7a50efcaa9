"""Type annotations as flow expressions: which classes a name's values may be instances of.

Optional, unions, string annotations, containers (as a `Collection` of their elements),
``type[X]`` (as a `ClassObject`), ``Annotated``, ``Final``, ``ClassVar``, awaitables. What says
nothing about classes of the repository (``Callable``, ``Literal``, type variables) gives `None`.
"""

from __future__ import annotations

import ast

from indexes.facts import Attribute, Choice, ClassObject, Collection, Expr, Name

_TRANSPARENT = frozenset({
    "Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar",
    "Awaitable", "Mapped", "TypeGuard",
})  # fmt: skip
_UNIONS = frozenset({"Union"})
_LAST = frozenset({"Coroutine"})
_CLASS = frozenset({"type", "Type"})
_MAPPINGS = frozenset({
    "dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict",
})  # fmt: skip
_SEQUENCES = frozenset({
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "tuple", "Tuple", "Sequence",
    "MutableSequence", "Iterable", "Iterator", "Collection", "AbstractSet", "MutableSet", "deque",
    "Deque", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "ContextManager",
    "AsyncContextManager", "KeysView", "ValuesView",
})  # fmt: skip
_NOTHING = frozenset({"Callable", "Literal", "None", "Any", "object"})
_DEEPEST = 20


class AnnotationReader:
    """Reads annotation texts; one instance a file, so that equal texts are read once."""

    def __init__(self) -> None:
        self._known: dict[str, Expr | None] = {}

    def read(self, text: str, line: int) -> Expr | None:
        """The flow expression of an annotation's source text; `None` if it says nothing."""
        if text in self._known:
            return self._known[text]
        result = _read_text(text, line, 0)
        self._known[text] = result
        return result


def _read_text(text: str, line: int, depth: int) -> Expr | None:
    if depth > _DEEPEST or len(text) > 2_000 or "\\" in text:
        return None
    if text.isidentifier():
        return None if text in _NOTHING else Name(text)
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _read_node(node, line, depth)


def _read_node(node: ast.expr, line: int, depth: int) -> Expr | None:
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Name(id=name):
            return None if name in _NOTHING else Name(name)
        case ast.Attribute(value=value, attr=attr):
            if attr in _NOTHING:
                return None
            inner = _read_node(value, line, depth + 1)
            return Attribute(inner, attr, line) if inner is not None else None
        case ast.Constant(value=str(text)):
            return _read_text(text, line, depth + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _choice([left, right], line, depth)
        case ast.Subscript(value=generic, slice=inside):
            return _read_generic(generic, inside, line, depth)
    return None


def _read_generic(generic: ast.expr, inside: ast.expr, line: int, depth: int) -> Expr | None:
    name = generic.attr if isinstance(generic, ast.Attribute) else getattr(generic, "id", "")
    arguments = list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]
    if name in _TRANSPARENT:
        return _read_node(arguments[0], line, depth + 1) if arguments else None
    if name in _UNIONS:
        return _choice(arguments, line, depth)
    if name in _LAST:
        return _read_node(arguments[-1], line, depth + 1) if arguments else None
    if name in _CLASS:
        of = _read_node(arguments[0], line, depth + 1) if arguments else None
        return ClassObject(of) if of is not None else None
    if name in _SEQUENCES or name in _MAPPINGS:
        return _container(name, arguments, line, depth)
    return _read_node(generic, line, depth + 1)


def _container(name: str, arguments: list[ast.expr], line: int, depth: int) -> Expr | None:
    if name in _MAPPINGS:
        arguments = arguments[1:2]
    elif name.startswith(("Generator", "AsyncGenerator")):
        arguments = arguments[:1]
    fixed = name in {"tuple", "Tuple"} and not any(_is_ellipsis(item) for item in arguments)
    items: list[tuple[str, Expr]] = []
    for position, argument in enumerate(arguments):
        item = None if _is_ellipsis(argument) else _read_node(argument, line, depth + 1)
        if item is not None:
            items.append((str(position) if fixed else "", item))
    if not items:
        return None
    return Collection("annotated", tuple(items), 0)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _choice(nodes: list[ast.expr], line: int, depth: int) -> Expr | None:
    found = [_read_node(node, line, depth + 1) for node in nodes]
    items = tuple(item for item in found if item is not None)
    if not items:
        return None
    return items[0] if len(items) == 1 else Choice(items)
