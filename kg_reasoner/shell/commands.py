"""The arguments of commands, in DDlog's format: facts with arguments in order or by name, keys, and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import RuleSyntaxError, Span
from kg_reasoner.expressions.structures import decode, encode, is_structure
from kg_reasoner.language.parser import PREFIXES
from kg_reasoner.shell.text_parts import Statement
from kg_reasoner.storage.cells.table_terms import cell_reader, is_of_type
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal, unescape

__all__ = ["FactArguments", "Reader", "typed"]

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<iri><[^\s<>"{}|^`\\]*>)
  | (?P<based>-?\d*'s?[dhbo][0-9a-fA-F_]+|-?0x[0-9a-fA-F_]+)
  | (?P<float>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
  | (?P<int>-?\d+(?:_\d+)*)
  | (?P<field>\.\w+)
  | (?P<prefixed>[A-Za-z][\w.-]*:(?!:)[\w.-]*[\w-])
  | (?P<name>[A-Za-z_]\w*(?:(?:::|\.(?=[A-Za-z_]))\w+)*)
  | (?P<blank>_:\w+)
  | (?P<type>\^\^|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<mark><-|[()\[\]{},=;:])
)""",
    re.VERBOSE | re.DOTALL,
)
_COLLECTIONS: Final = ("LIST", "SET", "TUPLE")
"""Functions of the rule language that values may be written with."""
_SIMPLE: Final = re.compile(r'\s*(?:"([^"\\]*)"|(-?\d{1,1000})(?![\w.\'])|(true|false)(?!\w))\s*([,)])')
"""A value that needs no further look, and the mark behind it."""
_BASES: Final = {"d": 10, "h": 16, "b": 2, "o": 8}
_READ: Final = ("iri", "decimal", "double", "float", "date", "dateTime")
_AS_GIVEN: Final = ("any", "string", "integer", "boolean")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"a": "\x07", "v": "\x0b", "?": "?"}


@dataclass(slots=True)
class FactArguments:
    """The arguments of a fact: terms in order, or by name; or a value that has them as its fields, or is the only one."""

    ordered: list[Term]
    named: dict[str, Term]
    whole: Term | None = None


