"""Prefixes declared in documents, for names on the command line and in its output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.sources import Document

__all__ = ["declared_prefixes", "document_prefixes"]

_DECLARATIONS: Final = (
    re.compile(r"(?:^|[\s.])(?:@prefix|PREFIX)\s+(?P<prefix>[^\s:<>\"]*):\s*<(?P<namespace>[^<>\"\s]+)>", re.IGNORECASE),
    re.compile(r"\sxmlns(?::(?P<prefix>[\w.-]+))?\s*=\s*[\"'](?P<namespace>[^\"'&\s]+)[\"']"),
    re.compile(r"<Prefix\s+name=\"(?P<prefix>[^\"]*)\"\s+IRI=\"(?P<namespace>[^\"&\s]+)\""),
    re.compile(r"(?:^|\s)Prefix\s*\(\s*(?P<prefix>[\w.-]*):\s*=\s*<(?P<namespace>[^<>\s]+)>"),
    re.compile(r"(?:^|\s)Prefix:\s+(?P<prefix>[\w.-]*):\s*<(?P<namespace>[^<>\s]+)>"),
    re.compile(r"(?:^|\n)idspace:\s*(?P<prefix>[\w.-]+)\s+(?P<namespace>\S+)"),
    re.compile(r"\"(?P<prefix>[\w.-]+)\"\s*:\s*\"(?P<namespace>\w+:[^\"\s]*[/#:])\""),
)
"""Declarations of prefixes in Turtle and its relatives, RDF/XML, OWL/XML, functional and Manchester syntax, OBO, and JSON-LD."""


def document_prefixes(files: Iterable[str], input_format: str | None = None) -> dict[str, str]:
    """Return the prefixes declared at the beginning of RDF documents; the first declaration of a prefix wins.

    Sources that can be read only once, such as standard input and pipes, are skipped.
    """
    found: dict[str, str] = {}
    for document in _documents(files, input_format):
        if not document.reopens:
            continue
        with document.open() as opened:
            for prefix, namespace in declared_prefixes(opened.head.decode("utf-8", "replace")).items():
                found.setdefault(prefix, namespace)
    return found


def declared_prefixes(text: str) -> dict[str, str]:
    """Return the prefixes declared at the beginning of a document in any syntax.

    >>> declared_prefixes('@prefix ex: <http://example.org/> . PREFIX : <urn:x:>')
    {'ex': 'http://example.org/', '': 'urn:x:'}
    >>> declared_prefixes('<rdf:RDF xmlns="http://a.org/" xmlns:b="http://b.org/#">')
    {'': 'http://a.org/', 'b': 'http://b.org/#'}
    """
    found: dict[str, str] = {}
    for declaration in _DECLARATIONS:
        for match in declaration.finditer(text):
            if ":" in match["namespace"]:
                found.setdefault(match["prefix"] or "", match["namespace"])
    return found


def _documents(files: Iterable[str], input_format: str | None) -> Iterator[Document]:
    from kg_reasoner.loaders.rdf.formats import find_format
    from kg_reasoner.loaders.rdf.sources import document_of, documents_under

    wanted = find_format(input_format) if input_format is not None else None
    for file in files:
        if file == "-":
            continue
        if Path(file).is_dir():
            yield from documents_under(Path(file), wanted)
        elif (document := document_of(file, wanted)) is not None:
            yield document
