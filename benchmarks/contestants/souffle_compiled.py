"""Soufflé, compiled."""

from benchmarks.contestants.souffle import compiled
from benchmarks.measure import contestant

if __name__ == "__main__":
    contestant(compiled)
