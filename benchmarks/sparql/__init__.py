"""SPARQL queries of kg_reasoner and of other stores, side by side: ``python -m benchmarks.sparql``.

Each system is a process of its own that holds the data and answers one query at a time. `queries` reads the queries, `data` makes
the data sets, `systems` has one adapter per system, `worker` is the process, and `processes` is its other end. `contest` runs all
systems in turns, and `report` shows the results.
"""
