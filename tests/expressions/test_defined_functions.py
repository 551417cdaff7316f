"""Functions and aggregates that a program registers: in Python, one row or a column at a time."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from rdflib import URIRef

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ReasonerError, ReasonerWarning, RuleSyntaxError, ValueTooLargeError
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_program, format_term
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal, literal


def texts(reasoner: Reasoner, predicate: str) -> list[str]:
    """The facts of a predicate as text."""
    return sorted(" ".join(map(format_term, row)) for row in reasoner.facts(predicate))


def test_a_function_is_called_once_for_each_combination_of_arguments() -> None:
    reasoner, calls = Reasoner(), []

    @reasoner.function("initials", "string", returns="string")
    def initials(name: str) -> str:
        calls.append(name)
        return "".join(word[0] for word in name.split())

    reasoner.add_program("short(?n, initials(?n)) :- name(?n, _) . known(?n) :- name(?n, ?i), initials(?n) = ?i .")
    reasoner.add_facts(
        "name", [(literal("Ann Lee"), literal("AL")), (literal("Bob"), literal("X")), (literal("Bob"), literal("B"))]
    )
    assert texts(reasoner, "short") == ['"Ann Lee" "AL"', '"Bob" "B"']
    assert texts(reasoner, "known") == ['"Ann Lee"', '"Bob"']
    first = calls.count("Bob")
    reasoner.remove_facts("name", [(literal("Bob"), literal("X"))])
    reasoner.add_facts("name", [(literal("Bob"), literal("Y"))])
    assert texts(reasoner, "short") == ['"Ann Lee" "AL"', '"Bob" "B"']
    assert calls.count("Bob") == first + 1  # for the pair with "Y" in the other rule
    assert initials("a b") == "ab"


def test_a_function_of_columns_is_called_for_many_rows_at_once() -> None:
    reasoner, sizes = Reasoner(), []

    @reasoner.function("plus", "integer", "integer", returns="integer", batch=True)
    def plus(first: list[int], second: list[int]) -> list[int | None]:
        sizes.append(len(first))
        return [None if a + b == 3 else a + b for a, b in zip(first, second, strict=True)]

    reasoner.add_program("sum(?a, ?b, plus(?a, ?b)) :- n(?a), n(?b) . more(plus(?a, 1)) :- n(?a) .")
    reasoner.add_facts("n", [(literal(number),) for number in range(20)])
    assert len(texts(reasoner, "sum")) == 400 - 4
    assert len(texts(reasoner, "more")) == 19
    assert sum(sizes) == 420
    assert len(sizes) < 20


def test_lists_are_several_rows() -> None:
    reasoner = Reasoner()

    @reasoner.function("neighbours", "integer", returns="list<tuple<integer, string>>")
    def neighbours(number: int) -> list[tuple[int, str]]:
        return [(number - 1, "below"), (number + 1, "above")]

    reasoner.add_program("next(?n, ?m, ?w) :- n(?n), (?m, ?w) IN neighbours(?n) . n(5) .")
    assert texts(reasoner, "next") == ['5 4 "below"', '5 6 "above"']


VALUES: list[tuple[str, Any, str]] = [
    ("integer", 7, "7"),
    ("decimal", Decimal("1.5"), "1.5"),
    ("double", 1.5, "1.5E0"),
    ("boolean", True, "true"),
    ("string", "a", '"a"'),
    ("iri", IRI("http://example.org/a"), "<http://example.org/a>"),
    ("list<integer>", [1, 2], "LIST(1, 2)"),
    ("set<integer>", frozenset([2, 1]), "SET(1, 2)"),
    ("map<string, integer>", {"k": 1}, 'MAP("k", 1)'),
    ("tuple<integer, string>", (1, "x"), 'TUPLE(1, "x")'),
]


@pytest.mark.parametrize(("type_", "value", "text"), VALUES)
def test_values_have_the_types_that_are_declared(type_: str, value: Any, text: str) -> None:
    reasoner, given = Reasoner(), []

    @reasoner.function("same", type_, returns=type_)
    def same(argument: Any) -> Any:
        given.append(argument)
        return argument

    reasoner.add_program(f'p(same(?x)) :- q(?x) . q({text}) . q("neither"@en) .')
    assert texts(reasoner, "p") == [text]
    assert given == [value]
    assert type(given[0]) is type(value)


@pytest.mark.parametrize(("value", "text"), [(1, "1.0E0"), (0.1, "1.0E-1"), (16777217.0, "1.6777216E7"), (1e39, "INF")])
def test_floats_have_single_precision(value: float, text: str) -> None:
    reasoner = Reasoner()
    reasoner.function("number", returns="float")(lambda: value)
    reasoner.add_program("p(number()) .")
    assert texts(reasoner, "p") == [f'"{text}"^^xsd:float']


@pytest.mark.parametrize("value", ["2.50", "-0.00", "1E+3", "-0.1"])
def test_decimals_are_canonical(value: str) -> None:
    """Facts with them are joined with those that rules compute, which is by term."""
    reasoner = Reasoner()
    reasoner.function("number", returns="decimal")(lambda: Decimal(value))
    reasoner.function("numbers", returns="list<decimal>")(lambda: [Decimal(value)])
    reasoner.add_program(f"""
        computed({Decimal(value):f} * 1.0) .
        p("one") :- computed(?x), ?x = number(), SAMETERM(?x, number()) .
        p("some") :- ?x IN numbers(), computed(?x) .
    """)
    assert texts(reasoner, "p") == ['"one"', '"some"']


def test_dates_are_those_of_python() -> None:
    reasoner = Reasoner()

    @reasoner.function("later", "dateTime", "integer", returns="dateTime")
    def later(start: datetime, minutes: int) -> datetime:
        return start + timedelta(minutes=minutes)

    @reasoner.function("first", "date", returns="date")
    def first(day: date | Literal) -> date | Literal:
        return day if isinstance(day, Literal) else day.replace(day=1)

    texts = ["2026-01-31T23:59:00", "2026-01-01T00:00:00.25Z", "2026-01-01T00:00:00+02:00"]
    rows = [f'at("{text}"^^xsd:dateTime) .' for text in texts]
    days = [f'on("{text}"^^xsd:date) .' for text in ("2026-05-17", "2026-05-17Z")]
    reasoner.add_program("p(later(?t, 1)) :- at(?t) . q(first(?d)) :- on(?d) ." + " ".join([*rows, *days]))
    assert {row[0].lexical for row in reasoner.facts("p")} == {
        "2026-02-01T00:00:00",
        "2026-01-01T00:01:00.25Z",
        "2026-01-01T00:01:00+02:00",
    }
    assert {row[0].lexical for row in reasoner.facts("q")} == {"2026-05-01", "2026-05-17Z"}


def test_programs_with_functions_are_pickled() -> None:
    program = parse(
        """
        type Shape = Dot() | Circle(r: integer) .
        function down(?n: integer): list<integer> = IF(?n <= 0, LIST(), APPEND(down(?n - 1), ?n)) .
        function radius(?s: Shape): integer = match ?s { Circle(?r) -> ?r ; _ -> 0 } .
        p(down(?n), radius(Circle(?n))) :- q(?n) . q(2) .
        """
    )
    expected = list(Reasoner(program).facts("p"))
    copied = pickle.loads(pickle.dumps(program))
    assert copied == program
    assert list(Reasoner(copied).facts("p")) == expected != []


def test_exceptions_and_wrong_results_are_errors_of_the_expression() -> None:
    reasoner = Reasoner()

    @reasoner.function("inverse", "integer", returns="integer")
    def inverse(number: int) -> Any:
        return 1 // number if number < 3 else "three"

    reasoner.add_program("p(?x, inverse(?x)) :- n(?x) . q(?x, COALESCE(inverse(?x), 9)) :- n(?x) . n(0) . n(1) . n(3) .")
    with pytest.warns(ReasonerWarning) as caught:
        assert texts(reasoner, "p") == ["1 1"]
    assert texts(reasoner, "q") == ["0 9", "1 1", "3 9"]
    said = " ".join(str(warning.message) for warning in caught)
    assert "the function inverse has no result for some arguments" in said
    assert "ZeroDivisionError" in said
    assert "'three', which is not an integer" in said


@pytest.mark.parametrize(
    "result",
    [
        Decimal("NaN"),
        Decimal("Infinity"),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=20))),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(seconds=5))),
        "half of a pair: \ud800",
        ["in a list: \udfff"],
        IRI("not an IRI"),
        BlankNode("not a label"),
        Literal("a", "not a datatype"),
        Literal("a", RDF.langString.value, "en-a"),
    ],
)
def test_results_that_no_document_could_have_are_errors(result: Any) -> None:
    reasoner = Reasoner()
    reasoner.function("made", "integer")(lambda number: result if number else Literal("a", RDF.langString.value, "EN"))
    reasoner.add_program("p(made(?x)) :- n(?x) . n(0) . n(1) .")
    with pytest.warns(ReasonerWarning, match=r"it returned .*, which is not a term"):
        assert list(reasoner.facts("p")) == [(Literal("a", RDF.langString.value, "en"),)]


def test_a_batch_of_another_size_has_no_results() -> None:
    reasoner = Reasoner()
    reasoner.function("short", "integer", batch=True)(lambda numbers: numbers[1:])
    reasoner.add_program("p(short(?x)) :- n(?x) . n(1) . n(2) .")
    with pytest.warns(ReasonerWarning, match="it returned 1 for 2 rows"):
        assert texts(reasoner, "p") == []


@pytest.mark.parametrize(
    ("returned", "returns", "shown"),
    [
        (lambda numbers: np.array(numbers) * 2, "integer", ["2", "4"]),
        (lambda numbers: np.array(numbers, np.float32) / 2, "double", ["5.0E-1", "1.0E0"]),
        (lambda numbers: np.array(numbers) > 1, "boolean", ["false", "true"]),
        (lambda numbers: (number + 1 for number in numbers), "integer", ["2", "3"]),
    ],
)
def test_arrays_and_generators_as_results_of_batches(returned: Callable[..., Any], returns: str, shown: list[str]) -> None:
    reasoner = Reasoner()
    reasoner.function("made", "integer", returns=returns, batch=True)(returned)
    reasoner.add_program("p(?x, made(?x)) :- n(?x) . n(1) . n(2) .")
    assert [value.lexical for _, value in sorted(reasoner.facts("p"), key=str)] == shown  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda numbers: 5, "it returned nothing for 2 rows"),
        (lambda numbers: (1 // (number - 2) for number in numbers), "ZeroDivisionError"),
    ],
)
def test_batches_without_results_are_warnings(returned: Callable[..., Any], message: str) -> None:
    reasoner = Reasoner()
    reasoner.function("made", "integer", batch=True)(returned)
    reasoner.add_program("p(made(?x)) :- n(?x) . n(1) . n(2) .")
    with pytest.warns(ReasonerWarning, match=message):
        assert texts(reasoner, "p") == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_aggregates_follow_their_groups(strategy: str) -> None:
    reasoner = Reasoner(maintenance=strategy)  # type: ignore[arg-type]
    reasoner.aggregate("median", "integer", returns="integer")(lambda values: values[len(values) // 2])
    reasoner.aggregate("weighted", "integer", "integer", returns="integer")(
        lambda values, weights: sum(a * b for a, b in zip(values, weights, strict=True))
    )
    reasoner.add_program("""
        middle(?k, ?m) :- AGGREGATE(v(?k, ?x) ON ?k BIND median(?x) AS ?m) .
        total(?s) :- AGGREGATE(v(_, ?x), w(?x, ?w) BIND weighted(?x, ?w) AS ?s) .
    """)
    reasoner.add_facts("v", [(literal("a"), literal(number)) for number in (1, 5, 9)])
    reasoner.add_facts("w", [(literal(1), literal(10)), (literal(9), literal(1))])
    assert texts(reasoner, "middle") == ['"a" 5']
    assert texts(reasoner, "total") == ["19"]
    reasoner.remove_facts("v", [(literal("a"), literal(9))])
    assert texts(reasoner, "middle") == ['"a" 5']
    assert texts(reasoner, "total") == ["10"]
    reasoner.remove_facts("v", [(literal("a"), literal(5)), (literal("a"), literal(1))])
    assert texts(reasoner, "middle") == []
    reasoner.add_facts("v", [(literal("b"), literal("no number"))])
    assert texts(reasoner, "middle") == []


def test_names_are_refused() -> None:
    reasoner = Reasoner()
    for name in ("strlen", "IF", "no name", "count", "union", None, ["f"]):
        with pytest.raises(ReasonerError, match="cannot be the name of a function"):
            reasoner.function(name)(len)  # type: ignore[arg-type]
        with pytest.raises(ReasonerError, match="cannot be the name of a function"):
            reasoner.aggregate(name)(len)  # type: ignore[arg-type]
    for decorator in (reasoner.function, reasoner.aggregate):
        with pytest.raises(ReasonerError, match="<built-in function len> cannot be the name of a function"):
            decorator(len)  # type: ignore[arg-type]  # @reasoner.function without a name
    with pytest.raises(ReasonerError, match="unknown type strng, did you mean 'string'"):
        reasoner.function("f", "strng")(len)
    with pytest.raises(ReasonerError, match="5 is not the name of a type"):
        reasoner.function("f", 5)(len)  # type: ignore[arg-type]
    with pytest.raises(ReasonerError, match=r"\['string'\] is not the name of a type"):
        reasoner.aggregate("f", returns=["string"])(len)  # type: ignore[arg-type]
    for register in (reasoner.function, reasoner.aggregate):
        with pytest.raises(ReasonerError, match="f is not a function"):
            register("f", "string")(7)  # type: ignore[type-var]
    with pytest.raises(RuleSyntaxError, match="unknown function initials"):
        reasoner.add_program("p(initials(?x)) :- q(?x) .")


def test_functions_of_a_program_are_known_to_later_texts() -> None:
    reasoner = Reasoner("type Result = Ok(value: integer) . function twice(?x: integer): integer = ?x * 2 . n(4) .")
    reasoner.add_program("p(twice(?x), Ok(?x)) :- n(?x) .")
    assert texts(reasoner, "p") == ['8 RECORD("Ok", 4)']
    reasoner.add_program("function twice(?x: integer): integer = ?x * 2 .")
    for text, name in (("function twice(?x: integer): integer = ?x .", "function twice"), ("type Result = No() .", "type Result")):
        with pytest.raises(RuleSyntaxError, match=f"another {name} is defined already"):
            reasoner.add_program(text)
    assert parse(format_program(reasoner.program)) == reasoner.program


def test_a_reasoner_without_the_facts_knows_the_functions() -> None:
    reasoner = Reasoner()
    reasoner.function("half", "integer")(lambda number: number // 2)
    reasoner.aggregate("first", "integer")(lambda numbers: numbers[0])
    reasoner.add_program("p(half(?x)) :- n(?x) .")
    other = reasoner.without_facts()
    other.add_program("q(?m) :- AGGREGATE(p(?x) BIND first(?x) AS ?m) . r(half(?x)) :- q(?x) . n(8) . n(9) . n(20) .")
    assert (texts(other, "p"), texts(other, "q"), texts(other, "r")) == (["10", "4"], ["4"], ["2"])


def test_recursion_without_end_is_an_error_that_names_the_function() -> None:
    reasoner = Reasoner("function up(?n: integer): integer = up(?n + 1) . p(up(?x)) :- n(?x) .")
    with pytest.raises(ValueTooLargeError, match="calls of the function up are nested more than 100 deep"):
        reasoner.add_facts("n", [(literal(1),)])
        list(reasoner.facts("p"))


def test_arguments_of_other_types_are_errors() -> None:
    reasoner = Reasoner("function twice(?x: integer): integer = ?x * 2 . p(twice(?x)) :- n(?x) . n(1) . n(1.5) . n(2) .")
    assert texts(reasoner, "p") == ["2", "4"]


def test_nothing_warns_without_a_reason() -> None:
    reasoner = Reasoner()
    reasoner.function("half", "integer")(lambda number: None if number % 2 else number // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reasoner.add_program("p(half(?x)) :- n(?x) . n(1) . n(2) .")
        assert texts(reasoner, "p") == ["1"]


def test_the_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.flat_maps import main

    monkeypatch.setenv("PATH", "")  # without Soufflé, whose programs take long to compile
    done = CliRunner().invoke(main, ["40"])
    peers, *lines = done.output.splitlines()
    assert (done.exit_code, len(lines)) == (0, 8), done.output
    assert peers == "Soufflé is left out: souffle is not on the PATH (https://souffle-lang.github.io)"


def test_a_function_cannot_change_the_reasoner_that_calls_it() -> None:
    """Nor ask it for consequences. Another one with its program guards itself; other reasoners may be used."""
    reasoner, other = Reasoner(), Reasoner("p(1) . p(2) .")
    subjects: list[Reasoner] = []

    @reasoner.function("changes", "integer", returns="integer")
    def changes(number: int) -> int:
        subjects[0].add_facts("q", [(literal(99),)])
        return number

    @reasoner.function("asks", "integer", returns="integer")
    def asks(number: int) -> int:
        return number + len(list(subjects[0].facts("ok")))

    @reasoner.function("counts", "integer", returns="integer")
    def counts(number: int) -> int:
        return number + len(list(other.facts("p")))

    reasoner.add_program("a(changes(?x)) :- q(?x) . b(asks(?x)) :- q(?x) . c(counts(?x)) :- q(?x) . ok(?x) :- q(?x) .")
    for one in (reasoner, reasoner.without_facts()):
        subjects[:] = [one]
        with pytest.warns(ReasonerWarning, match="changes has no result .* must be pure"):
            one.add_facts("q", [(literal(1),), (literal(2),)])
            one.materialise()
        assert [texts(one, name) for name in ("q", "ok", "a", "b", "c")] == [["1", "2"], ["1", "2"], [], [], ["3", "4"]]
        one.remove_facts("q", [(literal(2),)])
        assert texts(one, "c") == ["3"]


@pytest.mark.parametrize("place", ["change", "begin", "block", "commit", "rollback", "graph"])
def test_a_function_cannot_undo_the_operation_that_calls_it(place: str) -> None:
    """What it was called for is not taken for an interrupted operation."""
    reasoner = Reasoner(on_inconsistency="raise")
    graph = graph_of(reasoner)
    outer: list[Transaction] = []
    calls: list[str] = []

    def block() -> None:
        with reasoner.transaction():
            pass

    actions: dict[str, Callable[[], object]] = {
        "change": lambda: reasoner.add_facts("other", [(literal(1),)]),
        "begin": lambda: reasoner.transaction().begin(),
        "block": block,
        "commit": lambda: outer[0].commit(),
        "rollback": lambda: outer[0].rollback(),
        "graph": lambda: graph.add((URIRef("urn:a"),) * 3),
    }

    @reasoner.function("acts", "integer", returns="integer")
    def acts(number: int) -> int:
        calls.append(place)
        actions[place]()
        return number

    reasoner.add_program("a(acts(?x)) :- q(?x) . ok(?x) :- q(?x) .")
    with pytest.warns(ReasonerWarning, match="acts has no result .* must be pure"):
        if place in ("commit", "rollback"):
            with reasoner.transaction() as transaction:
                outer.append(transaction)
                reasoner.add_facts("q", [(literal(1),)])
                reasoner.materialise()
        else:
            reasoner.add_facts("q", [(literal(1),)])
    assert calls
    assert [texts(reasoner, name) for name in ("q", "ok", "a", "other")] == [["1"], ["1"], [], []]
    assert len(graph) == 0
    assert reasoner.open_transaction is None
    reasoner.remove_facts("q", [(literal(1),)])
    assert texts(reasoner, "ok") == []
