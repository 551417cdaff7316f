"""Profiles: what they count, that they change nothing, and their forms."""

from __future__ import annotations

import gzip
import json
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings

from kg_reasoner import LimitError, Limits, Reasoner, rulesets
from kg_reasoner.api.cost_profiles import GROUPINGS, Profile, ProfileRow
from kg_reasoner.cli import main
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.maintenance import STRATEGIES, Strategy
from kg_reasoner.errors import UnknownNameError
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import FALSE, Program, variables_of
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Literal, Term, literal
from tests.helpers.effort import PHASES, examples
from tests.helpers.fixtures import blocks
from tests.helpers.oracle import Store, evaluate, instances, without_empty
from tests.helpers.reasoners import applied
from tests.helpers.strategies import Transaction, World, by_predicate, histories, worlds

PROGRAMS = list(blocks(Path(__file__).parent / "profiles" / "programs.txt"))
EX = "http://example.org/"
BY_PHASE = [name for name in STRATEGIES if name != "dbsp"]
"""The strategies that evaluate rules one by one."""


def counted(profile: Profile) -> list[str]:
    """What a profile says of rules, in alphabetical order of these."""
    rows = sorted((row for row in profile.rows() if row.kind != "step"), key=lambda row: row.label)
    return [f"{row.instances} {row.new} {row.duplicates} {row.label}" for row in rows]


def one(*values: int | str) -> list[tuple[Term]]:
    """Facts with one argument."""
    return [(literal(value),) for value in values]


def edges(first: int, end: int) -> list[tuple[Term, Term]]:
    return [(literal(number), literal(number + 1)) for number in range(first, end)]


def sums(rows: Sequence[ProfileRow]) -> Counter[str]:
    names = ("instances", "new", "duplicates", "deletion", "backward")
    return Counter({name: sum(getattr(row, name) for row in rows) for name in names})


@pytest.mark.parametrize(("title", "text"), PROGRAMS, ids=[title for title, _ in PROGRAMS])
@pytest.mark.parametrize("maintenance", ["backward-forward", "delete-rederive", "rematerialise"])
def test_counts(title: str, text: str, maintenance: Strategy) -> None:
    program, _, expected = text.partition("--\n")
    reasoner = Reasoner(program, maintenance=maintenance)
    with reasoner.profile() as profile:
        reasoner.materialise()
    assert counted(profile) == expected.strip().splitlines()


def loaded(world: World, **settings: Strategy) -> Reasoner:
    reasoner = Reasoner(Program(world.rules), **settings)
    for predicate, rows in by_predicate(world.facts).items():
        reasoner.add_facts(predicate, rows)
    return reasoner


@given(world=worlds(functions=True))
@settings(max_examples=examples(100), deadline=None, phases=PHASES)
def test_instances_are_the_matches_of_the_oracle(world: World) -> None:
    """Where all variables of the body are in the head, and no atom has all of those. Otherwise, the engine stops at the first of
    matches that differ in nothing that the head has, and does not look for those of a known head.
    """
    reasoner, facts = loaded(world), by_predicate(world.facts)
    with reasoner.profile() as profile:
        reasoner.materialise()
    model = evaluate(Program(world.rules), facts)
    found = {row.rule: row for row in profile.rows() if row.kind == "rule"}
    store = Store(model)
    for rule in world.rules:
        matches = sum(1 for _ in instances(rule, store, store))
        row = found.get(format_rule(rule), ProfileRow("rule", ""))
        of_head, of_atoms = set(variables_of(rule.head)), [set(variables_of(atom)) for atom in rule.body_atoms()]
        is_determined = len(rule.body) > 1 and any(of_head <= names for names in of_atoms)
        if set().union(*of_atoms) <= of_head and not is_determined:
            assert row.instances == matches, rule
        else:
            assert row.instances <= matches, rule
        assert 0 <= row.new <= row.instances
    derived = sum(map(len, model.values())) - sum(map(len, facts.values()))
    assert sums(profile.rows())["new"] == derived


