"""Explanations: proofs against a checker and against brute force, why-not against brute force, and every form of both."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import rdflib
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import lubm
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.engine.equality.rewritten_rules import axioms as equality_axioms
from kg_reasoner.errors import ArityError, LoadError, NoProofError, ReasonerError, UnsupportedError
from kg_reasoner.explain import Group, Miss, Proof, Step, WhyNot
from kg_reasoner.explain.missing import in_order
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.program import FALSE, TRIPLE, Aggregate, Atom, Bind, Call, Filter, Negation, Program, Rule, Variable
from kg_reasoner.rdflib_store import KGReasonerStore
from kg_reasoner.terms import IRI, OWL, RDF, BlankNode, Literal, Term, literal
from tests.helpers.effort import by_effort, examples
from tests.helpers.oracle import (
    Binding,
    Facts,
    Row,
    Store,
    bound,
    evaluate,
    ground,
    groups,
    holds,
    instances,
    joined,
    match,
    matches,
    passes,
    value_of,
)
from tests.helpers.proof_checker import ProofError, check, check_group, replaced
from tests.helpers.reasoners import reasoner_with, stratifiable
from tests.helpers.strategies import CONSTANTS, NODES, PREDICATES, PROPERTIES, SINKS, facts, programs, triple_programs, triples

EXAMPLES = settings(max_examples=examples(60))
EX = "http://example.org/"


def ex(name: str) -> IRI:
    return IRI(EX + name)


# --------------------------------------------------------------------------------------------- brute force, with the oracle


PATIENCE = 5_000
"""The choices that brute force tries for a fact."""


class TooManyError(Exception):
    """Brute force would take too long."""


class BruteForce:
    """A program's materialisation, with the smallest height of every fact, and the size of the smallest of its lowest proofs."""

    def __init__(self, program: Program, explicit: Facts) -> None:
        self.rules = [rule for rule in program.rules if rule.body]
        self.everything = Store(evaluate(program, explicit))
        self.given = {Atom(predicate, row) for predicate, rows in explicit.items() for row in rows}
        self.given |= {rule.head for rule in program.rules if not rule.body}
        self.instances: dict[Atom, list[tuple[Rule, tuple[Atom, ...]]]] = {}
        for rule in self.rules:
            for binding in instances(rule, self.everything, self.everything):
                premises = tuple(grounded(atom, binding) for atom in rule.body_atoms())
                self.instances.setdefault(grounded(rule.head, binding), []).append((rule, premises))
        self.heights = dict.fromkeys(self.given, 0)
        self.sizes = dict.fromkeys(self.given, 1)
        self._patience = PATIENCE
        for height in itertools.count(1):
            new = {}
            for fact, derivations in self.instances.items():
                if fact not in self.heights:
                    known = [
                        1 + sum(self.sizes[premise] for premise in premises) + number_of_aggregates(rule)
                        for rule, premises in derivations
                        if all(premise in self.heights for premise in premises)
                    ]
                    if known:
                        new[fact] = min(known)
            if not new:
                break
            self.heights.update(dict.fromkeys(new, height))
            self.sizes.update(new)

    def proofs(self, goal: Atom, most: int) -> list[dict[Atom, tuple[Rule, tuple[Atom, ...]]]] | None:
        """All ways to choose one instance for the goal and for every fact below it that is not given, without a cycle; None if
        there are more than `most`, or too many choices that end in cycles.
        """
        self._patience = PATIENCE
        try:
            found = list(itertools.islice(self._extended({}, goal, goal), most + 1))
        except TooManyError:
            return None
        return found if len(found) <= most else None

    def _extended(
        self, choice: dict[Atom, tuple[Rule, tuple[Atom, ...]]], goal: Atom, fact: Atom
    ) -> Iterator[dict[Atom, tuple[Rule, tuple[Atom, ...]]]]:
        for instance in self.instances.get(fact, []):
            self._patience -= 1
            if not self._patience:
                raise TooManyError
            extended = {**choice, fact: instance}
            if is_cyclic(extended):
                continue
            below = [premise for _, premises in extended.values() for premise in premises]
            following = next((f for f in below if f not in extended and (f not in self.given or f == goal)), None)
            if following is None:
                yield extended
            else:
                yield from self._extended(extended, goal, following)


def is_cyclic(choice: dict[Atom, tuple[Rule, tuple[Atom, ...]]]) -> bool:
    """Whether some fact rests on itself."""
    left = dict(choice)
    while left:
        done = [fact for fact, (_, premises) in left.items() if not any(premise in left for premise in premises)]
        if not done:
            return True
        for fact in done:
            del left[fact]
    return False


def grounded(atom: Atom, binding: Binding) -> Atom:
    return Atom(atom.predicate, tuple(ground(term, binding) for term in atom.terms))


def number_of_aggregates(rule: Rule) -> int:
    return sum(isinstance(part, Aggregate) for part in rule.body)


def size(proof: Proof) -> int:
    """The facts and groups of a proof, counted as often as they are used; what groups rest on is not."""
    sizes: list[int] = []
    for step in proof.steps:
        below = 0 if isinstance(step.statement, Group) else sum(sizes[premise] for premise in step.premises)
        sizes.append(int(isinstance(step.statement, Atom | Group)) + below)
    return sizes[-1]


def main_steps(proof: Proof) -> list[Step]:
    """The steps of a proof but for those that only groups rest on."""
    wanted = {len(proof.steps) - 1}
    for number in range(len(proof.steps) - 1, -1, -1):
        if number in wanted and not isinstance(proof.steps[number].statement, Group):
            wanted.update(proof.steps[number].premises)
    return [proof.steps[number] for number in sorted(wanted)]


def choice_of(proof: Proof) -> frozenset[object]:
    """What makes a proof: the rule and the premises of each derived fact."""
    atoms = [step.statement for step in proof.steps]
    return frozenset(
        (step.statement, step.rule, tuple(atoms[n] for n in step.premises if isinstance(atoms[n], Atom)))
        for step in main_steps(proof)
        if step.rule is not None
    )


def check_everything(reasoner: Reasoner, program: Program, explicit: Facts) -> None:
    """Every fact has the shortest proof, and one that is found with little effort, and the checker accepts both."""
    expected = BruteForce(program, explicit)
    for predicate, rows in expected.everything.facts.items():
        for row in rows:
            fact = Atom(predicate, row)
            proof = reasoner.explain(fact)
            check(proof, fact, program.rules, explicit, expected.everything)
            assert proof.shortest
            assert (proof.height, size(proof)) == (expected.heights[fact], expected.sizes[fact])
            quick = reasoner.explain(fact, effort=0)
            check(quick, fact, program.rules, explicit, expected.everything)
            assert not quick.shortest or size(quick) == size(proof)


