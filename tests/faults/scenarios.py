"""The operations that the sweeps interrupt: what is there before, and what is done to it."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from rdflib import RDF as RDFLIB_RDF
from rdflib import RDFS as RDFLIB_RDFS
from rdflib import Dataset, Graph, Literal, Namespace, URIRef

from kg_reasoner import KGReasonerStore, attach, detach
from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.maintenance import DEFAULT, STRATEGIES
from kg_reasoner.errors import KeyViolationError, ReasonerError
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple, literal
from tests.faults.subjects import Mirror, Subject

Make: TypeAlias = Callable[[], Subject]
Operation: TypeAlias = Callable[[Subject], object]

EX: Final = Namespace("http://example.org/")


@dataclass(frozen=True)
class Scenario:
    """One public operation.

    Attributes:
        make: what is there before.
        operation: what is done; it may be done again, both where it was done and where it was not.
        then: what is done after the fault in an open transaction: ``repeat`` (and commit), or ``roll back``.
        is_tiny: whether tables are full all the time, so that every change makes them grow.
        is_shared: whether threads share all work that they can share.
        leaves_open: whether it leaves a transaction open; what changes a graph does.
        is_one: whether it is one operation; what is several of them in a transaction may leave some, if that can be rolled back.
        may_undo: whether a fault may undo all of the open transaction, as it does while that is committed.
        is_block: whether it is the ``with`` block of a transaction.
    """

    name: str
    make: Make
    operation: Operation
    then: str = "repeat"
    is_tiny: bool = False
    is_shared: bool = False
    leaves_open: bool = False
    may_undo: bool = False
    is_one: bool = True
    is_block: bool = False


# --- facts and rules -------------------------------------------------------------------------------------------------------

EDGES: Final = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .
    end(?x) :- path(_, ?x), NOT edge(?x, _) .
    edge("b", "c") .
"""
MORE_RULES: Final = """back(?y, ?x) :- path(?x, ?y), NOT edge(?y, ?x) . edge("x", "y") ."""
REMOVED_RULE: Final = "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
OTHER_LAYOUT: Final = "said(?p) :- [?s, ?p, ?o], [?p, rdfs:label, ?q] ."
"""A rule that asks for the other layout of triples."""
CONSTRAINT: Final = "false :- edge(?x, ?x) ."


def letters(*pairs: str) -> list[tuple[Term, Term]]:
    return [(literal(pair[0]), literal(pair[1])) for pair in pairs]


