"""``kg-reasoner spark``: reason over triples that outgrow one machine, in Spark's local mode or on a cluster."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kg_reasoner.cli.console import Stopwatch, note, plural
from kg_reasoner.cli.options.checked_values import ruleset_option
from kg_reasoner.cli.options.reasoner_options import DEFAULT_RULESET, quiet_option, report_warnings

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.document_reading import PrefixSink
    from kg_reasoner.program import Program
    from kg_reasoner.spark_backend import SparkReasoner
    from kg_reasoner.terms import Triple

_Command = TypeVar("_Command", bound=Callable[..., Any])


@click.group()
def spark() -> None:
    """Reason on Spark, over triples that outgrow one machine.

    Inputs are N-Triples, N-Quads, Parquet, and files in other syntaxes: files, folders and patterns, at any address that Spark can
    read.
    """


def _by_name(context: click.Context, parameter: click.Parameter, settings: tuple[str, ...]) -> dict[str, str]:
    """Return Spark settings, given as ``NAME=VALUE``, by name."""
    for setting in settings:
        if "=" not in setting:
            raise click.BadParameter(f"{setting!r} has no =", context, parameter)
    return dict(setting.split("=", 1) for setting in settings)


def _files(context: click.Context, parameter: click.Parameter, files: str | None) -> int | str | None:
    """Return the number of files, or ``auto``."""
    if files is None or files == "auto":
        return files
    if not files.isdecimal() or int(files) < 1:
        raise click.BadParameter(f"{files!r} is neither a positive number nor `auto`", context, parameter)
    return int(files)


def _spark_options(command: _Command) -> _Command:
    """Add the options of the commands that reason on Spark."""
    for option in (
        quiet_option,
        click.option(
            "--conf",
            "settings",
            metavar="NAME=VALUE",
            callback=_by_name,
            multiple=True,
            help="A Spark setting; repeatable.",
        ),
        click.option("--remote", metavar="URL", help="A Spark Connect server (sc://host) instead of a master."),
        click.option("--master", metavar="M", help="Where Spark runs. [default: local[*], or as spark-submit sets it]"),
        click.option(
            "--driver-facts",
            metavar="N",
            type=click.IntRange(min=0),
            help="The driver finishes in process if the rules have at most N facts left to read and derive. [default: 100000]",
        ),
        click.option("--resume", is_flag=True, help="Resume an interrupted run from the work directory."),
        click.option(
            "--work-dir",
            metavar="DIR",
            help="Where to keep intermediate results; on a cluster, a place that all executors can write to.",
        ),
        click.option(
            "--blank-nodes",
            type=click.Choice(["document", "file", "shared"]),
            default="document",
            show_default=True,
            help="The scope of blank node labels: each IN, each file, or all inputs together.",
        ),
        click.option("--input-format", metavar="FORMAT", help="ntriples, parquet, turtle ... [default: from the names]"),
        click.option(
            "--bad-lines",
            metavar="POLICY",
            default="raise",
            show_default=True,
            help="What to do with lines that are not statements: raise an error, skip them, or a folder to write them to.",
        ),
        click.option("--ontology", metavar="FILE", multiple=True, help="An ontology, in any syntax; repeatable."),
        click.option("--rules", "rules_file", metavar="FILE.dl", help="A program with additional rules."),
        ruleset_option(f"A rule set. [default: {DEFAULT_RULESET}; none with --rules]", "-r"),
    ):
        command = option(command)
    return command


@spark.command(short_help="Write what follows from RDF data.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True)
@click.argument("output", metavar="OUT")
@click.option(
    "-f",
    "--format",
    "output_format",
    type=click.Choice(["parquet", "ntriples", "nquads"]),
    default="parquet",
    show_default=True,
    help="The output format; in Parquet, the column `inferred` marks inferred triples.",
)
@click.option("--inferred-only", is_flag=True, help="Write the inferred triples only.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@click.option("--compression", metavar="CODEC", help="The compression codec, such as gzip.")
@click.option(
    "--files",
    metavar="N",
    callback=_files,
    help="Sort triples into about N files, or `auto` for files of about 64 MB, each triple once. [default: as they come]",
)
@click.option("--distinct", is_flag=True, help="Write triples once that the input repeats; this shuffles all triples.")
@click.option(
    "--equal-terms",
    metavar="FOLDER",
    help="Write the triples of one term of each group of equal terms, and to this folder which term stands for which.",
)
@_spark_options
def materialise(
    inputs: tuple[str, ...],
    output: str,
    output_format: Any,
    inferred_only: bool,
    overwrite: bool,
    compression: str | None,
    files: Any,
    distinct: bool,
    equal_terms: str | None,
    **options: Any,
) -> None:
    """Write the explicit and inferred triples of IN to the folder OUT, which appears when it is complete."""
    watch = Stopwatch()
    if equal_terms is not None and os.path.abspath(equal_terms) == os.path.abspath(output):  # noqa: PTH100 (addresses, too)
        raise click.UsageError("--equal-terms needs a folder of its own, other than OUT")
    new_folders = [] if overwrite else [output, *filter(None, [equal_terms])]
    with _reasoner(inputs, options, new_folders) as (reasoner, prefixes):
        written = reasoner.write(
            output,
            output_format,
            inferred_only=inferred_only,
            expanded=equal_terms is None,
            overwrite=overwrite,
            compression=compression,
            files=files,
            distinct=distinct,
        )
        if equal_terms is not None:
            from kg_reasoner.spark_backend.io.triple_files import write_whole

            terms = write_whole(reasoner.equal_terms(), equal_terms, "parquet", overwrite=overwrite, compression=compression)
            note(f"{plural(terms, 'term')} for which others stand written to {equal_terms}")
        report_warnings(reasoner.warnings, prefixes)
    repeated = "" if inferred_only or distinct or files else "; given ones as often as the input has them"
    note(f"{plural(written, 'triple')} written to {output} in {watch.lap():.1f} s{repeated}")


@spark.command(short_help="List the contradictions in RDF data.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many contradictions to show.")
@_spark_options
@click.pass_context
def check(context: click.Context, /, inputs: tuple[str, ...], limit: int, **options: Any) -> None:
    """List the contradictions in IN, such as a member of two disjoint classes. Exit code 3 if there is one."""
    with _reasoner(inputs, options) as (reasoner, _):
        found = reasoner.inconsistencies()
        count, shown = found.count(), found.limit(limit).collect()
    for violation in shown:
        what = violation["axiom"] or violation["name"] or violation["rule"]
        name = f" ({violation['name']})" if violation["axiom"] and violation["name"] else ""
        terms = ", ".join(f"?{variable} = {term}" for variable, term in violation["values"].items())
        click.echo(f"{what}{name}: {terms}" if terms else f"{what}{name}")
    if count:
        note(f"{plural(count, 'contradiction')} found" + (f", {len(shown)} of them shown" if len(shown) < count else ""))
        context.exit(3)
    note("no contradiction found")


@spark.command(short_help="Show how consequences of RDF data would be derived.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True)
@_spark_options
def explain(inputs: tuple[str, ...], **options: Any) -> None:
    """Show the passes over IN in the order of execution, and what each derives. Reads IN once, and derives nothing."""
    with _reasoner(inputs, options) as (reasoner, _):
        click.echo(reasoner.explain())


@spark.command(short_help="Print the path of the script for spark-submit.")
def script() -> None:
    """Print the path of the script for spark-submit, which takes the same arguments as this command."""
    click.echo(Path(__file__).with_name("spark_submit.py"))


@contextmanager
def _reasoner(
    inputs: Iterable[str], options: dict[str, Any], new_folders: Iterable[str] = ()
) -> Iterator[tuple[SparkReasoner, dict[str, str]]]:
    """Yield a reasoner over the inputs, in a Spark session that ends with the block, and the prefixes of the ontology.

    Raises:
        LoadError: An input on this machine does not exist; Spark has not been started.
        OutputError: One of the `new_folders` already exists; nothing has been read.
    """
    from kg_reasoner.spark_backend import SparkReasoner
    from kg_reasoner.spark_backend.io.literal_paths import expect_local_files
    from kg_reasoner.spark_backend.io.triple_files import expect_free
    from kg_reasoner.spark_backend.requirements import require_pyspark
    from kg_reasoner.spark_backend.spark_session import build_session, reads_local_files

    require_pyspark()
    if options["resume"] and options["work_dir"] is None:
        raise click.UsageError("--resume needs the work directory of the interrupted run: give it with --work-dir")

    program = _program(options["ruleset"], options["rules_file"])
    prefixes: dict[str, str] = {}
    ontology = _ontology(options["ontology"], prefixes.setdefault)
    where = options["master"], options["remote"], options["settings"]
    if reads_local_files(*where):
        expect_local_files(inputs)
    session = build_session(*where)
    try:
        for folder in new_folders:
            expect_free(session, folder)
        with _reports(options["quiet"]) as progress:
            reasoner = SparkReasoner.read(
                session,
                program,
                inputs,
                bad_lines=options["bad_lines"],
                format=options["input_format"],
                blank_nodes=options["blank_nodes"],
                work_dir=options["work_dir"],
                ontology=ontology,
                resume=options["resume"],
                progress=progress,
                driver_facts=options["driver_facts"],
            )
            yield reasoner, prefixes
    finally:
        session.stop()


def _program(ruleset: str | None, rules_file: str | None) -> Program:
    from kg_reasoner import rulesets
    from kg_reasoner.language.parser import parse_file
    from kg_reasoner.program import Program

    program = parse_file(rules_file) if rules_file else Program()
    if ruleset is None and rules_file is not None:
        return program
    return program | rulesets.load(ruleset or DEFAULT_RULESET).program


def _ontology(files: Iterable[str], prefixes: PrefixSink) -> list[Triple]:
    from kg_reasoner.loaders.rdf.readers.reader import read
    from kg_reasoner.storage.terms.dictionary import Dictionary

    dictionary = Dictionary()
    blocks = list(read(*files, dictionary=dictionary, prefixes=prefixes))
    return [triple for block in blocks for triple in dictionary.decode_rows(block.triples)]  # type: ignore[misc]  # of three terms


@contextmanager
def _reports(quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """Report progress: for people on a terminal, as lines of JSON elsewhere; show warnings in both cases."""
    from kg_reasoner.spark_backend.run_progress import LOGGER, on_terminal

    handler = logging.StreamHandler(sys.stderr)
    level = LOGGER.level
    LOGGER.setLevel(logging.WARNING if quiet or sys.stderr.isatty() else logging.INFO)
    LOGGER.addHandler(handler)
    try:
        yield None if quiet else on_terminal()
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