# ------------------------------------------------------------------------------------------------------- shortest proofs


@EXAMPLES
@given(programs(), facts(), facts(), facts())
def test_general_programs(program: Program, first: Facts, added: Facts, removed: Facts) -> None:
    """After additions and removals, too: rows are then no longer in the order of derivation."""
    assume(stratifiable(program))
    reasoner = reasoner_with(program, first)
    check_everything(reasoner, program, first)
    both = {name: first.get(name, set()) | added.get(name, set()) for name in first.keys() | added.keys()}
    for predicate, rows in added.items():
        reasoner.add_facts(predicate, rows)
    reasoner.materialise()
    for predicate, rows in removed.items():
        reasoner.remove_facts(predicate, rows)
    check_everything(reasoner, program, {name: rows - removed.get(name, set()) for name, rows in both.items()})


@EXAMPLES
@given(programs(functions=True, aggregates=True), facts(), facts())
def test_programs_with_functions_and_aggregates(program: Program, explicit: Facts, removed: Facts) -> None:
    reasoner = reasoner_with(program, explicit)
    check_everything(reasoner, program, explicit)
    for predicate, rows in removed.items():
        reasoner.remove_facts(predicate, rows)
    check_everything(reasoner, program, {name: rows - removed.get(name, set()) for name, rows in explicit.items()})


@EXAMPLES
@given(st.booleans().flatmap(triple_programs), triples(), triples())
def test_triple_programs(program: Program, data: set[Row], removed: set[Row]) -> None:
    """With and without variables for properties: in both layouts."""
    reasoner = reasoner_with(program, {TRIPLE: data})
    check_everything(reasoner, program, {TRIPLE: data})
    reasoner.remove_triples(removed)  # type: ignore[arg-type]
    check_everything(reasoner, program, {TRIPLE: data - removed})


@EXAMPLES
@given(triple_programs(variable_predicates=False), triples(), st.sets(st.tuples(*[st.sampled_from(NODES)] * 2), max_size=3))
def test_triple_programs_with_equal_terms(program: Program, data: set[Row], equal: set[tuple[Term, Term]]) -> None:
    """Where equal terms are merged, proofs have the rules and the names of the program."""
    explicit: Facts = {TRIPLE: {*data, *((one, OWL.sameAs, other) for one, other in equal)}}
    reasoner = Reasoner(equality="rewrite")
    try:
        reasoner.add_program(program)
    except UnsupportedError:
        assume(False)
    reasoner.add_triples(explicit[TRIPLE])  # type: ignore[arg-type]
    rules = (*program.rules, *equality_axioms())
    everything = Store(evaluate(Program(rules), explicit))
    for row in everything.facts.get(TRIPLE, ()):
        if row[1] != OWL.sameAs or row[0] != row[2]:
            goal = Atom(TRIPLE, row)
            check(reasoner.explain(goal), goal, rules, explicit, everything)


CYCLIC = """
    c0(?x) :- a(?x) .  c0(?x) :- b(?x) .  c1(?x) :- c0(?x) .  c2(?x) :- c1(?x) .  c3(?x) :- c2(?x) .  c0(?x) :- c3(?x) .
"""


def test_the_cyclic_example() -> None:
    """Motik, Nenov, Piro, Horrocks 2015: c0 has two grounds outside the cycle, and is never its own ground."""
    program = parse(CYCLIC)
    x = literal(1)
    reasoner = reasoner_with(program, {"a": {(x,)}, "b": {(x,)}})
    reasoner.materialise()
    for given_facts in ({"a": {(x,)}, "b": {(x,)}}, {"b": {(x,)}}):
        check_everything(reasoner, program, given_facts)
        assert len(list(reasoner.all_proofs(Atom("c3", (x,))))) == len(given_facts)
        reasoner.remove_facts("a", [(x,)])
    reasoner.add_facts("c2", [(x,)])
    assert [proof.height for proof in reasoner.all_proofs(Atom("c2", (x,)))] == [0, 3]
    assert reasoner.explain(Atom("c0", (x,))).height == 1


def test_the_shortest_of_many() -> None:
    reasoner = Reasoner(
        """
        path(?x, ?y) :- edge(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        edge(1, 2) . edge(2, 3) . edge(3, 4) . edge(4, 5) . edge(5, 6) . edge(6, 7) . edge(7, 8) . edge(8, 9) .
        """
    )
    assert reasoner.explain(Atom("path", (literal(1), literal(9)))).height == 4
    reasoner.add_facts("edge", [(literal(1), literal(8))])
    assert reasoner.explain(Atom("path", (literal(1), literal(9)))).height == 2


def long_chain(length: int) -> Reasoner:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    reasoner.add_facts("edge", [(literal(n), literal(n + 1)) for n in range(length)])
    return reasoner


@pytest.mark.long
def test_high_proofs() -> None:
    """Proofs higher than Python's stack in every form, none of which nests without end."""
    reasoner = long_chain(1500)
    proof = reasoner.explain(Atom("path", (literal(0), literal(1500))))
    assert proof.shortest
    assert proof.height == 1500
    assert proof == next(reasoner.all_proofs(Atom("path", (literal(0), literal(1500)))))
    text = proof.text()
    assert text.count("explicit") == 1500
    assert max(map(len, text.splitlines())) < 300
    assert text.count("shown below") == text.count("\n[") > 10
    assert len(json.loads(json.dumps(proof.as_dict()))["steps"]) == 3000
    assert proof.dot().count("shape=ellipse") == 1500
    assert deepest_nesting(proof.html()) < 150


