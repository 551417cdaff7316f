"""Spark Connect: the same through a server, without a JVM in this process. It takes a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.spark_session import missing, need_spark

need_spark()

pytestmark = pytest.mark.long


def test_everything_through_a_server() -> None:
    if find_spec("grpc") is None:
        missing("connect", "what Spark Connect needs is not installed (the extra 'spark-connect')")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark_smoke", "--remote"],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.startswith("pyspark.sql.connect.session, Spark ")
