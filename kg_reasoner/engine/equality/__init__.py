"""Equality by rewriting: terms that are owl:sameAs are merged, and the engine uses one representative of each clique.

A clique, or equivalence class, of a thousand terms costs as much as one term, whereas the axioms of equality (eq-sym, eq-trans,
eq-rep-*) would derive every fact for every combination of equal terms. The modules, each of which uses only those before it:

* `treatment`: the interface of the engine to equality, and its implementation without merging;
* `cliques`: the cliques of equal terms and their representatives;
* `asserted`: the explicit facts about merged terms as they were asserted, with their normal forms;
* `rewritten_rules`: rewriting of rules, and checks for rules that it does not support;
* `stored`: the contents of the database; `lost_reasons`: the cliques that may have lost a reason in a deletion;
* `contradictions`: equal literals of different values;
* `expanded_changes`: the changes of an update, in all names;
* `views`: patterns and queries over all names of terms, answered from facts about their representatives;
* `names`, `reasons`: explanations in the names of users, and reasons for equality;
* `rewriting`: merges terms that rules derive to be equal, and splits cliques that have lost their reasons.

Source: Motik, Nenov, Piro and Horrocks, Handling owl:sameAs via Rewriting (AAAI 2015), and Combining Rewriting and Incremental
Materialisation Maintenance for Datalog Programs with Equality (IJCAI 2015).
"""
