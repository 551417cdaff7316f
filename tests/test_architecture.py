"""The house: which room may import which, where the kernels and the heavy libraries are, and a page that says so.

A room is a folder of modules. The rules are about every import: those at the top of a module, those inside functions, and those
that only the type checker sees.
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

from .extras import needed

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture" / "where-things-are.md"

# The rooms from the top, each with those that it may import; all of them stand above it, so there is no circle.
# Besides, every room may import the words, which are in `WORDS`.
ROOMS = {
    room.strip(): tuple(others.split())
    for room, _, others in (
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
rdflib_store: concurrency storage query sparql explain loaders loaders.rdf io engine api
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

WORDS = ("errors", "data_classes", "digests", "terms", "program", "substitution", "graphs", "progress", "cache", "lazy_regex")

# What programs see of the package itself: public names, the command, former names of modules, and the interface of owlrl.
FRONT = {"__init__": ("api", "concurrency", "rdflib_store", "_moved"), "__main__": ("cli",), "owlrl": ("engine", "rdflib_store")}

# The rooms that may import `storage.kernels`. Queries and explanations run plans of their own, so they are two of them.
SEE_KERNELS = ("storage", "planning", "query", "explain", "engine")

# Libraries that only some rooms may import.
KEPT_IN = {
    "llvmlite": ("storage.kernels",),
    "lark": ("language", "loaders.syntaxes"),
    "click": ("cli",),
    "rich": ("cli",),
    "pyspark": ("spark_backend", "spark_backend.io", "spark_backend.exec"),
    "graphframes": ("spark_backend.exec",),
}

# What `import kg_reasoner` must not load: the time that they take belongs to those who use them.
HEAVY = ("click", "lark", "llvmlite", "owlready2", "pyoxigraph", "pyspark", "rdflib", "rich")

OWNERS_FOLDERS = ("loaders", "rulesets", "spark_backend")

# Paths that pages name, and that are not in the repository.
OUTSIDE = {"build/site", "../shared/suites"}


def module_files() -> dict[str, Path]:
    """The package's modules, named without the leading ``kg_reasoner.``, and their files."""
    found = {}
    for folder in ("kg_reasoner", *OWNERS_FOLDERS):
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


def room_of(module: str) -> str:
    """The room of a module: ``storage`` of ``storage.kernels.joins``; a module that lies in none is a room of its own."""
    name = module
    while name:
        if name in ROOMS:
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
    package = (
        f"kg_reasoner.{module}" if MODULES.get(module, ROOT).name == "__init__.py" else f"kg_reasoner.{module}".rpartition(".")[0]
    )
    names = {name for name in imports(source, package) if name.partition(".")[0] == "kg_reasoner"}
    return {target(name) for name in names if not name.endswith(".__version__")}


def is_door(module: str, other: str) -> bool:
    """Whether a module is the ``__init__`` of a package that another one lies in: it may hand out what that has."""
    return module in MODULES and MODULES[module].name == "__init__.py" and other.startswith(f"{module}.")


def complaints(module: str, source: str) -> list[str]:
    """What is wrong with the imports of `module`, in words."""
    room = room_of(module)
    allowed = {*WORDS, *ROOMS.get(room, ()), *FRONT.get(room, ())}
    wrong = []
    for name in imports(source, f"kg_reasoner.{module}".rpartition(".")[0]):
        top = name.partition(".")[0]
        if top in OWNERS_FOLDERS:
            wrong.append(f"imports {name}: write kg_reasoner.{name}, the bare name makes a second module object")
        if top in KEPT_IN and not any(f"{module}.".startswith(f"{place}.") for place in KEPT_IN[top]):
            wrong.append(f"imports {top}, which only {' and '.join(KEPT_IN[top])} may")
        if top in ("pyspark", "graphframes") and room not in KEPT_IN[top]:
            wrong.append(f"imports {top}, which {room} plans for and does not know")
    for other in sorted(edges(module, source)):
        if room in WORDS and room_of(other) not in WORDS:
            wrong.append(f"imports {other}: words import nothing but words")
        elif other == "_moved" and (module == "__init__" or MODULES[module].name == "__init__.py"):
            continue
        elif room_of(other) != room and room_of(other) not in allowed and not is_door(module, other):
            wrong.append(f"imports {other}, which {room} may not")
        if f"{other}.".startswith("storage.kernels.") and room not in SEE_KERNELS:
            wrong.append(f"imports {other}: kernels are private to {', '.join(SEE_KERNELS)}")
    return wrong


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_what_its_room_may(module: str) -> None:
    assert room_of(module) in {*ROOMS, *WORDS, *FRONT, "_moved"}, f"{module} lies in no room"
    assert complaints(module, MODULES[module].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("terms", "from kg_reasoner.language.parser import parse", "nothing but words"),
        ("storage.database", "def f():\n    from kg_reasoner.query import patterns", "storage may not"),
        ("storage.database", "from ..query import patterns", "storage may not"),
        ("engine.engine", "if TYPE_CHECKING:\n    from kg_reasoner.api.reasoner import Reasoner", "engine may not"),
        ("api.reasoner", "from kg_reasoner import Reasoner", "api may not"),
        ("api.reasoner", "from kg_reasoner._moved import FORMER", "api may not"),
        ("cli.run", "from kg_reasoner.storage.kernels import native", "kernels are private"),
        ("loaders.rdf.reader", "import loaders.ontology.owl", "second module object"),
        ("planning.planner", "import llvmlite", "only storage.kernels may"),
        ("storage.database", "import llvmlite.ir", "only storage.kernels may"),
        ("spark_backend.plan.logical_plan", "from pyspark.sql import DataFrame", "plans for and does not know"),
        ("spark_backend.exec.spark_run", "from kg_reasoner.engine.engine import Engine", "spark_backend.exec may not"),
        ("spark_backend.io.workers", "import kg_reasoner.planning.planner", "spark_backend.io may not"),
    ],
)
def test_a_broken_rule_is_noticed(module: str, source: str, complaint: str) -> None:
    assert any(complaint in found for found in complaints(module, source))


