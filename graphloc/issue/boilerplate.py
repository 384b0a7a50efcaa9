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
    r"|initial|duplicate|reproduce|console|line|arguments|command|commit|where|link|links|website"
    r"|installation|install|method|screen|shots?|videos|regression|detailed|related|fully|applicable|optional|required|mandatory|full|data|browser|device|desktop|smartphone)",
)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_MAX_HEADING_WORDS = 14
_TEMPLATE_QUESTION = re.compile(
    r"^(?:how|what|which|are|do|did|is|have|where)\b[^?`]{0,80}\byour?\b[^?`]{0,80}\?",
    re.IGNORECASE,
)
_BOILERPLATE_LINE = re.compile(
    r"""^[\s>*_#-]*(?:\d+\.\s)?(?:
      _?no\ response_?\W*$ | \[paste\ | n/?a\W*$
    | i(?:'ve|\ have)?\ (?:already\ )?
        (?:searched|read|checked|verified|confirmed|reviewed|looked\ through|agree\ to
          |understand\ that\ i\ will|added\ a\ very\ descriptive)\b
        [^.?!,;]{0,100}\b(?:issues?|docs?|documentation|bugtracker|guidelines|conduct|version|readme
          |duplicates|tutorial|reported|main|master)\b[^.?!,;]{0,60}[.?!]?\s*$
    | (?:a|please\ (?:provide|write|add|include))\ (?:a\ )?clear\ and\ concise\ description
    | add\ any\ other\ context | if\ applicable,\ add\ screenshots
    | thanks?(?:\ you)?\ for\ (?:taking\ the\ time|reporting|filing|opening)
    | please\ (?:read|make\ sure|check|search|fill|complete|provide|describe|ensure)\b
        .*(?:issue|bug|report|question|template|below|version|information|guide|document|feature)
    | (?:do\ not|don't)\ (?:remove|delete|skip|post|file)\b.*(?:template|issue|form|here)
    | steps\ to\ reproduce(?:\ the\ behaviou?r)?\W*$
    | (?:go\ to|click\ on|scroll\ down\ to)\ '\.{2,}' | see\ error\W*$
    | (?:yes,?\ )?i(?:'d|\ am|'m|\ would)?\ (?:like\ to\ help\ by\ submitting|willing\ to\ submit)
        \ a\ pr
    | before\ (?:submitting|opening|asking|you\ file)\b
    | (?:the\ problem\ arises\ when\ using|the\ tasks?\ i\ am\ working\ on\ (?:is|are))\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LINK_TARGET = re.compile(r"\]\([^()\s]{0,500}\)")
_CHECK_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[(?P<mark>[ xX]?)\]\s+(?P<text>.*)$")
_CHECK_TEXT = re.compile(
    r"""^(?:\W|i(?:'m|'ve|'d|\ have|\ am|\ would)?\b|yes,?\b|\(optional\)|my|please|have\ you)*+\s*
        (?:already\s)?
        (?:search|searched|used\ the|read|checked|verified|confirmed|agree|understand|reporting
          |reviewed|looked|requesting|asking|added\ a\b|provided\ sufficient|willing|like\ to\ help
          |make\ sure|run\ \*\*your|copy\ the\ whole|if\ using\ api|would\ be\ willing|reproduced)\b
      | ^\W*(?:bug|bug\ report|feature\ request|documentation\ issue|question|other|none)\W*$
      | ^an?\ official | ^the\ official | ^my\ own\ (?:modified|task)
      | ^\[[^\]]*\]\s*(?:\([^)]*\))?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ENVIRONMENT_HEADING = re.compile(
    r"\b(?:environment|environement|system info|system information|versions?|platform|setup|os"
    r"|operating system|desktop|browser|device|installed|show_versions|dependencies|pip freeze"
    r"|info|python)\b",
    re.IGNORECASE,
)
_VERSION_LINE = re.compile(
    r"""^[\s>*|`+-]*(?:
      [A-Za-z][\w.\-\[\]]*+\s?(?:===?|~=|>=|@)\s?[\w.+!*-]{1,60}(?:\s[;\#].*)?$
    | [A-Za-z][\w.\-()/ ?*]{0,45}(?:(?<!\d)[:=]|[:=](?=\D))\s*
        [`*"]{0,3}v?\d+(?:\.[\w+*-]+)*+\b.{0,90}$
    | [A-Za-z][\w.\-()/ ?*]{0,45}:\s*[`*"]{0,3}(?:none|n/?a|no|yes|true|false|linux|windows|mac\w*
        |darwin|ubuntu|debian|fedora|osx|arch|little|unknown|nvidia|amd|intel|apple|geforce|x86\w*
        |not\ installed|could\ not\ collect|\w\w_\w\w\.utf-?8)\b.{0,60}$
    | [A-Za-z][\w.\-()/ ?*]{0,45}:[\s*]*$
    | [A-Za-z][\w.\- ]{0,45}\|\s*v?\d+(?:\.\w+)+\s*\|?\s*$
    | [A-Za-z][\w.\-]*+\s{2,}v?\d[\w.+]*(?:\s+\S{1,80})?$
    | (?:python|os|platform|ubuntu|windows|macos|linux|debian|cuda|gpu)\b
        [\w\s.:,()-]{0,60}\d.{0,60}$
    | [-=+|\s]{3,}$ | installed\ versions$ | package\s+version$
    | (?:\$|>)?\ ?pip\d?\ (?:freeze|list|show)\b.*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LISTING_START = re.compile(
    r"collecting environment information|installed versions\n-{3,}|pytorch version:|system:\n",
    re.IGNORECASE,
)
_TRACEBACK_LINE = re.compile(r"^\s*File \"|Traceback \(most recent|^-+> ?\d")
_VERSION = re.compile(r"\d\.\d|\d{4}")
_MIN_LISTING_LINES = 10
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
    if _TEMPLATE_QUESTION.match(text.strip()):
        return True
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
    bare = _LINK_TARGET.sub("", line) if "](" in line else line
    if _BOILERPLATE_LINE.match(bare):
        return True
    box = _CHECK_BOX.match(line)
    if box is not None:
        return not box["text"] or _CHECK_TEXT.match(box["text"]) is not None
    return in_environment and _VERSION_LINE.match(line) is not None


def _is_listing(block: Block, *, in_environment: bool) -> bool:
    if _LISTING_START.match(block.text.lstrip()[:200]):
        return True
    lines = [line[:300] for line in block.lines if line.strip()]
    if len(lines) < _MIN_LISTING_LINES and not (in_environment and block.kind is BlockKind.CODE):
        return False
    if any(_TRACEBACK_LINE.search(line) for line in lines):
        return False
    hits = sum(_VERSION_LINE.match(line) is not None for line in lines)
    return hits >= _LISTING_SHARE * len(lines) and _has_versions(lines)


def _has_versions(lines: list[str]) -> bool:
    """Whether digits with dots are common: tells a listing from YAML or a diff."""
    return sum(re.search(r"\d\.\d|\d{4}", line[:300]) is not None for line in lines) * 3 >= len(
        lines
    )
