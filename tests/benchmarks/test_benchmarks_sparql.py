"""The benchmark of SPARQL in small: its queries, its skewed data, and a contest on a handful of triples. Never how fast."""

from __future__ import annotations

import io
import json
import statistics
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pyoxigraph
import pytest
import rdflib
from click.testing import CliRunner
from rich.console import Console

from benchmarks import lookups, sparql_limits, sparql_results, sparql_updates, unseen, values
from benchmarks.contests.contest import RunLimits
from benchmarks.measuring import needs
from benchmarks.sparql import __main__ as command
from benchmarks.sparql import report
from benchmarks.sparql.checksums import checksum, value_text
from benchmarks.sparql.contest import CONTESTANTS, Contestant, Score, contest
from benchmarks.sparql.data import DataSet, data_set
from benchmarks.sparql.queries import LUBM, SHOP, UNIVERSITY, Query, all_queries, read_queries
from benchmarks.sparql.shop import NAMESPACE, generate_shop
from benchmarks.sparql.systems import Ours
from benchmarks.sparql.worker import MOST
from kg_reasoner import Reasoner
from kg_reasoner.sparql.syntax.query_syntax import read_common_query
from kg_reasoner.terms import IRI, BlankNode, Literal
from tests.helpers.extras import needed

LIMITS = RunLimits(seconds=60, bytes=8_000_000_000)
ALWAYS = ("kg-reasoner", "kg-reasoner rdflib", "pyoxigraph", "rdflib")
"""Contestants that need no packages of the extra."""

SHOP_DATA = """
<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Book> .
<urn:Book> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Thing> .
<urn:a> <urn:price> "2.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<urn:b> <urn:price> "4.00"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<urn:a> <urn:like> _:x .
"""

SMALL_QUERIES = """
# a comment
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>

### inferred
SELECT ?thing WHERE { ?thing rdf:type <urn:Thing> }

### average
SELECT (AVG(?price) AS ?mean) (COUNT(*) AS ?count) WHERE { ?thing <urn:price> ?price }

### optional
SELECT ?thing ?like ?price WHERE { ?thing <urn:price> ?price OPTIONAL { ?thing <urn:like> ?like } }

### any count
SELECT ?thing WHERE { ?thing <urn:price> ?price } LIMIT 1
"""

ENDLESS = Query(SHOP, "endless", "SELECT (COUNT(*) AS ?n) WHERE {" + "".join(f"?s{n} ?p{n} ?o{n} ." for n in range(12)) + "}")


def chosen(*names: str) -> list[Contestant]:
    return [one for one in CONTESTANTS if one.name in names]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """A data set of a few triples, in the place of a shop."""
    cache = tmp_path_factory.mktemp("cache")
    source = cache / "shop1" / "data.nt"
    source.parent.mkdir()
    source.write_text(SHOP_DATA.lstrip(), encoding="ascii")
    return data_set(SHOP, 1, cache)


# ---- queries and data


def test_a_file_of_queries_is_read() -> None:
    queries = read_queries(SMALL_QUERIES, SHOP)
    assert [(query.name, query.counted) for query in queries] == [
        ("inferred", False),
        ("average", False),
        ("optional", False),
        ("any", True),
    ]
    prefix = "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>"
    assert queries[0].text == f"{prefix}\n\nSELECT ?thing WHERE {{ ?thing rdf:type <urn:Thing> }}\n"


@pytest.mark.long
def test_all_queries_are_valid_and_have_names_of_their_own() -> None:
    queries = all_queries()
    assert Counter(query.group for query in queries) == {LUBM: 14, UNIVERSITY: 41, SHOP: 16}
    assert len({query.label for query in queries}) == len(queries)
    for query in queries:
        pyoxigraph.Store().query(query.text)
        rdflib.Graph().query(query.text)


