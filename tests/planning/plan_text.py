"""Plans as text that a person can read: what triggers a plan, and the steps of its join in their order.

=================================  ==============================================================================================
``new path(?x, ?y):``              what follows is the plan that a new fact of this atom triggers
``gone NOT edge(?x, ?y):``         ... that the deletion of a fact of this negated atom triggers
``whole:``                         ... that finds all instances of the rule
``proof:``                         ... that finds the instances for one fact of the head
``query:``                         ... that answers a query
``scan edge(?x, ?y)``              all facts
``probe edge(?x, ?y) by ?x``       the facts with this key of an index; the other variables get their values
``look up edge(?x, ?y)``           the one fact, all of whose arguments are known
``compare``, ``call``              a comparison, a function
``(once)``                         one match is enough
``(to another)``                   not the facts with the same subject and object
``(new, too)``                     sees the facts under way as well: the atom stands behind the trigger in the rule's body
=================================  ==============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.language.printer import format_rule, format_term
from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog, StoredAtom, StoredCall, StoredComparison, StoredRule, StoredTerm
from kg_reasoner.planning.plan_drafts import Draft, DraftStep, Use
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage.kernels.layout import CALL, COMPARE, HOLDS, LOOKUP, PROBE, SCAN, SKIP
from kg_reasoner.terms import IRI

KINDS = {SCAN: "scan", PROBE: "probe", LOOKUP: "look up", COMPARE: "compare", CALL: "call"}


class PlanPrinter:
    """Prints plans over the relations of a catalog, with prefixes for IRIs."""

    def __init__(self, catalog: RelationCatalog, prefixes: dict[str, str]) -> None:
        self.catalog = catalog
        self.prefixes = prefixes
        self._names: dict[int, tuple[str, bool]] = {}

    def rule(self, rule: StoredRule) -> str:
        """All plans of a rule, below its text."""
        database = self.catalog.database
        lines = [self._text(rule)]
        for position, atom in enumerate(rule.body):
            draft = Draft(database, rule.head, rule.body, rule.checks, Use(position, of_rule=True))
            lines.append(f"{'gone' if atom.negated else 'new'} {self.atom(atom)}: {self.steps(draft)}")
        lines.append(f"whole: {self.steps(Draft(database, rule.head, rule.body, rule.checks, Use(of_rule=True)))}")
        lines.append(f"proof: {self.steps(Draft(database, rule.head, rule.body, rule.checks, Use(backward=True, of_rule=True)))}")
        return "\n    ".join(lines)

    def _text(self, rule: StoredRule) -> str:
        text = format_rule(rule.rule, self.prefixes)
        for name in self.catalog.predicates:
            text = text.replace(name, self._predicate(name)) if name.startswith(INTERNAL) else text
        return text

    def steps(self, draft: Draft) -> str:
        """The steps of a plan."""
        names = {slot: name for name, slot in draft.slots.items()}
        pairs = zip(draft.order, draft.steps, strict=True)
        text = " | ".join(f"{KINDS[step.kind]} {self._step(part, step, names)}" for part, step in pairs) or "nothing more"
        return f"(to another) {text}" if draft.trigger_apart else text

    def _step(self, part: StoredAtom | StoredComparison | StoredCall, step: DraftStep, names: dict[int, str]) -> str:
        if isinstance(part, StoredComparison):
            left, right = self._key(step, names)
            return f"{left} {part.operator} {right}"
        if isinstance(part, StoredCall):
            arguments = ", ".join(self._key(step, names))
            bound = "" if step.value_slot == SKIP else f" for ?{names[step.value_slot]}"
            return f"{arguments}{bound}"
        key = f" by {', '.join(self._key(step, names))}" if step.kind == PROBE and step.key else ""
        if step.kind == PROBE and self.catalog.database.indexes[step.index].apart:
            key += " (to another)"
        return f"{self.atom(part)}{key}{' (once)' if step.once and step.kind != LOOKUP else ''}{' (new, too)' * step.newest}"

    def _key(self, step: DraftStep, names: dict[int, str]) -> Iterator[str]:
        """The terms of a step's key, read from its codes. The result of a function stands last in its key: a filter's holds."""
        for code in step.key:
            if step.kind == CALL and code == HOLDS:
                return
            yield self.term(code if code >= 0 else names[-1 - code])

    def atom(self, atom: StoredAtom) -> str:
        """An atom, as in the rule language."""
        terms = ", ".join(map(self.term, atom.terms))
        name, is_triple = self._relation(atom.relation)
        return f"{'NOT ' * atom.negated}{name}[{terms}]" if is_triple else f"{'NOT ' * atom.negated}{name}({terms})"

    def term(self, term: StoredTerm) -> str:
        """A constant or a variable."""
        return f"?{term}" if isinstance(term, str) else format_term(self.catalog.dictionary.decode(term), self.prefixes)

    def _relation(self, number: int) -> tuple[str, bool]:
        """The name of a relation, and whether it holds triples."""
        if number not in self._names:
            predicate, property, cls = self.catalog.key_of(number)
            name = cls or property
            text = self._predicate(predicate) if predicate != TRIPLE else format_term(name, self.prefixes) if name else ""
            self._names[number] = text, predicate == TRIPLE
        return self._names[number]

    def _predicate(self, name: str) -> str:
        if name.startswith(INTERNAL):  # the rest of the name is a whole rule
            return name.removeprefix(INTERNAL).partition(" of ")[0]
        return format_term(IRI(name[1:-1]), self.prefixes) if name.startswith("<") else name
