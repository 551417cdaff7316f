"""The equalities known to a run, and their effects: representatives, and axioms about classes and properties."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from kg_reasoner.errors import UnsupportedError, expect_name
from kg_reasoner.program import Program
from kg_reasoner.spark_backend.exec.preparation.components import representatives
from kg_reasoner.spark_backend.exec.preparation.merged_terms import Representatives, can_rewrite, is_equality_rule
from kg_reasoner.spark_backend.exec.preparation.rule_preparation import Rules
from kg_reasoner.spark_backend.io.columns import local_frame
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import Progress, Report
from kg_reasoner.terms import OWL, Term, Triple, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Equalities", "Equality"]

Equality: TypeAlias = Literal["auto", "representatives", "rules"]


class Equalities:
    """The equalities of one run, which only grow.

    Args:
        program: The rules of the run.
        wish: How owl:sameAs is to be treated; see `Run`.
        has_facts: Whether facts of general predicates are given.
        report: Called when representatives are found.

    Raises:
        UnknownNameError: There is no such treatment.
    """

    def __init__(self, program: Program, wish: Equality, has_facts: bool, report: Progress) -> None:
        self._program = program
        expect_name("treatment of equality", wish, get_args(Equality))
        self._wish: Equality = wish
        self._has_facts = has_facts
        self._report = report
        self._is_chosen = False
        self.rewrites = False
        self.representatives: Representatives | None = None
        self.of_names: set[Triple] = set()
        """The equalities of classes and properties, for a program that translates axioms."""

    def choose(self, rules: Rules) -> None:
        """Decide whether facts are rewritten to representatives; later calls change nothing, as rules of equality may be gone.

        Raises:
            UnsupportedError: It was asked for, and does not give what the rules of equality give.
        """
        if self._is_chosen:
            return
        others = [rule for rule, _ in rules.rules if not is_equality_rule(rule)] + list(rules.schema_rules)
        can = can_rewrite(self._program.rules, others, rules.stated, self._has_facts)
        if self._wish == "representatives" and not can:
            raise UnsupportedError(
                "merging equal terms would not give the results of the program's rules of equality: other rules compare or "
                "negate terms, or have variables for properties or classes, or there are facts of general predicates",
                hint="use equality='rules', or 'auto'",
            )
        self.rewrites = can and self._wish != "rules" and _may_equate(rules)
        self._is_chosen = True

    def way(self, rules: Rules) -> str:
        """Return a readable description of the treatment of owl:sameAs."""
        if self.rewrites:
            return "by representatives"
        return "by rules" if _may_equate(rules) else "nothing is equal"

    def matter(self, rules: Rules) -> bool:
        """Return whether derived equalities have effects beyond these rules."""
        return self.rewrites or (self._program.translate is not None and _may_equate(rules))

    def add(self, pairs: DataFrame, names: Iterable[Term], workspace: WorkDirectory) -> bool:
        """Add pairs of equal terms, and return whether anything changed. `names` are all classes and properties."""
        changed = False
        if self.rewrites:
            if pairs.where(f"{pairs.columns[0]} <> {pairs.columns[1]}").isEmpty():
                return False
            began = time.monotonic()
            if self.representatives is not None:
                pairs = self.representatives.table.toDF(*pairs.columns).unionByName(pairs)
            self.representatives = Representatives(representatives(pairs, workspace))
            changed = True
            self._report(Report("equality", seconds=time.monotonic() - began))
        if self._program.translate is not None:
            names = set(names)
            found = _about(names, pairs if self.representatives is None else self.representatives.pairs_with(names))
            changed |= not found <= self.of_names
            self.of_names |= found
        return changed


def _may_equate(rules: Rules) -> bool:
    """Return whether equalities exist or may be derived."""
    return any(is_equality_rule(rule) for rule, _ in rules.rules)


def _about(names: Iterable[Term], pairs: DataFrame) -> set[Triple]:
    """Return the pairs that are about names."""
    table = local_frame(pairs.sparkSession, [(term_text(name),) for name in names], "name string")
    one, other = pairs.columns
    touching = pairs.join(table, (pairs[one] == table["name"]) | (pairs[other] == table["name"]), "left_semi")
    return {(term_from_text(row[0]), OWL.sameAs, term_from_text(row[1])) for row in touching.distinct().collect()}
