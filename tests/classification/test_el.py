"""OWL 2 EL: the rule set ``owl2el`` against an oracle, ELK and the W3C's cases; hierarchies, warnings, and RL together with it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rdflib import Graph

from benchmarks import el_proofs
from benchmarks.conformance.cases import DOES_NOT_ENTAIL, ENTAILS, INCONSISTENT, SUITE_FOLDER, Case, cases
from benchmarks.conformance.cases import triples_of as read
from benchmarks.inputs.el_data import EX, SHAPES, Axiom, write_functional, write_triples
from kg_reasoner import Reasoner
from kg_reasoner.api.entailment import entails
from kg_reasoner.cli import main
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD
from tests.classification.el_ontologies import DECLARATIONS, axioms, derived, triples_of
from tests.classification.el_oracle import subsumptions
from tests.helpers import proof_checker
from tests.helpers.effort import by_effort, examples
from tests.helpers.suites import needs_suite

PREFIXES = """
    @prefix : <http://example.org/el#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def reasoner_on(turtle: str, ruleset: str = "owl2el") -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.load((PREFIXES + turtle).encode(), format="turtle")
    return reasoner


def name(local: str) -> IRI:
    return IRI(EX + local)


# --- the oracle


def agree(reasoner: Reasoner, ontology: list[Axiom]) -> None:
    expected = subsumptions(ontology)
    empty = {lower for lower, upper in expected if upper == "Nothing"} - {"Nothing"}
    is_consistent = "Thing" not in empty and not any(each.startswith("i") for each in empty)
    assert reasoner.is_consistent() == is_consistent
    if is_consistent:
        found = set(derived(reasoner))
        assert {lower for lower, upper in found if upper == "Nothing"} - {"Nothing"} == empty
        kept = empty | {"Thing", "Nothing"}
        assert {pair for pair in found if pair[0] not in kept} == {pair for pair in expected if pair[0] not in kept}


@pytest.mark.parametrize("seed", range(examples(300)))
@pytest.mark.sample(3)
def test_owl2el_agrees_with_the_oracle(seed: int) -> None:
    ontology = axioms(random.Random(seed))
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples(triples_of(ontology))
    agree(reasoner, ontology)


@pytest.mark.parametrize("seed", range(examples(60)))
@pytest.mark.sample(2)
def test_changed_axioms_are_followed(seed: int) -> None:
    chance = random.Random(seed)
    every = {axiom: triples_of([axiom], f"a{number}") for number, axiom in enumerate(axioms(chance, 24))}
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples([triple for axiom in DECLARATIONS for triple in every.pop(axiom)])
    present: list[Axiom] = []
    for _ in range(6):
        gone = [axiom for axiom in present if chance.random() < 0.3]
        new = [axiom for axiom in every if axiom not in present and chance.random() < 0.4]
        with reasoner.transaction() as changes:
            changes.remove_triples([triple for axiom in gone for triple in every[axiom]])
            changes.add_triples([triple for axiom in new for triple in every[axiom]])
        present = [axiom for axiom in present if axiom not in gone] + new
        agree(reasoner, DECLARATIONS + present)
        fresh = Reasoner(ruleset="owl2el")
        fresh.add_triples(reasoner.triples(which="explicit"))
        assert reasoner.hierarchy().text() == fresh.hierarchy().text()


@pytest.mark.parametrize("seed", range(examples(30)))
@pytest.mark.sample(2)
def test_every_proof_is_accepted(seed: int) -> None:
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples(triples_of(axioms(random.Random(seed), 8)))
    rules = reasoner.program.rules
    everything = {name: set(reasoner.facts(name)) for name in reasoner.predicates()}
    everything[TRIPLE] = set(reasoner.triples())
    explicit = {TRIPLE: set(reasoner.triples(which="explicit"))}
    proved = list(reasoner.triples(None, RDFS.subClassOf, None, which="inferred"))
    for triple in sorted(proved, key=str)[: by_effort(4, 20, 100)]:
        proof = reasoner.explain(triple)
        proof_checker.check(proof, Atom(TRIPLE, triple), rules, explicit, everything)
        assert triple in stating(reasoner.axioms_of(proof), triple[0], triple[2]).triples()


def stating(texts: tuple[str, ...], *names: object) -> Reasoner:
    """A reasoner on axioms in functional syntax, and declarations of names."""
    prefixes = f"Prefix(owl:=<{OWL}>) Prefix(rdfs:=<{RDFS}>) Prefix(xsd:=<{XSD}>)"
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.load(f"{prefixes} Ontology({' '.join(texts)})".encode(), format="functional")
    reasoner.add_triples([(each, RDF.type, OWL.Class) for each in names])
    return reasoner


