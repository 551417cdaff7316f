"""Translation of OWL 2 RL and RDFS ontologies to rules: the public interface of the DLP translation.

`translate` takes the triples of an ontology in any order, possibly mixed with data, and returns rules for the consequences of its
axioms on assertions: types and properties of individuals, equalities, and constraints. It is independent of the engine, rdflib and
parsers. `is_schema_triple` says which triples are relevant, so that data can be left out.

Data flow: `ontology` reads `axioms` and `swrl` rules from triples; `profile` reports what rules cannot express, with the texts of
`axiom_texts`; `restriction_hierarchy` computes what the schema rules derive about restrictions, with `order`; `dlp` and
`swrl_clauses` create clauses, but for `idle_nodes`; `unfold` simplifies them; `following.live` follows changes of axioms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.given_relations import LITERAL_TYPE
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.clauses import AUXILIARY_PREFIX
from kg_reasoner.loaders.ontology.dlp import rules_of
from kg_reasoner.loaders.ontology.following.live import LiveTranslation, RuleChanges, is_local
from kg_reasoner.loaders.ontology.ontology import Ontology, read_ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning, warnings_of
from kg_reasoner.loaders.ontology.restriction_hierarchy import RestrictionHierarchy
from kg_reasoner.loaders.ontology.schema_vocabulary import SCHEMA_CLASSES, SCHEMA_PREDICATES, is_schema_triple
from kg_reasoner.program import TRIPLE, Rule, Variable
from kg_reasoner.terms import OWL, RDF, RDFS, Term, Triple

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.profiles.owl_profiles import Profiles

__all__ = [
    "AUXILIARY_PREFIX",
    "LITERAL_TYPE",
    "SCHEMA_CLASSES",
    "SCHEMA_PREDICATES",
    "AxiomWarning",
    "LiveTranslation",
    "RuleChanges",
    "Translation",
    "beyond_el",
    "concluded_axioms",
    "concludes_axioms",
    "follow",
    "is_schema_triple",
    "judge",
    "profiles",
    "refused_rules",
    "translate",
]


@dataclass(frozen=True, slots=True)
class Translation:
    """The rules and warnings for an ontology."""

    rules: tuple[Rule, ...]
    warnings: tuple[AxiomWarning, ...]
    vocabulary: frozenset[Term] = frozenset()
    """The IRIs of classes and properties: owl:sameAs about them is an axiom (see `is_schema_triple`)."""


def concludes_axioms(rules: Iterable[Rule]) -> bool:
    """Return whether some rule can conclude an axiom, see `concluded_axioms`."""
    return any(concluded_axioms(rule) is not None for rule in rules)


def concluded_axioms(rule: Rule) -> tuple[Term, Term | None] | None:
    """Return the property of the axioms that a rule can conclude, and for rdf:type the class; None if it concludes none.

    The schema rules (scm-*, beyond/*, el-*) do not count, since what they conclude is redundant.
    """
    if (rule.origin.name or "").startswith(("scm-", "beyond/", "el-")) or rule.head.predicate != TRIPLE or not rule.body:
        return None
    _, property, value = rule.head.terms
    if property == RDF.type:
        return (RDF.type, value) if value in SCHEMA_CLASSES and not isinstance(value, Variable) else None
    return (property, None) if property in SCHEMA_PREDICATES and not isinstance(property, Variable) else None


def refused_rules(triples: Iterable[Triple]) -> tuple[AxiomWarning, ...]:
    """Return the SWRL rules of an ontology that cannot be translated: those with unimplemented built-ins, and unsafe ones."""
    from kg_reasoner.loaders.ontology.swrl_clauses import refusal
    from kg_reasoner.loaders.ontology.swrl_texts import rule_text

    ontology = read_ontology(triples)
    texts = Texts(ontology)
    found = ((rule, refusal(rule, ontology)) for rule in ontology.rules)
    return tuple(AxiomWarning(rule_text(rule, texts), reason) for rule, reason in found if reason is not None)


def translate(
    triples: Iterable[Triple],
    prefixes: Mapping[str, str] | None = None,
    *,
    names: Collection[Term] = (),
    check_literals: bool = False,
    stated: bool = True,
) -> Translation:
    """Return the rules for the axioms among the triples, without repetitions, in an order that does not depend on that of the
    triples.

    Each rule's `origin` has its W3C name and the axiom in functional-style syntax. `prefixes` (prefix to namespace) shorten names
    in these texts and the warnings; namespaces without one get a prefix from their last part. Malformed axioms and what rules
    cannot express are warnings, never errors.

    `names` are terms that data uses as classes or properties, if that data is not among the triples: owl:sameAs makes axioms of
    classes and properties only. With `check_literals`, ranges and restrictions with datatypes make constraints on literals, for
    which the engine has to list the datatypes of all literals (see `dlp`); without, they make none. Whether the triples were all
    `stated` makes a difference to warnings, see `read_ontology`.

    Source: the DLP translation of Grosof, Horrocks, Volz and Decker (WWW 2003), extended to all of OWL 2 RL after tables 4 to 9 of
    the W3C's OWL 2 Profiles; see `dlp` for the details that are ours.

    >>> from kg_reasoner.terms import IRI, RDFS
    >>> ex = "http://example.org/"
    >>> found = translate([(IRI(ex + "Chair"), RDFS.subClassOf, IRI(ex + "Person"))], prefixes={"ex": ex})
    >>> [rule.origin.axiom for rule in found.rules], found.warnings
    (['SubClassOf(ex:Chair ex:Person)'], ())
    """
    ontology = _read(triples, names, stated)
    texts = Texts(ontology, prefixes)
    hierarchy = RestrictionHierarchy(ontology)
    rules = rules_of(ontology, texts, check_literals, hierarchy.linked_by(hierarchy.all_steps)).rules
    return Translation(tuple(dict.fromkeys(rules)), _in_order(warnings_of(ontology, texts)), ontology.vocabulary)


def follow(triples: Iterable[Triple], *, in_order: bool = False) -> LiveTranslation:
    """Return the translation of explicit schema triples without stated equalities, for further changes. See
    `translate`. With `in_order`, the triples are given in the order of their texts, and each once.
    """
    triples = tuple(triples)
    return LiveTranslation(read_ontology(triples, in_order=in_order), (triple for triple in triples if not is_local(triple)))


def judge(triples: Iterable[Triple], *, names: Collection[Term] = ()) -> tuple[AxiomWarning, ...]:
    """Return the warnings for an ontology whose axioms a rule set reads as data instead of translating them. See `translate`."""
    ontology = _read(triples, names, stated=True)
    return _in_order(warnings_of(ontology, Texts(ontology), translates_rules=False))


def beyond_el(triples: Iterable[Triple]) -> tuple[AxiomWarning, ...]:
    """Return the warnings for axioms that are not in OWL 2 EL. Rules have names for anonymous individuals."""
    from kg_reasoner.loaders.ontology.profiles.owl_profiles import beyond

    ontology = read_ontology(triples)
    return _in_order(beyond("EL", ontology, Texts(ontology), has_blank_individuals=True))


def profiles(triples: Iterable[Triple], prefixes: Mapping[str, str] | None = None) -> Profiles:
    """Return which of the profiles OWL 2 EL, QL, RL and DL an ontology is in, with the axioms that leave each."""
    from kg_reasoner.loaders.ontology.profiles.owl_profiles import profiles_of

    triples = list(triples)
    ontology = _read(triples, (), stated=True)
    return profiles_of(ontology, [triple for triple in triples if not is_schema_triple(triple)], prefixes)


def _read(triples: Iterable[Triple], names: Collection[Term], stated: bool) -> Ontology:
    schema: list[Triple] = []
    used: set[Term] = set(names)
    for triple in triples:
        if triple[1] in (OWL.sameAs, RDFS.label) or is_schema_triple(triple):
            schema.append(triple)
        else:
            used.add(triple[2] if triple[1] == RDF.type else triple[1])
    return read_ontology(schema, used, stated=stated)


def _in_order(warnings: Iterable[AxiomWarning]) -> tuple[AxiomWarning, ...]:
    return tuple(sorted(dict.fromkeys(warnings), key=lambda warning: (warning.axiom, warning.reason)))
