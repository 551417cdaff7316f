"""Side-by-side benchmarks of kg_reasoner and other systems: ``python -m benchmarks``, ``python -m benchmarks.startup``.

The modules are commands. What they share is in rooms, each of which uses those before it: `translations`, `inputs`, `measuring`,
`contestants`, `contests`.
"""
