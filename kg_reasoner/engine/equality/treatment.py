"""The interface of the engine to equality, and its implementation without merging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from kg_reasoner.query.patterns import Queries
from kg_reasoner.storage.kernels.layout import EXPLICIT

if TYPE_CHECKING:
    from kg_reasoner.engine.equality.names import Renaming
    from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
    from kg_reasoner.engine.facts.collector import Collector
    from kg_reasoner.engine.facts.fact_base import FactBase
    from kg_reasoner.engine.inconsistency import Violation
    from kg_reasoner.explain.derivations import Derivations
    from kg_reasoner.program import Atom, Rule
    from kg_reasoner.query.delta import Delta
    from kg_reasoner.query.matching import Which
    from kg_reasoner.storage.arrays import Changed, Ids, Rows

__all__ = ["Equality", "Transfer"]


class Transfer(Protocol):
    """Sets or removes a flag of facts of a predicate, shape (n, arity). Returns whether each has changed."""

    def __call__(self, predicate: str, facts: Rows, flag: int = EXPLICIT, /) -> Changed: ...


class Equality:
    """Equality without merging: facts are stored as given, and rules are applied as written.

    `kg_reasoner.engine.equality.rewriting.Rewriting` overrides all of this.

    Args:
        facts: The stored facts.
    """

    merges: ClassVar[bool] = False
    """Whether equal terms are merged."""

    names_changed = False
    """Whether rules that name merged terms need to be rewritten."""

    def __init__(self, facts: FactBase) -> None:
        self._facts = facts

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def load(self) -> Transfer:
        """Inserts facts as asserted. Returns whether each is new."""
        return self._facts.store

    @property
    def retract(self) -> Transfer:
        """Removes a flag from facts as asserted. Returns whether each had it."""
        return self._facts.unstore

    def changed_explicit(self, predicate: str, facts: Rows, added: bool) -> Changed | None:
        """Return which facts will become explicit, or no longer explicit, if the stored facts do not show that after an
        interrupt.
        """
        return None

    def note(self, predicate: str, facts: Rows, changed: Changed, added: bool) -> None:
        """Note that the changed facts have become explicit, or no longer explicit."""

    def release(self, predicate: str) -> None:
        """Discard an unused predicate."""

    def are_explicit(self, predicate: str, facts: Rows, stored: Changed) -> Changed:
        """Return whether each of some facts is explicit, given whether it is stored as explicit."""
        return stored

    def recovered(self, stored: dict[str, Rows]) -> dict[str, Rows]:
        """Return all explicit facts as asserted, given the stored ones, by predicate. An update may have been interrupted
        anywhere.

        The result may contain duplicates.
        """
        return stored

    def in_all_names(self, predicate: str, stored: Callable[[Which], Ids], which: Which) -> Ids:
        """Return the facts of a predicate in all names, given the stored ones: all, the explicit, or the inferred ones."""
        return stored(which)

    def succeed(self, former: Equality) -> None:
        """Take over the noted changes of a former treatment, whose facts are discarded."""

    # --- questions --------------------------------------------------------------------------------------------------

    def make_queries(self, *, generalised: bool) -> Queries:
        """Return queries in all names of terms. For `generalised` RDF, see `kg_reasoner.query.matching.TripleMatcher`."""
        return Queries(self._facts.catalog, generalised=generalised)

    def contradictions(self) -> Iterator[Violation]:
        """Return the violations by equal literals of different values."""
        return iter(())

    def renaming(self) -> Renaming | None:
        """Return the translation between facts and their normal forms, for explanations."""
        return None

    def support(self, derivations: Derivations, term: int) -> list[Atom] | None:
        """Return the explicit facts from which the equalities of a term may follow; None if rules derive equalities."""
        return None

    # --- rules ------------------------------------------------------------------------------------------------------

    def check(self, rules: Iterable[Rule]) -> None:
        """Check that rules can be applied to stored facts.

        Raises:
            UnsupportedError: A rule has different meanings for names of equal terms.
            StratificationError: A negated predicate may depend on equality, which depends on all predicates.
        """

    def rewritten_rules(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """Return the rules as they are applied to stored facts."""
        return rules

    def rewritten_query(self, query: Rule) -> Rule:
        """Return a rule as it would be applied to stored facts, without applying it from now on."""
        return query

    def gone(self, rules: Iterable[Rule]) -> list[Rule]:
        """Return the rewritten rules that are not among `rules`, if merged terms may depend on them."""
        return []

    # --- updates ----------------------------------------------------------------------------------------------------

    def revise(self, gone: Sequence[PlannedRule], gone_facts: Sequence[Rule]) -> bool:
        """Before an update: split the cliques that may have lost a reason, and merge those asserted to be equal.

        Nothing has been deleted yet.

        Args:
            gone: The plans of removed rules.
            gone_facts: The removed facts of the program.

        Returns:
            Whether any clique has changed.
        """
        return False

    def merge(self) -> bool:
        """After an update: merge cliques that are derived to be equal. Return whether there are any."""
        return False

    def begin(self) -> None:
        """Discard the noted changes, and note changes from now on."""

    def note_step(self, delta: Delta, collector: Collector) -> None:
        """Collect the changes of stored facts by a maintenance run."""
        collector.take(delta)

    def finish(self, collector: Collector | None) -> None:
        """Finish an update: collect its changes in all names that are not yet collected."""
