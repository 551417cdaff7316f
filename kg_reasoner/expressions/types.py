"""Types of terms: those of columns, of arguments and results of functions.

A type is written as text: a name, and for some its parameters in angle brackets: ``list<integer>``. Names of a program's own types
are resolved by `Types`. What a type accepts decides about facts at run time, `kinds` about rules before
(`language.types.rule_types`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import cycle
from typing import Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ReasonerError, ValueTooLargeError, plural, suggest
from kg_reasoner.expressions.functions.numbers import literal_of, to_single
from kg_reasoner.expressions.structures import NAMESPACE, decode, encode
from kg_reasoner.expressions.values import value_of
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import COLUMN_TYPES, TypeDefinition
from kg_reasoner.terms import (
    IRI,
    NOT_IN_IRI,
    NOT_IN_LABEL,
    RDF,
    XSD,
    BlankNode,
    Literal,
    Term,
    is_language,
    literal,
    plain_value,
    term_text,
)

__all__ = ["PARAMETRIC", "Type", "Types", "integer_range", "kind_of", "parts", "python_value"]

Kinds = frozenset[str] | None
"""The kinds of terms in a type, see `kind_of`; None: any."""

NUMBERS: Final = ("integer", "decimal", "float", "double")
_DATATYPES: Final = ("string", *NUMBERS, "boolean", "date", "dateTime")
_KINDS: Final = {XSD[name].value: name for name in _DATATYPES}
_WIDEST: Final = 1024
_TIME: Final = regular_expression(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_NOUNS: Final = {
    "iri": "an IRI",
    "integer": "an integer",
    "decimal": "a decimal number",
    "any": "a term",
    "term": "a term",
}
_OPEN_LETTERS: Final = frozenset("FHLMNRSX")
"""Letters whose names begin with a vowel, for the article before a type with a one-letter name."""

_Members: TypeAlias = Callable[[Term], Iterable[tuple[str, Term]] | None]

PARAMETRIC: Final = {"list": 1, "set": 1, "optional": 1, "map": 2, "tuple": None, "signed": 0, "unsigned": 0}
"""The types with parameters, and how many: None for any number, 0 for a width in bits."""


@dataclass(frozen=True)
class Type:
    """A type: its text, the terms that it accepts, and their kinds.

    Attributes:
        name: The text.
        accepts: Whether a term is of the type.
        kinds: The kinds of its terms; None for any.
        members: For a type with structure, the members of a term, each with its type; None for a term that does not fit.
        definitions: The definitions of the program that its name may refer to.
    """

    name: str
    accepts: Callable[[Term], bool]
    kinds: Kinds
    members: _Members | None = field(default=None, compare=False, repr=False)
    definitions: tuple[TypeDefinition, ...] = field(default=(), compare=False, repr=False)

    def __reduce__(self) -> tuple[Callable[[str, tuple[TypeDefinition, ...]], Type], tuple[str, tuple[TypeDefinition, ...]]]:
        return _named, (self.name, self.definitions)

    @property
    def noun(self) -> str:
        """The type with an article, for messages."""
        sounds_open = self.name in _OPEN_LETTERS or self.name[0].lower() in "aeio" or self.name.startswith("unsigned")
        return _NOUNS.get(self.name) or f"{'an' if sounds_open else 'a'} {self.name}"

    def read(self, term: Term) -> Any:
        """Return the Python value of a term of this type: a term itself for ``any`` and ``term``.

        Raises:
            ValueTooLargeError: It is nested deeper than Python functions can call each other.
        """
        try:
            return term if self.kinds is None else python_value(term)
        except RecursionError:
            raise ValueTooLargeError(f"{self.noun} is nested too deep to be a value in Python") from None

    def write(self, value: Any) -> Term:
        """Return the term of a Python value.

        Raises:
            TypeError, ValueError: No term has such a value.
        """
        return _term_of(value, self.name)


def _named(name: str, definitions: tuple[TypeDefinition, ...]) -> Type:
    return Types(definitions).type_of(name)


def kind_of(term: Term) -> str:
    """Return the kind of a term: its datatype, ``iri``, ``blank``, ``record Ok`` for a record of a constructor, or ``other``."""
    if isinstance(term, IRI):
        return "iri"
    if isinstance(term, BlankNode):
        return "blank"
    if term.datatype.startswith(NAMESPACE):
        found = decode(term)
        return "other" if found is None else f"record {found.constructor}" if found.kind == "record" else found.kind
    return _KINDS.get(term.datatype, "other") if term.language is None else "text"


def python_value(term: Term) -> Any:
    """Return the Python value of a literal: int, str, float, Decimal, bool, date, datetime, list, frozenset, dict or tuple.

    Other terms are returned as they are, among them dates that Python does not have: with a timezone, or of a year beyond 9999.
    """
    if not isinstance(term, Literal):
        return term
    structure = decode(term)
    if structure is not None and structure.kind != "record":
        members = [python_value(member) for member in structure.members]
        if structure.kind == "map":
            return dict(zip(members[::2], members[1::2], strict=True))
        return {"list": list, "tuple": tuple, "set": frozenset}[structure.kind](members)
    kind = kind_of(term)
    if kind == "string":
        return term.lexical
    value = value_of(term)
    if value is not None and kind in ("date", "dateTime"):
        return _moment(term, kind)
    if value is None or kind not in (*NUMBERS, "boolean"):
        return term
    found = value[1]
    return {"integer": int, "decimal": Decimal, "float": float, "double": float, "boolean": bool}[kind](found)


def _moment(term: Literal, kind: str) -> Any:
    """Return the date or datetime that a literal is, or the literal if Python has none."""
    text = term.lexical.strip()
    try:
        return date.fromisoformat(text) if kind == "date" else datetime.fromisoformat(_in_microseconds(text))
    except ValueError:
        return term


def _in_microseconds(text: str) -> str:
    """Return a dateTime in the form that all versions of Python read."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    moment, fraction, zone = found.groups()
    if fraction and len(fraction) > len(".123456"):
        raise ValueError(text)
    return moment + (fraction.ljust(len(".123456"), "0") if fraction else "") + ("+00:00" if zone == "Z" else zone or "")


