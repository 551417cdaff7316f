"""Rewriting of syntactic sugar (`kg_reasoner.language.surface`) to plain rules, in passes, each of which does one thing.

`passes.rules_of` applies them to a statement:

* `property_paths`: property paths become atoms, disjunctions and auxiliary predicates.
* `alternatives`: a body with disjunctions becomes several bodies.
* `nested_expressions`: expressions in atoms become variables with a BIND.
* `equations`: conditions become FILTERs, equations BINDs where they give a value.
* `members`: the members of collections become facts of auxiliary predicates.
* `nested`: the bodies of NOT and AGGREGATE become atoms of auxiliary predicates where plain rules require it.
"""
