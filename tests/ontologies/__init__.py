"""Ontologies: their syntaxes, profiles, and their translation to rules."""
