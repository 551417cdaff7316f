"""Rewriting what only texts contain (`kg_reasoner.language.surface`) to plain rules, in passes of which each does one thing.

`passes.rules_of` applies them to a statement:

* `property_paths`: property paths become atoms, disjunctions and predicates of their own.
* `alternatives`: a body with disjunctions becomes several bodies.
* `nested_expressions`: expressions in atoms become variables with a BIND.
* `equations`: conditions become FILTERs, equations BINDs where they give a value.
* `members`: the members of collections become facts of predicates of their own.
* `nested`: the bodies of NOT and AGGREGATE become atoms where they have to.
"""
