"""Reconcile orders with payments, both of them CSV, and see what a late payment changes.

Prints:

    open: o2 30, o3 12
    - open("o3", 12)  derived
    + paid("o3", 12)  derived
    + payment("o3", 12)  explicit
"""

import csv
from collections.abc import Iterator
from io import StringIO

from kg_reasoner import Reasoner
from kg_reasoner.terms import Literal, literal

ORDERS = "o1,book,20\no2,lamp,50\no3,pen,12\n"
PAYMENTS = "o1,15\no1,5\no2,20\n"
PROGRAM = """
input relation order(id: string, item: string, price: integer) .
input relation payment(order: string, amount: integer) .

paid(?o, ?sum) :- AGGREGATE(payment(?o, ?amount) ON ?o BIND SUM(?amount) AS ?sum) .
open(?o, ?price) :- order(?o, _, ?price), NOT payment(?o, _) .
open(?o, ?rest) :- order(?o, _, ?price), paid(?o, ?sum), FILTER(?sum < ?price), BIND(?price - ?sum AS ?rest) .
"""


def rows(text: str) -> Iterator[tuple[Literal, ...]]:
    """The rows of a table as terms; what looks like a number is one."""
    for row in csv.reader(StringIO(text)):
        yield tuple(literal(int(cell)) if cell.isdigit() else literal(cell) for cell in row)


def main() -> None:
    reasoner = Reasoner(PROGRAM)
    with reasoner.transaction() as tx:
        tx.add_facts("order", rows(ORDERS))
        tx.add_facts("payment", rows(PAYMENTS))
    found = sorted((order.lexical, rest.lexical) for order, rest in reasoner.facts("open"))
    print("open:", ", ".join(" ".join(row) for row in found))
    with reasoner.transaction() as tx:
        tx.add_facts("payment", rows("o3,12\n"))
    print(tx.delta)


if __name__ == "__main__":
    main()
