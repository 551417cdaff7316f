"""The compiled reader of RDF/XML, compared with pyoxigraph's parser: the same triples, and the same errors."""

from __future__ import annotations

import io
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import RDF_XML
from kg_reasoner.loaders.rdf.readers import rdfxml_documents
from kg_reasoner.loaders.rdf.readers.rdfxml_documents import read_rdfxml
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.loaders.rdf.readers.syntax import read_parsed
from kg_reasoner.loaders.rdf.sources import document_of
from kg_reasoner.storage.readers import rdfxml_reading
from kg_reasoner.storage.terms.dictionary import Dictionary
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, by_effort, examples
from tests.helpers.suites import SUITES, needs_suite

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
NAMESPACES = f'{RDF} xmlns="http://d.org/" xmlns:e="http://e.org/#" xmlns:f="&f;"'
DOCTYPE = """<!DOCTYPE rdf:RDF [
<!ENTITY f "http://f.org/x#"> <!ENTITY t 'a "text"'> <!ENTITY tt "&t; é"> <!ENTITY s "a&#38;b"> ]>
"""


def document_with(body: str, root: str = "", doctype: str = DOCTYPE) -> bytes:
    return f'<?xml version="1.0"?>\n{doctype}<rdf:RDF {NAMESPACES} {root}>{body}</rdf:RDF>\n'.encode()


Found = tuple[list[tuple[str, ...]], list[tuple[str, str]]] | str


def read(
    data: bytes, window: int | None, base: str | None = None, bounds: DocumentBounds = DEFAULT_BOUNDS, widest: int = 0
) -> Found:
    """Return the triples in order and the prefixes, or the error. Without a window, pyoxigraph's parser alone reads."""
    document = document_of(data, RDF_XML, bounds)
    assert document is not None
    dictionary = Dictionary()
    prefixes: list[tuple[str, str]] = []
    sink = lambda *declared: prefixes.append(declared)  # noqa: E731
    try:
        with document.open() as opened:
            if window is None:
                encoder = Encoder(dictionary, BlankScope(dictionary, opened.head), parsed=True)
                batches = list(read_parsed(opened, RDF_XML, base, encoder, 1000, sink))
            else:
                reading = Reading(dictionary, 1000, base, prefixes=sink)
                batches = list(read_rdfxml(opened, reading, window=window, widest=widest))
    except LoadError as error:
        return str(error)
    return [tuple(map(dictionary.text, row)) for ids, _ in batches for row in ids.tolist()], prefixes


def agree(data: bytes, base: str | None = None, windows: tuple[int, ...] = (600, 1200, 1 << 16)) -> Found:
    expected = read(data, None, base)
    for window in windows:
        assert read(data, window, base) == expected, window
    assert read(data, windows[0], base, widest=1 << 13) == expected
    return expected


