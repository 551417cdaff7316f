"""The algebra of SPARQL 1.1 (Query, section 18.2) as data: what a query is translated to, rewritten, and evaluated from.

Variables are `kg_reasoner.program.Variable`. A blank node of a query is a variable whose name begins with ``_:``, which no query
can write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final, TypeAlias, get_args

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Call, Variable
from kg_reasoner.terms import IRI, Term

__all__ = [
    "UNIT",
    "Aggregation",
    "Alternative",
    "Ask",
    "Condition",
    "Construct",
    "Describe",
    "Distinct",
    "EachGraph",
    "Exists",
    "Expression",
    "Extend",
    "Filter",
    "Foreign",
    "Group",
    "Inverse",
    "Join",
    "LeftJoin",
    "Minus",
    "Negated",
    "Node",
    "OrderBy",
    "Path",
    "PathPattern",
    "Patterns",
    "Project",
    "Query",
    "Repeat",
    "Select",
    "Sequence",
    "Service",
    "Slice",
    "TriplePattern",
    "Union",
    "Values",
    "children",
    "is_hidden",
]

PatternTerm: TypeAlias = Variable | Term
TriplePattern: TypeAlias = tuple[PatternTerm, PatternTerm, PatternTerm]

# --- paths ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inverse:
    """``^path``."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """``path/path/...``."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """``path|path|...``."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``path*`` (at least 0, without an end), ``path+`` (1) or ``path?`` (0, at most one)."""

    path: Path
    least: int
    is_endless: bool


@dataclass(frozen=True, slots=True)
class Negated:
    """``!(p|^q)``: any property but some, forwards, backwards, or both."""

    forwards: tuple[IRI, ...]
    backwards: tuple[IRI, ...]


Path: TypeAlias = IRI | Inverse | Sequence | Alternative | Repeat | Negated

# --- expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exists:
    """``EXISTS { pattern }``."""

    node: Node


@dataclass(frozen=True, slots=True)
class Foreign:
    """A call of a function that the caller has registered with rdflib, by its IRI."""

    iri: str
    arguments: tuple[Expression, ...]
    is_distinct: bool = False


Expression: TypeAlias = Variable | Term | Call | Exists | Foreign
"""An expression; arguments of a `Call` may be `Exists` and `Foreign`, too."""

Condition: TypeAlias = Expression

# --- patterns -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Patterns:
    """A basic graph pattern, in the active graph (None), a graph by name, or every named graph (a variable)."""

    triples: tuple[TriplePattern, ...]
    graph: PatternTerm | None = None


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A triple pattern with a property path."""

    start: PatternTerm
    path: Path
    end: PatternTerm
    graph: PatternTerm | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Compatible solutions of all parts, merged."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL, with the FILTER of its group as the condition."""

    left: Node
    right: Node
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Union:
    """UNION of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """FILTER: all conditions are true."""

    conditions: tuple[Condition, ...]
    node: Node


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND, and the expressions of SELECT."""

    node: Node
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class EachGraph:
    """GRAPH: the pattern in a graph, or in every named graph, one after the other."""

    name: PatternTerm
    node: Node


@dataclass(frozen=True, slots=True)
class Service:
    """SERVICE: `part` is that of rdflib's algebra, with the text."""

    address: PatternTerm
    variables: tuple[Variable, ...]
    part: Any


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One aggregate, such as ``COUNT(DISTINCT ?x)``; `argument` is None for ``COUNT(*)``."""

    variable: Variable
    function: str
    argument: Expression | None
    is_distinct: bool = False
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Group:
    """GROUP BY with its aggregates. Without keys there is one group, even of nothing (`is_whole`)."""

    node: Node
    keys: tuple[Variable, ...]
    aggregates: tuple[Aggregation, ...]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """ORDER BY: expressions, each with whether it descends. `first` is how many solutions are needed, if that is known."""

    node: Node
    keys: tuple[tuple[Expression, bool], ...]
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """SELECT: the variables that leave the (sub)query."""

    node: Node
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """DISTINCT; or REDUCED, which omits only repetitions in a row: these are found without comparing all solutions."""

    node: Node
    is_reduced: bool = False


@dataclass(frozen=True, slots=True)
class Slice:
    """OFFSET and LIMIT."""

    node: Node
    start: int
    length: int | None


Node: TypeAlias = (
    Patterns
    | PathPattern
    | Join
    | LeftJoin
    | Minus
    | Union
    | Filter
    | Extend
    | Values
    | EachGraph
    | Service
    | Group
    | OrderBy
    | Project
    | Distinct
    | Slice
)

UNIT: Final = Join(())
"""The pattern with one solution, which binds nothing."""

# --- query forms ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT, with the variables in the order of the result."""

    node: Node
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """ASK."""

    node: Node


@dataclass(frozen=True, slots=True)
class Construct:
    """CONSTRUCT; blank nodes of the template are `BlankNode`."""

    node: Node
    template: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE terms, and the values of variables in the solutions of a pattern."""

    node: Node
    terms: tuple[PatternTerm, ...]


Query: TypeAlias = Select | Ask | Construct | Describe

# --- walks ----------------------------------------------------------------------------------------------------------------


_CHILDREN: Final = {
    kind: tuple(field.name for field in fields(kind) if field.name in ("parts", "node", "left", "right")) for kind in get_args(Node)
}


def children(node: Node) -> Iterator[Node]:
    """Yield the patterns directly inside a pattern, without those in expressions."""
    for name in _CHILDREN[type(node)]:
        value = getattr(node, name)
        if name == "parts":
            yield from value
        else:
            yield value


def is_hidden(name: str) -> bool:
    """Return whether a variable of this name stands for a blank node of the query, or was introduced by translation."""
    return name.startswith(("_:", "."))
