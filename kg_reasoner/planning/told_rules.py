"""Rules that copy *told* triples: explicit ones, and those derived by any rule but the one that concludes such triples.

``owl2el`` has the rule ``axiom(?c, ?d) :- rdfs:subClassOf[?c, ?d]``, named ``told/el-subclass``. The conclusions of its rule
``el-subclass`` are such triples, too. Copying them would be correct, but would lead to nothing new, and a chain of n classes would
take time cubic in n. The premise of CR1 (Baader, Brandt and Lutz, Pushing the EL Envelope, IJCAI 2005) is an axiom of the ontology,
not a conclusion. So the rule is not applied to triples. Instead, each other rule that derives such triples gets a copy that derives
the copied fact. Triples that need no rule have copies in a relation of the engine (see `kg_reasoner.engine.facts.told_facts`), to
which the rule is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.planning.expansion import substitute
from kg_reasoner.program import TRIPLE, Atom, Rule, Variable
from kg_reasoner.terms import IRI

__all__ = ["Told", "copying_rules", "with_told_only"]

_PREFIX: Final = "told/"
"""The name of such a rule begins so; the name of the rule whose conclusions it leaves out follows."""


@dataclass(frozen=True)
class Told:
    """A rule that copies told triples.

    Attributes:
        property: The property of the triples.
        predicate: The predicate of the copied facts, which have subject and value.
        except_by: The name of the rule whose conclusions need not be copied.
    """

    property: IRI
    predicate: str
    except_by: str

    def given(self) -> str:
        """Return the predicate of the engine's copies of triples that need no rule."""
        return f"{INTERNAL}given for {_PREFIX}{self.except_by} {self.property.value} {self.predicate}"


def copying_rules(rules: Iterable[Rule]) -> tuple[Told, ...]:
    """Return the rules that copy told triples.

    Args:
        rules: Any rules.
    """
    return tuple(told for rule in rules if (told := _told(rule)) is not None)


def with_told_only(parts: Mapping[Rule, Rule], copies: Iterable[Told]) -> dict[Rule, Rule]:
    """Return rules with those that derive what is told in place of those that copy it, each with the rule that it comes from.

    Args:
        parts: The rules, each with the rule that it comes from.
        copies: The rules that copy told triples.
    """
    found = {_of_given(part): source for part, source in parts.items()}
    for told in copies:
        for part, source in parts.items():
            copy = _copy(part, told)
            if copy is not None:
                found.setdefault(copy, source)
    return found


def _told(rule: Rule) -> Told | None:
    name, head = rule.origin.name, rule.head
    if name is None or not name.startswith(_PREFIX) or len(rule.body) != 1:
        return None
    (part,) = rule.body
    if not isinstance(part, Atom) or part.predicate != TRIPLE or not isinstance(part.terms[1], IRI):
        return None
    ends = part.terms[0], part.terms[2]
    if head.predicate == TRIPLE or head.terms != ends or ends[0] == ends[1] or not all(isinstance(end, Variable) for end in ends):
        return None
    return Told(part.terms[1], head.predicate, name.removeprefix(_PREFIX))


def _of_given(rule: Rule) -> Rule:
    """Return a rule, over the engine's copies if it copies told triples."""
    told = _told(rule)
    return rule if told is None else Rule(rule.head, (Atom(told.given(), rule.head.terms),), rule.origin)


def _copy(rule: Rule, told: Told) -> Rule | None:
    """Return the rule that derives a copied fact where a rule derives a triple, if it may do so."""
    if not rule.body or rule.head.predicate != TRIPLE or rule.origin.name == told.except_by:
        return None
    property = rule.head.terms[1]
    instance = substitute(rule, {property: told.property}) if isinstance(property, Variable) else rule
    if instance is None or instance.head.terms[1] != told.property:
        return None
    subject, _, value = instance.head.terms
    return Rule(Atom(told.predicate, (subject, value)), instance.body, rule.origin)
