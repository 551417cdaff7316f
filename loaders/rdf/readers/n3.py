"""N3: rules ``{ ?x a :Man } => { ?x a :Mortal }`` become rules, and statements outside of formulas become triples.

* ``=>``, ``<=``, ``log:implies`` and ``log:isImpliedBy`` between formulas are rules; a conclusion ``false`` makes a constraint.
* Variables are ``?x`` and names declared by ``@forAll``. Blank nodes and ``@forSome`` in a body are variables, too. In a head they
  would denote a new individual for each instance, which rules cannot create: such rules are rejected.
* Lists in a body match lists of the data, given as rdf:first and rdf:rest. Lists before built-ins are their arguments.
* Built-ins are computed, see `n3_builtins`; ``list:in``, ``list:member``, ``list:first`` and ``list:rest`` also match lists of the
  data; ``list:last`` and ``list:length`` take only lists written in the rule.
* All other uses of formulas (quotation, rules about rules, ``log:includes``) are rejected.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError, UnsupportedError
from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import N3
from kg_reasoner.loaders.rdf.rule_sink import RuleSink
from kg_reasoner.loaders.rdf.scan import Scanned
from kg_reasoner.loaders.rdf.sources import OpenDocument, document_of
from kg_reasoner.loaders.rules.builtins import Refused
from kg_reasoner.loaders.rules.n3_rules import IMPLICATIONS, rules_of
from kg_reasoner.loaders.rules.n3_syntax import Formula, ListTerm, N3Statement, N3Term, Text, parse
from kg_reasoner.program import Program, Rule, Variable
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal, Term, Triple

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.readers.syntax import Batch

__all__ = ["N3Document", "RuleSink", "has_formulas", "read", "read_n3", "read_text"]


@dataclass(frozen=True, slots=True)
class N3Document:
    """The contents of an N3 document: its rules, its triples, the rejected rules that were skipped, and its prefixes."""

    program: Program
    triples: tuple[Triple, ...]
    refused: tuple[UnsupportedError, ...]
    prefixes: Mapping[str, str]


def read(source: Any, base: str | None = None, *, skip_refused: bool = False) -> N3Document:
    """Return the rules and triples of an N3 document.

    Args:
        source: The document.
        base: The IRI against which relative IRIs are resolved, if the document declares no base.
        skip_refused: Keep what was refused in `N3Document.refused` instead of raising it.

    >>> found = read(b"@prefix : <http://example.org/> . { ?x a :Man } => { ?x a :Mortal } . :socrates a :Man .")
    >>> len(found.program.rules), len(found.triples)
    (1, 1)

    Raises:
        LoadError: The document does not exist, or it is not N3.
        UnsupportedError: A rule cannot be expressed; the message names the reason.
    """
    document = document_of(source, N3)
    if document is None:
        raise LoadError(f"{source!r} cannot be read", hint="an N3 document is a path, bytes, or an open file")
    numbers = itertools.count(1)
    with document.open() as opened:
        text = Text(decoded(_scanned(opened), document.name), document.name)
    return read_text(text, base, lambda label: label or f"n3_{next(numbers)}", skip_refused)


def decoded(data: bytes, name: str) -> str:
    """Return the text of a document.

    Raises:
        LoadError: It is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LoadError(f"{name}, line {line}: the byte {data[error.start]:#04x} is not UTF-8") from None


def read_text(text: Text, base: str | None, label: Callable[[str | None], str], skip_refused: bool) -> N3Document:
    """Return the rules and triples of a text, as `read` does; `label` assigns the labels of blank nodes (see `n3_syntax.parse`)."""
    document = parse(text, base, label)
    rules: list[Rule] = []
    triples: list[Triple] = []
    refused: list[UnsupportedError] = []
    for statement in document.statements:
        try:
            if statement.predicate in IMPLICATIONS:
                rules += rules_of(statement, text)
            else:
                triples += _facts(statement, label)
        except Refused as error:
            refused.append(UnsupportedError(str(error), text.span(statement.start)))
            if not skip_refused:
                raise refused[-1] from None
    return N3Document(Program(tuple(dict.fromkeys(rules))), tuple(triples), tuple(refused), document.prefixes)


# ------------------------------------------------------------------------------------------------- documents among others of RDF


def has_formulas(opened: OpenDocument) -> bool:
    """Return whether a document has formulas, and so may have rules. Reads the document into memory."""
    data = _scanned(opened)
    opened.stream = io.BytesIO(data)
    return b"{" in data


def _scanned(opened: OpenDocument) -> bytes:
    """Return the whole document, checked against its bounds."""
    return Scanned(opened.stream, opened.document, N3, by_lines=False).read()


def read_n3(opened: OpenDocument, reading: Reading) -> Iterator[Batch]:
    """Yield the triples of a document; add its rules to the sink, and pass on its prefixes.

    Raises:
        LoadError: The document is not N3, or has rules and there is no sink.
        UnsupportedError: As `read_text`.
    """
    document, scope, rules = opened.document, reading.scope_of(opened), reading.rules
    text = Text(decoded(opened.stream.read(), document.name), document.name)

    def label(written: str | None) -> str:
        return scope.fresh() if written is None else scope.written(written)

    found = read_text(text, reading.base, label, rules is not None and rules.skips_refused)
    if rules is not None:
        rules.rules += found.program.rules
        rules.refused += found.refused
    elif found.program.rules:
        raise LoadError("the document contains a rule, and only triples can be read here", found.program.rules[0].origin.span)
    if reading.prefixes is not None:
        for prefix, namespace in found.prefixes.items():
            reading.prefixes(prefix, namespace)
    texts = (text_from_term(term) for triple in found.triples for term in triple)
    while batch := list(itertools.islice(texts, 3 * reading.block)):
        yield reading.dictionary.encode_texts(batch).reshape(-1, 3), None


# ---------------------------------------------------------------------------------------------------------------------- facts


def _facts(statement: N3Statement, label: Callable[[str | None], str]) -> Iterator[Triple]:
    """Yield the triples of a statement outside of rules: the statement itself and those of its lists."""
    lists: list[Triple] = []

    def term(node: N3Term) -> Term:
        if isinstance(node, Variable):
            raise Refused(f"the variable {node} is outside of a rule")
        if isinstance(node, Formula):
            raise Refused("a formula outside of a rule is quotation, which RDF cannot express")
        if not isinstance(node, ListTerm):
            return node
        head: Term = RDF.nil
        for item in reversed(node.items):
            cell = BlankNode(label(None))
            lists.extend(((cell, RDF.first, term(item)), (cell, RDF.rest, head)))
            head = cell
        return head

    subject, predicate, object = (term(node) for node in (statement.subject, statement.predicate, statement.object))
    if isinstance(subject, Literal):
        raise Refused(f"only N3 allows a literal as a subject, RDF does not: {subject}")
    if not isinstance(predicate, IRI):
        raise Refused(f"the predicate {predicate} is not an IRI")
    yield subject, predicate, object
    yield from lists
