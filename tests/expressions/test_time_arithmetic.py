"""Arithmetic with dates, times and durations, next to what pyoxigraph, rdflib and Python's datetime say.

A row is ``expression => result``, as in `test_functions`, with short names of datatypes: ``days`` is xsd:dayTimeDuration, and
``months`` xsd:yearMonthDuration. Most rows are examples of XPath and XQuery Functions and Operators 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from math import floor, trunc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.functions.numbers import DIGITS
from kg_reasoner.expressions.moments import date_of
from kg_reasoner.expressions.values import COMPARISONS, value_of
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.terms import XSD, Literal, Term, literal
from tests.expressions.expression_texts import expression
from tests.expressions.test_functions import Row, expect_result, of_rdflib, ours
from tests.helpers.effort import thinned

DAY_TIME, YEAR_MONTH, DATE, DATE_TIME = (XSD[name].value for name in ("dayTimeDuration", "yearMonthDuration", "date", "dateTime"))

TABLES = {
    "moments": r"""
        "2000-10-30T06:12:00-05:00"^^dateTime - "1999-11-28T09:00:00Z"^^dateTime => "P337DT2H12M"^^days # rdflib: xsd:duration
        "2000-10-30"^^date - "1999-11-28"^^date => "P337D"^^days # rdflib: xsd:duration
        "2000-10-30+05:00"^^date - "1999-11-28Z"^^date => "P336DT19H"^^days # rdflib: P337D
        "2000-10-15-05:00"^^date - "2000-10-10+02:00"^^date => "P5DT7H"^^days # rdflib: P5D
        "2000-10-30"^^date - "2000-10-30"^^date => "PT0S"^^days # rdflib: P0D
        "1999-11-28"^^date - "2000-10-30"^^date => "-P337D"^^days # rdflib: xsd:duration
        "2000-10-30T06:12:00.000000001"^^dateTime - "2000-10-30T06:12:00"^^dateTime => "PT0.000000001S"^^days # rdflib: P0D
        "11:12:00Z"^^time - "04:00:00-05:00"^^time => "PT2H12M"^^days # rdflib: an error
        "11:00:00-05:00"^^time - "21:30:00+05:30"^^time => "PT0S"^^days # rdflib: an error
        "17:00:00-06:00"^^time - "08:00:00+09:00"^^time => "P1D"^^days # rdflib: an error
        "24:00:00"^^time - "23:59:59"^^time => "-PT23H59M59S"^^days # rdflib: an error
        "2000-10-30"^^date - "2000-10-29T00:00:00"^^dateTime => error
        "2000-10-30"^^date + "2000-10-29"^^date => error
        "12020-01-01"^^date - "-0001-01-01"^^date => "P4390580D"^^days # rdflib: an error
        "2024-01-01"^^date + 1 => error
        "2024-01-01"^^date * 2 => error
        "2024-01-01"^^date + "P1D" => error
    """,
    "moments and durations": r"""
        "2000-10-30T11:12:00"^^dateTime + "P1Y2M"^^months => "2001-12-30T11:12:00"^^dateTime
        "2000-10-30"^^date + "P1Y2M"^^months => "2001-12-30"^^date # oxigraph: an error
        "2000-10-30T11:12:00"^^dateTime + "P3DT1H15M"^^days => "2000-11-02T12:27:00"^^dateTime
        "2004-10-30Z"^^date + "P2DT2H30M0S"^^days => "2004-11-01Z"^^date
        "P2DT2H30M0S"^^days + "2004-10-30Z"^^date => "2004-11-01Z"^^date # rdflib: an error
        "11:12:00"^^time + "P3DT1H15M"^^days => "12:27:00"^^time # rdflib: an error
        "23:12:00+03:00"^^time + "P1DT3H15M"^^days => "02:27:00+03:00"^^time # oxigraph: an error; rdflib: an error
        "08:20:00-05:00"^^time - "P23DT10H10M"^^days => "22:10:00-05:00"^^time # rdflib: an error
        "11:12:00"^^time + "P1M"^^months => error
        "2000-10-30T11:12:00"^^dateTime - "P1Y2M"^^months => "1999-08-30T11:12:00"^^dateTime
        "2000-02-29Z"^^date - "P1Y"^^months => "1999-02-28Z"^^date
        "2000-10-31-05:00"^^date - "P1Y1M"^^months => "1999-09-30-05:00"^^date # rdflib: 1999-09-30
        "2000-10-30T11:12:00"^^dateTime - "P3DT1H15M"^^days => "2000-10-27T09:57:00"^^dateTime
        "2000-10-30"^^date - "P3DT1H15M"^^days => "2000-10-26"^^date # rdflib: 2000-10-27
        "2024-01-31"^^date + "P1M"^^months => "2024-02-29"^^date # oxigraph: an error
        "2024-01-31"^^date + "P1M1D"^^duration => "2024-03-01"^^date # rdflib: an error
        "2024-01-31T12:00:00"^^dateTime - "P11MT12H"^^duration => "2023-02-28T00:00:00"^^dateTime
        "0000-12-31T23:00:00Z"^^dateTime + "PT1H"^^days => "0001-01-01T00:00:00Z"^^dateTime # oxigraph: an error; rdflib: an error
        "0001-01-01"^^date - "P1D"^^days => "0000-12-31"^^date # rdflib: an error
        "0000-01-01"^^date - "P1M"^^months => "-0001-12-01"^^date # rdflib: an error
        "2024-01-01T00:00:00Z"^^dateTimeStamp + "P1D"^^days => "2024-01-02T00:00:00Z"^^dateTime # rdflib: an error
        "2024-01-01T00:00:00"^^dateTime + "PT0.0000001S"^^days => "2024-01-01T00:00:00.0000001"^^dateTime # oxigraph, rdflib: none
        "2024-02-30"^^date + "P1D"^^days => error
        "2024-01-01"^^date + "1D"^^days => error
        ABS("2024-01-03"^^date - "2024-01-01"^^date) => error
        ("2024-01-03"^^date - "2024-01-01"^^date) / "P1D"^^days + 1 => "3"^^decimal # oxigraph: an error; rdflib: an error
        "2024-01-02T23:30:00Z"^^dateTime - TIMEZONE("2024-01-01Z"^^date) => "2024-01-02T23:30:00Z"^^dateTime # rdflib: an error
    """,
    "durations": r"""
        "P2Y11M"^^months + "P3Y3M"^^months => "P6Y2M"^^months # rdflib: an error
        "P2Y11M"^^months - "P3Y3M"^^months => "-P4M"^^months # rdflib: an error
        "P2Y11M"^^months - "P2Y11M"^^months => "P0M"^^months # rdflib: an error
        "P2Y11M"^^months * 2.3 => "P6Y9M"^^months # oxigraph: an error; rdflib: an error
        2.3 * "P2Y11M"^^months => "P6Y9M"^^months # oxigraph: an error; rdflib: an error
        "-P1M"^^months * 0.5 => "P0M"^^months # oxigraph: an error; rdflib: an error
        "P2Y11M"^^months / 1.5 => "P1Y11M"^^months # oxigraph: an error; rdflib: an error
        "P3Y4M"^^months / "-P1Y4M"^^months => -2.5 # oxigraph: an error; rdflib: an error
        "P3Y4M"^^months / "P1M"^^months => "40"^^decimal # oxigraph: an error; rdflib: an error
        "P2DT12H5M"^^days + "P5DT12H"^^days => "P8DT5M"^^days # rdflib: an error
        "P2DT12H"^^days - "P1DT10H30M"^^days => "P1DT1H30M"^^days # rdflib: an error
        "PT2H10M"^^days * 2.1 => "PT4H33M"^^days # oxigraph: an error; rdflib: an error
        "PT1S"^^days * 0.1e0 => "PT0.1S"^^days # oxigraph: an error; rdflib: an error
        "PT1H"^^days * "INF"^^double => error
        "PT1H"^^days * "NaN"^^double => error
        "P1DT2H30M10.5S"^^days / 1.5 => "PT17H40M7S"^^days # oxigraph: an error; rdflib: an error
        "PT1S"^^days / 3 => "PT0.333333333333333333S"^^days # oxigraph: an error; rdflib: an error
        "-PT2S"^^days / 3 => "-PT0.666666666666666666S"^^days # oxigraph: an error; rdflib: an error
        "PT1H"^^days / 0 => error
        "PT1H"^^days / 0e0 => error
        "PT1H"^^days / "-INF"^^double => "PT0S"^^days # oxigraph: an error; rdflib: an error
        "P2DT53M11S"^^days / "P1DT10H"^^days => 1.437834967320261437 # oxigraph: an error; rdflib: an error
        "P2DT53M11S"^^days / "PT1S"^^days => "175991"^^decimal # oxigraph: an error; rdflib: an error
        "PT1H"^^days / "PT0S"^^days => error
        "PT1H"^^days / "P1M"^^months => error
        "P1Y"^^months + "P1D"^^days => "P1Y1D"^^duration # rdflib: an error
        "P1Y"^^months - "P1D"^^days => error
        "P1D"^^duration + "PT12H"^^days => "P1DT12H"^^duration # rdflib: an error
        "P3D"^^duration * 2 => "P6D"^^duration # oxigraph: an error; rdflib: an error
        "P1MT1S"^^duration * 2 => error
        "P1MT1S"^^duration / 2 => error
        1 / "PT1H"^^days => error
        1 + "PT1H"^^days => error
        "PT1H"^^days * "PT1H"^^days => error
        -("PT1H"^^days) => error # oxigraph: -PT1H
    """,
    "order and equality": r"""
        "P1Y"^^months = "P12M"^^months => true
        "PT24H"^^days = "P1D"^^days => true
        "P1Y"^^months = "P365D"^^days => false
        "P0M"^^months = "PT0S"^^days => true # rdflib: false
        "P2Y24DT8H990M"^^duration = "P24M24DT24H30M"^^duration => true
        "P1Y"^^months < "P13M"^^months => true # rdflib: an error
        "PT59M"^^days >= "PT1H"^^days => false # rdflib: an error
        "PT3600S"^^days <= "PT1H"^^days => true # rdflib: an error
        "P1M"^^months < "P40D"^^days => error # oxigraph: true
        "P1M1D"^^duration < "P1M2D"^^duration => error # oxigraph: true
        "12:00:00"^^time > "11:59:59.5"^^time => true # rdflib: an error
        "12:00:00+01:00"^^time = "11:00:00Z"^^time => true
    """,
}


def rows() -> Iterator[Row]:
    for table in TABLES.values():
        for line in filter(None, map(str.strip, table.splitlines())):
            text, _, remark = line.partition(" # ")
            call, result = re.sub(r"\^\^(\w+)", _datatype, text.strip()).split(" => ")
            yield Row(call, result, remark)


def _datatype(found: re.Match[str]) -> str:
    name = found[1]
    return f"^^xsd:{ {'days': 'dayTimeDuration', 'months': 'yearMonthDuration'}.get(name, name) }"


@pytest.mark.parametrize("row", thinned(rows(), 3), ids=lambda row: row.text)
@pytest.mark.sample(2)
def test_the_result_is_that_in_the_table(row: Row) -> None:
    expect_result(row)


def test_variables_have_the_results_of_constants() -> None:
    """Functions pass values on to each other, where constants are folded to terms."""

    def varied(part: Expression, row: list[Term]) -> Expression:
        if isinstance(part, Call):
            return Call(part.name, tuple(varied(argument, row) for argument in part.arguments))
        assert isinstance(part, Literal)
        row.append(part)
        return Variable(f"v{len(row)}")

    texts = [row.text for row in rows()]
    texts += (
        [f"ABS({text})" for text in texts] + [f"IF(true, {text}, ABS(1))" for text in texts] + [f"({text}) / 2" for text in texts]
    )
    for text in texts:
        row: list[Term] = []
        part = varied(expression(text), row)
        variables = [Variable(f"v{place + 1}") for place in range(len(row))]
        assert compile_expression(part, variables)(row) == ours(text), text


# ------------------------------------------------------------------------------------ beside Python's datetime and fractions


def calculated(operator: str, a: Term | None, b: Term | None) -> Literal | None:
    assert a is not None
    assert b is not None
    found = compile_expression(Call(operator, (a, b)), [])(())
    assert found is None or isinstance(found, Literal)
    return found


def moment_literal(moment: date) -> Literal:
    """The canonical literal of a date or datetime of Python."""
    if not isinstance(moment, datetime):
        return Literal(moment.isoformat(), DATE)
    text = re.sub(r"(\.\d*?)0+(?=[+-]|$)", r"\1", moment.isoformat()).replace(".+", "+").replace(".-", "-").rstrip(".")
    return Literal(re.sub(r"\+00:00$", "Z", text), DATE_TIME)


def span_literal(span: timedelta) -> Literal:
    """A literal of a timedelta in seconds."""
    micros = span // timedelta(microseconds=1)
    return Literal(f"{'-' if micros < 0 else ''}PT{abs(micros) // 10**6}.{abs(micros) % 10**6:06}S", DAY_TIME)


def months_literal(months: int) -> Literal:
    return Literal(f"{'-' if months < 0 else ''}P{abs(months)}M", YEAR_MONTH)


def seconds_of(term: Literal | None) -> Fraction:
    """The seconds of a canonical xsd:dayTimeDuration, read by other means than ours."""
    assert term is not None
    assert term.datatype == DAY_TIME
    found = re.fullmatch(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?", term.lexical)
    assert found is not None
    days, hours, minutes, seconds = (Fraction(part or 0) for part in found.groups()[1:])
    assert hours < 24 and minutes < 60 and seconds < 60
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * (-1 if found[1] else 1)


zones = st.none() | st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=zones)
spans = st.timedeltas() | st.timedeltas(timedelta(days=-3), timedelta(days=3))
seconds = st.fractions(max_denominator=1).flatmap(
    lambda whole: st.sampled_from([0, 1, 5, 125]).map(lambda rest: whole + Fraction(rest, 1000))
)


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=moment.tzinfo or timezone.utc)


@given(moments, moments)
def test_differences_of_points_in_time(one: datetime, other: datetime) -> None:
    difference = calculated("-", moment_literal(one), moment_literal(other))
    assert seconds_of(difference) == Fraction((in_utc(one) - in_utc(other)) // timedelta(microseconds=1), 10**6)


@given(st.dates(), st.dates())
def test_differences_of_dates(one: date, other: date) -> None:
    assert seconds_of(calculated("-", moment_literal(one), moment_literal(other))) == 86400 * (one - other).days


@given(moments, spans)
def test_points_in_time_later_and_earlier(moment: datetime, span: timedelta) -> None:
    for operator, step in (("+", span), ("-", -span)):
        try:
            expected = moment.replace(tzinfo=None) + step
        except OverflowError:
            continue
        found = calculated(operator, moment_literal(moment), span_literal(span))
        assert found == moment_literal(expected.replace(tzinfo=moment.tzinfo))


@given(st.dates(), spans)
def test_dates_later(day: date, span: timedelta) -> None:
    try:
        expected = datetime(day.year, day.month, day.day) + span
    except OverflowError:
        return
    assert calculated("+", moment_literal(day), span_literal(span)) == moment_literal(expected.date())


@given(st.times(), spans)
def test_times_of_day_later(time: object, span: timedelta) -> None:
    text = Literal(str(time), XSD.time.value)
    expected = (datetime.combine(date(2000, 1, 1), time) + span % timedelta(days=1)).time()  # type: ignore[arg-type]
    found = calculated("+", text, span_literal(span))
    assert found is not None
    assert found.datatype == XSD.time.value
    assert value_of(found) == value_of(Literal(str(expected), XSD.time.value))


def shifted(day: date, months: int) -> date | None:
    """The same day of another month, or the last one before it that there is; None if Python has no such year."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for number in range(day.day, 0, -1):
        try:
            return date(year, month + 1, number)
        except ValueError:
            continue
    return None


