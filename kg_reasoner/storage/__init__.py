"""Storage: terms as dense integers, facts in columns, and the compiled kernels that work on them.

The `kernels` are private: `tests/test_architecture.py` lists the packages that may import them.
"""
