"""Programs as JSON: they are what was parsed, with all places; anything else is parsed again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kg_reasoner import cache, rulesets
from kg_reasoner.errors import LoadError, SafetyError
from kg_reasoner.language import parser
from kg_reasoner.language.parser import parse, parse_file
from kg_reasoner.language.saved_programs import dumps, loads, saved_program, saved_rule_file, write_program
from kg_reasoner.program import Atom, Origin, Program, Rule

EVERYTHING = """
@prefix : <http://example.org/> .
input relation edge(from: iri, to: integer) .
@rule named far(?x, "a"@en, _:b, 1.5) :- edge(?x, ?y), NOT :p[?x, _], FILTER(?y > 1 && STRLEN(STR(?x)) < 9),
    BIND(?y * -2 AS ?z), AGGREGATE(edge(?a, ?b), FILTER(?b = 1) ON ?a BIND COUNT(DISTINCT ?b) AS ?n BIND COUNT(*) AS ?m) .
false :- edge(?x, ?x) .
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KG_REASONER_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.dl"
    path.write_text(EVERYTHING)
    return path


def unread(path: Path) -> Program:
    raise AssertionError("it is parsed again")


@pytest.mark.parametrize("name", rulesets.names())
@pytest.mark.sample(2)
def test_rule_sets(name: str) -> None:
    path = rulesets.load(name).path
    parsed = parse_file(path)
    assert loads(dumps(parsed, str(path)), str(path)) == parsed


def test_every_part_and_its_place() -> None:
    parsed = parse(EVERYTHING, "here")
    found = loads(dumps(parsed, "here"), "there")
    assert found == parsed
    assert dumps(found, "there") == dumps(parsed, "here")
    assert b"here" not in dumps(parsed, "here")
    places = [rule.head.span for rule in found.rules]
    assert [(place.source, place.line, place.text) for place in places if place] == [
        ("there", place.line, place.text) for rule in parsed.rules if (place := rule.head.span)
    ]


def test_a_file_is_parsed_once(file: Path) -> None:
    first = saved_program(file, parse_file)
    assert saved_program(file, unread) == first
    file.write_text("p(1) .")
    assert saved_program(file, parse_file) == parse("p(1) .")


def test_a_rule_set_is_checked_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("p(?x) :- q(?x, ?y) .")
    first = saved_program(file, rulesets.checked)
    with monkeypatch.context() as patch:
        patch.setattr(rulesets.analysis, "check", None)
        assert saved_program(file, rulesets.checked) == first
    file.write_text("p(?x) :- q(?y) .")
    for _ in range(2):
        with pytest.raises(SafetyError):
            saved_program(file, rulesets.checked)


def test_what_a_wheel_contains_is_used_if_it_fits(file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(file, parse_file(file))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "read", None)  # nobody looks there
        assert saved_program(file, unread) == parse_file(file)
    assert not (folder / "cache").exists()
    moved = folder / "elsewhere" / "rules.dl"
    shutil.copytree(file.parent, moved.parent, ignore=lambda *_: ["elsewhere"])
    head = saved_program(moved, unread).rules[0].head
    assert head.span is not None
    assert head.span.source == str(moved)
    file.write_text("p(1) .")
    assert saved_program(file, parse_file) == parse("p(1) .")


UNFIT = [b"", b"[]", b'["IRI", "a"]', b'["Program", 1', b'["Unknown"]', b'["Program", ["Rule"]]', b'[""]']


@pytest.mark.parametrize("content", UNFIT)
def test_what_does_not_fit_is_parsed_again(content: bytes, file: Path, folder: Path) -> None:
    parsed = saved_program(file, parse_file)
    (saved,) = (path.name for path in (folder / "cache").iterdir() if path.name.startswith("ruleset-"))
    cache.write(saved, content)
    assert saved_program(file, parse_file) == parsed
    assert cache.read(saved) == dumps(parsed, str(file))


def test_what_is_not_part_of_a_program() -> None:
    with pytest.raises(TypeError, match="a float cannot be part of a program"):
        dumps(Program((Rule(Atom("p", (1.5,))),)), "here")  # type: ignore[arg-type]
    parsed = parse("p(1) .", "elsewhere")
    with pytest.raises(ValueError, match="a program of here has a part of elsewhere"):
        dumps(parsed, "here")
    assert dumps(Program((Rule(Atom("p", ()), (), Origin()),)), "here")


def test_rule_files_of_users(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = saved_rule_file(str(file))
    assert parsed == parse_file(file)
    monkeypatch.setattr(parser, "parse_file", unread)
    assert saved_rule_file(str(file)) == parsed
    file.write_text(EVERYTHING + "edge(?y, 1) :- edge(?y, 2) .\n")
    with pytest.raises(AssertionError, match="parsed again"):
        saved_rule_file(str(file))


def test_a_rule_file_that_imports_another_is_parsed_again(folder: Path) -> None:
    library, file = folder / "library.dl", folder / "rules.dl"
    file.write_text('import "library.dl" as library .\np(?x) :- library.q(?x) .\n')
    for fact in (1, 2):
        library.write_text(f"q({fact}) .\n")
        assert saved_rule_file(str(file)) == parse_file(file)


def test_a_rule_file_that_cannot_be_read(folder: Path) -> None:
    with pytest.raises(LoadError, match="cannot read the rule file"):
        saved_rule_file(str(folder / "missing.dl"))


def test_places_name_a_rule_file_as_it_was_given(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    for _ in range(2):
        place = saved_rule_file("./rules.dl").rules[0].head.span
        assert place is not None
        assert place.source == "./rules.dl"


def test_a_program_that_cannot_be_saved_is_parsed_each_time(file: Path) -> None:
    elsewhere = parse(EVERYTHING, "elsewhere")
    for _ in range(2):
        calls: list[Path] = []

        def parsed(path: Path) -> Program:
            calls.append(path)  # noqa: B023
            return elsewhere

        assert saved_program(file, parsed) is elsewhere
        assert calls == [file]


def test_a_file_that_changes_while_it_is_read(file: Path) -> None:
    former = file.read_text(encoding="utf-8")

    def parsed(path: Path) -> Program:
        path.write_text("p(1) .", encoding="utf-8")
        return parse_file(path)

    assert saved_program(file, parsed) == parse("p(1) .", str(file))
    file.write_text(former, encoding="utf-8")
    assert saved_program(file, parse_file) == parse_file(file)


def test_a_copy_of_a_rule_set_is_not_the_rule_set(tmp_path: Path) -> None:
    file, copy = tmp_path / "rules.dl", tmp_path / "copy.dl"
    for each in (file, copy):
        each.write_text("p(1) .", encoding="utf-8")
    of_users = saved_rule_file(str(copy))
    packaged = saved_program(file, rulesets.checked)
    assert [rule.origin.is_packaged for program in (of_users, packaged) for rule in program.rules] == [False, True]
