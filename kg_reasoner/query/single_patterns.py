"""The matches of single patterns of triples and quads, and which of them are visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.query.basic_patterns import AnyPattern, constant
from kg_reasoner.query.matching import TripleMatcher, Which
from kg_reasoner.query.quads import GRAPH_COLUMN, INFERRED, Quads
from kg_reasoner.query.unstored_triples import UnstoredTriples
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import NO_TRIPLES, Flags, Ids, selected_rows, unique_rows
from kg_reasoner.storage.grouping import among, group_rows
from kg_reasoner.terms import OWL, Term

__all__ = ["SinglePatterns", "Solutions"]

FEW = 64
"""The maximum number of triples to look up one by one, among few others."""

_LOOKED_AT = 1 << 9
"""About how many triples can be looked at while one is looked up."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """A table of ids with a name for each column."""

    names: Sequence[str]
    rows: Ids

    def columns(self, names: Sequence[str]) -> Ids:
        """Return the table of the named columns, in this order."""
        return self.rows if names == self.names else self.rows[:, [self.names.index(name) for name in names]]


class SinglePatterns:
    """Matches single patterns in the relations of a catalog as they are at the moment. See `TripleMatcher` for `generalised`."""

    visibility: Visibility | None = None
    """Decides which triples are hidden; None if none are."""

    def __init__(self, catalog: RelationCatalog, *, generalised: bool = False) -> None:
        self.catalog = catalog
        self.matcher = TripleMatcher(catalog, generalised=generalised)
        self.quads = Quads(catalog, self.matcher)
        self.unstored = UnstoredTriples(catalog, self.matcher, self._states_identities)

    def _states_identities(self) -> bool:
        return self.visibility is None or self.visibility.states_identities

    def are_special(self, patterns: Sequence[AnyPattern], which: Which) -> bool:
        """Return whether hidden triples match some pattern, or a pattern holds without being derived."""
        if self.visibility is None or which == "explicit":
            return False
        return any(self._hides_from(pattern, which) or self._is_trivial(pattern, which) for pattern in patterns)

    def visible(self, patterns: Sequence[AnyPattern], solutions: Solutions, which: Which) -> Ids:
        """Return the solutions in which no triple is hidden from its pattern."""
        rows = solutions.rows
        for pattern in patterns:
            if self._hides_from(pattern, which):
                triples = np.empty((len(rows), GRAPH_COLUMN), np.int32)
                for column, term in enumerate(pattern[:GRAPH_COLUMN]):
                    triples[:, column] = rows[:, solutions.names.index(term)] if isinstance(term, str) else term
                rows = selected_rows(rows, self._shown(triples, which))
        return rows

    def match(self, subject: int | None, property: int | None, value: int | None, which: Which = "all") -> Ids:
        """Return the matching triples as ids, shape (n, 3).

        Args:
            subject: Its id, or None for any.
            property: Its id, or None for any.
            value: Its id, or None for any.
            which: Whether explicit triples, inferred ones or all are looked for.
        """
        if subject is None or property is None or value is None:
            self.unstored.forget()
            return self.seen(self._matching(subject, property, value, which), property, value, which)
        triple = subject, property, value
        return np.array([triple] if self.contains(*triple, which) else [], np.int32).reshape(-1, GRAPH_COLUMN)

    def match_in(self, graph: int | frozenset[int], subject: int | None, property: int | None, value: int | None) -> Ids:
        """Return the matching triples of a graph, or of the merge of some graphs, as ids, shape (n, 3).

        Args:
            graph: The id of the graph, or those of the merged ones; `INFERRED` stands for the graph of all inferred triples.
            subject: Its id, or None for any.
            property: Its id, or None for any.
            value: Its id, or None for any.
        """
        self.unstored.forget()
        found = self._in_graph(subject, property, value, graph)
        return self.seen(found, property, value) if graph == INFERRED or isinstance(graph, frozenset) else found

    def contains(self, subject: int, property: int, value: int, which: Which = "all") -> bool:
        """Return whether a triple holds.

        Args:
            subject: Its id.
            property: Its id.
            value: Its id.
            which: Whether explicit triples, inferred ones or all are looked for.
        """
        if self.matcher.contains(subject, property, value, which) or self._is_trivial((subject, property, value), which):
            return True
        self.unstored.forget()
        return self.unstored.covers(property) and len(self._matching(subject, property, value, which)) > 0

    @property
    def expands(self) -> bool:
        """Whether a stored fact stands for several solutions, in other names of its terms."""
        return False

    def count(self, which: Which = "all") -> int:
        """Return the number of triples."""
        total = self.matcher.count(which)
        if which == "explicit" or self.visibility is None or not self.visibility.is_active:
            return total
        return total - int(np.count_nonzero(self.visibility.hides(self.matcher.match(None, None, None, "inferred"))))

    def naming(self) -> Callable[[Term], Term]:
        """Return a function from terms to one name for all equal terms."""
        dictionary = self.catalog.dictionary
        same_as = dictionary.find(OWL.sameAs)
        matcher = TripleMatcher(self.catalog, generalised=True)
        pairs = matcher.match(None, same_as, None)[:, [0, 2]] if same_as >= 0 else np.empty((0, 2), np.int32)
        names: dict[int, list[int]] = {}
        for one, other in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
            group, further = names.setdefault(one, [one]), names.setdefault(other, [other])
            if group is not further:
                group += further
                names.update(dict.fromkeys(further, group))

        def name(term: Term) -> Term:
            group = names.get(dictionary.find(term)) if names else None
            return term if group is None else dictionary.decode(min(group))

        return name

    def seen(self, found: Ids, property: int | None = None, value: int | None = None, which: Which = "all") -> Ids:
        """Return the triples that are not hidden from a pattern, among those that match its constants, shape (n, 3).

        Args:
            found: The triples that match.
            property: The pattern's property, or None for any.
            value: The pattern's value, or None for any.
            which: Whether the triples are the explicit ones, the inferred ones or all.
        """
        if which == "explicit" or len(found) == 0 or self.visibility is None or not self.visibility.covers(property, value):
            return found
        return found if self.visibility.hides_none(found) else selected_rows(found, self._shown(found, which))

    def _hides_from(self, pattern: AnyPattern, which: Which) -> bool:
        """Return whether hidden triples are omitted for a pattern. Explicit triples, such as those of named graphs, never are."""
        graph = INFERRED if len(pattern) == GRAPH_COLUMN else pattern[GRAPH_COLUMN]
        is_explicit = which == "explicit" or not (graph == INFERRED or isinstance(graph, frozenset))
        if is_explicit or self.matcher.generalised or self.visibility is None:
            return False
        return self.visibility.covers(pattern[1], pattern[2])

    def _shown(self, triples: Ids, which: Which) -> Flags:
        """Return whether each of some triples is not hidden."""
        assert self.visibility is not None
        hidden = self.visibility.hides(triples)
        if which == "all" and hidden.any():
            hidden[hidden] = ~self._are_explicit(triples[hidden])
        return ~hidden

    def _are_explicit(self, triples: Ids) -> Flags:
        """Return whether each of some triples, which would otherwise be hidden, is explicit."""
        assert self.visibility is not None
        if len(triples) <= max(FEW, self.matcher.size() // _LOOKED_AT):
            return np.array([self.matcher.contains(s, p, o, "explicit") for s, p, o in triples.tolist()], np.bool_)
        explicit = self.matcher.match(None, None, None, "explicit")
        return among(triples, explicit[self.visibility.hides(explicit)])

    def equates(self, pattern: AnyPattern) -> bool:
        """Return whether a pattern equates a term with itself."""
        if self.visibility is None or pattern[0] != pattern[2]:
            return False
        subject, property, _ = map(constant, pattern[:GRAPH_COLUMN])
        return subject is not None and property is not None and self.visibility.is_trivial(property)

    def _is_trivial(self, pattern: AnyPattern, which: Which) -> bool:
        """Return whether a pattern equates a term with itself, which holds whether or not a rule derives it."""
        if which == "explicit" or len(pattern) > GRAPH_COLUMN or not self.equates(pattern):
            return False
        subject, property, value = map(constant, pattern)
        assert subject is not None and property is not None and value is not None
        if not self.matcher.is_rdf(subject, property):
            return False
        if which == "inferred" and self.matcher.contains(subject, property, value, "explicit"):
            return False
        return any(len(self.matcher.match(s, p, o, limit=1)) > 0 for s, p, o in _places(subject))

    def is_unstored_identity(self, term: int) -> bool:
        """Return whether a term is the same as itself without a stored triple that says so."""
        triple = term, self.catalog.dictionary.find(OWL.sameAs), term
        return triple[1] >= 0 and not self.matcher.contains(*triple) and self.contains(*triple)

    def occurrences(self, term: int | None) -> Iterator[tuple[int, Ids]]:
        """Yield the triples with a term in each place, the explicit ones first: the place, and some triples, shape (n, 3).

        Args:
            term: Its id; None for any.
        """
        kinds: tuple[Which, ...] = "explicit", "inferred"
        for which in kinds:
            for place, pattern in enumerate(_places(term)):
                triples = self.matcher.match(*pattern, which)
                yield from ((place, triples[first : first + FEW]) for first in range(0, len(triples), FEW))

    def _matches(self, pattern: AnyPattern, which: Which, limit: int | None = None) -> Solutions:
        """Return the solutions of one pattern."""
        names: list[str] = []
        columns: list[int] = []
        repeated: list[tuple[int, int]] = []
        for column, term in enumerate(pattern):
            if isinstance(term, str):
                if term in names:
                    repeated.append((pattern.index(term), column))
                else:
                    names.append(term)
                    columns.append(column)
        found = self._found(pattern, which, None if repeated else limit)
        for first, second in repeated:
            found = selected_rows(found, found[:, first] == found[:, second])
        return Solutions(names, found[:, columns])

    def _found(self, pattern: AnyPattern, which: Which, limit: int | None = None) -> Ids:
        """Return the matches of a pattern's constants, with one column for each term except a constant graph."""
        subject, property, value = map(constant, pattern[:GRAPH_COLUMN])
        if len(pattern) == GRAPH_COLUMN:
            return self._matching(subject, property, value, which, limit)
        graph = pattern[GRAPH_COLUMN]
        if isinstance(graph, str):
            return self.quads.match_quads(subject, property, value, None)
        return self._in_graph(subject, property, value, graph)

    def _in_graph(self, subject: int | None, property: int | None, value: int | None, graph: int | frozenset[int]) -> Ids:
        """Return what `match_in` returns, and hidden triples."""
        if graph == INFERRED:
            return self._matching(subject, property, value, "inferred")
        if isinstance(graph, frozenset):
            found = [self._in_graph(subject, property, value, each) for each in sorted(graph)]
            merged = np.concatenate([NO_TRIPLES, *found])
            return merged.take(group_rows(merged)[1], axis=0)
        return self.quads.match(subject, property, value, graph)

    def _matching(
        self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None = None
    ) -> Ids:
        """Return the matching triples, stored or not."""
        found = self.matcher.match(subject, property, value, which, limit)
        if which == "explicit" or property is None or not self.unstored.covers(property):
            return found
        further = self.unstored.match(subject, property, value)
        if which == "inferred":
            further = further[~among(further, self.matcher.match(subject, property, value, "explicit"))]
        return unique_rows(np.concatenate([found, further]))


def _places(term: int | None) -> tuple[tuple[int | None, int | None, int | None], ...]:
    """Return the patterns with a term in each place."""
    return (term, None, None), (None, term, None), (None, None, term)
