"""Queries that are read without rdflib have the algebra that is made of rdflib's, and all others are left to rdflib."""

from __future__ import annotations

import re
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from kg_reasoner import Reasoner
from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.queries.parsed import parsed_query
from kg_reasoner.sparql.queries.sparql_text import read_query
from kg_reasoner.sparql.scope import mentioned
from kg_reasoner.sparql.syntax.query_syntax import QueryReader, read_common_query
from kg_reasoner.sparql.syntax.tokens import Unread
from kg_reasoner.sparql.translate import translate_query
from kg_reasoner.terms import BlankNode, literal
from tests.helpers.effort import examples
from tests.sparql_oracle import ast
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.strategies import cases
from tests.sparql_oracle.text import query_text

PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "

COMMON = """
SELECT * { ?x a :C ; :p ?y , 1 , 1.5 , true , "s" , 'it' , "l"@en-GB , "1"^^xsd:integer , <urn:a> . }
SELECT ?x WHERE { ?x :p [ :q ?y ; :r [] ] . [] :p _:b . _:b :q _:b . [ :p ?z ] :q ?u }
SELECT DISTINCT ?x { ?x :p/:q|^:r ?y . ?y (:p*/:q+)? ?z . ?z !:p ?u . ?z !(:p|^:q|a) ?u . ?x ^(:p/:q) ?z . ?x (:p/:q)/:r ?u }
SELECT REDUCED ?y ?x { ?x :p ?y FILTER(?y > 1 + 2 * 3 - ?x / 4 && !(?y = 5) || ?x IN (1, :a) || ?y NOT IN () && -?x < -3.50) }
SELECT ?x { ?x :p ?y . FILTER regex(str(?y), "^a\\\\.b", "i") . ?x :q ?z FILTER :f(?x) FILTER xsd:integer(?y) FILTER(true) }
SELECT ?x { FILTER(false) FILTER(?x) ?x :p ?y OPTIONAL { ?y :q ?z FILTER(?z > ?x) FILTER bound(?z) } FILTER(!bound(?z)) }
SELECT ?x { ?x :p ?y OPTIONAL { { ?y :q ?z FILTER(?z > ?x) } } OPTIONAL { } MINUS { ?x :q ?y } . ?x :r ?u }
SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } UNION { { ?x :r ?y } UNION { } } { ?x :p ?z } { } }
SELECT * { GRAPH ?g { ?x :p ?y } GRAPH :g { ?x :q ?z FILTER EXISTS { ?z :r ?g } } FILTER NOT EXISTS { ?x :r ?u FILTER(?u > ?y) } }
SELECT * { ?x :p ?y BIND(?y + 1 AS ?z) BIND(EXISTS { ?x :q ?v } AS ?e) VALUES ?x { :a "b" 3 UNDEF } VALUES (?y ?z) { (1 UNDEF) } }
SELECT (?y AS ?z) (STR(?x) AS ?s) ?x ?x { ?x :p ?y } ORDER BY ?x DESC(?y) ASC(STR(?x)) :f(?x) LIMIT 5 OFFSET 2
SELECT ?x { ?x :p ?y } OFFSET 3 LIMIT 07 VALUES ?x { :a }
SELECT (CONCAT() AS ?y) (COALESCE( ) AS ?z) { ?x :p ?u FILTER(?u IN (COALESCE(), CONCAT(CONCAT(), :a), COALESCE(:b), :f())) }
SELECT ?x (COUNT(*) AS ?n) (SUM(DISTINCT ?y) + 1 AS ?m) (GROUP_CONCAT(?y; SEPARATOR=", ") AS ?g) { ?x :p ?y } GROUP BY ?x
SELECT (COUNT(?y) AS ?n) (?n * 2 AS ?m) { ?x :p ?y } HAVING (COUNT(?y) > 1 && ?x = :a) ORDER BY ?y AVG(?y)
SELECT ?x ?k (MIN(?y) AS ?l) { ?x :p ?y ; :q ?z } GROUP BY ?x (STR(?y) AS ?k) STRLEN(?z) HAVING (MAX(?y) < ?x) ORDER BY ?l
SELECT * { ?x :p ?y { SELECT ?y (COUNT(*) AS ?n) { ?y :q ?z } GROUP BY ?y } { SELECT DISTINCT * { ?y :r ?w } LIMIT 2 } }
SELECT ?x { ?x :p ?y FILTER(IF(?y < 2, COALESCE(?x, 1), CONCAT("a", ?y)) = BNODE() || RAND() > SUBSTR(?x, 2) || isIRI(?x)) }
ASK { ?x :p ?y FILTER(sameTerm(?x, ?y)) }
ASK WHERE { }
CONSTRUCT { ?x :q [ :r ?y ] . _:b :s ?x } WHERE { ?x :p ?y } LIMIT 3
DESCRIBE :a
DESCRIBE :a <urn:b>
SELECT * { _:a :p ?x FILTER(?x > 1) _:a :q ?y . ?y :r _:b_1. { [] :q _:c } MINUS { ?x :p ?z } BIND(1 AS ?z) BIND(?z AS ?w) }
SELECT ?k (COUNT(*) + STRLEN(?k) AS ?n) (?n AS ?m) { ?x :p ?y } GROUP BY (STR(?y) AS ?k) ORDER BY ?n ?k
SELECT * { _:path1 :p ?x . ?x :q/:r ?y }
SELECT ?x # a comment { with } <signs> "
{ ?x :p "# no comment" . # ?z
 <urn:a#b> :q ?x }
""".strip()