def _term_of(value: Any, name: str) -> Term:
    """Return the term of a Python value.

    Raises:
        TypeError, ValueError: There is none, or documents could not contain it.
    """
    if isinstance(value, IRI | BlankNode | Literal):
        return _valid(value)
    found = _literal_of(value, name)
    if found is not None:
        if value_of(found) is None:
            raise ValueError(f"{value!r} is not a value of {found.datatype}")
        return _valid(found)
    if isinstance(value, Mapping):
        return encode("map", [_term_of(part, "any") for pair in value.items() for part in pair])
    if isinstance(value, set | frozenset):
        return encode("set", [_term_of(member, "any") for member in value])
    if isinstance(value, tuple) and not name.startswith("list"):
        return encode("tuple", [_term_of(member, "any") for member in value])
    if isinstance(value, Iterable):
        return encode("set" if name.startswith("set") else "list", [_term_of(member, "any") for member in value])
    raise TypeError(f"{value!r} is not a term")


def _valid(term: Term) -> Term:
    """Return a term, if documents can contain it; language tags are in lower case.

    Raises:
        TypeError, ValueError: They cannot.
    """
    term_text(term).encode()  # half of a surrogate pair is an error
    if isinstance(term, BlankNode):
        is_valid = not NOT_IN_LABEL.search(term.label)
    elif isinstance(term, IRI):
        is_valid = not NOT_IN_IRI.search(term.value)
    elif term.language is None:
        is_valid = not NOT_IN_IRI.search(term.datatype)
    else:
        is_valid = is_language(term.language)
        term = Literal(term.lexical, RDF.langString.value, term.language.lower())
    if not is_valid:
        raise ValueError(f"{term} cannot be written")
    return term


def _literal_of(value: Any, name: str) -> Literal | None:
    """Return the literal of a number, text, truth value or date; numbers are in their canonical form."""
    if isinstance(value, bool | str | date):
        return literal(value)
    if isinstance(value, Decimal) and value.is_finite():
        return literal_of(value)
    if isinstance(value, int | float):
        return literal_of(to_single(value)) if name == "float" else literal(float(value) if name == "double" else value)
    plain = plain_value(value)
    return None if plain is value else _literal_of(plain, name)


