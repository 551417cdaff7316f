"""The numbers of facts and terms of a reasoner, and their memory."""

from __future__ import annotations

from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.engine import Engine
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["Sizes", "count_generalised", "sizes_of"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of the stored facts (triples and others, helper predicates included) and of terms, and the bytes that they occupy.

    Facts that only answers have do not count: that a term is the same as itself (under `owl2rl-full`, unless rules use it), and
    where equal terms are merged, facts in terms of any but the representatives.

    `generalised` of the facts are triples with a literal as the subject, or anything but an IRI as the property, as rules may
    conclude. Rules read them; they are no triples of RDF, so that queries, graphs and documents do not have them.
    """

    explicit: int
    inferred: int
    generalised: int
    terms: int
    fact_bytes: int
    term_bytes: int

    def _repr_html_(self) -> str:
        counts = {"explicit facts": self.explicit, "inferred facts": self.inferred}
        counts |= {"facts that are no RDF": self.generalised} if self.generalised else {}
        counts["terms"] = self.terms
        rows = [(what, f"{count:,}") for what, count in counts.items()]
        rows += [("memory of facts", _megabytes(self.fact_bytes)), ("memory of terms", _megabytes(self.term_bytes))]
        return f"<table>{''.join(f'<tr><th>{what}</th><td>{count}</td></tr>' for what, count in rows)}</table>"


def sizes_of(engine: Engine, dictionary: Dictionary) -> Sizes:
    """Count the stored facts and the terms, and the bytes that they occupy."""
    explicit = inferred = 0
    hidden = {number for name, number in engine.catalog.predicates.items() if name.startswith(INTERNAL)}
    for number in range(len(engine.database.relations)):
        if number in hidden:
            continue
        asserted = len(engine.database.rows(number, "explicit"))
        explicit += asserted
        inferred += engine.database.size(number) - asserted
    return Sizes(explicit, inferred, count_generalised(engine), len(dictionary), engine.database.nbytes, dictionary.nbytes)


def count_generalised(engine: Engine) -> int:
    """Count the stored triples that are none of RDF, see `Sizes`."""
    matcher = engine.base.queries.matcher
    return matcher.size() - matcher.count()


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
