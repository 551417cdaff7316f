"""The type hints of what the reference shows can be read at run time, as pydantic, cattrs and other libraries do.

Annotations may name classes of modules that are imported when methods run: as attributes of `kg_reasoner.api` or of a `LazyModule`.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest

from kg_reasoner import spark_backend
from tests.helpers.extras import needed
from tests.project.test_docstrings import SHOWN, functions_of, resolved

TYPES = (
    "terms",
    "api.operations.subscriptions",
    "explain.steps",
    "io.atomic_files",
    "loaders.imports.catalogs",
    "spark_backend.exec.preparation.given_frames",
    "sparql.results.result",
)
"""The modules that define names for types."""

EXTRAS = ("igraph", "networkx", "pandas", "polars", "pyarrow", "pyspark", "pyspark.sql")
"""Libraries of extras whose classes annotations name."""


def documented() -> Iterator[tuple[str, Any]]:
    """Yield the names and objects of the reference; of a module, what it exports."""
    for name in SHOWN:
        found = resolved(name)
        if isinstance(found, ModuleType):
            yield from ((f"{name}.{member}", getattr(found, member)) for member in getattr(found, "__all__", ()))
        else:
            yield name, found


def is_data(found: Any) -> bool:
    """Whether an object is a class whose objects are data: a dataclass or a named tuple."""
    return inspect.isclass(found) and (dataclasses.is_dataclass(found) or hasattr(found, "_fields"))


DOCUMENTED = dict(documented())
DATA = {name: found for name, found in DOCUMENTED.items() if is_data(found)}


def test_the_reference_has_data() -> None:
    assert len(DATA) > 30 and "kg_reasoner.program.Rule" in DATA and "kg_reasoner.api.update.Update" in DATA


@pytest.mark.parametrize("name", DATA)
def test_fields_have_types(name: str) -> None:
    found = DATA[name]
    fields = [field.name for field in dataclasses.fields(found)] if dataclasses.is_dataclass(found) else found._fields
    assert set(fields) <= set(get_type_hints(found))
    if dataclasses.is_dataclass(found):
        assert set(fields) <= set(get_type_hints(found.__init__))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_arguments_and_results_have_types(name: str) -> None:
    """Those of each function, and of all methods of each class, also of inherited ones."""
    for _, function in functions_of(DOCUMENTED[name], name, inherited=True):
        get_type_hints(function)
    if inspect.isclass(DOCUMENTED[name]):
        get_type_hints(DOCUMENTED[name])
        get_type_hints(DOCUMENTED[name].__init__)


@pytest.mark.parametrize("name", [name for name in DOCUMENTED if "spark_backend" in name or "result" in name])
def test_classes_of_libraries_that_are_not_installed_are_any(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in EXTRAS:
        monkeypatch.setitem(sys.modules, library, None)
    for _, function in functions_of(DOCUMENTED[name], name, inherited=True):
        get_type_hints(function)


def test_dataframes_of_spark_have_their_class() -> None:
    """As arguments and results, and in a name for a type."""
    sql = needed("pyspark.sql")
    hints = get_type_hints(spark_backend.update)
    assert hints["materialised"] is hints["return"] is sql.DataFrame
    assert sql.DataFrame in get_args(hints["added"])


@pytest.mark.parametrize("name", TYPES)
def test_names_of_types_are_types(name: str) -> None:
    """A name for a type that is text has a meaning only in the module that defines it."""
    module = import_module(f"kg_reasoner.{name}")
    names = [key for key, hint in module.__annotations__.items() if hint == "TypeAlias"]
    assert names
    assert [key for key in names if isinstance(getattr(module, key), str)] == []
