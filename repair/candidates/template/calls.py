"""Templates for calls: arguments, callees, calls put around values and taken off them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.kinds import SIZED, SLICEABLE, Kind, likeness
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.candidates.template.source import FUNCTIONS
from repair.model import SpanEdit

_LIKE_FUNCTIONS = (
    ("any", "all"),
    ("max", "min", "sum", "len"),
    ("floor", "ceil", "round", "int", "trunc"),
    ("sorted", "list", "set", "reversed", "tuple"),
    ("match", "search", "fullmatch"),
    ("lower", "upper", "swapcase", "capitalize", "title", "casefold"),
    ("startswith", "endswith"),
    ("islower", "isupper", "isalpha", "isdigit", "isalnum", "isspace", "isnumeric"),
    ("strip", "lstrip", "rstrip"),
    ("append", "extend", "add", "update", "remove", "insert"),
    ("add", "discard", "remove"),
    ("find", "index", "rfind", "count"),
    ("split", "rsplit", "splitlines", "partition"),
    ("items", "keys", "values"),
    ("pop", "popleft", "get"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("issubset", "issuperset", "isdisjoint"),
    ("str", "repr", "int", "float"),
    ("range", "enumerate", "len"),
    ("ord", "chr"),
    ("zip", "map", "filter"),
)
"""Functions and methods that are taken for one another; order of preference inside a group."""
_WRAPPERS: dict[Kind, tuple[str, ...]] = {
    Kind.NUMBER: ("abs", "int", "str", "round", "float", "len", "bool"),
    Kind.STRING: ("int", "len", "list", "sorted", "set", "str", "float", "reversed"),
    Kind.LIST: ("sorted", "len", "set", "list", "sum", "reversed", "tuple", "max", "min", "str"),
    Kind.BOOLEAN: ("int", "bool"),
}
_ANY_WRAPPER = (
    "len",
    "abs",
    "str",
    "int",
    "set",
    "sorted",
    "list",
    "sum",
    "tuple",
    "float",
    "bool",
)
_STRING_METHODS = ("lower()", "upper()", "strip()", "swapcase()", "split()", "capitalize()")
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "sorted": ("reverse=True", "key=len", "key=str", "key=abs", "key=lambda x: x[1]"),
    "sort": ("reverse=True", "key=len", "key=str", "key=abs"),
    "max": ("default=0", "key=len", "default=None"),
    "min": ("default=0", "key=len", "default=None"),
    "open": ("encoding='utf-8'", "newline=''"),
    "get": ("default=None",),
    "round": ("ndigits=2",),
    "zip": ("strict=False",),
    "makedirs": ("exist_ok=True",),
    "mkdir": ("exist_ok=True", "parents=True"),
    "dumps": ("sort_keys=True", "ensure_ascii=False"),
    "split": ("maxsplit=1",),
    "decode": ("errors='replace'",),
    "encode": ("errors='replace'",),
}
"""Keyword arguments of the standard library that are often the fix."""
_MAX_SWAPPED = 5


def _name(func: ast.expr) -> str:
    """Return the last name of what is called."""
    return func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")


def swapped_arguments(site: Site) -> Iterator[Rewrite]:
    """Exchange two arguments, neighbours first."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    arguments = [*node.args, *(item.value for item in node.keywords)][:_MAX_SWAPPED]
    for distance in range(1, len(arguments)):
        for left, right in zip(arguments, arguments[distance:], strict=False):
            if site.source(left) != site.source(right):
                yield site.swap(left, right, 1.0 / distance)
    if len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if isinstance(owner, ast.Name) and isinstance(node.args[0], ast.Name):
            yield site.swap(owner, node.args[0], 0.4)


