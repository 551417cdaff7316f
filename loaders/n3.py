"""N3: rules ``{ ?x a :Man } => { ?x a :Mortal }`` to rules of ours, and everything outside of formulas to triples.

* ``=>``, ``<=``, ``log:implies`` and ``log:isImpliedBy`` between formulas are rules; ``false`` on the right makes a constraint.
* Variables are ``?x`` and what ``@forAll`` declares. Blank nodes and ``@forSome`` in a body are variables, too. In a head they
  would be new individuals for each instance, which rules do not make: such rules are refused.
* Lists in a body match lists of the data, which are rdf:first and rdf:rest there. Lists before built-ins are their arguments.
* Built-ins are computed, see `n3_builtins`; ``list:in``, ``list:member``, ``list:first`` and ``list:rest`` look into lists;
  ``list:last`` and ``list:length`` only into those that are written out.
* Anything else that takes formulas (quotation, rules about rules, ``log:includes``) is refused.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import LoadError, Span, UnsupportedError
from kg_reasoner.loaders.blank import BlankScope
from kg_reasoner.loaders.builtins import Builtin, Refused, arranged, condition, equality
from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.loaders.formats import N3
from kg_reasoner.loaders.n3_builtins import NAMESPACES, builtins_of, is_builtin, short_name
from kg_reasoner.loaders.n3_syntax import Formula, ListTerm, N3Term, Statement, Text, parse
from kg_reasoner.loaders.sources import OpenDocument, document_of
from kg_reasoner.loaders.variables import named_after
from kg_reasoner.program import FALSE, Argument, Atom, Call, Origin, Program, Rule, Variable, triple, variables_of
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal, Term, Triple, literal

if TYPE_CHECKING:
    from kg_reasoner.loaders.statements import TermDictionary
    from kg_reasoner.loaders.syntax import Batch

__all__ = ["N3Document", "RuleSink", "has_formulas", "read", "read_n3", "read_text"]

_LOG: Final = NAMESPACES["log"]
_LIST: Final = NAMESPACES["list"]
_IMPLIES: Final = IRI(f"{_LOG}implies")
_IS_IMPLIED_BY: Final = IRI(f"{_LOG}isImpliedBy")
_IN, _MEMBER = (IRI(f"{_LIST}{name}") for name in ("in", "member"))
_PARTS_OF_STORED: Final = {IRI(f"{_LIST}first"): RDF.first, IRI(f"{_LIST}rest"): RDF.rest}
"""What rules know of lists in data."""
_PARTS_OF_WRITTEN: Final[dict[N3Term, Callable[[Sequence[N3Term]], N3Term]]] = {
    IRI(f"{_LIST}first"): lambda items: items[0],
    IRI(f"{_LIST}last"): lambda items: items[-1],
    IRI(f"{_LIST}length"): lambda items: literal(len(items)),
}
"""What is known of lists that are written out."""
_MEMBERSHIP: Final = "_n3_member"
"""The predicate of the members of lists in data."""


@dataclass(frozen=True, slots=True)
class N3Document:
    """What an N3 document says: its rules, its triples, and the rules that were refused and skipped."""

    program: Program
    triples: tuple[Triple, ...]
    refused: tuple[UnsupportedError, ...]


def read(source: Any, base: str | None = None, *, skip_refused: bool = False) -> N3Document:
    """The rules and triples of an N3 document: a path, bytes, or an open file.

    Args:
        source: the document.
        base: the IRI against which relative IRIs are resolved, if the document declares no base.
        skip_refused: keep what was refused in `N3Document.refused` instead of raising it.

    >>> found = read(b"@prefix : <http://example.org/> . { ?x a :Man } => { ?x a :Mortal } . :socrates a :Man .")
    >>> len(found.program.rules), len(found.triples)
    (1, 1)

    Raises:
        LoadError: there is no such document, or it is not N3.
        UnsupportedError: a rule has something that rules of ours cannot say; the message names it.
    """
    document = document_of(source, N3)
    if document is None:
        raise LoadError(f"{source!r} is nothing to read", hint="an N3 document is a path, bytes, or an open file")
    numbers = itertools.count(1)
    with document.open() as opened:
        text = Text(decoded(opened.stream.read(), document.name), document.name)
    return read_text(text, base, lambda label: label or f"n3_{next(numbers)}", skip_refused)


def decoded(data: bytes, name: str) -> str:
    """The text of a document.

    Raises:
        LoadError: it is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LoadError(f"{name}, line {line}: the byte {data[error.start]:#04x} is no UTF-8") from None


