"""Cutting a search command into words as a shell would, and refusing what only a shell can do.

Nothing is ever handed to a shell; this decides which commands mean the same without one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphloc.completion.errors import CommandRefusedError

_FORBIDDEN = {
    ";": "`;`",
    "&": "`&`",
    ">": "redirection",
    "<": "redirection",
    "(": "a subshell",
    ")": "a subshell",
    "`": "a command substitution",
    "\n": "a line break",
    "\r": "a line break",
    "\0": "a NUL character",
}
MAX_COMMAND_CHARS = 2000


@dataclass(slots=True)
class _Scanner:
    """Words read so far, and the one under way."""

    text: str
    at: int = 0
    pipeline: list[list[str]] = field(default_factory=lambda: [[]])
    word: list[str] = field(default_factory=list)
    in_word: bool = False

    def end_word(self) -> None:
        if self.in_word:
            self.pipeline[-1].append("".join(self.word))
        self.word, self.in_word = [], False

    def add(self, text: str) -> None:
        self.word.append(text)
        self.in_word = True


def split_pipeline(command: str) -> list[list[str]]:
    """Cut a command into the words of each part of its pipeline.

    Quotes and backslashes are those of a POSIX shell; nothing is expanded.

    Raises
    ------
    CommandRefusedError
        It holds anything but plain words and pipes, outside of quotes; or a quote never ends.
    """
    if len(command) > MAX_COMMAND_CHARS:
        raise CommandRefusedError(f"the command is longer than {MAX_COMMAND_CHARS} characters")
    for character in "\n\r\0":
        if character in command.strip(" \t"):
            raise CommandRefusedError(f"{_FORBIDDEN[character]} is not allowed in a command")
    scanner = _Scanner(command)
    while scanner.at < len(command):
        _step(scanner)
    scanner.end_word()
    if not all(scanner.pipeline):
        raise CommandRefusedError("a part of the pipeline is empty")
    return scanner.pipeline


def _step(scanner: _Scanner) -> None:
    character = scanner.text[scanner.at]
    following = scanner.text[scanner.at + 1 : scanner.at + 2]
    scanner.at += 1
    if character == "'":
        _single_quoted(scanner)
    elif character == '"':
        _double_quoted(scanner)
    elif character == "\\":
        _escaped(scanner, following)
    elif character == "|":
        _pipe(scanner, following)
    elif character in " \t":
        scanner.end_word()
    else:
        _refuse_special(scanner, character, following)
        scanner.add(character)


def _escaped(scanner: _Scanner, following: str) -> None:
    if not following:
        raise CommandRefusedError("a backslash ends the command")
    scanner.add(following)
    scanner.at += 1


def _pipe(scanner: _Scanner, following: str) -> None:
    if following in ("|", "&"):
        raise CommandRefusedError(f"`|{following}` is not allowed: only a single `|` is")
    scanner.end_word()
    scanner.pipeline.append([])


def _refuse_special(scanner: _Scanner, character: str, following: str) -> None:
    if character in _FORBIDDEN:
        raise CommandRefusedError(f"{_FORBIDDEN[character]} is not allowed: quote it if it is text")
    if character == "$" and _expands(following):
        raise CommandRefusedError("variables and substitutions are not allowed: use single quotes")
    if character == "#" and not scanner.in_word:
        raise CommandRefusedError("comments are not allowed: quote `#` if it is text")


def _single_quoted(scanner: _Scanner) -> None:
    end = scanner.text.find("'", scanner.at)
    if end < 0:
        raise CommandRefusedError("a quote never ends")
    scanner.add(scanner.text[scanner.at : end])
    scanner.at = end + 1


def _double_quoted(scanner: _Scanner) -> None:
    scanner.add("")
    while scanner.at < len(scanner.text):
        character = scanner.text[scanner.at]
        following = scanner.text[scanner.at + 1 : scanner.at + 2]
        scanner.at += 1
        if character == '"':
            return
        if character == "\\" and following in ("\\", '"', "$", "`"):
            scanner.add(following)
            scanner.at += 1
        elif character == "`" or (character == "$" and _expands(following, quoted=True)):
            raise CommandRefusedError(
                "variables and substitutions are not allowed: use single quotes"
            )
        else:
            scanner.add(character)
    raise CommandRefusedError("a quote never ends")


def _expands(following: str, *, quoted: bool = False) -> bool:
    """Whether a dollar sign before this character means something to a shell."""
    special = "_({@*#?$!-" if quoted else "_({@*#?$!-'\""
    return following.isalnum() or (following != "" and following in special)
