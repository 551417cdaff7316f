"""Attributes of RDF/XML: white space in their values, empty languages, and relative bases, as XML defines them; those of RDF that
may lack a prefix.

Each document is read by the compiled reader and by pyoxigraph's parser alone, also if the parser gets a few bytes at a time.
"""

from __future__ import annotations

import pytest
import rdflib

from kg_reasoner.loaders.convert import text_from_rdflib
from kg_reasoner.loaders.rdf.readers import xml
from tests.loaders.test_rdfxml_reader import Found, document_with, parsed_parts, read

BASE = "http://base/d/e"


def triples_of(data: bytes, window: int | None = None) -> list[tuple[str, ...]]:
    found: Found = read(data, window, BASE)
    assert not isinstance(found, str), found
    return sorted(set(found[0]))


def in_all_ways(body: str, root: str = "", doctype: str = "<!DOCTYPE a [<!ENTITY f 'u:'>]>") -> list[tuple[str, ...]]:
    """Return the triples of a document, which all readers find in it, rdflib's too."""
    data = document_with(body, root, doctype)
    graph = rdflib.Graph().parse(data=data, publicID=BASE, format="xml")
    expected = sorted(tuple(map(text_from_rdflib, triple)) for triple in graph)
    assert triples_of(data, 1 << 16) == expected
    assert triples_of(data) == expected
    with pytest.MonkeyPatch.context() as patched:
        for chunk in (1, 7, 50):
            patched.setattr(xml, "_CHUNK", chunk)
            assert triples_of(data) == expected, chunk
    odd = body.replace("<C", "<e:é").replace("</C>", "</e:é>")  # which the compiled reader leaves to the parser
    others = triples_of(document_with(odd, root, doctype), 700)
    assert others == sorted(tuple(part.replace("<http://d.org/C>", "<http://e.org/#é>") for part in row) for row in expected)
    return expected


def values(triples: list[tuple[str, ...]]) -> list[str]:
    return [value for _, property, value in triples if "type" not in property]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("two\nlines", "two lines"),
        ("two\r\nlines", "two lines"),
        ("two\r\r\n\nlines", "two   lines"),
        ("a\tb", "a b"),
        ("\n a \n", "  a  "),
        ("&#10;&#13;&#9;&#xA;", "\\n\\r\t\\n"),
        ("two\nlines&#10;x", "two lines\\nx"),
        ("a > b\t= 'c'\n/>", "a > b = 'c' />"),
        ("\\\n'&quot;", "\\\\ '\\\""),
        ("é\n😀", "é 😀"),
    ],
)
def test_white_space_in_values(value: str, expected: str) -> None:
    assert values(in_all_ways(f'<C rdf:about="x"\n\te:p="{value}"/>')) == [f'"{expected}"']
    if '"' not in expected:
        nested = f"<C rdf:about='x'><p><C e:q='1' rdf:about='y'\n e:p=\"{value}\" /></p></C>"
        assert f'"{expected}"' in values(in_all_ways(nested))


def test_white_space_in_text_stays() -> None:
    text = 'a="b\nc"\t<!-- d="e\nf" -->\n'
    assert values(in_all_ways(f"<C rdf:about='x'><p>{text}</p></C>")) == ['"a=\\"b\\nc\\"\t\\n"']
    assert values(in_all_ways(f"<C rdf:about='x'><p>a\tb<![CDATA[{text}]]></p></C>"))[0].startswith('"a\tba=\\"b\\nc\\"\t<!--')


@pytest.mark.parametrize(
    ("entity", "in_value", "in_text"),
    [
        ("a\n\tb", "a  b", "a\\n\tb"),
        ("a&#10;&#9;b", "a  b", "a\\n\tb"),
        ("a&#38;#10;b", "a\\nb", "a\\nb"),
        ("a&#38;#38;#10;b", "a&#10;b", "a&#10;b"),
        ("&#38;#60;&#38;#x3E;", "<>", "<>"),
        ("&s;-&s;\n", "a  b-a  b ", "a\\n\\nb-a\\n\\nb\\n"),
        ("'&amp;", "'&", "'&"),
        ("&#37;", "%", "%"),
    ],
)
def test_white_space_in_entities(entity: str, in_value: str, in_text: str) -> None:
    doctype = f'<!DOCTYPE a [<!ENTITY f "u:"><!ENTITY s "a\n\nb"><!ENTITY t "{entity}">]>'
    found = in_all_ways("<C rdf:about='x' e:p='[&t;]'><e:q>&t;</e:q></C>", doctype=doctype)
    assert values(found) == [f'"[{in_value}]"', f'"{in_text}"']


@pytest.mark.parametrize(
    "attributes", ["", " rdf:ID='i'", " xml:lang='en'", " e:p='1'", " rdf:resource='o'", " rdf:nodeID='n'", " e:type='x'"]
)
@pytest.mark.parametrize("element", ["C", "e:é"])  # the compiled reader leaves é to the parser
def test_a_property_with_a_type(element: str, attributes: str) -> None:
    """A property's rdf:type is a property attribute like others: it makes a node (RDF/XML, section 7.2.21)."""
    property = f"<p rdf:type='urn:T'{attributes}/><p{attributes.replace(' rdf:ID', ' e:q')} rdf:type = 'urn:U'></p>"
    data = document_with(f"<{element} rdf:about='x'>{property}<q rdf:parseType='Resource'><p rdf:type='urn:V'/></q></{element}>")
    graph = rdflib.Graph().parse(data=data, publicID=BASE, format="xml")
    expected = sorted(_without_labels(tuple(map(text_from_rdflib, triple))) for triple in graph)
    assert sorted(map(_without_labels, triples_of(data, 700))) == expected
    assert sorted(map(_without_labels, triples_of(data))) == expected


