"""Templates that delete, copy, move, guard and change whole statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repair.candidates.template.kinds import Kind
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.candidates.template.source import FUNCTIONS, iter_bodies
from repair.model import SpanEdit

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete)
_ANY = (*SIMPLE, ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Break, ast.Continue)
_MAX_COPIES = 12
_INDENT = "    "


def deleted(site: Site) -> Iterator[Rewrite]:
    """Leave a statement out; an ``if`` also leaves its body behind."""
    node, block = site.node, site.block()
    if not isinstance(node, ast.stmt) or block is None:
        return
    start, end = site.module.span(node)
    weight = 1.0 if isinstance(node, (*SIMPLE, ast.If)) else 0.4
    if len(block) == 1:
        yield Rewrite((SpanEdit(start, end, "pass"),), weight * 0.7)
    elif site.indentation() is not None:
        first = site.module.line_start(node.lineno)
        last = site.module.line_start((node.end_lineno or node.lineno) + 1)
        if not _is_elif(site, node):
            yield Rewrite((SpanEdit(first, last, ""),), weight)
    if isinstance(node, ast.If) and not node.orelse and site.indentation() is not None:
        yield from _unwrapped(site, node)


def _is_elif(site: Site, node: ast.stmt) -> bool:
    return site.source(node).startswith("elif")


def _unwrapped(site: Site, node: ast.If) -> Iterator[Rewrite]:
    """Run a guarded body without its guard."""
    body = _lines_of(site, node.body)
    if body is None or _is_elif(site, node):
        return
    first = site.module.line_start(node.lineno)
    last = site.module.line_start((node.end_lineno or node.lineno) + 1)
    yield Rewrite((SpanEdit(first, last, _reindented(body, site.indentation() or "")),), 0.6)


def _lines_of(site: Site, body: list[ast.stmt]) -> str | None:
    """Return whole lines of statements; `None` if they share lines or hold multi-line strings."""
    start = site.module.line_start(body[0].lineno)
    end = site.module.line_start((body[-1].end_lineno or body[-1].lineno) + 1)
    text = site.module.text[start:end]
    own = site.module.text[start : site.module.span(body[0])[0]]
    return None if own.strip() or '"""' in text or "'''" in text else text


def _reindented(text: str, indent: str) -> str:
    lines = text.splitlines(keepends=True)
    old = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return "".join(indent + line.removeprefix(old) if line.strip() else line for line in lines)


def copied(site: Site) -> Iterator[Rewrite]:
    """Repeat a statement from near by, as it is or with one name changed, after this one."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.Break, ast.Continue)):
        return
    texts = _near_statements(site)
    here = {name.id for name in site.variables() if name.is_local}
    for text, distance in texts:
        weight = 1.0 / (1.0 + 0.1 * distance)
        for variant, likely in ((text, 1.0), *_renamed(text, here)):
            yield from _placed(site, variant, weight * likely)


def _placed(site: Site, text: str, weight: float) -> Iterator[Rewrite]:
    """Put a statement behind the node, and before it where it is the first of its block."""
    node, block = site.node, site.block()
    if not isinstance(node, (ast.Return, ast.Raise)):
        yield from site.insert_after(text, weight)
    if isinstance(node, (ast.Return, ast.Raise)) or (block and block[0] is node):
        yield from site.insert_before(text, weight)


def _near_statements(site: Site) -> list[tuple[str, int]]:
    """Return simple statements of the unit that do something, with their distance in lines."""
    line = getattr(site.node, "lineno", 0)
    found: dict[str, int] = {}
    for node in ast.walk(site.unit.node):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and not _is_text(node):
            text = site.source(node)
            if "\n" not in text:
                distance = abs(node.lineno - line)
                found[text] = min(distance, found.get(text, distance))
    return sorted(found.items(), key=lambda item: item[1])[:_MAX_COPIES]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _renamed(text: str, names: set[str]) -> Iterator[tuple[str, float]]:
    """Yield the statement with one of its names changed to another one of the function."""
    used = [name for name in dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", text)) if name in names]
    for old in used:
        for new in sorted(names - set(used)):
            yield re.sub(rf"(?<!\.)\b{re.escape(old)}\b(?!\s*=[^=])", new, text), 0.4


def moved(site: Site) -> Iterator[Rewrite]:
    """Exchange neighbours; move a block's last statement out of it, or a statement into one."""
    node, block = site.node, site.block()
    if not isinstance(node, ast.stmt) or block is None or site.indentation() is None:
        return
    index = block.index(node)
    if index + 1 < len(block) and not isinstance(node, FUNCTIONS):
        yield from _exchanged(site, node, block[index + 1])
    outer = site.parent
    is_last = bool(index) and node is block[-1]
    if is_last and isinstance(outer, (ast.For, ast.While, ast.If, ast.With)):
        yield from _moved_out(site, node, outer)
    if index and isinstance(node, SIMPLE):
        yield from _moved_in(site, node, block[index - 1])


def _exchanged(site: Site, node: ast.stmt, following: ast.stmt) -> Iterator[Rewrite]:
    first, second = site.module.span(node), site.module.span(following)
    texts = [site.module.text[slice(*span)] for span in (first, second)]
    if isinstance(following, FUNCTIONS):
        return
    yield Rewrite((SpanEdit(*first, texts[1]), SpanEdit(*second, texts[0])), 0.5)


def _moved_out(site: Site, node: ast.stmt, outer: ast.stmt) -> Iterator[Rewrite]:
    """Give a block's last statement the indentation of the block's owner."""
    if getattr(outer, "orelse", None):
        return
    text = _lines_of(site, [node])
    line = site.module.line_start(outer.lineno)
    indent = site.module.text[line : site.module.span(outer)[0]]
    if text is not None and not indent.strip():
        start = site.module.line_start(node.lineno)
        edit = SpanEdit(start, start + len(text), _reindented(text, indent))
        yield Rewrite((edit,), 0.8)