@pytest.mark.long
def test_the_shop_is_skewed_and_always_the_same() -> None:
    lines = b"".join(generate_shop(1)).decode().splitlines()
    assert lines == b"".join(generate_shop(1)).decode().splitlines()
    reviews = Counter(line.split()[2] for line in lines if f" <{NAMESPACE}of> " in line)
    (most, number), (_, second) = reviews.most_common(2)
    assert most == f"<{NAMESPACE}product0>"
    assert number > 1.5 * second > 100 * reviews[f"<{NAMESPACE}product900>"]


def test_materialised_data_hold_what_is_derived(small: DataSet) -> None:
    lines = Path(small.materialised).read_text(encoding="utf-8").splitlines()
    assert "<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Thing> ." in lines
    assert DataSet.from_json(small.as_json()) == small


# ---- checksums


@pytest.mark.parametrize(
    "rows",
    [
        [(rdflib.URIRef("urn:a"), rdflib.Literal("2.50"), rdflib.BNode(), None, rdflib.Literal("b", lang="en"))],
        [(pyoxigraph.NamedNode("urn:a"), pyoxigraph.Literal(2.5), pyoxigraph.BlankNode(), None, pyoxigraph.Literal("b"))],
        [(IRI("urn:a"), Literal("2.5"), BlankNode("b0"), None, Literal("b", language="en"))],
        [("<urn:a>", Decimal("2.500"), "_:b3", None, '"b"@en')],
    ],
)
def test_checksums_do_not_depend_on_the_library(rows: list[tuple[object, ...]]) -> None:
    assert checksum(rows) == checksum([("urn:a", 2.5, "_:", None, "b")])
    assert checksum(rows) != checksum([("urn:a", 2.6, "_:", None, "b")])


def test_checksums_see_how_often_a_row_occurs() -> None:
    assert checksum([("a",), ("b",), ("a",)]) == checksum([("a",), ("a",), ("b",)]) != checksum([("a",), ("b",)])


def test_booleans_have_one_text() -> None:
    answers: Iterable[object] = (True, pyoxigraph.Store().query("ASK {}"), rdflib.Literal(True), pyoxigraph.Literal(True))
    assert {value_text(value) for value in answers} == {"true"}


# ---- contests


@pytest.mark.long
def test_contestants_agree(small: DataSet) -> None:
    rows = list(contest(small, read_queries(SMALL_QUERIES, SHOP), chosen(*ALWAYS), 2, LIMITS))
    assert [{score.contestant: score.remark for score in scores} for scores in rows] == [dict.fromkeys(ALWAYS, "")] * 4
    assert [{score.rows for score in scores} for scores in rows] == [{1}, {1}, {2}, {1}]
    assert [line for scores in rows for line in report.disagreements(scores)] == []
    assert {score.checksum for score in rows[1]} == {checksum([(3.25, 2)])}
    assert {score.checksum for score in rows[3]} == {None}
    assert all(2 <= len(score.cpu) <= 2 * MOST for scores in rows for score in scores)


@pytest.mark.long
@pytest.mark.parametrize("name", ["maplib", "oxrdflib"])
def test_peers_of_the_extra_agree(small: DataSet, name: str) -> None:
    needed(name)
    rows = list(contest(small, read_queries(SMALL_QUERIES, SHOP), chosen("kg-reasoner", name), 1, LIMITS))
    assert [[(score.rows, score.remark) for score in scores] for scores in rows] == [[(count, "")] * 2 for count in (1, 1, 2, 1)]
    assert [line for scores in rows for line in report.disagreements(scores)] == []


@pytest.mark.long
def test_a_query_over_the_limit_is_stopped_and_not_asked_on_larger_data(small: DataSet) -> None:
    after, *_ = read_queries(SMALL_QUERIES, SHOP)
    (stopped,), (answered,) = contest(small, [ENDLESS, after], chosen("rdflib"), 1, RunLimits(1.0, LIMITS.bytes))
    assert (stopped.remark, stopped.cpu, stopped.failed) == ("over the limit of time", [], False)
    assert answered.rows == 1
    ((skipped,),) = contest(small, [ENDLESS], chosen("rdflib"), 1, LIMITS, [stopped])
    assert skipped.remark == "over the limit of time on shop(1)"


