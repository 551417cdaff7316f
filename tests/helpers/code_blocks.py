"""Runs the code blocks of Markdown texts. Comments above a block, invisible on the rendered page, say how it is run:

=======================  =========================================================================================================
<!-- continues -->       in the folder of the block before, and a Python block after that block's code; other blocks start anew
<!-- file: NAME -->      the block is a file, which the blocks that continue it find under this name
<!-- output -->          the block is what the block before prints: a line ``...`` stands for any lines, ``...`` in a line for
                         any text
<!-- command: NAME -->   the block is one of the two commands for newcomers, which .ci/run runs
<!-- skipped: REASON --> the block is only read (Python is compiled, a shell script parsed), because of what it needs
=======================  =========================================================================================================

Rules, Turtle, SPARQL and JSON that are shown on their own are parsed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.helpers.copies import printed_in_copy

ROOT = Path(__file__).resolve().parents[2]

PYTHON = {"python"}
SHELL = {"sh", "bash", "shell"}
TEXT = {"text"}

BLOCK = re.compile(r"(?P<markers>(?:^<!-- [^\n]* -->\n)*)^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
MARKER = re.compile(r"<!-- (\w+)(?:: (.*?))? -->")
# What changes the machine or needs the network is read by the shell, not run.
INSTALLS = re.compile(r"\s*(?:(?:python3?|py) -m )?(?:pip|venv|git|uv)\b")
SEPARATOR = "-- the output of this block begins here --"


@dataclass
class Block:
    """A fenced block: the file and line where it begins, its language, its text, and the markers above it."""

    source: str
    line: int
    language: str
    code: str
    markers: dict[str, str]

    @property
    def where(self) -> str:
        return f"{self.source}, line {self.line}"

    @property
    def is_python(self) -> bool:
        """Whether it is a Python block that is run."""
        return self.language in PYTHON and not self.markers.keys() & {"file", "output", "skipped"}


def stories_of(path: Path) -> list[list[Block]]:
    """The fenced blocks of a Markdown file of the repository, each together with those that continue it."""
    return read_stories(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))


def read_stories(text: str, source: str = "README.md") -> list[list[Block]]:
    """The fenced blocks of a Markdown text, each together with those that continue it."""
    stories: list[list[Block]] = []
    for found in BLOCK.finditer(text):
        markers = {name: value or "" for name, value in MARKER.findall(found["markers"])}
        line = text.count("\n", 0, found.start("language")) + 1
        block = Block(source, line, found["language"], found["code"], markers)
        if stories and ("continues" in markers or "output" in markers):
            stories[-1].append(block)
        else:
            stories.append([block])
    return stories


def run(story: list[Block], folder: Path, *, copies: bool = False) -> str:
    """Run blocks one after the other in `folder`; returns what the last one prints, and fails where one of them fails.

    Args:
        story: the blocks.
        folder: where they run.
        copies: whether Python blocks and plain calls of ``kg-reasoner`` run in a copy of this process (see `tests.helpers.copies`).
    """
    printed = python = ""
    waiting: list[str] = []
    for number, block in enumerate(story):
        if "output" in block.markers:
            assert matches(block.code, printed), f"{block.where} shows\n{block.code}\nbut this is printed\n{printed}"
        elif "file" in block.markers:
            (folder / block.markers["file"]).write_text(block.code, encoding="utf-8")
        elif "skipped" in block.markers:
            assert block.markers["skipped"], f"{block.where}: why it is skipped is missing"
            read(block, folder)
        elif block.is_python:
            if not waiting:
                together = takewhile(lambda later: later.is_python or "output" in later.markers, story[number:])
                waiting = run_python(python, [later for later in together if later.is_python], folder, copies)
            printed = waiting.pop(0)
            python += block.code
        elif block.language in SHELL:
            installs = "command" in block.markers or any(INSTALLS.match(line) for line in block.code.splitlines())
            calls = [call_of(line) for line in block.code.splitlines()] if copies and not installs else [None]
            if all(calls):
                printed = "".join(printed_in_copy(code, folder, block.where) for code in calls if code)
            else:
                printed = output_of(["bash", "-nc" if installs else "-euc", block.code], folder, block.where)
        else:
            read(block, folder)
    return printed


def call_of(line: str) -> str | None:
    """Return Python code that does what a line of the shell does; None if it does anything but call ``kg-reasoner``."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # quotation marks or a backslash that the next line continues
        return None
    has_more = re.search(r"[$`\\]", line) or any(re.fullmatch(r"[();<>|&]+", word) for word in words)
    if words[:1] != ["kg-reasoner"] or has_more:
        return None
    return f"import sys; sys.argv = {words!r}\nfrom kg_reasoner.cli import main; main()"


def run_python(before: str, blocks: list[Block], folder: Path, copies: bool) -> list[str]:
    """What each of some Python blocks prints, run in one process after the code of earlier blocks."""
    parts = [before]
    for block in blocks:
        parts += [f"print({SEPARATOR!r}, flush=True)", f"# {block.where}", block.code]
    where = blocks[0].where if len(blocks) == 1 else f"{blocks[0].where}, and what continues it"
    code = "\n".join(parts)
    printed = printed_in_copy(code, folder, where) if copies else output_of([sys.executable, "-c", code], folder, where)
    return printed.split(f"{SEPARATOR}\n")[1:]


def read(block: Block, folder: Path) -> None:
    """Check that a block is correct in its language, without running it."""
    if block.language in PYTHON:
        compile(block.code, block.where, "exec")
    elif block.language in SHELL:
        output_of(["bash", "-nc", block.code], folder, block.where)
    elif block.language not in TEXT:
        assert block.language in PARSERS, f"{block.where}: this test does not know how to read {block.language!r}"
        PARSERS[block.language](block.code)


def _parse_rules(code: str) -> object:
    from kg_reasoner.language.parser import parse

    return parse(code)


def _parse_turtle(code: str) -> object:
    from rdflib import Graph

    return Graph().parse(data=code, format="turtle")


def _parse_query(code: str) -> object:
    from rdflib.plugins.sparql import prepareQuery

    return prepareQuery(code)


PARSERS: dict[str, Callable[[str], object]] = {
    "datalog": _parse_rules,
    "dl": _parse_rules,
    "json": json.loads,
    "prolog": _parse_rules,
    "sparql": _parse_query,
    "turtle": _parse_turtle,
}


def output_of(command: list[str], folder: Path, where: str) -> str:
    """What a command prints, run in `folder` with the package importable and ``kg-reasoner`` on the path."""
    programs = folder / ".bin"
    programs.mkdir(exist_ok=True)
    script = programs / "kg-reasoner"
    script.write_text(f"#!{sys.executable}\nfrom kg_reasoner.cli import main\nmain()\n", encoding="utf-8")
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{where}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what the text shows; blanks at the ends of lines do not count."""
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") for line in expected.rstrip().splitlines()]
    pattern = "\n".join("(?s:.*)" if line == ".*" else line for line in lines)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.rstrip().splitlines())) is not None
