"""The allow-list of the code searcher: which programs, and which arguments of each.

The paper allows fourteen programs by name. By name alone, though, ``find -delete``, ``sort -o``,
``uniq in out``, ``xargs rm`` or ``awk 'BEGIN{system("...")}'`` are allowed as well. Here each
argument has to be known to only read: what is not listed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphloc.completion.agent.shell_words import split_pipeline
from graphloc.completion.errors import CommandRefusedError

_NUMBER = re.compile(r"[+-]?\d+[kKMG]?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_AWK_FORBIDDEN = re.compile(
    r"\bsystem\b|\bgetline\b|\bclose\b|\bfflush\b|\bARGV\b|\bENVIRON\b|\bPROCINFO\b"
    r"|@|`|(?<!\|)\|(?!\|)|\|\|\||&&&|>>|/inet"
)
_MAX_PROGRAM_ARGUMENTS = 200


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a program that only read."""

    flags: str = ""
    """Short options without a value; they may be joined."""
    valued: str = ""
    """Short options with a value, joined or as the next word."""
    long_flags: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    """Long options, spelt out; a value follows ``=`` or is the next word."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Arguments of one command, taken apart."""

    options: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]


_GREP = _Options(
    flags="rRnilLcvwxoEFGPhHsqzaIbTUyZ",
    valued="eABCmd",
    long_flags=frozenset(
        {"recursive", "ignore-case", "line-number", "files-with-matches", "files-without-match"}
        | {"count", "invert-match", "word-regexp", "line-regexp", "only-matching", "no-messages"}
        | {"extended-regexp", "fixed-strings", "perl-regexp", "basic-regexp", "no-filename"}
        | {"with-filename", "quiet", "silent", "text", "byte-offset", "color", "colour"}
    ),
    long_valued=frozenset(
        {"include", "exclude", "exclude-dir", "regexp", "max-count", "context"}
        | {"after-context", "before-context", "color", "colour", "binary-files"}
    ),
)
_HEAD = _Options(
    "qvz", "nc", frozenset({"quiet", "silent", "verbose"}), frozenset({"lines", "bytes"})
)
_PLAIN: dict[str, _Options] = {
    "head": _HEAD,
    "tail": _HEAD,
    "cat": _Options("nbsAETvet", "", frozenset({"number", "number-nonblank", "squeeze-blank"})),
    "less": _Options(),
    "wc": _Options("lwcmL", "", frozenset({"lines", "words", "bytes", "chars", "max-line-length"})),
    "sort": _Options(
        "rnufVhbdgiMsz",
        "kt",
        frozenset({"reverse", "numeric-sort", "unique", "ignore-case", "version-sort"}),
        frozenset({"key", "field-separator"}),
    ),
    "uniq": _Options("cduiz", "fsw", frozenset({"count", "repeated", "unique", "ignore-case"})),
    "cut": _Options(
        "sz",
        "dfcb",
        frozenset({"complement", "only-delimited"}),
        frozenset({"delimiter", "fields", "characters", "bytes", "output-delimiter"}),
    ),
    "awk": _Options("", "Fv", frozenset(), frozenset()),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
}
_XARGS = _Options(
    "0r", "nLId", frozenset({"null", "no-run-if-empty"}), frozenset({"max-args", "max-lines"})
)
_XARGS_PROGRAMS = frozenset({"grep", "egrep", "fgrep", "head", "cat", "wc", "cut"})
"""Programs of which no option at all writes or runs anything: what they are given comes from files
and is not known before. ``tail`` is left out because ``-f`` never ends."""
_FIND_FLAGS = frozenset(
    {"-not", "!", "(", ")", "-o", "-or", "-a", "-and", "-print", "-print0", "-prune", "-empty"}
    | {"-depth", "-mount", "-xdev", "-true", "-false", "-daystart", "-readable", "-executable", ","}
)
_FIND_VALUED = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"}
    | {"-regextype", "-type", "-maxdepth", "-mindepth", "-size", "-newer", "-mtime", "-mmin"}
    | {"-lname", "-perm", "-links"}
)
PROGRAMS = frozenset({*_PLAIN, "find", "xargs"})
"""The programs of the paper."""
_RUN_AS: dict[str, tuple[str, ...]] = {
    "egrep": ("grep", "-E"),
    "fgrep": ("grep", "-F"),
    "less": ("cat",),
}
"""What to run instead: newer greps complain about the old names, and less is a pager."""


def read_search_command(command: str) -> list[list[str]]:
    """Check a command and return the argument lists of its pipeline, to be run without a shell.

    Raises
    ------
    CommandRefusedError
        The message says what is not allowed.
    """
    return [_checked(words) for words in split_pipeline(command)]


def _checked(words: Sequence[str]) -> list[str]:
    program, *arguments = words
    if program not in PROGRAMS:
        raise CommandRefusedError(
            f"{program!r} is not allowed; the programs are {', '.join(sorted(PROGRAMS))}"
        )
    if len(arguments) > _MAX_PROGRAM_ARGUMENTS:
        raise CommandRefusedError(f"{program} has too many arguments")
    if program == "find":
        _check_find(arguments)
        return list(words)
    if program == "xargs":
        return _checked_xargs(arguments)
    parsed = _parse(program, _PLAIN[program], arguments)
    _check_operands(program, parsed)
    return [*_RUN_AS.get(program, (program,)), *arguments]


