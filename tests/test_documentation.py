"""Every code block of the documentation does what it says, and every page can be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from .code_blocks import ROOT, Block, run, stories_of

DOCS = ROOT / "docs"
GUIDES = [ROOT / "CONTRIBUTING.md", ROOT / "kg_reasoner" / "dbsp" / "README.md", ROOT / "spark_backend" / "README.md"]
PAGES = sorted(DOCS.rglob("*.md"))

STORIES = [story for page in (*PAGES, *GUIDES) for story in stories_of(page)]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story[0].where)
def test_blocks(story: list[Block], tmp_path: Path) -> None:
    run(story, tmp_path)
