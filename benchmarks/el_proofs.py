"""Proofs of all unsatisfiable classes of large ontologies: ``python -m benchmarks.el_proofs``.

Ontologies in the shape of well-known ones get disjoint classes and classes below both, which makes many others unsatisfiable. Each
proof of `Hierarchy.explanations` is checked by the checker of the tests, which knows nothing of how proofs are found. Of some, the
axioms that they name are given to another reasoner, for which the class must be unsatisfiable as well. Times are CPU seconds.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.inputs.el_data import EX, SHAPES, Axiom, write_triples
from benchmarks.measuring.commands import SETTINGS

if TYPE_CHECKING:
    from kg_reasoner import Reasoner
    from kg_reasoner.classification.hierarchy import Unsatisfiable
    from kg_reasoner.explain import Proof
    from kg_reasoner.terms import Term, Triple

__all__ = ["Checker", "main", "with_contradictions"]

_STATED_AGAIN = 20
"""The classes and properties whose axioms are given to another reasoner."""


@click.command(context_settings=SETTINGS, help=__doc__)
@click.option("--shape", "shapes", multiple=True, type=click.Choice(list(SHAPES)), default=tuple(SHAPES), show_default=True)
@click.option("--classes", "sizes", multiple=True, type=click.IntRange(3), default=(1_000, 10_000), show_default=True)
@click.option("-r", "--ruleset", type=click.Choice(["owl2el", "owl2rl"]), default="owl2el", show_default=True)
@click.option(
    "--contradictions",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Pairs of disjoint classes, each with a class below both.",
)
@click.option("--seed", default=0, show_default=True)
def main(shapes: tuple[str, ...], sizes: tuple[int, ...], ruleset: str, contradictions: int, seed: int) -> None:
    for shape in shapes:
        for size in sizes:
            prove_all(shape, size, ruleset, contradictions, seed)


def with_contradictions(shape: str, size: int, contradictions: int, seed: int) -> Iterator[Axiom]:
    """Yield the axioms of a shape, and disjoint classes that have classes below both."""
    yield from SHAPES[shape](size, random.Random(seed))
    chance = random.Random(seed)
    for _ in range(contradictions):
        one, other, below = chance.sample(range(size // 10, size), 3)
        yield "disjoint", f"C{one}", f"C{other}"
        yield "subclass", f"C{below}", f"C{one}"
        yield "subclass", f"C{below}", f"C{other}"


def prove_all(shape: str, size: int, ruleset: str, contradictions: int, seed: int) -> None:
    """Classify an ontology, prove what is unsatisfiable, and check the proofs; print what that takes."""
    from kg_reasoner import Reasoner

    reasoner = Reasoner(ruleset=ruleset, threads=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ontology.nt"
        with path.open("w") as file:
            write_triples(with_contradictions(shape, size, contradictions, seed), file)
        reasoner.load(path)
    start = time.process_time()
    hierarchy = reasoner.hierarchy()
    classified = time.process_time() - start
    check = Checker(reasoner, ruleset)
    proving = checking = slowest = 0.0
    steps = highest = shortest = 0
    explanations = hierarchy.explanations()
    chosen = set(random.Random(seed).sample(hierarchy.unsatisfiable, min(_STATED_AGAIN, len(hierarchy.unsatisfiable))))
    for _ in hierarchy.unsatisfiable:
        start = time.process_time()
        each, axioms, proof = next(explanations)
        proving, slowest = proving + time.process_time() - start, max(slowest, time.process_time() - start)
        start = time.process_time()
        check.steps(each, proof)
        if each in chosen:
            check.axioms(each, axioms)
        checking += time.process_time() - start
        steps, highest, shortest = steps + len(proof.steps), max(highest, proof.height), shortest + proof.shortest
    count = len(hierarchy.unsatisfiable)
    per_class = max(1, count)
    click.echo(
        f"{shape} {size:,} classes, {ruleset}: classified in {classified:.1f} s; {count:,} unsatisfiable, all proved in "
        f"{proving:.1f} s, {1000 * proving / per_class:.1f} ms each, {1000 * slowest:.0f} the slowest; "
        f"{steps / per_class:.0f} steps each, height {highest} at most, {shortest:,} certainly the shortest; "
        f"all accepted in {checking:.1f} s, the axioms of {len(chosen)} suffice"
    )


class Checker:
    """Checks the proofs of one reasoner."""

    def __init__(self, reasoner: Reasoner, ruleset: str) -> None:
        from kg_reasoner.classification.usable_rules import told_rule

        self._reasoner = reasoner
        self._ruleset = ruleset
        self._check = import_module("tests.helpers.proof_checker").check
        self._nothing_negated = import_module("tests.helpers.oracle").Store({})
        self._rules = {*reasoner.rules, told_rule("SubClassOf")}

    def steps(self, each: Unsatisfiable, proof: Proof) -> None:
        """Check that the steps follow from each other, and that what is explicit is, or says that there is a member."""
        from kg_reasoner.program import FALSE, TRIPLE, Atom
        from kg_reasoner.terms import OWL, RDF, RDFS, BlankNode

        if self._ruleset == "owl2el":
            goal, member = Atom(TRIPLE, (each.name, RDFS.subClassOf, OWL.Nothing)), None
            if each.kind != "class":
                goal = Atom("<tag:kg-reasoner:owl2el/empty>", (each.name,))
        else:
            word = each.name.value.removeprefix(EX)
            some, value = BlankNode(f"some_{word}"), BlankNode(f"value_of_{word}")
            goal, member = Atom(FALSE, ()), (some, RDF.type, each.name) if each.kind == "class" else (some, each.name, value)
        explicit = _Explicit(self._reasoner, member)
        self._check(proof, goal, self._rules, explicit, self._nothing_negated)

    def axioms(self, each: Unsatisfiable, axioms: tuple[str, ...]) -> None:
        """Check that a name is unsatisfiable by the axioms of its proof alone, with declarations of it and of their classes."""
        from kg_reasoner import Reasoner

        text = " ".join(axioms)
        text += "".join(f" Declaration(Class({name}))" for name in sorted(set(re.findall(r"el:C\d+", text))))
        if each.kind != "class":
            text += f" Declaration(ObjectProperty(<{each.name.value}>))"
        other = Reasoner(ruleset=self._ruleset)
        prefixes = f"Prefix(el:=<{EX}>) Prefix(owl:=<http://www.w3.org/2002/07/owl#>)"
        other.load(f"{prefixes} Ontology({text})".encode(), format="functional")
        if each.name not in {found.name for found in other.hierarchy().unsatisfiable}:
            raise click.ClickException(f"{each.name} is satisfiable by the axioms {', '.join(axioms)}")


class _Explicit:
    """What may be explicit in proofs: the triples of a reasoner, the same as told inclusions, and that a class has a member."""

    def __init__(self, reasoner: Reasoner, member: Triple | None) -> None:
        self._reasoner = reasoner
        self._member = member

    def get(self, predicate: str, _: object) -> _Explicit:
        """Return what has a predicate: triples have three terms, and inclusions two."""
        return self

    def __contains__(self, terms: tuple[Term, ...]) -> bool:
        from kg_reasoner.terms import OWL, RDFS

        if terms == self._member:
            return True
        if len(terms) == 3:
            return self._states(terms)
        lower, upper = terms
        ways = (lower, RDFS.subClassOf, upper), (lower, OWL.equivalentClass, upper), (upper, OWL.equivalentClass, lower)
        return any(map(self._states, ways))

    def _states(self, triple: tuple[Term, ...]) -> bool:
        subject, predicate, value = triple
        return any(True for _ in self._reasoner.triples(subject, predicate, value, "explicit"))


if __name__ == "__main__":
    main()
