"""The reasoner: explicit facts and rules go in, the materialisation comes out."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from kg_reasoner import analysis, documents
from kg_reasoner.axiom_rules import AxiomRules
from kg_reasoner.catalog import INTERNAL, Catalog, needs_ternary
from kg_reasoner.counters import Counters
from kg_reasoner.datatypes import recognised_datatypes
from kg_reasoner.delta import Change, Changes, Delta, difference
from kg_reasoner.dictionary import Dictionary, Ids
from kg_reasoner.errors import ArityError, InconsistencyError, LoadError, ReasonerError, TransactionError, UnknownNameError
from kg_reasoner.inconsistency import Violation, is_consistent, reaction, violations
from kg_reasoner.kernels.layout import EXPLICIT, STATED
from kg_reasoner.literals import LITERAL_PREDICATES, LiteralFacts
from kg_reasoner.maintenance import DEFAULT, Maintenance, Table, Work, strategy
from kg_reasoner.maintenance.rematerialise import Rematerialise
from kg_reasoner.materialise import Materialiser, PlannedRule, Progress
from kg_reasoner.program import TRIPLE, Atom, Program, Rule
from kg_reasoner.query import Queries, match_triples
from kg_reasoner.relation import Changed, Database
from kg_reasoner.rulebook import RuleBook
from kg_reasoner.schema import FEW
from kg_reasoner.terms import OWL, Term, Triple, term_text
from kg_reasoner.transaction import Transaction
from kg_reasoner.value_table import ValueTable
from kg_reasoner.visibility import Visibility

if TYPE_CHECKING:
    from kg_reasoner.equality.rewriting import Rewriting
    from kg_reasoner.explain import Explainer, Proof, WhyNot
    from kg_reasoner.feeds import ChangeFeed
    from kg_reasoner.loaders.catalogs import CatalogSource
    from kg_reasoner.loaders.imports import ImportsMode
    from kg_reasoner.loaders.owl import AxiomWarning
    from kg_reasoner.named_graphs import NamedGraphs
    from kg_reasoner.subscriptions import Callback, Pattern, Subscription, Subscriptions
    from kg_reasoner.update import Update

Which = Literal["all", "explicit", "inferred"]
Equality = Literal["axioms", "rewrite"]
EQUALITIES: Sequence[Equality] = ("axioms", "rewrite")
TripleIds = npt.NDArray[np.int32]
NO_TRIPLES: TripleIds = np.empty((0, 3), np.int32)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of facts (triples and others, helper predicates included), of terms, and the bytes that hold them."""

    explicit: int
    inferred: int
    terms: int
    fact_bytes: int
    term_bytes: int


