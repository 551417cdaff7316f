"""What `Reasoner` promises besides right answers: arities, interrupted work, axioms that follow and go away again."""

from __future__ import annotations

import copy
import gc
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.errors import ArityError, LoadError, ReasonerError, SourceError, UnknownNameError
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.parser import parse
from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.program import FALSE, TRIPLE, Atom, Program, Rule
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, literal

A, B, C, D, x, y, z, p, q = (IRI(f"http://example.org/{name}") for name in "ABCDxyzpq")
ONE, TWO = literal(1), literal(2)
TERNARY = "[?y, ?p, ?x] :- <http://example.org/inverse>[?p, ?q], [?x, ?q, ?y] ."
"""A rule that asks for the triple table."""


def holds(reasoner: Reasoner, *triple: IRI) -> bool:
    return triple in set(reasoner.triples())


def test_facts_have_the_arity_of_the_rules() -> None:
    reasoner = Reasoner("q(?x) :- p(?x, ?y) .")
    with pytest.raises(ArityError, match="p has 2 arguments, not 3"):
        reasoner.add_facts("p", [(ONE, TWO, ONE)])
    reasoner.add_facts("p", [(ONE, TWO)])
    reasoner.remove_facts("p", [(ONE, TWO, TWO)])
    assert list(reasoner.facts("q")) == [(ONE,)]


def test_rules_have_the_arity_of_the_facts() -> None:
    reasoner = Reasoner()
    reasoner.add_facts("p", [(ONE, TWO, ONE)])
    with pytest.raises(ArityError, match="p has 3 arguments, not 2"):
        reasoner.add_program("q(?x) :- p(?x, ?y) .")
    assert reasoner.rules == ()


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
@pytest.mark.parametrize("more", ["", TERNARY])
def test_triples_that_are_no_rdf_are_counted(more: str, equality: Equality) -> None:
    names = "[?n, p:of, ?x] :- [?x, p:name, ?n] . [?x, ?n, p:y] :- [?x, p:name, ?n] . named(?n) :- [?n, p:of, ?x] ."
    reasoner = Reasoner(f"@prefix p: <http://example.org/> . {names} {more}", equality=equality)
    name = IRI("http://example.org/name")
    given = [(x, name, ONE), (y, name, TWO), (z, name, x)]
    reasoner.add_triples(given)
    assert reasoner.sizes().generalised == 4
    assert set(reasoner.facts("named")) == {(ONE,), (TWO,), (x,)}
    assert len(reasoner.triple_ids()) == 5
    reasoner.remove_triples(given[:1])
    assert reasoner.sizes().generalised == 2


def test_new_predicates_do_not_make_all_rules_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner("p(?x) :- q(?x, _) . q(?x, ?y) :- r(?x, ?y) .")
    programs, arities = list[Program](), analysis.arities
    monkeypatch.setattr(analysis, "arities", lambda program: [programs.append(program), arities(program)][1])
    for number in range(5):
        reasoner.add_facts(f"new{number}", [(ONE,)])
    assert sum(bool(program.rules) for program in programs) <= 1
    for name, count in (("new0", 1), ("new4", 1), ("r", 2)):
        with pytest.raises(ArityError, match=f"{name} has {count} argument"):
            reasoner.add_facts(name, [(ONE, TWO, ONE)])


def test_a_bad_program_changes_nothing() -> None:
    reasoner = Reasoner("q(?x) :- p(?x) . p(1) .")
    for wrong in ("q(?x, ?y) :- p(?x), p(?y) .", "r(?y) :- p(?x) .", "s(?x) :- p(?x), NOT s(?x) .", "t(?x :- p(?x) ."):
        with pytest.raises(SourceError, match="<string>:1"):
            reasoner.add_program(wrong)
    assert [rule.head.predicate for rule in reasoner.rules] == ["q", "p"]
    assert list(reasoner.facts("q")) == [(ONE,)]


def test_only_rdf_triples_are_added() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    with pytest.raises(LoadError, match="the subject is a literal"):
        reasoner.add_triples([(x, p, y), (ONE, p, y)])
    with pytest.raises(LoadError, match="valid IRI"):
        reasoner.add_triples([(IRI("http://example.org/a b"), p, y)])
    assert list(reasoner.triples()) == []