def numbers(count: int, first: int = 0) -> list[tuple[Term, Term]]:
    return [(literal(first + number // 2), literal(first + number + 1)) for number in range(count)]


def edges(maintenance: str = DEFAULT, **options: Any) -> Subject:
    reasoner = Reasoner(EDGES, maintenance=maintenance, **options)
    reasoner.add_facts("edge", letters("ab", "cd", "da"))
    reasoner.materialise()
    return Subject(reasoner)


def renewing() -> Subject:
    """Relations whose successors are about to be filled and to change over with the next update."""
    subject = edges()
    engine = subject.reasoner.engine
    database, renewals = engine.database, engine.database._renewals
    names = ("edge", "path")
    for name in names:
        renewals.begin(engine.catalog.predicates[name])
    for _ in range(1 + max(len(database.built_indexes(engine.catalog.predicates[name])) for name in names)):
        renewals.advance()
    add_edges(subject)
    return subject


def scanning() -> Subject:
    """Relations that count as large, so that the next update scans them, and builds a part of their indexes."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
    reasoner.add_facts("edge", letters("ab", "bc", "cd", "da", "ac", "bd"))
    reasoner.materialise()
    reasoner.engine.database.context.renew_from = 1
    for pair in ("bd", "ac"):
        reasoner.materialise()
        reasoner.remove_facts("edge", letters(pair))
    return Subject(reasoner)


def change_edges(subject: Subject) -> None:
    subject.reasoner.add_facts("edge", letters("de", "ef"))
    subject.reasoner.remove_facts("edge", letters("ab"))


def add_edges(subject: Subject) -> None:
    subject.reasoner.add_facts("edge", letters("de", "ef"))


def uncopied() -> Subject:
    """Facts that two threads are about to copy to relations of their own."""
    rules = "start(?x) :- edge(?x, ?y) . end(?y) :- edge(?x, ?y) . node(?x) :- start(?x) . node(?y) :- end(?y) ."
    reasoner = Reasoner(rules, threads=2)
    reasoner.add_facts("edge", letters("ab", "cd", "da", "ef", "fg"))
    return Subject(reasoner)


def add_many_edges(subject: Subject) -> None:
    subject.reasoner.add_facts("edge", numbers(300, 1000))


def add_table(subject: Subject) -> None:
    subject.reasoner.add_table("edge", {"from": ["d", "e", "a"], "to": ["e", "f", "b"]})


def change_tables(subject: Subject) -> None:
    with subject.reasoner.transaction() as transaction:
        transaction.remove_table("edge", {"from": ["a", "x"], "to": ["b", "y"]})
        transaction.add_table("edge", {"from": ["d", "e"], "to": ["e", "f"]})


LIVE: Final = """
    input stream sale(item: string, price: integer) .
    output stream high(item: string) .
    high(?i) :- sale(?i, ?p), FILTER(?p > 5) .
    relation sold(item: string, price: integer) difference sale .
    relation total_before(item: string, sum: integer) delay total .
    part(?i, ?p) :- sold(?i, ?p) .
    part(?i, ?s) :- total_before(?i, ?s) .
    total(?i, ?s) :- AGGREGATE(part(?i, ?p) ON ?i BIND SUM(?p) AS ?s) .
    relation long_ago(item: string, sum: integer) delay 2 total .
    stream sale_before(item: string, price: integer) delay sale .
    input multiset vote(item: string) .
"""


def live() -> Subject:
    reasoner = Reasoner(LIVE)
    for price in (1, 7):
        reasoner.add_table("sale", {"item": ["a", "b"], "price": [price, price + 1]})
    reasoner.add_table("vote", {"item": ["a", "b", "a"]})
    return Subject(reasoner)


def has_sold(subject: Subject) -> bool:
    """Whether that has been done: a transaction goes on from the one before it, and is not repeated."""
    return len(subject.reasoner.facts("sold", arguments=["c", None])) > 0


def sell(subject: Subject) -> None:
    if has_sold(subject):
        return
    subject.reasoner.add_table("sale", {"item": ["c", "a"], "price": [3, 9]})


def sell_in_block(subject: Subject) -> None:
    if has_sold(subject):
        return
    with subject.reasoner.transaction() as transaction:
        transaction.add_table("sale", {"item": ["c", "a"], "price": [3, 9]})
        list(subject.reasoner.facts("high"))


def withdraw_votes(subject: Subject) -> None:
    if len(subject.reasoner.facts("vote", arguments=["c"])):
        return
    with subject.reasoner.transaction() as transaction:
        transaction.remove_table("vote", {"item": ["a", "b"]})
        transaction.add_table("vote", {"item": ["c"] * 3})


def reducing() -> Subject:
    """A reasoner with states of groups, which their functions change in place."""
    reasoner = Reasoner()

    def changed(by: int) -> Callable[[Counter[str], str], Counter[str]]:
        def change(state: Counter[str], text: str) -> Counter[str]:
            state[text] += by
            return state

        return change

    add, remove = changed(1), changed(-1)
    reasoner.reduction("most", "string", initial=Counter, add=add, remove=remove, result=lambda state: max(state.values()))
    reasoner.add_program("much(?g, ?n) :- AGGREGATE(part(?g, ?k, ?t) ON ?g BIND most(?t) AS ?n) .")
    reasoner.add_table("part", {"g": ["a", "b"] * 6, "k": range(12), "t": ["x"] * 9 + ["y"] * 3})
    reasoner.materialise()
    return Subject(reasoner)


def with_module() -> Subject:
    """Return a subject with a module, of which one relation is used."""
    reasoner = Reasoner("""
        import "std/graph.dl" as g .
        reduction total(?s: integer, ?n: integer): integer = initial 0, add ?s + ?n, remove ?s - ?n .
        above(?t) :- AGGREGATE(g.order(?x, ?n) BIND total(?n) AS ?t) .
    """)
    reasoner.add_table("g.edge", {"from": ["a", "b", "c", "c"], "to": ["b", "c", "a", "d"]})
    reasoner.materialise()
    return Subject(reasoner)


def ask_for_closure(subject: Subject) -> None:
    list(subject.reasoner.facts("g.closure"))


def change_groups(subject: Subject) -> None:
    subject.reasoner.remove_table("part", {"g": ["a", "b"], "k": [0, 1], "t": ["x", "x"]})
    subject.reasoner.add_table("part", {"g": ["a", "a", "c"], "k": [12, 13, 14], "t": ["y"] * 3})
    list(subject.reasoner.facts("much"))


def change_groups_in_block(subject: Subject) -> None:
    with subject.reasoner.transaction():
        change_groups(subject)


KEYS: Final = """
    input relation box(id: integer, place: string) primary key (id) .
    index by_place on box(place) .
    full(?p) :- box(?x, ?p), box(?y, ?p), FILTER(?x != ?y) .
"""


def boxes() -> Subject:
    reasoner = Reasoner(KEYS)
    reasoner.add_table("box", {"id": range(6), "place": [f"place {number % 4}" for number in range(6)]})
    reasoner.materialise()
    return Subject(reasoner)


def replace_by_key(subject: Subject) -> None:
    subject.reasoner.insert_or_update("box", [(literal(number), literal("place 1")) for number in (1, 3, 7)])


def modify_by_key(subject: Subject) -> None:
    subject.reasoner.modify("box", 2, place="place 3")


def delete_by_key(subject: Subject) -> None:
    with suppress(KeyViolationError):
        subject.reasoner.delete_key("box", [0, 4])


def look_up(subject: Subject) -> None:
    for step in (lambda: None, lambda: add_edges(subject)):
        step()
        list(subject.reasoner.facts("path", arguments=[None, "c"]))


def remove_edges(subject: Subject) -> None:
    subject.reasoner.remove_facts("edge", letters("ab", "cd"))


def delete_edges(subject: Subject) -> None:
    with subject.reasoner.transaction():
        remove_edges(subject)


def add_program(subject: Subject) -> None:
    subject.reasoner.add_program(MORE_RULES)


def remove_rules(subject: Subject) -> None:
    subject.reasoner.remove_rules(parse(REMOVED_RULE).rules)


def ask_on_demand(subject: Subject) -> None:
    for query in ('path("b", ?y), NOT edge("b", ?y)', "degree(?x, ?n)", 'path("c", ?y), NOT edge("c", ?y)', "degree(?x, ?n)"):
        subject.reasoner.answers(query, on_demand=True)


def materialise_edges(subject: Subject) -> None:
    """What is changed before is not the operation: it is there whatever becomes of that."""
    subject.reasoner.materialise()


def unmaterialised(maintenance: str, **options: Any) -> Subject:
    subject = edges(maintenance, **options)
    change_edges(subject)
    remove_rules(subject)
    return subject


def profiled(subject: Subject) -> Subject:
    """A subject with an open profile."""
    subject.kept["profile"] = subject.reasoner.profile()
    return subject


DISTANCES: Final = """
    step("a", 0) .
    step(?y, ?c) :- dist(?x, ?d), edge(?x, ?y), BIND(?d + 1 AS ?c) .
    dist(?y, ?d) :- AGGREGATE(step(?y, ?c) ON ?y BIND MIN(?c) AS ?d) .
"""


TICKS: Final = """
    tick(0) :- edge(?x, ?y) .
    tick(?y) :- tick(?x), FILTER(?x < 40), BIND(?x + 1 AS ?y) .
"""
"""A recursion whose results are computed ahead of the requests."""


def distances(maintenance: str = DEFAULT) -> Subject:
    subject = edges(maintenance)
    subject.reasoner.add_program(DISTANCES)
    subject.reasoner.materialise()
    return subject


def ticking() -> Subject:
    subject = unmaterialised(DEFAULT)
    subject.reasoner.add_program(TICKS)
    return subject


def refusing() -> Subject:
    subject = edges(on_inconsistency="raise")
    subject.reasoner.add_program(CONSTRAINT)
    subject.reasoner.materialise()
    return subject


def add_contradiction(subject: Subject) -> None:
    try:
        subject.reasoner.add_facts("edge", letters("ff"))
    except ReasonerError:
        return


def listening(make: Make) -> Make:
    """A subject with a subscriber to everything."""

    def with_mirror() -> Subject:
        subject = make()
        subject.mirror = Mirror(subject.reasoner)
        subject.reasoner.subscribe(None, subject.mirror)
        return subject

    return with_mirror


subscribed = listening(edges)


def subscribe(subject: Subject) -> None:
    subject.kept["subscription"] = subject.reasoner.subscribe("path", lambda _: None)


def with_subscription() -> Subject:
    subject = edges()
    subscribe(subject)
    return subject


def unsubscribe(subject: Subject) -> None:
    subject.kept["subscription"].cancel()


# --- transactions ----------------------------------------------------------------------------------------------------------


def in_block(subject: Subject) -> None:
    with subject.reasoner.transaction() as transaction:
        transaction.add_facts("edge", letters("de", "ef"))
        list(subject.reasoner.facts("path"))
        transaction.add_program(MORE_RULES)
        transaction.remove_facts("edge", letters("ab"))
        transaction.remove_rules(parse(REMOVED_RULE).rules)


def in_block_that_raises(subject: Subject) -> None:
    with suppress(ZeroDivisionError), subject.reasoner.transaction() as transaction:
        transaction.add_facts("edge", letters("de", "ef"))
        list(subject.reasoner.facts("path"))
        transaction.add_program(MORE_RULES)
        transaction.remove_facts("edge", letters("ab"))
        _ = 1 // 0


def begin(subject: Subject) -> None:
    if subject.reasoner.open_transaction is None:
        subject.transaction = subject.reasoner.transaction().begin()


def begun(make: Make) -> Make:
    """A subject with an open transaction, in which something has changed."""

    def in_transaction() -> Subject:
        subject = make()
        subject.transaction = subject.reasoner.transaction().begin()
        return subject

    return in_transaction


def changed(make: Make, *operations: Operation) -> Make:
    """A subject with an open transaction, in which something has changed and not been materialised."""

    def in_transaction() -> Subject:
        subject = begun(make)()
        for operation in operations:
            operation(subject)
        return subject

    return in_transaction


def commit(subject: Subject) -> None:
    assert subject.transaction is not None
    if subject.transaction.is_open:
        subject.transaction.commit()


def roll_back(subject: Subject) -> None:
    assert subject.transaction is not None
    if subject.transaction.is_open:
        subject.transaction.rollback()


# --- triples and documents -------------------------------------------------------------------------------------------------


def ex(name: str) -> IRI:
    return IRI(str(EX[name]))


TRIPLES: Final[list[Triple]] = [
    (ex("a"), ex("p"), ex("c")),
    (ex("b"), ex("q"), ex("d")),
    (ex("p"), RDFS.subPropertyOf, ex("super")),
    (ex("Cat"), RDFS.subClassOf, ex("Animal")),
    (ex("b"), RDF.type, ex("Cat")),
    (ex("a"), OWL.sameAs, ex("b")),
]
OTHERS: Final[list[Triple]] = [
    (ex("q"), RDFS.subPropertyOf, ex("super")),
    (ex("q"), RDFS.domain, ex("Cat")),
    (ex("c"), ex("q"), ex("e")),
    (ex("c"), OWL.sameAs, ex("d")),
]

TURTLE: Final = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:q rdfs:subPropertyOf :super ; rdfs:domain :Cat . :c :q :e ; :age 5, "x"@en .
:onto a owl:Ontology ; owl:imports <http://example.org/missing> .
"""
NQUADS: Final = """
<http://example.org/c> <http://example.org/q> <http://example.org/e> <http://example.org/g1> .
<http://example.org/c> <http://example.org/p> <http://example.org/e> <http://example.org/g2> .
<http://example.org/a> <http://example.org/p> <http://example.org/c> <http://example.org/g2> .
<http://example.org/b> <http://example.org/p> "x" .
"""
N3: Final = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
{ ?x :p ?y } => { ?y :back ?x } . :c :p :e .
"""
RDFXML: Final = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">
<Cat rdf:about="http://example.org/c"><q rdf:resource="http://example.org/e"/></Cat></rdf:RDF>"""
JSONLD: Final = """{"@id": "http://example.org/c", "@type": "http://example.org/Cat", "http://example.org/p": {"@id": "http://example.org/e"}}"""
OWLXML: Final = """<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://example.org/o" ontologyIRI="http://example.org/o">
<SubClassOf><Class IRI="http://example.org/Animal"/><Class IRI="http://example.org/Being"/></SubClassOf>
<ClassAssertion><Class IRI="http://example.org/Cat"/><NamedIndividual IRI="http://example.org/c"/></ClassAssertion></Ontology>"""
FUNCTIONAL: Final = """Prefix(:=<http://example.org/>) Ontology(:o SubClassOf(:Animal :Being) ClassAssertion(:Cat :c))"""
MANCHESTER: Final = """Prefix: : <http://example.org/> Ontology: <http://example.org/o>
Class: Animal SubClassOf: Being
Individual: c Types: Cat"""
OBO: Final = """ontology: o

[Term]
id: EX:1
is_a: EX:2"""
DOCUMENTS: Final = {
    "turtle": TURTLE,
    "nquads": NQUADS,
    "n3": N3,
    "rdfxml": RDFXML,
    "jsonld": JSONLD,
    "owlxml": OWLXML,
    "functional": FUNCTIONAL,
    "manchester": MANCHESTER,
    "obo": OBO,
}


def axioms(equality: Equality = "axioms", maintenance: str = DEFAULT) -> Subject:
    reasoner = Reasoner("@translate dlp .", equality=equality, maintenance=maintenance)
    reasoner.add_triples(TRIPLES)
    reasoner.materialise()
    return Subject(reasoner)


def cliques() -> Subject:
    subject = axioms("rewrite")
    subject.reasoner.add_facts("about", [(ex("a"), literal(1)), (ex("c"), literal(2))])
    subject.reasoner.materialise()
    return subject


def add_triples(subject: Subject) -> None:
    subject.reasoner.add_triples(OTHERS)


def remove_triples(subject: Subject) -> None:
    subject.reasoner.remove_triples([TRIPLES[0], TRIPLES[2], TRIPLES[5]])


FOLLOWED: Final[list[Triple]] = [(ex("Cat"), RDFS.subClassOf, ex("Pet")), (ex("q"), RDFS.range, ex("Pet"))]
"""Axioms between names, which are followed without a new translation."""


MANY: Final[list[Triple]] = [
    *((ex(f"Kind{number}"), RDFS.subClassOf, ex(f"Kind{number + 1}")) for number in range(6)),
    *((ex("tom"), RDF.type, ex(f"Kind{number}")) for number in (0, 3)),
]
"""Axioms of one shape, whose rules are planned together."""


def add_many_axioms(subject: Subject) -> None:
    subject.reasoner.add_triples(MANY)
    subject.reasoner.materialise()


def with_many_axioms() -> Subject:
    subject = axioms()
    add_many_axioms(subject)
    return subject


def remove_from_many(subject: Subject) -> None:
    subject.reasoner.remove_triples(MANY[-1:])
    subject.reasoner.materialise()


RESTRICTIONS: Final[list[Triple]] = [
    *((BlankNode(filler), OWL.onProperty, ex("has")) for filler in ("Cat", "Pet")),
    *((BlankNode(filler), OWL.someValuesFrom, ex(filler)) for filler in ("Cat", "Pet")),
    (BlankNode("Cat"), RDFS.subClassOf, ex("CatOwner")),
    (BlankNode("Pet"), RDFS.subClassOf, ex("PetOwner")),
    (ex("CatOwner"), RDFS.subClassOf, BlankNode("Cat")),
    (ex("ann"), RDF.type, ex("CatOwner")),
]
"""Those of two classes that `FOLLOWED` puts in order."""


def restrictions() -> Subject:
    subject = axioms()
    subject.reasoner.add_triples(RESTRICTIONS)
    subject.reasoner.materialise()
    return subject


def with_ordered() -> Subject:
    subject = restrictions()
    add_followed(subject)
    return subject


def with_followed() -> Subject:
    subject = axioms()
    add_followed(subject)
    return subject


def add_followed(subject: Subject) -> None:
    subject.reasoner.add_triples(FOLLOWED)
    subject.reasoner.materialise()


def remove_followed(subject: Subject) -> None:
    subject.reasoner.remove_triples(FOLLOWED)
    subject.reasoner.materialise()


def change_layout(subject: Subject) -> None:
    subject.reasoner.add_program(OTHER_LAYOUT)
    subject.reasoner.materialise()


def triples_in_block(subject: Subject) -> None:
    with subject.reasoner.transaction() as transaction:
        transaction.add_triples(OTHERS)
        list(subject.reasoner.triples(ex("a")))
        transaction.remove_triples([TRIPLES[0], TRIPLES[5]])
        transaction.add_facts("about", [(ex("d"), literal(3))])


def know(subject: Subject) -> None:
    subject.reasoner.know([literal(5), ex("unheard")])


def load(format: str) -> Operation:
    return lambda subject: subject.reasoner.load(DOCUMENTS[format].encode(), format=format)


def empty() -> Subject:
    return Subject(Reasoner("@translate dlp .", threads=2))


def load_many(subject: Subject) -> None:
    """Load more triples than are looked at one by one, so that threads load them together."""
    lines = [f"<{EX}a{number}> <{EX}p{number % 3}> <{EX}b{number % 5}> .\n" for number in range(40)]
    subject.reasoner.load("".join(lines).encode(), format="nt")


def load_files(subject: Subject) -> None:
    subject.reasoner.load(*subject.kept["files"])


def files() -> Subject:
    subject = axioms()
    subject.kept["folder"] = folder = tempfile.TemporaryDirectory()
    subject.kept["files"] = []
    for number, format in enumerate(("turtle", "nquads")):
        path = Path(folder.name, f"document{number}.{'ttl' if format == 'turtle' else 'nq'}")
        path.write_text(DOCUMENTS[format], encoding="utf-8")
        subject.kept["files"].append(path)
    return subject


# --- named graphs ----------------------------------------------------------------------------------------------------------


def named() -> Subject:
    subject = axioms()
    graphs = subject.reasoner.named_graphs
    graphs.add_triples(TRIPLES[:3], ex("g1"))
    graphs.add_triples(OTHERS[2:3], ex("g1"))
    graphs.add_triples(OTHERS[2:3], ex("g2"))
    subject.reasoner.materialise()
    return subject


def add_to_graph(subject: Subject) -> None:
    subject.reasoner.named_graphs.add_triples([*TRIPLES[:1], *OTHERS], ex("g3"))


def remove_from_graph(subject: Subject) -> None:
    subject.reasoner.named_graphs.remove_triples([*TRIPLES[:2], OTHERS[2]], ex("g1"))


def remove_from_all(subject: Subject) -> None:
    subject.reasoner.remove_triples([*TRIPLES[:2], OTHERS[2]])


def drop_graph(subject: Subject) -> None:
    graphs = subject.reasoner.named_graphs
    graphs.drop(graphs.encode(ex("g1")))


# --- rdflib ----------------------------------------------------------------------------------------------------------------

ZOO: Final = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cat rdfs:subClassOf :Animal . :tom a :Cat ; :likes :mia .
"""
KITTENS: Final = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Animal rdfs:subClassOf :Being . :kit a :Cat ; :likes :tom, :mia .
"""
UPDATE: Final = """
PREFIX : <http://example.org/>
DELETE { ?x :likes ?y } INSERT { ?y :likedBy ?x . ?y a :Animal } WHERE { ?x a :Animal ; :likes ?y } ;
INSERT DATA { :kit a :Cat }
"""
KIT: Final = (EX.kit, RDFLIB_RDF.type, EX.Cat)


def _over(graph: Graph) -> Subject:
    store: Any = graph.store
    return Subject(store.reasoner, graph)


def zoo(reasoner: Callable[[], Reasoner] = lambda: Reasoner(ruleset="rdfs")) -> Subject:
    graph = Graph(store=KGReasonerStore(reasoner()))
    graph.parse(data=ZOO, format="turtle")
    graph.commit()
    return _over(graph)


def dataset(**options: Any) -> Subject:
    graph = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), **options), default_union=True)
    graph.graph(EX.g1).parse(data=ZOO, format="turtle")
    graph.graph(EX.g2).add((EX.tom, RDFLIB_RDF.type, EX.Cat))
    graph.commit()
    return _over(graph)