def parsed_parts(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what pyoxigraph's parser will get."""
    parsed: list[bytes] = []
    before = rdfxml_documents._Reader._parsed_part

    def part(reader: rdfxml_documents._Reader, data: bytes) -> object:
        parsed.append(data)
        return before(reader, data)

    def rest(reader: rdfxml_documents._Reader) -> object:
        raise AssertionError(bytes(reader._window.rest[:200]))

    monkeypatch.setattr(rdfxml_documents._Reader, "_parsed_part", part)
    monkeypatch.setattr(rdfxml_documents._Reader, "_parsed_rest", rest)
    return parsed


IRIS = [
    "http://a.org/b", "#a", "", "a", "a/b.c", "/a", "/a/b?c#d", "&f;a", "urn:a:b", "http://a.org", "http://a.org/?q=a&amp;b#c",
    "http://a/x/../y",
]  # fmt: skip
ODD_IRIS = [
    "../a", "/a/../b", "/.a", "/", "?q", "http://a.org/é", "a b", "http://a.org/%zz", "&t;", "&#x61;", "http://a:x/", "//a.org/b",
    "a:b/./c",
]  # fmt: skip
TEXTS = [
    "text", "", "  ", "\n  two\r\nlines\r ", 'quo"ted \\ \t', "&amp;&lt;&gt;&quot;&apos;", "&t; &tt;", "&#233;&#x1F600;&#13;&#10;",
    "é😀", "a<!-- comment -->b", "<![CDATA[<a> & ]] \r\n]]>", "a<?pi some?>b", "1 > 2", "<!-- -->",
]  # fmt: skip
ODD_TEXTS = [
    "]]>", "&s;", "&missing;", "\x01", "\ufffe", "&#0;", "&#xFFFF;", "a<!-- -- -->b", "&#;", "&", "<?xml a?>", "\ufffd\uffee",
]  # fmt: skip
NAMES = ["e:p", "p", "f:q", "e:a-b.c", "rdf:value", "rdf:_1", "rdf:li", "rdf:type"]
ODD_NAMES = ["rdf:Description", "rdf:RDF", "rdf:ID", "g:p", "e:é", "rdf:aboutEach", "xml:p", "e:%", "its:p"]
CLASSES = ["e:C", "C", "rdf:Description", "rdf:Description", "rdf:Bag", "f:C"]
SPACES = ["", "", " ", "\n  ", "\r\n\t", "<!-- a - comment\n -->", "<?pi?>", "<!---->"]
ODD_SPACES = ["&#32;", "text", "<![CDATA[ ]]>", "<!-- -- -->"]
DATATYPES = ["http://a.org/t", "http://www.w3.org/2001/XMLSchema#string"]
COMMON = [
    'xml:lang="en"', 'xml:lang="EN-gb"', 'xml:base="http://base.org/a/b?q#f"', 'xml:space="preserve"', 'xmlns:e="http://e2.org/"',
    "xmlns:g='http://g.org/'", 'xmlns="http://d2.org/"', 'xml:base="http://base.org"', 'xml:lang=""',
    'xmlns:its="http://www.w3.org/2005/11/its"',
]  # fmt: skip
ODD_COMMON = [
    'xml:base="../b/"', 'xml:base="?q"', 'xml:base=""',
    'xml:lang="x-private"', 'xmlns:g=""', 'xmlns=""', 'xml:id="a"', 'xmlish="a"', 'a="b"', 'xml:base="relative"',
    'rdf:version="1.2"', 'rdf:annotation="a"', 'xmlns:xml="http://www.w3.org/XML/1998/namespace"',
    'its:dir="ltr"', 'its:version="2.0"', 'xmlns="http://www.w3.org/2005/11/its"',
    'xmlns:x="http://www.w3.org/XML/1998/namespace"', 'rdf:bagID="a"', 'xmlns:x="a&#32;b"', 'xmlns:xmlns="http://a.org/"',
    "e:p='<'", 'xml:lang="de-Latn-DE"', 'xml:base="urn:a:b"', 'xmlns:h="&f;"', 'xmlns:h="é"',
]  # fmt: skip
NEEDLESS_PREFIX = re.compile("^rdf:(?=(about|ID|parseType|resource|type)=)")
takes_long_in_checked_mode = pytest.mark.skipif(CHECKED, reason="takes long without compiled kernels")


class Writer:
    """Writes random RDF/XML, most of it right."""

    def __init__(self, chance: random.Random, odd: float) -> None:
        self.chance = chance
        self.odd = odd
        self.names = 0

    def of(self, usual: list[str], odd: list[str]) -> str:
        return self.chance.choice(odd if self.chance.random() < self.odd else usual)

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def space(self) -> str:
        return self.of(SPACES, ODD_SPACES)

    def value(self, text: str) -> str:
        quote = self.chance.choice("\"'")
        return quote + text.replace(quote, "&quot;" if quote == '"' else "&apos;") + quote

    def iri(self) -> str:
        return self.value(self.of(IRIS, ODD_IRIS))

    def name(self) -> str:
        self.names += not self.maybe(self.odd)
        return self.value(self.of([f"n{self.names}", f"n_{self.names}.a-b"], ["é", "1", "a b", f"n{self.names - 1}", ""]))

    def label(self) -> str:
        return self.value(self.of(["a", "b1", "_c", "A0"], ["a-b", "a.", "é", "1", "abcdef0123456789", "a:b"]))

    def attributes(self, own: list[str], has_values: bool) -> str:
        found = [*own]
        if self.maybe(0.2):
            found.append(self.of(COMMON, ODD_COMMON))
        if has_values and self.maybe(0.2):
            texts = [text for text in TEXTS if "<" not in text]
            names = self.chance.sample(["e:p", "f:q", "e:a-b.c"], 2)
            found += [f"{name}={self.value(self.of(texts, ODD_TEXTS))}" for name in names]
        if self.maybe(self.odd):
            found.append(self.chance.choice([*found, "e:p='1'", "rdf:type='a'"]))
        if self.maybe(0.1):
            found = [NEEDLESS_PREFIX.sub("", attribute) for attribute in found]
        self.chance.shuffle(found)
        space = self.chance.choice([" ", " ", "\n", "  "])
        around = self.chance.choice(["", "", " "])
        text = "".join(f"{space}{attribute}" for attribute in found).replace("=", f"{around}={around}", 1)
        return text + around

    def node(self, depth: int = 0) -> str:
        name = self.of(CLASSES, ODD_NAMES)
        own = self.chance.choice([[], [f"rdf:about={self.iri()}"], [f"rdf:about={self.iri()}"], [f"rdf:nodeID={self.label()}"]])
        if self.maybe(0.1):
            own = [f"rdf:ID={self.name()}"]
        if self.maybe(0.1):
            own = [*own, f"rdf:type={self.iri()}"]
        attributes = self.attributes(own, has_values=True)
        inside = "".join(self.space() + self.property(depth + 1) for _ in range(self.chance.randint(0, 3 if depth < 4 else 0)))
        return self.element(name, attributes, inside + self.space())

    def element(self, name: str, attributes: str, inside: str) -> str:
        if not inside.strip() and self.maybe(0.5):
            return f"<{name}{attributes}/>"
        end = name if not self.maybe(self.odd / 4) else self.chance.choice(NAMES)
        return f"<{name}{attributes}>{inside}</{end}{self.chance.choice(['', '', ' '])}>"

    def property(self, depth: int) -> str:
        name = self.of(NAMES, ODD_NAMES)
        own = [f"rdf:ID={self.name()}"] if self.maybe(0.1) else []
        kind = self.chance.randint(0, 9)
        inside = ""
        if kind < 4:
            inside = self.of(TEXTS, ODD_TEXTS) + (self.of(TEXTS, ODD_TEXTS) if self.maybe(0.3) else "")
            if self.maybe(0.3):
                own.append(f"rdf:datatype={self.value(self.of(DATATYPES, ODD_IRIS))}")
        elif kind < 6:
            own.append(f"rdf:resource={self.iri()}" if self.maybe(0.7) else f"rdf:nodeID={self.label()}")
            inside = self.space() if self.maybe(0.3) else ""
            if self.maybe(0.3):
                own[-1:] = [*(own[-1:] if self.maybe(0.5) else []), f"rdf:type={self.iri()}"]
        elif kind == 6:
            own.append('rdf:parseType="Resource"')
            inside = "".join(self.space() + self.property(depth + 1) for _ in range(self.chance.randint(0, 2)))
        elif kind == 7:
            own.append('rdf:parseType="Collection"')
            inside = "".join(self.space() + self.node(depth + 1) for _ in range(self.chance.randint(0, 3))) + self.space()
        elif kind == 8 and self.maybe(self.odd):
            own.append(f'rdf:parseType="{self.chance.choice(["Literal", "Other", "Triple"])}"')
            inside = "a<e:b e:c='d'>e</e:b>"
        else:
            inside = self.space() + self.node(depth + 1) + self.space()
            if self.maybe(self.odd):
                inside += self.node(depth + 1)
        return self.element(name, self.attributes(own, has_values=4 <= kind < 6 or self.maybe(self.odd)), inside)

    def document(self) -> bytes:
        body = "".join(self.space() + self.node() for _ in range(self.chance.randint(0, 8))) + self.space()
        root = self.chance.choice(["", 'xml:base="http://base.org/x/y"', 'xml:lang="de"', 'xml:base="http://base.org/#"'])
        return document_with(body, root)


@settings(max_examples=examples(600))
@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.01, 0.1]))
def test_random_documents(chance: random.Random, odd: float) -> None:
    agree(Writer(chance, odd).document(), chance.choice([None, "http://given.org/a/b"]))


