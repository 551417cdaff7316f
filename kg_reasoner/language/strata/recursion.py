"""Recursion through MIN and MAX: which rules form one, whether it has a least fixpoint, and the program around it.

A cycle through an aggregate has a least fixpoint if values can only improve: the aggregate is MIN or MAX, and a better value never
invalidates what the former one gave. This is checked for each rule. The values of a recursive predicate's *value columns* have a
trend, down (MIN) or up (MAX); expressions must keep or reverse it, conditions must stay true along it, and nothing may ask for one
exact value, as the joins of a rule do.

A recursion is evaluated as a whole: `lowered` replaces its rules by rules that copy its results, and one rule for each result that
depends on what the recursion reads.

Source for the fixpoint: Ross and Sagiv, Monotonic Aggregation in Deductive Databases (PODS 1992).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import Span, StratificationError, UnsupportedError
from kg_reasoner.graphs import strongly_connected_components
from kg_reasoner.language.printer import format_rule
from kg_reasoner.language.strata.stratification import Key, Node, dependencies, key_of, show_key
from kg_reasoner.language.strata.trends import DOWN, UP, NotMonotoneError, Trends, check_condition, trend_of
from kg_reasoner.program import (
    AUXILIARY,
    TRIPLE,
    Aggregate,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Filter,
    Negation,
    Rule,
    Variable,
    atoms_within,
    kinds_of_parts,
    variables_of,
)
from kg_reasoner.substitution import in_expression, in_part
from kg_reasoner.terms import RDF, Term, literal

__all__ = ["Lowered", "Recursion", "as_proved", "lowered", "recursions", "refuse"]

_TREND_OF: Final = {"MIN": DOWN, "MAX": UP}
_INTERNAL: Final = "internal: "
_RESULT: Final = f"{_INTERNAL}results for "
"""The prefix of the predicates of results."""
_FLOOR: Final = Atom(f"{_INTERNAL}lowest stratum", (literal(True),))
"""A fact on which all results depend, so that explicit facts are determined in the stratum below them."""


@dataclass(frozen=True)
class Recursion:
    """The rules of a recursion through MIN or MAX.

    Attributes:
        rules: The rules.
        keys: The predicates, properties and classes that depend on each other.
        reads: The atoms with other keys whose facts it reads.
        inner: Those of the predicates that are parts of its rules (disjunctions, say): nothing else reads their facts.
        needs_numbers: Whether rules calculate with values or compare them.
    """

    rules: tuple[Rule, ...]
    keys: frozenset[Key]
    inner: frozenset[Key]
    reads: tuple[Atom, ...] = field(compare=False)
    needs_numbers: bool = field(compare=False)

    def has(self, atom: Atom) -> bool:
        """Return whether an atom is over one of the recursive predicates."""
        return key_of(atom) in self.keys


@dataclass(frozen=True)
class Lowered:
    """A program without recursion through aggregates.

    Attributes:
        rules: The rules.
        results: The rules that stand for the results of a recursion, each with it and the key of the facts.
        copying: The rules that copy results, each with the recursion.
    """

    rules: tuple[Rule, ...]
    results: Mapping[Rule, tuple[Recursion, Key]]
    copying: Mapping[Rule, Recursion]


def lowered(rules: Sequence[Rule]) -> Lowered:
    """Return a program in which recursions through MIN and MAX are rules for their results.

    Raises:
        StratificationError: A recursion through an aggregate has no least fixpoint; the message says why.
    """
    found = recursions(rules)
    if not found:
        return Lowered(tuple(rules), {}, {})
    inside = {rule for recursion in found for rule in recursion.rules}
    program = [rule for rule in rules if rule not in inside]
    results: dict[Rule, tuple[Recursion, Key]] = {}
    copying: dict[Rule, Recursion] = {}
    for recursion in found:
        text = " ".join(map(format_rule, recursion.rules))
        for head in {key_of(rule.head): rule.head for rule in recursion.rules}.values():
            if head.predicate.startswith(_INTERNAL) or key_of(head) in recursion.inner:
                continue
            atom = _general(head)
            result = Atom(f"{_RESULT}{show_key(key_of(head))} of {text}", tuple(variables_of(atom)))
            rule = Rule(result, (Aggregate((_FLOOR, *recursion.reads), (), ()),))
            results[rule] = recursion, key_of(head)
            copying[Rule(atom, (result,))] = recursion
    return Lowered((Rule(_FLOOR), *program, *results, *copying), results, copying)


def refuse(rules: Sequence[Rule], who: str) -> None:
    """Reject recursions through aggregates, for strategies that cannot evaluate them.

    Args:
        rules: The rules.
        who: The subject of the message.

    Raises:
        UnsupportedError: There is one.
    """
    for recursion in recursions(rules):
        head = recursion.rules[0].head
        message = f"{who} cannot evaluate recursion through MIN and MAX, as that of {show_key(key_of(head))}"
        raise UnsupportedError(message, head.span, "materialise these rules with a Reasoner, and use their results as facts")


def as_proved(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return rules for proofs: in a recursion, an aggregate is replaced by its body, as one solution proves a value.

    That no solution has a better value is not part of the proof.
    """
    inside = {rule: recursion for recursion in recursions(rules) for rule in recursion.rules}
    return tuple(found for rule in rules for found in (_all_as_proved(rule, inside[rule]) if rule in inside else (rule,)))