UNCOMMON = """
SELECT ?x FROM :g { ?x :p ?y }
BASE <http://example.org/> SELECT ?x { ?x <p> ?y }
SELECT ?x { ?x <p> ?y }
SELECT $x { $x :p ?y }
SELECT ?x { ?x :p -1 }
SELECT ?x { ?x :p ?y FILTER(?y < +1) }
SELECT ?x { ?x :p ?y FILTER(?y < -0.0) }
SELECT ?x { ?x :p 1e6 }
SELECT ?x { ?x :p 01 }
SELECT ?x { ?x :p \"\"\"long\"\"\" }
SELECT ?x { ?x :p (1 2) }
SELECT ?x { ?x :é ?y }
SELECT ?x { ?x :a\\-b ?y }
SELECT ?x { ?x :p "\\u0041" }
SELECT ?x { SERVICE :s { ?x :p ?y } }
SELECT * { ?x :p ?y } GROUP BY ?x
SELECT ?x { ?x :p ?y
SELECT ?x { ?x :p }
SELECT ?x { ?x :p ?y . . }
SELECT ?x { ?x :p ?y ?x :q ?z }
SELECT ?x { "s" :p ?y }
SELECT ?x { ?x :p ?y } LIMIT -1
SELECT ?x { ?x ::p ?y ?y }
SELECT ?x { ?x :p _:a.a:p ?y ?z }
SELECT ?x { ?x :p _:a-b }
SELECT * { _:a :p ?x { _:a :q ?y } }
SELECT * { _:a :p ?x OPTIONAL { ?x :q ?y } _:a :q ?z }
SELECT * { _:a :p ?x FILTER EXISTS { _:a :q ?x } }
SELECT * { { _:a :p ?x } UNION { _:a :q ?x } }
SELECT * { ?x :p ?y BIND(1 AS ?y) }
SELECT * { { ?x :p ?y } OPTIONAL { ?x :q ?z } BIND(1 AS ?z) }
SELECT * { BIND(1 AS ?z) BIND(2 AS ?z) }
SELECT * { VALUES ?z { 1 } BIND(2 AS ?z) }
SELECT (1 AS ?x) { ?x :p ?y }
SELECT (1 AS ?x) (2 AS ?x) { }
SELECT ?x (1 AS ?x) { }
SELECT (1 AS ?x) { } VALUES ?x { 2 }
SELECT (COUNT(?x) AS ?x) { ?x :p ?y }
SELECT ?y { ?x :p ?y } GROUP BY ?x
SELECT ?y (COUNT(?x) AS ?n) { ?x :p ?y }
SELECT (STR(?y) AS ?s) { ?x :p ?y } GROUP BY ?x
SELECT (COUNT(?x) + ?y AS ?n) { ?x :p ?y }
SELECT (?n AS ?m) (COUNT(?x) AS ?n) { ?x :p ?y }
SELECT (COUNT(*) AS ?n) { ?x :p ?y } ORDER BY ?x
SELECT (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY (STR(?x) AS ?y)
SELECT ?__agg_1__ { ?__agg_1__ :p ?y }
SELECT { ?x :p ?y }
SELECT ?x { ?x other:p ?y }
SELECT ?x { ?x :p ?y FILTER(?x < ?y < 2) }
SELECT ?x { ?x :p ?y FILTER(!!?x) }
SELECT ?x { ?x :p ?y FILTER(COUNT(?x) > 1) }
SELECT ?x { ?x :p ?y FILTER UNKNOWN(?x) }
SELECT ?x { ?x :p ?y FILTER STRLEN(?x, ?y) }
SELECT ?x { ?x :p ?y BIND(1 AS x) }
SELECT ?x { VALUES (?x ?y) { (1) } }
SELECT ?x { ?x :p ?y } ORDER BY
SELECT ?x { ?x :p ?y } x
CONSTRUCT WHERE { ?x :p ?y }
DESCRIBE ?x { ?x :p ?y }
INSERT DATA { :a :p :b }
""".strip()