@given(history=histories(functions=True, aggregates=True, length=5))
@settings(max_examples=examples(60), deadline=None, phases=PHASES)
@pytest.mark.long
def test_profiled_updates_give_the_same_results(history: list[Transaction]) -> None:
    """Under every strategy; and the profile has what the counters have, if rules are evaluated one by one."""
    for strategy in STRATEGIES:
        reasoner, rules, explicit = Reasoner(maintenance=strategy), (), {}
        for transaction in history:
            rules, explicit = transaction.after(rules, explicit)
            before = reasoner.counters
            with reasoner.profile() as profile:
                applied(reasoner, transaction)
            model = without_empty(evaluate(Program(rules), explicit))
            model.pop(FALSE, None)
            assert without_empty({name: set(reasoner.facts(name)) for name in reasoner.predicates()}) == model, strategy  # type: ignore[arg-type]
            if strategy in BY_PHASE and strategy != "counting":  # which does not count what becomes of rules that are gone
                assert _phases(profile) == _without_forward(reasoner.counters - before), strategy


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive", "rematerialise"])
def test_a_rule_that_waits_for_a_function_after_its_first_new_fact(strategy: Strategy) -> None:
    """The plan is called again, and does not look for what it has derived before."""
    one, zero, two = (Literal(lexical, XSD.integer.value) for lexical in ("01", "0", "2"))
    reasoner = Reasoner(maintenance=strategy)
    before = reasoner.counters
    with reasoner.profile() as profile, reasoner.transaction() as tx:
        tx.add_facts("r", [(one, two, zero)])
        tx.add_facts("q", [(literal("a"), one), (zero, two)])
        tx.add_program("o(?x, ?w) :- q(?w, ?x), r(?y, ?x, 0), FILTER(?w <= 0) .")
    assert sums(profile.rows())["instances"] == (reasoner.counters - before).insertion == 1


def _phases(profile: Profile) -> tuple[int, int]:
    found = sums(profile.rows())
    return found["instances"] + found["deletion"], found["backward"]


def _without_forward(counters: Counters) -> tuple[int, int]:
    return counters.insertion + counters.deletion, counters.backward


@pytest.mark.parametrize("maintenance", BY_PHASE)
def test_an_update_by_phase(maintenance: Strategy) -> None:
    reasoner = Reasoner("p(?x) :- q(?x) . p(?x) :- r(?x) .", maintenance=maintenance)
    reasoner.add_facts("q", one("a", "b"))
    reasoner.add_facts("r", one("a"))
    reasoner.materialise()
    with reasoner.profile() as profile, reasoner.transaction() as tx:
        tx.remove_facts("q", one("a", "b"))
        tx.add_facts("r", one("c"))
    expected = {
        "backward-forward": {"instances": 1, "new": 1, "deletion": 2, "backward": 1},
        "delete-rederive": {"instances": 1, "new": 1, "deletion": 2, "backward": 1},
        "counting": {"deletion": 3},
        "rematerialise": {"instances": 2, "new": 2},
    }
    assert sums([row for row in profile.rows() if row.kind != "step"]) == Counter(expected[maintenance])


@pytest.mark.parametrize("maintenance", ["backward-forward", "delete-rederive", "counting", "dbsp"])
def test_time_of_deletions_is_that_of_rules(maintenance: Strategy) -> None:
    rules = "path(?x, ?z) :- edge(?x, ?z) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . loop(?x) :- path(?x, ?x) ."
    reasoner = Reasoner(rules, maintenance=maintenance)
    reasoner.add_facts("edge", edges(0, 40))
    reasoner.materialise()
    with reasoner.profile() as profile:
        reasoner.remove_facts("edge", edges(20, 21))
        reasoner.materialise()
    found = {row.label: row for row in profile.rows()}
    step = found["path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."]
    assert step.deletion >= 21 * 20 - 1 and step.seconds > 0
    assert "loop(?x) :- path(?x, ?x) ." not in found
    assert not {"deletion", "counting", "circuit"} & found.keys()
    assert sum(row.seconds for row in found.values()) == pytest.approx(profile.seconds)


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_a_removed_rule_that_would_be_joined_in_another_order_by_now(maintenance: Strategy) -> None:
    reasoner = Reasoner("path(?x, ?z) :- edge(?x, ?z) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .", maintenance=maintenance)
    reasoner.add_facts("edge", edges(0, 5))
    reasoner.materialise()
    with reasoner.profile() as profile:
        reasoner.remove_rules(reasoner.rules[1:])
        reasoner.materialise()
    assert len(reasoner.facts("path")) == 5
    found = {row.label: row.deletion for row in profile.rows()}
    if maintenance != "rematerialise":
        assert found["path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."] >= 10


def test_what_was_blocked() -> None:
    reasoner = Reasoner("free(?x) :- seat(?x), NOT taken(?x) . seat(1) . seat(2) .")
    reasoner.add_facts("taken", one(1, 2))
    reasoner.materialise()
    with reasoner.profile() as profile:
        reasoner.remove_facts("taken", one(2))
        reasoner.materialise()
    rows = {row.label: (row.instances, row.new) for row in profile.rows() if row.instances}
    assert rows == {"insert what was blocked": (1, 1)}


