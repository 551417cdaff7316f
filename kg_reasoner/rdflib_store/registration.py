"""Registration with rdflib of this package's parsers, serializers, processors and evaluator."""

from __future__ import annotations

from rdflib import plugin
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.query import Processor, UpdateProcessor

from kg_reasoner.rdflib_store import evaluators
from kg_reasoner.rdflib_store.documents.owl_plugins import register_owl_plugins
from kg_reasoner.rdflib_store.documents.parser_plugins import register_parsers
from kg_reasoner.sparql.rdflib_grammar.grammar import correct_grammar

__all__ = ["register"]


def register() -> None:
    """Register what a store needs with rdflib, also where the package's entry points are not installed."""
    plugin.register("KGReasoner", Processor, "kg_reasoner.rdflib_store.processors", "RuleProcessor")
    plugin.register("KGReasoner", UpdateProcessor, "kg_reasoner.rdflib_store.processors", "RuleUpdateProcessor")
    CUSTOM_EVALS[evaluators.NAME] = evaluators.evaluate
    register_parsers()
    register_owl_plugins()
    correct_grammar()  # for queries that programs prepare with rdflib
