"""A session of the shell: executes statements on a reasoner, and prints their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from kg_reasoner.api.operations.notices import probable_mistakes
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import NoProofError, ReasonerError, UnknownNameError, suggest
from kg_reasoner.language.parser import PREFIXES, parse
from kg_reasoner.program import FALSE, TRIPLE, Atom, Program, Rule, is_hidden
from kg_reasoner.shell.commands import Reader, typed
from kg_reasoner.shell.mistakes import semicolon_error
from kg_reasoner.shell.records import format_value, sorted_records
from kg_reasoner.shell.text_parts import UPDATES, Statement
from kg_reasoner.shell.updates import ShellUpdate, apply_updates, read_update
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.api.cost_profiles import Profile
    from kg_reasoner.api.transaction import Transaction
    from kg_reasoner.query.delta import Delta

__all__ = ["HELP", "Ended", "Session"]

_DIGITS: Final = 12
"""The most digits of a time to sleep, in milliseconds: 30 years, which every system can wait."""

HELP: Final = """\
start;                                  begin a transaction
commit;   commit dump_changes;          end it, and show what has changed
rollback;                               undo it
insert edge("a", "b"), delete edge("a", "c");        change facts; arguments by name: edge(.from = "a", .to = "b")
insert_or_update box(1, "x");           put a fact in place of the one with its primary key
delete_key box 1;                       remove the fact with a primary key
modify box 1 <- box{.place = "y"};      change some of its columns
clear edge;                             remove all explicit facts of a relation
dump;   dump path;                      show all outputs, or a relation
query_index path_by_to("b");   dump_index path_by_to;    show what an index finds, or all of it
?- path("a", ?x), NOT edge("a", ?x).    ask in the rule language
SELECT ?x { ?x a ?c };                  ask in SPARQL
path(?x, ?y) :- edge(?x, ?y).           add rules, facts and declarations
remove path(?x, ?y) :- edge(?x, ?y).    remove a rule
explain path("a", "b");   why_not path("b", "a");    show a proof, or what is missing
profile cpu on;   profile;   profile cpu off;        record what updates cost, and show it
echo text;   timestamp;   mssleep 100;   exit;
"""


class Ended(Exception):
    """The session was ended by a command."""


class Session:
    """Executes statements.

    Args:
        reasoner: The reasoner.
        out: Where results are printed.
        warn: Is told of probable mistakes in rules.
    """

    def __init__(self, reasoner: Reasoner, out: TextIO, warn: Callable[[str], None] | None = None) -> None:
        self.reasoner = reasoner
        self._out, self._warn = out, warn
        self._transaction: Transaction | None = None
        self._updates: list[ShellUpdate] = []
        self._profile: Profile | None = None
        self._began = time.monotonic_ns()
        self._commands: dict[str, Callable[[Reader], None]] = {
            "start": self._start,
            "commit": self._commit,
            "rollback": self._rollback,
            "dump": self._dump,
            "clear": self._clear,
            "query_index": self._query_index,
            "dump_index": self._dump_index,
            "echo": lambda reader: self._print(reader.remaining().lstrip()),
            "profile": self._profiling,
            "timestamp": lambda _: self._print(f"Timestamp: {time.monotonic_ns() - self._began}"),
            "mssleep": self._sleep,
            "log_level": lambda _: None,
            "exit": self._exit,
            "help": lambda _: self._print(HELP.rstrip("\n")),
            "explain": self._explain,
            "why_not": self._why_not,
        }

    @property
    def has_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._transaction is not None and self._transaction.is_open

    @property
    def is_waiting(self) -> bool:
        """Whether updates wait for others, because they ended with a comma."""
        return bool(self._updates)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of the program and of documents, and those that need no declaration."""
        return {**PREFIXES, **self.reasoner.prefixes}

    def execute(self, statement: Statement) -> None:
        """Execute a statement. Updates that end with a comma wait for the one that ends with a semicolon.

        Raises:
            ReasonerError: It is wrong; nothing has changed. Updates that have waited are dropped.
            Ended: The session is over.
        """
        try:
            if statement.word in UPDATES and statement.kind == "command":
                self._updates.append(
                    read_update(self.reasoner, self._reader(statement), statement.word, self.relations, self.prefixes)
                )
                if statement.mark == ";":
                    self._apply()
                return
            if statement.kind != "wrong":
                self._apply()
            if statement.kind == "command":
                self._command(statement)
            elif statement.kind == "sparql":
                self._sparql(statement)
            elif statement.kind == "query":
                self._query(statement)
            elif statement.kind == "wrong":
                self._refuse(statement)
            else:
                self._change_rules(statement)
        except BaseException:
            self._updates = []
            raise

    def drop_updates(self) -> None:
        """Forget updates that wait for others."""
        self._updates = []

    def close(self) -> bool:
        """End the session: apply updates that wait, and undo an open transaction. Return whether there was one."""
        self._apply()
        if not self.has_transaction:
            return False
        assert self._transaction is not None
        self._transaction.rollback()
        return True

    def relations(self) -> dict[str, Sequence[str]]:
        """Return the names of all relations with those of their columns, as far as they have names."""
        written = (name for name in self.reasoner.engine.arities() if not is_hidden(name))
        known: dict[str, Sequence[str]] = dict.fromkeys(written, ())
        known |= {
            declared.predicate: [column.name for column in declared.columns] for declared in self.reasoner.program.declarations
        }
        return known

    def _reader(self, statement: Statement) -> Reader:
        program = self.reasoner.program
        constructors = {
            variant.name: [column.name for column in variant.fields] for type_ in program.types for variant in type_.variants
        }
        return Reader(statement, self.prefixes, constructors)

    def _apply(self) -> None:
        """Apply the updates that have been read: all of them or, after an error, none."""
        updates, self._updates = self._updates, []
        if updates:
            apply_updates(self.reasoner, updates, within=self.has_transaction)

    # ---- commands

    def _command(self, statement: Statement) -> None:
        reader = self._reader(statement)
        self._commands[statement.word](reader)

    def _start(self, reader: Reader) -> None:
        reader.expect_end()
        if self.has_transaction:
            raise ReasonerError("a transaction is open: end it first, by commit; or rollback;")
        self._transaction = self.reasoner.transaction()  # known before it begins, should an interrupt come in between
        self._transaction.begin()

    def _commit(self, reader: Reader) -> None:
        option = reader.option()
        if option not in (None, "dump_changes"):
            raise reader.wrong(f"unknown option {option}{suggest(str(option), ['dump_changes'])}")
        delta = self._open().commit()
        if option is not None and delta is not None:
            self._dump_changes(delta)

    def _rollback(self, reader: Reader) -> None:
        reader.expect_end()
        self._open().rollback()

    def _open(self) -> Transaction:
        if self._transaction is None or not self._transaction.is_open:
            raise ReasonerError("no transaction is open: begin one by start;")
        return self._transaction

    def _dump(self, reader: Reader) -> None:
        if reader.is_at_end:
            for name in sorted(self._outputs()):
                self._print(f"{name}:")
                self._print_facts(name, self.reasoner.facts(name))
                self._print("")
            return
        name = reader.name("the name of a relation")
        self._expect_relation(name)
        self._print_facts(name, self.reasoner.facts(name))

    def _dump_changes(self, delta: Delta) -> None:
        for name in sorted(self._outputs()):
            rows = [(row, ": +1") for row in delta.added.facts(name)]
            rows += [(row, ": -1") for row in delta.removed.facts(name)]
            if rows:
                self._print(f"{name}:")
                self._print_rows(name, rows)

    def _outputs(self) -> list[str]:
        """Return the relations to show: those declared as output or, without any, those that rules derive."""
        program = self.reasoner.program
        declared = [found.predicate for found in program.declarations if found.role == "output"]
        heads = (rule.head.predicate for rule in program.rules if rule.body)
        return declared or list(dict.fromkeys(name for name in heads if name not in (TRIPLE, FALSE)))

    def _clear(self, reader: Reader) -> None:
        name = reader.name("the name of a relation")
        self._expect_relation(name)
        self.reasoner.remove_facts(name, list(self.reasoner.facts(name, "explicit")))

    def _query_index(self, reader: Reader) -> None:
        name = reader.name("the name of an index")
        values = reader.arguments().ordered
        index = next((index for index in self.reasoner.program.indexes if index.name == name), None)
        if index is not None and (declared := self.reasoner.core.declared(index.predicate)) is not None:
            types = {column.name: column.type for column in declared.columns}
            names = [*index.columns, *("" for _ in values)]
            values = [typed(value, types.get(column, "any"), self.prefixes) for value, column in zip(values, names, strict=False)]
        found = self.reasoner.query_index(name, *values)
        self._print_facts(index.predicate if index is not None else name, found)

    def _dump_index(self, reader: Reader) -> None:
        name = reader.name("the name of an index")
        indexes = {index.name: index.predicate for index in self.reasoner.program.indexes}
        if name not in indexes:
            raise UnknownNameError("index", name, indexes)
        self._print_facts(indexes[name], self.reasoner.facts(indexes[name]))

    def _profiling(self, reader: Reader) -> None:
        if reader.is_at_end:
            if self._profile is None:
                raise ReasonerError("no profile is recorded: begin one by profile cpu on;")
            self._print(self._profile.to_text(prefixes=self.prefixes).rstrip("\n"))
            return
        what, switch = reader.option(), reader.option()
        if what not in ("cpu", "change", "timely") or switch not in ("on", "off"):
            raise reader.wrong("write profile cpu on; profile; or profile cpu off;")
        if switch == "on" and self._profile is None:
            self._profile = self.reasoner.profile()
        elif switch == "off" and self._profile is not None:
            self._profile.stop()
            self._profile = None

    def _sleep(self, reader: Reader) -> None:
        text = reader.option() or ""
        if not (text.isdecimal() and len(text) <= _DIGITS):
            raise reader.wrong("give a number of milliseconds")
        time.sleep(int(text) / 1000)

    def _exit(self, reader: Reader) -> None:
        reader.expect_end()
        raise Ended

    def _explain(self, reader: Reader) -> None:
        fact = self._fact(reader)
        try:
            proof = self.reasoner.explain(fact)
        except NoProofError:
            raise ReasonerError(f"{reader.rest()} does not hold: see what is missing by why_not {reader.rest()};") from None
        self._print(proof.text().rstrip("\n"))

    def _why_not(self, reader: Reader) -> None:
        self._print(self.reasoner.why_not(self._fact(reader)).text().rstrip("\n"))

    def _fact(self, reader: Reader) -> Atom:
        """Return the fact that a command is about, in the rule language."""
        rules = self._parsed(f"{reader.rest()} .").rules
        if len(rules) != 1 or rules[0].body:
            raise reader.wrong('give one fact, as in explain path("a", "b");')
        return rules[0].head

    def _refuse(self, statement: Statement) -> None:
        raise semicolon_error(statement, self._updates[-1].kind if self._updates else None)

    # ---- queries and rules

    def _sparql(self, statement: Statement) -> None:
        from kg_reasoner.sparql.results.result import AskResult, SelectResult

        result = self.reasoner.query(statement.text, prefixes=self.prefixes)
        if isinstance(result, AskResult):
            self._print(str(result))
        elif isinstance(result, SelectResult):
            shown = [[("" if term is None else format_value(term, self.prefixes)) for term in row] for row in result.tuples()]
            self._print_table([f"?{name}" for name in result.variables], shown)
        else:
            for triple in sorted(f"{' '.join(format_value(term, self.prefixes) for term in triple)} ." for triple in result):
                self._print(triple)

    def _query(self, statement: Statement) -> None:
        answers = self.reasoner.answers(statement.text.removeprefix("?-"))
        if answers.variables:
            shown = sorted([format_value(term, self.prefixes) for term in row] for row in answers)
            self._print_table([f"?{name}" for name in answers.variables], shown)
        else:
            self._print("true" if len(answers) else "false")

    def _change_rules(self, statement: Statement) -> None:
        if statement.kind == "rules":
            program = self._parsed(statement.text, statement)
            self.reasoner.add_program(program)
            if self._warn is not None:
                for warning in probable_mistakes(program):
                    self._warn(warning)
            return
        rules: Iterable[Rule] = self._parsed(f"{statement.text.removeprefix('remove')} .", statement).rules
        present = set(self.reasoner.program.rules)
        for rule in rules:
            if rule not in present:
                raise ReasonerError(f"the program has no rule {str(statement.text.removeprefix('remove')).strip()} .")
        self.reasoner.remove_rules(rules)

    def _parsed(self, text: str, statement: Statement | None = None) -> Program:
        """Return a program, which may use the prefixes of the present one."""
        source, line = ("<shell>", 1) if statement is None else (statement.source, statement.line)
        prefixes = dict(self.reasoner.program.prefixes)
        return parse(text, source, self.reasoner.core.known(), prefixes=prefixes, first_line=line)

    # ---- output

    def _expect_relation(self, name: str) -> None:
        known = self.relations()
        if name not in known:
            raise UnknownNameError("relation", name, known)

    def _print_facts(self, name: str, facts: Iterable[Sequence[Term]]) -> None:
        self._print_rows(name, ((row, "") for row in facts))

    def _print_rows(self, name: str, rows: Iterable[tuple[Sequence[Term], str]]) -> None:
        for line in sorted_records(name, self.relations().get(name, ()), rows, self.prefixes):
            self._print(line)

    def _print_table(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._print("\t".join(names))
        for row in rows:
            self._print("\t".join(row))

    def _print(self, line: str) -> None:
        self._out.write(f"{line}\n")
