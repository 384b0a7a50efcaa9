"""Links to source files and to documentation.

Addresses are taken apart by hand: ``urllib.parse.urlsplit`` raises on malformed ones.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from graphloc.issue.model import DocumentationLink, Permalink

URL = re.compile(r"\bhttps?://[^\s<>\"'`|\\^{}\u3001\u3002\uff0c\uff08\uff09]++")
_MAX_LENGTH = 2000
_FORGE_VIEWS = frozenset({"blob", "blame", "raw", "tree", "edit", "src", "commits"})
_LINES = re.compile(r"^(?:L|lines-|line-)(\d{1,7})(?:C\d+)?(?:[-:,]L?(\d{1,7}))?")
_DOCUMENTATION_HOST = re.compile(
    r"(?:^|\.)(?:docs?|documentation|api)\.|readthedocs|\.github\.io$|rtfd"
)
_DOCUMENTATION_PATH = re.compile(
    r"/(?:docs?|documentation|api|reference|_modules|generated|stable)/|\.html$"
)
_ANCHOR_NAME = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)+$")
_LAST_PARTS = 3


def find_urls(text: str) -> list[str]:
    """Return the addresses in `text`, in order, without the punctuation that follows them."""
    return [_trim(match[0]) for match in URL.finditer(text)]


def blank_urls(text: str) -> str:
    """Return `text` with a space in place of each address."""
    return URL.sub(" ", text)


def parse_permalink(url: str) -> Permalink | None:
    """Return the file that a forge's address points at; None if it is no such address."""
    host, path, anchor = _split(url)
    parts = [unquote(part) for part in path.split("/") if part]
    if host == "raw.githubusercontent.com" and len(parts) > 3:
        at = 2 + 2 * (parts[2:4] == ["refs", "heads"])
        return Permalink(url, "/".join(parts[at + 1 :]), parts[at], "/".join(parts[:2]))
    at = next((i for i, part in enumerate(parts) if i >= 2 and part in _FORGE_VIEWS), 0)
    if not at or len(parts) < at + 3:
        return None
    repo = "/".join(part for part in parts[:at] if part != "-")
    lines = _LINES.match(anchor)
    start = int(lines[1]) if lines else None
    end = int(lines[2]) if lines and lines[2] else start
    return Permalink(url, "/".join(parts[at + 2 :]), parts[at + 1], repo, start, end)


def parse_documentation_link(url: str) -> DocumentationLink | None:
    """Return the words of an address of documentation; None if it looks like another page."""
    host, path, anchor = _split(url)
    if not (
        _DOCUMENTATION_HOST.search(host)
        or _DOCUMENTATION_PATH.search(path)
        or _ANCHOR_NAME.match(anchor)
    ):
        return None
    parts = [unquote(part) for part in path.split("/") if part][-_LAST_PARTS:]
    words = tuple(re.sub(r"\.(?:html?|md|rst)$", "", part) for part in parts)
    return DocumentationLink(url, tuple(word for word in words if word), unquote(anchor))


def _split(url: str) -> tuple[str, str, str]:
    """Return host, path and anchor."""
    address, _, anchor = url.partition("://")[2].partition("#")
    host, slash, path = address.partition("?")[0].partition("/")
    return host.lower(), slash + path, anchor


def _trim(url: str) -> str:
    url = url[:_MAX_LENGTH].rstrip(".,;:!?*_")
    while url.endswith((")", "]")):
        opener = "(" if url.endswith(")") else "["
        if url.count(opener) >= url.count(url[-1]):
            break
        url = url[:-1].rstrip(".,;:!?*_")
    cut = url.find("](")
    return url if cut < 0 else url[:cut]
