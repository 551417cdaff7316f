"""Checks for the software that reasoning on Spark requires; each error says what is missing and how to install it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kg_reasoner.errors import MissingExtraError, ReasonerError

__all__ = ["graphframes_package", "java_version", "require_java", "require_pyspark"]

_PACKAGES: Final = ("pyspark", "pyarrow", "pandas")
_LEAST_JAVA: Final = 17


def require_pyspark() -> None:
    """Check that pyspark is installed. Called before its first use; the modules of this package can be imported without it.

    Raises:
        MissingExtraError: Pyspark, or what its Python workers need, is not installed.
    """
    if not all(map(find_spec, _PACKAGES)):
        raise MissingExtraError("kg_reasoner.spark_backend", "spark")


def require_java() -> None:
    """Check that a suitable Java is installed. Called before a session is built in this process.

    Raises:
        ReasonerError: Java is missing or too old.
    """
    found = java_version()
    if found is None or found < _LEAST_JAVA:
        home = os.environ.get("JAVA_HOME")
        what = "no Java was found" if found is None else f"the Java that was found is version {found}"
        what += f" in {home}, which JAVA_HOME names" if home else ""
        raise ReasonerError(
            f"Spark needs Java {_LEAST_JAVA} or later; {what}: install a JDK (Debian: apt-get install openjdk-17-jre-headless), "
            "or let JAVA_HOME name the folder of one"
        )


def java_version() -> int | None:
    """Return the version of the Java that Spark would start, or None."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        return None
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def graphframes_package(connect: bool = False) -> str:
    """Return the Maven coordinates of the jar for the installed pyspark and graphframes-py; with `connect`, for Spark Connect.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    try:
        spark, graphframes = version("pyspark"), version("graphframes-py")
    except PackageNotFoundError:
        raise MissingExtraError("GraphFrames", "spark") from None
    generation = spark.partition(".")[0]
    scala = "2.13" if generation == "4" else _scala_version() or "2.12"
    return f"io.graphframes:graphframes-{'connect-' if connect else ''}spark{generation}_{scala}:{graphframes}"


def _scala_version() -> str | None:
    """Return the Scala version of the installed Spark, as in the names of jars."""
    spec = find_spec("pyspark")
    homes = [os.environ.get("SPARK_HOME"), *(spec.submodule_search_locations or () if spec else ())]
    for home in filter(None, homes):
        for jar in Path(home, "jars").glob("scala-library-*.jar"):
            return ".".join(jar.stem.removeprefix("scala-library-").split(".")[:2])
    return None
