"""What becomes of equal terms: the treatment by which they stay what they are, and the interface of those that merge them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from kg_reasoner.query.patterns import Queries
from kg_reasoner.storage.kernels.layout import EXPLICIT

if TYPE_CHECKING:
    from kg_reasoner.engine.collector import Collector
    from kg_reasoner.engine.equality.names import Renaming
    from kg_reasoner.engine.fact_base import FactBase
    from kg_reasoner.engine.inconsistency import Violation
    from kg_reasoner.engine.materialise import PlannedRule
    from kg_reasoner.explain.derivations import Derivations
    from kg_reasoner.program import Atom, Rule
    from kg_reasoner.query.delta import Delta
    from kg_reasoner.query.matching import Which
    from kg_reasoner.storage.arrays import Changed, Ids, Rows

__all__ = ["Equality", "Transfer"]


class Transfer(Protocol):
    """Gives facts of a predicate, shape (n, arity), a flag, or takes it from them. Says of each whether that changes anything."""

    def __call__(self, predicate: str, facts: Rows, flag: int = EXPLICIT, /) -> Changed: ...


class Equality:
    """Equal terms are not merged: facts are stored as they were given, and rules are applied as they were written.

    `kg_reasoner.engine.equality.rewriting.Rewriting` overrides all of this.

    Args:
        facts: what is stored.
    """

    merges: ClassVar[bool] = False
    """Whether one representative stands for equal terms."""

    names_changed = False
    """Whether rules that name merged terms need to be rewritten."""

    def __init__(self, facts: FactBase) -> None:
        self._facts = facts

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def load(self) -> Transfer:
        """Inserts facts, as users name things. Says of each whether it is new."""
        return self._facts.store

    @property
    def retract(self) -> Transfer:
        """Takes a flag from facts. Says of each whether it had it."""
        return self._facts.unstore

    def foretell(self, predicate: str, facts: Rows, added: bool) -> Changed | None:
        """Which facts will become explicit, or cease to be, if what is stored will not tell that after an interrupt."""
        return None

    def note(self, predicate: str, facts: Rows, changed: Changed, added: bool) -> None:
        """Those facts that have changed have become explicit, or are no longer."""

    def release(self, predicate: str) -> None:
        """Forget a predicate that nothing uses."""

    def are_explicit(self, predicate: str, facts: Rows, stored: Changed) -> Changed:
        """Of each of some facts, whether it is explicit, given whether it is stored as such."""
        return stored

    def recovered(self, stored: dict[str, Rows]) -> dict[str, Rows]:
        """All explicit facts as users name things, given those that are stored, by predicate; wherever an update was interrupted.

        Some may be there twice.
        """
        return stored

    def in_all_names(self, predicate: str, stored: Callable[[Which], Ids], which: Which) -> Ids:
        """The facts of a predicate in all names, given the stored ones: all, the explicit, or those that are only derived."""
        return stored(which)

    def succeed(self, former: Equality) -> None:
        """Go on where another one has been, whose facts are given up."""

    # --- questions --------------------------------------------------------------------------------------------------

    def make_queries(self, *, generalised: bool) -> Queries:
        """Return queries in all names of terms. For `generalised` RDF, see `kg_reasoner.query.matching.TripleMatcher`."""
        return Queries(self._facts.catalog, generalised=generalised)

    def contradictions(self) -> Iterator[Violation]:
        """Literals of different values that have become the same."""
        return iter(())

    def renaming(self) -> Renaming | None:
        """How facts about equal terms are stored, for explanations."""
        return None

    def support(self, derivations: Derivations, term: int) -> list[Atom] | None:
        """The explicit facts from which it may follow that a term is the same as others; None where rules say that themselves."""
        return None

    # --- rules ------------------------------------------------------------------------------------------------------

    def check(self, rules: Iterable[Rule]) -> None:
        """Make sure that rules can be applied to what is stored.

        Raises:
            UnsupportedError: a rule does not mean the same in all names of a thing.
            StratificationError: what a rule negates may depend on equality, which depends on everything.
        """

    def rewritten_rules(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """The rules as they are applied to what is stored."""
        return rules

    def gone(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rewritten rules that are no longer among `rules`, if merged terms may have been the same for them."""
        return []

    # --- updates ----------------------------------------------------------------------------------------------------

    def revise(self, gone: Sequence[PlannedRule], gone_facts: Sequence[Rule]) -> bool:
        """Before an update: split the cliques that may have lost a reason, and merge those that are asserted to be the same.

        Nothing has been deleted yet. Says whether any clique has changed.

        Args:
            gone: the plans of rules that have been removed.
            gone_facts: facts that programs state no longer.
        """
        return False

    def merge(self) -> bool:
        """After an update: merge the cliques that were found to be the same. Says whether there are any."""
        return False

    def begin(self) -> None:
        """Forget what has been noted: changes are counted from now on."""

    def note_step(self, delta: Delta, collector: Collector) -> None:
        """Collect what a run of maintenance has changed among stored facts."""
        collector.take(delta)

    def finish(self, collector: Collector | None) -> None:
        """The update is through: collect what it has changed in all names, as far as it is not collected yet."""
