"""Constructs as OWL 2 Manchester syntax: a frame for each name, then what no frame holds.

A frame declares its name. Rules, annotations of declarations, and axioms about class expressions or inverse properties have no form
in the Note; they are written as the OWL API does. Where an axiom has no form there either, the error names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kg_reasoner.errors import OutputError
from kg_reasoner.loaders.syntaxes.constructs import Construct, Part
from kg_reasoner.loaders.syntaxes.functional_writer import construct_text
from kg_reasoner.loaders.syntaxes.manchester_frames import BUILT_INS, CHARACTERISTICS, FACETS, VARIABLES
from kg_reasoner.loaders.syntaxes.written_names import WrittenNames
from kg_reasoner.terms import IRI, BlankNode, Literal, Term

__all__ = ["manchester_lines"]

_FRAMES: Final = {
    "Class": "Class",
    "ObjectProperty": "ObjectProperty",
    "DataProperty": "DataProperty",
    "AnnotationProperty": "AnnotationProperty",
    "Datatype": "Datatype",
    "NamedIndividual": "Individual",
}
_SYMBOLS: Final = {iri: name for name, iri in FACETS.items()}
_SIMPLE: Final = re.compile(r"[A-Za-z]\w*", re.ASCII)
"""Names of variables that are written without their namespace."""
_ATOM, _AND, _OR = 0, 1, 2
"""How tightly the text of an expression holds together."""

_SECTIONS: Final = {
    # The frame and the section of an axiom, by its name; the subject is the first part.
    "SubClassOf": ("Class", "SubClassOf"),
    "EquivalentClasses": ("Class", "EquivalentTo"),
    "DisjointClasses": ("Class", "DisjointWith"),
    "DisjointUnion": ("Class", "DisjointUnionOf"),
    "HasKey": ("Class", "HasKey"),
    "DatatypeDefinition": ("Datatype", "EquivalentTo"),
    **{
        name.format(kind): (f"{kind}Property", section)
        for kind in ("Object", "Data", "Annotation")
        for name, section in (
            ("Sub{}PropertyOf", "SubPropertyOf"),
            ("Equivalent{}Properties", "EquivalentTo"),
            ("Disjoint{}Properties", "DisjointWith"),
            ("{}PropertyDomain", "Domain"),
            ("{}PropertyRange", "Range"),
        )
    },
    "InverseObjectProperties": ("ObjectProperty", "InverseOf"),
    **{
        f"{characteristic}{kind}Property": (f"{kind}Property", "Characteristics")
        for kind in ("Object", "Data")
        for characteristic in CHARACTERISTICS
    },
    "SameIndividual": ("Individual", "SameAs"),
    "DifferentIndividuals": ("Individual", "DifferentFrom"),
}
_SEVERAL: Final = {
    "EquivalentClasses": "EquivalentClasses",
    "DisjointClasses": "DisjointClasses",
    "EquivalentObjectProperties": "EquivalentProperties",
    "EquivalentDataProperties": "EquivalentProperties",
    "DisjointObjectProperties": "DisjointProperties",
    "DisjointDataProperties": "DisjointProperties",
    "SameIndividual": "SameIndividual",
    "DifferentIndividuals": "DifferentIndividuals",
}
_FACTS: Final = (
    "ObjectPropertyAssertion",
    "DataPropertyAssertion",
    "NegativeObjectPropertyAssertion",
    "NegativeDataPropertyAssertion",
)


def manchester_lines(constructs: Iterable[Construct], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document; the first construct is the ontology.

    Raises:
        OutputError: An axiom has no form in Manchester syntax, and no other axiom says the same.
    """
    return _Writer(WrittenNames(prefixes)).lines(constructs)


