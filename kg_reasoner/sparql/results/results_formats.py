"""The results formats of SPARQL 1.1 for solutions: JSON, XML, CSV and TSV. Each term is written once, and rows are joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from json.encoder import encode_basestring
from typing import Final, Literal, NamedTuple, TypeAlias

from kg_reasoner.errors import OutputError
from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.sparql.results.result_columns import Columns
from kg_reasoner.sparql.results.rows import decoded
from kg_reasoner.sparql.solutions.table import UNBOUND
from kg_reasoner.terms import unescape

__all__ = ["Format", "solution_parts", "truth_text"]

Format: TypeAlias = Literal["json", "xml", "csv", "tsv"]

REMEMBERED: Final = 1 << 18
"""The maximal number of written terms that are remembered for a column."""
ROWS: Final = 1 << 14
"""The number of rows that are written at once."""

_TO_QUOTE: Final = re.compile('[",\r\n]')
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_XML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})
_XML_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'


class _Parts(NamedTuple):
    """The parts of a term; `value` is the IRI, the label or the lexical form."""

    kind: Literal["uri", "bnode", "literal"]
    value: str
    datatype: str = ""
    language: str = ""


def _parts(text: str) -> _Parts:
    """Return the parts of a term from its N-Triples form."""
    if text[0] == "<":
        return _Parts("uri", text[1:-1])
    if text[0] == "_":
        return _Parts("bnode", text[2:])
    end = text.rindex('"')
    ending = text[end + 1 :]
    value = unescape(text[1:end])
    return _Parts("literal", value, language=ending[1:]) if ending.startswith("@") else _Parts("literal", value, ending[3:-1])


class _Form(NamedTuple):
    """A format in which solutions are written.

    Attributes:
        head: What comes before the first row.
        tail: What comes after the last.
        between: What stands between two rows.
        cell: Writes the term with an N-Triples form as the value of a variable.
        row: Joins the values of a row, which are empty for unbound variables.
    """

    head: str
    tail: str
    between: str
    cell: Callable[[str, str], str]
    row: Callable[[Iterable[str]], str]


def _json(names: Sequence[str]) -> _Form:
    variables = ",".join(map(encode_basestring, names))
    head = f'{{"head":{{"vars":[{variables}]}},"results":{{"bindings":[\n'
    return _Form(head, "\n]}}\n", ",\n", _json_cell, lambda row: f"{{{','.join(filter(None, row))}}}")


def _json_cell(name: str, text: str) -> str:
    term = _parts(text)
    further = ""
    if term.language:
        further = f',"xml:lang":{encode_basestring(term.language)}'
    elif term.datatype:
        further = f',"datatype":{encode_basestring(term.datatype)}'
    return f'{encode_basestring(name)}:{{"type":"{term.kind}","value":{encode_basestring(term.value)}{further}}}'


def _xml(names: Sequence[str]) -> _Form:
    variables = "".join(f'<variable name="{name}"/>' for name in names)
    head = f"{_XML_HEAD}<head>{variables}</head>\n<results>\n"
    return _Form(head, "\n</results>\n</sparql>\n", "\n", _xml_cell, lambda row: f"<result>{''.join(row)}</result>")


def _xml_cell(name: str, text: str) -> str:
    if found := _NOT_IN_XML.search(text):
        raise OutputError(f"XML cannot hold the character U+{ord(found[0]):04X} of {text!r}: write JSON or TSV")
    term = _parts(text)
    attribute = ""
    if term.language:
        attribute = f' xml:lang="{term.language}"'
    elif term.datatype:
        attribute = f' datatype="{term.datatype.translate(_XML)}"'
    return f'<binding name="{name}"><{term.kind}{attribute}>{term.value.translate(_XML)}</{term.kind}></binding>'


def _csv(names: Sequence[str]) -> _Form:
    return _Form(",".join(names) + "\r\n", "\r\n", "\r\n", _csv_cell, ",".join)


def _csv_cell(_: str, text: str) -> str:
    term = _parts(text)
    value = f"_:{term.value}" if term.kind == "bnode" else term.value
    return '"' + value.replace('"', '""') + '"' if _TO_QUOTE.search(value) else value


def _tsv(names: Sequence[str]) -> _Form:
    return _Form("\t".join(f"?{name}" for name in names) + "\n", "\n", "\n", _tsv_cell, "\t".join)


def _tsv_cell(_: str, text: str) -> str:
    return f"_:{safe_label(text[2:])}" if text[0] == "_" else text.replace("\t", "\\t")


_FORMS: Final[dict[Format, Callable[[Sequence[str]], _Form]]] = {"json": _json, "xml": _xml, "csv": _csv, "tsv": _tsv}


def solution_parts(columns: Columns, format: Format) -> Iterator[str]:
    """Yield the text of solutions in a format, in parts.

    Raises:
        OutputError: The format cannot hold a character.
    """
    form = _FORMS[format](columns.names)
    readers = [_Cells(columns, name, form.cell).read for name in columns.names]
    rows = decoded(columns, readers)
    yield form.head
    is_first = True
    while lines := [form.row(row) for _, row in zip(range(ROWS), rows, strict=False)]:
        yield ("" if is_first else form.between) + form.between.join(lines)
        is_first = False
    yield form.tail if format in ("json", "xml") or not is_first else ""


class _Cells:
    """The written terms of a column."""

    def __init__(self, columns: Columns, name: str, cell: Callable[[str, str], str]) -> None:
        self._terms, self._name, self._cell = columns.terms, name, cell
        self._known: dict[int, str] = {UNBOUND: ""}

    def read(self, numbers: Sequence[int]) -> list[str]:
        """Return the written terms of ids."""
        known = self._known
        if len(known) > REMEMBERED:
            known = self._known = {UNBOUND: ""}
        missing = [number for number in set(numbers) if number not in known]
        if missing:
            known.update(
                (number, self._cell(self._name, text)) for number, text in zip(missing, self._terms.texts(missing), strict=True)
            )
        return [known[number] for number in numbers]


def truth_text(truth: bool, format: Literal["json", "xml"]) -> str:
    """Return the text of a truth value in a format."""
    word = "true" if truth else "false"
    if format == "json":
        return f'{{"head":{{}},"boolean":{word}}}\n'
    return f"{_XML_HEAD}<head/>\n<boolean>{word}</boolean>\n</sparql>\n"