@pytest.mark.long
def test_any_proof_where_the_shortest_takes_too_long() -> None:
    """The number of proofs is exponential here, and the search for the shortest is limited."""
    program = parse("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
    edges = {(literal(n), literal(m)) for n in range(16) for m in (n + 1, (n * 7) % 16)}
    reasoner = reasoner_with(program, {"edge": edges})
    everything = Store({name: set(reasoner.facts(name)) for name in reasoner.predicates()})
    for row in random.Random(0).sample(sorted(everything.facts["path"], key=str), 20):
        goal = Atom("path", row)
        proof = reasoner.explain(goal, effort=10)
        check(proof, goal, program.rules, {"edge": edges}, everything)
        lowest = reasoner.explain(goal)
        assert lowest.shortest
        assert lowest.height == proof.height if proof.shortest else lowest.height <= proof.height


# ------------------------------------------------------------------------------------------------------------ all proofs


@EXAMPLES
@given(programs(), facts())
def test_all_proofs_of_general_programs(program: Program, explicit: Facts) -> None:
    assume(stratifiable(program))
    compare_all_proofs(program, explicit)


@EXAMPLES
@given(programs(functions=True, aggregates=True), facts())
def test_all_proofs_with_functions_and_aggregates(program: Program, explicit: Facts) -> None:
    compare_all_proofs(program, explicit)


def test_all_proofs_where_a_group_has_a_fact_that_the_rule_asks_for() -> None:
    """That fact has the same proof in both places, and another one in each proof."""
    program = parse("o(?x) :- AGGREGATE(q(?y) BIND COUNT(*) AS ?n), q(?x) . q(?x) :- p(?y, ?z), p(?y, ?x) .")
    zero, one = literal(0), literal(1)
    compare_all_proofs(program, {"p": {(zero, zero), (zero, one)}})


@EXAMPLES
@given(st.booleans().flatmap(triple_programs), triples())
def test_all_proofs_of_triple_programs(program: Program, data: set[Row]) -> None:
    compare_all_proofs(program, {TRIPLE: data})


def compare_all_proofs(program: Program, explicit: Facts, most: int = 60, most_facts: int = 12) -> None:
    """The same proofs as by brute force, each once, by height; of facts with very many the first ones."""
    expected = BruteForce(program, explicit)
    reasoner = reasoner_with(program, explicit)
    goals = sorted((Atom(name, row) for name, rows in expected.everything.facts.items() for row in rows), key=str)
    for goal in goals[:most_facts]:
        theirs = expected.proofs(goal, most)
        ours = list(itertools.islice(reasoner.all_proofs(goal), most + 2))
        for proof in ours:
            check(proof, goal, program.rules, explicit, expected.everything)
        if goal in expected.given:
            assert len(ours.pop(0).steps) == 1
        assert [proof.height for proof in ours] == sorted(proof.height for proof in ours)
        assert len({proof.text() for proof in ours}) == len(ours)
        if theirs is not None:
            assert set(map(choice_of, ours)) == {
                frozenset((fact, *instance) for fact, instance in choice.items()) for choice in theirs
            }


# ------------------------------------------------------------------------------------------------------- LUBM, literals


@pytest.fixture(scope="module", params=["owl2rl", pytest.param("owl2rl-full", marks=pytest.mark.long)])
def university(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reasoner:
    data = tmp_path_factory.mktemp("lubm") / "lubm.nt"
    lubm.write(data, 1, seed=0)
    reasoner = Reasoner(ruleset=request.param)
    reasoner.load(lubm.ontology_path(), data)
    return reasoner


def test_lubm(university: Reasoner) -> None:
    """A sample of the derived triples; with full effort, every one of them."""
    inferred = university.triple_ids("inferred")
    chosen = random.Random(1).sample(range(len(inferred)), by_effort(20, 300, len(inferred)))
    rules = university.rules
    negated = {part.atom.predicate for rule in rules for part in rule.body if isinstance(part, Negation)}
    assert TRIPLE not in negated
    everything = Store({name: set(university.facts(name)) for name in negated})
    explicit: Facts = {TRIPLE: set(university.triples(which="explicit"))}
    for number in chosen:
        goal = Atom(TRIPLE, tuple(university.dictionary.decode(term) for term in inferred[number].tolist()))
        proof = university.explain(goal)
        check(proof, goal, rules, explicit, everything)
        assert proof.shortest


def test_facts_about_literals() -> None:
    reasoner = Reasoner("typed(?y, ?t) :- [?x, <http://example.org/age>, ?y], literal_type(?y, ?t) .")
    reasoner.add_triples([(ex("tom"), ex("age"), literal(7))])
    goal = next(Atom("typed", row) for row in reasoner.facts("typed"))
    proof = reasoner.explain(goal)
    check(proof, goal, reasoner.rules, {TRIPLE: {(ex("tom"), ex("age"), literal(7))}}, Store({}))
    assert [step.reason for step in proof.steps] == ["explicit", "literal", "rule"]


def test_violations() -> None:
    """Also of constraints with variables for properties, which are expanded, in both layouts."""
    program = parse(
        """
        @prefix : <http://example.org/> .
        false :- :Cat[?x], :Dog[?x] .
        :Cat[?x] :- :purrs[?x, _] .
        @rule no-loops
        false :- [?x, ?p, ?x], FILTER(?p != :likes) .
        """
    )
    extra = parse("[?y, ?p, ?x] :- <http://example.org/inverse>[?p, ?q], [?x, ?q, ?y] .")
    data: set[Row] = {
        (ex("tom"), ex("purrs"), literal(1)),
        (ex("tom"), RDF.type, ex("Dog")),
        (ex("tom"), ex("knows"), ex("tom")),
        (ex("tom"), ex("likes"), ex("tom")),
    }
    for rules in (program, program | extra):
        reasoner = reasoner_with(rules, {TRIPLE: data})
        everything = Store(evaluate(rules, {TRIPLE: data}))
        violations = reasoner.inconsistencies()
        assert len(violations) == 2
        for violation in violations:
            assert violation.rule in program.rules
            proof = reasoner.explain(violation)
            check(proof, Atom(FALSE, ()), rules.rules, {TRIPLE: data}, everything)
            assert {**violation.terms}.items() <= {variable.name: term for variable, term in proof.steps[-1].bindings}.items()


def test_proofs_are_not_read_on_after_a_change() -> None:
    reasoner = Reasoner("b(?x) :- a(?x) . b(?x) :- c(?x) . a(1) . c(1) .")
    proofs = reasoner.all_proofs(Atom("b", (literal(1),)))
    assert next(proofs).height == 1
    reasoner.add_facts("a", [(literal(2),)])
    with pytest.raises(ReasonerError, match="have changed"):
        next(proofs)
    violation = next(iter(Reasoner("false :- a(?x) . a(1) .").inconsistencies()))
    with pytest.raises(NoProofError, match=r"that violates false :- a\(\?x\) ."):
        reasoner.explain(violation)


def test_join_orders_follow_the_growth_of_relations() -> None:
    """Planned while q was small; it has one row for each of many values of y by now, and r few for z."""
    reasoner = Reasoner("p(?x, ?z) :- q(?x, ?y), r(?y, ?z) . q(1, 0) . r(0, 1) .")
    goal = Atom("p", (literal(1), literal(1)))
    reasoner.explain(goal)
    plans = len(reasoner.engine.database.plans)
    reasoner.add_facts("q", [(literal(1), literal(n)) for n in range(1000)])
    assert reasoner.explain(goal).height == 1
    assert len(reasoner.engine.database.plans) > plans
    plans = len(reasoner.engine.database.plans)
    for number in range(10):
        reasoner.add_facts("q", [(literal(2), literal(number))])
        reasoner.explain(goal)
    assert len(reasoner.engine.database.plans) == plans


def test_rules_come_and_go() -> None:
    reasoner = Reasoner("b(?x) :- a(?x) . c(?x) :- b(?x) . a(1) .")
    goal = Atom("c", (literal(1),))
    assert reasoner.explain(goal).height == 2
    shortcut = parse("c(?x) :- a(?x) .")
    reasoner.add_program(shortcut)
    assert reasoner.explain(goal).height == 1
    reasoner.remove_rules(shortcut.rules)
    assert reasoner.explain(goal).height == 2
    reasoner.add_facts("c", [(literal(1),)])
    assert reasoner.explain(goal).height == 0


# ----------------------------------------------------------------------------------------------- fixtures: texts and why-not

CASES = re.compile(r"^=== (?P<name>.*)\n(?P<body>(?:(?!===).*\n)*)", re.MULTILINE)
PARTS = re.compile(r"^--- (?P<kind>\S+) ?(?P<what>.*)\n(?P<text>(?:(?!---).*\n)*)", re.MULTILINE)
FIXTURES = (Path(__file__).with_name("explanations.txt")).read_text(encoding="utf-8")
FIXTURE_CASES = [(case["name"], [part.groups() for part in PARTS.finditer(case["body"])]) for case in CASES.finditer(FIXTURES)]


@pytest.mark.parametrize(("name", "parts"), FIXTURE_CASES, ids=[name for name, _ in FIXTURE_CASES])
def test_texts(name: str, parts: list[tuple[str, str, str]]) -> None:
    """The cases of explanations.txt, which says how they are written."""
    import pyoxigraph

    reasoner = Reasoner()
    for kind, what, text in parts:
        if kind == "rules":
            reasoner = Reasoner(parse(f"@prefix : <{EX}> .\n{text}"), ruleset=what or None)
        elif kind == "data":
            header = f"@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
            header += "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
            reasoner.load(f"{header}\n{text}".encode(), format="turtle")
        else:
            if "(" in what:
                fact = parse(f"@prefix : <{EX}> . {what} .").rules[0].head
            else:
                found = next(iter(pyoxigraph.parse(f"@prefix : <{EX}> . {what} .".encode(), pyoxigraph.RdfFormat.TURTLE)))
                fact = Atom(TRIPLE, tuple(from_oxigraph(term) for term in (found.subject, found.predicate, found.object)))
            answer = {"explain": reasoner.explain, "why-not": reasoner.why_not}[kind](fact).with_prefixes({"": EX})  # type: ignore[operator]
            shown = answer.text().replace(f"@prefix : <{EX}> .\n\n", "")
            assert shown.strip() == text.strip()


@EXAMPLES
@given(programs(), facts(), st.data())
def test_why_not_in_general_programs(program: Program, explicit: Facts, data: st.DataObject) -> None:
    assume(stratifiable(program))
    predicate = data.draw(st.sampled_from(sorted(PREDICATES)))
    constants = st.sampled_from([*CONSTANTS, literal("unknown")])
    fact = Atom(predicate, data.draw(st.tuples(*[constants] * PREDICATES[predicate])))
    compare_why_not(program, explicit, fact)


@EXAMPLES
@given(programs(functions=True, aggregates=True), facts(), st.data())
def test_why_not_with_functions_and_aggregates(program: Program, explicit: Facts, data: st.DataObject) -> None:
    arities = PREDICATES | SINKS
    predicate = data.draw(st.sampled_from(sorted({rule.head.predicate for rule in program.rules})))
    constants = st.sampled_from([*CONSTANTS, literal("unknown")])
    compare_why_not(program, explicit, Atom(predicate, data.draw(st.tuples(*[constants] * arities[predicate]))))


def test_why_not_compares_constants_that_nothing_else_has() -> None:
    reasoner = Reasoner("""
        compared(?x) :- p(?x, ?y), FILTER(?y = ?y) .
        wanted() :- p(?x, ?y), FILTER(?y >= 2), missing(?y) .
        p(0, 4) .
    """)
    (miss,) = reasoner.why_not(Atom("wanted", ())).misses
    assert miss.failed == Atom("missing", (literal(4),))


def test_the_arity_of_what_rules_would_derive() -> None:
    reasoner = Reasoner("q(?x) :- p(?x) .")
    for asked in (reasoner.explain, reasoner.all_proofs, reasoner.why_not):
        with pytest.raises(ArityError, match="q has 1 argument, not 2"):
            asked(Atom("q", (literal(1), literal(2))))


@EXAMPLES
@given(st.booleans().flatmap(triple_programs), triples(), st.data())
def test_why_not_in_triple_programs(program: Program, explicit: set[Row], data: st.DataObject) -> None:
    nodes = st.sampled_from([*NODES, ex("unknown")])
    fact = Atom(TRIPLE, data.draw(st.tuples(nodes, st.sampled_from([*PROPERTIES, ex("unknown")]), nodes)))
    compare_why_not(program, {TRIPLE: explicit}, fact)


def compare_why_not(program: Program, explicit: Facts, fact: Atom) -> None:
    """Rules whose heads fit, each with the longest beginning of its body that has a match, and with such a match."""
    everything = Store(evaluate(program, explicit))
    reasoner = reasoner_with(program, explicit)
    if fact.terms in everything.facts.get(fact.predicate, ()):
        with pytest.raises(ReasonerError, match="holds: call explain"):
            reasoner.why_not(fact)
        return
    answer = reasoner.why_not(fact)
    heads = {rule: match(rule.head, fact.terms, {}) for rule in program.rules if rule.head.predicate == fact.predicate}
    assert {miss.rule for miss in (*answer.misses, *answer.idle)} == {
        rule for rule, head in heads.items() if head is not None and rule.body
    }
    ranks = [(miss.failed == fact, -len(miss.held)) for miss in answer.misses]
    assert ranks == sorted(ranks)
    for miss in (*answer.misses, *answer.idle):
        head = heads[miss.rule]
        assert head is not None
        parts = in_order(miss.rule.body, head)
        furthest = max(length for length in range(len(parts)) if some_match(parts[:length], everything, head))
        assert len(miss.held) == furthest
        for example in miss.examples:
            binding = dict(example)
            assert head.items() <= binding.items()
            assert some_match(parts[:furthest], everything, binding)
            assert not some_match(parts[: furthest + 1], everything, binding)
        binding = dict(miss.examples[0])
        for part, statement in zip(parts, (*miss.held, miss.failed), strict=False):
            compare_statement(part, statement, binding, everything)
        check_problem(miss, parts[furthest], binding, everything)


def compare_statement(part: object, statement: object, binding: Binding, everything: Store) -> None:
    """The statement is the part under a binding."""
    if isinstance(part, Aggregate) and isinstance(statement, Group):
        check_group(statement, None, everything, str(part))
        assert statement.aggregate == part
        assert statement.values == tuple(binding[variable] for variable in part.group)
        assert statement.results == tuple(binding[result.variable] for result in part.bindings)
    elif isinstance(part, Bind) and isinstance(statement, Bind):
        assert statement == Bind(replaced(part.expression, binding), part.variable)  # type: ignore[arg-type]
    elif not isinstance(part, Aggregate):
        assert statement == replaced(part, binding)


def check_problem(miss: Miss, part: object, binding: Binding, everything: Store) -> None:
    """What is said of the part that fails."""
    if isinstance(part, Filter):
        wrong = passes(Call("!", (part.expression,)), binding)
        assert miss.problem == ("false" if wrong else "error")
    elif isinstance(part, Bind):
        found = value_of(part.expression, binding)
        assert miss.problem == ("error" if found is None else "differs")
        assert found is None or format_term(found) in miss.note
    elif isinstance(part, Aggregate) and all(variable in binding for variable in part.group):
        names = {result.variable: Variable(f"result {number}") for number, result in enumerate(part.bindings)}
        apart = replace(part, bindings=tuple(replace(result, variable=names[result.variable]) for result in part.bindings))
        same = [group for group in groups(apart, everything) if all(group[v] == binding[v] for v in part.group)]
        assert (miss.problem == "differs") == bool(same)
        for group in same:
            differing = [v for v, name in names.items() if v in binding and binding[v] != group[name]]
            assert differing
            assert all(f"{v} is {format_term(group[names[v]])}, not {format_term(binding[v])}" in miss.note for v in differing)
    else:
        assert miss.problem == ("violated" if isinstance(part, Negation) else "missing")


def some_match(parts: list[object], everything: Store, binding: Binding) -> bool:
    """Whether all parts of a body's beginning hold under some extension of a binding.

    What an aggregate gives counts as a fact, so that a group that has a value for a variable already is one of those that fit.
    """
    body = [part for part in parts if isinstance(part, Atom)]
    tables = [list(groups(part, everything)) for part in parts if isinstance(part, Aggregate)]
    for found in matches(body, everything, binding):
        for rows in itertools.product(*tables):
            complete = bound(parts, joined(found, rows))  # type: ignore[arg-type]
            if complete is not None and all(holds(part, complete, everything) for part in parts):  # type: ignore[arg-type]
                return True
    return False


def test_unknown_terms_stay_unknown() -> None:
    """A question adds nothing."""
    reasoner = Reasoner("b(?x, ?y) :- a(?x, ?y), NOT c(?x, ?z), FILTER(?x < ?y) . a(1, 2) .")
    reasoner.materialise()
    terms, relations = len(reasoner.dictionary), len(reasoner.engine.database.relations)
    answer = reasoner.why_not(Atom("b", (literal(77), literal("seventy-seven"))))
    assert answer.unknown == (literal(77), literal("seventy-seven"))
    assert reasoner.why_not((ex("a"), ex("b"), ex("c"))).misses == ()
    with pytest.raises(NoProofError):
        reasoner.explain((ex("a"), ex("b"), ex("c")))
    with pytest.raises(NoProofError):
        reasoner.explain(Atom("nothing", ()))
    assert (len(reasoner.dictionary), len(reasoner.engine.database.relations)) == (terms, relations)


AGGREGATES = """
    busy(?x, ?n, ?m) :- AGGREGATE(job(?x, ?y), NOT off(?y), BIND(?y * 2 AS ?z) ON ?x BIND COUNT(*) AS ?n BIND MAX(?z) AS ?m) .
    false :- busy(?x, ?n, ?m), FILTER(?n > 3) .
    false :- AGGREGATE(off(?y) BIND COUNT(*) AS ?n), FILTER(?n > 0) .
    job(1, 1) . job(1, 2) . job(1, 3) . job(1, 4) . job(2, 5) . off(6) .
"""


def test_forms_of_aggregates() -> None:
    """Every form has the results, the number of solutions, and those that are shown; none the predicates that the engine makes."""
    reasoner = Reasoner(AGGREGATES)
    proof = reasoner.explain(Atom("busy", (literal(1), literal(4), literal(8))))
    missing = reasoner.why_not(Atom("busy", (literal(1), literal(3), literal(8))))
    for form in (proof.text(), proof.dot(), Page(proof.html()).text):
        assert "COUNT(*) = 4, MAX(?z) = 8, over 4 solutions of job(1, ?y)" in form
        assert form.count("aggregated; 1 more solution") == 1
        assert "3 * 2 = 6" in form
        assert "4 * 2 = 8" not in form
    for form in (missing.text(), missing.dot(), Page(missing.html()).text):
        assert "?n is 4, not 3" in form
    steps = proof.as_dict()["steps"]
    (group,) = (step for step in steps if step["reason"] == "aggregated")
    one, four, eight = (str(literal(number)) for number in (1, 4, 8))
    assert (group["group"], group["results"], group["solutions"]) == ({"x": one}, {"n": four, "m": eight}, 4)
    assert len(group["premises"]) == 3
    assert {steps[number]["reason"] for number in group["premises"]} == {"solution"}
    first = steps[group["premises"][0]]
    assert [steps[number]["reason"] for number in first["premises"]] == ["stated", "absent", "computed"]
    assert first["bindings"] == {"x": one, "y": one, "z": str(literal(2))}
    (rule,) = missing.as_dict()["rules"]
    assert (rule["problem"], rule["note"]) == ("differs", "?n is 4, not 3")
    for violation in reasoner.inconsistencies():
        forms = [proof, reasoner.explain(violation)]
        assert all("aggregate:" not in shown for p in forms for shown in (p.text(), p.dot(), p.html(), json.dumps(p.as_dict())))
    assert len(reasoner.inconsistencies()) == 2
    internal = next(name for name in reasoner.engine.catalog.predicates if name.startswith("internal: solutions"))
    with pytest.raises(NoProofError):
        reasoner.explain(Atom(internal, (literal(6),)))


def test_functions_and_aggregates_over_triples() -> None:
    """In both layouts; a property may be a BIND's result, and may be grouped by."""
    program = parse(
        f"""
        @prefix : <{EX}> .
        uses(?p, ?n) :- AGGREGATE([?x, ?p, ?y] ON ?p BIND COUNT(*) AS ?n) .
        [?x, ?p, ?y] :- link(?x, ?name, ?y), BIND(IRI(CONCAT("{EX}", ?name)) AS ?p) .
        meant(?x) :- [?x, ?p, ?y], word(?name), BIND(IRI(CONCAT("{EX}", ?name)) AS ?p) .
        """
    )
    data: set[Row] = {(ex("a"), ex("p"), ex("b")), (ex("a"), ex("q"), ex("b")), (ex("b"), ex("p"), ex("c"))}
    explicit: Facts = {
        TRIPLE: data,
        "link": {(ex("c"), literal("q"), ex("d")), (ex("c"), literal("r"), ex("d"))},
        "word": {(literal("q"),), (literal("s"),)},
    }
    for rules in (program.rules, [rule for rule in program.rules if rule.head.predicate != TRIPLE]):
        check_everything(reasoner_with(Program(tuple(rules)), explicit), Program(tuple(rules)), explicit)


def test_functions_are_computed_where_a_proof_needs_them_first() -> None:
    """A proof joins in another order than the rules did, and asks for results that nobody has computed yet."""
    reasoner = Reasoner("p(?z) :- a(?x), b(?y), BIND(?x + ?y AS ?z), c(?z, ?x) . a(1) . b(2) . c(3, 1) . a(2) . b(1) . b(7) .")
    proof = reasoner.explain(Atom("p", (literal(3),)))
    check(proof, Atom("p", (literal(3),)), reasoner.rules, {}, Store({}))
    functions, relations = len(reasoner.engine.catalog.functions.relations), len(reasoner.engine.database.relations)
    for number in range(20, 30):
        assert reasoner.why_not(Atom("p", (literal(number),))).misses[0].problem == "differs"
    assert (len(reasoner.engine.catalog.functions.relations), len(reasoner.engine.database.relations)) == (functions, relations)
    reasoner.add_facts("a", [(literal(0),)])
    reasoner.add_facts("c", [(literal(7), literal(0))])
    assert sorted(int(z.lexical) for (z,) in reasoner.facts("p")) == [3, 7]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ((ex("a"), ex("b")), "is not a fact: give a triple"),
        ("tom", "is not a fact: give a triple"),
        ((ex("a"), ex("b"), "tom"), "'tom' is not an RDF term"),
        (Atom("a", (Variable("x"),)), r"\?x is a variable"),
        (Atom("a", (literal(1), literal(2))), "a has 1 argument, not 2"),
        (Atom("a", (literal(2),)), r"a\(2\) does not hold: call why_not\(\) to see what is missing"),
        ((ex("a"), RDF.type, ex("b")), "example:a a example:b does not hold"),
    ],
)
def test_what_cannot_be_explained(fact: object, message: str) -> None:
    reasoner = Reasoner("a(1) .")
    explaining = reasoner.explain, reasoner.all_proofs
    for ask in explaining if "does not hold" in message else (*explaining, reasoner.why_not):
        with pytest.raises(ReasonerError, match=message):
            ask(fact)  # type: ignore[operator]


