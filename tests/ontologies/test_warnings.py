"""What is said of axioms beyond the rules: as soon as they are loaded, by both rule sets, and as Python warnings."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

import kg_reasoner
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.errors import BeyondProfileWarning, ReasonerWarning
from kg_reasoner.loaders.ontology import owl
from kg_reasoner.rdflib_store import attach
from kg_reasoner.terms import IRI, OWL, RDF, BlankNode
from tests.helpers.effort import thinned
from tests.helpers.fixtures import blocks
from tests.ontologies.test_owl import TURTLE_PREFIXES, triples_in

FIXTURE = Path(__file__).with_name("warned.txt")
CHOICE = ":C rdfs:subClassOf [ owl:unionOf (:D :E) ] ."
LOWER = ":C rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ] ."


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


def cases() -> list[object]:
    found = []
    for title, text in blocks(FIXTURE):
        ontology, _, expected = text.partition("\n=> ")
        found.append(pytest.param(ontology, expected.strip(), id=title))
    return found


def loaded(turtle: str, ruleset: str = "owl2rl", **settings: str) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset, **settings)  # type: ignore[arg-type]
    reasoner.load(f"{TURTLE_PREFIXES}{turtle}".encode(), format="turtle")
    return reasoner


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.parametrize(("ontology", "expected"), thinned(cases(), 2))
@pytest.mark.sample(3)
def test_warnings_are_there_once_axioms_are_loaded(ontology: str, expected: str, ruleset: str) -> None:
    reasoner = loaded(ontology, ruleset)
    found = reasoner.warnings
    if expected == "nothing":
        assert found == []
    else:
        (warning,) = found
        assert expected in str(warning)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        reasoner.materialise()
    assert reasoner.warnings == found
    assert [(entry.category, str(entry.message)) for entry in issued] == [(BeyondProfileWarning, str(each)) for each in found]


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
def test_warnings_come_and_go_with_their_axioms(ruleset: str) -> None:
    lower, choice = triples_in(LOWER), triples_in(CHOICE)
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.add_triples(lower)
    reasoner.add_triples(choice)
    assert len(reasoner.warnings) == 2
    reasoner.remove_triples(lower)
    assert ["choice" in str(warning) for warning in reasoner.warnings] == [True]
    reasoner.remove_triples(choice)
    assert reasoner.warnings == []


def test_other_rule_sets_have_nothing_to_say() -> None:
    assert loaded(CHOICE, "rdfs-full").warnings == []
    assert Reasoner("p(1) .").warnings == []


def test_swrl_rules_are_lost_on_a_rule_set_that_translates_nothing() -> None:
    swrl = """
        [] a swrl:Imp ; swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 <urn:swrl#x> ] ) ;
            swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :D ; swrl:argument1 <urn:swrl#x> ] ) .
    """
    assert loaded(swrl).warnings == []
    (warning,) = loaded(swrl, "owl2rl-full").warnings
    assert "owl2rl translates them" in str(warning)


def test_each_warning_is_issued_once_for_each_reasoner() -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        first, second = loaded(CHOICE), loaded(CHOICE)
        assert issued == []
        list(first.triples())
        list(first.triples())
        first.add_triples([(ex("a"), RDF.type, ex("C")), (ex("D"), RDF.type, OWL.Class)])
        list(first.triples())
        list(second.triples())
        assert len(issued) == 2
        first.add_triples(triples_in(LOWER))
        list(first.triples())
    assert [str(entry.message).partition(":")[0] for entry in issued].count("SubClassOf(example") == 3
    assert {entry.filename for entry in issued} == {__file__}


def test_of_many_warnings_the_first_ones_are_issued_and_the_others_counted() -> None:
    axioms = [(BlankNode(f"b{number}"), OWL.someValuesFrom, ex("C")) for number in range(25)]
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(axioms)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        reasoner.materialise()
        reasoner.materialise()
        assert len(issued) == 11
        assert "15 more warnings: see reasoner.warnings" in str(issued[-1].message)
        reasoner.add_triples([(BlankNode("c"), OWL.someValuesFrom, ex("C"))])
        reasoner.materialise()
        assert len(issued) == 12
    assert len(reasoner.warnings) == 26


def test_what_is_missing_is_another_kind_of_warning() -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        list(loaded("<urn:o> a owl:Ontology ; owl:imports <urn:missing> .").triples())
    (entry,) = issued
    assert entry.category is ReasonerWarning
    assert "urn:missing" in str(entry.message)


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
def test_warnings_that_are_errors_leave_everything_right(ruleset: str) -> None:
    data = f"{CHOICE} {LOWER} :D rdfs:subClassOf :F . :a a :D ."
    reasoner = loaded(data, ruleset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(BeyondProfileWarning):
                reasoner.materialise()
        reasoner.materialise()
        with reasoner.transaction() as transaction:
            transaction.add_triples([(ex("b"), RDF.type, ex("D"))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = loaded(data, ruleset)
        expected.add_triples([(ex("b"), RDF.type, ex("D"))])
        assert set(reasoner.triples(ex("a"))) == set(expected.triples(ex("a")))
        assert set(reasoner.triples(ex("b"))) == set(expected.triples(ex("b"))) != set()


def test_warnings_within_a_transaction_wait_for_its_end() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with reasoner.transaction() as transaction:
            transaction.add_triples(triples_in(CHOICE))
            list(reasoner.triples())
        assert len(transaction.delta.added) > 0
        with pytest.raises(BeyondProfileWarning):
            list(reasoner.triples())


def test_graphs_warn_too() -> None:
    import rdflib

    graph = attach(rdflib.Graph().parse(data=f"{TURTLE_PREFIXES}{CHOICE}", format="turtle"))
    with pytest.warns(BeyondProfileWarning, match="choice"):
        len(graph)


def test_warnings_are_public_and_shown_by_default(tmp_path: Path) -> None:
    assert kg_reasoner.BeyondProfileWarning is BeyondProfileWarning
    assert issubclass(BeyondProfileWarning, kg_reasoner.ReasonerWarning)
    assert issubclass(ReasonerWarning, UserWarning)
    ontology = tmp_path / "ontology.ttl"
    ontology.write_text(f"{TURTLE_PREFIXES}{CHOICE}")
    script = f"from kg_reasoner import Reasoner\nr = Reasoner(ruleset='owl2rl')\nr.load({str(ontology)!r})\nr.materialise()\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert shown.stderr.count("BeyondProfileWarning: SubClassOf(") == 1


@pytest.mark.parametrize("command", ["check", "materialise", "query", "rules"])
@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.sample(2)
def test_the_command_line_shows_each_warning_once(command: str, ruleset: str, tmp_path: Path) -> None:
    ontology = tmp_path / "ontology.ttl"
    ontology.write_text(f"{TURTLE_PREFIXES}{CHOICE} :a a :D .")
    further = {"materialise": ["--output", str(tmp_path / "out.nt")], "query": ["--query", "ASK { ?s ?p ?o }"]}.get(command, [])
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = CliRunner().invoke(main, [command, str(ontology), "--ruleset", ruleset, *further])
    assert result.exit_code == 0, result.output
    assert result.output.count("SubClassOf(") == 1
    assert "1 axiom cannot be fully expressed by rules" in result.output
    assert not any(issubclass(entry.category, ReasonerWarning) for entry in issued)


def test_axioms_are_judged_again_only_when_axioms_change(monkeypatch: pytest.MonkeyPatch) -> None:
    axiom, reasoner = triples_in(CHOICE), Reasoner(ruleset="owl2rl-full")
    reasoner.add_triples([*axiom, (ex("a"), RDF.type, ex("C"))])
    reasoner.materialise()
    judged: list[object] = []
    judge = owl.judge
    monkeypatch.setattr(owl, "judge", lambda triples: judged.append(None) or judge(triples))
    before = reasoner.warnings
    assert before
    reasoner.remove_triples([(ex("a"), RDF.type, ex("C"))])
    reasoner.materialise()
    assert (reasoner.warnings, judged) == (before, [])
    reasoner.remove_triples(axiom)
    reasoner.materialise()
    assert (reasoner.warnings, len(judged)) == ([], 1)


def test_a_warning_among_many_is_issued_when_it_comes() -> None:
    classes = "".join(f":C{number} rdfs:subClassOf [ owl:unionOf ( :A :B ) ] . " for number in (1, 3))
    prefixes = "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    prefixes += "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    reasoner = Reasoner(ruleset="owl2rl")
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        for text in (classes, *(f":C{number} rdfs:subClassOf [ owl:unionOf ( :A :B ) ] ." for number in (2, 0, 4))):
            reasoner.load((prefixes + text).encode(), format="turtle")
            reasoner.materialise()
    said = [str(warning.message).partition(" ")[0] for warning in issued]
    assert said == [f"SubClassOf(example:C{number}" for number in (1, 3, 2, 0, 4)]
