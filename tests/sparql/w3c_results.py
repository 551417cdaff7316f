"""Results of the W3C's SPARQL tests: read from files in any format, and compared with those that were found.

pyoxigraph reads the files: unlike rdflib, it keeps the lexical forms of literals.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph
from rdflib import BNode, Graph, URIRef
from rdflib import Literal as TheirLiteral
from rdflib.compare import isomorphic
from rdflib.term import Node

from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.terms import RDF, BlankNode, Literal, Term, Triple
from tests.sparql_oracle.compare import normalise

Row: TypeAlias = Mapping[str, Term]
Answers: TypeAlias = "list[Row] | frozenset[Triple] | bool"

RS: Final = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_RESULTS: Final = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}


def expected_answers(file: Path) -> Answers:
    """Return the rows of a SELECT, the triples of a CONSTRUCT or the truth value of an ASK that a file describes."""
    if file.suffix in _RESULTS:
        return answers_in(file.read_text(encoding="utf-8"), file.suffix)
    graph = triples_of(file)
    return _result_set(graph) if any(triple[2] == _rs("ResultSet") for triple in graph) else graph


def answers_in(text: str, suffix: str) -> Answers:
    """Return the answers in a text in the results format of files with a suffix."""
    found = pyoxigraph.parse_query_results(text, _RESULTS[suffix])
    if isinstance(found, pyoxigraph.QueryBoolean):
        return bool(found)
    names = [variable.value for variable in found.variables]
    return [{name: from_oxigraph(row[name]) for name in names if row[name] is not None} for row in found]


def triples_of(file: Path) -> frozenset[Triple]:
    """Return the triples of a document."""
    found: Iterator[pyoxigraph.Quad] = pyoxigraph.parse(path=str(file), base_iri=file.as_uri())
    return frozenset((from_oxigraph(q.subject), from_oxigraph(q.predicate), from_oxigraph(q.object)) for q in found)  # type: ignore[misc]


def _rs(name: str) -> Term:
    return from_oxigraph(pyoxigraph.NamedNode(RS + name))


def _result_set(graph: frozenset[Triple]) -> Answers:
    """Return the result that a graph describes in the vocabulary of the first SPARQL tests."""
    objects: dict[tuple[Term, Term], list[Term]] = {}
    for subject, predicate, value in graph:
        objects.setdefault((subject, predicate), []).append(value)

    def literal(subject: Term, name: str) -> str:
        (value,) = objects[subject, _rs(name)]
        assert isinstance(value, Literal)
        return value.lexical

    (result,) = (s for s, p, o in graph if p == RDF.type and o == _rs("ResultSet"))
    if (result, _rs("boolean")) in objects:
        return literal(result, "boolean") == "true"
    solutions = objects.get((result, _rs("solution")), [])
    if all((solution, _rs("index")) in objects for solution in solutions):
        solutions.sort(key=lambda solution: int(literal(solution, "index")))
    return [
        {literal(b, "variable"): objects[b, _rs("value")][0] for b in objects.get((solution, _rs("binding")), [])}
        for solution in solutions
    ]


def same_answers(expected: Answers, found: Answers, *, computed: bool = False, ordered: bool = False, is_lax: bool = False) -> bool:
    """Return whether answers are the same up to the names of blank nodes.

    Args:
        expected: The expected answers.
        found: The answers that were found.
        computed: Whether numbers and times may be spelt in another way, because the query computes some.
        ordered: Whether the order of the rows of a SELECT matters.
        is_lax: Whether the number of repetitions does not matter.
    """
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, frozenset):
        ordered = False
    one, other = (_described(_rows(answers), computed, ordered, is_lax) for answers in (expected, found))
    return len(one) == len(other) and isomorphic(one, other)


def _rows(answers: Sequence[Row] | frozenset[Triple]) -> Sequence[Row]:
    if isinstance(answers, frozenset):
        return [dict(zip("spo", triple, strict=True)) for triple in answers]
    return answers


def _described(rows: Sequence[Row], computed: bool, ordered: bool, is_lax: bool) -> Graph:
    """Describe rows in a graph, so that rows are the same if the graphs are isomorphic."""
    graph = Graph()

    def described(term: Term) -> Node:
        if isinstance(term, BlankNode):
            return BNode(term.label)
        return TheirLiteral(_spelling_apart(term) if computed else repr(term))

    counts = Counter(
        (frozenset((name, described(term)) for name, term in row.items()), place if ordered else None)
        for place, row in enumerate(rows)
    )
    for (row, place), count in counts.items():
        node = BNode()
        graph.add((node, URIRef("urn:row"), TheirLiteral(f"{place} {1 if is_lax else count}")))
        for name, value in row:
            graph.add((node, URIRef(f"urn:variable:{name}"), value))
    return graph


def _spelling_apart(term: Term) -> str:
    """Describe a term without the spelling of its number or time."""
    match normalise(term):
        case (datatype, Decimal() as number):
            return f"{datatype} {number.normalize()}"
        case other:
            return repr(other)


def same_csv(expected: str, found: str) -> bool:
    """Return whether two tables of comma-separated values have the same rows; blank nodes are all alike."""
    return _cells(expected) == _cells(found)


def _cells(text: str) -> Counter[Collection[tuple[str, str]]]:
    return Counter(
        frozenset((name, "_:" if cell.startswith("_:") else cell) for name, cell in row.items())
        for row in csv.DictReader(StringIO(text))
    )
