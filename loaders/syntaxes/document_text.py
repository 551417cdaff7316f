"""The text of a document: places for messages, and the terms that all syntaxes write alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Final
from urllib.parse import urljoin

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError, Span
from kg_reasoner.loaders.convert import check_absolute, plain_literal, text_from_term
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Literal

__all__ = ["LANGUAGE", "PREFIX", "PREFIXED", "QUOTED", "DocumentNames", "Settings", "SourceText", "unquoted"]

_PREFIXES: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "xsd": str(XSD), "owl": str(OWL)}
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

PREFIX: Final = r"(?:[^\W\d_](?:[\w.-]*[\w-])?)?:"
"""A prefix, as a regular expression."""
PREFIXED: Final = PREFIX + r"(?:(?:[\w:%]|\\[^\w\s])(?:(?:[\w:%.-]|\\[^\w\s])*(?:[\w:%-]|\\[^\w\s]))?)?"
"""A prefixed name."""
QUOTED: Final = r'"[^"\\]*(?:\\["\\][^"\\]*)*"'
"""A string in quotes, in which only quotes and backslashes are escaped."""
LANGUAGE: Final = r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
"""A language tag."""

_RAISE: Final = "if it is right, raise the bound: bounds=DocumentBounds({0}=...), --bound {0}=..."
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


def unquoted(text: str) -> str:
    """Return the string that a text in quotes stands for."""
    inner = text[1:-1]
    return _ESCAPE.sub(r"\1", inner) if "\\" in inner else inner


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a document and its name in messages."""

    text: str
    name: str

    def span(self, start: int, end: int) -> Span:
        """Return the place of a part of the text; of several lines, the first one."""
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", start)
        line = self.text[line_start : len(self.text) if line_end < 0 else line_end].rstrip("\r")
        column = start - line_start + 1
        end_column = max(column + 1, min(column + end - start, len(line) + 1))
        return Span(self.name, self.text.count("\n", 0, start) + 1, column, end_column, line)

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> LoadError:
        """Return an error at a part of the text."""
        return LoadError(message, self.span(start, end), hint)


@dataclass(frozen=True, slots=True)
class Settings:
    """Options for reading a document."""

    base: str | None = None
    """The IRI against which relative IRIs are resolved."""
    label: Callable[[str], str] = str
    """Returns the label to use for a blank node's label in the document."""
    prefixes: Callable[[str, str], object] | None = None
    """Receives the prefixes that the document declares."""
    depth: int = 10_000
    """The maximal depth of nested constructs."""
    token: int = 1 << 26
    """The maximal length of a literal or another token."""

    def too_deep(self, source: SourceText, start: int, end: int) -> LoadError:
        """Return the error for a construct that is nested too deeply."""
        return source.error(f"constructs are nested more than {self.depth} deep", start, end, _RAISE.format("depth"))

    def too_long(self, source: SourceText, start: int) -> LoadError:
        """Return the error for a token that is too long."""
        message = f"a literal or another token is longer than {self.token} characters"
        return source.error(message, start, start + 1, _RAISE.format("literal"))


class _BadName(Exception):
    """A name or a literal stands for nothing: the message, and a hint."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(slots=True)
class DocumentNames:
    """The IRIs and literals of a document, made from its text.

    Relative IRIs are resolved against `base`. `sink` receives the prefixes that the document declares.
    """

    source: SourceText
    base: str | None
    declaration: str
    """How prefixes are declared, for hints."""
    sink: Callable[[str, str], object] | None = None
    prefixes: dict[str, str] = field(default_factory=lambda: dict(_PREFIXES))
    _declared: dict[str, str] = field(default_factory=dict)
    _iris: dict[str, IRI] = field(default_factory=dict)

    def declare(self, prefix: str, text: str, start: int) -> None:
        """Declare a prefix, which is written with a colon, for a namespace in angle brackets."""
        name, namespace = prefix.removesuffix(":"), self.iri(text, start).value
        if self._declared.setdefault(name, namespace) != namespace:
            message = f"the prefix {name}: is declared for <{self._declared[name]}> already"
            raise self.source.error(message, start, start + len(text))
        self.prefixes[name] = namespace
        self._iris = {}
        if self.sink is not None:
            self.sink(name, namespace)

    def iri(self, text: str, start: int) -> IRI:
        """Return the IRI that is written in angle brackets or with a prefix.

        Raises:
            LoadError: It has no such prefix, or is not valid.
        """
        found = self._iris.get(text)
        if found is None:
            try:
                found = self._iris[text] = IRI(self._absolute(text))
            except _BadName as error:
                raise self.source.error(str(error), start, start + len(text), error.hint) from None
        return found

    def literal(self, text: str, start: int) -> Literal:
        """Return the literal that is written as a string in quotes, with a language tag or a datatype if it has one.

        Raises:
            LoadError: The datatype or the language is not valid.
        """
        end = text.rindex('"') + 1
        lexical, rest = unquoted(text[:end]), text[end:].strip()
        if not rest:
            return Literal(lexical)
        if rest.startswith("@"):
            found = Literal(lexical, RDF.langString.value, rest[1:].lower())
        else:
            place = text.index("^^", end) + 2
            place += len(text) - place - len(text[place:].lstrip())
            datatype = self.iri(text[place:], start + place).value
            found = plain_literal(lexical) if datatype == RDF.PlainLiteral.value else Literal(lexical, datatype)
        try:
            text_from_term(found)
        except LoadError as error:
            raise self.source.error(error.message, start, start + len(text), error.hint) from None
        return found

    def _absolute(self, text: str) -> str:
        if text.startswith("<"):
            text = text[1:-1]
            if not _SCHEME.match(text):
                if self.base is None:
                    raise _BadName(f"the IRI {text!r} is relative", "write the whole IRI, or pass base='http://...'")
                document = self.base.partition("#")[0]
                text = document + text if not text or text.startswith("#") else urljoin(document, text)
        else:
            prefix, _, local = text.partition(":")
            if prefix not in self.prefixes:
                raise _BadName(f"the prefix {prefix}: is not declared", f"declare it: {self.declaration.format(prefix)}")
            text = self.prefixes[prefix] + (_ESCAPE.sub(r"\1", local) if "\\" in local else local)
        try:
            check_absolute(text, "IRI")
        except (LoadError, ValueError) as error:
            raise _BadName(error.message if isinstance(error, LoadError) else str(error)) from None
        return text
