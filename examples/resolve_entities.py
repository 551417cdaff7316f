"""Merge the records of two sources that describe the same people, by a key, and show a view of both.

Prints:

    http://example.org/crm/17 Ann Lee 5200
    http://example.org/hr/3 Ann Lee 5200
    the same because of: HasKey(example:Person () (example:email))
"""

from rdflib import OWL, Graph, URIRef

import kg_reasoner

DATA = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:email a owl:DatatypeProperty .
:Person owl:hasKey ( :email ) .
<http://example.org/crm/17> a :Person ; :email "ann@example.org" ; :name "Ann Lee" .
<http://example.org/hr/3> a :Person ; :email "ann@example.org" ; :salary 5200 .
<http://example.org/hr/4> a :Person ; :email "bo@example.org" ; :salary 4100 .
"""


def main() -> None:
    graph = kg_reasoner.attach(Graph().parse(data=DATA, format="turtle"), equality="rewrite")
    view = "PREFIX : <http://example.org/> SELECT * { ?who :name ?name ; :salary ?salary } ORDER BY ?who"
    for row in graph.query(view):
        print(row.who, row.name, row.salary)
    crm, hr = URIRef("http://example.org/crm/17"), URIRef("http://example.org/hr/3")
    proof = graph.store.explain((crm, OWL.sameAs, hr))
    print("the same because of:", proof.rules[-1].origin.axiom)


if __name__ == "__main__":
    main()