class Types:
    """The types of a program.

    Args:
        definitions: The types that the program defines.
    """

    def __init__(self, definitions: Iterable[TypeDefinition] = ()) -> None:
        self.definitions = {definition.name: definition for definition in definitions}
        self.constructors = {
            variant.name: (definition, variant) for definition in self.definitions.values() for variant in definition.variants
        }
        """The constructors of records, each with its type."""
        self._known: dict[str, Type] = {}

    def names(self) -> tuple[str, ...]:
        """Return the names of all types, for messages."""
        return (*COLUMN_TYPES, *PARAMETRIC, *self.definitions)

    def type_of(self, text: str) -> Type:
        """Return the type that a text means.

        Raises:
            ReasonerError: No type has this name, or it has a different number of parameters.
        """
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = replace(self._made(text), definitions=tuple(self.definitions.values()))
        return known

    def meant(self, text: str) -> str:
        """Return what a type is another name of, or its own name."""
        definition = self.definitions.get(text)
        return text if definition is None or not definition.alias else self.meant(definition.alias)

    def member_type(self, text: str, place: int | None, constructor: str | None = None) -> str | None:
        """Return the type of the members of the values of a type at a place, or None if it is not known.

        Args:
            text: The type.
            place: The place, if it is known.
            constructor: The constructor of the values, if it is known.
        """
        text = self.meant(text)
        definition = self.definitions.get(text)
        if definition is not None:
            variants = [each for each in definition.variants if constructor is None or each.name == constructor]
            found = {each.fields[place].type for each in variants if place is not None and 0 <= place < len(each.fields)}
            return found.pop() if len(found) == 1 else None
        name, *inner = parts(text)
        if name in ("list", "set") or (name == "optional" and constructor != "None" and place == 0):
            return inner[0]
        if name == "map":
            return f"tuple<{inner[0]}, {inner[1]}>"
        return inner[place] if name == "tuple" and place is not None and 0 <= place < len(inner) else None

    def are_apart(self, one: str, other: str, within: frozenset[tuple[str, str]] = frozenset()) -> bool:
        """Return whether two types have no values in common, but for collections without members.

        Args:
            one: A type.
            other: Another one.
            within: The types, which may refer to themselves, that these are parts of.

        >>> types = Types()
        >>> types.are_apart("list<integer>", "list<string>"), types.are_apart("map<any, integer>", "map<iri, integer>")
        (True, False)
        """
        one, other = self.meant(one), self.meant(other)
        if one == other or (one, other) in within:
            return False
        within |= {(one, other)}
        (name, *inner), (other_name, *others) = parts(one), parts(other)
        if name == other_name and PARAMETRIC.get(name, 0) != 0:
            pairs = zip(inner, others, strict=False)
            return len(inner) != len(others) or any(self.are_apart(*pair, within) for pair in pairs)
        kinds, other_kinds = self.type_of(one).kinds, self.type_of(other).kinds
        return kinds is not None and other_kinds is not None and not kinds & other_kinds

    def _made(self, text: str) -> Type:
        name, *parameters = parts(text)
        definition = self.definitions.get(name)
        if definition is not None and not parameters:
            return self._defined(definition)
        if name in COLUMN_TYPES and not parameters:
            return _base(name)
        if name not in PARAMETRIC:
            raise ReasonerError(f"unknown type {name}{suggest(name, self.names())}")
        wanted = PARAMETRIC[name]
        if wanted == 0:
            return _integers(name, parameters)
        if (wanted is None and not parameters) or (wanted is not None and len(parameters) != wanted):
            count = "parameters" if wanted is None else plural(wanted, "parameter")
            raise ReasonerError(f"the type {name} has {count} in angle brackets")
        for parameter in parameters:
            parts(parameter)
        return self._structure(text, name, parameters)

    def _structure(self, text: str, name: str, parameters: list[str]) -> Type:
        if name == "optional":
            return self._records(text, {"Some": tuple(parameters), "None": ()})
        size = len(parameters) if name == "tuple" else None

        def members(term: Term) -> Iterable[tuple[str, Term]] | None:
            found = decode(term)
            if found is None or found.kind != name or (size is not None and len(found.members) != size):
                return None
            return zip(cycle(parameters), found.members, strict=False)

        return self._of_members(text, members, frozenset([name]))

    def _records(self, text: str, fields: Mapping[str, tuple[str, ...]]) -> Type:
        def members(term: Term) -> Iterable[tuple[str, Term]] | None:
            found = decode(term)
            types = fields.get(found.constructor) if found is not None and found.kind == "record" else None
            if found is None or types is None or len(found.members) != len(types):
                return None
            return zip(types, found.members, strict=True)

        return self._of_members(text, members, frozenset(f"record {name}" for name in fields))

    def _of_members(self, text: str, members: _Members, kinds: Kinds) -> Type:
        """Return a type with structure. Terms may be nested deeper than Python functions can call each other."""

        def accepts(term: Term) -> bool:
            waiting = [(members, term)]
            while waiting:
                inside, whole = waiting.pop()
                found = inside(whole)
                if found is None:
                    return False
                for name, member in found:
                    type_ = self.type_of(name)
                    if type_.members is not None:
                        waiting.append((type_.members, member))
                    elif not type_.accepts(member):
                        return False
            return True

        return Type(text, accepts, kinds, members)

    def _defined(self, definition: TypeDefinition) -> Type:
        if definition.alias:
            meant = self.type_of(definition.alias)
            return Type(definition.name, meant.accepts, meant.kinds, meant.members)
        if definition.values:
            values = frozenset(definition.values)
            return Type(definition.name, values.__contains__, frozenset(map(kind_of, values)))
        fields = {variant.name: tuple(field.type for field in variant.fields) for variant in definition.variants}
        return self._records(definition.name, fields)


