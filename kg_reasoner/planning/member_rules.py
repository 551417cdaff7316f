"""Rules for the members of collections, over a function that has all members as its results.

The rules of ``?x IN SPLIT(?s, ",")`` (see `kg_reasoner.language.desugaring.members`) find the places of a collection first, and the
member at each of them. This is what proofs show. The engine leaves the places out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kg_reasoner.planning.catalog import StoredCall, StoredRule
from kg_reasoner.planning.functions.function_relations import MEMBERS, Functions, is_element
from kg_reasoner.program import AUXILIARY, Atom, Bind, Call, Variable

__all__ = ["without_places"]

_PLACES: Final = f"{AUXILIARY}places"


def without_places(stored: StoredRule, functions: Functions) -> StoredRule:
    """Return a rule for members that asks for all of them at once; any other rule as it is.

    Args:
        stored: The rule.
        functions: The functions of its database.
    """
    found = _element(stored)
    if found is None:
        return stored
    collection, place, member = found
    function, relation = functions.members(stored.rule)
    call = StoredCall(function, relation, (collection.name,), member.name, has_several=True)
    is_member = [isinstance(check, StoredCall) and check.result == member.name for check in stored.checks]
    checks = tuple(call if changes else check for check, changes in zip(stored.checks, is_member, strict=True))
    body = tuple(atom for atom in stored.body if place.name not in atom.terms)
    return replace(stored, body=body, checks=checks, with_places=stored)


def _element(stored: StoredRule) -> tuple[Variable, Variable, Variable] | None:
    """Return the collection of a rule for members, the place of a member, and the member; None for any other rule."""
    if not stored.source.head.predicate.startswith(MEMBERS):
        return None
    rule = stored.rule
    for part in rule.body:
        if isinstance(part, Bind) and isinstance(part.expression, Call) and is_element(part.expression):
            collection, place = part.expression.arguments
            users = [atom for atom in rule.body if isinstance(atom, Atom) and place in atom.terms]
            if len(users) == 1 and users[0].predicate.startswith(_PLACES):
                assert isinstance(collection, Variable)
                assert isinstance(place, Variable)
                return collection, place, part.variable
    return None
