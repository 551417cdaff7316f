"""The shell: sessions as text, statements in pieces, scripts, and a real terminal."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.cli import main
from kg_reasoner.errors import ReasonerError, RuleSyntaxError
from kg_reasoner.shell.scripts import run_script
from kg_reasoner.shell.session import HELP, Ended, Session
from kg_reasoner.shell.terminal import candidates
from kg_reasoner.shell.text_parts import COMMANDS, Splitter, statements
from tests.helpers.extras import needed
from tests.helpers.fixtures import blocks

FOLDER = Path(__file__).parent
PROGRAM = FOLDER / "program.dl"
SESSIONS = [(title, *text.split("\n=>\n")) for title, text in blocks(FOLDER / "sessions.txt")]


def session(out: io.StringIO | None = None) -> Session:
    return Session(Reasoner(PROGRAM), io.StringIO() if out is None else out)


@pytest.mark.parametrize(("typed", "expected"), [each[1:] for each in SESSIONS], ids=[each[0] for each in SESSIONS])
def test_sessions(typed: str, expected: str) -> None:
    out = io.StringIO()
    made = session(out)
    try:
        for _ in run_script(made, typed.splitlines(keepends=True), "session"):
            pass
    except ReasonerError as error:
        first = str(error).splitlines()[0]
        if expected.strip().endswith("SPARQL ..."):  # the rest is the parser's
            first = f"{first.partition('SPARQL')[0]}SPARQL ..."
        out.write(f"error: {first}\n")
        assert not made.has_transaction
        assert {name: list(made.reasoner.facts(name, "explicit")) for name in ("box", "about")} == {"box": [], "about": []}
    assert out.getvalue().rstrip("\n") == expected.rstrip("\n")


@given(st.lists(st.integers(1, 7)), st.sampled_from([each[1] for each in SESSIONS]))
def test_statements_are_the_same_however_text_arrives(sizes: list[int], text: str) -> None:
    whole = [(part.text, part.line, part.kind) for part in Splitter("x").feed(f"{text}\n")]
    splitter, place, found = Splitter("x"), 0, []
    for size in [*sizes, len(text) + 1]:
        found += [(part.text, part.line, part.kind) for part in splitter.feed(f"{text}\n"[place : place + size])]
        place += size
    assert [part[0].split() for part in found] == [part[0].split() for part in whole] or any("." in part[0] for part in whole)
    if all(size == 7 for size in sizes) and not sizes:
        assert found == whole


LONG = {
    "SELECT * { VALUES ?x { # ;": ('"a;" # it\'s }', "} }\n;"),
    "p(?x) :- q(?x),": ('r("a. b", ?x), # .', "s(?x)\n."),
    "p(?x) :- q(?x) ;": ("r(?x) ; # dump", "s(?x) ;\ndump\npath;"),
    'insert edge("': ('a;"', '", "b");'),
    "remove p(?x) :- (q(?x) ;": ("{ r(?x) ; 'it.' }", ") ;\n@prefix\n."),
}
"""How statements begin, a line that they may have again and again, and how they end."""


@pytest.mark.parametrize("first", LONG)
def test_statements_of_many_lines(first: str) -> None:
    """They are those of the whole text, and no mark is looked at for every line again."""
    line, last = LONG[first]
    text = f"{first}\n{line}\n{line}\n{last}\ndump;\n"
    whole = [(part.kind, part.text, part.line) for part in Splitter("x").feed(text)]
    assert len(whole) >= 2
    assert [(part.kind, part.text, part.line) for part in statements(text.splitlines(keepends=True), "x")] == whole
    splitter = Splitter("x")
    assert [(part.kind, part.text, part.line) for piece in text for part in splitter.feed(piece)] == whole or "." in text
    passed = [0, 0]
    for number, count in enumerate((50, 100)):
        splitter = CountingSplitter("x")
        for each in (first, *[line] * count):
            assert not list(splitter.feed(f"{each}\n"))
        passed[number] = splitter.passed
    assert passed[1] < 2.1 * passed[0]


class CountingSplitter(Splitter):
    """A splitter that counts the marks it looks at."""

    passed = 0

    def _passed(self, *arguments: Any) -> None:
        self.passed += 1
        super()._passed(*arguments)


def test_help_names_every_command() -> None:
    assert [name for name in COMMANDS if name not in HELP and name not in ("log_level", "help")] == []
    out = io.StringIO()
    list(run_script(session(out), ["help;"], "x"))
    assert out.getvalue() == HELP


def test_profiles_time_and_the_end(tmp_path: Path) -> None:
    out = io.StringIO()
    script = 'profile cpu on; insert edge("a", "b"); dump path; profile; profile cpu off; timestamp; mssleep 1; exit; echo no;'
    with pytest.raises(Ended):
        list(run_script(session(out), [script], "x"))
    assert (
        "path(?x, ?y) :- edge(?x, ?y) ." in out.getvalue()
        and "Timestamp: " in out.getvalue()
        and "no" not in out.getvalue().split()
    )


# ---- the command


def run(*arguments: object, text: str = "") -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["shell", *map(str, arguments)], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_scripts_pipes_data_and_tables(tmp_path: Path) -> None:
    (tmp_path / "one.dat").write_text('insert edge("b", "c"); echo one;\n')
    (tmp_path / "two.dat").write_text("dump path; exit; echo three;\n")
    (tmp_path / "edges.csv").write_text("to,from\nb,a\n")
    (tmp_path / "data.ttl").write_text("<urn:x> a <urn:Y> .")
    table = f"edge={tmp_path / 'edges.csv'}"
    code, shown, _ = run(PROGRAM, tmp_path / "one.dat", tmp_path / "data.ttl", tmp_path / "two.dat", "--table", table, "--header")
    assert code == 0 and shown.splitlines() == ["one", *(f'path{{.from = "{x}", .to = "{y}"}}' for x, y in ("ab", "ac", "bc"))]
    code, shown, _ = run(PROGRAM, tmp_path / "data.ttl", "--ruleset", "rdfs", text="SELECT ?x { ?x a <urn:Y> };")
    assert code == 0 and shown == "?x\n<urn:x>\n"


def test_errors_of_scripts(tmp_path: Path) -> None:
    script = tmp_path / "s.dat"
    script.write_text('start;\ninsert edge("a", "b");\ndump pth;\necho no;\n')
    code, shown, message = run(PROGRAM, script)
    assert code == 1 and shown == "" and f"error: {script}:3:1: unknown relation 'pth', did you mean 'path'?; choose" in message
    assert "    3 | dump pth\n      | ^^^^^^^^" in message
    code, _, message = run(PROGRAM, tmp_path / "none.dat")
    assert code == 1 and "none.dat does not exist" in message
    script.write_bytes(b"echo \xff;")
    assert "byte 6 of line 1 is not UTF-8 text" in run(PROGRAM, script)[2]
    code, _, message = run(PROGRAM, text=f"insert edge({'[' * 5000}{']' * 5000}, 1);")
    assert code == 1 and "the value is nested too deep" in message
    code, shown, message = run(PROGRAM, text="start; echo hi;")
    assert code == 0 and shown == "hi\n" and "a transaction was open at the end, and is undone" in message


@pytest.mark.parametrize("number", ["9" * 5000, "1_" * 5000 + "1", "0x" + "f" * 5000])
def test_a_number_of_too_many_digits_is_one_clear_error(number: str) -> None:
    script = f"insert about(<urn:a>, 1, true, {number});"
    with pytest.raises(ReasonerError, match="too many digits"):
        list(run_script(session(), [script], "x"))


def test_many_commands(tmp_path: Path) -> None:
    script = tmp_path / "many.dat"
    lines = [f'insert edge("{number}", "{number + 1}"){";" if number % 3 else ","}\n' for number in range(0, 2000, 2)]
    script.write_text("start;\n" + "".join(lines) + "commit dump_changes;\n")
    code, shown, _ = run(PROGRAM, script)
    assert code == 0 and len(shown.splitlines()) == 1001


# ---- completion


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("ins", ["insert", "insert_or_update"]),
        ("insert e", ["edge"]),
        ("insert box(.p", [".place"]),
        ("modify box 1 <- box{.id = 1, .w", [".weight"]),
        ("start; dump h", ["heavy"]),
        ("query_index p", ["path_by_to"]),
        ("a(?x) :- edg", ["edge"]),
        ("SELECT ?x { ?x ex", ["ex:", "EXP"]),
        ("commit dump_c", ["dump_changes"]),
        ("xyz", []),
    ],
)
def test_completion(before: str, expected: list[str]) -> None:
    found = candidates(session(), before)
    assert found == expected


# ---- a terminal


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, folder: Path, program: Path = PROGRAM) -> None:
        import pty

        self._master, slave = pty.openpty()
        environment = {**os.environ, "KG_REASONER_HISTORY": str(folder / "history"), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kg_reasoner", "shell", str(program)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self.text = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, expected: str, seconds: float = 30) -> str:
        """Return the text up to what is expected, without control sequences; later calls look behind it."""
        import re
        import select

        end = time.monotonic() + seconds
        while expected not in (plain := re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|[=>]|\][^\x07]*\x07)", "", self.text)):
            ready, _, _ = select.select([self._master], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{expected!r} does not come: {plain!r}")
            try:
                self.text += os.read(self._master, 4096).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"{expected!r} has not come: {plain!r}") from None
        before, self.text = plain.split(expected, 1)
        return before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)


def _own_terminal() -> None:
    import fcntl
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored by what runs in the background of a script
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    needed("prompt_toolkit")
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals")
    made = Terminal(tmp_path)
    try:
        yield made
    finally:
        made.close()


def test_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("help; lists the commands")
    terminal.wait_for("kg>")
    terminal.type("insert ed\t")  # which completes the name
    terminal.wait_for("edge")
    terminal.type('("a", "b"),\r')
    terminal.wait_for("...")
    terminal.type('insert edge("b", "c");\r')
    terminal.wait_for("kg>")
    terminal.type("dump pth;\r")
    terminal.wait_for("error: unknown relation 'pth', did you mean 'path'?")
    terminal.type("dumpp;\r")
    terminal.wait_for("error: unknown command 'dumpp', did you mean 'dump'?")
    terminal.type("start;\r")
    terminal.wait_for("kg*")
    terminal.type("insert edge(\x03")  # Ctrl-C drops what has been typed
    terminal.wait_for("interrupted")
    terminal.type("dump path;\r")
    terminal.wait_for('path{.from = "a", .to = "c"}')
    terminal.type("echo again;\r")
    terminal.wait_for("again\r\n")
    terminal.type("\x1b[A\r")  # the last line once more
    terminal.wait_for("echo again;")
    terminal.wait_for("again\r\n")
    terminal.type("rollback; exit;\r")
    assert terminal.process.wait(30) == 0
    assert "+echo again;" in (tmp_path / "history").read_text()


def test_probable_mistakes_in_rules_are_told_with_their_place() -> None:
    told: list[str] = []
    made = Session(Reasoner("@prefix e: <http://example.org/> ."), io.StringIO(), told.append)
    lines = ["# rules\n", "q(?x) :- [?x, e:p, ?y],\n", "  isBlank(?y) .\n", "n(?x + 1) :- n(?x) .\n", "r(?x) :- q(?x) .\n"]
    list(run_script(made, lines, "script"))
    assert [warning.partition(" ")[0] for warning in told] == ["script:3:3:", "script:4:3:"]
    with pytest.raises(RuleSyntaxError, match=r"^script:2:3: unknown prefix f:"):
        list(run_script(made, ["a(1).\n", "q(f:x) .\n"], "script"))


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_transaction_whose_end_was_interrupted_can_be_ended(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its end has begun: it is open, for the session as well as for the reasoner."""
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) .")
    made = Session(reasoner, io.StringIO())
    list(run_script(made, ['start; insert edge("a", "b");'], "script"))

    def interrupt(_: Transaction) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Transaction, end, interrupt)
        made.execute(next(statements([f"{end};"], "terminal")))
    assert made.has_transaction
    made.execute(next(statements(["commit;"], "terminal")))
    assert len(reasoner.facts("path")) == 1
    assert reasoner.open_transaction is None


