"""``kg-reasoner run``: run Datalog programs over tables of facts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

import click

from kg_reasoner.cli.console import Stopwatch, note, plural, progress_shown, starting, warn
from kg_reasoner.cli.options.checked_values import ruleset_option
from kg_reasoner.cli.options.limit_options import limit_options
from kg_reasoner.cli.options.loading_options import load_documents, loading_options
from kg_reasoner.cli.options.profile_option import begin_profile, profile_option
from kg_reasoner.cli.options.reasoner_options import quiet_option, reasoner_settings, report_inconsistencies, threads_option
from kg_reasoner.cli.options.table_options import add_queries, given_queries, given_tables, sql_options
from kg_reasoner.errors import OutputError
from kg_reasoner.program import TRIPLE

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.program import Program
    from kg_reasoner.tables.table_facts import Nulls

TRIPLES: Final = "triples.nt"
"""The output of derived triples."""

_Writer: TypeAlias = Callable[[BinaryIO], int]
"""Writes a relation to an open file and says how many facts it has."""


@click.command(short_help="Run a Datalog program over tables of facts.")
@click.argument("program_file", metavar="PROGRAM.dl")
@click.option(
    "--facts",
    metavar="DIR",
    help="The folder with the inputs: NAME.tsv, NAME.csv, NAME.facts or NAME.jsonl for the relation NAME, maybe compressed; "
    "or NAME.parquet.",
)
@click.option(
    "--table", "tables", metavar="NAME=FILE", multiple=True, help="A file for the relation NAME, wherever it is; repeatable."
)
@sql_options
@click.option("--header", is_flag=True, help="Tables of CSV and TSV have the names of their columns in the first line.")
@click.option(
    "--nulls",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="Missing values: an error, or skip their rows; with skip, empty cells are missing.",
)
@ruleset_option("A rule set to apply as well, see `kg-reasoner rules`.")
@click.option("--data", metavar="FILE", multiple=True, help="RDF data to run the program on; repeatable.")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="DIR",
    help="The folder to write to, created if necessary; - is standard output, the default.",
)
@click.option(
    "-f", "--format", "output_format", type=click.Choice(["tsv", "csv", "parquet", "jsonl"]), default="tsv", show_default=True
)
@limit_options
@threads_option
@loading_options
@profile_option
@quiet_option
def run(
    program_file: str,
    facts: str | None,
    tables: tuple[str, ...],
    queries: tuple[str, ...],
    database: str | None,
    header: bool,
    nulls: Nulls,
    ruleset: str | None,
    data: tuple[str, ...],
    output: str,
    output_format: str,
    quiet: bool,
) -> None:
    """Run a Datalog program: read a table for each input relation, write one for each output relation.

    \b
    Inputs:  the relations declared `input relation NAME(COLUMN: TYPE, ...) .`; others may have a file.
    Outputs: the relations declared `output relation ...`, or else all that its own rules derive.
             Derived triples go to triples.nt.
    Types:   iri, string, integer, decimal, double, boolean, any. A column of type any, as all are that
             have no declaration, holds numbers, terms in N-Triples form where a cell begins with <, _:
             or a quotation mark, and otherwise strings.

    Columns are matched by their names where a table has those of the declaration (Parquet, JSON lines, results
    of queries, and others with --header), and otherwise by position.
    Output files are written only when all of them are complete.
    """
    from kg_reasoner.api.operations.notices import probable_mistakes
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.io.fact_files import fact_files, table_warnings
    from kg_reasoner.language.saved_programs import saved_rule_file

    given = given_tables(tables)
    asked = given_queries(queries, database, given)
    program = saved_rule_file(program_file)
    with starting():
        reasoner = Reasoner(program, ruleset=ruleset, **reasoner_settings())
    inputs = {**fact_files(program, facts, {*given, *asked}), **given}
    for warning in (*probable_mistakes(program), *table_warnings(program, facts, {**inputs, **asked})):
        warn(warning)
    outputs = _outputs(program, reasoner, output_format, header=header)
    if output == "-" and output_format == "parquet":
        raise OutputError("Parquet is not written to standard output: name a folder with --output")
    written_to = [Path(output) / name for name in outputs] if output != "-" else []
    begin_profile(reasoner, (*inputs.values(), *written_to))
    watch = Stopwatch()
    with ExitStack() as stack:
        files = stack.enter_context(_opened(Path(output), outputs, inputs.values())) if output != "-" else None
        progress = stack.enter_context(progress_shown())
        if data:
            load_documents(reasoner, data, None, progress)
        for predicate, path in inputs.items():
            reasoner.add_table(predicate, path, header=header, nulls=nulls)
        add_queries(reasoner, asked, database, nulls=nulls)
        reading = watch.lap()
        reasoner.materialise(progress=progress)
        running = watch.lap()
        if files is None:
            written = _print(outputs)
        else:
            written = sum(write(files[name]) for name, write in outputs.items())
    report_inconsistencies(reasoner)
    note(f"{plural(written, 'fact')} of {plural(len(outputs), 'relation')}; read in {reading:.2f} s, run in {running:.2f} s")


def _outputs(program: Program, reasoner: Reasoner, output_format: str, *, header: bool) -> dict[str, _Writer]:
    """Return the names of the output files, each with the function that writes it after the run."""
    from kg_reasoner.io.fact_files import file_stem, output_relations
    from kg_reasoner.terms import term_text

    def relation_writer(predicate: str) -> _Writer:
        return lambda file: reasoner.facts(predicate).write_to(file, output_format, header=header)

    def write_triples(file: BinaryIO) -> int:
        lines = sorted(f"{' '.join(map(term_text, triple))} .\n" for triple in reasoner.triples(which="inferred"))
        file.writelines(line.encode() for line in lines)
        return len(lines)

    outputs: dict[str, _Writer] = {}
    for predicate, columns in output_relations(program).items():
        if output_format == "parquet" and not columns:
            raise OutputError(f"Parquet cannot hold the relation {predicate}, which has no columns: choose another --format")
        outputs[f"{file_stem(predicate)}.{output_format}"] = relation_writer(predicate)
    if any(rule.body and rule.head.predicate == TRIPLE for rule in program.rules):
        outputs[TRIPLES] = write_triples
    return outputs


@contextmanager
def _opened(folder: Path, names: Iterable[str], read: Iterable[Path]) -> Iterator[Mapping[str, BinaryIO]]:
    """Open the output files and yield them by name; remove a folder created for them if anything fails.

    Raises:
        OutputError: A file cannot be written, or is one of those that are `read`.
    """
    from kg_reasoner.io.atomic_files import atomic_output

    being_read = {path.resolve() for path in read}
    for name in names:
        if (folder / name).resolve() in being_read:
            raise OutputError(f"cannot write {folder / name}: the program reads it; choose another folder")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write to the folder {folder}: {error.strerror}") from None
        with ExitStack() as stack:
            yield {name: stack.enter_context(atomic_output(folder / name)) for name in names}
    except BaseException:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def _print(outputs: Mapping[str, _Writer]) -> int:
    """Print all relations once all are computed; return the number of their facts."""
    texts, total = [], 0
    for name, write in outputs.items():
        content = io.BytesIO()
        count = write(content)
        texts.append(f"# {Path(name).stem} ({plural(count, 'fact')})\n{content.getvalue().decode()}")
        total += count
    click.echo("".join(texts), nl=False)
    return total
