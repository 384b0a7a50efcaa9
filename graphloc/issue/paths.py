"""Paths of files and folders in running text, code and logs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphloc.issue.model import PathMention, Place

_MAX_LENGTH = 300
_TOKEN = re.compile(r"(?<![\w.~@/\\:-])[\w.~@/\\<{*-][\w.~@/\\:#+<>{}*\[\]=-]*+")
_STRONG = frozenset(
    {"py", "pyi", "pyw", "pyx", "pxd", "pxi", "ipynb", "cfg", "toml", "yaml", "yml", "json", "md"}
    | {"rst", "txt", "ini", "sh", "bat", "ps1", "html", "htm", "css", "scss", "js", "jsx", "ts"}
    | {"tsx", "vue", "sql", "xml", "csv", "tsv", "j2", "jinja", "jinja2", "tmpl", "lock", "proto"}
    | {"cpp", "cc", "cu", "hpp", "java", "rb", "php", "tf", "po", "pot", "mo", "conf", "env"}
    | {"spec", "mdx", "ejs", "svg", "ico", "rs"}
)
"""Extensions that make a file of a bare name."""
_WITH_FOLDER = _STRONG | {"c", "h", "go", "r", "in", "f", "f90", "pyd", "so", "tex", "log", "mk"}
"""Extensions that make a file of a name only behind a folder; alone they may be attributes."""
_BARE_NAMES = frozenset({"Dockerfile", "Makefile", "Pipfile", "Procfile", "Jenkinsfile"})
_HINT = re.compile(rf"[/\\]|\.(?:{'|'.join(sorted(_STRONG))})\b", re.IGNORECASE)
_TAIL = re.compile(
    r"^(?P<path>[^:#]+(?:\.\w+)?)"
    r"(?:::?(?P<node>[A-Za-z_][\w:.\[\]-]*)|(?::|#L)(?P<line>\d{1,7})(?:[:-]L?\d+)*)?"
)
_LINE_AFTER = re.compile(
    r"[`'\"*\])]{0,4},? {0,2}\(?(?:(?:at|on|in|around|near|,) )?(?:the )?(?:lines?|L|ln\.?|#L)"
    r"[ :#`]{0,2}(?P<line>\d{1,7})\b",
    re.IGNORECASE,
)
_LINE_BEFORE = re.compile(
    r"\b(?:lines?|L)[ #`]{0,2}(?P<line>\d{1,7})`?(?: ?(?:-|to|and) ?\d{1,7})? "
    r"(?:of|in|from|at) (?:the )?(?:file )?[`'\"\[(*]{0,4}$",
    re.IGNORECASE,
)
_PACKAGE_ROOT = re.compile(
    r"^.*/(?:site-packages|dist-packages|lib/python[\d.]+(?:/lib-dynload)?|[Ll]ib/python[\d.]*"
    r"|Python\d+/[Ll]ib)/",
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_DRIVE_OR_HOME = re.compile(r"^(?:[A-Za-z]:/+|~/|/+|(?:\.{1,3}/)+|\$\{?\w+\}?/|file:/+)+")
_LOOKS_LIKE_FOLDER = re.compile(r"^[\w.-]+(?:/[\w.-]+)+/?$")
_USER_FOLDER = re.compile(r"^(?:home|Users)/[^/]+/")


def normalize_path(text: str) -> str:
    """Return a written path with forward slashes and without what is private to one machine.

    Everything up to ``site-packages`` or the library folder, drive letters, home folders and
    leading dots go. The result is a suffix candidate for a repository's paths, never absolute.
    """
    path = re.sub(r"[\\/]+", "/", text.strip().strip("'\"`<>"))
    path = _resolve_dots(_PACKAGE_ROOT.sub("", path))
    path = _DRIVE_OR_HOME.sub("", path)
    return _USER_FOLDER.sub("", path).strip("/")


def _resolve_dots(path: str) -> str:
    """Leave out ``.`` and ``folder/..`` parts behind the first one."""
    if "/." not in path:
        return path
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] not in {"", "..", "~"}:
            kept.pop()
        elif part != "." or not kept:
            kept.append(part)
    return "/".join(kept)


def find_paths(text: str, place: Place) -> Iterator[PathMention]:
    """Yield the paths that `text` (without URLs) names, in order. Linear in its length.

    A token counts if it has a known extension (short ones such as ``.c`` only behind a folder), if
    it is a well-known bare name, or if it looks like a folder of three parts or more.
    """
    for match in _TOKEN.finditer(text):
        token = match[0]
        if len(token) > _MAX_LENGTH or (_HINT.search(token) is None and token not in _BARE_NAMES):
            continue
        is_quoted = place is Place.PROSE and text[match.start() - 1 : match.start()] == "`"
        mention = _parse_token(token.rstrip(".:=-<*"), Place.INLINE_CODE if is_quoted else place)
        if mention is None or _is_method_call(mention, text, match):
            continue
        yield mention if mention.line else _with_line_nearby(mention, text, match)


def _is_method_call(mention: PathMention, text: str, match: re.Match[str]) -> bool:
    """Whether an open parenthesis follows, as in ``response.json()``, and nothing explains it."""
    is_explained = bool(mention.line or mention.node) or match[0].endswith("]")
    return text.startswith("(", match.end()) and not is_explained


def _parse_token(token: str, place: Place) -> PathMention | None:
    token = token.rpartition("=")[2].lstrip("@<{*[")
    drive = token[:2] if _DRIVE.match(token) else ""
    parsed = _TAIL.match(token[len(drive) :])
    if parsed is None:
        return None
    text = drive + parsed["path"].rstrip(".>}]")
    path = normalize_path(text)
    if not _is_path(path, text, place):
        return None
    node = (parsed["node"] or "").split("[")[0].replace("::", ".")
    return PathMention(path, text, place, int(parsed["line"]) if parsed["line"] else None, node)


def _is_path(path: str, text: str, place: Place) -> bool:
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if name in _BARE_NAMES:
        return True
    if dot and stem and extension.lower() in (_WITH_FOLDER if folder else _STRONG):
        return any(character.isalnum() for character in stem)
    if not _LOOKS_LIKE_FOLDER.match(path) or not re.search(r"[A-Za-z]{2}", path):
        return False
    return path.count("/") >= 2 or (place is Place.INLINE_CODE and "/" in text.strip("/"))


def _with_line_nearby(mention: PathMention, text: str, match: re.Match[str]) -> PathMention:
    near = _LINE_AFTER.match(text, match.end()) or _LINE_BEFORE.search(
        text[max(0, match.start() - 40) : match.start()]
    )
    if near is None:
        return mention
    return PathMention(mention.path, mention.text, mention.place, int(near["line"]), mention.node)