def by_graph() -> Subject:
    return dataset(reasoning="graph")


def changed_zoo() -> Subject:
    subject = zoo()
    assert subject.graph is not None
    subject.graph.add(KIT)
    subject.graph.remove((EX.tom, None, None))
    return subject


def on_graph(function: Callable[[Any], object]) -> Operation:
    """Something that is done to the graph, or the dataset, of a subject."""
    return lambda subject: function(subject.graph)


def change_and_commit(graph: Graph) -> None:
    graph.add(KIT)
    graph.remove((EX.tom, EX.likes, None))
    graph.commit()


def plain_graph() -> Subject:
    """A graph of rdflib's own, beside a reasoner that has nothing to do with it until it is attached."""
    return Subject(Reasoner(ruleset="rdfs"), attached=Graph().parse(data=ZOO, format="turtle"))


def attach_graph(subject: Subject) -> None:
    assert subject.attached is not None
    attach(subject.attached, ruleset="rdfs")


def plain_dataset() -> Subject:
    """As `plain_graph`, with a named graph."""
    plain = Dataset(default_union=True)
    plain.graph(URIRef(EX.g1)).parse(data=ZOO, format="turtle")
    return Subject(Reasoner(ruleset="rdfs"), attached=plain)


def attached_graph() -> Subject:
    """A graph with a reasoner of its own, beside another one."""
    return Subject(Reasoner(ruleset="rdfs"), attached=attach(Graph().parse(data=ZOO, format="turtle"), ruleset="rdfs"))


