"""The triples that state axioms: their index, RDF lists, and problems.

Lists are those of RDF collections. A list node with several items makes several lists, as it does for the RL/RDF rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.schema_vocabulary import SCHEMA_CLASSES
from kg_reasoner.loaders.rules.swrl import MalformedTriples
from kg_reasoner.terms import RDF, BlankNode, Term, Triple, term_text

__all__ = ["OntologyTriples", "Problem"]

_SHORT: Final = 16
"""From this number of items on, the nodes of a list are remembered to find that it is cyclic: most lists are shorter."""
_MOST_LISTS: Final = 16
"""The maximal number of lists that are read from one head: nodes with several items multiply them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A triple that should state an axiom or a part of one and does not, with the reason."""

    triple: Triple
    reason: str


class OntologyTriples:
    """The triples of an ontology by predicate and subject, its lists, and what is malformed in them.

    Args:
        triples: The triples.
        stated: Whether they were stated; equal terms may derive lists whose nodes have several items.
        in_order: Whether they are given in the order of their texts, and each once.
    """

    def __init__(self, triples: Iterable[Triple], stated: bool, in_order: bool = False) -> None:
        self.stated = stated
        self.objects: dict[Term, dict[Term, list[Term]]] = defaultdict(dict)
        known: dict[int, dict[Term, list[Term]]] = {}  # by identity, as in `_in_text_order`
        for subject, predicate, object in triples if in_order else _in_text_order(triples):
            found = known.get(id(predicate))
            if found is None:
                found = known[id(predicate)] = self.objects[predicate]
            found.setdefault(subject, []).append(object)
        self.members: dict[Term, list[Term]] = defaultdict(list)
        for subject, types in self.objects[RDF.type].items():
            for cls in types:
                if isinstance(cls, BlankNode) or cls in SCHEMA_CLASSES:
                    self.members[cls].append(subject)
        self.problems: list[Problem] = []

    def triples(self, predicate: Term) -> Iterator[Triple]:
        for subject, objects in list(self.objects[predicate].items()):
            for object in objects:
                yield subject, predicate, object

    def noting(self, triple: Triple) -> _Noting:
        return _Noting(self.problems, triple)

    def list_of(self, head: Term) -> tuple[Term, ...]:
        """Return the items of an RDF list."""
        items: list[Term] = []
        seen: set[Term] = set()
        firsts, rests = self.objects[RDF.first], self.objects[RDF.rest]
        node = head
        while node != RDF.nil:
            first, rest = firsts.get(node, ()), rests.get(node, ())
            if len(items) >= _SHORT:
                if node in seen:
                    raise MalformedTriples("the list is cyclic")
                seen.add(node)
            if not first and not rest:
                raise MalformedTriples(f"the list is incomplete: {node} has neither rdf:first nor rdf:rest")
            if len(first) != 1 or len(rest) != 1:
                raise MalformedTriples(f"a list node has {len(first)} rdf:first and {len(rest)} rdf:rest; it needs one of each")
            items.append(first[0])
            node = rest[0]
        if not items:
            raise MalformedTriples("the list is empty")
        return tuple(items)

    def lists_of(self, triple: Triple) -> list[tuple[Term, ...]]:
        """Return the items of each RDF list (normally one) with the object of a triple as its head."""
        try:
            return [self.list_of(triple[2])]
        except MalformedTriples as error:
            found = self.some_lists(triple[2])
            if not found:
                raise
            if self.stated:
                self.problems.append(Problem(triple, str(error)))
            return found

    def some_lists(self, head: Term) -> list[tuple[Term, ...]]:
        """Return the items of all lists from a head; every node may have several items and successors."""
        firsts, rests = self.objects[RDF.first], self.objects[RDF.rest]
        found: list[tuple[Term, ...]] = []
        waiting: list[tuple[Term, _Items]] = [(head, None)]
        steps = _MOST_LISTS * (len(firsts) + 1)  # circles have no end
        while waiting and len(found) < _MOST_LISTS and steps:
            node, before = waiting.pop()
            steps -= 1
            if node == RDF.nil and before is not None:
                found.append(_in_order(before))
                continue
            pairs = [(rest, (first, before)) for first in firsts.get(node, ()) for rest in rests.get(node, ())]
            waiting += reversed(pairs)
        return found

    def listed(self, kind: Term, *predicates: Term) -> Iterator[Triple]:
        """Yield the triples with the members of the n-ary axioms of a kind."""
        for node in self.members[kind]:
            found = [(node, predicate, head) for predicate in predicates for head in self.objects[predicate].get(node, ())]
            if not found:
                names = " or ".join(f"owl:{str(predicate)[1:-1].rpartition('#')[2]}" for predicate in predicates)
                self.problems.append(Problem((node, RDF.type, kind), f"the axiom has no {names}"))
            yield from found


class _Noting:
    """A context that turns `MalformedTriples` into a problem of a triple."""

    def __init__(self, problems: list[Problem], triple: Triple) -> None:
        self.problems = problems
        self.triple = triple

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, MalformedTriples):
            return False
        self.problems.append(Problem(self.triple, str(error)))
        return True


def _in_text_order(triples: Iterable[Triple]) -> Iterator[Triple]:
    """Yield triples, each once, in the order of their texts: the same triples in another order give the same rules in the same
    order.
    """
    rows = list(triples)
    texts: dict[int, str] = {}  # by identity: most terms occur often, as the same object, and hashing them takes longer
    for row in rows:
        for term in row:
            if id(term) not in texts:
                texts[id(term)] = term_text(term)
    places = {text: place for place, text in enumerate(sorted(set(texts.values())))}
    place_of = {one: places[text] for one, text in texts.items()}
    size = len(places)
    keys = [
        (place_of[id(subject)] * size + place_of[id(predicate)]) * size + place_of[id(object)]
        for subject, predicate, object in rows
    ]
    before = None
    for key, row in sorted(zip(keys, rows, strict=True), key=itemgetter(0)):
        if key != before:
            yield row
        before = key


_Items: TypeAlias = "tuple[Term, _Items] | None"
"""The items of a list so far: the last one, and those before it."""


def _in_order(items: _Items) -> tuple[Term, ...]:
    found: list[Term] = []
    while items is not None:
        item, items = items
        found.append(item)
    return tuple(reversed(found))
