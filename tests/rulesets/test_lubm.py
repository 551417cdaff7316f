"""The Lehigh University Benchmark: data after the published profile; ontology and queries that say what the originals say."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import rdflib
from rdflib.compare import isomorphic
from rdflib.plugins.sparql import prepareQuery

from kg_reasoner import lubm
from tests.helpers.suites import SUITES, needs_suite

SUITE = SUITES / "lubm"
UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Department:
    """One block of the generator, to be asked for counts."""

    def __init__(self, block: bytes) -> None:
        self.objects: dict[tuple[str, str], list[str]] = defaultdict(list)
        """(subject, local name of the predicate) -> objects, as they are written but without brackets and quotation marks"""
        self.kinds: dict[str, list[str]] = defaultdict(list)
        for line in block.decode("ascii").splitlines():
            matched = re.fullmatch(r'<([^ ]+)> <([^ ]+)> (?:<([^ ]+)>|"([^"]*)") \.', line)
            assert matched, line
            subject, predicate, iri, text = matched.groups()
            if predicate == TYPE:
                self.kinds[iri.removeprefix(UB)].append(subject)
            else:
                self.objects[subject, predicate.removeprefix(UB)].append(iri or text)

    def amounts(self, subjects: list[str], predicate: str, only: str = "") -> list[int]:
        """How many objects whose IRI has `only` in it each subject has."""
        return [sum(only in object_ for object_ in self.objects[subject, predicate]) for subject in subjects]

    def pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        return ((subject, object_) for (subject, p), objects in self.objects.items() if p == predicate for object_ in objects)


@pytest.fixture(scope="module")
def departments() -> list[Department]:
    return [Department(block) for block in itertools.islice(lubm.generate(2, seed=3), 30)]


FACULTY = {"FullProfessor": (7, 10), "AssociateProfessor": (10, 14), "AssistantProfessor": (8, 11), "Lecturer": (5, 7)}


@pytest.mark.long
def test_the_amounts_are_those_of_the_profile(departments: list[Department]) -> None:
    for department in departments:
        kinds = department.kinds
        faculty = [person for rank in FACULTY for person in kinds[rank]]
        for rank, (least, most) in FACULTY.items():
            assert least <= len(kinds[rank]) <= most
        graduates, undergraduates = kinds["GraduateStudent"], kinds["UndergraduateStudent"]
        assert 8 * len(faculty) <= len(undergraduates) <= 14 * len(faculty)
        assert 3 * len(faculty) <= len(graduates) <= 4 * len(faculty)
        assert len(graduates) // 5 <= len(kinds["TeachingAssistant"]) <= len(graduates) // 4
        assert len(graduates) // 4 <= len(kinds["ResearchAssistant"]) <= len(graduates) // 3
        assert 10 <= len(kinds["ResearchGroup"]) <= 20

        assert set(department.amounts(faculty, "teacherOf", "/Course")) <= {1, 2}
        assert set(department.amounts(faculty, "teacherOf", "/GraduateCourse")) <= {1, 2}
        assert set(department.amounts(undergraduates, "takesCourse", "/Course")) <= {2, 3, 4}
        assert set(department.amounts(graduates, "takesCourse", "/GraduateCourse")) <= {1, 2, 3}
        assert set(department.amounts(graduates, "advisor", "Professor")) == {1}
        assert set(department.amounts(undergraduates, "advisor", "Professor")) == {0, 1}
        for rank, (least, most) in {
            "FullProfessor": (15, 20),
            "AssociateProfessor": (10, 18),
            "AssistantProfessor": (5, 10),
            "Lecturer": (0, 5),
        }.items():
            published = Counter(author for _, author in department.pairs("publicationAuthor") if rank in author)
            assert all(least <= published[person] <= most for person in kinds[rank])


def test_every_value_of_a_range_occurs_at_its_two_ends(departments: list[Department]) -> None:
    for rank, (least, most) in FACULTY.items():
        assert {least, most} <= {len(department.kinds[rank]) for department in departments}
    shares = [department.amounts(department.kinds["UndergraduateStudent"], "advisor") for department in departments]
    assert 0.18 < sum(map(sum, shares)) / sum(map(len, shares)) < 0.22


def test_people_have_what_the_profile_says(departments: list[Department]) -> None:
    department = departments[4]
    host = "Department4.University0.edu"
    home = f"http://www.{host}"
    kinds, objects = department.kinds, department.objects
    faculty = [person for rank in FACULTY for person in kinds[rank]]
    students = kinds["GraduateStudent"] + kinds["UndergraduateStudent"]
    for person in faculty + students:
        local = person.removeprefix(f"{home}/")
        assert objects[person, "name"] == [local]
        assert objects[person, "emailAddress"] == [f"{local}@{host}"]
        assert objects[person, "telephone"] == ["xxx-xxx-xxxx"]
        assert objects[person, "worksFor"] == ([home] if person in faculty else [])
        assert objects[person, "memberOf"] == ([home] if person in students else [])
    for person in faculty:
        for level in ("undergraduate", "masters", "doctoral"):
            (university,) = objects[person, f"{level}DegreeFrom"]
            number = re.fullmatch(r"http://www\.University(\d+)\.edu", university)
            assert number and int(number[1]) < 1000 and university in kinds["University"]
        interests = objects[person, "researchInterest"]
        assert ("Lecturer" in person) == (interests == [])
        assert all(re.fullmatch("Research([12]?[0-9])", interest) for interest in interests)
    assert all(len(objects[person, "undergraduateDegreeFrom"]) == 1 for person in kinds["GraduateStudent"])
    ((chair, headed),) = department.pairs("headOf")
    assert chair in kinds["FullProfessor"] and headed == home
    assert objects[home, "subOrganizationOf"] == ["http://www.University0.edu"]
    assert {objects[group, "subOrganizationOf"][0] for group in kinds["ResearchGroup"]} == {home}


def test_assistants_and_courses(departments: list[Department]) -> None:
    for department in departments:
        kinds = department.kinds
        assistants = kinds["TeachingAssistant"] + kinds["ResearchAssistant"]
        assert len(set(assistants)) == len(assistants) and set(assistants) <= set(kinds["GraduateStudent"])
        helped = list(department.pairs("teachingAssistantOf"))
        assert {assistant for assistant, _ in helped} == set(kinds["TeachingAssistant"])
        assert len({course for _, course in helped}) == len(helped), "each assists a course of his own"
        for kind in ("Course", "GraduateCourse"):
            numbers = [int(course.rpartition(kind)[2]) for _, course in department.pairs("teacherOf") if f"/{kind}" in course]
            assert numbers == list(range(len(kinds[kind]))), "numbered in the order of those who teach them"
        for student in kinds["GraduateStudent"] + kinds["UndergraduateStudent"]:
            taken = department.objects[student, "takesCourse"]
            assert len(set(taken)) == len(taken)
            assert set(taken) <= set(kinds["Course"] + kinds["GraduateCourse"])
        further = Counter(author for _, author in department.pairs("publicationAuthor") if "GraduateStudent" in author)
        assert set(further) <= set(kinds["GraduateStudent"]) and max(further.values()) <= 5


def test_one_university_has_about_103_thousand_statements_and_a_department_6700() -> None:
    lines = b"".join(lubm.generate()).splitlines()
    assert 102_000 < len(lines) < 104_500
    assert 99_500 < len(set(lines)) < 101_500
    blocks = list(lubm.generate(3, seed=17))
    assert 15 * 3 <= len(blocks) <= 25 * 3
    assert 6_500 < sum(block.count(b"\n") for block in blocks) / len(blocks) < 7_100


@pytest.mark.long
def test_five_universities_have_about_the_published_624532_triples() -> None:
    lines = {line for block in lubm.generate(5) for line in block.splitlines()}
    assert abs(len(lines) - 624_532) < 6_000


def test_the_only_duplicates_are_the_types_of_universities() -> None:
    counted = Counter(b"".join(lubm.generate(1, seed=5)).splitlines())
    repeated = {line.split(b" ", 1)[1] for line, count in counted.items() if count > 1}
    assert repeated == {f"<{TYPE}> <{UB}University> .".encode()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    assert next(lubm.generate(1, seed=7)) == next(lubm.generate(1, seed=7))
    assert next(lubm.generate(1, seed=7)) != next(lubm.generate(1, seed=8))


@pytest.mark.long
def test_a_university_can_be_generated_alone() -> None:
    together = b"".join(lubm.generate(3, seed=1))
    alone = b"".join(b"".join(lubm.generate(1, seed=1, start=university)) for university in range(3))
    assert together == alone


def test_universities_are_made_when_they_are_asked_for() -> None:
    blocks = lubm.generate(10**12, seed=1)
    assert b"<http://www.Department0.University0.edu>" in next(blocks)


@pytest.mark.parametrize(("universities", "start"), [(-1, 0), (1, -1)])
def test_a_negative_number_is_refused(universities: int, start: int) -> None:
    with pytest.raises(ValueError, match="counted from 0"):
        lubm.generate(universities, start=start)


def test_a_block_is_n_triples() -> None:
    block = next(lubm.generate())
    graph = rdflib.Graph().parse(data=block, format="nt")
    assert len(graph) == len(set(block.splitlines()))


@needs_suite("lubm")
def test_the_ontology_has_exactly_the_axioms_of_univ_bench() -> None:
    def axioms(path: Path, format: str) -> rdflib.Graph:
        graph = rdflib.Graph().parse(path, format=format)
        for annotation in (rdflib.RDFS.label, rdflib.RDFS.comment, rdflib.OWL.versionInfo):
            graph.remove((None, annotation, None))
        return graph

    ours, theirs = axioms(lubm.ontology_path(), "turtle"), axioms(SUITE / "univ-bench.owl", "xml")
    assert len(ours) == len(theirs) > 200
    assert isomorphic(ours, theirs)


@needs_suite("lubm")
@pytest.mark.parametrize("name", list(lubm.queries()))
def test_a_query_asks_for_the_same_as_the_original(name: str) -> None:
    def shape(text: str) -> tuple[int, set[tuple[object, ...]]]:
        """The number of answer columns, and the triple patterns with the number of the answer column for each variable."""
        algebra = prepareQuery(text).algebra
        assert algebra.p.name == "Distinct" and algebra.p.p.name == "Project" and algebra.p.p.p.name == "BGP"
        columns = {variable: number for number, variable in enumerate(algebra.PV)}
        patterns = algebra.p.p.p.triples
        return len(columns), {tuple(columns[term] if isinstance(term, rdflib.Variable) else term for term in p) for p in patterns}

    ours, theirs = lubm.queries()[name], (SUITE / f"{name}.rq").read_text(encoding="utf-8")
    assert shape(ours) == shape(theirs)


def test_there_are_fourteen_queries_with_titles() -> None:
    assert list(lubm.queries()) == [f"q{number:02}" for number in range(1, 15)]
    assert len({lubm.query_title(name) for name in lubm.queries()}) == 14
    assert not any(lubm.query_title(name).startswith(("#", "PREFIX")) for name in lubm.queries())