def dropped_arguments(site: Site) -> Iterator[Rewrite]:
    """Leave an argument out."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for index in range(len(node.args)):
        rest = [*node.args[:index], *node.args[index + 1 :]]
        yield site.replace_this(_call(site, node, rest, node.keywords), 0.6)
    for keyword in node.keywords:
        rest_keywords = [item for item in node.keywords if item is not keyword]
        yield site.replace_this(_call(site, node, node.args, rest_keywords))


def _call(
    site: Site, node: ast.Call, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> str:
    """Write a call with other arguments."""
    texts = [site.source(item) for item in [*arguments, *keywords]]
    return f"{site.source(node.func)}({', '.join(texts)})"


def added_arguments(site: Site) -> Iterator[Rewrite]:
    """One more argument: a name in scope or 1, for a callee of this file only where it fits."""
    node = site.node
    if not isinstance(node, ast.Call) or len(node.args) > 3:
        return
    room = _free_parameters(site, node)
    if room is not None and not room:
        return
    extra = [name.id for name in site.variables() if name.is_local and name.is_bound_before]
    texts = [site.source(item) for item in node.args]
    keywords = [site.source(item) for item in node.keywords]
    func = site.source(node.func)
    for text in [*extra, "1", "0", "None"]:
        weight = 0.8 if room and text == room[0] else 0.3
        yield site.replace_this(f"{func}({', '.join([*texts, text, *keywords])})", weight)
    for parameter in room or ():
        if parameter in extra:
            named = f"{parameter}={parameter}"
            yield site.replace_this(f"{func}({', '.join([*texts, *keywords, named])})", 0.7)


def _free_parameters(site: Site, node: ast.Call) -> list[str] | None:
    """Return parameters a function of this file has left; `None` for an unknown function."""
    name = _name(node.func)
    for function in ast.walk(site.module.tree):
        if isinstance(function, FUNCTIONS) and function.name == name:
            names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
            if isinstance(node.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
                names = names[1:]
            given = {item.arg for item in node.keywords}
            free = [*names[len(node.args) :], *(item.arg for item in function.args.kwonlyargs)]
            return [item for item in free if item not in given]
    return None


def keyword_arguments(site: Site) -> Iterator[Rewrite]:
    """A keyword argument that is often forgotten, or another value of a given one."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    given = {item.arg for item in node.keywords}
    texts = [site.source(item) for item in [*node.args, *node.keywords]]
    for keyword in _KEYWORDS.get(_name(node.func), ()):
        if keyword.split("=")[0] not in given:
            yield site.replace_this(f"{site.source(node.func)}({', '.join([*texts, keyword])})")
    for item in node.keywords:
        if isinstance(item.value, ast.Constant) and isinstance(item.value.value, bool):
            yield site.replace(item.value, str(not item.value.value))


def callees(site: Site) -> Iterator[Rewrite]:
    """Another function or method: one that is like it, or one of this file."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not _is_callee(site):
        yield from (site.replace_this(other, 0.3) for other in _like(node.id))
    if not isinstance(node, ast.Call):
        return
    name = _name(node.func)
    end = site.module.span(node.func)[1]
    for rank, other in enumerate(_like(name)):
        yield Rewrite((SpanEdit(end - len(name), end, other),), 0.85**rank)
    if isinstance(node.func, ast.Name):
        for known in site.names():
            if known.id != name and known.kind in (Kind.CALLABLE, Kind.UNKNOWN):
                weight = 0.6 if known.kind is Kind.CALLABLE else 0.15
                yield site.replace(node.func, known.id, weight)


def _is_callee(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node


def _like(name: str) -> list[str]:
    groups = [group for group in _LIKE_FUNCTIONS if name in group]
    return list(dict.fromkeys(other for group in groups for other in group if other != name))


def _is_read(site: Site) -> bool:
    """Whether the node is a value that is used, and not what is called or assigned to."""
    if not isinstance(getattr(site.node, "ctx", ast.Load()), ast.Load) or _is_callee(site):
        return False
    return not isinstance(site.parent, (ast.Expr, ast.Attribute, ast.keyword, ast.withitem))


def added_calls(site: Site) -> Iterator[Rewrite]:
    """Put a value into a call: ``abs(x)``, ``sorted(x)``, ``f(x)`` of this file, ``f(f(x))``."""
    node = site.node
    if not isinstance(node, ast.expr) or not _is_read(site):
        return
    kind, text = site.kind(node), site.source(node)
    if isinstance(node, ast.Constant):
        return
    for rank, wrapper in enumerate(_WRAPPERS.get(kind, _ANY_WRAPPER)):
        yield site.replace_this(f"{wrapper}({text})", 0.85**rank)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        yield site.replace_this(f"{node.func.id}({text})", 0.6)
    for function in functions_of_one(site):
        yield site.replace_this(f"{function}({text})", 0.4)


def functions_of_one(site: Site) -> list[str]:
    """Return names of functions of this file with one parameter."""
    return [
        node.name
        for node in ast.walk(site.module.tree)
        if isinstance(node, FUNCTIONS)
        and len(node.args.args) == 1
        and node.args.args[0].arg not in ("self", "cls")
    ]


def dropped_calls(site: Site) -> Iterator[Rewrite]:
    """Take a call off: ``f(x)`` to ``x``, ``x.f()`` to ``x``."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for argument in node.args[:3]:
        if not isinstance(argument, ast.Starred):
            yield site.replace_this(site.operand(argument), 1.0 if len(node.args) == 1 else 0.6)
    if isinstance(node.func, ast.Attribute):
        yield site.replace_this(site.operand(node.func.value), 0.8)


