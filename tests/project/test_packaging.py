"""What is installed is the whole package, and nothing beside it."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kg_reasoner import errors
from kg_reasoner.errors import MissingExtraError
from tests.helpers.extras import SOURCES, needed

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = needed("tomli")

ROOT = Path(__file__).resolve().parents[2]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: list[str] = SETTINGS["tool"]["setuptools"]["packages"]
FOLDERS: dict[str, str] = SETTINGS["tool"]["setuptools"]["package-dir"]


def folder_of(package: str) -> Path:
    """The folder of a package in the checkout: that of the nearest package above it that has one of its own."""
    above = max((known for known in FOLDERS if f"{package}.".startswith(f"{known}.")), key=len)
    return ROOT.joinpath(FOLDERS[above], *package.removeprefix(above).split("."))


def test_every_package_is_installed() -> None:
    found = {path.parent for folder in FOLDERS.values() for path in (ROOT / folder).rglob("__init__.py")}
    assert {folder_of(package) for package in PACKAGES} == found


def test_every_data_file_is_installed() -> None:
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]["*"]
    installed = {path for package in PACKAGES for pattern in patterns for path in folder_of(package).glob(pattern)}
    wanted = {
        path
        for folder in FOLDERS.values()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and not path.name.startswith(".")
    }
    assert wanted == installed


def test_the_build_of_a_release_finds_the_libraries_of_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an isolated build, pip has the required libraries on the path of the processes that it starts."""
    setuptools = needed("setuptools")
    build_py = import_module("setuptools.command.build_py").build_py
    paths: list[list[str]] = []
    monkeypatch.setenv("KG_REASONER_RELEASE", "1")
    monkeypatch.setenv("PYTHONPATH", "isolated")
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setattr(build_py, "run", lambda build: None)
    monkeypatch.setattr(subprocess, "run", lambda *_, env, **__: paths.append(env["PYTHONPATH"].split(os.pathsep)))
    build = runpy.run_path(str(ROOT / "setup.py"))["FreshBuild"](setuptools.Distribution())
    build.build_lib, build.editable_mode = str(tmp_path), False
    build.run()
    assert paths == [[str(tmp_path.resolve()), "isolated"]]


def test_nothing_lands_outside_of_the_package() -> None:
    assert {package.partition(".")[0] for package in PACKAGES} == {"kg_reasoner"}


@pytest.mark.parametrize(
    "target",
    [
        *SETTINGS["project"]["scripts"].values(),
        *(target for group in SETTINGS["project"]["entry-points"].values() for target in group.values()),
    ],
)
def test_entry_points_exist(target: str) -> None:
    module, _, name = target.partition(":")
    assert callable(getattr(import_module(module), name))


def test_the_version_is_one() -> None:
    import kg_reasoner

    assert kg_reasoner.__version__ == SETTINGS["project"]["version"]


def test_the_licence_is_the_one_that_is_declared() -> None:
    assert SETTINGS["project"]["license"] == "Apache-2.0"
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert re.search(r"Apache License\s+Version 2\.0, January 2004", licence)
    assert "END OF TERMS AND CONDITIONS" in licence


def imported_modules(package_folder: Path) -> set[str]:
    """The top-level modules that the files of a folder import."""
    found = set()
    for file in package_folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


@pytest.mark.long
def test_every_mandatory_dependency_is_imported() -> None:
    modules = {"google-re2": "re2"}
    names = {re.match(r"[A-Za-z0-9_-]+", requirement)[0] for requirement in SETTINGS["project"]["dependencies"]}  # type: ignore[index]
    imported = set().union(*(imported_modules(ROOT / folder) for folder in FOLDERS.values()))
    assert {name for name in names if modules.get(name, name) not in imported} == set()


def test_extras_are_installed_from_where_the_package_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "my site" / "kg_reasoner" / "errors.py"
    monkeypatch.setattr(errors, "__file__", str(installed))
    said = "kg_reasoner.spark_backend needs an optional dependency: pip install "
    assert str(MissingExtraError("kg_reasoner.spark_backend", "spark")) == f"{said}'kg-reasoner[spark]'"
    installed.parent.mkdir(parents=True)
    (installed.parents[1] / "pyproject.toml").write_text("")
    assert str(MissingExtraError("kg_reasoner.spark_backend", "spark")) == f"{said}-e '{tmp_path}/my site[spark]'"


def test_skips_for_missing_packages_say_how_to_install_them() -> None:
    calls = [
        call
        for path in Path(__file__).parents[1].rglob("*.py")
        for call in re.findall(r"pytest\.importorskip\(.*", path.read_text())
    ]
    assert calls and all("pip install" in call for call in calls)
    extras = {found[1] for source in SOURCES.values() if (found := re.fullmatch(r"\.\[(.*)\]", source))}
    assert extras <= set(SETTINGS["project"]["optional-dependencies"])
