"""Proofs as plain data: dicts and lists that `json` can write. Terms are in N-Triples form, without prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kg_reasoner.explain.readable_names import Names, axiom_text, show_statement
from kg_reasoner.explain.steps import Computed, Group, ProofSteps, Statement, Step
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import FALSE, TRIPLE, Argument, Atom, Negation, Rule, Variable
from kg_reasoner.terms import term_text

__all__ = ["proof_dict", "rule_dict", "statement_dict"]


def proof_dict(proof: ProofSteps) -> dict[str, Any]:
    """Return ``conclusion``, ``height``, ``shortest``, and ``steps``, each after its premises, the conclusion last.

    A step has its ``number`` (from 0), the statement (see `statement_dict`), its ``reason`` (see `Reason`), and if that is
    ``rule``: the ``rule`` (see `rule_dict`), the ``bindings`` of its variables, and the numbers of its ``premises``. An aggregate
    has as premises some of its solutions, and a solution what it is made of, with ``bindings``.
    """
    return {
        "conclusion": statement_dict(proof.conclusion, proof.prefixes),
        "height": proof.height,
        "shortest": proof.shortest,
        "steps": [{"number": number, **_step_dict(step, proof)} for number, step in enumerate(proof.steps)],
    }


def _step_dict(step: Step, proof: ProofSteps) -> dict[str, Any]:
    found = {**statement_dict(step.statement, proof.prefixes), "reason": step.reason}
    if step.rule is not None:
        bindings = {variable.name: term_text(term) for variable, term in step.bindings}
        found.update(rule=rule_dict(step.rule, proof.prefixes), bindings=bindings, premises=list(step.premises))
    elif step.reason == "solution":
        found.update(bindings={variable.name: term_text(term) for variable, term in step.bindings}, premises=list(step.premises))
    elif step.reason == "aggregated":
        found["premises"] = list(step.premises)
    return found


def statement_dict(statement: Statement, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """Return a statement as ``text`` for people and as structured data.

    A triple has ``triple`` (three terms), another fact ``predicate`` and ``arguments``; a negation has that of its atom under
    ``not``. Variables that are left in a negated atom begin with a question mark. The value of a BIND has the ``value``; a group of
    an aggregate the values it groups by (``group``) and its ``results``, each by the name of the variable, and the number of its
    ``solutions``.
    """
    found: dict[str, Any] = {"text": show_statement(statement, Names(prefixes))}
    if isinstance(statement, Negation):
        return {**found, "not": {key: value for key, value in statement_dict(statement.atom, prefixes).items() if key != "text"}}
    if isinstance(statement, Computed):
        return {**found, "value": term_text(statement.value)}
    if isinstance(statement, Group):
        part = statement.aggregate
        group = {variable.name: term_text(term) for variable, term in zip(part.group, statement.values, strict=True)}
        results = {b.variable.name: term_text(term) for b, term in zip(part.bindings, statement.results, strict=True)}
        return {**found, "group": group, "results": results, "solutions": statement.solutions}
    if not isinstance(statement, Atom) or statement.predicate == FALSE:
        return found
    arguments = [_argument(term) for term in statement.terms]
    if statement.predicate == TRIPLE:
        return {**found, "triple": arguments}
    return {**found, "predicate": statement.predicate, "arguments": arguments}


def _argument(term: Argument) -> str:
    return str(term) if isinstance(term, Variable) else term_text(term)


def rule_dict(rule: Rule, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """Return the ``name``, the ``axiom`` (each may be None) and the ``text`` of a rule: the axiom with prefixes, the text with full
    IRIs.
    """
    axiom = axiom_text(rule.origin.axiom, Names(prefixes)) if rule.origin.axiom else None
    return {"name": rule.origin.name, "axiom": axiom, "text": format_rule(rule, {})}
