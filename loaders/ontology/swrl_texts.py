"""SWRL rules as text, in the human-readable syntax of the submission (section 4): ``Person(?x) ^ knows(?x, ?y) -> Person(?y)``."""

from __future__ import annotations

from kg_reasoner.language.printer import format_term
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.rules.swrl import (
    SWRLB,
    BuiltinAtom,
    ClassAtom,
    DataRangeAtom,
    DifferentAtom,
    PropertyAtom,
    SameAtom,
    SwrlAtom,
    SwrlRule,
)
from kg_reasoner.program import Argument, Variable
from kg_reasoner.terms import IRI, BlankNode, Literal

__all__ = ["arguments_of", "atom_text", "builtin_text", "rule_text"]


def arguments_of(atom: SwrlAtom) -> tuple[Argument, ...]:
    """Return the arguments of an atom in their written order."""
    match atom:
        case ClassAtom(_, argument) | DataRangeAtom(_, argument):
            return (argument,)
        case PropertyAtom(_, first, second) | SameAtom(first, second) | DifferentAtom(first, second):
            return first, second
        case BuiltinAtom(_, arguments):
            return arguments


def rule_text(rule: SwrlRule, texts: Texts) -> str:
    """Return the text of a rule, which represents an axiom in messages and explanations."""
    body, head = (" ^ ".join(atom_text(atom, texts) for atom in part) for part in (rule.body, rule.head))
    return f"{body} -> {head}".strip()


def atom_text(atom: SwrlAtom, texts: Texts) -> str:
    """Return the text of an atom; anonymous classes are in functional-style syntax."""
    match atom:
        case ClassAtom(node) | DataRangeAtom(node):
            name = f"({texts.node(node)})" if isinstance(node, BlankNode) else texts.name(node)
        case PropertyAtom(property):
            name = texts.property(property)
        case SameAtom():
            name = "sameAs"
        case DifferentAtom():
            name = "differentFrom"
        case BuiltinAtom(builtin):
            name = _builtin_name(builtin) or texts.name(builtin)
    return f"{name}({', '.join(_argument_text(argument, texts) for argument in arguments_of(atom))})"


def _argument_text(argument: Argument, texts: Texts) -> str:
    if isinstance(argument, Variable):
        return str(argument)
    return format_term(argument) if isinstance(argument, Literal) else texts.name(argument)


def builtin_text(atom: BuiltinAtom) -> str:
    """Return the text of a built-in atom without prefixes, for messages."""
    return f"{_builtin_name(atom.builtin) or atom.builtin}({', '.join(map(format_term, atom.arguments))})"


def _builtin_name(builtin: IRI) -> str | None:
    return f"swrlb:{builtin.value[len(str(SWRLB)) :]}" if builtin in SWRLB else None
