"""Hierarchies as text, tables, plain data and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, Protocol

from kg_reasoner.classification.selection import Kind
from kg_reasoner.classification.taxonomy import Taxonomy
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.explain.readable_names import Names, axiom_text
from kg_reasoner.language.display_names import merged
from kg_reasoner.language.parser import PREFIXES
from kg_reasoner.language.printer import format_term
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.terms import IRI

__all__ = ["as_dict", "page", "table_rows", "tree_text"]


class Shown(Protocol):
    """The parts of a hierarchy that are shown."""

    is_consistent: bool
    complete: bool
    warnings: tuple[AxiomWarning, ...]

    @property
    def unsatisfiable(self) -> Sequence[NoMembers]: ...

    def explanations(self, prefixes: Mapping[str, str], /) -> Iterator[tuple[NoMembers, tuple[str, ...], Proof]]: ...

    @property
    def taxonomies(self) -> Mapping[Kind, Taxonomy]: ...


class NoMembers(Protocol):
    """A class or property that is unsatisfiable."""

    @property
    def name(self) -> IRI: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def violation(self) -> Violation: ...


_TITLES: Final[dict[Kind, str]] = {"class": "classes", "object property": "object properties", "data property": "data properties"}


def _shortener(prefixes: Mapping[str, str]) -> Callable[[IRI], str]:
    known = merged(PREFIXES, prefixes)
    return lambda name: format_term(name, known)


def tree_text(hierarchy: Shown, prefixes: Mapping[str, str]) -> str:
    """Return an indented tree. A name with several others above it is under each of them; the names below it follow only once."""
    short = _shortener(prefixes)
    lines: list[str] = []
    if hierarchy.unsatisfiable:
        lines.append("unsatisfiable:")
        lines += [f"  {short(each.name)}" for each in hierarchy.unsatisfiable]
    for kind, taxonomy in hierarchy.taxonomies.items():
        if len(taxonomy):
            lines.append(f"{_TITLES[kind]}:")
            for depth, name, is_repeated in walk(taxonomy):
                names = " = ".join(short(one) for one in (name, *taxonomy.equivalents(name)))
                lines.append(f"{'  ' * (depth + 1)}{names}{' ...' if is_repeated and taxonomy.children(name) else ''}")
    return "\n".join(lines)


def walk(taxonomy: Taxonomy) -> Iterator[tuple[int, IRI, bool]]:
    """Yield one name of each place from the top, depth first: its depth, the name, and whether it has been yielded before."""
    below: dict[IRI, list[IRI]] = {}
    for (first, *_), above in taxonomy.places():
        for upper in above:
            below.setdefault(upper, []).append(first)
    seen: set[IRI] = set()
    waiting = [(0, root) for root in reversed(taxonomy.roots)]
    while waiting:
        depth, name = waiting.pop()
        yield depth, name, name in seen
        if name not in seen:
            seen.add(name)
            waiting.extend((depth + 1, child) for child in reversed(below.get(name, [])))


def table_rows(hierarchy: Shown, prefixes: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each name, unsatisfiable ones first: kind, name, those directly above it, and its equivalents."""
    short = _shortener(prefixes)
    for each in hierarchy.unsatisfiable:
        yield each.kind, short(each.name), "", "(unsatisfiable)"
    for kind, taxonomy in hierarchy.taxonomies.items():
        for name in taxonomy.names:
            yield kind, short(name), " ".join(map(short, taxonomy.parents(name))), " ".join(map(short, taxonomy.equivalents(name)))


def as_dict(hierarchy: Shown, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """Return ``complete``, ``consistent``, ``warnings``, ``unsatisfiable``, and the names of each kind."""
    unsatisfiable = [
        {
            "name": each.name.value,
            "kind": each.kind,
            "violation": each.violation.text(prefixes),
            "axioms": axioms,
            "proof": proof.as_dict(),
        }
        for each, axioms, proof in hierarchy.explanations(prefixes)
    ]
    names = Names(prefixes)
    found: dict[str, Any] = {
        "consistent": hierarchy.is_consistent,
        "complete": hierarchy.complete,
        "warnings": [
            {"axiom": axiom_text(each.axiom, names), "reason": axiom_text(each.reason, names)} for each in hierarchy.warnings
        ],
        "unsatisfiable": unsatisfiable,
    }
    for kind, taxonomy in hierarchy.taxonomies.items():
        found[_TITLES[kind].replace(" ", "_")] = [
            {
                "name": name.value,
                "parents": [other.value for other in taxonomy.parents(name)],
                "equivalents": [other.value for other in taxonomy.equivalents(name)],
            }
            for name in taxonomy.names
        ]
    return found


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em;max-width:70em}ul{list-style:none;padding-left:1.4em}"
    "pre{background:#f6f6f6;padding:.6em;overflow:auto}.no{color:#a00}summary{cursor:pointer}"
)


def page(hierarchy: Shown, prefixes: Mapping[str, str]) -> str:
    """Return a self-contained HTML page: unsatisfiable names with their proofs, collapsible trees, and the warnings."""
    short = _shortener(prefixes)
    parts = [f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Inferred hierarchy</title><style>{_STYLE}</style>']
    parts.append("<h1>Inferred hierarchy</h1>")
    if not hierarchy.is_consistent:
        parts.append('<p class="no">The ontology is inconsistent.</p>')
    if hierarchy.unsatisfiable:
        parts.append("<h2>Unsatisfiable</h2>")
    for each, axioms, proof in hierarchy.explanations(prefixes):
        steps = f"<details><summary>step by step</summary><pre>{escape(proof.text())}</pre></details>"
        reasons = escape("\n".join(axioms))
        parts.append(f'<details><summary class="no">{escape(short(each.name))}</summary><pre>{reasons}</pre>{steps}</details>')
    for kind, taxonomy in hierarchy.taxonomies.items():
        if len(taxonomy):
            parts.append(f"<h2>{_TITLES[kind].capitalize()}</h2><ul>{_items(taxonomy, short)}</ul>")
    if hierarchy.warnings:
        names = Names(prefixes)
        items = "".join(f"<li>{escape(axiom_text(str(warning), names))}</li>" for warning in hierarchy.warnings)
        parts.append(f"<h2>Not fully used</h2><p>There may be more than this page shows.</p><ul>{items}</ul>")
    return "".join(parts) + "</html>\n"


def _items(taxonomy: Taxonomy, short: Callable[[IRI], str]) -> str:
    """Return the tree as nested lists."""
    parts: list[str] = []
    last = -1
    for depth, name, is_repeated in walk(taxonomy):
        if depth > last:
            parts.append("<ul>" * (last >= 0))
        else:
            parts.append("</li>" + "</ul></li>" * (last - depth))
        label = " = ".join(escape(short(one)) for one in (name, *taxonomy.equivalents(name)))
        parts.append(f"<li>{label}{' …' if is_repeated and taxonomy.children(name) else ''}")
        last = depth
    return "".join(parts) + "</li>" + "</ul></li>" * max(last, 0)
