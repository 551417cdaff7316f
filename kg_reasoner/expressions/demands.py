"""Facts for rule sets that say which universal facts, those that hold of all terms, the user's rules look for.

According to the specification, every literal has all its types and differs from all others, and every term is the same as itself. A
rule set that derives these facts only where they are visible (``owl2rl-full``) has to know which of them the rules match. The
predicate ``asked_of(?name)`` says so: it holds for the classes that rules name, for all datatypes if a rule matches any class, for
owl:differentFrom if a rule names it, and for owl:sameAs if a rule matches it, as one by name or as any property. It also holds for
owl:sameAs if a rule may make triples of literals that occur in no other triple, if hidden triples are shown, and from the first
query in the rule language that matches it. Translated axioms of OWL and the rules of packaged rule sets do not count, because the
rule set already covers what they match; nor do the W3C's rules in a copy of such a rule set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.expressions.given_relations import ASKED_OF, DEMAND_PREDICATES, MERGED
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import TRIPLE, Atom, Rule, Variable, atoms_within, remembered
from kg_reasoner.terms import IRI, OWL, RDF, Literal, Term, literal

__all__ = ["BY_THE_BOOK", "asked_by", "demands", "looks_at_demands"]

BY_THE_BOOK: Final = regular_expression(r"(?:eq|prp|cls|cax|dt|scm)-|rdfs?[0-9D]|rdfs?-axioms")
"""The prefixes of the names of rules in OWL 2 Profiles and in RDF 1.1 Semantics."""

_BESIDES: Final = ("list/", "beyond/", "datatypes/")
"""The prefixes of the names of the other rules in rule sets."""

_TYPES: Final = frozenset(map(IRI, DATATYPES))


def demands(rules: Iterable[Rule], *, merges_equal_terms: bool, asked: Collection[Term] = ()) -> tuple[Rule, ...]:
    """Return the facts of `DEMAND_PREDICATES` as rules with empty bodies, or an empty result if no rule uses these predicates.

    Args:
        rules: The rules.
        merges_equal_terms: Whether equal terms are merged.
        asked: Further names that are asked about.

    >>> from kg_reasoner.language.parser import parse
    >>> program = parse("asked(?x) :- asked_of(?x) . aged(?x) :- age(?x, ?n), xsd:integer[?n] .")
    >>> [str(rule.head.terms[0]) for rule in demands(program.rules, merges_equal_terms=False)]
    ['<http://www.w3.org/2001/XMLSchema#integer>']
    """
    rules = tuple(rules)
    if not any(looks_at_demands(rule) for rule in rules):
        return ()
    copies = {_source(rule) for rule in rules if looks_at_demands(rule)}
    asking = (rule for rule in rules if not (_is_named_like_others(rule) and _source(rule) in copies))
    names = sorted({*asked, *(name for rule in asking for name in asked_by(rule))}, key=str)
    facts = [Atom(ASKED_OF, (name,)) for name in names]
    if merges_equal_terms:
        facts.append(Atom(MERGED, (literal(True),)))
    return tuple(Rule(fact, ()) for fact in facts)


@remembered
def looks_at_demands(rule: Rule) -> bool:
    """Return whether a rule uses `DEMAND_PREDICATES`."""
    return any(isinstance(part, Atom) and part.predicate in DEMAND_PREDICATES for part in rule.body)


@remembered
def asked_by(rule: Rule) -> frozenset[Term]:
    """Return the classes and properties that a user's rule matches."""
    origin = rule.origin
    if origin.is_packaged or (origin.axiom and BY_THE_BOOK.match(origin.name or "")):
        return frozenset()
    found: set[Term] = {OWL.sameAs} if _may_make_terms(rule) else set()
    for _, property, value in (atom.terms for atom in atoms_within(rule.body) if atom.predicate == TRIPLE):
        if property in (OWL.differentFrom, OWL.sameAs):
            found.add(property)
        elif isinstance(property, Variable):
            found |= {*_TYPES, OWL.sameAs}
        elif property == RDF.type and isinstance(value, Variable):
            found |= _TYPES
        elif property == RDF.type and not isinstance(value, Variable):
            found.add(value)
    return frozenset(found)


def _source(rule: Rule) -> str | None:
    """Return the name of the text that a rule comes from."""
    return None if rule.origin.span is None else rule.origin.span.source


def _is_named_like_others(rule: Rule) -> bool:
    """Return whether a rule has a name like those of rule sets."""
    name = rule.origin.name or ""
    return name.startswith(_BESIDES) or BY_THE_BOOK.match(name) is not None


def _may_make_terms(rule: Rule) -> bool:
    """Return whether a rule may conclude triples of literals, as subjects or properties, that are not objects of other triples."""
    if rule.head.predicate != TRIPLE:
        return False
    known = {term for part in rule.body if isinstance(part, Atom) and part.predicate == TRIPLE for term in part.terms}
    return any(isinstance(term, Variable | Literal) and term not in known for term in rule.head.terms[:2])
