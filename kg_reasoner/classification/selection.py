"""The axioms of an ontology about its classes and properties, selected from the explicit triples of a reasoner as arrays of ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.data_classes import dataclass
from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.schema_vocabulary import SCHEMA_CLASSES, SCHEMA_PREDICATES
from kg_reasoner.loaders.rules.swrl import SWRL_CLASSES, SWRL_PREDICATES
from kg_reasoner.storage.arrays import Flags, Ids, TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, RDF, RDFS, XSD, Term

__all__ = ["KINDS", "Kind", "Selection", "select"]

Kind: TypeAlias = Literal["class", "object property", "data property"]
KINDS: Final[tuple[Kind, ...]] = ("class", "object property", "data property")

_RESERVED: Final = tuple(f"<{base}" for base in (RDF, RDFS, OWL, XSD))
_DECLARING: Final = (SCHEMA_CLASSES - SWRL_CLASSES) | {RDFS.Class, RDF.Property, OWL.AnnotationProperty}
_OF_NAMED: Final = frozenset({OWL.hasKey, *SWRL_PREDICATES})
"""Keys and SWRL rules are about named individuals only, so they say nothing about classes."""
_FEW: Final = 100
"""Inclusions between names are told as facts if there are no more triples of other axioms than this. The one rule that applies them
has a variable for classes. With it, all triples are in one table, and each new type is matched with the rules for all other axioms.
"""
_STATING: Final = (SCHEMA_PREDICATES - _OF_NAMED) | {OWL.sameAs, OWL.differentFrom}

_BETWEEN_CLASSES: Final = (RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith, OWL.complementOf)
_TO_CLASSES: Final = (RDFS.domain, RDFS.range, OWL.someValuesFrom, OWL.allValuesFrom, OWL.onClass)
_OF_CLASSES: Final = (OWL.intersectionOf, OWL.unionOf, OWL.oneOf, OWL.disjointUnionOf)
_BETWEEN_PROPERTIES: Final = (RDFS.subPropertyOf, OWL.equivalentProperty, OWL.inverseOf, OWL.propertyDisjointWith)


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected axioms and names.

    Attributes:
        axioms: The triples of axioms, without `told`.
        told: Pairs of a class and one above it, as the ontology states them, that need no rules of their own; None if all
            inclusions are among the axioms.
        others: The other triples, which are about individuals.
        names: The classes, object properties and data properties.
        has_keys: Whether there are keys or SWRL rules, which are left out.
    """

    axioms: TripleIds
    told: Ids | None
    others: TripleIds
    names: dict[Kind, Ids]
    has_keys: bool


def select(triples: TripleIds, dictionary: Dictionary, *, separates_told: bool) -> Selection:
    """Return the axioms about classes and properties among explicit triples.

    Args:
        triples: The explicit triples.
        dictionary: Their dictionary.
        separates_told: Whether to separate inclusions between names from the other axioms, if these are few.
    """
    find = dictionary.find
    type_id = find(RDF.type)
    is_type = triples[:, 1] == type_id
    of_schema = np.where(
        is_type, _among(triples[:, 2], _ids(dictionary, _DECLARING)), _among(triples[:, 1], _ids(dictionary, _STATING))
    )
    axioms = triples[of_schema]
    keys = _among(triples[:, 1], _ids(dictionary, _OF_NAMED))
    others = triples[~of_schema & ~keys & ~(is_type & _among(triples[:, 2], _ids(dictionary, SWRL_CLASSES)))]
    names = _names(axioms, others, dictionary, type_id)
    told = _told(axioms, dictionary) if separates_told else None
    if told is None:
        return Selection(axioms, None, others, names, bool(keys.any()))
    pairs = axioms[told]
    both = pairs[pairs[:, 1] == find(OWL.equivalentClass)]
    return Selection(axioms[~told], np.concatenate([pairs[:, [0, 2]], both[:, [2, 0]]]), others, names, bool(keys.any()))


def _ids(dictionary: Dictionary, terms: Iterable[Term]) -> Ids:
    found = np.array(sorted(dictionary.find(term) for term in terms), np.int32)
    return found[found >= 0]


def _among(column: npt.NDArray[np.int32], sought: Ids) -> Flags:
    return np.isin(column, sought)


def _names(axioms: TripleIds, others: TripleIds, dictionary: Dictionary, type_id: int) -> dict[Kind, Ids]:
    """Return the names of each kind, declared or used as such, in the order of their ids."""
    types = axioms[:, 1] == type_id

    def declared(*kinds: Term) -> Ids:
        return axioms[types & _among(axioms[:, 2], _ids(dictionary, kinds)), 0]

    def ends(predicates: Iterable[Term], *columns: int) -> Ids:
        rows = axioms[_among(axioms[:, 1], _ids(dictionary, predicates))]
        return rows[:, list(columns)].ravel()

    heads = [ends([OWL.intersectionOf, OWL.unionOf, OWL.disjointUnionOf], 2), _members_of_disjoint(axioms, dictionary, type_id)]
    used = [
        _listed(axioms, np.concatenate(heads), dictionary),
        ends(_BETWEEN_CLASSES, 0, 2),
        ends(_TO_CLASSES, 2),
        ends(_OF_CLASSES, 0),
        others[others[:, 1] == type_id, 2],
    ]
    classes = _named([declared(OWL.Class, RDFS.Class), *used], dictionary)
    data = _named([declared(OWL.DatatypeProperty)], dictionary)
    annotations = _named([declared(OWL.AnnotationProperty)], dictionary)
    characteristic = [kind for kind in SCHEMA_CLASSES if str(kind).endswith("Property>") and kind != OWL.DatatypeProperty]
    stating = [
        ends(_BETWEEN_PROPERTIES, 0, 2),
        ends([RDFS.domain, RDFS.range, OWL.propertyChainAxiom], 0),
        ends([OWL.onProperty], 2),
        _listed(axioms, ends([OWL.propertyChainAxiom], 2), dictionary),
    ]
    properties = _named([declared(RDF.Property, *characteristic), *stating], dictionary)
    objects = np.union1d(properties, np.intersect1d(data, _named([declared(OWL.ObjectProperty)], dictionary)))
    only_data = np.setdiff1d(data, _named([declared(OWL.ObjectProperty)], dictionary))
    return {
        "class": np.setdiff1d(classes, _named([declared(RDFS.Datatype)], dictionary)),
        "object property": np.setdiff1d(np.setdiff1d(objects, only_data), annotations),
        "data property": np.setdiff1d(only_data, annotations),
    }


