"""The profiles of OWL 2 (EL, QL and RL) and OWL 2 DL: which of them an ontology is in."""
