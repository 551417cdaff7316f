"""The engine: facts and rules kept materialised, by semi-naive evaluation, a maintenance strategy, and merging of equal terms."""