def attached_dataset() -> Subject:
    """As `attached_graph`, with a named graph."""
    subject = plain_dataset()
    attach_graph(subject)
    return subject


def detach_graph(subject: Subject) -> None:
    assert subject.attached is not None
    if isinstance(subject.attached.store, KGReasonerStore):  # the operation is repeated
        detach(subject.attached)


# --- streams ---------------------------------------------------------------------------------------------------------------

STREAM: Final = [
    Update({"edge": letters("de", "ef")}, {"edge": letters("ab")}),
]


def process(marking: bool) -> Operation:
    return lambda subject: list(subject.reasoner.process(STREAM, marking=marking))


def process_from_iterator(subject: Subject) -> None:
    def stream() -> Iterator[Update]:
        yield from STREAM

    list(subject.reasoner.process(stream(), marking=True))


def process_asynchronously(subject: Subject) -> None:
    async def stream() -> AsyncIterator[Update]:
        for update in STREAM:
            yield update

    async def run() -> None:
        async for _ in subject.reasoner.process(stream(), marking=True):
            pass

    asyncio.run(run())


# --- the table -------------------------------------------------------------------------------------------------------------


def classify(subject: Subject) -> None:
    """Ask for the hierarchy, which an earlier fault must not have spoilt."""
    hierarchy = subject.reasoner.hierarchy()
    names = {name.value for taxonomy in hierarchy.taxonomies.values() for name in taxonomy.names}
    pet = ex("Pet").value
    assert (pet in names) == (FOLLOWED[0] in set(subject.reasoner.triples(which="explicit"))), names