def _all_as_proved(rule: Rule, recursion: Recursion) -> list[Rule]:
    """Return a rule of a recursion for proofs, with the rules of inner predicates in place of their atoms."""
    found = [_as_proved(rule, recursion)]
    while any(_inner_atoms(each, recursion.inner) for each in found):
        found = [new for each in found for new in (_unfolded(each, recursion) if _inner_atoms(each, recursion.inner) else (each,))]
    return found


def _inner_atoms(rule: Rule, inner: frozenset[Key]) -> list[Atom]:
    """Return the atoms of a body that are over inner predicates."""
    return [part for part in rule.body if isinstance(part, Atom) and key_of(part) in inner]


def _unfolded(rule: Rule, recursion: Recursion) -> Iterator[Rule]:
    """Yield a rule with the body of each rule for the first of its inner atoms in place of it."""
    atom = _inner_atoms(rule, recursion.inner)[0]
    place = rule.body.index(atom)
    used = {variable.name for part in (rule.head, *rule.body) for variable in variables_of(part)}
    for definition in recursion.rules:
        if key_of(definition.head) == key_of(atom):
            values: dict[Variable, Argument] = dict(zip(variables_of(definition.head), atom.terms, strict=True))
            for variable in dict.fromkeys(variable for part in definition.body for variable in variables_of(part)):
                name = variable.name
                while variable not in values and name in used:
                    name += "'"
                used.add(name)
                values.setdefault(variable, Variable(name))
            body = (in_part(part, values) for part in definition.body)
            yield Rule(rule.head, (*rule.body[:place], *body, *rule.body[place + 1 :]), rule.origin)


def _as_proved(rule: Rule, recursion: Recursion) -> Rule:
    body: list[BodyLiteral] = []
    for place, part in enumerate(rule.body):
        if not isinstance(part, Aggregate) or not any(map(recursion.has, atoms_within(part.body))):
            body.append(part)
            continue
        ((argument, result),) = ((binding.argument, binding.variable) for binding in part.bindings)
        assert argument is not None
        others = (rule.head, *rule.body[:place], *rule.body[place + 1 :])
        outside = {variable for other in others for variable in variables_of(other)} | {result}
        inside = dict.fromkeys(variable for inner in part.body for variable in variables_of(inner) if variable not in part.group)
        names: dict[Variable, Argument] = {v: Variable(f"{v.name} inside") for v in inside if v in outside}
        is_plain = isinstance(argument, Variable) and argument in inside
        if isinstance(argument, Variable) and argument in inside:
            names[argument] = result
        body += [in_part(inner, names) for inner in part.body]
        if not is_plain:
            body.append(Bind(in_expression(argument, names), result))
    return Rule(rule.head, tuple(body), rule.origin)


def _general(head: Atom) -> Atom:
    """Return a head with different variables in all places but those of its key."""
    _, property, cls = key_of(head)
    fixed: list[Term | None] = [None] * head.arity if head.predicate != TRIPLE else [None, property, cls]
    return Atom(head.predicate, tuple(Variable(f"v{n}") if term is None else term for n, term in enumerate(fixed)))