@pytest.mark.parametrize("negated", ["[?x, ?p, ?y]", "[?x, a, ?y]"])
def test_a_variable_that_only_a_negation_has_means_for_all(negated: str) -> None:
    reasoner = Reasoner(f"lonely(?x) :- node(?x), NOT {negated} .")
    reasoner.add_facts("node", [(A,), (B,), (C,)])
    reasoner.add_triples([(A, RDF.type, C), (A, RDF.type, D), (B, RDF.type, D), (z, p, C)])
    assert list(reasoner.facts("lonely")) == [(C,)]


TRIANGLE = [(A, p, B), (B, p, A), (B, q, A), (C, RDF.type, A)]


@pytest.mark.parametrize(
    ("body", "count"), [("[?x, ?p, ?y], [?y, ?q, ?x]", 4), ("[?x, a, ?y], [?y, ?q, ?z]", 1), ("node(?x), NOT [?x, ?p, ?y]", 1)]
)
def test_variables_for_properties_inside_an_aggregate(body: str, count: int) -> None:
    """Also those that rules cannot be expanded for: two of them, or one that only a negation has."""
    reasoner = Reasoner(f"count(?n) :- AGGREGATE({body} BIND COUNT(*) AS ?n) .")
    reasoner.add_facts("node", [(A,), (D,)])
    reasoner.add_triples(TRIANGLE)
    assert list(reasoner.facts("count")) == [(literal(count),)]


def test_a_property_that_is_known_from_an_atom_and_from_a_bind() -> None:
    reasoner = Reasoner("meant(?x) :- [?x, ?p, _], word(?w), BIND(IRI(?w) AS ?p) .")
    reasoner.add_facts("word", [(literal(q.value),), (literal("http://example.org/s"),)])
    reasoner.add_triples(TRIANGLE)
    assert list(reasoner.facts("meant")) == [(B,)]


def test_a_violation_of_a_constraint_with_an_aggregate_has_the_rule_of_the_program() -> None:
    reasoner = Reasoner("false :- AGGREGATE(p(?x) BIND COUNT(*) AS ?n), FILTER(?n > 1) . p(1) . p(2) .")
    (violation,) = reasoner.inconsistencies()
    assert violation.terms == {"n": TWO}
    assert violation.rule == reasoner.rules[0]
    assert reasoner.explain(violation).steps[-1].rule == violation.rule
    reasoner.remove_rules([violation.rule])
    assert reasoner.inconsistencies() == []


@pytest.mark.parametrize("layout", ["", TERNARY])
def test_a_violation_of_a_constraint_for_all_properties_says_which(layout: str) -> None:
    reasoner = Reasoner(f"false :- [?x, ?p, ?x] . false :- [?y, ?q, ?y] . false :- :p[?x, ?x] . {layout}".replace(":p", str(p)))
    reasoner.add_triples([(x, p, x)])
    assert [(violation.rule, violation.terms) for violation in reasoner.inconsistencies()] == [
        (rule, terms) for rule, terms in zip(reasoner.rules, [{"x": x, "p": p}, {"y": x, "q": p}, {"x": x}], strict=False)
    ]


def test_a_constraint_without_a_body_never_holds() -> None:
    assert [violation.terms for violation in Reasoner("false .").inconsistencies()] == [{}]


def test_invalid_terms_in_facts() -> None:
    reasoner = Reasoner("q(?x) :- p(?x) .")
    with pytest.raises(LoadError, match="valid IRI"):
        reasoner.add_facts("p", [(ONE,), (IRI("http://example.org/a b"),)])
    assert list(reasoner.facts("q")) == []


def test_an_unknown_rule_set_names_similar_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'owl2rl'"):
        Reasoner(ruleset="owl2r1")


