"""Every code block of the documentation does what it says; what it lists is what there is, and what it links to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kg_reasoner import rulesets
from kg_reasoner.expressions import aggregate_functions, functions
from kg_reasoner.expressions import compile as expressions
from tests.helpers.code_blocks import ROOT, SHELL, Block, run, stories_of
from tests.helpers.copies import COPIES

DOCS = ROOT / "docs"
GUIDES = [ROOT / "CONTRIBUTING.md", ROOT / "kg_reasoner" / "dbsp" / "README.md", ROOT / "spark_backend" / "README.md"]
PAGES = sorted(DOCS.rglob("*.md"))
READ_IN_THE_REPOSITORY = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", ROOT / "examples" / "README.md"]

COMMAND = re.compile(r"^\s*kg-reasoner|[|&(]\s*kg-reasoner", re.MULTILINE)
STORIES = [story for page in (*PAGES, *GUIDES) for story in stories_of(page)]


def is_long(story: list[Block]) -> bool:
    """Whether a story starts commands, each a new process. Those of the README always run."""
    commands = (block.code for block in story if block.language in SHELL and "skipped" not in block.markers)
    return any(COMMAND.search(code) for code in commands)


@pytest.mark.parametrize(
    "story", [pytest.param(story, id=story[0].where, marks=[pytest.mark.long] * is_long(story)) for story in STORIES]
)
@pytest.mark.sample(2)
def test_blocks(story: list[Block], tmp_path: Path) -> None:
    run(story, tmp_path, copies=COPIES)


def words(page: str) -> set[str]:
    """What stands in backticks on a page."""
    return set(re.findall(r"`([^`\n]+)`", (DOCS / page).read_text(encoding="utf-8")))


def test_the_reference_has_all_functions() -> None:
    casts = {name for name in functions.FUNCTIONS if name.startswith("<http")}
    wanted = {*functions.FUNCTIONS, *functions.REFUSED, *expressions._FORMS, *aggregate_functions.FUNCTIONS} - casts - {"neg", "||"}
    wanted |= {f"xsd:{name.rpartition('#')[2][:-1]}" for name in casts}
    assert not wanted - words("reference/rule-language.md")


def test_the_reference_has_all_rule_sets() -> None:
    assert not set(rulesets.names()) - words("reference/rule-sets.md")


def test_the_reference_has_all_commands_and_options() -> None:
    from click import Context

    from kg_reasoner.cli import main

    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    common, own = options_of(page, "Options that most commands have"), options_of(page, "Options of single commands")
    shared = {option for row in common for option in row}
    listed = {command: set(options) for command, *options in own}
    context = Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        assert f"`kg-reasoner {name}" in page
        if name in ("spark", "generate", "demo"):  # what they take is told elsewhere
            continue
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        assert options - shared == listed.pop(name), name
    assert not listed


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES, *GUIDES], ids=lambda page: page.stem)
def test_commands_within_sentences_exist(page: Path) -> None:
    from click import Context, Group

    from kg_reasoner.cli import main

    for text in re.findall(r"`kg-reasoner ([^`]+)`", page.read_text(encoding="utf-8")):
        command, taken = main, set()
        for word in text.split():
            if word in ("|", "..."):
                break
            if isinstance(command, Group) and not word.startswith("-"):
                command = command.get_command(Context(main), word)
                assert command is not None, text
                taken = {option for parameter in command.params for option in parameter.opts}
            elif word.startswith("-") and word != "-":
                assert word.partition("=")[0] in taken, text


def options_of(page: str, title: str) -> list[list[str]]:
    """The names of options, and of a command, that each row of the table under a title has."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    return [re.findall(r"`(--[a-z-]+|[a-z]+)", row) for row in rows]


@pytest.mark.parametrize("page", [*READ_IN_THE_REPOSITORY, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path = target.partition("#")[0]
        is_generated = path.endswith(".ipynb") or "notebooks/" in path
        if path and "://" not in path and not is_generated:
            assert (page.parent / path).exists(), f"{page.name} links to {target}"


def test_each_benchmark_is_listed_once() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    found = [path for path in (ROOT / "benchmarks").iterdir() if path.suffix == ".py" or (path / "__main__.py").exists()]
    assert sorted(listed) == sorted(path.stem for path in found if not path.stem.startswith("__"))


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
