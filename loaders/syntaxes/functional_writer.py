"""Constructs as OWL 2 functional syntax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kg_reasoner.loaders.syntaxes.constructs import Construct, Part
from kg_reasoner.loaders.syntaxes.written_names import WrittenNames

__all__ = ["construct_text", "functional_lines"]

_LISTS = ("ObjectProperties", "DataProperties")


def functional_lines(constructs: Iterable[Construct], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document; the first construct is the ontology.

    Args:
        constructs: The ontology, imports, annotations and axioms, in this order.
        prefixes: The prefixes to use.
    """
    names = WrittenNames(prefixes)
    for prefix, namespace in names.prefixes.items():
        yield f"Prefix({prefix}:=<{namespace}>)\n"
    for construct in constructs:
        if construct.name == "Ontology":
            iris = " ".join(str(part) for part in construct.parts)
            yield f"\nOntology({iris}\n"
        else:
            yield f"{construct_text(construct, names)}\n"
    yield ")\n"


def construct_text(construct: Construct, names: WrittenNames) -> str:
    """Return a construct as text. Constructs may be inside each other to any depth."""
    pieces: list[str] = []
    waiting: list[Part | str] = [construct]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str | int):
            pieces.append(str(part))
        elif not isinstance(part, Construct):
            pieces.append(names.term(part))
        else:
            if part.name != "FacetRestriction":
                pieces.append("(" if part.name in _LISTS else f"{part.name}(")
                waiting.append(")")
            inner = [*part.annotations, *part.parts]
            for number in range(len(inner) - 1, -1, -1):
                waiting.append(inner[number])
                if number:
                    waiting.append(" ")
    return "".join(pieces)