def test_rooms_have_no_circle() -> None:
    above: set[str] = set()
    for room, others in ROOMS.items():
        assert above.issuperset(others), f"{room} may import what does not stand above it: {sorted(set(others) - above)}"
        above.add(room)


def test_the_table_allows_nothing_that_nobody_needs() -> None:
    used: dict[str, set[str]] = {room: set() for room in ROOMS}
    sees_kernels = set()
    for module, path in MODULES.items():
        for other in edges(module, path.read_text(encoding="utf-8")):
            room = room_of(module)
            if room in ROOMS and not is_door(module, other):
                used[room].add(room_of(other))
            if f"{other}.".startswith("storage.kernels."):
                sees_kernels.add(room)
    idle = {room: sorted(set(others) - used[room]) for room, others in ROOMS.items() if set(others) - used[room]}
    assert idle == {}
    assert sees_kernels == set(SEE_KERNELS)


def test_modules_have_no_circle() -> None:
    graph = {module: edges(module, path.read_text(encoding="utf-8")) - {module} for module, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import in a circle: {' > '.join(reversed(error.args[1]))}")


def test_import_is_light() -> None:
    code = f"import sys, kg_reasoner; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [], f"import kg_reasoner loads {loaded}: import them inside the functions that need them"


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
    [("query", "query.patterns"), ("loaders.rdf", "loaders.rdf.reader"), ("loaders.imports", "loaders.imports.closure")],
)
def test_a_package_that_was_a_module_hands_out_what_that_had(package: str, home: str) -> None:
    room: ModuleType = import_module(f"kg_reasoner.{package}")
    for name in room.__all__:
        assert getattr(room, name) is getattr(import_module(f"kg_reasoner.{home}"), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = room.nothing


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
    """A module's name says what it holds without its room, so that messages and searches need nothing else."""
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if not path.stem.startswith("__"):
            homes.setdefault(path.stem, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


# ---- the page


def test_the_page_has_the_table() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(room, tuple(re.findall(r"`([\w.]+)`", others))) for room, others in rows] == list(ROOMS.items())


def test_the_page_shows_the_tree() -> None:
    (tree,) = re.findall(r"^```text\n(kg_reasoner/\n.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown, above = [], [""]
    for line in tree.splitlines():
        found = re.match(r"( *)(\w+)/(?: |$)", line)
        if found is not None:
            above[len(found[1]) // 2 :] = [f"{above[len(found[1]) // 2 - 1] if found[1] else ''}{found[2]}/"]
            shown.append(above[-1])
    packages = {path.parent for folder in ("kg_reasoner", *OWNERS_FOLDERS) for path in (ROOT / folder).rglob("__init__.py")}
    assert sorted(shown) == sorted(f"{path.relative_to(ROOT).as_posix()}/" for path in packages)
    assert set(re.findall(r"^  (\w+)\.py ", tree, re.MULTILINE)) == set(WORDS)


@pytest.mark.parametrize(
    "page",
    ["docs/architecture/where-things-are.md", "docs/architecture/triple.md", "docs/architecture/query.md", "CONTRIBUTING.md"],
)
def test_what_the_pages_name_is_there(page: str) -> None:
    """Each file and folder, by its path from the root; of a name to be chosen, as in ``rulesets/<name>.dl``, the folder."""
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = {re.split(r"[^/]*[<*]|::", path)[0] for path in re.findall(r"`([\w.-]+/[\w./<>*:-]*)`", text)} - OUTSIDE
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["triple", "query"])
def test_functions_and_classes_that_the_pages_name_are_there(page: str) -> None:
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