def parts(text: str) -> list[str]:
    """Return the name of a type and its parameters.

    >>> parts("map<string, list<integer>>")
    ['map', 'string', 'list<integer>']
    """
    name, bracket, rest = text.partition("<")
    found, depth, begin = [name.strip()], 0, 0
    inner = rest.removesuffix(">") if bracket else ""
    for place, char in enumerate(inner):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            found.append(inner[begin:place].strip())
            begin = place + 1
    return [*found, inner[begin:].strip()] if inner else found


def _base(name: str) -> Type:
    if name in ("any", "term"):
        return Type(name, lambda term: True, None)
    if name == "iri":
        return Type(name, lambda term: isinstance(term, IRI), frozenset(["iri"]))
    if name == "string":
        return Type(name, lambda term: kind_of(term) == "string", frozenset(["string"]))
    datatype = XSD[name].value
    return Type(
        name,
        lambda term: (
            isinstance(term, Literal) and term.datatype == datatype and term.language is None and value_of(term) is not None
        ),
        frozenset([name]),
    )


def _bounds(name: str, bits: int) -> tuple[int, int]:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name == "signed" else (0, (1 << bits) - 1)


def integer_range(type_: str) -> tuple[int, int] | None:
    """Return the least and greatest integer of a type such as ``signed<8>``, or None for another type."""
    name, *parameters = parts(type_)
    return _bounds(name, int(parameters[0])) if name in ("signed", "unsigned") and parameters else None


def _integers(name: str, parameters: list[str]) -> Type:
    """Return the type of the integers of a width in bits."""
    if len(parameters) != 1 or not parameters[0].isdecimal() or not 0 < int(parameters[0][:9]) <= _WIDEST:
        raise ReasonerError(f"the type {name} has a width in angle brackets: 1 to {_WIDEST} bits")
    bits = int(parameters[0])
    low, high = _bounds(name, bits)
    whole = _base("integer")

    def accepts(term: Term) -> bool:
        return whole.accepts(term) and isinstance(term, Literal) and len(term.lexical) <= 400 and low <= int(term.lexical) <= high

    return Type(f"{name}<{bits}>", accepts, frozenset(["integer"]))
