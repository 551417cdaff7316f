"""Graphs and datasets of rdflib, SPARQL updates."""
