"""Every code block of the README does what it says. Comments above a block, invisible on the rendered page, say how it is run:

=======================  =========================================================================================================
<!-- continues -->       in the folder of the block before, and a Python block after that block's code; other blocks start anew
<!-- file: NAME -->      the block is a file, which the blocks that continue it find under this name
<!-- output -->          the block is what the block before prints: a line ``...`` stands for any lines, ``...`` in a line for
                         any text
<!-- command: NAME -->   the block is one of the two commands for newcomers, which .ci/run runs
=======================  =========================================================================================================
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

PYTHON = {"python"}
SHELL = {"sh", "bash", "shell"}
RULES = {"dl", "datalog", "prolog"}
NOT_RUN = {"text", "toml", "sparql", "turtle"}

BLOCK = re.compile(r"(?P<markers>(?:^<!-- [^\n]* -->\n)*)^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
MARKER = re.compile(r"<!-- (\w+)(?:: (.*?))? -->")
# What changes the machine or needs the network is read by the shell, not run.
INSTALLS = re.compile(r"\s*(?:(?:python3?|py) -m )?(?:pip|venv|git|uv)\b")
SEPARATOR = "-- the output of this block begins here --"


@dataclass
class Block:
    """A fenced block: its line in the README, its language, its text, and the markers above it."""

    line: int
    language: str
    code: str
    markers: dict[str, str]


def read_stories(text: str) -> list[list[Block]]:
    """The fenced blocks of a Markdown text, each together with those that continue it."""
    stories: list[list[Block]] = []
    for found in BLOCK.finditer(text):
        markers = {name: value or "" for name, value in MARKER.findall(found["markers"])}
        block = Block(text.count("\n", 0, found.start("language")) + 1, found["language"], found["code"], markers)
        if stories and ("continues" in markers or "output" in markers):
            stories[-1].append(block)
        else:
            stories.append([block])
    return stories


def run(story: list[Block], folder: Path) -> str:
    """Run blocks one after the other in `folder`; returns what the last one prints, and fails where one of them fails."""
    printed = python = ""
    for block in story:
        where = f"README.md, line {block.line}"
        if "file" in block.markers:
            (folder / block.markers["file"]).write_text(block.code, encoding="utf-8")
        elif "output" in block.markers:
            assert matches(block.code, printed), f"{where} shows\n{block.code}\nbut this is printed\n{printed}"
        elif block.language in PYTHON:
            code = f"{python}\nprint({SEPARATOR!r})\n{block.code}"
            printed = output_of([sys.executable, "-c", code], folder, where).partition(f"{SEPARATOR}\n")[2]
            python += block.code
        elif block.language in SHELL:
            installs = "command" in block.markers or any(INSTALLS.match(line) for line in block.code.splitlines())
            printed = output_of(["bash", "-nc" if installs else "-euc", block.code], folder, where)
        elif block.language in RULES:
            from kg_reasoner.parser import parse

            parse(block.code, source=where)
        else:
            assert block.language in NOT_RUN, f"{where}: this test does not know how to run {block.language!r}"
    return printed


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
    """Whether what was printed is what the README shows; blanks at the ends of lines do not count."""
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") for line in expected.rstrip().splitlines()]
    pattern = "\n".join("(?s:.*)" if line == ".*" else line for line in lines)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.rstrip().splitlines())) is not None


STORIES = read_stories(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: f"line {story[0].line}")
def test_blocks(story: list[Block], tmp_path: Path) -> None:
    run(story, tmp_path)


@pytest.mark.parametrize("name", ["demo", "test"])
def test_the_commands_for_newcomers_are_one_line_each(name: str) -> None:
    commands = [block.code.strip() for story in STORIES for block in story if block.markers.get("command") == name]
    assert len(commands) == 1, f"README.md needs one block under <!-- command: {name} -->, which .ci/run runs"
    assert "\n" not in commands[0]


SAMPLE = """
<!-- file: names.txt -->
```text
Ann
```
<!-- continues -->
```python
name = open("names.txt").read().strip()
print(name)
```
<!-- continues -->
```python
print(name, "again", 1.25)
```
<!-- output -->
```text
Ann again ...
```
```sh
test ! -e names.txt
```
"""


def test_how_blocks_are_run(tmp_path: Path) -> None:
    told, alone = read_stories(SAMPLE)
    assert [block.line for block in (*told, *alone)] == [3, 7, 12, 16, 19]
    assert run(told, tmp_path) == "Ann again 1.25\n"
    with pytest.raises(AssertionError, match="line 19: exit code 1"):
        run(alone, tmp_path)
    with pytest.raises(AssertionError, match="line 16 shows"):
        run([*told[:2], told[-1]], tmp_path)


def test_dots_stand_for_anything() -> None:
    assert matches("Ann\n...\nBob  in ... s\n", "Ann\n1\n2\nBob  in 0.3 s\n\n")
    assert not matches("Ann\n...\nBob", "Ann\n1\n2\nBo")
    assert not matches("Ann ...", "Ann 1\n2")
