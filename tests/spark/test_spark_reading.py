"""Triples read by Spark are those that the in-process loader reads, text for text; bad lines by policy, with their place."""

from __future__ import annotations

import bz2
import gzip
import json
import logging
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from tests.spark.spark_session import need_spark, session

need_spark()

from kg_reasoner.errors import LoadError, OutputError, UnknownNameError
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.spark_backend.io.input_documents import InputPath
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.storage.terms.dictionary import Dictionary

pytestmark = pytest.mark.long

PLAIN = "<http://example.org/a> <http://example.org/p> <http://example.org/b> .\n"

ODD = r"""
# a comment, and an empty line
<http://example.org/ann>	<http://example.org/knows>   _:b . # tab, blanks, comment
<http://example.org/ann><http://example.org/says>"chat"@FR.
<http://example.org/\u00E9t\u00E9> <http://example.org/p> "a\tb\u0041 \"x\" \\ \n" .
<http://example.org/ann> <http://example.org/p> "plain"^^<http://www.w3.org/2001/XMLSchema#string> .
<http://example.org/ann> <http://example.org/p> "a . b <http://x> \n c"@en-gb .
_:b <http://example.org/100%25> "ü 100%"^^<http://example.org/dt#x> .
"""


def rows(frame: Any) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(row) for row in frame.collect())


def in_process(data: bytes, format: str) -> list[tuple[str | None, ...]] | None:
    """Terms and graph of the statements, blank nodes with the labels as written; None if the loader refuses them."""
    dictionary = Dictionary()
    try:
        blocks = list(rdf.read(data, dictionary=dictionary, format=format))
    except LoadError:
        return None
    found = []
    for block in blocks:
        graphs = [-1] * len(block.triples) if block.graphs is None else block.graphs.tolist()
        for ids, graph in zip(block.triples.tolist(), graphs, strict=True):
            texts = [dictionary.text(number) if number >= 0 else None for number in (*ids, graph)]
            found.append(tuple(re.sub("^_:b[0-9a-f]{8}_", "_:", text) if text else None for text in texts))
    return found


def json_lines(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for part in folder.glob("part-*") for line in part.read_text(encoding="utf-8").split("\n") if line]


# ---- the same texts as in process


def test_every_form_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "odd.nt").write_text(ODD + PLAIN, encoding="utf-8")
    found = rows(read_triples(session(), tmp_path / "odd.nt", blank_nodes="shared", graphs=True))
    assert found == Counter(in_process((ODD + PLAIN).encode(), "ntriples"))
    assert ("<http://example.org/été>", "<http://example.org/p>", '"a\tbA \\"x\\" \\\\ \\n"', None) in found


