"""What is built from this tree: the source distribution, the wheel, and the types that users' programs are checked against."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.helpers.code_blocks import PYTHON
from tests.helpers.extras import needed
from tests.project.test_packaging import ROOT
from tests.project.test_readme import STORIES

pytestmark = pytest.mark.long

NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", "build", "dist", ".*_cache", ".hypothesis")
STALE = "kg_reasoner/removed_long_ago.py"


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command prints; it fails if the command does."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of a tree in which something was built before."""
    needed("build")
    folder = tmp_path_factory.mktemp("distribution")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
    stale = tree / "build" / "lib" / STALE
    stale.parent.mkdir(parents=True)
    stale.write_text("")
    for kind in ("--wheel", "--sdist"):
        run(sys.executable, "-m", "build", kind, "--outdir", folder, tree, folder=folder)
    return folder


def test_the_wheel_has_the_packages_and_nothing_that_was_built_before(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert STALE not in names
    assert {"kg_reasoner/py.typed", "kg_reasoner/language/grammar.lark", "kg_reasoner/rulesets/owl2rl.dl"} <= names
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "kg_reasoner").rglob("*.py")}
    for folder in ("loaders", "rulesets", "spark_backend"):
        modules |= {f"kg_reasoner/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / folder).rglob("*.py")}
    assert modules <= names
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"kg_reasoner"}


def test_the_source_distribution_has_what_its_tests_need(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        members = [member for member in file if member.isfile() and ".." not in Path(member.name).parts]
        names = {str(Path(*Path(member.name).parts[1:])) for member in members}
        file.extractall(tmp_path, members)
    wanted = {
        str(path.relative_to(ROOT))
        for folder in ("tests", "benchmarks", "docs", "examples", ".ci", "kg_reasoner", "loaders", "rulesets", "spark_backend")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    texts = {"README.md", "CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "mkdocs.yml", "pyproject.toml"}
    assert wanted | texts <= names
    (tree,) = tmp_path.iterdir()
    run(sys.executable, "-m", "pytest", "-qq", "--collect-only", "-p", "no:cacheprovider", folder=tree)


def test_programs_of_the_readme_have_types(built: Path, tmp_path: Path) -> None:
    """In a project of a user's, where the package is installed and mypy is strict."""
    needed("mypy")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path).strip())
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    project = tmp_path / "project"
    project.mkdir()
    for story in STORIES:
        code = "".join(block.code for block in story if block.language in PYTHON and "output" not in block.markers)
        if code:
            (project / f"line_{story[0].line}.py").write_text(code, encoding="utf-8")
    said = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, project, folder=project)
    assert said.startswith("Success: no issues found in ")
    (project / "wrong.py").write_text(
        "from kg_reasoner import Reasoner\nReasoner(equality='both').sizes().nothing\n", encoding="utf-8"
    )
    with pytest.raises(AssertionError) as raised:
        run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, project, folder=project)
    assert "Literal['axioms', 'rewrite']" in str(raised.value)
    assert '"Sizes" has no attribute "nothing"' in str(raised.value)
