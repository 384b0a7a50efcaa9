"""Writing diffs that ``git apply`` takes: text hunks where possible, binary patches elsewhere."""

from __future__ import annotations

import base64
import difflib
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence

from repair.patch.model import FileChange, Patch
from repair.patch.quoting import quote_path

CONTEXT_LINES = 3
"""As git shows by default."""
_EXACT_DIFF_LINES = 20_000
"""Past this many lines between first and last change the junk heuristic bounds difflib's time."""
_BINARY_LINE_BYTES = 52
"""Most bytes on a line of a git binary patch; its length letter ends at ``z``."""

_Opcode = tuple[str, int, int, int, int]


def build_patch(changes: Iterable[FileChange]) -> Patch:
    """Make the patch of all changes that change anything, sorted by path."""
    real = sorted((c for c in changes if c.old != c.new), key=lambda change: change.path)
    return Patch(tuple(real), b"".join(map(git_diff, real)))


def git_diff(change: FileChange) -> bytes:
    """Return one file's diff in git's format; empty if nothing changes."""
    if change.old == change.new:
        return b""
    old_name, new_name = (quote_path(f"{side}/{change.path}") for side in "ab")
    header = b"diff --git %s %s\n" % (old_name, new_name)
    if change.old is None:
        header += b"new file mode 100644\n"
    elif change.new is None:
        header += b"deleted file mode 100644\n"
    old, new = change.old or b"", change.new or b""
    if b"\0" in old or b"\0" in new:
        return header + _binary_patch(change)
    if not old and not new:
        return header
    names = (
        b"/dev/null" if change.old is None else _with_tab(old_name),
        b"/dev/null" if change.new is None else _with_tab(new_name),
    )
    return header + b"--- %s\n+++ %s\n" % names + b"".join(_hunks(old, new))


def line_opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Opcode]:
    """Return difflib's opcodes between two lists of lines, common ends set aside first.

    Quadratic at worst in the lines between the first and the last change.
    """
    start = _common_prefix(old, new)
    rest = min(len(old), len(new)) - start
    tail = min(_common_prefix(old[::-1], new[::-1]), rest)
    middle_old, middle_new = old[start : len(old) - tail], new[start : len(new) - tail]
    is_large = max(len(middle_old), len(middle_new)) > _EXACT_DIFF_LINES
    matcher = difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=is_large)
    codes = [
        (tag, a + start, b + start, c + start, d + start)
        for tag, a, b, c, d in matcher.get_opcodes()
    ]
    head: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
    end: list[_Opcode] = (
        [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    )
    return head + codes + end


def _common_prefix(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))


def _with_tab(name: bytes) -> bytes:
    """End a name with spaces in a tab, or its reader would stop at the first space."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _hunks(old: bytes, new: bytes) -> Iterator[bytes]:
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    old_kept, new_kept = _with_ends(old_lines), _with_ends(new_lines)
    for group in _groups(line_opcodes(old_kept, new_kept)):
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (_line(b" ", line) for line in old_kept[a:b])
                continue
            yield from (_line(b"-", line) for line in old_kept[a:b])
            yield from (_line(b"+", line) for line in new_kept[c:d])


def _groups(codes: Sequence[_Opcode]) -> Iterator[list[_Opcode]]:
    """Cut opcodes into hunks with up to `CONTEXT_LINES` of context around each change."""
    group: list[_Opcode] = []
    for index, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        is_first, is_last = index == 0, index == len(codes) - 1
        if not is_last and not is_first and b - a <= 2 * CONTEXT_LINES:
            group.append((tag, a, b, c, d))
            continue
        if not is_first:
            keep = min(CONTEXT_LINES, b - a)
            yield [*group, (tag, a, a + keep, c, c + keep)]
        keep = min(CONTEXT_LINES, b - a)
        group = [(tag, b - keep, b, d - keep, d)] if not is_last else []
    if any(code[0] != "equal" for code in group):
        yield group


def _with_ends(lines: list[bytes]) -> list[bytes]:
    """Give every line its line feed back; the piece behind the last one has none."""
    kept = [line + b"\n" for line in lines[:-1]]
    return [*kept, lines[-1]] if lines[-1] else kept


def _range(start: int, end: int) -> bytes:
    count = end - start
    first = start + 1 if count else start
    return b"%d" % first if count == 1 else b"%d,%d" % (first, count)


def _line(mark: bytes, line: bytes) -> bytes:
    if line.endswith(b"\n"):
        return mark + line
    return mark + line + b"\n\\ No newline at end of file\n"


def _binary_patch(change: FileChange) -> bytes:
    """Return a git binary patch, both directions; needs the blobs' full names.

    Format: ``GIT binary patch`` in https://git-scm.com/docs/diff-format, base 85 lines as in
    git's ``diff.c``.
    """
    index = b"index %s..%s%s\n" % (
        _blob_name(change.old),
        _blob_name(change.new),
        b"" if change.old is None or change.new is None else b" 100644",
    )
    sides = _literal(change.new or b"") + _literal(change.old or b"")
    return index + b"GIT binary patch\n" + sides


def _blob_name(data: bytes | None) -> bytes:
    if data is None:
        return b"0" * 40
    header = b"blob %d\0" % len(data)
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest().encode()


def _literal(data: bytes) -> bytes:
    packed = zlib.compress(data)
    lines = [b"literal %d\n" % len(data)]
    for start in range(0, len(packed), _BINARY_LINE_BYTES):
        piece = packed[start : start + _BINARY_LINE_BYTES]
        letter = len(piece) + (ord("A") - 1 if len(piece) <= 26 else ord("a") - 27)
        lines.append(bytes([letter]) + base64.b85encode(piece, pad=True) + b"\n")
    return b"".join([*lines, b"\n"])