def _without_labels(triple: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("_:" if term.startswith("_:") else term for term in triple)


def test_an_empty_language_is_none() -> None:
    nested = "<C rdf:about='x'><p xml:lang=''>a</p><p>b</p><e:q xml:lang='' xml:base='r/'><C rdf:about='y' e:p='c'/></e:q></C>"
    assert values(in_all_ways(nested, "xml:lang='en'")) == ['"c"', '"a"', '"b"@en', "<http://base/d/r/y>"]
    assert values(in_all_ways("<C rdf:about='x' xml:lang='de'><p>a</p></C><C rdf:about='x' e:p='b'/>", 'xml:lang=""')) == [
        '"a"@de',
        '"b"',
    ]


def test_an_empty_language_in_an_xml_literal_stays() -> None:
    data = document_with("<C rdf:about='x'><p rdf:parseType='Literal'><b xml:lang='' a='b\nc' xml:base='d'/></p></C>")
    found = triples_of(data)
    assert found == triples_of(data, 1 << 16)
    assert 'xml:lang=\\"\\" a=\\"b c\\" xml:base=\\"d\\"' in values(found)[0]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (None, "z/", "http://base/d/z/x"),
        (None, "z", "http://base/d/x"),
        (None, "/z/y", "http://base/z/x"),
        (None, "../z/", "http://base/z/x"),
        (None, "", "http://base/d/x"),
        (None, "#f", "http://base/d/x"),
        (None, "//other/a/", "http://other/a/x"),
        ("y/", "z/", "http://base/d/y/z/x"),
        ("http://other/a/b?q", "z/", "http://other/a/z/x"),
        ("y/é/", "z/", "http://base/d/y/é/z/x"),
        ("y/", "http://other/", "http://other/x"),
    ],
)
def test_relative_bases(outer: str | None, inner: str, expected: str) -> None:
    root = f"xml:base='{outer}'" if outer else ""
    assert {row[0] for row in in_all_ways(f"<C\txml:base='{inner}' rdf:about='x'/>", root)} == {f"<{expected}>"}


def test_relative_bases_inside_each_other() -> None:
    body = "<C xml:base='a/' rdf:about='x'><p xml:base='b/' rdf:resource='y'/><p rdf:resource='z'/></C>"
    body += "<C rdf:about='x'><p rdf:resource='w'/></C>"
    expected = [f"<http://base/d/{path}>" for path in ("a/b/y", "a/z", "w")]
    assert sorted(values(in_all_ways(body))) == sorted(expected)


def test_bases_end_with_their_elements() -> None:
    body = "<C xml:base='a/' rdf:about='x'/>"
    body += "<C rdf:about='x'><p xml:base='b/'><C rdf:about='y'/></p><p xml:base='c/' rdf:resource='z'/></C>"
    expected = [f"<http://base/d/{path}>" for path in ("b/y", "c/z")]
    assert sorted(values(in_all_ways(body))) == expected


def test_a_relative_base_without_another_is_refused() -> None:
    for window in (None, 1 << 16):
        assert "the IRI is relative" in str(read(document_with("<C xml:base='z/' rdf:about='x'/>"), window))


@pytest.mark.parametrize(
    "body",
    [
        "<C about='x'><p resource='y' ID='i'/></C>",
        "<C ID='x' type='urn:T' e:p='1'/>",
        "<C\nabout\t= 'x'\n><p\nresource = 'y' e:q='a\nb'/></C>",
        "<C xml:base='z/' about='x'><p>about='y'</p></C>",
        "<C about='x'><p resource='y' rdf:type='urn:T'/><p type='urn:U' rdf:resource='y'/></C>",
    ],
)
def test_names_of_rdf_that_may_lack_a_prefix(body: str) -> None:
    """RDF 1.1 XML Syntax, section 6.1.4."""
    in_all_ways(body)


@pytest.mark.parametrize("element", ["C", "e:é"])
def test_contents_whose_kind_lacks_a_prefix(element: str) -> None:
    inner = "<p parseType='Collection'><C about='y'/></p><p parseType='Resource'><p type='urn:T'/></p>"
    literal = "<p parseType='Literal'><a about='y' type='t' ID='i'/></p>"
    data = document_with(f"<{element} about='x'>{inner}{literal}</{element}>")
    qualified = data.replace(b"<p parseType", b"<p rdf:parseType").replace(b"<p type", b"<p rdf:type")
    expected = sorted(map(_without_labels, triples_of(qualified)))
    assert sorted(map(_without_labels, triples_of(data))) == expected
    assert sorted(map(_without_labels, triples_of(data, 700))) == expected
    assert any(r"<a about=\"y\" type=\"t\" ID=\"i\"" in value for *_, value in expected)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("about='x' rdf:about='y'", "given twice"),
        ("type='x' rdf:type='y'", "given twice"),
        ("nodeID='x'", "only the attributes about, ID, parseType, resource and type may lack one"),
        ("bagID='x'", "only the attributes about, ID, parseType, resource and type may lack one"),
    ],
)
def test_names_that_need_a_prefix(attributes: str, message: str) -> None:
    data = document_with(f"<C {attributes}/>")
    assert message in str(read(data, None))
    assert read(data, 700) == read(data, None)


def test_names_without_a_prefix_are_given_once() -> None:
    data = document_with("<e:é ID='x'/><C rdf:ID='x'/>")
    assert isinstance(read(data, 700, BASE), str)
    assert read(data, 700, BASE) == read(data, None, BASE)


def test_simple_ones_never_reach_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    data = document_with("<C xml:lang='' xml:base='z/' rdf:about='x' e:p='a\tb\nc'/>")
    expected = triples_of(data)
    assert not parsed_parts(monkeypatch)
    assert triples_of(data, 1 << 16) == expected
