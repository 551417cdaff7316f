"""kg_reasoner through its public `Reasoner`, beside others by one thread: CPU seconds of several would not be comparable."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.inputs.closure import PROGRAMS
from benchmarks.inputs.jobs import DLP, DLP_RULES, Job
from benchmarks.measuring.children import Child, run
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, measure

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner


class Ours:
    """The reasoner of one run."""

    reasoner: Reasoner

    def start(self) -> None:
        """Import everything and load the kernels, by running a tiny job."""
        from kg_reasoner.api.reasoner import Reasoner
        from kg_reasoner.io import facts as facts_io
        from kg_reasoner.loaders.rdf.readers import reader as rdf  # noqa: F401 (imported here, so that their time is not the first load's)
        from kg_reasoner.program import Column
        from kg_reasoner.terms import IRI, RDF, RDFS

        self.new, self.read_facts = Reasoner, facts_io.read_facts
        self.columns = (Column("from", "integer"), Column("to", "integer"))
        cls = IRI("http://example.org/A")
        for program, ruleset in (("ready(1) .", "rdfs"), (DLP_RULES, None)):
            first = Reasoner(program, ruleset=ruleset)
            first.add_triples([(IRI("http://example.org/a"), RDF.type, cls), (cls, RDFS.subClassOf, cls)])
            first.materialise()

    def load(self, job: Job) -> None:
        if job.is_closure:
            self.reasoner = self.new(PROGRAMS[job.task], threads=job.threads)
            self.reasoner.add_facts("edge", self.read_facts(Path(job.files["edges"]), self.columns))
        else:
            program, ruleset = (DLP_RULES, None) if job.task == DLP else (None, job.task)
            self.reasoner = self.new(program, ruleset=ruleset, show_hidden=True, threads=job.threads)  # the peers hide nothing
            self.reasoner.load(job.files["ontology.nt"], job.files["ntriples"])

    def translate(self, job: Job) -> None:
        """Translate the axioms to rules if others are given these."""
        if job.task == DLP:
            assert self.reasoner.rules

    def materialise(self, job: Job) -> None:
        self.reasoner.materialise()

    def count(self, job: Job) -> Count:
        if job.is_closure:
            paths, edges = (sum(1 for _ in self.reasoner.facts(name)) for name in ("path", "edge"))
            return Count(paths + edges, paths, edges)
        sizes = self.reasoner.sizes()
        return Count(sizes.explicit + sizes.inferred, len(self.reasoner.triple_ids()), sizes.explicit)

    def own_bytes(self) -> dict[str, int]:
        sizes = self.reasoner.sizes()
        return {"facts and indexes": sizes.fact_bytes, "terms": sizes.term_bytes}


def from_file_to_file(job: Job) -> Child:
    """Run ``kg-reasoner materialise``."""
    with TemporaryDirectory() as folder:
        rules = ["--ruleset", job.task]
        if job.task == DLP:
            path = Path(folder) / "dlp.dl"
            path.write_text(DLP_RULES, encoding="utf-8")
            rules = ["--rules", str(path)]
        files = [job.files["ontology.nt"], job.files["ntriples"]]
        out = str(Path(folder) / "triples.nt")
        options = ["--show-hidden", "--threads", str(job.threads), "-o", out]
        return run([sys.executable, "-m", "kg_reasoner", "materialise", *files, *rules, *options])


def main(job: Job) -> Measurement:
    ours = Ours()
    stages = Stages("kg-reasoner", ours.start, ours.load, ours.materialise, ours.count, ours.own_bytes, translate=ours.translate)
    measured = measure(stages, job)
    if job.is_for_engines:
        whole = from_file_to_file(job)
        measured.files_cpu, measured.files_wall = whole.cpu, whole.wall
    return measured


if __name__ == "__main__":
    contestant(main)
