"""Rules in other languages: SWRL and N3, with their built-ins and variables."""
