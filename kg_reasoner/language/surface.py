"""Syntax beyond the parts of rules in `kg_reasoner.program`, to which `desugaring` rewrites it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import Span
from kg_reasoner.program import AggregateBinding, Argument, BodyLiteral, Call, Expression, Variable
from kg_reasoner.terms import IRI, Literal

__all__ = [
    "NO_CASE",
    "NO_VALUE",
    "Along",
    "AnyOf",
    "Applied",
    "Chosen",
    "Condition",
    "Each",
    "Grouped",
    "Inverse",
    "NotAny",
    "OneOf",
    "Part",
    "Path",
    "Repeated",
    "Same",
    "Steps",
    "SurfaceBody",
]


NO_CASE: Final = Call("COALESCE", (Call("neg", (Literal(""),)),))
"""The error that a ``match`` is if no pattern fits."""

NO_VALUE: Final = IRI("urn:kg-reasoner:no-value")
"""The argument of a negated atom where its expression is an error: no fact has it."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An atom with an expression among its arguments: ``path(?x, ?n + 1)``."""

    predicate: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that stands alone: ``?x > 1``. An equation gives a value to a variable that has none."""

    expression: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Same:
    """Two arguments are the same term; either may give its value to the other."""

    first: Argument
    second: Argument
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Each:
    """``?x IN expression``: each member of a collection, or with several variables each of its tuples. A pattern is alone."""

    variables: tuple[Expression, ...]
    collection: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``(a(?x) ; b(?x), c(?x))``: a disjunction of conjunctions."""

    alternatives: tuple[SurfaceBody, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NotAny:
    """``NOT (a(?x), b(?x) ; c(?x))``: no alternative has a solution."""

    alternatives: tuple[SurfaceBody, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Grouped:
    """An AGGREGATE whose body has something that is not in `kg_reasoner.program`."""

    alternatives: tuple[SurfaceBody, ...]
    group: tuple[Variable, ...]
    bindings: tuple[AggregateBinding, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``CHOOSE(body PER ?x)``: of the solutions of a body, one for each value of some variables."""

    alternatives: tuple[SurfaceBody, ...]
    key: tuple[Variable, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


# --------------------------------------------------------------------------------------------------------------------- paths


@dataclass(frozen=True, slots=True)
class Inverse:
    """``^path``."""

    path: Path


@dataclass(frozen=True, slots=True)
class Steps:
    """``path / path``."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """``path | path``."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """``path+``, ``path*`` or ``path?``; `sign` is the last character."""

    path: Path
    sign: str


Path: TypeAlias = IRI | Inverse | Steps | OneOf | Repeated


@dataclass(frozen=True, slots=True)
class Along:
    """``[?x, ex:parent+, ?y]``: a property path between two terms."""

    subject: Argument
    path: Path
    object: Argument
    span: Span | None = field(default=None, compare=False, repr=False)


Part: TypeAlias = BodyLiteral | Applied | Condition | Same | Each | AnyOf | NotAny | Grouped | Chosen | Along
SurfaceBody: TypeAlias = tuple[Any, ...]
"""Parts (`Part`) that all hold."""