@pytest.mark.long
def test_a_system_that_cannot_be_copied_is_started_again_after_the_limit(small: DataSet) -> None:
    needed("maplib")
    after, *_ = read_queries(SMALL_QUERIES, SHOP)
    (stopped,), (answered,) = contest(small, [ENDLESS, after], chosen("maplib"), 1, RunLimits(0.5, LIMITS.bytes))
    assert stopped.rows is None
    assert answered.rows == 1


@pytest.mark.long
def test_errors_are_reported(small: DataSet) -> None:
    wrong = Query(SHOP, "wrong", "SELECT ?x WHERE { nothing }")
    ((score,),) = contest(small, [wrong], chosen("pyoxigraph"), 1, LIMITS)
    assert score.failed
    assert score.remark.startswith("SyntaxError: ")


def test_a_system_without_memory_fails_once_and_for_all(small: DataSet) -> None:
    queries = read_queries(SMALL_QUERIES, SHOP)[:2]
    rows = list(contest(small, queries, chosen("rdflib"), 1, RunLimits(60, 20_000_000)))
    assert [score.remark.partition(":")[0] for scores in rows for score in scores] == ["cannot load shop(1)"] * 2


def test_systems_that_are_not_measured_give_the_reason(small: DataSet) -> None:
    large = DataSet("LUBM(50)", LUBM, 50, small.sources, small.materialised)
    describe = Query(LUBM, "describe", "PREFIX x: <urn:>\n\nDESCRIBE <urn:a>\n")
    ((graph, frames),) = contest(large, [describe], [*chosen("rdflib"), *chosen("maplib")], 1, LIMITS)
    assert graph.remark == "not tried on more than size 5: loading takes too much time and memory"
    assert frames.remark == "has no DESCRIBE"


class Answers:
    """The native result of a reasoner that has the method ``query``."""

    def __len__(self) -> int:
        return 2

    def to_arrow(self) -> object:
        import pyarrow

        return pyarrow.table({"x": ["<urn:a>", None], "y": [1, 2]})


def test_our_native_results_are_used_when_there_are_any(monkeypatch: pytest.MonkeyPatch, small: DataSet) -> None:
    needed("pyarrow")
    adapter = Ours()
    adapter.load(small)
    monkeypatch.setattr(type(adapter.reasoner), "query", lambda reasoner, text: Answers(), raising=False)
    for form, kind in (("native", "Answers"), ("Arrow", "Table")):
        result = adapter.forms[form]("SELECT ?x ?y {}")
        assert (type(result).__name__, adapter.size(result)) == (kind, 2)
        assert checksum(adapter.rows(result)) == checksum([("urn:a", 1), (None, 2)])
    monkeypatch.setattr("benchmarks.sparql.systems.is_installed", lambda package: package != "pyarrow")
    assert set(adapter.forms) == {"native", "new text", "rdflib"}


# ---- reports


def score(contestant: str, seconds: float, rows: int = 3, checksum: str | None = "a") -> Score:
    return Score(contestant, Query(SHOP, "one", "ASK {}"), "shop(1)", [seconds], [seconds], rows, checksum)


def test_ratios_are_those_to_the_best_with_the_same_kind_of_result() -> None:
    scores = [score("kg-reasoner", 2), score("pyoxigraph", 4), score("maplib", 1), score("oxrdflib", 0.5)]
    assert report.best_ratio(scores, "kg-reasoner") == 2
    assert report.best_ratio([*scores, score("kg-reasoner rdflib", 2)], "kg-reasoner rdflib") == 4
    assert report.best_ratio(scores[:1], "kg-reasoner") is None


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (score("maplib", 1), []),
        (score("maplib", 1, checksum=None), []),
        (score("maplib", 1, rows=4), ["(rows): kg-reasoner 3, maplib 4"]),
        (score("maplib", 1, checksum="b"), ["(checksum): kg-reasoner a, maplib b"]),
    ],
)
def test_disagreements(other: Score, told: list[str]) -> None:
    found = [line.partition("differ ")[2] for line in report.disagreements([score("kg-reasoner", 1), other])]
    assert found == told