def read_text(text: Text, base: str | None, label: Callable[[str | None], str], skip_refused: bool) -> N3Document:
    """As `read`, of a text; `label` gives the labels of blank nodes (see `n3_syntax.parse`)."""
    document = parse(text, base, label)
    rules: list[Rule] = []
    triples: list[Triple] = []
    refused: list[UnsupportedError] = []
    for statement in document.statements:
        try:
            if statement.predicate in (_IMPLIES, _IS_IMPLIED_BY):
                rules += _RuleReader(statement, text).rules()
            else:
                triples += _facts(statement, label)
        except Refused as error:
            refused.append(UnsupportedError(str(error), text.span(statement.start)))
            if not skip_refused:
                raise refused[-1] from None
    return N3Document(Program(tuple(dict.fromkeys(rules))), tuple(triples), tuple(refused))


# ------------------------------------------------------------------------------------------------- documents among others of RDF


@dataclass(slots=True)
class RuleSink:
    """Where the rules of documents go that are read for their triples; with `skips_refused`, the refused ones, too."""

    skips_refused: bool = False
    rules: list[Rule] = field(default_factory=list)
    refused: list[UnsupportedError] = field(default_factory=list)


def has_formulas(opened: OpenDocument) -> bool:
    """Whether a document has formulas, and so may have rules. It is read into memory."""
    data = opened.stream.read()
    opened.stream = io.BytesIO(data)
    return b"{" in data


def read_n3(
    opened: OpenDocument, base: str | None, dictionary: TermDictionary, scope: BlankScope, block: int, rules: RuleSink | None
) -> Iterator[Batch]:
    """The triples of a document, at most `block` at a time; its rules go into the sink.

    Raises:
        LoadError: the document is not N3, or has rules and there is no sink.
        UnsupportedError: as `read_text`.
    """
    document = opened.document
    text = Text(decoded(opened.stream.read(), document.name), document.name)

    def label(written: str | None) -> str:
        return scope.fresh() if written is None else scope.written(written)

    found = read_text(text, base, label, rules is not None and rules.skips_refused)
    if rules is not None:
        rules.rules += found.program.rules
        rules.refused += found.refused
    elif found.program.rules:
        raise LoadError("a rule stands where only triples are read", found.program.rules[0].origin.span)
    texts = (text_from_term(term) for triple in found.triples for term in triple)
    while batch := list(itertools.islice(texts, 3 * block)):
        yield dictionary.encode_texts(batch).reshape(-1, 3), None


# ---------------------------------------------------------------------------------------------------------------------- facts


def _facts(statement: Statement, label: Callable[[str | None], str]) -> Iterator[Triple]:
    """The triples of a statement outside of rules: one, and those of its lists."""
    lists: list[Triple] = []

    def term(node: N3Term) -> Term:
        if isinstance(node, Variable):
            raise Refused(f"the variable {node} stands outside of a rule")
        if isinstance(node, Formula):
            raise Refused("a formula outside of a rule is quotation, which RDF cannot say")
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
        raise Refused(f"the predicate {predicate} is no IRI")
    yield subject, predicate, object
    yield from lists


# ---------------------------------------------------------------------------------------------------------------------- rules


def _membership_rules() -> Iterator[Rule]:
    """What is a member of a list: the first item, and the members of the rest."""
    cells, rest, item = Variable("list"), Variable("rest"), Variable("item")
    head = Atom(_MEMBERSHIP, (cells, item))
    origin = Origin("list:member")
    yield Rule(head, (triple(cells, RDF.first, item),), origin)
    yield Rule(head, (triple(cells, RDF.rest, rest), Atom(_MEMBERSHIP, (rest, item))), origin)


