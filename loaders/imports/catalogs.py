"""Catalogs: locations of ontology documents, by the IRIs under which they are imported.

A catalog consists of mappings (IRI to path), XML catalogs (OASIS, XML Catalogs 1.1; Protégé keeps one as ``catalog-v001.xml``
beside each ontology), and folders, whose documents are found by their ontology IRIs and version IRIs. Of an XML catalog, the
entries for URIs are used: ``uri``, ``rewriteURI``, ``uriSuffix``, ``group`` and ``nextCatalog``; those for XML's own entities are
ignored. Catalogs are never fetched from the web.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol, TypeAlias
from urllib.parse import urljoin, urlsplit

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.imports.headers import Header, headers_of
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.sources import OpenDocument, document_of, documents_under

__all__ = ["Catalog", "CatalogSource", "Location"]

_CATALOG_NAME: Final = "catalog-v001.xml"
_CATALOGS: Final = "give a mapping of IRIs to paths, the path of an XML catalog or of a folder, or a list of these"
_NAMESPACE: Final = "urn:oasis:names:tc:entity:xmlns:xml:catalog"
_WEB: Final = ("http://", "https://")
_XML_BASE: Final = "http://www.w3.org/XML/1998/namespace base"

Location: TypeAlias = Path | str
"""A file, or the address of a document on the web."""


class _Part(Protocol):
    def find(self, iri: str) -> Location | None: ...


@dataclass(frozen=True, slots=True)
class Catalog:
    """Finds the documents of ontologies.

    >>> catalog = Catalog.of({"http://example.org/animals": "ontologies/animals.ttl"})
    >>> print(catalog.find("http://example.org/animals"))
    ontologies/animals.ttl
    """

    parts: tuple[_Part, ...] = ()

    @classmethod
    def of(cls, source: CatalogSource | None, bounds: DocumentBounds = DEFAULT_BOUNDS) -> Catalog:
        """Return the catalog for a mapping, the path of an XML catalog, the path of a folder, or several of these.

        Args:
            source: One of these.
            bounds: Bounds on the size and depth of documents in it.

        Returns:
            The catalog.

        Raises:
            LoadError: The file or folder does not exist, or it is not an XML catalog.
        """
        return cls(tuple(_parts(source, bounds)))

    def find(self, iri: str) -> Location | None:
        """Return the location of an ontology document, or None if it is unknown. A final ``#`` of an IRI is ignored.

        Args:
            iri: The name of the ontology.

        Returns:
            The location.

        Raises:
            LoadError: Two documents of a folder have the IRI, or an entry of a catalog is invalid.
        """
        for part in self.parts:
            for written in (iri, iri[:-1] if iri.endswith("#") else f"{iri}#"):
                found = part.find(written)
                if found is not None:
                    return found
        return None


_CatalogPart: TypeAlias = Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str] | Catalog
CatalogSource: TypeAlias = _CatalogPart | Iterable[_CatalogPart]
"""A mapping of IRIs to paths, an XML catalog's path, a folder of ontologies, or several of these: the first that knows wins."""


def _parts(source: CatalogSource | None, bounds: DocumentBounds) -> Iterator[_Part]:
    if source is None:
        return
    if isinstance(source, Catalog):
        yield from source.parts
    elif isinstance(source, Mapping):
        yield _Mapped({iri: _named(target) for iri, target in source.items()})
    elif isinstance(source, str) and source.startswith(_WEB):
        raise LoadError(f"the catalog {source} is on the web", hint="nothing is fetched: save it, and name the file")
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            written = path / _CATALOG_NAME
            if written.is_file():
                yield _XMLCatalog(_read_catalogs(written, bounds))
            yield _Folder(path, bounds)
        else:
            yield _XMLCatalog(_read_catalogs(path, bounds))
    elif isinstance(source, bytes) or not isinstance(source, Iterable):
        raise LoadError(f"{source!r} is not a catalog", hint=_CATALOGS)
    else:
        for part in source:
            yield from _parts(part, bounds)


def _named(target: str | os.PathLike[str]) -> Location:
    """Return the target of a mapping: a web address if it looks like one, or a file.

    Raises:
        LoadError: It is neither.
    """
    if not isinstance(target, str | os.PathLike):
        raise LoadError(f"{target!r} is not the place of an ontology", hint=_CATALOGS)
    return target if isinstance(target, str) and target.startswith(_WEB) else Path(target)


@dataclass(frozen=True)
class _Mapped:
    """A mapping given by the user."""

    locations: Mapping[str, Location]

    def find(self, iri: str) -> Location | None:
        return self.locations.get(iri)


# --------------------------------------------------------------------------------------------------------------------- folders


