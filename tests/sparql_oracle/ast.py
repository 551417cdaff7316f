"""The syntax of SPARQL 1.1 queries as immutable values; `text.py` writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from kg_reasoner.terms import IRI, Term


@dataclass(frozen=True, slots=True, order=True)
class Var:
    """A variable; `name` is without the question mark."""

    name: str


# Property paths ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inverse:
    """``^path``"""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """``first/second``"""

    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    """``first|second``"""

    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Repeated:
    """``path*``, ``path+`` or ``path?``"""

    path: Path
    how: OneOf["*", "+", "?"]


@dataclass(frozen=True, slots=True)
class Negated:
    """``!(forward | ^backward)``, a negated property set."""

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...] = ()


Path: TypeAlias = "IRI | Inverse | Sequence | Alternative | Repeated | Negated"


# Expressions -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """An operator, a function, a functional form, or a cast if `name` is an IRI.

    Operators have their symbols as names, ``-`` with one argument is the negation; ``IN`` and ``NOT IN`` have the list as their
    second and further arguments.
    """

    name: str | IRI
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """``EXISTS { ... }`` or ``NOT EXISTS { ... }``"""

    group: Group
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate; ``COUNT(*)`` has no argument."""

    name: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None


Expression: TypeAlias = "Var | Term | Call | Exists | Aggregate"


# Patterns ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple pattern, or a property path pattern. Blank nodes are variables that cannot be selected."""

    subject: Var | Term
    predicate: Var | Path
    object: Var | Term


@dataclass(frozen=True, slots=True)
class Optional:
    """``OPTIONAL { ... }``"""

    group: Group


@dataclass(frozen=True, slots=True)
class Union:
    """``{ ... } UNION { ... }``"""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """``MINUS { ... }``"""

    group: Group


@dataclass(frozen=True, slots=True)
class Filter:
    """``FILTER ( ... )``"""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Bind:
    """``BIND ( expression AS ?variable )``"""

    expression: Expression
    variable: Var


@dataclass(frozen=True, slots=True)
class Values:
    """``VALUES (?x ?y) { ... }``; None is UNDEF."""

    variables: tuple[Var, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """``GRAPH name { ... }``"""

    name: Var | IRI
    group: Group


@dataclass(frozen=True, slots=True)
class SubSelect:
    """``{ SELECT ... }``"""

    select: Select


@dataclass(frozen=True, slots=True)
class Group:
    """``{ ... }``: a group graph pattern with its elements in the order of the text."""

    elements: tuple[Element, ...] = ()


Element: TypeAlias = "Triple | Optional | Union | Minus | Filter | Bind | Values | GraphPattern | SubSelect | Group"


# Queries -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """``?variable`` or ``(expression AS ?variable)``, in a SELECT or a GROUP BY.

    A GROUP BY can also have an expression without a variable.
    """

    variable: Var | None
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """``ASC(expression)`` or ``DESC(expression)``"""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Modifiers:
    """What follows the WHERE clause, from GROUP BY to VALUES."""

    group_by: tuple[Item, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
    values: Values | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT query; `items` is None for ``SELECT *``."""

    items: tuple[Item, ...] | None
    where: Group
    modifiers: Modifiers = Modifiers()
    duplicates: OneOf["", "DISTINCT", "REDUCED"] = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """An ASK query."""

    where: Group
    modifiers: Modifiers = Modifiers()


@dataclass(frozen=True, slots=True)
class Construct:
    """A CONSTRUCT query."""

    template: tuple[Triple, ...]
    where: Group
    modifiers: Modifiers = Modifiers()


Query: TypeAlias = "Select | Ask | Construct"
