"""owlrl: forward chaining in Python over an rdflib graph.

Its RDFS semantics adds the axiomatic triples, its OWL 2 RL semantics is the W3C's full rule set: its counts are not ours. On graphs
the property is declared transitive, which gives the closure.
"""

from __future__ import annotations

from benchmarks.inputs.closure import EDGE_IRI
from benchmarks.inputs.jobs import RDFS, Job
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, measure


class Owlrl:
    """The graph of one run."""

    def start(self) -> None:
        import owlrl
        import rdflib

        self.owlrl, self.rdflib = owlrl, rdflib
        self.close(rdflib.Graph())
        self.graph = rdflib.Graph()

    def close(self, graph, semantics: str = "OWLRL_Semantics") -> None:  # type: ignore[no-untyped-def]
        self.owlrl.DeductiveClosure(getattr(self.owlrl, semantics)).expand(graph)

    def load(self, job: Job) -> None:
        if not job.is_closure:
            self.graph.parse(job.files["ontology.nt"], format="nt")
        self.graph.parse(job.files["ntriples"], format="nt")
        self.inputs = len(self.graph)

    def materialise(self, job: Job) -> None:
        self.close(self.graph, "RDFS_Semantics" if job.task == RDFS else "OWLRL_Semantics")

    def count(self, job: Job) -> Count:
        edges = (None, self.rdflib.URIRef(EDGE_IRI), None)
        return Count(len(self.graph), sum(1 for _ in self.graph.triples(edges)) if job.is_closure else None, self.inputs)


def main(job: Job) -> Measurement:
    peer = Owlrl()
    return measure(Stages("owlrl", peer.start, peer.load, peer.materialise, peer.count), job)


if __name__ == "__main__":
    contestant(main)
