"""Storage: terms as dense integers, facts in columns, and the compiled kernels that work on them.

Its rooms import each other in one direction, in the order of `docs/architecture/where-things-are.md`. The `kernels` are private:
`tests/project/test_architecture.py` lists the packages that may import them.
"""
