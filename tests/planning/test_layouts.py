"""The layouts of triples: the same questions, asked of each of them, have the same answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import get_args

import numpy as np
import pytest

from kg_reasoner.language.parser import parse
from kg_reasoner.planning.catalog import RelationCatalog, StoredRule, layout_for
from kg_reasoner.planning.expansion import substitute
from kg_reasoner.planning.layouts.property_tables import FEW, PropertyTables
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.program import TRIPLE, Rule
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.relations.lookups import Which
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF

LAYOUTS = (PropertyTables, TripleTable)

EXPLICIT = "x p y, x q z, y p z, y r y, z a C, z a D, x a C, p a Symmetric, C sub D, p p p"
DERIVED = "y p x, y a C, C a Symmetric"

# What a rule derives from these triples in one step.
STEPS = {
    "[?y, ?p, ?x] :- [?x, ?p, ?y], [?p, rdf:type, :Symmetric], FILTER(?p != rdf:type)": "y p x, z p y, x p y, p p p",
    "[?x, rdf:type, :D] :- [?x, rdf:type, ?c], [?c, :sub, :D]": "x a D, y a D, z a D",
    "[?x, :known, ?x] :- [?x, ?p, ?y]": "x known x, y known y, z known z, p known p, C known C",
    "[?x, :same, ?p] :- [?x, ?p, ?x]": "y same r, p same p",
    "[?x, :one, ?x] :- [?x, rdf:type, ?c], NOT [?x, :p, ?z]": "z one z, C one C",
    "[?x, :has, ?p] :- [?x, ?p, :D]": "C has sub, z has a",
    "[?x, :no_class, ?p] :- [?x, ?p, ?z], NOT [:x, rdf:type, ?p]": "x no_class p, x no_class q, x no_class a, y no_class p, "
    "y no_class r, y no_class a, z no_class a, C no_class sub, C no_class a, p no_class p, p no_class a",
}

# Rules that property tables cannot expand.
UNEXPANDABLE = (
    "[?y, ?q, ?x] :- [?x, ?p, ?y], [?p, :inverse, ?q]",
    "[?y, ?p, ?x] :- [?x, ?p, ?y], [?p, rdf:type, :Symmetric]",  # ?p may be rdf:type
    "[?x, ?p, ?y] :- [?x, :sub, ?y], [?p, rdf:type, :Symmetric]",
    "[?x, :p, ?y] :- [?x, :p, ?y], NOT [?x, ?q, ?y]",
    "[?x, :p, ?n] :- [?x, :p, ?y], AGGREGATE([?z, ?q, ?y], [?z, ?r, ?y] ON ?y BIND COUNT(?z) AS ?n)",
)

Triple = tuple[int, ...]
WHICH: tuple[Which, ...] = get_args(Which)


def term(name: str) -> IRI:
    return RDF.type if name == "a" else IRI(f"http://example.org/{name}")


def rule_of(text: str) -> Rule:
    return parse(f"PREFIX : <http://example.org/> {text} .").rules[0]


class World:
    """A catalogue with the triples above, some of them explicit, and what there is according to Python sets."""

    def __init__(self, layout: type[TripleLayout]) -> None:
        self.dictionary = Dictionary()
        self.database = Database()
        self.catalog = RelationCatalog(self.dictionary, self.database, layout)
        self.layout = self.catalog.layout
        self.explicit, derived = self.ids(EXPLICIT), self.ids(DERIVED)
        assert self.layout.store(rows(self.explicit)).all()
        for triple in derived:
            relation, values = self.layout.place(*triple)
            self.database.load(relation, rows([values]), 0)
        self.all = self.explicit | derived

    def ids(self, text: str) -> set[Triple]:
        """Triples as ids."""
        return {tuple(self.dictionary.encode(term(name)) for name in part.split()) for part in text.split(", ")}

    def expected(self, which: Which) -> set[Triple]:
        return {"all": self.all, "explicit": self.explicit, "inferred": self.all - self.explicit}[which]


@pytest.fixture(params=LAYOUTS, ids=["property tables", "triple table"])
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def rows(triples: Iterable[Triple]) -> Ids:
    return np.array(list(triples), np.int32)


def as_set(found: Ids) -> set[Triple]:
    triples = list(map(tuple, found.tolist()))
    assert len(set(triples)) == len(triples)
    return set(triples)


def fits(triple: Triple, pattern: tuple[int | None, ...]) -> bool:
    return all(wanted in (None, term) for wanted, term in zip(pattern, triple, strict=True))


def check(world: World) -> None:
    """Ask every question about the triples that are there."""
    layout, names = world.layout, range(len(world.dictionary))
    patterns = list(itertools.product([None, *names], repeat=3))
    kind = world.dictionary.encode(RDF.type)
    for which in WHICH:
        expected = world.expected(which)
        assert as_set(layout.triples(which)) == expected
        for pattern in patterns:
            assert as_set(layout.match(*pattern, which, None)) == {triple for triple in expected if fits(triple, pattern)}
        for name in names:
            assert as_set(layout.triples_of(name, which=which)) == {triple for triple in expected if triple[1] == name}
        for name in names:
            assert as_set(layout.triples_of(kind, name, which)) == {triple for triple in expected if triple[1:] == (kind, name)}
            chosen = layout.select(lambda p, c, n=name: (p == n) | ((p == kind) & (c == n)), which)
            assert as_set(chosen) == {(s, p, o) for s, p, o in expected if p == name or (p == kind and o == name)}
    everything = rows(sorted(itertools.product(names, repeat=3)))
    for some in (everything, everything[:FEW]):
        assert [tuple(triple) in world.explicit for triple in some.tolist()] == layout.are_explicit(some).tolist()
    assert sum(map(world.database.size, layout.held)) == len(world.all)
    for name in names:
        related = {term for s, p, o in world.all if p == name for term in (s, o)}
        used = {p for _, p, _ in world.all} | {o for _, p, o in world.all if p == kind}
        assert set(layout.names_related_by(name)) >= related & used


def test_triples_are_found_by_every_pattern(world: World) -> None:
    check(world)


def test_triples_that_are_retracted_are_explicit_no_longer(world: World) -> None:
    some, other = world.ids("x q z, z a D"), world.ids("y p x, unknown p x")
    assert world.layout.retract(rows([*some, *other])).tolist() == [True, True, False, False]
    world.explicit -= some
    world.all -= some  # nothing derives them
    check(world)
    assert world.layout.store(rows([*some, *world.explicit])).tolist() == [True, True] + [False] * len(world.explicit)
    world.explicit |= some
    world.all |= some
    check(world)


def test_many_triples_are_stored_at_once(world: World) -> None:
    many = world.ids(", ".join(f"x{n} p y{n}, x{n} a C{n % 3}, x{n} p{n % 3} x{n}" for n in range(FEW)))
    assert world.layout.store(rows(many)).all()
    assert as_set(world.layout.triples("explicit")) == world.explicit | many


def test_fewer_triples_are_enough(world: World) -> None:
    for pattern in itertools.product([None, *range(len(world.dictionary))], repeat=3):
        count = sum(fits(triple, pattern) for triple in world.all)
        for limit in range(1, count + 1):
            found = as_set(world.layout.match(*pattern, "all", limit))
            assert len(found) >= limit and found <= world.all


def test_a_triple_has_its_place(world: World) -> None:
    layout, database = world.layout, world.database
    for triple in world.all:
        relation, values = layout.find(*triple)
        assert (relation, values) == layout.place(*triple)
        assert layout.lookups.holds(relation, values, "all")
        assert as_set(layout.triples_in(relation, rows([values]))) == {triple}
        predicate, *names = world.catalog.key_of(relation)
        known = [None if name is None else world.dictionary.find(name) for name in names]
        assert predicate == TRIPLE and fits(triple[1:], tuple(known))
        assert relation in layout.relations(triple[1]) and relation in layout.relations()
        assert layout.is_in_one(*triple[1:]) and list(layout.relations(*known)) == [relation]
        assert world.catalog.has_facts((TRIPLE, world.dictionary.decode(triple[1]), None))
    placed = layout.found(rows(sorted(world.all)))
    assert {(relation, tuple(row)) for relation, found in placed for row in found.tolist()} == {
        (relation, tuple(row)) for relation in layout.held for row in database.rows(relation).tolist()
    }
    parts = [(relation, found, np.arange(len(found)) % 2 == 0) for relation, found in placed]
    triples, flags = layout.joined(parts)
    assert as_set(triples) == world.all and len(flags) == len(triples)
    facts = world.catalog.as_facts(parts)
    assert list(facts) == [TRIPLE] and as_set(facts[TRIPLE][0]) == world.all


def test_a_pattern_of_one_relation_finds_it(world: World) -> None:
    names = range(len(world.dictionary))
    for property, value in itertools.product(["?p", *names], ["?o", *names]):
        if not world.layout.is_in_one(property, value):
            continue
        relation, terms = world.layout.find("?s", property, value)
        found = world.database.rows(relation) if relation >= 0 else np.empty((0, len(terms)), np.int32)
        fitting = [row for row in found.tolist() if unified({}, terms, row) is not None]
        wanted = tuple(term if isinstance(term, int) else None for term in (property, value))
        assert len(fitting) == sum(fits(triple[1:], wanted) for triple in world.all)


@pytest.mark.parametrize("text", STEPS)
def test_rules_derive_the_same(text: str, world: World) -> None:
    rule = rule_of(text)
    assert layout_for([rule]) is PropertyTables
    derived = {triple for stored in list(world.catalog.rules(rule)) for triple in heads(world, stored)}
    assert derived == world.ids(STEPS[text])


@pytest.mark.parametrize("text", STEPS)
def test_copies_are_the_rules_that_they_stand_for(text: str, world: World) -> None:
    rule = rule_of(text)
    copies = list(world.catalog.rules(rule))
    assert len({stored.values for stored in copies}) == len(copies)
    for stored in copies:
        assert stored.rule == substitute(rule, dict(stored.values))
        (alone,) = world.catalog.rules(stored.rule)
        assert (alone.head, alone.body, alone.checks) == (stored.head, stored.body, stored.checks)


@pytest.mark.parametrize("text", UNEXPANDABLE)
def test_the_triple_table_is_for_rules_that_cannot_be_expanded(text: str) -> None:
    assert layout_for([rule_of(text)]) is TripleTable


def heads(world: World, rule: StoredRule) -> Iterator[Triple]:
    """The triples that a rule derives in one step, by trying all rows."""
    solutions: list[dict[str, int]] = [{}]
    for atom in sorted(rule.body, key=lambda atom: atom.negated):
        found = world.database.rows(atom.relation).tolist()
        matches = [(known, [new for row in found if (new := unified(known, atom.terms, row)) is not None]) for known in solutions]
        if atom.negated:
            solutions = [known for known, new in matches if not new]
        else:
            solutions = [one for _, new in matches for one in new]
    for known in solutions:
        values = [known[term] if isinstance(term, str) else term for term in rule.head.terms]
        yield from as_set(world.layout.triples_in(rule.head.relation, rows([tuple(values)])))


def unified(known: dict[str, int], terms: Iterable[int | str], row: Iterable[int]) -> dict[str, int] | None:
    """The values of variables with which terms are a row, None if there are none."""
    values: dict[str, int] = dict(known)
    for term, number in zip(terms, row, strict=True):
        if (values.setdefault(term, number) if isinstance(term, str) else term) != number:
            return None
    return values


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tables_do_not_grow_while_expected_triples_are_stored(layout: type[TripleLayout]) -> None:
    world = World(layout)
    property = world.dictionary.encode(IRI("http://example.org/p"))
    triples = np.array([(number, property, number + 1) for number in range(50_000)], np.int32)
    world.layout.expect([triples[:30_000], triples[30_000:]])
    relation = world.database.relations[world.layout.place(1, property, 2)[0]]
    before = relation.mask, relation.capacity
    assert world.layout.store(triples[:30_000]).all()
    assert world.layout.store(triples[30_000:]).all()
    assert (relation.mask, relation.capacity) == before
