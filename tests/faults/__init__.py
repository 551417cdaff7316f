"""Fault sweeps: one public operation is interrupted at one place after the other, each time in a forked process of its own.

`scenarios` has the operations, `injectors` the faults, `runner` forks and judges, and ``python -m tests.faults`` shows a table.
"""
