"""Rules as SQL for DuckDB, as one would write them by hand: semi-naive evaluation, one group of recursive relations at a time.

The tables have columns ``c0``, ``c1`` ... with the ids of terms, from the table ``term(id, text)``. In a loop, ``NAME_delta`` has
the rows that were new in the round before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.translations.relational import ALL_TRIPLES, Program, components
from kg_reasoner.program import Argument, Rule, Variable
from kg_reasoner.terms import IRI, RDF, Term, term_text

__all__ = ["Script", "Stage", "Step", "script", "text"]


@dataclass(frozen=True)
class Step:
    """A table of new rows in each round of a loop."""

    table: str
    query: str
    reads: tuple[str, ...]
    """The tables whose new rows it needs; without any, it has nothing to do."""


@dataclass(frozen=True)
class Stage:
    """Statements that run once, and then a loop until nothing is new."""

    once: tuple[str, ...]
    loop: tuple[Step, ...] = field(default=())


@dataclass(frozen=True)
class Script:
    """Everything that a database runs, as plain data."""

    read: tuple[str, ...]
    constants: tuple[str, ...]
    stages: tuple[Stage, ...]
    triples: str
    """The query of the lines to write."""
    tables: tuple[str, ...]

    def write_to(self, path: Path) -> None:
        """Write the script to a file."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def read_from(path: Path) -> Script:
        """Return the script in a file."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        stages = [Stage(tuple(stage["once"]), tuple(Step(**step) for step in stage["loop"])) for stage in fields.pop("stages")]
        return Script(stages=tuple(stages), **fields)


def script(program: Program, paths: Iterable[str]) -> Script:
    """Return the script that reads N-Triples files, and derives everything."""
    names = _names(program)
    return Script(
        read=tuple(_read(paths, program)),
        constants=tuple(_set(term, name) for term, name in names.items()),
        stages=tuple(_stage(members, rules, names) for members, rules in components(program)),
        triples=_triples(program),
        tables=tuple(program.arities),
    )


# ---- rules


def _set(term: str, name: str) -> str:
    """Return the statement that sets the variable for the id of a constant. What no fact has is -1."""
    return f"SET VARIABLE {name} = (SELECT coalesce(max(id), -1) FROM term WHERE text = {_string(term)})"


def _names(program: Program) -> dict[str, str]:
    atoms = (atom for rule in program.rules for atom in (rule.head, *rule.body_atoms()))
    terms = dict.fromkeys(term_text(term) for atom in atoms for term in atom.terms if not isinstance(term, Variable))
    return {term: f"k{number}" for number, term in enumerate(terms)}


def _stage(members: set[str], rules: list[Rule], names: Mapping[str, str]) -> Stage:
    once, loop = [], []
    for member in sorted(members):
        first = [_select(rule, names) for rule in rules if rule.head.predicate == member and not _recursive(rule, members)]
        if first:
            once.append(f"INSERT INTO {member} {_not_in(first, member, rules)}")
    for member in sorted(members):
        again: dict[str, set[str]] = {}
        for rule in rules:
            if rule.head.predicate == member:
                for place in _recursive(rule, members):
                    again.setdefault(_select(rule, names, place), set()).add(list(rule.body_atoms())[place].predicate)
        if again:
            reads = tuple(sorted(set().union(*again.values())))
            loop.append(Step(member, _not_in(again, member, rules), reads))
    return Stage(tuple(once), tuple(loop))


def _recursive(rule: Rule, members: set[str]) -> list[int]:
    """Return the places of the atoms in a body that are of the same group."""
    return [place for place, atom in enumerate(rule.body_atoms()) if atom.predicate in members]


def _not_in(selects: Iterable[str], table: str, rules: Iterable[Rule]) -> str:
    """Return the union of queries without the rows that a table has."""
    arity = next(rule.head.arity for rule in rules if rule.head.predicate == table)
    same = " AND ".join(f"old.c{place} = n.c{place}" for place in range(arity))
    union = " UNION ".join(selects)
    if " UNION " not in union:
        union = union.replace("SELECT ", "SELECT DISTINCT ", 1)
    return f"SELECT * FROM ({union}) AS n WHERE NOT EXISTS (SELECT 1 FROM {table} AS old WHERE {same})"


def _select(rule: Rule, names: Mapping[str, str], delta: int | None = None) -> str:
    """Return the query of a rule's instances, of which the atom at the place `delta` has the new rows."""
    bound: dict[Variable, str] = {}
    sources, conditions = [], []
    for place, atom in enumerate(rule.body_atoms()):
        sources.append(f"{atom.predicate}{'_delta' if place == delta else ''} AS t{place}")
        for column, term in enumerate(atom.terms):
            here = f"t{place}.c{column}"
            if not isinstance(term, Variable):
                conditions.append(f"{here} = {_constant(term, names)}")
            elif term in bound:
                conditions.append(f"{here} = {bound[term]}")
            else:
                bound[term] = here
    columns = ", ".join(_column(number, term, bound, names) for number, term in enumerate(rule.head.terms))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {columns} FROM {', '.join(sources)}{where}"


