"""Former names of modules, which programs may still import: each is the very module that has another name now.

`Finder` stands before Python's own finders: in a package that has moved, those would find the files, and load them a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

FORMER: Final = {
    "api.profiles": "api.cost_profiles",
    "api.subscriptions": "api.operations.subscriptions",
    "counters": "engine.evaluation.counters",
    "datatypes": "expressions.datatypes",
    "delta": "query.delta",
    "dictionary": "storage.terms.dictionary",
    "engine.counters": "engine.evaluation.counters",
    "entailment": "api.entailment",
    "equality": "engine.equality",
    "feeds": "api.change_feed",
    "functions": "expressions.functions",
    "functions.pattern_errors": "expressions.functions.regex_errors",
    "functions.patterns": "expressions.functions.regex",
    "functions.regular_expressions": "expressions.functions.regex_translation",
    "inconsistency": "engine.inconsistency",
    "kernels": "storage.kernels",
    "limits": "concurrency.limits",
    "maintenance": "engine.maintenance",
    "output": "io.output",
    "parser": "language.parser",
    "printer": "language.printer",
    "rdflib_store.rdflib_results": "rdflib_store.queries.rdflib_results",
    "reasoner": "api.reasoner",
    "relation": "storage.databases.database",
    "sparql.results.rdflib_nodes": "sparql.solutions.rdflib_nodes",
    "store": "rdflib_store",
    "streams": "api.streams",
    "subscriptions": "api.operations.subscriptions",
    "transaction": "api.transaction",
    "update": "api.update",
    "loaders.blank": "loaders.rdf.blank",
    "loaders.bounds": "loaders.rdf.bounds",
    "loaders.catalogs": "loaders.imports.catalogs",
    "loaders.fetch": "loaders.rdf.fetch",
    "loaders.formats": "loaders.rdf.formats",
    "loaders.functional": "loaders.ontology.axiom_texts",
    "loaders.graphs": "loaders.rdf.readers.triples_in_memory",
    "loaders.n3": "loaders.rdf.readers.n3",
    "loaders.ontology.functional": "loaders.ontology.axiom_texts",
    "loaders.owl": "loaders.ontology.owl",
    "loaders.owlxml": "loaders.rdf.readers.owlxml",
    "loaders.profile": "loaders.ontology.profile",
    "loaders.rdf.graphs": "loaders.rdf.readers.triples_in_memory",
    "loaders.sniff": "loaders.rdf.sniff",
    "loaders.sources": "loaders.rdf.sources",
    "loaders.statements": "loaders.rdf.readers.statements",
    "loaders.swrl": "loaders.rules.swrl",
    "loaders.syntax": "loaders.rdf.readers.syntax",
    "spark_backend.exec.reasoner": "spark_backend.exec.spark_reasoner",
    "spark_backend.exec.update": "spark_backend.exec.incremental",
    "spark_backend.graphframes": "spark_backend.exec.graphframes",
    "spark_backend.io.writing": "spark_backend.io.triple_files",
    "spark_backend.reading": "spark_backend.io.reading",
    "spark_backend.reasoner": "spark_backend.exec.spark_reasoner",
    "spark_backend.update": "spark_backend.exec.incremental",
    "spark_backend.workspace": "spark_backend.io.workspace",
    "spark_backend.writing": "spark_backend.io.triple_files",
}
"""Former names and present ones, without the leading ``kg_reasoner.``; the modules of a package have moved with it.

`query`, `loaders.rdf` and `loaders.imports` were modules and are packages now, which hand out what the modules had.
"""

_PACKAGE: Final = "kg_reasoner."


def present(name: str) -> str | None:
    """Return the present full name of a module, given its former full name; None: the name is not a former one.

    >>> present("kg_reasoner.store.sparql")
    'kg_reasoner.rdflib_store.sparql'
    """
    former, inside = name.removeprefix(_PACKAGE), ""
    while former and name.startswith(_PACKAGE):
        if former in FORMER:
            return f"{_PACKAGE}{FORMER[former]}{inside}"
        former, _, last = former.rpartition(".")
        inside = f".{last}{inside}"
    return None


class Finder:
    """Finds modules by their former names, and returns the modules that have replaced them."""

    def __init__(self) -> None:
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the specification by which a module with a former name is loaded."""
        if not name.startswith(_PACKAGE) or present(name) is None:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # it has the methods of a loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, to which Python is about to give its former name."""
        module = import_module(str(present(spec.name)))
        self._own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the name of the module, whose code is not run again."""
        former = module.__spec__
        assert former is not None
        module.__spec__ = self._own.pop(former.name)


def forwarded(package: str, module: str, name: str, names: Sequence[str]) -> Any:
    """Return a name of a package that was a module, from the module that defines it now."""
    if name in names:
        return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
