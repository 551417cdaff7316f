"""The values of common literals, read from the dictionary's bytes: integers, decimals, dates, points in time, and strings.

Numbers are written, too, in their canonical form.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    COLON,
    DOT,
    LESS_THAN,
    MINUS,
    NEWLINE,
    NINE,
    PLUS,
    QUOTE,
    UNDERSCORE,
    UPPER_T,
    UPPER_Z,
    ZERO,
)
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.interning import same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import prefetch

# kinds of values, see `kg_reasoner.storage.values.value_columns`
UNSURE, INTEGER, DECIMAL, DATE_TIME, DATE, RESOURCE, STRING = 0, 1, 3, 5, 6, 7, 8

NAMES = b'"^^<http://www.w3.org/2001/XMLSchema#integer>decimal>dateTime>date>'
"""The text after a lexical form: its beginning, and the names of the datatypes."""
NAMESPACE_END, INTEGER_END, DECIMAL_END, DATE_TIME_END, DATE_END = 37, 45, 53, 62, 67
"""Where they end."""

MOST_DIGITS = 15
"""Numbers of more digits are not read here."""

LINE = 24
"""The most bytes of a number that is written, with a line break: 19 digits, a sign and a point."""

AHEAD = 16
"""The text of a literal is requested from memory this number of literals before it is read; its place, twice this number before."""


@kernel
def datatype_of(names: Bytes, texts: Bytes, place: int, end: int) -> int:
    """Return the kind of the literals of a datatype, which follows the lexical form at `place`; UNSURE for another one."""
    length = end - place - NAMESPACE_END
    if length < 5 or not same_bytes(texts, place, names, 0, NAMESPACE_END):
        return UNSURE
    place = place + NAMESPACE_END
    if length == 8 and same_bytes(texts, place, names, NAMESPACE_END, 8):
        return INTEGER
    if length == 8 and same_bytes(texts, place, names, INTEGER_END, 8):
        return DECIMAL
    if length == 9 and same_bytes(texts, place, names, DECIMAL_END, 9):
        return DATE_TIME
    if length == 5 and same_bytes(texts, place, names, DATE_TIME_END, 5):
        return DATE
    return UNSURE


@kernel
def two_digits(texts: Bytes, place: int) -> int:
    """Return a number of two digits, or -1."""
    tens = texts[place] - ZERO
    ones = texts[place + 1] - ZERO
    if tens < 0 or tens > 9 or ones < 0 or ones > 9:
        return -1
    return 10 * tens + ones


@kernel
def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1 March of year 0, or -1 if there is no such day, or the year is 0."""
    if year < 1 or month < 1 or month > 12 or day < 1:
        return -1
    last = 31
    if month == 4 or month == 6 or month == 9 or month == 11:
        last = 30
    if month == 2:
        last = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    if day > last:
        return -1
    if month < 3:
        year = year - 1
        month = month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 1


@kernel
def read_moment(texts: Bytes, place: int, end: int, kind: int) -> int:
    """Return the seconds of a date or a point in time, with four digits of the year, whole seconds, and no time zone but Z.

    Return -1 for others.
    """
    if texts[end - 1] == UPPER_Z:
        end = end - 1
    if end - place != (10 if kind == DATE else 19) or texts[place + 4] != MINUS or texts[place + 7] != MINUS:
        return -1
    century = two_digits(texts, place)
    year = two_digits(texts, place + 2)
    if century < 0 or year < 0:
        return -1
    days = days_of(100 * century + year, two_digits(texts, place + 5), two_digits(texts, place + 8))
    if days < 0 or kind == DATE:
        return 86400 * days if days >= 0 else -1
    if texts[place + 10] != UPPER_T or texts[place + 13] != COLON or texts[place + 16] != COLON:
        return -1
    hour = two_digits(texts, place + 11)
    minute = two_digits(texts, place + 14)
    second = two_digits(texts, place + 17)
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return -1
    return 86400 * days + 3600 * hour + 60 * minute + second


