"""The evaluation of queries: groups as section 18.2.2 translates them, and operators as section 18.5 evaluates them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kg_reasoner.terms import IRI, BlankNode, Literal, Term, Triple

from . import ast
from .dataset import Dataset
from .expressions import Scope, holds, value_or_none
from .modifiers import Answers, modified
from .notes import CUT, GRAPH_VARIABLE, LENGTH_ZERO, NO_TRIPLE, OUTSIDE_BIND, OUTSIDE_MINUS, OUTSIDE_SUBSELECT, REDUCED, TWO_WAYS
from .paths import Graph, triple_solutions
from .solutions import Solution, Solutions, are_compatible, distinct, join, left_join, minus, without
from .walk import parts, variables


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a query.

    Attributes:
        result: Answers of a SELECT, a bool of an ASK, triples of a CONSTRUCT.
        notes: What the specification leaves open, or is known to be understood differently, where it may change the result.
    """

    result: Answers | bool | frozenset[Triple]
    notes: frozenset[str]


def evaluate(query: ast.Query, dataset: Dataset) -> Outcome:
    """Evaluate a query."""
    evaluation = _Evaluation(dataset)
    if isinstance(query, ast.Select):
        answers = evaluation.select(query, dataset.default, {})
        return Outcome(answers, frozenset(evaluation.notes))
    rows = evaluation.rows(ast.Select(None, query.where, query.modifiers), dataset.default, {})
    if isinstance(query, ast.Ask):
        return Outcome(bool(rows), frozenset(evaluation.notes))
    return Outcome(frozenset(_constructed(query.template, rows)), frozenset(evaluation.notes))


