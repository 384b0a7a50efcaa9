"""What a template is: a small unit that looks at one node and proposes edits of the text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from repair.candidates.template.kinds import Kind, kind_of
from repair.candidates.template.scope import NameInScope, ScopeTable
from repair.candidates.template.source import SourceModule, Unit, iter_bodies
from repair.model import SpanEdit, Variant


class EditTemplate(StrEnum):
    """Kinds of edit; the names appear in reports and in the table of priors."""

    COMPARISON_OPERATOR = "comparison_operator"
    COMPARISON_BOUND = "comparison_bound"
    IDENTITY_EQUALITY = "identity_equality"
    ARITHMETIC_OPERATOR = "arithmetic_operator"
    AUGMENTED_OPERATOR = "augmented_operator"
    BOOLEAN_OPERATOR = "boolean_operator"
    UNARY_OPERATOR = "unary_operator"
    OPERAND_SWAP = "operand_swap"
    OPERAND_DROP = "operand_drop"
    OPERAND_ADD = "operand_add"
    OFF_BY_ONE = "off_by_one"
    NUMBER = "number"
    BOOLEAN_CONSTANT = "boolean_constant"
    EMPTY_LITERAL = "empty_literal"
    COLLECTION_ITEM = "collection_item"
    STRING_CONSTANT = "string_constant"
    REGULAR_EXPRESSION = "regular_expression"
    FORMAT_STRING = "format_string"
    CONDITION_NEGATE = "condition_negate"
    CONDITION_EXTEND = "condition_extend"
    CONDITION_REDUCE = "condition_reduce"
    CONDITION_REPLACE = "condition_replace"
    NONE_GUARD = "none_guard"
    BRANCH_SWAP = "branch_swap"
    VARIABLE = "variable"
    ATTRIBUTE = "attribute"
    INGREDIENT = "ingredient"
    ARGUMENT_SWAP = "argument_swap"
    ARGUMENT_DROP = "argument_drop"
    ARGUMENT_ADD = "argument_add"
    KEYWORD_ARGUMENT = "keyword_argument"
    CALLEE = "callee"
    CALL_ADD = "call_add"
    CALL_DROP = "call_drop"
    CALL_PARENTHESES = "call_parentheses"
    METHOD_ADD = "method_add"
    BOUND_RESULT = "bound_result"
    INDEX = "index"
    SLICE = "slice"
    DICT_GET = "dict_get"
    GETATTR_DEFAULT = "getattr_default"
    STATEMENT_DELETE = "statement_delete"
    STATEMENT_COPY = "statement_copy"
    STATEMENT_MOVE = "statement_move"
    STATEMENT_GUARD = "statement_guard"
    ASSIGNMENT_ADD = "assignment_add"
    ASSIGNMENT_KIND = "assignment_kind"
    CALL_STATEMENT_ADD = "call_statement_add"
    EARLY_RETURN = "early_return"
    RETURN_ADD = "return_add"
    RETURN_VALUE = "return_value"
    LOOP_CONTROL = "loop_control"
    RAISE_ADD = "raise_add"
    SUPER_CALL = "super_call"
    EXCEPTION_TYPE = "exception_type"
    TRY_ADD = "try_add"
    MUTABLE_DEFAULT = "mutable_default"
    AWAIT_ADD = "await_add"
    ISINSTANCE_WIDEN = "isinstance_widen"
    IMPORT_ADD = "import_add"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One edit that a template proposes at a site."""

    edits: tuple[SpanEdit, ...]
    weight: float = 1.0
    """How likely this is among what the template could do there, in (0, 1]."""


