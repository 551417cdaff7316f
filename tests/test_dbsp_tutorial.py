"""Every code block of the tutorial in kg_reasoner/dbsp/README.md does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_readme import Block, read_stories, run

TUTORIAL = Path(__file__).resolve().parents[1] / "kg_reasoner" / "dbsp" / "README.md"


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(story, id=f"line {story[0].line}")
        for story in read_stories(TUTORIAL.read_text(encoding="utf-8"))
        if any(block.language == "python" for block in story)
    ],
)
def test_tutorial(story: list[Block], tmp_path: Path) -> None:
    run(story, tmp_path)
