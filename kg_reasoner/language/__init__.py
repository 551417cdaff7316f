"""The rule language: parsing, printing and checking of programs, and the selection of relevant rules."""
