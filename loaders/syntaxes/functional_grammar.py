"""The grammar of functional syntax for Lark, made from the signatures of constructs. It explains syntax errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.syntaxes.constructs import AXIOMS, KINDS, SIGNATURES, PartKind, Slot
from kg_reasoner.loaders.syntaxes.document_text import LANGUAGE, PREFIX, PREFIXED, QUOTED, SourceText
from kg_reasoner.loaders.syntaxes.grammar_errors import parse_error
from kg_reasoner.terms import IRI, BlankNode, Literal

__all__ = ["explain"]

_TERMINALS: Final = {
    "IRI": rf"<[^<>\"{{}}|^`\\\x00-\x20]*>|{PREFIXED}",
    "NODE": r"_:[\w.-]*\w",
    "LITERAL": rf"{QUOTED}(?:{LANGUAGE}|\s*\^\^\s*(?:<[^<>\"{{}}|^`\\\x00-\x20]*>|{PREFIXED}))?",
    "NUMBER": r"[0-9]+",
    "NAMESPACE": PREFIX,
}
_OF_TYPES: Final = {IRI: "IRI", BlankNode: "NODE", Literal: "LITERAL", int: "NUMBER"}
_LISTS: Final = frozenset({"ObjectProperties", "DataProperties"})
_FACET: Final = "FacetRestriction"
"""A facet and its value, which have no name of their own in functional syntax."""
_WORDS: Final = {
    "IRI": "an IRI",
    "NODE": "an anonymous individual",
    "LITERAL": "a literal",
    "NUMBER": "a number",
    "NAMESPACE": "a prefix such as `ex:`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "EQUAL": "`=`",
    **{name.upper(): f"`{name}`" for name in (*SIGNATURES, "Prefix", "Ontology")},
}


def explain(source: SourceText, start: int, end: int, in_ontology: bool) -> LoadError | None:
    """Return the syntax error in a part of a text, if any: an import, annotation or axiom, or the beginning of the document."""
    return parse_error(_grammar("any_item" if in_ontology else "any_head"), source, start, end, _WORDS, _groups())


@cache
def _groups() -> tuple[tuple[str, frozenset[str]], ...]:
    groups = [("an axiom", frozenset(map(str.upper, AXIOMS)))]
    groups += ((kind.words, frozenset(_first(kind))) for name, kind in KINDS.items() if not name.endswith("properties"))
    groups.sort(key=lambda group: -len(group[1]))
    return tuple(group for group in groups if len(group[1]) > 1)


def _first(kind: PartKind) -> Iterator[str]:
    """Yield the terminals with which a part of a kind begins."""
    yield from (_OF_TYPES[type] for type in kind.terms)
    yield from (name.upper() for name in kind.constructs)


@cache
def _grammar(start: str) -> str:
    """Return the grammar of the beginning of a document, or of the parts of an ontology."""
    lines = [
        f"start: {start}",
        'any_head: any_prefix* "Ontology" "(" (IRI IRI?)?',
        'any_prefix: "Prefix" "(" NAMESPACE "=" IRI ")"',
        f'any_item: import | annotation | {" | ".join(map(_rule, AXIOMS))} | ")"',
    ]
    lines += (f"{_rule(name)}: {_construct(name, slots)}" for name, slots in SIGNATURES.items())
    lines += (f"{_kind(name)}: {_alternatives(kind)}" for name, kind in KINDS.items())
    lines += (f"{name}: /{pattern}/" for name, pattern in _TERMINALS.items())
    return "\n".join([*lines, r"%ignore /\s+|#[^\n]*/", ""])


def _construct(name: str, slots: tuple[Slot, ...]) -> str:
    if name == _FACET:
        return " ".join(map(_repeated, slots))
    annotations = "annotation* " if name in AXIOMS or name == "Annotation" else ""
    word = "" if name in _LISTS else f'"{name}" '
    return f'{word}"(" {annotations}{" ".join(map(_repeated, slots))} ")"'


def _repeated(slot: Slot) -> str:
    kind = _kind(slot.kind)
    if slot.most is None:
        return " ".join([kind] * slot.least + [f"{kind}*"])
    return kind if slot.least else f"{kind}?"


def _alternatives(kind: PartKind) -> str:
    return " | ".join([*(_OF_TYPES[type] for type in kind.terms), *sorted(map(_rule, kind.constructs))])


def _rule(name: str) -> str:
    return name.lower()


def _kind(name: str) -> str:
    return f"part_{name.replace('-', '_')}"