def test_axioms_have_their_names_and_the_cost_of_translation_and_planning() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    with reasoner.profile() as profile:
        a, b, x = (IRI(EX + name) for name in ("A", "B", "x"))
        reasoner.add_triples([(a, RDFS.subClassOf, b), (x, RDF.type, a)])
        reasoner.materialise()
    (row,) = (row for row in profile.rows() if row.name == "cax-sco")
    assert (row.label, row.axiom) == ("cax-sco: SubClassOf(example:A example:B)", "SubClassOf(example:A example:B)")
    assert (row.instances, row.new, row.duplicates, row.kind) == (1, 1, 0, "rule")
    steps = {row.label: row.seconds for row in profile.rows() if row.kind == "step"}
    assert steps["translate axioms"] > 0 and steps["plan rules"] > 0
    (by_axiom,) = (row for row in profile.rows(by="axiom") if row.axiom)
    assert (by_axiom.label, by_axiom.rule, by_axiom.new) == ("SubClassOf(example:A example:B)", None, 1)
    prefixed = profile.to_text(prefixes={"ex": EX})
    assert "cax-sco: SubClassOf(ex:A ex:B)" in prefixed


@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
def test_a_constraint_that_comes_from_another_axiom_now() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    a, b, x = (IRI(EX + name) for name in ("A", "B", "x"))
    reasoner.add_triples([(a, OWL.complementOf, b), (x, RDF.type, a), (x, RDF.type, b)])
    reasoner.materialise()
    with reasoner.profile() as profile:
        reasoner.add_triples([(a, OWL.disjointWith, b)])
        reasoner.materialise()
    (row,) = (row for row in profile.rows() if row.name == "cax-dw")
    assert (row.axiom, row.rule) == ("DisjointClasses(example:A example:B)", "false :- example:A[?x], example:B[?x] .")


def test_rules_of_one_name_are_one_row() -> None:
    reasoner = Reasoner("@rule up up(?x) :- a(?x) . @rule up up(?x) :- b(?x) . down(?x) :- up(?x) . a(1) . b(1) . b(2) .")
    with reasoner.profile() as profile:
        reasoner.materialise()
    assert len([row for row in profile.rows() if row.kind == "rule"]) == 3
    rows = {row.label: (row.instances, row.new) for row in profile.rows(by="name") if row.kind == "rule"}
    assert rows == {"up": (3, 2), "down(?x) :- up(?x) .": (2, 2)}
    for by in GROUPINGS:
        assert sums(profile.rows(by)) == sums(profile.rows())
    with pytest.raises(UnknownNameError, match="grouping of a profile"):
        profile.rows(by="colour")  # type: ignore[arg-type]


def test_only_what_is_done_inside_counts() -> None:
    reasoner = Reasoner("p(?x) :- q(?x) . q(1) . q(2) .")
    reasoner.materialise()
    with reasoner.profile() as outer:
        reasoner.add_facts("q", one(3))
        reasoner.materialise()
        with reasoner.profile() as inner:
            reasoner.add_facts("q", one(4, 5))
            reasoner.materialise()
            assert counted(inner) == ["2 2 0 p(?x) :- q(?x) ."]
        reasoner.add_facts("q", one(6))
        reasoner.materialise()
    reasoner.add_facts("q", one(7))
    reasoner.materialise()
    assert counted(inner) == ["2 2 0 p(?x) :- q(?x) ."]
    assert counted(outer) == ["4 4 0 p(?x) :- q(?x) ."]
    assert not reasoner.engine.recorder.is_on


def test_a_forgotten_profile_stops() -> None:
    reasoner = Reasoner("p(?x) :- q(?x) . q(1) .")
    reasoner.profile()
    assert not reasoner.engine.recorder.is_on


def test_a_failed_operation_leaves_the_profile_usable() -> None:
    reasoner = Reasoner("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .", limits=Limits(facts=20_000))
    with reasoner.profile() as profile:
        with pytest.raises(LimitError):
            reasoner.add_facts("edge", edges(0, 500))
            reasoner.materialise()
        failed = sums(profile.rows())["instances"]
        reasoner.remove_facts("edge", edges(10, 500))
        reasoner.materialise()
    assert failed > 10_000 and sums(profile.rows())["instances"] == failed + 10 * 11 // 2
    assert len(list(reasoner.facts("path"))) == 10 * 11 // 2


def test_updates_of_other_threads_count() -> None:
    reasoner = Reasoner("p(?x) :- q(?x) .")

    def work(number: int) -> None:
        for step in range(20):
            reasoner.add_facts("q", one(100 * number + step))
            reasoner.materialise()

    with reasoner.profile() as profile:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counted(profile) == ["60 60 0 p(?x) :- q(?x) ."]


