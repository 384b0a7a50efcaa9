"""What candidates are made of, in which order, and what is left out."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.errors import InputError
from repair.candidates.template import PRIORS, EditTemplate, SourceModule, TemplateEngine
from repair.model import SpanEdit, splice

REPOSITORY = Path(__file__).parents[3]
SEARCH = '''\
"""Module."""
import logging

logger = logging.getLogger(__name__)


def find(items: list, wanted: int = 0) -> int:
    """Return the index."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        logger.debug("at %d", middle + 1)
        if items[middle] < wanted:
            low = middle
        else:
            high = middle
    return low
    print("never")
'''


def candidates(source: str | bytes, lines: dict[int, float] | None = None) -> list:
    data = source if isinstance(source, bytes) else source.encode()
    module = SourceModule("m.py", data)
    chosen = lines or dict.fromkeys(range(1, len(module.lines) + 1), 1.0)
    return list(TemplateEngine(module).iter_candidates(chosen))


def test_every_candidate_parses_and_is_new() -> None:
    module = SourceModule("m.py", SEARCH.encode())
    dumps = [ast.dump(ast.parse(module.edited(c.variant.edits))) for c in candidates(SEARCH)]
    assert len(dumps) > 200
    assert len(set(dumps)) == len(dumps)
    assert ast.dump(module.tree) not in dumps


def test_scores_fall_and_suspicious_lines_come_first() -> None:
    found = candidates(SEARCH, {10: 0.2, 14: 1.0})
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert found[0].line == 14
    assert {candidate.line for candidate in found} == {10, 14}


def test_texts_logs_annotations_and_dead_code_stay() -> None:
    module = SourceModule("m.py", SEARCH.encode())
    for candidate in candidates(SEARCH):
        changed = module.edited(candidate.variant.edits).decode()
        assert '"""Return the index."""' in changed
        assert "items: list, wanted: int" in changed
        assert 'print("never")' in changed
    touched = {c.line for c in candidates(SEARCH, {12: 1.0, 18: 1.0})}
    assert touched == set()


def test_edits_of_bodies_can_be_put_into_a_running_program() -> None:
    source = "class C:\n    @property\n    def f(self, a=[]):\n        return a\n"
    units = {(c.template, c.variant.unit) for c in candidates(source)}
    assert (EditTemplate.CALL_ADD, (2, "f")) in units
    assert (EditTemplate.MUTABLE_DEFAULT, None) in units


def test_line_ends_and_encodings_are_kept() -> None:
    source = "# -*- coding: latin-1 -*-\r\ndef f(a, b):\r\n    é = a < b\r\n    return é\r\n"
    data = source.encode("latin-1")
    module = SourceModule("m.py", data)
    found = candidates(data)
    assert found
    for candidate in found:
        changed = module.edited(candidate.variant.edits)
        assert changed.count(b"\r\n") == changed.count(b"\n")
        assert "é".encode("latin-1") in changed
    operator = next(c for c in found if c.template is EditTemplate.COMPARISON_OPERATOR)
    assert b"a <= b" in module.edited(operator.variant.edits)


def test_order_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "import sys\n"
        "from repair.candidates.template import SourceModule, TemplateEngine\n"
        "module = SourceModule('m.py', sys.stdin.buffer.read())\n"
        "lines = dict.fromkeys(range(1, 30), 1.0)\n"
        "for c in TemplateEngine(module).iter_candidates(lines):\n"
        "    print(c.variant, c.template, c.score)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=SEARCH.encode(),
            capture_output=True,
            check=True,
            cwd=REPOSITORY,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_every_template_has_a_prior() -> None:
    assert set(PRIORS) == set(EditTemplate)
    assert all(0 < prior <= 1 for prior in PRIORS.values())


def test_a_file_that_does_not_parse_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        SourceModule("m.py", b"def f(:\n")
    assert caught.value.values["path"] == "m.py"


def test_real_modules_give_only_edits_that_compile() -> None:
    data = (REPOSITORY / "repair" / "candidates" / "template" / "kinds.py").read_bytes()
    module = SourceModule("kinds.py", data)
    lines = dict.fromkeys(range(1, len(module.lines) + 1, 7), 1.0)
    stream = TemplateEngine(module).iter_candidates(lines)
    candidates = [candidate for candidate, _ in zip(stream, range(300), strict=False)]
    for candidate in candidates:
        compile(module.edited(candidate.variant.edits), "kinds.py", "exec")
    assert candidates


@given(st.text("ab\n", max_size=30), st.data())
@settings(max_examples=60, deadline=None)
def test_splicing_is_slicing(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    edits = [SpanEdit(cuts[2], cuts[3], "Y"), SpanEdit(cuts[0], cuts[1], "X")]
    expected = text[: cuts[0]] + "X" + text[cuts[1] : cuts[2]] + "Y" + text[cuts[3] :]
    if cuts[0] != cuts[2]:
        assert splice(text, edits) == expected