@kernel
def read_digits(texts: Bytes, place: int, end: int, kind: int, number: int, units: Int64s, scales: Bytes) -> int:
    """Write the digits of an integer or decimal as one number, and how many of them are decimal places; return the kind."""
    first = texts[place]
    if first == MINUS or first == PLUS:
        place = place + 1
    digits = 0
    value = 0
    point = -1
    while place < end:
        byte = texts[place]
        if byte >= ZERO and byte <= NINE:
            value = 10 * value + byte - ZERO
            digits = digits + 1
        elif byte == DOT and kind == DECIMAL and point < 0:
            point = digits
        else:
            return UNSURE
        if digits > MOST_DIGITS:
            return UNSURE
        place = place + 1
    if digits == 0:
        return UNSURE
    units[number] = 0 - value if first == MINUS else value
    scales[number] = digits - point if point >= 0 else 0
    return kind


@kernel
def value_of_term(names: Bytes, texts: Bytes, start: int, end: int, number: int, units: Int64s, scales: Bytes) -> int:
    """Write the value of a term; return its kind."""
    byte = texts[start]
    if byte == LESS_THAN or byte == UNDERSCORE:
        return RESOURCE
    if texts[end - 1] == QUOTE:
        return STRING
    place = end - 1
    while texts[place] != QUOTE:
        place = place - 1
    kind = datatype_of(names, texts, place, end)
    if kind == INTEGER or kind == DECIMAL:
        return read_digits(texts, start + 1, place, kind, number, units, scales)
    if kind != UNSURE:
        units[number] = read_moment(texts, start + 1, place, kind)
        if units[number] < 0:
            return UNSURE
    return kind


@entry
def read_literals(terms: Terms, ids: Int32s, count: int, names: Bytes, kinds: Bytes, units: Int64s, scales: Bytes) -> int:
    """Write the kinds of terms, and the values of numbers as integers of the last decimal place, and of moments in seconds.

    UNSURE is written where the value is not read here. Return how many these are.
    """
    unsure = 0
    for number in range(count):
        if number + 2 * AHEAD < count:
            prefetch(terms.offsets, ids[number + 2 * AHEAD])
        if number + AHEAD < count:
            prefetch(terms.texts, terms.offsets[ids[number + AHEAD]])
        units[number] = 0
        scales[number] = 0
        start = terms.offsets[ids[number]]
        kinds[number] = value_of_term(names, terms.texts, start, terms.offsets[ids[number] + 1], number, units, scales)
        if kinds[number] == UNSURE:
            unsure = unsure + 1
    return unsure


@kernel
def write_digits(value: int, out: Bytes, place: int) -> int:
    """Write a number that is not negative; return the place after it."""
    end = place + 1
    rest = value // 10
    while rest > 0:
        end = end + 1
        rest = rest // 10
    last = end
    while last > place:
        last = last - 1
        out[last] = ZERO + value % 10
        value = value // 10
    return end


@kernel
def write_number(units: int, scale: int, out: Bytes, place: int) -> int:
    """Write a number that is given as an integer of its last decimal place, without zeros at the end; return the place after it."""
    if units < 0:
        out[place] = MINUS
        place = place + 1
        units = 0 - units
    while scale > 0 and units % 10 == 0:
        units = units // 10
        scale = scale - 1
    power = 1
    for _ in range(scale):
        power = power * 10
    place = write_digits(units // power, out, place)
    if scale == 0:
        return place
    fraction = units % power
    out[place] = DOT
    for digit in range(scale):
        out[place + scale - digit] = ZERO + fraction % 10
        fraction = fraction // 10
    return place + 1 + scale


@entry
def write_numbers(units: Int64s, scales: Bytes, count: int, out: Bytes) -> int:
    """Write numbers as lines, for each of which there is room for `LINE` bytes; return the length of all."""
    place = 0
    for number in range(count):
        place = write_number(units[number], scales[number], out, place)
        out[place] = NEWLINE
        place = place + 1
    return place
