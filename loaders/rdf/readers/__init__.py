"""Readers from documents to ids of terms, one of each syntax; `reader` calls them."""