@pytest.mark.parametrize("layout", ["", TERNARY])
def test_equal_classes_and_properties_that_only_data_knows(layout: str) -> None:
    reasoner = Reasoner(layout, ruleset="owl2rl")
    reasoner.add_triples([(x, RDF.type, C), (C, OWL.sameAs, D), (x, p, y), (q, OWL.sameAs, p)])
    assert holds(reasoner, x, RDF.type, D)
    assert holds(reasoner, x, q, y)
    reasoner.remove_triples([(C, OWL.sameAs, D), (q, OWL.sameAs, p)])
    assert not holds(reasoner, x, RDF.type, D)
    assert not holds(reasoner, x, q, y)


def test_inferred_equality_of_classes_goes_with_its_reason() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples([(x, RDF.type, C), (p, RDF.type, OWL.FunctionalProperty), (z, p, C), (z, p, D)])
    assert holds(reasoner, x, RDF.type, D)
    reasoner.remove_triples([(z, p, D)])
    assert not holds(reasoner, x, RDF.type, D)


def test_inferred_axioms_are_axioms() -> None:
    """A class of transitive properties: its members are transitive, as long as they are members."""
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples([(A, RDFS.subClassOf, OWL.TransitiveProperty), (p, RDF.type, A), (x, p, y), (y, p, z)])
    assert holds(reasoner, x, p, z)
    reasoner.remove_triples([(p, RDF.type, A)])
    assert not holds(reasoner, x, p, z)
    assert holds(reasoner, x, p, y)


def test_an_inferred_axiom_is_not_its_own_reason() -> None:
    """Once q is below rdfs:subPropertyOf, ``x q y`` states an axiom, and that one may say the same again."""
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples([(q, RDFS.subPropertyOf, RDFS.subClassOf), (A, q, B), (x, RDF.type, A)])
    assert holds(reasoner, x, RDF.type, B)
    reasoner.remove_triples([(A, q, B)])
    assert not holds(reasoner, x, RDF.type, B)