@dataclass(frozen=True)
class _Folder:
    """The ontologies of a folder and its subfolders. Unreadable documents are skipped."""

    path: Path
    bounds: DocumentBounds

    def find(self, iri: str) -> Location | None:
        by_version = [path for path, header in self._headers if header.version == iri]
        found = by_version or [path for path, header in self._headers if header.ontology == iri]
        if len(found) > 1:
            names = " and ".join(map(str, found))
            raise LoadError(
                f"{names} are both documents of <{iri}>", hint="say which one by a mapping: catalog={'http://...': 'path'}"
            )
        return found[0] if found else None

    @cached_property
    def _headers(self) -> list[tuple[Path, Header]]:
        found = []
        for document in documents_under(self.path, None, self.bounds):
            try:
                found += [(Path(document.name), header) for header in headers_of(document)]
            except LoadError:  # whatever it is, it is not what is looked for
                continue
        return found


# ---------------------------------------------------------------------------------------------------------------- XML catalogs


@dataclass(frozen=True)
class _XMLCatalog:
    """An XML catalog with its nextCatalog entries."""

    files: Sequence[_Entries]

    def find(self, iri: str) -> Location | None:
        for entries in self.files:
            target = entries.target(iri)
            if target is not None:
                return _location(target, entries.path)
        return None


def _read_catalogs(path: Path, bounds: DocumentBounds) -> list[_Entries]:
    """Return an XML catalog and its nextCatalog entries, in the order of lookup."""
    files: dict[Path, _Entries] = {}
    waiting = [path]
    while waiting:
        path = waiting.pop(0)
        if path.resolve() not in files:
            files[path.resolve()] = entries = _read_catalog(path, bounds)
            waiting = [*entries.following, *waiting]
    return list(files.values())


@dataclass(slots=True)
class _Entries:
    """The entries of one XML catalog; all targets are absolute."""

    path: Path
    uris: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    following: list[Path] = field(default_factory=list)

    def target(self, iri: str) -> str | None:
        if iri in self.uris:
            return self.uris[iri]
        start = max((start for start in self.starts if iri.startswith(start)), key=len, default=None)
        if start is not None:
            return self.starts[start] + iri[len(start) :]
        end = max((end for end in self.ends if iri.endswith(end)), key=len, default=None)
        return None if end is None else self.ends[end]


def _read_catalog(path: Path, bounds: DocumentBounds) -> _Entries:
    document = document_of(path, None, bounds)
    assert document is not None
    with document.open() as opened:
        return _CatalogReader(opened, path).entries()


class _CatalogReader:
    def __init__(self, opened: OpenDocument, path: Path) -> None:
        from kg_reasoner.loaders.rdf.readers.xml import XMLReader, text_of

        self._reader = XMLReader(opened.document, text_of(opened), self._start, self._end)
        self._entries = _Entries(path)
        self._bases: list[str] = [path.resolve().as_uri()]

    def entries(self) -> _Entries:
        while self._reader.feed():
            pass
        return self._entries

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, name = tag.rpartition(" ")
        if len(self._bases) == 1 and (namespace, name) != (_NAMESPACE, "catalog"):
            hint = "a catalog is an XML catalog as Protégé writes it, or a folder of ontologies"
            raise self._reader.error(f"this is not an XML catalog: its root element is {name}", hint)
        self._bases.append(self._joined(attributes.get(_XML_BASE, "")))
        if namespace != _NAMESPACE:
            return
        entries = self._entries
        if name == "uri":
            entries.uris.setdefault(self._value(attributes, name, "name"), self._target(attributes, name, "uri"))
        elif name == "rewriteURI":
            entries.starts.setdefault(
                self._value(attributes, name, "uriStartString"), self._target(attributes, name, "rewritePrefix")
            )
        elif name == "uriSuffix":
            entries.ends.setdefault(self._value(attributes, name, "uriSuffix"), self._target(attributes, name, "uri"))
        elif name == "nextCatalog":
            entries.following.append(self._next(attributes))
        elif name == "delegateURI":
            raise self._reader.error("delegateURI is not supported", "name the other catalog by nextCatalog")

    def _end(self, tag: str) -> None:
        self._bases.pop()

    def _value(self, attributes: dict[str, str], element: str, name: str) -> str:
        if name not in attributes:
            raise self._reader.error(f"the element {element} has no {name}")
        return attributes[name]

    def _target(self, attributes: dict[str, str], element: str, name: str) -> str:
        return self._joined(self._value(attributes, element, name))

    def _joined(self, address: str) -> str:
        try:
            return urljoin(self._bases[-1], address)
        except ValueError as error:
            raise self._reader.error(f"the address {address!r} is not valid: {error}") from None

    def _next(self, attributes: dict[str, str]) -> Path:
        target = _location(self._target(attributes, "nextCatalog", "catalog"), self._entries.path)
        if isinstance(target, Path):
            return target
        raise self._reader.error(f"the next catalog is on the web: {target}", "nothing is fetched: save it, and name the file")


def _location(target: str, catalog: Path) -> Location:
    from urllib.request import url2pathname  # loads http and email, which take a tenth of the time to load a small ontology

    if target.startswith(_WEB):
        return target
    try:
        parts = urlsplit(target)
        path = url2pathname(parts.path)
    except ValueError as error:
        raise LoadError(f"{catalog}: {target} is not an address: {error}") from None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path:
        raise LoadError(f"{catalog}: {target} is neither a file nor an address on the web")
    return Path(path)
