"""Options shared by several commands, and the reasoner that they describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.console import Stopwatch, detail, is_quiet, note, plural, progress_shown, shortened, starting, warn
from kg_reasoner.cli.options.checked_values import input_format_option, ruleset_option
from kg_reasoner.cli.options.group_options import group_option, group_values
from kg_reasoner.cli.options.limit_options import given_limits, limit_options
from kg_reasoner.cli.options.loading_options import axiom_warnings, load_documents, loading_options, report_missing_imports
from kg_reasoner.cli.options.profile_option import begin_profile, profile_option
from kg_reasoner.concurrency.cores import MOST_THREADS

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.rdflib_store import KGReasonerStore
    from kg_reasoner.rdflib_store.store import Reasoning

__all__ = [
    "data_options",
    "graphs_option",
    "inconsistency_option",
    "load",
    "load_into_store",
    "quiet_option",
    "reasoner_for",
    "reasoner_settings",
    "report_axioms_of_graphs",
    "report_graphs",
    "report_inconsistencies",
    "report_warnings",
    "threads_option",
]

DEFAULT_RULESET: Final = "owl2rl"
_GROUP: Final = "reasoner"
_SHOWN: Final = 3
_WIDTH: Final = 110

_Command = TypeVar("_Command", bound=Callable[..., Any])

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only results, errors, and warnings about the input.")


inconsistency_option = group_option(
    _GROUP,
    "--on-inconsistency",
    type=click.Choice(["report", "raise"]),
    default="report",
    show_default=True,
    help="Report data that contradict the rules, or treat them as an error.",
)

graphs_option = click.option(
    "--graphs",
    "reasoning",
    type=click.Choice(["union", "graph"]),
    default="union",
    show_default=True,
    help="Reason over the triples of all named graphs together, or over each graph by itself.",
)


threads_option = group_option(
    _GROUP,
    "--threads",
    type=click.IntRange(1, MOST_THREADS),
    metavar="N",
    help="The number of threads that read, derive and write together. [default: one per core]",
)


def reasoner_settings() -> dict[str, Any]:
    """Return the arguments for reasoners that the command's options give."""
    return {"limits": given_limits(), **group_values(_GROUP)}


def data_options(command: _Command) -> _Command:
    """Add the options of commands that load RDF and reason over it."""
    for option in (
        quiet_option,
        input_format_option("The syntax of all inputs (nt, turtle, xml ...). [default: from the file names]"),
        loading_options,
        limit_options,
        profile_option,
        threads_option,
        group_option(
            _GROUP,
            "--show-hidden",
            is_flag=True,
            help="Also show inferred triples that hold of every term, such as that it is the same as itself or an rdfs:Resource.",
        ),
        group_option(
            _GROUP,
            "--equality",
            type=click.Choice(["axioms", "rewrite"]),
            default="axioms",
            show_default=True,
            help="How to treat owl:sameAs: by rules, or by merging equal terms, which suits large groups of them.",
        ),
        click.option("--rules", "rules_file", metavar="FILE", help="Additional rules: a program (.dl) or N3 rules (.n3)."),
        ruleset_option(f"The rule set; `kg-reasoner rules` lists them. [default: {DEFAULT_RULESET}; none with --rules]", "-r"),
    ):
        command = option(command)
    return command


def reasoner_for(ruleset: str | None, rules_file: str | None) -> Reasoner:
    """Return a reasoner with a rule set, a program, or both."""
    with starting():
        from kg_reasoner.api.operations.notices import probable_mistakes
        from kg_reasoner.api.reasoner import Reasoner
        from kg_reasoner.language.saved_programs import saved_rule_file
        from kg_reasoner.loaders.rdf.formats import N3, format_of_name

        is_n3 = rules_file is not None and format_of_name(rules_file) is N3
        program = saved_rule_file(rules_file) if rules_file and not is_n3 else None
        if ruleset is None and not rules_file:
            ruleset = DEFAULT_RULESET
        for warning in probable_mistakes(program) if program is not None else ():
            warn(warning)
        reasoner = Reasoner(program, ruleset=ruleset, **reasoner_settings())
    begin_profile(reasoner)
    if rules_file and is_n3:
        load_documents(reasoner, [rules_file], N3.name, None)
    return reasoner


