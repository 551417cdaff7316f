"""Facts of general predicates become explicit, or no longer explicit, as the declarations of their relations say."""

from __future__ import annotations

from kg_reasoner.api.core import ReasonerCore
from kg_reasoner.storage.arrays import Ids

__all__ = ["state_facts", "withdraw_facts"]


def state_facts(core: ReasonerCore, predicate: str, facts: Ids) -> None:
    """Make facts explicit, within an operation. Their arity and the types of their terms have been checked.

    Raises:
        KeyViolationError: A fact has the primary key of another one.
    """
    declaration = core.declared(predicate)
    if declaration is not None and declaration.key:
        from kg_reasoner.api.keys import check_keys

        check_keys(core.engine, declaration, facts)
    core.engine.load(predicate, facts)


def withdraw_facts(core: ReasonerCore, predicate: str, facts: Ids) -> None:
    """Make facts no longer explicit, within an operation."""
    core.engine.retract(predicate, facts)
