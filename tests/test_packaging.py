"""What is installed is the whole package, and nothing beside it."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="reading pyproject.toml needs Python 3.11 or tomli")

ROOT = Path(__file__).resolve().parents[1]
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


def test_every_file_that_is_no_module_is_installed() -> None:
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]["*"]
    installed = {path for package in PACKAGES for pattern in patterns for path in folder_of(package).glob(pattern)}
    wanted = {
        path
        for folder in FOLDERS.values()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and not path.name.startswith(".")
    }
    assert wanted == installed


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
