"""owl:imports: listed, resolved by mappings, XML catalogs and folders, fetched from a server on this machine, and loaded."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from kg_reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.errors import LoadError, UnknownNameError
from kg_reasoner.loaders.imports.catalogs import Catalog
from kg_reasoner.loaders.imports.closure import BUILT_IN, Import, imports_of
from kg_reasoner.loaders.rdf.bounds import DocumentBounds
from kg_reasoner.loaders.rdf.fetch import fetch
from kg_reasoner.terms import IRI, OWL, RDFS

EX = "http://example.org/"
PREFIXES = "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
PREFIXES += "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ontologies that import each other: cats -> animals -> living -> cats, and cats -> food, which is not there."""
    write(tmp_path / "cats.ttl", ":cats a owl:Ontology ; owl:imports :animals, :food . :Cat rdfs:subClassOf :Animal .")
    write(
        tmp_path / "lib" / "animals.ttl",
        ":animals a owl:Ontology ; owl:versionIRI <http://example.org/animals/2> ; owl:imports :living ."
        " :Animal rdfs:subClassOf [ owl:intersectionOf ( :Living ) ] .",
    )
    write(tmp_path / "lib" / "living.ttl", ":living a owl:Ontology ; owl:imports :cats, <http://example.org/animals/2> .")
    return tmp_path