@given(st.dates(), st.integers(-30_000, 30_000))
def test_months_later(day: date, months: int) -> None:
    expected = shifted(day, months)
    if expected is not None:
        assert calculated("+", moment_literal(day), months_literal(months)) == moment_literal(expected)
        assert calculated("-", moment_literal(day), months_literal(-months)) == moment_literal(expected)


@given(st.dates(date(401, 1, 1)), st.integers(-40, 40), st.integers(-800, 800), st.integers(-20_000, 20_000))
def test_the_calendar_repeats_after_400_years(day: date, eras: int, days: int, months: int) -> None:
    """So do years before 0 and after 9999, which Python has not."""

    def moved(term: Literal | None) -> Literal:
        assert term is not None
        year, rest = re.fullmatch(r"(-?\d+)(-\d\d-\d\d)", term.lexical).groups()  # type: ignore[union-attr]
        moved_year = int(year) + 400 * eras
        return Literal(f"{'-' if moved_year < 0 else ''}{abs(moved_year):04}{rest}", DATE)

    start = moment_literal(day)
    for step in (span_literal(timedelta(days=days)), months_literal(months)):
        assert calculated("+", moved(start), step) == moved(calculated("+", start, step))
    assert seconds_of(calculated("-", moved(start), start)) == eras * 146097 * 86400


