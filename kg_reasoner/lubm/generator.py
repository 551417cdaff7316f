"""The data generator of the Lehigh University Benchmark: universities as N-Triples, one department at a time.

The profile (kinds, amounts, names) is that of the benchmark (Guo, Pan and Heflin, "LUBM: A benchmark for OWL knowledge base
systems", Journal of Web Semantics, 2005); the random choices differ. As in the original, the type of a university is repeated for
every department and every degree, so 2 to 3% of the lines are duplicates: the number of triples is that of distinct lines.

A university's data depend only on the seed and its number, so several processes can each generate some of the universities.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kg_reasoner.io.files import Target
    from kg_reasoner.progress import Progress

__all__ = ["generate", "write"]

UB: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
_A: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_DEGREE_UNIVERSITIES: Final = 1000
_RESEARCH_INTERESTS: Final = 30
_STREAM: Final = "kg_reasoner/lubm/15548"
"""Names the sequence of random numbers. Its number was searched for, so that seed 0 is as large as the seed 0 of the original (15
departments in one university, 93 in five; 100,817 and 624,540 distinct statements): figures compare with published ones."""

_FACULTY: Final = (
    # rank, people (least, most), publications of each (least, most)
    ("FullProfessor", (7, 10), (15, 20)),
    ("AssociateProfessor", (10, 14), (10, 18)),
    ("AssistantProfessor", (8, 11), (5, 10)),
    ("Lecturer", (5, 7), (0, 5)),
)
_PROFESSORS: Final = tuple(rank for rank, _, _ in _FACULTY if rank != "Lecturer")


class _Draws:
    """Uniform random numbers based only on `Random.random`, whose sequence is the same in every Python version."""

    __slots__ = ("random",)

    def __init__(self, seed: str) -> None:
        self.random = Random(seed).random

    def below(self, bound: int) -> int:
        """Return a random number from 0 to bound - 1."""
        return int(self.random() * bound)

    def between(self, least: int, most: int) -> int:
        """Return a random number from `least` to `most`, both inclusive."""
        return least + int(self.random() * (most - least + 1))

    def some(self, bound: int, count: int) -> list[int]:
        """Return `count` different random numbers from 0 to bound - 1, in the order drawn."""
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            drawn[int(self.random() * bound)] = None
        return list(drawn)


def generate(universities: int = 1, seed: int = 0, start: int = 0) -> Iterator[bytes]:
    """Yield the universities `start` to `start + universities - 1` as blocks of whole N-Triples lines, one block per department.

    A block is about a megabyte; nothing else is kept. The same arguments give the same bytes, and consecutive ranges of
    universities, one after the other, give the bytes of the whole range.

    >>> print(next(generate()).decode("ascii").splitlines()[1])
    <http://www.University0.edu> <http://swat.cse.lehigh.edu/onto/univ-bench.owl#name> "University0" .

    Raises:
        ValueError: A number is negative.
    """
    return (block for university in _numbers(universities, start) for block in _university(university, seed))


def write(
    output: Target,
    universities: int = 1,
    seed: int = 0,
    start: int = 0,
    progress: Progress | None = None,
) -> int:
    """Write the result of `generate` to a file (compressed if its name ends in ``.gz``) or, for ``-``, to standard output.

    The file appears when it is complete; before that, whatever stood there stays. Returns the number of lines (statements).
    `progress` is called with (``"generate"``, universities done, universities).

    Raises:
        OutputError: The file cannot be written.
        ValueError: A number is negative.
    """
    from kg_reasoner.io.files import atomic_output

    lines = 0
    with atomic_output(output) as file:
        for done, university in enumerate(_numbers(universities, start), 1):
            for block in _university(university, seed):
                file.write(block)
                lines += block.count(b"\n")
            if progress is not None:
                progress("generate", done, universities)
    return lines


def _numbers(universities: int, start: int) -> range:
    if universities < 0 or start < 0:
        raise ValueError(f"universities are counted from 0: got {universities} from {start} on")
    return range(start, start + universities)


def _university(university: int, seed: int) -> Iterator[bytes]:
    draws = _Draws(f"{_STREAM}/{seed}/{university}")
    iri = f"<http://www.University{university}.edu>"
    opening = f'{iri} {_A} <{UB}University> .\n{iri} <{UB}name> "University{university}" .\n'
    for department in range(draws.between(15, 25)):
        lines = _department(draws, university, department)
        yield (opening + "".join(lines)).encode("ascii")
        opening = ""


def _department(draws: _Draws, university: int, department: int) -> list[str]:
    """Return the statements of one department, in pieces of whole lines."""
    host = f"Department{department}.University{university}.edu"
    base = f"http://www.{host}"
    home = f"<{base}>"
    top = f"<http://www.University{university}.edu>"
    below, between, some = draws.below, draws.between, draws.some

    def named(iri: str, kind: str, name: str) -> str:
        return f'{iri} {_A} <{UB}{kind}> .\n{iri} <{UB}name> "{name}" .\n'

    def reachable(iri: str, name: str) -> str:
        return f'{iri} <{UB}emailAddress> "{name}@{host}" .\n{iri} <{UB}telephone> "xxx-xxx-xxxx" .\n'

    def degree(iri: str, level: str) -> str:
        giver = f"<http://www.University{below(_DEGREE_UNIVERSITIES)}.edu>"
        return f"{giver} {_A} <{UB}University> .\n{iri} <{UB}{level}DegreeFrom> {giver} .\n"

    lines = [named(home, "Department", f"Department{department}"), f"{top} {_A} <{UB}University> .\n"]
    lines.append(f"{home} <{UB}subOrganizationOf> {top} .\n")

    ranks = {rank: between(*people) for rank, people, _ in _FACULTY}
    faculty = sum(ranks.values())
    undergraduates = between(8 * faculty, 14 * faculty)
    graduates = between(3 * faculty, 4 * faculty)

    courses = graduate_courses = 0
    publications: list[str] = []
    chair = below(ranks["FullProfessor"])
    for rank, _, published in _FACULTY:
        for number in range(ranks[rank]):
            name = f"{rank}{number}"
            iri = f"<{base}/{name}>"
            lines.append(named(iri, rank, name))
            first, courses = courses, courses + between(1, 2)
            lines += [f"{iri} <{UB}teacherOf> <{base}/Course{course}> .\n" for course in range(first, courses)]
            first, graduate_courses = graduate_courses, graduate_courses + between(1, 2)
            lines += [f"{iri} <{UB}teacherOf> <{base}/GraduateCourse{course}> .\n" for course in range(first, graduate_courses)]
            lines += [degree(iri, level) for level in ("undergraduate", "masters", "doctoral")]
            lines.append(f"{iri} <{UB}worksFor> {home} .\n{reachable(iri, name)}")
            if rank in _PROFESSORS:
                lines.append(f'{iri} <{UB}researchInterest> "Research{below(_RESEARCH_INTERESTS)}" .\n')
            if rank == "FullProfessor" and number == chair:
                lines.append(f"{iri} <{UB}headOf> {home} .\n")
            for count in range(between(*published)):
                paper = f"<{base}/{name}/Publication{count}>"
                publications.append(paper)
                lines.append(f"{named(paper, 'Publication', f'Publication{count}')}{paper} <{UB}publicationAuthor> {iri} .\n")

    for kind, amount in (("Course", courses), ("GraduateCourse", graduate_courses)):
        lines += [named(f"<{base}/{kind}{number}>", kind, f"{kind}{number}") for number in range(amount)]

    def advised(iri: str) -> str:
        rank = _PROFESSORS[below(len(_PROFESSORS))]
        return f"{iri} <{UB}advisor> <{base}/{rank}{below(ranks[rank])}> .\n"

    def student(kind: str, number: int, course_kind: str, offered: int, taken: int) -> tuple[str, str]:
        name = f"{kind}{number}"
        iri = f"<{base}/{name}>"
        takes = "".join([f"{iri} <{UB}takesCourse> <{base}/{course_kind}{course}> .\n" for course in some(offered, taken)])
        return iri, f"{named(iri, kind, name)}{iri} <{UB}memberOf> {home} .\n{reachable(iri, name)}{takes}"

    for number in range(undergraduates):
        iri, statements = student("UndergraduateStudent", number, "Course", courses, between(2, 4))
        lines.append(statements)
        if below(5) == 0:
            lines.append(advised(iri))

    teaching = between(graduates // 5, graduates // 4)
    research = between(graduates // 4, graduates // 3)
    assistants = some(graduates, teaching + research)
    # There are at most as many teaching assistants as faculty members, and each of these teaches a course at least.
    assisted = dict(zip(assistants[:teaching], some(courses, teaching), strict=True))
    researching = frozenset(assistants[teaching:])
    for number in range(graduates):
        iri, statements = student("GraduateStudent", number, "GraduateCourse", graduate_courses, between(1, 3))
        lines += [statements, degree(iri, "undergraduate"), advised(iri)]
        if number in assisted:
            course = f"<{base}/Course{assisted[number]}>"
            lines.append(f"{iri} {_A} <{UB}TeachingAssistant> .\n{iri} <{UB}teachingAssistantOf> {course} .\n")
        elif number in researching:
            lines.append(f"{iri} {_A} <{UB}ResearchAssistant> .\n")
        lines += [f"{publications[paper]} <{UB}publicationAuthor> {iri} .\n" for paper in some(len(publications), between(0, 5))]

    for number in range(between(10, 20)):
        group = f"<{base}/ResearchGroup{number}>"
        lines.append(f"{group} {_A} <{UB}ResearchGroup> .\n{group} <{UB}subOrganizationOf> {home} .\n")
    return lines