IRIS = [
    *(
        "<http://example.org/a>",
        "<http://example.org/%41>",
        "<urn:x>",
        "<mailto:a@example.org>",
        "<http://example.org/x'y!$()*+,;=~>",
    ),
    *("<http://example.org/é>", r"<http://example.org/\u0041>", "<http://example.org:80/#f>", "<http://example.org/😀>"),
    *(
        "<http://example.org/%zz>",
        "<http://example.org/b%>",
        "<http://example.org/#a#b>",
        "<a>",
        "<>",
        "<1a:x>",
        "<http://a b/>",
        r"<http://a/\n>",
    ),
]
BLANK_NODES = ["_:x", "_:1", "_:a_b", "_:x-y", "_:x.y", "_:é", "_:", "_:x."]
LITERALS = [
    *('"a"', '""', '"a b . c"', '"é😀"', '"a\tb"', '"100%"', '"<http://a> _:b"', '"\ufffd"', '"\u2028\u0085"', '"\x00\x7f\x0b"'),
    *(r'"a\tb"', r'"a\nb\r\"\\"', r'"\u00e9"', r'"\U0001F600"', r'"\b\f"', '"' + r"\n" * 150 + '"', r'"\q"', '"open', "'a'"),
    *('"x"@en', '"x"@EN-gb', '"x"@de-latn-de', '"x"@en-', '"x"@en--ltr', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    *('"1"^^<http://www.w3.org/2001/XMLSchema#string>', '"x"^^<http://example.org/é>', '"x"^^<rel>'),
]
BLANKS = [" ", " ", " ", "\t", "  ", ""]
ENDINGS = [" .", " .", " .", ".", "\t. ", " . # comment", "", " ..", ". x", f" . {PLAIN.strip()}"]


@st.composite
def lines(draw: st.DrawFn, quads: bool) -> bytes:
    """A line, right or wrong, in any form; of terms that are likely to be right."""

    def term(*kinds: list[str]) -> str:
        return draw(st.sampled_from(draw(st.sampled_from([IRIS[:1], IRIS[:4], *kinds]))))

    terms = [term(IRIS, BLANK_NODES), term(IRIS), term(IRIS, BLANK_NODES, LITERALS, LITERALS)]
    if draw(st.integers(0, 9)) < (5 if quads else 1):
        terms.append(term(IRIS, BLANK_NODES))
    blanks = [draw(st.sampled_from(BLANKS)) for _ in terms[1:]]
    line = terms[0] + "".join(blank + text for blank, text in zip(blanks, terms[1:], strict=True)) + draw(st.sampled_from(ENDINGS))
    if draw(st.integers(0, 19)) == 0:
        line = draw(st.sampled_from(["", "# comment", " \t", "\t# x"]))
    broken = draw(st.sampled_from([b'"'] * 20 + [b'"\xff', b'"\xed\xa0\x80', b'"\xc3']))
    return line.encode().replace(b'"', broken, 1)


def shown(line: str) -> str:
    """What is not UTF-8 is shown as one character or several."""
    return re.sub("\ufffd+", "\ufffd", line)


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize(("format", "extension"), [("ntriples", "nt"), ("nquads", "nq")])
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_line_is_read_or_refused_as_in_process(
    tmp_path: Path, format: str, extension: str, is_kept: bool, data: st.DataObject
) -> None:
    drawn = data.draw(st.lists(lines(format == "nquads"), min_size=100, max_size=300))
    read = [in_process(line + b"\n", format) for line in drawn]
    file, bad = tmp_path / f"lines.{extension}", tmp_path / f"bad{len(list(tmp_path.iterdir()))}"
    file.write_bytes(b"\n".join(drawn))
    keep = tmp_path / "kept" if is_kept else None
    found = rows(read_triples(session(), file, bad_lines=str(bad), blank_nodes="shared", graphs=True, keep=keep))
    assert found == Counter(statement for statements in read for statement in statements or ())
    refused = [line.decode("utf-8", "replace") for line, statements in zip(drawn, read, strict=True) if statements is None]
    assert sorted(shown(line["line"]) for line in json_lines(bad)) == sorted(map(shown, refused))


def test_lines_are_what_every_line_break_ends(tmp_path: Path) -> None:
    (tmp_path / "breaks.nt").write_bytes(b"\xef\xbb\xbf" + PLAIN.strip().join(["", "\r\n", "\r", "\n", ""]).encode())
    assert rows(read_triples(session(), tmp_path / "breaks.nt")).total() == 4


def test_packed_files_and_folders_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(PLAIN.encode()) + gzip.compress(PLAIN.encode()))
    (tmp_path / "deep" / "b.nt.bz2").write_bytes(bz2.compress(PLAIN.encode()))
    (tmp_path / "deep" / "deeper" / "part-00000").write_text(PLAIN)
    (tmp_path / "_SUCCESS").write_text("not RDF")
    assert rows(read_triples(session(), tmp_path)).total() == 4
    assert rows(read_triples(session(), [tmp_path / "deep", f"{tmp_path}/*.gz"])).total() == 4


def test_names_with_characters_of_patterns(tmp_path: Path) -> None:
    """What is there with exactly a name is meant by it; where triples are kept, too."""
    place = tmp_path / "run [1] {a,b} 100%"
    place.mkdir()
    for name in ("data*.nt", "data2.nt"):
        (place / name).write_text(PLAIN)
    assert rows(read_triples(session(), place)).total() == 2
    assert rows(read_triples(session(), f"{tmp_path}/run*/data*.nt")).total() == 2
    for _ in range(2):
        assert rows(read_triples(session(), place / "data*.nt", keep=place / "kept")).total() == 1


def test_graphs_are_a_column_if_asked_for(tmp_path: Path) -> None:
    quad = PLAIN.replace(" .", " <http://example.org/g> .")
    (tmp_path / "a.nq").write_text(quad + PLAIN + quad.replace("<http://example.org/b>", '"a <b> ."@en'))
    (tmp_path / "b.nt").write_text(PLAIN)
    found = rows(read_triples(session(), tmp_path, graphs=True).select("object", "graph"))
    iri, graph = "<http://example.org/b>", "<http://example.org/g>"
    assert found == Counter({(iri, graph): 1, (iri, None): 2, ('"a <b> ."@en', graph): 1})
    assert read_triples(session(), tmp_path).columns == ["subject", "predicate", "object"]
    (tmp_path / "b.nt").write_text(quad)
    with pytest.raises(LoadError, match="followed by a dot"):
        read_triples(session(), tmp_path)


# ---- documents in other syntaxes

TURTLE = """
@prefix : <http://example.org/> .
:a :p [ :q "x"@EN , 1 ] , ( :b _:c ) .
_:c :p :d .
"""


