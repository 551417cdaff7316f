"""Checks which of OWL's profiles the explicit triples of a reasoner are in."""

from __future__ import annotations

from collections.abc import Mapping

from kg_reasoner.api.explicit.triple_reading import triple_ids
from kg_reasoner.api.inputs.given_values import expect_prefixes
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.loaders.ontology.owl import profiles
from kg_reasoner.loaders.ontology.profiles.owl_profiles import Profiles

__all__ = ["profiles_of"]


def profiles_of(core: ReasonerCore, prefixes: Mapping[str, str] | None) -> Profiles:
    """See `kg_reasoner.api.reasoner.Reasoner.owl_profiles`."""
    if prefixes is not None:
        expect_prefixes(prefixes)
    triples = ((s, p, o) for s, p, o in core.dictionary.decode_rows(triple_ids(core, "explicit", None)))
    return profiles(triples, core.prefixes if prefixes is None else prefixes)