def _column(number: int, term: Argument, bound: Mapping[Variable, str], names: Mapping[str, str]) -> str:
    return f"{bound[term] if isinstance(term, Variable) else _constant(term, names)} AS c{number}"


def _constant(term: Term, names: Mapping[str, str]) -> str:
    return f"getvariable('{names[term_text(term)]}')"


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def text(script: Script) -> str:
    """Return a script as text, for people."""
    lines = [f"{statement};" for statement in (*script.read, *script.constants)]
    for stage in script.stages:
        lines += [f"{statement};" for statement in stage.once]
        lines += [f"REPEAT {step.table} += {step.query}; -- after new rows of {', '.join(step.reads)}" for step in stage.loop]
    return "".join(f"{line}\n" for line in [*lines, f"{script.triples};"])


# ---- data


def _read(paths: Iterable[str], program: Program) -> Iterator[str]:
    """Yield the statements that read N-Triples files into the tables of a program's relations and the table of terms."""
    files = ", ".join(map(_string, paths))
    yield (
        "CREATE TABLE line AS SELECT split_part(line, ' ', 1) AS s, split_part(line, ' ', 2) AS p, "
        "rtrim(substr(line, length(split_part(line, ' ', 1)) + length(split_part(line, ' ', 2)) + 3), ' .') AS o "
        f"FROM read_csv([{files}], columns = {{'line': 'VARCHAR'}}, header = false, auto_detect = false, "
        "delim = '\\x01', quote = '', escape = '')"
    )
    yield (
        "CREATE TABLE term AS SELECT (row_number() OVER ())::INTEGER AS id, text FROM "
        "(SELECT s AS text FROM line UNION SELECT p FROM line UNION SELECT o FROM line)"
    )
    yield (
        "CREATE TABLE explicit AS SELECT DISTINCT a.id AS c0, b.id AS c1, c.id AS c2 FROM line "
        "JOIN term AS a ON a.text = s JOIN term AS b ON b.text = p JOIN term AS c ON c.text = o"
    )
    yield "DROP TABLE line"
    if not program.predicates:
        yield f"ALTER TABLE explicit RENAME TO {ALL_TRIPLES}"
        return
    used = dict.fromkeys([RDF.type.value, *(predicate.iri for predicate in program.predicates.values())])
    yield f"CREATE TABLE used AS SELECT * FROM term WHERE text IN ({', '.join(_string(f'<{iri}>') for iri in used)})"
    for name, predicate in program.predicates.items():
        if predicate.arity == 1:
            yield f"CREATE TABLE {name} AS SELECT c0 FROM explicit WHERE c1 = {_id(RDF.type.value)} AND c2 = {_id(predicate.iri)}"
        else:
            named = " AND c2 NOT IN (SELECT id FROM term WHERE text LIKE '<%')" if predicate.iri == RDF.type.value else ""
            yield f"CREATE TABLE {name} AS SELECT c0, c2 AS c1 FROM explicit WHERE c1 = {_id(predicate.iri)}{named}"
    yield "DROP TABLE explicit"


def _id(iri: str) -> str:
    return f"(SELECT max(id) FROM used WHERE text = '<{iri}>')"


def _triples(program: Program) -> str:
    """Return the query of all triples as lines of N-Triples."""
    joins = "JOIN term AS a ON a.id = t.c0"
    if not program.predicates:
        return (
            f"SELECT a.text || ' ' || b.text || ' ' || c.text || ' .' FROM {ALL_TRIPLES} AS t {joins} "
            "JOIN term AS b ON b.id = t.c1 JOIN term AS c ON c.id = t.c2"
        )
    parts = []
    for name, predicate in program.predicates.items():
        if predicate.arity == 1:
            rest = _string(f" {term_text(RDF.type)} {term_text(IRI(predicate.iri))} .")
            parts.append(f"SELECT a.text || {rest} FROM {name} AS t {joins}")
        else:
            middle = _string(f" {term_text(IRI(predicate.iri))} ")
            parts.append(f"SELECT a.text || {middle} || c.text || ' .' FROM {name} AS t {joins} JOIN term AS c ON c.id = t.c1")
    return " UNION ALL ".join(parts)