def alike(part: Any) -> Any:
    """The part of a query without the names of fresh variables, and with what has no order as sorted texts."""
    if isinstance(part, Variable):
        return part.name[:2] if part.name.startswith("_:") else part.name[:1] if part.name.startswith(".") else part.name
    if isinstance(part, BlankNode):
        return "_:"
    if isinstance(part, (algebra.Patterns, algebra.Join, algebra.Describe)):
        (name, *rest) = (getattr(part, field.name) for field in fields(part) if field.name != "node")
        return type(part).__name__, sorted(map(repr, map(alike, name))), [alike(each) for each in rest]
    if isinstance(part, algebra.Construct):
        return alike(part.node), sorted(map(repr, map(alike, part.template)))
    if is_dataclass(part):
        return type(part).__name__, [alike(getattr(part, field.name)) for field in fields(part) if field.compare]
    return [alike(each) for each in part] if isinstance(part, tuple) else part


def by_rdflib(text: str) -> algebra.Query:
    return translate_query(read_query(text)[1].algebra)


def texts(lines: str) -> list[str]:
    return re.split(r"\n(?=SELECT|ASK|CONSTRUCT|DESCRIBE|BASE|INSERT)", lines)


@pytest.mark.parametrize("text", texts(COMMON))
def test_common_queries(text: str) -> None:
    found = read_common_query(PREFIXES + text, {})
    assert found is not None
    assert alike(found.query) == alike(by_rdflib(PREFIXES + text))
    assert dict(found.prefixes) == {"": "http://example.org/", "xsd": "http://www.w3.org/2001/XMLSchema#"}


@pytest.mark.parametrize("text", texts(UNCOMMON))
def test_other_texts_are_left_to_rdflib(text: str) -> None:
    assert read_common_query(PREFIXES + text, {}) is None


@pytest.mark.parametrize("prologue", ["", "BASE <http://example.org/> "])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("CONSTRUCT { } WHERE { ?x ?y ?z }", 0),
        ("CONSTRUCT { } { ?x ?y ?z } LIMIT 1", 0),
        ("CONSTRUCT WHERE { }", 0),
        ("CONSTRUCT WHERE { ?x ?y ?z }", 2),
        ("CONSTRUCT WHERE { ?x ?y ?z } LIMIT 1", 1),
    ],
)
def test_empty_templates_and_patterns_of_construct(prologue: str, text: str, count: int) -> None:
    reasoner = Reasoner()
    reasoner.load(b"<urn:a> <urn:p> <urn:b> , <urn:c> .", format="turtle")
    assert len(reasoner.query(prologue + text)) == count


@pytest.mark.parametrize("variable", ["?x", "$x"])  # $x is read by rdflib only
def test_functions_of_rules_that_are_named_by_iris_are_those_of_queries(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, "<urn:lower>", FUNCTIONS["LCASE"])
    found = Reasoner().query(f"SELECT {variable} {{ BIND(<urn:lower>('ABC') AS {variable}) }}")
    assert list(found.tuples()) == [(literal("abc"),)]


