"""The lines of OBO documents: tags and values, with qualifiers and references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.syntaxes.document_text import Settings, SourceText

__all__ = ["Clause", "OboFrame", "Reference", "frames"]

# No two adjacent parts of a pattern match the same characters, so matching takes time linear in the length of a line.
_LINE: Final = re.compile(r"([^\n]*)(?:\n|\Z)")
_BACKSLASH: Final = ("\\", "\\\r")
_CONTINUED: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\)\r?\Z")
"""The end of a line that goes on in the next one: a backslash that no other one escapes."""
_STANZA: Final = re.compile(r"\[([^\]]*)\](?:\s*!.*)?")
_COMMENT: Final = re.compile(r"(?<=\s)!\s")
_TEXT: Final = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_TAIL: Final = r"(?:\s*\{(?P<qualifiers>[^{}]*)\})?(?:\s*!.*)?"
_REFERENCES: Final = r'(?:\s*\[(?P<references>(?:[^\]\\"]|\\.|"[^"\\]*(?:\\.[^"\\]*)*")*)\])?'
_ID: Final = r"((?:[^\s\\{]|\\.)+)"
_IDS: Final = re.compile(rf"{_ID}(?:\s+(?!!){_ID})?(?:\s+(?!!){_ID})?{_TAIL}")
_QUOTED: Final = re.compile(rf"{_TEXT}{_REFERENCES}{_TAIL}")
_SYNONYM: Final = re.compile(rf"{_TEXT}(?:\s*(EXACT|BROAD|NARROW|RELATED)\b)?(?:\s+([^\s\[\]{{}}!]+))?{_REFERENCES}{_TAIL}")
_NAMED: Final = re.compile(rf"((?:[^\s\\]|\\.)+)\s+{_TEXT}(?:\s+([^\s{{!]+))?{_TAIL}")
_REFERENCE: Final = re.compile(rf"((?:[^\s\\{{\"]|\\.)+)(?:\s*{_TEXT})?{_TAIL}")
_QUALIFIER: Final = re.compile(rf"\s*([^\s=,]+)\s*=\s*(?:{_TEXT}|([^\s,\"]+))\s*(?:,|\Z)")
_SPACE: Final = re.compile(rf"(\S+)\s+([^\s\"]+)(?:\s+{_TEXT})?{_TAIL}")
_ONE_REFERENCE: Final = re.compile(rf"((?:[^,\\\"]|\\.)*)(?:{_TEXT}\s*)?(?:,|\Z)")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "W": " "}


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to another database: its identifier, and a description."""

    id: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A line with a tag and a value, and where it begins in the document."""

    tag: str
    value: str
    start: int
    source: SourceText

    def error(self, message: str, hint: str | None = None) -> LoadError:
        """Return an error about the value."""
        return self.source.error(message, self.start, self.start + len(self.value), hint)

    def text(self) -> tuple[str, dict[str, str]]:
        """Return a value that is the rest of the line, without its qualifiers and the comment."""
        if "!" not in self.value and "}" not in self.value:
            return _unescaped(self.value), {}
        comment = _COMMENT.search(self.value)
        value = self.value[: comment.start()].rstrip() if comment else self.value
        before, brace, qualifiers = value.rpartition("{")
        if brace and qualifiers.endswith("}") and "=" in qualifiers and "}" not in qualifiers[:-1] and not before.endswith("\\"):
            return _unescaped(before.rstrip()), self._qualifiers(qualifiers[:-1])
        return _unescaped(value), {}

    def ids(self, least: int, most: int) -> tuple[list[str], dict[str, str]]:
        """Return the identifiers in a value, and its qualifiers."""
        match = _IDS.fullmatch(self.value)
        found = [_unescaped(part) for part in match.groups()[:3] if part is not None] if match else []
        if match is None or not least <= len(found) <= most:
            number = "an identifier" if most == 1 else "two identifiers" if least == 2 else "one or two identifiers"
            raise self.error(f"expected {number} after `{self.tag}:`")
        return found, self._qualifiers(match["qualifiers"])

    def quoted(self) -> tuple[str, list[Reference], dict[str, str]]:
        """Return a text in quotes, its references and its qualifiers."""
        match = _QUOTED.fullmatch(self.value)
        if match is None:
            raise self.error(f'expected a text in quotes after `{self.tag}:`, and references in brackets, as in "text" [PMID:1]')
        return _unescaped(match[1]), self._references(match["references"]), self._qualifiers(match["qualifiers"])

    def synonym(self) -> tuple[str, str, str | None, list[Reference], dict[str, str]]:
        """Return the text, scope, type, references and qualifiers of a synonym."""
        match = _SYNONYM.fullmatch(self.value)
        if match is None:
            raise self.error(
                f'expected a text in quotes after `{self.tag}:`, a scope and references, as in "text" EXACT []',
                "scopes are EXACT, BROAD, NARROW and RELATED",
            )
        references = self._references(match["references"])
        return _unescaped(match[1]), match[2] or "RELATED", match[3], references, self._qualifiers(match["qualifiers"])

    def named(self) -> tuple[str, str, str | None, dict[str, str]]:
        """Return an identifier, a text in quotes, the word after it, and the qualifiers."""
        match = _NAMED.fullmatch(self.value)
        if match is None:
            raise self.error(f"expected an identifier and a text in quotes after `{self.tag}:`")
        return _unescaped(match[1]), _unescaped(match[2]), match[3], self._qualifiers(match["qualifiers"])

    def space(self) -> tuple[str, str]:
        """Return a prefix and its namespace, which a description may follow."""
        match = _SPACE.fullmatch(self.value)
        if match is None:
            raise self.error(f"expected a prefix and a namespace after `{self.tag}:`, as in EX http://example.org/")
        return match[1], match[2]

    def reference(self) -> tuple[Reference, dict[str, str]]:
        """Return a reference and the qualifiers."""
        match = _REFERENCE.fullmatch(self.value)
        if match is None:
            raise self.error(f'expected a reference after `{self.tag}:`, as in PMID:1 or ISBN:1 "a book"')
        description = None if match[2] is None else _unescaped(match[2])
        return Reference(_unescaped(match[1]), description), self._qualifiers(match["qualifiers"])

    def is_true(self) -> bool:
        """Return a truth value.

        Raises:
            LoadError: It is neither true nor false.
        """
        value, _ = self.text()
        if value not in ("true", "false"):
            raise self.error(f"unexpected `{value}`, expected true or false after `{self.tag}:`")
        return value == "true"

    def _references(self, text: str | None) -> list[Reference]:
        found: list[Reference] = []
        place = 0
        while text and place < len(text):
            match = _ONE_REFERENCE.match(text, place)
            name = match[1].strip() if match else ""
            if match is None or not name:
                raise self.error('expected references in brackets, such as [PMID:1, ISBN:2 "a book"]')
            found.append(Reference(_unescaped(name), None if match[2] is None else _unescaped(match[2])))
            place = match.end()
        return found

    def _qualifiers(self, text: str | None) -> dict[str, str]:
        if text is None:
            return {}
        found: dict[str, str] = {}
        place = 0
        while place < len(text):
            match = _QUALIFIER.match(text, place)
            if match is None:
                raise self.error('expected qualifiers such as {source="PMID:1", comment="text"}')
            found[match[1]] = match[3] or _unescaped(match[2] or "")
            place = match.end()
        return found


@dataclass(slots=True)
class OboFrame:
    """The header (`kind` is empty) or a stanza."""

    kind: str
    start: int
    clauses: list[Clause]


def frames(source: SourceText, settings: Settings) -> Iterator[OboFrame]:
    """Yield the header and the stanzas of a document.

    Raises:
        LoadError: A line is neither a tag with a value, the beginning of a stanza, nor a comment.
    """
    text = source.text
    frame = OboFrame("", 0, [])
    place = 0
    while place < len(text):
        match = _LINE.match(text, place)
        assert match is not None
        whole, end = match[1], match.end()
        while whole.endswith(_BACKSLASH) and _CONTINUED.search(whole) and not whole.lstrip().startswith("!") and end < len(text):
            match = _LINE.match(text, end)
            assert match is not None
            whole, end = whole.rstrip("\r")[:-1] + match[1], match.end()
        if end - place > settings.token:
            raise settings.too_long(source, place)
        line = whole.strip()
        start = place + whole.find(line[:1])
        tag, colon, value = line.partition(":")
        if not line or line.startswith("!"):
            pass
        elif line.startswith("["):
            yield frame
            frame = OboFrame(_kind(source, line, start), start, [])
        elif colon and len(tag.split()) == 1:
            value = value.strip()
            frame.clauses.append(Clause(tag.rstrip(), value, start + line.index(value, len(tag) + 1), source))
        else:
            hint = "after a tag comes a colon, as in `id: GO:0008150`"
            message = "expected a tag with a value, a stanza such as [Term], or a comment after `!`"
            raise source.error(message, start, start + len(line), hint)
        place = end
    yield frame


def _kind(source: SourceText, line: str, start: int) -> str:
    """Return the kind of stanza that a line begins."""
    match = _STANZA.fullmatch(line)
    if match is None or match[1] not in ("Term", "Typedef", "Instance"):
        found = f"[{match[1]}]" if match else line
        raise source.error(f"unexpected `{found}`, expected [Term], [Typedef] or [Instance]", start, start + len(found))
    return match[1]


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text) if "\\" in text else text