def test_an_interrupted_deletion_starts_over(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    nodes = [literal(number) for number in range(20)]
    reasoner.add_facts("edge", pairwise(nodes))
    assert len(list(reasoner.facts("path"))) == 190
    finish = type(reasoner.engine.base.maintenance).apply

    def interrupted(*arguments: object) -> None:
        finish(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(type(reasoner.engine.base.maintenance), "apply", interrupted)
    reasoner.remove_facts("edge", [(nodes[10], nodes[11])])
    with pytest.raises(KeyboardInterrupt):
        reasoner.materialise()
    monkeypatch.undo()
    assert len(list(reasoner.facts("path"))) == 55 + 36


def test_triples_by_the_name_of_their_predicate() -> None:
    reasoner = Reasoner("[?y, <http://example.org/q>, ?x] :- [?x, <http://example.org/p>, ?y] .")
    reasoner.add_facts(TRIPLE, [(x, p, y), (y, p, z)])
    reasoner.remove_facts(TRIPLE, [(y, p, z), (z, p, z)])
    assert set(reasoner.triples(which="explicit")) == {(x, p, y)}
    for which in ("all", "explicit", "inferred"):
        assert set(reasoner.facts(TRIPLE, which)) == set(reasoner.triples(which=which))
    assert list(reasoner.facts(TRIPLE, arguments=[None, q, None])) == list(reasoner.facts(TRIPLE, property=q)) == [(y, q, x)]
    assert list(reasoner.facts(TRIPLE, subject=z)) == []
    reasoner.add_facts(TRIPLE, [(literal(1), p, z)])  # no RDF, but rules may use it
    assert list(reasoner.facts(TRIPLE, subject=z)) == [(z, q, literal(1))]
    assert len(list(reasoner.facts(TRIPLE))) == 3


def test_terms_of_rdflib_will_do() -> None:
    triple = tuple(map(to_rdflib, (x, RDF.type, A)))
    reasoner = Reasoner("b(?x) :- a(?x) .", ruleset="owl2rl")
    reasoner.add_triples([triple, (A, RDFS.subClassOf, B)])  # type: ignore[list-item]
    assert list(reasoner.triples(triple[0], triple[1], triple[2])) == [(x, RDF.type, A)]  # type: ignore[arg-type]
    inferred = tuple(map(to_rdflib, (x, RDF.type, B)))
    assert reasoner.explain(inferred) == reasoner.explain((x, RDF.type, B))  # type: ignore[arg-type]
    assert next(reasoner.all_proofs(inferred)).height == 1  # type: ignore[arg-type]
    absent = tuple(map(to_rdflib, (y, RDF.type, B)))
    assert reasoner.why_not(absent).text() == reasoner.why_not((y, RDF.type, B)).text()  # type: ignore[arg-type]
    reasoner.add_facts("a", [triple[:1]])  # type: ignore[list-item]
    assert list(reasoner.facts("b")) == [(x,)]
    reasoner.remove_facts("a", [triple[:1]])  # type: ignore[list-item]
    assert list(reasoner.facts("b")) == []


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda reasoner: reasoner.add_triples((x, p, y)), "is not a row of terms\nhint: rows come in a list"),
        (lambda reasoner: reasoner.add_triples(tuple(map(to_rdflib, (x, p, y)))), "is not a row of terms"),
        (lambda reasoner: reasoner.remove_triples([(x, p)]), "is not a triple"),
        (lambda reasoner: reasoner.add_facts("a", (x, y)), "is not a row of terms"),
        (lambda reasoner: reasoner.remove_facts("edge", [x]), "is not a row of terms"),
        (lambda reasoner: reasoner.add_facts("a", [(1,)]), "terms.literal\\(\\) makes one of a Python value"),
        *(
            (lambda reasoner, name=name: reasoner.add_facts(name, [(x,)]), "is not the name of a predicate: .* add_triples")
            for name in (IRI("urn:p"), None, 5, ("a",), "")
        ),
        *(
            (do, r"\['edge'\] is not the name of a predicate")
            for do in (
                lambda reasoner: reasoner.facts(["edge"]),
                lambda reasoner: reasoner.add_facts(["edge"], [(x, y)]),
                lambda reasoner: reasoner.remove_facts(["edge"], [(x, y)]),
                lambda reasoner: reasoner.add_table(["edge"], {"a": [1]}),
                lambda reasoner: reasoner.remove_table(["edge"], {"a": [1]}),
                lambda reasoner: reasoner.insert_or_update(["edge"], [(x, y)]),
                lambda reasoner: reasoner.delete_key(["edge"], [x]),
                lambda reasoner: reasoner.modify(["edge"], x),
                lambda reasoner: list(reasoner.counts(["edge"])),
            )
        ),
        *(
            (do, "is not a mapping from the names of variables to their values")
            for do in (
                lambda reasoner: reasoner.answers("edge(?x, ?y)", [1]),
                lambda reasoner: reasoner.query("SELECT * { ?s ?p ?o }", [1]),
                lambda reasoner: reasoner.query("SELECT * { ?s ?p ?o }", 5),
            )
        ),
        (lambda reasoner: reasoner.query_index(["edge"]), r"unknown index \['edge'\]"),
        *(
            (do, "7 has no rows of terms\nhint: rows come in a list")
            for do in (
                lambda reasoner: reasoner.add_triples(7),
                lambda reasoner: reasoner.remove_triples(7),
                lambda reasoner: reasoner.add_facts("edge", 7),
                lambda reasoner: reasoner.remove_facts("edge", 7),
                lambda reasoner: reasoner.insert_or_update("edge", 7),
            )
        ),
        (lambda reasoner: reasoner.add_facts(TRIPLE, [(x, p)]), "a triple has 3 arguments, not 2"),
        (lambda reasoner: reasoner.remove_facts(TRIPLE, [(x, p, y, x)]), "a triple has 3 arguments, not 4"),
        (lambda reasoner: reasoner.add_facts(FALSE, [()]), "'false' is not the name of a predicate of yours"),
        (
            lambda reasoner: reasoner.add_facts("internal: quads", [(x, p, y, x)]),
            "'internal: quads' is not the name",
        ),
        (lambda reasoner: reasoner.add_table("internal: graphs", {"x": [1]}), "'internal: graphs' is not the name"),
        (lambda reasoner: list(reasoner.triples("http://example.org/x")), "is not an RDF term"),
        (lambda reasoner: list(reasoner.triples(which="derived")), "unknown kind of facts 'derived'"),
        (lambda reasoner: list(reasoner.facts("edge", "derived")), "choose one of: all, explicit, inferred"),
        (lambda reasoner: reasoner.triple_ids("derived"), "choose one of: all, explicit, inferred"),
        (lambda reasoner: reasoner.facts("edge", None), "unknown kind of facts None; choose one of: all, explicit, inferred"),
        (lambda reasoner: reasoner.facts("edge", ["all"]), r"unknown kind of facts \['all'\]; choose one of"),
        (lambda reasoner: list(reasoner.triples(which={})), "unknown kind of facts {}; choose one of"),
        (lambda _: Reasoner(maintenance=["counting"]), r"unknown maintenance strategy \['counting'\]; choose one of"),
        (lambda _: Reasoner(datatypes=["x", 5, []]), "unknown datatype 'x'"),
        (lambda _: Reasoner(datatypes=[[]]), r"unknown datatype \[\]; choose one of"),
        (lambda reasoner: reasoner.query_index(5), "unknown index 5"),
        (lambda reasoner: reasoner.load(b"", format=5), "unknown RDF format 5; choose one of"),
        (lambda reasoner: reasoner.add_program("rules.dl"), r"name of a file, not a program\nhint: give it as Path\('rules.dl'\)"),
        (lambda reasoner: reasoner.add_program(7), "7 is not a program"),
        (lambda reasoner: reasoner.delete_key("edge", 7), "7 is not a collection of keys"),
        *(
            (lambda reasoner, value=value: reasoner.query("SELECT * { ?s ?p ?o }", {"s": value}), "is not the value of a literal")
            for value in (None, [1], object())
        ),
        (lambda reasoner: reasoner.query("SELECT * { ?s ?p ?o }", [x]), "is not a mapping from the names of variables"),
        (lambda reasoner: reasoner.query("ASK {}", np.ones(2)), "is not a mapping from the names of variables"),
        (lambda reasoner: reasoner.plan("ASK {}", np.ones(2)), "is not a mapping from the names of variables"),
        *(
            (lambda reasoner, do=do, given=given: do(reasoner, given), "is not a mapping from prefixes to namespaces")
            for do in (
                lambda reasoner, given: reasoner.query("ASK {}", prefixes=given),
                lambda reasoner, given: reasoner.plan("ASK {}", prefixes=given),
                lambda reasoner, given: reasoner.labels("en", prefixes=given),
                lambda reasoner, given: reasoner.owl_profiles(given),
            )
            for given in (Path("prefixes.ttl"), np.ones(2), {"ex": None})
        ),
        (lambda reasoner: reasoner.load(b"", base=Path()), "is not an absolute IRI"),
        (lambda reasoner: reasoner.load(b"", catalog=5), "5 is not a catalog\nhint: give a mapping of IRIs to paths"),
        (lambda reasoner: reasoner.load(b"", catalog={"urn:a": 5}), "5 is not the place of an ontology"),
        (lambda reasoner: reasoner.load(b"", imports=np.ones(2)), "unknown treatment of imports array"),
        (lambda reasoner: reasoner.load(b"", refused=np.ones(2)), "unknown treatment of refused rules array"),
        (lambda _: Reasoner(equality=np.ones(2)), "unknown treatment of equality array"),
        (lambda _: Reasoner(on_inconsistency=np.ones(2)), "unknown reaction to inconsistency array"),
        (lambda _: Reasoner(datatypes=5), "5 is not a collection of datatypes\nhint: give a list, even for a single one"),
        (lambda _: Reasoner(datatypes="urn:a"), "'urn:a' is not a collection of datatypes"),
        (lambda reasoner: reasoner.explain(Atom("edge", (literal("a"), literal("b"))), effort="x"), "effort is a number of rule"),
        (lambda reasoner: reasoner.explain((x, p, x), effort=1.5), "or None for no limit, and not 1.5"),
        (lambda reasoner: reasoner.add_facts("literal_type", [(x,)]), "literal_type has 2 arguments, not 1"),
        (lambda reasoner: reasoner.add_facts("_aux_own", [(x,)]), "'_aux_own' is not the name of a predicate of yours"),
        (
            lambda reasoner: reasoner.remove_rules([Rule(["p"])]),
            r"the head of a Rule .* must be of the class Atom, and not \['p'\]",
        ),
    ],
)
def test_invalid_arguments_are_reported(do: Callable[[Reasoner], object], message: str) -> None:
    reasoner = Reasoner('edge("a", "b") .')
    with pytest.raises(ReasonerError, match=message):
        do(reasoner)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2, 3], r"ids of triples are integers in an array of shape \(n, 3\), not int64 of shape \(3,\)"),
        ([[1.5, 2, 3]], r"integers in an array of shape \(n, 3\), not float64 of shape \(1, 3\)"),
        ([[True, True, False]], r"integers in an array of shape \(n, 3\), not bool of shape \(1, 3\)"),
        ([["a", "b", "c"]], r"integers in an array of shape \(n, 3\), not <U1 of shape \(1, 3\)"),
        ([[1 << 40, 1, 1]], "no term has the id 1099511627776"),
        ([[-1, 1, 1]], "no term has the id -1"),
    ],
)
def test_arrays_without_ids_of_triples(ids: list[Any], message: str) -> None:
    reasoner = Reasoner()
    with pytest.raises(LoadError, match=message):
        reasoner.add_triples(np.array(ids))
    assert not list(reasoner.triples())
    reasoner.add_triples(np.array([]))


