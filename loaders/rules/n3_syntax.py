"""The syntax of Notation3: statements over terms, lists, variables and formulas, each with its place in the text.

The parser is a subclass of rdflib's with a different sink, because rdflib's sink changes lexical forms of literals and loses the
places of statements. Besides `BadSyntax`, the parser raises various exceptions on malformed input; each of them becomes a
`LoadError` here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError, Span
from kg_reasoner.loaders.convert import check_absolute, text_from_term
from kg_reasoner.loaders.rules.variables import named_after
from kg_reasoner.program import Variable
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, literal

if TYPE_CHECKING:
    from rdflib.plugins.parsers.notation3 import SinkParser

__all__ = ["Formula", "ListTerm", "N3Statement", "N3Term", "Text", "parse"]

_NO_BASE: Final = "x-no-base:/"
"""The base of documents without one: what is resolved against it was relative."""
_NUMBERS: Final = {int: XSD.integer.value, Decimal: XSD.decimal.value}
_HINT_RELATIVE: Final = "declare a base in the document (@base), or pass base='http://...'"
_WRITTEN_NUMBER: Final = re.compile(r"[-+.0-9]+\Z")


@dataclass(frozen=True, slots=True)
class ListTerm:
    """``(1 2 ?x)``; the empty list is rdf:nil."""

    items: tuple[N3Term, ...]


@dataclass(eq=False, slots=True)
class Formula:
    """``{ ... }``, or the whole document."""

    statements: list[N3Statement] = field(default_factory=list)
    existentials: dict[str, BlankNode] = field(default_factory=dict)
    """The blank nodes of the IRIs that ``@forSome`` declares."""
    prefixes: dict[str, str] = field(default_factory=dict)
    """The prefixes of the document, which the outermost formula has."""


N3Term: TypeAlias = IRI | BlankNode | Literal | Variable | ListTerm | Formula


@dataclass(frozen=True, slots=True)
class N3Statement:
    """A statement; `start` is the place in the text where its sentence begins."""

    subject: N3Term
    predicate: N3Term
    object: N3Term
    start: int


class Text:
    """The text of a document, with access to its lines. `name` appears in messages."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def span(self, place: int, end: int | None = None) -> Span:
        """Return a place as a line and a column; the range ends at the end of the line, unless `end` is given."""
        line = bisect_right(self._starts, place)
        start = self._starts[line - 1]
        shown = self.text[start:].partition("\n")[0].rstrip("\r")
        return Span(self.name, line, place - start + 1, (end - start if end is not None else len(shown)) + 1, shown)


def parse(text: Text, base: str | None, label: Callable[[str | None], str]) -> Formula:
    """Return the statements of a document. `label` maps written labels of blank nodes, and None for a new one, to labels.

    Raises:
        LoadError: The document is not N3, or an IRI in it is relative and there is no base.
    """
    from rdflib.plugins.parsers.notation3 import BadSyntax

    sink = _Sink(text, label)
    parser = _parser(sink, base or _NO_BASE)
    try:
        parser.loadBuf(text.text)
    except LoadError:
        raise
    except BadSyntax as error:
        place = min(error._i if error._i >= 0 else len(text.text), len(text.text))
        raise LoadError(f"not N3: {error._why}", text.span(place, place + 1)) from None
    except (RecursionError, MemoryError):
        raise LoadError("not N3: nested too deep", text.span(sink.start)) from None
    except Exception:  # the parser raises various exceptions for malformed input
        raise LoadError("not N3: this sentence cannot be read", text.span(sink.start)) from None
    return sink.root


def _parser(sink: _Sink, base: str) -> SinkParser:
    from rdflib.plugins.parsers.notation3 import SinkParser

    class Parser(SinkParser):
        """rdflib's N3 parser extended by newer drafts of N3; it notifies the sink of the beginning of sentences."""

        def directiveOrStatement(self, argstr: str, h: int) -> int:
            start = self.skipSpace(argstr, h)
            if start < 0:
                return start
            outer, sink.start = sink.start, start
            end = self.sparqlDirective(argstr, start)
            end = end if end >= 0 else super().directiveOrStatement(argstr, start)
            sink.start = outer
            return end

        def nodeOrLiteral(self, argstr: str, i: int, res: Any) -> int:
            end = super().nodeOrLiteral(argstr, i, res)
            if end >= 0 and type(res[-1]) in _NUMBERS:
                written = _WRITTEN_NUMBER.search(argstr[i:end])
                assert written is not None
                res[-1] = Literal(written[0], _NUMBERS[type(res[-1])])
            return end

        def property_list(self, argstr: str, i: int, subj: Any) -> int:
            context: Any = self._context
            stated = len(context.statements)
            end = super().property_list(argstr, i, subj)
            if isinstance(subj, ListTerm | Formula) and len(context.statements) == stated:
                sink.mention(context, subj)
            return end

        def qname(self, argstr: str, i: int, res: Any) -> int:
            end = super().qname(argstr, i, res)
            if end > 0 and argstr[end - 1 : end + 1] == "\\.":  # rdflib takes an escaped dot at the end of a name for a full stop
                prefix, name = res[-1]
                res[-1] = prefix, f"{name}."
                end += 1
            return end

        def anonymousNode(self, ln: str) -> Any:
            if ln not in self._anonymousNodes:
                self._anonymousNodes[ln] = sink.labelled(self._context, ln)  # type: ignore[assignment]
            return self._anonymousNodes[ln]

    parser = Parser(sink, openFormula=sink.root, baseURI=base)  # type: ignore[arg-type]
    parser.string_delimiters = ('"', "'")
    return parser