def _constructed(template: tuple[ast.Triple, ...], rows: Solutions) -> list[Triple]:
    triples: list[Triple] = []
    for number, row in enumerate(rows):
        for triple in template:
            terms: list[Term | None] = []
            for part in (triple.subject, triple.predicate, triple.object):
                if isinstance(part, ast.Var):
                    terms.append(row.get(part.name))
                elif isinstance(part, BlankNode):
                    terms.append(BlankNode(f"row{number}.{part.label}"))
                else:
                    assert isinstance(part, IRI | Literal), "a template has no paths"
                    terms.append(part)
            subject, predicate, object_ = terms
            if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object_ is not None:
                triples.append((subject, predicate, object_))
    return triples


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The evaluation of one query.

    The methods take the active graph and an `outside`: the bindings that EXISTS substitutes for variables in its group.
    """

    dataset: Dataset
    notes: set[str] = field(default_factory=set)

    def scope(self, graph: Graph, outside: Solution, solution: Solution, members: Solutions | None = None) -> Scope:
        return Scope(
            {**outside, **solution},
            lambda group, bindings: bool(self.group(group, graph, {**outside, **bindings})),
            members,
            self.notes,
        )

    def group(self, group: ast.Group, graph: Graph, outside: Solution) -> Solutions:
        """The solutions of a group: its elements are joined from left to right, its filters see all of it."""
        return self.filtered(self.unfiltered(group, graph, outside), group, graph, outside)

    def filtered(self, solutions: Solutions, group: ast.Group, graph: Graph, outside: Solution) -> Solutions:
        return [solution for solution in solutions if self.passes(solution, group, graph, outside)]

    def passes(self, solution: Solution, group: ast.Group, graph: Graph, outside: Solution) -> bool:
        """Whether a solution passes the filters of a group, not those of groups in it."""
        filters = [element for element in group.elements if isinstance(element, ast.Filter)]
        return all(holds(element.condition, self.scope(graph, outside, solution)) for element in filters)

    def unfiltered(self, group: ast.Group, graph: Graph, outside: Solution) -> Solutions:
        solutions: Solutions = [{}]
        for element in group.elements:
            match element:
                case ast.Filter():
                    pass
                case ast.Optional(inner):
                    # The filters of the optional group are the condition of LeftJoin: they see both sides.
                    solutions = left_join(
                        solutions,
                        self.unfiltered(inner, graph, outside),
                        lambda merged, inner=inner: self.passes(merged, inner, graph, outside),  # type: ignore[misc]
                    )
                case ast.Minus(inner):
                    self.note_outside(OUTSIDE_MINUS, inner, outside)
                    solutions = minus(solutions, self.group(inner, graph, outside))
                case ast.Bind(expression, ast.Var(name)):
                    solutions = [
                        _extended(solution, name, value_or_none(expression, self.scope(graph, outside, solution)))
                        for solution in solutions
                    ]
                    solutions = self.agreeing(solutions, name, outside)
                case _:
                    solutions = join(solutions, self.element(element, graph, outside))
        return solutions

    def element(self, element: ast.Element, graph: Graph, outside: Solution) -> Solutions:
        """The solutions of an element that is joined with those before it."""
        match element:
            case ast.Triple(subject, predicate, object_):
                link = _substituted(predicate, outside) if isinstance(predicate, ast.Var) else predicate
                ends = _substituted(subject, outside), _substituted(object_, outside)
                found = triple_solutions(ends[0], link, ends[1], graph)
                self.note_path(predicate, ends, graph, found)
                return found
            case ast.Union(groups):
                return [solution for group in groups for solution in self.group(group, graph, outside)]
            case ast.Values(names, rows):
                solutions: Solutions = [
                    {variable.name: term for variable, term in zip(names, row, strict=True) if term is not None} for row in rows
                ]
                for variable in names:
                    solutions = self.agreeing(solutions, variable.name, outside)
                return solutions
            case ast.GraphPattern(name, group):
                return self.graph_pattern(_substituted(name, outside), group, outside)
            case ast.SubSelect(select):
                self.note_outside(OUTSIDE_SUBSELECT, select, outside)
                seen = variables(select.where if select.items is None else select.items)
                return self.rows(select, graph, {name: term for name, term in outside.items() if name in seen})
            case ast.Group():
                return self.group(element, graph, outside)
            case _:
                raise TypeError(element)

    def graph_pattern(self, name: ast.Var | Term, group: ast.Group, outside: Solution) -> Solutions:
        if self.group(group, frozenset(), outside):
            self.notes.add(NO_TRIPLE)
        if isinstance(name, ast.Var):
            if name.name in variables(tuple(element for element in group.elements if not isinstance(element, ast.Triple))):
                self.notes.add(GRAPH_VARIABLE)
            return [
                solution
                for iri, graph in self.dataset.named.items()
                for solution in join(self.group(group, graph, outside), [{name.name: iri}])
            ]
        graph = self.dataset.named.get(name) if isinstance(name, IRI) else None
        return [] if graph is None else self.group(group, graph, outside)

    def agreeing(self, solutions: Solutions, name: str, outside: Solution) -> Solutions:
        """The solutions in which a variable has the value from the outside, without it."""
        if name not in outside:
            return solutions
        self.notes.add(OUTSIDE_BIND)
        return without([solution for solution in solutions if are_compatible({name: outside[name]}, solution)], name)

    def note_path(self, path: ast.Var | ast.Path, ends: tuple[ast.Var | Term, ...], graph: Graph, found: Solutions) -> None:
        nodes = {term for fact in graph for term in (fact[0], fact[2])}
        has_length_zero = any(isinstance(part, ast.Repeated) and part.how != "+" for part in parts(path))
        if has_length_zero and any(not isinstance(end, ast.Var) and end not in nodes for end in ends):
            self.notes.add(LENGTH_ZERO)
        if any(isinstance(part, ast.Alternative | ast.Negated) for part in parts(path)) and len(distinct(found)) < len(found):
            self.notes.add(TWO_WAYS)

    def note_outside(self, note: str, node: object, outside: Solution) -> None:
        if variables(node) & outside.keys():
            self.notes.add(note)

    def rows(self, select: ast.Select, graph: Graph, outside: Solution) -> Solutions:
        """The solutions of a SELECT as a part of something larger."""
        answers = self.select(select, graph, outside)
        if answers.is_open:
            self.notes.add(CUT)
        if answers.is_reduced and len(answers.rows) > 1:
            self.notes.add(REDUCED)
        return answers.rows

    def select(self, select: ast.Select, graph: Graph, outside: Solution) -> Answers:
        solutions = self.group(select.where, graph, outside)
        named = [{name: term for name, term in solution.items() if not name.startswith("_:")} for solution in solutions]
        return modified(select, named, lambda solution, members: self.scope(graph, outside, solution, members))


def _substituted(part: ast.Var | Term, outside: Solution) -> ast.Var | Term:
    """A part of a pattern with the bindings from the outside of EXISTS; blank nodes become variables."""
    if isinstance(part, BlankNode):
        return ast.Var(str(part))
    return outside.get(part.name, part) if isinstance(part, ast.Var) else part


def _extended(solution: Solution, name: str, term: Term | None) -> Solution:
    return solution if term is None else {**solution, name: term}
