"""reasonable: OWL 2 RL in Rust. It has no RDFS mode, and hands out its result as rdflib terms only, which is part of its time.

On graphs, the property is declared transitive, which gives the closure.
"""

from __future__ import annotations

from benchmarks.inputs.closure import EDGE_IRI
from benchmarks.inputs.jobs import Job
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, measure


class Reasonable:
    """The reasoner of one run."""

    def start(self) -> None:
        import rdflib
        import reasonable

        self.edge = rdflib.URIRef(EDGE_IRI)
        self.reasoner = reasonable.PyReasoner()

    def load(self, job: Job) -> None:
        if not job.is_closure:
            self.reasoner.load_file(job.files["ontology.ttl"])
        self.reasoner.load_file(job.files["turtle"])

    def materialise(self, job: Job) -> None:
        self.triples = self.reasoner.reason()

    def count(self, job: Job) -> Count:
        closure = sum(1 for _, predicate, _ in self.triples if predicate == self.edge) if job.is_closure else None
        return Count(len(self.triples), closure)


def main(job: Job) -> Measurement:
    peer = Reasonable()
    return measure(Stages("reasonable", peer.start, peer.load, peer.materialise, peer.count), job)


if __name__ == "__main__":
    contestant(main)
