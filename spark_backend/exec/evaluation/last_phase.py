"""The last phase of an evaluation: when little is left to read, the driver derives the rest with the in-process engine.

An iteration on Spark runs some ten jobs, however few facts are new. The rules that can still fire, and all facts that match their
bodies, determine what is left to derive. If they easily fit on the driver, one run of the engine replaces all iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.errors import LimitError, ValueTooLargeError
from kg_reasoner.language.strata.stratification import Key
from kg_reasoner.program import TRIPLE, Argument, Atom, Filter, Rule
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates, held_facts
from kg_reasoner.spark_backend.exec.facts.mask_table import CHOICE
from kg_reasoner.spark_backend.exec.facts.matching_rows import RELATION
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.preparation.schema_closure import PredicateNames, reasoner_of
from kg_reasoner.spark_backend.io.columns import OBJECT, PREDICATE, TERM, TRIPLE_COLUMNS, TYPE, argument_columns
from kg_reasoner.spark_backend.plan.logical_plan import Choice, Join, PropertyPass, X
from kg_reasoner.spark_backend.plan.remaining_rules import RemainingRules, read_keys
from kg_reasoner.terms import RDF, Term, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["LastPhase"]


class LastPhase:
    """Finishes one stratum.

    Args:
        facts: The facts of the run.
        joins: The rules of the stratum that join.
        most: The maximum number of facts that the driver reads and derives together.
    """

    def __init__(self, facts: FactFrames, joins: Iterable[Join], most: int) -> None:
        self._facts = facts
        self._most = most
        wide = (*facts.properties.rules, *facts.features.rules)
        self._rules = RemainingRules([rule for join in joins for rule in _rules_of(join)], wide)
        self._too_many: list[frozenset[Rule]] = []
        """Rules that read or derive too much, and will not read or derive less later, because facts are only added."""

    def finish(self, fresh: Collection[Join]) -> Candidates | None:
        """Return all that is left to derive, or None if that may take too many facts, or if no rule can fire.

        Args:
            fresh: The rules that have never been applied; the others have been applied to all but the facts of the last iteration.
        """
        rules = self._rules.after(self._facts.new_keys(), [rule for join in fresh for rule in _rules_of(join)])
        chosen = frozenset(rules)
        if not chosen or any(chosen >= others for others in self._too_many) or self._compares_merged_literals(rules):
            return None
        read = _Reading(self._facts, self._most).atoms({key for rule in rules for key in read_keys(rule)})
        derived = None if read is None else _derived(rules, read, self._most)
        if derived is None:
            self._too_many.append(chosen)
            return None
        new = _not_implied(derived, self._facts.properties)
        return held_facts(self._facts.spark, new, self._facts.features, self._facts.masks) or Candidates()

    def _compares_merged_literals(self, rules: Iterable[Rule]) -> bool:
        """Return whether filters ask for differences that representatives may hide, see `Representatives.differing`."""
        merged = self._facts.representatives
        return merged is not None and merged.of_literals and any(isinstance(part, Filter) for rule in rules for part in rule.body)


def _rules_of(join: Join) -> list[Rule]:
    return [single.rule for single in join.axioms.joins] if join.axioms else [join.rule]


class _Reading:
    """Facts on their way to the driver, up to a number of them."""

    def __init__(self, facts: FactFrames, most: int) -> None:
        self._facts = facts
        self._left = most

    def atoms(self, keys: Set[Key]) -> list[Atom] | None:
        """Return all facts that some keys are about, or None if there are too many."""
        facts = self._facts
        features = [bit for atom, bit in facts.features.bits.items() if _asks_for(atom, keys)]
        if facts.count_at_least(keys, features) > self._left:
            return None
        found: list[Atom] = []
        for rows, atom_of in (*self._triples(keys), *self._of_terms(features), *self._relations(keys)):
            read = rows.limit(self._left + 1).collect()
            self._left -= len(read)
            if self._left < 0:
                return None
            found += map(atom_of, read)
        return found

    def _triples(self, keys: Collection[Key]) -> Iterator[tuple[DataFrame, Callable[[Any], Atom]]]:
        """Yield the triples of the properties, except types that are features."""
        from pyspark.sql import functions as F

        facts = self._facts
        about = {key for key in keys if key[0] == TRIPLE}
        properties = {key[1] for key in about if key[1] not in (None, RDF.type)}
        classes = {key[2] for key in about if key[1] == RDF.type} - facts.features.classes.keys()
        frames: list[DataFrame | None] = []
        if (TRIPLE, None, None) in about:
            frames.append(facts.closed.rows("all"))
        else:
            if properties:
                frames.append(facts.triples_of(frozenset(filter(None, properties)), "all"))
            if classes and (rows := facts.closed.rows("all")) is not None:
                texts = [term_text(cls) for cls in classes if cls is not None]
                types = rows.where(F.col(PREDICATE) == TYPE)
                frames.append(types if None in classes else types.where(F.col(OBJECT).isin(sorted(texts))))
        for frame in frames:
            if frame is not None:
                yield frame.select(*TRIPLE_COLUMNS), lambda row: _atom(TRIPLE, row)

    def _of_terms(self, features: Sequence[int]) -> Iterator[tuple[DataFrame, Callable[[Any], Atom]]]:
        """Yield the terms that have features."""
        atoms = list(self._facts.features.bits)
        rows = self._facts.masks.terms_of([Choice(frozenset([bit])) for bit in features], "all") if features else None
        if rows is not None:
            yield rows.select(TERM, CHOICE), lambda row: _with(atoms[features[row[CHOICE]]], term_from_text(row[TERM]))

    def _relations(self, keys: Collection[Key]) -> Iterator[tuple[DataFrame, Callable[[Any], Atom]]]:
        """Yield the facts of general predicates."""
        from pyspark.sql import functions as F

        names = sorted({predicate for predicate, _, _ in keys if predicate != TRIPLE})
        for arity, table in sorted(self._facts.relations.items()) if names else ():
            if (rows := table.rows("all")) is not None:
                chosen = rows.where(F.col(RELATION).isin(names)).select(RELATION, *argument_columns(arity))
                yield chosen, lambda row: _atom(row[0], row[1:])


def _asks_for(feature: Atom, keys: Set[Key]) -> bool:
    """Return whether keys are about a feature that is a fact, a class or a helper predicate, and not about all triples or types."""
    if feature.predicate != TRIPLE:
        return (feature.predicate, None, None) in keys
    if not keys.isdisjoint({(TRIPLE, None, None), (TRIPLE, RDF.type, None)}):
        return False
    _, property, cls = feature.terms
    return property == RDF.type and (TRIPLE, RDF.type, cls) in keys


def _atom(predicate: str, texts: Iterable[str]) -> Atom:
    return Atom(predicate, tuple(map(term_from_text, texts)))


def _with(feature: Atom, term: Term) -> Atom:
    return Atom(feature.predicate, tuple(term if other == X else other for other in feature.terms))


def _not_implied(atoms: Sequence[Atom], properties: PropertyPass) -> Iterator[Atom]:
    """Yield facts without triples that the property pass has by others of them."""
    implied: set[tuple[Argument, ...]] = set()
    for atom in sorted(atoms, key=lambda atom: atom.predicate == TRIPLE and atom.terms[1] in properties.targets):
        if atom.predicate == TRIPLE:
            if atom.terms in implied:
                continue
            subject, property, value = atom.terms
            for target, swapped in properties.implied.get(property, ()):  # type: ignore[arg-type]  # a constant
                implied.add((value, target, subject) if swapped else (subject, target, value))
        yield atom


def _derived(rules: Iterable[Rule], facts: Iterable[Atom], most: int) -> list[Atom] | None:
    """Return the consequences of facts that are not among them, or None if both together are more than `most`."""
    names = PredicateNames(keep=TRIPLE)
    reasoner = reasoner_of(map(names.in_rule, rules), Limits(facts=most))
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for atom in facts:
        rows.setdefault(names.of(atom), []).append(atom.terms)
    try:
        for name, same in rows.items():
            reasoner.add_facts(name, same)
        reasoner.materialise()
    except (LimitError, ValueTooLargeError):
        return None
    terms = [term_from_text(text) for text in reasoner.core.dictionary.texts()]
    found = []
    for predicate, _, name in names:
        new = reasoner.engine.base.triples("inferred") if name == TRIPLE else reasoner.facts(name, "inferred").ids
        found += [Atom(predicate, tuple(terms[number] for number in row)) for row in new.tolist()]
    return found
