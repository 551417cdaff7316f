"""The class expressions, data ranges and inverse properties of an RDF graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.syntaxes import vocabulary as tables
from kg_reasoner.loaders.syntaxes.constructs import KINDS, Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.manchester_frames import FACETS
from kg_reasoner.loaders.syntaxes.rdf_graph import RdfGraph
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Literal, Term, Triple

__all__ = ["DEFINITIONS", "GraphExpressions", "number_of"]

DEFINITIONS: Final = {
    OWL.intersectionOf: "IntersectionOf",
    OWL.unionOf: "UnionOf",
    OWL.oneOf: "OneOf",
    OWL.complementOf: "ComplementOf",
    OWL.datatypeComplementOf: "ComplementOf",
}
_VALUES: Final = {OWL.someValuesFrom: "SomeValuesFrom", OWL.allValuesFrom: "AllValuesFrom", OWL.hasValue: "HasValue"}
_CARDINALITIES: Final = {
    property: f"{name}Cardinality"
    for name in ("Min", "Max", "Exact")
    for property in tables.CARDINALITIES[f"Object{name}Cardinality"][:2]
}
_MARKS: Final = frozenset({*DEFINITIONS, *_VALUES, *_CARDINALITIES, OWL.hasSelf, OWL.onDatatype, OWL.inverseOf})
_STRUCTURE: Final = _MARKS | {OWL.onProperty, OWL.onProperties, OWL.onClass, OWL.onDataRange, OWL.withRestrictions}
_TYPES: Final = frozenset({OWL.Class, OWL.Restriction, RDFS.Datatype, OWL.DataRange, RDFS.Class, OWL.DeprecatedClass})
_FACETS: Final = frozenset(FACETS.values())
_DATA_RANGES: Final = KINDS["data-range"].constructs
_LARGEST: Final = 9

_Build: TypeAlias = "Callable[[list[Part]], Construct]"


@dataclass(frozen=True, slots=True)
class _Shape:
    """An expression whose parts are not known: the nodes and terms that they are, and what to make of them."""

    parts: list[Term]
    build: _Build
    triples: list[Triple]


def number_of(term: Term) -> int | None:
    """Return the number that a literal of a cardinality denotes."""
    if isinstance(term, Literal) and term.lexical.isascii() and term.lexical.isdecimal() and len(term.lexical) <= _LARGEST:
        return int(term.lexical)
    return None


class GraphExpressions:
    """The expressions of a graph, found when they are asked for."""

    def __init__(self, graph: RdfGraph) -> None:
        self._graph = graph
        self._found: dict[Term, Construct | None] = {}
        self._triples: dict[Term, list[Triple]] = {}
        self._inner: dict[Term, list[Term]] = {}
        self.used: set[Term] = set()
        """The nodes of expressions that are part of a construct."""

    def part(self, term: Term) -> Part | None:
        """Return the name or the expression for a node in the place of a class, data range or property; None if there is none."""
        if not isinstance(term, BlankNode):
            return term
        return self._expression(term)

    def use(self, *terms: Term) -> None:
        """Take note that expressions are part of a construct."""
        waiting = list(terms)
        while waiting:
            node = waiting.pop()
            if node in self._triples:
                self.used.add(node)
            self._graph.use(*self._triples.pop(node, ()))
            waiting += self._inner.pop(node, ())

    def of(self, name: Term, property: Term, value: Term) -> Construct | None:
        """Return the expression that a triple attaches to a name, as in ``:A owl:unionOf (:B :C)``."""
        shape = self._definition(name, property, value)
        if shape is None:
            return None
        parts = [self.part(part) for part in shape.parts]
        built = self._built(shape, parts)
        if built is not None:
            self.use(*shape.parts)
            self._graph.use(*shape.triples)
        return built

    def _expression(self, node: Term) -> Construct | None:
        """Return the expression of a node. Those inside it come first, without recursion; a cycle is not an expression."""
        waiting: list[tuple[Term, _Shape | None]] = [(node, None)]
        begun: set[Term] = set()
        while waiting:
            current, shape = waiting.pop()
            if current in self._found:
                continue
            if shape is None:
                shape = None if current in begun else self._shape(current)
                begun.add(current)
                if shape is None:
                    self._found[current] = None
                    continue
                waiting.append((current, shape))
                waiting += ((part, None) for part in shape.parts if isinstance(part, BlankNode) and part not in self._found)
                continue
            parts = [
                self._found.get(part) if isinstance(part, BlankNode) and self._is_structure(part) else part for part in shape.parts
            ]
            built = self._found[current] = self._built(shape, parts)
            if built is not None:
                self._triples[current] = shape.triples
                self._inner[current] = [part for part in shape.parts if isinstance(part, BlankNode)]
        return self._found[node]

    def _is_structure(self, node: Term) -> bool:
        return any(property in _STRUCTURE or property in _FACETS for property, _ in self._graph.of_node.get(node, ()))

    def _built(self, shape: _Shape, parts: Iterable[Part | None]) -> Construct | None:
        known = [part for part in parts if part is not None]
        if len(known) < len(shape.parts):
            return None
        construct = shape.build(known)
        try:
            check(construct)
        except Malformed:
            return None
        return construct

    # ---- shapes of nodes

    def _shape(self, node: Term) -> _Shape | None:
        graph = self._graph
        statements = graph.of_node.get(node, ())
        structure = [(property, value) for property, value in statements if property in _STRUCTURE]
        marks = [(property, value) for property, value in structure if property in _MARKS]
        facets = [(property, value) for property, value in statements if property in _FACETS]
        if len(facets) == 1 and not structure:
            (facet,) = facets
            assert isinstance(facet[0], IRI)
            return _Shape([facet[0], facet[1]], lambda parts: Construct("FacetRestriction", tuple(parts)), [(node, *facet)])
        if len(marks) != 1:
            return None
        property, value = marks[0]
        if property == OWL.inverseOf and len(structure) == 1:
            shape: _Shape | None = _Shape([value], lambda parts: Construct("ObjectInverseOf", tuple(parts)), [])
        elif property in DEFINITIONS and len(structure) == 1:
            shape = self._definition(node, property, value)
        elif property == OWL.onDatatype:
            shape = self._datatype_restriction(node, value)
        else:
            shape = self._restriction(node, property, value, len(structure))
        if shape is None:
            return None
        typed = [(node, RDF.type, kind) for found, kind in statements if found == RDF.type and kind in _TYPES]
        return _Shape(shape.parts, shape.build, [*shape.triples, *((node, *pair) for pair in structure), *typed])

    def _definition(self, node: Term, property: Term, value: Term) -> _Shape | None:
        assert isinstance(property, IRI)
        name = DEFINITIONS[property]
        if name == "ComplementOf":
            members: list[Term] = [value]
            triples: list[Triple] = []
        else:
            found = self._graph.items(value)
            if found is None:
                return None
            members, triples = found
        is_data = self._graph.is_datatype(node) or property == OWL.datatypeComplementOf

        def build(parts: list[Part]) -> Construct:
            data = is_data or any(map(self._is_data_range, parts))
            return Construct(f"{'Data' if data else 'Object'}{name}", tuple(parts))

        return _Shape(members, build, triples)

    def _datatype_restriction(self, node: Term, datatype: Term) -> _Shape | None:
        heads = self._graph.values(node, OWL.withRestrictions)
        found = self._graph.items(heads[0]) if len(heads) == 1 else None
        if found is None:
            return None
        return _Shape([datatype, *found[0]], lambda parts: Construct("DatatypeRestriction", tuple(parts)), found[1])

    def _restriction(self, node: Term, mark: Term, value: Term, size: int) -> _Shape | None:
        graph = self._graph
        properties, lists = graph.values(node, OWL.onProperty), graph.values(node, OWL.onProperties)
        triples: list[Triple] = []
        if len(lists) == 1 and not properties:
            found = graph.items(lists[0])
            if found is None:
                return None
            properties, triples = found
        elif len(properties) != 1 or lists:
            return None
        assert isinstance(mark, IRI)
        if mark == OWL.hasSelf:
            if size != 2 or not isinstance(value, Literal) or value.lexical != "true":
                return None
            return _Shape(properties, lambda parts: Construct("ObjectHasSelf", tuple(parts)), triples)
        if mark in _VALUES:
            if size != 2:
                return None

            def with_values(parts: list[Part]) -> Construct:
                *restricted, filler = parts
                return Construct(f"{self._word(restricted, filler)}{_VALUES[mark]}", tuple(parts))

            return _Shape([*properties, value], with_values, triples)
        number = number_of(value)
        fillers = [*graph.values(node, OWL.onClass), *graph.values(node, OWL.onDataRange)]
        if number is None or size != 2 + len(fillers) or len(fillers) > 1 or ("ualified" in mark.value) != bool(fillers):
            return None

        def with_number(parts: list[Part]) -> Construct:
            word = self._word(parts[:1], parts[1] if fillers else None)
            return Construct(f"{word}{_CARDINALITIES[mark]}", (number, *parts))

        return _Shape([*properties, *fillers], with_number, triples)

    def _word(self, properties: list[Part], filler: Part | None) -> str:
        if isinstance(filler, Literal) or (filler is not None and self._is_data_range(filler)):
            return "Data"
        if any(isinstance(property, Construct) for property in properties) or isinstance(filler, Construct | BlankNode):
            return "Object"
        kinds = {self._graph.kind(property) for property in properties if isinstance(property, IRI)}
        return "Data" if kinds == {"Data"} else "Object"

    def _is_data_range(self, part: Part) -> bool:
        if isinstance(part, Construct):
            return part.name in _DATA_RANGES
        return isinstance(part, IRI) and self._graph.is_datatype(part)
