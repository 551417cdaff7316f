"""Count the rule applications that maintenance strategies need for the same deletions, on a graph with many ways.

Prints:

    strategy             deletion  backward   forward insertion
    backward-forward  ...
    delete-rederive   ...
"""

import random

from kg_reasoner import Reasoner
from kg_reasoner.terms import literal

PROGRAM = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
"""


def main() -> None:
    dice = random.Random(0)
    edges = [(literal(dice.randrange(40)), literal(dice.randrange(40))) for _ in range(120)]
    print(f"{'strategy':20}{'deletion':>9}{'backward':>10}{'forward':>10}{'insertion':>10}")
    for strategy in ("backward-forward", "delete-rederive"):
        reasoner = Reasoner(PROGRAM, maintenance=strategy)
        reasoner.add_facts("edge", edges)
        reasoner.materialise()
        before = reasoner.counters
        for edge in edges[:10]:
            with reasoner.transaction() as tx:
                tx.remove_facts("edge", [edge])
        spent = reasoner.counters - before
        print(f"{strategy:20}{spent.deletion:9}{spent.backward:10}{spent.forward:10}{spent.insertion:10}")


if __name__ == "__main__":
    main()
