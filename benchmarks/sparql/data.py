"""The data sets: the sources that our reasoner loads, and all triples that follow from them, which the other systems load."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

from benchmarks.inputs.data import made, universities_as_ntriples, write_ontology
from benchmarks.sparql.queries import LUBM, SHOP
from benchmarks.sparql.shop import generate_shop

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner

__all__ = ["DataSet", "data_set"]

RULESETS: Final = {LUBM: "owl2rl", SHOP: "rdfs"}


@dataclass(frozen=True)
class DataSet:
    """A data set as files in N-Triples."""

    name: str
    """For example ``LUBM(5)``."""
    kind: str
    """`LUBM` or `SHOP`."""
    size: int
    sources: tuple[str, ...]
    materialised: str
    """The file of the triples that a reasoner with the sources shows."""

    def reasoner(self) -> Reasoner:
        """Return a reasoner with the materialised data."""
        return _reasoned(self.kind, self.sources)

    def as_json(self) -> str:
        """Return the data set as one line of text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> DataSet:
        """Return the data set of a text that `as_json` made."""
        fields = json.loads(text)
        return DataSet(**fields | {"sources": tuple(fields["sources"])})


def data_set(kind: str, size: int, cache: Path) -> DataSet:
    """Return a data set, whose files are made if they do not exist in the folder `cache`.

    The name of the materialised file depends on the rules, so that it is made anew when they change.
    """
    if kind == LUBM:
        folder = cache / f"lubm{size}"
        data = made(folder / "data.nt", lambda file: file.writelines(universities_as_ntriples(size)))
        sources: tuple[str, ...] = (str(made(cache / "ontology.nt", write_ontology)), str(data))
    else:
        folder = cache / f"shop{size}"
        sources = (str(made(folder / "data.nt", lambda file: file.writelines(generate_shop(size)))),)
    closed = folder / f"materialised-{_rules_digest(kind, sources)}.nt"
    if not closed.exists():
        from kg_reasoner.io.output import write_triples

        write_triples(_reasoned(kind, sources).triples(), closed)
    return DataSet(f"{kind}({size})", kind, size, sources, str(closed))


def _reasoned(kind: str, sources: tuple[str, ...]) -> Reasoner:
    import warnings

    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.errors import ReasonerWarning

    reasoner = Reasoner(ruleset=RULESETS[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReasonerWarning)  # about axioms of LUBM outside of the profile
        reasoner.load(*sources)
        reasoner.materialise()
    return reasoner


def _rules_digest(kind: str, sources: tuple[str, ...]) -> str:
    """Return a digest of the rules, with those from the ontology if that is a file of its own."""
    from kg_reasoner.api.reasoner import Reasoner

    reasoner = _reasoned(kind, sources[:-1]) if len(sources) > 1 else Reasoner(ruleset=RULESETS[kind])
    return f"{crc32(repr(sorted(map(repr, reasoner.rules))).encode()):08x}"
