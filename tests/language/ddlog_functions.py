"""What DDlog's test programs have as functions in Rust, as functions in Python."""

from __future__ import annotations

import json
from itertools import islice

from kg_reasoner import Reasoner

__all__ = ["register"]


def field(text: str) -> int | None:
    """Return the number that a text of JSON has as its only field."""
    found = json.loads(text).get("field")
    return found if isinstance(found, int) else None


def free_numbers(taken: frozenset[int], count: int, least: int, most: int) -> list[int]:
    """Return so many numbers of a range that are not taken: those after the greatest one that is, then the others."""
    greatest = max(taken, default=most)
    first = greatest + 1 if least <= greatest < most else least
    numbers = (number for part in (range(first, most + 1), range(least, first)) for number in part if number not in taken)
    return list(islice(numbers, count))


def register(reasoner: Reasoner) -> None:
    """Register the functions at a reasoner."""
    reasoner.function("json_field", "string", returns="integer")(field)
    reasoner.function("free_numbers", "set<integer>", "integer", "integer", "integer", returns="list<integer>")(free_numbers)
