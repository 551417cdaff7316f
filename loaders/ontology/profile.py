"""The border between OWL 2 RL and the rest of OWL 2: what rules can express of an axiom, and what is lost.

A class expression occurs as a subclass (its members are recognised) or as a superclass (its members have consequences). Each
constructor is expressible in only one of these positions, or in part. Rules cannot express a superclass that requires an anonymous
individual or a choice, nor a subclass whose members cannot be recognised.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.loaders.ontology.axiom_texts import Texts, brief, call
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    DatatypeRestriction,
    Definition,
    DisjointClasses,
    DisjointUnion,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasSelf,
    HasValue,
    IntersectionOf,
    OneOf,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
    at_least,
    at_most,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.rules.swrl import ClassAtom, PropertyAtom, SwrlAtom, SwrlRule
from kg_reasoner.terms import IRI, OWL, BlankNode, Term

__all__ = ["AxiomWarning", "Expressed", "warnings_of"]

_DEEPEST: Final = 100
"""The most expressions inside each other that are looked at."""
_NOWHERE: Final = sys.maxsize
_TOP: Final = frozenset({OWL.topObjectProperty, OWL.topDataProperty})
_UNIVERSAL: Final = frozenset(name.value for name in (*_TOP, OWL.Thing))


@dataclass(slots=True, unsafe_hash=True)
class AxiomWarning:
    """An axiom that rules cannot fully express."""

    axiom: str
    """The axiom in functional-style syntax (or the malformed triple)."""
    reason: str
    """The part that is lost, and the reason."""
    translated: str = ""
    """The part that was translated, in functional-style syntax; empty if there is no separate part."""

    def __str__(self) -> str:
        return f"{self.axiom}: {self.reason}" + (f"; translated is: {self.translated}" if self.translated else "")


@dataclass(slots=True, unsafe_hash=True)
class Expressed:
    """The part of a class expression that rules express in one position: `text` is None for none; `losses` lists the rest."""

    text: str | None
    losses: tuple[str, ...] = ()


def warnings_of(ontology: Ontology, texts: Texts, *, translates_rules: bool = True) -> Iterator[AxiomWarning]:
    """Yield a warning for each malformed triple and for each axiom that rules cannot fully express.

    Without `translates_rules`, SWRL rules are lost as a whole: rule sets that read axioms as data have no rules for them.
    """
    for problem in ontology.problems:
        yield AxiomWarning(texts.triple(problem.triple), problem.reason)
    judge = _Judge(ontology, texts)
    if ontology.rules:
        yield from _warnings_of_rules(judge, translates_rules)
    for axiom in ontology.axioms:
        if judge.is_plain(axiom):
            continue
        verdict = judge.judge(axiom)
        if verdict.losses:
            losses, kept = "; ".join(dict.fromkeys(verdict.losses)), " and ".join(dict.fromkeys(verdict.kept))
            yield AxiomWarning(texts.axiom(axiom), losses, kept)


def _warnings_of_rules(judge: _Judge, translates_rules: bool) -> Iterator[AxiomWarning]:
    from kg_reasoner.loaders.ontology.swrl_texts import rule_text

    for rule in judge.ontology.rules:
        verdict = judge.judge_rule(rule) if translates_rules else _Verdict([_RULE])
        if verdict.losses:
            yield AxiomWarning(rule_text(rule, judge.texts), "; ".join(dict.fromkeys(verdict.losses)), "".join(verdict.kept))


@dataclass(slots=True, unsafe_hash=True)
class _Verdict:
    losses: Sequence[str] = ()
    kept: Sequence[str] = ()


class _Judge:
    def __init__(self, ontology: Ontology, texts: Texts) -> None:
        self.ontology = ontology
        self.texts = texts
        self._open: dict[tuple[str, Term], int] = {}
        self._known: dict[tuple[str, Term], Expressed] = {}
        self._cut = _NOWHERE

    # ---- axioms

    def is_plain(self, axiom: Axiom) -> bool:
        """Return whether an axiom is between two names, of which nothing can be lost: those that most ontologies have most of."""
        match axiom:
            case (
                SubClassOf(IRI() as name, IRI() as cls)
                | PropertyDomain(IRI() as name, IRI() as cls)
                | PropertyRange(IRI() as name, IRI() as cls)
            ):
                return name.value not in _UNIVERSAL and not (self.ontology.is_datatype(name) or self.ontology.is_datatype(cls))
            case SubPropertyOf(IRI() as name, _):
                return name.value not in _UNIVERSAL
        return False

    def judge(self, axiom: Axiom) -> _Verdict:
        match axiom:
            case SubClassOf(sub, sup):
                return self.inclusion(sub, sup)
            case EquivalentClasses(first, second):
                return _both(self.inclusion(first, second), self.inclusion(second, first))
            case Definition(name, expression):
                return self.definition(name, expression)
            case DisjointClasses(classes):
                return self.disjoint([self.left(cls) for cls in classes])
            case DisjointUnion(whole, parts):
                return self.disjoint_union(whole, parts)
            case ClassAssertion(cls, individual):
                return self.wrapped(self.right(cls), lambda text: call("ClassAssertion", text, self.texts.name(individual)))
            case HasKey(cls, keys):
                return self.wrapped(self.left(cls), lambda text: call("HasKey", text, *self.texts.properties(keys)))
            case PropertyDomain(property, domain):
                part = self.right(domain)
                verdict = self.wrapped(part, lambda text: call("ObjectPropertyDomain", self.texts.property(property), text))
                return _both(self.asserted_only(axiom, property), verdict)
            case PropertyRange(property, range):
                part = self.right(range)
                verdict = self.wrapped(part, lambda text: call("ObjectPropertyRange", self.texts.property(property), text))
                return _both(self.asserted_only(axiom, property), verdict)
            case Characteristic(OWL.ReflexiveProperty, property):
                named = self.texts.property(property)
                return _Verdict([f"that every individual is related to itself by {named} is beyond OWL 2 RL"])
            case Characteristic(_, property):
                return self.asserted_only(axiom, property)
            case SubPropertyOf(sub, _):
                return self.asserted_only(axiom, sub)
            case EquivalentProperties(first, second):
                return self.asserted_only(axiom, first, second)
            case PropertyChain(chain):
                return self.asserted_only(axiom, *chain)
        return _Verdict()

    def judge_rule(self, rule: SwrlRule) -> _Verdict:
        """Return the judgement of a SWRL rule: parts of its classes may be lost; a rejected rule is lost as a whole."""
        from kg_reasoner.loaders.ontology.swrl_clauses import refusal

        refused = refusal(rule, self.ontology)
        if refused is not None:
            return _Verdict([refused])
        body = [self.in_rule(atom, self.left) for atom in rule.body]
        head = [self.in_rule(atom, self.right) for atom in rule.head]
        losses = [loss for part in (*body, *head) for loss in part.losses]
        kept = [part.text for part in head if part.text is not None]
        if not losses or not kept or any(part.text is None for part in body):
            return _Verdict(losses)
        return _Verdict(losses, [f"{' ^ '.join(str(part.text) for part in body)} -> {' ^ '.join(kept)}"])

    def in_rule(self, atom: SwrlAtom, side: Callable[[Term], Expressed]) -> Expressed:
        """Return the judgement of an atom of a SWRL rule: only a class or data range can exceed rules."""
        from kg_reasoner.loaders.ontology.swrl_texts import atom_text

        text = atom_text(atom, self.texts)
        match atom:
            case ClassAtom(node, argument) if isinstance(node, BlankNode):
                part = side(node)
                return Expressed(part.text and f"({part.text})({argument})", part.losses)
            case PropertyAtom(property):
                return Expressed(text, tuple(self.unseen(property)))
        return Expressed(text)

    def asserted_only(self, axiom: Axiom, *properties: Term) -> _Verdict:
        """Return the judgement of an axiom whose rules match only asserted triples of its properties, which for a universal
        property is incomplete.
        """
        losses = [loss for property in properties for loss in self.unseen(property)]
        return _Verdict(losses, [self.texts.axiom(axiom)] if losses else [])

    def unseen(self, property: Term) -> list[str]:
        if property in _TOP:
            return [f"{self.texts.name(property)} holds between all individuals (or values); rules see asserted triples of it only"]
        return []

    def inclusion(self, sub: Term, sup: Term) -> _Verdict:
        if sub == OWL.Nothing or sup == OWL.Thing or sub == sup:
            return _Verdict()
        if self.ontology.is_datatype(sub) or self.ontology.is_datatype(sup):
            return _Verdict([_DATATYPE_AXIOM])
        return self.subclass(self.left(sub), self.right(sup))

    def subclass(self, sub: Expressed, sup: Expressed) -> _Verdict:
        losses = (*sub.losses, *sup.losses)
        if not losses:
            return _Verdict((), [call("SubClassOf", str(sub.text), str(sup.text))])
        if sub.text is None or sup.text is None:
            return _Verdict(losses)
        return _Verdict(losses, [call("SubClassOf", sub.text, sup.text)])

    def definition(self, name: Term, expression: ClassExpression) -> _Verdict:
        if self.ontology.is_datatype(name):
            return _Verdict([_DATATYPE_AXIOM])
        named, text = Expressed(self.texts.name(name)), self.texts.expression(expression)
        return _both(self.subclass(named, self.right_of(expression, text)), self.subclass(self.left_of(expression, text), named))

    def disjoint(self, parts: Sequence[Expressed]) -> _Verdict:
        losses = [loss for part in parts for loss in part.losses]
        kept = [part.text for part in parts if part.text is not None]
        return _Verdict(losses, [call("DisjointClasses", *kept)] if len(kept) > 1 else [])

    def disjoint_union(self, whole: Term, parts: Sequence[Term]) -> _Verdict:
        named = self.texts.node(whole)
        choice = f"that each member of {named} belongs to one of the classes is a choice, which rules cannot express"
        lefts = [self.left(part) for part in parts]
        above = [self.subclass(part, self.right(whole)) for part in lefts]
        return _both(_Verdict([choice]), *above, self.disjoint(lefts))

    @staticmethod
    def wrapped(part: Expressed, wrap: Callable[[str], str]) -> _Verdict:
        return _Verdict(part.losses, [] if part.text is None else [wrap(part.text)])

    # ---- classes on the left: whose members are recognised?

    def left(self, node: Term) -> Expressed:
        if node == OWL.Thing:
            return Expressed(
                "owl:Thing", ("as a subclass owl:Thing matches its asserted members and those of declared classes only",)
            )
        if not isinstance(node, BlankNode):
            return Expressed(self.texts.name(node))
        return self.of_node("left", node, self.left_of, self.some_parts)

    def left_of(self, expression: ClassExpression, text: str) -> Expressed:
        match expression:
            case IntersectionOf(operands):
                return self.all_parts(expression, [self.left(operand) for operand in operands])
            case UnionOf(operands):
                return self.some_parts(expression, [self.left(operand) for operand in operands])
            case OneOf():
                return Expressed(text)
            case HasSelf(property) | HasValue(property):
                return Expressed(text, tuple(self.unseen(property)))
            case SomeValuesFrom(property, filler):
                part = Expressed("owl:Thing") if filler == OWL.Thing else self.left(filler)
                return self.restricted(f"{self.texts.kind(property, filler)}SomeValuesFrom", property, part)
            case Cardinality("Min", 1, property, None):
                return Expressed(text, tuple(self.unseen(property)))
            case Cardinality("Min", 1, property, filler) if filler is not None:
                part = Expressed("owl:Thing") if filler == OWL.Thing else self.left(filler)
                return self.restricted(f"{self.texts.kind(property, filler)}MinCardinality 1", property, part)
        return Expressed(None, (f"{text} as a subclass: rules cannot recognise its members",))

    # ---- classes on the right: what follows for their members?

    def right(self, node: Term) -> Expressed:
        if self.ontology.is_datatype(node) and isinstance(node, IRI):
            if node.value in DATATYPES:
                return Expressed(self.texts.name(node))
            return Expressed(None, (f"which values {self.texts.name(node)} has is not known, so none is checked",))
        if not isinstance(node, BlankNode):
            return Expressed(self.texts.name(node))
        return self.of_node("right", node, self.right_of, self.conjunction)

    def right_of(self, expression: ClassExpression, text: str) -> Expressed:
        match expression:
            case IntersectionOf(operands):
                return self.conjunction(expression, [self.right(operand) for operand in operands])
            case HasValue(_) | HasSelf(_):
                return Expressed(text)
            case ComplementOf(operand):
                part = self.left(operand)
                return Expressed(part.text and call(f"{self.texts.kind(filler=operand)}ComplementOf", part.text), part.losses)
            case AllValuesFrom(property, filler):
                return self.restricted(f"{self.texts.kind(property, filler)}AllValuesFrom", property, self.right(filler))
            case Cardinality():
                return self.right_of_cardinality(expression, text)
            case SomeValuesFrom():
                return Expressed(None, (f"{text} as a superclass requires an anonymous individual, which rules cannot create",))
            case UnionOf((operand,)):
                return self.some_parts(expression, [self.right(operand)])
            case UnionOf() | OneOf():
                return Expressed(None, (f"{text} as a superclass is a choice, which rules cannot express",))
            case DatatypeRestriction():
                return Expressed(None, (f"{text}: values are not checked against facets, which are beyond OWL 2 RL",))

    def right_of_cardinality(self, expression: Cardinality, text: str) -> Expressed:
        losses = []
        upper = at_most(expression)
        if at_least(expression):
            losses.append(f"{text} as a superclass requires anonymous individuals, which rules cannot create")
        if upper is None:
            return Expressed(None if losses else text, tuple(losses))
        if upper > 1:
            losses.append(f"{text} as a superclass: which of the values are equal is a choice, which rules cannot express")
            return Expressed(None, tuple(losses))
        property, filler = expression.property, expression.filler
        if filler is None or filler == OWL.Thing:
            return Expressed(self.texts.expression(Cardinality("Max", upper, property, filler)), tuple(losses))
        kept = self.restricted(f"{self.texts.kind(property, filler)}MaxCardinality {upper}", property, self.left(filler))
        return Expressed(kept.text, (*losses, *kept.losses))

    # ---- parts of expressions

    def of_node(
        self,
        side: str,
        node: Term,
        judge: Callable[[ClassExpression, str], Expressed],
        join: Callable[[ClassExpression, list[Expressed]], Expressed],
    ) -> Expressed:
        """Return the judgement of a blank node with all its expressions, each of which defines it."""
        expressions = self.ontology.expressions.get(node, ())
        if not expressions:
            return Expressed(None, (f"{self.texts.name(node)} stands for a class and has no expression",))
        key = side, node
        if key in self._known:
            return self._known[key]
        if key in self._open or len(self._open) >= _DEEPEST:
            # What is lost further down is found where the cycle began; expressions beyond the maximal depth are not examined.
            self._cut = min(self._cut, self._open.get(key, _NOWHERE))
            return Expressed(self.texts.name(node))
        depth = self._open[key] = len(self._open)
        parts = [judge(expression, self.texts.expression_of(node, expression)) for expression in expressions]
        del self._open[key]
        found = parts[0] if len(parts) == 1 else join(IntersectionOf((node,)), parts)
        if self._cut >= depth:
            self._cut = _NOWHERE
            self._known[key] = found
        return found

    def all_parts(self, expression: ClassExpression, parts: list[Expressed]) -> Expressed:
        """Return the judgement of an expression that is lost as a whole if one part is lost."""
        losses = tuple(dict.fromkeys(loss for part in parts for loss in part.losses))
        if any(part.text is None for part in parts):
            return Expressed(None, losses)
        return self.conjunction(expression, parts)

    def conjunction(self, expression: ClassExpression, parts: list[Expressed]) -> Expressed:
        return self.joined("IntersectionOf", expression, parts)

    def some_parts(self, expression: ClassExpression, parts: list[Expressed]) -> Expressed:
        return self.joined("UnionOf", expression, parts)

    def joined(self, name: str, expression: ClassExpression, parts: list[Expressed]) -> Expressed:
        """Return the judgement of an expression made of its remaining parts."""
        losses = tuple(dict.fromkeys(loss for part in parts for loss in part.losses))
        texts = [part.text for part in parts if part.text is not None]
        operand = expression.operands[0] if isinstance(expression, IntersectionOf | UnionOf) else None
        if len(parts) > 1 and len(texts) == 1:
            return Expressed(texts[0], losses)
        return Expressed(brief(call(f"{self.texts.kind(filler=operand)}{name}", *texts)) if texts else None, losses)

    def restricted(self, name: str, property: Term, part: Expressed) -> Expressed:
        function, _, number = name.partition(" ")
        before = (number,) if number else ()
        text = None if part.text is None else brief(call(function, *before, self.texts.property(property), part.text))
        return Expressed(text, (*self.unseen(property), *part.losses))


_RULE: Final = "this rule set reads no SWRL rules; owl2rl translates them"
_DATATYPE_AXIOM: Final = "definitions of datatypes and inclusions between them are beyond OWL 2 RL"


def _both(*verdicts: _Verdict) -> _Verdict:
    """Return the judgement of several axioms in one, with the losses and the remaining text of each."""
    return _Verdict(
        [loss for verdict in verdicts for loss in verdict.losses], [text for verdict in verdicts for text in verdict.kept]
    )
