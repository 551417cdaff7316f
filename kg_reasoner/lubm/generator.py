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
    from kg_reasoner.io.atomic_files import Target
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
    """Write the result of `generate` to a file (compressed as its ending says, such as ``.gz``) or, for ``-``, to standard
    output.

    The file appears when it is complete; before that, whatever stood there stays. Returns the number of lines (statements).
    `progress` is called with (``"generate"``, universities done, universities).

    Raises:
        OutputError: The file cannot be written.
        ValueError: A number is negative.
    """
    from kg_reasoner.io.atomic_files import atomic_output

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
        lines = _Department(draws, university, department).lines
        yield (opening + "".join(lines)).encode("ascii")
        opening = ""


class _Department:
    """Writes the statements of one department. The order of draws determines the data."""

    def __init__(self, draws: _Draws, university: int, department: int) -> None:
        self.below, self.between, self.some = draws.below, draws.between, draws.some
        self.host = f"Department{department}.University{university}.edu"
        self.base = f"http://www.{self.host}"
        self.home = f"<{self.base}>"
        self.lines: list[str] = []
        self.publications: list[str] = []
        self.courses = self.graduate_courses = 0

        top = f"<http://www.University{university}.edu>"
        self.lines += [self.named(self.home, "Department", f"Department{department}"), f"{top} {_A} <{UB}University> .\n"]
        self.lines.append(f"{self.home} <{UB}subOrganizationOf> {top} .\n")
        self.ranks = {rank: self.between(*people) for rank, people, _ in _FACULTY}
        faculty = sum(self.ranks.values())
        undergraduates = self.between(8 * faculty, 14 * faculty)
        graduates = self.between(3 * faculty, 4 * faculty)
        self.add_faculty()
        self.add_undergraduates(undergraduates)
        self.add_graduates(graduates)
        for number in range(self.between(10, 20)):
            group = f"<{self.base}/ResearchGroup{number}>"
            self.lines.append(f"{group} {_A} <{UB}ResearchGroup> .\n{group} <{UB}subOrganizationOf> {self.home} .\n")

    def named(self, iri: str, kind: str, name: str) -> str:
        return f'{iri} {_A} <{UB}{kind}> .\n{iri} <{UB}name> "{name}" .\n'

    def reachable(self, iri: str, name: str) -> str:
        return f'{iri} <{UB}emailAddress> "{name}@{self.host}" .\n{iri} <{UB}telephone> "xxx-xxx-xxxx" .\n'

    def degree(self, iri: str, level: str) -> str:
        giver = f"<http://www.University{self.below(_DEGREE_UNIVERSITIES)}.edu>"
        return f"{giver} {_A} <{UB}University> .\n{iri} <{UB}{level}DegreeFrom> {giver} .\n"

    def taught(self, iri: str, kind: str, first: int, end: int) -> list[str]:
        return [f"{iri} <{UB}teacherOf> <{self.base}/{kind}{course}> .\n" for course in range(first, end)]

    def add_faculty(self) -> None:
        """Add the members of the faculty with their publications, and the courses that they teach."""
        chair = self.below(self.ranks["FullProfessor"])
        for rank, _, published in _FACULTY:
            for number in range(self.ranks[rank]):
                self.add_teacher(rank, number, published, is_chair=rank == "FullProfessor" and number == chair)
        for kind, amount in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            self.lines += [self.named(f"<{self.base}/{kind}{number}>", kind, f"{kind}{number}") for number in range(amount)]

    def add_teacher(self, rank: str, number: int, published: tuple[int, int], *, is_chair: bool) -> None:
        name, lines = f"{rank}{number}", self.lines
        iri = f"<{self.base}/{name}>"
        lines.append(self.named(iri, rank, name))
        first, self.courses = self.courses, self.courses + self.between(1, 2)
        lines += self.taught(iri, "Course", first, self.courses)
        first, self.graduate_courses = self.graduate_courses, self.graduate_courses + self.between(1, 2)
        lines += self.taught(iri, "GraduateCourse", first, self.graduate_courses)
        lines += [self.degree(iri, level) for level in ("undergraduate", "masters", "doctoral")]
        lines.append(f"{iri} <{UB}worksFor> {self.home} .\n{self.reachable(iri, name)}")
        if rank in _PROFESSORS:
            lines.append(f'{iri} <{UB}researchInterest> "Research{self.below(_RESEARCH_INTERESTS)}" .\n')
        if is_chair:
            lines.append(f"{iri} <{UB}headOf> {self.home} .\n")
        for count in range(self.between(*published)):
            paper = f"<{self.base}/{name}/Publication{count}>"
            self.publications.append(paper)
            lines.append(f"{self.named(paper, 'Publication', f'Publication{count}')}{paper} <{UB}publicationAuthor> {iri} .\n")

    def advised(self, iri: str) -> str:
        rank = _PROFESSORS[self.below(len(_PROFESSORS))]
        return f"{iri} <{UB}advisor> <{self.base}/{rank}{self.below(self.ranks[rank])}> .\n"

    def student(self, kind: str, number: int, course_kind: str, offered: int, taken: int) -> tuple[str, str]:
        name = f"{kind}{number}"
        iri = f"<{self.base}/{name}>"
        takes = "".join(
            [f"{iri} <{UB}takesCourse> <{self.base}/{course_kind}{course}> .\n" for course in self.some(offered, taken)]
        )
        return iri, f"{self.named(iri, kind, name)}{iri} <{UB}memberOf> {self.home} .\n{self.reachable(iri, name)}{takes}"

    def add_undergraduates(self, count: int) -> None:
        for number in range(count):
            iri, statements = self.student("UndergraduateStudent", number, "Course", self.courses, self.between(2, 4))
            self.lines.append(statements)
            if self.below(5) == 0:
                self.lines.append(self.advised(iri))

    def add_graduates(self, count: int) -> None:
        """Add the graduate students, some of whom are assistants, and who are authors of publications."""
        teaching = self.between(count // 5, count // 4)
        research = self.between(count // 4, count // 3)
        assistants = self.some(count, teaching + research)
        # There are at most as many teaching assistants as faculty members, and each of these teaches a course at least.
        assisted = dict(zip(assistants[:teaching], self.some(self.courses, teaching), strict=True))
        researching = frozenset(assistants[teaching:])
        for number in range(count):
            taken = self.between(1, 3)
            iri, statements = self.student("GraduateStudent", number, "GraduateCourse", self.graduate_courses, taken)
            self.lines += [statements, self.degree(iri, "undergraduate"), self.advised(iri)]
            if number in assisted:
                course = f"<{self.base}/Course{assisted[number]}>"
                self.lines.append(f"{iri} {_A} <{UB}TeachingAssistant> .\n{iri} <{UB}teachingAssistantOf> {course} .\n")
            elif number in researching:
                self.lines.append(f"{iri} {_A} <{UB}ResearchAssistant> .\n")
            written = self.some(len(self.publications), self.between(0, 5))
            self.lines += [f"{self.publications[paper]} <{UB}publicationAuthor> {iri} .\n" for paper in written]
