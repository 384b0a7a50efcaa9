"""What one parse of one file yields: facts that depend on the file's bytes alone.

Facts are path-independent, so they are stored once per git blob id. `msgspec` encodes them as
MessagePack arrays; raise `EXTRACTOR_VERSION` whenever the shape or the extraction changes.

Besides the outline (`Definition`) and the words (`OwnerText`), a file's facts hold a *flow
summary*: its scopes, with the few expressions through which functions, classes, modules and
instances can travel. Arithmetic, comparisons and literals' values are left out. Resolution
(`indexes.graph`) works on summaries only and never sees a syntax tree.
"""

from __future__ import annotations

import msgspec

EXTRACTOR_VERSION = 2


class Struct(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Base of all facts: immutable, encoded as an array, invisible to the garbage collector."""


# --- outline -----------------------------------------------------------------------------------


class Definition(Struct, frozen=True, array_like=True, gc=False):
    """A class or function statement. Owner number = index in `FileFacts.definitions` + 1."""

    name: str
    """Qualified inside the file, as ``Class.method`` or ``outer.inner``."""
    is_class: bool
    parent: int
    """Owner number of what it is nested in; 0 is the file."""
    start_line: int
    """First decorator's line, or the statement's own."""
    line: int
    """Line of ``def`` or ``class``."""
    end_line: int
    signature: str
    """Parameters with annotations and return type, or the bases; white space folded."""
    docstring: str
    decorators: tuple[str, ...]
    """Source text of each decorator, without the at sign."""
    is_async: bool


class OwnerText(Struct, frozen=True, array_like=True, gc=False):
    """The words of one owner's own lines, those of nested definitions left out."""

    words: dict[str, int]
    """Identifiers in code (no keywords), with their counts."""
    comments: str
    strings: tuple[str, ...]
    """String literals that are not docstrings, quotes and prefixes removed, in order."""


# --- flow: expressions -------------------------------------------------------------------------


class Name(Struct, frozen=True, array_like=True, gc=False, tag=0):
    """A variable read."""

    id: str


class Attribute(Struct, frozen=True, array_like=True, gc=False, tag=1):
    """``value.attr`` read."""

    value: Expr
    attr: str
    line: int


class Call(Struct, frozen=True, array_like=True, gc=False, tag=2):
    """``function(arguments)``. A starred argument is a `Star`; ``**x`` has the keyword ``**``.

    Arguments that cannot carry a callable or an instance are `None`, so positions stay true.
    """

    function: Expr
    arguments: tuple[Expr | None, ...]
    keywords: tuple[tuple[str, Expr | None], ...]
    line: int


class Subscript(Struct, frozen=True, array_like=True, gc=False, tag=3):
    """``value[key]``; `key` is a constant's text (``'a'`` or ``0``) or empty when not constant."""

    value: Expr
    key: str


class Collection(Struct, frozen=True, array_like=True, gc=False, tag=4):
    """A list, tuple, set or dict display; keys are constants' texts, positions, or empty."""

    kind: str
    items: tuple[tuple[str, Expr], ...]
    site: int
    """Number of this display inside its file, so that what is put into it later is known."""


class Lambda(Struct, frozen=True, array_like=True, gc=False, tag=5):
    """An anonymous function: the index of its scope in `FileFacts.scopes`."""

    scope: int


class Choice(Struct, frozen=True, array_like=True, gc=False, tag=6):
    """Any of several values: conditional and boolean expressions."""

    items: tuple[Expr, ...]


class Element(Struct, frozen=True, array_like=True, gc=False, tag=7):
    """What iterating over `value` gives."""

    value: Expr
    line: int


class Entered(Struct, frozen=True, array_like=True, gc=False, tag=8):
    """What ``with value as x`` binds to x."""

    value: Expr
    line: int


class Awaited(Struct, frozen=True, array_like=True, gc=False, tag=9):
    """``await value``."""

    value: Expr


class Star(Struct, frozen=True, array_like=True, gc=False, tag=10):
    """``*value`` in a call or display."""

    value: Expr


class Literal(Struct, frozen=True, array_like=True, gc=False, tag=11):
    """A constant of a built-in type, e.g. ``str``, of which only the type matters."""

    builtin: str


class Slice(Struct, frozen=True, array_like=True, gc=False, tag=12):
    """``value[a:b]``: a part of the same elements; bounds are constants' texts, else empty."""

    value: Expr
    start: str = ""
    stop: str = ""


class Delegated(Struct, frozen=True, array_like=True, gc=False, tag=13):
    """``yield from value``'s elements, as one of a scope's yields."""

    value: Expr
    line: int


class ClassObject(Struct, frozen=True, array_like=True, gc=False, tag=14):
    """In annotations only: ``type[value]``, the class itself and not an instance."""

    value: Expr


class Raised(Struct, frozen=True, array_like=True, gc=False, tag=15):
    """``raise value``: a class is instantiated, an instance is not called."""

    value: Expr
    line: int


Expr = (
    Name
    | Attribute
    | Call
    | Subscript
    | Collection
    | Lambda
    | Choice
    | Element
    | Entered
    | Awaited
    | Star
    | Literal
    | Slice
    | Delegated
    | ClassObject
    | Raised
)

# --- flow: scopes ------------------------------------------------------------------------------


class Binding(Struct, frozen=True, array_like=True, gc=False):
    """``target = value``: the target is a `Name`, `Attribute` or `Subscript`."""

    target: Expr
    value: Expr
    line: int
    annotation: Expr | None = None


class Parameter(Struct, frozen=True, array_like=True, gc=False):
    """One parameter.

    `kind`: 0 positional only, 1 either, 2 ``*args``, 3 keyword only, 4 ``**kw``.
    """

    name: str
    kind: int
    default: Expr | None
    annotation: Expr | None


class Import(Struct, frozen=True, array_like=True, gc=False):
    """One imported name.

    ``from ..a import b as c`` is level 2, module ``a``, name ``b``, alias ``c``.

    ``import a.b`` has no name, and alias ``a`` if there is no ``as``; ``*`` is the star.
    """

    module: str
    name: str
    alias: str
    level: int
    line: int
    scope: int
    """Index of the scope it binds in."""


class Scope(Struct, frozen=True, array_like=True, gc=False):
    """A module, class, function or lambda, with what happens in its own lines.

    Scope 0 is the module. Scopes of definitions follow in the order of `FileFacts.definitions`
    (scope index = owner number); lambdas come last.
    """

    kind: str
    """``module``, ``class``, ``function`` or ``lambda``."""
    parent: int
    owner: int
    """Owner number of the innermost class, function or file around its lines."""
    parameters: tuple[Parameter, ...]
    returns: tuple[Expr, ...]
    yields: tuple[Expr, ...]
    bindings: tuple[Binding, ...]
    effects: tuple[Expr, ...]
    """Calls and attribute reads outside of bindings and returns, to be resolved for edges."""
    bases: tuple[Expr, ...]
    decorators: tuple[Expr, ...]
    """Outermost first; evaluated in the parent scope."""
    return_annotation: Expr | None
    globals: tuple[str, ...]
    """Names declared ``global``."""
    nonlocals: tuple[str, ...]
    is_async: bool
    metaclass: Expr | None = None


class FileFacts(Struct, frozen=True, array_like=True, gc=False):
    """All that one file's bytes say."""

    line_count: int
    docstring: str
    definitions: tuple[Definition, ...]
    texts: tuple[OwnerText, ...]
    """One per owner; the file's own first."""
    imports: tuple[Import, ...]
    scopes: tuple[Scope, ...]
    exports: tuple[str, ...] | None
    """``__all__`` where it is a plain list of strings."""
    failures: tuple[tuple[int, str], ...]
    """(line, message) of what could not be parsed."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(FileFacts)


def encode_facts(facts: FileFacts) -> bytes:
    """MessagePack bytes of the facts."""
    return _ENCODER.encode(facts)


def decode_facts(data: bytes) -> FileFacts:
    """Inverse of `encode_facts`; raises `msgspec.MsgspecError` on anything else."""
    return _DECODER.decode(data)