def call_parentheses(site: Site) -> Iterator[Rewrite]:
    """Add forgotten parentheses, or take unwanted ones off."""
    node = site.node
    if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
        is_function = isinstance(node, ast.Attribute) or site.kind(node) is Kind.CALLABLE
        if is_function and not _is_callee(site) and not isinstance(site.parent, ast.Attribute):
            yield site.replace_this(f"{site.source(node)}()")
    elif isinstance(node, ast.Call) and not node.args and not node.keywords:
        yield site.replace_this(site.source(node.func))


def added_methods(site: Site) -> Iterator[Rewrite]:
    """Call a method on a value: ``s.lower()``, ``d.items()``, ``t.encode()``."""
    node = site.node
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return
    if not _is_read(site):
        return
    kind, text = site.kind(node), site.operand(node)
    if likeness(Kind.STRING, kind) >= 0.5:
        for rank, method in enumerate(_STRING_METHODS):
            yield site.replace_this(f"{text}.{method}", (0.85**rank) * likeness(Kind.STRING, kind))
        yield site.replace_this(f"{text}.encode()", 0.3)
        yield site.replace_this(f"{text}.decode()", 0.3)
    if likeness(Kind.MAPPING, kind) >= 0.6:
        for method in ("items()", "keys()", "values()"):
            yield site.replace_this(f"{text}.{method}", 0.4)
    if kind in SIZED or kind is Kind.UNKNOWN:
        yield site.replace_this(f"{text}.copy()", 0.3)


def bound_results(site: Site) -> Iterator[Rewrite]:
    """Keep an assigned value within bounds: ``x = e`` to ``x = max(x, e)`` or ``max(0, e)``."""
    match site.node:
        case ast.Assign(targets=[target], value=value) if site.kind(value) not in SLICEABLE:
            text = site.source(value)
            for function in ("max", "min"):
                own = site.source(target)
                yield site.replace(value, f"{function}({own}, {text})")
                yield site.replace(value, f"{function}(0, {text})")
                for name in site.variables():
                    near = name.is_local and name.is_bound_before and name.kind is Kind.NUMBER
                    if near and name.id not in (own, text):
                        yield site.replace(value, f"{function}({name.id}, {text})", 0.3)
        case ast.Return(value=ast.expr() as value) if site.kind(value) is Kind.NUMBER:
            for bound in ("0", "1"):
                yield site.replace(value, f"max({bound}, {site.source(value)})", 0.5)


_READ = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.ListComp)
TEMPLATES = (
    Template(EditTemplate.ARGUMENT_SWAP, (ast.Call,), swapped_arguments),
    Template(EditTemplate.ARGUMENT_DROP, (ast.Call,), dropped_arguments),
    Template(EditTemplate.ARGUMENT_ADD, (ast.Call,), added_arguments),
    Template(EditTemplate.KEYWORD_ARGUMENT, (ast.Call,), keyword_arguments),
    Template(EditTemplate.CALLEE, (ast.Call, ast.Name), callees),
    Template(EditTemplate.CALL_ADD, _READ, added_calls),
    Template(EditTemplate.CALL_DROP, (ast.Call,), dropped_calls),
    Template(EditTemplate.CALL_PARENTHESES, (ast.Attribute, ast.Name, ast.Call), call_parentheses),
    Template(EditTemplate.METHOD_ADD, _READ, added_methods),
    Template(EditTemplate.BOUND_RESULT, (ast.Assign, ast.Return), bound_results),
)