class Reader:
    """Reads the words of a command one after the other.

    Args:
        statement: The command.
        prefixes: Namespaces by their prefixes.
        constructors: The fields of records, by their constructors.
    """

    def __init__(
        self, statement: Statement, prefixes: Mapping[str, str], constructors: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._constructors = constructors or {}
        self._statement = statement
        self._text = statement.text
        self._place = len(statement.word)
        self._prefixes = prefixes

    def name(self, what: str) -> str:
        """Read a name, or an IRI in angle brackets."""
        kind, text = self._next()
        if kind == "prefixed":
            return str(self._prefixed(text))
        if kind not in ("name", "iri"):
            raise self.wrong(f"{what} is missing")
        return text

    def option(self) -> str | None:
        """Read a word, if one follows."""
        return None if self.is_at_end else self._next()[1].strip('"')

    @property
    def is_at_end(self) -> bool:
        """Whether nothing follows."""
        return not self._text[self._place :].strip()

    def remaining(self) -> str:
        """Return the rest of the statement unchanged."""
        return self._text[self._place :]

    def rest(self) -> str:
        """Return the rest of the statement without surrounding blanks."""
        return self.remaining().strip()

    def expect_end(self) -> None:
        """Check that nothing follows.

        Raises:
            RuleSyntaxError: Something does.
        """
        if not self.is_at_end:
            raise self.wrong(f"unexpected {self.rest()[:20]!r}")

    def mark(self, expected: str) -> None:
        """Read a mark."""
        if self._next()[1] != expected:
            raise self.wrong(f"{expected} is missing")

    def arguments(self) -> FactArguments:
        """Read the arguments of a fact in parentheses, or a value in brackets: ``edge[edge{"a", "b"}]``, ``edge[("a", "b")]``."""
        if self._peek() == "[":
            return self._whole()
        self.mark("(")
        ordered: list[Term] = []
        place = self._place
        while (simple := _SIMPLE.match(self._text, place)) is not None:
            string, number, truth, mark = simple.groups()
            if string is not None:
                ordered.append(Literal(string))
            elif number is not None:
                ordered.append(Literal(str(int(number)), XSD.integer.value))
            else:
                ordered.append(literal(truth == "true"))
            place = simple.end()
            if mark == ")":
                self._place = place
                return FactArguments(ordered, {})
        self._place = place
        return self._others(ordered, ")")

    def _whole(self) -> FactArguments:
        self.mark("[")
        begin = self._place
        if self._next()[0] == "name" and self._peek() == "{":
            self._place = begin
            name = self._next()[1]
            self.mark("{")
            found = self._others([], "}")
            if name in self._constructors or not found.named:
                self._place = begin
                found.whole = self.value()
        else:
            self._place = begin
            whole = self.value()
            structure = decode(whole)
            members = structure.members if structure is not None and structure.kind == "tuple" else (whole,)
            found = FactArguments(list(members), {}, whole)
        self.mark("]")
        return found

    def fields(self, columns: Sequence[str]) -> dict[str, Term]:
        """Read the fields of a record, ``Name{.field = value}``, or those of all columns in order."""
        self.name("the name of the record")
        if self._peek() != "{":
            raise self.wrong(f"a change is a record with new values: <- name{{.{columns[-1] if columns else 'column'} = ...}}")
        self.mark("{")
        found = self._others([], "}")
        if not found.named and len(found.ordered) != len(columns):
            raise self.wrong("a change names its columns: .column = value")
        return found.named or dict(zip(columns, found.ordered, strict=True))

    def key(self) -> tuple[Term, ...]:
        """Read a key: a value, or several in parentheses."""
        if self._peek() != "(":
            return (self.value(),)
        return tuple(self.arguments().ordered)

    def value(self) -> Term:
        """Read a value."""
        try:
            return self._value()
        except RecursionError:
            raise self.wrong("the value is nested too deep") from None

    def _value(self) -> Term:
        kind, text = self._next()
        if kind == "string":
            return self._string(text)
        if kind in ("int", "based"):
            return self._number(text, int if kind == "int" else _integer)
        if kind == "float":
            return literal(float(text)) if "e" in text.lower() else Literal(text, XSD.decimal.value)
        if kind == "name" and text in ("true", "false"):
            return literal(text == "true")
        if kind == "iri":
            return IRI(text[1:-1])
        if kind == "blank":
            return BlankNode(text[2:])
        if kind == "prefixed":
            return self._prefixed(text)
        if kind == "name":
            return self._record(text)
        if text == "(":
            return encode("tuple", self._others([], ")").ordered)
        if text == "[":
            return encode("list", self._others([], "]").ordered)
        raise self.wrong(f"a value is missing before {text!r}")

    def _number(self, text: str, read: Callable[[str], int]) -> Term:
        try:
            return Literal(str(read(text)), XSD.integer.value)
        except ValueError:
            raise self.wrong("the number has digits that its base does not have, or too many digits") from None

    def _record(self, name: str) -> Term:
        """Read the fields of a record, in order or by name; a name alone is one without fields. Parentheses serve as braces."""
        begin = self._peek()
        if begin not in ("{", "("):
            return encode("record", (), name)
        self.mark(begin)
        found = self._others([], "}" if begin == "{" else ")")
        fields = self._constructors.get(name)
        if begin == "(" and fields is None and name in _COLLECTIONS and not found.named:
            return encode(name.lower(), found.ordered)
        if found.named and fields is None:
            raise self.wrong(f"no type has the constructor {name}: give its fields in order")
        if found.named and set(found.named) != set(fields or ()):
            raise self.wrong(f"{name} has the fields {', '.join(fields or ())}")
        return encode("record", [found.named[field] for field in fields or ()] if found.named else found.ordered, name)

    def _others(self, ordered: list[Term], end: str) -> FactArguments:
        """Read arguments after those that have been read."""
        named: dict[str, Term] = {}
        while True:
            if self._peek() == end and not (ordered or named):
                self.mark(end)
                return FactArguments(ordered, named)
            kind, text = self._looked()
            if kind == "field":
                self._next()
                self.mark("=")
                named[text[1:]] = self.value()
            else:
                ordered.append(self.value())
            mark = self._next()[1]
            if mark == end:
                if ordered and named:
                    raise self.wrong("arguments are given in order or by name, not both")
                return FactArguments(ordered, named)
            if mark != ",":
                raise self.wrong(f"{end} is missing")

    def _string(self, text: str) -> Term:
        try:
            lexical = _text(text)
        except ValueError as error:
            raise self.wrong(str(error)) from None
        kind, mark = self._looked()
        if kind != "type":
            return Literal(lexical)
        self._next()
        if mark.startswith("@"):
            return Literal(lexical, RDF.langString.value, mark[1:].lower())
        datatype = self.value()
        if not isinstance(datatype, IRI):
            raise self.wrong("a datatype is an IRI")
        return Literal(lexical, datatype.value)

    def _prefixed(self, text: str) -> IRI:
        prefix, _, local = text.partition(":")
        namespace = self._prefixes.get(prefix, PREFIXES.get(prefix))
        if namespace is None:
            raise self.wrong(f"the prefix {prefix}: is not declared")
        return IRI(namespace + local)

    def _next(self) -> tuple[str, str]:
        kind, text = self._looked()
        if not kind:
            raise self.wrong("the command is not complete" if self.is_at_end else f"unexpected {self.rest()[:20]!r}")
        match = _TOKEN.match(self._text, self._place)
        assert match is not None
        self._place = match.end()
        return kind, text

    def _looked(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._place)
        return ("", "") if match is None else (match.lastgroup or "", match[match.lastgroup or 0])

    def _peek(self) -> str:
        return self._looked()[1]

    def wrong(self, message: str) -> RuleSyntaxError:
        """Return an error at the present place."""
        before = self._text[: self._place]
        line = before.count("\n")
        start = before.rfind("\n") + 1
        shown = self._text.split("\n")[line]
        column = self._place - start + 1
        return RuleSyntaxError(message, Span(self._statement.source, self._statement.line + line, column, column + 1, shown))


def _integer(text: str) -> int:
    """Return a number with a base: ``0x1f``, ``32'hff``, ``8'd12``."""
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    text = text.replace("_", "")
    if text.startswith("0x"):
        return sign * int(text, 16)
    _, _, digits = text.partition("'")
    digits = digits.removeprefix("s")
    return sign * int(digits[1:], _BASES[digits[0]])


def _text(quoted: str) -> str:
    """Return the text of a string with its escapes replaced.

    Raises:
        ValueError: An escape is unknown.
    """
    inner = quoted[1:-1]
    if "\\" not in inner:
        return inner
    return unescape(_ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[0]), inner))


