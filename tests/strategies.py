"""Hypothesis strategies: small random programs and facts, general and over triples."""

from __future__ import annotations

from hypothesis import strategies as st

from kg_reasoner.program import TRIPLE, Atom, BodyLiteral, Call, Filter, Negation, Program, Rule, Variable, variables_of
from kg_reasoner.terms import IRI, RDF, Term, literal

CONSTANTS: list[Term] = [literal(n) for n in range(5)]
VARIABLES = [Variable(name) for name in "xyzw"]
PREDICATES = {"e": 1, "p": 2, "q": 2, "r": 3, "s": 4, "t": 5, "u": 0}
NODES: list[Term] = [IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "d")]
PROPERTIES: list[Term] = [IRI("http://example.org/p"), IRI("http://example.org/q"), RDF.type]


def arguments(constants: list[Term] = CONSTANTS) -> st.SearchStrategy[Variable | Term]:
    return st.one_of(st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(constants))


@st.composite
def atoms(draw: st.DrawFn) -> Atom:
    predicate = draw(st.sampled_from(sorted(PREDICATES)))
    return Atom(predicate, tuple(draw(arguments()) for _ in range(PREDICATES[predicate])))


@st.composite
def triple_atoms(draw: st.DrawFn, variable_predicates: bool = True) -> Atom:
    property = draw(st.sampled_from(PROPERTIES))
    if variable_predicates and draw(st.integers(0, 4)) == 0:
        property = draw(st.sampled_from(VARIABLES))
    value = draw(arguments(NODES))
    if property == RDF.type and not variable_predicates:
        value = draw(st.sampled_from(NODES))
    return Atom(TRIPLE, (draw(arguments(NODES)), property, value))


@st.composite
def rules(draw: st.DrawFn, atom: st.SearchStrategy[Atom], constants: list[Term], negation: bool = False) -> Rule:
    body: list[BodyLiteral] = draw(st.lists(atom, min_size=1, max_size=3))
    bound = sorted({v for part in body for v in variables_of(part)}, key=str)
    head = draw(atom)
    terms = tuple(
        term if not isinstance(term, Variable) or term in bound else draw(st.sampled_from(bound or constants))
        for term in head.terms
    )
    if negation and draw(st.booleans()):
        negated = draw(atom)
        others = st.sampled_from([*bound, Variable("free")] if bound else constants)
        body = [
            *body,
            Negation(Atom(negated.predicate, tuple(draw(others) if isinstance(t, Variable) else t for t in negated.terms))),
        ]
    if bound and draw(st.integers(0, 3)) == 0:
        operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
        left, right = draw(st.sampled_from(bound)), draw(st.sampled_from([*bound, *constants]))
        body = [*body, Filter(Call(operator, (left, right)))]
    return Rule(Atom(head.predicate, terms), tuple(draw(st.permutations(body))))


@st.composite
def programs(draw: st.DrawFn, negation: bool = True) -> Program:
    """A general program over `PREDICATES`. It may be impossible to stratify."""
    return Program(tuple(draw(st.lists(rules(atoms(), CONSTANTS, negation), min_size=1, max_size=6))))


@st.composite
def triple_programs(draw: st.DrawFn, variable_predicates: bool = True) -> Program:
    """A positive program over triples."""
    return Program(tuple(draw(st.lists(rules(triple_atoms(variable_predicates), NODES), min_size=1, max_size=5))))


@st.composite
def facts(draw: st.DrawFn) -> dict[str, set[tuple[Term, ...]]]:
    """Facts of `PREDICATES`."""
    found: dict[str, set[tuple[Term, ...]]] = {}
    for _ in range(draw(st.integers(0, 12))):
        predicate = draw(st.sampled_from(sorted(PREDICATES)))
        row = tuple(draw(st.sampled_from(CONSTANTS)) for _ in range(PREDICATES[predicate]))
        found.setdefault(predicate, set()).add(row)
    return found


def triples() -> st.SearchStrategy[set[tuple[Term, ...]]]:
    """Triples over `NODES` and `PROPERTIES`."""
    return st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from(NODES)), max_size=12)
