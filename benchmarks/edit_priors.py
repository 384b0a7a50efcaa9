"""How often each kind of edit is the fix, counted in real histories.

``python benchmarks/edit_priors.py CLONE... --commits N`` looks at commits whose message speaks of a
fix and that change one function of one source file in at most five lines. It makes all edits that
the templates propose at the old side's changed lines and counts the template whose edit gives the
new function. The counts, smoothed, are the priors in `repair.candidates.template.priors`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from indexes.errors import InputError
from indexes.model import is_test_path
from repair.candidates.template import EditTemplate, SourceModule, TemplateEngine
from repair.candidates.template.source import parse_unit

FIX = re.compile(r"\b(fix(e[sd])?|bug|crash|wrong|incorrect|regression|typo)\b", re.IGNORECASE)
MAX_LINES = 5
MAX_CANDIDATES = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=1500, help="fixes per clone")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    looked = 0
    for clone in options.clones:
        for old, new in iter_small_fixes(clone, options.commits):
            looked += 1
            template = matching_template(old, new, proposed)
            found[template or "(none)"] += 1
        print(clone.parent.name, looked, sum(found.values()) - found["(none)"], flush=True)
    for template in [*EditTemplate, "(none)"]:
        print(f"{template:24s} {found[template]:5d} {proposed[template]:8d}")


def iter_small_fixes(clone: Path, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield old and new bytes of files that a small fix changes."""
    log = git(clone, "log", "--no-merges", "--format=%x00%H%x01%s", "--numstat", f"-{count * 8}")
    for entry in log.decode("utf-8", "replace").split("\0")[1:]:
        head, _, stats = entry.partition("\n")
        commit, _, subject = head.partition("\1")
        rows = [line.split("\t") for line in stats.splitlines() if line.count("\t") == 2]
        sources = [row for row in rows if row[2].endswith(".py") and not is_test_path(row[2])]
        if not FIX.search(subject) or len(sources) != 1:
            continue
        added, deleted, path = sources[0]
        if added.isdigit() and deleted.isdigit() and int(added) + int(deleted) <= 2 * MAX_LINES:
            try:
                yield (
                    git(clone, "show", f"{commit}^:{path}"),
                    git(clone, "show", f"{commit}:{path}"),
                )
            except subprocess.CalledProcessError:
                continue


def git(clone: Path, *arguments: str) -> bytes:
    command = ["git", f"--git-dir={clone}", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


def matching_template(old: bytes, new: bytes, proposed: Counter[str]) -> str | None:
    """Return the template that turns one function of `old` into that of `new`."""
    try:
        before, after = SourceModule("m.py", old), SourceModule("m.py", new)
    except InputError:
        return None
    lines = changed_lines(before, after)
    targets = {unit_dump(after, index) for index in range(len(after.units))}
    targets -= {unit_dump(before, index) for index in range(len(before.units))}
    if len(targets) != 1:
        return None
    target = targets.pop()
    for candidate, _ in zip(
        TemplateEngine(before).iter_candidates(lines), range(MAX_CANDIDATES), strict=False
    ):
        proposed[candidate.template] += 1
        edits = candidate.variant.edits
        unit = next((u for u in before.units if u.start <= edits[-1].start <= u.end + 2), None)
        if unit is None or len(edits) > 2:
            continue
        text = before.text[unit.start : unit.end]
        for edit in sorted(edits, reverse=True):
            start, end = edit.start - unit.start, edit.end - unit.start
            text = text[:start] + edit.text + text[end:]
        tree = parse_unit(text)
        if tree is not None and ast.dump(tree) == target:
            return candidate.template
    return None


def unit_dump(module: SourceModule, index: int) -> str:
    unit = module.units[index]
    tree = parse_unit(module.text[unit.start : unit.end])
    return ast.dump(tree) if tree is not None else ""


def changed_lines(before: SourceModule, after: SourceModule) -> dict[int, float]:
    """Return the old side's changed lines, and both neighbours of an insertion."""
    matcher = SequenceMatcher(None, before.lines, after.lines, autojunk=False)
    lines: dict[int, float] = {}
    for tag, start, end, _, _ in matcher.get_opcodes():
        if tag != "equal":
            first, last = (start, end + 1) if start == end else (start + 1, end)
            lines |= dict.fromkeys(range(max(1, first), last + 1), 1.0)
    return lines


if __name__ == "__main__":
    main()
