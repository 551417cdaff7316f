"""Every code block of the README does what it says."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.code_blocks import ROOT, Block, call_of, matches, read_stories, run, stories_of
from tests.helpers.copies import COPIES

STORIES = stories_of(ROOT / "README.md")


@pytest.mark.parametrize("story", STORIES, ids=lambda story: f"line {story[0].line}")
def test_blocks(story: list[Block], tmp_path: Path) -> None:
    run(story, tmp_path, copies=COPIES)


@pytest.mark.parametrize("name", ["demo", "test"])
def test_the_commands_for_newcomers_are_one_line_each(name: str) -> None:
    commands = [block.code.strip() for story in STORIES for block in story if block.markers.get("command") == name]
    assert len(commands) == 1, f"README.md needs one block under <!-- command: {name} -->, which .ci/run runs"
    assert "\n" not in commands[0]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies are forked processes, and this platform has none")

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


@pytest.mark.parametrize("copies", [False, pytest.param(True, marks=needs_fork)])
def test_how_blocks_are_run(tmp_path: Path, copies: bool) -> None:
    told, alone = read_stories(SAMPLE)
    assert [block.line for block in (*told, *alone)] == [3, 7, 12, 16, 19]
    assert run(told, tmp_path, copies=copies) == "Ann again 1.25\n"
    run([replace(told[1], code="import sys; sys.exit(0)")], tmp_path, copies=copies)
    for mistake, shown in (("nobody", "NameError: name 'nobody'"), ("raise SystemExit('no more')", "no more")):
        with pytest.raises(AssertionError, match=shown):
            run([replace(told[1], code=mistake)], tmp_path, copies=copies)
    with pytest.raises(AssertionError, match="line 19: exit code 1"):
        run(alone, tmp_path)
    with pytest.raises(AssertionError, match="line 16 shows"):
        run([*told[:2], told[-1]], tmp_path)


def test_calls_that_need_no_shell() -> None:
    call = call_of("kg-reasoner query a.ttl --query 'ASK { ?x <p|q> 5 }'")
    assert call is not None
    assert "['kg-reasoner', 'query', 'a.ttl', '--query', 'ASK { ?x <p|q> 5 }']" in call
    for line in ("kg-reasoner rules | head", "kg-reasoner rules > names", "kg-reasoner query $FILE", "cat names", ""):
        assert call_of(line) is None


READ = """
<!-- skipped: needs a machine with wings -->
```python
import wings
```
<!-- continues -->
```python
print("ran")
```
<!-- continues -->
```turtle
@prefix : <http://example.org/> .
:a :b :c .
```
<!-- continues -->
```datalog
p(?x) :- q(?x) .
```
"""


def test_what_is_not_run_is_read(tmp_path: Path) -> None:
    (story,) = read_stories(READ)
    assert run(story, tmp_path) == "ran\n"
    for block, mistake in zip((story[0], *story[2:]), ("import import", ":a :b", "p(?x) :- ."), strict=True):
        with pytest.raises(Exception, match=r".") as caught:
            run([replace(block, code=mistake)], tmp_path)
        assert not isinstance(caught.value, AssertionError)
    with pytest.raises(AssertionError, match="why it is skipped"):
        run([replace(story[0], markers={"skipped": ""})], tmp_path)


def test_dots_stand_for_anything() -> None:
    assert matches("Ann\n...\nBob  in ... s\n", "Ann\n1\n2\nBob  in 0.3 s\n\n")
    assert not matches("Ann\n...\nBob", "Ann\n1\n2\nBo")
    assert not matches("Ann ...", "Ann 1\n2")
