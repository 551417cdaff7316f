"""Hypothesis strategies: small random programs, facts and transactions, general and over triples.

What is generated can always be materialised. BIND may make new constants, so where its results can come back to it, they are taken
from a few (`BOUNDED`); expressions without bound (`ANY`) only stand in rules whose heads no body uses (`SINKS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from kg_reasoner.language.parser import parse
from kg_reasoner.program import (
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    variables_of,
)
from kg_reasoner.terms import IRI, RDF, XSD, Literal, Term, literal

Fact = tuple[str, tuple[Term, ...]]
Facts = dict[str, set[tuple[Term, ...]]]

CONSTANTS: list[Term] = [literal(n) for n in range(5)]
VALUES: list[Term] = [*CONSTANTS, Literal("01", XSD.integer.value), Literal("1.5", XSD.decimal.value), literal("a")]
VARIABLES = [Variable(name) for name in "xyzw"]
RESULTS = [Variable(name) for name in ("b", "n", "m")]
FIVE = [*VARIABLES, Variable("k")]
PREDICATES = {"e": 1, "p": 2, "q": 2, "r": 3, "s": 4, "t": 5, "u": 0}
SINKS = {"v": 1, "o": 2}
NODES: list[Term] = [IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "d")]
PROPERTIES: list[Term] = [IRI("http://example.org/p"), IRI("http://example.org/q"), RDF.type]

CYCLIC = parse("""
    c0(?x) :- a(?x) .
    c0(?x) :- b(?x) .
    c1(?x) :- c0(?x) .
    c2(?x) :- c1(?x) .
    c3(?x) :- c2(?x) .
    c0(?x) :- c3(?x) .
""")
"""The example of Motik, Nenov, Piro and Horrocks (2015) for which DRed deletes all facts only to prove them again."""


def expressions(text: str) -> list[Expression]:
    """The expressions of a text, one per line."""
    program = parse("".join(f"h() :- FILTER({line}) .\n" for line in text.strip().splitlines()))
    return [part.expression for rule in program.rules for part in rule.body if isinstance(part, Filter)]


BOUNDED = expressions("""
    IF(ABS(?x) < 4, ?x + 1, 0)
    IF(?x > ?y, ?x, ?y)
    IF(ABS(?x + ?y) <= 4, xsd:integer(?x + ?y), 0)
    xsd:integer(?x / 2)
    COALESCE(xsd:integer(?x), ?y)
    ?x * 0
    STR(?x)
    STRLEN(STR(?x))
    SUBSTR(STR(?x), 1, 1)
    ?x = ?y
    ?x < ?y || ?y = 2
    isNUMERIC(?x)
""")
"""Expressions of few values, even when they are applied to their own results again and again."""

ANY = BOUNDED + expressions("""
    ?x + ?y
    ?x - ?y * 2
    ?x / ?y
    -?x
    ROUND(?x / 3)
    xsd:double(?x) * 0.1e0
    CONCAT(STR(?x), "-", STR(?y))
    IRI(CONCAT("http://example.org/", STR(?x)))
    DATATYPE(?x)
""")

CONDITIONS = expressions("""
    ?x
    !(?x < ?y)
    ?x + ?y > 3
    ?x = 1 || ?y > 2
    ?x * 2 < ?y + 1 && ?x != ?y
    ?x / ?y > 0 || ?y = 0
    ?x IN (0, 2, ?y)
    ?x NOT IN (1, ?y + 1)
    IF(?x = 0, ?y > 0, ?x > 1)
    REGEX(STR(?x), "[13]")
    sameTerm(?x, ?y) || isNUMERIC(?x)