@pytest.mark.parametrize("is_kept", [False, True])
def test_documents_in_other_syntaxes(tmp_path: Path, is_kept: bool) -> None:
    """Each file is a document: its blank nodes are its own, also in one folder."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.ttl").write_text(TURTLE)
    (tmp_path / "data" / "two.ttl.gz").write_bytes(gzip.compress(TURTLE.encode()))
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    graph.serialize(tmp_path / "data" / "three.rdf", format="xml")
    keep = tmp_path / "kept" if is_kept else None
    found = rows(read_triples(session(), [tmp_path / "data"], keep=keep))
    texts = [row for row, count in found.items() for _ in range(count)]
    lines = "".join(f"{subject} {predicate} {value} .\n" for subject, predicate, value in texts)
    together = rdflib.Graph().parse(data=lines.replace("@en", "@EN"), format="nt")
    expected = rdflib.Graph()
    for number in range(3):
        for triple in graph:
            own = (rdflib.BNode(f"m{number}{node}") if isinstance(node, rdflib.BNode) else node for node in triple)
            expected.add(tuple(own))  # type: ignore[arg-type]  # three terms
    assert isomorphic(together, expected)
    assert len(texts) == len(expected)


def test_graphs_of_trig(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text("@prefix : <http://example.org/> . :g { :a :p :b } :a :p :c .")
    found = rows(read_triples(session(), tmp_path / "a.trig", graphs=True).select("object", "graph"))
    assert found == Counter({("<http://example.org/b>", "<http://example.org/g>"): 1, ("<http://example.org/c>", None): 1})


@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_a_document_that_is_not_in_its_syntax(tmp_path: Path, policy: str) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE + "nonsense\n")
    for keep in (None, tmp_path / "kept"):
        with pytest.raises(LoadError) as caught:
            read_triples(session(), tmp_path, bad_lines=policy, keep=keep)
        assert f"{tmp_path}/a.ttl:5:" in str(caught.value)
        assert "nonsense" in str(caught.value)


def test_kinds_of_files_are_named_apart(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    (tmp_path / "b.nt").write_text(PLAIN)
    with pytest.raises(LoadError, match=r"lines .* and files in other syntaxes"):
        read_triples(session(), tmp_path)
    assert rows(read_triples(session(), [f"{tmp_path}/*.ttl", f"{tmp_path}/*.nt"])).total() == 10
    (tmp_path / "no-name").write_text(TURTLE)
    assert rows(read_triples(session(), tmp_path / "no-name", format="turtle")).total() == 9


# ---- blank nodes


def test_blank_nodes_belong_to_a_document(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        for part in ("x.nt", "y.nt"):
            (tmp_path / folder / part).write_text(PLAIN.replace("<http://example.org/a>", "_:a"))
    folders = [tmp_path / "one", tmp_path / "other"]

    def nodes(**options: Any) -> list[str]:
        return sorted(row.subject for row in read_triples(session(), folders, **options).select("subject").distinct().collect())

    assert len(nodes()) == 2
    assert all(re.fullmatch("_:b[0-9a-f]{16}_a", node) for node in nodes())
    assert nodes() == nodes()
    assert len(nodes(blank_nodes="file")) == 4
    assert nodes(blank_nodes="shared") == ["_:a"]
    (tmp_path / "one" / "x.nt").write_text("_:a\t<http://example.org/p> _:a .")  # by the parser, too
    assert len(nodes()) == 2


# ---- tables


def test_tables_of_triples(tmp_path: Path) -> None:
    terms = [("<http://example.org/a>", "<http://example.org/p>", '"x"', True), ("_:b", "<http://example.org/p>", '"é\n"', False)]
    frame = session().createDataFrame(terms, "subject string, predicate string, object string, inferred boolean")
    frame.limit(1).write.parquet(str(tmp_path / "plain.parquet"))
    assert rows(read_triples(session(), tmp_path / "plain.parquet")) == Counter([terms[0][:3]])
    odd = frame.limit(1).withColumn("object", frame.object.substr(1, 3)).selectExpr("subject", "predicate", "'\"x\"@EN' object")
    odd.write.parquet(str(tmp_path / "odd.parquet"))
    assert rows(read_triples(session(), tmp_path / "odd.parquet")) == Counter([(*terms[0][:2], '"x"@en')])


@pytest.mark.parametrize("value", ["http://example.org/no-brackets", "", None])
def test_tables_of_something_else(tmp_path: Path, value: str | None) -> None:
    columns = "subject string, predicate string, object string"
    session().createDataFrame([("<http://example.org/a>", "<http://example.org/p>", value)], columns).write.parquet(
        f"{tmp_path}/t.parquet"
    )
    with pytest.raises(LoadError, match=r"t\.parquet"):
        read_triples(session(), tmp_path / "t.parquet")
    assert rows(read_triples(session(), tmp_path / "t.parquet", bad_lines="skip")).total() == 0


def test_tables_with_other_columns(tmp_path: Path) -> None:
    session().createDataFrame([(1, "x")], "s int, p string").write.parquet(str(tmp_path / "t"))
    with pytest.raises(LoadError, match=r"(?s)no text column 'subject'.*subject, predicate, object"):
        read_triples(session(), tmp_path / "t", format="parquet")


# ---- bad lines and files

WRONG = "<http://example.org/a> <http://example.org/p> nonsense .\n"


def test_a_bad_line_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(PLAIN * 5000 + "\n# comment\n" + WRONG + PLAIN + WRONG)
    with pytest.raises(LoadError) as caught:
        read_triples(session(), tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/a.nt:5003:")
    assert WRONG.strip() in str(caught.value)


def test_bad_lines_are_skipped_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.nt").write_text(PLAIN + WRONG + PLAIN + WRONG)
    with caplog.at_level(logging.WARNING):
        triples = read_triples(session(), tmp_path / "a.nt", bad_lines="skip")
    assert rows(triples).total() == 2
    assert f"2 bad lines were skipped; the first: {tmp_path}/a.nt:2:" in caplog.text


def test_bad_lines_are_put_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.nt").write_text(PLAIN + WRONG)
    with caplog.at_level(logging.WARNING):
        assert rows(read_triples(session(), tmp_path / "a.nt", bad_lines=str(tmp_path / "bad"))).total() == 1
    assert json_lines(tmp_path / "bad") == [{"file": f"file:{tmp_path}/a.nt", "line": WRONG.strip()}]
    assert "1 bad lines were written to" in caplog.text
    with pytest.raises(OutputError, match="already exists"):
        read_triples(session(), tmp_path / "a.nt", bad_lines=str(tmp_path / "bad"))


def test_a_file_that_changes_after_the_check_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(PLAIN)
    triples = read_triples(session(), tmp_path / "a.nt")
    (tmp_path / "a.nt").write_text(WRONG)
    with pytest.raises(Exception, match="changed since it was checked"):
        triples.collect()


def damaged(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.nt", None, "Path does not exist"),
        ("no*.nt", None, "Path does not exist"),
        ("empty", [], "contains no file"),
        ("onto.ttl.bz2", b"BZh9", "the bzip2 file is truncated"),
        ("cut.nt.gz", damaged(gzip.compress(PLAIN.encode() * 1000)), "file is truncated"),
        ("packed.nt.xz", lzma.compress(PLAIN.encode()), "Spark does not unpack it"),
        ("no.parquet", b"PAR1", "is not a Parquet file"),
        ("nosuch://host/a.nt", None, "nosuch"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | list[str] | None, message: str) -> None:
    if isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    elif content is not None:
        (tmp_path / name).mkdir()
    with pytest.raises(LoadError, match=message) as caught:
        read_triples(session(), name if ":" in name else tmp_path / name)
    assert name.partition(":")[0].rstrip("*.nt") in str(caught.value)
    assert "\tat " not in str(caught.value)


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="ntriples"):
        read_triples(session(), tmp_path, format="tortoise")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="shared"):
        read_triples(session(), tmp_path, blank_nodes="mine")  # type: ignore[arg-type]
    with pytest.raises(LoadError, match="no path"):
        read_triples(session(), [])


# ---- triples that are kept


def test_texts_are_read_once_where_triples_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, keep = tmp_path / "odd.nt", tmp_path / "kept"
    file.write_text(ODD + PLAIN, encoding="utf-8")
    first = rows(read_triples(session(), file, keep=keep))
    assert first == rows(read_triples(session(), file))
    with monkeypatch.context() as patch:
        patch.setattr(InputPath, "statements", None)
        assert rows(read_triples(session(), file, keep=keep)) == first
    file.write_text(PLAIN + PLAIN, encoding="utf-8")
    assert rows(read_triples(session(), file, keep=keep)).total() == 2


def test_bad_lines_where_triples_are_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, keep = tmp_path / "data.nt", tmp_path / "kept"
    file.write_text(PLAIN + "nonsense\n" + ODD, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(LoadError, match=r"data\.nt:2"):
            read_triples(session(), file, keep=keep)
    with caplog.at_level(logging.WARNING):
        skipped = rows(read_triples(session(), file, keep=keep, bad_lines="skip"))
    assert "1 bad lines were skipped" in caplog.text
    file.write_text(PLAIN + ODD, encoding="utf-8")
    assert rows(read_triples(session(), file, keep=keep)) == skipped


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data.nt").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="file/kept"):
        read_triples(session(), tmp_path / "data.nt", keep=tmp_path / "file" / "kept")
