"""Plans of queries for people and programs: the operators, estimated and counted solutions, and the parts left to rdflib."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, children
from kg_reasoner.sparql.evaluation.evaluate import Evaluation
from kg_reasoner.sparql.scope import expressions_of
from kg_reasoner.terms import IRI, XSD, Literal, Term

__all__ = ["PlanOperator", "QueryPlan", "plan_of", "shortener"]

_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_NUMBERS: Final = {XSD.integer.value: re.compile(r"[+-]?[0-9]+"), XSD.decimal.value: re.compile(r"[+-]?[0-9]*\.[0-9]+")}
"""The literals that SPARQL writes without quotation marks, by their datatypes."""
_NEVER: Final = re.compile(r"(?!)")
_INFIX: Final = ("=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "&&", "||")


@dataclass(frozen=True, slots=True)
class PlanOperator:
    """An operator of a plan.

    Attributes:
        name: What it does, such as ``match`` or ``left join``.
        detail: Its patterns, conditions or variables, in the syntax of SPARQL.
        estimate: The estimated number of solutions.
        rows: The number of solutions; None if it was not evaluated.
        seconds: The time it took with the operators inside; None if it was not evaluated.
        methods: How it was evaluated: ``index``, ``lookups``, ``hash join``.
        parts: The operators inside.
    """

    name: str
    detail: str
    estimate: float
    rows: int | None = None
    seconds: float | None = None
    methods: tuple[str, ...] = ()
    parts: tuple[PlanOperator, ...] = ()

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield the operator and those inside as lines of text."""
        counts = f"~{self.estimate:,.0f}" if self.rows is None else f"{self.rows:,} rows (~{self.estimate:,.0f})"
        time = "" if self.seconds is None else f", {1000 * self.seconds:.1f} ms"
        how = f" by {' and '.join(self.methods)}" if self.methods else ""
        text = f"{'  ' * depth}{self.name}{how}  {self.detail}".rstrip()
        yield f"{text}  [{counts}{time}]"
        for part in self.parts:
            yield from part.lines(depth + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the operator as data for JSON."""
        return {
            "operator": self.name,
            "detail": self.detail,
            "estimate": self.estimate,
            "rows": self.rows,
            "seconds": self.seconds,
            "methods": list(self.methods),
            "parts": [part.to_dict() for part in self.parts],
        }


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a query is evaluated; ``print(plan)`` shows it.

    Attributes:
        form: ``SELECT``, ``ASK``, ``CONSTRUCT`` or ``DESCRIBE``.
        root: The outermost operator.
        left_to_rdflib: What rdflib evaluates: functions registered with it, by their IRIs.
        seconds: The time of the evaluation; None if the query was not evaluated.
    """

    form: str
    root: PlanOperator
    left_to_rdflib: tuple[str, ...] = ()
    seconds: float | None = None

    def __str__(self) -> str:
        head = self.form if self.seconds is None else f"{self.form}  [{1000 * self.seconds:.1f} ms]"
        rest = ", ".join(self.left_to_rdflib) or "nothing"
        return "\n".join([head, *self.root.lines(1), f"left to rdflib: {rest}"])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as data for JSON."""
        return {
            "form": self.form,
            "plan": self.root.to_dict(),
            "left_to_rdflib": list(self.left_to_rdflib),
            "seconds": self.seconds,
        }


def shortener(prefixes: Mapping[str, object]) -> Callable[[Term], str]:
    """Return a function that writes terms with prefixes.

    Args:
        prefixes: Namespaces by prefix.

    >>> shorten = shortener({"ex": "http://example.org/"})
    >>> shorten(IRI("http://example.org/a")), shorten(Literal("3", XSD.integer.value))
    ('ex:a', '3')
    """
    spaces = sorted(((str(space), prefix) for prefix, space in prefixes.items() if str(space)), key=lambda pair: -len(pair[0]))

    def shorten(term: Term) -> str:
        if isinstance(term, IRI):
            for space, prefix in spaces:
                name = term.value[len(space) :]
                if term.value.startswith(space) and _NAME.fullmatch(name):
                    return f"{prefix}:{name}"
        if isinstance(term, Literal) and _NUMBERS.get(term.datatype, _NEVER).fullmatch(term.lexical):
            return term.lexical
        return str(term)

    return shorten


def plan_of(
    query: algebra.Query,
    evaluation: Evaluation,
    shorten: Callable[[Term], str] = str,
    seconds: float | None = None,
) -> QueryPlan:
    """Return the plan of a query, within a reading.

    Args:
        query: The query as it is evaluated.
        evaluation: Its evaluation, which may not have begun.
        shorten: Writes terms.
        seconds: The time of the evaluation.
    """
    writer = _Writer(shorten)
    foreign = dict.fromkeys(_foreign(query.node))
    return QueryPlan(type(query).__name__.upper(), _operator(query.node, evaluation, writer), tuple(foreign), seconds)


def _operator(node: Node, evaluation: Evaluation, writer: _Writer) -> PlanOperator:
    step = evaluation.report.of(node)
    parts = [_operator(part, evaluation, writer) for part in _ordered(node, evaluation)]
    parts += [
        PlanOperator("exists", "", evaluation.estimates.of(inner), parts=(_operator(inner, evaluation, writer),))
        for expression in expressions_of(node)
        for inner in _inner(expression)
    ]
    is_run = step.calls > 0
    return PlanOperator(
        _NAMES[type(node)],
        writer.detail(node, evaluation),
        evaluation.estimates.of(node),
        step.rows if is_run else None,
        step.seconds if is_run else None,
        tuple(step.methods),
        tuple(parts),
    )


def _ordered(node: Node, evaluation: Evaluation) -> Sequence[Node]:
    """Return the patterns inside a pattern, those of a join in the order in which they are joined."""
    if not isinstance(node, algebra.Join):
        return list(children(node))
    return evaluation.extending.order(node.parts)


def _inner(expression: Expression) -> Iterator[Node]:
    if isinstance(expression, algebra.Exists):
        yield expression.node
    elif isinstance(expression, (Call, algebra.Foreign)):
        for argument in expression.arguments:
            yield from _inner(argument)


def _foreign(node: Node) -> Iterator[str]:
    """Yield what of a pattern is left to rdflib."""
    for expression in expressions_of(node):
        yield from _functions(expression)
        for inner in _inner(expression):
            yield from _foreign(inner)
    for part in children(node):
        yield from _foreign(part)


def _functions(expression: Expression) -> Iterator[str]:
    if isinstance(expression, algebra.Foreign):
        yield f"<{expression.iri}>"
    if isinstance(expression, (Call, algebra.Foreign)):
        for argument in expression.arguments:
            yield from _functions(argument)


class _Writer:
    """Writes patterns and expressions in the syntax of SPARQL."""

    def __init__(self, shorten: Callable[[Term], str]) -> None:
        self._shorten = shorten

    def detail(self, node: Node, evaluation: Evaluation) -> str:
        """Return the text that distinguishes an operator from others of its kind."""
        if isinstance(node, algebra.Patterns):
            triples = evaluation.join_order(node)
            return self._in_graph(node.graph, " . ".join(" ".join(map(self.term, triple)) for triple in triples))
        if isinstance(node, algebra.PathPattern):
            return self._in_graph(node.graph, f"{self.term(node.start)} {self.path(node.path)} {self.term(node.end)}")
        if isinstance(node, algebra.Filter):
            return " && ".join(map(self.expression, node.conditions))
        if isinstance(node, algebra.LeftJoin):
            return "" if node.condition is None else f"if {self.expression(node.condition)}"
        if isinstance(node, algebra.Extend):
            return f"{self.term(node.variable)} := {self.expression(node.expression)}"
        if isinstance(node, algebra.Group):
            return ", ".join([*map(self.term, node.keys), *map(self._aggregate, node.aggregates)])
        if isinstance(node, algebra.OrderBy):
            return ", ".join(f"{'DESC ' if descends else ''}{self.expression(key)}" for key, descends in node.keys)
        if isinstance(node, algebra.Slice):
            return f"{node.start} to {'the end' if node.length is None else node.start + node.length}"
        if isinstance(node, (algebra.Project, algebra.Values, algebra.Service)):
            return " ".join(map(self.term, node.variables))
        if isinstance(node, algebra.Distinct):
            return "in a row" if node.is_reduced else ""
        return self.term(node.name) if isinstance(node, algebra.EachGraph) else ""

    def _in_graph(self, graph: algebra.PatternTerm | None, text: str) -> str:
        return text if graph is None else f"GRAPH {self.term(graph)} {{ {text} }}"

    def _aggregate(self, aggregation: algebra.Aggregation) -> str:
        argument = "*" if aggregation.argument is None else self.expression(aggregation.argument)
        return f"{aggregation.function}({'DISTINCT ' if aggregation.is_distinct else ''}{argument})"

    def term(self, term: algebra.PatternTerm) -> str:
        """Write a term or variable."""
        return f"?{term.name}" if isinstance(term, Variable) else self._shorten(term)

    def path(self, path: algebra.Path) -> str:
        """Write a property path."""
        if isinstance(path, IRI):
            return self._shorten(path)
        if isinstance(path, algebra.Inverse):
            return f"^{self.path(path.path)}"
        if isinstance(path, algebra.Repeat):
            return f"{self.path(path.path)}{'?' if not path.is_endless else '+' if path.least else '*'}"
        if isinstance(path, algebra.Negated):
            parts = [*map(self._shorten, path.forwards), *(f"^{self._shorten(each)}" for each in path.backwards)]
            return f"!({'|'.join(parts)})"
        return f"({('/' if isinstance(path, algebra.Sequence) else '|').join(map(self.path, path.paths))})"

    def expression(self, expression: Expression) -> str:
        """Write an expression."""
        if isinstance(expression, algebra.Exists):
            return "EXISTS { ... }"
        if isinstance(expression, algebra.Foreign):
            return f"<{expression.iri}>({', '.join(map(self.expression, expression.arguments))})"
        if not isinstance(expression, Call):
            return self.term(expression)
        arguments = list(map(self.expression, expression.arguments))
        if expression.name in _INFIX and len(arguments) > 1:
            return f"({f' {expression.name} '.join(arguments)})"
        if expression.name in ("IN", "NOT IN"):
            return f"{arguments[0]} {expression.name} ({', '.join(arguments[1:])})"
        return f"{'-' if expression.name == 'neg' else expression.name}({', '.join(arguments)})"


_NAMES: Final[dict[type, str]] = {
    algebra.Patterns: "match",
    algebra.PathPattern: "follow path",
    algebra.Join: "join",
    algebra.LeftJoin: "left join",
    algebra.Minus: "minus",
    algebra.Union: "union",
    algebra.Filter: "filter",
    algebra.Extend: "extend",
    algebra.Values: "values",
    algebra.EachGraph: "in each graph",
    algebra.Service: "service",
    algebra.Group: "group",
    algebra.OrderBy: "order",
    algebra.Project: "project",
    algebra.Distinct: "distinct",
    algebra.Slice: "slice",
}
