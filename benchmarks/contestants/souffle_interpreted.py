"""Soufflé, interpreted."""

from benchmarks.contestants.souffle import interpreted
from benchmarks.measuring.measure import contestant

if __name__ == "__main__":
    contestant(interpreted)