def write(path: Path, text: str, prefixes: str = PREFIXES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(prefixes + text)
    return path


def ex(name: str) -> IRI:
    return IRI(EX + name)


def names(found: tuple[Import, ...]) -> list[tuple[str, str, str | None]]:
    """Imports with short names: the ends of IRIs, and file names."""
    return [
        (i.importer.removeprefix(EX), i.iri.removeprefix(EX), None if i.document is None else Path(i.document).name) for i in found
    ]


ALL = [
    ("cats", "animals", "animals.ttl"),
    ("cats", "food", None),
    ("animals", "living", "living.ttl"),
    ("living", "cats", "cats.ttl"),
    ("living", "animals/2", "animals.ttl"),
]
"""The imports of the ontologies in the folder, breadth first."""

# ----------------------------------------------------------------------------------------------------------------------- lists


def test_without_a_catalog_imports_are_listed_and_nothing_is_read(folder: Path) -> None:
    assert names(imports_of(folder / "cats.ttl")) == [("cats", "animals", None), ("cats", "food", None)]


def test_imports_are_resolved_among_the_documents_that_are_given(folder: Path) -> None:
    given = sorted(folder.rglob("*.ttl"))
    assert sorted(names(imports_of(*given))) == sorted(ALL)
    assert sorted(names(imports_of(folder))) == sorted(ALL)


def test_a_mapping_resolves_them_transitively_and_through_circles(folder: Path) -> None:
    catalog = {f"{EX}animals": folder / "lib" / "animals.ttl", f"{EX}living": str(folder / "lib" / "living.ttl")}
    assert names(imports_of(folder / "cats.ttl", catalog=catalog)) == ALL


def test_a_folder_is_searched_by_ontology_iris_and_version_iris(folder: Path) -> None:
    write(folder / "lib" / "broken.ttl", ":this is not Turtle")
    write(folder / "lib" / "data.ttl", ":tom a :Cat .")
    write(folder / "lib" / "rules.n3", "{ ?x :p [] } => { ?x :q [] } . :rules a owl:Ontology .")
    assert names(imports_of(folder / "cats.ttl", catalog=folder / "lib")) == ALL
    assert Catalog.of(folder / "lib").find(f"{EX}animals/2") == folder / "lib" / "animals.ttl"
    assert Catalog.of(folder / "lib").find(f"{EX}rules#") == folder / "lib" / "rules.n3"


def test_the_documents_of_a_folder_have_the_bounds_that_are_given(folder: Path) -> None:
    write(folder / "lib" / "animals.ttl", f":animals a owl:Ontology . :x :p {'[ :p ' * 40} 1 {']' * 40} .")
    for depth, document in ((50, "animals.ttl"), (30, None)):
        found = imports_of(folder / "cats.ttl", catalog=folder / "lib", bounds=DocumentBounds(depth=depth))
        assert names(found)[0] == ("cats", "animals", document)


def test_a_version_is_preferred_and_two_candidates_are_an_error(folder: Path) -> None:
    other = write(folder / "lib" / "older.ttl", ":animals a owl:Ontology ; owl:versionIRI <http://example.org/animals/1> .")
    catalog = Catalog.of(folder / "lib")
    assert catalog.find(f"{EX}animals/1") == other
    with pytest.raises(LoadError, match=r"animals\.ttl and .*older\.ttl are both documents of <http://example.org/animals>"):
        catalog.find(f"{EX}animals")
    assert Catalog.of([{f"{EX}animals": other}, folder / "lib"]).find(f"{EX}animals") == other


@pytest.mark.parametrize(
    ("header", "importer"),
    [
        (":o a owl:Ontology ; owl:imports :animals .", "o"),
        (":o owl:imports :animals .", "o"),
        ("[] a owl:Ontology ; owl:imports :animals .", "top.ttl"),
        ('[] owl:imports "http://example.org/animals"^^<http://www.w3.org/2001/XMLSchema#anyURI> .', "top.ttl"),
        (":o a owl:Ontology ; owl:imports <http://example.org/animals#> .", "o"),
    ],
)
def test_headers_as_people_write_them(folder: Path, header: str, importer: str) -> None:
    top = write(folder / "top.ttl", header)
    (found, *_) = imports_of(top, catalog={f"{EX}animals": folder / "lib" / "animals.ttl"})
    assert Path(found.importer).name == importer
    assert found.document == str(folder / "lib" / "animals.ttl")


def test_imports_of_graphs_and_of_owl_xml() -> None:
    import rdflib

    graph = rdflib.Graph().parse(data=f"{PREFIXES} :o a owl:Ontology ; owl:imports :p .")
    assert names(imports_of(graph)) == [("o", "p", None)]
    xml = b'<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://example.org/o"><Import>http://example.org/p</Import></Ontology>'
    assert names(imports_of(xml)) == [("o", "p", None)]


def test_the_vocabularies_themselves_need_no_document() -> None:
    spaces = "<http://www.w3.org/2002/07/owl#>, <http://www.w3.org/2003/11/swrl#>, <http://www.w3.org/2000/01/rdf-schema>"
    found = imports_of(f"{PREFIXES} :o owl:imports {spaces} .".encode(), imports="require")
    assert [each.document for each in found] == [BUILT_IN] * 3


def test_an_ontology_that_calls_itself_nothing_has_the_iri_under_which_it_is_imported(folder: Path) -> None:
    write(folder / "food.ttl", "<> a owl:Ontology ; owl:imports <drinks> . <#Fish> rdfs:subClassOf :Food .")
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(f"{PREFIXES} :o owl:imports :food .".encode(), catalog={f"{EX}food": folder / "food.ttl"})
    assert (IRI(f"{EX}food#Fish"), RDFS.subClassOf, ex("Food")) in set(reasoner.triples())
    assert [found.iri for found in reasoner.loaded.imports.values()] == [f"{EX}food", f"{EX}drinks"]


# ---------------------------------------------------------------------------------------------------------------- XML catalogs


def catalog_file(path: Path, entries: str, doctype: str = "") -> Path:
    text = f'{doctype}<catalog prefer="public" xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">{entries}</catalog>'
    return write(path, text, prefixes='<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n')


PROTEGE = """
    <group id="Folder Repository, directory=, recursive=true, Auto-Update=true, version=2" prefer="public" xml:base="">
        <uri id="Automatically generated entry, Timestamp=1385" name="http://example.org/animals" uri="lib/animals.ttl"/>
        <uri id="Automatically generated entry, Timestamp=1385" name="http://example.org/living" uri="./lib/living.ttl"/>
    </group>
"""


def test_a_catalog_as_protege_writes_it(folder: Path) -> None:
    path = catalog_file(folder / "catalog-v001.xml", PROTEGE)
    assert names(imports_of(folder / "cats.ttl", catalog=path)) == ALL
    assert names(imports_of(folder / "cats.ttl", catalog=str(path))) == ALL


def test_the_catalog_in_a_folder_comes_before_the_folder(folder: Path) -> None:
    catalog_file(folder / "lib" / "catalog-v001.xml", '<uri name="http://example.org/animals" uri="../elsewhere.ttl"/>')
    assert Catalog.of(folder / "lib").find(f"{EX}animals") == folder / "elsewhere.ttl"
    assert Catalog.of(folder / "lib").find(f"{EX}living") == folder / "lib" / "living.ttl"


@pytest.mark.parametrize(
    ("entries", "iri", "expected"),
    [
        ('<uri name="http://x/a" uri="a%20b.ttl"/>', "http://x/a", "a b.ttl"),
        ('<uri name="http://x/a" uri="1.ttl"/><uri name="http://x/a" uri="2.ttl"/>', "http://x/a", "1.ttl"),
        ('<uri name="http://x/a#" uri="a.ttl"/>', "http://x/a", "a.ttl"),
        ('<group xml:base="lib/"><uri name="http://x/a" uri="a.ttl"/></group>', "http://x/a", "lib/a.ttl"),
        ('<group xml:base="lib/"><uri name="http://x/a" uri="a.ttl" xml:base="more/"/></group>', "http://x/a", "lib/more/a.ttl"),
        ('<group xml:base="lib/"/><uri name="http://x/a" uri="a.ttl"/>', "http://x/a", "a.ttl"),
        ('<rewriteURI uriStartString="http://x/" rewritePrefix="all/"/>', "http://x/y/a.ttl", "all/y/a.ttl"),
        (
            '<rewriteURI uriStartString="http://x/" rewritePrefix="all/"/>'
            '<rewriteURI uriStartString="http://x/y/" rewritePrefix="some/"/>',
            "http://x/y/a.ttl",
            "some/a.ttl",
        ),
        ('<rewriteURI uriStartString="http://x/" rewritePrefix="all/"/><uri name="http://x/a" uri="b"/>', "http://x/a", "b"),
        ('<uriSuffix uriSuffix="/a.owl" uri="a.ttl"/><uriSuffix uriSuffix="y/a.owl" uri="y.ttl"/>', "http://x/y/a.owl", "y.ttl"),
        ('<nextCatalog catalog="next/catalog.xml"/>', "http://x/next", "next/n.ttl"),
        ('<nextCatalog catalog="next/catalog.xml"/><uri name="http://x/next" uri="mine.ttl"/>', "http://x/next", "mine.ttl"),
        ('<system systemId="http://x/a" uri="a.ttl"/>', "http://x/a", None),
        ('<uri name="http://x/a" uri="a.ttl"/>', "http://x/b", None),
        ('<uri xmlns="http://other/" name="http://x/a"/>', "http://x/a", None),
    ],
)
def test_entries_of_xml_catalogs(tmp_path: Path, entries: str, iri: str, expected: str | None) -> None:
    path = catalog_file(tmp_path / "catalog.xml", entries)
    back = '<uri name="http://x/next" uri="n.ttl"/><nextCatalog catalog="../catalog.xml"/>'
    catalog_file(tmp_path / "next" / "catalog.xml", back)
    assert Catalog.of(path).find(iri) == (None if expected is None else tmp_path / expected)


def test_absolute_targets(tmp_path: Path) -> None:
    there = tmp_path / "there" / "a b.ttl"
    entries = f'<uri name="http://x/a" uri="{there.as_uri()}"/><uri name="http://x/b" uri="https://y/b"/>'
    path = catalog_file(tmp_path / "catalog.xml", entries)
    assert (Catalog.of(path).find("http://x/a"), Catalog.of(path).find("http://x/b")) == (there, "https://y/b")


def test_nothing_is_fetched_to_read_a_catalog(tmp_path: Path) -> None:
    outside = '<!DOCTYPE catalog PUBLIC "-//OASIS//DTD XML Catalogs V1.1//EN" "http://192.0.2.1/catalog.dtd">'
    path = catalog_file(tmp_path / "catalog.xml", '<uri name="http://x/a" uri="a.ttl"/>', outside)
    assert Catalog.of(path).find("http://x/a") == tmp_path / "a.ttl"
    entity = '<!DOCTYPE catalog [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(LoadError, match="an entity is defined outside the document"):
        Catalog.of(catalog_file(tmp_path / "catalog.xml", "<group>&e;</group>", entity)).find("http://x/a")


@pytest.mark.parametrize(
    ("entries", "line", "message"),
    [
        ("\n<uri name='http://x/a'/>", 3, "the element uri has no uri"),
        ("\n\n<delegateURI uriStartString='http://x/' catalog='c.xml'/>", 4, "delegateURI is not supported"),
        ("<nextCatalog catalog='https://y/catalog.xml'/>", 2, "the next catalog is on the web: https://y/catalog.xml"),
        ("\n<group>", 3, "not well-formed XML"),
    ],
)
def test_errors_in_catalogs_have_a_place(tmp_path: Path, entries: str, line: int, message: str) -> None:
    path = catalog_file(tmp_path / "catalog.xml", entries)
    with pytest.raises(LoadError) as caught:
        Catalog.of(path)
    assert message in str(caught.value)
    assert caught.value.span is not None
    assert (caught.value.span.source, caught.value.span.line) == (str(path), line)


@pytest.mark.parametrize(
    ("catalog", "message"),
    [
        ("missing.xml", "missing.xml does not exist"),
        ("cats.ttl", "not well-formed XML"),
        ("other.xml", "this is not an XML catalog: its root element is note"),
        ("strange.xml", "ftp://x/a is neither a file nor an address on the web"),
        ("gone.xml", "<http://example.org/animals> is not at the location given by the catalog: .*gone.ttl does not exist"),
        ("empty", "no RDF file in the folder"),
    ],
)
def test_what_is_not_a_catalog(folder: Path, catalog: str, message: str) -> None:
    (folder / "other.xml").write_text("<note/>")
    (folder / "empty").mkdir()
    for name, target in (("strange", "ftp://x/a"), ("gone", "gone.ttl")):
        catalog_file(folder / f"{name}.xml", f'<uri name="http://example.org/animals" uri="{target}"/>')
    with pytest.raises(LoadError, match=message):
        imports_of(folder / "cats.ttl", catalog=folder / catalog)


# -------------------------------------------------------------------------------------------------------------------- reasoners


def test_a_reasoner_loads_what_is_imported_and_warns_of_what_is_missing(folder: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(folder / "cats.ttl", catalog=folder / "lib")
    reasoner.add_triples([(ex("tom"), IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), ex("Cat"))])
    assert ex("Living") in {cls for _, _, cls in reasoner.triples(ex("tom"))}
    (warning,) = reasoner.warnings
    assert warning.axiom == "Import(<http://example.org/food>)"
    assert warning.reason.startswith("imported by http://example.org/cats, and not found: map it to a file with a catalog")


def test_every_document_is_loaded_once(folder: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    twice = {f"{EX}animals": folder / "lib" / "animals.ttl", f"{EX}animals/2": folder / "lib" / ".." / "lib" / "animals.ttl"}
    reasoner.load(folder / "cats.ttl", catalog=[twice, folder / "lib"])
    reasoner.load(f"{PREFIXES} :dogs owl:imports :animals .".encode(), catalog=folder / "lib")
    assert len(list(reasoner.triples(None, OWL.intersectionOf))) == 1
    assert reasoner.loaded.imports[f"{EX}dogs", f"{EX}animals"].document == str(folder / "lib" / "animals.ttl")


def test_a_warning_goes_when_the_import_comes(folder: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(folder / "cats.ttl", catalog=folder / "lib")
    assert len(reasoner.warnings) == 1
    reasoner.load(f"{PREFIXES} :food a owl:Ontology .".encode())
    assert reasoner.warnings == []


def test_what_is_rolled_back_is_not_loaded(folder: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    transaction = reasoner.transaction().begin()
    reasoner.load(folder / "cats.ttl", catalog=folder / "lib")
    transaction.rollback()
    assert reasoner.warnings == []
    reasoner.load(f"{PREFIXES} :dogs owl:imports :animals .".encode(), catalog=folder / "lib")
    assert len(list(reasoner.triples(None, OWL.intersectionOf))) == 1


def test_missing_imports_can_be_an_error_or_nobodys_business(folder: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    with pytest.raises(LoadError, match=r"<http://example\.org/food> is imported by http://example\.org/cats, and not found"):
        reasoner.load(folder / "cats.ttl", catalog=folder / "lib", imports="require")
    assert list(reasoner.triples()) == []
    reasoner.load(folder / "cats.ttl", catalog=folder / "lib", imports="ignore")
    assert len(list(reasoner.triples(which="explicit"))) == 4
    assert reasoner.warnings == []
    with pytest.raises(UnknownNameError, match="did you mean 'require'"):
        reasoner.load(folder / "cats.ttl", imports="required")  # type: ignore[arg-type]


def test_a_bad_import_leaves_everything_as_it_was(folder: Path) -> None:
    write(folder / "lib" / "food.ttl", ":food a owl:Ontology .\n:Fish is :Food .")
    reasoner = Reasoner(ruleset="owl2rl")
    with pytest.raises(LoadError, match=r"food\.ttl:4"):
        reasoner.load(folder / "cats.ttl", catalog={f"{EX}food": folder / "lib" / "food.ttl"})
    assert list(reasoner.triples()) == []


def test_rules_of_what_is_imported_count(folder: Path) -> None:
    rules = write(folder / "rules.n3", "{ ?x a :Cat } => { ?x a :Hunter } . :rules a owl:Ontology .")
    reasoner = Reasoner()
    reasoner.load(f"{PREFIXES} :o owl:imports :rules . :tom a :Cat .".encode(), catalog={f"{EX}rules": rules})
    assert ex("Hunter") in {cls for _, _, cls in reasoner.triples(ex("tom"))}


# --------------------------------------------------------------------------------------------------------------------- the web

ANIMALS = f"{PREFIXES} <> a owl:Ontology ; owl:imports <living> . :Animal rdfs:subClassOf :Living .".encode()


class Web(BaseHTTPRequestHandler):
    """A few documents, and what else servers do."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        base = f"http://{self.headers['Host']}"
        name = self.path.split("/")[1]
        if name == "loop":
            self.answer(302, Location=f"{base}/loop/{len(self.asked)}")
        elif name == "chain":
            further = f"<{self.path}> <{OWL.imports.value}> <{base}/chain/{len(self.asked)}> ."
            self.answer(200, further.encode(), **{"Content-Type": "text/turtle"})
        elif name == "moved":
            self.answer(301, Location=f"{base}/animals")
        elif name == "ftp":
            self.answer(302, Location="ftp://127.0.0.1/animals")
        elif name == "file":
            self.answer(302, Location="file:///etc/passwd")
        elif name == "animals":
            self.answer(200, ANIMALS, **{"Content-Type": "text/turtle; charset=utf-8"})
        elif name == "plain":
            self.answer(200, ANIMALS, **{"Content-Type": "text/plain"})
        elif name in ("packed", "packed.ttl.gz"):
            self.answer(200, gzip.compress(ANIMALS), **{"Content-Type": "application/gzip"})
        elif name == "bomb":
            self.answer(200, gzip.compress(b" " * 10_000_000), **{"Content-Type": "text/turtle"})
        elif name == "damaged":
            self.answer(200, b"\x1f\x8b\x08damaged", **{"Content-Type": "text/turtle"})
        elif name == "large":
            self.answer(200, b"#" * 200_000, **{"Content-Type": "text/turtle"})
        elif name == "page":
            self.answer(200, b"<!DOCTYPE html><html></html>", **{"Content-Type": "text/html"})
        elif name == "short":
            self.answer(200, ANIMALS, **{"Content-Type": "text/turtle", "Content-Length": str(len(ANIMALS) + 100)})
        elif name == "silent":
            threading.Event().wait(1.5)
        else:
            self.answer(404)

    def answer(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine: its address, and the paths that it was asked for."""
    handler = type("Handler", (Web,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler.asked  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as found:
        yield found


@pytest.mark.parametrize("name", ["animals", "animals#", "plain", "packed", "packed.ttl.gz"])
def test_imports_are_fetched_if_asked_for(web: tuple[str, list[str]], name: str, tmp_path: Path) -> None:
    address, asked = web
    ontology = f"{PREFIXES} :o owl:imports <{address}/{name}> .".encode()
    imports_of(ontology)
    assert asked == []
    reasoner = Reasoner()
    with pytest.raises(LoadError, match=f"cannot fetch <{address}/living>: the server answers 404"):
        reasoner.load(ontology, imports="fetch")
    assert asked == [f"/{name.rstrip('#')}", "/living"]
    reasoner.load(ontology, imports="fetch", catalog={f"{address}/living": write(tmp_path / "living.ttl", "")})
    assert (ex("Animal"), RDFS.subClassOf, ex("Living")) in set(reasoner.triples())


def test_a_mapping_may_send_to_the_web(web: tuple[str, list[str]]) -> None:
    catalog = {"http://x/a": f"{web[0]}/plain", f"{web[0]}/living": "https://x/living"}
    assert Catalog.of(catalog).find(f"{web[0]}/living") == "https://x/living"
    with pytest.raises(LoadError, match=f"cannot fetch <{web[0]}/living>: the server answers 404"):
        imports_of(f"{PREFIXES} :o owl:imports <http://x/a> .".encode(), catalog={"http://x/a": f"{web[0]}/plain"}, imports="fetch")


def test_a_catalog_may_send_to_the_web(web: tuple[str, list[str]], tmp_path: Path) -> None:
    address, asked = web
    path = catalog_file(tmp_path / "catalog.xml", f'<uri name="http://x/a" uri="{address}/plain"/>')
    ontology = f"{PREFIXES} :o owl:imports <http://x/a> .".encode()
    assert imports_of(ontology, catalog=path)[0].document is None
    assert asked == []
    with pytest.raises(LoadError, match="404"):  # of what that imports: its base is where it was found
        imports_of(ontology, catalog=path, imports="fetch")
    assert asked == ["/plain", "/living"]


def test_redirects_are_followed_and_the_base_is_where_they_end(web: tuple[str, list[str]]) -> None:
    document, found = fetch(f"{web[0]}/moved")
    assert found == f"{web[0]}/animals"
    assert document.name == found
    with document.open() as opened:
        assert opened.stream.read() == ANIMALS


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/none", "the server answers 404"),
        ("/loop", "it is redirected more than 5 times"),
        ("/file", "Redirection to url 'file:///etc/passwd' is not allowed"),
        ("/ftp", "only http and https are fetched, not ftp"),
        ("/large", "it has more than 100000 bytes"),
        ("/bomb", "it has more than 100000 bytes"),
        ("/damaged", "the gzip data are damaged"),
        ("/silent", "timed out"),
    ],
)
def test_failed_fetches_give_the_reason(web: tuple[str, list[str]], path: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as caught:
        fetch(f"{web[0]}{path}", largest=100_000, timeout=0.5)
    assert f"<{web[0]}{path}>" in str(caught.value)
    assert "catalog" in str(caught.value) or "map it" in str(caught.value)


@pytest.mark.parametrize("iri", ["file:///etc/passwd", "ftp://x/y", "data:text/turtle,x", "animals", "http://127.0.0.1:1/x"])
def test_other_addresses_are_not_fetched(iri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(LoadError, match="cannot fetch"):
        fetch(iri)


def test_imports_without_end_come_to_one(web: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kg_reasoner.loaders.imports.closure.MOST_FETCHED", 5)
    with pytest.raises(LoadError, match="5 imports have been fetched already"):
        imports_of(f"{PREFIXES} :o owl:imports <{web[0]}/chain> .".encode(), imports="fetch")
    assert len(web[1]) == 5


def test_a_page_is_not_an_ontology(web: tuple[str, list[str]]) -> None:
    with pytest.raises(LoadError, match="is a web page, not RDF"):
        imports_of(f"{PREFIXES} :o owl:imports <{web[0]}/page> .".encode(), imports="fetch")


def test_a_document_that_ends_in_the_middle_is_not_taken_for_a_whole(web: tuple[str, list[str]]) -> None:
    with pytest.raises(LoadError, match="cannot fetch"):
        fetch(f"{web[0]}/short", timeout=0.5)


# ----------------------------------------------------------------------------------------------------------------- command line


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def test_the_command_lists_imports(folder: Path) -> None:
    out, err = run("imports", folder / "cats.ttl", "--catalog", folder / "lib", code=3)
    lines = [line.split("  ") for line in out.splitlines()]
    assert len(lines) == 2 + len(ALL)
    assert any("http://example.org/food" in line and "(not found)" in line for line in out.splitlines())
    assert "5 imports, 1 of them not found" in err
    out, _ = run("imports", folder / "cats.ttl", "--format", "json", code=3)
    assert json.loads(out)[0] == {"ontology": f"{EX}cats", "imports": f"{EX}animals", "document": None}
    write(folder / "alone.ttl", ":alone a owl:Ontology .")
    assert run("imports", folder / "alone.ttl")[1] == "no imports\n"


def test_commands_load_imports(folder: Path) -> None:
    write(folder / "tom.ttl", ":o owl:imports :cats . :tom a :Cat .")
    query = ("query", folder / "tom.ttl", "--query", f"ASK {{ <{EX}tom> a <{EX}Living> }}")
    _, err = run(*query, code=3)
    assert "1 import not found; say where they are with --catalog, or fetch them with --imports fetch" in err
    assert "<http://example.org/cats>, imported by http://example.org/o" in err
    _, err = run(*query, "--catalog", folder, "--catalog", folder / "lib", code=0)
    assert "<http://example.org/food>, imported by http://example.org/cats" in err
    _, err = run(*query, "--catalog", folder, "--imports", "require", code=1)
    assert "<http://example.org/food> is imported by http://example.org/cats, and not found" in err
    _, err = run(*query, "--imports", "ignore", code=3)
    assert "not found" not in err


def test_rules_in_n3_on_the_command_line(folder: Path) -> None:
    rules = write(folder / "rules.n3", "{ ?x a :Cat } => { ?x a :Hunter } . { ?x a :Cat } => { ?x :eats [] } .")
    data = write(folder / "tom.ttl", ":tom a :Cat .")
    _, err = run("materialise", data, "--rules", rules, "-o", "-", code=1)
    assert "a blank node in the head of a rule" in err
    out, err = run("materialise", data, "--rules", rules, "-o", "-", "--inferred-only", "--refused", "skip")
    assert out == "<http://example.org/tom> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Hunter> .\n"
    assert "the rule at" in err
    out, _ = run("rules", rules, "--refused", "skip", "--ruleset", "rdfs")
    assert "rules.n3, line 3" in out
    assert ":Hunter[?x] :- :Cat[?x] ." in out
