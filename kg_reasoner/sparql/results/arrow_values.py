"""The values of literals in Arrow's types.

| datatype | type |
|---|---|
| xsd:integer and the types derived from it | int64 |
| xsd:decimal | decimal128 with the digits that the column needs |
| xsd:double, xsd:float | double, float |
| xsd:boolean | bool |
| xsd:date without a time zone | date32 |
| xsd:dateTime, all or none with a time zone | timestamp in microseconds, in UTC if there are time zones |

A column in which one literal has no value in the type (it is malformed, too large or too precise) is not converted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kg_reasoner.expressions.values import INTEGER_RANGES
from kg_reasoner.terms import XSD

__all__ = ["native_values"]

_DIGITS: Final = 38
"""The number of digits of a decimal of Arrow."""
_NUMBER: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?INF$|^NaN$"
_DATE: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_ZONE: Final = r"(Z|[+-][0-9]{2}:[0-9]{2})$"


def native_values(lexical: Any, datatype: str) -> Any | None:
    """Return the values of literals of one datatype as an array of Arrow.

    Args:
        lexical: The lexical forms, as an array of ``large_string``.
        datatype: The IRI of the datatype.

    Returns:
        The values; the lexical forms, if there is no type for the datatype; None if a literal has no value in the type.
    """
    import pyarrow

    convert = _CONVERSIONS.get(datatype)
    if convert is None:
        return lexical
    try:
        return convert(lexical, datatype)
    except pyarrow.ArrowInvalid:
        return None


def _all_match(lexical: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(lexical, pattern)).as_py())


def _unsigned(lexical: Any) -> Any:
    """Return numbers without a plus sign, which Arrow does not read."""
    import pyarrow.compute as pc

    return pc.if_else(pc.starts_with(lexical, "+"), pc.utf8_slice_codeunits(lexical, 1), lexical)


def _integers(lexical: Any, datatype: str) -> Any | None:
    import pyarrow
    import pyarrow.compute as pc

    if not _all_match(lexical, r"^[+-]?[0-9]+$"):
        return None
    values = _unsigned(lexical).cast(pyarrow.int64())
    least, most = pc.min_max(values).as_py().values()
    low, high = INTEGER_RANGES[datatype]
    return values if (low is None or low <= least) and (high is None or most <= high) else None


def _doubles(lexical: Any, _: str) -> Any | None:
    import pyarrow

    return _unsigned(lexical).cast(pyarrow.float64()) if _all_match(lexical, _NUMBER) else None


def _floats(lexical: Any, _: str) -> Any | None:
    import pyarrow

    return _unsigned(lexical).cast(pyarrow.float32()) if _all_match(lexical, _NUMBER) else None


def _decimals(lexical: Any, _: str) -> Any | None:
    import pyarrow
    import pyarrow.compute as pc

    if not _all_match(lexical, r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"):
        return None
    point, length = pc.find_substring(lexical, "."), pc.binary_length(lexical)
    before = pc.max(pc.if_else(pc.less(point, 0), length, point)).as_py()
    after = max(0, pc.max(pc.if_else(pc.less(point, 0), 0, pc.subtract(pc.subtract(length, point), 1))).as_py())
    if before + after > _DIGITS:
        return None
    return _unsigned(lexical).cast(pyarrow.decimal128(max(before + after, 1), after))


def _booleans(lexical: Any, _: str) -> Any | None:
    import pyarrow
    import pyarrow.compute as pc

    if not _all_match(lexical, r"^(true|false|0|1)$"):
        return None
    return pc.is_in(lexical, value_set=pyarrow.array(["true", "1"], pyarrow.large_string()))


def _dates(lexical: Any, _: str) -> Any | None:
    import pyarrow

    return lexical.cast(pyarrow.date32()) if _all_match(lexical, _DATE) else None


def _times(lexical: Any, _: str) -> Any | None:
    import pyarrow

    if _all_match(lexical, _TIME + _ZONE):
        return lexical.cast(pyarrow.timestamp("us", "UTC"))
    return lexical.cast(pyarrow.timestamp("us")) if _all_match(lexical, _TIME + "$") else None


_CONVERSIONS: Final[dict[str, Callable[[Any, str], Any]]] = {
    **dict.fromkeys(INTEGER_RANGES, _integers),
    XSD.decimal.value: _decimals,
    XSD.double.value: _doubles,
    XSD.float.value: _floats,
    XSD.boolean.value: _booleans,
    XSD.date.value: _dates,
    XSD.dateTime.value: _times,
}