def _members_of_disjoint(axioms: TripleIds, dictionary: Dictionary, type_id: int) -> Ids:
    """Return the lists of classes that are stated to be disjoint."""
    find = dictionary.find
    disjoint = axioms[(axioms[:, 1] == type_id) & (axioms[:, 2] == find(OWL.AllDisjointClasses)), 0]
    return axioms[(axioms[:, 1] == find(OWL.members)) & np.isin(axioms[:, 0], disjoint), 2]


def _listed(axioms: TripleIds, cells: Ids, dictionary: Dictionary) -> Ids:
    """Return the members of the lists that begin with some cells."""
    firsts = axioms[axioms[:, 1] == dictionary.find(RDF.first)]
    rests = axioms[axioms[:, 1] == dictionary.find(RDF.rest)]
    seen = np.unique(cells)
    while len(cells):
        following = np.unique(rests[np.isin(rests[:, 0], cells), 2])
        cells = np.setdiff1d(following, seen)
        seen = np.union1d(seen, cells)
    found: Ids = firsts[np.isin(firsts[:, 0], seen), 2]
    return found


def _named(parts: list[Ids], dictionary: Dictionary) -> Ids:
    """Return the IRIs among some ids that are not in the vocabularies of RDF, RDFS, OWL or XML Schema."""
    ids = np.unique(np.concatenate(parts)).astype(np.int32)
    ids = ids[dictionary.first_bytes()[ids] == ord("<")]
    kept = [not text.startswith(_RESERVED) for text in dictionary.texts_of(ids)]
    return ids[np.array(kept, bool)]


def _told(axioms: TripleIds, dictionary: Dictionary) -> Flags | None:
    """Return a mask of the inclusions between names that no other axiom needs as triples; None if other axioms are many."""
    find = dictionary.find
    subclass, equivalent, type_id = find(RDFS.subClassOf), find(OWL.equivalentClass), find(RDF.type)
    inclusions = (axioms[:, 1] == subclass) | (axioms[:, 1] == equivalent)
    datatypes = axioms[(axioms[:, 1] == type_id) & (axioms[:, 2] == find(RDFS.Datatype)), 0]
    names = np.setdiff1d(_named([axioms[inclusions][:, [0, 2]].ravel()], dictionary), datatypes)
    told: Flags = inclusions & np.isin(axioms[:, 0], names) & np.isin(axioms[:, 2], names)
    if np.count_nonzero(~told & (axioms[:, 1] != type_id)) > _FEW:
        return None
    needed = _ordering_fillers(axioms, told, dictionary)
    return told & ~needed if needed is not None else told


def _ordering_fillers(axioms: TripleIds, told: Flags, dictionary: Dictionary) -> Flags | None:
    """Return which inclusions can order the fillers of restrictions, and so the restrictions; None if nothing recognises members
    of a restriction by its place among others.
    """
    find = dictionary.find
    values = _among(axioms[:, 1], _ids(dictionary, [OWL.someValuesFrom, OWL.allValuesFrom]))
    fillers = np.unique(axioms[values, 2])
    restrictions = axioms[values, 0]
    uses = axioms[np.isin(axioms[:, 2], restrictions)]
    states = axioms[np.isin(axioms[:, 0], restrictions) & (axioms[:, 1] == find(RDFS.subClassOf))]
    if len(fillers) < 2 or ((uses[:, 1] == find(RDFS.subClassOf)).all() and len(states) == 0):
        return None
    rest = axioms[~told & (axioms[:, 1] != find(RDF.type))]
    starts = np.unique(np.concatenate([fillers, rest[:, 0], rest[:, 2]])).tolist()
    edges = axioms[told]
    up, down = _successors(edges[:, [0, 2]].tolist()), _successors(edges[:, [2, 0]].tolist())
    both = edges[edges[:, 1] == find(OWL.equivalentClass)]
    for first, second in both[:, [0, 2]].tolist():
        up.setdefault(second, []).append(first)
        down.setdefault(first, []).append(second)
    above = np.array(sorted(reachable(starts, lambda node: up.get(node, ()))), np.int32)
    below = np.array(sorted(reachable(starts, lambda node: down.get(node, ()))), np.int32)
    needed: Flags = told & np.isin(axioms[:, 0], above) & np.isin(axioms[:, 2], below)
    return needed


def _successors(pairs: Iterable[list[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return found