def test_a_program_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.dl"
    path.write_text("b(?x) :- a(?x) . a(1) .")
    assert list(Reasoner(path).facts("b")) == [(literal(1),)]


def test_a_reasoner_shows_what_it_is_and_is_not_copied() -> None:
    reasoner = Reasoner("b(?x) :- a(?x) .", maintenance="counting")
    assert repr(reasoner) == "<Reasoner rules=1, maintenance='counting', equality='axioms'>"
    for copy_of in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            copy_of(reasoner)


def test_the_public_names_are_listed_before_they_are_imported() -> None:
    code = "import kg_reasoner; print({*kg_reasoner.__all__} <= {*dir(kg_reasoner)})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


ORDERS = """
import sys
from kg_reasoner import Reasoner
reasoner = Reasoner(ruleset="owl2el", on_inconsistency="report")
reasoner.load(sys.argv[1])
reasoner.materialise()
database = reasoner.engine.database
print(reasoner.engine.dictionary.texts(), *reasoner.rules, sep="\\n")
print(*(database.rows(number).tolist() for number in range(len(database.relations))), sep="\\n")
"""
"""Prints the terms, the rules and the rows of an ontology in their orders."""


def test_orders_are_those_of_every_process(tmp_path: Path) -> None:
    """Terms, rules and rows do not have the order of a set, which depends on Python's seed for the hashes of strings."""
    path = tmp_path / "family.ttl"
    path.write_text("""
        @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        :Mother rdfs:subClassOf :Parent, [ owl:onProperty :hasChild ; owl:someValuesFrom :Child ] .
        :Parent rdfs:subClassOf :Person ; owl:equivalentClass [ owl:intersectionOf (:Person :Carer :Elder) ] .
        :hasChild rdfs:subPropertyOf :hasRelative . :hasRelative rdfs:subPropertyOf :knows . :age rdfs:range xsd:integer .
        :ann a :Mother ; :hasChild :tim ; :age 40 .
    """)
    command = [sys.executable, "-c", ORDERS, str(path)]
    found = {
        subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_users_see_what_is_for_them() -> None:
    shown = {name: member for name, member in inspect.getmembers(Reasoner) if not name.startswith("_")}
    assert not shown.keys() & {name for name in dir(ReasonerCore) if not name.startswith("_")} - {
        "limited",
        "materialise",
        "prefixes",
    }
    for name, method in shown.items():
        assert method.__doc__, name
        if callable(method):
            signature = inspect.signature(method)
            assert len(signature.parameters) == 1 or "Args:" in method.__doc__, name
            assert signature.return_annotation == "None" or "Returns:" in method.__doc__, name


@pytest.mark.long
def test_merging_equal_terms_is_loaded_where_it_is_wanted() -> None:
    code = (
        "import sys; from kg_reasoner import Reasoner; from kg_reasoner.terms import IRI, OWL\n"
        "for equality in ('axioms', 'rewrite'):\n"
        "    reasoner = Reasoner(ruleset='owl2rl', equality=equality)\n"
        "    reasoner.add_triples([(IRI('http://example.org/a'), OWL.sameAs, IRI('http://example.org/b'))])\n"
        "    reasoner.materialise()\n"
        "    print('kg_reasoner.engine.equality.rewriting' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\nTrue\n"


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
@pytest.mark.sample(2)
def test_a_change_of_layout_gives_up_the_former_facts(equality: Equality) -> None:
    reasoner = Reasoner(equality=equality)
    reasoner.add_facts("p", [(ONE,)])  # the arities of predicates are asked for
    reasoner.materialise()
    former = ref(reasoner.engine.database)
    reasoner.add_program(TERNARY)
    reasoner.materialise()
    gc.collect()
    assert isinstance(reasoner.engine.catalog.layout, TripleTable)
    assert former() is None


def test_predicates_are_those_of_all_rules_whatever_has_facts() -> None:
    reasoner = Reasoner("p(?x) :- q(?x), r(?x, ?y), NOT s(?y) .")
    expected = {"p": 1, "q": 1, "r": 2, "s": 1}
    assert reasoner.predicates() == expected
    reasoner.answers("r(?x, ?y), s(?y)")
    reasoner.add_facts("q", [(ONE,)])
    assert reasoner.predicates() == expected
    reasoner.remove_rules(reasoner.program.rules)
    assert reasoner.predicates() == {"q": 1}


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
def test_an_arity_goes_with_the_last_use_of_a_predicate(equality: Equality) -> None:
    reasoner = Reasoner("q(?x) :- r(?x) . r(8) .", equality=equality)
    with reasoner.transaction() as tx:
        tx.add_facts("p", [(ONE,)])
        tx.rollback()
    assert reasoner.predicates() == {"q": 1, "r": 1}
    reasoner.add_facts("p", [(ONE, TWO)])
    assert reasoner.predicates() == {"p": 2, "q": 1, "r": 1}
    reasoner.remove_facts("p", [(ONE, TWO)])
    with reasoner.transaction() as tx:
        tx.add_facts("p", [(TWO,)])
    assert str(tx.delta) == "+ p(2)  explicit"
    with pytest.raises(ArityError, match="p has 1 argument, not 2"):
        reasoner.add_facts("p", [(ONE, TWO)])
    rules = parse("p(?x) :- r(?x) . p(7) .").rules
    reasoner.add_program(Program(rules))
    reasoner.remove_facts("p", [(TWO,)])
    with pytest.raises(ArityError, match="p has 1 argument, not 2"):
        reasoner.add_facts("p", [(ONE, TWO)])
    reasoner.remove_rules(rules)
    reasoner.add_program("s(?x, ?y) :- p(?x, ?y) . p(5, 6) .")
    assert list(reasoner.facts("s")) == [(literal(5), literal(6))]


def test_a_transaction_keeps_the_arities_that_its_delta_may_need() -> None:
    reasoner = Reasoner()
    reasoner.add_facts("p", [(ONE,)])
    with reasoner.transaction() as tx:
        tx.remove_facts("p", [(ONE,)])
        with pytest.raises(ArityError, match="p has 1 argument, not 2"):
            tx.add_facts("p", [(ONE, TWO)])
    reasoner.add_facts("p", [(ONE, TWO)])
    assert list(reasoner.facts("p")) == [(ONE, TWO)]


@pytest.mark.parametrize(("given", "meant"), [("owl2rl", "owl2rl"), ("OWL2-RL", "owl2rl"), (" rdfs\n", "rdfs")])
def test_the_name_of_a_rule_set_is_not_a_program(given: str, meant: str) -> None:
    with pytest.raises(LoadError, match=f"is the name of a rule set, not a program\nhint: give it as ruleset='{meant}'"):
        Reasoner(given)
