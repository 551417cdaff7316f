"""Notify a program of what follows from changes of an rdflib graph.

Prints:

    + [<http://example.org/press>, rdf:type, <http://example.org/NeedsService>]  derived
    the proof has 2 explicit facts
    - [<http://example.org/press>, rdf:type, <http://example.org/NeedsService>]  derived
"""

from rdflib import RDF, Graph, Literal, Namespace

import kg_reasoner

EX = Namespace("http://example.org/")
RULES = """
@prefix : <http://example.org/> .
@rule service-due
:NeedsService[?machine] :- :Machine[?machine], :hours[?machine, ?hours], FILTER(?hours > 1000) .
"""


def main() -> None:
    graph = kg_reasoner.attach(Graph())
    reasoner = graph.store.reasoner
    reasoner.add_program(RULES)
    graph.add((EX.press, RDF.type, EX.Machine))
    graph.add((EX.press, EX.hours, Literal(990)))
    graph.commit()

    with reasoner.subscribe((None, RDF.type, EX.NeedsService), print):
        graph.set((EX.press, EX.hours, Literal(1010)))
        graph.commit()
        proof = graph.store.explain((EX.press, RDF.type, EX.NeedsService))
        print(f"the proof has {len(proof.facts)} explicit facts")
        graph.set((EX.press, EX.hours, Literal(0)))
        graph.commit()


if __name__ == "__main__":
    main()
