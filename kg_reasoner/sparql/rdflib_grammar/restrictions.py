"""Restrictions of SPARQL beyond its grammar, which rdflib's parser does not check.

SPARQL 1.1 Query, sections 11.4 (variables that are not grouped), 18.2.1 (variables in scope), 19.6 (labels of blank nodes) and 19.8
(notes to the grammar): where aggregates, variables and blank nodes may be, and how many values a row of VALUES has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import plural
from kg_reasoner.sparql.rdflib_grammar.parse_trees import children_of, is_sequence, parts_of, terms_in
from kg_reasoner.sparql.rdflib_grammar.visible import visible_variables

if TYPE_CHECKING:
    from rdflib.term import Identifier

__all__ = ["ViolationError", "check_restrictions"]

_GROUP: Final = "GroupGraphPatternSub"
_GROUPS: Final = (_GROUP, "SubSelect")
_AGGREGATE: Final = "Aggregate_"
_DATA: Final = ("InsertData", "DeleteData")
_DELETES: Final = ("DeleteClause", "DeleteData", "DeleteWhere")


class ViolationError(Exception):
    """A text is not permitted.

    Args:
        message: Says why.
        subject: The term of rdflib that the message is about, to which it refers by ``{}``; None if there is none.
        hint: Says what to do.
    """

    def __init__(self, message: str, subject: Identifier | None = None, hint: str | None = None) -> None:
        super().__init__(message if subject is None else message.format(subject.n3()))
        self.subject, self.hint = subject, hint


def check_restrictions(tree: Any) -> None:
    """Check a parse tree of rdflib, in which ``*`` has been replaced.

    Args:
        tree: The parse tree of a query or of an update.

    Raises:
        ViolationError: The text is not permitted.
    """
    _Labels().check(tree)
    for part in parts_of(tree):
        if part.name in ("SelectQuery", "SubSelect"):
            _check_select(part)
        elif part.name == _GROUP:
            _check_assigned(part.part or ())
        elif part.name in ("InlineData", "ValuesClause"):
            _check_rows(part)
        elif part.name.startswith(_AGGREGATE):
            _check_no_aggregate(part.vars, "another aggregate")
        elif part.name in _DATA or part.name in _DELETES:
            _check_quads(part)
        elif part.name == "Filter":
            _check_no_aggregate(part.expr, "FILTER")


# --- labels of blank nodes --------------------------------------------------------------------------------------------


class _Labels:
    """The basic graph pattern of a request in which each blank node is, and the INSERT DATA (section 19.6 of SPARQL 1.1)."""

    def __init__(self) -> None:
        self._patterns: dict[Any, int] = {}
        self._inserted: dict[Any, int] = {}
        self._count = 0

    def check(self, part: Any) -> None:
        """Check that no blank node of a part is in two basic graph patterns, or in two INSERT DATA.

        Raises:
            ViolationError: One is.
        """
        name = getattr(part, "name", None)
        if name == _GROUP:
            self._check_group(part.part or ())
        elif name == "InsertData":
            self._count += 1
            self._place(part, self._inserted, "INSERT DATA")
        else:
            for child in children_of(part):
                self.check(child)

    def _check_group(self, elements: Iterable[Any]) -> None:
        """Check a group, in which anything but triples and FILTER ends a basic graph pattern."""
        self._count += 1
        pattern = self._count
        for element in elements:
            if element.name == "TriplesBlock":
                self._place(element, self._patterns, "basic graph patterns", pattern)
                continue
            self.check(element)
            if element.name != "Filter":
                self._count += 1
                pattern = self._count

    def _place(self, part: Any, places: dict[Any, int], what: str, place: int | None = None) -> None:
        from rdflib import BNode

        place = self._count if place is None else place
        for node in terms_in(part, BNode):
            if places.setdefault(node, place) != place:
                raise ViolationError(f"the blank node {{}} is in two {what}", node, "use a variable, or two different labels")


# --- variables --------------------------------------------------------------------------------------------------------


def _check_assigned(elements: Iterable[Any]) -> None:
    """Check that BIND assigns to no variable that the elements before it in its group bind."""
    seen: set[Any] = set()
    for element in elements:
        if element.name == "Bind":
            _check_no_aggregate(element.expr, "BIND")
            if element.var in seen:
                raise ViolationError("BIND assigns a value to {}, which may have one before it", element.var, _FRESH)
        seen.update(visible_variables(element))


_FRESH: Final = "assign it to another variable"


def _check_select(query: Any) -> None:
    conditions = query.groupby.condition if query.groupby else ()
    for condition in conditions:
        _check_no_aggregate(condition, "GROUP BY")
    taken = {*visible_variables(query.where), *visible_variables(query.valuesClause)}
    taken.update(condition.var for condition in conditions if getattr(condition, "name", None) == "GroupAs" and condition.var)
    plain = {item.var for item in query.projection if item.var is not None}
    for item in query.projection:
        if item.evar is not None:
            if item.evar in taken or item.evar in plain:
                raise ViolationError("SELECT assigns a value to {}, which has one", item.evar, _FRESH)
            taken.add(item.evar)
    if query.groupby or any(map(_has_aggregate, (query.projection, query.having, query.orderby))):
        _check_grouped(query.projection, conditions)


def _check_grouped(items: Iterable[Any], conditions: Iterable[Any]) -> None:
    """Check that the variables of a SELECT outside of aggregates are keys of its groups, or have been assigned a value before."""
    from rdflib import Variable

    known = {condition if isinstance(condition, Variable) else getattr(condition, "var", None) for condition in conditions}
    for item in items:
        used = [item.var] if item.var is not None else _outside_aggregates(item.expr)
        for variable in used:
            if variable not in known:
                raise ViolationError("{} is selected, and is not a key of GROUP BY", variable, "name it in GROUP BY, or use SAMPLE")
        known.add(item.evar)


def _outside_aggregates(part: Any) -> Iterator[Any]:
    """Yield the variables of an expression that are neither in aggregates nor in EXISTS."""
    from rdflib import Variable

    waiting = [part]
    while waiting:
        inner = waiting.pop()
        name = getattr(inner, "name", "")
        if isinstance(inner, Variable):
            yield inner
        elif not name.startswith(_AGGREGATE) and name not in _GROUPS:
            waiting.extend(children_of(inner))


def _has_aggregate(tree: Any) -> bool:
    return any(part.name.startswith(_AGGREGATE) for part in parts_of(tree, _GROUPS))


def _check_no_aggregate(tree: Any, place: str) -> None:
    if _has_aggregate(tree):
        raise ViolationError(f"an aggregate is in {place}", hint="aggregates belong in SELECT, HAVING and ORDER BY")


# --- data -------------------------------------------------------------------------------------------------------------


def _check_rows(table: Any) -> None:
    """Check that each row of VALUES has a value for each variable."""
    variables = table.var or ()
    for row in table.value or ():
        size = len(row) if is_sequence(row) else 1
        if size != len(variables):
            raise ViolationError(f"a row of VALUES has {plural(size, 'value')} for {plural(len(variables), 'variable')}")


def _check_quads(operation: Any) -> None:
    """Check that data have no variables, and that what is deleted has no blank nodes."""
    from rdflib import BNode, Variable

    if operation.name in _DATA:
        for variable in terms_in(operation, Variable):
            raise ViolationError("data cannot have variables, such as {}", variable, "use INSERT or DELETE with WHERE")
    if operation.name in _DELETES:
        for _ in terms_in(operation, BNode):
            raise ViolationError("a template for deletion cannot contain blank nodes", hint="use a variable, and match it in WHERE")
