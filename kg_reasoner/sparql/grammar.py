"""A correction of rdflib's grammar of SPARQL.

For ``!(^ex:p)``, rdflib's parser says that a property is inverse, and not which: the grammar gives that part no name, and unnamed
parts are dropped. rdflib's own evaluator rejects such paths, so naming the part changes nothing for other queries.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["name_inverse_properties"]


@cache
def name_inverse_properties() -> None:
    """Name the property of ``^`` in a negated property set, unless rdflib's grammar already does. The effect is permanent."""
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parser import PathOneInPropertySet
    from rdflib.plugins.sparql.parserutils import ParamValue

    (read,) = PathOneInPropertySet.parse_string("^<urn:p>")
    if read.part is not None:
        return

    def named(tokens: ParseResults) -> ParamValue:
        return ParamValue("part", list(tokens), False)

    alternatives: Any = PathOneInPropertySet
    _, property = alternatives.exprs[-1].expr.exprs  # the sign and the property
    property.set_parse_action(named)