def test_tables_show_times_ratios_and_reasons() -> None:
    slow = Score("rdflib", Query(SHOP, "one", "ASK {}"), "shop(1)", remark="over the limit of time")
    rows = [[score("kg-reasoner", 0.003), score("pyoxigraph", 0.012), slow]]
    console = Console(file=io.StringIO(), width=report.WIDTH)
    taking_part = chosen("kg-reasoner", "pyoxigraph", "rdflib")
    console.print(report.query_table(rows, taking_part), report.summary_table(rows, taking_part))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "shop/one 3 3.0 3.00 12.00 over 0.25 -" in " ".join(printed.split())
    assert "rdflib: over the limit of time: shop/one" in printed
    assert "pyoxigraph 1/1 12.0 3.0 0.25" in " ".join(printed.split())


# ---- the command


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command.main, arguments)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.long
def test_the_command_prints_json(small: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "all_queries", lambda: read_queries(SMALL_QUERIES, SHOP))
    cache = Path(small.materialised).parents[1]
    arguments = ["--cache", str(cache), "--peers", "pyoxigraph", "--only", "shop/av*", "-n", "1", "--format", "json"]
    code, printed, _ = run(*arguments, "--against", str(Path(__file__).parents[2]))
    assert code == 0
    scores = {one["contestant"]: one for one in json.loads(printed)["scores"]}
    for name in ("pyoxigraph", "kg-reasoner elsewhere"):
        assert (scores[name]["query"], scores[name]["rows"]) == ("shop/average", 1)
    for score in scores.values():
        assert 1 <= len(score["cpu"]) <= MOST
        assert (score["min"], score["median"]) == (min(score["cpu"]), statistics.median(score["cpu"]))


def test_a_disagreement_is_reported_and_sets_the_exit_code(small: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    disagreeing = [[score("kg-reasoner", 1), score("pyoxigraph", 1, rows=4)]]
    monkeypatch.setattr(command, "contest", lambda *arguments: iter(disagreeing))
    code, _, told = run("--cache", str(Path(small.materialised).parents[1]), "--peers", "pyoxigraph", "--only", "shop/*")
    assert code == 1
    assert "shop/one on shop(1): the results differ (rows): kg-reasoner 3, pyoxigraph 4" in told


def test_missing_peers_and_unknown_queries_end_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "is_installed", lambda package: package != "maplib")
    code, printed, told = run()
    assert (code, printed) == (1, "")
    assert "not installed: maplib. Run pip install '.[bench]', or choose what to compare with --peers." in told
    code, _, told = run("--peers", "rdflib", "--only", "nothing")
    assert code == 2
    assert "no query has such a name" in told


# --- updates --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", sparql_updates.JOBS)
@pytest.mark.parametrize("system", [name for name in sparql_updates.SYSTEMS if name != "before"])
def test_updates_insert_the_same_number_of_triples(system: str, job: str, tmp_path: Path) -> None:
    data = tmp_path / "data.nt"
    leaves = "".join(f'<urn:s> <{sparql_updates.UB}{name}> "{name}" .\n' for name in sparql_updates.LEAVES)
    data.write_text(leaves + f"<urn:s> <{sparql_updates.UB}worksFor> <urn:o> .\n")
    counts = {"one by one": sparql_updates.SINGLE, "INSERT DATA": sparql_updates.DATA}
    counts |= {"10,000 triples": 1, "eight properties": 8, "all triples": 9}
    seconds, count = sparql_updates.measured(system, None, job, [data])
    assert (count, seconds > 0) == (counts[job], True)


