"""The RDF syntaxes: their names, media types and file extensions."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import UnknownNameError
from kg_reasoner.loaders.rdf.packed import packing_named

__all__ = [
    "FORMATS",
    "FUNCTIONAL",
    "JSON_LD",
    "MANCHESTER",
    "N3",
    "N_QUADS",
    "N_TRIPLES",
    "OBO",
    "OWL_XML",
    "PARQUET",
    "RDF_XML",
    "TRIG",
    "TURTLE",
    "Format",
    "find_format",
    "format_of_name",
    "has_known_extension",
    "unpacked_name",
]


@dataclass(frozen=True, slots=True)
class Format:
    """An RDF syntax: its name in messages, its file extensions with dots, and whether its documents can have named graphs."""

    name: str
    media_type: str
    extensions: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    graphs: bool = False


N_TRIPLES: Final = Format("ntriples", "application/n-triples", (".nt", ".ntriples"), ("n-triples", "nt11"))
N_QUADS: Final = Format("nquads", "application/n-quads", (".nq", ".nquads"), ("n-quads",), graphs=True)
TURTLE: Final = Format("turtle", "text/turtle", (".ttl", ".turtle"), ("application/x-turtle", "longturtle"))
TRIG: Final = Format("trig", "application/trig", (".trig",), ("application/x-trig",), graphs=True)
RDF_XML: Final = Format("rdfxml", "application/rdf+xml", (), ("rdf/xml", "rdf", "xml", "application/xml", "text/xml", "pretty-xml"))
JSON_LD: Final = Format("jsonld", "application/ld+json", (".jsonld", ".json-ld"), ("json", "application/json"), graphs=True)
N3: Final = Format("n3", "text/n3", (".n3",), ("notation3", "text/rdf+n3"))
OWL_XML: Final = Format("owlxml", "application/owl+xml", (".owx",), ("owl/xml",))
FUNCTIONAL: Final = Format("functional", "text/owl-functional", (".ofn",), ("owlfunctional", "ofs", "fss", "functional-syntax"))
MANCHESTER: Final = Format("manchester", "text/owl-manchester", (".omn",), ("owlmanchester", "oms", "manchester-syntax"))
OBO: Final = Format("obo", "text/obo", (".obo",), ("application/obo",))
PARQUET: Final = Format("parquet", "application/vnd.apache.parquet", (".parquet",), graphs=True)
"""An output format only, which is not in `FORMATS`."""

FORMATS: Final = (N_TRIPLES, N_QUADS, TURTLE, TRIG, RDF_XML, JSON_LD, N3, OWL_XML, FUNCTIONAL, MANCHESTER, OBO)

_SNIFFED_EXTENSIONS: Final = (".rdf", ".owl")
"""Ambiguous extensions of RDF files: mostly RDF/XML, sometimes another syntax of OWL or Turtle."""

_BY_NAME: Final = {
    name: entry
    for entry in FORMATS
    for name in (entry.name, entry.media_type, *entry.aliases, *(extension[1:] for extension in entry.extensions))
}
_BY_EXTENSION: Final = {extension: entry for entry in FORMATS for extension in entry.extensions}


def find_format(name: str) -> Format:
    """Return the format with a name, an alias, a file extension or a media type.

    >>> find_format("ttl") is find_format("text/turtle; charset=utf-8") is TURTLE
    True

    Args:
        name: The name, in upper or lower case.

    Raises:
        UnknownNameError: The format is unknown.
    """
    key = name.partition(";")[0].strip().lower().removeprefix(".") if isinstance(name, str) else ""
    if key not in _BY_NAME:
        raise UnknownNameError("RDF format", name, (entry.name for entry in FORMATS))
    return _BY_NAME[key]


def format_of_name(file_name: str) -> Format | None:
    """Return the format indicated by a file name, without the ending of compressed files, or None if only the content can tell.

    >>> format_of_name("data.nt.gz").name, format_of_name("ontology.owl")
    ('ntriples', None)
    """
    return _BY_EXTENSION.get(_extension(file_name))


def has_known_extension(file_name: str) -> bool:
    """Return whether a file in a folder counts as RDF."""
    extension = _extension(file_name)
    return extension in _BY_EXTENSION or extension in _SNIFFED_EXTENSIONS


def _extension(file_name: str) -> str:
    return PurePath(unpacked_name(file_name)).suffix


def unpacked_name(file_name: str) -> str:
    """Return a file name in lower case, without the ending of a compressed file.

    >>> unpacked_name("Data.nt.zst")
    'data.nt'
    """
    packing = packing_named(file_name)
    return file_name.lower().removesuffix(packing.ending if packing is not None else "")
