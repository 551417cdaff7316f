"""Classification: which classes and properties are below which, and which can have no members, by the rules of a reasoner.

``A`` is below ``B`` if a new member of ``A``, of which nothing else is known, becomes a member of ``B``. A second reasoner has the
axioms and one new member for each class, and pairs of new terms for each property. `selection` finds the axioms, `usable_rules` the
rules that hold for new members, `classifier` compares what became of them, `taxonomy` is the order, `hierarchy` the result.
"""
