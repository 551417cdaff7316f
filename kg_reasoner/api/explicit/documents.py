"""Loading documents into a reasoner, with the ontologies that they import and the rules that they contain.

All sources are read, and all rules are checked, before the first triple is added: a document that cannot be loaded leaves the
reasoner unchanged. Rules of N3 documents become rules of the program. SWRL rules are triples, which rule sets that translate
axioms translate with the rest of the ontology.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.concurrency.limits import Limits, Watch
from kg_reasoner.engine.axioms.axiom_triples import SchemaTriples
from kg_reasoner.errors import UnsupportedError, expect_name
from kg_reasoner.program import Program
from kg_reasoner.progress import Progress
from kg_reasoner.storage.releasing import release_memory
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import RDF

if TYPE_CHECKING:
    from kg_reasoner.api.explicit.named_graphs import NamedGraphs
    from kg_reasoner.loaders.imports.catalogs import CatalogSource
    from kg_reasoner.loaders.imports.closure import ImportClosure, ImportsMode
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.loaders.rdf.bounds import DocumentBounds
    from kg_reasoner.loaders.rdf.readers.reader import Block

__all__ = ["REFUSALS", "Refusal", "load"]

Refusal: TypeAlias = Literal["raise", "skip"]
REFUSALS: Final[Sequence[Refusal]] = ("raise", "skip")
"""The treatment of rules that cannot be expressed: an error, or skipped with a warning."""

_GROUP: Final = 1 << 20
"""The number of triples that are stored at a time."""


class Loading(Protocol):
    """The part of a reasoner that loading documents requires."""

    core: ReasonerCore
    threads: int | None

    @property
    def named_graphs(self) -> NamedGraphs: ...


def load(
    reasoner: Loading,
    sources: Sequence[Any],
    *,
    format: str | None = None,
    base: str | None = None,
    progress: Progress | None = None,
    catalog: CatalogSource | None = None,
    imports: ImportsMode = "resolve",
    refused: Refusal = "raise",
    bounds: DocumentBounds | None = None,
    limits: Limits | None = None,
) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.load`."""
    from kg_reasoner.loaders.imports.closure import read_closure
    from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS
    from kg_reasoner.loaders.rdf.rule_sink import RuleSink

    core = reasoner.core
    with core.watch(limits) as watch:
        expect_name("treatment of refused rules", refused, REFUSALS)
        closure = read_closure(
            *sources,
            dictionary=core.dictionary,
            catalog=catalog,
            imports=imports,
            known=core.loaded.ontologies,
            format=format,
            base=base,
            progress=partial(_report, watch, progress),
            rules=RuleSink(skips_refused=refused == "skip"),
            bounds=DEFAULT_BOUNDS if bounds is None else bounds,
            threads=reasoner.threads,
        )
        if refused == "raise" and core.engine.program.translate is not None:
            for document, warning in _refused_swrl(core.dictionary, closure.blocks):
                hint = "write the rule in the rule language, or leave it out: refused='skip', --refused skip"
                raise UnsupportedError(f"{document}: the rule {warning}", hint=hint)
        release_memory(_store(reasoner, closure))


def _store(reasoner: Loading, closure: ImportClosure) -> int:
    """Store what documents state, whose blocks are discarded; return the number of triples."""
    core, total = reasoner.core, 0
    with core.atomic():
        if closure.rules.rules:
            core.merge_program(Program(tuple(dict.fromkeys(closure.rules.rules))))
        plain = [block.triples for block in closure.blocks if block.graphs is None]
        if sum(map(len, plain)) > _GROUP:
            core.engine.expect_triples(plain)
        del plain
        for block in _taken(closure.blocks):
            total += len(block.triples)
            if block.graphs is None:
                if len(block.triples):
                    core.assert_triples(block.triples)
            else:
                reasoner.named_graphs.state(reasoner.named_graphs.placed(block.triples, block.graphs))
        core.engine.set(core, "loaded", core.loaded.after(closure))
    return total


def _report(watch: Watch, progress: Progress | None, stage: str, done: int, total: int | None) -> None:
    """Report progress if there is a callback, unless the operation has to end."""
    watch.check()
    if progress is not None:
        progress(stage, done, total)


def _taken(blocks: list[Block]) -> Iterator[Block]:
    """Yield the blocks of a list, those without graphs in larger groups, and remove them from it, so that the memory that each of
    them frees can be used again.
    """
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        group, size = [block.triples], len(block.triples)
        while block.graphs is None and blocks and blocks[-1].graphs is None and size < _GROUP:
            group.append(blocks.pop().triples)
            size += len(group[-1])
        yield block if len(group) == 1 else replace(block, triples=np.concatenate(group))


def _refused_swrl(dictionary: Dictionary, blocks: Sequence[Block]) -> Iterator[tuple[str, AxiomWarning]]:
    """Yield the SWRL rules that cannot be translated, with their documents."""
    from kg_reasoner.loaders.ontology import owl
    from kg_reasoner.loaders.rules.swrl import SWRL

    is_a, rule = dictionary.find(RDF.type), dictionary.find(SWRL.Imp)
    with_rules = {block.source for block in blocks if ((block.triples[:, 1] == is_a) & (block.triples[:, 2] == rule)).any()}
    schema = SchemaTriples(dictionary)
    for document in sorted(with_rules):
        parts = [block.triples for block in blocks if block.source == document]
        ids = np.concatenate([part[schema.of(part)] for part in parts])
        triples = ((row[0], row[1], row[2]) for row in dictionary.decode_rows(ids))
        for warning in owl.refused_rules(triples):
            yield document, warning
