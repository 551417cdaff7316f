"""Patterns and queries over all names of terms, answered from stored facts about their representatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg_reasoner.engine.equality.asserted import Asserted
from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.planning.catalog import RelationCatalog, StoredAtom
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import TripleMatcher, Which
from kg_reasoner.query.patterns import AnyPattern, Pattern, Proper, Queries
from kg_reasoner.query.quads import GRAPH_COLUMN, Quads
from kg_reasoner.query.unstored_triples import UnstoredTriples
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids, contains, selected_rows
from kg_reasoner.terms import OWL, Term


class ExpandingTripleMatcher(TripleMatcher):
    """A matcher of triples in all names of equal terms.

    Explicit triples are found as they were asserted.
    """

    def __init__(self, catalog: RelationCatalog, cliques: Cliques, asserted: Asserted, *, generalised: bool = False) -> None:
        super().__init__(catalog, generalised=generalised)
        self.cliques = cliques
        self.asserted = asserted
        self._stored = TripleMatcher(catalog, generalised=True)

    def contains(self, subject: int, property: int, value: int, which: Which = "all") -> bool:
        """Return whether a triple holds."""
        if not self.cliques:
            return super().contains(subject, property, value, which)
        return len(self.match(subject, property, value, which)) > 0

    def match(
        self, subject: int | None, property: int | None, value: int | None, which: Which = "all", limit: int | None = None
    ) -> Ids:
        """Return the matching triples as ids, shape (n, 3). With a limit, at least that number is sufficient."""
        if not self.cliques:
            return super().match(subject, property, value, which, limit)
        if not self.is_rdf(subject, property):
            return NO_TRIPLES
        pattern = (subject, property, value)
        explicit = NO_TRIPLES if which == "all" else self._explicit(pattern)
        if which == "explicit":
            return explicit
        everything = self._all(pattern)
        return everything if which == "all" else everything[~contains(explicit, everything)]

    def count(self, which: Which = "all") -> int:
        """Return the number of triples."""
        if not self.cliques:
            return super().count(which)
        explicit = 0 if which == "all" else len(self._explicit((None, None, None)))
        return explicit if which == "explicit" else self._count_all() - explicit

    def _count_all(self) -> int:
        """Return the number of triples in all names, without materialising them."""
        rows = self.stored_rows()
        first = self.catalog.dictionary.first_bytes()
        every = np.ones(len(first), bool)
        kinds = (every, every, every) if self.generalised else (first != ord('"'), first == ord("<"), every)
        numbers = [self.cliques.count_members(kind)[column] for kind, column in zip(kinds, rows.T, strict=True)]
        return int(np.prod(numbers, axis=0).sum())

    def _all(self, pattern: tuple[int | None, int | None, int | None]) -> Ids:
        """Return all matching triples: those of the representatives, in all names where the pattern gives none."""
        of = self.cliques.of_term
        subject, property, value = (None if term is None else of(term) for term in pattern)
        found = self._stored.match(subject, property, value)
        variables = [column for column, term in enumerate(pattern) if term is None]
        names = self.cliques.expand(found[:, variables])
        if not variables:
            names = found[:, :0]
        triples = np.empty((len(names), 3), np.int32)
        triples[:, variables] = names
        for column, term in enumerate(pattern):
            if term is not None:
                triples[:, column] = term
        return self.rdf(triples)

    def _explicit(self, pattern: tuple[int | None, int | None, int | None]) -> Ids:
        """Return the matching explicit triples as they were asserted."""
        subject, property, value = pattern
        stored = self._stored.match(subject, property, value, "explicit")
        stored = stored[~self.cliques.are_merged(stored).any(axis=1)]
        asserted = self.asserted.matching(TRIPLE, pattern)
        return np.concatenate([stored, asserted])

    def stored_rows(self) -> Ids:
        """Return all triples as stored, including those that are not RDF."""
        return self._stored.match(None, None, None)

    def rdf(self, triples: Ids) -> Ids:
        """Return the RDF triples among some facts."""
        if self.generalised:
            return triples
        first = self.catalog.dictionary.first_bytes()
        return selected_rows(triples, (first.take(triples[:, 0]) != ord('"')) & (first.take(triples[:, 1]) == ord("<")))


class ExpandingQueries(Queries):
    """Queries over an `ExpandingTripleMatcher`.

    Solutions give each variable one name, and all combinations of names are solutions, as if all facts were stored in all names.
    """

    matcher: ExpandingTripleMatcher

    def __init__(self, catalog: RelationCatalog, cliques: Cliques, asserted: Asserted, *, generalised: bool = False) -> None:
        super().__init__(catalog, generalised=generalised)
        self.matcher = ExpandingTripleMatcher(catalog, cliques, asserted, generalised=generalised)
        self.quads = Quads(catalog, self.matcher)
        self.unstored = UnstoredTriples(catalog, self.matcher, self._states_identities)
        self._same_as = catalog.dictionary.encode(OWL.sameAs)

    @property
    def expands(self) -> bool:
        """Whether there are merged terms."""
        return bool(self.matcher.cliques)

    def count(self, which: Which = "all") -> int:
        """Return the number of triples. Combinations of equal terms are not materialised."""
        if not self.matcher.cliques:
            return super().count(which)
        total = self.matcher.count(which)
        if which == "explicit" or self.visibility is None or not self.visibility.is_active:
            return total
        cliques, rows, first = self.matcher.cliques, self.matcher.stored_rows(), self.catalog.dictionary.first_bytes()
        is_reflexive = (rows[:, 1] == cliques.of_term(self._same_as)) & (rows[:, 0] == rows[:, 2])
        is_reflexive &= ~self.visibility.are_vocabulary(rows[:, 0])  # the other triples of such a subject are hidden, too
        themselves = int(cliques.count_members(first != ord('"'))[rows[is_reflexive, 0]].sum())
        others = self.matcher.rdf(cliques.expand(rows[~is_reflexive]))
        explicit = self.matcher.match(None, None, None, "explicit")
        hidden, shown = (int(np.count_nonzero(self.visibility.hides(triples))) for triples in (others, explicit))
        return total - (themselves + hidden - shown)

    def naming(self) -> Callable[[Term], Term]:
        """Return the representative of each term."""
        dictionary, cliques = self.catalog.dictionary, self.matcher.cliques

        def name(term: Term) -> Term:
            number = dictionary.find(term) if cliques else -1
            return term if number < 0 else dictionary.decode(cliques.of_term(number))

        return name

    def _has_relation(self, pattern: Pattern) -> bool:
        return super()._has_relation(self._represented(pattern))

    def _atom(self, pattern: Pattern) -> StoredAtom | None:
        return super()._atom(self._represented(pattern))

    def _proper(self, patterns: Sequence[AnyPattern], names: Sequence[str]) -> Proper | None:
        kept, expand = super()._proper(patterns, names), self.matcher.cliques.expand
        if len(patterns[0]) > GRAPH_COLUMN:
            return kept
        return expand if kept is None else lambda rows: kept(expand(rows))

    def _represented(self, pattern: Pattern) -> Pattern:
        """Return a pattern with representatives for its constants."""
        of = self.matcher.cliques.of_term
        subject, property, value = (of(term) if isinstance(term, int) else term for term in pattern)
        return subject, property, value
