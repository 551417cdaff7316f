"""The variables for which ``*`` stands in a parse tree of rdflib (SPARQL 1.1 Query, sections 16.1 and 18.2.1).

rdflib counts the variables that occur only in FILTER, EXISTS and MINUS among them, too, and cannot translate ``DESCRIBE *``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.sparql.rdflib_grammar.parse_trees import children_of, parts_of

__all__ = ["first_places", "in_order_of_appearance", "select_visible", "visible_variables"]

_VARIABLE: Final = re.compile(r"[?$](\w+)")

_UNSEEN: Final = frozenset({"Filter", "MinusGraphPattern"})
"""Parts whose variables are not visible outside of them."""

_SELECTS: Final = frozenset({"SelectQuery", "SubSelect"})
_QUERIES: Final = _SELECTS | {"DescribeQuery"}


def first_places(text: str) -> dict[str, int]:
    """Return where each variable first appears in a text, as a number by its name."""
    return {name: place for place, name in reversed(list(enumerate(_VARIABLE.findall(text))))}


def in_order_of_appearance(variables: Iterable[Any], text: str) -> list[Any]:
    """Return variables of rdflib in the order in which they appear in the text of their query."""
    places = first_places(text)
    return sorted(variables, key=lambda variable: (places.get(str(variable), len(places)), str(variable)))


def select_visible(tree: Any, text: str) -> None:
    """Write the visible variables in the place of ``*``, in the order in which they appear in the text.

    Args:
        tree: The parse tree of a query or an update.
        text: Its text.

    Raises:
        QuerySyntaxError: ``SELECT *`` has a GROUP BY.
    """
    for query in reversed([part for part in parts_of(tree) if part.name in _QUERIES]):  # those inside of others first
        if query.name in _SELECTS and not query.projection:
            if query.groupby:
                message = "SELECT * is not permitted with GROUP BY"
                raise QuerySyntaxError(message, hint="list the variables and aggregates that are wanted")
            query["projection"] = [_variable(variable) for variable in _all_visible(query, text)]
        elif query.name == "DescribeQuery" and not query.var:
            query["var"] = _all_visible(query, text)


def _all_visible(query: Any, text: str) -> list[Any]:
    return in_order_of_appearance({*visible_variables(query.where), *visible_variables(query.valuesClause)}, text)


def visible_variables(tree: Any) -> list[Any]:
    """Return the variables that solutions of a part of a parse tree can bind."""
    from rdflib import Variable
    from rdflib.plugins.sparql.parserutils import CompValue

    found: list[Any] = []
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Variable):
            found.append(part)
        elif isinstance(part, CompValue):
            if part.name == "Bind":
                found.append(part.var)
            elif part.name in _SELECTS:
                found += [chosen.var or chosen.evar for chosen in part.projection]
            elif part.name not in _UNSEEN:
                waiting.extend(part.values())
        else:
            waiting.extend(children_of(part))
    return found


def _variable(variable: Any) -> Any:
    from rdflib.plugins.sparql.parserutils import CompValue

    return CompValue("vars", var=variable)