class _Writer:
    def __init__(self, names: WrittenNames) -> None:
        self._names = names
        self._frames: dict[tuple[str, Term], list[str]] = {}
        self._kinds: dict[Term, str] = {}
        self._rest: list[str] = []

    def lines(self, constructs: Iterable[Construct]) -> Iterator[str]:
        names = self._names
        for prefix, namespace in names.prefixes.items():
            yield f"Prefix: {prefix}: <{namespace}>\n"
        assertions = []
        for construct in constructs:
            if construct.name == "Ontology":
                yield f"\nOntology: {' '.join(map(str, construct.parts))}".rstrip() + "\n"
            elif construct.name == "Import":
                yield f"Import: {construct.parts[0]}\n"
            elif construct.name == "Annotation":
                yield f"Annotations: {self._annotation(construct)}\n"
            elif construct.name == "AnnotationAssertion":
                assertions.append(construct)
            else:
                self._axiom(construct)
        for construct in assertions:
            self._annotation_assertion(construct)
        for (kind, subject), sections in self._frames.items():
            yield f"\n{kind}: {names.term(subject)}\n"
            for section in sections:
                yield f"    {section}\n"
        if self._rest:
            yield "\n"
        for line in self._rest:
            yield f"{line}\n"

    # ---- axioms

    def _frame(self, kind: str, subject: Term) -> list[str]:
        self._kinds.setdefault(subject, kind)
        return self._frames.setdefault((kind, subject), [])

    def _axiom(self, axiom: Construct) -> None:
        name, parts, annotations = axiom
        if name == "Declaration":
            (entity,) = parts
            assert isinstance(entity, Construct)
            (subject,) = entity.parts
            assert isinstance(subject, IRI)
            if annotations:
                self._kinds.setdefault(subject, _FRAMES[entity.name])
                self._rest.append(f"{_FRAMES[entity.name]}: {self._annotations(axiom)}{self._text(subject)}")
            else:
                self._frame(_FRAMES[entity.name], subject)
        elif name == "ClassAssertion":
            self._section("Individual", parts[1], "Types", self._text(parts[0]), axiom)
        elif name in _FACTS:
            property, subject, value = parts
            if isinstance(property, Construct):
                if name.startswith("Negative"):
                    raise self._inexpressible(axiom)
                property, subject, value = property.parts[0], value, subject
            fact = f"{'not ' if name.startswith('Negative') else ''}{self._text(property)} {self._text(value)}"
            self._section("Individual", subject, "Facts", fact, axiom)
        elif name == "SubObjectPropertyOf" and isinstance(parts[0], Construct) and parts[0].name == "ObjectPropertyChain":
            chain = " o ".join(map(self._text, parts[0].parts))
            self._section("ObjectProperty", parts[1], "SubPropertyChain", chain, axiom)
        elif name in _SECTIONS:
            self._in_section(axiom)
        elif name == "DLSafeRule":
            body, head = (", ".join(map(self._atom, part.parts)) for part in parts if isinstance(part, Construct))
            self._rest.append(f"Rule: {self._annotations(axiom)}{body} -> {head}".rstrip())
        else:
            raise self._inexpressible(axiom)

    def _in_section(self, axiom: Construct) -> None:
        name, parts, _ = axiom
        kind, section = _SECTIONS[name]
        first, *others = parts
        if name in _SEVERAL and (len(parts) > 2 or isinstance(first, Construct)):
            if len(parts) == 2 and isinstance(parts[1], IRI):
                self._section(kind, parts[1], section, self._text(first), axiom)  # the order does not matter
            else:
                self._rest.append(f"{_SEVERAL[name]}: {self._annotations(axiom)}{', '.join(map(self._text, parts))}")
        elif section == "Characteristics":
            self._section(kind, first, section, name.removesuffix(kind), axiom)
        elif name == "HasKey":
            keys = " ".join(self._text(key) for part in others if isinstance(part, Construct) for key in part.parts)
            self._section(kind, first, section, keys, axiom)
        else:
            self._section(kind, first, section, ", ".join(map(self._text, others)), axiom)

    def _section(self, kind: str, subject: Part, section: str, text: str, axiom: Construct) -> None:
        if isinstance(subject, Construct) and kind in ("Class", "ObjectProperty") and section != "DisjointUnionOf":
            self._rest.append(f"{kind}: {self._text(subject)} {section}: {self._annotations(axiom)}{text}")
            return
        if isinstance(subject, Construct | int | Literal):
            raise self._inexpressible(axiom)
        self._frame(kind, subject).append(f"{section}: {self._annotations(axiom)}{text}")

    def _annotation_assertion(self, axiom: Construct) -> None:
        property, subject, value = axiom.parts
        assert isinstance(subject, IRI | BlankNode)
        annotation = Construct("Annotation", (property, value), axiom.annotations)
        frame = self._frame(self._kinds.get(subject, "Individual"), subject)
        place = sum(line.startswith("Annotations:") for line in frame)
        frame.insert(place, f"Annotations: {self._annotation(annotation)}")

    def _atom(self, atom: Part) -> str:
        """Return an atom of a rule as text."""
        assert isinstance(atom, Construct)
        name, (predicate, *arguments), _ = atom
        if name in ("SameIndividualAtom", "DifferentIndividualsAtom"):
            word, arguments = ("SameAs" if name.startswith("Same") else "DifferentFrom"), list(atom.parts)
        elif isinstance(predicate, Construct):
            word = f"({self._text(predicate)})"
        else:
            word = self._text(predicate)
        is_known = len(arguments) > 2 or (len(arguments) > 1 and isinstance(arguments[0], Literal))
        if name == "BuiltInAtom" and not is_known and not (isinstance(predicate, IRI) and predicate.value.startswith(BUILT_INS)):
            raise self._inexpressible(atom)
        return f"{word}({', '.join(map(self._argument, arguments))})"

    def _argument(self, argument: Part) -> str:
        if not isinstance(argument, Construct):
            return self._text(argument)
        (variable,) = argument.parts
        assert isinstance(variable, IRI)
        local = variable.value.removeprefix(VARIABLES)
        return f"?{local}" if local != variable.value and _SIMPLE.fullmatch(local) else f"?<{variable.value}>"

    def _inexpressible(self, construct: Construct) -> OutputError:
        text = construct_text(construct, self._names)
        return OutputError(f"Manchester syntax has no form for {text}; functional syntax (.ofn) can hold it")

    # ---- annotations

    def _annotations(self, axiom: Construct) -> str:
        if not axiom.annotations:
            return ""
        return f"Annotations: {', '.join(map(self._annotation, axiom.annotations))} "

    def _annotation(self, annotation: Construct) -> str:
        property, value = annotation.parts
        return f"{self._annotations(annotation)}{self._text(property)} {self._text(value)}"

    # ---- expressions

    def _text(self, whole: Part) -> str:
        """Return an expression as text. Expressions may be inside each other to any depth."""
        if not isinstance(whole, Construct):
            return self._term(whole)
        done: list[list[tuple[str, int]]] = [[]]
        waiting: list[Construct] = [whole]
        while waiting:
            construct = waiting[-1]
            texts = done[-1]
            if len(texts) < len(construct.parts):
                part = construct.parts[len(texts)]
                if isinstance(part, Construct):
                    waiting.append(part)
                    done.append([])
                else:
                    texts.append((self._term(part), _ATOM))
                continue
            waiting.pop()
            done.pop()
            result = self._expression(construct, texts)
            if not waiting:
                return result[0]
            done[-1].append(result)
        raise AssertionError("an expression has a text")

    def _term(self, part: Part) -> str:
        return str(part) if isinstance(part, int) else self._names.term(part)  # type: ignore[arg-type]

    def _expression(self, construct: Construct, texts: Sequence[tuple[str, int]]) -> tuple[str, int]:
        name = construct.name
        kind = name.removeprefix("Object").removeprefix("Data")
        if kind in ("IntersectionOf", "UnionOf"):
            level, word = (_AND, " and ") if kind == "IntersectionOf" else (_OR, " or ")
            if len(texts) == 1:
                raise self._inexpressible(construct)
            return word.join(_within(text, _ATOM) for text in texts), level
        if kind == "ComplementOf":
            return f"not {_operand(texts[0])}", _AND
        if kind == "OneOf":
            return f"{{{', '.join(text for text, _ in texts)}}}", _ATOM
        if name == "ObjectInverseOf":
            return f"inverse ({texts[0][0]})", _ATOM
        if name == "FacetRestriction":
            facet = construct.parts[0]
            if facet not in _SYMBOLS:
                raise OutputError(f"Manchester syntax has no form for the facet {facet}; functional syntax (.ofn) can hold it")
            return f"{_SYMBOLS[facet]} {texts[1][0]}", _ATOM
        if name == "DatatypeRestriction":
            return f"{texts[0][0]}[{', '.join(text for text, _ in texts[1:])}]", _ATOM
        if kind.endswith("Cardinality"):
            (number, _), (property, _), *fillers = texts
            word = {"Min": "min", "Max": "max", "Exact": "exactly"}[kind.removesuffix("Cardinality")]
            return " ".join([property, word, number, *map(_operand, fillers)]), _AND
        if kind == "HasSelf":
            return f"{texts[0][0]} Self", _AND
        if len(texts) != 2:
            raise self._inexpressible(construct)
        word = {"SomeValuesFrom": "some", "AllValuesFrom": "only", "HasValue": "value"}[kind]
        return f"{texts[0][0]} {word} {_operand(texts[1])}", _AND


def _within(text: tuple[str, int], level: int) -> str:
    return text[0] if text[1] <= level else f"({text[0]})"


def _operand(text: tuple[str, int]) -> str:
    return _within(text, _ATOM)
