"""Spark at all: everything that it is used for, once. The other tests on Spark take long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.spark_session import need_spark

need_spark()


def test_everything_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark_smoke"],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "triples are those of the in-process engine" in done.stdout