def classified() -> Subject:
    subject = axioms()
    classify(subject)
    add_followed(subject)
    return subject


def _both_ways(name: str, make: Make, operation: Operation) -> Iterator[Scenario]:
    """A change inside of a transaction: repeated and committed after the fault, or rolled back."""
    yield Scenario(f"{name}, inside", begun(make), operation)
    yield Scenario(f"{name}, inside, rolled back", begun(make), operation, then="roll back")


def _of_facts() -> Iterator[Scenario]:
    yield Scenario("add facts", edges, add_edges)
    yield Scenario("remove facts", edges, remove_edges)
    yield Scenario("add facts, tiny tables", edges, add_edges, is_tiny=True)
    yield Scenario("remove facts, tiny tables", edges, remove_edges, is_tiny=True)
    yield Scenario("materialise, renewed", renewing, materialise_edges)
    yield Scenario("materialise, scanned", scanning, materialise_edges)
    yield Scenario("add many facts", edges, add_many_edges)
    yield Scenario("add a table", edges, add_table)
    yield Scenario("add and remove tables, block", edges, change_tables, is_block=True)
    yield Scenario("live relations", live, sell)
    yield Scenario("live relations, block", live, sell_in_block, is_block=True)
    yield Scenario("reduction, block", reducing, change_groups_in_block, is_block=True)
    yield Scenario("relation of a module", with_module, ask_for_closure, is_one=False)
    yield Scenario("multiset, block", live, withdraw_votes, is_block=True)
    yield Scenario("replace by key", boxes, replace_by_key)
    yield Scenario("modify by key", boxes, modify_by_key)
    yield Scenario("delete by key", boxes, delete_by_key)
    yield Scenario("delete by key in a transaction", begun(boxes), delete_by_key)
    yield Scenario("look up facts", edges, look_up, is_one=False)
    yield Scenario("add program", edges, add_program)
    yield Scenario("remove rules", edges, remove_rules)
    for strategy in STRATEGIES:
        yield Scenario(f"materialise, {strategy}", lambda strategy=strategy: unmaterialised(strategy), materialise_edges)  # type: ignore[misc]
        yield Scenario(f"profiled, {strategy}", lambda strategy=strategy: profiled(unmaterialised(strategy)), materialise_edges)  # type: ignore[misc]
        yield Scenario(f"block, {strategy}", lambda strategy=strategy: edges(strategy), in_block, is_block=True)  # type: ignore[misc]
    yield Scenario("distances, add facts", distances, add_edges)
    yield Scenario("distances, remove facts", distances, remove_edges)
    yield Scenario("distances, remove facts, tiny tables", distances, remove_edges, is_tiny=True)
    yield Scenario("distances, block, counting", lambda: distances("counting"), in_block, is_block=True)
    yield Scenario("ticks, materialise", ticking, materialise_edges)
    yield Scenario("materialise, threads", lambda: unmaterialised(DEFAULT, threads=2), materialise_edges, is_shared=True)
    yield Scenario("copy, threads", uncopied, materialise_edges, is_shared=True)
    yield Scenario("add many facts, threads", lambda: edges(threads=2), add_many_edges, is_shared=True)
    for strategy in ("backward-forward", "delete-rederive"):
        shared = partial(edges, strategy, threads=2)
        yield Scenario(f"remove facts, threads, {strategy}", shared, delete_edges, is_shared=True, is_block=True)
    yield Scenario("refusing, add facts", refusing, add_edges)
    yield Scenario("refusing, contradiction", refusing, add_contradiction)
    yield Scenario("refusing, remove rules", refusing, remove_rules)
    yield Scenario("subscribed, add facts", subscribed, add_edges)
    yield Scenario("subscribed, remove facts", subscribed, remove_edges)
    yield Scenario("subscribed, block", subscribed, in_block, is_block=True)
    yield Scenario("subscribe", edges, subscribe)
    yield Scenario("unsubscribe", with_subscription, unsubscribe)


