"""Rules that lead from one name to another, such as rdfs9 from class to class: which pairs of names need a rule of their own.

The schema's hierarchy is closed, so each class has a pair with each class above it. A rule for each of these would be millions of
rules for a deep hierarchy, but what one step after the other derives is the same: pairs that others imply need no rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.program import Atom, BodyLiteral, Rule, Variable
from kg_reasoner.spark_backend.plan.id_rows import Ids
from kg_reasoner.substitution import in_atom

__all__ = ["linked", "without_implied"]


def linked(rule: Rule, known: Sequence[Atom], rest: Sequence[BodyLiteral]) -> tuple[Variable, Variable] | None:
    """Return the variables of a rule that stand for a name and for one that it leads to, if the rule does nothing else: with the
    other name in place of the first, its only atom about data is its head.

    >>> from kg_reasoner.language.parser import parse
    >>> (rule,) = parse("[?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c] .").rules
    >>> [variable.name for variable in linked(rule, rule.body[:1], rule.body[1:])]
    ['c', 'd']

    Args:
        rule: The rule.
        known: Its atoms about the schema.
        rest: The other parts of its body.
    """
    if len(known) != 1 or len(rest) != 1 or not isinstance(rest[0], Atom):
        return None
    body, head = rest[0], rule.head
    if body.predicate != head.predicate or body.arity != head.arity:
        return None
    changed = {ends for ends in zip(body.terms, head.terms, strict=True) if ends[0] != ends[1]}
    if len(changed) != 1:
        return None
    one, other = changed.pop()
    if not (isinstance(one, Variable) and isinstance(other, Variable)) or other in body.terms:
        return None
    variables = [term for term in known[0].terms if isinstance(term, Variable)]
    binds_both = len(variables) == 2 and {*variables} == {one, other}
    return (one, other) if binds_both and in_atom(body, {one: other}) == head else None


def without_implied(pairs: Ids) -> Ids:
    """Return pairs from which all of some pairs follow, one step after the other. Of a closed relation without cycles, these are
    as few as possible, and finding them takes time in proportion to the pairs.

    >>> without_implied(np.array([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (0, 3), (0, 0)])).tolist()
    [[0, 1], [1, 2], [2, 3]]

    Args:
        pairs: Pairs of ids, each once, shape (n, 2).
    """
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sizes = np.bincount(pairs[:, 0], minlength=int(pairs.max(initial=-1)) + 1)
    # A name leads to more names than those that it leads to, so that the nearest ones come first.
    pairs = pairs[np.lexsort((-sizes[pairs[:, 1]], pairs[:, 0]))]
    names, begins = np.unique(pairs[:, 0], return_index=True)
    others, leads_to = pairs[:, 1].tolist(), sizes.tolist()
    ends = [*begins[1:].tolist(), len(others)]
    places = {name: slice(begin, end) for name, begin, end in zip(names.tolist(), begins.tolist(), ends, strict=False)}
    following = {name: set(others[place]) for name, place in places.items()}
    kept: list[tuple[int, int]] = []
    for one, place in places.items():
        covered: set[int] = set()
        for other in others[place]:
            if other not in covered:
                kept.append((one, other))
                # Only what leads to less may stand for something: names that lead to each other would stand for one another.
                if 0 < leads_to[other] < leads_to[one]:
                    covered |= following[other]
    return np.array(kept, np.int64).reshape(-1, 2)