""")


# ------------------------------------------------------------------------------------------------------------- parts of rules


def arguments(constants: list[Term] = CONSTANTS) -> st.SearchStrategy[Variable | Term]:
    return st.one_of(st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(constants))


def some_of(predicates: Mapping[str, int]) -> st.SearchStrategy[str]:
    """One of the predicates, more often one of two or three arguments: their atoms match more facts."""
    return st.sampled_from([name for name in sorted(predicates) for _ in range({2: 4, 3: 2}.get(predicates[name], 1))])


@st.composite
def atoms(draw: st.DrawFn, predicates: Mapping[str, int] = PREDICATES) -> Atom:
    predicate = draw(some_of(predicates))
    return Atom(predicate, tuple(draw(arguments()) for _ in range(predicates[predicate])))


@st.composite
def matching_atoms(draw: st.DrawFn, predicates: Mapping[str, int]) -> Atom:
    """Atoms that mostly match something: three in four have different variables only, the others are as `atoms`."""
    if draw(st.integers(0, 3)) == 0:
        return draw(atoms(predicates))
    predicate = draw(some_of(predicates))
    start, step = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    return Atom(predicate, tuple(FIVE[(start + step * place) % 5] for place in range(predicates[predicate])))


@st.composite
def triple_atoms(draw: st.DrawFn, variable_predicates: bool = True) -> Atom:
    property: Variable | Term = draw(st.sampled_from(PROPERTIES))
    if variable_predicates and draw(st.integers(0, 4)) == 0:
        property = draw(st.sampled_from(VARIABLES))
    value = draw(arguments(NODES))
    if property == RDF.type and not variable_predicates:
        value = draw(st.sampled_from(NODES))
    return Atom(TRIPLE, (draw(arguments(NODES)), property, value))


@st.composite
def negations(draw: st.DrawFn, atom: st.SearchStrategy[Atom], bound: Sequence[Variable], constants: list[Term]) -> Negation:
    """A negated atom; its variables are bound, or the one that occurs nowhere else."""
    negated = draw(atom)
    others = st.sampled_from([*bound, Variable("free")] if bound else constants)
    return Negation(Atom(negated.predicate, tuple(draw(others) if isinstance(t, Variable) else t for t in negated.terms)))


@st.composite
def comparisons(draw: st.DrawFn, bound: Sequence[Variable], constants: list[Term]) -> Filter:
    operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    left, right = draw(st.sampled_from(bound)), draw(st.sampled_from([*bound, *constants]))
    return Filter(Call(operator, (left, right)))


@st.composite
def instantiated(draw: st.DrawFn, templates: list[Expression], bound: Sequence[Variable]) -> Expression:
    """One of the templates, with bound variables for ?x and ?y."""
    template = draw(st.sampled_from(templates))
    return _replaced(template, {name: draw(st.sampled_from(bound)) for name in ("x", "y")})


def _replaced(expression: Expression, values: Mapping[str, Variable]) -> Expression:
    if isinstance(expression, Variable):
        return values[expression.name]
    if isinstance(expression, Call):
        return Call(expression.name, tuple(_replaced(argument, values) for argument in expression.arguments))
    return expression


@st.composite
def aggregates(draw: st.DrawFn, atom: st.SearchStrategy[Atom], constants: list[Term], negation: bool, functions: bool) -> Aggregate:
    """An aggregate over one or two atoms, with up to two variables to group by and one or two results.

    A result is mostly a variable of its own; or one of `VARIABLES`, which may be bound elsewhere.
    """
    atoms: list[BodyLiteral] = draw(st.lists(atom, min_size=1, max_size=2))
    body, inner = atoms, variables_in(atoms)
    if negation and draw(st.integers(0, 3)) == 0:
        body = [*body, draw(negations(atom, inner, constants))]
    if inner and draw(st.integers(0, 3)) == 0:
        body = [*body, draw(filters(inner, constants, functions))]
    group = draw(st.lists(st.sampled_from(inner), max_size=2, unique=True)) if inner else []
    bindings = []
    for name in draw(st.sampled_from([["n"], ["n"], ["n", "m"]])):
        variable = draw(st.sampled_from([Variable(name), Variable(name), Variable(name), *VARIABLES[:1]]))
        bindings.append(draw(aggregated(inner, variable, functions)))
    return Aggregate(tuple(draw(st.permutations(body))), tuple(group), tuple(bindings))


@st.composite
def aggregated(draw: st.DrawFn, inner: Sequence[Variable], variable: Variable, functions: bool) -> AggregateBinding:
    """``COUNT(DISTINCT ?x) AS ?n``, and so on."""
    function = draw(st.sampled_from(["COUNT", "SUM", "MIN", "MAX", "AVG"]))
    distinct = draw(st.booleans())
    if not inner or (function == "COUNT" and draw(st.booleans())):
        return AggregateBinding("COUNT", None, variable, distinct)
    argument: Expression = draw(st.sampled_from(inner))
    if functions and draw(st.integers(0, 3)) == 0:
        argument = draw(instantiated(ANY, inner))
    return AggregateBinding(function, argument, variable, distinct)


def filters(bound: Sequence[Variable], constants: list[Term], functions: bool) -> st.SearchStrategy[Filter]:
    simple = comparisons(bound, constants)
    return st.one_of(simple, instantiated(CONDITIONS, bound).map(Filter)) if functions else simple


def variables_in(body: Sequence[BodyLiteral]) -> list[Variable]:
    return sorted({v for part in body for v in variables_of(part)}, key=str)


# ----------------------------------------------------------------------------------------------------------- rules and programs


@st.composite
def rules(
    draw: st.DrawFn,
    atom: st.SearchStrategy[Atom],
    constants: list[Term],
    negation: bool = False,
    functions: bool = False,
    aggregation: bool = False,
    lower: st.SearchStrategy[Atom] | None = None,
    heads: st.SearchStrategy[Atom] | None = None,
) -> Rule:
    """A rule with atoms such as `atom`; `lower` are those that it negates and aggregates, `heads` its heads, where they differ."""
    lower = atom if lower is None else lower
    body: list[BodyLiteral] = []
    if aggregation and draw(st.booleans()):
        body = [draw(aggregates(lower, constants, negation, functions))]
    body = [*draw(st.lists(atom, min_size=0 if body else 1, max_size=2 if body else 3)), *body]
    bound = variables_in(body)
    head = draw(atom if heads is None else heads)
    if functions and bound and draw(st.booleans()):
        variable = draw(st.sampled_from([*[Variable("b")] * 6, *VARIABLES]))
        body = [*body, Bind(draw(instantiated(ANY if head.predicate in SINKS else BOUNDED, bound)), variable)]
        bound = variables_in(body)
    terms = tuple(
        term if not isinstance(term, Variable) or term in bound else draw(st.sampled_from(bound or constants))
        for term in head.terms
    )
    results = [variable for variable in bound if variable in RESULTS]
    if results:
        terms = tuple(draw(st.sampled_from([term, term, *results])) for term in terms)
    if negation and draw(st.booleans()):
        body = [*body, draw(negations(lower, bound, constants))]
    if bound and draw(st.integers(0, 3)) == 0:
        body = [*body, draw(filters(bound, constants, functions))]
    return Rule(Atom(head.predicate, terms), tuple(draw(st.permutations(body))))


@st.composite
def programs(draw: st.DrawFn, negation: bool = True, functions: bool = False, aggregates: bool = False) -> Program:
    """A general program over `PREDICATES`.

    With functions or aggregates, its rules are as `layered_rules`. Else it may be impossible to stratify.
    """
    if functions or aggregates:
        drawn = draw(layered_rules(negation, functions, aggregates, max_size=6))
    else:
        drawn = draw(st.lists(rules(atoms(), CONSTANTS, negation), min_size=1, max_size=6))
    return Program(tuple(drawn))


@st.composite
def layered_rules(
    draw: st.DrawFn, negation: bool, functions: bool, aggregates: bool, min_size: int = 1, max_size: int = 6
) -> list[Rule]:
    """Rules over `PREDICATES` that can be stratified: each predicate has a layer, and a rule negates and aggregates layers below.

    With functions, some heads are `SINKS`.
    """
    layers = {predicate: draw(st.integers(0, 2)) for predicate in sorted(PREDICATES)}
    found = []
    for _ in range(draw(st.integers(min_size, max_size))):
        head = draw(some_of({**PREDICATES, **SINKS} if functions else PREDICATES))
        top = layers.get(head, 3)
        body = {predicate: arity for predicate, arity in PREDICATES.items() if layers[predicate] <= top}
        below = {predicate: arity for predicate, arity in PREDICATES.items() if layers[predicate] < top}
        found.append(
            draw(
                rules(
                    matching_atoms(body),
                    CONSTANTS,
                    negation and bool(below),
                    functions,
                    aggregates and bool(below),
                    matching_atoms(below),
                    matching_atoms({head: {**PREDICATES, **SINKS}[head]}),
                )
            )
        )
    return found


@st.composite
def triple_programs(draw: st.DrawFn, variable_predicates: bool = True) -> Program:
    """A positive program over triples."""
    return Program(tuple(draw(st.lists(rules(triple_atoms(variable_predicates), NODES), min_size=1, max_size=5))))


# ------------------------------------------------------------------------------------------------------- facts and transactions


@st.composite
def fact(draw: st.DrawFn, constants: list[Term] = CONSTANTS) -> Fact:
    """A fact of one of `PREDICATES`."""
    predicate = draw(some_of(PREDICATES))
    return predicate, tuple(draw(st.sampled_from(constants)) for _ in range(PREDICATES[predicate]))


def by_predicate(found: Sequence[Fact]) -> Facts:
    result: Facts = {}
    for predicate, row in found:
        result.setdefault(predicate, set()).add(row)
    return result


def facts(constants: list[Term] = CONSTANTS) -> st.SearchStrategy[Facts]:
    """Facts of `PREDICATES`."""
    return st.lists(fact(constants), max_size=12).map(by_predicate)


def triples() -> st.SearchStrategy[set[tuple[Term, ...]]]:
    """Triples over `NODES` and `PROPERTIES`."""
    return st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from(NODES)), max_size=12)


@dataclass(frozen=True)
class Transaction:
    """Removals, then additions: what is in both is there afterwards."""

    removed: Facts
    removed_rules: tuple[Rule, ...]
    added: Facts
    added_rules: tuple[Rule, ...]

    def after(self, rules: Sequence[Rule], facts: Facts) -> tuple[tuple[Rule, ...], Facts]:
        """The rules and the explicit facts afterwards."""
        left = [rule for rule in rules if rule not in self.removed_rules]
        kept = {predicate: rows - self.removed.get(predicate, set()) for predicate, rows in facts.items()}
        for predicate, rows in self.added.items():
            kept[predicate] = kept.get(predicate, set()) | rows
        return tuple(dict.fromkeys((*left, *self.added_rules))), {predicate: rows for predicate, rows in kept.items() if rows}


@dataclass(frozen=True)
class World:
    """What the transactions of one run are drawn from, so that they come back to it: rules that can be stratified, and facts."""

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]


@st.composite
def worlds(draw: st.DrawFn, negation: bool = True, functions: bool = False, aggregates: bool = False) -> World:
    """Up to eight rules, and facts of few constants. With functions or aggregates, some are no integers."""
    constants = CONSTANTS[:3] * 3
    if functions or aggregates:
        constants += VALUES[len(CONSTANTS) :]
    drawn = draw(layered_rules(negation, functions, aggregates, min_size=3, max_size=8))
    return World(tuple(dict.fromkeys(drawn)), tuple(draw(st.lists(fact(constants), min_size=15, max_size=30))))


def of(predicate: str, *terms: st.SearchStrategy[Argument]) -> st.SearchStrategy[Atom]:
    """Atoms of a predicate with such terms."""
    return st.tuples(*terms).map(lambda found: Atom(predicate, found))


def kinds(node: st.SearchStrategy[Argument]) -> list[st.SearchStrategy[Atom]]:
    """Atoms about nodes: of two predicates, and triples of each property."""
    return [of("e", node), of("p", node, node), *(of(TRIPLE, node, st.just(property), node) for property in PROPERTIES)]


@st.composite
def triple_worlds(draw: st.DrawFn) -> World:
    """Up to eight rules about nodes, and facts: triples, too, of which one table may have several strata."""
    atoms = kinds(arguments(NODES[:3]))
    layers = [draw(st.integers(0, 2)) for _ in atoms]
    found = []
    for head in draw(st.lists(st.integers(0, len(atoms) - 1), min_size=3, max_size=8)):
        body = [atom for atom, layer in zip(atoms, layers, strict=True) if layer <= layers[head]]
        below = [atom for atom, layer in zip(atoms, layers, strict=True) if layer < layers[head]]
        found.append(draw(rules(st.one_of(body), NODES[:3], bool(below), lower=st.one_of(below), heads=atoms[head])))
    facts = draw(st.lists(st.one_of(kinds(st.sampled_from(NODES[:3]))), min_size=15, max_size=30))
    return World(tuple(dict.fromkeys(found)), tuple((atom.predicate, atom.terms) for atom in facts))  # type: ignore[misc]


def transactions(world: World) -> st.SearchStrategy[Transaction]:
    """A transaction over a world: mostly of facts, in every other of rules, too. It may remove what is not there."""
    some_facts = st.lists(st.sampled_from(world.facts), max_size=6).map(by_predicate)
    some_rules = st.one_of(st.just(()), st.lists(st.sampled_from(world.rules), max_size=2, unique=True).map(tuple))
    return st.builds(Transaction, some_facts, some_rules, some_facts, some_rules)


@st.composite
def histories(
    draw: st.DrawFn, negation: bool = True, functions: bool = False, aggregates: bool = False, length: int = 10
) -> list[Transaction]:
    """Transactions from an empty start, at most `length`; the first one adds most of a world's rules and facts."""
    world = draw(worlds(negation, functions, aggregates))
    first_facts = by_predicate([some for some in world.facts if draw(st.integers(0, 3))])
    first = Transaction({}, (), first_facts, tuple(rule for rule in world.rules if draw(st.integers(0, 3))))
    return [first, *draw(st.lists(transactions(world), min_size=length // 2, max_size=length - 1))]
