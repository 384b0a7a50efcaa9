"""What the issue template wrote, and listings of the environment: not the reporter's words.

Lines are judged one by one, so that a sentence in the wrong section of a template survives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from graphloc.issue.model import Block, BlockKind

_HEADING_WORDS = re.compile(
    r"(?:describe|description|summary|steps|to reproduce|reproduction|reproduc\w+|expected|actual"
    r"|current|observed|proposed|behaviou?r|results?|output|environment|system|info|information"
    r"|versions?|checklist|check|checks|additional|context|screenshots?|logs?|log|verbose|details"
    r"|motivation|alternatives?|solution|feature|request|bug|issue|problem|type|component|name|os"
    r"|platform|configuration|question|anything|else|what|happened|happens?|you|your|the|a|an|of|to"
    r"|and|or|for|is|there|this|that|it|in|on|with|how|can|we|us|help|please|any|do|did|would|like"
    r"|should|have|has|want|are|were|search|before|asking|submitting|existing|first|code|sample"
    r"|example|copy|pastable|sample|minimal|complete|verifiable|reproducible|script|snippet|traceback|error|message"
    r"|python|operating|dependencies|installed|severity|willing|submit|pr|contribution|conduct"
    r"|location|documentation|suggested|suggestions?|fix|pitch|use|case|usage|relevant|general"
    r"|comments?|notes?|more|other|possible|implementation|idea|hint|tasks?|who|region|prerequisites"
    r"|provide|clearly|demonstrates|worded|well|enough|be|understood|not|remove|skip|template|if"
    r"|applicable|optional|required|mandatory|full|data|browser|device|desktop|smartphone)",
)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_MAX_HEADING_WORDS = 14
_BOILERPLATE_LINE = re.compile(
    r"""^[\s>*_#-]*(?:\d+\.\s)?(?:
      _?no\ response_?\W*$ | \[paste\ | n/?a\W*$
    | i(?:'ve|\ have)?\ (?:already\ )?(?:searched|read|checked|verified|confirmed|reviewed|looked\ through
        |understand\ that\ i\ will|agree\ to|added\ a\ very\ descriptive)\b.*(?:issues?|docs?|documentation
        |bugtracker|guidelines|conduct|version|duplicates|tutorial|readme|reported|main|master)
    | (?:a|please\ (?:provide|write|add|include))\ (?:a\ )?clear\ and\ concise\ description
    | add\ any\ other\ context | if\ applicable,\ add\ screenshots
    | thanks?(?:\ you)?\ for\ (?:taking\ the\ time|reporting|filing|opening)
    | please\ (?:read|make\ sure|check|search|fill|complete|provide|describe|ensure|note\ that\ we)\b
    | (?:do\ not|don't)\ (?:remove|delete|skip|post|file)\b
    | steps\ to\ reproduce(?:\ the\ behaviou?r)?\W*$
    | (?:go\ to|click\ on|scroll\ down\ to)\ '\.{2,}' | see\ error\W*$
    | (?:yes,?\ )?i(?:'d|\ am|'m|\ would)?\ (?:like\ to\ help\ by\ submitting|willing\ to\ submit)\ a\ pr
    | before\ (?:submitting|opening|asking|you\ file)\b
    | (?:the\ problem\ arises\ when\ using|the\ tasks?\ i\ am\ working\ on\ (?:is|are))\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_CHECK_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[(?P<mark>[ xX]?)\]\s+(?P<text>.*)$")
_CHECK_TEXT = re.compile(
    r"""\b(?:search|searched|read|checked?|verified|confirmed?|agree|understand|reporting|reviewed
      |looked|reproduc|updated|used\ the|guidelines|code\ of\ conduct|willing|submit(?:ting)?\ a\ pr
      |duplicate|latest\ version|bug\ report|feature\ request|official|own\ (?:modified|task)|whole\ output
      |descriptive\ title|documentation\ issue|command\ ?line|api)\b|^\[[^\]]*\]\s*$|^\[[^\]]*\]\(\s*\)?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ENVIRONMENT_HEADING = re.compile(
    r"\b(?:environment|environement|system info|system information|versions?|platform|setup|os"
    r"|operating system|desktop|browser|device|installed|show_versions|dependencies|pip freeze|info"
    r"|python)\b",
    re.IGNORECASE,
)
_VERSION_LINE = re.compile(
    r"""^[\s>*|`+-]*(?:
      [\w.\-\[\]]+\s?(?:===?|~=|>=|@)\s?\S+ (?:\s[;\#].*)?$
    | [\w.\-()/ ]{1,40}[:=|]\s*[`*"]{0,3}v?\d+(?:\.[\w+*-]+)*\b.*$
    | [\w.\-()/ ]{1,40}:\s*(?:none|n/?a|no|yes|true|false|linux|windows|mac\S*|darwin|ubuntu|little|unknown)?\b.{0,40}$
    | [\w.\-]+\s{2,}v?\d[\w.+]*(?:\s+\S+)?$
    | (?:python|os|platform|ubuntu|windows|macos|linux|debian|cuda|gpu|browser)\b[\s\w.:,()-]{0,60}\d.*$
    | [-=+|\s]{3,}$ | installed\ versions$ | package\s+version$ | (?:\$|>)?\ ?pip\ (?:freeze|list|show).*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LISTING_START = re.compile(
    r"collecting environment information|installed versions\n-{3,}|pytorch version:|system:\n",
    re.IGNORECASE,
)
_MIN_LISTING_LINES = 5
_LISTING_SHARE = 0.7
"""Share of version-like lines from which a block counts as a listing of the environment: pip
freeze, ``show_versions`` and collect_env reach 0.8 and more, YAML and logs stay below 0.5."""


def remove_boilerplate(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks without what the template wrote and without environment listings.

    A block that loses lines is yielded with the rest of them, the removed ones left blank, so rows
    stay true.
    """
    in_environment = False
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            in_environment = _ENVIRONMENT_HEADING.search(block.text) is not None
            if is_template_heading(block.text):
                continue
        elif _is_listing(block, in_environment=in_environment):
            continue
        kept = block if block.kind is BlockKind.CODE else _without_template(block, in_environment)
        if kept.text.strip():
            yield kept


def is_template_heading(text: str) -> bool:
    """Whether a heading is made of the words of issue templates only, names of code aside."""
    words = _WORD.findall(text.lower())
    if not words:
        return not any(character.isalnum() for character in text)
    if len(words) > _MAX_HEADING_WORDS or any(sign in text for sign in "`_.()=/"):
        return False
    return all(_HEADING_WORDS.fullmatch(word) for word in words)


def _without_template(block: Block, in_environment: bool) -> Block:
    lines = tuple(
        "" if _is_boilerplate(line, in_environment=in_environment) else line for line in block.lines
    )
    return block if lines == block.lines else replace(block, lines=lines)


def _is_boilerplate(line: str, *, in_environment: bool) -> bool:
    if len(line) > 1_000:
        return False
    if _BOILERPLATE_LINE.match(line):
        return True
    box = _CHECK_BOX.match(line)
    if box is not None:
        return not box["text"] or _CHECK_TEXT.search(box["text"]) is not None
    return in_environment and _VERSION_LINE.match(line) is not None


def _is_listing(block: Block, *, in_environment: bool) -> bool:
    if _LISTING_START.match(block.text.lstrip()[:200]):
        return True
    lines = [line for line in block.lines if line.strip()]
    if len(lines) < _MIN_LISTING_LINES and not (in_environment and block.kind is BlockKind.CODE):
        return False
    hits = sum(len(line) < 300 and _VERSION_LINE.match(line) is not None for line in lines)
    return hits >= _LISTING_SHARE * len(lines) and _has_versions(lines)


def _has_versions(lines: list[str]) -> bool:
    """Whether digits with dots are common: tells a listing from YAML or a diff."""
    return sum(re.search(r"\d\.\d|\d{4}", line[:300]) is not None for line in lines) * 3 >= len(
        lines
    )
