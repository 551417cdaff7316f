"""Storage: terms as dense integers, facts in columns, and the kernels that run over them.

The `kernels` are private: `tests/test_architecture.py` names the rooms that may import them.
"""
