"""What kernels for several threads report, and the bounds of their work. Python reads it without importing these kernels."""

USED, SIZE, ROWS, SPILLED, SPILLS = 0, 1, 2, 3, 4
"""The results of `bulk_insertion.count_keys`: the number of its keys, the entries that their vectors take, the number of its rows,
the number of keys that are not placed yet; from SPILLS on, these keys and their numbers of rows.
"""

MOST_SPILLED = 64

UNTRIED, LEFT_TO_ONE_THREAD = 0, 1
"""The outcomes in `parallel_deletion` of a fact that has not been tried, or waits for a request, and of one that is left to one
thread; those of others are the flags that they get.
"""

DEEPEST, PATIENCE = 4, 32
"""The most goals of its search, and the instances after which no further fact becomes a goal."""