def _in_transactions() -> Iterator[Scenario]:
    yield Scenario("block that raises", edges, in_block_that_raises, is_block=True)
    yield Scenario("begin", edges, begin, then="roll back", leaves_open=True)
    yield Scenario("commit", changed(edges, change_edges, add_program), commit, may_undo=True)
    yield Scenario("rollback", changed(edges, change_edges, materialise_edges, add_program), roll_back)
    yield Scenario("rollback, cliques", changed(cliques, add_triples, materialise_edges, remove_triples), roll_back)
    yield from _both_ways("add facts", edges, add_edges)
    yield from _both_ways("remove facts", edges, remove_edges)
    yield from _both_ways("add program", edges, add_program)
    yield from _both_ways("remove rules", edges, remove_rules)
    yield from _both_ways("add triples", axioms, add_triples)
    yield from _both_ways("add to graph", named, add_to_graph)
    yield Scenario("read, inside", changed(edges, change_edges), materialise_edges)
    yield Scenario("query on demand", lambda: unmaterialised(DEFAULT), ask_on_demand)
    yield Scenario("query on demand, tiny tables", lambda: unmaterialised(DEFAULT), ask_on_demand, is_tiny=True)
    yield Scenario("query on demand, inside", changed(edges, change_edges), ask_on_demand)


