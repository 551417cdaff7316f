"""Declarations that a document omits, and without which its triples would mean something else.

In OWL's text syntaxes, a name's place tells what it is: ``FunctionalDataProperty(:d)`` is about a data property. Its triples are
those of ``FunctionalObjectProperty(:d)``, unless a declaration tells them apart. So the declarations of such names are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from kg_reasoner.loaders.syntaxes.constructs import SIGNATURES, Construct, Part, slots_of
from kg_reasoner.loaders.syntaxes.vocabulary import is_built_in_datatype
from kg_reasoner.terms import BUILT_IN_ANNOTATIONS, IRI, OWL

__all__ = ["with_declarations"]

_ENTITIES: Final = {"data-property": "DataProperty", "annotation-property": "AnnotationProperty", "datatype": "Datatype"}
"""The kinds of names that triples alone may not distinguish from object properties and classes. The names beside them can."""
_CLEAR: Final = {"Annotation", "DataHasValue", "NegativeDataPropertyAssertion", "DataPropertyAssertion", "DatatypeRestriction"}
"""The constructs with such places whose triples say themselves what is meant."""
_OF_RANGES: Final = {name for name, slots in SIGNATURES.items() if slots[-1].kind == "data-range"} - {
    "DataPropertyRange",
    "DatatypeDefinition",
}
"""The constructs that are clear if they end with a data range that cannot be a class."""
_UNCLEAR: Final = {name for name, slots in SIGNATURES.items() if any(slot.kind in _ENTITIES for slot in slots)} - _CLEAR
"""The other constructs with such places."""


def with_declarations(constructs: Iterable[Construct]) -> Iterator[Construct]:
    """Yield the constructs of a document, then the declarations that are missing.

    Args:
        constructs: The constructs, which are well-formed.
    """
    used: dict[tuple[str, str], None] = {}
    told: set[tuple[str, str]] = set()
    for construct in constructs:
        yield construct
        waiting = [construct]
        while waiting:
            name, parts, _ = waiting.pop()
            waiting += [part for part in parts if type(part) is Construct]
            if name in _UNCLEAR:
                used.update(dict.fromkeys(_unclear(name, parts)))
            told.update(_told(name, parts))
    for entity, iri in used:
        if (entity, iri) not in told and not _is_built_in(IRI(iri)):
            yield Construct("Declaration", (Construct(entity, (IRI(iri),)),))


def _unclear(name: str, parts: tuple[Part, ...]) -> list[tuple[str, str]]:
    """Return the names in a construct for which it does not follow from its triples what they are; and what they are."""
    if name in _OF_RANGES and (
        isinstance(parts[-1], Construct) or (isinstance(parts[-1], IRI) and is_built_in_datatype(parts[-1]))
    ):
        return []
    entities = _entities(name, len(parts))
    return [(entities[number], part.value) for number, part in enumerate(parts) if number in entities and isinstance(part, IRI)]


@lru_cache(maxsize=256)
def _entities(name: str, count: int) -> Mapping[int, str]:
    """Return the numbers of a construct's parts that are such places, each with the kind of a name there."""
    return {number: _ENTITIES[kind] for number, kind in enumerate(slots_of(name, count)) if kind in _ENTITIES}


def _told(name: str, parts: tuple[Part, ...]) -> Iterator[tuple[str, str]]:
    """Yield the name for which it follows from the triples of a construct what it is, wherever else it is used; and what it is."""
    if name == "DataPropertyAssertion" or (name == "DataPropertyRange" and isinstance(parts[1], IRI) and _is_built_in(parts[1])):
        name = "DataProperty"
    if name in _ENTITIES.values() and isinstance(parts[0], IRI):
        yield name, parts[0].value


def _is_built_in(name: IRI) -> bool:
    return name in OWL or name in BUILT_IN_ANNOTATIONS or is_built_in_datatype(name)
