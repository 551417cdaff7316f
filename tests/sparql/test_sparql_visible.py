"""What ``*`` stands for in queries, and texts that are long."""

from __future__ import annotations

import pytest

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.errors import QuerySyntaxError
from tests.helpers.effort import thinned

DATA = b"""
@prefix : <http://example.org/> .
:a :p :b ; :q 1 . :b :p :c ; :r :b . :c :r :a .
"""
PREFIX = "PREFIX : <http://example.org/> "


@pytest.fixture(scope="module")
def made() -> Reasoner:
    made = Reasoner()
    made.load(DATA)
    return made


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * { ?s :p ?o MINUS { ?s :q ?z } }", "s o"),
        ("SELECT * { ?s :p ?o FILTER EXISTS { ?s :q ?z } }", "s o"),
        ("SELECT * { ?s :p ?o FILTER(?x = 1 || true) }", "s o"),
        ("SELECT * { ?s :p ?o BIND(EXISTS { ?s :q ?z } AS ?b) }", "s o b"),
        ("SELECT * { ?s :p ?o OPTIONAL { ?s :q ?n FILTER(?m > 1) MINUS { ?s :r ?u } } }", "s o n"),
        ("SELECT * { { ?s :p ?o } UNION { ?o :p ?t } }", "s o t"),
        ("SELECT * { { SELECT * { ?s :p ?o MINUS { ?s :q ?z } } } }", "s o"),
        ("SELECT * { { SELECT ?s (1 AS ?one) { ?s :p ?o } } }", "s one"),
        ("SELECT * { ?s (:p|:r)* ?o GRAPH ?g { ?a ?b ?c } }", "s o g a b c"),
        ("SELECT * { [ :p ?b ] :r ?a } VALUES ?last { 1 }", "b a last"),
        ("SELECT * { FILTER(?x = 1) }", ""),
        ("SELECT * { }", ""),
        ("SELECT * { ?z :p ?a . ?b :p ?y }", "z a b y"),
    ],
)
def test_select_star_has_the_visible_variables(made: Reasoner, query: str, expected: str) -> None:
    assert list(made.query(PREFIX + query).variables) == expected.split()
    assert [str(variable) for variable in graph_of(made).query(PREFIX + query).vars or ()] == expected.split()


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("DESCRIBE * { ?s :q ?n }", "DESCRIBE ?s ?n { ?s :q ?n }"),
        ("DESCRIBE * WHERE { ?s :p ?o MINUS { ?s :q ?z } } LIMIT 1", "DESCRIBE :b :c"),
        ("DESCRIBE *", "DESCRIBE :nowhere"),
    ],
)
def test_describe_star(made: Reasoner, query: str, same: str) -> None:
    assert set(made.query(PREFIX + query)) == set(made.query(PREFIX + same))
    assert set(graph_of(made).query(PREFIX + query)) == set(graph_of(made).query(PREFIX + same))


def test_select_star_is_refused_with_group_by(made: Reasoner) -> None:
    for query in ("SELECT * { ?s :p ?o } GROUP BY ?s", "SELECT ?s { { SELECT * { ?s :p ?o } GROUP BY ?s } }"):
        with pytest.raises(QuerySyntaxError, match=r"SELECT \* is not permitted with GROUP BY"):
            made.query(PREFIX + query)


@pytest.mark.parametrize("end", thinned(["", " ."], 2))
@pytest.mark.long
def test_many_triples_in_a_row(made: Reasoner, end: str) -> None:
    triples = " . ".join(f"?s :p ?o{number}" for number in range(400)) + end
    assert len(made.query(f"{PREFIX} SELECT ?s {{ {triples} }}")) == 2
    template = " . ".join(f"?s :p{number} ?o" for number in range(400)) + end
    assert len(made.query(f"{PREFIX} CONSTRUCT {{ {template} }} {{ ?s :q ?o }}")) == 400


def test_separators_of_triples_are_still_checked(made: Reasoner) -> None:
    for body in ("?s :p ?o .. ?s :p ?q", "?s :p ?o ?s :p ?q", ". ?s :p ?o"):
        with pytest.raises(QuerySyntaxError):
            made.query(f"{PREFIX} SELECT ?s {{ {body} }}")


def test_what_is_nested_too_deep_is_an_error_of_ours(made: Reasoner) -> None:
    with pytest.raises(QuerySyntaxError, match="nested too deep"):
        made.query(f"{PREFIX} SELECT ?s {{ {'{' * 300} ?s :p ?o {'}' * 300} }}")
