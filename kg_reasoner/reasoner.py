"""The reasoner: explicit facts and rules go in, the materialisation comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kg_reasoner import analysis
from kg_reasoner.catalog import Catalog, StoredRule, StoredTerm, needs_ternary, violation_variables
from kg_reasoner.dictionary import Dictionary
from kg_reasoner.errors import ArityError, LoadError
from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import EXPLICIT, STATED
from kg_reasoner.kernels.memory import address, allocate
from kg_reasoner.literals import LITERAL_PREDICATES, literal_facts
from kg_reasoner.maintenance import Fact, Maintenance
from kg_reasoner.maintenance.backward_forward import BackwardForward
from kg_reasoner.materialise import Materialiser, PlannedRule, Progress
from kg_reasoner.program import TRIPLE, Atom, Negation, Origin, Program, Rule
from kg_reasoner.query import Queries, match_triples
from kg_reasoner.relation import Database
from kg_reasoner.schema import SchemaTriples
from kg_reasoner.supply import supplied_rules
from kg_reasoner.terms import RDF, Term, Triple
from kg_reasoner.value_table import ValueTable

if TYPE_CHECKING:
    from kg_reasoner.explain import Explainer, Proof, WhyNot
    from kg_reasoner.loaders.owl import AxiomWarning

Which = Literal["all", "explicit", "inferred"]
TripleIds = npt.NDArray[np.int32]
NO_TRIPLES: TripleIds = np.empty((0, 3), np.int32)


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold: the rule, where it comes from, and the values of its variables."""

    rule: Rule
    terms: dict[str, Term]

    @property
    def origin(self) -> Origin:
        return self.rule.origin


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
        UnknownNameError: there is no such rule set.
    """

    def __init__(self, program: Program | str | None = None, *, ruleset: str | None = None) -> None:
        self.dictionary = Dictionary()
        self.warnings: list[AxiomWarning] = []
        self._program = Program()
        self._axiom_rules: tuple[Rule, ...] = ()
        self._all_rules: tuple[Rule, ...] | None = None
        self._concludes_axioms = False
        self._equates = False
        self._vocabulary: frozenset[Term] = frozenset()
        self._schema = SchemaTriples(self.dictionary)
        self._schema_changed = False
        self._rules_changed = True
        self._must_restart = False
        self._dirty = True
        self._version = 0
        self._set_up(ternary=False)
        if ruleset is not None:
            from kg_reasoner import rulesets

            self.add_program(rulesets.load(ruleset).program)
        if program is not None:
            self.add_program(program)

    def _set_up(self, ternary: bool) -> None:
        self.database = Database()
        self.catalog = Catalog(self.dictionary, self.database, ternary=ternary)
        self.queries = Queries(self.catalog)
        self._materialiser = Materialiser(self.database, ValueTable(self.dictionary, self.database.context))
        self._planned: dict[StoredRule, PlannedRule] = {}
        self._plans_of: dict[Rule, list[PlannedRule]] = {}
        self._removed: list[Fact] = []
        self._gone: list[PlannedRule] = []
        self._maintenance: Maintenance = BackwardForward(self._materialiser)
        self._strata: dict[Rule, int] = {}
        self._stated: dict[Rule, None] = {}
        self._supplied: list[bool] | None = None
        self._negates = False
        self._asks_of_literals: bool | None = None
        self._literals_fed = 0
        self._explainer: Explainer | None = None

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
            self._all_rules = tuple(dict.fromkeys(self._program.rules + self._axiom_rules))
            self._concludes_axioms = self._derives_axioms(self._all_rules)
        return self._all_rules

    def add_program(self, program: Program | str) -> None:
        """Add rules, declarations and facts. If something is wrong with the result, nothing changes."""
        if isinstance(program, str):
            from kg_reasoner.parser import parse

            program = parse(program)
        merged = self._program | program
        analysis.check(Program(tuple(dict.fromkeys(merged.rules + self._axiom_rules)), merged.declarations))
        for predicate, arity in analysis.arities(program).items():
            stored = self.catalog.predicates.get(predicate)
            if stored is not None and (there := self.database.relations[stored].arity) != arity:
                raise ArityError(f"{predicate} has {there} arguments in the facts there are, and {arity} here")
        self._program = merged
        self._schema_changed = self._schema_changed or merged.translate is not None
        self._touch(rules=True)
        if not any(self._supply()) and needs_ternary(merged.rules) != self.catalog.ternary:
            self._set_up(not self.catalog.ternary)  # the layout is chosen before the first facts come

    def remove_rules(self, rules: Iterable[Rule]) -> None:
        """Remove rules from the program; those that are not there are left alone."""
        gone = set(rules)
        kept = tuple(rule for rule in self._program.rules if rule not in gone)
        if len(kept) < len(self._program.rules):
            self._program = Program(kept, self._program.declarations, self._program.prefixes, self._program.translate)
            self._touch(rules=True)

    def _touch(self, *, rules: bool = False) -> None:
        self._dirty = True
        if rules:
            self._rules_changed = True
            self._all_rules = None
        self._version += 1

    # --- facts ------------------------------------------------------------------------------------------------------

    def load(self, *sources: Any, format: str | None = None, base: str | None = None, progress: Progress | None = None) -> None:
        """Add the triples of RDF documents, folders or graphs as explicit triples (see `kg_reasoner.loaders.rdf.read`).

        All sources are read before the first triple is added, so that a bad one leaves everything as it was.
        """
        from kg_reasoner.loaders import rdf

        blocks = [
            block.triples for block in rdf.read(*sources, dictionary=self.dictionary, format=format, base=base, progress=progress)
        ]
        for block in blocks:
            self.add_triples(block)

    def add_triples(self, triples: Iterable[Triple] | TripleIds) -> None:
        """Add explicit triples: as terms (ours, or those of rdflib or pyoxigraph), or as ids of shape (n, 3).

        Raises:
            LoadError: a term is invalid, or stands where RDF does not allow it; nothing is added then.
        """
        ids = self._triple_ids(triples)
        if len(ids) == 0:
            return
        self._schema_changed = self._schema_changed or self._touches_schema(ids)
        if self.catalog.ternary:
            self.database.load(self.catalog.predicates[TRIPLE], ids)
        else:
            self._load_vertical(ids)
        self._touch()

    def remove_triples(self, triples: Iterable[Triple] | TripleIds) -> None:
        """Remove explicit triples; what is not explicit is left alone."""
        ids = self._triple_ids(triples, new_terms=False)
        self._schema_changed = self._schema_changed or self._touches_schema(ids)
        self._retract(self.catalog.stored_triple(*triple) for triple in ids.tolist())

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
        self.database.load(self.catalog.predicate(predicate, arity), ids)
        self._touch()

    def _arities(self) -> dict[str, int]:
        """The numbers of arguments of all predicates that facts, rules or declarations use."""
        stored = {name: self.database.relations[number].arity for name, number in self.catalog.predicates.items()}
        return analysis.arities(self._program) | stored

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[Term]]) -> None:
        """Remove explicit facts of a general predicate; what is not explicit is left alone."""
        relation = self.catalog.predicates.get(predicate, -1)
        self._retract((relation, tuple(self.dictionary.find(term) for term in row)) for row in rows)

    def _retract(self, facts: Iterable[tuple[int, tuple[int, ...]]]) -> None:
        for relation, values in facts:
            self._unflag(relation, values, EXPLICIT)

    def _unflag(self, relation: int, values: Sequence[int], flag: int) -> None:
        """Take a flag from the row of a tuple, if it has it; what follows from the row is then in doubt."""
        row = self._row(relation, values)
        if row >= 0:
            flags = self.database.relations[relation].flags
            if flags[row] & flag:
                flags[row] &= ~flag
                self._removed.append((relation, row))
                self._touch()

    def _row(self, relation: int, values: Sequence[int]) -> int:
        """The living row of a tuple of ids, or -1."""
        if relation < 0 or any(value < 0 for value in values) or len(values) != self.database.relations[relation].arity:
            return -1
        data = allocate(len(values), np.int32)
        data[: len(values)] = values
        return native.find_row(self.database.address, relation, address(data))

    def _triple_ids(self, triples: Iterable[Triple] | TripleIds, new_terms: bool = True) -> TripleIds:
        if isinstance(triples, np.ndarray):
            return np.ascontiguousarray(triples, np.int32).reshape(-1, 3)
        from kg_reasoner.loaders.convert import text_from_term

        texts = [text_from_term(term) for subject, property, value in triples for term in (subject, property, value)]
        if not new_terms:
            found = np.array([self.dictionary.find_text(text) for text in texts], np.int32).reshape(-1, 3)
            return found[(found >= 0).all(axis=1)]
        for subject, property in zip(texts[::3], texts[1::3], strict=True):
            if subject.startswith('"') or not property.startswith("<"):
                what = "the subject is a literal" if subject.startswith('"') else "the predicate is no IRI"
                raise LoadError(f"no RDF triple: {what} in {subject} {property} ...")
        return self.dictionary.encode_texts(texts).reshape(-1, 3)

    def _load_vertical(self, ids: TripleIds) -> None:
        """Load triples in the vertical layout: relations first, then all at once."""
        catalog = self.catalog
        catalog.extend_maps()
        typed = ids[:, 1] == catalog.type_id
        for column, make, part in ((1, catalog.property, ids[~typed]), (2, catalog.cls, ids[typed])):
            terms, counts = np.unique(part[:, column], return_counts=True)
            for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                relation = make(term)
                if count > 64:
                    self.database.reserve(relation, count)
        data = allocate(ids.size, np.int32)
        data[:] = ids.reshape(-1)
        done = 0
        while done < len(ids):
            done = native.load_triples(self.database.address, address(data), done, len(ids))
            if done < len(ids):
                self.database.grow()

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None) -> None:
        """Bring the derived facts up to date. Reading does this on its own; call it for progress, or to choose the time.

        The kernels are asked for here, so that the first call of all compiles them.
        """
        if not self._dirty:
            return
        if self._removed and (self._concludes_axioms or self._equates):
            self._schema_changed = True  # begin with the explicit axioms: an inferred one must not be its own reason
        while True:
            self._translate_schema()
            new_rules = self._prepare_rules()
            if self._must_restart:
                self._restart()
            elif self._removed or self._gone:
                self._must_restart = True  # until the deletion is through: it may be interrupted
                self._maintenance.delete(self._removed, self._gone)
                self._must_restart = False
            self._removed, self._gone = [], []
            self._materialiser.run([] if self._materialiser.is_fresh else new_rules, progress)
            if not self._new_axioms():
                break
        self._materialiser.compact()
        self._dirty = False

    def _prepare_rules(self) -> list[PlannedRule]:
        """Choose the layout of triples and plan rules. Returns the plans of rules that are new: older ones, planned only now, could
        not fire before, and will see all the facts that they need as new rows."""
        rules = self.rules
        new_rules: set[Rule] = set()
        if self._rules_changed:
            new_rules = set(rules) - self._strata.keys()
            ternary = needs_ternary(rules)
            strata = analysis.stratify(rules)
            levels = {rule: level for level, stratum in enumerate(strata) for rule in stratum}
            gone = self._strata.keys() - levels.keys()
            moved = any(self._strata[rule] != levels[rule] for rule in self._strata.keys() & levels.keys())
            if ternary != self.catalog.ternary or moved or (gone and self._negates):
                self._rebuild(ternary)
            else:
                self._drop(gone)
            self._strata = levels
            self._rules_changed = False
            self._asks_of_literals = None
            self._negates = any(
                isinstance(part, Negation) and part.atom.predicate not in LITERAL_PREDICATES for rule in rules for part in rule.body
            )
            self._supplied = None
            self._state_facts(rules)
        self._feed_literals(rules)
        if self._negates:
            self._must_restart = True  # what was derived may rest on facts that were not there
        late: list[PlannedRule] = []
        dropped = {planned.rule for planned in self._gone}  # another rule may have the same copies
        while (supply := self._supply()) != self._supplied:  # plans may bring new properties, which expand further rules
            self._supplied = supply
            for rule in supplied_rules([rule for rule in rules if rule.body], self.catalog.has_facts):
                new = [stored for stored in self.catalog.rules(rule) if stored not in self._planned]
                for planned in self._materialiser.add_rules(self._strata[rule], new):
                    self._planned[planned.rule] = planned
                    self._plans_of.setdefault(rule, []).append(planned)
                    if rule in new_rules or planned.rule in dropped:
                        late.append(planned)
        return late

    def _drop(self, rules: Iterable[Rule]) -> None:
        """Take the plans of rules that are gone out of use; what they have derived is in doubt."""
        for rule in rules:
            for planned in self._plans_of.pop(rule, ()):
                del self._planned[planned.rule]
                self._gone.append(planned)

    def _supply(self) -> list[bool]:
        """Which relations have facts: while this stays the same, no further rule can fire."""
        return self.database.filled()

    def _state_facts(self, rules: Iterable[Rule]) -> None:
        """Rules without a body are facts of the program: flag the new ones, and take the flag from those that are gone."""
        facts = dict.fromkeys(rule for rule in rules if not rule.body and not rule.is_constraint)
        for rule in self._stated.keys() - facts.keys():
            atom = self.catalog.atom(rule.head)
            self._unflag(atom.relation, [term for term in atom.terms if isinstance(term, int)], STATED)
        by_relation: dict[int, list[tuple[StoredTerm, ...]]] = {}
        for rule in facts:
            if rule in self._stated:
                continue
            atom = self.catalog.atom(rule.head)
            by_relation.setdefault(atom.relation, []).append(atom.terms)
        for relation, rows in by_relation.items():
            self.database.load(relation, np.array(rows, np.int32).reshape(len(rows), -1), STATED)
        self._stated = facts

    def _rebuild(self, ternary: bool) -> None:
        """Start over with the explicit facts, in the chosen layout and without plans."""
        old, relations = self.database, dict(self.catalog.predicates)
        triples = self.triple_ids_now("explicit")
        self._set_up(ternary)
        self.add_triples(triples)
        for name, relation in relations.items():
            if name != TRIPLE and name not in LITERAL_PREDICATES:
                rows = old.rows(relation, "explicit")
                self.database.load(self.catalog.predicate(name, rows.shape[1]), rows)
        self._must_restart = False

    def _restart(self) -> None:
        """Keep only explicit facts, and process them anew, without the rules that are gone."""
        self._materialiser.remove_rules(self._gone)
        for relation in range(len(self.database.relations)):
            self.database.keep_explicit(relation)
        self._materialiser.restart()
        self._must_restart = False

    def _feed_literals(self, rules: Iterable[Rule]) -> None:
        """Facts about the literals of the dictionary, for rules that ask for them."""
        if self._asks_of_literals is None:
            atoms = (part.atom if isinstance(part, Negation) else part for rule in rules for part in rule.body)
            self._asks_of_literals = any(isinstance(atom, Atom) and atom.predicate in LITERAL_PREDICATES for atom in atoms)
        if self._asks_of_literals and self._literals_fed < len(self.dictionary):
            count = len(self.dictionary)
            for name, rows in literal_facts(self.dictionary, self._literals_fed).items():
                if rows:
                    self.database.load(self.catalog.predicate(name, LITERAL_PREDICATES[name]), np.array(rows, np.int32), STATED)
            self._literals_fed = count

    # --- schema -----------------------------------------------------------------------------------------------------

    def _touches_schema(self, ids: TripleIds) -> bool:
        """Whether some of these triples may be part of an ontology's axioms."""
        return self._program.translate is not None and bool(self._schema.of(ids).any())

    def _translate_schema(self) -> None:
        """Turn the explicit schema triples into rules, if they have changed and the program asks for it."""
        if self._schema_changed and self._program.translate is not None:
            self._schema_changed = False
            self._use_axioms("explicit", "explicit")

    def _use_axioms(self, which: Which, equalities: Which) -> None:
        from kg_reasoner.loaders import owl

        while True:
            ids = self._schema.triples(self.catalog, which, equalities)
            names = set(map(self.dictionary.decode, self._schema.names_in_data(self.catalog)))
            translation = owl.translate((self._decoded(row) for row in ids.tolist()), names=names)
            self._vocabulary = translation.vocabulary
            if not (self._schema.name(self._vocabulary | names) and len(self._schema.equalities(self.catalog, equalities))):
                break
        self.warnings = list(translation.warnings)
        if translation.rules != self._axiom_rules:
            self._axiom_rules = translation.rules
            self._touch(rules=True)

    def _new_axioms(self) -> bool:
        """Whether derived schema triples make further rules: equal classes, or axioms that the program's own rules conclude."""
        if self._program.translate is None:
            return False
        in_data = self._schema.names_in_data(self.catalog)
        if in_data:
            self._schema.name(self._vocabulary.union(map(self.dictionary.decode, in_data)))
        equates, self._equates = self._equates, len(self._schema.equalities(self.catalog, "inferred")) > 0
        if not (self._concludes_axioms or equates or self._equates):
            return False
        before = self._axiom_rules
        self._use_axioms("all" if self._concludes_axioms else "explicit", "all")
        return self._axiom_rules != before

    def _derives_axioms(self, rules: Sequence[Rule]) -> bool:
        """Whether some rule other than the schema rules (scm-*), whose axioms are redundant, can conclude an axiom."""
        from kg_reasoner.loaders import owl

        for rule in rules:
            if (rule.origin.name or "").startswith("scm-") or rule.head.predicate != TRIPLE or not rule.body:
                continue
            _, property, value = rule.head.terms
            if property in owl.SCHEMA_PREDICATES or (property == RDF.type and value in owl.SCHEMA_CLASSES):
                return True
        return False

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that changes whenever facts or rules do."""
        return self._version

    def triple_ids(self, which: Which = "all") -> TripleIds:
        """Triples as ids, shape (n, 3): all, the explicit, or those that are only inferred.

        Facts that are no RDF triples (a literal as the subject, a property that is no IRI) stay inside.
        """
        self.materialise()
        ids = self.triple_ids_now(which)
        first = self.dictionary.first_bytes()
        return ids[(first[ids[:, 0]] != ord('"')) & (first[ids[:, 1]] == ord("<"))]

    def triple_ids_now(self, which: Which = "all") -> TripleIds:
        """All stored triples as they are now, without bringing the materialisation up to date."""
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
        """The triples that match a pattern (None matches every term)."""
        self.materialise()
        pattern = [None if term is None else self.dictionary.find(term) for term in (subject, predicate, object)]
        if -1 not in pattern:
            for row in self.dictionary.decode_rows(match_triples(self, pattern, which)):
                yield row[0], row[1], row[2]

    def facts(self, predicate: str, which: Which = "all") -> Iterator[tuple[Term, ...]]:
        """The facts of a general predicate."""
        self.materialise()
        relation = self.catalog.predicates.get(predicate)
        if relation is not None:
            yield from self.dictionary.decode_rows(self.database.rows(relation, which))

    def predicates(self) -> dict[str, int]:
        """The general predicates that are known, with their numbers of arguments."""
        self.materialise()
        return {name: self.database.relations[number].arity for name, number in self.catalog.predicates.items() if name != TRIPLE}

    def inconsistencies(self) -> list[Violation]:
        """Every violated constraint, with the values that violate it."""
        self.materialise()
        found = []
        for rule, relation in self.catalog.constraints.items():
            names = [variable.name for variable in violation_variables(rule)]
            for row in self.database.rows(relation).tolist():
                found.append(Violation(rule, dict(zip(names, map(self.dictionary.decode, row), strict=True))))
        return found

    def sizes(self) -> Sizes:
        """How many facts there are, and how much memory they take."""
        self.materialise()
        explicit = inferred = 0
        for number in range(len(self.database.relations)):
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
        return self._explaining().explain(fact, effort)

    def all_proofs(self, fact: Triple | Atom | Violation) -> Iterator[Proof]:
        """The well-founded proofs of a fact, one by one, the shortest first and higher ones later; errors as for `explain`.

        What is explicit or stated is not proved by rules as well, except for the fact itself. After a change to facts or rules,
        reading on is an error.
        """
        return self._explaining().all_proofs(fact, lambda: self._version)

    def why_not(self, fact: Triple | Atom) -> WhyNot:
        """What is missing for a fact that is not there: for each rule that could derive it, the part of the body that fails.

        Raises:
            ReasonerError: the fact is there, or that is no fact at all.
        """
        return self._explaining().why_not(fact)

    def _explaining(self) -> Explainer:
        from kg_reasoner.explain import Derivations, Explainer

        self.materialise()
        if self._explainer is None:
            derivations = Derivations(self.catalog, self._materialiser.values, self.queries.statistics)
            self._explainer = Explainer(derivations)
        if self._explainer.version != self._version:
            self._explainer.use(self._version, self.rules, dict(self._program.prefixes))
        return self._explainer

    def _decoded(self, row: Sequence[int]) -> Triple:
        subject, predicate, object = (self.dictionary.decode(number) for number in row)
        return subject, predicate, object
