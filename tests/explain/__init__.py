"""Proofs and missing premises."""
