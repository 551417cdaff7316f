"""Which package may import which, who may import the kernels and the heavy libraries, and whether the page about it is correct.

The rules are about every import: those at the top of a module, those inside functions, and those that only the type checker sees.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from kg_reasoner._moved import FORMER, present
from kg_reasoner.storage.kernels.machine_code.machine import HOST, this_machine
from kg_reasoner.storage.kernels.memory import buffers
from tests.helpers.extras import needed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture" / "where-things-are.md"

# The packages, each with those that it may import, in an order in which these come before it. Besides, every package may import the
# `COMMON` modules.
PACKAGES = {
    package.strip(): tuple(others.split())
    for package, _, others in (
        line.partition(":")
        for line in """
expressions:
language: expressions
concurrency:
storage: expressions language concurrency
planning: expressions language storage
query: expressions language concurrency storage planning
loaders:
loaders.rules: loaders
loaders.syntaxes: language loaders loaders.rules
loaders.rdf: concurrency storage loaders loaders.rules loaders.syntaxes
io: expressions concurrency storage loaders loaders.syntaxes loaders.rdf
tables: storage io
sparql: expressions concurrency storage query loaders loaders.rdf io
explain: expressions language storage planning
dbsp: expressions language concurrency
rulesets: language
loaders.ontology: expressions language loaders.rules
loaders.imports: storage loaders.rules loaders.rdf
engine: expressions language concurrency storage planning query explain dbsp loaders loaders.rules loaders.ontology
classification: expressions language concurrency storage explain loaders.rules loaders.ontology engine
api: expressions language concurrency storage planning query sparql explain rulesets loaders loaders.rules loaders.ontology
    loaders.rdf loaders.imports engine classification io tables
shell: expressions language storage query sparql api
lubm: io
rdflib_store: concurrency storage query sparql loaders loaders.rdf io engine api
owlready2: expressions concurrency storage explain loaders.ontology loaders.rdf classification api
spark_backend:
spark_backend.plan: expressions language
spark_backend.io: storage loaders.rdf spark_backend
spark_backend.exec: expressions language concurrency planning loaders.ontology api spark_backend spark_backend.plan spark_backend.io
cli: language concurrency storage query sparql explain rulesets loaders loaders.ontology loaders.rdf loaders.imports engine
    classification api io tables shell lubm rdflib_store spark_backend spark_backend.io
""".replace("\n    ", " ")
        .strip()
        .splitlines()
    )
}

# The rooms of packages in an order in which each imports only those before it. The modules beside them come where "modules" is, but
# for those that are named.
ROOMS = {
    package: tuple(rooms.split())
    for package, rooms in {
        "language": "modules strata types checks selection std desugaring reading parser saved_programs",
        "storage": "kernels modules terms values recursion relations preparation parallel databases cells readers writers",
        "loaders.rdf": "modules readers",
        "sparql": "modules rdflib_grammar syntax solutions evaluation queries results repeated",
        "engine": "inconsistency evaluation axioms facts equality maintenance state magic_sets modules",
        "api": "declared_relations operations inputs explicit answering modules",
        "rdflib_store": "graphs documents queries updates modules",
        "spark_backend.exec": "graphframes preparation facts evaluation modules",
        "cli": "modules options commands",
    }.items()
}

COMMON = (
    "errors",
    "data_classes",
    "digests",
    "terms",
    "program",
    "substitution",
    "graphs",
    "progress",
    "cache",
    "lazy_modules",
    "lazy_regex",
)

# Modules at the top of the tree that give access to packages: public names, the command, and the interface of owlrl.
ENTRY_POINTS = {
    "__init__": ("api", "concurrency", "rdflib_store", "_moved"),
    "__main__": ("cli",),
    "owlrl": ("engine", "rdflib_store"),
}

# The packages that may import `storage.kernels`. Queries and explanations run plans of their own, so they are two of them.
KERNEL_USERS = ("storage", "planning", "query", "explain", "engine")

# Libraries that only some packages may import.
RESTRICTED_LIBRARIES = {
    "llvmlite": ("storage.kernels.machine_code",),
    "lark": ("language", "loaders.syntaxes"),
    "click": ("cli",),
    "rich": ("cli",),
    "pyspark": ("spark_backend", "spark_backend.io", "spark_backend.exec"),
    "graphframes": ("spark_backend.exec",),
}

# What `import kg_reasoner` must not load: the time that they take belongs to those who use them.
HEAVY = ("click", "lark", "llvmlite", "owlready2", "pyoxigraph", "pyspark", "rdflib", "rich")

SIBLING_FOLDERS = ("loaders", "rulesets", "spark_backend")

# Paths that pages name, and that are not in the repository.
OUTSIDE = {"build/site", "../shared/suites"}


def module_files() -> dict[str, Path]:
    """The package's modules, named without the leading ``kg_reasoner.``, and their files."""
    found = {}
    for folder in ("kg_reasoner", *SIBLING_FOLDERS):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / "kg_reasoner" if folder == "kg_reasoner" else ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


