"""The front end of explanations: from a fact in the caller's terms to a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from kg_reasoner.errors import ArityError, NoProofError, ReasonerError, plural
from kg_reasoner.explain.derivations import Derivations, Fact, Instance
from kg_reasoner.explain.enumeration import enumerate_proofs
from kg_reasoner.explain.ground import ground
from kg_reasoner.explain.missing import WhyNot, of_rule, why_not
from kg_reasoner.explain.proof_search import EFFORT, Choice, Memory, below_first, find_proof
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.explain.readable_names import Names, show_rule, show_statement
from kg_reasoner.explain.steps import SHOWN, Computed, Group, Reason, Solution, Statement, Step
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES
from kg_reasoner.planning.aggregates.groups import violation_atom
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import TRIPLE, Aggregate, Atom, Filter, Negation, Rule, Variable
from kg_reasoner.storage.kernels.layout import EXPLICIT, STATED
from kg_reasoner.substitution import in_atom, in_expression
from kg_reasoner.terms import IRI, BlankNode, Literal, Term

__all__ = ["Explainer", "StoredForm", "check_version"]


class StoredForm(Protocol):
    """The mapping between facts and their stored form when equal terms are merged (see `kg_reasoner.engine.equality`)."""

    def normal_form(self, atom: Atom) -> Atom:
        """Return the stored form of a fact."""
        ...

    def asserted(self, atom: Atom) -> Atom:
        """Return an explicit fact with this stored form."""
        ...

    def written(self, rule: Rule) -> Rule:
        """Return a rule of the program with this stored form."""
        ...

    def contradiction(self, rule: Rule, terms: Mapping[str, Term]) -> Atom | None:
        """Return the stored fact that is contradictory by itself and causes a violation, if there is one."""
        ...


class Explainer:
    """Explains the current facts of a reasoner. It materialises nothing.

    Facts are triples of terms, atoms of constants, or violations of constraints (`kg_reasoner.api.reasoner.Violation`).
    """

    def __init__(self, derivations: Derivations, renaming: StoredForm | None = None) -> None:
        self.derivations = derivations
        self.renaming = renaming
        self.version = -1
        self._memory = Memory()

    def use(self, version: int, rules: tuple[Rule, ...]) -> None:
        """Set the active rules, and the version of the facts and rules that they belong to."""
        if version != self.version:
            self._memory.forget()
            self._memory = Memory()
        self.version = version
        self.derivations.use(rules)

    def explain(self, fact: Any, prefixes: Mapping[str, str], effort: int | None = EFFORT) -> Proof:
        """Return a proof of a fact, see `find_proof`.

        Args:
            fact: The fact.
            prefixes: The prefixes of names in the proof and in messages.
            effort: The maximal number of instances to examine for the shortest proof; None means unlimited.

        Raises:
            NoProofError: The fact does not hold, or its value in a recursion through MIN or MAX came from a worse one.
            ReasonerError: The argument is not a fact.
        """
        stored, flags = self._stored(fact, prefixes)
        try:
            found = find_proof(self.derivations, stored, flags & (EXPLICIT | STATED) != 0, effort, self._memory)
        except BaseException:  # the results so far may be incomplete
            self._memory = Memory()
            raise
        if found is None and self.derivations.attaining:  # as best(?x, 0) by FLOOR(?value / 2), which supports only itself
            reason = "in a recursion through MIN or MAX, a value came from a worse one, which does not hold any more"
            raise NoProofError(f"{self.text(fact, prefixes)} has no proof: {reason}")
        if found is None:
            raise AssertionError(f"{self.text(fact, prefixes)} is there, but no rule derives it")
        return self._proof(fact, stored, *found, prefixes)

    def all_proofs(self, fact: Any, prefixes: Mapping[str, str], version: Callable[[], int]) -> Iterator[Proof]:
        """Return an iterator over all proofs of a fact, see `enumerate_proofs`. Errors are those of `explain`, raised at once.

        If the `version` of the facts and rules changes before all have been read, continuing the iteration is an error.
        """
        stored, flags = self._stored(fact, prefixes)
        found = enumerate_proofs(self.derivations, stored, flags & (EXPLICIT | STATED) != 0)
        known = version()

        def proofs() -> Iterator[Proof]:
            while True:
                check_version(version(), known)
                following = next(found, None)
                if following is None:
                    return
                yield self._proof(fact, stored, *following, prefixes)

        return proofs()

    def why_not(self, fact: Any, prefixes: Mapping[str, str]) -> WhyNot:
        """Return the rules that could derive a fact that does not hold, and what they lack, see `kg_reasoner.explain.missing`.

        Raises:
            ReasonerError: The fact is there, or the argument is not a fact.
        """
        asked = self._atom(fact)
        atom = self._normal_form(asked)
        stored = self.derivations.fact(atom)
        if stored is not None and self.derivations.flags(stored) >= 0:
            raise ReasonerError(f"{self.text(fact, prefixes)} holds: call explain() to see why")
        found = why_not(self.derivations, atom, prefixes)
        if self.renaming is None:
            return found
        written = self.renaming.written
        misses, idle = (tuple(of_rule(written(miss.rule), miss) for miss in part) for part in (found.misses, found.idle))
        return replace(found, fact=asked, misses=misses, idle=idle)

    # --- facts ------------------------------------------------------------------------------------------------------

    def _stored(self, fact: Any, prefixes: Mapping[str, str]) -> tuple[Fact, int]:
        """Return a fact in stored form, and its flags.

        Raises:
            NoProofError: The fact does not hold.
        """
        derivations = self.derivations
        if hasattr(fact, "rule") and hasattr(fact, "terms"):
            stored = self._violation(fact.rule, fact.terms)
        else:
            stored = derivations.fact(self._normal_form(self._atom(fact)))
        flags = -1 if stored is None else derivations.flags(stored)
        if stored is None or flags < 0:
            raise NoProofError(f"{self.text(fact, prefixes)} does not hold: call why_not() to see what is missing")
        return stored, flags

    def _violation(self, rule: Rule, terms: Mapping[str, Term]) -> Fact | None:
        catalog = self.derivations.catalog
        if self.renaming is not None and (atom := self.renaming.contradiction(rule, terms)) is not None:
            return self.derivations.fact(atom)
        relation = catalog.predicates.get(violation_atom(rule).predicate, -1)
        return relation, tuple(catalog.dictionary.find(term) for term in terms.values())

    def _atom(self, fact: Any) -> Atom:
        """Return a fact as an atom.

        Raises:
            ReasonerError: It is neither a triple of terms nor an atom of constants.
            ArityError: The predicate has another number of arguments.
        """
        atom = fact if isinstance(fact, Atom) else Atom(TRIPLE, tuple(fact)) if isinstance(fact, tuple | list) else None
        if atom is None or (atom.predicate == TRIPLE and atom.arity != 3):
            raise ReasonerError(f"{fact!r} is not a fact: give a triple of terms, or an Atom of constants")
        for term in atom.terms:
            if isinstance(term, Variable):
                raise ReasonerError(f"{term} is a variable: only facts without variables can be explained")
            if not isinstance(term, IRI | BlankNode | Literal):
                raise ReasonerError(f"{term!r} is not a term: give an IRI, BlankNode or Literal of kg_reasoner.terms")
        known = None if atom.predicate == TRIPLE or atom.predicate.startswith(INTERNAL) else self.derivations.arity(atom.predicate)
        if known is not None and known != atom.arity:
            raise ArityError(f"{atom.predicate} has {plural(known, 'argument')}, not {atom.arity}")
        return atom

    def _normal_form(self, atom: Atom) -> Atom:
        """Return an atom in stored terms."""
        return atom if self.renaming is None else self.renaming.normal_form(atom)

    def text(self, fact: Any, prefixes: Mapping[str, str]) -> str:
        """Return a fact or a violation as text."""
        atom = fact if hasattr(fact, "rule") else self._atom(fact)
        names = Names(prefixes)
        return show_statement(atom, names) if isinstance(atom, Atom) else f"that violates {show_rule(fact.rule, names)}"

    # --- proofs -----------------------------------------------------------------------------------------------------

    def _proof(self, asked: Any, goal: Fact, choice: Choice, shortest: bool, prefixes: Mapping[str, str]) -> Proof:
        writer = _StepWriter(self.derivations, self.renaming)
        writer.write(goal, choice)
        if not hasattr(asked, "rule"):
            writer.named(goal, self._atom(asked))
        return Proof(tuple(writer.steps), shortest, prefixes)


def check_version(version: int, known: int) -> None:
    """Raise ReasonerError if the facts and rules have another version than when proofs were asked for."""
    if version != known:
        raise ReasonerError("the facts or rules have changed while proofs were being read: ask for them again")


class _StepWriter:
    """Writes the steps of a proof, premises first."""

    def __init__(self, derivations: Derivations, renaming: StoredForm | None) -> None:
        self.derivations = derivations
        self.renaming = renaming
        self.steps: list[Step] = []
        self._facts: dict[Fact, int] = {}
        self._others: dict[Statement, int] = {}

    def write(self, goal: Fact, choice: Choice) -> None:
        """Write the proof of a fact, without the steps that exist already."""
        for fact in below_first(goal, choice):
            if fact in self._facts:
                continue
            if fact in choice:
                self.derive(fact, choice[fact])
            elif self.derivations.is_aggregate_rule(fact):
                self.aggregate(fact, choice)
            else:
                self.give(fact)

    def give(self, fact: Fact) -> None:
        """Write a fact that needs no rule, in the names in which it was asserted."""
        atom = self.derivations.atom(fact)
        reason: Reason = "explicit"
        if not self.derivations.flags(fact) & EXPLICIT:
            reason = "literal" if atom.predicate in LITERAL_PREDICATES else "stated"
        elif self.renaming is not None:
            atom = self.renaming.asserted(atom)
        self._facts[fact] = self._add(Step(atom, reason))

    def named(self, fact: Fact, wanted: Atom) -> int:
        """Write a proved fact in the requested names, unless it exists in these; return the number of its step."""
        number = self._facts[fact]
        return number if self.steps[number].statement == wanted else self._once(Step(wanted, "same", premises=(number,)))

    def derive(self, fact: Fact, instance: Instance) -> None:
        """Write a fact derived by a rule instance whose premises exist, or a solution of an aggregate.

        Facts have the names that the rule has for them.
        """
        rule = instance.plan.rule if self.renaming is None else self.renaming.written(instance.plan.rule)
        bindings = self.derivations.bindings(instance)
        facts = iter(instance.premises)
        premises = []
        for part in rule.body:
            if isinstance(part, Atom):
                premise = next(facts)
                premises.append(self._facts[premise] if self.renaming is None else self.named(premise, in_atom(part, bindings)))
            elif isinstance(part, Aggregate):
                premises.append(self._facts[next(facts)])
            elif isinstance(part, Negation):
                premises.append(self._once(Step(ground(part, bindings), "absent")))
            elif isinstance(part, Filter):
                premises.append(self._once(Step(ground(part, bindings), "checked")))
            else:
                value = bindings[part.variable]
                premises.append(self._once(Step(Computed(in_expression(part.expression, bindings), value), "computed")))
        values = tuple(bindings.items())
        if not rule.head.predicate.startswith(INTERNAL):
            self._facts[fact] = self._add(Step(in_atom(rule.head, bindings), "rule", rule, values, tuple(premises)))
        elif len(rule.body) == 1:
            (self._facts[fact],) = premises
        else:
            solution = Solution(tuple(self.steps[premise].statement for premise in premises))
            self._facts[fact] = self._once(Step(solution, "solution", None, values, tuple(premises)))

    def aggregate(self, fact: Fact, choice: Choice) -> None:
        """Write a group after some of its solutions, which lie in lower strata and thus do not depend on the goal.

        A fact that the proof of the goal needs as well is proved in the way chosen there.
        """
        part, solutions, count = self.derivations.group(fact, SHOWN)
        for solution in solutions:
            if solution not in self._facts:
                found = find_proof(self.derivations, solution, given=False)
                if found is None:
                    raise AssertionError("a solution of an aggregate is there, but its body has no such instance")
                self.write(solution, {**found[0], **choice})
        values = self.derivations.atom(fact).terms
        split = len(part.group)
        group = Group(part, values[:split], values[split:], count)  # type: ignore[arg-type]  # facts have no variables
        premises = tuple(dict.fromkeys(self._facts[solution] for solution in solutions))
        self._facts[fact] = self._once(Step(group, "aggregated", premises=premises))

    def _once(self, step: Step) -> int:
        """Write a step that is not a fact, unless it exists already; return its number."""
        number = self._others.get(step.statement)
        if number is None:
            number = self._others[step.statement] = self._add(step)
        return number

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1
