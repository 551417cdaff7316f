"""Loading documents into a reasoner: with the ontologies that they import, and with the rules in them.

Everything is read, and every rule is looked at, before the first triple is added: what cannot be loaded leaves the reasoner as it
was. Rules are those of N3 documents, which become rules of the program, and SWRL rules, which are triples; those are translated
with the rest of the ontology, by rule sets that translate axioms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from kg_reasoner.errors import UnknownNameError, UnsupportedError
from kg_reasoner.program import Program
from kg_reasoner.schema import SchemaTriples
from kg_reasoner.terms import RDF

if TYPE_CHECKING:
    from kg_reasoner.loaders.bounds import DocumentBounds
    from kg_reasoner.loaders.catalogs import CatalogSource
    from kg_reasoner.loaders.imports import Import, ImportClosure, ImportsMode
    from kg_reasoner.loaders.owl import AxiomWarning
    from kg_reasoner.loaders.rdf import Block, Progress
    from kg_reasoner.reasoner import Reasoner

__all__ = ["REFUSALS", "Loaded", "Refusal", "load"]

Refusal: TypeAlias = Literal["raise", "skip"]
REFUSALS: Final[Sequence[Refusal]] = ("raise", "skip")
"""What happens to rules that cannot be expressed: they are an error, or left out with a warning."""


def load(
    reasoner: Reasoner,
    sources: Sequence[Any],
    *,
    format: str | None = None,
    base: str | None = None,
    progress: Progress | None = None,
    catalog: CatalogSource | None = None,
    imports: ImportsMode = "resolve",
    refused: Refusal = "raise",
    bounds: DocumentBounds | None = None,
) -> None:
    """See `kg_reasoner.reasoner.Reasoner.load`."""
    from kg_reasoner.loaders.bounds import DEFAULT_BOUNDS
    from kg_reasoner.loaders.imports import read_closure
    from kg_reasoner.loaders.n3 import RuleSink

    if refused not in REFUSALS:
        raise UnknownNameError("treatment of refused rules", refused, REFUSALS)
    closure = read_closure(
        *sources,
        dictionary=reasoner.dictionary,
        catalog=catalog,
        imports=imports,
        known=reasoner.loaded.ontologies,
        format=format,
        base=base,
        progress=progress,
        rules=RuleSink(skips_refused=refused == "skip"),
        bounds=DEFAULT_BOUNDS if bounds is None else bounds,
    )
    if refused == "raise" and reasoner.program.translate is not None:
        for document, warning in _refused_swrl(reasoner, closure.blocks):
            hint = "write the rule in the rule language, or leave it out: refused='skip', --refused skip"
            raise UnsupportedError(f"{document}: the rule {warning}", hint=hint)
    with reasoner.at_once():
        if closure.rules.rules:
            reasoner.merge_program(Program(tuple(dict.fromkeys(closure.rules.rules))))
        for block in closure.blocks:
            if block.graphs is None:
                if len(block.triples):
                    reasoner.state_triples(block.triples)
            else:
                reasoner.named_graphs.state(reasoner.named_graphs.placed(block.triples, block.graphs))
        reasoner.engine.set(reasoner, "loaded", reasoner.loaded.after(closure))


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a reasoner knows of the documents that have been loaded into it."""

    ontologies: Mapping[str, str] = field(default_factory=dict)
    """The documents of ontologies, by the IRIs of these and of their versions."""
    imports: Mapping[tuple[str, str], Import] = field(default_factory=dict)
    """The imports, by the importing ontology and the imported IRI."""
    refused: tuple[UnsupportedError, ...] = ()
    """The rules that were left out."""

    def after(self, closure: ImportClosure) -> Loaded:
        """What is known when this has been loaded, too."""
        from kg_reasoner.loaders.imports import plain

        imports = {**self.imports, **{(found.importer, found.iri): found for found in closure.imports}}
        for key, found in imports.items():
            if found.document is None:
                imports[key] = replace(found, document=closure.ontologies.get(plain(found.iri)))
        return Loaded(closure.ontologies, imports, (*self.refused, *closure.rules.refused))

    def warnings(self) -> Iterator[AxiomWarning]:
        """What was not found, and what was left out."""
        from kg_reasoner.loaders.owl import AxiomWarning

        for found in self.imports.values():
            if found.document is None:
                yield AxiomWarning(f"Import(<{found.iri}>)", found.missing())
        for error in self.refused:
            where = "a rule" if error.span is None else f"the rule at {error.span.source}:{error.span.line}"
            yield AxiomWarning(where, error.message)


def _refused_swrl(reasoner: Reasoner, blocks: Sequence[Block]) -> Iterator[tuple[str, AxiomWarning]]:
    """The SWRL rules that cannot be translated, with their documents."""
    from kg_reasoner.loaders import owl
    from kg_reasoner.loaders.swrl import SWRL

    dictionary = reasoner.dictionary
    is_a, rule = dictionary.find(RDF.type), dictionary.find(SWRL.Imp)
    with_rules = {block.source for block in blocks if ((block.triples[:, 1] == is_a) & (block.triples[:, 2] == rule)).any()}
    schema = SchemaTriples(dictionary)
    for document in sorted(with_rules):
        parts = [block.triples for block in blocks if block.source == document]
        ids = np.concatenate([part[schema.of(part)] for part in parts])
        triples = ((row[0], row[1], row[2]) for row in dictionary.decode_rows(ids))
        for warning in owl.refused_rules(triples):
            yield document, warning
