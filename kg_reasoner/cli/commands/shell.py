"""``kg-reasoner shell``: change facts and rules, and ask, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from kg_reasoner.cli.console import note, progress_shown, starting, warn
from kg_reasoner.cli.options.checked_values import ruleset_option
from kg_reasoner.cli.options.limit_options import limit_options
from kg_reasoner.cli.options.loading_options import load_documents, loading_options
from kg_reasoner.cli.options.reasoner_options import quiet_option, reasoner_settings, threads_option
from kg_reasoner.cli.options.table_options import add_queries, given_queries, given_tables, sql_options
from kg_reasoner.cli.text_inputs import lines_of
from kg_reasoner.errors import ReasonerError

if TYPE_CHECKING:
    from kg_reasoner.shell.session import Session

_SCRIPT: Final = ".dat"
_UNDONE: Final = "a transaction was open at the end, and is undone"


@click.command(short_help="Change facts and rules, and ask, line by line.")
@click.argument("program_file", metavar="PROGRAM.dl")
@click.argument("files", nargs=-1)
@ruleset_option("A rule set to apply as well, see `kg-reasoner rules`.", "-r")
@click.option("--table", "tables", metavar="NAME=FILE", multiple=True, help="A table of facts for a relation; repeatable.")
@sql_options
@click.option("--header", is_flag=True, help="Tables of CSV and TSV have the names of their columns in the first line.")
@limit_options
@threads_option
@loading_options
@quiet_option
def shell(
    program_file: str,
    files: tuple[str, ...],
    ruleset: str | None,
    tables: tuple[str, ...],
    queries: tuple[str, ...],
    database: str | None,
    header: bool,
    quiet: bool,
) -> None:
    """Execute commands on a Datalog program: from a terminal, from standard input, or from FILES that end in .dat.

    Other FILES are RDF data, which are loaded first.

    \b
    Commands are those of DDlog: start; insert edge("a", "b"), delete edge("a", "c"); commit dump_changes;
    rollback; dump path; query_index by_to("b"); clear edge; profile; ... `help;` lists them.
    SPARQL queries end with a semicolon. Rules and `?- path("a", ?x).`, a query of the rule language, end with a dot.

    An error in a script ends it, with exit code 1, and undoes its open transaction.
    """
    from kg_reasoner.api.operations.notices import probable_mistakes
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.io.fact_files import unused_tables
    from kg_reasoner.language.saved_programs import saved_rule_file
    from kg_reasoner.shell.session import Session

    scripts = [name for name in files if name.endswith(_SCRIPT)]
    if "-" in files and not scripts and not sys.stdin.isatty():
        raise click.UsageError("standard input cannot be both the data and the commands")
    given = given_tables(tables)
    asked = given_queries(queries, database, given)
    program = saved_rule_file(program_file)
    for warning in (*probable_mistakes(program), *unused_tables(program, {**given, **asked})):
        warn(warning)
    with starting():
        reasoner = Reasoner(program, ruleset=ruleset, **reasoner_settings())
    data = [name for name in files if not name.endswith(_SCRIPT)]
    if data:
        with progress_shown() as progress:
            load_documents(reasoner, data, None, progress)
    for predicate, path in given.items():
        reasoner.add_table(predicate, path, header=header)
    add_queries(reasoner, asked, database, nulls="error")
    session = Session(reasoner, sys.stdout, warn)
    for name in scripts:
        if not _run(session, lines_of(name), name):
            return
    if not scripts and sys.stdin.isatty():
        _converse(session)
    elif not scripts:
        _run(session, lines_of("-"), "<standard input>")
    if session.close():
        warn(_UNDONE)


def _run(session: Session, lines: Iterable[str], source: str) -> bool:
    """Execute the statements in some lines. Return whether the session goes on."""
    from kg_reasoner.shell.scripts import run_script
    from kg_reasoner.shell.session import Ended

    try:
        for _ in run_script(session, lines, source):
            sys.stdout.flush()
    except Ended:
        if session.close():
            warn(_UNDONE)
        return False
    return True


def _converse(session: Session) -> None:
    """Ask for lines, and execute them, until there are no more. Errors and interrupts end a statement, not the session."""
    from kg_reasoner.shell.session import Ended
    from kg_reasoner.shell.terminal import line_reader
    from kg_reasoner.shell.text_parts import Splitter

    ask = line_reader(session)
    note("help; lists the commands, exit; or Ctrl-D ends the session")
    splitter = Splitter("<shell>")
    while True:
        try:
            prompt = "kg* " if session.has_transaction else "kg> "
            line = ask(prompt if splitter.is_empty and not session.is_waiting else "... ")
            for statement in splitter.feed(f"{line}\n"):
                session.execute(statement)
            sys.stdout.flush()
        except (EOFError, Ended):
            return
        except KeyboardInterrupt:
            splitter.drop()
            session.drop_updates()
            click.secho("interrupted", err=True)
        except ReasonerError as error:
            splitter.drop()
            click.secho(f"error: {error}", fg="red", err=True)