# ----------------------------------------------------------------------------------------------------------------- forms

NASTY = [
    IRI("http://example.org/'&lt;--(x)"),
    Literal('</div><script>alert(1)</script><img src="http://evil.example/x.png">\\N\n"quoted"\u2028'),
    BlankNode("b&0;"),
    Literal("<b>", RDF.langString.value, "en"),
    Literal("5", "http://example.org/type#&amp;"),
]


@pytest.fixture(scope="module")
def nasty() -> list[tuple[Proof, WhyNot]]:
    """For each nasty term, a proof of a fact with it, and why another one is not there."""
    x, y, z = Variable("x"), Variable("y"), Variable("_z")
    reasoner = Reasoner(Program((Rule(Atom("p", (x, y)), (Atom("q", (x, y)), Negation(Atom("r", (y, z))))),)))
    reasoner.add_facts("q", [(NASTY[0], term) for term in NASTY])
    return [
        (reasoner.explain(Atom("p", (NASTY[0], term))), reasoner.why_not(Atom("p", (term, Literal("other"))))) for term in NASTY
    ]


class Page(HTMLParser):
    """Collects a page's text, and fails on what does not fit together or comes from elsewhere."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.deepest = 0
        self.text = ""
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []
        assert set(self.links) <= {f"#{name}" for name in self.ids}
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "link", "iframe", "object", "base"), tag
        for name, value in attrs:
            assert name in ("lang", "charset", "name", "content", "class", "id", "href", "title", "open"), name
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag not in ("meta", "br"):
            self.open.append(tag)
            self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            assert not re.search(r"url\(|@import|//", data)
        else:
            self.text += data


def deepest_nesting(page: str) -> int:
    return Page(page).deepest


def test_pages_escape_what_comes_from_data(nasty: list[tuple[Proof, WhyNot]]) -> None:
    shown = ["example.org/'&lt;--(x)", "</div><script>alert(1)</script><img src=", "_:b&0;", '"<b>"@en', "type#&amp;"]
    for forms, text in zip(nasty, shown, strict=True):
        for form in forms:
            assert text in Page(form.html()).text


def test_dot_escapes_what_comes_from_data(nasty: list[tuple[Proof, WhyNot]]) -> None:
    """Every line is an attribute, a node or an edge; quoted strings end where they should."""
    string = r'"(?:[^"\\\n]|\\["\\])*"'
    attribute = rf"\w+=(?:{string}|[\w.]+)"
    statement = rf"\s*(?:(?:node|edge|[sr]\d+) \[{attribute}(?:, {attribute})*\]|{attribute}|[sr]\d+ -> [sr]\d+);"
    for proof, _ in nasty:
        first, *lines, last = proof.dot().splitlines()
        assert (first, last) == ("digraph proof {", "}")
        for line in lines:
            assert re.fullmatch(statement, line), line


def test_dicts_are_json_and_complete(nasty: list[tuple[Proof, WhyNot]]) -> None:
    for term, (proof, missing) in zip(NASTY, nasty, strict=True):
        told = json.loads(json.dumps(proof.as_dict()))
        assert told["height"] == 1
        assert told["shortest"] is True
        given_step, absent_step, last = told["steps"]
        assert (given_step["reason"], absent_step["reason"], last["reason"]) == ("explicit", "absent", "rule")
        assert absent_step["not"] == {"predicate": "r", "arguments": [str(term), "?_z"]}
        assert (last["predicate"], last["arguments"]) == ("p", [str(NASTY[0]), str(term)])
        assert last["bindings"] == {"x": str(NASTY[0]), "y": str(term)}
        assert last["rule"] == {"name": None, "axiom": None, "text": "p(?x, ?y) :- q(?x, ?y), NOT r(?y, ?_z) ."}
        assert last["premises"] == [0, 1]
        told = json.loads(json.dumps(missing.as_dict()))
        assert told["fact"]["arguments"] == [str(term), str(Literal("other"))]
        (rule,) = told["rules"]
        assert [held["not"]["arguments"] for held in rule["held"]] == [[str(Literal("other")), "?_z"]]
        assert rule["failed"]["arguments"] == [str(term), str(Literal("other"))]


def test_every_form_of_a_proof_with_axioms() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(
        f"""@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Cat rdfs:subClassOf :Animal . :chases rdfs:domain :Cat . :tom :chases :jerry .""".encode(),
        format="turtle",
    )
    proof = reasoner.explain((ex("tom"), RDF.type, ex("Animal")))
    assert [rule.origin.name for rule in proof.rules] == ["prp-dom", "cax-sco"]
    assert proof.facts == (Atom(TRIPLE, (ex("tom"), ex("chases"), ex("jerry"))),)
    assert str(proof) == proof.text()
    for form in (proof.text(), proof.dot(), Page(proof.html()).text):
        assert "SubClassOf(:Cat :Animal)" in form
        assert "prp-dom" in form
    renamed = proof.with_prefixes({"zoo": EX})
    assert renamed == proof
    for form in (renamed.text(), renamed.dot(), Page(renamed.html()).text):
        assert "SubClassOf(zoo:Cat zoo:Animal)" in form
        assert "example:" not in form
    steps = renamed.as_dict()["steps"]
    assert steps[-1]["rule"]["axiom"] == "SubClassOf(zoo:Cat zoo:Animal)"
    assert steps[-1]["triple"][2] == f"<{EX}Animal>"


# ------------------------------------------------------------------------------------------------ rdflib, the command line


def test_the_store_explains_with_the_graphs_prefixes() -> None:
    graph = rdflib.Graph(store="KGReasoner")
    zoo = rdflib.Namespace(EX)
    graph.bind("zoo", zoo)
    graph.add((zoo.Cat, rdflib.RDFS.subClassOf, zoo.Animal)).add((zoo.tom, rdflib.RDF.type, zoo.Cat))
    store = graph.store
    assert isinstance(store, KGReasonerStore)
    assert store.explain((zoo.tom, rdflib.RDF.type, zoo.Animal)).text().splitlines() == [
        f"@prefix zoo: <{EX}> .",
        "",
        "zoo:tom a zoo:Animal   (by cax-sco, SubClassOf(zoo:Cat zoo:Animal))",
        "└── zoo:tom a zoo:Cat   (explicit)",
    ]
    node = rdflib.BNode()
    graph.add((node, rdflib.RDF.type, zoo.Cat))
    assert store.explain((node, rdflib.RDF.type, zoo.Animal)).height == 1
    graph.remove((node, None, None))
    with pytest.raises(NoProofError):
        store.explain((node, rdflib.RDF.type, zoo.Animal))
    with pytest.raises(NoProofError, match=r"^zoo:tim a zoo:Animal does not hold"):
        store.explain((zoo.tim, rdflib.RDF.type, zoo.Animal))
    with pytest.raises(ReasonerError, match=r"^zoo:tom a zoo:Animal holds"):
        store.why_not((zoo.tom, rdflib.RDF.type, zoo.Animal))


def test_prefixes_of_a_document_without_triples_are_known() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.load(f"<{EX}tom> a <{EX}Cat> .".encode(), format="turtle")
    assert "zoo:" not in str(reasoner.explain((ex("tom"), RDF.type, ex("Cat"))))
    reasoner.load(f"@prefix zoo: <{EX}> .".encode(), format="turtle")
    assert "zoo:tom a zoo:Cat" in str(reasoner.explain((ex("tom"), RDF.type, ex("Cat"))))


def test_explanations_take_prefixes() -> None:
    reasoner, cat = Reasoner(ruleset="rdfs"), ex("Cat")
    reasoner.load(f"@prefix : <{EX}> . :Cat <{rdflib.RDFS.subClassOf}> :Animal . :tom a :Cat .".encode())
    known, unknown, prefixes = (ex("tom"), RDF.type, ex("Animal")), (ex("tim"), RDF.type, cat), {"zoo": EX}
    texts = [str(reasoner.explain(known, prefixes=prefixes)), str(reasoner.why_not(unknown, prefixes=prefixes))]
    proofs = reasoner.all_proofs(known, prefixes=prefixes)
    assert not reasoner.why_not(unknown).text().startswith("@prefix zoo:")  # others in between
    for text in (*texts, *map(str, proofs)):
        assert text.startswith("@prefix zoo:") and "example:" not in text
    for ask, fact in ((reasoner.explain, unknown), (reasoner.all_proofs, unknown), (reasoner.why_not, known)):
        with pytest.raises(ReasonerError, match=r"^zoo:t[io]m a zoo:"):
            ask(fact, prefixes=prefixes)
        with pytest.raises(LoadError, match="is not a mapping from prefixes to namespaces"):
            ask(fact, prefixes="zoo")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.ttl"
    path.write_text(
        """
        @prefix : <http://example.org/zoo#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Lion rdfs:subClassOf :Cat, :Hunter . :Cat rdfs:subClassOf :Animal . :Hunter rdfs:subClassOf :Animal .
        :leo a :Lion ; :age 7 ; :knows _:somebody . _:somebody a :Cat .
        """
    )
    return path


def kg(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["explain", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback"
    return result.stderr if code in (1, 2) else result.stdout


def test_the_command_proves(zoo: Path) -> None:
    animal = "<http://example.org/zoo#leo> a :Animal"
    first, second = "(by cax-sco, SubClassOf(:Cat :Animal))", "(by cax-sco, SubClassOf(:Hunter :Animal))"
    text = kg(zoo, "--triple", animal)
    assert text.startswith("@prefix : <http://example.org/zoo#> .\n\n:leo a :Animal   (by cax-sco")
    assert (first in text) != (second in text)
    text = kg(zoo, "--triple", animal, "--all", 5)
    assert first in text
    assert second in text
    assert re.findall("# proof .*", text) == ["# proof 1, height 2", "# proof 2, height 2"]
    assert kg(zoo, "-t", animal, "--all", 1).count("# proof") == 1
    assert json.loads(kg(zoo, "-t", animal, "-f", "json"))["height"] == 2
    assert len(json.loads(kg(zoo, "-t", animal, "-f", "json", "--all", 5))) == 2
    drawn = kg(zoo, "-t", animal, "-f", "dot", "--all", 5)
    assert (drawn.count("digraph"), drawn.count("subgraph cluster_")) == (1, 2)
    nodes = [line.split()[0] for line in drawn.splitlines() if "shape=" in line]
    assert len(nodes) == len(set(nodes)), "proofs share no nodes"
    page = Page(kg(zoo, "-t", animal, "-f", "html", "--all", 5))
    assert "Proof 2" in page.text
    assert "Proof" not in Page(kg(zoo, "-t", animal, "-f", "html")).text
    assert ":leo :age 7   (explicit)" in kg(zoo, "-t", ":leo :age 7")
    assert kg(zoo, "-t", f"{animal} .") == kg(zoo, "-t", animal)
    assert "(by rdfs9)" in kg(zoo, "-t", animal, "--ruleset", "rdfs")


def test_blank_nodes_are_named_as_they_are_shown(zoo: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(zoo)
    somebody = next(reasoner.triples(ex("zoo#leo"), ex("zoo#knows")))[2]
    assert f"{somebody} a :Animal   (by" in kg(zoo, "-t", f"{somebody} a :Animal")


def test_the_command_shows_missing_premises(zoo: Path) -> None:
    assert "missing  :leo a :Dog" not in kg(zoo, "-t", ":leo a :Dog", code=3)
    text = kg(zoo, "-t", ":tim a :Animal", code=3)
    assert ":tim occurs nowhere" in text
    assert "missing  :tim a :Cat" in text
    assert json.loads(kg(zoo, "-t", ":tim a :Animal", "-f", "json", code=3))["unknown"] == ["<http://example.org/zoo#tim>"]
    assert "style=dashed" in kg(zoo, "-t", ":tim a :Animal", "-f", "dot", code=3)
    assert "Why not :tim a :Animal" in Page(kg(zoo, "-t", ":tim a :Animal", "-f", "html", code=3)).text


@pytest.mark.parametrize(
    ("triple", "message"),
    [
        (":leo a zo:Cat", "the prefix zo: is not declared, did you mean 'zoo'?; declared: :, owl:, rdf:"),
        (":leo a .", "is not a triple in Turtle"),
        (":leo a", "is not a triple in Turtle"),
        ('"leo" a :Cat', "is not a triple in Turtle"),
        (":leo a :Cat, :Dog", "is 2 triples; give one"),
        ("", "the text is empty"),
    ],
)
def test_invalid_triples(zoo: Path, triple: str, message: str) -> None:
    assert message in kg(zoo, "--triple", triple, code=2)


def test_one_triple_is_explained_at_a_time(zoo: Path) -> None:
    assert "--triple is given 2 times" in kg(zoo, "-t", ":leo a :Cat", "-t", ":leo a :Dog", code=2)


def test_names_are_understood_as_they_are_shown(tmp_path: Path) -> None:
    """Also with prefixes that no document declares."""
    path = tmp_path / "zoo.nt"
    path.write_text(
        f"<{EX}Cat> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EX}Animal> .\n<{EX}tom> a <{EX}Cat> .\n".replace(
            " a ", f" {RDF.type} "
        )
    )
    text = kg(path, "-t", f"<{EX}tom> a <{EX}Animal>")
    assert "example:tom a example:Animal" in text
    assert kg(path, "-t", "example:tom a example:Animal") == text


# ------------------------------------------------------------------------------------------------- the checker is strict


def test_the_checker_refuses_wrong_proofs() -> None:
    program = parse("b(?x) :- a(?x), NOT z(?x), FILTER(?x < 5) . c(?x) :- b(?x), b(?x) . a(?x) :- b(?x) . d(9) .")
    one = literal(1)
    explicit: Facts = {"a": {(one,)}}
    everything = Store(evaluate(program, explicit))
    goal = Atom("c", (one,))
    other = parse("e(1) :- e(1), FILTER(7 < 5) .").rules[0].body[1]
    right = reasoner_with(program, explicit).explain(goal)
    check(right, goal, program.rules, explicit, everything)
    a, absent, compared, b, c = right.steps
    circle = Step(Atom("a", (one,)), "rule", program.rules[2], c.bindings, (3,))
    wrong: dict[str, tuple[Step, ...]] = {
        "proves": (a, absent, compared, b),
        "later step": (circle, absent, compared, b, c),
        "two steps": (a, a, absent, compared, replace(b, premises=(1, 2, 3)), replace(c, premises=(4, 4))),
        "no use": (*right.steps[:4], Step(Atom("d", (literal(9),)), "stated"), c),
        "not active": (a, absent, compared, b, replace(c, rule=parse("c(?x) :- b(?x), b(?x), b(?x) .").rules[0])),
        "not explicit": (replace(a, statement=Atom("a", (literal(2),))), absent, compared, b, c),
        "not stated": (replace(a, reason="stated"), absent, compared, b, c),
        "has 2 premises": (a, absent, replace(b, premises=(0, 1)), replace(c, premises=(2, 2))),
        "no instance": (a, absent, compared, replace(b, bindings=((Variable("x"), literal(2)),)), c),
        "does not hold": (a, absent, replace(compared, statement=other), b, c),
    }
    for message, steps in wrong.items():
        with pytest.raises(ProofError, match=message):
            check(Proof(steps), goal, program.rules, explicit, everything)
