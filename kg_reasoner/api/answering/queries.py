"""SPARQL queries of a reasoner, without a graph of rdflib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.api.answering.demand_matching import DemandMatcher, Effort, NotOnDemandError
from kg_reasoner.api.inputs.given_values import expect_bindings, expect_prefixes
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Limits, current_watch
from kg_reasoner.engine.magic_sets.on_demand import is_applicable
from kg_reasoner.errors import QuerySyntaxError, ReasonerError
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.program import Variable
from kg_reasoner.query.matching import Which
from kg_reasoner.sparql.evaluation.cutting import Cut, cut
from kg_reasoner.sparql.evaluation.datasets import Place, Places
from kg_reasoner.sparql.queries.parsed import LONGEST, REMEMBERED, ParsedQuery, as_term, as_terms, parsed_query
from kg_reasoner.sparql.queries.query_forms import evaluate_query, explain_query
from kg_reasoner.sparql.queries.query_plan import QueryPlan, shortener
from kg_reasoner.sparql.queries.sparql_text import guarded
from kg_reasoner.sparql.repeated.learning import known_shapes, learn_shape
from kg_reasoner.sparql.repeated.shortcuts import answer_at_once, few_at_once
from kg_reasoner.sparql.solutions.registered import RegisteredFunctions
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.sparql.results.result import QueryResult

__all__ = ["ReasonerDataset", "plan", "query"]

_RULE_BODIES: Final = "ask for what the body of a rule derives with Reasoner.answers"


class ReasonerDataset:
    """The dataset of a reasoner: the default graph has all triples, each named graph those that are explicit in it.

    Args:
        core: The reasoner's core.
        default: The graphs whose merge is the default graph (FROM); None: all triples.
        named: The named graphs (FROM NAMED); None: all that exist.
        effort: Records the work of answering patterns of all triples on demand; None: they are materialised.
    """

    def __init__(
        self,
        core: ReasonerCore,
        default: Iterable[Term] | None = None,
        named: Iterable[Term] | None = None,
        effort: Effort | None = None,
    ) -> None:
        self.caches = core.caches
        self._queries = core.queries
        self._graphs: Which = "all" if effort is None else "explicit"
        match = None if effort is None else partial(DemandMatcher, core.engine, core.queries, effort)
        self._whole = Place(core.queries, match=match)
        self._default = None if default is None else list(default)
        self._names = None if named is None else list(dict.fromkeys(named))

    @property
    def joins_graphs(self) -> bool:
        """Whether a variable can stand for any named graph."""
        return self._names is None

    def default(self) -> Places:
        """Return the places of the default graph."""
        if self._default is None:
            return (self._whole,)
        numbers = frozenset(number for name in self._default if (number := self._number(name)) >= 0)
        return (Place(self._queries, numbers, self._graphs),) if numbers else ()

    def named(self, name: Term) -> Places | None:
        """Return the place of a named graph; None if it does not exist."""
        number = self._number(name) if self._names is None or name in self._names else -1
        return (Place(self._queries, number, self._graphs),) if number >= 0 else None

    def names(self) -> Sequence[Term]:
        """Return the names of the named graphs."""
        if self._names is not None:
            return [name for name in self._names if self._number(name) >= 0]
        return [self.caches.dictionary.decode(number) for number in self._queries.quads.names().tolist()]

    def joined(self) -> Place | None:
        """Return the place where a variable stands for any named graph."""
        return Place(self._queries, None, self._graphs) if self.joins_graphs else None

    def _number(self, name: Term) -> int:
        """Return the id of an existing graph, or -1."""
        number = self.caches.dictionary.find(name)
        exists = number >= 0 and (number == self._queries.quads.default or self._queries.quads.has(number))
        return number if exists else -1


def query(
    core: ReasonerCore,
    text: str,
    bindings: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    *,
    on_demand: bool = False,
    limits: Limits | None = None,
) -> QueryResult:
    """Return the answer to a query, see `kg_reasoner.api.reasoner.Reasoner.query`."""
    engine = core.engine
    if bindings is not None:
        expect_bindings(bindings)
    key = (text, base, *bindings) if bindings else (text, base)
    pieces = None
    if prefixes is None and limits is None and isinstance(text, str) and _is_unlimited(core):
        few = _few(core, key, bindings or {})
        if few is None and not bindings and base is None and (pieces := cut(text)) is not None:
            few = _few_of_shape(core, pieces)
        if few is not None:
            return few
    given = as_terms(bindings or {})
    asked = _Query(core, _parsed(core, text, prefixes, base), given)
    with core.watch(limits):
        found = asked.on_demand() if on_demand and not engine.is_current else None
        if found is None:
            with core.reading():
                found = asked.evaluated(key=key if prefixes is None and len(given) == len(bindings or ()) else None)
                if pieces is not None:
                    asked.learn(pieces)
        return found


def _is_unlimited(core: ReasonerCore) -> bool:
    return current_watch() is NOBODY and core.engine.limits == UNLIMITED


def _few(core: ReasonerCore, key: tuple[object, ...], bindings: Mapping[str, Any]) -> QueryResult | None:
    """Return the answer to a query without limits that was asked in the same state, if it has few solutions; otherwise None."""
    lock = core.engine.lock
    known = core.caches.ready.get(key)
    if known is None or known[0] != lock.state():
        return None
    state, shortcut, parsed = known
    given = [as_term(value) for value in bindings.values()]
    hold = lock.read()
    try:
        if lock.state() != state or not core.is_idle:
            return None
        return few_at_once(shortcut, core.caches, given, parsed.prefixes)
    finally:
        hold.release()


def _few_of_shape(core: ReasonerCore, text: Cut) -> QueryResult | None:
    """Return the answer to a query if others of its shape were asked in the same state, see `_few`."""
    for key, _, values in known_shapes(core.caches, text):
        found = _few(core, key, values)
        if found is not None:
            core.caches.outline(text.outline).note_use()
            return found
    return None


def plan(
    core: ReasonerCore,
    text: str,
    bindings: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    *,
    run: bool = False,
) -> QueryPlan:
    """Return the plan of a query, see `kg_reasoner.api.reasoner.Reasoner.plan`."""
    if bindings is not None:
        expect_bindings(bindings)
    asked = _Query(core, _parsed(core, text, prefixes, base), as_terms(bindings or {}))
    with core.watch(), core.reading():
        return asked.plan(run)


def _parsed(core: ReasonerCore, text: str, prefixes: Mapping[str, str] | None, base: str | None) -> ParsedQuery:
    """Return a query as algebra.

    Raises:
        QuerySyntaxError: The text is not a SPARQL query.
    """
    if not isinstance(text, str):
        raise QuerySyntaxError(f"a SPARQL query is text, not {type(text).__name__}", hint=_RULE_BODIES)
    declared = core.prefixes
    if prefixes is None and (recent := core.caches.parsed.get((text, base))) is not None and recent[0] is declared:
        return recent[1]
    if prefixes is not None:
        expect_prefixes(prefixes)
    known = {**PREFIXES, **declared, **(prefixes or {})}
    try:
        with guarded():
            found = parsed_query(text, base, known, keeps_numbers=True)
    except QuerySyntaxError as error:
        if not _is_rule_body(core, text):
            raise
        raise QuerySyntaxError("this is the body of a rule, not a SPARQL query", error.span, _RULE_BODIES) from None
    if prefixes is None and len(text) <= LONGEST:
        if len(core.caches.parsed) >= REMEMBERED:
            core.caches.parsed.clear()
        core.caches.parsed[text, base] = declared, found
    return found


def _is_rule_body(core: ReasonerCore, text: str) -> bool:
    from kg_reasoner.language.parser import parse_query

    try:
        return bool(parse_query(text, core.prefixes)[0])
    except ReasonerError:
        return False


class _Query:
    """A query of a reasoner.

    Args:
        core: The reasoner's core.
        parsed: The query.
        given: Values of variables.
    """

    def __init__(self, core: ReasonerCore, parsed: ParsedQuery, given: Mapping[Variable, Term]) -> None:
        self._core, self._parsed, self._given = core, parsed, given

    def on_demand(self) -> QueryResult | None:
        """Return the answer without materialisation; None if that is not possible."""
        core, effort = self._core, Effort()
        with core.reading_explicit():
            if not is_applicable(core.engine):
                return None
            try:
                found = self.evaluated(effort)
            except NotOnDemandError:
                return None
        found.by_magic, found.derived = effort.by_magic, effort.derived
        return found

    def evaluated(self, effort: Effort | None = None, key: tuple[object, ...] | None = None) -> QueryResult:
        """Return the answer, within a reading.

        Args:
            effort: Answers patterns on demand; None: they are materialised.
            key: Finds the query again, see `kg_reasoner.sparql.evaluation.datasets.Caches.ready`.
        """
        from kg_reasoner.sparql.results.result import result_of

        parsed, core = self._parsed, self._core
        state = core.engine.lock.state()
        with guarded():
            if effort is None and state is not None and not parsed.clauses:
                shortcut, found = answer_at_once(core.caches, parsed, self._given, state, core.queries, parsed.prefixes)
                if shortcut is not None and key is not None:
                    core.caches.remember(key, (state, shortcut, parsed))
                if found is not None:
                    return found
            dataset = self._dataset(effort)
            ready = parsed.prepared(self._given, joins_graphs=dataset.joins_graphs)
            answer = evaluate_query(ready, dataset, RegisteredFunctions(), parsed.base)
            return result_of(answer, core.caches.nodes, parsed.prefixes)

    def learn(self, text: Cut) -> None:
        """Learn from the query for others of its shape, within a reading."""
        core = self._core
        with guarded():
            prefixes = {**PREFIXES, **core.prefixes}
            learn_shape(core.caches, text, self._parsed, core.engine.lock.state(), core.queries, prefixes)

    def plan(self, run: bool) -> QueryPlan:
        """Return the plan, within a reading; see `kg_reasoner.api.reasoner.Reasoner.plan`."""
        parsed = self._parsed
        with guarded():
            dataset = self._dataset(None)
            ready = parsed.prepared(self._given, joins_graphs=dataset.joins_graphs)
            return explain_query(ready, dataset, RegisteredFunctions(), parsed.base, shortener(parsed.prefixes()), run=run)

    def _dataset(self, effort: Effort | None) -> ReasonerDataset:
        """Return the dataset that the query defines with FROM and FROM NAMED, or the reasoner's."""
        clauses = self._parsed.clauses
        if not clauses:
            return ReasonerDataset(self._core, effort=effort)
        default = [from_rdflib(clause.default) for clause in clauses if clause.default]
        named = [from_rdflib(clause.named) for clause in clauses if clause.named]
        return ReasonerDataset(self._core, default, named, effort)
