"""Templates that edit string constants, regular expressions and formats."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template

_FIELD = re.compile(r"\{(\w*)\}")
_PERCENT = re.compile(r"%[-+#0 ]*\d*(?:\.\d+)?([sdrfixg])")
_JOINTS = ("", " ", ",", ", ", ".", "-", "_", "\n", "0")
_MAX_TEXT = 60
"""Longer strings are messages and texts; changing their letters fixes nothing."""
_MAX_DROPS = 16
_RE_FUNCTIONS = ("match", "search", "fullmatch", "findall", "finditer", "sub", "split", "compile")


def _plain_text(site: Site) -> str | None:
    """Return the text of a string constant that may be edited."""
    node = site.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    if isinstance(site.parent, (ast.Expr, ast.JoinedStr, ast.FormattedValue)):
        return None
    return node.value if len(node.value) <= _MAX_TEXT else None


def string_constants(site: Site) -> Iterator[Rewrite]:
    """Case, surrounding white space, separators, letters dropped, doubled or turned round."""
    text = _plain_text(site)
    if text is None:
        return
    found = _other_spellings(text)
    for other in _other_texts(site):
        found.setdefault(other, 0.8 if len(other) <= _MAX_TEXT else 0.2)
    for other, weight in found.items():
        if other != text:
            yield site.replace_this(_quoted(site.source(site.node), other), weight)


def _other_spellings(text: str) -> dict[str, float]:
    """Return texts that a text may have been meant to be, with weights."""
    found: dict[str, float] = {}
    for other in (text.lower(), text.upper(), text.capitalize(), text.strip(), text.swapcase()):
        found.setdefault(other, 1.0)
    if text.lower() != text.upper():
        found.setdefault(text + text.swapcase(), 0.6)
    if len(text) <= 2:
        for other in _JOINTS:
            found.setdefault(other, 0.8)
    found.setdefault(text[::-1], 0.7 if len(text) == 2 else 0.1)
    for index in range(min(len(text), _MAX_DROPS)):
        found.setdefault(text[:index] + text[index + 1 :], 0.6)
        found.setdefault(text[: index + 1] + text[index:], 0.2)
    for affix in _JOINTS[1:]:
        found.setdefault(text + affix, 0.3)
        found.setdefault(affix + text, 0.3)
    return found


def _other_texts(site: Site) -> list[str]:
    """Return other string constants of the unit, in order."""
    return list(
        dict.fromkeys(
            node.value
            for node in ast.walk(site.unit.node)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not isinstance(site.module.parents.get(node), (ast.Expr, ast.JoinedStr))
        )
    )


def _quoted(old: str, text: str) -> str:
    """Write a string with the quotes the old one had, where that is possible."""
    fresh = repr(text)
    if '"' in old[:3] and '"' not in text and "'" not in text:
        return f'"{fresh[1:-1]}"'
    return fresh


def regular_expressions(site: Site) -> Iterator[Rewrite]:
    """Quantifiers, anchors, greediness, escapes and flags of a pattern given to `re`."""
    match site.node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re"), attr=function),
            args=[ast.Constant(value=str(pattern)) as first, *_],
        ) if function in _RE_FUNCTIONS:
            for other, weight in _patterns(pattern).items():
                if other != pattern and _is_pattern(other):
                    yield site.replace(first, _raw(other), weight)
            yield from _flagged(site, site.node)


def _patterns(pattern: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for place in re.finditer(r"[+*?](?!\?)", pattern):
        start, end = place.span()
        for other in ("*", "+", "?", place[0] + "?"):
            found.setdefault(pattern[:start] + other + pattern[end:], 1.0)
    for place in re.finditer(r"[+*?]\?", pattern):
        found.setdefault(pattern[: place.end() - 1] + pattern[place.end() :], 0.8)
    for place in re.finditer(r"(?<!\\)\.(?![*+?])", pattern):
        found.setdefault(pattern[: place.start()] + "\\." + pattern[place.end() :], 0.7)
    for place in re.finditer(r"\\[wds]|\]|\)|(?<=\w)\w(?![*+?{])", pattern):
        for mark in "*+?":
            found.setdefault(pattern[: place.end()] + mark + pattern[place.end() :], 0.4)
    for other in (f"^{pattern}", f"{pattern}$", rf"\b{pattern}", rf"{pattern}\b"):
        found.setdefault(other, 0.5)
    found.setdefault(pattern.removeprefix("^"), 0.5)
    found.setdefault(pattern.removesuffix("$"), 0.5)
    return found


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _raw(text: str) -> str:
    if "\\" in text and '"' not in text and "\n" not in text and not text.endswith("\\"):
        return f'r"{text}"'
    return repr(text)


def _flagged(site: Site, call: ast.Call) -> Iterator[Rewrite]:
    if not call.keywords and len(call.args) <= 2:
        end = site.module.span(call)[1]
        for flag in ("IGNORECASE", "MULTILINE", "DOTALL"):
            arguments = f"{site.source(call)[:-1].rstrip().rstrip(',')}, flags=re.{flag})"
            if end:
                yield site.replace(call, arguments, 0.4)


def formats(site: Site) -> Iterator[Rewrite]:
    """A missing ``f`` prefix, conversions, padding, and fields in another order."""
    node = site.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    own = site.source(node)
    visible = {name.id for name in site.names()}
    fields = _FIELD.findall(node.value)
    if fields and own[:1] in "'\"" and set(fields) <= visible and all(fields):
        yield site.replace_this(f"f{own}")
    for place in _PERCENT.finditer(own):
        for other in "sdr":
            if other != place[1]:
                changed = own[: place.end() - 1] + other + own[place.end() :]
                yield site.replace_this(changed, 0.6)
    if len(fields) == 2 and own.count("{}") == 2:
        yield site.replace_this(own.replace("{}", "{1}", 1).replace("{}", "{0}", 1), 0.5)


TEMPLATES = (
    Template(EditTemplate.STRING_CONSTANT, (ast.Constant,), string_constants),
    Template(EditTemplate.REGULAR_EXPRESSION, (ast.Call,), regular_expressions),
    Template(EditTemplate.FORMAT_STRING, (ast.Constant,), formats),
)