MODULES = module_files()


@cache
def imports(source: str, package: str) -> tuple[str, ...]:
    """The absolute names that a module of `package` imports, wherever in its text; ``from a import b`` gives ``a.b``."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                upwards = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*upwards, base] if base else upwards)
            found += (f"{base}.{alias.name}" for alias in node.names)
    return tuple(found)


def package_of(module: str) -> str:
    """The package of a module: ``storage`` of ``storage.kernels.joins``; of a module at the top of the tree, its own name."""
    name = module
    while name:
        if name in PACKAGES:
            return name
        name = name.rpartition(".")[0]
    return module


def target(name: str) -> str:
    """The module that an imported name of the package belongs to, whether it is one or lies in one."""
    name = name.partition("kg_reasoner.")[2]
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def edges(module: str, source: str) -> set[str]:
    """The modules of the package that a module imports."""
    name = f"kg_reasoner.{module}"
    package = name if MODULES.get(module, ROOT).name == "__init__.py" else name.rpartition(".")[0]
    names = {name for name in imports(source, package) if name.partition(".")[0] == "kg_reasoner"}
    return {target(name) for name in names if not name.endswith(".__version__")}


def may_reexport(module: str, other: str) -> bool:
    """Whether a module is the ``__init__`` of a package that another one lies in: it may export the names of that."""
    return module in MODULES and MODULES[module].name == "__init__.py" and other.startswith(f"{module}.")


def violations(module: str, source: str) -> list[str]:
    """The violations of the rules by the imports of `module`, as messages."""
    package = package_of(module)
    allowed = {*COMMON, *PACKAGES.get(package, ()), *ENTRY_POINTS.get(package, ())}
    wrong = []
    for name in imports(source, f"kg_reasoner.{module}".rpartition(".")[0]):
        top = name.partition(".")[0]
        if top in SIBLING_FOLDERS:
            wrong.append(f"imports {name}: write kg_reasoner.{name}, the bare name makes a second module object")
        if top in RESTRICTED_LIBRARIES and not any(f"{module}.".startswith(f"{place}.") for place in RESTRICTED_LIBRARIES[top]):
            wrong.append(f"imports {top}, which only {' and '.join(RESTRICTED_LIBRARIES[top])} may")
        if top in ("pyspark", "graphframes") and package not in RESTRICTED_LIBRARIES[top]:
            wrong.append(f"imports {top}: planning for Spark is independent of it")
    for other in sorted(edges(module, source)):
        if package in COMMON and package_of(other) not in COMMON:
            wrong.append(f"imports {other}: common modules import nothing but common modules")
        elif other == "_moved" and (module == "__init__" or MODULES[module].name == "__init__.py"):
            continue
        elif package_of(other) != package and package_of(other) not in allowed and not may_reexport(module, other):
            wrong.append(f"imports {other}, which {package} may not")
        if f"{other}.".startswith("storage.kernels.") and package not in KERNEL_USERS:
            wrong.append(f"imports {other}: kernels are private to {', '.join(KERNEL_USERS)}")
    return wrong


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_package_may(module: str) -> None:
    assert package_of(module) in {*PACKAGES, *COMMON, *ENTRY_POINTS, "_moved"}, f"the table has no package of {module}"
    assert violations(module, MODULES[module].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("terms", "from kg_reasoner.language.parser import parse", "nothing but common modules"),
        ("storage.databases.database", "def f():\n    from kg_reasoner.query import patterns", "storage may not"),
        ("storage.databases.database", "from ...query import patterns", "storage may not"),
        ("engine.engine", "if TYPE_CHECKING:\n    from kg_reasoner.api.reasoner import Reasoner", "engine may not"),
        ("api.reasoner", "from kg_reasoner import Reasoner", "api may not"),
        ("api.reasoner", "from kg_reasoner._moved import FORMER", "api may not"),
        ("cli.commands.run", "from kg_reasoner.storage.kernels import native", "kernels are private"),
        ("loaders.rdf.readers.reader", "import loaders.ontology.owl", "second module object"),
        ("planning.planner", "import llvmlite", "only storage.kernels.machine_code may"),
        ("storage.databases.database", "import llvmlite.ir", "only storage.kernels.machine_code may"),
        ("spark_backend.plan.logical_plan", "from pyspark.sql import DataFrame", "planning for Spark is independent of it"),
        ("spark_backend.exec.spark_run", "from kg_reasoner.engine.engine import Engine", "spark_backend.exec may not"),
        ("spark_backend.io.workers", "import kg_reasoner.planning.planner", "spark_backend.io may not"),
    ],
)
def test_a_forbidden_import_is_reported(module: str, source: str, message: str) -> None:
    assert any(message in found for found in violations(module, source))


def test_packages_import_only_packages_above_them() -> None:
    above: set[str] = set()
    for package, others in PACKAGES.items():
        assert above.issuperset(others), f"{package} may import packages that are not above it: {sorted(set(others) - above)}"
        above.add(package)


def room_of(module: str, package: str) -> str:
    """The room of a package's module: ``kernels`` of ``storage.kernels.joins``; of a module beside the rooms, its place."""
    room = module.removeprefix(f"{package}.").partition(".")[0]
    return room if room in ROOMS[package] or f"{package}.{room}" != module else "modules"


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_import_only_rooms_before_them(package: str) -> None:
    wrong = []
    inside = [module for module in MODULES if module.startswith(f"{package}.")]
    assert {room_of(module, package) for module in inside} == set(ROOMS[package])
    for module in inside:
        for other in edges(module, MODULES[module].read_text(encoding="utf-8")) & set(inside):
            if ROOMS[package].index(room_of(other, package)) > ROOMS[package].index(room_of(module, package)):
                wrong.append(f"{module} imports {other}")
    assert wrong == []


