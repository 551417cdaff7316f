"""Parsed queries, of which the most recent are remembered by their texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import Query
from kg_reasoner.sparql.queries.query_forms import prepared
from kg_reasoner.sparql.queries.sparql_text import read_query
from kg_reasoner.sparql.syntax.query_syntax import read_common_query
from kg_reasoner.sparql.translate import translate_query
from kg_reasoner.terms import IRI, BlankNode, Term, literal, plain_value
from kg_reasoner.terms import Literal as OurLiteral

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Prologue
    from rdflib.plugins.sparql.sparql import Query as TheirQuery

__all__ = ["ParsedQuery", "Translated", "as_term", "as_terms", "parsed_query", "prepared_query"]

REMEMBERED: Final = 256
"""The number of queries that are remembered."""
LONGEST: Final = 1 << 16
"""The number of characters of the longest text that is remembered."""


class Translated:
    """A query as algebra. It is not changed, so that threads can share it.

    Args:
        query: The query.
        base: Its base IRI.
        prologue: Its prefixes, for the parts that are left to rdflib.
    """

    def __init__(self, query: Query, base: str | None = None, prologue: Prologue | None = None) -> None:
        self.base, self.prologue = base, prologue
        self._query = query
        self._ready: dict[bool, Query] = {}

    def prepared(self, bindings: Mapping[Variable, Term], *, joins_graphs: bool) -> Query:
        """Return the query as it is evaluated, see `kg_reasoner.sparql.queries.query_forms.prepared`."""
        if bindings:
            return prepared(self._query, bindings, joins_graphs=joins_graphs)
        ready = self._ready.get(joins_graphs)
        if ready is None:
            ready = self._ready[joins_graphs] = prepared(self._query, joins_graphs=joins_graphs)
        return ready


class ParsedQuery(Translated):
    """A query with its declarations.

    Args:
        query: The query.
        base: Its base IRI.
        prologue: Its prefixes, for the parts that are left to rdflib; None if there are none.
        clauses: FROM and FROM NAMED, as rdflib has them.
        namespaces: Its prefixes, unless the prologue has them.
    """

    def __init__(
        self,
        query: Query,
        base: str | None = None,
        prologue: Prologue | None = None,
        clauses: Iterable[CompValue] = (),
        namespaces: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(query, base, prologue)
        self.clauses = tuple(clauses)
        self._namespaces = namespaces or {}
        self._prefixes: dict[str, Any] | None = None

    @staticmethod
    def from_rdflib(query: TheirQuery, base: str | None = None) -> ParsedQuery:
        """Return a query as rdflib's algebra has it.

        Args:
            query: The query.
            base: The base IRI, unless the query declares one.
        """
        declared = getattr(query.prologue, "base", None) or base
        return ParsedQuery(translate_query(query.algebra), declared, query.prologue, query.algebra.datasetClause or ())

    def prefixes(self) -> dict[str, Any]:
        """Return the prefixes of the query, with namespaces of rdflib."""
        if self._prefixes is None:
            self._prefixes = dict(self._declared().namespace_manager.namespaces())
        return dict(self._prefixes)

    def _declared(self) -> Prologue:
        from rdflib.plugins.sparql.sparql import Prologue

        if self.prologue is not None:
            return self.prologue
        made = Prologue()
        for prefix, namespace in self._namespaces.items():
            made.bind(prefix, namespace)
        return made


_Key = tuple[str, str | None, bool, frozenset[tuple[str, Any]]]

_recent: Final[OrderedDict[_Key, ParsedQuery]] = OrderedDict()
_prepared: Final[WeakKeyDictionary[TheirQuery, tuple[str | None, ParsedQuery]]] = WeakKeyDictionary()
_mutex: Final = new_mutex()


def parsed_query(
    text: str, base: str | None = None, prefixes: Mapping[str, Any] | None = None, *, keeps_numbers: bool = False
) -> ParsedQuery:
    """Return a query as algebra, which is parsed if it is not among the recent ones.

    Args:
        text: The query.
        base: The IRI against which relative IRIs are resolved.
        prefixes: Namespaces for the prefixes that the text does not declare.
        keeps_numbers: Whether numbers are terms as they are written; otherwise, as rdflib normalises them.

    Raises:
        QuerySyntaxError: The text is not a SPARQL query.
        UnsupportedError: The query is not of SPARQL 1.1.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        return _parsed(text, base, prefixes, keeps_numbers)
    key = text, base, keeps_numbers, frozenset((prefixes or {}).items())
    with _mutex:
        found = _recent.get(key)
        if found is not None:
            _recent.move_to_end(key)
            return found
    made = _parsed(text, base, prefixes, keeps_numbers)
    with _mutex:
        _recent[key] = made
        while len(_recent) > REMEMBERED:
            _recent.popitem(last=False)
    return made


