"""From rdflib's algebra of a query to ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from kg_reasoner.errors import QuerySyntaxError, UnsupportedError
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.program import Variable, unary_plus
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, PatternTerm
from kg_reasoner.sparql.building import PatternBuilder, call, conjuncts, joined
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.terms import ABSOLUTE_IRI, IRI, Term, is_iri

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue

__all__ = ["template_term", "translate_pattern", "translate_query", "variable_of"]


def translate_query(query: CompValue) -> algebra.Query:
    """Translate a query.

    Args:
        query: The algebra of a query, made by rdflib.

    Returns:
        The query.

    Raises:
        LoadError: A term in the query is not an RDF term.
        UnsupportedError: The query has a form that is not of SPARQL 1.1.
    """
    translator = _Translator()
    if query.name == "SelectQuery":
        return algebra.Select(translator.node(query.p), _projected(query))
    if query.name == "AskQuery":
        return algebra.Ask(translator.node(query.p))
    if query.name == "ConstructQuery":
        template = query.template
        node = translator.node(query.p)
        if template is None:  # CONSTRUCT WHERE
            template = _triples_within(query.p)
        return algebra.Construct(node, tuple(_template_triple(triple) for triple in template or ()))
    if query.name == "DescribeQuery":
        terms = tuple(map(_term, query.PV))
        return algebra.Describe(algebra.UNIT if query.p is None else translator.node(query.p), terms)
    raise UnsupportedError(f"{query.name} is not a form of query of SPARQL 1.1")


def translate_pattern(part: CompValue) -> Node:
    """Translate a graph pattern, such as the WHERE of an update. See `translate_query`."""
    return _Translator().node(part)


def _projected(part: CompValue) -> tuple[Variable, ...]:
    """Return the set of variables of a SELECT, in the order in which they are written."""
    return tuple(dict.fromkeys(map(variable_of, part.PV)))


def variable_of(name: Any) -> Variable:
    """Return our variable for one of rdflib's."""
    return Variable(str(name))


def _term(term: Any) -> PatternTerm:
    from rdflib import BNode
    from rdflib import Variable as TheirVariable

    if isinstance(term, TheirVariable):
        return variable_of(term)
    if isinstance(term, BNode):
        return Variable(f"_:{term}")
    made = from_rdflib(term)
    if isinstance(made, IRI) and ABSOLUTE_IRI.fullmatch(made.value) and not is_iri(made.value):
        raise QuerySyntaxError(f"{made} is not a valid IRI")
    return made


def _template_triple(triple: Iterable[Any]) -> algebra.TriplePattern:
    return cast(algebra.TriplePattern, tuple(map(template_term, triple)))


def template_term(term: Any) -> PatternTerm:
    """Translate a term of a template, whose blank nodes remain blank nodes.

    Raises:
        LoadError: It is not an RDF term.
    """
    from rdflib import BNode

    return from_rdflib(term) if isinstance(term, BNode) else _term(term)


def _triples_within(part: Any) -> list[Any]:
    """Return the triple patterns of a part, wherever in it."""
    from rdflib.plugins.sparql.parserutils import CompValue

    found: list[Any] = []
    waiting = [part]
    while waiting:
        piece = waiting.pop(0)
        if isinstance(piece, CompValue):
            found += piece.triples or ()
            waiting += [piece[name] for name in ("p", "p1", "p2") if dict.get(piece, name) is not None]
    return found


