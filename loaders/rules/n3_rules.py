"""Translation of N3 implications to rules (for its limits, see `rdf.n3`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import Span
from kg_reasoner.loaders.rules.builtins import Builtin, Refused, arranged, condition, equality, one_of
from kg_reasoner.loaders.rules.n3_builtins import NAMESPACES, builtins_of, is_builtin, short_name
from kg_reasoner.loaders.rules.n3_syntax import Formula, ListTerm, N3Statement, N3Term, Text
from kg_reasoner.loaders.rules.variables import named_after
from kg_reasoner.program import FALSE, Argument, Atom, Call, Origin, Rule, Variable, triple, variables_of
from kg_reasoner.terms import IRI, RDF, BlankNode, literal

__all__ = ["IMPLICATIONS", "rules_of"]

_LOG: Final = NAMESPACES["log"]
_LIST: Final = NAMESPACES["list"]
_IMPLIES: Final = IRI(f"{_LOG}implies")
_IS_IMPLIED_BY: Final = IRI(f"{_LOG}isImpliedBy")
IMPLICATIONS: Final = (_IMPLIES, _IS_IMPLIED_BY)
"""The predicates of rules."""
_IN, _MEMBER = (IRI(f"{_LIST}{name}") for name in ("in", "member"))
_PARTS_OF_STORED: Final = {IRI(f"{_LIST}first"): RDF.first, IRI(f"{_LIST}rest"): RDF.rest}
"""The predicates with which rules refer to lists in data."""
_PARTS_OF_WRITTEN: Final[dict[IRI, Callable[[Sequence[N3Term]], N3Term]]] = {
    IRI(f"{_LIST}first"): lambda items: items[0],
    IRI(f"{_LIST}last"): lambda items: items[-1],
    IRI(f"{_LIST}length"): lambda items: literal(len(items)),
}
"""Relations over lists that the rules write out."""
_MEMBERSHIP: Final = "_n3_member"
"""The predicate of the members of lists in data."""


def rules_of(statement: N3Statement, text: Text) -> list[Rule]:
    """Return the rules for an implication: one for each conclusion, and the rules for lists in data.

    Raises:
        Refused: Rules cannot express it.
    """
    return list(_N3RuleReader(statement, text).rules())


def _membership_rules() -> Iterator[Rule]:
    """Yield rules that derive the members of a list: the first item, and the members of the rest."""
    cells, rest, item = Variable("list"), Variable("rest"), Variable("item")
    head = Atom(_MEMBERSHIP, (cells, item))
    origin = Origin("list:member")
    yield Rule(head, (triple(cells, RDF.first, item),), origin)
    yield Rule(head, (triple(cells, RDF.rest, rest), Atom(_MEMBERSHIP, (rest, item))), origin)


@dataclass(slots=True)
class _N3RuleReader:
    """Reads one implication."""

    statement: N3Statement
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

    def formula(self, node: N3Term) -> Sequence[N3Statement]:
        """Return the statements of a side of the rule."""
        if isinstance(node, Formula):
            return node.statements
        if node == literal(True):
            return ()
        raise Refused(f"{_shown(node)} is not a formula: a rule is {{ ... }} => {{ ... }}")

    # ---- bodies

    def read(self, statement: N3Statement) -> None:
        predicate, subject = statement.predicate, statement.subject
        if predicate in IMPLICATIONS:
            raise Refused("rules inside rules are not supported")
        if not isinstance(predicate, IRI) or not is_builtin(predicate):
            self.match(statement, predicate)
        elif predicate in (_IN, _MEMBER):
            self.read_membership(statement)
        elif predicate in _PARTS_OF_WRITTEN and isinstance(subject, ListTerm):
            name, part = short_name(predicate), _PARTS_OF_WRITTEN[predicate](subject.items)
            self.builtins.append(equality(name, self.value(part, name), self.value(statement.object, name), same="SAMETERM"))
        elif predicate in _PARTS_OF_STORED:
            self.match(statement, _PARTS_OF_STORED[predicate])
        else:
            self.read_builtin(predicate, statement)

    def match(self, statement: N3Statement, predicate: N3Term) -> None:
        """Add a statement to match with facts, under this predicate."""
        terms = self.argument(statement.subject), self.argument(predicate), self.argument(statement.object)
        self.atoms.append(triple(*terms, self.span(statement)))

    def read_builtin(self, predicate: IRI, statement: N3Statement) -> None:
        name = short_name(predicate)
        subject: Sequence[Argument] | Argument
        if isinstance(statement.subject, ListTerm):
            subject = [self.value(item, name) for item in statement.subject.items]
        else:
            subject = self.value(statement.subject, name)
        self.builtins += builtins_of(predicate, subject, self.value(statement.object, name))

    def read_membership(self, statement: N3Statement) -> None:
        """Read ``?x list:in ?list`` and ``?list list:member ?x``, for a list in the data or in the rule."""
        item, items = statement.subject, statement.object
        if statement.predicate == _MEMBER:
            item, items = items, item
        if isinstance(items, ListTerm):
            values = tuple(self.value(value, "list:in") for value in items.items)
            same = [Call("SAMETERM", (self.argument(item), value)) for value in values]
            self.builtins.append(condition("list:in", one_of(same)))
        else:
            self.atoms.append(Atom(_MEMBERSHIP, (self.argument(items), self.argument(item)), self.span(statement)))

    def value(self, node: N3Term, builtin: str) -> Argument:
        """Return an argument of a built-in."""
        if isinstance(node, ListTerm | Formula):
            raise Refused(f"{builtin} is used with {_shown(node)}, which no function accepts there")
        return self.argument(node)

    def argument(self, node: N3Term) -> Argument:
        """Return a term of the body; for a list, add atoms that match lists of the data."""
        if isinstance(node, Formula):
            raise Refused("a formula inside a rule is quotation, which RDF cannot express")
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

    def span(self, statement: N3Statement) -> Span:
        return self.text.span(statement.start)

    # ---- heads

    def conclusion(self, statement: N3Statement) -> Atom:
        predicate = statement.predicate
        if isinstance(predicate, IRI) and is_builtin(predicate):
            raise Refused(
                f"the built-in {short_name(predicate)} is in the head of a rule: built-ins are computed and cannot be concluded"
            )
        terms = (statement.subject, predicate, statement.object)
        for term in terms:
            if isinstance(term, BlankNode):
                raise Refused(
                    "a blank node in the head of a rule would be a new individual for each instance, which rules cannot create; "
                    "use a variable of the body, or an IRI"
                )
            if isinstance(term, ListTerm | Formula):
                raise Refused(f"{_shown(term)} in the head of a rule would have to be created, which rules cannot do")
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
