"""What the plans for Spark derive, without Spark: the stand-in evaluates them, and the in-process engine says what is right."""

from __future__ import annotations

import json
import logging
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.inputs.spark_data import SHAPES, shaped
from kg_reasoner import Reasoner, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.errors import ReasonerError, ReasonerWarning
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner, update
from kg_reasoner.spark_backend.exec.evaluation.joining_rules import derive
from kg_reasoner.spark_backend.exec.facts.skew import salted_join
from kg_reasoner.spark_backend.exec.preparation.components import least_of_components, representatives
from kg_reasoner.spark_backend.io.columns import triple_frame
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import LOGGER, Report
from kg_reasoner.terms import Triple, term_text
from tests.helpers.effort import by_effort
from tests.helpers.random_ontologies import namespace_of, ontologies
from tests.spark.spark_cases import EQUAL, flagged, in_process, of_reasoner, readable, turtle, violations
from tests.standin import standing_in
from tests.standin.frames import Frame

BATCH = by_effort(8, 25, 25)
"""So many ontologies are one input."""
BATCHES = by_effort(1, 3, 100)


def owl2rl() -> Program:
    return rulesets.load("owl2rl").program


def expect_what_the_engine_says(triples: list[Triple], ruleset: str = "owl2rl") -> SparkReasoner:
    """Compare triples and violations with those of the in-process engine."""
    engine = Reasoner(ruleset=ruleset, show_hidden=True)
    engine.add_triples(triples)
    with standing_in() as session:
        reasoner = SparkReasoner(session, rulesets.load(ruleset).program, triple_frame(session, triples))
        found, violated = flagged(reasoner.triples()), violations(reasoner, engine)
    different = found ^ of_reasoner(engine)
    if different:
        culprit = min(namespace_of(row[:3]) for row in different)
        texts = [list(map(term_text, triple)) for triple in triples]
        lines = sorted(" ".join(some) for some in texts if namespace_of(some) == culprit)
        pytest.fail("\n".join(["different:", *(f"  {row}" for row in sorted(different)[:10]), "of:", *lines]))
    expected = engine.inconsistencies()
    assert set(readable(expected)) <= set(readable(violated))
    assert len(list(clashes(violated, engine.engine.base.queries.naming()))) == len(expected)
    return reasoner


@pytest.mark.parametrize("seed", range(BATCHES))
@pytest.mark.parametrize("ruleset", sorted(rulesets.names(), key=lambda name: name != "owl2rl"))
@pytest.mark.sample(5)
def test_random_ontologies(ruleset: str, seed: int) -> None:
    expect_what_the_engine_says(ontologies(seed, BATCH), ruleset)