MISPLACED = re.findall(r"^([A-Z].*)\n( *\^+)$", Path(__file__).with_name("misplaced.txt").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("text", "carets"), MISPLACED)
def test_errors_show_the_first_token_that_is_wrong(text: str, carets: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        read_query(text)
    _, line, pointer, *_ = str(caught.value).splitlines()
    assert line == f"    1 | {text}"
    assert pointer == f"      | {carets}"


def test_the_lexical_grammar() -> None:
    assert read_common_query("SELECT ?x { ?x a <urn:a> # a comment\r FILTER(false) }", {}) == read_common_query(
        "SELECT ?x { ?x a <urn:a> FILTER(false) }", {}
    )
    colons = read_common_query("PREFIX : <urn:> SELECT ?x { ?x ::a: ?y }", {})
    assert colons is not None and "urn::a:" in repr(colons.query)
    assert read_common_query(f"SELECT * {{ }} LIMIT {'9' * 5000}", {}) is None
    assert read_common_query("SELECT ?x { ?x a:p ?y }", {"a": "relative/"}) is None


def test_blank_nodes_differ_from_the_nodes_within_paths() -> None:
    found = read_common_query(PREFIXES + "SELECT * { _:path1 :p ?x . ?x :q/:r ?y }", {})
    assert found is not None and len({*mentioned(found.query.node)}) == 4


@pytest.mark.parametrize(
    "repeated",
    [
        "?x :p ?y . ", "{ ?x :p ?y } ", "BIND(1 AS ?b{}) ", "{{ SELECT * {{ ?x :p ?y{} }} }} ", "FILTER(?x) ", "OPTIONAL { } ",
        "FILTER NOT EXISTS { ?x :p _:b{} } ", "?x :p [ ?y _:a ] . ", "VALUES ?x { 1 } ", "# comment\n", " ",
    ],
)  # fmt: skip
def test_the_work_grows_with_the_text(repeated: str) -> None:
    """Twice the text takes no more than some three times the calls of functions."""

    def calls(number: int) -> int:
        text = PREFIXES + "SELECT ?x { " + "".join(repeated.replace("{}", str(i)) for i in range(number)) + "}"
        count = 0

        def profile(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(profile)
        try:
            read_common_query(text, {})
        finally:
            sys.setprofile(None)
        return count

    assert calls(100) < 3 * calls(50)


@pytest.mark.parametrize(
    "text", ["?x :p " + "[ :p " * 300 + "1" + "]" * 300, "?x " + "(" * 300 + ":p" + ")" * 300 + " ?y", "{" * 200 + "}" * 200]
)
def test_nesting_is_bounded(text: str) -> None:
    reader = QueryReader(f"{PREFIXES} SELECT * {{ {text} }}", {})
    with pytest.raises(Unread):
        reader.query()


def test_deep_nesting_is_left_to_rdflib() -> None:
    for text in ("{" * 500 + "}" * 500, "{ FILTER(" + "(" * 500 + "1" + ")" * 500 + ") }"):
        assert read_common_query(f"SELECT * {text}", {}) is None
        with pytest.raises(QuerySyntaxError, match="nested"):
            Reasoner().query(f"SELECT * {text}")


def test_prefixes_of_the_caller_and_of_results() -> None:
    text = "PREFIX b: <http://b.example/> SELECT ?x { ?x a:p b:q }"
    found = parsed_query(text, prefixes={"a": "http://a.example/", "b": "http://c.example/"})
    assert {prefix: str(space) for prefix, space in found.prefixes().items() if prefix in "ab"} == {
        "a": "http://a.example/",
        "b": "http://b.example/",
    }
    assert "a.example/p" in repr(found.prepared({}, joins_graphs=True)) and "b.example/q" in repr(
        found.prepared({}, joins_graphs=True)
    )
    with pytest.raises(QuerySyntaxError, match="prefix b: has not been declared"):
        parsed_query("SELECT ?x { ?x a:p b:q }", prefixes={"a": "http://a.example/"})


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(cases())
@pytest.mark.sample(2)
def test_random_queries(case: tuple[Dataset, ast.Query]) -> None:
    text = query_text(case[1])
    found = read_common_query(text, {})
    assert found is None or alike(found.query) == alike(by_rdflib(text))


TOKEN = re.compile(r"\s+|\w+|<[^>\s]*>|.")
SYMBOLS = "{ } ( ) . ; , ?x a <urn:a> * + - 1 's' @en [ ] ! | ^ / ? = _:b"
WORDS = "FILTER OPTIONAL UNION SELECT AS IN NOT EXISTS COUNT GROUP LIMIT"
PIECES = [
    *SYMBOLS.split(),
    *WORDS.split(),
    "#\n",
    " ",
    "é",
    "GROUP BY",
    "_:a",
    "::",
    "BIND(1 AS ?y)",
    "{ _:b :q ?y }",
    "?z",
    "5e",
    "(1 AS ?y)",
]


def broken(random: Random, texts: list[str], pieces: list[str]) -> str | None:
    """Return one of some texts with prefixes, and one or two tokens left out, replaced or added; None if it has names and variables
    without a space between them, which SPARQL permits and rdflib does not.
    """
    tokens = TOKEN.findall(random.choice(texts))
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(tokens))
        tokens[place : place + random.randint(0, 1)] = random.choice([[random.choice(pieces)], []])
    text = PREFIXES + "".join(tokens)
    return None if re.search(r"[\w)>:][?]\w|_:\w+\.", text) else text


@pytest.mark.parametrize("seed", range(examples(400)))
@pytest.mark.sample(2)
def test_broken_queries(seed: int) -> None:
    """rdflib accepts what is accepted."""
    text = broken(Random(seed), texts(COMMON), PIECES)
    found = None if text is None else read_common_query(text, {})
    if text is not None and found is not None:
        assert alike(found.query) == alike(by_rdflib(text))