def _of_triples() -> Iterator[Scenario]:
    yield Scenario("add triples", axioms, add_triples)
    yield Scenario("remove triples", axioms, remove_triples)
    yield Scenario("add triples, tiny tables", axioms, add_triples, is_tiny=True)
    yield Scenario("add many axioms", axioms, add_many_axioms)
    yield Scenario("add many axioms, tiny tables", axioms, add_many_axioms, is_tiny=True)
    yield Scenario("remove from many axioms", with_many_axioms, remove_from_many)
    yield Scenario("add followed axioms", axioms, add_followed)
    yield Scenario("remove followed axioms", with_followed, remove_followed)
    yield Scenario("add an order of restrictions", restrictions, add_followed)
    yield Scenario("remove an order of restrictions", with_ordered, remove_followed)
    yield Scenario("classify", axioms, classify)
    yield Scenario("classify again", classified, classify)
    yield from _both_ways("remove followed axioms", with_followed, remove_followed)
    yield Scenario("change layout", axioms, change_layout)
    yield Scenario("know", axioms, know)
    yield Scenario("cliques, add triples", cliques, add_triples)
    yield Scenario("cliques, remove triples", cliques, remove_triples)
    yield Scenario("cliques, block", cliques, triples_in_block, is_block=True)
    yield Scenario("cliques, block, subscribed", listening(cliques), triples_in_block, is_block=True)
    yield Scenario("block of triples, counting", lambda: axioms(maintenance="counting"), triples_in_block, is_block=True)
    yield Scenario("cliques, add triples, tiny tables", cliques, add_triples, is_tiny=True)
    for format in DOCUMENTS:
        yield Scenario(f"load {format}", axioms, load(format))
    yield Scenario("load files", files, load_files)
    yield Scenario("load, threads", empty, load_many, is_shared=True)
    yield Scenario("load turtle, inside, rolled back", begun(axioms), load("turtle"), then="roll back")
    yield Scenario("graphs, add", named, add_to_graph)
    yield Scenario("graphs, remove", named, remove_from_graph)
    yield Scenario("graphs, remove from all", named, remove_from_all)
    yield Scenario("graphs, drop", named, drop_graph)


