"""Which inferred triples are hidden, from which patterns, and that explicit ones never are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.language.parser import parse
from kg_reasoner.query.patterns import answers
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.rdflib_store import graph_of
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Term, Triple, literal
from tests.helpers.effort import examples


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, C, P, BLANK = ex("a"), ex("b"), ex("C"), ex("p"), BlankNode("b")

# Rules of every kind of hidden triple, and of one that is not hidden; by the names of the W3C's, so that they count.
TRIVIAL = """
    @rule eq-ref
    owl:sameAs[?x, ?x] :- [?x, ?p, ?y] .
    @rule eq-trans
    owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
    @rule rdfs4a
    rdfs:Resource[?x] :- [?x, ?p, ?y] .
    @rule rdfs9
    [?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c] .
    @rule rdfs-axioms
    rdfs:domain[rdf:first, rdf:List] .
    @rule scm-cls
    rdfs:subClassOf[owl:Nothing, ?c] :- [?x, rdf:type, ?c] .
"""
DATA: list[Triple] = [(A, P, B), (A, RDF.type, C), (C, RDFS.subClassOf, BLANK), (C, RDFS.subClassOf, ex("D"))]
SHOWN = {*DATA, (A, RDF.type, ex("D"))}
HIDDEN: set[Triple] = {
    (A, OWL.sameAs, A),
    (A, RDF.type, RDFS.Resource),
    (A, RDF.type, BLANK),
    (RDF.first, RDFS.domain, RDF.List),
    (OWL.Nothing, RDFS.subClassOf, C),
}


def reasoner_with(data: list[Triple], **settings: bool) -> Reasoner:
    reasoner = Reasoner(TRIVIAL, **settings)  # type: ignore[arg-type]
    reasoner.add_triples(data)
    return reasoner


def exported(reasoner: Reasoner, which: str = "all") -> set[Triple]:
    return {(s, p, o) for s, p, o in reasoner.dictionary.decode_rows(reasoner.triple_ids(which))}  # type: ignore[arg-type]


def test_exports_show_what_says_something() -> None:
    reasoner = reasoner_with(DATA)
    assert exported(reasoner) == set(reasoner.triples()) == SHOWN
    assert exported(reasoner, "inferred") == SHOWN - set(DATA)
    assert exported(reasoner, "explicit") == set(DATA)
    graph = graph_of(reasoner)
    assert len(graph) == len(list(graph)) == len(SHOWN)
    assert len(graph.store.inferred) == 1  # type: ignore[attr-defined]


def test_all_is_shown_if_asked_for() -> None:
    reasoner = reasoner_with(DATA, show_hidden=True)
    assert exported(reasoner) == set(reasoner.triples()) > SHOWN | HIDDEN
    assert len(graph_of(reasoner)) == len(exported(reasoner))
    assert exported(reasoner.without_facts()) == {(RDF.first, RDFS.domain, RDF.List)} | {
        (RDF.first, OWL.sameAs, RDF.first),
        (RDF.first, RDF.type, RDFS.Resource),
        (OWL.Nothing, RDFS.subClassOf, RDFS.Resource),
        (OWL.Nothing, OWL.sameAs, OWL.Nothing),
        (OWL.Nothing, RDF.type, RDFS.Resource),
    }


@pytest.mark.parametrize("triple", sorted(HIDDEN, key=str), ids=lambda triple: f"{triple[1]}")
def test_hidden_triples_match_patterns_that_name_them(triple: Triple) -> None:
    reasoner = reasoner_with(DATA)
    subject, property, value = triple
    assert list(reasoner.triples(*triple)) == [triple]
    assert triple in set(reasoner.triples(None, property, value))
    assert triple in set(reasoner.triples(subject, property, value))
    assert (triple in set(reasoner.triples(None, property))) == (property != RDF.type)
    for pattern in ((None, None, None), (subject, None, None), (None, None, value), (subject, None, value)):
        assert triple not in set(reasoner.triples(*pattern))


def test_explicit_triples_are_never_hidden() -> None:
    reasoner = reasoner_with([*DATA, *HIDDEN])
    assert exported(reasoner) == set(reasoner.triples()) == SHOWN | HIDDEN
    assert len(graph_of(reasoner)) == len(SHOWN | HIDDEN)
    reasoner.remove_triples(HIDDEN)
    assert exported(reasoner) == SHOWN


def test_many_explicit_triples_that_would_be_hidden() -> None:
    many: list[Triple] = [(ex(f"x{number}"), OWL.sameAs, ex(f"x{number}")) for number in range(0, 300, 2)]
    data: list[Triple] = [(ex(f"x{number}"), P, A) for number in range(300)]
    reasoner = reasoner_with([*many, *data])
    assert {triple for triple in exported(reasoner) if triple[1] == OWL.sameAs} == set(many)


KINDS: list[Term] = [
    A, C, P, BLANK, literal("a"), IRI("http://www.w3.org/People/a"), OWL.sameAs, OWL.Thing, OWL.equivalentClass, RDF.type,
    RDF.first, RDFS.subClassOf, RDFS.Resource, XSD.string,
]  # fmt: skip


@given(st.lists(st.tuples(*[st.integers(0, len(KINDS) - 1)] * 3), min_size=17, max_size=60))
@settings(max_examples=examples(50))
def test_many_triples_are_hidden_as_single_ones_are(rows: list[tuple[int, int, int]]) -> None:
    dictionary = Dictionary()
    ids = [dictionary.encode(term) for term in KINDS]
    triples = np.array(ids, np.int32)[np.array(rows)]
    visibility = Visibility(dictionary)
    expected = [bool(visibility.hides(triple[None])[0]) for triple in triples]
    assert visibility.hides(triples).tolist() == expected
    for property in set(triples[:, 1].tolist()):
        some = triples[triples[:, 1] == property]
        hidden = visibility.hidden_in(some[:, 0], property, some[:, 2])
        assert (np.zeros(len(some), bool) if hidden is None else hidden).tolist() == visibility.hides(some).tolist()


def test_queries_of_several_patterns() -> None:
    reasoner = reasoner_with(DATA)
    graph = graph_of(reasoner)
    prefix = "PREFIX : <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
    assert graph.query(f"{prefix} ASK {{ :a owl:sameAs :a }}").askAnswer
    assert graph.query(f"{prefix} ASK {{ :a owl:sameAs :a . :a :p ?x }}").askAnswer
    assert not graph.query(f"{prefix} ASK {{ :a owl:sameAs :b . :a :p ?x }}").askAnswer
    assert len(graph.query(f"{prefix} SELECT ?c {{ :a :p ?x . :a a ?c }}")) == 2
    assert len(graph.query(f"{prefix} SELECT ?p {{ ?x :p :b . ?x ?p ?x }}")) == 0
    assert len(graph.query(f"{prefix} SELECT ?x {{ ?x :p :b . ?x owl:sameAs ?x }}")) == 1
    assert len(graph.query(f"{prefix} SELECT * {{ ?s ?p ?o }} LIMIT 4")) == 4


def test_a_limit_counts_what_is_shown() -> None:
    reasoner = reasoner_with([(ex(f"x{number}"), P, ex(f"y{number}")) for number in range(40)])
    assert len(answers(reasoner, [("s", "p", "o")], ["s"], limit=39)) >= 39
    assert len(answers(reasoner, [("s", "p", "o")], ["s"], limit=1000)) == 40
    joined = answers(reasoner, [("s", "p", "o"), ("s", "q", "r")], ["s"], limit=1000)
    assert len(joined) == 40


def test_everything_is_the_same_as_itself_where_there_is_equality() -> None:
    """Though the rules for speed do not derive it."""
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples([(A, P, B), (A, RDF.type, C)])
    for term in (A, B, C, P):
        assert list(reasoner.triples(term, OWL.sameAs, term)) == [(term, OWL.sameAs, term)]
    assert not list(reasoner.triples(A, OWL.sameAs, B))
    assert not list(reasoner.triples(ex("nowhere"), OWL.sameAs, ex("nowhere")))
    assert not list(reasoner.triples(A, OWL.sameAs, A, "explicit"))
    graph = graph_of(reasoner)
    query = "ASK { <http://example.org/a> <http://www.w3.org/2002/07/owl#sameAs> <http://example.org/a> }"
    assert graph.query(query).askAnswer
    without = Reasoner(ruleset="rdfs")
    without.add_triples([(A, P, B)])
    assert not list(without.triples(A, OWL.sameAs, A))


def test_what_rules_of_ones_own_conclude_is_shown() -> None:
    reasoner = Reasoner("owl:sameAs[?x, ?x] :- [?x, ?p, ?y] .")
    reasoner.add_triples([(A, P, B)])
    assert set(reasoner.triples()) == {(A, P, B), (A, OWL.sameAs, A)}


def test_deltas_hide_trivial_triples_unless_they_are_explicit() -> None:
    reasoner = reasoner_with(DATA)
    with reasoner.transaction() as first:
        first.add_triples([(B, P, A)])
    assert set(first.delta.added.triples()) == {(B, P, A)}
    with reasoner.transaction() as second:
        second.add_triples([(A, OWL.sameAs, A)])
        assert set(second.delta.added.triples("explicit")) == {(A, OWL.sameAs, A)}
    assert set(second.delta.added.triples()) == {(A, OWL.sameAs, A)}
    assert not second.delta.restated
    with reasoner.transaction() as third:
        third.remove_triples([(A, OWL.sameAs, A), (B, P, A)])
    assert set(third.delta.removed.triples()) == {(A, OWL.sameAs, A), (B, P, A)}
    assert set(third.delta.removed.triples("explicit")) == {(A, OWL.sameAs, A), (B, P, A)}


TERMS: list[Term] = [A, B, C, BLANK, RDF.type, RDFS.Resource, OWL.Thing, XSD.integer, literal(1)]
PROPERTIES: list[Term] = [P, RDF.type, OWL.sameAs, RDFS.subClassOf]
triples = st.tuples(st.sampled_from(TERMS[:-1]), st.sampled_from(PROPERTIES), st.sampled_from(TERMS))


REFLEXIVE = (OWL.sameAs, OWL.equivalentClass, OWL.equivalentProperty, RDFS.subClassOf, RDFS.subPropertyOf)


def is_hidden(triple: Triple) -> bool:
    """The definition, once more."""
    subject, property, value = triple
    if any(subject in vocabulary for vocabulary in (RDF, RDFS, OWL, XSD)):
        return True
    if property == RDF.type:
        return isinstance(value, BlankNode) or value in (RDFS.Resource, OWL.Thing)
    if property == RDFS.subClassOf and value in (RDFS.Resource, OWL.Thing):
        return True
    return subject == value and property in REFLEXIVE


def matching(found: set[Triple], pattern: tuple[Term | None, Term | None, Term | None]) -> Iterator[Triple]:
    for triple in found:
        if all(wanted in (None, term) for wanted, term in zip(pattern, triple, strict=True)):
            yield triple


@settings(max_examples=examples(20))
@given(
    st.sampled_from(["rdfs", "owl2rl", "owl2rl-full"]),
    st.lists(triples, max_size=8),
    st.tuples(*(st.one_of(st.none(), st.sampled_from(terms)) for terms in (TERMS[:-1], PROPERTIES, TERMS))),
)
def test_patterns_find_what_is_not_hidden_from_them(
    ruleset: str, data: list[Triple], pattern: tuple[Term | None, Term | None, Term | None]
) -> None:
    hiding, showing = Reasoner(ruleset=ruleset), Reasoner(ruleset=ruleset, show_hidden=True)
    for reasoner in (hiding, showing):
        reasoner.add_triples(data)
    everything = set(showing.triples())
    _, property, value = pattern
    asks = property is not None and (property != RDF.type or value is not None)
    expected = {t for t in matching(everything, pattern) if asks or t in data or not is_hidden(t)}
    found = set(hiding.triples(*pattern))
    assert found - {(A, OWL.sameAs, A)} == expected - {(A, OWL.sameAs, A)} or None not in pattern
    assert expected <= found
    assert exported(hiding) == {t for t in everything if t in data or not is_hidden(t)}


def test_the_command_line_shows_all_if_asked_for(tmp_path: Path) -> None:
    data = tmp_path / "data.nt"
    data.write_text("<http://example.org/a> <http://example.org/p> <http://example.org/b> .\n")
    counts = []
    for options in ([], ["--show-hidden"]):
        output = tmp_path / "all.nt"
        arguments = ["materialise", str(data), "--ruleset", "owl2rl-full", "--output", str(output), *options]
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        counts.append(len(output.read_text().splitlines()))
    assert counts[0] == 1
    assert counts[1] > 40


def test_programs_that_derive_nothing_of_the_kind_hide_nothing() -> None:
    for text in ("ex:C[?x] :- ex:p[?x, ?y] .", "@rule prp-dom\nex:C[?x] :- ex:p[?x, ?y] .", "path(?x, ?y) :- ex:p[?x, ?y] ."):
        reasoner = Reasoner(parse(f"@prefix ex: <http://example.org/> . {text}"))
        reasoner.add_triples([(A, P, B)])
        reasoner.materialise()
        assert not reasoner.visibility.is_active
