"""The reasoner: facts and rules, and the materialisation that follows from them."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, cast, overload

from kg_reasoner import api
from kg_reasoner.api.explicit import documents
from kg_reasoner.api.explicit.assertions import add_facts, add_triples, know, remove_facts, remove_triples
from kg_reasoner.api.explicit.triple_reading import triple_ids, triples
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.operations.loaded_documents import Loaded
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.concurrency.cores import thread_count
from kg_reasoner.concurrency.limits import UNLIMITED, Limits, expect_limits
from kg_reasoner.engine.engine import Engine
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.inconsistency import Reaction, Violation, reaction
from kg_reasoner.engine.maintenance import DEFAULT, Strategy
from kg_reasoner.engine.state.engine_settings import EngineSettings
from kg_reasoner.errors import expect_name
from kg_reasoner.expressions.datatypes import recognised_datatypes
from kg_reasoner.language.display_names import DisplayNames
from kg_reasoner.program import Atom, BodyLiteral, Program, Rule
from kg_reasoner.progress import Progress
from kg_reasoner.query.delta import Delta
from kg_reasoner.query.matching import Which
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import AnyTerm, AnyTriple, Term, Triple

if TYPE_CHECKING:
    from kg_reasoner.api.answering.classifying import Hierarchies
    from kg_reasoner.api.answering.explaining import Explanations

Equality = Literal["axioms", "rewrite"]
EQUALITIES: Sequence[Equality] = ("axioms", "rewrite")

F = TypeVar("F", bound=Callable[..., Any])


class Reasoner:
    """Facts, rules, and everything that follows from them.

    Args:
        program: Rules, as a `Program`, as text in the rule language, or as the `pathlib.Path` of a file of such text.
        ruleset: The name of a rule set (see `kg_reasoner.rulesets.names`) or the path of a ``.dl`` file, used beside `program`.
        maintenance: The strategy by which updates are applied: ``backward-forward``, ``delete-rederive``, ``counting``,
            ``rematerialise`` or ``dbsp``. They differ in cost, never in results.
        datatypes: The datatypes whose literals have values for the datatype rules of ``rdfs-full`` and ``owl2rl-full``, as IRIs;
            None: all of `kg_reasoner.expressions.datatypes.DATATYPES`. Literals of other datatypes have no value.
        show_hidden: Whether trivial inferred triples match all patterns and are part of exports and deltas; by default, only
            patterns that name them match, see `kg_reasoner.query.visibility`.
        equality: The treatment of owl:sameAs. ``axioms``: by the rules of the rule set, if it has them. ``rewrite``: equal terms
            are merged (see `kg_reasoner.engine.equality`), so that a thousand of them cost no more than one; queries give all
            names. General predicates, too, hold of equal terms alike. Rules may compare terms, but not count or compute with them.
        on_inconsistency: ``report``: inconsistent data are accepted, and `inconsistencies` lists the violations; ``raise``: a
            transaction that leaves the data inconsistent raises InconsistencyError and is undone, and each change outside a
            transaction is a transaction of its own.
        limits: The limits of each operation and each query, see `kg_reasoner.concurrency.limits.Limits`.
        threads: The number of threads that read long documents, load triples and derive facts together when there is much to do;
            None: one per core that the process may use. Facts and their order do not depend on it.

    Reading brings the materialisation up to date first. Any number of threads may read at once, and one at a time changes facts or
    rules, while the others wait. Every method is atomic, whichever exception interrupts it.

    >>> reasoner = Reasoner('''
    ...     path(?x, ?y) :- edge(?x, ?y) .
    ...     path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    ...     edge("a", "b") . edge("b", "c") .
    ... ''')
    >>> len(list(reasoner.facts("path")))
    3

    Raises:
        RuleSyntaxError, SafetyError, ArityError, StratificationError, UnsupportedError: The program is invalid; the error gives the
            position.
        UnknownNameError: The rule set, the strategy, the treatment of equality, the reaction to inconsistency or a datatype is
            unknown.
        ValueError: `threads` is not a number from 1 to 64.
        TypeError: `limits` are not Limits.
        LoadError: `datatypes` are a text, or nothing to iterate over.
    """

    def __init__(
        self,
        program: Program | str | Path | None = None,
        *,
        ruleset: str | None = None,
        maintenance: Strategy = DEFAULT,
        datatypes: Iterable[str] | None = None,
        equality: Equality = "axioms",
        on_inconsistency: Reaction = "report",
        show_hidden: bool = False,
        limits: Limits = UNLIMITED,
        threads: int | None = None,
    ) -> None:
        expect_name("treatment of equality", equality, EQUALITIES)
        expect_limits(limits)
        self.dictionary = Dictionary()
        self.visibility = Visibility(self.dictionary, shows_all=show_hidden)
        self.datatypes: frozenset[str] = recognised_datatypes(datatypes)
        self.equality: Equality = equality
        self.threads: int | None = threads
        self._strategy = maintenance
        settings = EngineSettings(maintenance, self.datatypes, rewrites=equality == "rewrite", threads=thread_count(threads))
        self.engine = Engine(self.dictionary, self.visibility, settings)
        self.core = ReasonerCore(self.engine, self.visibility)
        self._named_graphs: api.NamedGraphs | None = None
        self.engine.limits = limits
        if ruleset is not None:
            self.core.use_ruleset(ruleset)
        if program is not None:
            self.add_program(program)
        self.core.on_inconsistency = reaction(on_inconsistency)

    def __repr__(self) -> str:
        settings = f"maintenance={self.maintenance!r}, equality={self.equality!r}"
        return f"<Reasoner rules={len(self.rules)}, {settings}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><code>{escape(repr(self))}</code></p>{self.sizes()._repr_html_()}"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Reasoner is neither copied nor pickled: make another one (without_facts) and add the explicit facts to it"
        )

    def without_facts(self, ruleset: str | None = None) -> Reasoner:
        """Return a new reasoner with the same settings and the same program, or another rule set instead, without the facts.

        Args:
            ruleset: The name of a rule set, or the path of a ``.dl`` file.

        Returns:
            The new reasoner.

        Raises:
            UnknownNameError: The rule set is unknown.
        """
        found = Reasoner(
            self.program if ruleset is None else None,
            ruleset=ruleset,
            maintenance=self.maintenance,
            datatypes=self.datatypes,
            equality=self.equality,
            on_inconsistency=self.on_inconsistency,
            show_hidden=self.visibility.shows_all,
            limits=self.limits,
            threads=self.threads,
        )
        found.core.functions.update(self.core.functions)
        found.core.reductions.update(self.core.reductions)
        return found

    @property
    def limits(self) -> Limits:
        """The limits of each operation and each query."""
        return self.engine.limits

    @property
    def on_inconsistency(self) -> Reaction:
        """The reaction to inconsistent data, ``report`` or ``raise``. Setting it to another name is an UnknownNameError."""
        return self.core.on_inconsistency

    @on_inconsistency.setter
    def on_inconsistency(self, name: Reaction) -> None:
        self.core.on_inconsistency = reaction(name)

    @property
    def loaded(self) -> Loaded:
        """The ontologies, missing imports and refused rules of the documents that have been loaded."""
        return self.core.loaded

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of the program and, where it does not declare them, those of the loaded documents, with their namespaces.

        Queries may use them; proofs, hierarchies and messages do.

        >>> reasoner = Reasoner()
        >>> reasoner.load(b"@prefix ex: <http://example.org/> . ex:tom a ex:Cat .", format="turtle")
        >>> reasoner.prefixes
        {'ex': 'http://example.org/'}
        >>> bool(reasoner.query("ASK { ex:tom a ex:Cat }"))
        True
        """
        return self.core.prefixes

    # --- rules ------------------------------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The program that was given, without the rules that came from axioms."""
        return self.engine.program

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of the program, and those translated from the ontology's axioms."""
        with self.engine.changing():
            return self.engine.rules

    def add_program(self, program: Program | str | Path) -> None:
        """Add rules, declarations and facts. Change nothing if the result is not a valid program.

        Args:
            program: A `Program`, text in the rule language, or the `pathlib.Path` of a file of such text.

        Raises:
            RuleSyntaxError, SafetyError, ArityError, StratificationError, UnsupportedError: The program is invalid; the error gives
                the position.
            ColumnTypeError: An explicit fact has a term that does not have the declared type of its column.
            LoadError: The text is the name of a file or of a rule set, not a program.
            InconsistencyError: See `on_inconsistency`.
        """
        from kg_reasoner.api.inputs.program_changes import add_program

        add_program(self.core, program)

    def function(self, name: str, *types: str, returns: str = "any", batch: bool = False) -> Callable[[F], F]:
        """Register a Python function that rules may call from now on.

        ```python
        @reasoner.function("initials", "string", returns="string")
        def initials(name: str) -> str:
            return "".join(word[0] for word in name.split())
        ```

        The function has to be pure: it is called once for each combination of arguments, in any order, and its results are kept. An
        exception is an error of the expression, as in SPARQL; so is an attempt to change the reasoner that evaluates the rule.

        Args:
            name: The name in rules, which is not one of the language's own functions.
            types: The types of the arguments; arguments of other types are errors of the expression.
            returns: The type of the result. A list or set gives several rows in ``?x IN name(?y)``.
            batch: Whether the function takes a list for each argument, and returns a list of results.

        Returns:
            A decorator, which registers a function and returns it.

        Raises:
            ReasonerError: The name is taken, a type is unknown, or something else is given for the function.
        """
        from kg_reasoner.api.inputs.python_functions import function_adder

        return function_adder(self.core, name, types, returns, batch=batch)

    def aggregate(self, name: str, *types: str, returns: str = "any") -> Callable[[F], F]:
        """Register an aggregate function in Python, which is recomputed for each group that changes.

        ```python
        @reasoner.aggregate("median", "integer", returns="integer")
        def median(values: list[int]) -> int:
            return sorted(values)[len(values) // 2]
        ```

        Args:
            name: The name in rules.
            types: The types of the arguments, of each of which the function gets a list.
            returns: The type of the result.

        Returns:
            A decorator, which registers a function and returns it.

        Raises:
            ReasonerError: The name is taken, a type is unknown, or something else is given for the function.
        """
        from kg_reasoner.api.inputs.python_functions import aggregate_adder

        return aggregate_adder(self.core, name, types, returns)

    def reduction(
        self,
        name: str,
        *types: str,
        initial: Callable[[], Any],
        add: Callable[..., Any],
        remove: Callable[..., Any] | None = None,
        result: Callable[[Any], Any] | None = None,
        returns: str = "any",
    ) -> None:
        """Register an aggregate function with a state for each group, to which solutions are added and from which they are removed.

        ```python
        reasoner.reduction(
            "squares", "integer", initial=int, add=lambda sum, n: sum + n * n, remove=lambda sum, n: sum - n * n, returns="integer"
        )
        ```

        With `remove`, an update costs what it adds to a group and removes from it, whatever the size of the group; the state must
        not depend on the order of changes. Without, the groups that change are computed again, and solutions are added in the order
        of their terms.

        An exception in `add` or `result`, or an argument of another type, is an error of the group, which has no result then. After
        an exception in `remove`, the group is computed again.

        Args:
            name: The name in rules.
            types: The types of the arguments.
            initial: Returns the state of an empty group.
            add: Returns the state after adding a solution, given the state, which it may change, and the arguments.
            remove: Returns the state after removing a solution.
            result: Returns the value of a state, and leaves the state as it is. By default, the value is the state.
            returns: The type of the value.

        Raises:
            ReasonerError: The name is taken, a type is unknown, or something else is given for a function.
        """
        from kg_reasoner.api.inputs.python_functions import add_reduction

        add_reduction(self.core, name, types, returns, initial=initial, add=add, remove=remove, result=result)

    def remove_rules(self, rules: Iterable[Rule]) -> None:
        """Remove rules from the program; ignore those that it does not have.

        Args:
            rules: Rules as they are in `program`.

        Raises:
            LoadError: Something else is given, such as the text of a rule; nothing is removed then.
        """
        from kg_reasoner.api.inputs.program_changes import remove_rules

        remove_rules(self.core, rules)

    # --- facts ------------------------------------------------------------------------------------------------------

    def load(
        self,
        *sources: Any,
        format: str | None = None,
        base: str | None = None,
        progress: Progress | None = None,
        catalog: api.CatalogSource | None = None,
        imports: api.ImportsMode = "resolve",
        refused: documents.Refusal = "raise",
        bounds: api.DocumentBounds | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Add the triples of RDF documents, folders or graphs as explicit triples (see `kg_reasoner.loaders.rdf.read`).

        All sources are read before the first triple is added, so that an invalid one changes nothing. Named graphs keep their
        triples, see `named_graphs`. Rules of N3 documents become part of the program.

        Args:
            sources: Paths, bytes, open files, rdflib graphs, or iterables of triples.
            format: The syntax of all documents, by default determined by their names or contents.
            base: The IRI against which relative IRIs are resolved in documents that declare no base.
            progress: Called with the stage, the amount done, and the total.
            catalog: The locations of imported ontologies: a mapping of IRIs to paths, the path of an XML catalog or of a folder, or
                several of these.
            imports: ``resolve``: imports in the sources or the catalog are loaded, and a warning lists the others; ``require``:
                missing imports are an error; ``fetch``: missing imports are fetched from the web; ``ignore``.
            refused: ``raise``: SWRL and N3 rules that cannot be expressed are errors; ``skip``: they are omitted with a warning.
            bounds: Bounds on the size and depth of documents, by default `kg_reasoner.loaders.rdf.bounds.DEFAULT_BOUNDS`.
            limits: The limits of this operation, see `limited`.

        Raises:
            LoadError: A source or an imported document cannot be read or exceeds the bounds, or a required import is not
                found.
            UnsupportedError: A rule cannot be expressed, for example because a built-in has no function.
            SafetyError: A variable in the head of an N3 rule is not bound by its body.
            UnknownNameError: The format, or the treatment of imports or refused rules, is unknown.
            LimitError, CancelledError: The operation exceeds a limit, or another thread cancelled it. Nothing is loaded then.
        """
        documents.load(
            self,
            sources,
            format=format,
            base=base,
            progress=progress,
            catalog=catalog,
            imports=imports,
            refused=refused,
            bounds=bounds,
            limits=limits,
        )

    @property
    def warnings(self) -> list[api.AxiomWarning]:
        """The parts of the data that the rules do not express: missing imports, refused rules, axioms beyond the rule set.

        Each is also issued as a Python warning (`kg_reasoner.errors.BeyondProfileWarning` for an axiom, and otherwise
        `kg_reasoner.errors.ReasonerWarning`) when the materialisation is brought up to date, once for each reasoner.
        """
        with self.engine.changing():
            self.engine.translate_schema()
            return [*self.core.loaded.warnings(), *self.engine.axioms.warnings]

    def add_triples(self, triples: Iterable[AnyTriple] | TripleIds) -> None:
        """Add explicit triples.

        Args:
            triples: As terms (of this package, of rdflib or of pyoxigraph), or as ids of shape (n, 3).

        Raises:
            LoadError: A term is invalid, or stands where RDF does not allow it; nothing is added then.
            InconsistencyError: See `on_inconsistency`.
        """
        add_triples(self.core, triples)

    def remove_triples(self, triples: Iterable[AnyTriple] | TripleIds) -> None:
        """Remove explicit triples; ignore those that are not explicit.

        Args:
            triples: As for `add_triples`.

        Raises:
            LoadError: An item is not a triple; nothing is removed then.
        """
        remove_triples(self.core, triples)

    @property
    def named_graphs(self) -> api.NamedGraphs:
        """The named graphs and the default graph, which state the explicit triples."""
        if self._named_graphs is None:
            from kg_reasoner.api.explicit.named_graphs import NamedGraphs

            self.core.named_graphs = self._named_graphs = NamedGraphs(self.core)
        return self._named_graphs

    def add_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Add explicit facts of a general predicate.

        Args:
            predicate: The name of the predicate.
            rows: The arguments of each fact, as terms of this package, of rdflib or of pyoxigraph; or a table, see `add_table`.

        Raises:
            ArityError: A row has a different number of arguments than the predicate; nothing is added then.
            LoadError: A term is invalid; nothing is added then.
            ColumnTypeError: A term does not have the declared type of its column; nothing is added then.
            KeyViolationError: A fact has the primary key of another one; nothing is added then.
            InconsistencyError: See `on_inconsistency`.
        """
        if _is_table(rows):
            self.add_table(predicate, rows)
            return
        add_facts(self.core, predicate, rows)

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Remove explicit facts of a general predicate; ignore those that are not explicit.

        Args:
            predicate: The name of the predicate.
            rows: As for `add_facts`.

        Raises:
            LoadError: A row does not consist of terms; nothing is removed then.
        """
        if _is_table(rows):
            self.remove_table(predicate, rows)
            return
        remove_facts(self.core, predicate, rows)

    def add_table(
        self,
        predicate: str,
        table: Any,
        *,
        columns: Sequence[str] | None = None,
        header: bool = False,
        nulls: api.Nulls = "error",
    ) -> None:
        """Add the rows of a table as explicit facts of a general predicate, without a Python object for each of them.

        Columns are matched by name if the table has all columns of the declared relation, and otherwise by position, where none
        has the name of another. Values are of the declared types; in columns of type ``any``, they are literals of the datatypes
        that correspond to their types, and text is a string. Text in Parquet, CSV and TSV is read like the cells of fact tables
        instead, see the page on tables.

        Args:
            predicate: The name of the predicate.
            table: A table, record batch or stream of Arrow, a data frame of Polars or pandas, or whatever exports Arrow's; a
                mapping of names to columns; a cursor of DB-API or ADBC that has executed a query; or the `pathlib.Path` of a file,
                ``.parquet``, ``.csv``, ``.tsv`` or ``.jsonl``.
            columns: The names of the table's columns that are the arguments, in order.
            header: Whether a file of CSV or TSV has the names of its columns in the first line.
            nulls: The treatment of missing values: ``error``, or ``skip`` for their rows. With ``skip``, empty cells of CSV and
                TSV are missing values.

        Raises:
            LoadError: The table cannot be read, a value is missing or not of its column's type, or the columns do not match;
                nothing is added then.
            ArityError: The table has a different number of columns than the predicate has arguments.
            MissingExtraError: pyarrow is not installed.
            UnknownNameError: The treatment of missing values is unknown.
            InconsistencyError: See `on_inconsistency`.

        >>> reasoner = Reasoner("input relation age(who: string, years: integer) .")
        >>> reasoner.add_table("age", {"years": [7, 9], "who": ["tim", "ann"], "town": ["Ulm", None]})
        >>> [(who.lexical, years.lexical) for who, years in reasoner.facts("age")]
        [('tim', '7'), ('ann', '9')]
        """
        from kg_reasoner.api.fact_tables import add_table

        add_table(self.core, predicate, table, columns=columns, header=header, nulls=nulls)

    def remove_table(
        self,
        predicate: str,
        table: Any,
        *,
        columns: Sequence[str] | None = None,
        header: bool = False,
        nulls: api.Nulls = "error",
    ) -> None:
        """Remove the rows of a table from the explicit facts of a general predicate; ignore those that are not explicit.

        Args:
            predicate: The name of the predicate.
            table: As for `add_table`.
            columns: Likewise.
            header: Likewise.
            nulls: Likewise.

        Raises:
            LoadError, MissingExtraError, UnknownNameError: As for `add_table`; nothing is removed then.
        """
        from kg_reasoner.api.fact_tables import remove_table

        remove_table(self.core, predicate, table, columns=columns, header=header, nulls=nulls)

    def insert_or_update(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Add facts of a relation with a primary key, in place of the explicit facts with the same keys.

        Args:
            predicate: The name of the relation.
            rows: As for `add_facts`.

        Raises:
            ReasonerError: The relation is not declared with a primary key.
            KeyViolationError: Two of the rows have the same key, or the program states a fact that would be replaced.
            ArityError, LoadError, ColumnTypeError, InconsistencyError: As for `add_facts`.

        >>> from kg_reasoner.terms import literal
        >>> reasoner = Reasoner("input relation box(id: integer, where: string) primary key (id) .")
        >>> reasoner.insert_or_update("box", [(literal(1), literal("attic")), (literal(2), literal("cellar"))])
        >>> reasoner.insert_or_update("box", [(literal(1), literal("hall"))])
        >>> reasoner.modify("box", 2, where="garage")
        >>> [place.lexical for _, place in reasoner.facts("box")]
        ['hall', 'garage']
        """
        from kg_reasoner.api.explicit.key_changes import insert_or_update

        insert_or_update(self.core, predicate, rows)

    def delete_key(self, predicate: str, keys: Iterable[Any]) -> None:
        """Remove the explicit facts with some primary keys.

        Args:
            predicate: The name of the relation.
            keys: The keys, each as a tuple of terms or Python values, or as it is if the key has one column.

        Raises:
            ReasonerError: The relation is not declared with a primary key, or a key has another number of values.
            KeyViolationError: No fact has one of the keys, or the program states it; nothing is removed then.
            LoadError: A value is not a term, or text is given in place of several keys.
        """
        from kg_reasoner.api.explicit.key_changes import delete_key

        delete_key(self.core, predicate, keys)

    def modify(self, predicate: str, key: Any, /, **columns: Any) -> None:
        """Change some arguments of the explicit fact with a primary key.

        Args:
            predicate: The name of the relation.
            key: As for `delete_key`.
            columns: The new terms or Python values, by the names of their columns.

        Raises:
            UnknownNameError: No column has one of the names.
            KeyViolationError: No fact has the key, the program states it, or another fact has the new key.
            ReasonerError, LoadError, ColumnTypeError: As for `insert_or_update`.
        """
        from kg_reasoner.api.explicit.key_changes import modify

        modify(self.core, predicate, key, columns)

    def counts(self, predicate: str) -> Iterator[tuple[tuple[Term, ...], int]]:
        """Return the explicit facts of a multiset, and how often each is in it.

        Args:
            predicate: The name of the relation, declared as ``input multiset``.

        Returns:
            The facts with their numbers.

        Raises:
            ReasonerError: The relation is not declared as a multiset.

        >>> from kg_reasoner.terms import literal
        >>> reasoner = Reasoner("input multiset vote(for: string) .")
        >>> reasoner.add_facts("vote", [(literal("ann"),), (literal("tim"),), (literal("ann"),)])
        >>> reasoner.remove_facts("vote", [(literal("ann"),)])
        >>> {who.lexical: count for (who,), count in reasoner.counts("vote")}
        {'ann': 1, 'tim': 1}
        """
        from kg_reasoner.api.explicit.multisets import counts

        return counts(self.core, predicate)

    def query_index(self, name: str, *values: Any) -> api.Facts:
        """Return the facts that a declared index finds: ``index edge_by_to on edge(to) .``

        Args:
            name: The name of the index.
            values: Terms or Python values, one for each of its columns.

        Returns:
            The facts, as `facts` returns them.

        Raises:
            UnknownNameError: There is no index of this name.
            ArityError: It has another number of columns.
            LoadError: A value is not a term.

        >>> reasoner = Reasoner('''
        ...     relation path(from: string, to: string) . index path_by_to on path(to) .
        ...     path("a", "b") . path("b", "c") . path("a", "c") .
        ... ''')
        >>> [start.lexical for start, _ in reasoner.query_index("path_by_to", "c")]
        ['b', 'a']
        """
        from kg_reasoner.api.fact_tables import indexed_facts

        return indexed_facts(self.core, name, values)

    def know(self, terms: Iterable[AnyTerm]) -> None:
        """Intern terms without asserting facts about them.

        The relations that the engine computes (see `literals`) hold of them then.

        Args:
            terms: Terms of this package, of rdflib or of pyoxigraph.

        Raises:
            LoadError: An item is not a term, or text is given in place of several terms.
        """
        know(self.core, terms)

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None, limits: Limits | None = None) -> None:
        """Bring the derived facts up to date. Reading does this automatically; call it to see progress or to choose the time.

        Args:
            progress: Called with the stage, the amount done, and the total.
            limits: The limits of this operation, see `limited`.

        Raises:
            ColumnTypeError: A rule derives a fact with a term that does not have its column's type. The explicit facts and the
                rules stay unchanged, and nothing can be read until they fit; a transaction with such an end is undone.
            LimitError, CancelledError: The operation exceeds a limit, or another thread cancelled it. Nothing is derived then.
            InconsistencyError: See `on_inconsistency`; in a transaction, its end raises it.
        """
        self.core.materialise(progress, limits)

    def limited(self, limits: Limits | None = None) -> AbstractContextManager[object]:
        """Return a ``with`` block in which all operations of this thread are under limits, and under the reasoner's own.

        Args:
            limits: The limits of the block; None: the reasoner's own, for the whole block together.

        Returns:
            A context manager.

        >>> from kg_reasoner.concurrency.limits import Limits
        >>> reasoner = Reasoner("n(?y) :- n(?x), BIND(?x + 1 AS ?y) . n(0) .")
        >>> with reasoner.limited(Limits(facts=1000)):
        ...     reasoner.materialise()
        Traceback (most recent call last):
        ...
        kg_reasoner.errors.LimitError: ... facts exceed the limit of 1,000
        """
        return self.core.limited(limits)

    def cancel(self) -> None:
        """Cancel the operations of other threads on the reasoner: CancelledError is raised there, and updates are undone.

        Operations that have not begun are not affected. A block of `limited` is one operation: if it is cancelled, what it still
        calls raises CancelledError, too.
        """
        self.engine.cancel()

    @property
    def version(self) -> int:
        """A number that changes whenever facts or rules change."""
        return self.engine.version

    @property
    def maintenance(self) -> Strategy:
        """The name of the maintenance strategy."""
        return self._strategy

    @property
    def counters(self) -> Counters:
        """The numbers of rule applications by updates, by phase."""
        return self.engine.counters

    def profile(self) -> api.Profile:
        """Record what materialisation and updates cost, by rule and by axiom, until the ``with`` block ends.

        While a profile is open, rules are evaluated one after the other in one thread, so updates are slower. Times are CPU times.
        Profiles may be nested. Several threads may use the reasoner meanwhile; the profile covers the updates of all.

        Returns:
            The profile, which is open.

        >>> reasoner = Reasoner('''
        ...     path(?x, ?y) :- edge(?x, ?y) .
        ...     path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
        ...     edge("a", "b") . edge("b", "c") . edge("c", "a") .
        ... ''')
        >>> with reasoner.profile() as profile:
        ...     reasoner.materialise()
        >>> for row in sorted(profile.rows(), key=lambda row: row.label):
        ...     if row.rule:
        ...         print(row.instances, row.new, row.duplicates, row.rule)
        3 3 0 path(?x, ?y) :- edge(?x, ?y) .
        9 6 3 path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
        """
        from kg_reasoner.api.cost_profiles import Profile

        return Profile(self.engine.recorder, lambda: self.prefixes)

    # --- changes ----------------------------------------------------------------------------------------------------

    def transaction(self, collects: bool = True, *, isolated: bool = True) -> Transaction:
        """Return a new transaction, to be used as a context manager or by its `begin`, `commit` and `rollback`.

        Args:
            collects: Whether it collects its changes, for its `delta`. If there are subscribers when it begins, it always does.
            isolated: Whether other threads wait until it has ended. If not, each of its changes is visible at once.

        Returns:
            The transaction, which has not begun.
        """
        return Transaction(self, collects, isolated=isolated)

    @property
    def open_transaction(self) -> Transaction | None:
        """The transaction that has begun and not ended, if there is one."""
        return cast("Transaction | None", self.engine.transaction)

    @property
    def has_subscribers(self) -> bool:
        """Whether there are subscriptions."""
        return bool(self.core.subscriptions)

    def subscribe(self, pattern: api.Pattern, callback: api.Callback) -> api.Subscription:
        """Call a function with the changes of a pattern after every commit, see `Subscriptions`.

        If a transaction is open, its commit is the first. The notification includes all its changes, also those before this call;
        but if it was begun with ``collects=False`` (as an rdflib store begins its own while there are no subscribers), only those
        after it.

        Args:
            pattern: The name of a predicate, an atom, a triple pattern, or None for everything.
            callback: Called with the `Delta` of each commit that changes something of the pattern.

        Returns:
            The subscription, to be cancelled.

        Raises:
            ReasonerError: The argument is not a pattern, or the callback is not callable.
            ArityError: The predicate has a different number of arguments.
            LoadError: The pattern has an invalid term.
        """
        return self.core.subscribers().subscribe(pattern, callback)

    def changes(self, pattern: api.Pattern = None) -> api.ChangeFeed:
        """Iterate over the changes of a pattern by later commits; see `kg_reasoner.api.change_feed.ChangeFeed`.

        Args:
            pattern: As for `subscribe`.

        Returns:
            An iterator of deltas, also an asynchronous one.

        Raises:
            ReasonerError, ArityError, LoadError: As for `subscribe`.
        """
        from kg_reasoner.api.change_feed import ChangeFeed

        return ChangeFeed(self.core.subscribers(), pattern)

    @overload
    def process(self, stream: Iterable[api.Update], marking: bool = ...) -> Iterator[Delta]: ...
    @overload
    def process(self, stream: AsyncIterable[api.Update], marking: bool = ...) -> AsyncIterator[Delta]: ...
    def process(
        self, stream: Iterable[api.Update] | AsyncIterable[api.Update], marking: bool = False
    ) -> Iterator[Delta] | AsyncIterator[Delta]:
        """Apply a stream of updates, one transaction each; see `kg_reasoner.api.streams.process`.

        Args:
            stream: An iterable or asynchronous iterable of updates.
            marking: Look one update ahead, so that the reasoner can prepare for its deletions.

        Returns:
            An iterator of deltas, one for each update; an asynchronous one if the stream is asynchronous.

        Raises:
            ReasonerError: The argument is not a stream.
            StreamError: An update was not applied; raised where its delta is asked for.
        """
        from kg_reasoner.api import streams

        return streams.process(self, stream, marking)

    def foresee(self, update: api.Update | None) -> None:
        """Announce the update after the next one, so that its deletions are prepared. Results do not depend on it.

        The reasoner then need not search for the consequences of facts that the next update adds and that one removes; see
        `process`.

        Args:
            update: The update, as far as it is known; None: nothing is known.

        Raises:
            ReasonerError: The argument is not an update.
        """
        from kg_reasoner.api.foresight import expect_update, facts_to_go

        self.engine.foresee(None if update is None else partial(facts_to_go, self.core, expect_update(update)))

    # --- reading ----------------------------------------------------------------------------------------------------

    def triple_ids(self, which: Which = "all", predicate: AnyTerm | None = None) -> TripleIds:
        """Return triples as ids.

        Facts that are not RDF triples (a literal as the subject, a property that is not an IRI) and hidden triples (see
        `kg_reasoner.query.visibility`) are omitted.

        Args:
            which: ``all``, ``explicit``, or ``inferred`` for those that are not explicit.
            predicate: The property of the triples; by default any.

        Returns:
            A table of shape (n, 3).

        Raises:
            UnknownNameError: The kind of triples is unknown.
        """
        return triple_ids(self.core, which, predicate)

    def triples(
        self,
        subject: AnyTerm | None = None,
        predicate: AnyTerm | None = None,
        object: AnyTerm | None = None,
        which: Which = "all",
    ) -> Iterator[Triple]:
        """Return the triples that match a pattern; None matches every term.

        Hidden triples (see `kg_reasoner.query.visibility`) match if the pattern names their property, and under rdf:type the class.

        Args:
            subject: A term of this package, of rdflib or of pyoxigraph.
            predicate: Likewise.
            object: Likewise.
            which: ``all``, ``explicit``, or ``inferred`` for those that are not explicit.

        Returns:
            An iterator of triples of this package's terms.

        Raises:
            LoadError: An argument is not a term.
            UnknownNameError: The kind of triples is unknown.
        """
        return triples(self, (subject, predicate, object), which)

    def query(
        self,
        text: str,
        bindings: Mapping[str, Any] | None = None,
        prefixes: Mapping[str, str] | None = None,
        base: str | None = None,
        *,
        on_demand: bool = False,
        limits: Limits | None = None,
    ) -> api.QueryResult:
        """Answer a SPARQL query, without a graph of rdflib. For the bodies of rules, see `answers`.

        Patterns outside of GRAPH match all triples, explicit and inferred; within GRAPH they match the explicit triples of
        `named_graphs`. FROM and FROM NAMED select from the named graphs; nothing is fetched. Functions that are registered with
        rdflib are called; SERVICE is refused. The most recent queries are remembered as they were parsed, by their texts, so
        `bindings` are faster than values that are written into the text, and safe for values from outside.

        With `on_demand`, what is not materialised stays so: magic sets derive only what each basic graph pattern needs, for the
        terms that the query and its other patterns name, and that is discarded. The answer is the same. Where that is not possible
        (equal terms are merged, rules ask for facts about literals, derived axioms may yield further rules, or a pattern says that
        a term is the same as itself), the materialisation is brought up to date instead; where it is up to date already, it is
        read. Where magic sets would ask for far more than there are facts, all facts of the predicates that the pattern depends on
        are derived, and discarded. The `by_magic` of the result tells whether magic sets have found all of it, and its `derived`
        how many facts they took.

        Args:
            text: The query.
            bindings: Values of variables, by name: terms of this package, of rdflib or of pyoxigraph, or Python values for
                literals.
            prefixes: Namespaces for the prefixes that the text does not declare, besides `prefixes` and ``rdf``, ``rdfs``,
                ``owl`` and ``xsd``.
            base: The IRI against which relative IRIs are resolved.
            on_demand: Whether to answer without materialisation.
            limits: The limits of this query, see `limited`.

        Returns:
            A `SelectResult`, an `AskResult`, or a `GraphResult` for CONSTRUCT and DESCRIBE, see
            `kg_reasoner.sparql.results.result`. It stays the same when the graph changes.

        >>> from kg_reasoner.terms import IRI
        >>> reasoner = Reasoner(ruleset="rdfs")
        >>> reasoner.load(b"@prefix : <urn:> . :Cat <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Animal . :tom a :Cat .")
        >>> result = reasoner.query("SELECT ?kind { ?pet a ?kind }", {"pet": IRI("urn:tom")})
        >>> sorted(row.kind.value for row in result)
        ['urn:Animal', 'urn:Cat']
        >>> reasoner.load(b"@prefix : <urn:> . :kit a :Cat .", format="turtle")
        >>> result = reasoner.query("ASK { <urn:kit> a <urn:Animal> }", on_demand=True)
        >>> bool(result), result.by_magic
        (True, True)

        Raises:
            QuerySyntaxError: The text is not a SPARQL query.
            UnsupportedError: The query has an invalid regular expression.
            NotAllowedError: The query has a SERVICE.
            LoadError: A value of a variable is not a term, or the prefixes are not a mapping of texts.
            LimitError, CancelledError: The query exceeds a limit, or another thread cancelled it.
        """
        from kg_reasoner.api.answering.queries import query

        return query(self.core, text, bindings, prefixes, base, on_demand=on_demand, limits=limits)

    def plan(
        self,
        text: str,
        bindings: Mapping[str, Any] | None = None,
        prefixes: Mapping[str, str] | None = None,
        base: str | None = None,
        *,
        run: bool = False,
    ) -> api.QueryPlan:
        """Return how a SPARQL query is evaluated: ``print(reasoner.plan(text))``.

        Args:
            text: The query.
            bindings: Values of variables, by name, as for `query`.
            prefixes: Namespaces for the prefixes that the text does not declare, as for `query`.
            base: The IRI against which relative IRIs are resolved.
            run: Whether to evaluate the query, so that the plan has the numbers of solutions and the times beside the estimates.

        Returns:
            The plan.

        >>> reasoner = Reasoner("")
        >>> reasoner.load(b"<urn:a> <urn:p> <urn:b> .")
        >>> print(reasoner.plan("SELECT ?x { ?x <urn:p> ?y FILTER(isIRI(?y)) }"))
        SELECT
          project  ?x  [~0]
            filter  ISIRI(?y)  [~0]
              match  ?x <urn:p> ?y  [~1]
        left to rdflib: nothing

        Raises:
            QuerySyntaxError, UnsupportedError, LoadError: As for `query`.
            NotAllowedError, LimitError, CancelledError: As for `query`, if it is evaluated.
        """
        from kg_reasoner.api.answering.queries import plan

        return plan(self.core, text, bindings, prefixes, base, run=run)

    def facts(self, predicate: str, which: Which = "all", arguments: Sequence[Any] | None = None, **columns: Any) -> api.Facts:
        """Return the facts of a general predicate, or those with some arguments; none if no rule and no fact uses it.

        Facts with given arguments are found by an index, which the first question builds and changes keep up to date.

        Args:
            predicate: The name of the predicate.
            which: ``all``, ``explicit``, or ``inferred`` for those that are not explicit.
            arguments: Terms or, for literals, Python values in the order of the columns; None matches every term.
            columns: Terms or Python values by the declared names of columns: ``facts("edge", to=x)``.

        Returns:
            An iterator of tuples of this package's terms, which also becomes a table: `kg_reasoner.api.fact_tables.Facts`.

        Raises:
            UnknownNameError: The kind of facts, or a column of the declared relation, is unknown.
            ArityError: The predicate has another number of arguments.
            LoadError: An argument is not a term, or text is given in place of several arguments.

        >>> reasoner = Reasoner('''
        ...     input relation edge(from: string, to: string) .
        ...     edge("a", "b") . edge("b", "c") . edge("a", "c") .
        ... ''')
        >>> [source.lexical for source, target in reasoner.facts("edge", to="c")]
        ['b', 'a']
        >>> [target.lexical for source, target in reasoner.facts("edge", arguments=["a", None])]
        ['b', 'c']
        """
        from kg_reasoner.api.fact_tables import facts_of

        return facts_of(self.core, predicate, which, arguments, columns)

    def answers(
        self,
        body: str | BodyLiteral | Sequence[BodyLiteral],
        bindings: Mapping[str, AnyTerm] | None = None,
        *,
        on_demand: bool = False,
        limits: Limits | None = None,
    ) -> api.Answers:
        """Return the answers to a query in the rule language: the values for which a rule with this body would derive its head.

        Unlike `triples`, it hides no trivial triples, and terms may stand where RDF does not allow them.

        With `on_demand`, what is not materialised stays so: only what the query needs is derived, by magic sets over the explicit
        facts, and discarded. The answers are the same. Where magic sets do not apply (equal terms are merged, rules ask for facts
        about literals, or derived axioms may yield further rules), the materialisation is brought up to date instead; where it is
        up to date already, it is read. `Answers.by_magic` tells. Only facts that are derived are checked against the declared types
        of columns, and constraints are not checked.

        Args:
            body: The body of a rule, as text or as its parts. Text may use `prefixes`.
            bindings: Terms for some of its variables, by name without the question mark.
            on_demand: Whether to answer without materialisation.
            limits: The limits of this query, see `limited`; the limit of facts is for those that are derived for the query.

        Returns:
            The different answers.

        >>> reasoner = Reasoner('''
        ...     path(?x, ?y) :- edge(?x, ?y) .
        ...     path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .
        ...     edge("a", "b") . edge("b", "c") . edge("d", "e") .
        ... ''')
        >>> answers = reasoner.answers('path("a", ?y)', on_demand=True)
        >>> answers.variables, sorted(str(y) for y, in answers)
        (('y',), ['"b"', '"c"'])

        Raises:
            RuleSyntaxError, SafetyError, ArityError, UnsupportedError: The query is invalid; the error gives the position.
            ReasonerError: A binding is of no variable of the query.
            LoadError: A binding is not a term.
            LimitError, CancelledError: The query exceeds a limit, or another thread cancelled it.
        """
        from kg_reasoner.api.answers import answer

        return answer(self.core, body, bindings or {}, on_demand=on_demand, limits=limits)

    def predicates(self) -> dict[str, int]:
        """Return the general predicates that facts, rules or declarations use, without those that are private to a module.

        Returns:
            The numbers of arguments, by name.
        """
        with self.core.reading():
            return self.engine.predicates()

    def inconsistencies(self) -> list[Violation]:
        """Return every violation of a constraint, with the values that violate it; `explain` proves each of them.

        Returns:
            The violations; if equal terms are merged, in terms of the representatives only.
        """
        self.core.materialise(is_checked=False)
        with self.engine.changing():
            return list(self.engine.violations())

    def is_consistent(self) -> bool:
        """Return whether all constraints are satisfied.

        Returns:
            Whether there is no violation.
        """
        self.core.materialise(is_checked=False)
        with self.core.reading():
            return self.engine.is_consistent()

    def labels(self, *languages: str, prefixes: Mapping[str, str] | None = None) -> DisplayNames:
        """Return the labels of IRIs, to be given wherever prefixes are taken: to proofs, hierarchies and messages.

        Labels are those of rdfs:label, or else of skos:prefLabel. A label that several IRIs have is left out, because it does not
        tell which of them is meant.

        Args:
            languages: The preferred languages, such as ``"en"``, the best one first. Then come labels without a language, then
                English ones.
            prefixes: The prefixes for IRIs without a label; by default `prefixes`.

        Returns:
            The prefixes with the labels.

        Raises:
            ValueError: A language is not a language tag.

        >>> reasoner = Reasoner()
        >>> _ = reasoner.load(b'<urn:p1> <http://www.w3.org/2000/01/rdf-schema#label> "part of"@en .', format="nt")
        >>> reasoner.labels("en").label("urn:p1")
        "'part of'"
        """
        from kg_reasoner.api.inputs.labels import labelled

        return labelled(self, self.prefixes if prefixes is None else prefixes, languages)

    def hierarchy(self) -> api.Hierarchy:
        """Classify the ontology: return the unsatisfiable classes and properties, and the direct inclusions.

        A class is below another one if a new member of it, of which nothing else is known, becomes a member of the other one.
        Classes that have been classified before are compared with the changed axioms only. See the guide for ontologists.

        Returns:
            The hierarchy of classes and properties; the same object while the explicit triples are the same.

        Raises:
            LimitError, CancelledError: An operation exceeds a limit, or another thread cancelled it.

        >>> reasoner = Reasoner(ruleset="owl2rl")
        >>> reasoner.load(b'''
        ...     @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ...     @prefix owl: <http://www.w3.org/2002/07/owl#> .
        ...     :Cat rdfs:subClassOf :Mammal . :Mammal rdfs:subClassOf :Animal . :Animal owl:disjointWith :Plant .
        ...     :Triffid rdfs:subClassOf :Animal, :Plant . ''', format="turtle")
        >>> print(reasoner.hierarchy().text({"": "http://example.org/"}))
        unsatisfiable:
          :Triffid
        classes:
          :Animal
            :Mammal
              :Cat
          :Plant
        """
        return self._hierarchies.current()

    @cached_property
    def _hierarchies(self) -> Hierarchies:
        from kg_reasoner.api.answering.classifying import Hierarchies

        return Hierarchies(self, partial(Reasoner, datatypes=self.datatypes, limits=self.limits))

    def owl_profiles(self, prefixes: Mapping[str, str] | None = None) -> api.Profiles:
        """Check which of the profiles OWL 2 EL, QL, RL and DL the explicit triples are in, by the W3C's grammars.

        Args:
            prefixes: Prefixes that shorten names; by default `prefixes`.

        Returns:
            The profiles, with the axioms that leave each.

        Raises:
            LoadError: The prefixes are not a mapping of texts.
            LimitError, CancelledError: An operation exceeds a limit, or another thread cancelled it.

        >>> reasoner = Reasoner()
        >>> reasoner.load(b'''
        ...     @prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        ...     :Cat a owl:Class . :owner a owl:ObjectProperty, owl:FunctionalProperty . ''', format="turtle")
        >>> print(reasoner.owl_profiles({"": "http://example.org/"}))
        OWL 2 EL: no
          FunctionalObjectProperty(:owner): OWL 2 EL has no FunctionalProperty of objects
        OWL 2 QL: no
          FunctionalObjectProperty(:owner): OWL 2 QL has no FunctionalProperty of objects
        OWL 2 RL: yes
        OWL 2 DL: yes
        """
        from kg_reasoner.api.answering.profile_checks import profiles_of

        return profiles_of(self.core, prefixes)

    def sizes(self) -> api.Sizes:
        """Count the stored facts and the terms, and the bytes that they occupy.

        Returns:
            The counts.
        """
        with self.core.reading():
            from kg_reasoner.api.sizes import sizes_of

            return sizes_of(self.engine, self.dictionary)

    # --- explanations -----------------------------------------------------------------------------------------------

    @cached_property
    def _explanations(self) -> Explanations:
        from kg_reasoner.api.answering.explaining import Explanations

        return Explanations(self.core, partial(Reasoner, datatypes=self.datatypes))

    def explain(
        self, fact: AnyTriple | Atom | Violation, effort: int | None = 100_000, *, prefixes: Mapping[str, str] | None = None
    ) -> api.Proof:
        """Find the shortest proof of a fact (a triple, an atom of constants) or of a violation.

        Args:
            fact: What to prove, in terms of this package, of rdflib or of pyoxigraph.
            effort: The number of rule instances to examine before a proof that may not be the shortest suffices; None: no limit.
            prefixes: Prefixes of names in the proof and in messages, besides `prefixes`.

        Returns:
            The proof.

        >>> from kg_reasoner.terms import literal
        >>> reasoner = Reasoner('path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . edge("a", "b") . edge("b", "c") .')
        >>> print(reasoner.explain(Atom("path", (literal("a"), literal("c")))).text())
        path("a", "c")   (by path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .)
        ├── edge("a", "b")   (stated by the program)
        └── edge("b", "c")   (stated by the program)

        Raises:
            NoProofError: The fact does not hold: `why_not` returns what is missing. Or it has no proof, as a value that supports
                only itself in a recursion through MIN or MAX.
            ReasonerError: The argument is not a fact.
            LimitError, CancelledError: The search exceeds a limit, see `limited`, or another thread cancelled it.
        """
        return self._explanations.explain(fact, effort, prefixes)

    def all_proofs(self, fact: AnyTriple | Atom | Violation, *, prefixes: Mapping[str, str] | None = None) -> Iterator[api.Proof]:
        """Yield the well-founded proofs of a fact one by one, the shortest first and higher ones later.

        Explicit facts and facts of the program are not proved by rules as well, except for the fact itself. Reading on after a
        change of facts or rules is an error.

        Args:
            fact: As for `explain`.
            prefixes: As for `explain`.

        Returns:
            An iterator of proofs.

        Raises:
            NoProofError: The fact does not hold.
            ReasonerError: The argument is not a fact.
        """
        return self._explanations.all_proofs(fact, prefixes)

    def axioms_of(self, proof: api.Proof, prefixes: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return the axioms that a proof uses, whole and in functional syntax: why something holds, without the steps.

        Args:
            proof: A proof of a fact, an inconsistency or an inclusion of the hierarchy.
            prefixes: The prefixes to use; by default `prefixes`.

        Returns:
            The axioms, in the order of the proof.

        >>> reasoner = Reasoner(ruleset="owl2el")
        >>> reasoner.load(b'''
        ...     Prefix(:=<http://example.org/>) Ontology(SubClassOf(:Leaflet ObjectSomeValuesFrom(:partOf :Valve))
        ...     EquivalentClasses(:PartOfValve ObjectSomeValuesFrom(:partOf :Valve)))''', format="functional")
        >>> from kg_reasoner.terms import IRI
        >>> leaflet, part = IRI("http://example.org/Leaflet"), IRI("http://example.org/PartOfValve")
        >>> proof = reasoner.hierarchy().explain(leaflet, part)
        >>> print("\\n".join(reasoner.axioms_of(proof, {"": "http://example.org/"})))
        SubClassOf(:Leaflet ObjectSomeValuesFrom(:partOf :Valve))
        EquivalentClasses(:PartOfValve ObjectSomeValuesFrom(:partOf :Valve))
        """
        from kg_reasoner.api.answering.proof_axioms import axioms_of

        return axioms_of(self, proof, self.prefixes if prefixes is None else prefixes)

    def why_not(self, fact: AnyTriple | Atom, *, prefixes: Mapping[str, str] | None = None) -> api.WhyNot:
        """Explain why a fact does not hold: for each rule that could derive it, find the part of the body that fails.

        Args:
            fact: A triple or an atom of constants, in terms of this package, of rdflib or of pyoxigraph.
            prefixes: As for `explain`.

        Returns:
            What is missing, rule by rule.

        Raises:
            ReasonerError: The fact holds, or the argument is not a fact.
        """
        return self._explanations.why_not(fact, prefixes)


def _is_table(rows: object) -> bool:
    """Return whether rows are given as a table. Most are in a list, about which nothing needs to be imported."""
    if isinstance(rows, list | tuple):
        return False
    from kg_reasoner.tables.table_sources import is_table

    return is_table(rows)