@given(st.integers(-(10**7), 10**7))
def test_days_have_dates(days: int) -> None:
    year, month, day = date_of(days)
    cycles, ordinal = divmod(days + date(400, 3, 1).toordinal() - 1, 146097)
    expected = date.fromordinal(ordinal + 1)
    assert (year, month, day) == (expected.year + 400 * (cycles - 1), expected.month, expected.day)


exact = st.fractions(-(10**9), 10**9, max_denominator=1000).map(lambda number: Fraction(floor(number * 1000), 1000))


def of_seconds(number: Fraction) -> Literal:
    text = f"{abs(number) * 1000 // 1 // 1000}.{abs(number) * 1000 // 1 % 1000:03}"
    return Literal(f"{'-' if number < 0 else ''}PT{text}S", DAY_TIME)


@given(exact, exact, exact)
def test_durations_are_calculated_exactly(a: Fraction, b: Fraction, factor: Fraction) -> None:
    one, other = of_seconds(a), of_seconds(b)
    number = Literal(of_seconds(factor).lexical.replace("PT", "").rstrip("S"), XSD.decimal.value)
    assert seconds_of(calculated("+", one, other)) == a + b
    assert seconds_of(calculated("-", one, other)) == a - b
    assert seconds_of(calculated("*", one, number)) == seconds_of(calculated("*", number, one)) == a * factor
    for divisor, term in ((factor, number), (b, other)):
        found = calculated("/", one, term)
        if divisor == 0:
            assert found is None
        else:
            expected = Fraction(trunc(a / divisor * 10**18), 10**18)
            assert found is not None
            assert (seconds_of(found) if term is number else Fraction(found.lexical)) == expected


