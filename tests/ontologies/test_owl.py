"""OWL axioms to rules: the fixtures in `owl`, the LUBM ontology, and random ontologies against the rule set owl2rl-full."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.language.checks.analysis import check
from kg_reasoner.language.parser import parse
from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.loaders.ontology.order import Order
from kg_reasoner.loaders.ontology.owl import AUXILIARY_PREFIX, SCHEMA_CLASSES, SCHEMA_PREDICATES, is_schema_triple, translate
from kg_reasoner.loaders.ontology.unfold import DraftRule, rename, unfold
from kg_reasoner.program import FALSE, TRIPLE, Atom, Program, Rule, Variable
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple
from tests.helpers.effort import examples, thinned
from tests.helpers.fixtures import blocks
from tests.helpers.oracle import Facts, evaluate
from tests.helpers.suites import SUITES, needs_suite
from tests.rulesets.test_rulesets import TURTLE_PREFIXES, facts_in, with_literals

FIXTURES = Path(__file__).with_name("owl")
SUITE = SUITES / "lubm"
PREFIX = "http://example.org/"
EXAMPLES = examples(60)

# --------------------------------------------------------------------------------------------------------------------- fixtures


@dataclass
class Case:
    """One fixture: the texts of its sections by their headings (see tests/ontologies/owl/classes.txt)."""

    title: str
    sections: dict[str, str] = field(default_factory=dict)

    def section(self, name: str) -> str:
        return self.sections.get(name, "")


def cases() -> list[object]:
    found = []
    for path in sorted(FIXTURES.glob("*.txt")):
        for title, text in blocks(path):
            case = Case(title)
            heading = "ontology"
            for line in text.splitlines():
                if line.startswith("=> "):
                    heading = line[3:]
                    case.sections[heading] = ""
                else:
                    case.sections[heading] = f"{case.section(heading)}{line}\n"
            found.append(pytest.param(case, id=f"{path.stem}: {title}"))
    return found


def triples_in(turtle: str) -> list[Triple]:
    quads = pyoxigraph.parse(f"{TURTLE_PREFIXES}{turtle}".encode(), pyoxigraph.RdfFormat.TURTLE)
    return [(from_oxigraph(q.subject), from_oxigraph(q.predicate), from_oxigraph(q.object)) for q in quads]


def rule_set(rules: Sequence[Rule]) -> set[tuple[Atom, tuple[object, ...]]]:
    """Rules without the names of their variables."""
    renamed = (rename(DraftRule(rule.head, rule.body)) for rule in rules)
    return {(clause.head, clause.body) for clause in renamed}


def materialise(ontology: Sequence[Triple], data: Sequence[Triple]) -> Facts:
    """What the rule set owl2rl derives, the axioms being translated."""
    rules = rulesets.load("owl2rl").program.rules + translate([*ontology, *data], check_literals=True).rules
    return evaluate(Program(rules), with_literals({*ontology, *data}))


@pytest.mark.parametrize("case", cases())
def test_an_ontology_becomes_these_rules_and_warnings(case: Case) -> None:
    ontology = triples_in(case.section("ontology"))
    found = translate(ontology, {"": PREFIX}, check_literals=True)
    assert rule_set(found.rules) == rule_set(parse(f"@prefix : <{PREFIX}> . {case.section('rules')}").rules)
    assert [str(warning) for warning in found.warnings] == case.section("warns").splitlines()
    check(Program(found.rules))


@pytest.mark.parametrize("case", thinned((case for case in cases() if {"with", "follows"} & case.values[0].sections.keys()), 2))  # type: ignore[attr-defined]
@pytest.mark.sample(2)
def test_and_with_data_this_follows(case: Case) -> None:
    model = materialise(triples_in(case.section("ontology")), triples_in(case.section("with")))
    assert facts_in(case.section("follows")) <= model[TRIPLE]
    assert not facts_in(case.section("follows not")) & model[TRIPLE]
    for answer, consistent in (("true", True), ("false", False)):
        if answer in case.sections:
            assert (FALSE not in model) == consistent


def test_literals_are_checked_only_if_asked_for() -> None:
    ontology = triples_in("""
        :age rdfs:range xsd:integer . :Person rdfs:subClassOf [ owl:onProperty :age ; owl:allValuesFrom xsd:byte ] .
        [ owl:onProperty :age ; owl:someValuesFrom xsd:integer ] rdfs:subClassOf :Aged .
    """)
    assert len(translate(ontology, check_literals=True).rules) == 3
    assert [rule.origin.name for rule in translate(ontology).rules] == ["cls-svf1"]


def test_the_fixtures_need_all_that_counts_as_schema() -> None:
    """Every schema predicate and class makes a difference to some fixture, except that of facets one stands for all."""
    needed = set()
    for found in cases():
        ontology = triples_in(found.values[0].section("ontology"))  # type: ignore[attr-defined]
        expected = translate(ontology)
        for term in {term for triple in ontology for term in triple[1:]} & (SCHEMA_PREDICATES | SCHEMA_CLASSES):
            if translate([triple for triple in ontology if term not in triple[1:]]) != expected:
                needed.add(term)
    facets = {term for term in SCHEMA_PREDICATES if term in XSD or term == RDF.langRange}
    assert (SCHEMA_PREDICATES | SCHEMA_CLASSES) - needed == facets - {XSD.minInclusive}


# ------------------------------------------------------------------------------------------------------------ random ontologies

CLASSES = [IRI(PREFIX + name) for name in "ABCD"]
PROPERTIES = [IRI(PREFIX + name) for name in "pqr"]
INDIVIDUALS = [IRI(PREFIX + name) for name in "abcd"]
ANONYMOUS = [BlankNode(f"class{number}") for number in range(6)]
INVERSE, NAMELESS = BlankNode("inverse"), BlankNode("nameless")

nodes = st.sampled_from([*CLASSES, *ANONYMOUS, *CLASSES, OWL.Thing])
properties = st.sampled_from([*PROPERTIES, *PROPERTIES, INVERSE, NAMELESS])
individuals = st.sampled_from(INDIVIDUALS)
carriers = st.sampled_from([*ANONYMOUS, *ANONYMOUS, *ANONYMOUS, *CLASSES])
bounds = st.sampled_from([Literal(digit, XSD.nonNegativeInteger.value) for digit in "01"])

Items = list[Term]
Part = tuple[IRI, Term | Items]
"""A predicate and its object, which may be a list."""


def parts(predicate: IRI, values: st.SearchStrategy[Term] | st.SearchStrategy[Items]) -> st.SearchStrategy[Part]:
    return st.tuples(st.just(predicate), values)


def restriction(*values: st.SearchStrategy[Part]) -> st.SearchStrategy[list[Part]]:
    return st.tuples(parts(OWL.onProperty, properties), *values).map(list)


expressions = st.tuples(
    carriers,
    st.one_of(
        parts(OWL.intersectionOf, st.lists(nodes, min_size=1, max_size=3)).map(lambda part: [part]),
        parts(OWL.unionOf, st.lists(nodes, min_size=1, max_size=3)).map(lambda part: [part]),
        parts(OWL.oneOf, st.lists(individuals, min_size=1, max_size=2)).map(lambda part: [part]),
        parts(OWL.complementOf, nodes).map(lambda part: [part]),
        restriction(parts(OWL.someValuesFrom, nodes)),
        restriction(parts(OWL.someValuesFrom, nodes)),
        restriction(parts(OWL.allValuesFrom, nodes)),
        restriction(parts(OWL.hasValue, individuals)),
        restriction(parts(OWL.maxCardinality, bounds)),
        restriction(parts(OWL.maxQualifiedCardinality, bounds), parts(OWL.onClass, nodes)),
    ),
)

characteristics = st.sampled_from(
    [OWL[f"{kind}Property"] for kind in ["Functional", "InverseFunctional", "Symmetric", "Asymmetric", "Transitive", "Irreflexive"]]
)


def n_ary(kind: IRI, predicate: IRI, members: st.SearchStrategy[Term]) -> st.SearchStrategy[tuple[None, list[Part]]]:
    listed = st.lists(members, min_size=2, max_size=3, unique=True)
    return listed.map(lambda items: (None, [(RDF.type, kind), (predicate, items)]))


def statement(subjects: st.SearchStrategy[Term], part: st.SearchStrategy[Part]) -> st.SearchStrategy[tuple[Term, list[Part]]]:
    return st.tuples(subjects, part.map(lambda part: [part]))


inclusions = statement(nodes, parts(RDFS.subClassOf, nodes))
axioms = st.one_of(
    *[inclusions] * 6,
    statement(nodes, parts(OWL.equivalentClass, nodes)),
    statement(nodes, parts(OWL.disjointWith, nodes)),
    statement(nodes, parts(OWL.hasKey, st.lists(properties, min_size=1, max_size=2))),
    statement(properties, parts(RDFS.subPropertyOf, properties)),
    statement(properties, parts(RDFS.subPropertyOf, properties)),
    statement(properties, parts(OWL.equivalentProperty, properties)),
    statement(properties, parts(OWL.inverseOf, properties)),
    statement(properties, parts(OWL.propertyDisjointWith, properties)),
    statement(properties, parts(OWL.propertyChainAxiom, st.lists(properties, min_size=1, max_size=3))),
    statement(properties, parts(RDFS.domain, nodes)),
    statement(properties, parts(RDFS.range, nodes)),
    statement(properties, parts(RDF.type, characteristics)),
    statement(st.sampled_from(CLASSES), parts(OWL.sameAs, st.sampled_from(CLASSES))),
    statement(st.sampled_from(PROPERTIES), parts(OWL.sameAs, st.sampled_from(PROPERTIES))),
    n_ary(OWL.AllDisjointClasses, OWL.members, nodes),
    n_ary(OWL.AllDisjointProperties, OWL.members, properties),
    n_ary(OWL.AllDifferent, OWL.members, individuals),
    st.tuples(individuals, properties, individuals).map(
        lambda found: (
            None,
            [(OWL.sourceIndividual, found[0]), (OWL.assertionProperty, found[1]), (OWL.targetIndividual, found[2])],
        )
    ),
    statement(nodes, parts(RDF.type, st.just(OWL.Class))),
    statement(st.sampled_from(PROPERTIES), parts(RDF.type, st.just(OWL.ObjectProperty))),
)
data = st.one_of(
    st.tuples(individuals, st.sampled_from(PROPERTIES), individuals),
    st.tuples(individuals, st.just(RDF.type), nodes),
    st.tuples(individuals, st.just(RDF.type), nodes),
    st.tuples(individuals, st.just(OWL.sameAs), individuals),
)


def as_triples(statements: Sequence[tuple[Term | None, list[Part]]]) -> list[Triple]:
    """Statements in triples: nodes and list cells of their own where there is no subject and where the object is a list."""
    found: list[Triple] = []
    cells = (BlankNode(f"cell{number}") for number in range(10_000))
    for subject, described in statements:
        subject = next(cells) if subject is None else subject
        for predicate, value in described:
            if isinstance(value, list):
                items, value = value, RDF.nil
                for item in reversed(items):
                    cell = next(cells)
                    found += [(cell, RDF.first, item), (cell, RDF.rest, value)]
                    value = cell
            found.append((subject, predicate, value))
    return list(dict.fromkeys(found))


ontologies = st.builds(
    lambda *found: as_triples([statement for statements in found for statement in statements]),
    st.sampled_from([[], [(INVERSE, [(OWL.inverseOf, PROPERTIES[0])])]]),
    st.lists(expressions, max_size=6),
    st.lists(axioms, min_size=1, max_size=7),
)


def visible(model: Facts) -> set[Triple]:
    """The types and properties that have names, and equalities, of individuals."""
    found = set()
    for row in model[TRIPLE]:
        subject, predicate, object = row
        is_type = predicate == RDF.type and object in CLASSES
        is_equality = predicate == OWL.sameAs and object in INDIVIDUALS and subject != object
        if subject in INDIVIDUALS and (is_type or is_equality or predicate in PROPERTIES):
            found.add((subject, predicate, object))
    return found


some_data = st.lists(data, min_size=1, max_size=6)
THING_IN_A_RESTRICTION = triples_in("""
    _:r owl:onProperty :q ; owl:someValuesFrom owl:Thing . owl:Thing rdfs:subClassOf _:r .
    :A owl:onProperty :q ; owl:someValuesFrom _:r .
