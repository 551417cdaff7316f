"""The order of the house: a module imports only what stands above it, and heavy libraries only where they belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The rooms of the house from the top. A module imports from rooms above its own, and from its own; a package is one room.
ORDER = """
errors
cache
limits
locking
readings
terms
program
values
datatypes
demands
functions
expressions
aggregates
analysis
syntax_errors
parser_tables
parser
printer
cells
facts_io
kernels
dictionary
column_types
literals
relation
calls
catalog
groups
value_table
statistics
matching
tables
quads
delta
collector
visibility
literal_triples
update
counters
planner
materialise
dbsp
maintenance
explain
query
rulesets
loaders
schema
axiom_rules
supply
rulebook
subscriptions
feeds
streams
transaction
inconsistency
clashes
equality
encoding
named_graphs
documents
notices
fact_base
journal
engine
reasoner
exports
entailment
reading
store
files
rdfxml
turtle
output
lubm
spark_backend
cli
__init__
__main__
""".strip().splitlines()

PLACE = {room: number for number, room in enumerate(ORDER)}

# The Spark backend hangs on the side of the house: it sees the rules, and nothing of the engine that runs in this process.
SPARK_SEES = {
    *("errors", "terms", "program", "values", "expressions", "datatypes", "demands", "analysis", "supply"),
    *("parser", "printer", "rulesets", "spark_backend"),
    *("loaders.owl", "loaders.sources", "loaders.statements", "loaders.syntax"),
}

# Libraries that only some rooms may import.
KEPT_IN = {
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "lark": {"parser", "parser_tables"},
    "click": {"cli"},
    "rich": {"cli"},
    "pyspark": {"spark_backend"},
    "graphframes": {"spark_backend"},
}

# What `import kg_reasoner` must not load: the time that they take belongs to those who use them.
HEAVY = ("click", "lark", "llvmlite", "numba", "owlready2", "pyoxigraph", "pyspark", "rdflib", "rich")

OWNERS_FOLDERS = ("loaders", "rulesets", "spark_backend")


def module_files() -> dict[str, Path]:
    """The package's modules, named without the leading ``kg_reasoner.``, and their files."""
    found = {}
    for folder in ("kg_reasoner", *OWNERS_FOLDERS):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / "kg_reasoner" if folder == "kg_reasoner" else ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


MODULES = module_files()


def imports(source: str, package: str) -> Iterator[str]:
    """The absolute names that a module of `package` imports, wherever in its text; ``from a import b`` gives ``a.b``.

    What only the type checker sees (``if TYPE_CHECKING``) is left out.
    """
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                upwards = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*upwards, base] if base else upwards)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def room(module: str) -> str:
    """The part of the house that a module belongs to: ``kernels.joins`` is part of ``kernels``."""
    return module.partition(".")[0]


ROOMS = {room(module) for module in MODULES}


def complaints(module: str, source: str) -> list[str]:
    """What is wrong with the imports of `module`, in words."""
    here = room(module)
    package = "kg_reasoner" if "." not in module else f"kg_reasoner.{module.rpartition('.')[0]}"
    wrong = []
    for name in imports(source, package):
        top, _, rest = name.partition(".")
        if top in OWNERS_FOLDERS:
            wrong.append(f"imports {name}: write kg_reasoner.{name}, the bare name makes a second module object")
        if top in KEPT_IN and here not in KEPT_IN[top]:
            wrong.append(f"imports {top}, which only {' and '.join(sorted(KEPT_IN[top]))} may")
        if top != "kg_reasoner" or rest in ("", "__version__"):
            continue
        target = room(rest) if room(rest) in ROOMS else "__init__"
        if here == "spark_backend":
            if not any(f"{rest}.".startswith(f"{seen}.") for seen in SPARK_SEES):
                wrong.append(f"imports {name}: the Spark backend sees only {', '.join(sorted(SPARK_SEES))}")
        elif PLACE.get(target, len(ORDER)) > PLACE[here]:
            wrong.append(f"imports {name}, which stands below it")
    return wrong


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_what_stands_above_it(module: str) -> None:
    assert room(module) in PLACE or room(module) == "spark_backend", f"give {room(module)!r} its place in ORDER"
    assert complaints(module, MODULES[module].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("terms", "from kg_reasoner.program import Rule", "stands below"),
        ("terms", "def f():\n    from kg_reasoner import program", "stands below"),
        ("terms", "from .program import Rule", "stands below"),
        ("reasoner", "from kg_reasoner import Reasoner", "stands below"),
        ("loaders.rdf", "import loaders.owl", "second module object"),
        ("planner", "import numba", "only kernels may"),
        ("spark_backend.plans", "from kg_reasoner.kernels.joins import join", "Spark backend sees only"),
        ("spark_backend.plans", "from kg_reasoner.loaders import rdf", "Spark backend sees only"),
    ],
)
def test_a_broken_order_is_noticed(module: str, source: str, complaint: str) -> None:
    assert any(complaint in found for found in complaints(module, source))


def test_import_is_light() -> None:
    code = f"import sys, kg_reasoner; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [], f"import kg_reasoner loads {loaded}: import them inside the functions that need them"