@given(exact, exact)
def test_durations_are_compared_exactly(a: Fraction, b: Fraction) -> None:
    for operator, holds in (("<", a < b), ("<=", a <= b), ("=", a == b), ("!=", a != b), (">", a > b), (">=", a >= b)):
        assert COMPARISONS[operator](of_seconds(a), of_seconds(b)) is holds


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), exact)
def test_months_are_calculated_with(a: int, b: int, factor: Fraction) -> None:
    def months_of(term: Literal | None) -> int:
        assert term is not None
        found = re.fullmatch(r"(-?)P(?:(\d+)Y)?(?:(\d+)M)?", term.lexical)
        assert found is not None
        return (int(found[2] or 0) * 12 + int(found[3] or 0)) * (-1 if found[1] else 1)

    number = Literal(of_seconds(factor).lexical.replace("PT", "").rstrip("S"), XSD.decimal.value)
    assert months_of(calculated("+", months_literal(a), months_literal(b))) == a + b
    assert months_of(calculated("-", months_literal(a), months_literal(b))) == a - b
    assert months_of(calculated("*", months_literal(a), number)) == floor(a * factor + Fraction(1, 2))
    if factor:
        assert months_of(calculated("/", months_literal(a), number)) == floor(a / factor + Fraction(1, 2))


