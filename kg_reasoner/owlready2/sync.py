"""The function that replaces owlready2's ``sync_reasoner``."""

from __future__ import annotations

import sys
import time
from dataclasses import field
from typing import Any

from kg_reasoner.classification.hierarchy import Hierarchy
from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ReasonerError
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.owlready2.conclusions import conclusions_of
from kg_reasoner.owlready2.following import Attached, follower_of, owlready
from kg_reasoner.owlready2.world_writing import Writer
from kg_reasoner.terms import IRI, OWL, RDF, Triple

__all__ = ["Inferred", "sync_reasoner", "sync_reasoner_hermit", "sync_reasoner_pellet"]

_INFERENCES = "http://inferrences/"
"""The ontology to which inferred triples are written if none is named; the name is owlready2's."""


@dataclass(frozen=True)
class Inferred:
    """The results of a call of `sync_reasoner`.

    Attributes:
        complete: Whether everything that follows from the ontologies was inferred: the rule set has rules for all their axioms.
            If not, all inferences are correct, but some may be missing; `warnings` has the reasons.
        warnings: The axioms that were not, or not fully, used.
        written: The number of triples that were written.
    """

    complete: bool
    warnings: tuple[AxiomWarning, ...]
    written: int
    _attached: Attached = field(repr=False)
    _hierarchy: Hierarchy = field(repr=False)
    _contexts: tuple[int, ...] | None = field(repr=False)

    def explain(self, subject: Any, predicate: Any, value: Any) -> Proof:
        """Prove an inferred statement about objects of owlready2. Names in the proof have their ontology's name as the prefix.

        Args:
            subject: A class, a property or an individual.
            predicate: ``"is_a"``, ``"equivalent_to"``, or a property.
            value: Another such object, or a value.

        Returns:
            The proof.

        Raises:
            NoProofError: It does not follow.
            ReasonerError: The World has changed since.
        """
        reasoner = self._attached.refresh(self._contexts)
        prefixes = {each.name: each.base_iri for each in self._attached.world.ontologies.values() if each.name}
        lower = IRI(subject.iri)
        if predicate in ("is_a", "equivalent_to") and not isinstance(subject, owlready().Thing):
            if value is owlready().Nothing:
                found = next((each for each in self._hierarchy.unsatisfiable if each.name == lower), None)
                if found is not None:
                    return found.proof.with_prefixes(prefixes)
            return self._hierarchy.explain(lower, IRI(value.iri)).with_prefixes(prefixes)
        fact = _fact(lower, predicate, value, self._attached)
        return reasoner.explain(fact, prefixes=prefixes)


def _fact(subject: IRI, predicate: Any, value: Any, attached: Attached) -> Triple:
    property = RDF.type if predicate == "is_a" else OWL.sameAs if predicate == "equivalent_to" else IRI(predicate.iri)
    if hasattr(value, "storid"):
        return subject, property, IRI(value.iri)
    stored = owlready().base.to_literal(value)
    return subject, property, attached.store.literal(*stored)