class _Translator:
    """Translates patterns; `aliases` are the names that rdflib gives to aggregates of variables, in the present SELECT."""

    def __init__(self) -> None:
        self._aliases: dict[Variable, Expression] = {}
        self._builder = PatternBuilder()

    def node(self, part: CompValue) -> Node:
        """Translate a pattern."""
        translate = _NODES.get(part.name)
        if translate is None:
            raise UnsupportedError(f"{part.name} is not a pattern of SPARQL 1.1")
        return translate(self, part)

    # --- patterns ---------------------------------------------------------------------------------------------------

    def bgp(self, part: CompValue) -> Node:
        from rdflib.paths import Path as TheirPath

        return self._builder.pattern(
            (_term(start), _path(property) if isinstance(property, TheirPath) else _term(property), _term(end))
            for start, property, end in part.triples or ()
        )

    def join(self, part: CompValue) -> Node:
        return joined([self.node(part.p1), self.node(part.p2)])

    def left_join(self, part: CompValue) -> Node:
        is_true = getattr(part.expr, "name", None) == "TrueFilter"
        condition = None if is_true else self.expression(part.expr)
        return algebra.LeftJoin(self.node(part.p1), self.node(part.p2), condition)

    def minus(self, part: CompValue) -> Node:
        return algebra.Minus(self.node(part.p1), self.node(part.p2))

    def union(self, part: CompValue) -> Node:
        parts: list[Node] = []
        for node in (self.node(part.p1), self.node(part.p2)):
            parts += node.parts if isinstance(node, algebra.Union) else [node]
        return algebra.Union(tuple(parts))

    def filter(self, part: CompValue) -> Node:
        node = self.node(part.p)
        return algebra.Filter(tuple(conjuncts(self.expression(part.expr))), node)

    def extend(self, part: CompValue) -> Node:
        node, variable = self.node(part.p), variable_of(part.var)
        expression = self.expression(part.expr)
        return node if expression == variable else algebra.Extend(node, variable, expression)

    def graph(self, part: CompValue) -> Node:
        return algebra.EachGraph(_term(part.term), self.node(part.p))

    def service(self, part: CompValue) -> Node:
        from rdflib.plugins.sparql.algebra import traverse

        variables: dict[Variable, None] = {}
        traverse(part.graph, visitPre=lambda piece: _collect(piece, variables))
        address = _term(part.term)
        return algebra.Service(address, tuple(variables), part)

    def multiset(self, part: CompValue) -> Node:
        inner = part.p
        if isinstance(inner, list):  # a VALUES without rows
            return _values(inner)
        if inner.name == "values":
            return _values(inner.res)
        return self.node(inner)

    # --- solution modifiers -----------------------------------------------------------------------------------------

    def project(self, part: CompValue) -> Node:
        outer, self._aliases = self._aliases, {}
        node = self.node(part.p)
        self._aliases = outer
        return algebra.Project(node, _projected(part))

    def distinct(self, part: CompValue) -> Node:
        return algebra.Distinct(self.node(part.p), is_reduced=part.name == "Reduced")

    def slice(self, part: CompValue) -> Node:
        return algebra.Slice(self.node(part.p), part.start, part.length)

    def order(self, part: CompValue) -> Node:
        node = self.node(part.p)
        return algebra.OrderBy(node, tuple((self.expression(key.expr), key.order == "DESC") for key in part.expr))

    def aggregate(self, part: CompValue) -> Node:
        group = part.p
        node = self.node(group.p)
        keys: list[Variable] = []
        for key in group.expr or ():
            expression = self.expression(key)
            if isinstance(expression, Variable):
                keys.append(expression)
            else:
                keys.append(self._builder.fresh(".key"))
                node = algebra.Extend(node, keys[-1], expression)
        known = in_scope(node)
        aggregates: list[algebra.Aggregation] = []
        for aggregate in part.A:
            variable, name = variable_of(aggregate.res), aggregate.name.removeprefix("Aggregate_").upper()
            argument = None if aggregate.vars == "*" else self.expression(aggregate.vars)
            if name == "SAMPLE" and isinstance(argument, Variable) and (argument in keys or argument not in known):
                self._aliases[variable] = argument  # rdflib makes samples of all variables outside of aggregates
                continue
            separator = " " if aggregate.separator is None else str(aggregate.separator)
            name = {"GROUPCONCAT": "GROUP_CONCAT"}.get(name, name)
            aggregates.append(algebra.Aggregation(variable, name, argument, bool(aggregate.distinct), separator))
        return algebra.Group(node, tuple(dict.fromkeys(keys)), tuple(aggregates), is_whole=group.expr is None)

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, value: Any) -> Expression:
        """Translate an expression."""
        from rdflib.plugins.sparql.parserutils import CompValue

        if not isinstance(value, CompValue):
            term = _term(value)
            if isinstance(term, Variable):
                return self._aliases.get(term, term)
            return term
        name: str = value.name
        if name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            exists = algebra.Exists(self.node(_translated(value.graph)))
            return exists if name == "Builtin_EXISTS" else call("!", exists)
        if name == "literal":
            return from_rdflib(_literal(value))
        operands = _FORMS.get(name)
        if operands is not None:
            return operands(self, value)
        if name.startswith("Builtin_"):
            return self._builtin(name.removeprefix("Builtin_").upper(), value)
        raise UnsupportedError(f"{name} is not an expression of SPARQL 1.1")

    def _builtin(self, name: str, value: CompValue) -> Expression:
        if name in ("CONCAT", "COALESCE"):
            return call(name, *map(self.expression, _listed(value.arg)))
        arguments: list[Any] = []
        for key in ("arg", "arg1", "arg2", "arg3", "text", "start", "length", "pattern", "replacement", "flags"):
            found = dict.get(value, key)
            if found is not None:
                arguments += found if isinstance(found, (list, tuple)) else [found]
        return call(name, *map(self.expression, arguments))

    def _chain(self, value: CompValue) -> Expression:
        """Translate an expression with operators of one rank, which associate to the left."""
        result = self.expression(value.expr)
        for operator, other in zip(value.op or (), value.other or (), strict=True):
            result = call(str(operator), result, self.expression(other))
        return result

    def _relation(self, value: CompValue) -> Expression:
        left = self.expression(value.expr)
        if not value.op:
            return left
        operator = str(value.op).upper()
        if operator in ("IN", "NOT IN"):
            return call(operator, left, *map(self.expression, _listed(value.other)))
        return call(operator, left, self.expression(value.other))

    def _logical(self, value: CompValue) -> Expression:
        operator = "||" if value.name == "ConditionalOrExpression" else "&&"
        operands = [self.expression(operand) for operand in (value.expr, *(value.other or ()))]
        return operands[0] if len(operands) == 1 else call(operator, *operands)  # not nested: there may be hundreds

    def _unary(self, value: CompValue) -> Expression:
        inner = self.expression(value.expr)
        if value.name == "UnaryPlus":
            return unary_plus(inner)
        return call("!" if value.name == "UnaryNot" else "neg", inner)

    def _function(self, value: CompValue) -> Expression:
        iri = str(value.iri)
        name = f"<{iri}>"
        translated = tuple(map(self.expression, _listed(value.expr)))
        return call(name, *translated) if name in FUNCTIONS else algebra.Foreign(iri, translated, bool(value.distinct))


