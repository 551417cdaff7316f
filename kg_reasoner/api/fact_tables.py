"""Tables as facts, and facts as tables."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

import numpy as np

from kg_reasoner.api.explicit.assertions import assert_facts, expect_general, retract_facts
from kg_reasoner.api.inputs.given_values import as_value, expect_several
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.errors import ArityError, LoadError, ReasonerError, UnknownNameError, expect_name, plural
from kg_reasoner.expressions.types import Types
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.program import TRIPLE, Column, Declaration, Program, TypeDefinition
from kg_reasoner.query.matching import Which, check_which
from kg_reasoner.sparql.results.data_frames import DataFrames
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.cell_texts import format_cell
from kg_reasoner.storage.cells.table_terms import Vocabulary
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Literal, Term

if TYPE_CHECKING:
    import pyarrow

    from kg_reasoner.sparql.results.result_columns import Columns
    from kg_reasoner.tables.table_facts import Nulls
else:
    pyarrow = LazyModule("pyarrow")

__all__ = ["TABLE_FORMATS", "Facts", "add_table", "facts_of", "remove_table"]

TABLE_FORMATS: Final = ("tsv", "csv", "parquet", "jsonl")
"""The formats of files that facts are written to."""


# ---- tables as facts


def add_table(core: ReasonerCore, predicate: str, table: Any, *, columns: Sequence[str] | None, header: bool, nulls: Nulls) -> None:
    """Add the rows of a table as facts, see `kg_reasoner.api.reasoner.Reasoner.add_table`."""
    declared, blocks = _encoded(core, predicate, table, columns, header=header, nulls=nulls, only_known=False)
    facts = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    if facts.shape[1] == 0 and declared is None and not len(facts):
        return
    with core.atomic():
        engine = core.engine
        engine.expect_arities({predicate: facts.shape[1]})
        if core.declared(predicate) != declared or not _are_checked(declared, engine.program):
            engine.column_types.check(predicate, facts)
        assert_facts(core, predicate, np.ascontiguousarray(facts))


def remove_table(
    core: ReasonerCore, predicate: str, table: Any, *, columns: Sequence[str] | None, header: bool, nulls: Nulls
) -> None:
    """Remove the facts in the rows of a table, see `kg_reasoner.api.reasoner.Reasoner.remove_table`."""
    _, blocks = _encoded(core, predicate, table, columns, header=header, nulls=nulls, only_known=True)
    facts = np.concatenate(blocks)
    with core.atomic():
        engine = core.engine
        relation = engine.catalog.predicates.get(predicate, -1)
        if relation >= 0 and engine.database.relations[relation].arity == facts.shape[1]:
            retract_facts(core, predicate, np.ascontiguousarray(facts))


def _encoded(
    core: ReasonerCore,
    predicate: str,
    table: Any,
    columns: Sequence[str] | None,
    *,
    header: bool,
    nulls: Nulls,
    only_known: bool,
) -> tuple[Declaration | None, list[Ids]]:
    """Return the declaration of a predicate, and the facts in a table, which have its types.

    Raises:
        LoadError, MissingExtraError, UnknownNameError: As for `Reasoner.add_table`.
    """
    from kg_reasoner.language.prefixes import PREFIXES
    from kg_reasoner.tables.files import read_file
    from kg_reasoner.tables.table_facts import TableEncoder, check_nulls
    from kg_reasoner.tables.table_sources import batches_of, is_table

    check_nulls(nulls)
    if columns is not None:
        expect_several(columns, "names of columns")
    if predicate == TRIPLE:
        raise ReasonerError("triples are added with add_triples or load, and tables become triples by rules")
    expect_general(predicate)
    declared = core.declared(predicate)
    known = _columns_of(core, predicate, declared)
    prefixes = Vocabulary({**PREFIXES, **core.prefixes}, Types(core.engine.program.types))
    encoder = TableEncoder(core.dictionary, known, prefixes, columns, nulls, only_known)
    if isinstance(table, Path):
        found = read_file(table, encoder, header=header)
    elif is_table(table):
        found = encoder.encode(batches_of(table))
    else:
        hint = "give a table of Arrow, Polars or pandas, a mapping of columns, a cursor, or the Path of a file"
        raise LoadError(f"{type(table).__name__} is not a table", hint=hint)
    blocks = list(found)
    return declared, blocks or [np.empty((0, len(known or ())), np.int32)]


def _are_checked(declared: Declaration | None, program: Program) -> bool:
    """Return whether the values of a table are of the types of a relation because they have been read as such."""
    from kg_reasoner.tables.table_facts import READ_EXACTLY

    columns = () if declared is None else declared.columns
    return all(_meant(column.type, program).partition("<")[0] in READ_EXACTLY for column in columns)


def _meant(type_: str, program: Program) -> str:
    """Return the type that a name of a type stands for."""
    definitions = {definition.name: definition for definition in program.types}
    while (found := definitions.get(type_)) is not None and found.alias:
        type_ = found.alias
    return type_


def _columns_of(core: ReasonerCore, predicate: str, declared: Declaration | None) -> Sequence[Column] | None:
    """Return the columns of a predicate, without names if it is only used; None if it is unknown."""
    if predicate == TRIPLE:
        return _OF_TRIPLES
    if declared is not None:
        program = core.engine.program
        return [Column(column.name, _meant(column.type, program)) for column in declared.columns]
    arity = core.engine.arities().get(predicate)
    return None if arity is None else [Column(f"column {number}") for number in range(1, arity + 1)]


_OF_TRIPLES: Final = (Column("subject"), Column("property"), Column("object"))


# ---- facts as tables


class Facts(DataFrames, Iterator[tuple[Term, ...]]):
    """Facts of a predicate as they were when they were asked for: an iterator of tuples of terms, or a table.

    Iteration makes the terms as it goes, and goes through the facts once; `len` and the tables are of all facts.

    >>> from kg_reasoner import Reasoner
    >>> reasoner = Reasoner('input relation age(who: string, years: integer) . age("tim", 7) . age("ann", 9) .')
    >>> facts = reasoner.facts("age")
    >>> len(facts), facts.names, next(facts)[0].lexical
    (2, ('who', 'years'), 'tim')

    Args:
        names: The names of the columns.
        types: Their declared types, ``any`` where there is none.
        ids: The facts, shape (n, arity).
        dictionary: The dictionary of the ids.
        definitions: The types that the program defines.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[str],
        ids: Ids,
        dictionary: Dictionary,
        definitions: Sequence[TypeDefinition] = (),
    ) -> None:
        self._definitions = tuple(definitions)
        self.names = tuple(names)
        self.types = tuple(types)
        self.ids = ids
        self._dictionary = dictionary
        self._rows: Iterator[tuple[Term, ...]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __next__(self) -> tuple[Term, ...]:
        if self._rows is None:
            self._rows = self._dictionary.decode_rows(self.ids)
        return next(self._rows)

    def __repr__(self) -> str:
        return f"<Facts {len(self)} rows of {', '.join(self.names) or 'no columns'}>"

    def to_arrow(self) -> pyarrow.Table:
        """Return the facts as a table of Arrow, with the types of `kg_reasoner.sparql.results.arrow`.

        Its columns say what they hold, so that `Reasoner.add_table` makes the same facts of it. Lists and sets in columns of such a
        type are lists of Arrow, and optional values may be null; see `kg_reasoner.io.nested_columns`.

        Returns:
            The table.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        from kg_reasoner.io.nested_columns import with_nested_columns
        from kg_reasoner.sparql.results.arrow import arrow_table

        table = arrow_table(self._columns())
        if not len(self):
            return table.cast(_schema(table.schema, self.types))
        return with_nested_columns(table, self.types, self.ids, self._dictionary)

    def write(self, path: str | Path, *, header: bool = False) -> int:
        """Write the facts to a file, in the format of its ending.

        The formats are ``.parquet``, ``.jsonl``, and ``.csv`` and ``.tsv``, which are sorted. Text files are compressed if
        another ending follows: ``.gz``, ``.zst``, ``.bz2`` or ``.xz``.

        Args:
            path: The file, which appears when it is complete.
            header: Whether CSV and TSV begin with the names of the columns.

        Returns:
            The number of facts.

        Raises:
            UnknownNameError: The name of the file has another ending.
            OutputError: The file cannot be written, TSV cannot hold a string, or Parquet a relation without columns.
            MissingExtraError: Parquet and JSON lines need pyarrow.
        """
        from kg_reasoner.io.atomic_files import atomic_output
        from kg_reasoner.io.unpacking import format_ending

        format = format_ending(Path(path)).removeprefix(".")
        if format not in TABLE_FORMATS or (format == "parquet" and Path(path).suffix.lower() != ".parquet"):
            raise UnknownNameError("ending of a table's file", Path(path).suffix, [f".{format}" for format in TABLE_FORMATS])
        with atomic_output(str(path)) as file:
            self.write_to(file, format, header=header)
        return len(self)

    def write_to(self, file: BinaryIO, format: str, *, header: bool = False) -> int:
        """Write the facts to an open file; see `write`.

        Args:
            file: The file, open for writing bytes.
            format: ``parquet``, ``jsonl``, ``csv`` or ``tsv``.
            header: Whether CSV and TSV begin with the names of the columns.

        Returns:
            The number of facts.

        Raises:
            OutputError: TSV cannot hold a string, or Parquet a relation without columns.
            MissingExtraError: Parquet and JSON lines need pyarrow.
        """
        if format == "parquet":
            from kg_reasoner.io.parquet import write_table

            write_table(self.to_arrow(), file)
            return len(self)
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=False)
        try:
            if format == "jsonl":
                self._write_json_lines(text)
            else:
                self._write_text(text, "," if format == "csv" else "\t", header=header)
            text.flush()
        finally:
            text.detach()
        return len(self)

    def _write_json_lines(self, file: TextIO) -> None:
        import json

        from kg_reasoner.expressions.structures import NAMESPACE
        from kg_reasoner.tables.column_texts import form_of

        table = self.to_arrow()
        forms = {field.name: form_of(field.metadata) for field in table.schema}
        structures = {name: form.datatype for name, form in forms.items() if form.datatype.startswith(NAMESPACE)}
        types, defined = dict(zip(table.column_names, self.types, strict=True)), Types(self._definitions)
        for batch in table.to_batches(1 << 16):
            rows = batch.to_pylist()
            for name, datatype in structures.items():
                for row in rows:
                    row[name] = format_cell(Literal(row[name], datatype), types[name], defined) or None
            file.writelines(f"{json.dumps(row, ensure_ascii=False, default=_json_value)}\n" for row in rows)

    def _write_text(self, file: TextIO, separator: str, *, header: bool) -> None:
        from kg_reasoner.io.atomic_files import write_rows
        from kg_reasoner.io.fact_writing import write_ids

        if header and self.names:
            write_rows(file, [list(self.names)], separator)
        write_ids(file, self.ids, self._dictionary, self.types, separator, Types(self._definitions))

    def _columns(self) -> Columns:
        from kg_reasoner.sparql.results.result_columns import Columns
        from kg_reasoner.sparql.solutions.query_terms import QueryTerms, TermCache

        ids = [np.ascontiguousarray(self.ids[:, place]) for place in range(self.ids.shape[1])]
        return Columns(self.names, ids, len(self.ids), QueryTerms(TermCache(self._dictionary)))


def _json_value(value: object) -> str:
    """Return a value that JSON does not have as text; times have the forms of ISO 8601."""
    return value.isoformat() if isinstance(value, date) else str(value)


def _schema(found: pyarrow.Schema, types: Sequence[str]) -> pyarrow.Schema:
    """Return the schema of an empty table, by the declared types of its columns."""
    import pyarrow

    known: Mapping[str, Any] = {
        "integer": pyarrow.int64(),
        "double": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "date": pyarrow.date32(),
        "dateTime": pyarrow.timestamp("us"),
    }
    return pyarrow.schema(
        [pyarrow.field(field.name, known.get(type_, field.type)) for field, type_ in zip(found, types, strict=True)]
    )


def facts_of(core: ReasonerCore, predicate: str, which: Which, arguments: Sequence[Any] | None, named: Mapping[str, Any]) -> Facts:
    """Return facts of a predicate, see `kg_reasoner.api.reasoner.Reasoner.facts`."""
    check_which(which)
    if which != "explicit":
        core.request_relations([predicate])
    with core.reading(which):
        declared = core.declared(predicate)
        columns = _columns_of(core, predicate, declared)
        arity, has_names = None if columns is None else len(columns), declared is not None or predicate == TRIPLE
        names, types = [column.name for column in columns or ()], [column.type for column in columns or ()]
        wanted = _wanted(predicate, arity, names, arguments, named, is_declared=has_names)
        found = _matching(core, predicate, wanted, which)
        rows = np.empty((0, len(names)), np.int32) if found is None else np.array(found)
    return Facts(names, types, rows, core.dictionary, core.engine.program.types)


def _matching(core: ReasonerCore, predicate: str, wanted: Mapping[int, Any], which: Which) -> Ids | None:
    """Return the facts of a predicate with some arguments, by their places, as ids; None if there is nothing to look in."""
    ids = {place: core.dictionary.find(as_value(value)) for place, value in wanted.items()}
    if -1 in ids.values():
        return None
    if predicate == TRIPLE:
        return core.queries.match(ids.get(0), ids.get(1), ids.get(2), which)
    return core.engine.base.matching(predicate, ids, which) if predicate in core.engine.catalog.predicates else None


def indexed_facts(core: ReasonerCore, name: str, values: Sequence[Any]) -> Facts:
    """See `kg_reasoner.api.reasoner.Reasoner.query_index`."""
    indexes = {index.name: index for index in core.engine.program.indexes}
    expect_name("index", name, indexes)
    index = indexes[name]
    if len(values) != len(index.columns):
        raise ArityError(f"the index {name} has {plural(len(index.columns), 'column')}, not {len(values)}")
    return facts_of(core, index.predicate, "all", None, dict(zip(index.columns, values, strict=True)))


def _wanted(
    predicate: str,
    arity: int | None,
    names: Sequence[str],
    arguments: Sequence[Any] | None,
    named: Mapping[str, Any],
    *,
    is_declared: bool,
) -> dict[int, Any]:
    """Return the arguments that facts must have, by their places.

    Raises:
        ArityError: The predicate has another number of arguments.
        UnknownNameError: It has no column of a name.
        ReasonerError: An argument is given twice.
    """
    wanted: dict[int, Any] = {}
    if arguments is not None:
        expect_several(arguments, "arguments")
        if arity is not None and len(arguments) != arity:
            raise ArityError(f"{predicate} has {plural(arity, 'argument')}, not {len(arguments)}")
        wanted = {place: value for place, value in enumerate(arguments) if value is not None}
    for name, value in named.items():
        if name not in names:
            if not is_declared:
                raise ReasonerError(
                    f"the columns of {predicate} have no names: declare the relation, or give all arguments in order"
                )
            raise UnknownNameError(f"column of {predicate}", name, names)
        place = names.index(name)
        if place in wanted:
            raise ReasonerError(f"the argument {name} of {predicate} is given twice")
        if value is not None:
            wanted[place] = value
    return wanted