@pytest.mark.parametrize("ruleset", ["rdfs", "owl2rl"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.sample(4)
def test_ontologies_in_the_shape_of_real_ones(name: str, ruleset: str) -> None:
    lines = "".join(f"{line} .\n" for line in shaped(SHAPES[name], 25))
    expect_what_the_engine_says(turtle(lines), ruleset)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_updates_of_random_ontologies(seed: int) -> None:
    """Data come and go; half of the batches have no equalities, because those make every update a full run."""
    triples = ontologies(1000 + seed, BATCH)
    if seed % 2 == 0:
        triples = [triple for triple in triples if "sameAs" not in str(triple[1])]
    is_data = [str(triple[1]).startswith("<http://example.org/") for triple in triples]
    removed = [triple for number, triple in enumerate(triples) if is_data[number] and number % 5 == 0]
    added = [triple for number, triple in enumerate(triples) if is_data[number] and number % 5 == 1]
    before = [triple for triple in triples if triple not in added]
    after = [triple for triple in triples if triple not in removed]
    with standing_in() as session:
        materialised = SparkReasoner(session, owl2rl(), triple_frame(session, before)).triples()
        found = flagged(update(materialised, owl2rl(), added, removed))
    assert found == in_process(after, ruleset="owl2rl")


@pytest.mark.parametrize(("seed", "words", "few"), [(0, 0, 0), (1, 0, 10_000), (2, 100, 0)])
@pytest.mark.sample(3)
def test_every_way_to_evaluate_gives_the_same_facts(monkeypatch: pytest.MonkeyPatch, seed: int, words: int, few: int) -> None:
    """Masks in words or feature by feature; transitive closures by the driver or by doubling."""
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.encodings._WORDS_MOST", words)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.transitive_closures.FEW_STEPS", few)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.run_facts.SMALL", 1)
    expect_what_the_engine_says(ontologies(2000 + seed, BATCH))
    test_updates_of_random_ontologies(2000 + seed)


@pytest.mark.parametrize("seed", [0, 1])
def test_heavy_terms_are_split(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """All terms of a property are heavy here, in rules that join and in transitive closures; hubs have many edges both ways."""
    salted: list[frozenset[str]] = []

    def noted(left: Any, right: Any, shared: Any, key: str, heavy: frozenset[str]) -> Any:
        salted.append(heavy)
        return salted_join(left, right, shared, key, heavy)

    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.joining_rules.salted_join", noted)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.transitive_closures.salted_join", noted)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.joining_rules.FEW", 0)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.run_facts.SMALL", 1)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.run_facts.LEAST", 0)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.skew.LEAST", 1)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.skew.SAMPLE", 1)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.transitive_closures.FEW_STEPS", 0)
    source = random.Random(seed)
    text = ":t a owl:TransitiveProperty . :u owl:inverseOf :p .\n"
    text += ":chain owl:propertyChainAxiom ( :p :q ) . :other owl:propertyChainAxiom ( :q :u ) .\n"
    text += "".join(f":x{number} :p :hub . :hub :q :y{number} . :x{number} :t :hub . :hub :t :y{number} .\n" for number in range(9))
    text += "".join(f":x{source.randrange(9)} :{source.choice('pqt')} :y{source.randrange(9)} .\n" for _ in range(20))
    expect_what_the_engine_says(turtle(text))
    assert any("<http://example.org/hub>" in heavy for heavy in salted)
    expect_what_the_engine_says(ontologies(4000 + seed, BATCH))


@pytest.mark.parametrize("ruleset", ["rdfs", "owl2rl"])
@pytest.mark.parametrize("seed", range(by_effort(2, 5, 100)))
def test_random_hierarchies_are_those_of_the_engine(ruleset: str, seed: int) -> None:
    """With classes and properties that are below one another, below themselves, and below classes of the vocabulary."""
    source = random.Random(seed)
    names = [f":C{number}" for number in range(12)] + ["rdfs:Class", "owl:Thing"]
    text = ""
    for _ in range(20):
        text += f"{source.choice(names[:12])} rdfs:subClassOf {source.choice(names)} .\n"
        text += f":p{source.randrange(8)} rdfs:subPropertyOf :p{source.randrange(8)} .\n"
    for number in range(6):
        text += f":x{number} a {source.choice(names[:12])} ; :p{source.randrange(8)} :x{source.randrange(6)} .\n"
    expect_what_the_engine_says(turtle(text), ruleset)


def test_a_rule_for_each_direct_superclass() -> None:
    """Not for each ancestor."""
    triples = turtle("".join(f":C{number} rdfs:subClassOf :C{number + 1} .\n" for number in range(30)) + ":x a :C0 .")
    reasoner = expect_what_the_engine_says(triples, "rdfs")
    assert len(reasoner.run.rules.rules) == 30


