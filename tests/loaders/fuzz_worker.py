"""Reads broken documents, one after the other, and says which and what went wrong.

``python -m tests.loaders.fuzz_worker KIND:FIRST:END ...`` is run by `test_fuzz.py` in a process of its own, because what it looks
for may end the process.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kg_reasoner.errors import ReasonerError
from tests.loaders.fuzz_mutations import broken

MEMORY: Final = 6 << 30
"""The bytes of address space that a process may have."""


def read_document(format: str | None) -> Callable[[bytes], None]:
    from kg_reasoner import Reasoner

    def read(data: bytes) -> None:
        reasoner = Reasoner()
        reasoner.load(data, format=format, base="http://example.org/base", refused="skip")
        list(reasoner.triples())

    return read


def read_ontology(data: bytes) -> None:
    from kg_reasoner import Reasoner
    from kg_reasoner.loaders.ontology import owl

    reasoner = Reasoner()
    reasoner.load(data, format="turtle")
    owl.translate(reasoner.triples())


def read_catalog(data: bytes) -> None:
    from kg_reasoner.loaders.imports.catalogs import Catalog

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "catalog.xml")
        path.write_bytes(data)
        Catalog.of(path).find("http://example.org/wanted")


def read_rules(data: bytes) -> None:
    from kg_reasoner import Reasoner
    from kg_reasoner.language.parser import parse_file

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rules.dl")
        path.write_bytes(data)
        Reasoner(parse_file(path))


def run_query(data: bytes) -> None:
    for _ in _graph().query(data.decode("utf-8", "replace")):
        pass


def run_update(data: bytes) -> None:
    _graph().update(data.decode("utf-8", "replace"))


def _graph():  # type: ignore[no-untyped-def]
    from rdflib import Dataset

    from kg_reasoner.rdflib_store import KGReasonerStore

    graph = Dataset(store=KGReasonerStore("rdfs"), default_union=True)
    data = '@prefix ex: <http://example.org/> . ex:a ex:p 1, "x" ; a ex:C . ex:g { ex:b ex:q ex:a }'
    return graph.parse(data=data, format="trig")


READERS: Final[dict[str, Callable[[bytes], None]]] = {
    **{name: read_document(name) for name in ("ntriples", "nquads", "turtle", "trig", "n3", "rdfxml", "jsonld")},
    **{name: read_document(name) for name in ("owlxml", "functional", "manchester", "obo")},
    "swrl": read_ontology,
    "catalogs": read_catalog,
    "rules": read_rules,
    "queries": run_query,
    "updates": run_update,
}


def allowed(kind: str) -> tuple[type[Exception], ...]:
    """What may be raised: errors of ours, and for SPARQL those of rdflib's parser."""
    if kind not in ("queries", "updates"):
        return (ReasonerError,)
    from pyparsing.exceptions import ParseBaseException
    from rdflib.plugins.sparql.sparql import SPARQLError

    return (ReasonerError, ParseBaseException, SPARQLError)


def main(ranges: list[str]) -> None:
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    for part in ranges:
        kind, first, end = part.split(":")
        read_range(kind, int(first), int(end))


def read_range(kind: str, first: int, end: int) -> None:
    """Read the documents of a kind from a number on."""
    read, fine = READERS[kind], allowed(kind)
    sniffed = read_document(None)
    for number in range(first, end):
        print(kind, number, flush=True)
        data = broken(kind, number)
        try:
            read(data)
            if kind not in ("rules", "queries", "updates", "catalogs") and number % 4 == 0:
                sniffed(data)
        except fine:
            pass
        except BaseException as error:  # whatever it is, it is the finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(
                "foreign", type(error).__name__, f"{Path(place.filename).name}:{place.lineno}", repr(str(error))[:200], flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
