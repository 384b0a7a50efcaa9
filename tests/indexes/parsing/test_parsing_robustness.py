"""Nothing raises, whatever the bytes; what can be understood is understood."""

import random
from pathlib import Path

import pytest

from indexes.facts import decode_facts, encode_facts
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.solver import solve
from indexes.parsing import extract_facts

SOURCES = [path.read_bytes() for path in sorted(Path(__file__).parents[3].glob("indexes/*/*.py"))]


def _damaged(count: int) -> list[bytes]:
    """Real files, cut off, with bytes changed, lines shuffled or pieces doubled."""
    chance = random.Random(20)
    found: list[bytes] = []
    for _ in range(count):
        data = bytearray(chance.choice(SOURCES)[: chance.randrange(200, 6_000)])
        for _ in range(chance.randrange(8)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(6)] = bytes(
                chance.choices(b"()[]{}:'\"\\,.*@\n \xff\0=", k=3)
            )
        lines = bytes(data).split(b"\n")
        if chance.random() < 0.3:
            chance.shuffle(lines)
        found.append(b"\n".join(lines))
    return found


def test_damaged_files_give_facts_that_can_be_stored_and_solved() -> None:
    facts = {f"{n}.py": extract_facts(data) for n, data in enumerate(_damaged(120))}
    for path, each in facts.items():
        assert decode_facts(encode_facts(each)) == each, path
    program = Program(facts)
    assert solve(program, Hierarchy(program)).rounds > 0


@pytest.mark.parametrize(
    "text",
    [
        "print 'x'\nexec 'y' in z\nraise E, 'm'\n",
        "def f((a, b), c): return a\ntry: pass\nexcept E, e: e.f()\n",
        "x = `y`\nfrom a import *\nclass A:\n  def f(self): print >>o, self.g()\n",
        "\ufefffoo()\n",
        "def",
        "class A(",
        "@",
        "f(**",
        "from . import",
        "lambda",
        "x = x = x\nclass A(A): pass\ndef f(f=f): f(f)\n",
        "import a.b.c as a\nfrom a import a\na.a.a()\n",
        "while 1: x = [x]; x = x[0](x)\n",
    ],
)
def test_odd_sources(text: str) -> None:
    program = Program({"a.py": extract_facts(text.encode())})
    assert solve(program, Hierarchy(program)).rounds > 0


@pytest.mark.parametrize("depth", [300, 5_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("[", "]"), ("f(", ")"), ("{1: ", "}"), ("x.", "y"), ("-", "1")],
)
def test_deep_nesting(opening: str, closing: str, depth: int) -> None:
    text = "def g(): pass\nv = " + opening * depth + closing * depth + "\ng()\n"
    program = Program({"a.py": extract_facts(text.encode())})
    edges = solve(program, Hierarchy(program)).edges
    if opening not in {"x.", "-"}:
        assert any(target == 1 for _, target, _ in edges)


def test_deep_blocks() -> None:
    lines = [f"{' ' * n}def f{n}():" for n in range(400)]
    text = "\n".join([*lines, " " * 400 + "pass", "f0()"])
    program = Program({"a.py": extract_facts(text.encode())})
    assert solve(program, Hierarchy(program)).edges
