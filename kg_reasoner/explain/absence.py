"""Output formats of a `WhyNot`: text, plain data, a graph, a page."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from kg_reasoner.explain.data import rule_dict, statement_dict
from kg_reasoner.explain.dot import COLOURS, HEADER, quoted
from kg_reasoner.explain.html import page
from kg_reasoner.explain.misses import Absence, Miss
from kg_reasoner.explain.proof_text import prefix_lines
from kg_reasoner.explain.readable_names import Names, reason_text, show_rule, show_statement
from kg_reasoner.program import TRIPLE, Atom, Variable
from kg_reasoner.terms import RDF, Term, term_text

__all__ = ["absence_dict", "absence_dot", "absence_page", "absence_text"]

_SHOWN: Final = 5
"""The relations without facts that are named."""


def absence_text(answer: Absence) -> str:
    """Return the prefixes, the fact that does not hold, and the rules that could derive it."""
    names = Names(answer.prefixes)
    lines = [f"{show_statement(answer.fact, names)}   ({_summary(answer)})"]
    lines += [f"{names.term(term)} occurs nowhere in the facts and the rules" for term in answer.unknown]
    for miss in answer.misses:
        lines += ["", f"by {reason_text(miss.rule, names)}"]
        lines += [f"    holds    {show_statement(statement, names)}" for statement in miss.held]
        note = f"   ({miss.note})" if miss.note else ""
        lines.append(f"    {miss.problem:<8} {show_statement(miss.failed, names)}{note}")
        if miss.held:
            others = [_values(example, names) for example in miss.examples[1:]]
            lines += [f"    as for   {values}" for values in others if values]
            lines += ["    as for   further values"] if miss.more else []
    lines += ["", _idle(answer, names)] if answer.idle else []
    return "\n".join([*prefix_lines(names), *lines])


def _idle(answer: Absence, names: Names) -> str:
    """Return the number of rules that do not apply, with the reasons."""
    failed = [miss.failed for miss in answer.idle]
    empty = list(dict.fromkeys(_relation(part, names) for part in failed if isinstance(part, Atom)))
    reasons = [f"no facts of {', '.join(empty[:_SHOWN])}{' ...' if len(empty) > _SHOWN else ''}"] if empty else []
    reasons += dict.fromkeys(f"{show_statement(part, names)} is false" for part in failed if not isinstance(part, Atom))
    count = len(failed)
    return f"{count} more rule{'s do' if count != 1 else ' does'} not apply: {'; '.join(reasons)}"


def _relation(atom: Atom, names: Names) -> str:
    """Return the relation of an atom: the property, or the class of an atom with rdf:type."""
    if atom.predicate != TRIPLE:
        return atom.predicate
    _, property, value = atom.terms
    return names.term(value if property == RDF.type else property)


def absence_dict(answer: Absence) -> dict[str, Any]:
    """Return ``fact``, ``unknown`` terms, and ``rules``: each with the ``rule``, the parts of its body that ``held`` and
    ``failed``, the ``problem`` (see `Problem`) with a ``note``, ``examples`` of values up to that part, and whether there are
    ``more``. ``idle`` has the same for rules that do not apply.
    """
    return {
        "fact": statement_dict(answer.fact, answer.prefixes),
        "unknown": [term_text(term) for term in answer.unknown],
        "rules": [_miss_dict(miss, answer) for miss in answer.misses],
        "idle": [_miss_dict(miss, answer) for miss in answer.idle],
    }


def _miss_dict(miss: Miss, answer: Absence) -> dict[str, Any]:
    return {
        "rule": rule_dict(miss.rule, answer.prefixes),
        "held": [statement_dict(statement, answer.prefixes) for statement in miss.held],
        "failed": statement_dict(miss.failed, answer.prefixes),
        "problem": miss.problem,
        "note": miss.note,
        "examples": [{variable.name: term_text(term) for variable, term in example} for example in miss.examples],
        "more": miss.more,
    }


def absence_dot(answer: Absence) -> str:
    """Return a directed graph as for proofs; statements that do not hold are dashed."""
    names = Names(answer.prefixes)
    missing = f'style="filled,dashed", fillcolor="{COLOURS["absent"]}"'
    lines = [*HEADER, f"  s [shape=box, {missing}, penwidth=2, label={quoted(show_statement(answer.fact, names))}];"]
    for number, miss in enumerate(answer.misses):
        label = quoted(reason_text(miss.rule, names))
        lines.append(f'  r{number} [shape=ellipse, style="filled,dashed", fillcolor="#fff6dd", fontsize=10, label={label}];')
        lines.append(f"  r{number} -> s [style=dashed];")
        for place, statement in enumerate((*miss.held, miss.failed)):
            kind = missing if statement is miss.failed else f'fillcolor="{COLOURS["explicit"]}"'
            note = f" ({miss.note})" if statement is miss.failed and miss.note else ""
            lines.append(f"  s{number}_{place} [shape=box, {kind}, label={quoted(show_statement(statement, names) + note)}];")
            lines.append(f"  s{number}_{place} -> r{number};")
    return "\n".join([*lines, "}"]) + "\n"


def absence_page(answer: Absence) -> str:
    """Return the HTML page."""
    names = Names(answer.prefixes)
    parts = [
        f"<p><code>{escape(names.term(term))}</code> occurs nowhere in the facts and the rules.</p>\n" for term in answer.unknown
    ]
    for miss in answer.misses:
        rows = [(statement, "explicit", "holds") for statement in miss.held] + [
            (miss.failed, "absent", f"{miss.problem}: {miss.note}" if miss.note else miss.problem)
        ]
        name, rule = escape(reason_text(miss.rule, names)), escape(show_rule(miss.rule, names))
        parts.append(
            f'<div class="tree"><details open><summary><span class="what">{name}</span></summary>\n'
            f'<div class="below"><div class="instance"><code>{rule}</code></div>\n'
        )
        parts += [
            f'<div class="leaf"><span class="what">{escape(show_statement(statement, names))}</span>'
            f'<span class="why {kind}">{escape(verdict)}</span></div>\n'
            for statement, kind, verdict in rows
        ]
        parts.append("</div></details></div><br>\n")
    if answer.idle:
        parts.append(f"<p>{escape(_idle(answer, names))}</p>\n")
    return page(f"Why not {show_statement(answer.fact, names)}", _summary(answer), "".join(parts), names)


def _summary(answer: Absence) -> str:
    count = len(answer.misses)
    if count == 0:
        return "does not hold, and no rule could derive it"
    return f"does not hold; {count} rule{'s' * (count != 1)} could derive it"


def _values(example: tuple[tuple[Variable, Term], ...], names: Names) -> str:
    return ", ".join(f"{variable} = {names.term(term)}" for variable, term in example if not variable.name.startswith("_"))
