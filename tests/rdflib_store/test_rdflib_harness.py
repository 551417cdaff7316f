"""rdflib's harness for SPARQL is run on our store, here with a small checkout in its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]

CHECKER = """
from enum import Enum
from types import SimpleNamespace
from rdflib import Dataset

QueryType = Enum("QueryType", "QUERY UPDATE")

class SPARQLEntry:
    action_data = action_graph_data = None
    type_info = SimpleNamespace(query_type=QueryType.QUERY)
    uri_mapper = SimpleNamespace(to_local_path=lambda iri: __file__.replace("sparql_checker.py", "data.ttl"))

    def query_text(self):
        return "SELECT * FROM <data.ttl> { ?s ?p ?o }"

    def query_base(self):
        return "http://example.org/"

    def load_dataset(self, data, graphs):
        return Dataset()

    def action_dataset(self):
        return self.load_dataset(self.action_data, self.action_graph_data)
"""

TESTS = """
import pytest
from test.utils.sparql_checker import SPARQLEntry

def test_store_and_documents():
    entry = SPARQLEntry()
    dataset = entry.action_dataset()
    assert type(dataset.store).__name__ == "KGReasonerStore"
    assert len(dataset.query(entry.query_text(), base=entry.query_base())) == 1
    assert type(entry.load_dataset(None, None).store).__name__ == "Memory"

@pytest.mark.parametrize("entry", ["http://example.org/data-r2/distinct/manifest#distinct-2"])
def test_entry(entry):
    assert not entry
"""


def test_harness(tmp_path: Path) -> None:
    files = {
        "test/__init__.py": "",
        "test/utils/__init__.py": "",
        "test/utils/sparql_checker.py": CHECKER,
        "test/utils/data.ttl": "<urn:a> <urn:b> <urn:c> .",
        "test/test_w3c_spec/test_sparql10_w3c.py": TESTS,
        "test/test_w3c_spec/test_sparql11_w3c.py": "",
        "test/test_w3c_spec/test_sparql_rdflib.py": "",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    command = [sys.executable, "-m", "benchmarks.conformance.rdflib_harness", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 passed, 1 xfailed" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([*command, "--store", "rdflib"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "2 failed" in done.stdout, done.stdout + done.stderr
