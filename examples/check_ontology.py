"""Check ontologies: what is beyond OWL 2 RL, and what is contradictory. Exit code 3 if something is.

``python examples/check_ontology.py FILES``; without files, a small ontology is checked.

Prints:

    beyond OWL 2 RL: SubClassOf(example:Parent ObjectSomeValuesFrom(example:hasChild example:Person))
    @prefix : <http://example.org/> .

    a contradiction   (by prp-irp, IrreflexiveObjectProperty(:hasChild))
    └── :eve :hasChild :eve   (explicit)
    1 contradiction
"""

import sys
import warnings

from kg_reasoner import BeyondProfileWarning, Reasoner

SAMPLE = b"""
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Parent rdfs:subClassOf [ owl:onProperty :hasChild ; owl:someValuesFrom :Person ] .
:hasChild a owl:IrreflexiveProperty .
:eve :hasChild :eve .
"""


def main() -> int:
    warnings.simplefilter("ignore", BeyondProfileWarning)  # they are printed below
    reasoner = Reasoner(ruleset="owl2rl")
    if sys.argv[1:]:
        reasoner.load(*sys.argv[1:])
    else:
        reasoner.load(SAMPLE, format="turtle")
    for warning in reasoner.warnings:
        print("beyond OWL 2 RL:", warning.axiom)
    violations = reasoner.inconsistencies()
    for violation in violations:
        print(reasoner.explain(violation))
    print(len(violations), "contradiction" if len(violations) == 1 else "contradictions")
    return 3 if violations and sys.argv[1:] else 0


if __name__ == "__main__":
    raise SystemExit(main())
