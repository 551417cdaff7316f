"""Triples in the syntaxes of OWL: functional syntax, Manchester syntax and OWL/XML."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kg_reasoner.errors import ReasonerWarning
from kg_reasoner.loaders.rdf.formats import FUNCTIONAL, MANCHESTER, Format
from kg_reasoner.terms import Triple, term_text

__all__ = ["axiom_texts", "owl_lines"]

_SHOWN: Final = 3
"""The number of triples that a warning shows."""


def axiom_texts(triples: Iterable[Triple], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the axioms of triples in functional syntax, without declarations.

    Args:
        triples: The triples of whole axioms, and declarations of the names in them.
        prefixes: The prefixes to use, with their namespaces.
    """
    from kg_reasoner.loaders.syntaxes.from_rdf import constructs_of
    from kg_reasoner.loaders.syntaxes.functional_writer import construct_text
    from kg_reasoner.loaders.syntaxes.written_names import WrittenNames

    names = WrittenNames(prefixes)
    for construct in constructs_of(triples, lambda _: None):
        if construct.name not in ("Ontology", "Declaration"):
            yield construct_text(construct, names)


def owl_lines(triples: Iterable[Triple], format: Format, prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document that states the axioms of a graph, all of whose triples are in memory.

    Triples of the reserved vocabulary that are not axioms are written as assertions, with a warning that names them.

    Args:
        triples: The triples.
        format: Functional syntax, Manchester syntax or OWL/XML.
        prefixes: The prefixes to use, with their namespaces.

    Raises:
        OutputError: The syntax cannot express an axiom.
    """
    from kg_reasoner.loaders.syntaxes.from_rdf import constructs_of

    odd: list[Triple] = []
    constructs = constructs_of(triples, odd.append)
    if format is FUNCTIONAL:
        from kg_reasoner.loaders.syntaxes.functional_writer import functional_lines

        yield from functional_lines(constructs, prefixes)
    elif format is MANCHESTER:
        from kg_reasoner.loaders.syntaxes.manchester_writer import manchester_lines

        yield from manchester_lines(constructs, prefixes)
    else:
        from kg_reasoner.loaders.syntaxes.owlxml_writer import owlxml_lines

        yield from owlxml_lines(constructs, prefixes)
    if odd:
        shown = "; ".join(" ".join(map(term_text, triple)) for triple in odd[:_SHOWN])
        further = f"; and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
        what = "1 triple is not an axiom" if len(odd) == 1 else f"{len(odd)} triples are not axioms"
        warnings.warn(
            f"{what} of OWL 2, and written as an assertion with reserved vocabulary: {shown}{further}",
            ReasonerWarning,
            stacklevel=2,
        )
