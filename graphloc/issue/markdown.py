"""From lines to blocks: the markup of GitHub, Trac, Jira and plain e-mail, as reporters mangle it.

Fences (```` ``` ````, ``~~~``, ``{{{``, ``{code}``, ``{noformat}``, ``<pre>``), indented blocks,
interpreter sessions that nobody fenced, headings, quotes and comments. One pass, linear: a closing
mark is looked for only where one is known to follow.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from graphloc.issue.model import Block, BlockKind

_FENCE = re.compile(r"^[\s>]*+(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`]*+)$")
_INFO_WORD = re.compile(r"^[{.\s]*([A-Za-z][\w+#-]{0,24})\}?(?=[\s,:{]|$)")
_HEADING = re.compile(
    r"^ {0,3}(?:#{1,6}(?:\s++|(?=[A-Z*]))(?P<hash>[^#\s].*)|h[1-6]\.\s(?P<jira>.*))$"
)
_BOLD_HEADING = re.compile(r"^\s*(?:\*\*|__)(?P<bold>[^*_\n]{2,80})(?:\*\*|__)\s?:?\s*$")
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,})\s*$")
_QUOTE = re.compile(r"^ {0,3}>(?!>>) ?")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s")
_CODE_SIGN = re.compile(r"[=(){}\[\];]|^\s*(?:import|from|class|def|File|Traceback|raise|@|\$ |#)")
_PROMPT = re.compile(r"^\s*(?:>>> ?|In ?\[\d*\]: ?)")
_MARKUP_SIGN = re.compile(r"[#*_`~{<>\[]|^ {0,3}h[1-6]\.")
_TAG = re.compile(
    r"</?(?:details|summary|p|br|b|i|em|strong|code|kbd|sub|sup|div|span|a|img|h[1-6]|ul|ol|li"
    r"|table|tr|td|th|tbody|thead|hr)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]++(?:\n[^`\n]++){0,2})\1(?!`)")
_OTHER_INLINE_CODE = re.compile(
    r"\{\{\{?([^{}\n]{1,300})\}\}\}?|<(?:code|tt|kbd)>([^<>\n]{1,300})</|:\w{1,20}:`[~!]?([^`\n]{1,300})`"
)
_MARK_AT_END = re.compile(r"(?:\}\}\}|\{code\}|\{noformat\}|</pre>)$", re.IGNORECASE)
_MAX_SPLIT_LINE = 5_000
"""Longer lines are not taken apart at marks in their middle: each cut copies the line."""
_LANGUAGES = frozenset(
    {
        "python",
        "python3",
        "py",
        "pycon",
        "pytb",
        "ipython",
        "bash",
        "sh",
        "shell",
        "console",
        "text",
    }
    | {"txt", "paste", "yaml", "yml", "json", "toml", "ini", "sql", "diff", "patch", "html", "xml"}
    | {"js", "javascript", "log", "md", "markdown", "rst", "c", "cpp", "rust", "java", "powershell"}
)
_CLOSERS = {
    "{{{": re.compile(r"^[^{]*\}\}\}"),
    "{code": re.compile(r"\{code\}"),
    "{noformat": re.compile(r"\{noformat\}"),
    "<pre": re.compile(r"</pre>", re.IGNORECASE),
}
_OPENER = re.compile(
    r"^\s*(?P<trac>\{\{\{)(?!.*\}\}\})|^\s*(?P<jira>\{code|\{noformat)(?P<info>[:|]?[^}\n]{0,80})\}"
    r"|(?P<pre><pre)\b[^>\n]{0,200}>",
    re.IGNORECASE,
)


def find_blocks(lines: list[str]) -> list[Block]:
    """Split the lines of a cleaned text into blocks; blank lines and pure markup belong to none."""
    return list(_Splitter(list(lines)))


def find_inline_code(text: str) -> list[str]:
    """Return what stands between back ticks, ``<code>`` tags or ``{{{ }}}`` in prose, in order."""
    found = [(match.start(), match[2]) for match in _INLINE_CODE.finditer(text)]
    for match in _OTHER_INLINE_CODE.finditer(text):
        found.append((match.start(), match[1] or match[2] or match[3]))
    return [" ".join(code.split()) for _, code in sorted(found) if code.strip()]


def remove_inline_code(text: str) -> str:
    """Return prose with a space in place of each piece that `find_inline_code` finds."""
    return _OTHER_INLINE_CODE.sub(" ", _INLINE_CODE.sub(" ", text))


class _Splitter:
    """A cursor over the lines; each rule either takes lines from it or leaves it alone."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.row = 0
        self.in_list = False
        self.last_rows: dict[str, int] = {}

    def __iter__(self) -> Iterator[Block]:
        rules = (self._fence, self._marked, self._session, self._indented, self._heading)
        while self.row < len(self.lines):
            line = self.lines[self.row]
            if not line or line.isspace():
                self.row += 1
                continue
            if "<!--" in line and self._skip_comment():
                continue
            block = next((found for rule in rules if (found := rule()) is not None), None)
            yield from self._paragraph() if block is None else (block,)

    def _take(self, kind: BlockKind, lines: list[str], language: str = "") -> Block:
        block = Block(kind, tuple(lines), self.row, language)
        self.row += len(lines)
        return block

    def _code(self, end: int, *, language: str, skip: int = 1, closer: int = 1) -> Block:
        """Take the rows up to `end`, with `skip` rows of markup before and `closer` rows after."""
        self.row += skip
        block = self._take(BlockKind.CODE, self.lines[self.row : end], language)
        self.row = end + closer
        return block

    # --- rules ---------------------------------------------------------------------------------

    def _fence(self) -> Block | None:
        opening = _FENCE.match(self.lines[self.row])
        if opening is None:
            return None
        mark, info = opening["mark"], opening["info"].strip()
        word = _INFO_WORD.match(info)
        is_code = bool(info) and _is_code_behind_fence(info, word)
        quoted = self.lines[self.row].lstrip().startswith(">")
        end = self._find_fence_end(mark)
        content = [
            _QUOTE.sub("", line) if quoted else line for line in self.lines[self.row + 1 : end]
        ]
        if is_code:
            content.insert(0, info)
        else:
            self.row += 1
        block = self._take(
            BlockKind.CODE, content, "" if is_code or word is None else word[1].lower()
        )
        self.row = end + 1
        if end < len(self.lines) and (tail := self.lines[end].rstrip(" `~>")).strip():
            block = Block(block.kind, (*block.lines, tail), block.start, block.language)
        return block

    def _find_fence_end(self, mark: str) -> int:
        for row in range(self.row + 1, len(self.lines)):
            line = self.lines[row].rstrip()
            if line.endswith(mark) and (
                line.strip("> \t") == mark[0] * len(line.strip("> \t")) or line.count(mark) == 1
            ):
                return row
        return len(self.lines)

    def _marked(self) -> Block | None:
        opening = _OPENER.search(self.lines[self.row][:_MAX_SPLIT_LINE])
        if opening is None:
            return None
        name = _opener_name(opening)
        line = self.lines[self.row]
        if self._last_row(name) <= self.row and not self._closes_here(name, opening.end()):
            return None
        before = line[: opening.start()]
        if before.strip():
            self.lines[self.row] = line[opening.start() :]
            return Block(BlockKind.PROSE, (_strip_markup(before),), self.row)
        end = self._find_closer(name, opening.end())
        content = [line[opening.end() :], *self.lines[self.row + 1 : end + 1]]
        content[-1], after = self._split_closer(name, content[-1])
        if name == "<pre":
            content = [html.unescape(_TAG.sub("", line)) for line in content]
        language = (opening["info"] or "").lstrip(":|").split("|")[0].lower()
        block = self._take(BlockKind.CODE, content, language)
        if after.strip():
            self.row = end
            self.lines[end] = after
        return block

    def _split_closer(self, name: str, line: str) -> tuple[str, str]:
        """Part what stands before a closing mark from what follows it."""
        closing = _CLOSERS[name].search(line)
        if closing is None or len(line) > _MAX_SPLIT_LINE:
            return line, ""
        return _MARK_AT_END.sub("", line[: closing.end()]), line[closing.end() :]

    def _closes_here(self, name: str, start: int) -> bool:
        return _CLOSERS[name].search(self.lines[self.row], start) is not None

    def _find_closer(self, name: str, start: int) -> int:
        if self._closes_here(name, start):
            return self.row
        pattern = _CLOSERS[name]
        rows = range(self.row + 1, len(self.lines))
        return next((row for row in rows if pattern.search(self.lines[row])), self.row)

    def _last_row(self, name: str) -> int:
        """Last row that closes a block opened by `name`: no search runs to the end in vain."""
        if name not in self.last_rows:
            pattern = re.compile("-->") if name == "<!--" else _CLOSERS[name]
            rows = range(len(self.lines) - 1, -1, -1)
            self.last_rows[name] = next(
                (row for row in rows if pattern.search(self.lines[row])), -1
            )
        return self.last_rows[name]

    def _session(self) -> Block | None:
        """Interpreter prompts outside of any fence, up to the next blank line."""
        if not _PROMPT.match(self.lines[self.row]):
            return None
        end = self.row
        while end < len(self.lines) and self.lines[end].strip() and not _is_fence(self.lines[end]):
            end += 1
        return self._code(end, language="pycon", skip=0, closer=0)

    def _indented(self) -> Block | None:
        if not _is_indented(self.lines[self.row]):
            return None
        if self.in_list and not _CODE_SIGN.search(self.lines[self.row]):
            return None
        before = self.lines[self.row - 1].strip() if self.row else ""
        if before and not before.endswith(":") and not _HEADING.match(before):
            return None
        end = last = self.row
        while end < len(self.lines) and (
            _is_indented(self.lines[end]) or not self.lines[end].strip()
        ):
            if self.lines[end].strip():
                if _is_fence(self.lines[end]):
                    break
                last = end
            end += 1
        return self._code(max(last + 1, self.row + 1), language="", skip=0, closer=0)

    def _heading(self) -> Block | None:
        line = self.lines[self.row]
        match = _HEADING.match(line) or _BOLD_HEADING.match(line)
        if match is not None:
            self.in_list = False
            title = next(filter(None, match.groups()), "")
            return self._take(BlockKind.HEADING, [title.strip("# \t")])
        follower = self.lines[self.row + 1] if self.row + 1 < len(self.lines) else ""
        if len(line) < 100 and _UNDERLINE.match(follower) and not _UNDERLINE.match(line):
            self.in_list = False
            block = self._take(BlockKind.HEADING, [line.strip()])
            self.row += 1
            return block
        return None

    def _skip_comment(self) -> bool:
        """Drop a comment; an unclosed one is the reporter's text."""
        line, kept, row = _without_comments(self.lines[self.row]), "", self.row
        if "<!--" in line:
            if self._last_row("<!--") <= row:
                return False
            line, _, _ = line.partition("<!--")
            while "-->" not in self.lines[row := row + 1]:
                pass
            kept = self.lines[row].partition("-->")[2]
        self.lines[self.row : row + 1] = [line, *[""] * (row - self.row)]
        if kept.strip():
            self.lines[row] = kept
        return True

    def _paragraph(self) -> Iterator[Block]:
        kind = BlockKind.QUOTE if _QUOTE.match(self.lines[self.row]) else BlockKind.PROSE
        end = self.row + 1
        while end < len(self.lines) and self._continues(self.lines[end]):
            end += 1
        lines = [_strip_markup(line) for line in self.lines[self.row : end]]
        self.in_list = any(_LIST_ITEM.match(line) for line in lines) or (
            self.in_list and lines[0].startswith(" ")
        )
        block = self._take(kind, lines)
        if block.text.strip():
            yield block

    def _continues(self, line: str) -> bool:
        if not line or line.isspace():
            return False
        if _MARKUP_SIGN.search(line) is None:
            return True
        return not (
            _is_fence(line)
            or self._can_open(line)
            or ("<!--" in line and self._last_row("<!--") >= self.row)
            or any(rule.match(line) for rule in (_PROMPT, _HEADING, _BOLD_HEADING))
        )

    def _can_open(self, line: str) -> bool:
        opening = _OPENER.search(line)
        return opening is not None and self._last_row(_opener_name(opening)) >= self.row


def _without_comments(line: str) -> str:
    """Drop the comments that open and close in the line."""
    kept, start = [], 0
    while (opened := line.find("<!--", start)) >= 0:
        closed = line.find("-->", opened + 4)
        if closed < 0:
            break
        kept.append(line[start:opened])
        start = closed + 3
    return " ".join([*kept, line[start:]])


def _is_code_behind_fence(info: str, word: re.Match[str] | None) -> bool:
    """Whether code stands where a fence's language should: more than one word, none known."""
    if word is None:
        return True
    return word[1].lower() not in _LANGUAGES and " " in info


def _opener_name(opening: re.Match[str]) -> str:
    return (opening["trac"] or opening["jira"] or opening["pre"]).lower()


def _is_fence(line: str) -> bool:
    return ("```" in line or "~~~" in line) and _FENCE.match(line) is not None


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t")) and not line.isspace()


def _strip_markup(line: str) -> str:
    line = _QUOTE.sub("", line)
    return _TAG.sub(" ", line) if "<" in line else line
