"""rdflib's parsers, with blocks instead of single triples for graphs over a `KGReasonerStore`.

rdflib hands a document and a graph to the parser that is registered for the syntax, and its own parsers call `Graph.add` for each
triple. Each class here derives from one of these and is registered in its place. It reads a document itself if the graph is over
one of our stores and the options are those that both readers understand in the same way; in any other case, the parser of rdflib
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from rdflib import plugin
from rdflib.parser import Parser

from kg_reasoner.loaders.rdf.formats import JSON_LD, N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE, Format
from kg_reasoner.rdflib_store.documents.block_stores import BlockStore

_UTF_8: Final = (None, "utf-8")


class _Replaced(NamedTuple):
    """A parser of rdflib: its syntax, and the values of its options for which our reader does the same."""

    format: Format
    options: Mapping[str, tuple[object, ...]]


_PACKAGE: Final = "rdflib.plugins.parsers"
_REPLACED: Final = {
    ("ntriples", "NTParser"): _Replaced(N_TRIPLES, {"bnode_context": (None,), "skolemize": (False,)}),
    ("nquads", "NQuadsParser"): _Replaced(N_QUADS, {"bnode_context": (None,), "skolemize": (False,)}),
    ("notation3", "TurtleParser"): _Replaced(TURTLE, {"encoding": _UTF_8, "turtle": (True,)}),
    ("trig", "TrigParser"): _Replaced(TRIG, {"encoding": _UTF_8}),
    ("rdfxml", "RDFXMLParser"): _Replaced(RDF_XML, {"preserve_bnode_ids": (None, False)}),
    ("jsonld", "JsonLDParser"): _Replaced(
        JSON_LD,
        {
            "version": (1.1,),
            "skolemize": (False,),
            "encoding": _UTF_8,
            "base": (None,),
            "context": (None,),
            "generalized_rdf": (None, False),
            "extract_all_scripts": (None, False),
        },
    ),
}
_OWN_OPTIONS: Final = ("bounds",)


def register_parsers() -> None:
    """Register the parsers of this module in place of those of rdflib; parsers that others have registered remain."""
    for found in list(plugin.plugins(kind=Parser)):
        module, name = getattr(found, "module_path", ""), getattr(found, "class_name", "")
        if module.startswith(f"{_PACKAGE}.") and (module.removeprefix(f"{_PACKAGE}."), name) in _REPLACED:
            plugin.register(found.name, Parser, __name__, name)


@cache
def __getattr__(name: str) -> type[Parser]:
    """Return the parser with the name of one of rdflib, whose module is imported on first use."""
    for (module, replaced), how in _REPLACED.items():
        if name == replaced:
            return _derived(getattr(import_module(f"{_PACKAGE}.{module}"), name), how)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _derived(original: type[Parser], how: _Replaced) -> type[Parser]:
    """Return a parser derived from one of rdflib."""
    own_parse = vars(original)["parse"]

    def parse(self: Parser, *arguments: Any, **options: Any) -> Any:
        by_rdflib = own_parse.__get__(self, type(self))
        is_understood = len(arguments) == 2 and all(
            name in _OWN_OPTIONS or (name in how.options and value in how.options[name]) for name, value in options.items()
        )
        store = getattr(arguments[1], "store", None) if is_understood else None
        if not isinstance(store, BlockStore) or not store.reads_blocks_for(arguments[1]):
            return by_rdflib(*arguments, **options)
        source, graph = arguments
        own = {name: options.pop(name) for name in _OWN_OPTIONS if name in options}
        return store.parse_blocks(source, graph, how.format, lambda again: by_rdflib(again, graph, **options), **own)

    return type(original.__name__, (original,), {"parse": parse, "__module__": __name__, "__doc__": original.__doc__})
