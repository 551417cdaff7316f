"""Runs rdflib's own harness for the W3C's SPARQL tests on our store.

The harness is in a checkout of rdflib, not in its packages. It is run as it is there, with this module as a plugin of pytest that
gives queries and updates a dataset over our store, without rules, where the harness makes a dataset of rdflib. Expected results
remain rdflib's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
import pytest

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import KGReasonerStore, Reasoner

TESTS: Final = tuple(f"test/test_w3c_spec/test_sparql{suite}.py" for suite in ("10_w3c", "11_w3c", "_rdflib"))

_STRINGS: Final = "in RDF 1.1, a literal without a datatype has the datatype xsd:string"
_BLANK_NODES: Final = "a graph of the dataset is one graph in FROM and in FROM NAMED; the test is withdrawn for this reason"

DIFFERENCES: Final = {
    "data-r2/dataset/manifest#dawg-dataset-09": _BLANK_NODES,
    "data-r2/dataset/manifest#dawg-dataset-10": _BLANK_NODES,
    "data-r2/dataset/manifest#dawg-dataset-12": _BLANK_NODES,
    "data-r2/distinct/manifest#distinct-2": _STRINGS,
    "data-r2/distinct/manifest#distinct-9": _STRINGS,
    "data-sparql11/aggregates/manifest#agg-empty-group": "without solutions, GROUP BY makes no group",
    "data-sparql11/functions/manifest#strlang03": _STRINGS,
    "rdflib/sparql/manifest.ttl#filteroptional": "the condition of an OPTIONAL does not remove solutions of its left side",
}
"""Tests that our store fails and rdflib's passes, by the end of their IRIs, and why."""


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Use our store, and expect the differences."""
    _checker().SPARQLEntry.action_dataset = _dataset_of_ours
    for item in items:
        for test, reason in DIFFERENCES.items():
            if item.name.endswith(f"{test}]"):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _checker() -> Any:
    """Return the module of the harness, which is in the checkout."""
    return import_module("test.utils.sparql_checker")


def _dataset_of_ours(entry: Any) -> Any:
    """Return the dataset of a test before its query or update.

    The documents that FROM names are graphs of it: our store fetches nothing.
    """
    from rdflib import Dataset
    from rdflib.plugins.sparql import prepareQuery

    class OurDataset(Dataset):
        def __init__(self) -> None:
            super().__init__(store=KGReasonerStore(Reasoner()))

    checker = _checker()
    checker.Dataset = OurDataset
    try:
        dataset = entry.load_dataset(entry.action_data, entry.action_graph_data)
    finally:
        checker.Dataset = Dataset
    if entry.type_info.query_type is checker.QueryType.QUERY:
        for clause in prepareQuery(entry.query_text(), base=entry.query_base()).algebra.datasetClause or ():
            name = clause.default or clause.named
            dataset.graph(name).parse(entry.uri_mapper.to_local_path(name), publicID=name)
    return dataset


@click.command(context_settings={**SETTINGS, "ignore_unknown_options": True})
@click.option("--store", type=click.Choice(["ours", "rdflib"]), default="ours", help="Whose store is tested.")
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(store: str, checkout: Path, options: tuple[str, ...]) -> None:
    """Run rdflib's harness for SPARQL in a checkout of rdflib, with any further options of pytest."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    plugin = ["-p", "benchmarks.conformance.rdflib_harness"] if store == "ours" else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *plugin, *options, *TESTS]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    sys.exit(subprocess.run(command, cwd=checkout, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