def test_every_permission_is_used() -> None:
    used: dict[str, set[str]] = {package: set() for package in PACKAGES}
    use_kernels = set()
    for module, path in MODULES.items():
        for other in edges(module, path.read_text(encoding="utf-8")):
            package = package_of(module)
            if package in PACKAGES and not may_reexport(module, other):
                used[package].add(package_of(other))
            if f"{other}.".startswith("storage.kernels."):
                use_kernels.add(package)
    unused = {package: sorted(set(others) - used[package]) for package, others in PACKAGES.items() if set(others) - used[package]}
    assert unused == {}
    assert use_kernels == set(KERNEL_USERS)


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    graph = {module: edges(module, path.read_text(encoding="utf-8")) - {module} for module, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import each other in a cycle: {' > '.join(reversed(error.args[1]))}")


def test_import_loads_no_heavy_library() -> None:
    code = f"import sys, kg_reasoner; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [], f"import kg_reasoner loads {loaded}: import them inside the functions that need them"


NOT_NEEDED = """
api.fact_tables concurrency.ordered_work engine.axioms.beyond_el engine.maintenance.rematerialise explain.ground explain.steps
expressions.aggregate_functions expressions.compile expressions.functions expressions.types io.owl_output io.parquet language.choice
language.parser language.reading.syntax_errors loaders.imports.catalogs loaders.rdf.declared_prefixes loaders.rdf.merging
loaders.rdf.readers.quadstore loaders.rdf.scan loaders.rdf.readers.syntax loaders.rdf.readers.triples_in_memory
loaders.rdf.readers.turtle loaders.rdf.readers.xml planning.functions.calculations planning.functions.collection_functions
planning.layouts.triple_table sparql storage.databases.batching storage.kernels.joins storage.kernels.maintenance.deletion
storage.kernels.queries.around storage.kernels.queries.searching storage.cells.table_terms tables
"""
"""Modules and packages that a plain materialisation does without: they are imported where they are needed."""

OF_THE_LIBRARY = ["base64", "bz2", "lzma", "pyexpat", "shutil"]

MATERIALISE = """
from kg_reasoner.cli import main
main(["materialise", sys.argv[1], "--ruleset", "owl2rl", "-o", sys.argv[1] + ".all.nt"], standalone_mode=False)
"""
ADD_TRIPLES = """
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, RDF, RDFS
reasoner = Reasoner(ruleset="owl2rl")
small, large, thing = (IRI(f"http://example.org/{name}") for name in ("Small", "Large", "thing"))
reasoner.add_triples([(small, RDFS.subClassOf, large), (thing, RDF.type, small)])
assert (thing, RDF.type, large) in set(reasoner.triples())
"""


@pytest.mark.skipif(this_machine() is HOST or buffers.CHECKED, reason="the modules of kernels are imported")
@pytest.mark.parametrize("run", [MATERIALISE, ADD_TRIPLES], ids=["file to file", "triples"])
def test_a_plain_materialisation_imports_only_what_it_needs(run: str, tmp_path: Path) -> None:
    triples = tmp_path / "some.nt"
    triples.write_text("<http://a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://b> .\n")
    command = [sys.executable, "-c", f"import sys\n{run}\nprint(*sys.modules)", str(triples)]
    for _ in range(2):  # the first process may have to parse the rule set and to compile kernels
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    unknown = [name for name in NOT_NEEDED.split() if name not in MODULES and name not in map(package_of, MODULES)]
    assert unknown == []
    names = [*(f"kg_reasoner.{name}" for name in NOT_NEEDED.split()), *OF_THE_LIBRARY]
    assert sorted({*done.stdout.split()}.intersection(names)) == []


@pytest.mark.skipif(this_machine() is HOST or buffers.CHECKED, reason="the modules of kernels are imported")
def test_threads_run_kernels_without_importing_them() -> None:
    code = "import sys, kg_reasoner.storage.parallel.worker_team; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    kernels = {f"kg_reasoner.storage.kernels.{name}" for name in ("bulk_insertion", "joins", "parallel_deletion", "relations")}
    assert not kernels.intersection(done.stdout.split())


@pytest.mark.parametrize(("given", "expected"), [(None, "20"), ("5", "5")])
def test_import_shortens_how_long_numpys_threads_wait(given: str | None, expected: str) -> None:
    name = "OPENBLAS_THREAD_TIMEOUT"
    environment = {key: value for key, value in os.environ.items() if key != name} | ({name: given} if given else {})
    command = [sys.executable, "-c", f"import os, kg_reasoner; print(os.environ[{name!r}])"]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert found.strip() == expected


# ---- what is public


def test_the_package_shows_its_public_names_and_no_modules() -> None:
    code = (
        "import kg_reasoner, kg_reasoner.api.reasoner, kg_reasoner.parser\n"
        "names = [name for name in dir(kg_reasoner) if not name.startswith('__')]\n"
        "assert names == sorted(kg_reasoner.__all__), names\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_is_the_same_module(former: str) -> None:
    if former.startswith("spark_backend."):
        needed("pyspark")
    assert former not in MODULES
    module = import_module(f"kg_reasoner.{FORMER[former]}")
    assert import_module(f"kg_reasoner.{former}") is module
    assert module.__name__ == f"kg_reasoner.{FORMER[former]}"
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__


@pytest.mark.parametrize("former", ["store.sparql", "kernels.layout", "functions.patterns", "maintenance.strata", "equality.views"])
def test_modules_of_a_package_have_moved_with_it(former: str) -> None:
    assert import_module(f"kg_reasoner.{former}") is sys.modules[str(present(f"kg_reasoner.{former}"))]


@pytest.mark.parametrize(
    ("package", "home"),
    [("query", "query.patterns"), ("loaders.rdf", "loaders.rdf.readers.reader"), ("loaders.imports", "loaders.imports.closure")],
)
def test_a_package_that_was_a_module_exports_its_names(package: str, home: str) -> None:
    exporting: ModuleType = import_module(f"kg_reasoner.{package}")
    for name in exporting.__all__:
        assert getattr(exporting, name) is getattr(import_module(f"kg_reasoner.{home}"), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = exporting.nothing


def test_former_names_in_import_statements() -> None:
    code = (
        "import sys\n"
        "from kg_reasoner import parser, store\n"
        "import kg_reasoner.store.sparql\n"
        "from kg_reasoner.loaders.rdf import read\n"
        "assert parser.__name__ == 'kg_reasoner.language.parser'\n"
        "assert store.sparql is sys.modules['kg_reasoner.rdflib_store.sparql']\n"
        "try:\n"
        "    import kg_reasoner.nothing\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "No module named 'kg_reasoner.nothing'\n"


def test_the_reasoner_delegates() -> None:
    """The class is the interface, with its documentation: what its methods do is in modules of one subject each."""
    (reasoner,) = (node for node in ast.parse(MODULES["api.reasoner"].read_text("utf-8")).body if isinstance(node, ast.ClassDef))
    methods = [node for node in reasoner.body if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    assert len(methods) > 50
    work = (ast.For, ast.While, ast.Try, ast.comprehension)
    long = [each.name for each in methods if sum(isinstance(node, ast.stmt) for node in ast.walk(each)) > 6]
    loops = [each.name for each in methods if any(isinstance(node, work) for node in ast.walk(each))]
    assert (long, loops) == ([], [])


# ---- names


# Modules whose classes have the names of their notations: the algebra of SPARQL, which is always written with the module
# (`algebra.Filter`), the texts of rules, and the records of kernels.
QUALIFIED = ("sparql.algebra", "language.surface", "storage.kernels.layout")


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and module not in QUALIFIED:
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_no_two_modules_have_one_name() -> None:
    """A module's name says what it holds without its package, so that messages and searches need nothing else."""
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if not path.stem.startswith("__"):
            homes.setdefault(path.stem, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


# ---- the page


def test_the_page_has_the_table() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(package, tuple(re.findall(r"`([\w.]+)`", others))) for package, others in rows] == list(PACKAGES.items())


def test_the_page_lists_the_rooms_in_order() -> None:
    lists = re.findall(r"^- `([\w.]+)`: ((?:`\w+`|modules|,|\s)+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {package: tuple(re.findall(r"\w+", rooms)) for package, rooms in lists} == ROOMS


def test_the_page_shows_the_tree() -> None:
    (tree,) = re.findall(r"^```text\n(kg_reasoner/\n.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown, above = [], [""]
    for line in tree.splitlines():
        found = re.match(r"( *)(\w+)/(?: |$)", line)
        if found is not None:
            above[len(found[1]) // 2 :] = [f"{above[len(found[1]) // 2 - 1] if found[1] else ''}{found[2]}/"]
            shown.append(above[-1])
    packages = {path.parent for folder in ("kg_reasoner", *SIBLING_FOLDERS) for path in (ROOT / folder).rglob("__init__.py")}
    assert sorted(shown) == sorted(f"{path.relative_to(ROOT).as_posix()}/" for path in packages)
    assert set(re.findall(r"^  (\w+)\.py ", tree, re.MULTILINE)) == set(COMMON)


@pytest.mark.parametrize(
    "page",
    ["docs/architecture/where-things-are.md", "docs/architecture/triple.md", "docs/architecture/query.md", "CONTRIBUTING.md"],
)
def test_files_that_the_pages_name_exist(page: str) -> None:
    """Each file and folder, by its path from the root; of a name to be chosen, as in ``rulesets/<name>.dl``, the folder."""
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = {re.split(r"[^/]*[<*]|::", path)[0] for path in re.findall(r"`([\w.-]+/[\w./<>*:-]*)`", text)} - OUTSIDE
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["triple", "query"])
def test_functions_and_classes_that_the_pages_name_exist(page: str) -> None:
    """Each in the file beside it or, as in `` `name` of `file` `` and `` `name` (`file`) ``, behind it."""
    text = (ROOT / f"docs/architecture/{page}.md").read_text(encoding="utf-8")
    count, missing = 0, []
    for beside, row in re.findall(r"^\|[^|]*\|([^|]*`kg_reasoner/[^|]*)\|([^|]*)\|$", text, re.MULTILINE):
        for name, behind in re.findall(r"`([\w.]+)`(?: (?:of |\()`(kg_reasoner/[^`]*)`)?", row):
            files = [behind] if behind else re.findall(r"`([^`]*)`", beside)
            code = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in files)
            constants = re.findall(r"^(\w+)\b[^=\n]* = ", code, re.MULTILINE)
            attributes = re.findall(r"^ +self\.(\w+)[^=\n]* = ", code, re.MULTILINE)
            defined = {*re.findall(r"(?:def|class) (\w+)", code), *constants, *attributes}
            missing += [f"{name} in {', '.join(files)}"] * (not defined.issuperset(name.split(".")))
            count += 1
    assert count > 10 and missing == []