@dataclass(frozen=True, slots=True)
class Ingredients:
    """Names from other files that a fix may need."""

    attributes: tuple[str, ...] = ()
    """Attribute and method names, most frequent first."""
    modules: tuple[str, ...] = ()
    """Modules that other files import, by their dotted names."""
    members: tuple[tuple[str, str], ...] = ()
    """(module, name) pairs that other files import from modules."""


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node, with what templates need to know around it."""

    module: SourceModule
    scopes: ScopeTable
    unit: Unit
    node: ast.AST
    ingredients: Ingredients = field(default_factory=Ingredients)

    @property
    def parent(self) -> ast.AST | None:
        """The node's parent."""
        return self.module.parents.get(self.node)

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement that the node is in, or is."""
        node: ast.AST = self.node
        while not isinstance(node, ast.stmt):
            node = self.module.parents[node]
        return node

    def source(self, node: ast.AST) -> str:
        """Return a node's own text, without parentheses around it."""
        return self.module.segment(node)

    def operand(self, node: ast.expr) -> str:
        """Return an expression's text so that it can stand beside an operator."""
        text = self.source(node)
        return text if _precedence(node) >= _ATOM else f"({text})"

    def replace(self, node: ast.AST, text: str, weight: float = 1.0) -> Rewrite:
        """Put other text in a node's place, in parentheses where an expression needs them."""
        start, end = self.module.span(node)
        if isinstance(node, ast.expr):
            text = self._fitted(node, text)
        return Rewrite((SpanEdit(start, end, text),), weight)

    def replace_this(self, text: str, weight: float = 1.0) -> Rewrite:
        """Put other text in this site's node's place."""
        return self.replace(self.node, text, weight)

    def swap(self, one: ast.expr, other: ast.expr, weight: float = 1.0) -> Rewrite:
        """Exchange two expressions."""
        first, second = self.replace(one, self.source(other)), self.replace(other, self.source(one))
        return Rewrite(first.edits + second.edits, weight)

    def names(self) -> tuple[NameInScope, ...]:
        """Return the variables visible at the node."""
        return self.scopes.names_at(self.node)

    def variables(self) -> list[NameInScope]:
        """Return visible names that hold data: no functions, classes or modules."""
        return [name for name in self.names() if name.kind not in (Kind.CALLABLE, Kind.MODULE)]

    def kind(self, node: ast.AST | None) -> Kind:
        """Guess an expression's kind."""
        return kind_of(node, self.scopes.kinds_at(self.node))

    def block(self) -> list[ast.stmt] | None:
        """Return the list of statements that the node, a statement, is in."""
        parent = self.parent
        if parent is None:
            return None
        return next((body for body in iter_bodies(parent) if self.node in body), None)

    def indentation(self) -> str | None:
        """Return the white space before the node, a statement; `None` if it shares its line."""
        start, _ = self.module.span(self.node)
        line_start = self.module.line_start(getattr(self.node, "lineno", 1))
        before = self.module.text[line_start:start]
        return before if not before.strip() else None

    def insert_before(self, text: str, weight: float = 1.0) -> list[Rewrite]:
        """Put statements, lines of `text`, in lines above the node, a statement."""
        indent = self.indentation()
        if indent is None:
            return []
        decorators = getattr(self.node, "decorator_list", None) or [self.node]
        start = self.module.line_start(min(item.lineno for item in decorators))
        return [Rewrite((SpanEdit(start, start, self._lines(text, indent)),), weight)]

    def insert_after(self, text: str, weight: float = 1.0) -> list[Rewrite]:
        """Put statements, lines of `text`, in lines below the node, a statement."""
        indent = self.indentation()
        last_line = getattr(self.node, "end_lineno", 1)
        start, end = self.module.span(self.node)[1], self.module.line_start(last_line + 1)
        rest = self.module.text[start:end].strip()
        if indent is None or (rest and not rest.startswith("#")):
            return []
        lead = "" if self.module.text[:end].endswith(("\n", "\r")) else self.module.newline
        return [Rewrite((SpanEdit(end, end, lead + self._lines(text, indent)),), weight)]

    def _lines(self, text: str, indent: str) -> str:
        newline = self.module.newline
        return "".join(f"{indent}{line}{newline}" for line in text.split("\n"))

    def _fitted(self, node: ast.expr, text: str) -> str:
        """Parenthesize new text if the place of the node binds more tightly than it does."""
        parent = self.module.parents.get(node)
        needed = _needed_precedence(parent, node)
        if needed == 0:
            return text
        try:
            fresh = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            return text
        return text if _precedence(fresh) >= needed else f"({text})"


@dataclass(frozen=True, slots=True)
class Template:
    """A named kind of edit and the node types it looks at."""

    name: EditTemplate
    on: tuple[type[ast.AST], ...]
    rewrite: Callable[[Site], Iterable[Rewrite]]


@dataclass(frozen=True, slots=True)
class TemplateCandidate:
    """An edit to try, with what it was ranked by."""

    variant: Variant
    template: EditTemplate
    line: int
    """1-based line of the node that the template looked at."""
    score: float
    """Suspiciousness times prior times weight; higher is tried earlier."""
    key: str
    """Digest of the changed function's syntax; equal for edits with one meaning."""


_ATOM = 18
_PRECEDENCES: tuple[tuple[type[ast.AST], int], ...] = (
    (ast.NamedExpr, 1),
    (ast.Yield, 1),
    (ast.YieldFrom, 1),
    (ast.Starred, 1),
    (ast.Lambda, 2),
    (ast.IfExp, 3),
    (ast.Or, 4),
    (ast.And, 5),
    (ast.Not, 6),
    (ast.Compare, 7),
    (ast.BitOr, 8),
    (ast.BitXor, 9),
    (ast.BitAnd, 10),
    (ast.LShift, 11),
    (ast.RShift, 11),
    (ast.Add, 12),
    (ast.Sub, 12),
    (ast.Mult, 13),
    (ast.Div, 13),
    (ast.FloorDiv, 13),
    (ast.Mod, 13),
    (ast.MatMult, 13),
    (ast.UAdd, 14),
    (ast.USub, 14),
    (ast.Invert, 14),
    (ast.Pow, 15),
    (ast.Await, 16),
)
"""Python's operators from loose to tight, as in the language reference, section 6.17."""


def _precedence(node: ast.expr) -> int:
    """Return how tightly an expression holds together."""
    if isinstance(node, ast.Tuple):
        return 0
    subject = getattr(node, "op", node)
    return next((level for type_, level in _PRECEDENCES if isinstance(subject, type_)), _ATOM)


def _needed_precedence(parent: ast.AST | None, node: ast.expr) -> int:
    """Return how tightly text in the place of `node` has to hold together."""
    if isinstance(parent, (ast.BinOp, ast.BoolOp, ast.UnaryOp)):
        level = _precedence(parent)
        is_left = isinstance(parent, ast.BinOp) and parent.left is node
        return level if is_left or isinstance(parent, ast.UnaryOp) else level + 1
    if isinstance(parent, ast.Compare):
        return 8
    if isinstance(parent, ast.IfExp):
        return 4 if parent.orelse is not node else 3
    if isinstance(parent, (ast.Attribute, ast.Await, ast.FormattedValue)) or (
        isinstance(parent, (ast.Subscript, ast.Call))
        and node in (getattr(parent, "value", None), getattr(parent, "func", None))
    ):
        return _ATOM
    return (
        2
        if isinstance(parent, (ast.Call, ast.Starred, ast.List, ast.Tuple, ast.comprehension))
        else 0
    )
