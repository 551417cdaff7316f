"""What is missing for Spark is said in one message. These tests need no Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kg_reasoner.errors import install_command
from tests.helpers.effort import thinned
from tests.helpers.extras import needed

ROOT = Path(__file__).resolve().parents[2]


def without(package: str, code: str) -> str:
    """What a process prints that runs the code where a package is not installed."""
    hidden = (
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else found(name, *rest)\n"
    )
    done = subprocess.run([sys.executable, "-c", hidden + code], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_every_module_is_imported_without_pyspark() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import importlib, pkgutil, kg_reasoner.spark_backend as backend\n"
        "for module in pkgutil.iter_modules(backend.__path__): importlib.import_module(f'{backend.__name__}.{module.name}')\n"
        "import pydoc; print(pydoc.render_doc(backend.SparkReasoner, renderer=pydoc.plaintext))"
    )
    assert "class SparkReasoner" in without("pyspark", code)


@pytest.mark.parametrize("package", thinned(["pyspark", "pyarrow", "pandas"], 3))
@pytest.mark.long
def test_the_extra_is_named(package: str) -> None:
    code = (
        "import kg_reasoner.spark_backend as s\n"
        "for use in (lambda: s.SparkReasoner(None, None), lambda: s.read_triples(None, 'data.nt')):\n"
        "    try: use()\n"
        "    except Exception as error: print(' '.join(str(error).split()))\n"
        "from kg_reasoner.cli import main; main(['spark', 'check', 'data.nt'])"
    )
    *uses, command = without(package, code).splitlines()
    assert len(uses) == 2
    assert all(install_command("spark") in use for use in uses)
    assert command == f"error: kg_reasoner.spark_backend needs an optional dependency: {install_command('spark')}"


def test_java_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("pyspark")
    from kg_reasoner.errors import ReasonerError
    from kg_reasoner.spark_backend.requirements import java_version, require_java

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_version() is None
    with pytest.raises(ReasonerError, match=r"Java 17 or later; no Java was found in .*, which JAVA_HOME names: install a JDK"):
        require_java()
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    for said, version in (("1.8.0_392", 8), ("11.0.2", 11), ("17.0.15", 17), ("25", 25)):
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\" 2025-04-15' >&2\n")
        java.chmod(0o755)
        assert java_version() == version
    require_java()


@pytest.mark.parametrize(
    ("spark", "connect", "coordinates"),
    [
        ("4.3.0", False, "io.graphframes:graphframes-spark4_2.13:0.12.3"),
        ("4.0.1", True, "io.graphframes:graphframes-connect-spark4_2.13:0.12.3"),
        ("3.5.7", False, "io.graphframes:graphframes-spark3_2.12:0.12.3"),
    ],
)
def test_the_jar_goes_with_what_is_installed(monkeypatch: pytest.MonkeyPatch, spark: str, connect: bool, coordinates: str) -> None:
    needed("pyspark")
    from kg_reasoner.spark_backend import requirements

    monkeypatch.setattr(requirements, "version", {"pyspark": spark, "graphframes-py": "0.12.3"}.get)
    monkeypatch.setattr(requirements, "_scala_version", lambda: None)
    assert requirements.graphframes_package(connect) == coordinates
