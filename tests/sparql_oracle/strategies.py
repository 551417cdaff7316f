"""Strategies of small datasets, and of queries for them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from kg_reasoner.terms import Term, Triple

from . import ast
from .alphabet import BLANK_NODES, GRAPHS, LITERALS, NODES, PREDICATES
from .dataset import Dataset
from .random_queries import query
from .source import Source

Make = Callable[[Source], ast.Query]


def _facts(with_blank_nodes: bool) -> st.SearchStrategy[Triple]:
    nodes = st.sampled_from((*NODES, *(BLANK_NODES if with_blank_nodes else ())))
    objects: tuple[Term, ...] = (*NODES, *NODES, *LITERALS, *(BLANK_NODES if with_blank_nodes else ()), *PREDICATES[:1])
    predicates = st.sampled_from(PREDICATES)
    return st.one_of(st.tuples(nodes, predicates, nodes), st.tuples(nodes, predicates, st.sampled_from(objects)))


def datasets(with_blank_nodes: bool = True) -> st.SearchStrategy[Dataset]:
    """Return a strategy of datasets with up to two named graphs, which are not empty: many stores have no empty graphs."""
    facts = _facts(with_blank_nodes)
    default = st.frozensets(facts, min_size=4, max_size=10)
    named = st.dictionaries(st.sampled_from(GRAPHS), st.frozensets(facts, min_size=1, max_size=4), max_size=2)
    return st.builds(Dataset, default, named)


@st.composite
def cases(draw: st.DrawFn, make: Make = query, with_blank_nodes: bool = True) -> tuple[Dataset, ast.Query]:
    """Draw a dataset and a query for it.

    Args:
        draw: What draws.
        make: Makes the query; by default any.
        with_blank_nodes: Whether there are blank nodes in the data.
    """
    dataset = draw(datasets(with_blank_nodes))
    random: Random = draw(st.randoms(use_true_random=False))
    return dataset, make(Source(random, dataset))