def test_the_command_line_shows_the_axioms_of_a_proof(tmp_path: Path) -> None:
    file = tmp_path / "ontology.ttl"
    file.write_text(PREFIXES + ANATOMY)
    arguments = ["explain", str(file), "-r", "owl2el", "--triple", ":Leaflet rdfs:subClassOf :HeartPart", "-f", "axioms"]
    result = CliRunner().invoke(main, arguments)
    assert result.stdout.splitlines() == [
        "SubClassOf(:Leaflet ObjectSomeValuesFrom(:partOf :Valve))",
        "SubClassOf(:Valve ObjectSomeValuesFrom(:partOf :Heart))",
        "TransitiveObjectProperty(:partOf)",
        "EquivalentClasses(:HeartPart ObjectSomeValuesFrom(:partOf :Heart))",
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sample(3)
def test_unsatisfiable_classes_have_proofs(shape: str) -> None:
    reasoner = Reasoner(ruleset="owl2el")
    chance = random.Random(3)
    size = by_effort(70, 300, 1_000)
    ontology = list(SHAPES[shape](size, chance))
    ontology += [("disjoint", "C1", "C2"), *(("subclass", f"C{number}", f"C{number - 1}") for number in range(1, size, size // 8))]
    reasoner.add_triples(triples_of(ontology))
    unsatisfiable = reasoner.hierarchy().unsatisfiable
    assert unsatisfiable
    rules = reasoner.program.rules
    everything = {predicate: set(reasoner.facts(predicate)) for predicate in reasoner.predicates()}
    everything[TRIPLE] = set(reasoner.triples())
    explicit = {TRIPLE: set(reasoner.triples(which="explicit"))}
    for each in unsatisfiable[:: max(1, len(unsatisfiable) // by_effort(2, 5, 50))]:
        fact = each.name, RDFS.subClassOf, OWL.Nothing
        proof_checker.check(each.proof, Atom(TRIPLE, fact), rules, explicit, everything)
        assert fact in stating(reasoner.axioms_of(each.proof), each.name).triples()


@pytest.mark.parametrize("effort", [1, 20_000])
def test_many_unsatisfiable_classes_are_explained_together(effort: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hardly any effort, what is proved for one class serves the next one, and no proof goes in a circle."""
    monkeypatch.setattr("kg_reasoner.classification.hierarchy._EFFORT_FOR_ALL", effort)
    monkeypatch.setattr("kg_reasoner.classification.hierarchy._LEAST_EFFORT", 1)
    equivalents = " ".join(f":C{number}" for number in range(9))
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.load(
        f"Prefix(:=<{EX}>) Ontology(EquivalentClasses({equivalents}) DisjointClasses(:C0 :C1))".encode(), format="functional"
    )
    hierarchy = reasoner.hierarchy()
    rules = reasoner.program.rules
    everything = {predicate: set(reasoner.facts(predicate)) for predicate in reasoner.predicates()}
    everything[TRIPLE] = set(reasoner.triples())
    explicit = {TRIPLE: set(reasoner.triples(which="explicit"))}
    explained = list(hierarchy.explanations())
    assert [each.name for each, _, _ in explained] == [name(f"C{number}") for number in range(9)]
    for each, texts, proof in explained:
        fact = each.name, RDFS.subClassOf, OWL.Nothing
        proof_checker.check(proof, Atom(TRIPLE, fact), rules, explicit, everything)
        assert "DisjointClasses(:C0 :C1)" in texts
        assert proof.shortest == (effort > 1)
        assert each.proof.height <= proof.height
    assert hierarchy.html().count("<summary class") == 9


@pytest.mark.parametrize("ruleset", ["owl2el", "owl2rl"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sample(3)
def test_the_proofs_of_all_unsatisfiable_classes_are_accepted(shape: str, ruleset: str) -> None:
    """The benchmark of proofs ends with the number of classes, and an error if a proof is wrong or its axioms do not suffice."""
    size = str(by_effort(60, 300, 3_000))
    result = CliRunner().invoke(el_proofs.main, ["--shape", shape, "--classes", size, "-r", ruleset, "--contradictions", "3"])
    assert result.exit_code == 0, result.output
    found = re.search(r"(\d+) unsatisfiable, all proved .* the axioms of (\d+) suffice", result.output)
    assert found is not None
    assert int(found[1]) >= int(found[2]) > 0


@pytest.mark.parametrize("ruleset", ["owl2el", "owl2rl"])
def test_the_proofs_of_unsatisfiable_properties_are_accepted(ruleset: str) -> None:
    """In this ontology, the domain of ``regulates`` is unsatisfiable."""
    result = CliRunner().invoke(el_proofs.main, ["--shape", "go", "--classes", "12", "-r", ruleset])
    assert result.exit_code == 0, result.output
    assert "14 unsatisfiable, all proved" in result.output


def test_the_proof_checker_of_the_benchmark_rejects_what_is_not_explicit() -> None:
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples(triples_of([("disjoint", "C1", "C2"), ("subclass", "C3", "C1"), ("subclass", "C3", "C2")]))
    (explained,) = reasoner.hierarchy().explanations()
    each, axioms, proof = explained
    el_proofs.Checker(reasoner, "owl2el").steps(each, proof)
    with pytest.raises(proof_checker.ProofError, match="is not explicit"):
        el_proofs.Checker(Reasoner(ruleset="owl2el"), "owl2el").steps(each, proof)
    with pytest.raises(click.ClickException, match="is satisfiable by the axioms"):
        el_proofs.Checker(reasoner, "owl2el").axioms(each, axioms[1:])


# --- ELK


@cache
def elk() -> list[str]:
    """The command of ELK, from the environment: the path of ``elk-standalone-*.jar``."""
    jar, java = os.environ.get("KG_REASONER_ELK"), shutil.which("java")
    if not jar or not java or not Path(jar).exists():
        pytest.skip(
            "KG_REASONER_ELK is not the path of ELK's elk-standalone.jar, or java is not on the PATH (https://github.com/liveontologies/elk-reasoner)"
        )
    return [java, "-jar", jar]


@pytest.mark.parametrize("shape", SHAPES)
def test_hierarchies_are_those_of_elk(shape: str, tmp_path: Path) -> None:
    agree_with_elk(list(SHAPES[shape](1_000, random.Random(1))), tmp_path)


@pytest.mark.parametrize("seed", range(examples(60)))
@pytest.mark.sample(2)
def test_random_hierarchies_are_those_of_elk(seed: int, tmp_path: Path) -> None:
    """Many small ontologies at once, each with names of its own, of what ELK has: no ranges, no values that are the subject itself.

    What is said of owl:Thing would be said of all of them.
    """
    chance, together = random.Random(seed), list[Axiom]()
    for number in range(30):
        for axiom in axioms(chance):
            if axiom[0] not in ("range", "reflexive", "assertion", "related") and not {"self", "Thing"} & set(words(axiom)):
                together.append(in_its_own_names(axiom, number))
    agree_with_elk(together, tmp_path)


def words(part: Any) -> Iterator[str]:
    """The texts in an axiom."""
    if isinstance(part, str):
        yield part
    else:
        for each in part:
            yield from words(each)


def in_its_own_names(part: Any, number: int) -> Any:
    """An axiom with a number at the end of its classes and properties."""
    if isinstance(part, str):
        return f"{part}x{number}" if re.fullmatch(r"[Cr]\d+", part) else part
    return tuple(in_its_own_names(each, number) for each in part)


def agree_with_elk(ontology: list[Axiom], tmp_path: Path) -> None:
    command = elk()
    with (tmp_path / "ontology.ofn").open("w") as file:
        write_functional(iter(ontology), file)
    with (tmp_path / "ontology.nt").open("w") as file:
        write_triples(iter(ontology), file)
    output = tmp_path / "taxonomy.ofn"
    subprocess.run([*command, "-c", "-i", str(tmp_path / "ontology.ofn"), "-o", str(output)], check=True, capture_output=True)
    above: dict[str, set[str]] = {}
    for line in output.read_text().splitlines():
        names = [first or second for first, second in re.findall(r"<([^>]*)>|(owl:\w+)", line)]
        if line.startswith("SubClassOf"):
            above.setdefault(names[0], set()).add(names[1])
        elif line.startswith("EquivalentClasses"):
            for each in names:
                above.setdefault(each, set()).update(set(names) - {each})
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.load(tmp_path / "ontology.nt")
    empty = {each.name.value for each in reasoner.hierarchy().unsatisfiable if each.kind == "class"}
    assert empty == above.get(OWL.Nothing.value, set())
    classes = reasoner.hierarchy().classes
    expected = {}
    for cls in classes.names:
        near, waiting = set[str](), [cls.value]
        while waiting:
            for upper in above.get(waiting.pop(), ()):
                if upper not in near and upper.startswith(EX):
                    near.add(upper)
                    waiting.append(upper)
        expected[cls.value] = near - {cls.value}
    found = {cls.value: {each.value for each in (*classes.ancestors(cls), *classes.equivalents(cls))} for cls in classes.names}
    assert found == expected


# --- the W3C's cases

NOT_FOUND = {
    "chain2trans1 entails",
    "Disjoint_Props_via_Disjoint_Domains entails",
    "Disjoint_Props_via_Disjoint_Ranges entails",
    "New-Feature-ObjectPropertyChain-BJP-002 entails",
    "WebOnt-I5.26-010 entails",
    "WebOnt-I5.5-005 entails",
    "WebOnt-I5.8-011 entails",
    "WebOnt-sameAs-001 entails",
}
"""Conclusions that are axioms about properties, expressions or datatypes, or equal names of classes."""


@cache
def annotations() -> dict[str, dict[str, list[str]]]:
    """What the W3C says of each test."""
    path = SUITE_FOLDER / "owl2" / "manifest.json"
    return {case["slug"]: case for case in json.loads(path.read_text())} if path.exists() else {}


def in_el(case: Case) -> bool:
    return "EL" in annotations().get(case.premise[0].parent.name, {}).get("profiles", ())


EL_CASES = [case for case in cases("owl2") if in_el(case)]


@needs_suite("owl2")
def test_there_are_cases() -> None:
    assert len(EL_CASES) > 60
    assert {f"{case.name} {case.kind}" for case in EL_CASES} >= NOT_FOUND


@needs_suite("owl2")
@pytest.mark.parametrize("case", EL_CASES, ids=lambda case: case.id)
@pytest.mark.sample(6)
def test_w3c_cases(case: Case) -> None:
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples(read(*case.premise))
    assert reasoner.is_consistent() == (case.kind != INCONSISTENT)
    if case.conclusion is not None and case.kind in (ENTAILS, DOES_NOT_ENTAIL):
        expected = case.kind == ENTAILS and f"{case.name} {case.kind}" not in NOT_FOUND
        assert entails(reasoner, read(case.conclusion)) == expected


# --- hierarchies, warnings, combinations

ANATOMY = """
    :Heart rdfs:subClassOf :Organ . :partOf a owl:ObjectProperty , owl:TransitiveProperty .
    :Valve rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Heart ] .
    :Leaflet rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Valve ] .
    :HeartPart owl:equivalentClass [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Heart ] .
    :Organ owl:disjointWith :HeartPart . :Auricle rdfs:subClassOf :Leaflet , :Organ .
"""


def test_a_hierarchy_is_read_from_derived_triples() -> None:
    reasoner = reasoner_on(ANATOMY)
    hierarchy = reasoner.hierarchy()
    assert [each.name for each in hierarchy.unsatisfiable] == [name("Auricle")]
    assert hierarchy.classes.parents(name("Leaflet")) == (name("HeartPart"),)
    assert hierarchy.complete
    assert reasoner.hierarchy() is hierarchy
    proof = hierarchy.explain(name("Leaflet"), name("HeartPart"))
    assert proof.steps[-1].statement == Atom(TRIPLE, (name("Leaflet"), RDFS.subClassOf, name("HeartPart")))
    reasoner.remove_triples([(name("Auricle"), RDFS.subClassOf, name("Organ"))])
    changed = reasoner.hierarchy()
    assert not changed.unsatisfiable
    assert changed.classes.parents(name("Auricle")) == (name("Leaflet"),)


@pytest.mark.parametrize("axiom", [":C rdfs:subClassOf [SOME]", "[SOME] rdfs:subClassOf :C", ":C owl:equivalentClass [SOME]"])
def test_a_property_without_a_declaration_comes_and_goes_with_its_restrictions(axiom: str) -> None:
    some = "a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :D"
    prefixes = "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    prefixes += "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    added = list(Graph().parse(data=f"{prefixes} {axiom.replace('SOME', some)} .", format="turtle"))
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.load(f"{prefixes} :C a owl:Class . :D a owl:Class .".encode(), format="turtle")
    for change, names in ((reasoner.add_triples, ["http://example.org/p"]), (reasoner.remove_triples, [])):
        assert reasoner.hierarchy()
        change(added)
        assert [entry["name"] for entry in reasoner.hierarchy().as_dict()["object_properties"]] == names


def test_unsatisfiable_properties_are_found() -> None:
    hierarchy = reasoner_on(
        ":p a owl:ObjectProperty ; rdfs:domain :A , :B . :A owl:disjointWith :B . :q rdfs:subPropertyOf :p ; rdfs:range :C ."
    ).hierarchy()
    assert [each.name for each in hierarchy.unsatisfiable] == [name("p"), name("q")]


UNDECLARED = """
    :A owl:disjointWith :B . :p rdfs:domain :A , :B . :q rdfs:subPropertyOf :p . :r rdfs:domain :A .
    [ a owl:Restriction ; owl:onProperty :s ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf owl:Nothing .
"""


def test_unsatisfiable_properties_need_no_declaration() -> None:
    reasoner = reasoner_on(UNDECLARED)
    hierarchy = reasoner.hierarchy()
    assert [each.name for each in hierarchy.unsatisfiable] == [name("p"), name("q"), name("s")]
    assert hierarchy.object_properties.names == (name("r"),)
    first = hierarchy.unsatisfiable[0]
    assert set(first.axioms()) == {
        "ObjectPropertyDomain(:p :A)",
        "ObjectPropertyDomain(:p :B)",
        "DisjointClasses(:A :B)",
    }
    reasoner.remove_triples([(name("p"), RDFS.domain, name("B"))])
    assert [each.name for each in reasoner.hierarchy().unsatisfiable] == [name("s")]
    assert [each.name for each in reasoner_on(UNDECLARED, "owl2rl").hierarchy().unsatisfiable] == [name("p"), name("q"), name("s")]


def test_no_axioms_have_no_hierarchy() -> None:
    hierarchy = Reasoner(ruleset="owl2el").hierarchy()
    assert hierarchy.text() == ""
    assert hierarchy.complete


@pytest.mark.parametrize("seed", range(examples(60)))
@pytest.mark.sample(2)
def test_declarations_of_properties_change_no_hierarchy(seed: int) -> None:
    """Without them, a property that no axiom mentions is unknown."""
    ontology = axioms(random.Random(seed))
    found = []
    for each in (ontology, [axiom for axiom in ontology if axiom[0] != "property"]):
        reasoner = Reasoner(ruleset="owl2el")
        reasoner.add_triples(triples_of(each))
        found.append(reasoner.hierarchy())
    declared, undeclared = found
    known = {*undeclared.object_properties.names, *(each.name for each in undeclared.unsatisfiable)}
    assert [each.name for each in undeclared.unsatisfiable] == [each.name for each in declared.unsatisfiable if each.name in known]
    assert list(undeclared.classes.places()) == list(declared.classes.places())
    assert undeclared.complete == declared.complete


@pytest.mark.parametrize(
    "turtle",
    [
        ":x a [ owl:onProperty :p ; owl:hasSelf true ] . :p rdfs:domain [ owl:intersectionOf (:C :D) ] .",
        ":x a [ owl:onProperty :p ; owl:hasSelf true ] . :p rdfs:range [ owl:onProperty :q ; owl:someValuesFrom :D ] . "
        "[ owl:onProperty :q ; owl:someValuesFrom :D ] rdfs:subClassOf :C .",
        ":x a :A . :A rdfs:subClassOf [ owl:oneOf (:y) ] . :y a :B . :B rdfs:subClassOf :C .",
        ":d a owl:DatatypeProperty . :x :d 1 . [ owl:onProperty :d ; owl:hasValue 1.0 ] rdfs:subClassOf :C .",
        ":x a :A . :A a owl:Class . :y a :D . "
        "[ owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :D ] rdfs:subClassOf :C .",
        ":x a :A . :A a owl:Class . :y a :D . owl:topObjectProperty rdfs:subPropertyOf :p . :q a owl:ObjectProperty . "
        ":E rdfs:subClassOf [ owl:onProperty :q ; owl:someValuesFrom :F ] . "
        "[ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :C .",
        ":x a :A . :A a owl:Class . owl:topObjectProperty rdfs:domain :C .",
        ":x a :A . :A a owl:Class . owl:topObjectProperty rdfs:range :C .",
    ],
)
@pytest.mark.sample(2)
def test_individuals_get_the_class_c(turtle: str) -> None:
    """What HermiT found in random ontologies, and these rules once did not."""
    reasoner = reasoner_on(turtle)
    assert (name("x"), RDF.type, name("C")) in reasoner.triples()
    assert reasoner.is_consistent()


@pytest.mark.parametrize(
    ("ranges", "value", "is_possible"),
    [
        (":d rdfs:range xsd:integer .", "1.0", True),
        (":d rdfs:range xsd:integer .", "1.5", False),
        (":d rdfs:range xsd:token .", '"a b"', True),
        (":d rdfs:range xsd:token .", '"a  b"', False),
        (":d rdfs:range xsd:nonNegativeInteger .", "-1", False),
        (":d rdfs:range [ a rdfs:Datatype ; owl:oneOf (1) ] .", "1.0", True),
        (":d rdfs:range [ a rdfs:Datatype ; owl:oneOf (1) ] .", "2", False),
        (":A rdfs:subClassOf [ owl:onProperty :d ; owl:hasValue 2.5 ] . :d a owl:FunctionalProperty .", "2.50", True),
        (":A rdfs:subClassOf [ owl:onProperty :d ; owl:hasValue 2.5 ] . :d a owl:FunctionalProperty .", "2", False),
        (":A rdfs:subClassOf [ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] . :d a owl:FunctionalProperty .", "2.5", False),
        (":A rdfs:subClassOf [ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] . :d a owl:FunctionalProperty .", "2.0", True),
    ],
)
@pytest.mark.sample(2)
def test_literals_are_in_datatypes_and_differ_by_their_values(ranges: str, value: str, is_possible: bool) -> None:
    told = f":d a owl:DatatypeProperty . {ranges} :A a owl:Class . "
    reasoner = reasoner_on(told + f":A rdfs:subClassOf [ owl:onProperty :d ; owl:hasValue {value} ] .")
    assert (not reasoner.hierarchy().unsatisfiable) is is_possible
    assert reasoner.is_consistent()
    assert reasoner_on(told + f":i a :A ; :d {value} .").is_consistent() == is_possible


def test_annotations_of_classes_do_not_make_them_individuals() -> None:
    """An annotation property can be below another one."""
    reasoner = reasoner_on(
        ':author a owl:AnnotationProperty ; rdfs:subPropertyOf rdfs:comment . :A rdfs:subClassOf :B ; :author "me" . '
        ':B :author "me" . :C rdfs:subClassOf :B ; :author :A .'
    )
    classes = reasoner.hierarchy().classes
    assert classes.is_below(name("A"), name("B")) and not classes.is_below(name("B"), name("A"))
    assert not list(reasoner.triples(None, OWL.sameAs, None)) and not reasoner.hierarchy().unsatisfiable


def test_classes_below_a_nominal_inherit_facts_about_it() -> None:
    reasoner = reasoner_on(":A rdfs:subClassOf [ owl:oneOf (:a) ] . :a a :B . :B rdfs:subClassOf :C .")
    assert reasoner.hierarchy().classes.is_below(name("A"), name("C"))


def test_a_class_that_is_listed_twice_is_not_disjoint_with_itself() -> None:
    """OWL removes duplicates from the sets of its axioms."""
    reasoner = reasoner_on("[] a owl:AllDisjointClasses ; owl:members (:A :B :A) . :a a :A . :C rdfs:subClassOf :A , :B .")
    assert reasoner.is_consistent()
    assert [each.name for each in reasoner.hierarchy().unsatisfiable] == [name("C")]


@pytest.mark.parametrize("depth", [12, 13])
def test_restrictions_that_are_nested_too_deeply_are_a_warning(depth: int) -> None:
    nested = "[ owl:onProperty :p ; owl:someValuesFrom " * depth + ":B" + " ]" * depth
    hierarchy = reasoner_on(f":A rdfs:subClassOf {nested} . {nested} rdfs:subClassOf :C .").hierarchy()
    assert hierarchy.classes.is_below(name("A"), name("C")) == hierarchy.complete == (depth == 12)


def test_the_top_property_leaves_something_open() -> None:
    """Nothing is empty that has itself as a value of it; what values have by it where others exist is not derived."""
    reasoner = reasoner_on("""
        [ owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :A ] rdfs:subClassOf owl:Nothing . :B rdfs:subClassOf :A .
    """)
    hierarchy = reasoner.hierarchy()
    assert [each.name for each in hierarchy.unsatisfiable] == [name("A"), name("B")]
    assert [each.axiom for each in hierarchy.warnings] == ["restrictions of owl:topObjectProperty"]


@pytest.mark.parametrize(
    ("turtle", "warned"),
    [
        (":A rdfs:subClassOf [ owl:unionOf (:B :C) ] .", "SubClassOf(el:A ObjectUnionOf(el:B el:C))"),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .", "SubClassOf(el:A ObjectAllValuesFrom(el:p el:B))"),
        (":p a owl:SymmetricProperty .", "SymmetricObjectProperty(el:p)"),
        (":p owl:inverseOf :q .", "InverseObjectProperties(el:p el:q)"),
        (":A rdfs:subClassOf [ owl:oneOf (:a :b) ] .", "SubClassOf(el:A ObjectOneOf(el:a el:b))"),
        (":p a owl:DatatypeProperty ; rdfs:range xsd:double .", "DataPropertyRange(el:p xsd:double)"),
        (":p a owl:ObjectProperty , owl:FunctionalProperty .", "FunctionalObjectProperty(el:p)"),
    ],
)
@pytest.mark.sample(2)
def test_what_is_beyond_the_profile_is_a_warning(turtle: str, warned: str) -> None:
    reasoner = reasoner_on(ANATOMY + turtle)
    assert [each.axiom for each in reasoner.warnings] == [warned]
    assert not reasoner.hierarchy().complete


def test_a_union_of_one_class_is_that_class() -> None:
    reasoner = reasoner_on(
        ":A rdfs:subClassOf [ owl:unionOf (:B) ] . :C owl:unionOf (:D) . [ owl:unionOf (:D) ] rdfs:subClassOf :E ."
    )
    assert reasoner.warnings == []
    for sub, sup in (("A", "B"), ("C", "D"), ("D", "C"), ("C", "E")):
        assert (name(sub), RDFS.subClassOf, name(sup)) in set(reasoner.triples())
    assert reasoner.hierarchy().complete


def test_warnings_follow_the_axioms() -> None:
    reasoner = reasoner_on(ANATOMY)
    assert reasoner.warnings == []
    triple = (name("p"), RDF.type, OWL.SymmetricProperty)
    reasoner.add_triples([triple])
    assert [each.axiom for each in reasoner.warnings] == ["SymmetricObjectProperty(el:p)"]
    reasoner.remove_triples([triple])
    assert reasoner.warnings == []


def test_the_rules_of_both_profiles_together() -> None:
    turtle = """
        :Parent owl:equivalentClass [ a owl:Restriction ; owl:onProperty :child ; owl:someValuesFrom :Person ] .
        :child owl:inverseOf :parent .
        :Person rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :parent ; owl:someValuesFrom :Person ] .
        :ann :parent :bob . :ann a :Person . :bob a [ a owl:Restriction ; owl:onProperty :child ; owl:allValuesFrom :Person ] .
        :carl :parent :dan ; a :Parent .
    """
    both = reasoner_on(turtle, "owl2el+owl2rl")
    assert (name("bob"), RDF.type, name("Parent")) in both.triples()
    assert (name("Parent"), RDFS.subClassOf, name("Parent")) in both.triples(name("Parent"), RDFS.subClassOf, None)
    assert all("SomeValuesFrom" not in warning.axiom for warning in both.warnings)
    assert any("SomeValuesFrom" in warning.axiom for warning in reasoner_on(turtle, "owl2rl").warnings)
    assert {"ObjectAllValuesFrom" in warning.axiom for warning in reasoner_on(turtle).warnings} == {True, False}


def test_the_hierarchy_of_both_profiles_is_complete_in_el_only() -> None:
    """Whatever has a value by :p has one in owl:Nothing, which only the rules for individuals know."""
    reasoner = reasoner_on("""
        :p a owl:ObjectProperty ; rdfs:domain :C . :C a owl:Class ; rdfs:subClassOf
            [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom owl:Nothing ] .
        :D rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :D ] .
    """, "owl2el+owl2rl")  # fmt: skip
    assert reasoner.warnings == []
    hierarchy = reasoner.hierarchy()
    assert hierarchy.unsatisfiable == ()
    assert ["AllValuesFrom" in each.axiom for each in hierarchy.warnings] == [True]
    assert not hierarchy.complete


def test_classes_below_one_nominal_are_the_same_where_both_have_members() -> None:
    """Each A needs a B; both are only :a, so A is below C, and where it is, B is related to itself."""
    reasoner = reasoner_on("""
        :A rdfs:subClassOf [ owl:oneOf (:a) ] , [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] .
        :B rdfs:subClassOf [ owl:oneOf (:a) ] , :C .
    """)
    hierarchy = reasoner.hierarchy()
    assert hierarchy.classes.is_below(name("A"), name("C"))
    assert hierarchy.complete
    assert (name("a"), RDF.type, name("C")) not in reasoner.triples()


def restricted(role: str, value: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty :{role} ; owl:someValuesFrom {value} ]"


@pytest.mark.parametrize(
    ("turtle", "lower", "upper"),
    [
        pytest.param(
            f":A rdfs:subClassOf {restricted('p', ':B')} , {restricted('q', ':C')} . :B rdfs:subClassOf [ owl:oneOf (:a) ] . "
            f":C rdfs:subClassOf [ owl:oneOf (:a) ] . {restricted('p', ':C')} rdfs:subClassOf :D .",
            *("A", "D"),
            id="two values",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('p', '[ owl:oneOf (:a) ]')} , {restricted('q', ':C')} . "
            f":C rdfs:subClassOf [ owl:oneOf (:a) ] . {restricted('p', ':C')} rdfs:subClassOf :D .",
            *("A", "D"),
            id="a value and the individual",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('p', ':B')} . :B rdfs:subClassOf {restricted('q', ':C')} , {restricted('q', ':E')} . "
            f":C rdfs:subClassOf [ owl:oneOf (:a) ] . :E rdfs:subClassOf [ owl:oneOf (:a) ] , :F . :C owl:disjointWith :F .",
            *("A", "D"),
            id="what needs a contradiction is unsatisfiable",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('p', ':B')} , [ owl:oneOf (:a) ] . :B rdfs:subClassOf {restricted('q', ':C')} . "
            f":C rdfs:subClassOf [ owl:oneOf (:a) ] . :q a owl:ObjectProperty . "
            f":r owl:propertyChainAxiom (:p :q :p) . {restricted('r', ':B')} rdfs:subClassOf :D .",
            *("A", "D"),
            id="chains go on through both",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('p', '[ owl:oneOf (:a) ]')} , [ owl:oneOf (:a) ] . "
            "[ owl:onProperty :p ; owl:hasSelf true ] rdfs:subClassOf :D .",
            *("A", "D"),
            id="to itself",
        ),
    ],
)
def test_what_follows_from_members_below_one_nominal(turtle: str, lower: str, upper: str) -> None:
    hierarchy = reasoner_on(turtle + " :D a owl:Class .").hierarchy()
    unsatisfiable = {each.name for each in hierarchy.unsatisfiable}
    assert name(lower) in unsatisfiable or hierarchy.classes.is_below(name(lower), name(upper))
    assert hierarchy.complete


AFFECTED = (
    f":C rdfs:subClassOf [ owl:oneOf (:a) ] . :b :p :a . {restricted('p', ':C')} rdfs:subClassOf :D . :p a owl:ObjectProperty ."
)


@pytest.mark.parametrize(
    ("turtle", "lower", "upper"),
    [
        pytest.param(":b a :E . :E owl:disjointWith :D .", *("C", "D"), id="what is related to it"),
        pytest.param(
            f":c :q :b . :q a owl:ObjectProperty . {restricted('q', ':D')} rdfs:subClassOf :E . :c a :F . :E owl:disjointWith :F .",
            *("C", "D"),
            id="by way of another one",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('r', ':C')} , {restricted('r', '[ owl:oneOf (:b) ]')} . :r a owl:ObjectProperty . "
            f"{restricted('r', ':D')} rdfs:subClassOf :E .",
            *("A", "E"),
            id="what leads to both",
        ),
        pytest.param(
            f":A rdfs:subClassOf {restricted('r', '[ owl:oneOf (:b) ]')} . :r a owl:ObjectProperty . :A rdfs:subClassOf :C . "
            f"{restricted('r', ':D')} rdfs:subClassOf :E .",
            *("A", "E"),
            id="what is below it itself",
        ),
        pytest.param(
            f":D rdfs:subClassOf {restricted('q', ':F')} . :F rdfs:subClassOf [ owl:oneOf (:c) ] . :G a owl:Class . "
            f":d :p :c . {restricted('p', ':F')} rdfs:subClassOf :G . :d a :H . :G owl:disjointWith :H . :q a owl:ObjectProperty .",
            *("C", "D"),
            id="a further nominal that only then has a member of a class",
        ),
    ],
)
def test_what_exists_gets_more_where_a_class_below_a_nominal_has_a_member(turtle: str, lower: str, upper: str) -> None:
    """If C has a member, it is :a, to which :b is related, so that :b is a D."""
    reasoner = reasoner_on(AFFECTED + turtle)
    hierarchy = reasoner.hierarchy()
    unsatisfiable = {each.name for each in hierarchy.unsatisfiable}
    assert name(lower) in unsatisfiable or hierarchy.classes.is_below(name(lower), name(upper))
    assert hierarchy.complete
    assert (name("b"), RDF.type, name("D")) not in reasoner.triples()
    assert reasoner.is_consistent()


@pytest.mark.parametrize(
    "turtle",
    [
        f"{restricted('q', ':R')} rdfs:subClassOf :D .",
        f":R rdfs:subClassOf :S . {restricted('q', ':S')} rdfs:subClassOf :D .",
        f":a a :S . {restricted('q', '[ owl:intersectionOf (:R :S) ]')} rdfs:subClassOf :D .",
        f":R rdfs:subClassOf {restricted('r', ':T')} . {restricted('q', restricted('r', ':T'))} rdfs:subClassOf :D .",
        f":R rdfs:subClassOf {restricted('q', ':T')} . :q a owl:TransitiveProperty . {restricted('q', ':T')} rdfs:subClassOf :D .",
        ":R rdfs:subClassOf [ owl:onProperty :r ; owl:hasSelf true ] . :s owl:propertyChainAxiom (:q :r) ; rdfs:domain :D .",
    ],
)
def test_an_individual_is_in_the_range_where_a_class_has_it_as_a_value(turtle: str) -> None:
    """If A has a member, :a is in R, so that :b is in D, which it cannot be."""
    reasoner = reasoner_on(f"""
        :p a owl:ObjectProperty ; rdfs:range :R . :q a owl:ObjectProperty . :r a owl:ObjectProperty . :s a owl:ObjectProperty .
        :A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :a ] . :b :q :a . :b a :E . :E owl:disjointWith :D . {turtle}
    """)
    assert [each.name for each in reasoner.hierarchy().unsatisfiable] == [name("A")]
    assert reasoner.is_consistent() and reasoner.hierarchy().complete
    reasoner.remove_triples([(name("b"), RDF.type, name("E"))])
    assert not reasoner.hierarchy().unsatisfiable


def test_ranges_of_related_individuals_need_no_copies_of_what_is_related_to_them() -> None:
    size = by_effort(60, 300, 1_000)
    chance = random.Random(1)
    turtle = [":q a owl:ObjectProperty , owl:TransitiveProperty . :R a owl:Class . :S a owl:Class ."]
    for number in range(4):
        turtle.append(f":p{number} a owl:ObjectProperty ; rdfs:range :R ; rdfs:domain :S .")
        turtle.append(
            f":C{number} owl:equivalentClass [ owl:intersectionOf (:S {restricted(f'p{number}', '[ owl:oneOf (:i0) ]')}) ] ."
        )
        turtle.append(f":D{number} rdfs:subClassOf [ owl:onProperty :p{number} ; owl:hasValue :i{number} ] .")
    for number in range(size):
        turtle.append(f":i{number} :p{chance.randrange(4)} :i{chance.randrange(size)} ; :q :i{number // 4} .")
    reasoner = reasoner_on("\n".join(turtle))
    reasoner.materialise()
    assert len(list(reasoner.facts("<tag:kg-reasoner:owl2el/sub>"))) < 10 * size
    assert {value for _, _, value in reasoner.triples(name("i0"), RDF.type, None)} >= {name("R"), name("S")}


def test_circles_of_values_end() -> None:
    """Values of transitive properties with ranges, and a restriction that is its own filler besides another one."""
    reasoner = reasoner_on("""
        :p a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:range :C .
        :A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :A ] .
        [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :D .
        :B rdfs:subClassOf _:b . _:b owl:onProperty :p ; owl:someValuesFrom _:b , :A .
    """)
    classes = reasoner.hierarchy().classes
    assert classes.is_below(name("A"), name("D"))
    assert classes.is_below(name("B"), name("D"))
    assert not classes.is_below(name("A"), name("C"))
