"""Rules in the languages of others: SWRL and N3, their built-ins and their variables."""