def recursions(rules: Sequence[Rule]) -> list[Recursion]:
    """Return the recursions through MIN and MAX of a program.

    Raises:
        StratificationError: One of them has no least fixpoint; the message says why.
    """
    if not any(map(_takes_an_extreme, rules)):
        return []
    graph, negative = dependencies(rules)
    component_of: dict[Node, int] = {}
    for number, nodes in enumerate(strongly_connected_components(graph, graph.__getitem__)):
        component_of.update(dict.fromkeys(nodes, number))
    chosen = {component_of[head] for head, below in negative if component_of[head] == component_of[below]}
    found = []
    for number in sorted(chosen):
        inside = tuple(rule for rule in rules if rule.body and component_of[True, key_of(rule.head)] == number)
        keys = frozenset(key for (_, key), own in component_of.items() if own == number)
        if any(map(_takes_an_extreme, inside)) and not _negates(inside, keys):  # `levels` reports other negative cycles
            found.append(_checked(inside, keys, _inner(rules, inside, keys)))
    return found


def _inner(rules: Sequence[Rule], inside: Sequence[Rule], keys: frozenset[Key]) -> frozenset[Key]:
    """Return the auxiliary predicates of a recursion that only positive atoms in its rules read, and not those of another one."""
    own = set(inside)
    found = {key for key in keys if key[0].startswith(AUXILIARY)}
    for rule in rules:
        different = {term for term in rule.head.terms if isinstance(term, Variable)}
        if rule not in own or len(different) < rule.head.arity:
            found.discard(key_of(rule.head))
    for rule in rules:
        is_inside = rule in own and key_of(rule.head) not in found
        for part in rule.body:
            is_plain = isinstance(part, Atom) or (
                isinstance(part, Aggregate) and not any(isinstance(p, Negation) for p in part.body)
            )
            if not (is_inside and is_plain):
                found -= {key_of(atom) for atom in atoms_within((part,))}
    return frozenset(found)


def _takes_an_extreme(rule: Rule) -> bool:
    if Aggregate not in kinds_of_parts(rule):
        return False
    return any(isinstance(part, Aggregate) and any(b.function in _TREND_OF for b in part.bindings) for part in rule.body)


def _negates(rules: Iterable[Rule], keys: frozenset[Key]) -> bool:
    """Return whether one of the keys is negated, or aggregated by another function, in a rule."""

    def refused(part: BodyLiteral) -> bool:
        if isinstance(part, Negation):
            return key_of(part.atom) in keys
        if not isinstance(part, Aggregate) or not any(key_of(atom) in keys for atom in atoms_within(part.body)):
            return False
        return any(binding.function not in _TREND_OF for binding in part.bindings) or any(map(refused, part.body))

    return any(refused(part) for rule in rules for part in rule.body)


def _checked(rules: tuple[Rule, ...], keys: frozenset[Key], inner: frozenset[Key]) -> Recursion:
    """Return a recursion, if its values only improve."""
    columns = _ValueColumns(keys)
    if any(predicate == TRIPLE and property in (None, RDF.type) and cls is None for predicate, property, cls in keys):
        raise _refused(rules[0], "there are triples in it with a variable for the property or class", rules[0].head.span)
    while any([columns.learn(rule) for rule in rules]):  # noqa: C419  all rules learn
        pass
    calculates = [columns.check(rule) for rule in rules]
    reads = dict.fromkeys(atom for rule in rules for atom in atoms_within(rule.body) if key_of(atom) not in keys)
    return Recursion(rules, keys, inner, tuple(reads), any(calculates))


