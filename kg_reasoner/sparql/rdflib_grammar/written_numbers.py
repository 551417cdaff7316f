"""Numbers in the texts of queries, as they are written: rdflib's parser normalises ``01`` to ``1`` and ``1e0`` to ``1.0``.

So does rdflib where it reads data, but a reasoner keeps data as they are written, and a pattern matches equal terms only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyparsing import ParserElement, ParseResults
from rdflib import XSD, Literal, URIRef
from rdflib.plugins.sparql import parser
from rdflib.plugins.sparql.algebra import traverse

__all__ = ["WrittenNumber", "name_written_numbers", "restore_written_numbers"]

_DATATYPES: Final = {"INTEGER": XSD.integer, "DECIMAL": XSD.decimal, "DOUBLE": XSD.double}
_SIGNS: Final = {"POSITIVE": "+", "NEGATIVE": "-"}


class WrittenNumber(Literal):
    """A number in rdflib's normal form that has the text of the query.

    Args:
        written: The text.
        datatype: The datatype.
    """

    __slots__ = ("written",)

    written: str

    def __new__(cls, written: str, datatype: URIRef) -> WrittenNumber:
        made = super().__new__(cls, written, datatype=datatype)
        made.written = written
        return made

    def __repr__(self) -> str:
        """As other literals: the answers of all stores of rdflib can have such numbers."""
        return repr(Literal(self))


def name_written_numbers() -> None:
    """Let rdflib's parser make numbers that have the text of the query. They are equal to those that it made before."""
    for name, datatype in _DATATYPES.items():
        getattr(parser, name).set_parse_action(_reading("", datatype))
        for suffix, sign in _SIGNS.items():
            signed = getattr(parser, f"{name}_{suffix}")
            number: ParserElement = signed.exprs[-1]
            number.set_parse_action(_reading("", datatype))
            signed.set_parse_action(_reading(sign, datatype))


def _reading(sign: str, datatype: URIRef) -> Callable[[ParseResults], WrittenNumber]:
    def read(tokens: ParseResults) -> WrittenNumber:
        return WrittenNumber(sign + getattr(tokens[0], "written", tokens[0]), datatype)

    return read


def restore_written_numbers(tree: Any) -> None:
    """Replace the numbers of a parse tree by literals with the text of the query."""

    def restored(part: Any) -> Any:
        if isinstance(part, WrittenNumber):
            return Literal(part.written, datatype=part.datatype, normalize=False)
        return None

    traverse(tree, visitPre=restored)
