"""Each template proposes the edit it is there for."""

import ast

import pytest

from repair.candidates.template import (
    EditTemplate,
    Ingredients,
    SourceModule,
    TemplateEngine,
    find_ingredients,
)

T = EditTemplate
CASES = [
    (T.COMPARISON_OPERATOR, "def f(a, b):\n    return a < b", "def f(a, b):\n    return a <= b"),
    (
        T.COMPARISON_OPERATOR,
        "def f(a, b):\n    return a in b",
        "def f(a, b):\n    return a not in b",
    ),
    (T.COMPARISON_BOUND, "def f(n):\n    return n == 0", "def f(n):\n    return n <= 1"),
    (T.IDENTITY_EQUALITY, "def f(n):\n    return n is 'a'", "def f(n):\n    return n == 'a'"),
    (
        T.ARITHMETIC_OPERATOR,
        "def f(a, b):\n    return (a) * (b + 1)",
        "def f(a, b):\n    return (a) // (b + 1)",
    ),
    (
        T.AUGMENTED_OPERATOR,
        "def f(a):\n    a -= 2\n    return a",
        "def f(a):\n    a += 2\n    return a",
    ),
    (
        T.BOOLEAN_OPERATOR,
        "def f(a, b, c):\n    return a and b and c",
        "def f(a, b, c):\n    return a or b or c",
    ),
    (T.UNARY_OPERATOR, "def f(a):\n    return -a", "def f(a):\n    return a"),
    (
        T.OPERAND_SWAP,
        "def f(a, b):\n    return a - (b + 1)",
        "def f(a, b):\n    return (b + 1) - a",
    ),
    (T.OPERAND_SWAP, "def f(a, b):\n    return a in b", "def f(a, b):\n    return b in a"),
    (T.OPERAND_DROP, "def f(a, b):\n    return 1 + g(a)", "def f(a, b):\n    return g(a)"),
    (T.OPERAND_ADD, "def f(k, n):\n    return g(k)", "def f(k, n):\n    return g(k - n)"),
    (T.OFF_BY_ONE, "def f(n):\n    return 2 * len(n)", "def f(n):\n    return 2 * (len(n) - 1)"),
    (T.OFF_BY_ONE, "def f(n):\n    return g(n + 1)", "def f(n):\n    return g(n)"),
    (T.NUMBER, "def f():\n    return 3", "def f():\n    return 2"),
    (T.BOOLEAN_CONSTANT, "def f(a):\n    return True", "def f(a):\n    return a == 0"),
    (
        T.BOOLEAN_CONSTANT,
        "def f(a):\n    if a:\n        return True\n    return False",
        "def f(a):\n    if a:\n        return False\n    return True",
    ),
    (T.EMPTY_LITERAL, "def f(n):\n    return []", "def f(n):\n    return [n]"),
    (T.EMPTY_LITERAL, "def f(n):\n    return []", "def f(n):\n    return [[]]"),
    (T.COLLECTION_ITEM, "def f(n):\n    return n in (1, 2)", "def f(n):\n    return n in (1,)"),
    (T.STRING_CONSTANT, 'def f(s):\n    return "Ab".join(s)', 'def f(s):\n    return "ab".join(s)'),
    (T.STRING_CONSTANT, "def f(s):\n    return s.join(' a')", "def f(s):\n    return s.join('a ')"),
    (
        T.REGULAR_EXPRESSION,
        r"def f(s):" "\n    return re.match('a+', s)",
        "def f(s):\n    return re.match('a*', s)",
    ),
    (
        T.REGULAR_EXPRESSION,
        "def f(s):\n    return re.match('a', s)",
        "def f(s):\n    return re.match('a', s, flags=re.IGNORECASE)",
    ),
    (
        T.FORMAT_STRING,
        "def f(name):\n    return 'hi {name}'",
        "def f(name):\n    return f'hi {name}'",
    ),
    (
        T.CONDITION_NEGATE,
        "def f(a):\n    if a:\n        return 1",
        "def f(a):\n    if not a:\n        return 1",
    ),
    (
        T.CONDITION_EXTEND,
        "def f(a, b):\n    if a < 0:\n        return len(b)",
        "def f(a, b):\n    if a < 0 or not b:\n        return len(b)",
    ),
    (
        T.CONDITION_EXTEND,
        "def f(a, b):\n    return [x for x in a]",
        "def f(a, b):\n    return [x for x in a if x]",
    ),
    (T.CONDITION_REDUCE, "def f(a, b):\n    return a and b", "def f(a, b):\n    return b"),
    (
        T.CONDITION_REPLACE,
        "def f(q):\n    while True:\n        q.pop()",
        "def f(q):\n    while q:\n        q.pop()",
    ),
    (
        T.NONE_GUARD,
        "def f(n):\n    if n.a is None:\n        return 1",
        "def f(n):\n    if n is None or n.a is None:\n        return 1",
    ),
    (
        T.BRANCH_SWAP,
        "def f(a):\n    if a:\n        x = 1\n    else:\n        x = 2\n    return x",
        "def f(a):\n    if a:\n        x = 2\n    else:\n        x = 1\n    return x",
    ),
    (T.VARIABLE, "def f(a, b):\n    return a", "def f(a, b):\n    return b"),
    (
        T.ATTRIBUTE,
        "def f(a):\n    a.last = 1\n    return a.lost",
        "def f(a):\n    a.last = 1\n    return a.last",
    ),
    (
        T.ATTRIBUTE,
        "class C:\n    def f(self, n):\n        self.n = 1\n        return n",
        "class C:\n    def f(self, n):\n        self.n = 1\n        return self.n",
    ),
    (
        T.INGREDIENT,
        "def f(a, u):\n    a[u, 1] = a[u]\n    return a",
        "def f(a, u):\n    a[u] = a[u]\n    return a",
    ),
    (
        T.ARGUMENT_SWAP,
        "def f(a, b):\n    return g(a % b, b)",
        "def f(a, b):\n    return g(b, a % b)",
    ),
    (T.ARGUMENT_DROP, "def f(a, b):\n    return g(a, b)", "def f(a, b):\n    return g(a)"),
    (
        T.ARGUMENT_ADD,
        "def g(a, key=0):\n    return a\ndef f(a, key):\n    return g(a)",
        "def g(a, key=0):\n    return a\ndef f(a, key):\n    return g(a, key=key)",
    ),
    (
        T.KEYWORD_ARGUMENT,
        "def f(a):\n    return sorted(a)",
        "def f(a):\n    return sorted(a, reverse=True)",
    ),
    (T.CALLEE, "def f(a):\n    return any(a)", "def f(a):\n    return all(a)"),
    (T.CALLEE, "def f(a):\n    return a.startswith('x')", "def f(a):\n    return a.endswith('x')"),
    (T.CALL_ADD, "def f(a, b):\n    return a - b", "def f(a, b):\n    return abs(a - b)"),
    (T.CALL_DROP, "def f(a):\n    return g(a)", "def f(a):\n    return a"),
    (T.CALL_PARENTHESES, "def f(a):\n    return a.size", "def f(a):\n    return a.size()"),
    (
        T.METHOD_ADD,
        "def f(a: str):\n    return set(a)",
        "def f(a: str):\n    return set(a.lower())",
    ),
    (
        T.BOUND_RESULT,
        "def f(n, best):\n    best = n + 1\n    return best",
        "def f(n, best):\n    best = max(best, n + 1)\n    return best",
    ),
    (T.INDEX, "def f(a, i):\n    return a[i]", "def f(a, i):\n    return a[i - 1]"),
    (T.INDEX, "def f(a, i, j):\n    return a[i, j - 1]", "def f(a, i, j):\n    return a[j - 1, i]"),
    (
        T.SLICE,
        "def f(a: list, k: int):\n    return g(a)",
        "def f(a: list, k: int):\n    return g(a[k:])",
    ),
    (T.SLICE, "def f(a):\n    return a[1:]", "def f(a):\n    return a[2:]"),
    (T.DICT_GET, "def f(d, k):\n    return d[k]", "def f(d, k):\n    return d.get(k)"),
    (T.GETATTR_DEFAULT, "def f(d):\n    return d.k", "def f(d):\n    return getattr(d, 'k', None)"),
    (T.STATEMENT_DELETE, "def f(a):\n    a = 1\n    return a", "def f(a):\n    return a"),
    (
        T.STATEMENT_DELETE,
        "def f(a):\n    if a:\n        g(a)\n        g(a)\n    return a",
        "def f(a):\n    g(a)\n    g(a)\n    return a",
    ),
    (
        T.STATEMENT_COPY,
        "def f(out, row):\n    for x in row:\n        out.append(x)\n    return out",
        "def f(out, row):\n    for x in row:\n        out.append(x)\n"
        "    out.append(row)\n    return out",
    ),
    (
        T.STATEMENT_MOVE,
        "def f(a):\n    for x in a:\n        g(x)\n        return a",
        "def f(a):\n    for x in a:\n        g(x)\n    return a",
    ),
    (T.STATEMENT_MOVE, "def f(a):\n    g(a)\n    h(a)", "def f(a):\n    h(a)\n    g(a)"),
    (
        T.STATEMENT_GUARD,
        "def f(a, b):\n    a.append(b)\n    return a",
        "def f(a, b):\n    if b is not None:\n        a.append(b)\n    return a",
    ),
    (
        T.ASSIGNMENT_ADD,
        "def f(a):\n    b = None\n    while a:\n        a = a.n\n    return b",
        "def f(a):\n    b = None\n    while a:\n        a = a.n\n        b = a\n    return b",
    ),
    (T.ASSIGNMENT_KIND, "def f(a, b):\n    a.update(b)", "def f(a, b):\n    a = b"),
    (
        T.CALL_STATEMENT_ADD,
        "def f(n):\n    seen = set()\n    g(n)\n    return seen",
        "def f(n):\n    seen = set()\n    g(n)\n    seen.add(n)\n    return seen",
    ),
    (
        T.EARLY_RETURN,
        'def f(a):\n    """Text."""\n    return a[0]',
        'def f(a):\n    """Text."""\n    if not a:\n        return None\n    return a[0]',
    ),
    (T.RETURN_ADD, "def f(a):\n    g(a)", "def f(a):\n    return g(a)"),
    (T.RETURN_VALUE, "def f(a):\n    yield f(a)", "def f(a):\n    yield from f(a)"),
    (
        T.LOOP_CONTROL,
        "def f(a):\n    for x in a:\n        break",
        "def f(a):\n    for x in a:\n        continue",
    ),
    (T.RAISE_ADD, "def f(a):\n    ValueError(a)", "def f(a):\n    raise ValueError(a)"),
    (
        T.SUPER_CALL,
        "class C(B):\n    def __init__(self, a):\n        self.a = a",
        "class C(B):\n    def __init__(self, a):\n        super().__init__(a)\n        self.a = a",
    ),
    (
        T.EXCEPTION_TYPE,
        "def f(a):\n    try:\n        g()\n    except KeyError:\n        pass",
        "def f(a):\n    try:\n        g()\n    except (KeyError, IndexError):\n        pass",
    ),
    (
        T.TRY_ADD,
        "def f(a):\n    x = int(a)\n    return x",
        "def f(a):\n    try:\n        x = int(a)\n"
        "    except ValueError:\n        x = None\n    return x",
    ),
    (
        T.MUTABLE_DEFAULT,
        "def f(a=[]):\n    return a",
        "def f(a=None):\n    if a is None:\n        a = []\n    return a",
    ),
    (T.AWAIT_ADD, "async def f(a):\n    return g(a)", "async def f(a):\n    return await g(a)"),
    (
        T.ISINSTANCE_WIDEN,
        "def f(a):\n    return isinstance(a, list)",
        "def f(a):\n    return isinstance(a, (list, tuple))",
    ),
    (
        T.IMPORT_ADD,
        "def f(a):\n    return math.sqrt(a)",
        "import math\ndef f(a):\n    return math.sqrt(a)",
    ),
]