class _OpenFormula(Formula):
    """A formula under construction, with the interface that rdflib's parser requires."""

    __slots__ = ("_sink",)

    def __init__(self, sink: _Sink) -> None:
        super().__init__()
        self._sink = sink

    def newUniversal(self, uri: str, why: object = None) -> Variable:
        return self._sink.variable(uri)

    def declareExistential(self, uri: str) -> None:
        self.existentials[uri] = self._sink.newBlankNode()

    def close(self) -> Formula:
        return self


class _Sink:
    """Creates terms and statements for rdflib's parser, with the method names that it calls."""

    def __init__(self, text: Text, label: Callable[[str | None], str]) -> None:
        self.start = 0
        self._text = text
        self._label = label
        self._variables: dict[str, Variable] = {}
        self.root = _OpenFormula(self)

    def startDoc(self, formula: object) -> None: ...

    def endDoc(self, formula: object) -> None: ...

    def bind(self, prefix: str, iri: bytes) -> None:
        namespace = iri.decode()
        if not namespace.startswith(_NO_BASE):  # names in others are an error where they are used
            self.root.prefixes[prefix] = namespace

    def setDefaultNamespace(self, iri: bytes) -> None:
        self.bind("", iri)

    def intern(self, term: Any) -> Any:
        return term

    def newFormula(self) -> _OpenFormula:
        return _OpenFormula(self)

    def newSymbol(self, iri: str) -> str:
        return iri

    def newBlankNode(self, context: object = None, uri: object = None, why: object = None) -> BlankNode:
        return BlankNode(self._label(None))

    def labelled(self, context: object, label: str) -> BlankNode:
        """Return the blank node for a written label; those inside formulas differ from those outside."""
        return BlankNode(self._label(label if context is self.root else None))

    def newLiteral(self, lexical: str, datatype: str | None = None, language: str | None = None) -> Literal:
        if language:
            return Literal(lexical, RDF.langString.value, language.lower())
        return Literal(lexical, self._iri(datatype).value if datatype else XSD.string.value)

    def newList(self, items: list[Any], context: Formula) -> IRI | ListTerm:
        return ListTerm(tuple(self._term(context, item) for item in items)) if items else RDF.nil

    def newSet(self, items: list[Any], context: object = None) -> None:
        raise self._error("sets {$ ... $} are not supported", "write a list")

    def makeStatement(self, quadruple: tuple[Formula, Any, Any, Any], why: object = None) -> None:
        context, predicate, subject, object = quadruple
        terms = self._term(context, subject), self._term(context, predicate), self._term(context, object)
        context.statements.append(N3Statement(*terms, self.start))

    def mention(self, context: Formula, node: ListTerm | Formula) -> None:
        """Keep a sentence without a predicate: a list as its first item and the rest, a formula as the subject of a statement."""
        if isinstance(node, Formula):
            context.statements.append(N3Statement(node, RDF.nil, RDF.nil, self.start))
            return
        cell, rest = self.newBlankNode(), ListTerm(node.items[1:]) if node.items[1:] else RDF.nil
        context.statements.append(N3Statement(cell, RDF.first, node.items[0], self.start))
        context.statements.append(N3Statement(cell, RDF.rest, rest, self.start))

    def variable(self, iri: str) -> Variable:
        """Return the variable for ``?x`` or ``@forAll :x``; its name is the unique end of the IRI."""
        if iri not in self._variables:
            self._variables[iri] = named_after(iri, self._variables.values())
        return self._variables[iri]

    def _term(self, context: Formula, term: Any) -> N3Term:
        if isinstance(term, BlankNode | Literal | Variable | ListTerm | Formula):
            return term
        if isinstance(term, bool):
            return literal(term)
        if type(term).__name__ == "sfloat":  # rdflib's mark of a double, a string
            return Literal(str(term), XSD.double.value)
        if isinstance(term, tuple):  # a keyword: its kind and its IRI
            return IRI(str(term[1]))
        if isinstance(term, IRI):
            return term
        return context.existentials.get(term) or self._iri(term)

    def _iri(self, iri: str) -> IRI:
        if iri.startswith(_NO_BASE):
            raise self._error(f"the IRI {iri[len(_NO_BASE) :]!r} is relative", _HINT_RELATIVE)
        try:
            text_from_term(IRI(iri))
            check_absolute(iri, "IRI")
        except LoadError as error:
            raise self._error(error.message, error.hint) from None
        return IRI(iri)

    def _error(self, message: str, hint: str | None = None) -> LoadError:
        return LoadError(message, self._text.span(self.start), hint)
