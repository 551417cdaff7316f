"""A generator of skewed data: a shop with products, customers and reviews, whose degrees follow Zipf's law."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import Final

__all__ = ["NAMESPACE", "generate_shop"]

NAMESPACE: Final = "http://example.org/shop#"

PRODUCTS: Final = 1000
CUSTOMERS: Final = 2000
REVIEWS: Final = 12_000
PRODUCERS: Final = 50
TAGS: Final = 100
CATEGORIES: Final = 10
KINDS: Final = 10
"""Classes of products in each category."""

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_BELOW: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_WORDS: Final = ("great", "poor", "solid", "fair", "quality", "price", "design", "service", "for", "the", "and", "value")
_FIRST_DAY: Final = datetime.date(2020, 1, 1)


def generate_shop(size: int = 1, seed: int = 0) -> Iterator[bytes]:
    """Yield a shop in N-Triples, a few lines at a time.

    Product 0, customer 0, producer 0 and tag 0 have the most triples. The numbers of products, customers and reviews grow with the
    size; those of producers, tags and classes do not. Equal arguments give equal bytes.

    Args:
        size: At size 1 there are 1000 products and 12,000 reviews.
        seed: Of the random choices.
    """
    random = Random(seed)
    products = PRODUCTS * size
    popular, active = _zipf(random, products), _zipf(random, CUSTOMERS * size)
    producer, tag = _zipf(random, PRODUCERS), _zipf(random, TAGS)
    for category in range(CATEGORIES):
        yield _lines(_iri(f"Category{category}"), (_BELOW, _iri("Product")))
        for kind in range(KINDS):
            yield _lines(_iri(f"Kind{category}_{kind}"), (_BELOW, _iri(f"Category{category}")))
    for number in range(products):
        price = round(math.exp(random.gauss(3.5, 1.0)), 2)
        about = [
            (_TYPE, _iri(f"Kind{random.randrange(CATEGORIES)}_{random.randrange(KINDS)}")),
            (_iri("label"), f'"Product {number}"'),
            (_iri("price"), _typed(f"{price:.2f}", "decimal")),
            (_iri("weight"), _typed(str(random.randrange(1, 1000)), "integer")),
            (_iri("producer"), _iri(f"producer{producer()}")),
        ]
        about += [(_iri("tag"), _iri(f"tag{one}")) for one in sorted({tag() for _ in range(4)})]
        about += [(_iri("boughtWith"), _iri(f"product{one}")) for one in sorted({popular() for _ in range(3)})]
        if random.random() < 0.2:
            about.append((_iri("discount"), _typed(str(random.choice((5, 10, 20))), "integer")))
        yield _lines(_iri(f"product{number}"), *about)
    for number in range(REVIEWS * size):
        day = _FIRST_DAY + datetime.timedelta(days=random.randrange(1800))
        yield _lines(
            _iri(f"review{number}"),
            (_iri("of"), _iri(f"product{popular()}")),
            (_iri("by"), _iri(f"customer{active()}")),
            (_iri("rating"), _typed(str(random.choices((1, 2, 3, 4, 5), (8, 6, 12, 30, 44))[0]), "integer")),
            (_iri("date"), _typed(day.isoformat(), "date")),
            (_iri("title"), '"' + " ".join(random.choices(_WORDS, k=random.randrange(2, 7))) + '"'),
        )


def _zipf(random: Random, count: int) -> Callable[[], int]:
    """Return a function that draws one of `count` numbers, number n with a probability proportional to 1 / (n + 1)."""
    numbers, weights = range(count), list(accumulate(1 / (number + 1) for number in range(count)))
    return lambda: random.choices(numbers, cum_weights=weights)[0]


def _iri(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


def _typed(text: str, datatype: str) -> str:
    return f'"{text}"^^<{_XSD}{datatype}>'


def _lines(subject: str, *about: tuple[str, str]) -> bytes:
    return "".join(f"{subject} {predicate} {value} .\n" for predicate, value in about).encode("ascii")