def results(
    source: str, template: EditTemplate, ingredients: Ingredients | None = None
) -> set[str]:
    module = SourceModule("m.py", (source + "\n").encode())
    engine = TemplateEngine(module, ingredients=ingredients)
    lines = dict.fromkeys(range(1, len(module.lines) + 1), 1.0)
    return {
        ast.dump(ast.parse(module.edited(candidate.variant.edits)))
        for candidate in engine.iter_candidates(lines)
    }


@pytest.mark.parametrize(("template", "before", "after"), CASES)
def test_edit_is_proposed(template: EditTemplate, before: str, after: str) -> None:
    assert ast.dump(ast.parse(after)) in results(before, template)


def test_every_template_is_tried() -> None:
    assert {template for template, _, _ in CASES} == set(EditTemplate)


def test_attributes_come_from_other_files() -> None:
    other = find_ingredients([b"class N:\n    def __init__(self):\n        self.incoming = 1\n"])
    before = "def f(n):\n    return n.outgoing\n"
    after = "def f(n):\n    return n.incoming\n"
    assert ast.dump(ast.parse(after)) in results(before, T.ATTRIBUTE, other)


def test_imports_come_from_other_files() -> None:
    other = find_ingredients([b"from shop.prices import total\n"])
    found = results("def f(n):\n    return total(n)", T.IMPORT_ADD, other)
    after = "from shop.prices import total\ndef f(n):\n    return total(n)"
    assert ast.dump(ast.parse(after)) in found