def _parse(program: str, known: _Options, arguments: Sequence[str]) -> _Parsed:
    """Take arguments apart as getopt does; options may follow operands."""
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word.startswith("--"):
            options.append(_long_option(program, known, word, rest))
        elif word.startswith("-") and word != "-" and not _is_count(program, word):
            options += _short_options(program, known, word, rest)
        else:
            operands.append(word)
            if program == "awk":  # everything behind the program text is an operand
                operands += rest
                break
    return _Parsed(tuple(options), tuple(operands))


def _is_count(program: str, word: str) -> bool:
    """Whether it is an old-fashioned count, as in ``head -20``."""
    counts = program in ("head", "tail", "grep", "egrep", "fgrep")
    return counts and word[1:].isascii() and word[1:].isdigit()


def _long_option(program: str, known: _Options, word: str, rest: list[str]) -> tuple[str, str]:
    name, equals, value = word[2:].partition("=")
    if equals and name in known.long_valued:
        return name, value
    if not equals and name in known.long_flags:
        return name, ""
    if not equals and name in known.long_valued:
        return name, _value(program, word, rest)
    raise CommandRefusedError(f"{program} {word} is not allowed")


def _short_options(
    program: str, known: _Options, word: str, rest: list[str]
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for at, letter in enumerate(word[1:], 1):
        if letter in known.valued:
            found.append((letter, word[at + 1 :] or _value(program, word, rest)))
            break
        if letter not in known.flags:
            raise CommandRefusedError(f"{program} -{letter} is not allowed")
        found.append((letter, ""))
    return found


def _value(program: str, word: str, rest: list[str]) -> str:
    if not rest:
        raise CommandRefusedError(f"{program} {word} lacks its value")
    return rest.pop(0)


def _check_operands(program: str, parsed: _Parsed) -> None:
    operands = list(parsed.operands)
    names = {name for name, _ in parsed.options}
    if program == "awk":
        _check_awk(parsed)
        operands = operands[1:]
    elif program in ("grep", "egrep", "fgrep") and not names & {"e", "regexp"}:
        operands = operands[1:]
    elif program == "uniq" and len(operands) > 1:
        raise CommandRefusedError("uniq writes into its second file: name one at most")
    for operand in operands:
        if program == "less" and operand.startswith("+"):
            raise CommandRefusedError("less must not be given commands")
        check_path(operand)


def check_path(operand: str) -> None:
    """Refuse paths that leave the repository.

    Raises
    ------
    CommandRefusedError
        It is absolute, or goes up.
    """
    if operand.startswith(("/", "~")) or ".." in operand.split("/"):
        raise CommandRefusedError(f"{operand}: name paths inside the repository, relative to it")


def _check_awk(parsed: _Parsed) -> None:
    """Refuse programs that could run, write or read anything but their files and input.

    A comparison by ``>`` cannot be told from a redirection without a grammar, except in front of
    the first brace, where there is no statement yet.
    """
    for name, value in parsed.options:
        if name == "v" and not _ASSIGNMENT.fullmatch(value):
            raise CommandRefusedError("awk -v takes name=value")
    if not parsed.operands:
        raise CommandRefusedError("awk lacks its program")
    text = parsed.operands[0]
    found = _AWK_FORBIDDEN.search(text)
    if found:
        raise CommandRefusedError(f"awk programs must not use {found.group()!r}")
    statements = text.partition("{")[2]
    if ">" in statements or (">" in text and re.search(r"\bfunction\b|\bfunc\b", text)):
        raise CommandRefusedError("awk programs must not use '>' inside braces: turn it into '<'")
    for operand in parsed.operands[1:]:
        if "=" in operand and not operand.startswith("./"):
            raise CommandRefusedError(f"awk would take {operand!r} for an assignment")


def _check_find(arguments: Sequence[str]) -> None:
    rest = list(arguments)
    while rest and not rest[0].startswith("-") and rest[0] not in _FIND_FLAGS:
        check_path(rest.pop(0))
    while rest:
        word = rest.pop(0)
        if word in _FIND_VALUED:
            value = _value("find", word, rest)
            if word == "-newer":
                check_path(value)
        elif word not in _FIND_FLAGS:
            raise CommandRefusedError(f"find {word} is not allowed")


def _checked_xargs(arguments: Sequence[str]) -> list[str]:
    """Check xargs up to the program it runs, then that program."""
    own, command = _split_xargs(arguments)
    parsed = _parse("xargs", _XARGS, own)
    for name, value in parsed.options:
        is_number = name in ("n", "L", "max-args", "max-lines")
        if is_number and not _NUMBER.fullmatch(value):
            raise CommandRefusedError(f"xargs -{name} takes a number")
    if not command or parsed.operands:
        raise CommandRefusedError("xargs has to name the program to run")
    if command[0] not in _XARGS_PROGRAMS:
        raise CommandRefusedError(
            f"xargs must not run {command[0]!r}; it may run {', '.join(sorted(_XARGS_PROGRAMS))}"
        )
    return ["xargs", *own, *_checked(command)]


def _split_xargs(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    own: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        own.append(word)
        takes_next = word in ("-n", "-L", "-I", "-d", "--max-args", "--max-lines")
        if takes_next and rest:
            own.append(rest.pop(0))
    return own, rest
