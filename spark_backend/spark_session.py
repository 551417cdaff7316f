"""The session of the command line. Programs bring their own session."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import ReasonerError
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.requirements import require_java, require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["build_session", "reads_local_files"]

_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""The environment variable by which ``spark-submit`` tells the script where its Spark is."""


def build_session(master: str | None = None, remote: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a session in this process, on a cluster, on a Spark Connect server, or the one prepared by ``spark-submit``.

    Args:
        master: Where to run, such as ``local[4]`` (the default is all cores of this machine) or ``yarn``.
        remote: The address of a Spark Connect server (``sc://host``), instead of a master.
        settings: Spark's settings by name. On this machine, Spark gets half of the memory unless they say otherwise.

    Raises:
        MissingExtraError: Pyspark is not installed.
        ReasonerError: Java is missing, both a master and a server are given, or Spark does not start.
    """
    require_pyspark()
    from pyspark.sql import SparkSession

    if master is not None and remote is not None:
        raise ReasonerError("name a master or a Spark Connect server, not both")
    builder: Any = SparkSession.builder.appName("kg-reasoner")
    if remote is not None:
        builder = builder.remote(remote)
    elif _SUBMITTED not in os.environ:
        require_java()
        builder = builder.master(master or "local[*]").config("spark.ui.showConsoleProgress", "false")
        if (master or "local").startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python is not that of PATH, but this one
            builder = builder.config("spark.driver.memory", f"{_memory() // 2}m")
    elif master is not None:
        builder = builder.master(master)
    for name, value in {"spark.log.level": "OFF", **(settings or {})}.items():
        builder = builder.config(name, value)
    with plain_failures(f"start Spark on {remote or master or 'this machine'}"):
        return builder.getOrCreate()


def reads_local_files(master: str | None, remote: str | None, settings: Mapping[str, str]) -> bool:
    """Return whether paths without a scheme are those of this process, as far as this is known before Spark starts.

    Args:
        master: As for `build_session`.
        remote: As for `build_session`.
        settings: As for `build_session`.
    """
    is_configured = "HADOOP_CONF_DIR" in os.environ or any(name.endswith("fs.defaultFS") for name in settings)
    is_local = remote is None and _SUBMITTED not in os.environ and (master or "local").startswith("local")
    return is_local and not is_configured


def _memory() -> int:
    """Return the memory of this machine in MB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
