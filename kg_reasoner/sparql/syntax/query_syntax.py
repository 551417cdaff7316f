"""Whole queries, and SELECT inside of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, PatternTerm, Query
from kg_reasoner.sparql.building import conjuncts, joined
from kg_reasoner.sparql.rdflib_grammar.visible import first_places
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.sparql.syntax.aggregate_variables import AggregateCollector
from kg_reasoner.sparql.syntax.expression_syntax import AggregateCall, has
from kg_reasoner.sparql.syntax.pattern_syntax import PatternReader, is_named
from kg_reasoner.sparql.syntax.select_variables import check_assigned, check_grouped
from kg_reasoner.sparql.syntax.term_syntax import BLANK
from kg_reasoner.sparql.syntax.tokens import END, NUMBER, VARIABLE, WORD, Unread
from kg_reasoner.terms import BlankNode

__all__ = ["QueryReader", "ReadQuery", "first_unread", "read_common_query", "template_term"]

_Items: TypeAlias = list[tuple[Variable, Expression | None]]
_Order: TypeAlias = list[tuple[Expression, bool]]

_CLAUSES: Final = frozenset({"HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})
"""The keywords that may follow a list of conditions."""
_LONGEST: Final = 1000
"""The number of digits of the longest limit; Python does not read much longer ones."""


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query, and the prefixes that it declares."""

    query: Query
    prefixes: Mapping[str, str]


def read_common_query(text: str, prefixes: Mapping[str, Any]) -> ReadQuery | None:
    """Return a query as algebra, which is what `kg_reasoner.sparql.translate` makes of rdflib's.

    Args:
        text: The query.
        prefixes: Namespaces for the prefixes that the text does not declare.

    Returns:
        The query; None if the text is not of the common part of the grammar, and may have syntax errors.
    """
    try:
        reader = QueryReader(text, prefixes)
        return ReadQuery(reader.query(), reader.declared)
    except (Unread, RecursionError):
        return None


def first_unread(text: str, prefixes: Mapping[str, Any]) -> tuple[int, int]:
    """Return the range of the first token that is outside the common part of the grammar. Any syntax error is there or after it.

    Args:
        text: A text for which `read_common_query` returns None.
        prefixes: As given to it.

    Returns:
        The range.
    """
    end = len(text)
    for _ in range(2):  # if the text has other characters than tokens, that before them is read
        reader = None
        try:
            reader = QueryReader(text[:end], prefixes)
            reader.query()
        except Unread as unread:
            if reader is not None:
                return reader.span(text)
            end = unread.place
        except RecursionError:
            break
    return 0, 1


@dataclass(slots=True)
class _Select:
    """The parts of a SELECT; `items` are variables, with the expressions assigned to them; None for ``*``."""

    modifier: str
    items: _Items | None


