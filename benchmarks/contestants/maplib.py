"""maplib: RDF in data frames, in Rust. Its RDFS has two rules more than ours, so its counts are not ours.

What it infers is not written to files, so there is no time from file to file.
"""

from __future__ import annotations

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, measure


class Maplib:
    """The model of one run."""

    def start(self) -> None:
        import maplib

        self.model = maplib.Model()

    def load(self, job: Job) -> None:
        for kind in ("ontology.nt", "ntriples"):
            self.model.read(job.files[kind], format="ntriples", checked=False)
        self.inputs = self.model.size()

    def materialise(self, job: Job) -> None:
        self.inferred = self.model.infer_rdfs()

    def count(self, job: Job) -> Count:
        return Count(self.inputs + self.inferred, None, self.inputs)


def main(job: Job) -> Measurement:
    peer = Maplib()
    return measure(Stages("maplib", peer.start, peer.load, peer.materialise, peer.count), job)


if __name__ == "__main__":
    contestant(main)