def sync_reasoner(
    x: Any = None,
    infer_property_values: bool = False,
    infer_data_property_values: bool = False,
    debug: int = 1,
    keep_tmp_file: bool = False,
    ignore_unsupported_datatypes: bool = False,
    *,
    ruleset: str = "owl2rl",
) -> Inferred:
    """Infer what follows from the ontologies of a World, and apply it to its objects, as owlready2's reasoners do.

    Classes get their inferred super-classes (`is_a`), equivalents (`equivalent_to`; ``Nothing`` if unsatisfiable), individuals
    their classes, and properties their super-properties. Triples are written to the ontology of the ``with`` block or, without
    one, to `x` if that is an ontology, or else to ``http://inferrences/``. What an earlier call has written and no longer follows
    is taken back. A second call reasons over the changes only. A call that is interrupted leaves the World and its objects as they
    were.

    Args:
        x: A World; an Ontology, for its World, with the results in this ontology; a list of ontologies, for these only; None: the
            default World.
        infer_property_values: Whether to infer values of object properties.
        infer_data_property_values: Whether to infer values of data properties.
        debug: Above 0, changes of objects are listed on standard error.
        keep_tmp_file: Accepted and ignored: there is no file.
        ignore_unsupported_datatypes: Accepted and ignored: literals of unknown datatypes have no value.
        ruleset: The rule set. ``owl2el+owl2rl`` also has the consequences of existentials and property chains.

    Returns:
        What was found: whether it is complete, warnings, and proofs.

    Raises:
        owlready2.OwlReadyInconsistentOntologyError: The ontologies are inconsistent. The message has a proof; nothing is written.
        MissingExtraError: owlready2 is not installed.
        ReasonerError: The argument is none of these, or closed, or of another World than the ontology of the ``with`` block.

    Warns:
        BeyondProfileWarning: An axiom is beyond the rule set.
    """
    package = owlready()
    world, contexts = _world_of(x)
    attached = follower_of(world, ruleset)
    started = time.perf_counter()
    _tell(debug, "* kg_reasoner * Reasoning...")
    reasoner = attached.refresh(contexts)
    reasoner.materialise()
    if not reasoner.is_consistent():
        first, *others = reasoner.inconsistencies()
        prefixes = {each.name: each.base_iri for each in world.ontologies.values() if each.name}
        more = f"\n({len(others):,} further contradictions)" if others else ""
        proof = reasoner.explain(first, prefixes=prefixes).text()
        raise package.OwlReadyInconsistentOntologyError(f"{first.text(prefixes)}\n{proof}{more}")
    hierarchy = reasoner.hierarchy()
    found = conclusions_of(attached, hierarchy, objects=infer_property_values, values=infer_data_property_values)
    had_inferences = _INFERENCES in world.ontologies
    try:
        written = Writer(attached, _target(x, world), debug).apply(found)
    except BaseException:
        made = None if had_inferences else world.ontologies.get(_INFERENCES)
        if made is not None and len(made.graph) <= 1:  # its declaration: an interrupt after the end leaves what has been written
            made.destroy()
        raise
    _tell(debug, f"* kg_reasoner * Reasoning took {time.perf_counter() - started:.3f} seconds")
    warnings = tuple(dict.fromkeys((*hierarchy.warnings, *reasoner.warnings)))
    return Inferred(not warnings, warnings, written, attached, hierarchy, contexts)


def sync_reasoner_hermit(
    x: Any = None,
    infer_property_values: bool = False,
    debug: int = 1,
    keep_tmp_file: bool = False,
    ignore_unsupported_datatypes: bool = False,
) -> Inferred:
    """Call `sync_reasoner` with the parameters of owlready2's function of this name.

    Args:
        x: A World, an ontology or a list of ontologies, as for `sync_reasoner`.
        infer_property_values: Whether objects get inferred values of properties.
        debug: Above 0, changes of objects are listed on standard error.
        keep_tmp_file: Ignored: there is no file.
        ignore_unsupported_datatypes: Ignored: literals of unknown datatypes have no value.

    Returns:
        What was inferred.
    """
    return sync_reasoner(x, infer_property_values, False, debug, keep_tmp_file, ignore_unsupported_datatypes)


def sync_reasoner_pellet(
    x: Any = None,
    infer_property_values: bool = False,
    infer_data_property_values: bool = False,
    debug: int = 1,
    keep_tmp_file: bool = False,
) -> Inferred:
    """Call `sync_reasoner` with the parameters of owlready2's function of this name.

    Args:
        x: A World, an ontology or a list of ontologies, as for `sync_reasoner`.
        infer_property_values: Whether objects get inferred values of object properties.
        infer_data_property_values: Whether they get those of data properties, too.
        debug: Above 0, changes of objects are listed on standard error.
        keep_tmp_file: Ignored: there is no file.

    Returns:
        What was inferred.
    """
    return sync_reasoner(x, infer_property_values, infer_data_property_values, debug, keep_tmp_file)


def _world_of(x: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Return the World that is meant, and the numbers of the graphs to read; None for all."""
    package = owlready()
    if x is None:
        return package.default_world, None
    if isinstance(x, package.World):
        return x, None
    if isinstance(x, package.Ontology):
        return x.world, None
    if isinstance(x, list) and x and all(isinstance(each, package.Ontology) for each in x):
        if any(each.world is not x[0].world for each in x):
            raise ReasonerError("the ontologies belong to several Worlds, which are reasoned over one by one")
        return x[0].world, tuple(each.graph.c for each in x)
    raise ReasonerError(f"{x!r} is neither a World nor an Ontology of owlready2, nor a list of ontologies")


def _target(x: Any, world: Any) -> Any:
    """Return the ontology to which results are written."""
    package = owlready()
    spaces = package.namespace.CURRENT_NAMESPACES.get()
    if spaces:
        if spaces[-1].world is not world:
            raise ReasonerError(
                f"{spaces[-1].ontology.base_iri}, of the `with` block, belongs to another World than what is reasoned over"
            )
        return spaces[-1].ontology
    return x if isinstance(x, package.Ontology) else world.get_ontology(_INFERENCES)


def _tell(debug: int, text: str) -> None:
    if debug:
        print(text, file=sys.stderr)
