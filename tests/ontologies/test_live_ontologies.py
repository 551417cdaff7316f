"""A change of an axiom is followed, and what follows is what a new translation of all triples says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.loaders.ontology import owl
from kg_reasoner.loaders.ontology.following.units import linked_triples
from kg_reasoner.lubm import ontology_path
from kg_reasoner.program import Rule
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Term, Triple
from tests.helpers.broad_ontologies import broad_ontologies
from tests.helpers.effort import PHASES, examples
from tests.helpers.random_ontologies import ontologies

Make: TypeAlias = Callable[..., list[Triple]]

SPACES = (("http://a.org/", "ABCDpq"), ("http://b.org/x#", "Er"), ("http://c.org/x#", "Fs"), ("http://d.org/d#", "G"))
NAMES = [IRI(space + name) for space, names in SPACES for name in names]
PROPERTIES = [name for name in NAMES if name.value[-1].islower()]
CLASSES = [name for name in NAMES if name not in PROPERTIES]
NODES = [BlankNode(f"n{number}") for number in range(4)]

_classes, _properties, _nodes = st.sampled_from(CLASSES), st.sampled_from(PROPERTIES), st.sampled_from(NODES)
_any_class = st.one_of(_classes, _classes, _nodes, st.just(OWL.Thing))


def _triples(subject: st.SearchStrategy[Term], predicates: list[Term], value: st.SearchStrategy[Term]) -> st.SearchStrategy[Triple]:
    return st.tuples(subject, st.sampled_from(predicates), value)


_between_names = st.one_of(
    _triples(_classes, [RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith], _classes),
    _triples(_properties, [RDFS.subPropertyOf, OWL.equivalentProperty, OWL.inverseOf, OWL.propertyDisjointWith], _properties),
    _triples(_properties, [RDFS.domain, RDFS.range], st.one_of(_classes, st.just(XSD.integer))),
    _triples(_properties, [RDF.type], st.sampled_from([OWL.FunctionalProperty, OWL.TransitiveProperty, OWL.SymmetricProperty])),
    _triples(_classes, [RDF.type], st.just(OWL.Class)),
    _triples(_properties, [RDF.type], st.sampled_from([OWL.ObjectProperty, OWL.DatatypeProperty])),
)
_others = st.one_of(
    _triples(_nodes, [OWL.onProperty], _properties),
    _triples(_nodes, [OWL.someValuesFrom, OWL.allValuesFrom, OWL.complementOf], _any_class),
    _triples(_nodes, [RDFS.subClassOf, OWL.equivalentClass], _any_class),
    _triples(_any_class, [RDFS.subClassOf], _nodes),
    _triples(_classes, [RDF.type], st.just(RDFS.Datatype)),
    _triples(_classes, [OWL.onProperty], _properties),
    _triples(_classes, [OWL.someValuesFrom], _classes),
    _triples(_nodes, [OWL.hasValue], st.one_of(_classes, st.just(IRI("http://d.org/d#x")))),
)
_triple = st.one_of(_between_names, _between_names, _others)


def read(text: str) -> set[Triple]:
    """Return the triples of a Turtle document."""
    reasoner = Reasoner()
    reasoner.load(text.encode(), format="turtle")
    return set(reasoner.triples())


def shown(rules: tuple[Rule, ...]) -> dict[Rule, str | None]:
    return {rule: rule.origin.axiom for rule in rules}


@settings(max_examples=examples(200), deadline=None, phases=PHASES)
@given(st.lists(_triple, max_size=25, unique=True), st.lists(st.lists(_triple, min_size=1, max_size=3), max_size=12))
def test_a_live_translation_says_what_a_new_one_says(start: list[Triple], changes: list[list[Triple]]) -> None:
    follow(start, changes)


def apart(
    gone: set[Triple], new: set[Triple], before: set[Triple], after: set[Triple]
) -> tuple[set[Triple], set[Triple], tuple[set[Triple], set[Triple]]]:
    """Return the changed triples without blank nodes; and all that the blank nodes of the others are in, before and after."""
    nodes = {term for triple in gone | new for term in triple if isinstance(term, BlankNode)}
    linked: set[Triple] = set()
    while found := {triple for triple in before | after if not nodes.isdisjoint(triple)} - linked:
        linked |= found
        nodes |= {term for triple in found for term in triple if isinstance(term, BlankNode)}
    return gone - linked, new - linked, (linked & before, linked & after)


def follow(start: Iterable[Triple], changes: list[list[Triple]]) -> None:
    """Add triples that are not there and remove those that are, and compare with new translations."""
    there = set(start)
    live = owl.follow(there)
    for change in changes:
        gone, new = there.intersection(change), set(change) - there
        there = (there | new) - gone
        before = shown(tuple(live.rules.values()))
        followed = live.change(*apart(gone, new, (there | gone) - new, there))
        fresh = owl.translate(there)
        if followed is None:
            live = owl.follow(there)
        else:
            after = {rule: axiom for rule, axiom in before.items() if rule not in followed.gone}
            assert after.keys().isdisjoint(followed.new)
            assert after | shown(tuple(followed.new)) == shown(fresh.rules)
        assert shown(tuple(live.rules.values())) == shown(fresh.rules)
        assert live.warnings == fresh.warnings
        assert live.vocabulary == fresh.vocabulary


# --- few names, and restrictions of them above and below each other

_few_classes, _few_properties = st.sampled_from(CLASSES[:4]), st.sampled_from(PROPERTIES[:2])
_order = st.one_of(
    _triples(_few_classes, [RDFS.subClassOf], _few_classes),
    _triples(_few_classes, [RDFS.subClassOf], _few_classes),
    _triples(_few_classes, [OWL.equivalentClass], _few_classes),
    _triples(_few_classes, [RDF.type], st.just(OWL.Class)),
    _triples(_few_properties, [RDFS.subPropertyOf, OWL.equivalentProperty], _few_properties),
    _triples(_few_properties, [RDF.type], st.just(OWL.ObjectProperty)),
)


@st.composite
def restrictions(draw: st.DrawFn) -> set[Triple]:
    """Return restrictions, each above or below some classes."""
    kind, found = draw(st.sampled_from([OWL.someValuesFrom, OWL.someValuesFrom, OWL.allValuesFrom])), set[Triple]()
    for node in NODES[: draw(st.integers(2, len(NODES)))]:
        found |= {(node, OWL.onProperty, draw(_few_properties)), (node, kind, draw(_few_classes))}
        found |= {(name, RDFS.subClassOf, node) for name in draw(st.sets(_few_classes, max_size=2))}
        found |= {(node, RDFS.subClassOf, name) for name in draw(st.sets(_few_classes, max_size=2))}
    return found


@st.composite
def definitions(draw: st.DrawFn) -> set[Triple]:
    """Return the definition of a named class by others and restrictions."""
    name, kind = draw(_few_classes), draw(st.sampled_from([OWL.intersectionOf, OWL.intersectionOf, OWL.unionOf, OWL.complementOf]))
    nodes = st.sampled_from([*NODES, BlankNode("a0"), BlankNode("z0")])
    operands = draw(st.lists(st.one_of(_few_classes, nodes, nodes), min_size=1, max_size=3))
    if kind == OWL.complementOf:
        return {(name, kind, operands[0])}
    cells = [BlankNode(f"l{name.value[-1]}{number}") for number in range(len(operands))]
    firsts = {(cell, RDF.first, operand) for cell, operand in zip(cells, operands, strict=True)}
    rests: set[Triple] = {(cell, RDF.rest, rest) for cell, rest in zip(cells, [*cells[1:], RDF.nil], strict=True)}
    return {(name, kind, cells[0]), *firsts, *rests}


@settings(max_examples=examples(600), deadline=None, phases=PHASES)
@given(
    restrictions(),
    st.lists(definitions(), max_size=2),
    st.lists(_order, max_size=6),
    st.lists(st.lists(_order, min_size=1, max_size=2), min_size=1, max_size=8),
)
@pytest.mark.long
def test_restrictions_are_ordered_as_in_a_new_translation(
    given: set[Triple], defined: list[set[Triple]], order: list[Triple], changes: list[list[Triple]]
) -> None:
    follow({*order}.union(given, *defined), changes)


@settings(max_examples=examples(60), deadline=None, phases=PHASES)
@given(
    st.sampled_from(list(STRATEGIES)),
    st.lists(st.lists(st.one_of(_triple, _triples(_nodes, [RDF.type, *PROPERTIES], _classes)), min_size=1, max_size=4), max_size=8),
)
def test_a_reasoner_that_follows_axioms_knows_what_a_new_one_knows(strategy: str, changes: list[list[Triple]]) -> None:
    base = [(node, RDF.type, cls) for node, cls in zip(NODES, CLASSES, strict=False)]
    base += [(NODES[place], name, NODES[place - 1]) for place, name in enumerate(PROPERTIES)]
    reasoner = Reasoner(ruleset="owl2rl", maintenance=strategy)
    reasoner.add_triples(base)
    there = set(base)
    for change in changes:
        gone, new = there.intersection(change), set(change) - there
        there = (there | new) - gone
        reasoner.remove_triples(gone)
        reasoner.add_triples(new)
        fresh = Reasoner(ruleset="owl2rl")
        fresh.add_triples(there)
        assert set(reasoner.triples()) == set(fresh.triples())
        assert shown(reasoner.rules) == shown(fresh.rules)
        assert set(reasoner.warnings) == set(fresh.warnings)
        assert reasoner.is_consistent() == fresh.is_consistent()
    copied = Reasoner(ruleset="owl2rl")
    copied.add_triples(there)
    assert set(copied.triples()) == set(reasoner.triples())


ONTOLOGY = """
    @prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :A a owl:Class . :B a owl:Class . :C a owl:Class ; rdfs:subClassOf :B . :D rdfs:subClassOf :C .
    :p a owl:ObjectProperty . :r a owl:DatatypeProperty . :q rdfs:domain :A .
    [ owl:onProperty :p ; owl:someValuesFrom :A ] rdfs:subClassOf :D .
    [ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :C .
    [ owl:onProperty :p ; owl:hasValue <http://named.org/x> ] rdfs:subClassOf :C .
"""


@pytest.mark.parametrize(
    ("axiom", "is_followed"),
    [
        (":D rdfs:subClassOf :B", True),
        (":new rdfs:subClassOf :D", True),
        (":D rdfs:subClassOf :A", True),
        (":A rdfs:subClassOf :B", True),  # so is some p.A below some p.B
        (":A rdfs:subClassOf :D", True),
        (":q rdfs:range xsd:integer", True),
        (":q rdfs:subPropertyOf :p", True),
        (":q a owl:TransitiveProperty", True),
        (":s a owl:ObjectProperty", True),
        (":q a owl:DatatypeProperty", False),  # its domain has another text
        (":E a owl:Class", True),
        ("<http://new.org/A> rdfs:subClassOf <http://other.org/B>", True),
        ("<http://named.org/a> rdfs:subClassOf :A", False),  # its namespace gets a prefix
        ("<http://deep.org/example#A> rdfs:subClassOf :A", False),  # another prefix is this one
        (":A rdfs:subClassOf owl:Thing", False),
        (":A owl:sameAs :B", False),
        (":A rdfs:subClassOf [ owl:complementOf :B ]", False),
    ],
)
def test_a_change_is_followed_where_it_has_no_other_effects(axiom: str, is_followed: bool) -> None:
    prefixes = ONTOLOGY.partition(":A a")[0]
    live = owl.follow(read(ONTOLOGY))
    rules = shown(tuple(live.rules.values()))
    added = set(read(f"{prefixes} {axiom} ."))
    assert (live.change((), added) is not None) == is_followed
    if is_followed:
        assert live.change(added, ()) is not None
        assert shown(tuple(live.rules.values())) == rules


@pytest.mark.parametrize("limit", ["live_steps._MOST", "linked._LARGEST"])
def test_a_change_of_too_many_restrictions_is_not_followed(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    axiom = read(f"{ONTOLOGY.partition(':A a')[0]} :A rdfs:subClassOf :B .")
    assert owl.follow(read(ONTOLOGY)).change((), axiom) is not None
    monkeypatch.setattr(f"kg_reasoner.loaders.ontology.following.{limit}", 0)
    assert owl.follow(read(ONTOLOGY)).change((), axiom) is None


CYCLE = "_:r owl:onProperty :p ; owl:someValuesFrom :C ; rdfs:subClassOf :A . :B rdfs:subClassOf _:s . _:s owl:onProperty :p ; "
CYCLE += "owl:someValuesFrom :C ."
STEP = "_:r owl:onProperty :p ; owl:someValuesFrom :A . _:s owl:onProperty :p ; owl:someValuesFrom :B . :A rdfs:subClassOf _:r . "
STEP += "_:s rdfs:subClassOf :B ."
DEFINED = "_:r owl:onProperty :p ; owl:someValuesFrom :A . _:s owl:onProperty :p ; owl:someValuesFrom :B . "
DEFINED += ":C rdfs:subClassOf _:r . :D owl:intersectionOf ( :E _:s ) ."


@pytest.mark.parametrize(
    ("ontology", "axiom"),
    [
        (f"{CYCLE} :C rdfs:subClassOf :D .", ":D rdfs:subClassOf :C"),  # C is a subclass of itself then, and B of A
        (f"{CYCLE} :D rdfs:subClassOf :C .", ":C rdfs:subClassOf :D"),
        (STEP, ":A rdfs:subClassOf :B"),  # some p.A is below some p.B then, and A below B by that alone
        (DEFINED, ":A rdfs:subClassOf :B"),  # D remains defined by some p.B
    ],
)
def test_a_step_goes_with_its_reason(ontology: str, axiom: str) -> None:
    prefixes = ONTOLOGY.partition(":A a")[0]
    there, added = read(prefixes + ontology), list(read(f"{prefixes} {axiom} ."))
    follow(there, [added])
    follow({*there, *added}, [added])


@pytest.mark.long
def test_each_triple_of_lubm_goes_and_comes_back() -> None:
    graph = Reasoner()
    graph.load(ontology_path())
    there = set(graph.triples())
    for triple in sorted(there, key=str):
        follow(there, [[triple], [triple]])


# --- axioms and their lists come and go


@settings(max_examples=examples(300), deadline=None, phases=PHASES)
@given(st.sampled_from([broad_ontologies, ontologies]), st.integers(0, 10**6), st.sampled_from([3, 6, 12]), st.data())
@pytest.mark.long
def test_parts_of_random_ontologies_come_and_go(make: Make, seed: int, size: int, data: st.DataObject) -> None:
    there = [triple for triple in sorted(make(seed, 1, size=size), key=str) if triple[1] != OWL.sameAs]
    assume(there)
    some = st.one_of(st.sampled_from(linked_triples(there)), st.lists(st.sampled_from(there), min_size=1, max_size=2, unique=True))
    follow(there, data.draw(st.lists(some, min_size=1, max_size=12)))


@settings(max_examples=examples(100), deadline=None, phases=PHASES)
@given(
    st.sampled_from(["owl2rl", "owl2rl", "owl2rl-full", "owl2el", "owl2el+owl2rl", "owl2el+owl2rl"]),
    st.sampled_from(list(STRATEGIES)),
    st.sampled_from([broad_ontologies, ontologies]),
    st.integers(0, 10**6),
    st.data(),
)
@pytest.mark.long
def test_a_reasoner_with_parts_that_come_and_go_says_what_a_new_one_says(
    ruleset: str, strategy: str, make: Make, seed: int, data: st.DataObject
) -> None:
    there = set(make(seed, 1))
    assume(there)
    some = st.one_of(
        st.sampled_from(linked_triples(sorted(there, key=str))), st.lists(st.sampled_from(sorted(there, key=str)), max_size=2)
    )
    reasoner = Reasoner(ruleset=ruleset, maintenance=strategy)
    reasoner.add_triples(there)
    reasoner.materialise()
    for change in data.draw(st.lists(some, max_size=6)):
        gone, new = there.intersection(change), set(change) - there
        there = (there | new) - gone
        with reasoner.transaction() as transaction:
            transaction.remove_triples(gone)
            transaction.add_triples(new)
        fresh = Reasoner(ruleset=ruleset)
        fresh.add_triples(there)
        assert set(reasoner.triples()) == set(fresh.triples())
        assert set(reasoner.warnings) == set(fresh.warnings)
        assert reasoner.is_consistent() == fresh.is_consistent()


@pytest.mark.parametrize(
    "axiom",
    [
        ":C owl:hasKey ( :p )",
        ":p owl:propertyChainAxiom ( :q :q )",
        ":A owl:disjointUnionOf ( :B :C )",
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B )",
        "[] a owl:AllDisjointProperties ; owl:members ( :p :q )",
        "[] a owl:AllDifferent ; owl:members ( :a :b )",
        "[] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetIndividual :b",
        "[] a owl:AllDisjointProperties ; owl:members ( :p :p )",
    ],
)
def test_an_axiom_stays_while_another_list_states_it(axiom: str) -> None:
    prefixes = ONTOLOGY.partition(":A a")[0]
    there = read(f"{prefixes} :C rdfs:subClassOf :B . {axiom} . {axiom} . {axiom} .")
    first, second, third = (part for part in linked_triples(sorted(there, key=str)) if len(part) > 1)
    follow(there, [first, second, first, third, first, first, second, [*first, *third]])


def test_a_name_in_a_malformed_part_has_no_prefix_when_it_is_a_name_nowhere_else() -> None:
    (first, second, *_), (cls, *_), name = NODES, CLASSES, IRI("http://c.org/x#s")
    malformed = [(first, OWL.onProperty, name)]
    restriction = [(second, OWL.onProperty, name), (second, OWL.someValuesFrom, cls), (second, RDFS.subClassOf, cls)]
    follow([], [[*malformed, *restriction], restriction, restriction, malformed])


# --- expressions that come and go


@st.composite
def expressions(draw: st.DrawFn) -> set[Triple]:
    """Return an expression with an axiom about it; it may be inside another one."""
    node = draw(st.sampled_from([BlankNode(f"{letter}{number}") for letter in "az" for number in range(3)]))
    inner = BlankNode(f"{node.label}i")
    filler = draw(st.one_of(_few_classes, _few_classes, st.just(inner)))
    kind = draw(
        st.sampled_from([OWL.someValuesFrom, OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue, OWL.complementOf, OWL.unionOf])
    )
    found: set[Triple] = {(node, kind, filler)}
    if kind == OWL.unionOf:
        cell = BlankNode(f"{node.label}l")
        found = {(node, kind, cell), (cell, RDF.first, filler), (cell, RDF.rest, RDF.nil)}
    elif kind != OWL.complementOf:
        found.add((node, OWL.onProperty, draw(_few_properties)))
    if filler == inner:
        found |= {(inner, OWL.onProperty, draw(_few_properties)), (inner, OWL.someValuesFrom, draw(_few_classes))}
    axioms = _triples(_few_classes, [RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith], st.just(node))
    found |= draw(st.sets(st.one_of(axioms, axioms, _triples(st.just(node), [RDFS.subClassOf], _few_classes)), max_size=2))
    return found | draw(st.sets(st.just((node, RDF.type, OWL.Class)), max_size=1))


@settings(max_examples=examples(600), deadline=None, phases=PHASES)
@given(
    st.lists(st.one_of(expressions(), expressions(), definitions()), max_size=4),
    st.lists(_order, max_size=6),
    st.lists(
        st.one_of(expressions(), expressions(), definitions(), st.sets(_order, min_size=1, max_size=2)), min_size=1, max_size=8
    ),
)
def test_expressions_come_and_go_as_in_a_new_translation(
    given: list[set[Triple]], order: list[Triple], changes: list[set[Triple]]
) -> None:
    follow({*order}.union(*given), [list(change) for change in changes])


PART = "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "


@pytest.mark.parametrize(
    ("expression", "is_followed"),
    [
        ("a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :C", True),
        ("a owl:Class ; owl:intersectionOf ( :A [ owl:onProperty :p ; owl:hasValue :x ] )", True),
        ("owl:unionOf ( :A [ owl:complementOf :B ] )", True),
        ("owl:onProperty :p ; owl:allValuesFrom owl:Thing", False),
        ("owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom :C", False),
    ],
)
@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_a_new_expression_costs_no_translation(
    strategy: str, expression: str, is_followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = read(f"{ONTOLOGY} :a :p [ a :A ] . :b :p [ a :C ] . :x a :A, :B . :y :p :x .")
    part = read(f"{PART} :E owl:equivalentClass [ {expression} ] .")
    reasoner, other = (Reasoner(ruleset="owl2rl", maintenance=strategy) for _ in range(2))
    reasoner.add_triples(facts)
    other.add_triples(facts | part)
    before, warnings = set(reasoner.triples()), reasoner.warnings
    after, after_warnings = set(other.triples()), other.warnings
    translated = []
    monkeypatch.setattr(
        owl, "follow", lambda *given, follow=owl.follow, **options: translated.append(True) or follow(*given, **options)
    )
    for _ in range(2):
        reasoner.add_triples(part)
        assert set(reasoner.triples()) == after
        assert set(reasoner.warnings) == set(after_warnings)
        assert all(reasoner.explain(triple) is not None for triple in after - before)
        reasoner.remove_triples(part)
        assert set(reasoner.triples()) == before
        assert reasoner.warnings == warnings
    assert bool(translated) != is_followed