@dataclass(slots=True)
class _RuleReader:
    """Reads one implication."""

    statement: Statement
    text: Text
    atoms: list[Atom] = field(default_factory=list)
    builtins: list[Builtin] = field(default_factory=list)
    blank: dict[BlankNode, Variable] = field(default_factory=dict)
    taken: dict[Variable, None] = field(default_factory=dict)

    def rules(self) -> Iterator[Rule]:
        body, head = self.statement.subject, self.statement.object
        if self.statement.predicate == _IS_IMPLIED_BY:
            body, head = head, body
        self.taken.update(dict.fromkeys((*_variables(body), *_variables(head))))
        for statement in self.formula(body):
            self.read(statement)
        parts, _ = arranged(self.builtins, (variable for atom in self.atoms for variable in variables_of(atom)))
        conditions = (*dict.fromkeys(self.atoms), *parts)
        origin = Origin(span=self.text.span(self.statement.start))
        if head == literal(False):
            yield Rule(Atom(FALSE, ()), conditions, origin)
        else:
            for statement in self.formula(head):
                yield Rule(self.conclusion(statement), conditions, origin)
        if any(atom.predicate == _MEMBERSHIP for atom in self.atoms):
            yield from _membership_rules()

    def formula(self, node: N3Term) -> Sequence[Statement]:
        """The statements of a side of the rule."""
        if isinstance(node, Formula):
            return node.statements
        if node == literal(True):
            return ()
        raise Refused(f"{_shown(node)} is no formula: a rule is {{ ... }} => {{ ... }}")

    # ---- bodies

    def read(self, statement: Statement) -> None:
        predicate = statement.predicate
        if predicate in (_IMPLIES, _IS_IMPLIED_BY):
            raise Refused("a rule inside a rule is more than rules of ours can say")
        if predicate in _PARTS_OF_WRITTEN and isinstance(statement.subject, ListTerm):
            part = _PARTS_OF_WRITTEN[predicate](statement.subject.items)
            name = short_name(predicate)
            self.builtins.append(equality(name, self.value(part, name), self.value(statement.object, name), same="SAMETERM"))
            return
        if predicate in _PARTS_OF_STORED:
            predicate = _PARTS_OF_STORED[predicate]
        elif predicate in (_IN, _MEMBER):
            self.read_membership(statement)
            return
        elif isinstance(predicate, IRI) and is_builtin(predicate):
            self.read_builtin(predicate, statement)
            return
        terms = self.argument(statement.subject), self.argument(predicate), self.argument(statement.object)
        self.atoms.append(triple(*terms, self.span(statement)))

    def read_builtin(self, predicate: IRI, statement: Statement) -> None:
        name = short_name(predicate)
        subject: Sequence[Argument] | Argument
        if isinstance(statement.subject, ListTerm):
            subject = [self.value(item, name) for item in statement.subject.items]
        else:
            subject = self.value(statement.subject, name)
        self.builtins += builtins_of(predicate, subject, self.value(statement.object, name))

    def read_membership(self, statement: Statement) -> None:
        """``?x list:in ?list`` and ``?list list:member ?x``, of a list in the data, or one that is written out."""
        item, items = statement.subject, statement.object
        if statement.predicate == _MEMBER:
            item, items = items, item
        if isinstance(items, ListTerm):
            values = tuple(self.value(value, "list:in") for value in items.items)
            same = [Call("SAMETERM", (self.argument(item), value)) for value in values]
            holds = same[0]
            for other in same[1:]:
                holds = Call("||", (holds, other))
            self.builtins.append(condition("list:in", holds))
        else:
            self.atoms.append(Atom(_MEMBERSHIP, (self.argument(items), self.argument(item)), self.span(statement)))

    def value(self, node: N3Term, builtin: str) -> Argument:
        """What a built-in computes with."""
        if isinstance(node, ListTerm | Formula):
            raise Refused(f"{builtin} is used with {_shown(node)}, which no function of ours takes there")
        return self.argument(node)

    def argument(self, node: N3Term) -> Argument:
        """A term of the body; a list becomes atoms that match lists of the data."""
        if isinstance(node, Formula):
            raise Refused("a formula inside a rule is quotation, which RDF cannot say")
        if isinstance(node, BlankNode):
            if node not in self.blank:
                self.blank[node] = self.fresh("b")
            return self.blank[node]
        if not isinstance(node, ListTerm):
            return node
        rest: Argument = RDF.nil
        for item in reversed(node.items):
            cell = self.fresh("list")
            self.atoms += (triple(cell, RDF.first, self.argument(item)), triple(cell, RDF.rest, rest))
            rest = cell
        return rest

    def fresh(self, name: str) -> Variable:
        variable = named_after(name, self.taken)
        self.taken[variable] = None
        return variable

    def span(self, statement: Statement) -> Span:
        return self.text.span(statement.start)

    # ---- heads

    def conclusion(self, statement: Statement) -> Atom:
        predicate = statement.predicate
        if isinstance(predicate, IRI) and is_builtin(predicate):
            raise Refused(f"the built-in {short_name(predicate)} stands in the head of a rule: it is computed and not concluded")
        terms = (statement.subject, predicate, statement.object)
        for term in terms:
            if isinstance(term, BlankNode):
                raise Refused(
                    "a blank node in the head of a rule is a new individual for each instance, which rules do not make; "
                    "a variable of the body, or an IRI, can stand there"
                )
            if isinstance(term, ListTerm | Formula):
                raise Refused(f"{_shown(term)} in the head of a rule would have to be made anew, which rules do not do")
        return triple(*terms, self.span(statement))  # type: ignore[arg-type]


def _variables(node: N3Term) -> Iterator[Variable]:
    if isinstance(node, Variable):
        yield node
    elif isinstance(node, ListTerm):
        for item in node.items:
            yield from _variables(item)
    elif isinstance(node, Formula):
        for statement in node.statements:
            for term in (statement.subject, statement.predicate, statement.object):
                yield from _variables(term)


def _shown(node: N3Term) -> str:
    return "a list" if isinstance(node, ListTerm) else "a formula" if isinstance(node, Formula) else str(node)