def _moved_in(site: Site, node: ast.stmt, before: ast.stmt) -> Iterator[Rewrite]:
    """Give a statement the indentation of the block before it."""
    text = _lines_of(site, [node])
    for body in iter_bodies(before):
        if text is not None and not isinstance(before, (*FUNCTIONS, ast.ClassDef)):
            line = site.module.line_start(body[-1].lineno)
            indent = site.module.text[line : site.module.span(body[-1])[0]]
            start = site.module.line_start(node.lineno)
            if not indent.strip() and body is list(iter_bodies(before))[-1]:
                yield Rewrite((SpanEdit(start, start + len(text), _reindented(text, indent)),), 0.6)


def guarded(site: Site) -> Iterator[Rewrite]:
    """Run a statement under a condition only."""
    node = site.node
    if not isinstance(node, SIMPLE) or site.indentation() is None:
        return
    text = _lines_of(site, [node])
    if text is None or _is_text(node):
        return
    indent = site.indentation() or ""
    used = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    for condition, weight in _guards(site, used):
        body = _reindented(text, indent + _INDENT)
        lead = f"{indent}if {condition}:{site.module.newline}"
        start = site.module.line_start(node.lineno)
        yield Rewrite((SpanEdit(start, start + len(text), lead + body),), weight)


def _guards(site: Site, used: set[str]) -> Iterator[tuple[str, float]]:
    """Yield conditions on the names a statement uses, and pairs of them."""
    visible = [name for name in site.variables() if name.is_local and name.is_bound_before]
    for name in visible:
        if name.id in used:
            yield name.id, 0.8
            yield f"{name.id} is not None", 0.8
            yield f"not {name.id}", 0.3
    close = [name for name in visible if name.id in used or name.kind is Kind.NUMBER]
    for index, left in enumerate(close):
        for right in close[index + 1 :]:
            for operator in ("==", "<", ">", "!=", "not in"):
                if {left.id, right.id} & used:
                    yield f"{left.id} {operator} {right.id}", 0.3


def assignment_kinds(site: Site) -> Iterator[Rewrite]:
    """``x += e`` to ``x = e`` and back; ``x.update(e)`` to ``x = e``; ``==`` to ``=``."""
    node = site.node
    match node:
        case ast.AugAssign(target=target, value=value):
            yield site.replace_this(f"{site.source(target)} = {site.source(value)}")
        case ast.Assign(targets=[target], value=value):
            yield site.replace_this(f"{site.source(target)} += {site.source(value)}")
            if isinstance(value, ast.BinOp) and site.source(value.left) == site.source(target):
                yield site.replace_this(f"{site.source(target)} = {site.source(value.right)}", 0.7)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner), args=[argument])):
            yield site.replace_this(f"{site.source(owner)} = {site.source(argument)}", 0.6)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner)) as call):
            yield site.replace_this(f"{site.source(owner)} = {site.source(call)}", 0.6)
        case ast.Expr(value=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            yield site.replace_this(f"{site.source(left)} = {site.source(right)}")


def added_assignments(site: Site) -> Iterator[Rewrite]:
    """Set a variable of the function to another one, count one up or down, after a statement."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.Break, ast.Continue, ast.Raise)):
        return
    names = [name for name in site.variables() if name.is_local]
    for target in names:
        if target.kind in (Kind.NUMBER, Kind.UNKNOWN):
            weight = 0.8 if target.kind is Kind.NUMBER else 0.3
            yield from _placed(site, f"{target.id} += 1", weight)
            yield from _placed(site, f"{target.id} -= 1", weight * 0.7)
        for source in names:
            if source is not target and Kind.CALLABLE not in (source.kind, target.kind):
                same = source.kind is target.kind
                yield from _placed(site, f"{target.id} = {source.id}", 0.8 if same else 0.3)


_ADDERS = {
    Kind.LIST: ("append", "extend"),
    Kind.SET: ("add", "update"),
    Kind.SEQUENCE: ("append", "add"),
    Kind.UNKNOWN: ("append", "add"),
    Kind.OBJECT: ("append", "add"),
}


def added_call_statements(site: Site) -> Iterator[Rewrite]:
    """Put a value into a collection: ``seen.add(node)``, ``out.append(x)``."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.Break, ast.Continue)):
        return
    names = [name for name in site.variables() if name.is_local and name.kind is not Kind.CALLABLE]
    for target in names:
        is_known = target.kind in (Kind.LIST, Kind.SET)
        for method in _ADDERS.get(target.kind, ()):
            for item in names:
                if item is not target:
                    weight = (1.0 if is_known else 0.3) * (1.0 if method in "append add" else 0.4)
                    yield from _placed(site, f"{target.id}.{method}({item.id})", weight)


TEMPLATES = (
    Template(EditTemplate.STATEMENT_DELETE, _ANY, deleted),
    Template(EditTemplate.STATEMENT_COPY, _ANY, copied),
    Template(EditTemplate.STATEMENT_MOVE, _ANY, moved),
    Template(EditTemplate.STATEMENT_GUARD, SIMPLE, guarded),
    Template(EditTemplate.ASSIGNMENT_KIND, (ast.AugAssign, ast.Assign, ast.Expr), assignment_kinds),
    Template(EditTemplate.ASSIGNMENT_ADD, _ANY, added_assignments),
    Template(EditTemplate.CALL_STATEMENT_ADD, _ANY, added_call_statements),
)
