"""Kernels that read, write and search the texts of literals do what is done with terms one by one."""

from __future__ import annotations

import struct
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner.expressions.functions.regex import matches
from kg_reasoner.program import Call, Variable
from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.queries.searching import ANYWHERE, AS_IT_IS, AT_END, AT_START, LOWER, UPPER
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.text_search import UNDECIDED, search_of
from kg_reasoner.storage.values.value_arithmetic import decimal_digits, integer_buffer, number_texts
from kg_reasoner.storage.values.value_columns import ValueCache, read_value
from kg_reasoner.terms import XSD, Literal, literal, term_text
from tests.helpers.effort import examples

TYPES = ("integer", "decimal", "date", "dateTime", "double", "int", "boolean", "integeR", "duration", "dates")
FORMS = (
    "", "5", "+5", "-0", "007", "1.50", ".5", "1.", ".", "1.2.3", "--1", "1e5", "5 ", "٣", "²", "true", "INF",
    "123456789012345", "1234567890123456", "9007199254740993", "0.000000000000001", "0.0000000000000001", "99999999999999.9",
    "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "-0044-03-15", "12345-01-01", "2024-13-01", "2024-00-10",
    "2024-01-00", "2024-01-31Z", "2024-01-31+01:00", "2024-01-31T23:59:59", "2024-01-31T24:00:00", "2024-01-31T23:59:60",
    "2024-01-31T23:59:59.5", "2024-01-31T23:59:59Z", "2024-01-31T23:59:59-05:00", "2024-1-31", "0001-01-01", "0001-03-01",
)  # fmt: skip
"""Lexical forms, valid for some of the datatypes."""


def bits(value: tuple[int, float, int]) -> tuple[int, bytes, int]:
    return value[0], struct.pack("d", value[1]), value[2]


def values_of(texts: list[str]) -> list[tuple[int, float, int]]:
    dictionary = Dictionary()
    column = ValueCache(dictionary).column(np.asarray(dictionary.encode_texts(texts)))
    return list(zip(column.kinds.tolist(), column.doubles.tolist(), column.scales.tolist(), strict=True))


def test_values_of_literals() -> None:
    texts = [f'"{form}"^^<{XSD[name].value}>' for form in FORMS for name in TYPES]
    texts += ['"x"', '"x"@en', '"5"^^<urn:integer>', '"@"^^<urn:x@y>', "<urn:x>", "_:b", '"\\n"', '"a\\"b"@en-GB']
    assert list(map(bits, values_of(texts))) == [bits(read_value(text)) for text in texts]


@settings(max_examples=examples(300))
@given(
    form=st.from_regex(r"[+-]?[0-9]{0,17}(\.[0-9]{0,17})?", fullmatch=True)
    | st.dates().map(str)
    | st.datetimes().map(lambda when: when.isoformat()[:19]),
    name=st.sampled_from(TYPES),
)
def test_values_of_random_literals(form: str, name: str) -> None:
    text = f'"{form}"^^<{XSD[name].value}>'
    assert list(map(bits, values_of([text]))) == [bits(read_value(text))]


def test_texts_of_numbers() -> None:
    random = Random(0)
    units = [
        0,
        5,
        -5,
        10**18,
        -(2**62),
        2**62,
        *(random.randrange(-(10**9), 10**18) // 10 ** random.randrange(18) for _ in range(500)),
    ]
    scales = [random.randrange(19) for _ in units]
    expected = [f'"{decimal_digits(unit, scale)}"^^<d>' for unit, scale in zip(units, scales, strict=True)]
    assert number_texts(np.array(units), np.array(scales, np.int8), "d") == expected


def test_texts_of_integers_in_a_buffer() -> None:
    for integers in ([], [0], [-5, 5, 0, 10**18, -(2**62), 2**62 - 1]):
        data, bounds = integer_buffer(np.array(integers, np.int64))
        texts = [data[start:end].decode() for start, end in pairwise(bounds.tolist())]
        assert texts == [term_text(literal(number)) for number in integers]
        assert Dictionary().encode_buffers(data, bounds).tolist() == list(range(len(integers)))


LETTERS = st.text(st.sampled_from('abAB.\\"\nſKé@^'), max_size=7)
TERMS = st.one_of(
    LETTERS.map(Literal),
    LETTERS.map(lambda text: Literal(text, language="en")),
    LETTERS.map(lambda text: Literal(text, "urn:t@x")),
)
WHERE = {"CONTAINS": (ANYWHERE, str.__contains__), "STRSTARTS": (AT_START, str.startswith), "STRENDS": (AT_END, str.endswith)}
CASES = {AS_IT_IS: str, LOWER: str.lower, UPPER: str.upper}


@settings(max_examples=examples(600))
@given(
    term=TERMS, wanted=LETTERS, name=st.sampled_from(sorted(WHERE)), case=st.sampled_from(sorted(CASES)), takes_any=st.booleans()
)
@example(term=Literal("KA"), wanted="ka", name="CONTAINS", case=LOWER, takes_any=False)
def test_a_kernel_finds_a_text_where_python_does(term: Literal, wanted: str, name: str, case: int, takes_any: bool) -> None:
    where, test = WHERE[name]
    dictionary = Dictionary()
    ids = np.asarray(dictionary.encode_texts([term_text(term)]))
    (found,) = dictionary.search(ids, wanted.encode(), where, case, takes_any=takes_any).tolist()
    is_text = takes_any or term.language is not None or term.datatype == XSD.string.value
    if found == UNDECIDED:
        assert is_text and ("\\" in term_text(term) or not term.lexical.isascii())
    else:
        assert found == (int(test(CASES[case](term.lexical), wanted)) if is_text else -1)


REGULAR = ("^a", "^a+b", "ab?", "a{0}b", "^ab*", "a|b", "^A", "a.b", "A b", "(a)b", "aſ", "^a$", "k", "s")


@pytest.mark.parametrize("flags", ["", "i"])
@pytest.mark.parametrize("pattern", REGULAR)
def test_what_regular_expressions_begin_with_excludes_nothing_else(pattern: str, flags: str) -> None:
    values = ["", "a", "b", "ab", "AB", "aab", "xab", "a b", "A b", "aſ", "K", "k", "ſ", "S", "a\nb", 'a"b', "b a", "axb"]
    call = Call("REGEX", (Variable("text"), Literal(pattern), Literal(flags)))
    dictionary = Dictionary()
    ids = np.asarray(dictionary.encode_texts([term_text(Literal(value)) for value in values]))
    search = search_of(call)
    assert search is not None
    for value, found in zip(values, search.truth(ids, dictionary).tolist(), strict=True):
        assert found in (UNDECIDED, int(matches(value, pattern, flags))), value


def test_kernels_have_names_of_their_own() -> None:
    def find() -> int:
        return 0

    with pytest.raises(ValueError, match="relations has a kernel find already"):
        kernel(find)
