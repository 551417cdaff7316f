"""The floor plan shows the way from a file to an answer as the code takes it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture" / "where-things-are.md"
ROWS = re.findall(r"^\| (`[^|]*`) \| [^|]* \| `(\w+)` of `([^`]*)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
"""The rooms, the name of a function, and its file."""
FACTS = """
    <http://example.org/felix> <http://example.org/chases> <http://example.org/jerry> .
    <http://example.org/chases> <http://www.w3.org/2000/01/rdf-schema#domain> <http://example.org/Cat> .
"""
QUERY = "SELECT ?x WHERE { ?x a <http://example.org/Cat> . FILTER(STRLEN(STR(?x)) > 2) }"


class Calls:
    """The functions that are called within the block, in the order of their first calls."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], None] = {}

    def __enter__(self) -> Calls:
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            self.found.setdefault((frame.f_code.co_name, path.relative_to(ROOT).as_posix()))


def test_the_way_from_a_file_to_an_answer(tmp_path: Path) -> None:
    (tmp_path / "cats.nt").write_text(FACTS, "utf-8")
    reasoner = Reasoner(ruleset="owl2rl")
    with Calls() as calls:
        reasoner.load(tmp_path / "cats.nt")
        reasoner.materialise()
        answers = [row[0] for row in reasoner.query(QUERY)]
    assert answers == [IRI("http://example.org/felix")]
    wanted = [(name, file) for _, name, file in ROWS]
    assert len(wanted) > 15 and [call for call in wanted if call not in calls.found] == []
    assert [call for call in calls.found if call in wanted] == wanted


def test_the_rooms_are_those_of_the_files() -> None:
    for rooms, _, file in ROWS:
        named = re.findall(r"`([^`]*)`", rooms)
        assert any(file.startswith(f"{room}/") for room in named), (named, file)
