"""Databases: relations under one roof, what queries over them need, and other views of their rows."""