class Reasoner:
    """Facts, rules, and everything that follows from them.

    Args:
        program: rules, as a `Program` or as text in the rule language.
        ruleset: the name of a rule set (see `kg_reasoner.rulesets.names`) or the path of a ``.dl`` file, used beside `program`.
        maintenance: the strategy by which updates are applied: ``backward-forward``, ``delete-rederive``, ``counting``,
            ``rematerialise`` or ``dbsp``. They differ in cost, never in results.
        datatypes: the datatypes whose literals have values for the datatype rules of ``rdfs-full`` and ``owl2rl-full``, as IRIs;
            None: all of `kg_reasoner.datatypes.DATATYPES`. Literals of others are nothing but literals.
        show_hidden: whether inferred triples that hold of anything are shown to all patterns, in exports and in deltas; by default
            they are found by patterns that ask for them, see `kg_reasoner.visibility`.
        equality: how owl:sameAs is dealt with. ``axioms``: by the rules of the rule set, if it has them. ``rewrite``: equal terms
            are merged (see `kg_reasoner.equality`), so that a thousand of them cost no more than one; queries give all names.
            General predicates, too, hold of equal terms alike. Rules may compare terms, but not count or compute with them.
        on_inconsistency: ``report``: inconsistent data are data like others, and `inconsistencies` tells what is wrong with them;
            ``raise``: a transaction that leaves them inconsistent raises InconsistencyError and is undone, and what is changed
            outside of transactions is a transaction of its own.

    Reading brings the materialisation up to date first. A reasoner is not safe for use from several threads at once.

    >>> reasoner = Reasoner('''
    ...     path(?x, ?y) :- edge(?x, ?y) .
    ...     path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    ...     edge("a", "b") . edge("b", "c") .
    ... ''')
    >>> len(list(reasoner.facts("path")))
    3

    Raises:
        RuleSyntaxError, SafetyError, ArityError, StratificationError, UnsupportedError: the program is wrong; it says where.
        UnknownNameError: there is no such rule set, strategy, treatment of equality or reaction to inconsistency, or a datatype is
            none of those that are known.
    """

    def __init__(
        self,
        program: Program | str | None = None,
        *,
        ruleset: str | None = None,
        maintenance: str = DEFAULT,
        datatypes: Iterable[str] | None = None,
        equality: Equality = "axioms",
        on_inconsistency: str = "report",
        show_hidden: bool = False,
    ) -> None:
        self.dictionary = Dictionary()
        self.visibility = Visibility(self.dictionary, shows_all=show_hidden)
        self.datatypes: frozenset[str] = recognised_datatypes(datatypes)
        self.loaded = documents.Loaded()
        self._program = Program()
        self._all_rules: tuple[Rule, ...] | None = None
        self._known_arities: tuple[Program | None, Catalog | None, int, dict[str, int]] = None, None, 0, {}
        self._axioms = AxiomRules(self.dictionary)
        self._named_graphs: NamedGraphs | None = None
        self._rules_changed = True
        self._must_restart = False
        self._dirty = True
        self._version = 0
        self._transaction: Transaction | None = None
        self._subscriptions: Subscriptions | None = None
        self._foreseen: Update | None = None
        self._counted = Counters()
        self._strategy = maintenance
        self._make_maintenance = strategy(maintenance)
        self.on_inconsistency = "report"
        if equality not in EQUALITIES:
            raise UnknownNameError("treatment of equality", equality, EQUALITIES)
        self.equality: Equality = equality
        self._set_up(ternary=False)
        if ruleset is not None:
            from kg_reasoner import rulesets

            self.add_program(rulesets.load(ruleset).program)
        if program is not None:
            self.add_program(program)
        self.on_inconsistency = reaction(on_inconsistency)

    def without_facts(self, ruleset: str | None = None) -> Reasoner:
        """A new reasoner with the same settings and the same program, or another rule set instead; what was added is not there."""
        return Reasoner(
            self.program if ruleset is None else None,
            ruleset=ruleset,
            maintenance=self.maintenance,
            datatypes=self.datatypes,
            equality=self.equality,
            on_inconsistency=self.on_inconsistency,
            show_hidden=self.visibility.shows_all,
        )

    def _set_up(self, ternary: bool) -> None:
        self.database = Database()
        self.catalog = Catalog(self.dictionary, self.database, ternary=ternary)
        values = ValueTable(self.dictionary, self.database.context)
        self._materialiser = Materialiser(self.database, values, self.catalog.functions)
        self._rewriting = self._make_rewriting() if self.equality == "rewrite" else None
        self.queries = self.make_queries()
        self._rulebook = RuleBook(self.catalog, self._materialiser)
        self._maintenance: Maintenance = self._make_maintenance(self._materialiser)
        self._must_restart = False
        self._literals = LiteralFacts(self.dictionary, self.datatypes)
        self._explainer: Explainer | None = None

    def _make_rewriting(self) -> Rewriting:
        from kg_reasoner.equality.rewriting import Rewriting

        return Rewriting(self.catalog, self._materialiser, self._store, self._unstore)

    def make_queries(self, *, generalised: bool = False) -> Queries:
        """What answers queries over the facts as they are; for `generalised` RDF, see `kg_reasoner.matching.Matcher`."""
        from kg_reasoner.equality.views import ExpandingQueries

        if self._rewriting is None:
            queries = Queries(self.catalog, generalised=generalised)
        else:
            queries = ExpandingQueries(self.catalog, self._rewriting.cliques, self._rewriting.asserted, generalised=generalised)
        queries.visibility = self.visibility
        return queries

    # --- rules ------------------------------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The program that was given, without the rules that came from axioms."""
        return self._program

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of the program, and those that the ontology's axioms were translated to."""
        self._translate_schema()
        if self._all_rules is None:
            self._all_rules = tuple(dict.fromkeys(self._program.rules + self._axioms.rules))
            self.visibility.use(self._all_rules)
            self._axioms.note_rules(self._all_rules)
        return self._all_rules

    def add_program(self, program: Program | str) -> None:
        """Add rules, declarations and facts. If something is wrong with the result, nothing changes."""
        if isinstance(program, str):
            from kg_reasoner.parser import parse

            program = parse(program)
        merged = self._program | program
        analysis.check(Program(tuple(dict.fromkeys(merged.rules + self._axioms.rules)), merged.declarations))
        if self._rewriting is not None:
            self._rewriting.check(merged.rules)
        for predicate, arity in analysis.arities(program).items():
            stored = self.catalog.predicates.get(predicate)
            if stored is not None and (there := self.database.relations[stored].arity) != arity:
                raise ArityError(f"{predicate} has {there} arguments in the facts there are, and {arity} here")
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.add_program(program)
            return
        self._use_program(merged)
        self._touch(rules=True)
        if not any(self.database.filled()) and needs_ternary(merged.rules) != self.catalog.ternary:
            self._set_up(not self.catalog.ternary)  # the layout is chosen before the first facts come

    def remove_rules(self, rules: Iterable[Rule]) -> None:
        """Remove rules from the program; those that are not there are left alone."""
        gone = set(rules)
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.remove_rules(gone)
            return
        kept = tuple(rule for rule in self._program.rules if rule not in gone)
        if len(kept) < len(self._program.rules):
            self._use_program(Program(kept, self._program.declarations, self._program.prefixes, self._program.translate))
            self._touch(rules=True)

    def _use_program(self, program: Program) -> None:
        self._program = program
        self._axioms.want(program.translate is not None)

    def _touch(self, *, rules: bool = False) -> None:
        self._dirty = True
        if rules:
            self._rules_changed = True
            self._all_rules = None
        self._version += 1

    # --- facts ------------------------------------------------------------------------------------------------------

    def load(
        self,
        *sources: Any,
        format: str | None = None,
        base: str | None = None,
        progress: Progress | None = None,
        catalog: CatalogSource | None = None,
        imports: ImportsMode = "resolve",
        refused: str = "raise",
    ) -> None:
        """Add the triples of RDF documents, folders or graphs as explicit triples (see `kg_reasoner.loaders.rdf.read`).

        All sources are read before the first triple is added, so that a bad one leaves everything as it was. Named graphs keep
        their triples, see `named_graphs`. Rules of N3 documents become part of the program.

        Args:
            sources: paths, bytes, open files, rdflib graphs, or iterables of triples.
            format: the syntax of all documents, by default told by their names or contents.
            base: the IRI against which relative IRIs are resolved in documents that declare no base.
            progress: called with the stage, what is done, and what there is to do.
            catalog: where imported ontologies are: a mapping of IRIs to paths, an XML catalog's path, a folder's path, or several
                of these.
            imports: ``resolve``: what the sources or the catalog have is loaded, too, and a warning tells of the rest;
                ``require``: all, or it is an error; ``fetch``: what is not found otherwise is fetched from the web; ``ignore``.
            refused: ``raise``: SWRL and N3 rules that cannot be expressed are errors; ``skip``: they are left out, and warned of.

        Raises:
            LoadError: a source, or a document that is imported, cannot be read, or an import that is required is not found.
            UnsupportedError: a rule has something that cannot be expressed, such as a built-in without a function.
            SafetyError: a variable in the head of an N3 rule is not bound by its body.
            UnknownNameError: there is no such format, way to treat imports, or way to treat refused rules.
        """
        documents.load(
            self, sources, format=format, base=base, progress=progress, catalog=catalog, imports=imports, refused=refused
        )

    @property
    def warnings(self) -> list[AxiomWarning]:
        """What has been loaded and says more than the rules can: missing imports, refused rules, axioms beyond the rule set."""
        return [*self.loaded.warnings(), *self._axioms.warnings]

    def add_triples(self, triples: Iterable[Triple] | TripleIds) -> None:
        """Add explicit triples: as terms (ours, or those of rdflib or pyoxigraph), or as ids of shape (n, 3).

        Raises:
            LoadError: a term is invalid, or stands where RDF does not allow it; nothing is added then.
        """
        ids = self._triple_ids(triples)
        if len(ids) == 0:
            return
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.add_triples(ids)
            return
        self._state(ids)
        if self._named_graphs is not None:
            self._named_graphs.added(ids)

    def remove_triples(self, triples: Iterable[Triple] | TripleIds) -> None:
        """Remove explicit triples; what is not explicit is left alone."""
        ids = self._triple_ids(triples, new_terms=False)
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.remove_triples(ids)
            return
        if self._named_graphs is not None:
            self._named_graphs.removed(ids)
        self._unstate(ids)

    def _state(self, ids: TripleIds) -> Changed:
        """Make triples explicit. Says of each whether it was not."""
        if self._rewriting is not None:  # which stores other triples than these
            self._axioms.note_change(ids)
        changed = self._load(TRIPLE, ids)
        self._touch()
        return changed

    def _unstate(self, ids: TripleIds) -> None:
        """Make triples explicit no longer."""
        if self._rewriting is not None:
            self._axioms.note_change(ids)
        if np.count_nonzero(self._retract(TRIPLE, ids)):
            self._touch()

    @property
    def named_graphs(self) -> NamedGraphs:
        """The graphs that state the explicit triples: for those that are not all in the default graph."""
        if self._named_graphs is None:
            from kg_reasoner.named_graphs import NamedGraphs

            self._named_graphs = NamedGraphs(self)
        return self._named_graphs

    def add_facts(self, predicate: str, rows: Iterable[Sequence[Term]]) -> None:
        """Add explicit facts of a general predicate.

        Raises:
            ArityError: a row has another number of arguments than the predicate; nothing is added then.
            LoadError: a term is invalid; nothing is added then.
        """
        facts = [tuple(row) for row in rows]
        if not facts:
            return
        arity = self._arities().get(predicate, len(facts[0]))
        for row in facts:
            if len(row) != arity:
                raise ArityError(f"{predicate} has {arity} arguments, not {len(row)}")
        from kg_reasoner.loaders.convert import text_from_term

        ids = self.dictionary.encode_texts([text_from_term(term) for row in facts for term in row]).reshape(len(facts), arity)
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.add_facts(predicate, facts)
            return
        self._load(predicate, ids)
        self._touch()

    def _arities(self) -> dict[str, int]:
        """The numbers of arguments of all predicates that facts, rules or declarations use."""
        program, catalog, count, known = self._known_arities
        predicates = self.catalog.predicates
        if program is not self._program or catalog is not self.catalog or count != len(predicates):
            stored = {name: self.database.relations[number].arity for name, number in predicates.items()}
            known = analysis.arities(self._program) | stored
            self._known_arities = self._program, self.catalog, len(predicates), known
        return known

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[Term]]) -> None:
        """Remove explicit facts of a general predicate; what is not explicit is left alone."""
        facts = list(rows)
        relation = self.catalog.predicates.get(predicate, -1)
        if relation < 0:
            return
        if self._autocommits:
            with self.transaction() as transaction:
                transaction.remove_facts(predicate, facts)
            return
        if self._retract(predicate, self._ids_of(facts, self.database.relations[relation].arity)).any():
            self._touch()

    @property
    def _autocommits(self) -> bool:
        """Whether every change is a transaction of its own: somebody is to be told, or it may be refused; and none is open."""
        return self._transaction is None and (bool(self._subscriptions) or self.on_inconsistency == "raise")

    def _at_once(self) -> AbstractContextManager[object]:
        """What is changed inside is one transaction, where every change is one."""
        return self.transaction() if self._autocommits else nullcontext()

    def _ids_of(self, rows: Iterable[Sequence[Term]], arity: int) -> Ids:
        """The ids of the facts whose terms are all known, shape (n, arity)."""
        facts = [row for row in rows if len(row) == arity]
        ids = self.dictionary.find_texts([term_text(term) for row in facts for term in row]).reshape(len(facts), arity)
        return ids[(ids >= 0).all(axis=1)]

    def _triple_ids(self, triples: Iterable[Triple] | TripleIds, new_terms: bool = True) -> TripleIds:
        if isinstance(triples, np.ndarray):
            return np.ascontiguousarray(triples, np.int32).reshape(-1, 3)
        from kg_reasoner.loaders.convert import text_from_term

        texts = [text_from_term(term) for subject, property, value in triples for term in (subject, property, value)]
        if not new_terms:
            found = self.dictionary.find_texts(texts).reshape(-1, 3)
            return found[(found >= 0).all(axis=1)]
        for subject, property in zip(texts[::3], texts[1::3], strict=True):
            if subject.startswith('"') or not property.startswith("<"):
                what = "the subject is a literal" if subject.startswith('"') else "the predicate is no IRI"
                raise LoadError(f"no RDF triple: {what} in {subject} {property} ...")
        return self.dictionary.encode_texts(texts).reshape(-1, 3)

    def know(self, terms: Iterable[Term]) -> None:
        """Make terms known without saying anything of them: what the engine says by itself (see `literals`) is about such terms."""
        new = [term for term in terms if term not in self.dictionary]
        if new:
            for term in new:
                self.dictionary.encode(term)
            self._touch()

    def _load_vertical(self, ids: Ids) -> Changed:
        """Load triples in the vertical layout: relations first, then all at once."""
        catalog = self.catalog
        catalog.extend_maps()
        if len(ids) > FEW:
            typed = ids[:, 1] == catalog.type_id
            for column, make, part in ((1, catalog.property, ids[~typed]), (2, catalog.cls, ids[typed])):
                terms, counts = np.unique(part[:, column], return_counts=True)
                for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                    relation = make(term)
                    if count > 64:
                        self.database.reserve(relation, count)
        else:
            for _, property, value in ids.tolist():
                if property == catalog.type_id:
                    catalog.cls(value)
                else:
                    catalog.property(property)
        return self.database.load_triples(ids)

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None) -> None:
        """Bring the derived facts up to date. Reading does this on its own; call it for progress, or to choose the time.

        The kernels are asked for here, so that the first call of all compiles them.
        """
        if not self._dirty:
            return
        if self.database.context.removed_count:
            self._axioms.note_removal()
        is_first = True
        while True:
            self._translate_schema()
            self._maintain(progress, is_first)
            is_first = False
            if not (self._merge_equal() or self._extend_axioms()):
                break
        self._materialiser.compact()
        if self._rewriting is not None:
            if self._transaction is not None and self._collects:
                self._transaction.take(self._rewriting.take_changes())
            self._rewriting.settle()
        self._dirty = False
        if self._transaction is None:
            self.expect_consistent()

    def _maintain(self, progress: Progress | None, is_first: bool) -> None:
        """Apply the changes of facts and rules since the last time."""
        before = self._tables() if self._collects and self._needs_rebuild() else None
        new_rules = self._prepare_rules() if self._rewriting is None else self._prepare_rewriting(self._rewriting, is_first)
        gone_rules, gone_groups = self._rulebook.gone_rules, self._rulebook.gone_groups
        work = Work(new_rules, gone_rules, gone_groups, self._collects and before is None, progress)
        self._materialiser.remove_rules(gone_rules)
        self._materialiser.remove_groups(gone_groups)
        self._materialiser.make_strata()
        restarts = self._must_restart or (
            (self._materialiser.is_mixed or self._maintenance.needs_restart()) and not self.database.is_fresh
        )
        strategy: Maintenance = Rematerialise(self._materialiser, self._maintenance) if restarts else self._maintenance
        if self._foreseen is not None or self.database.context.marked_count:
            foreseen, self._foreseen = self._foreseen, None
            try:
                facts = self._facts_of(foreseen)
            except (ReasonerError, ValueError):  # an update that cannot be read is reported when its turn comes
                facts = []
            strategy.expect(facts)
        self._must_restart = True  # until it is through: it may be interrupted
        strategy.apply(work)
        self._must_restart = False
        self._rulebook.forget_gone()
        if self._transaction is not None and self._collects:
            delta = self._delta(work) if before is None else difference(self.dictionary, before, self._tables())
            if self._rewriting is None:
                self._transaction.take(delta)
            else:
                self._rewriting.note_step(delta)

    def _prepare_rewriting(self, rewriting: Rewriting, is_first: bool) -> list[PlannedRule]:
        """Split and merge cliques of equal terms before an update, and plan rules. See `_prepare_rules`.

        Only what users change takes reasons away: when names change afterwards, axioms become other rules that say the same.
        """
        gone = rewriting.gone(self.rules) if is_first and self._rules_changed else []
        gone_plans = [planned for rule in gone for planned in self._rulebook.plans_of(rule)]
        new_rules = self._prepare_rules()
        if self._must_restart:
            rewriting.doubt_all()
        if rewriting is self._rewriting and rewriting.revise(gone_plans, [rule for rule in gone if not rule.body]):
            self._translate_schema()
            self._rules_changed = self._rules_changed or rewriting.names_changed
            new_rules += self._prepare_rules()
        gone_now = set(map(id, self._rulebook.gone_rules))
        return [planned for planned in new_rules if id(planned) not in gone_now]

    def _merge_equal(self) -> bool:
        """Merge terms that rules have found to be the same, if there are any."""
        if self._rewriting is None or not self._rewriting.merge():
            return False
        self._rules_changed = self._rules_changed or self._rewriting.names_changed
        return True

    def _needs_rebuild(self) -> bool:
        """Whether the rules ask for the other layout of triples."""
        return self._rules_changed and needs_ternary(self._engine_rules()) != self.catalog.ternary

    def _engine_rules(self) -> tuple[Rule, ...]:
        """The rules as the engine applies them."""
        return self.rules if self._rewriting is None else self._rewriting.images(self.rules)

    def _prepare_rules(self) -> list[PlannedRule]:
        """Choose the layout of triples and plan rules. Returns the plans of new ones, see `RuleBook.plan`."""
        if self._rules_changed:
            rules = self._engine_rules()
            if (ternary := needs_ternary(rules)) != self.catalog.ternary:
                self._rebuild(ternary)
                rules = self._engine_rules()
            self._rulebook.use(rules)
            self._rules_changed = False
        if self._rulebook.asks_of_literals:
            self._feed_literals()
        return self._rulebook.plan()

    def _rebuild(self, ternary: bool) -> None:
        """Start over with the explicit facts, in the chosen layout and without plans."""
        facts = {TRIPLE: self.triple_ids_now("explicit")}
        for name in self.catalog.predicates:
            if name != TRIPLE and name not in LITERAL_PREDICATES:
                facts[name] = self._rows(name, "explicit")
        rewriting, self._counted = self._rewriting, self.counters
        self._set_up(ternary)
        if rewriting is not None and self._rewriting is not None:
            self._rewriting.succeed(rewriting)
            facts = {name: rows for name, rows in facts.items() if not rewriting.is_own(name)}
        for name, rows in facts.items():
            self._insert(name, rows)

    # --- changes ----------------------------------------------------------------------------------------------------

    def _insert(self, predicate: str, ids: Ids) -> Changed:
        """Insert explicit facts of a predicate. Says of each whether it is new."""
        if self._rewriting is None or predicate.startswith(INTERNAL):
            return self._store(predicate, ids)
        return self._rewriting.load(predicate, ids)

    def _store(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Insert facts of a predicate as they are (triples only as explicit ones). Says of each whether it is new."""
        if predicate != TRIPLE:
            return self.database.load(self.catalog.predicate(predicate, ids.shape[1]), ids, flag)
        self._axioms.note_change(ids)
        return self.database.load(self.catalog.predicates[TRIPLE], ids) if self.catalog.ternary else self._load_vertical(ids)

    def _unstore(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Take a flag from facts as they are. Says of each whether it had it."""
        if predicate == TRIPLE:
            self._axioms.note_change(ids)
            if not self.catalog.ternary:
                self.catalog.extend_maps()
                return self.database.retract_triples(ids)
        if predicate not in self.catalog.predicates:
            return np.zeros(len(ids), np.bool_)
        return self.database.retract(self.catalog.predicates[predicate], ids, flag)

    def _load(self, predicate: str, ids: Ids) -> Changed:
        """Insert explicit facts, and tell the open transaction which of them are new."""
        changed = self._insert(predicate, ids)
        if self._transaction is not None:
            self._note(predicate, ids[changed], added=True)
        return changed

    def _note(self, predicate: str, ids: Ids, added: bool) -> None:
        """Tell the open transaction of explicit facts that have come or gone."""
        assert self._transaction is not None
        self._transaction.note(predicate, ids, added)
        if self._rewriting is not None and self._transaction.collects and not predicate.startswith(INTERNAL):
            self._rewriting.assertions.note(predicate, ids, added)

    def _retract(self, predicate: str, ids: Ids) -> Changed:
        """Make explicit facts of a predicate explicit no longer, and tell the open transaction. Says of each whether it was."""
        if self._rewriting is None or predicate.startswith(INTERNAL):
            changed = self._unstore(predicate, ids)
        else:
            changed = self._rewriting.retract(predicate, ids)
        if self._transaction is not None:
            self._note(predicate, ids[changed], added=False)
        return changed

    def _facts_of(self, update: Update | None) -> list[tuple[int, Ids]]:
        """The facts that an update will delete, as far as they are known, by relation."""
        found: list[tuple[int, Ids]] = []
        for predicate, rows in update.removed.items() if update is not None else ():
            if predicate != TRIPLE:
                relation = self.catalog.predicates.get(predicate, -1)
                if relation >= 0:
                    found.append((relation, self._ids_of(rows, self.database.relations[relation].arity)))
                continue
            by_relation: dict[int, list[tuple[int, ...]]] = {}
            for triple in self._triple_ids(rows, new_terms=False).tolist():  # type: ignore[arg-type]
                relation, values = self.catalog.stored_triple(*triple)
                if relation >= 0:
                    by_relation.setdefault(relation, []).append(values)
            found += [(relation, np.array(values, np.int32)) for relation, values in by_relation.items()]
        return found

    def transaction(self, collects: bool = True) -> Transaction:
        """A transaction, to be used as a context manager, or by its `begin`, `commit` and `rollback`.

        Args:
            collects: whether it collects what changes, for its `delta`. Subscribers need that.
        """
        return Transaction(self, collects)

    @property
    def open_transaction(self) -> Transaction | None:
        """The transaction that has begun and not ended, if there is one."""
        return self._transaction

    @property
    def has_subscribers(self) -> bool:
        """Whether somebody wants to be told of changes."""
        return bool(self._subscriptions)

    def subscribe(self, pattern: Pattern, callback: Callback) -> Subscription:
        """Call a function with the changes of a pattern after every commit; see `kg_reasoner.subscriptions.Subscriptions`."""
        return self._subscribers().subscribe(pattern, callback)

    def changes(self, pattern: Pattern = None) -> ChangeFeed:
        """The changes of a pattern by later commits, to be iterated over; see `kg_reasoner.feeds.ChangeFeed`."""
        from kg_reasoner.feeds import ChangeFeed

        return ChangeFeed(self._subscribers(), pattern)

    def _subscribers(self) -> Subscriptions:
        if self._subscriptions is None:
            from kg_reasoner.subscriptions import Subscriptions

            self._subscriptions = Subscriptions(self.dictionary, self._arities)
        if self._transaction is not None and not self._transaction.collects:  # from now on it does
            self.materialise()
            self._transaction.collects = True
        return self._subscriptions

    @overload
    def process(self, stream: Iterable[Update], marking: bool = ...) -> Iterator[Delta]: ...
    @overload
    def process(self, stream: AsyncIterable[Update], marking: bool = ...) -> AsyncIterator[Delta]: ...
    def process(
        self, stream: Iterable[Update] | AsyncIterable[Update], marking: bool = True
    ) -> Iterator[Delta] | AsyncIterator[Delta]:
        """Apply a stream of updates, one transaction each; see `kg_reasoner.streams.process`."""
        from kg_reasoner import streams

        return streams.process(self, stream, marking)

    def foresee(self, update: Update | None) -> None:
        """Say what the update after the next one will delete, so that it finds its way prepared. Results do not depend on it."""
        self._foreseen = update

    @property
    def counters(self) -> Counters:
        """How many rules have been applied for updates, by phase."""
        return self._counted + self._maintenance.counters

    @property
    def maintenance(self) -> str:
        """The name of the maintenance strategy."""
        return self._strategy

    @property
    def _collects(self) -> bool:
        return self._transaction is not None and self._transaction.collects

    def _begin(self, transaction: Transaction) -> None:
        if self._transaction is not None:
            raise TransactionError("another transaction is open: end it first, by commit or rollback")
        self.materialise()
        if self._rewriting is not None:
            self._rewriting.begin()
        self._transaction = transaction

    def _end(self, transaction: Transaction) -> None:
        self._transaction = None
        if self._subscriptions is not None and transaction.collects:
            self._subscriptions.publish(transaction.delta)

    def _undo(self, transaction: Transaction, program: Program, log: Sequence[tuple[str, Ids, bool]]) -> None:
        """Take back what a transaction has done."""
        self._transaction = None
        for predicate, ids, added in reversed(log):
            if added:
                self._retract(predicate, ids)
            else:
                self._load(predicate, ids)
        self._use_program(program)
        self._touch(rules=True)

    def _delta(self, work: Work) -> Delta:
        """What a run of maintenance has changed, by predicate."""
        return Delta(*(self._changes(tables) for tables in (work.added, work.removed, work.restated)))

    def _changes(self, tables: Iterable[Table]) -> Changes:
        return Changes(self.dictionary, {name: Change(*facts) for name, facts in self.catalog.as_facts(tables).items()})

    def _tables(self) -> Changes:
        """All facts as they were before the changes that are not applied yet, by predicate."""
        return self._changes(
            Table(relation, *self.database.settled_facts(relation)) for relation in range(len(self.database.relations))
        )

    def _feed_literals(self) -> None:
        """Facts about the literals of the dictionary that are new."""
        load = self._store if self._rewriting is None else self._rewriting.load
        for name, rows in self._literals.new().items():
            if rows:
                load(name, np.array(rows, np.int32), STATED)

    # --- schema -----------------------------------------------------------------------------------------------------

    def _translate_schema(self) -> None:
        """Turn the explicit schema triples into rules, if they have changed."""
        if self._axioms.translate(self.catalog):
            self._touch(rules=True)

    def _extend_axioms(self) -> bool:
        """Turn axioms that have been derived into rules. Says whether that changes the rules."""
        changed = self._axioms.extend(self.catalog, self._rewriting is not None)
        if changed:
            self._touch(rules=True)
        return changed

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that changes whenever facts or rules do."""
        return self._version

    def triple_ids(self, which: Which = "all") -> TripleIds:
        """Triples as ids, shape (n, 3): all, the explicit, or those that are only inferred.

        Facts that are no RDF triples (a literal as the subject, a property that is no IRI) stay inside, and hidden triples do, see
        `kg_reasoner.visibility`.
        """
        self.materialise()
        ids = self.triple_ids_now(which)
        first = self.dictionary.first_bytes()
        return self.queries.seen(ids[(first[ids[:, 0]] != ord('"')) & (first[ids[:, 1]] == ord("<"))], which=which)

    def triple_ids_now(self, which: Which = "all") -> TripleIds:
        """All triples as they are now, without bringing the materialisation up to date."""
        if self._rewriting is not None and self._rewriting.cliques:
            return self._rewriting.in_all_names(TRIPLE, self._stored_triples, which)
        return self._stored_triples(which)

    def _stored_triples(self, which: Which) -> TripleIds:
        catalog, database = self.catalog, self.database
        if catalog.ternary:
            return database.rows(catalog.predicates[TRIPLE], which)
        parts = [NO_TRIPLES]
        for term, relation in catalog.properties.items():
            rows = database.rows(relation, which)
            parts.append(np.stack([rows[:, 0], np.full(len(rows), term, np.int32), rows[:, 1]], axis=1))
        for term, relation in catalog.classes.items():
            rows = database.rows(relation, which)
            kind = np.full(len(rows), catalog.type_id, np.int32)
            parts.append(np.stack([rows[:, 0], kind, np.full(len(rows), term, np.int32)], axis=1))
        return np.concatenate(parts)

    def triples(
        self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None, which: Which = "all"
    ) -> Iterator[Triple]:
        """The triples that match a pattern (None matches every term). Hidden ones (see `kg_reasoner.visibility`) match if the
        pattern names their property, and under rdf:type the class."""
        self.materialise()
        pattern = [None if term is None else self.dictionary.find(term) for term in (subject, predicate, object)]
        if -1 not in pattern:
            for row in self.dictionary.decode_rows(match_triples(self, pattern, which)):
                yield row[0], row[1], row[2]

    def facts(self, predicate: str, which: Which = "all") -> Iterator[tuple[Term, ...]]:
        """The facts of a general predicate."""
        self.materialise()
        if predicate in self.catalog.predicates:
            yield from self.dictionary.decode_rows(self._rows(predicate, which))

    def _rows(self, predicate: str, which: Which) -> Ids:
        """The facts of a general predicate, as they are now."""
        relation = self.catalog.predicates[predicate]
        if self._rewriting is None or not self._rewriting.cliques or predicate.startswith(INTERNAL):
            return self.database.rows(relation, which)
        return self._rewriting.in_all_names(predicate, lambda which: self.database.rows(relation, which), which)

    def predicates(self) -> dict[str, int]:
        """The general predicates that are known, with their numbers of arguments."""
        self.materialise()
        return {
            name: self.database.relations[number].arity
            for name, number in self.catalog.predicates.items()
            if name != TRIPLE and not name.startswith(INTERNAL)
        }

    def inconsistencies(self) -> list[Violation]:
        """Every violated constraint, with the values that violate it; `explain` proves each of them.

        Under rewriting of equal terms, they are told once, for their representatives.
        """
        self.materialise()
        return list(self._violations())

    def _violations(self) -> Iterator[Violation]:
        if self._rewriting is None:
            return violations(self.catalog, self.rules)
        return chain(violations(self.catalog, self._engine_rules()), self._rewriting.contradictions())

    def is_consistent(self) -> bool:
        """Whether no constraint is violated."""
        self.materialise()
        return self._is_consistent()

    def _is_consistent(self) -> bool:
        return is_consistent(self.catalog) and (self._rewriting is None or not any(self._rewriting.contradictions()))

    def expect_consistent(self) -> None:
        """Say so if the graph, whose materialisation is up to date, is inconsistent, and that is to be refused.

        Raises:
            InconsistencyError: it is.
        """
        if self.on_inconsistency == "raise" and not self._is_consistent():
            raise InconsistencyError(list(self._violations()))

    def sizes(self) -> Sizes:
        """How many facts there are, and how much memory they take."""
        self.materialise()
        explicit = inferred = 0
        hidden = {number for name, number in self.catalog.predicates.items() if name.startswith(INTERNAL)}
        for number in range(len(self.database.relations)):
            if number in hidden:
                continue
            asserted = len(self.database.rows(number, "explicit"))
            explicit += asserted
            inferred += self.database.size(number) - asserted
        return Sizes(explicit, inferred, len(self.dictionary), self.database.nbytes, self.dictionary.nbytes)

    # --- explanations -----------------------------------------------------------------------------------------------

    def explain(self, fact: Triple | Atom | Violation, effort: int | None = 100_000) -> Proof:
        """The shortest proof of a fact (a triple, an atom of constants) or of a violation; see `kg_reasoner.explain.search`.

        Args:
            fact: what to prove.
            effort: rule instances to look at before being content with a proof that may not be the shortest; None: no limit.

        >>> from kg_reasoner.terms import literal
        >>> reasoner = Reasoner('path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . edge("a", "b") . edge("b", "c") .')
        >>> print(reasoner.explain(Atom("path", (literal("a"), literal("c")))).text())
        path("a", "c")   (by path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .)
        ├── edge("a", "b")   (stated by the program)
        └── edge("b", "c")   (stated by the program)

        Raises:
            NoProofError: there is no such fact: `why_not` tells what is missing.
            ReasonerError: that is no fact at all.
        """
        return (self._by_axioms(fact) or self)._explaining().explain(fact, effort)

    def all_proofs(self, fact: Triple | Atom | Violation) -> Iterator[Proof]:
        """The well-founded proofs of a fact, one by one, the shortest first and higher ones later; errors as for `explain`.

        What is explicit or stated is not proved by rules as well, except for the fact itself. After a change to facts or rules,
        reading on is an error.
        """
        return (self._by_axioms(fact) or self)._explaining().all_proofs(fact, lambda: self._version)

    def why_not(self, fact: Triple | Atom) -> WhyNot:
        """What is missing for a fact that is not there: for each rule that could derive it, the part of the body that fails.

        Raises:
            ReasonerError: the fact is there, or that is no fact at all.
        """
        return self._explaining().why_not(fact)

    def _by_axioms(self, fact: Triple | Atom | Violation) -> Reasoner | None:
        """For the question why merged terms are the same: a reasoner over the facts that matter, which derives it by axioms."""
        terms = fact if isinstance(fact, tuple) else fact.terms if isinstance(fact, Atom) and fact.predicate == TRIPLE else ()
        if self._rewriting is None or len(terms) != 3 or terms[1] != OWL.sameAs or terms[0] == terms[2]:
            return None
        from kg_reasoner.equality.reasons import support
        from kg_reasoner.equality.rules import axioms

        explainer = self._explaining()
        number = self.dictionary.find(terms[0])  # type: ignore[arg-type]  # a variable is refused later
        facts = support(explainer.derivations, self._rewriting, number) if number >= 0 else None
        if facts is None:
            return None
        found = Reasoner(Program(self.rules, prefixes=self._program.prefixes), datatypes=self.datatypes)
        if not any(rule.origin.name == "eq-trans" for rule in self.rules):
            found.add_program(Program(axioms()))
        for atom in facts:
            if atom.predicate == TRIPLE:
                found.add_triples([atom.terms])  # type: ignore[list-item]
            else:
                found.add_facts(atom.predicate, [atom.terms])  # type: ignore[list-item]
        return found if any(True for _ in found.triples(*terms)) else None  # type: ignore[arg-type]

    def _explaining(self) -> Explainer:
        from kg_reasoner.equality.names import Renaming
        from kg_reasoner.explain import Derivations, Explainer

        self.materialise()
        if self._explainer is None:
            derivations = Derivations(self.catalog, self._materialiser.values, self.queries.statistics)
            renaming = None if self._rewriting is None else Renaming(self._rewriting, self.dictionary)
            self._explainer = Explainer(derivations, renaming)
        if self._explainer.version != self._version:
            self._explainer.use(self._version, self._engine_rules(), dict(self._program.prefixes))
        return self._explainer
