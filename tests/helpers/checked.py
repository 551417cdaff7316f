"""Test files that run again in checked mode, with kernels as bounds-checked Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_in_checked_mode(file: str) -> None:
    """Run a test file in a new process, in checked mode and with the effort of a quick run."""
    environment = {**os.environ, "KG_REASONER_KERNELS": "checked", "KG_REASONER_EFFORT": "quick"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", file]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert run.returncode == 0, run.stdout