def test_queries_with_limit_are_measured() -> None:
    """Each has some row on these triples, except the one for a rare filter."""
    reasoner = Reasoner()
    reasoner.load(
        b"""@prefix ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> . @prefix : <urn:> .
        :s a ub:Student, ub:GraduateStudent ; ub:advisor :a ; ub:takesCourse :c ; ub:emailAddress "s7@e" ; ub:name "S" .
        :s ub:memberOf :d . :t a ub:Student . :c a ub:Course .
        :a a ub:FullProfessor ; ub:worksFor :d ; ub:teacherOf :c . :d ub:subOrganizationOf :u ."""
    )
    found = list(sparql_limits.measured(reasoner, 1))
    assert [each.name for each in found] == list(sparql_limits.QUERIES)
    assert all(each.most_rows > 0 and each.seconds >= 0 for each in found)
    for name, pattern in sparql_limits.QUERIES.items():
        answers = reasoner.query(f"SELECT * {{ {pattern} }} LIMIT 10", prefixes=sparql_limits.PREFIXES)
        assert bool(answers) == (name != "rare filter"), name


def test_all_ways_to_look_something_up_have_the_same_answers() -> None:
    reasoner = Reasoner()
    reasoner.load(
        b"""@prefix ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> . @prefix : <urn:> .
        :s a ub:GraduateStudent ; ub:advisor :a ; ub:name "S" ; ub:teachingAssistantOf :c .
        :t a ub:GraduateStudent ; ub:advisor :a . :a ub:worksFor :d ."""
    )
    found = list(lookups.measured(reasoner, ["urn:s", "urn:t", "urn:none"], rounds=1))
    assert {each.query for each in found} == set(lookups.QUERIES)
    assert {each.way for each in found} >= {"bindings", "evaluated", "in the text", "graph.query"}
    assert {each.query: each.answers for each in found} == {
        "what is known": 6,
        "classes": 2,
        "a value": 1,
        "two steps": 2,
        "who else": 4,
        "whether": 1,
    }
    assert len(list(lookups.table(iter(found)))) == len(found) + len(lookups.QUERIES)
    found[1] = lookups.Measured(found[1].query, "evaluated", 1.0, 7)
    with pytest.raises(AssertionError, match="evaluated has 7 answers"):
        list(lookups.table(iter(found)))


def test_large_results_are_measured() -> None:
    memory = sparql_results.memory_of_pairs(90_000)
    assert (memory.rows, memory.ids) == (90_000, 2 * 4 * 90_000) and memory.growth >= 0
    needed("pyarrow")
    assert len(sparql_results.seconds_to_arrow(100, 2)) == 2


def test_unseen_texts_differ_in_a_constant_or_a_comment() -> None:
    for query in all_queries():
        texts = list(unseen.variants(query.text))
        assert texts[0].startswith(query.text) and len(set(texts)) == len(texts)
        for text in texts:
            assert read_common_query(text, {}) is not None, text
    changed = list(unseen.variants("SELECT ?x { ?x <urn:p1> <http://www.University0.edu/Course12> } LIMIT 3"))
    assert changed[2] == "SELECT ?x { ?x <urn:p1> <http://www.University0.edu/Course12> } LIMIT 5"


def test_unseen_texts_are_measured(small: DataSet) -> None:
    queries = [query for query in all_queries() if query.name in ("hub-join", "path-from-product")]
    rows = list(unseen.measured(small, queries))
    assert [row.query for row in rows] == queries
    assert all(min(row.read, row.new_shape, row.new_constants, row.peer) > 0 for row in rows)


@pytest.mark.parametrize("benchmark", [lookups, sparql_limits, sparql_results, unseen, values])
def test_benchmarks_with_arguments_have_help(benchmark: ModuleType) -> None:
    shown = CliRunner().invoke(benchmark.main, ["--help"])
    assert shown.exit_code == 0 and "Usage: " in shown.output
    assert CliRunner().invoke(benchmark.main, ["none"]).exit_code == 2
