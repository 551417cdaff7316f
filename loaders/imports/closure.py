"""The imports closure of ontologies (OWL 2 Structural Specification, section 3.4).

Imports are resolved by ontology IRIs and version IRIs: first among the documents being read, then by a catalog (see `catalogs`),
and from the web only on request. Every document is read once, however often it is imported, also in a cycle. The base IRI of an
imported document is the IRI under which it was imported, which identifies an ontology with the relative IRI "".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from typing import Literal as OneOf

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError, expect_name
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.loaders.imports.headers import headers_in
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.loaders.rdf.readers.reader import Block
from kg_reasoner.loaders.rdf.rule_sink import RuleSink
from kg_reasoner.loaders.rdf.sources import Document, document_of
from kg_reasoner.loaders.rules.swrl import SWRL, SWRLB
from kg_reasoner.progress import Progress
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Literal, Term

if TYPE_CHECKING:
    from kg_reasoner.loaders.imports import catalogs
else:
    catalogs = LazyModule("kg_reasoner.loaders.imports.catalogs")

__all__ = ["BUILT_IN", "IMPORTS", "Import", "ImportClosure", "ImportsMode", "imports_of", "plain", "read_closure"]

ImportsMode: TypeAlias = OneOf["resolve", "require", "fetch", "ignore"]
IMPORTS: Final = ("resolve", "require", "fetch", "ignore")
"""Treatments of imports: load those that are found; require all; fetch missing ones from the web; load none."""

MOST_FETCHED: Final = 100
"""The maximal number of documents that are fetched, because a server could go on forever."""
BUILT_IN: Final = "built in"
"""The document of an import of the vocabularies that need none."""
_VOCABULARIES: Final = frozenset(str(space).removesuffix("#") for space in (RDF, RDFS, OWL, XSD, SWRL, SWRLB))


@dataclass(frozen=True, slots=True)
class Import:
    """An import: the importing ontology (its IRI, or its document without one), the imported IRI, and the document for it.

    `document` is None for an unresolved import.
    """

    importer: str
    iri: str
    document: str | None

    def missing(self) -> str:
        """Return the message for an unresolved import.

        Returns:
            The message.
        """
        return (
            f"imported by {self.importer}, and not found: map it to a file with a catalog (a mapping of IRIs to files, "
            "an XML catalog, a folder of ontologies), or ask for it to be fetched"
        )


@dataclass(slots=True)
class ImportClosure:
    """The result of reading: the triples, the rules of N3 documents, and all imports in the order of occurrence."""

    blocks: list[Block] = field(default_factory=list)
    rules: RuleSink = field(default_factory=RuleSink)
    imports: list[Import] = field(default_factory=list)
    ontologies: dict[str, str] = field(default_factory=dict)
    """The documents that have been read, by the IRIs of ontologies and versions."""
    prefixes: dict[str, str] = field(default_factory=dict)
    """The prefixes that they declare, each as in the first document that declares it."""


def imports_of(
    *sources: Any,
    catalog: catalogs.CatalogSource | None = None,
    imports: ImportsMode = "resolve",
    format: str | None = None,
    base: str | None = None,
    bounds: DocumentBounds = DEFAULT_BOUNDS,
) -> tuple[Import, ...]:
    """Return the transitive imports of ontologies, as far as they can be resolved.

    Args:
        sources: Documents, folders and graphs, as for `kg_reasoner.loaders.rdf.read`.
        catalog: Where the documents of ontologies are: a mapping of IRIs to paths, an XML catalog's path, a folder's path, or
            several of these.
        imports: ``resolve`` those that can be; ``require`` all; ``fetch`` from the web what is neither given nor in the catalog.
        format: The syntax of the sources, by default determined by name or content.
        base: The base of the sources.
        bounds: Bounds on the size and depth of documents.

    Returns:
        The imports, each once.

    >>> ontology = b"<http://example.org/cats> <http://www.w3.org/2002/07/owl#imports> <http://example.org/animals> ."
    >>> for found in imports_of(ontology):
    ...     print(found.importer, found.iri, found.document)
    http://example.org/cats http://example.org/animals None

    Raises:
        LoadError: A document cannot be read, or an import that is required is missing.
    """
    rules = RuleSink(skips_refused=True)
    closure = read_closure(
        *sources,
        dictionary=Dictionary(),
        catalog=catalog,
        imports=imports,
        format=format,
        base=base,
        rules=rules,
        bounds=bounds,
    )
    return tuple(closure.imports)


def read_closure(
    *sources: Any,
    dictionary: Dictionary,
    catalog: catalogs.CatalogSource | None = None,
    imports: ImportsMode = "resolve",
    known: Mapping[str, str] | None = None,
    format: str | None = None,
    base: str | None = None,
    progress: Progress | None = None,
    rules: RuleSink | None = None,
    bounds: DocumentBounds = DEFAULT_BOUNDS,
    threads: int | None = None,
) -> ImportClosure:
    """Read documents and their imports, see `imports_of` and `kg_reasoner.loaders.rdf.read`.

    Args:
        sources: The documents, as `kg_reasoner.loaders.rdf.read` takes them.
        dictionary: The dictionary for the terms.
        catalog: Where imports are.
        imports: What to do about imports.
        known: The `ontologies` of earlier readings, which are not read again.
        format: The syntax of all sources; by default, that of each document's name or content.
        base: The base IRI of documents that do not declare one.
        progress: Called with the progress of the reading.
        rules: Collects the rules in the documents.
        bounds: The bounds on each document.
        threads: How many threads read a long document together.

    Returns:
        The documents, with the imports.

    Raises:
        UnknownNameError: The treatment of imports or the format is unknown.
        LoadError: A document cannot be read, or an import that is required is missing.
        UnsupportedError: A rule in a document is refused.
    """
    expect_name("treatment of imports", imports, IMPORTS)
    closure = ImportClosure(rules=rules if rules is not None else RuleSink(), ontologies=dict(known or {}))
    of_catalog = None if catalog is None else catalogs.Catalog.of(catalog, bounds)
    resolver = _Resolver(closure, dictionary, of_catalog, imports, progress, bounds, threads)
    resolver.read(*sources, format=format, base=base)
    if imports != "ignore":
        resolver.resolve()
    return closure


@dataclass(slots=True)
class _Resolver:
    closure: ImportClosure
    dictionary: Dictionary
    catalog: catalogs.Catalog | None
    mode: ImportsMode
    progress: Progress | None
    bounds: DocumentBounds
    threads: int | None
    files: dict[Path, str] = field(default_factory=dict)
    """The documents that have been read, by their files."""
    fetched: int = 0
    waiting: dict[tuple[str, str], None] = field(default_factory=dict)
    """Imports to resolve, and those that are: the importer and the IRI."""

    def read(self, *sources: Any, base: str | None, format: str | None = None) -> None:
        """Read documents, and record their contents."""
        blocks = rdf.read(
            *sources,
            dictionary=self.dictionary,
            format=format,
            base=base,
            progress=self.progress,
            rules=self.closure.rules,
            bounds=self.bounds,
            prefixes=self.closure.prefixes.setdefault,
            threads=self.threads,
        )
        self.take(list(blocks))

    def take(self, blocks: list[Block]) -> None:
        """Store the triples of documents, and record their headers."""
        self.closure.blocks += blocks
        by_document: dict[str, list[Block]] = {}
        for block in blocks:
            by_document.setdefault(block.source, []).append(block)
        for document, parts in by_document.items():
            self.files.setdefault(Path(document).resolve(), document)
            for header in headers_in([part.triples for part in parts], self.dictionary):
                for name in (header.ontology, header.version):
                    if name is not None:
                        self.closure.ontologies.setdefault(plain(name), document)
                for term in header.imports:
                    self.waiting[header.ontology or document, _named(term)] = None

    def resolve(self) -> None:
        """Resolve imports until none is left."""
        done = 0
        while done < len(self.waiting):
            for importer, iri in list(self.waiting)[done:]:
                found = Import(importer, iri, self.document(iri))
                if found.document is None and self.mode == "require":
                    raise LoadError(f"<{iri}> is {found.missing()}")
                self.closure.imports.append(found)
                done += 1

    def document(self, iri: str) -> str | None:
        """Return the document for an import, and read it if that has not happened."""
        name = plain(iri)
        known = self.closure.ontologies.get(name)
        if known is not None:
            return known
        if name in _VOCABULARIES:
            return BUILT_IN
        found = self.find(iri)
        if found is None:
            return None
        document, base = found
        path = Path(document.name).resolve()
        if path not in self.files:
            self.files[path] = document.name
            self.read(document, base=base)
        return self.closure.ontologies.setdefault(name, self.files[path])

    def find(self, iri: str) -> tuple[Document, str] | None:
        """Return the location of the document for an import, and its base IRI."""
        location = None if self.catalog is None else self.catalog.find(iri)
        if isinstance(location, Path):
            try:
                document = document_of(location, None)
            except LoadError as error:
                raise LoadError(f"<{iri}> is not at the location given by the catalog: {error.message}", hint=error.hint) from None
            assert document is not None
            return document, iri
        if self.mode != "fetch":
            return None
        from kg_reasoner.loaders.rdf.fetch import fetch

        self.fetched += 1
        if self.fetched > MOST_FETCHED:
            hint = "map the others to files with a catalog; the imports may be endless"
            raise LoadError(f"cannot fetch <{iri}>: {MOST_FETCHED} imports have been fetched already", hint=hint)
        return fetch(location or iri)


def plain(iri: str) -> str:
    """Return an IRI without a final ``#``, which many imports have and the ontology IRI lacks."""
    return iri.removesuffix("#")


def _named(term: Term) -> str:
    """Return an imported IRI; some documents have a literal in its place."""
    return term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else str(term)
