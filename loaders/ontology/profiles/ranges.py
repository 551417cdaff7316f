"""The global restriction of OWL 2 EL on ranges and property chains.

Where a chain implies a property with a range, its last property needs this range itself: the end of the chain would otherwise be
known by more than the one property that leads to it. Source: OWL 2 Profiles, section 2.2.6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import (
    Characteristic,
    EquivalentProperties,
    PropertyChain,
    PropertyRange,
    SubPropertyOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.terms import Term

__all__ = ["lost_ranges"]


def lost_ranges(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the property chains whose end has a range that its last property does not have."""
    above: dict[Term, list[Term]] = defaultdict(list)
    ranges: dict[Term, set[Term]] = defaultdict(set)
    chains: list[PropertyChain] = []
    for axiom in ontology.axioms:
        match axiom:
            case SubPropertyOf(sub, sup):
                above[sub].append(sup)
            case EquivalentProperties(first, second):
                above[first].append(second)
                above[second].append(first)
            case PropertyRange(property, cls):
                ranges[property].add(cls)
            case PropertyChain():
                chains.append(axiom)
            case Characteristic():
                pass  # the last property of a transitive one is itself
    if not ranges:
        return

    def all_ranges(property: Term) -> set[Term]:
        return set().union(*(ranges.get(each, set()) for each in reachable([property], lambda node: above.get(node, ()))))

    for chain in chains:
        missing = all_ranges(chain.sup) - all_ranges(chain.chain[-1])
        if missing:
            named = ", ".join(sorted(texts.nodes(missing)))
            yield AxiomWarning(
                texts.axiom(chain), f"{texts.property(chain.chain[-1])} needs the range of {texts.property(chain.sup)}: {named}"
            )