def load_into_store(
    reasoner: Reasoner,
    files: Sequence[str],
    input_format: str | None,
    reasoning: Reasoning,
    inferred_graph: str | None = None,
    allow: Sequence[str] = (),
    *,
    materialises: bool = True,
) -> KGReasonerStore:
    """Load files into a store over the reasoner and materialise, the union or each graph by itself; return the store.

    Without `materialises`, the union is not materialised.
    """
    from kg_reasoner.rdflib_store import KGReasonerStore

    if reasoning == "union":
        store = KGReasonerStore(reasoner, inferred_graph=inferred_graph, allow=allow)
        load(reasoner, files, input_format, materialises=materialises)
        return store
    store = KGReasonerStore(reasoner, reasoning=reasoning, inferred_graph=inferred_graph, allow=allow)
    watch = Stopwatch()
    with progress_shown() as progress:
        load_documents(store.reasoner, files, input_format, progress)
    store.commit()
    explicit = len(store.reasoner.triple_ids("explicit"))
    graphs = len(store.graphs.stored_graphs())
    note(f"{plural(explicit, 'triple')} in {plural(graphs, 'named graph')} loaded in {watch.lap():.2f} s")
    report_missing_imports(store.reasoner)
    return store


def load(reasoner: Reasoner, files: Sequence[str], input_format: str | None, *, materialises: bool = True) -> None:
    """Load files and materialise with progress bars; then report the times and the axioms that rules cannot express."""
    watch = Stopwatch()
    with progress_shown() as progress:
        load_documents(reasoner, files, input_format, progress)
        loading = watch.lap()
        if materialises:
            reasoner.materialise(progress=progress)
    said = f"{plural(reasoner.core.queries.count('explicit'), 'triple')} loaded in {loading:.2f} s"
    if materialises:
        said += f"; {plural(reasoner.core.queries.count('inferred'), 'triple')} inferred in {watch.lap():.2f} s"
    note(said)
    report_missing_imports(reasoner)
    found = axiom_warnings(reasoner)
    if found and not is_quiet():
        report_warnings(found, reasoner.prefixes)


def report_axioms_of_graphs(store: KGReasonerStore) -> None:
    """Report the axioms that rules cannot express in the graphs of a store that have been reasoned over by themselves."""
    if not is_quiet():
        found = [warning for reasoner in store.graphs.reasoners() for warning in axiom_warnings(reasoner)]
        report_warnings(found, store.reasoner.prefixes)


def report_graphs(store: KGReasonerStore) -> None:
    """Report these axioms, and that graphs contradict the rules."""
    report_axioms_of_graphs(store)
    found = sum(len(reasoner.inconsistencies()) for reasoner in store.graphs.reasoners())
    _report_inconsistencies(found, "check --graphs graph")


def report_warnings(warnings: Sequence[AxiomWarning], prefixes: Mapping[str, str], in_full: bool = False) -> None:
    """Report on standard error the axioms that rules cannot fully express: a few in short form, or all of them `in_full`.

    Print nothing with ``--quiet``, because every command on the same ontology gives the same report.
    """
    if not warnings or is_quiet():
        return
    from kg_reasoner.explain.readable_names import Names, axiom_text

    names = Names(prefixes)
    axioms = list(dict.fromkeys(axiom_text(warning.axiom, names) for warning in warnings))
    warn(f"{plural(len(axioms), 'axiom')} cannot be fully expressed by rules:")
    if in_full:
        for warning in warnings:
            detail(axiom_text(str(warning), names))
        return
    for axiom in axioms[:_SHOWN]:
        detail(shortened(axiom, _WIDTH))
    further = f"and {len(axioms) - _SHOWN} more; " if len(axioms) > _SHOWN else ""
    detail(f"({further}`kg-reasoner rules FILES...` says what is lost; --quiet hides this warning)")


def report_inconsistencies(reasoner: Reasoner) -> None:
    """Report on standard error that the data contradict the rules."""
    _report_inconsistencies(len(reasoner.inconsistencies()), "check")


def _report_inconsistencies(found: int, command: str) -> None:
    """Report a number of contradictions, which a command shows."""
    if found:
        warn(f"{plural(found, 'contradiction')} found: run `kg-reasoner {command}` to see them")