def test_too_many_masks_are_joins(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.mask_table.MOST_MASKS", 3)
    expect_what_the_engine_says(ontologies(3000, BATCH))
    assert "distinct sets of features" in caplog.text


def test_too_many_masks_in_an_iteration(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Three classes of what is eaten make four sets of features, and every combination of them one of those who eat."""
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.facts.mask_table.MOST_MASKS", 5)
    text = "".join(
        f":D{place} owl:onProperty :eats ; owl:someValuesFrom :C{place} ; rdfs:subClassOf :E{place} . :y{place} a :C{place} .\n"
        for place in range(3)
    )
    text += "".join(f":x{number} :eats :y{place} .\n" for number in range(1, 8) for place in range(3) if number >> place & 1)
    expect_what_the_engine_says(turtle(text))
    assert "distinct sets of features" in caplog.text


def test_a_run_that_failed_is_not_taken_for_a_whole_one() -> None:
    """Asked again, it goes on, here with another equality than that which was found before it failed."""
    triples = [*turtle(EQUAL), *chain(6)]
    reports: list[Report] = []

    def progress(report: Report) -> None:
        reports.append(report)
        if len(reports) in (4, 9, 15):
            raise KeyboardInterrupt

    with standing_in() as session:
        reasoner = SparkReasoner(session, owl2rl(), triple_frame(session, triples), progress=progress)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                reasoner.triples()
        assert flagged(reasoner.triples()) == in_process(triples, ruleset="owl2rl")
    assert sum(report.stage == "equality" for report in reports) > 1


def test_equal_terms_without_expansion() -> None:
    """A group of many equal terms has one representative, and as many rows as members."""
    size = by_effort(60, 300, 300)
    group = turtle("".join(f":n{number:03} owl:sameAs :n{number + 1:03} .\n" for number in range(size)))
    triples = group + turtle(f":n007 :p :x . :p rdfs:domain :C . :x :q :n{size:03} . :y a :C .")
    with standing_in() as session:
        reasoner = SparkReasoner(session, owl2rl(), triple_frame(session, triples))
        found = flagged(reasoner.triples(expanded=False))
        equal = {(row.term, row.representative) for row in reasoner.equal_terms().collect()}
    least = "<http://example.org/n000>"
    assert equal == {(f"<http://example.org/n{number:03}>", least) for number in range(1, size + 1)}
    representatives = dict(equal)

    def rewritten(row: tuple[str, str, str, bool]) -> tuple[str, ...]:
        return tuple(representatives.get(text, text) for text in row[:3])

    expected = {rewritten(row) for row in in_process(triples, ruleset="owl2rl") if not row[1].endswith("#sameAs>")}
    assert {row[:3] for row in found} == expected


@pytest.mark.parametrize(("few", "closed"), [(0, 0), (10, 10_000), (10_000, 10_000), (10_000, 0)])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sample(4)
def test_transitive_closure(monkeypatch: pytest.MonkeyPatch, seed: int, few: int, closed: int) -> None:
    """Of random graphs with cycles, by several properties, one of which implies another; then with more edges. By doubling, by the
    driver, and by searching.
    """
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.transitive_closures.FEW_STEPS", few)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.transitive_closures.FEW_CLOSED", closed)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.closure_search.SEARCHES", 3)
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.closure_search.ROWS", 20)
    source = random.Random(seed)
    text = ":p a owl:TransitiveProperty . :q a owl:TransitiveProperty , owl:SymmetricProperty . :p rdfs:subPropertyOf :r .\n"
    text += ":r a owl:TransitiveProperty . :r owl:inverseOf :s . :chain owl:propertyChainAxiom ( :p :r ) .\n"
    edges = [f":n{source.randrange(12)} :{source.choice('pqrs')} :n{source.randrange(12)} .\n" for _ in range(20)]
    expect_what_the_engine_says(turtle(text + "".join(edges)))
    before, added = turtle(text + "".join(edges[:15])), turtle("".join(edges[15:]))
    with standing_in() as session:
        materialised = SparkReasoner(session, owl2rl(), triple_frame(session, before)).triples()
        after = flagged(update(materialised, owl2rl(), added))
    labelled = [*before, *(triple for triple in added if triple not in before)]
    assert after == in_process(labelled, ruleset="owl2rl")


def test_predicates_without_new_facts_trigger_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts of many predicates are in one table by arity; `idle` has nothing new while the path grows."""
    program = parse("""
        path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
        idle(?x, ?y) :- other(?x, ?y) . joined(?x, ?z) :- idle(?x, ?y), idle(?y, ?z) .
    """)
    derived: Counter[str] = Counter()

    def counted(join: Any, *arguments: Any) -> None:
        derived[join.rule.head.predicate] += 1
        derive(join, *arguments)

    monkeypatch.setattr("kg_reasoner.spark_backend.exec.evaluation.saturation.derive", counted)
    with standing_in() as session:
        edges = session.createDataFrame([(f"<{place}>", f"<{place + 1}>") for place in range(8)], "a0 string, a1 string")
        others = session.createDataFrame([("<x>", "<y>"), ("<y>", "<z>")], "a0 string, a1 string")
        reasoner = SparkReasoner(session, program, facts={"edge": edges, "other": others})
        assert reasoner.facts("path").count() == 8 * 9 // 2
        assert [tuple(row) for row in reasoner.facts("joined").collect()] == [("<x>", "<z>")]
    assert derived["path"] > 8
    assert derived["joined"] == 1 + 2


def test_joins_with_axioms_relate_terms_before_they_take_further_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of two classes that an axiom names are related by the triples between them: there are far fewer than pairs."""
    program = parse("""
        @prefix : <http://example.org/> .
        :both1[?x, ?y] :- :A1[?x], :B1[?y], :p1[?x, ?y] .
        :both2[?x, ?y] :- :A2[?x], :B2[?y], :p2[?x, ?y] .
    """)
    members = [
        f":x{number} a :A{number % 2 + 1} ; :p{number % 2 + 1} :y{number} . :y{number} a :B{number % 2 + 1} ."
        for number in range(60)
    ]
    sizes = []

    def counted(one: Frame, *arguments: Any, **options: Any) -> Frame:
        found = joined(one, *arguments, **options)
        sizes.append(found.count())
        return found

    joined = Frame.join
    monkeypatch.setattr(Frame, "join", counted)
    with standing_in() as session:
        reasoner = SparkReasoner(session, program, triple_frame(session, turtle(" ".join(members))))
        assert reasoner.triples().where("predicate = '<http://example.org/both1>'").count() == 30
    assert max(sizes) <= 4 * len(members)


def test_a_long_path_takes_one_iteration() -> None:
    edges = turtle(":p a owl:TransitiveProperty . " + "".join(f":n{number} :p :n{number + 1} .\n" for number in range(120)))
    reports: list[Report] = []
    with standing_in() as session:
        found = SparkReasoner(session, owl2rl(), triple_frame(session, edges), progress=reports.append).triples()
        assert flagged(found) == in_process(edges, ruleset="owl2rl")
    assert [report.facts for report in reports if report.stage == "iteration"] == [120 * 121 // 2 - 120]


def chain(length: int) -> list[Triple]:
    """A chain of a property whose closure has another name, so that it takes several iterations."""
    axioms = ":partOf rdfs:subPropertyOf :in . :within rdfs:subPropertyOf :in ; owl:propertyChainAxiom ( :in :in ) .\n"
    return turtle(axioms + "".join(f":n{number} :partOf :n{number + 1} .\n" for number in range(length)))


def test_an_update_begins_with_what_is_new() -> None:
    path = chain(30)
    added = turtle(":n30 :partOf :end .")
    reports: list[Report] = []
    with standing_in() as session:
        before = SparkReasoner(session, owl2rl(), triple_frame(session, path)).triples()
        after = update(before, owl2rl(), added, progress=reports.append)
        assert flagged(after) == in_process([*path, *added], ruleset="owl2rl")
    assert [report.facts for report in reports if report.stage == "iteration"] == [1, 30, 0]


def expect_update(rules: str, data: str, added: str) -> None:
    program = parse("@prefix : <http://example.org/> . " + rules)
    before, more = turtle(data), turtle(added)
    with standing_in() as session:
        materialised = SparkReasoner(session, program, triple_frame(session, before)).triples()
        assert flagged(update(materialised, program, more)) == in_process([*before, *more], program)


def test_an_update_of_a_lower_stratum_triggers_rules_of_a_higher_one() -> None:
    rules = """
        [?x, rdfs:subPropertyOf, ?z] :- [?x, rdfs:subPropertyOf, ?y], [?y, rdfs:subPropertyOf, ?z] .
        [?x, :q, ?z] :- [?x, :p, ?y], [?y, :p, ?z] .
        [?x, :r, ?y] :- [?x, :q, ?y], [?y, :u, ?w], NOT [?x, rdfs:subPropertyOf, ?w] .
    """
    expect_update(rules, ":a :p :b . :c :u :d . :x rdfs:subPropertyOf :y .", added=":b :p :c .")


def test_an_update_that_entails_an_axiom_applies_it_to_all_triples() -> None:
    rules = "@translate dlp . [?x, rdf:type, owl:TransitiveProperty] :- [?x, :has, :transitivity] ."
    expect_update(rules, ":a :p :b . :b :p :c . :c :p :d .", added=":p :has :transitivity .")


def test_reports_are_lines_of_json(caplog: pytest.LogCaptureFixture) -> None:
    triples = chain(3)
    with standing_in() as session, caplog.at_level(logging.INFO, LOGGER.name):
        SparkReasoner(session, owl2rl(), triple_frame(session, triples)).triples()
    reports = [json.loads(record.message) for record in caplog.records if record.name == LOGGER.name]
    assert [report["facts"] for report in reports if report["stage"] == "iteration"] == [2, 1, 0]
    assert reports[0]["stage"] == "look"
    assert reports[0]["facts"] == len(triples)


# ------------------------------------------------------------------------------------------------------------- what was wrong


def test_a_violation_without_variables_beside_equal_terms() -> None:
    reasoner = expect_what_the_engine_says(
        turtle("""
        :a owl:sameAs :b . :x :p :y .
        [] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetIndividual :y .
    """)
    )
    assert reasoner.run.representatives is not None


@pytest.mark.parametrize(
    "text",
    [
        ":p rdfs:domain :C0 . :C0 owl:sameAs :C2 . :x :p :y .",
        ":p rdfs:subPropertyOf :q . :q owl:sameAs :r . :x :p :y .",
        ":C rdfs:subClassOf :D . :D owl:sameAs :E . :E rdfs:subClassOf :F . :x a :C .",
    ],
)
@pytest.mark.sample(3)
def test_equal_names_that_only_the_ontology_mentions(text: str) -> None:
    expect_what_the_engine_says(turtle(text))


@pytest.mark.parametrize("ruleset", ["owl2rl-full", "rdfs-full"])
@pytest.mark.sample(2)
def test_ill_typed_literals_are_violations(ruleset: str) -> None:
    reasoner = expect_what_the_engine_says(turtle(':x :p "a"^^xsd:integer .'), ruleset)
    with standing_in():
        assert not reasoner.inconsistencies().isEmpty()


@pytest.mark.parametrize("look", [SparkReasoner.plan, SparkReasoner.explain])
def test_looking_at_the_plan_changes_nothing(look: object) -> None:
    triples = turtle(":a owl:sameAs :b . :a :p :c . :q a owl:FunctionalProperty .")
    with standing_in() as session:
        reasoner = SparkReasoner(session, owl2rl(), triple_frame(session, triples))
        first = look(reasoner)  # type: ignore[operator]
        assert flagged(reasoner.triples()) == in_process(triples, ruleset="owl2rl")
        assert reasoner.run.representatives is not None
        assert type(first) is type(look(reasoner))  # type: ignore[operator]
        assert reasoner.plan().equality == "by representatives"


def test_lists_do_not_turn_representatives_off() -> None:
    """Positions in lists are compared, but they are no terms of the data."""
    reasoner = expect_what_the_engine_says(
        turtle("""
        [] a owl:AllDifferent ; owl:distinctMembers ( :a :b :c ) . :a owl:sameAs :d . :d owl:sameAs :b .
        :x owl:sameAs 1 . :x owl:sameAs 2 .
    """)
    )
    assert reasoner.run.representatives is not None


def test_facts_of_the_program_come_once() -> None:
    program = parse("""
        @prefix : <http://example.org/> .
        :p[:a, :b] . :q[?x, ?y] :- :p[?x, ?y] . :C[:a] . :D[?x] :- :C[?x] .
    """)
    for text in (":x :p :y .", ":a :p :b . :a a :C .", ":a :q :b ."):
        triples = turtle(text)
        expected = in_process([*triples, *turtle(":n :p :m .")], program)
        with standing_in() as session:
            before = SparkReasoner(session, program, triple_frame(session, triples)).triples()
            assert flagged(before) == in_process(triples, program)
            after = update(before, program, turtle(":n :p :m ."))
            assert flagged(after) == expected
            assert flagged(update(after, program, None, turtle(":n :p :m ."))) == flagged(before)


def test_schema_that_data_imply_goes_with_them() -> None:
    """A property is one because something has it."""
    program = rulesets.load("rdfs-full").program
    triples, removed = turtle(":a :p :b . :c :q :d ."), turtle(":a :p :b .")
    with standing_in() as session:
        before = SparkReasoner(session, program, triple_frame(session, triples)).triples()
        assert flagged(update(before, program, None, removed)) == in_process(turtle(":c :q :d ."), ruleset="rdfs-full")


def test_components_without_graphframes_that_fail(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Some versions of GraphFrames fail with some versions of Spark."""

    @contextmanager
    def fails(pairs: object) -> Iterator[object]:
        raise ReasonerError("cannot find connected components: Function identifier must be fully qualified")
        yield

    monkeypatch.setattr("kg_reasoner.spark_backend.exec.preparation.components.graphframes_components", fails)
    source = random.Random(7)
    pairs = [(f"n{source.randrange(60)}", f"n{source.randrange(60)}") for _ in range(40)]
    pairs += [(f"long{number:02}", f"long{number + 1:02}") for number in range(20)]
    with standing_in() as session:
        frame = session.createDataFrame(pairs, "one string, other string")
        found = representatives(frame, WorkDirectory(session), "graphframes").collect()
    assert {row.term: row.representative for row in found} == least_of_components(pairs)
    assert "fully qualified" in caplog.text


def test_equal_literals_violate_what_compares_them() -> None:
    """Both values are equal to the same term, so that one stands for the other, but they differ."""
    expect_what_the_engine_says(
        turtle("""
            :p rdfs:domain [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 1 ] .
            :a :p "a" , :b , "b" .
        """)
    )


def test_terms_that_equal_one_of_two_literals_with_the_same_value() -> None:
    """The literals are not different, but a name is different from both."""
    expect_what_the_engine_says(
        turtle("""
            :p a owl:InverseFunctionalProperty . :q owl:inverseOf :p .
            :i :q 1 , :i . :j :q "01"^^xsd:integer ; :p 1 .
        """)
    )


def test_terms_that_equal_literals_only() -> None:
    """The literal that stands for two has the value of another one, but the other of the two has not."""
    reasoner = expect_what_the_engine_says(
        turtle("""
            :f a owl:FunctionalProperty . :w :f "b" , 1 .
            :x :f "b" . :x :f "01"^^xsd:integer . :y :f 1 . :y :f "001"^^xsd:integer . :z :f 2 , "02"^^xsd:integer .
        """)
    )
    assert reasoner.run.representatives is not None
    assert reasoner.run.representatives.of_literals


def test_violations_name_what_was_written() -> None:
    """The constraint has a term that another one stands for."""
    reasoner = expect_what_the_engine_says(
        turtle("""
        :a owl:sameAs :z . :z :p :y .
        [] a owl:NegativePropertyAssertion ; owl:sourceIndividual :z ; owl:assertionProperty :p ; owl:targetIndividual :y .
    """)
    )
    with standing_in():
        (row,) = reasoner.inconsistencies().collect()
    assert row.axiom == "NegativeObjectPropertyAssertion(example:p example:z example:y)"
    assert "/z>" in row.rule


def test_violations_name_axioms_that_rules_conclude() -> None:
    """Not those that follow from these: a class below owl:Nothing is equivalent to it."""
    reasoner = expect_what_the_engine_says(
        turtle(":p rdfs:subPropertyOf rdfs:subClassOf . _:b a owl:Class . :A :p _:b . _:b :p owl:Nothing . :x a :A .")
    )
    with standing_in():
        (row,) = reasoner.inconsistencies().collect()
    assert row.axiom == "SubClassOf(example:A _:b); SubClassOf(_:b owl:Nothing)"


def test_an_update_with_a_new_literal() -> None:
    """What is true of literals is known of added ones, too."""
    before, added = turtle(":p rdfs:domain :A . :a :p :b ."), turtle(":a :p 1.5e0 .")
    program = rulesets.load("owl2el").program
    with standing_in() as session:
        materialised = SparkReasoner(session, program, triple_frame(session, before)).triples()
        after = flagged(update(materialised, program, added))
    assert after == in_process([*before, *added], ruleset="owl2el")
    assert any("#double" in row[0] for row in after)


def test_rules_of_one_shape_with_rdf_type_as_an_argument() -> None:
    """In general predicates, it is a constant like others; only in triples does it decide what a triple is about."""
    program = parse("""
        @prefix : <http://example.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        :first[?x, ?y] :- says(?x, rdf:type, ?y) .
        :second[?x, ?y] :- says(?x, :p, ?y) .
    """)
    with standing_in() as session:
        rows = [("<x>", "<http://example.org/p>", "<y>"), ("<x>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<z>")]
        said = session.createDataFrame(rows, "a0 string, a1 string, a2 string")
        found = SparkReasoner(session, program, facts={"says": said}).triples().collect()
    triples = sorted((row.predicate, row.object) for row in found)
    assert triples == [("<http://example.org/first>", "<z>"), ("<http://example.org/second>", "<y>")]


def test_rules_in_triples() -> None:
    """SWRL has a vocabulary of its own."""
    found = expect_what_the_engine_says(
        turtle("""
            @prefix swrl: <http://www.w3.org/2003/11/swrl#> . @prefix swrlb: <http://www.w3.org/2003/11/swrlb#> .
            :x a swrl:Variable . :y a swrl:Variable . :n a swrl:Variable .
            [] a swrl:Imp ;
                swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :Person ; swrl:argument1 :x ]
                    [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :near ; swrl:argument1 :x ; swrl:argument2 :y ]
                    [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :age ; swrl:argument1 :y ; swrl:argument2 :n ]
                    [ a swrl:BuiltinAtom ; swrl:builtin swrlb:greaterThan ; swrl:arguments ( :n 17 ) ] ) ;
                swrl:head ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :knows ; swrl:argument1 :y ;
                    swrl:argument2 :x ] ) .
            :ann a :Person ; :near :tim , :tom . :tim :age 18 . :tom :age 17 .
        """)
    )
    with standing_in():
        (row,) = found.triples().where("predicate = '<http://example.org/knows>'").collect()
    assert (row.subject, row.object) == ("<http://example.org/tim>", "<http://example.org/ann>")


def test_constraints_alone_ask_for_types_of_literals() -> None:
    """No rule but a constraint asks which datatypes a literal has."""
    stated = turtle(":p rdfs:range [ owl:datatypeComplementOf xsd:integer ] . :a :p 1 . :b :p 'one' .")
    reasoner = expect_what_the_engine_says(stated)
    with standing_in():
        (row,) = reasoner.inconsistencies().collect()
    assert "DataComplementOf(xsd:integer)" in row.axiom


def test_violations_name_facets_of_datatypes() -> None:
    """They belong to the axiom, though they are of the vocabulary of XML Schema."""
    reasoner = expect_what_the_engine_says(
        turtle("""
            :A owl:disjointUnionOf ( :C [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom [
                a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ xsd:minInclusive 1 ] ) ] ] :D ) .
            :x a :C , :D .
        """)
    )
    with standing_in():
        (row,) = reasoner.inconsistencies().collect()
    assert 'xsd:minInclusive "1"' in row.axiom


def test_violations_name_axioms_that_were_given() -> None:
    """A derived one, whose rule is the same, is only named where no other is."""
    reasoner = expect_what_the_engine_says(
        turtle(":p rdfs:subPropertyOf owl:equivalentClass . :A :p :B . owl:Thing rdfs:subClassOf owl:Nothing . :x a owl:Thing .")
    )
    with standing_in():
        axioms = {row.axiom for row in reasoner.inconsistencies().collect()}
    assert "SubClassOf(owl:Thing owl:Nothing)" in axioms
    assert not any("EquivalentClasses(owl:" in str(axiom) for axiom in axioms)


@pytest.mark.parametrize("driver_facts", [0, 10_000])
def test_rule_sets_are_not_warned_of(driver_facts: int) -> None:
    """The engine closes the schema, and finishes, with rules that compute values, under names that no user has given."""
    triples = turtle(":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] . :x a :A ; :p :y .")
    with standing_in() as session, warnings.catch_warnings():
        warnings.simplefilter("error", ReasonerWarning)
        program = rulesets.load("owl2el").program
        found = SparkReasoner(session, program, triple_frame(session, triples), driver_facts=driver_facts).triples()
    assert flagged(found) == in_process(triples, ruleset="owl2el")


# ------------------------------------------------------------------------------------------------------------- the stand-in


def test_the_stand_in_compares_no_texts_with_numbers() -> None:
    with standing_in() as session:
        from pyspark.sql import functions as F

        frame = session.createDataFrame([("a", 1)], "text string, number int")
        with pytest.raises(TypeError):
            frame.where(F.col("text") == F.col("number"))
        with pytest.raises(TypeError):
            frame.join(frame.select(F.col("number").alias("text")), "text")
        with pytest.raises(ValueError, match="ambiguous"):
            frame.join(frame, frame["text"] == frame["text"]).select("text")