@settings(max_examples=examples(400))
@given(st.randoms(use_true_random=False), st.binary(max_size=2))
def test_broken_documents(chance: random.Random, piece: bytes) -> None:
    data = Writer(chance, 0).document()
    start = chance.randrange(len(data))
    agree(data[:start] + piece + data[start + chance.randint(0, 2) :], windows=(700, 1 << 16))


@pytest.mark.parametrize("value", [b"preserve", b"", b"other", b"preser\x8cve", "é".encode(), b"&missing;", b"&lt;", b"<", b"\x01"])
@pytest.mark.parametrize("nodes", [0, 20])
def test_values_without_a_meaning_are_checked(value: bytes, nodes: int) -> None:
    before = "".join(f'<e:C rdf:about="#{number}"><e:p>text</e:p></e:C>\n' for number in range(nodes))
    data = document_with(f'{before}<e:C><e:p xml:space="VALUE">text</e:p></e:C>').replace(b"VALUE", value)
    agree(data, windows=(600, 1000, 1 << 16))


@settings(max_examples=examples(100))
@given(st.randoms(use_true_random=False))
def test_tables_that_are_full(chance: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rdfxml_reading, "_ROWS", 1)
        patched.setattr(rdfxml_reading, "_BYTES_OF_A_TRIPLE", 1 << 20)
        agree(Writer(chance, 0).document(), "http://given.org/")