""")
A_FILLER_BELOW_ITSELF = triples_in("""
    _:one owl:onProperty :p ; owl:hasValue :b ; owl:allValuesFrom _:filler . _:two owl:onProperty :p ; owl:allValuesFrom _:filler .
    _:filler owl:onProperty :q ; owl:someValuesFrom :A . :q rdfs:subPropertyOf :q . :b a _:two .
""")


@given(ontologies, some_data)
@example(THING_IN_A_RESTRICTION, triples_in(":a :q :c ."))
@example(A_FILLER_BELOW_ITSELF, triples_in(":a :p :b ."))
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
def test_the_translation_derives_what_the_book_derives(ontology: list[Triple], facts: list[Triple]) -> None:
    book = evaluate(rulesets.load("owl2rl-full").program, {TRIPLE: [*ontology, *facts]})
    if any(row[1:] == (RDF.type, OWL.Nothing) for row in book[TRIPLE]):
        return  # by scm-cls, a member of owl:Nothing is a member of all classes; here that is an inconsistency and no more
    model = materialise(ontology, facts)
    assert visible(model) == visible(book)
    assert (FALSE in model) == (FALSE in book)


@given(ontologies, some_data, st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_translation_rests_on(ontology: list[Triple], facts: list[Triple], chance: random.Random) -> None:
    found = translate(ontology + facts)
    shuffled = [*ontology, *facts]
    chance.shuffle(shuffled)
    assert translate(shuffled) == found, "the order of the triples does not matter"
    assert len(set(found.rules)) == len(found.rules)
    names = {name for triple in facts for name in triple[1:] if name in CLASSES or name in PROPERTIES}
    schema = [triple for triple in ontology + facts if is_schema_triple(triple, found.vocabulary)]
    assert translate(schema, names=names) == found, "data does not matter"
    check(Program(found.rules))
    for rule in found.rules:
        assert rule.origin.axiom
        for atom in (rule.head, *rule.body_atoms()):
            if atom.predicate == TRIPLE:
                assert not isinstance(atom.terms[1], Variable), "properties are constants"
                assert atom.terms[1] != RDF.type or isinstance(atom.terms[2], IRI), "classes are constants"
            elif atom.predicate != FALSE:
                assert atom.predicate.startswith(AUXILIARY_PREFIX)


# ---------------------------------------------------------------------------------------------------------------- whole ontologies


def test_many_alike_restrictions_make_few_rules() -> None:
    restriction = "[ owl:onProperty :p ; owl:someValuesFrom :C ]"
    lines = [f":Left{n} rdfs:subClassOf {restriction} . {restriction} rdfs:subClassOf :Right{n} ." for n in range(100)]
    found = translate(triples_in(f":C a owl:Class . {' '.join(lines)}"))
    assert len(found.rules) < 4 * 100


def nested(depth: int, both: bool) -> list[Triple]:
    """A class of those who have a `p` (and, if asked for, also a `q`) of the class before, many times over."""
    statements: list[tuple[Term | None, list[Part]]] = []
    inner: Term = CLASSES[0]
    for level in range(depth):
        some = [BlankNode(f"some{level}{property.value[-1]}") for property in PROPERTIES[: 2 if both else 1]]
        for node, property in zip(some, PROPERTIES, strict=False):
            statements.append((node, [(OWL.onProperty, property), (OWL.someValuesFrom, inner)]))
        inner = BlankNode(f"all{level}")
        statements.append((inner, [(OWL.intersectionOf, some)]))
    return as_triples([*statements, (inner, [(RDFS.subClassOf, CLASSES[1])])])


@pytest.mark.long
def test_deep_expressions_are_written_and_judged_without_end() -> None:
    found = translate(nested(2_000, both=False))
    assert 2_000 / 16 < len(found.rules) < 1_000
    assert all(len(rule.origin.axiom or "") < 5_000 for rule in found.rules)


def test_shared_expressions_do_not_multiply() -> None:
    found = translate(nested(50, both=True))
    assert len(found.rules) < 4 * 50
    assert all(len(rule.body) <= 16 and len(rule.origin.axiom or "") < 5_000 for rule in found.rules)


def test_the_axioms_of_a_rule_are_given_one_by_one() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(
        b"""@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :A rdfs:subClassOf _:b . _:b owl:equivalentClass [ owl:onProperty :p ; owl:hasValue "; " ] . :x a :A .""",
        format="turtle",
    )
    value = IRI("http://e/x"), IRI("http://e/p"), Literal("; ")
    (axioms,) = {rule.origin.axioms for rule in reasoner.explain(value).rules}
    first, second = axioms
    assert first.startswith("SubClassOf(e:A _:") and second.endswith(' DataHasValue(e:p "; "))')
    assert reasoner.explain(value).rules[-1].origin.axiom == f"{first}; {second}"
    assert len(reasoner.axioms_of(reasoner.explain(value), {"": "http://e/"})) == 3  # that of the individual, too


def test_class_expressions_are_no_axioms_of_a_proof() -> None:
    """An expression that several axioms have is translated to rules of its own, which none of them is the origin of."""
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(
        b"""@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        _:both a owl:Class ; owl:intersectionOf (:C :D) ; rdfs:subClassOf :H .
        :F rdfs:subClassOf _:both . :G rdfs:subClassOf _:both . :f a :F .""",
        format="turtle",
    )
    proof = reasoner.explain((IRI("http://e/f"), RDF.type, IRI("http://e/C")))
    assert {rule.origin.expression for rule in proof.rules} == {None, "ObjectIntersectionOf(e:C e:D)"}
    assert reasoner.axioms_of(proof, {"": "http://e/"}) == ("ClassAssertion(:F :f)", "SubClassOf(:F ObjectIntersectionOf(:C :D))")


def test_namespaces_without_a_prefix_get_one_from_their_last_part() -> None:
    names = [
        "http://a.org/onto/univ-bench.owl#C",
        "http://b.org/onto/univ-bench.owl#C",
        "http://c.org/owl#C",
        "urn:x",
        "plain",
    ]
    ontology = [(IRI(name), RDFS.subClassOf, IRI("http://given.org/B")) for name in names]
    axioms = [rule.origin.axiom for rule in translate(ontology, {"g": "http://given.org/"}).rules]
    assert axioms == [f"SubClassOf({name} g:B)" for name in ("<plain>", "ns:x", "owl_2:C", "univ-bench:C", "univ-bench_2:C")]


@needs_suite("lubm")
@pytest.mark.long
def test_the_lubm_ontology() -> None:
    def read(path: Path, format: pyoxigraph.RdfFormat) -> list[Triple]:
        base = "http://swat.cse.lehigh.edu/onto/univ-bench.owl"
        quads = pyoxigraph.parse(path=str(path), format=format, base_iri=base)
        return [(from_oxigraph(q.subject), from_oxigraph(q.predicate), from_oxigraph(q.object)) for q in quads]

    ub = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
    ontology = read(SUITE / "univ-bench.owl", pyoxigraph.RdfFormat.RDF_XML)
    found = translate(ontology, {"ub": ub})
    texts = rule_set(found.rules)
    assert len(found.rules) == 100
    assert not any(AUXILIARY_PREFIX in atom.predicate for rule in found.rules for atom in (rule.head, *rule.body_atoms()))
    lean = parse(f"@prefix ub: <{ub}> . ub:Chair[?x] :- ub:Person[?x], ub:headOf[?x, ?y], ub:Department[?y] .").rules
    assert rule_set(lean) <= texts
    assert [warning.axiom.partition("(")[0] for warning in found.warnings] == ["EquivalentClasses"] * 6 + ["SubClassOf"] * 2
    ours = read(Path(__file__).parents[2] / "kg_reasoner" / "lubm" / "ontology.ttl", pyoxigraph.RdfFormat.TURTLE)
    assert rule_set(translate(ours).rules) == texts, "our own text of the ontology says the same"

    facts = [
        (IRI(ub + subject), RDF.type if predicate == "a" else IRI(ub + predicate), IRI(ub + object))
        for subject, predicate, object in (line.split() for line in A_DEPARTMENT.strip().splitlines())
    ]
    model = materialise(ontology, facts)
    types = {
        (str(row[0])[len(ub) + 1 : -1], str(row[2])[len(ub) + 1 : -1])
        for row in model[TRIPLE]
        if row[1] == RDF.type and str(row[2]).startswith(f"<{ub}")
    } - {(subject, object) for subject, predicate, object in (line.split() for line in A_DEPARTMENT.strip().splitlines())}
    assert {cls for name, cls in types if name == "ada"} == {"Professor", "Faculty", "Employee", "Person", "Chair"}
    assert {cls for name, cls in types if name == "bob"} == {"Person", "Student"}, "by scm-svf1, without a course"
    assert {cls for name, cls in types if name == "carl"} == {"Person", "Employee", "TeachingAssistant", "Student"}
    assert {cls for name, cls in types if name == "uni"} == {"Organization", "University"}
    book = evaluate(rulesets.load("owl2rl-full").program, {TRIPLE: [*ontology, *facts]})
    named = {row for row in book[TRIPLE] if str(row[0]).startswith(f"<{ub}") and str(row[2]).startswith(f"<{ub}")}
    individuals = {subject for subject, _, _ in facts} | {object for _, predicate, object in facts if predicate != RDF.type}
    assert {row for row in named if row[0] in individuals and row[1] != OWL.sameAs} == {
        row for row in model[TRIPLE] if row[0] in individuals and row[1] != OWL.sameAs and row[2] != OWL.Thing
    }


A_DEPARTMENT = """
ada a FullProfessor
ada headOf cs
cs a Department
cs subOrganizationOf faculty
faculty subOrganizationOf uni
ada undergraduateDegreeFrom uni
bob a GraduateStudent
bob advisor ada
carl teachingAssistantOf logic
carl takesCourse logic
carl worksFor cs
logic a Course
"""

# --------------------------------------------------------------------------------------------------------------- parts of the way

AUXILIARY = ["aux1", "aux2", "aux3"]
variables = st.sampled_from([Variable(name) for name in "xyz"])
terms = st.one_of(variables, variables, variables, individuals)
unary = st.builds(lambda name, term: Atom(name, (term,)), st.sampled_from([*AUXILIARY, *AUXILIARY, "a", "b"]), terms)
binary = st.builds(lambda left, right: Atom("edge", (left, right)), terms, terms)


@st.composite
def clauses(draw: st.DrawFn) -> DraftRule:
    head = draw(unary)
    body = draw(st.lists(st.one_of(unary, unary, binary), max_size=3))
    bound = {term for atom in body for term in atom.terms}
    if isinstance(head.terms[0], Variable) and head.terms[0] not in bound:
        body.append(draw(st.builds(lambda name, other: Atom(name, (head.terms[0], other)), st.just("edge"), terms)))
    return DraftRule(head, tuple(body))


@given(
    st.lists(clauses(), max_size=8),
    st.sets(st.tuples(individuals, individuals), max_size=5),
    st.sets(st.tuples(individuals), max_size=3),
)
@settings(max_examples=EXAMPLES)
def test_unfolding_changes_nothing_that_can_be_seen(
    given: list[DraftRule], edges: set[tuple[Term, Term]], marked: set[tuple[Term]]
) -> None:
    facts = {"edge": edges, "a": marked}
    unfolded = unfold(given, AUXILIARY)
    before, after = (
        evaluate(Program(tuple(Rule(clause.head, clause.body) for clause in found)), facts) for found in (given, unfolded)
    )
    assert all(before.get(name) == after.get(name) for name in ("a", "b", "edge"))
    assert len(unfolded) <= len(given)


def test_unfolding_prefers_bodies_to_predicates() -> None:
    rules = parse("aux(?y) :- edge(?x, ?y), a(?x) . b(?x) :- aux(?x), aux(?z), edge(?x, ?z) .").rules
    found = unfold([DraftRule(rule.head, rule.body) for rule in rules], ["aux"])
    expected = parse("b(?x) :- edge(?y, ?x), a(?y), edge(?u, ?z), a(?u), edge(?x, ?z) .").rules
    assert rule_set([Rule(clause.head, clause.body) for clause in found]) == rule_set(expected)


numbers = st.integers(0, 7)


@given(st.dictionaries(numbers, st.lists(numbers, max_size=3)), st.sets(numbers))
@settings(max_examples=2 * EXAMPLES)
def test_covers_imply_the_whole_order(edges: dict[int, list[int]], chosen: set[int]) -> None:
    def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
        while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
            pairs = pairs | more
        return pairs

    every = closure({(a, b) for a, above in edges.items() for b in above})
    covers = set(Order(edges).covers(sorted(chosen)))
    assert closure(covers) == {pair for pair in every if chosen.issuperset(pair)}
    nodes = {*edges, *(b for above in edges.values() for b in above)}
    below = chosen & nodes | {a for a, b in every if b in chosen}
    assert set(filter(Order(edges).below(chosen), range(9))) == below


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("leads_to_the", ["first", "last"])
def test_a_cyclic_list_of_any_length_is_a_problem(length: int, leads_to_the: str) -> None:
    name, cells = IRI("http://e/A"), [BlankNode(f"l{number}") for number in range(length)]
    end = cells[0] if leads_to_the == "first" else cells[-1]
    triples: list[Triple] = [(name, OWL.intersectionOf, cells[0]), *((cell, RDF.first, IRI("http://e/B")) for cell in cells)]
    triples += ((cell, RDF.rest, rest) for cell, rest in zip(cells, [*cells[1:], end], strict=True))
    (warning,) = translate(triples).warnings
    assert warning.reason == "the list is cyclic"
