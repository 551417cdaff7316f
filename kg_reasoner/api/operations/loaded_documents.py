"""A reasoner's record of the documents that have been loaded into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.lazy_regex import regular_expression

if TYPE_CHECKING:
    from kg_reasoner.loaders.imports.closure import Import, ImportClosure
    from kg_reasoner.loaders.ontology.owl import AxiomWarning

__all__ = ["Loaded"]

_NAME: Final = regular_expression(r"(?:[^\W\d_](?:[\w.-]*[\w-])?)?")
"""The prefixes that SPARQL and Turtle allow, approximately. JSON-LD and the names of ontologies allow more."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A reasoner's record of the documents that have been loaded into it."""

    ontologies: Mapping[str, str] = field(default_factory=dict)
    """The documents of ontologies, by the IRIs of these and of their versions."""
    imports: Mapping[tuple[str, str], Import] = field(default_factory=dict)
    """The imports, by the importing ontology and the imported IRI."""
    refused: tuple[UnsupportedError, ...] = ()
    """The rules that were left out."""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """The prefixes that the documents and graphs declare, with their namespaces: of several declarations of a prefix, the first.
    Those that need no declaration are left out."""

    def after(self, closure: ImportClosure) -> Loaded:
        """Return this record with that of another load added."""
        from kg_reasoner.loaders.imports.closure import plain

        imports = {**self.imports, **{(found.importer, found.iri): found for found in closure.imports}}
        for key, found in imports.items():
            if found.document is None:
                imports[key] = replace(found, document=closure.ontologies.get(plain(found.iri)))
        prefixes = dict(self.prefixes)
        for prefix, namespace in closure.prefixes.items():
            if ":" in namespace and prefix not in PREFIXES and _NAME.fullmatch(prefix):
                prefixes.setdefault(prefix, namespace)
        return Loaded(closure.ontologies, imports, (*self.refused, *closure.rules.refused), prefixes)

    def warnings(self) -> Iterator[AxiomWarning]:
        """Yield a warning for each missing import and each refused rule."""
        if not self.imports and not self.refused:
            return
        from kg_reasoner.loaders.ontology.owl import AxiomWarning

        for found in self.imports.values():
            if found.document is None:
                yield AxiomWarning(f"Import(<{found.iri}>)", found.missing())
        for error in self.refused:
            where = "a rule" if error.span is None else f"the rule at {error.span.source}:{error.span.line}"
            yield AxiomWarning(where, error.message)