class _ValueColumns:
    """The columns of recursive predicates whose values improve, with their trends."""

    def __init__(self, keys: frozenset[Key]) -> None:
        self._keys = keys
        self._trends: dict[tuple[Key, int], int] = {}

    def learn(self, rule: Rule) -> bool:
        """Add the value columns of a rule's head; return whether there are new ones."""
        try:
            trends, _ = self._trends_in(rule.body)
        except NotMonotoneError as error:
            raise _refused(rule, str(error), error.span) from None
        known = len(self._trends)
        for column, term in enumerate(rule.head.terms):
            trend = trends.get(term, 0) if isinstance(term, Variable) else 0
            if trend and self._trends.setdefault((key_of(rule.head), column), trend) != trend:
                raise _refused(rule, f"{term} is a least value in one rule and a greatest value in another", rule.head.span)
        return len(self._trends) > known

    def check(self, rule: Rule) -> bool:
        """Check that a rule's instances stay when values improve. Return whether it calculates with values or compares them.

        Raises:
            StratificationError: They need not.
        """
        try:
            return self._check_body(rule.body)
        except NotMonotoneError as error:
            raise _refused(rule, str(error), error.span) from None

    def _trends_in(self, body: Sequence[BodyLiteral]) -> tuple[Trends, bool]:
        """Return the trends of the variables of a body, and whether it calculates with one of them."""
        trends: dict[Variable, int] = {}
        calculates = False
        for part in body:
            if isinstance(part, Atom):
                for column, term in enumerate(part.terms):
                    if isinstance(term, Variable) and (trend := self._trends.get((key_of(part), column))):
                        trends[term] = trend
            elif isinstance(part, Aggregate) and self._is_recursive(part):
                for binding in part.bindings:
                    trends[binding.variable] = _TREND_OF[binding.function]
        waiting = [part for part in body if isinstance(part, Bind)]
        for _ in range(len(waiting)):
            for part in waiting:
                if trend := trend_of(part.expression, trends):
                    trends[part.variable] = trend
                    calculates |= isinstance(part.expression, Call)
        return trends, calculates

    def _is_recursive(self, part: Aggregate) -> bool:
        return any(key_of(atom) in self._keys for atom in atoms_within(part.body))

    def _check_body(self, body: Sequence[BodyLiteral]) -> bool:
        trends, calculates = self._trends_in(body)
        uses = Counter(term for part in body for term in _matched(part) if term in trends)
        for part in body:
            if isinstance(part, Atom):
                self._check_atom(part, uses)
            elif isinstance(part, Bind) and uses[part.variable]:
                raise NotMonotoneError(f"{part.variable} is computed from a value and matched with a fact", part.span)
            elif isinstance(part, Filter):
                calculates |= check_condition(part.expression, trends, part.span)
            elif isinstance(part, Aggregate) and self._is_recursive(part):
                calculates |= self._check_aggregate(part, uses)
        return calculates

    def _check_atom(self, atom: Atom, uses: Mapping[Variable, int]) -> None:
        for column, term in enumerate(atom.terms):
            if (key_of(atom), column) not in self._trends:
                continue
            if not isinstance(term, Variable):
                raise NotMonotoneError(
                    f"{show_key(key_of(atom))} is matched with one value, which a better one may replace", atom.span
                )
            if uses[term] > 1:
                raise NotMonotoneError(f"the value {term} is matched with another one", term.span or atom.span)

    def _check_aggregate(self, part: Aggregate, uses: Mapping[Variable, int]) -> bool:
        if len(part.bindings) != 1:
            raise NotMonotoneError("an aggregate in a recursion has one function", part.span)
        (binding,) = part.bindings
        calculates = self._check_body(part.body)
        inner, _ = self._trends_in(part.body)
        for variable in part.group:
            if variable in inner:
                raise NotMonotoneError(f"it groups by the value {variable}", variable.span or part.span)
        assert binding.argument is not None
        trend = trend_of(binding.argument, inner)
        if trend not in (0, _TREND_OF[binding.function]):
            raise NotMonotoneError(f"{binding.function} is taken of values that improve in the other direction", part.span)
        if uses[binding.variable]:
            raise NotMonotoneError(f"the value {binding.variable} is matched with another one", part.span)
        return calculates or isinstance(binding.argument, Call)


def _matched(part: BodyLiteral) -> Iterator[Variable]:
    """Yield the variables that a part of a body matches with facts."""
    if isinstance(part, Atom | Negation):
        yield from variables_of(part)
    elif isinstance(part, Aggregate):
        yield from part.group


def _refused(rule: Rule, reason: str, span: Span | None) -> StratificationError:
    return StratificationError(
        f"{show_key(key_of(rule.head))} depends on its own aggregate, and {reason}",
        span or rule.head.span,
        "in a recursion through MIN or MAX, better values must keep everything that worse ones gave: see the rule language",
    )