def test_equal_terms_merged_under_a_profile() -> None:
    program = rulesets.load("owl2rl").program
    reasoner, other = (Reasoner(program, equality="rewrite") for _ in range(2))
    a, b, c = (IRI(EX + name) for name in "abc")
    same, knows = IRI("http://www.w3.org/2002/07/owl#sameAs"), IRI(EX + "knows")
    triples = [(a, same, b), (a, knows, c), (b, knows, a), (knows, RDFS.range, IRI(EX + "Person"))]
    for some in (reasoner, other):
        some.add_triples(triples)
    with reasoner.profile() as profile:
        reasoner.materialise()
        reasoner.remove_triples(triples[:1])
        reasoner.materialise()
    other.remove_triples(triples[:1])
    assert set(reasoner.triples()) == set(other.triples())
    assert "merge equal terms" in {row.label for row in profile.rows()}


# --- forms ------------------------------------------------------------------------------------------------------------------

TABLE = """\
  ms    %  instances  new  duplicates  rule or step
----  ---  ---------  ---  ----------  ------------
0.00  0.0          0    0           0  build indexes
0.00  0.0          3    3           0  path(?x, ?y) :- edge(?x, ?y) .
0.00  0.0          9    6           3  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
0.00  0.0          0    0           0  3 more
0.00  0.0         12    9           3  all"""


@pytest.fixture
def closure() -> Profile:
    """The profile of a closure, by a clock that stands still."""
    reasoner = Reasoner(PROGRAMS[0][1].partition("--\n")[0])
    reasoner.engine.recorder.clock = lambda: 0.0
    with reasoner.profile() as profile:
        reasoner.materialise()
    return profile


def test_text(closure: Profile) -> None:
    shown = [row for row in closure.rows() if row.label not in ("check column types", "compact", "extend axioms")]
    assert [row.label for row in shown] == sorted(row.label for row in shown)
    from kg_reasoner.api.profile_forms import text

    chosen = [
        row for row in shown if row.kind == "rule" or row.label in ("build indexes", "plan rules", "maintain", "translate axioms")
    ]
    chosen.sort(key=lambda row: (row.kind == "step" and row.label != "build indexes", row.label))
    assert text(chosen, 3) == TABLE
    assert "path(?x, ?y) :- edge(?x, ?y) ." in str(closure)


def test_deletion_has_columns_only_where_something_was_deleted() -> None:
    reasoner = Reasoner("p(?x) :- q(?x) . q(1) .")
    with reasoner.profile() as profile:
        reasoner.materialise()
    assert "deletion" not in str(profile).splitlines()[0]
    reasoner.add_facts("q", one(2))
    reasoner.materialise()
    with reasoner.profile() as profile:
        reasoner.remove_facts("q", one(2))
        reasoner.materialise()
    assert str(profile).splitlines()[0].split()[-5:] == ["deletion", "backward", "rule", "or", "step"]


def test_data(closure: Profile) -> None:
    data = json.loads(json.dumps(closure.to_dict()))
    rule = next(row for row in data["rows"] if row["instances"] == 9)
    assert rule == {
        "kind": "rule",
        "label": "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
        "name": None,
        "axiom": None,
        "rule": "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
        "seconds": 0.0,
        "runs": 4,
        "instances": 9,
        "new": 6,
        "duplicates": 3,
        "deletion": 0,
        "backward": 0,
    }


def test_times_add_up() -> None:
    ticks = iter(range(10_000))
    reasoner = Reasoner(PROGRAMS[0][1].partition("--\n")[0])
    reasoner.engine.recorder.clock = lambda: float(next(ticks))
    with reasoner.profile() as profile:
        reasoner.materialise()
    rows = profile.rows()
    assert profile.seconds == sum(row.seconds for row in rows)
    assert [row.seconds for row in rows] == sorted((row.seconds for row in rows), reverse=True)
    runs = {row.label: (row.seconds, row.runs) for row in rows}
    assert runs["path(?x, ?y) :- edge(?x, ?y) ."] == (1.0, 1)


def test_pictures_escape_what_they_show() -> None:
    reasoner = Reasoner('p("<b>&") :- q("<i>", ?x) . q("<i>", 1) .')
    with reasoner.profile() as profile:
        reasoner.materialise()
    picture = ElementTree.fromstring(profile.to_svg())
    texts = [element.text or "" for element in picture.iter() if element.tag.endswith("text")]
    assert any('p("<b>&") :- q("<i>", ?x) .' in text for text in texts)
    assert len(texts) == len(profile.rows())
    for page in (profile.to_html(), profile._repr_html_()):
        assert "<b>" not in page and "&lt;b&gt;&amp;" in page