def _of_rdflib() -> Iterator[Scenario]:
    yield Scenario("rdflib, add", zoo, on_graph(lambda graph: graph.add(KIT)))
    yield Scenario(
        "rdflib, addN",
        zoo,
        on_graph(lambda graph: graph.addN([(*KIT, graph), (EX.kit, EX.age, Literal(5), graph)])),
    )
    yield Scenario(
        "rdflib, addN of many",
        zoo,
        on_graph(lambda graph: graph.addN((EX.kit, EX.age, Literal(number), graph) for number in range(200))),
    )
    yield Scenario("rdflib, remove", zoo, on_graph(lambda graph: graph.remove((None, RDFLIB_RDFS.subClassOf, None))))
    yield Scenario("rdflib, parse", zoo, on_graph(lambda graph: graph.parse(data=KITTENS, format="turtle")))
    yield Scenario("rdflib, update", zoo, on_graph(lambda graph: graph.update(UPDATE)))
    yield Scenario("rdflib, read", changed_zoo, on_graph(len))
    yield Scenario("rdflib, commit", changed_zoo, on_graph(lambda graph: graph.commit()), may_undo=True)
    yield Scenario("rdflib, rollback", changed_zoo, on_graph(lambda graph: graph.rollback()))
    yield Scenario("rdflib, change and commit, subscribed", listening(zoo), on_graph(change_and_commit), is_one=False)
    yield Scenario("rdflib, open", zoo, on_graph(lambda graph: graph.open("owl2rl")))
    yield Scenario("attach", plain_graph, attach_graph)
    yield Scenario("attach dataset", plain_dataset, attach_graph)
    yield Scenario("detach", attached_graph, detach_graph)
    yield Scenario("detach dataset", attached_dataset, detach_graph)
    for name, make in {"dataset": dataset, "dataset by graph": by_graph}.items():
        yield Scenario(f"{name}, add", make, on_graph(lambda dataset: dataset.graph(EX.g2).add(KIT)))
        yield Scenario(f"{name}, remove", make, on_graph(lambda dataset: dataset.remove((EX.tom, None, None, None))))
        yield Scenario(f"{name}, remove graph", make, on_graph(lambda dataset: dataset.remove_graph(EX.g1)))
        yield Scenario(
            f"{name}, update",
            make,
            on_graph(lambda dataset: dataset.update("CLEAR GRAPH <http://example.org/g1>")),
            leaves_open=True,
        )
        yield Scenario(f"{name}, commit", _dirty(make), on_graph(lambda dataset: dataset.commit()), may_undo=True)
        yield Scenario(f"{name}, rollback", _dirty(make), on_graph(lambda dataset: dataset.rollback()))


def _of_streams() -> Iterator[Scenario]:
    yield Scenario("stream", edges, process(marking=False))
    yield Scenario("stream, marking", edges, process(marking=True))
    yield Scenario("stream, read by a thread", edges, process_from_iterator)
    yield Scenario("stream, asynchronous", edges, process_asynchronously)
    yield Scenario("stream, subscribed", subscribed, process(marking=False))


def _dirty(make: Make) -> Make:
    def changed_dataset() -> Subject:
        subject = make()
        assert isinstance(subject.graph, Dataset)
        subject.graph.graph(URIRef(EX.g3)).add(KIT)
        subject.graph.remove((EX.tom, EX.likes, None, None))  # type: ignore[arg-type]  # rdflib takes None
        return subject

    return changed_dataset


GROUPS: Final = (_of_facts, _in_transactions, _of_triples, _of_rdflib, _of_streams)