def test_a_transaction_whose_begin_was_interrupted_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner()
    made = Session(reasoner, io.StringIO())
    begin = Transaction.begin

    def interrupt(transaction: Transaction) -> Transaction:
        begin(transaction)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Transaction, "begin", interrupt)
        made.execute(next(statements(["start;"], "terminal")))
    assert made.has_transaction
    assert made.close()
    assert reasoner.open_transaction is None


@pytest.mark.long
def test_an_interrupt_ends_a_statement_and_not_the_session(tmp_path: Path) -> None:
    needed("prompt_toolkit")
    program = tmp_path / "endless.dl"
    program.write_text("n(?y) :- n(?x), BIND(?x + 1 AS ?y), FILTER(?x < 100000000) . n(?x) :- start(?x) .")
    terminal = Terminal(tmp_path, program)
    try:
        terminal.wait_for("kg>")
        terminal.type("start(0) . dump n;\r")
        terminal.wait_for("dump n;")
        for _ in range(10):  # an interrupt is lost if it comes before the statement has begun
            time.sleep(1)
            os.killpg(terminal.process.pid, signal.SIGINT)
            with suppress(AssertionError):
                terminal.wait_for("interrupted", seconds=3)
                break
        else:
            pytest.fail("the statement goes on")
        terminal.wait_for("kg>")
        terminal.type("remove start(0) . dump n; echo empty;\r")
        terminal.wait_for("empty\r\n")
        terminal.wait_for("kg>")
        terminal.type("\x04")  # Ctrl-D
        assert terminal.process.wait(30) == 0
    finally:
        terminal.close()
