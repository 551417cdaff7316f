"""Corrections of rdflib's grammar of SPARQL.

For ``!(^ex:p)``, rdflib's parser says that a property is inverse, and not which: the grammar gives that part no name, and unnamed
parts are dropped. rdflib's own evaluator rejects such paths, so naming the part changes nothing for other queries.

The grammar of triples calls itself for each triple, so that some 100 triples in a row exceed Python's limit of recursion. Written
as a repetition, it accepts the same texts and gives the same trees.

A signed number in an expression is one token (section 19.8); rdflib's parser takes its sign for an operator.

``FILTER(false)`` and other constants that are false in Python get lost when rdflib makes the algebra.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

__all__ = ["correct_grammar", "fill_construct", "keep_constant_filters"]

_RANKS: Final = frozenset(
    f"{name}Expression" for name in ("ConditionalOr", "ConditionalAnd", "Relational", "Additive", "Multiplicative")
)
"""Around every expression of a parse tree, also where the operator is missing."""


_SHORT_FORM: Final = "FakeGroupGraphPatten"
"""The pattern of CONSTRUCT WHERE, as rdflib spells it."""


def keep_constant_filters(tree: Any) -> None:
    """Negate the constants in FILTER of a parse tree twice, so that they are kept."""
    from rdflib.plugins.sparql.algebra import traverse
    from rdflib.plugins.sparql.operators import UnaryNot
    from rdflib.plugins.sparql.parserutils import CompValue, Expr

    def visit(part: Any) -> None:
        if isinstance(part, CompValue) and part.name == "Filter":
            constant = part.expr
            while isinstance(constant, CompValue) and constant.name in _RANKS and constant.other is None:
                constant = constant.expr
            if not isinstance(constant, CompValue) or constant.name == "literal":
                part["expr"] = Expr("UnaryNot", UnaryNot, expr=Expr("UnaryNot", UnaryNot, expr=constant))

    traverse(tree, visitPre=visit)


def fill_construct(tree: Any) -> bool:
    """Return whether a query is CONSTRUCT with a template, perhaps an empty one; give CONSTRUCT WHERE {} an empty pattern."""
    from rdflib.plugins.sparql.parserutils import CompValue

    if tree.name != "ConstructQuery":
        return False
    if tree.where is None:
        tree["where"] = CompValue(_SHORT_FORM, part=[])
    return bool(tree.where.name != _SHORT_FORM)


@cache
def correct_grammar() -> None:
    """Correct rdflib's grammar where that is needed. The effect is permanent."""
    from kg_reasoner.sparql.rdflib_grammar.token_grammar import correct_tokens
    from kg_reasoner.sparql.rdflib_grammar.written_numbers import name_written_numbers

    correct_tokens()
    _name_inverse_properties()
    _repeat_triples()
    _read_signed_numbers()
    _keep_texts_of_services()
    name_written_numbers()


def _name_inverse_properties() -> None:
    """Name the property of ``^`` in a negated property set, unless the grammar already does."""
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


def _read_signed_numbers() -> None:
    """Read a sign and a number without space between them as a number, before their sign is read as an operator."""
    from rdflib.plugins.sparql.parser import NumericLiteralNegative, NumericLiteralPositive, UnaryExpression

    alternatives: Any = UnaryExpression
    alternatives.exprs[:0] = [NumericLiteralPositive, NumericLiteralNegative]


def _repeat_triples() -> None:
    """Read triples in a row by repetition instead of recursion."""
    from pyparsing import Forward, Suppress, ZeroOrMore
    from pyparsing import Optional as Maybe
    from rdflib.plugins.sparql import parser
    from rdflib.plugins.sparql.parserutils import ParamList

    for name, part, triple in (
        ("TriplesBlock", "triples", parser.TriplesSameSubjectPath),
        ("ConstructTriples", "template", parser.TriplesSameSubject),
    ):
        rule = getattr(parser, name)
        if isinstance(rule, Forward):
            rule <<= ParamList(part, triple) + ZeroOrMore(Suppress(".") + ParamList(part, triple)) + Maybe(Suppress("."))


def _keep_texts_of_services() -> None:
    """Give each SERVICE its own text. rdflib gives each the first that it finds, and takes parts of IRIs for comments."""
    from pyparsing import Empty, ParseResults
    from rdflib.plugins.sparql.parser import ServiceGraphPattern
    from rdflib.plugins.sparql.parserutils import CompValue, ParamValue

    place = Empty().set_parse_action(lambda text, start, tokens: ParamValue("start", [start], False))
    service: Any = ServiceGraphPattern
    service.expr = place + service.expr

    def made(text: str, end: int, tokens: ParseResults) -> CompValue:
        parts: dict[str, Any] = {token.name: token.tokenList for token in tokens if isinstance(token, ParamValue)}
        return CompValue(service.name, service_string=text[parts.pop("start") : end], **parts)

    service.postParse = made
