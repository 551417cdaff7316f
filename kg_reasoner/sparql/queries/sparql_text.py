"""SPARQL as text: parsed by rdflib, with errors that give the position."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import QuerySyntaxError, ReasonerError, Span
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.sparql.rdflib_grammar.declared_names import DeclaredNames
from kg_reasoner.sparql.rdflib_grammar.restrictions import ViolationError, check_restrictions
from kg_reasoner.sparql.rdflib_grammar.visible import in_order_of_appearance, select_visible
from kg_reasoner.sparql.syntax.query_syntax import first_unread
from kg_reasoner.terms import is_iri, is_language, unescape

if TYPE_CHECKING:
    from rdflib.plugins.sparql.sparql import Query, Update
    from rdflib.term import Identifier

__all__ = ["UnknownPrefixError", "guarded", "read_query", "read_update"]

_NESTED: Final = "is nested too deep, or has too many triples in a row: write it in fewer levels, or in groups"

_QUERY_FORM: Final = re.compile(r"\b(select|ask|construct|describe)\b", re.IGNORECASE)
_UNKNOWN_PREFIX: Final = re.compile(r"Unknown namespace prefix : (.*)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]|\\\\u[Dd][89A-Fa-f][0-9A-Fa-f]{2}|\\\\U0000[Dd][89A-Fa-f][0-9A-Fa-f]{2}")
_TOO_LARGE: Final = re.compile(r"\\U(?!000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{8}")

_TERM: Final = regular_expression(
    r"""<(?P<iri>(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>"""
    r"""|(?:"{3}(?:[^"\\]|\\.|"(?!""))*"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')"""
    r"""(?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?|\#[^\r\n]*""",
    re.DOTALL,
)
"""An IRI, a string with or without a language tag, or a comment."""
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")

Tree = TypeVar("Tree")
Prepared = TypeVar("Prepared")


_PARSING: Final = new_mutex()
"""Held while pyparsing calls functions for the first time: it then determines how to call them, which is not thread-safe."""


class UnknownPrefixError(QuerySyntaxError):
    """A query has a prefix that is not declared."""


def read_query(
    text: str,
    source: str = "the query",
    base: str | None = None,
    prefixes: Mapping[str, Any] | None = None,
    *,
    keeps_numbers: bool = False,
) -> tuple[Any, Query]:
    """Return the parse tree and the algebra of a query.

    Args:
        text: The query.
        source: Names the text in messages.
        base: The IRI against which relative IRIs are resolved.
        prefixes: Namespaces for the prefixes that the text does not declare.
        keeps_numbers: Whether numbers are terms as they are written; otherwise, as rdflib normalises them.

    Raises:
        QuerySyntaxError: The text is not a SPARQL query; the error shows the line and the position.
    """
    from rdflib.plugins.sparql.algebra import translateQuery, traverse
    from rdflib.plugins.sparql.parser import Query as grammar

    from kg_reasoner.sparql.rdflib_grammar.grammar import fill_construct

    def parse(expanded: str) -> Any:
        return grammar.parse_string(expanded, parse_all=True)

    def translate(tree: Any) -> Query:
        names = DeclaredNames(base, prefixes)
        names.declare(tree[0])
        tree[1] = traverse(tree[1], visitPost=names.resolve)
        has_template = fill_construct(tree[1])
        query = translateQuery(tree, base, prefixes)
        if has_template and query.algebra.template is None:
            query.algebra["template"] = []
        return query

    tree, query = _read(text, source, "query", parse, translate, prefixes, keeps_numbers)
    if query.algebra.name in ("AskQuery", "ConstructQuery"):
        _set_variables(query.algebra, lambda variables: in_order_of_appearance(variables, text))
    elif query.algebra.name == "SelectQuery" and not tree[1].projection:  # SELECT * without a visible variable
        _set_variables(query.algebra, lambda variables: [])
    return tree, query


def read_update(
    text: str, source: str = "the update", base: str | None = None, prefixes: Mapping[str, Any] | None = None
) -> Update:
    """Return the algebra of a SPARQL Update request; the arguments are those of `read_query`.

    Raises:
        QuerySyntaxError: The text is not a SPARQL Update request.
    """
    from rdflib.plugins.sparql.algebra import translateUpdate, traverse
    from rdflib.plugins.sparql.parser import UpdateUnit

    def parse(expanded: str) -> Any:
        return UpdateUnit.parse_string(expanded, parse_all=True)[0]

    def translate(tree: Any) -> Update:
        names, bases = DeclaredNames(base, prefixes), []
        for place, (prologue, operation) in enumerate(zip(tree.prologue, tree.request or (), strict=False)):
            names.declare(prologue)
            tree.request[place] = traverse(operation, visitPost=names.resolve)
            bases.append(names.base)
        made = translateUpdate(tree, base, prefixes)
        for operation, declared in zip(getattr(made, "algebra", ()), bases, strict=False):  # an empty request has no algebra
            operation.prologue = copy(operation.prologue)
            operation.prologue.base = declared
        return made

    return _read(text, source, "update", parse, translate)[1]


def _set_variables(part: Any, choose: Callable[[Sequence[Any]], list[Any]]) -> None:
    """Choose among the variables of a query, down to those of its projection, which rdflib has in the order of a set."""
    while part is not None:
        if "PV" in part:
            part["PV"] = choose(part.PV)
        part = None if part.name == "Project" else part.get("p")


class _Guarded:
    """A ``with`` block that converts exceptions."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, RecursionError):
            raise QuerySyntaxError(f"the query {_NESTED}") from None
        if isinstance(error, (TypeError, ValueError, ArithmeticError, AttributeError)):
            raise ReasonerError(f"rdflib cannot evaluate the query: {error}") from error


_GUARDED: Final = _Guarded()


def guarded() -> _Guarded:
    """Convert rdflib's exceptions for queries that it cannot evaluate into errors of this package."""
    return _GUARDED


def _read(
    text: str,
    source: str,
    kind: str,
    parse: Callable[[str], Tree],
    translate: Callable[[Tree], Prepared],
    prefixes: Mapping[str, Any] | None = None,
    keeps_numbers: bool = False,
) -> tuple[Tree, Prepared]:
    if not isinstance(text, str):
        raise QuerySyntaxError(f"a SPARQL {kind} is text or prepared by rdflib, not {type(text).__name__}", hint="decode it first")
    for pattern in (_SURROGATE, _TOO_LARGE):
        if found := pattern.search(text):
            raise QuerySyntaxError("not a Unicode character", _span(text, source, found.start(), found.end()))
    try:
        tree = _parsed(text, source, kind, parse, prefixes, keeps_numbers)
        _check_terms(text, source)
        return tree, _translated(text, source, tree, translate)
    except RecursionError:
        raise QuerySyntaxError(f"{source} {_NESTED}") from None


def _parsed(
    text: str, source: str, kind: str, parse: Callable[[str], Tree], prefixes: Mapping[str, Any] | None, keeps_numbers: bool
) -> Tree:
    """Return the parse tree of a text, which has been checked for what SPARQL forbids beyond its grammar."""
    from pyparsing import ParseBaseException

    from kg_reasoner.sparql.rdflib_grammar.grammar import correct_grammar, keep_constant_filters
    from kg_reasoner.sparql.rdflib_grammar.token_grammar import Expanded
    from kg_reasoner.sparql.rdflib_grammar.written_numbers import restore_written_numbers

    expanded = Expanded(text)
    try:
        with _PARSING:
            correct_grammar()
            tree = parse(expanded.text)
        if keeps_numbers:
            restore_written_numbers(tree)
        keep_constant_filters(tree)
        select_visible(tree, text)
        check_restrictions(tree)
    except ViolationError as error:
        raise QuerySyntaxError(f"{source}: {error}", _last(text, source, error.subject), error.hint) from None
    except ParseBaseException as error:
        hint = None
        if kind == "query" and not _QUERY_FORM.search(text):
            hint = "a query needs one of the keywords SELECT, ASK, CONSTRUCT and DESCRIBE"
        reached = first_unread(text, prefixes or {}) if kind == "query" else (0, 1)
        place = expanded.position(error.loc)
        span = _span(text, source, *max(reached, (place, place + 1)))
        raise QuerySyntaxError(f"the SPARQL {kind} has a syntax error here or shortly after", span, hint) from None
    return tree


def _translated(text: str, source: str, tree: Tree, translate: Callable[[Tree], Prepared]) -> Prepared:
    """Return the algebra of a parse tree."""
    try:
        return translate(tree)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # rdflib raises bare exceptions, such as for a prefix that is not declared
        raise _unknown_prefix(text, source, str(error)) or QuerySyntaxError(f"{source}: {error}") from None


def _check_terms(text: str, source: str) -> None:
    """Check the IRIs and language tags of a text, of which the grammar says less than RFC 3987 and BCP 47.

    Raises:
        QuerySyntaxError: One of them is wrong.
    """
    for found in _TERM.finditer(text):
        iri, tag = found["iri"], found["tag"]
        if tag is not None and not is_language(tag[1:]):
            span = _span(text, source, found.start("tag"), found.end())
            raise QuerySyntaxError(f"{tag[1:]!r} is not a language tag", span, "tags look like en or pt-BR")
        if iri is not None:
            iri = unescape(iri)
            if not is_iri(iri if _SCHEME.match(iri) else f"relative:{iri}"):
                raise QuerySyntaxError(f"<{iri}> is not a valid IRI", _span(text, source, found.start(), found.end()))


def _last(text: str, source: str, term: Identifier | None) -> Span | None:
    """Return the last position of a variable or a label; None if it does not occur."""
    if term is None:
        return None
    sign = "_:" if term.n3().startswith("_:") else "[?$]"
    found = list(re.finditer(rf"{sign}{re.escape(term)}(?![\w-])", text))
    return _span(text, source, found[-1].start(), found[-1].end()) if found else None


def _unknown_prefix(text: str, source: str, message: str) -> UnknownPrefixError | None:
    """Return the error for an undeclared prefix, with its position; None if rdflib's message is about something else."""
    said = _UNKNOWN_PREFIX.fullmatch(message)
    if said is None:
        return None
    prefix = "" if said[1] == "None" else said[1]
    hint = f"declare it at the beginning: PREFIX {prefix}: <namespace>"
    for place in re.finditer(rf"(?<![\w:.<-]){re.escape(prefix)}:", text):
        span = _span(text, source, place.start(), place.end())
        return UnknownPrefixError(f"the prefix {prefix}: has not been declared", span, hint)
    return UnknownPrefixError(f"{source}: the prefix {prefix}: has not been declared", hint=hint)


def _span(text: str, source: str, start: int, end: int) -> Span:
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", begin)
    line = text[begin : len(text) if stop < 0 else stop].rstrip("\r").encode("utf-8", "backslashreplace").decode()
    return Span(source, text.count("\n", 0, start) + 1, start - begin + 1, end - begin + 1, line)