def _collection(term: Literal, type_: str) -> Term:
    """Return a list as the set or map that a column has; a map is given as a list of pairs."""
    found = decode(term)
    if found is None or found.kind != "list":
        return term
    if type_.startswith("set<"):
        return encode("set", found.members)
    if type_.startswith("map<"):
        pairs = [decode(member) for member in found.members if isinstance(member, Literal)]
        if all(pair is not None and pair.kind == "tuple" and pair.size == 2 for pair in pairs):
            return encode("map", [member for pair in pairs if pair is not None for member in pair.members])
    return term


def typed(term: Term, type_: str, prefixes: Mapping[str, str]) -> Term:
    """Return the term that a value stands for in a column of a type: an IRI for text, a decimal number or a double for an integer.

    A value that does not fit is returned as it is: the reasoner refuses it, and names the column.
    """
    if isinstance(term, Literal) and is_structure(term):
        return _collection(term, type_)
    if type_ in _AS_GIVEN or "<" in type_ or not isinstance(term, Literal) or type_ not in _READ:
        return term
    if is_of_type(term, type_):
        return term
    is_text = term.datatype == XSD.string.value
    if is_text == (type_ in ("decimal", "double")):
        return term
    try:
        return cell_reader(type_, prefixes)(term.lexical)
    except ValueError:
        return term