_NODES: Final = {
    "BGP": _Translator.bgp,
    "Join": _Translator.join,
    "LeftJoin": _Translator.left_join,
    "Minus": _Translator.minus,
    "Union": _Translator.union,
    "Filter": _Translator.filter,
    "Extend": _Translator.extend,
    "Graph": _Translator.graph,
    "ServiceGraphPattern": _Translator.service,
    "ToMultiSet": _Translator.multiset,
    "Project": _Translator.project,
    "Distinct": _Translator.distinct,
    "Reduced": _Translator.distinct,
    "Slice": _Translator.slice,
    "OrderBy": _Translator.order,
    "AggregateJoin": _Translator.aggregate,
}

_FORMS: Final = {
    "ConditionalOrExpression": _Translator._logical,
    "ConditionalAndExpression": _Translator._logical,
    "RelationalExpression": _Translator._relation,
    "AdditiveExpression": _Translator._chain,
    "MultiplicativeExpression": _Translator._chain,
    "UnaryNot": _Translator._unary,
    "UnaryMinus": _Translator._unary,
    "UnaryPlus": _Translator._unary,
    "Function": _Translator._function,
}


def _listed(given: Any) -> Sequence[Any]:
    """Return the expressions in parentheses. rdflib's parser represents ``()`` by rdf:nil."""
    from rdflib import RDF as theirs

    if isinstance(given, (list, tuple)):
        return given
    return [] if given is None or given == theirs.nil else [given]


def _translated(pattern: Any) -> CompValue:
    """Return the algebra of a pattern in EXISTS, which rdflib translates in a FILTER only."""
    from rdflib.plugins.sparql.algebra import translateGroupGraphPattern, translatePath, traverse

    if pattern.name in _NODES:
        return cast("CompValue", pattern)
    return translateGroupGraphPattern(traverse(pattern, visitPost=translatePath))


def _literal(value: CompValue) -> Any:
    from rdflib import Literal as TheirLiteral

    return TheirLiteral(value.string, lang=value.lang, datatype=value.datatype)


def _values(rows: Any) -> Node:
    rows = rows or []
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = tuple(tuple(_value(row.get(name)) for name in names) for row in rows)
    return algebra.Values(tuple(map(variable_of, names)), table)


def _value(term: Any) -> Term | None:
    return None if term is None or (term == "UNDEF" and not hasattr(term, "n3")) else from_rdflib(term)


def _path(path: Any) -> algebra.Path:
    from rdflib import paths as theirs

    if isinstance(path, theirs.InvPath):
        return algebra.Inverse(_path(path.arg))
    if isinstance(path, theirs.SequencePath):
        return algebra.Sequence(tuple(map(_path, path.args)))
    if isinstance(path, theirs.AlternativePath):
        return algebra.Alternative(tuple(map(_path, path.args)))
    if isinstance(path, theirs.MulPath):
        least, endless = {"*": (0, True), "+": (1, True), "?": (0, False)}[path.mod]
        return algebra.Repeat(_path(path.path), least, endless)
    if isinstance(path, theirs.NegatedPath):
        return _negated(path.args)
    found = from_rdflib(path)
    assert isinstance(found, IRI)
    return found


def _negated(steps: Iterable[Any]) -> algebra.Negated:
    """Translate the properties of a negated set; rdflib leaves inverse ones as its parser made them."""
    from rdflib import URIRef

    forwards: list[Any] = []
    backwards: list[Any] = []
    for step in steps:
        if isinstance(step, URIRef):
            forwards.append(from_rdflib(step))
        else:
            property = getattr(step, "arg", None) or getattr(step, "part", None)
            if property is None:
                message = "the query was prepared before rdflib's grammar was corrected, which drops the property of ^ inside !( )"
                raise UnsupportedError(message, hint="pass the query as text, or prepare it when the store has been made")
            backwards.append(from_rdflib(property))
    return algebra.Negated(tuple(forwards), tuple(backwards))


def _collect(piece: Any, variables: dict[Variable, None]) -> None:
    from rdflib import Variable as TheirVariable

    if isinstance(piece, TheirVariable):
        variables[variable_of(piece)] = None
