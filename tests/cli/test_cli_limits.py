"""Limits of commands (``--timeout``, ``--max-facts``, ``--max-memory``), and Ctrl-C: one line, and nothing half-written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kg_reasoner.cli import main
from kg_reasoner.concurrency.limits import NOBODY, current_watch

ROOT = Path(__file__).resolve().parents[2]
COUNTING = "n(?y) :- n(?x), BIND(?x + 1 AS ?y) .\nn(0) .\n"
CHAIN = "".join(f"<urn:a> <urn:p> <urn:b{number}> .\n" for number in range(30))
SLOW_QUERY = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o }"


def failure(*arguments: object) -> str:
    """The one error line of a command that exceeds a limit."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), "no traceback"
    assert result.stdout == ""
    *notes, last = result.stderr.splitlines()
    assert last.startswith("error: ")
    assert not any("error" in line for line in notes)
    return last.removeprefix("error: ")


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    path = tmp_path / "counting.dl"
    path.write_text(COUNTING)
    return path


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.nt"
    path.write_text(CHAIN)
    return path


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (("--timeout", "0.25"), "longer than its limit of 0.25 s"),
        (("--max-facts", "1000"), "facts exceed the limit of 1,000"),
        (("--max-memory", "2M"), "bytes and exceed the limit of 2,097,152"),
    ],
)
@pytest.mark.parametrize("output", [True, False])
@pytest.mark.sample(3)
def test_an_endless_program_ends_at_its_limit(
    counting: Path, tmp_path: Path, limit: tuple[str, str], message: str, output: bool
) -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert message in failure("run", counting, *limit, *(["-o", tmp_path / "out"] if output else []))
    assert [path.name for path in tmp_path.iterdir()] == ["counting.dl"]
    assert signal.getsignal(signal.SIGALRM) is before
    assert current_watch() is NOBODY


@pytest.mark.parametrize(
    "command",
    [
        ("materialise", "-o", "OUT"),
        ("query", "-Q", "ASK { ?s ?p ?o }"),
        ("explain", "-t", "<urn:a> <urn:p> <urn:b>"),
        ("check",),
        ("rules",),
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reasons_has_limits(chain: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *rest = [str(tmp_path / "out.nt") if part == "OUT" else part for part in command]
    if name == "rules":
        assert "longer than its limit" in failure(name, chain, *rest, "--timeout", "0.000001")
        return
    assert "facts exceed the limit of 10" in failure(name, chain, *rest, "--max-facts", "10")
    assert [path.name for path in tmp_path.iterdir()] == ["chain.nt"]


def test_a_query_ends_at_its_limit(chain: Path) -> None:
    started = time.monotonic()
    assert "longer than its limit of 0.4 s" in failure("query", chain, "-Q", SLOW_QUERY, "--timeout", "0.4")
    assert time.monotonic() - started < 20


def test_limits_that_are_kept_change_nothing(counting: Path, tmp_path: Path) -> None:
    counting.write_text("m(?x) :- n(?x) . n(1) .")
    result = CliRunner().invoke(
        main, ["run", str(counting), "--timeout", "60", "--max-facts", "10", "--max-memory", "1.5G", "-o", str(tmp_path / "out")]
    )
    assert result.exit_code == 0
    assert (tmp_path / "out" / "m.tsv").read_text() == "1\n"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--max-memory", "lots"),
        ("--max-memory", "0"),
        ("--max-memory", "9" * 400),
        ("--timeout", "0"),
        ("--timeout", "nan"),
        ("--timeout", "1e300"),
        ("--max-facts", "0"),
    ],
)
def test_a_limit_that_makes_no_sense_is_wrong_usage(counting: Path, option: str, value: str) -> None:
    result = CliRunner().invoke(main, ["run", str(counting), option, value])
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in click.unstyle(result.stderr)


@pytest.mark.long
def test_control_c_ends_a_command_with_one_line(counting: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "kg_reasoner", "run", str(counting), "-o", str(tmp_path / "out")]

    def hear_signals() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it, and so would this

    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "out").exists() and time.monotonic() < deadline:
                time.sleep(0.05)  # outputs are opened just before the program runs
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            printed, told = process.communicate(timeout=60)
        finally:
            process.kill()
    warning, last = told.splitlines()
    assert (process.returncode, printed, last) == (130, "", "interrupted")
    assert warning.startswith("warning: ") and "perhaps without end" in warning
    assert not (tmp_path / "out").exists()
