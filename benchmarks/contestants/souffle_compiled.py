"""Soufflé, compiled."""

from benchmarks.contestants.souffle import compiled
from benchmarks.measuring.measure import contestant

if __name__ == "__main__":
    contestant(compiled)