EVERYTHING = document_with(
    """
  <!-- a comment --><C rdf:about="&f;a" e:p="&lt;" xml:lang="en"><e:q>text &amp; <![CDATA[<more>]]> &#233;</e:q>
    <e:r rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">042</e:r><rdf:li rdf:ID="s" rdf:resource="#x"/>
    <e:s rdf:parseType="Resource"><e:t rdf:nodeID="n" /></e:s><?pi it?>
    <e:l rdf:parseType="Collection"><rdf:Description rdf:about="#x"/><e:C rdf:ID="y"/></e:l></C>
""",
    'xml:base="http://base.org/"',
)


STEP = 11 if CHECKED else by_effort(3, 1, 1)


def test_documents_that_end_anywhere() -> None:
    for end in range(0, len(EVERYTHING), STEP):
        agree(EVERYTHING[:end], windows=(1 << 12,))


def test_documents_with_another_byte_anywhere() -> None:
    chance = random.Random(5)
    for place in range(0, len(EVERYTHING), STEP):
        byte = bytes([chance.choice(b"<>&'\"/=: \n\r\0aR#;x-]!?\x80\xc3\xef")])
        agree(EVERYTHING[:place] + byte + EVERYTHING[place + 1 :], windows=(1 << 12,))


@takes_long_in_checked_mode
def test_most_documents_never_reach_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = parsed_parts(monkeypatch)
    for seed in range(100):
        assert not isinstance(read(Writer(random.Random(seed), 0).document(), 1 << 16, "http://given.org/a/b"), str)
    assert not isinstance(read(EVERYTHING, 1 << 12), str)
    assert not parsed