# --- the command line -------------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.ttl"
    path.write_text(
        "@prefix zoo: <http://zoo.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "zoo:Cat rdfs:subClassOf zoo:Animal . zoo:tom a zoo:Cat ."
    )
    return path


def kg(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_option_on_standard_error(data: Path, tmp_path: Path) -> None:
    result = kg("materialise", data, "-o", tmp_path / "out.nt", "--profile", "-", "-q")
    assert result.exit_code == 0
    (line,) = (line for line in result.stderr.splitlines() if "cax-sco" in line)
    assert line.split(maxsplit=5)[2:] == ["1", "1", "0", "cax-sco: SubClassOf(zoo:Cat zoo:Animal)"]
    assert result.stdout == ""


def test_option_with_files(data: Path, tmp_path: Path) -> None:
    for name, beginning in (("p.json", "{"), ("p.html", "<!DOCTYPE html>"), ("p.svg", "<svg"), ("p.txt", "  ")):
        result = kg("query", data, "-Q", "ASK {}", "--profile", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).read_text().startswith(beginning)
    rows = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert {row["new"] for row in rows if row["name"] == "cax-sco"} == {1}
    assert kg("query", data, "-Q", "ASK {}", "--profile", tmp_path / "p.json.gz").exit_code == 0
    with gzip.open(tmp_path / "p.json.gz", "rt", encoding="utf-8") as packed:
        assert {row["name"] for row in json.load(packed)["rows"]} >= {"cax-sco"}


def test_option_of_run(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("p(?x) :- q(?x) . q(1) .")
    result = kg("run", program, "--profile", "-")
    assert result.exit_code == 0 and "p(?x) :- q(?x) ." in result.stderr


def test_option_in_vain(data: Path, tmp_path: Path) -> None:
    result = kg("materialise", data, "-o", tmp_path / "out.nt", "--graphs", "graph", "--profile", "-")
    assert result.exit_code == 2 and "--profile is for reasoning over all graphs together" in result.stderr
    result = kg("materialise", data, "-o", tmp_path / "out.nt", "--profile", tmp_path / "none" / "p.json")
    assert result.exit_code == 1 and "its folder does not exist" in result.output
    assert "loaded" not in result.output and not (tmp_path / "out.nt").exists()
    result = kg("materialise", tmp_path / "none.ttl", "-o", tmp_path / "out.nt", "--profile", tmp_path / "p.txt")
    assert result.exit_code == 1 and "none.ttl" in result.output
    assert (tmp_path / "p.txt").exists()
    (tmp_path / "folder").symlink_to(tmp_path)
    for same in (tmp_path / "out.nt", tmp_path / "folder" / "out.nt"):
        result = kg("materialise", data, "-o", tmp_path / "out.nt", "--profile", same)
        assert result.exit_code == 2 and "--profile and --output are the same file" in result.stderr


def test_option_names_no_file_of_the_command(data: Path, tmp_path: Path) -> None:
    program, table, out = tmp_path / "p.dl", tmp_path / "q.tsv", tmp_path / "out"
    program.write_text("p(?x) :- q(?x) . [?x, a, <http://x/A>] :- [?x, a, <http://x/B>] .")
    table.write_text("a\n")
    out.mkdir()
    before = {path: path.read_bytes() for path in (program, table, data)}
    run = ("run", program, "--facts", tmp_path, "--data", data, "-o", out, "--profile")
    for same in (*before, out / "p.tsv", out / "triples.nt"):
        result = kg(*run, same)
        assert result.exit_code == 2 and f"--profile would replace {same}, which the command reads or writes" in result.stderr
    assert list(out.iterdir()) == []
    for options in (("query", "-Q", "ASK {}"), ("check",), ("explain", "-t", "<http://x/a> a <http://x/A>")):
        for same in (data, program):
            assert "--profile would replace" in kg(*options, data, "--rules", program, "--profile", same).stderr
    assert {path: path.read_bytes() for path in before} == before
    assert kg(*run, out / "costs.tsv").exit_code == 0 and len(list(out.iterdir())) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_option_with_a_full_device(data: Path, tmp_path: Path) -> None:
    result = kg("query", data, "-Q", "ASK {}", "--profile", "/dev/full")
    assert result.exit_code == 1 and "error: cannot write /dev/full" in result.output
    result = kg("query", tmp_path / "none.ttl", "-Q", "ASK {}", "--profile", "/dev/full")
    assert result.exit_code == 1 and "warning: cannot write /dev/full" in result.output
    assert "none.ttl does not exist" in result.output