def prepared_query(query: TheirQuery, base: str | None = None) -> ParsedQuery:
    """Return a query that rdflib has prepared: that of its text, which `prepareQuery` keeps, or else of its algebra.

    Where the text has ``*``, the algebra has variables that are not visible, too, and does not say that it was ``*``.

    Args:
        query: The query.
        base: The base IRI, unless the query was prepared with one or declares one.

    Raises:
        QuerySyntaxError, UnsupportedError: As for `parsed_query`.
    """
    original = getattr(query, "_original_args", None)
    if original is None:
        return ParsedQuery.from_rdflib(query, base)
    with _mutex:
        known = _prepared.get(query)
    if known is None or known[0] != base:
        text, _, own = original
        prefixes = dict(query.prologue.namespace_manager.namespaces())  # the given mapping may have changed since
        known = base, _parsed(text, own or base, prefixes, keeps_numbers=False)
        with _mutex:
            _prepared[query] = known
    return known[1]


def _parsed(text: str, base: str | None, prefixes: Mapping[str, Any] | None, keeps_numbers: bool) -> ParsedQuery:
    """Parse a query, by rdflib if it is not of the common part of the grammar."""
    known = prefixes or {}
    common = read_common_query(text, known) if isinstance(text, str) else None
    if common is None:
        theirs = read_query(text, base=base, prefixes=prefixes, keeps_numbers=keeps_numbers)[1]
        return ParsedQuery.from_rdflib(theirs, base)
    return ParsedQuery(common.query, base, namespaces={**known, **common.prefixes})


def as_terms(bindings: Mapping[Any, Any]) -> dict[Variable, Term]:
    """Return values that a caller binds to variables, by name, as terms.

    Args:
        bindings: Terms of this package or of rdflib, or Python values for literals.

    Raises:
        LoadError: A value is not a term, or the values have no names.
    """
    if not isinstance(bindings, Mapping):
        raise LoadError(f"{bindings!r} is not a mapping from the names of variables to their values")
    return {Variable(_name(str(name))): as_term(value) for name, value in bindings.items()}


def _name(written: str) -> str:
    """Return the name of a variable without the mark with which it may be written."""
    return written[1:] if written.startswith(("?", "$")) else written


def as_term(value: Any) -> Term:
    """Return the term of a value that a caller binds to a variable.

    Raises:
        LoadError: It is neither a term, nor a value that a literal has.
    """
    if isinstance(value, (IRI, BlankNode, OurLiteral)):
        return value
    from rdflib import Literal
    from rdflib.term import Node

    from kg_reasoner.loaders.convert import in_our_terms

    if isinstance(value, Node):
        return from_rdflib(value)
    ours = in_our_terms(value)
    if isinstance(ours, IRI | BlankNode | OurLiteral):
        return ours
    plain = plain_value(value)
    if isinstance(plain, float | Decimal | date):
        return literal(plain)
    try:
        theirs = Literal(plain)
    except ValueError as error:  # more digits than Python writes
        raise LoadError(f"a value of a variable is not the value of a literal: {error}") from None
    if theirs.datatype is None and not isinstance(plain, str):
        raise LoadError(
            f"{value!r} is not the value of a literal", hint="give a term, text, a number, a truth value, a date or a time"
        )
    return from_rdflib(theirs)