@takes_long_in_checked_mode
def test_unusual_elements_reach_the_parser_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the last ones in the window, which are fewer bytes than the parser wants to have."""
    many = "".join(f'<C rdf:about="é{n}"><p>{n}</p></C><!-- &lt;C&gt; -->\n' for n in range(5_000))
    data = document_with(many + '<C rdf:about="a"/>' * 5_000, 'xml:base="http://base.org/"')
    expected = read(data, None)
    parsed = parsed_parts(monkeypatch)
    assert read(data, 1 << 16) == expected
    assert 5 < len(parsed) < 30


@takes_long_in_checked_mode
def test_long_elements_get_a_wider_window(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(f"<p><C rdf:about='#{n}'/></p>\n" for n in range(2_000))
    data = document_with(f"<C>{many}</C>" * 3, 'xml:base="http://base.org/"')
    expected = read(data, None)
    assert read(data, 1 << 12, widest=1 << 14) == expected
    parsed_parts(monkeypatch)
    assert read(data, 1 << 12, widest=1 << 20) == expected


@pytest.mark.parametrize("odd", ["<p rdf:parseType='Literal'>a<e:b/></p>", "<e:é>x</e:é>", "<p rdf:resource='é'/>", "<p>&s;</p>"])
def test_what_surrounds_unusual_elements(odd: str) -> None:
    """Labels are numbered through, prefixes are passed on in order, and what the root element declares holds for all."""
    nodes = ['<C xmlns:g{n}="http://g{n}.org/"><g{n}:p>x</g{n}:p><p rdf:parseType="Resource"/></C>', f"<C>{odd}<p><C/></p></C>"]
    for order in (nodes, nodes[::-1]):
        body = "".join(node.replace("{n}", str(n)) for n in range(3) for node in order)
        agree(document_with(body, 'xml:lang="de" xml:base="http://base.org/"'), windows=(400, 700, 1 << 12))


@takes_long_in_checked_mode
@pytest.mark.parametrize("first", ["<C rdf:ID='a'/>", "<C rdf:about='é'><p rdf:ID='a'>x</p></C>", "<C><p rdf:ID='a'>x</p></C>"])
@pytest.mark.parametrize("second", ["<C rdf:ID='a'/>", "<e:é rdf:ID='a'/>", "<C rdf:ID='b'/>", "<e:é rdf:ID='b'/>"])
def test_names_are_given_once(first: str, second: str) -> None:
    for between in ("", "<C rdf:about='é'/>", "<C/>" * 100):
        agree(document_with(first + between + second, 'xml:base="http://base.org/?a&amp;b"'), windows=(500, 1 << 12))
        agree(document_with(first + between + second), "http://given.org/", windows=(500, 1 << 12))


@takes_long_in_checked_mode
@pytest.mark.parametrize(
    ("data", "in_error"),
    [
        (b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', ""),
        (document_with("") + b"<!-- more --> <?and more?>\n", ""),
        (document_with("") + b"<e:C/>", "junk"),
        (document_with("<C/>") + b"text", "junk"),
        (document_with("<C/>") + document_with("<C/>"), ""),
        (b"<?xml version='1.0' encoding='ISO-8859-1'?>" + document_with("<C><p>\xe9</p></C>").split(b"?>", 1)[1], ""),
        (document_with("<C><p>é</p></C>").decode().encode("utf-16"), ""),
        (document_with("<C><p>é</p></C>").decode().encode("latin-1"), "not valid utf-8"),
        (document_with("<C/>").replace(b"rdf:RDF", b"r:RDF").replace(b"xmlns:rdf", b"xmlns:r"), ""),
        (document_with("<C/>", doctype="<!DOCTYPE a [<!ATTLIST rdf:RDF xml:lang CDATA 'en'>]>"), ""),
        (document_with("<C><p>&x;</p></C>", doctype="<!DOCTYPE a SYSTEM 'http://a.org/'>"), "not well-formed"),
        (document_with("<C/>", doctype="<!DOCTYPE a [<!ENTITY f 'u:'> <!ENTITY % x SYSTEM 'x'> %x;]>"), ""),
        (document_with("<C><p>&x;</p></C>", doctype="<!DOCTYPE a [<!ENTITY f 'u:'> <!ENTITY x SYSTEM 'x'>]>"), "outside"),
        (document_with("<C/>", "e:p='x'"), ""),
        (document_with("<p>text</p>", "rdf:about='x'"), ""),
        (document_with("text"), "text"),
        (b"\xef\xbb\xbf" + document_with("<C/>"), ""),
        (b"\xef\xbb\xbf\xef\xbb\xbf" + document_with("<C/>"), ""),
        (document_with("<C/>").replace(b"\n", b"\r\n"), ""),
        (document_with("<C/>").replace(b"1.0", b"1.1"), ""),
        (document_with("<C/>" + "<!-- - -->" * 1000), ""),
        (document_with("<C>" * 3), "not well-formed"),
    ],
)
def test_where_documents_begin_and_end(data: bytes, in_error: str) -> None:
    found = agree(data, windows=(300, 700, 1 << 16))
    if in_error:
        assert isinstance(found, str) and in_error in found


@takes_long_in_checked_mode
@pytest.mark.parametrize(
    "encoding", ["ISO-8859-1", "windows-1252", "us-ascii", "utf-8", "iso-8859-12", "utf-7", "shift_jis", "cp037"]
)
def test_other_encodings(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declaration = f"<?xml version='1.0' encoding='{encoding}'?>"
    plain = document_with("<C><p>+AGEA-x~\\</p></C>" * 100, doctype="<!DOCTYPE a [<!ENTITY f 'u:'>]>").decode().split("?>", 1)[1]
    for text in (plain, plain.replace("x", "é", 1), plain.replace("x", "表", 1), plain.replace("u:", "é:")):
        for data in (text.encode(), text.encode("latin-1", "replace"), text.encode("shift_jis", "replace")):
            agree(declaration.encode() + data, windows=(600, 1 << 16))
    if encoding in ("ISO-8859-1", "windows-1252", "us-ascii", "utf-8"):
        expected = read((declaration + plain).encode(), None)
        assert not parsed_parts(monkeypatch)
        assert read((declaration + plain).encode(), 1 << 16) == expected


@takes_long_in_checked_mode
@pytest.mark.parametrize("depth", [2, 3, 4, 5, 98, 99, 100, 101, 102])
def test_elements_within_the_bounds(depth: int) -> None:
    pairs = depth // 2
    data = document_with("<C><p>" * pairs + "</p></C>" * pairs)
    for bound in (depth - 1, depth, depth + 1, depth + 2):
        bounds = DocumentBounds(depth=bound)
        expected = read(data, None, bounds=bounds)
        assert isinstance(expected, str) == (bound < 2 * pairs + 1)
        assert read(data, 1 << 12, bounds=bounds) == expected


@takes_long_in_checked_mode
@pytest.mark.parametrize(("longest", "is_plain"), [(150, True), (30_000, False)])
def test_entities_that_make_much_of_little(longest: int, is_plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that may exceed the bound are left to the reader that counts."""
    doctype = f"<!DOCTYPE rdf:RDF [<!ENTITY f 'http://f.org/#'> <!ENTITY l '{longest * 'x'}'>]>"
    bounds = DocumentBounds(expansion=50)
    data = document_with("<C><p>&l;</p></C>" * 3_000, doctype=doctype)
    expected = read(data, None, bounds=bounds)
    assert isinstance(expected, str) == (not is_plain)
    assert read(data, 1 << 16, bounds=bounds) == expected
    if is_plain:
        assert not parsed_parts(monkeypatch)
        assert read(data, 1 << 16, bounds=bounds) == expected