@given(st.datetimes(), st.datetimes(), st.timedeltas(timedelta(days=-300), timedelta(days=300)))
def test_rdflib_has_the_same_points_in_time(one: datetime, other: datetime, span: timedelta) -> None:
    a, b, step = moment_literal(one), moment_literal(other), span_literal(span)
    for left, operator, right in ((a, "-", b), (a, "+", step), (a, "-", step)):
        found = of_rdflib(f'"{left.lexical}"^^<{left.datatype}> {operator} "{right.lexical}"^^<{right.datatype}>')
        if isinstance(found, Literal):  # an error in the years that Python has not
            expected = calculated(operator, left, right)
            assert expected is not None
            assert value_of(found) == value_of(expected)


def test_results_with_too_many_digits_are_errors() -> None:
    nines = "9" * (DIGITS - 10)
    long = Literal(f"P{nines}D", DAY_TIME)
    assert calculated("+", long, span_literal(timedelta(1))) == Literal(f"P1{'0' * (DIGITS - 10)}D", DAY_TIME)
    for operator, a, b in (
        ("*", long, literal(10**9)),
        ("*", Literal(f"PT0.{nines}S", DAY_TIME), Literal("0.12345678901234", XSD.decimal.value)),
        ("+", Literal(f"PT{'9' * 990}S", DAY_TIME), Literal(f"PT0.{'9' * 20}S", DAY_TIME)),
        ("+", Literal("2020-01-01", DATE), Literal(f"P{'9' * 998}Y", YEAR_MONTH)),
    ):
        with pytest.raises(ValueTooLargeError, match="1000 digits"):
            calculated(operator, a, b)


def test_results_with_many_digits_are_read_again() -> None:
    year = calculated("+", Literal("2020-01-01T00:00:00", DATE_TIME), Literal(f"P{'9' * 900}Y", YEAR_MONTH))
    assert year is not None
    tiny = Literal(f"PT0.{'0' * 600}1S", DAY_TIME)
    assert calculated("-", calculated("+", year, tiny), year) == tiny


def test_literals_with_too_many_digits_are_no_operands() -> None:
    for text in (f"P{'9' * 2000}D", f"PT0.{'1' * 2000}S"):
        assert calculated("+", Literal(text, DAY_TIME), Literal("P1D", DAY_TIME)) is None
    assert calculated("+", Literal(f"{'9' * 2000}-01-01", DATE), Literal("P1D", DAY_TIME)) is None
    assert calculated("*", Literal("P1D", DAY_TIME), literal(10**DIGITS)) is None
