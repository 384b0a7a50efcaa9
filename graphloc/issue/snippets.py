"""What the code in an issue imports, calls and defines.

Python's own parser reads what parses; regular expressions read the rest.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from graphloc.issue.model import Block, Snippets

_PYTHON_FENCES = frozenset(
    {
        "",
        "py",
        "python",
        "python2",
        "python3",
        "py3",
        "pycon",
        "ipython",
        "pytb",
        "pytest",
        "cython",
    }
    | {"console", "text", "txt", "diff", "patch", "doctest", "default", "paste"}
    | {"shell", "bash", "sh"}
)
"""Fences under which Python is found in practice; others hold another language for sure."""
_MAX_PARSED = 60_000
"""Longer snippets are data or logs; the parser's recursion is not to be tried on them."""
_MAX_PARSED_LINE = 2_000
_MAX_DEPTH = 60
_PROMPT = re.compile(r"^\s{0,8}(?:(?P<first>>>>|In ?\[\d*\]:)|(?P<next>\.\.\.:?)) ?(?P<code>.*)$")
_IPYTHON_NEXT = re.compile(r"^\s{1,8}\.{3,}: ?(?P<code>.*)$")
_MAGIC = re.compile(r"^\s*(?:[%!][\w%]|\$ )")
_PROMPT_DOLLAR = re.compile(r"^\s*[%$] ")
_IMPORT = re.compile(r"^[\s>+-]*import +([\w., ]{1,300})")
_FROM_IMPORT = re.compile(r"^[\s>+-]*from +([\w.]+) +import +\(?([\w, *]{0,300})")
_DEFINITION = re.compile(r"^[\s>+-]*(?:async +)?(def|class) +(\w+)")
_CALL = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+(?=\()")
_CHAIN = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:\.[^\W\d]\w*+)++")
_KEYWORD = re.compile(r"(?<=[(,\s])[^\W\d]\w*+(?==(?!=))")
_STOPS = frozenset(
    {"if", "while", "for", "elif", "return", "print", "in", "and", "or", "not", "def"}
)


def read_snippets(blocks: Iterable[Block], inline: Iterable[str] = ()) -> Snippets:
    """Read code blocks (tracebacks taken out of them) and inline code.

    A block that does not parse as a whole is tried part by part, split at unindented lines behind
    blank ones; what still does not parse is read with regular expressions.
    """
    reader = _Reader()
    for block in blocks:
        if block.language in _PYTHON_FENCES:
            reader.read_block(block)
    for code in inline:
        reader.read_words(code)
    return reader.result()


@dataclass(slots=True)
class _Reader:
    sources: list[str] = field(default_factory=list)
    imported: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    attributes: dict[str, None] = field(default_factory=dict)
    qualified: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    classes: dict[str, None] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    """What a name stands for: a module or name imported, or the class it was made from."""

    def read_block(self, block: Block) -> None:
        """Read a block whole if it parses, else part by part."""
        source = strip_prompts(block.lines)
        if not source.strip():
            return
        self.sources.append(source)
        tree = _parse(source)
        if tree is not None:
            self._read_tree(tree)
            return
        for part in _parts(source):
            tree = _parse(part)
            if tree is None:
                self.read_words(part)
            else:
                self._read_tree(tree)

    def read_words(self, code: str) -> None:
        """Read code that does not parse."""
        for line in code.split("\n"):
            if match := _FROM_IMPORT.match(line):
                for name in match[2].split(","):
                    self._import_name(match[1], name)
            elif match := _IMPORT.match(line):
                for name in match[1].split(","):
                    self._import_module(name)
            elif match := _DEFINITION.match(line):
                (self.classes if match[1] == "class" else self.functions)[match[2]] = None
        for match in _CALL.finditer(code):
            if match[0] not in _STOPS:
                self.called[match[0]] = None
                self._qualify(match[0])
        for match in _CHAIN.finditer(code):
            self.attributes[match[0]] = None
            self._qualify(match[0])
        self.keywords.update(dict.fromkeys(_KEYWORD.findall(code)))

    def _import_name(self, module: str, clause: str) -> None:
        words = clause.split()
        if not words:
            return
        name = module if words[0] == "*" else f"{module}.{words[0]}"
        self._bind(words[-1], name)

    def _import_module(self, clause: str) -> None:
        words = clause.split()
        if words:
            self._bind(words[-1] if "as" in words else words[0].split(".")[0], words[0])

    def _bind(self, alias: str, name: str) -> None:
        self.imported[name] = None
        top = name.partition(".")[0]
        self.origins[alias] = name if alias != top else top

    def _read_tree(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            self._read_import(node)
            match node:
                case ast.ClassDef(name=name):
                    self.classes[name] = None
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.functions[name] = None
                case ast.keyword(arg=str(name)):
                    self.keywords[name] = None
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                    self._read_made(name, function)
                case ast.Attribute():
                    self._read_chain(node, self.attributes)
                case ast.Call(func=function):
                    self._read_chain(function, self.called)

    def _read_import(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    top = alias.name.split(".")[0]
                    self.imported[alias.name] = None
                    self.origins[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    base = "." * level + (module or "")
                    name = base if alias.name == "*" else f"{base}.{alias.name}"
                    self.imported[name.lstrip(".")] = None
                    self.origins[alias.asname or alias.name] = name.lstrip(".")

    def _read_made(self, name: str, function: ast.expr) -> None:
        chain = _chain(function)
        made = self.origins.get(chain.split(".")[0], "") if chain else ""
        if made and chain.split(".")[-1][:1].isupper():
            self.origins[name] = ".".join([made, *chain.split(".")[1:]])

    def _read_chain(self, node: ast.expr, names: dict[str, None]) -> None:
        chain = _chain(node)
        if chain:
            names[chain] = None
            self._qualify(chain)

    def _qualify(self, chain: str) -> None:
        first, dot, rest = chain.partition(".")
        origin = self.origins.get(first)
        if origin is not None:
            self.qualified[f"{origin}{dot}{rest}"] = None

    def result(self) -> Snippets:
        """Return what was read so far."""
        return Snippets(
            "\n\n".join(self.sources),
            tuple(self.imported),
            tuple(self.called),
            tuple(self.attributes),
            tuple(self.qualified),
            tuple(self.keywords),
            tuple(self.classes),
            tuple(self.functions),
        )


def strip_prompts(lines: Iterable[str]) -> str:
    """Return the code of a block: of a session its input only; dedented, magics left out."""
    lines = list(lines)
    if any(match and match["first"] for line in lines if (match := _PROMPT.match(line))):
        lines = list(_session_input(lines))
    kept = ["" if _MAGIC.match(line) else line for line in lines]
    return textwrap.dedent("\n".join(kept)).strip("\n")


def _session_input(lines: list[str]) -> Iterator[str]:
    for line in lines:
        match = _PROMPT.match(line) or _IPYTHON_NEXT.match(line)
        if match is not None:
            yield match["code"]


def _parts(source: str) -> Iterator[str]:
    """Split before each unindented line that follows a blank one."""
    part: list[str] = []
    for line in source.split("\n"):
        if part and not part[-1].strip() and line[:1].strip():
            yield "\n".join(part)
            part = []
        part.append(line)
    yield "\n".join(part)


def _parse(source: str) -> ast.Module | None:
    if len(source) > _MAX_PARSED or max(map(len, source.split("\n"))) > _MAX_PARSED_LINE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(textwrap.dedent(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _chain(node: ast.expr) -> str:
    """Return the dotted name of an attribute chain over a name; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MAX_DEPTH:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])
