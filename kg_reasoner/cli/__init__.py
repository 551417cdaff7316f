"""The command line, ``kg-reasoner``: one module a command; heavy libraries are imported when a command runs."""

from __future__ import annotations

from typing import Any

import click

from kg_reasoner import __version__
from kg_reasoner.cli.check import check
from kg_reasoner.cli.demo import demo
from kg_reasoner.cli.explain import explain
from kg_reasoner.cli.generate import generate
from kg_reasoner.cli.imports import imports
from kg_reasoner.cli.materialise import materialise
from kg_reasoner.cli.query import query
from kg_reasoner.cli.rules import rules
from kg_reasoner.cli.run import run
from kg_reasoner.cli.spark import spark
from kg_reasoner.errors import ReasonerError

__all__ = ["main"]


class _Commands(click.Group):
    """A group whose commands end with one message and an exit code, whatever the user's input did."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:
            raise  # click ends quietly: the reader of the pipe has seen enough
        except (ReasonerError, OSError) as error:
            click.secho(f"error: {error}", fg="red", err=True)
            context.exit(1)
        except KeyboardInterrupt:
            click.secho("interrupted", err=True)
            context.exit(130)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return super().get_command(context, "materialise" if name == "materialize" else name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="kg-reasoner")
def main() -> None:
    """Materialise, query and inspect RDF data under rules and OWL ontologies; run Datalog programs.

    \b
    Exit codes:
      0    done
      1    an input is missing or wrong, or an output cannot be written; one message says what and where
      2    wrong usage: an unknown command or option
      3    the answer is no: an ASK query is false, a triple to `explain` does not hold, `check` found a contradiction
      130  interrupted
    """


for _command in (materialise, query, explain, run, rules, check, imports, generate, demo, spark):
    main.add_command(_command)
