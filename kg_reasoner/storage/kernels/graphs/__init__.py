"""Algorithms on directed graphs: reachable nodes, strongly connected components, and shortest paths."""