class QueryReader(PatternReader):
    """Reads queries."""

    _places: dict[str, int] | None = None

    def query(self) -> Query:
        """Read the whole text."""
        self.prologue()
        found: Query
        if self.accept_word("SELECT"):
            select = self._select_clause()
            node = self._solutions(select)
            found = algebra.Select(node, self._projected(node))
        elif self.accept_word("ASK"):
            found = algebra.Ask(self._solutions(None))
        elif self.accept_word("CONSTRUCT"):
            found = self._construct()
        elif self.accept_word("DESCRIBE"):
            found = self._describe()
        else:
            raise Unread
        self.take(END)
        return found

    def _projected(self, node: Node) -> tuple[Variable, ...]:
        while not isinstance(node, algebra.Project):
            assert isinstance(node, (algebra.Distinct, algebra.Slice))
            node = node.node
        return node.variables

    def _describe(self) -> algebra.Describe:
        terms: list[PatternTerm] = [self.iri()]
        while self.sees_iri():
            terms.append(self.iri())
        return algebra.Describe(algebra.UNIT, tuple(dict.fromkeys(terms)))

    def _construct(self) -> algebra.Construct:
        self.expect("{")
        triples = self.triples(has_paths=False)
        self.expect("}")
        self.seen = {}
        self.forget_labels()
        template = tuple(cast(algebra.TriplePattern, tuple(map(template_term, triple))) for triple in triples)
        return algebra.Construct(self._solutions(None), template)

    def subquery(self) -> Node:
        """Read a SELECT inside of a group."""
        self.expect_word("SELECT")
        outer, self.seen = self.seen, {}
        node = self._solutions(self._select_clause())
        outer.update(dict.fromkeys(self._projected(node)))
        self.seen = outer
        return node

    def _select_clause(self) -> _Select:
        modifier = self.word() if self.word() in ("DISTINCT", "REDUCED") else ""
        if modifier:
            self.take(WORD)
        if self.accept("*"):
            return _Select(modifier, None)
        items: _Items = []
        while self.kind == VARIABLE or self.sees("("):
            if self.kind == VARIABLE:
                items.append((self.variable(), None))
                continue
            self.expect("(")
            expression = self.expression()
            self.expect_word("AS")
            items.append((self.variable(), expression))
            self.expect(")")
        if not items:
            raise Unread
        self.seen = {}
        return _Select(modifier, items)

    # --- solutions and their modifiers ------------------------------------------------------------------------------

    def _solutions(self, select: _Select | None) -> Node:
        """Read from WHERE to the end of a query or subquery; return its solutions. ASK and CONSTRUCT have no SELECT."""
        self.accept_word("WHERE")
        node = self.group()
        seen = list(self.seen)
        keys, node = self._group_by(node)
        having, order = self._having(), self._order_by()
        limits = self._limits()
        values = self.values() if self.accept_word("VALUES") else None
        items = None if select is None else select.items
        if items is None:
            found = seen if select is None else [variable for variable in in_scope(node) if is_named(variable)]
            if select is not None and values is not None:
                found += values.variables
            items = [(variable, None) for variable in self._by_appearance(found)]
            if keys is not None or any(has(AggregateCall, condition) for condition in (*having, *(key for key, _ in order))):
                raise Unread
        else:
            if any(expression is not None for _, expression in items):
                check_assigned(items, {*in_scope(node), *(keys or ()), *(values.variables if values else ())})
            node, items, having, order = self._grouped(node, keys, items, having, order)
        if having:
            node = algebra.Filter(tuple(part for condition in having for part in conjuncts(condition)), node)
        if values is not None:
            node = joined([node, values])
        for variable, expression in items:
            if expression is not None and expression != variable:
                node = algebra.Extend(node, variable, expression)
        if order:
            node = algebra.OrderBy(node, tuple(order))
        node = algebra.Project(node, tuple(dict.fromkeys(variable for variable, _ in items)))
        if select is not None and select.modifier:
            node = algebra.Distinct(node, is_reduced=select.modifier == "REDUCED")
        return node if limits is None else algebra.Slice(node, *limits)

    def _by_appearance(self, variables: Iterable[Variable]) -> list[Variable]:
        if self._places is None:
            self._places = first_places(self.text)
        places, names = self._places, dict.fromkeys(variable.name for variable in variables)
        return [Variable(name) for name in sorted(names, key=lambda name: (places.get(name, len(places)), name))]

    def _group_by(self, node: Node) -> tuple[list[Variable] | None, Node]:
        """Read GROUP BY; return the keys, and the pattern with those that are computed."""
        if not self.accept_word("GROUP"):
            return None, node
        self.expect_word("BY")
        keys: list[Variable] = []
        computed: list[tuple[Variable, Expression]] = []
        visible: set[Variable] | None = None
        while self.kind == VARIABLE or self._sees_constraint():
            if self.kind == VARIABLE:
                keys.append(self.variable())
                continue
            if self.accept("("):
                expression = self.expression()
                self.expect_word("AS")
                keys.append(self.variable())
                self.expect(")")
                visible = set(in_scope(node)) if visible is None else visible
                if keys[-1] in visible or expression == keys[-1]:
                    raise Unread
                visible.add(keys[-1])
                node = algebra.Extend(node, keys[-1], expression)
            else:
                expression = self.constraint()
                keys.append(self.builder.fresh(".key"))
                computed.append((keys[-1], expression))
            if has(AggregateCall, expression):
                raise Unread
        if not keys:
            raise Unread
        for key, expression in computed:
            node = algebra.Extend(node, key, expression)
        return list(dict.fromkeys(keys)), node

    def _sees_constraint(self) -> bool:
        return self.sees("(") or self.sees_iri() or (self.kind == WORD and self.word() not in _CLAUSES)

    def _having(self) -> list[Expression]:
        found: list[Expression] = []
        if self.accept_word("HAVING"):
            found.append(self.constraint())
            while self._sees_constraint():
                found.append(self.constraint())
        return found

    def _order_by(self) -> list[tuple[Expression, bool]]:
        found: list[tuple[Expression, bool]] = []
        if not self.accept_word("ORDER"):
            return found
        self.expect_word("BY")
        while self.kind == VARIABLE or self._sees_constraint():
            if self.word() in ("ASC", "DESC"):
                descends = self.take(WORD).upper() == "DESC"
                found.append((self.bracketed(), descends))
            else:
                found.append((self.variable() if self.kind == VARIABLE else self.constraint(), False))
        if not found:
            raise Unread
        return found

    def _limits(self) -> tuple[int, int | None] | None:
        """Read LIMIT and OFFSET; return the first solution and the number of solutions."""
        found: dict[str, int] = {}
        while (name := self.word()) in ("LIMIT", "OFFSET") and name not in found:
            self.take(WORD)
            number = self.take(NUMBER)
            if not number.isdigit() or len(number) > _LONGEST:
                raise Unread
            found[name] = int(number)
        return (found.get("OFFSET", 0), found.get("LIMIT")) if found else None

    def _grouped(
        self, node: Node, keys: list[Variable] | None, items: _Items, having: list[Expression], order: _Order
    ) -> tuple[Node, _Items, list[Expression], _Order]:
        """Return the groups of a pattern, and the parts of a query without aggregates; all as they were if there are no groups."""
        expressions = [*having, *(key for key, _ in order), *(item for _, item in items if item is not None)]
        if keys is None and not any(has(AggregateCall, expression) for expression in expressions):
            return node, items, having, order
        if any(has(algebra.Exists, expression) for expression in expressions):
            raise Unread  # rdflib takes variables of its pattern for those of the group
        sampled = any(has(AggregateCall, key) for key, _ in order)
        check_grouped(items, keys or (), [] if sampled else [key for key, _ in order])
        collected = AggregateCollector(keys or (), in_scope(node))
        selected = [(target, None if item is None else collected.without(item, target)) for target, item in items]
        having = [collected.without(condition) for condition in having]
        if sampled:
            order = [(collected.without(key), descends) for key, descends in order]
        plain = [(variable, collected.sample(variable)) for variable, item in items if item is None]
        node = algebra.Group(node, tuple(keys or ()), tuple(collected.found), is_whole=keys is None)
        for variable, sample in plain:
            node = node if sample == variable else algebra.Extend(node, variable, sample)
        return node, selected, having, order


def template_term(term: Any) -> PatternTerm:
    """Return a term of a template, whose blank nodes remain blank nodes."""
    if isinstance(term, Variable) and not is_named(term):
        return BlankNode(term.name.removeprefix(BLANK))
    return cast(PatternTerm, term)