@takes_long_in_checked_mode
@pytest.mark.parametrize("window", [700, 4096, 1 << 16])
@pytest.mark.parametrize("broken", ["<C><p>&x;</p></C>", "<C>text</C>", "<C></D>", "<C rdf:ID='twice'/>", "<C rdf:about='a b'/>"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_the_line_of_an_error_in_a_stream(window: int, broken: str, line_break: str) -> None:
    """A stream cannot be read again: the lines are counted while it is read."""
    lines = ["<C>", " <p>x</p>", "</C>", "<!-- ", "-->", "<C", "/>", "<C rdf:about='é'><p>a", "</p></C>"] * 40
    lines += ["<e:é xml:base='a/b'><p e:p='", "", "' xml:lang=''", " xml:base='c'/></e:é>"] * 40
    text = line_break.join(["<C rdf:ID='twice'/>", *lines, f" {broken}", *lines])
    data = document_with(text, 'xml:base="http://base.org/"').replace(b"\n<!E", f"{line_break}<!E".encode())
    document = document_of(io.BytesIO(data), RDF_XML)
    assert document is not None and not document.reopens
    dictionary = Dictionary()
    with pytest.raises(LoadError) as caught, document.open() as opened:
        list(read_rdfxml(opened, Reading(dictionary, 10), window=window))
    expected = read(data, None)
    assert isinstance(expected, str)
    line = re.search(r"(?m)^ +(\d+) \|", expected) or re.search(r"line (\d+)", expected)
    found = re.search(r"line (\d+)", str(caught.value))
    assert line is not None and found is not None
    assert found[1] == line[1]


@takes_long_in_checked_mode
@needs_suite("lubm")
def test_an_ontology_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (SUITES / "lubm" / "univ-bench.owl").read_bytes()
    expected = agree(data)
    assert not parsed_parts(monkeypatch)
    assert read(data, 1 << 16) == expected


@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_in_checked_mode() -> None:
    """The reader never looks beyond its buffers."""
    run_in_checked_mode(__file__)
