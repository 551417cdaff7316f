"""Equality by rewriting: terms that are owl:sameAs are merged, and the engine sees one representative of each clique.

A clique of a thousand terms costs as much as one term, where the axioms of equality (eq-sym, eq-trans, eq-rep-*) would derive every
fact for every combination of equal terms. The parts, each of which uses only those before it:

* `treatment`: what an engine asks about equality, and the answers where no terms are merged;
* `cliques`: which terms are the same, and the representative of each clique;
* `asserted`: the explicit facts about merged terms as they were asserted, beside their rewritten forms;
* `rules`: rules with representatives for the terms they name, and what rewriting cannot do;
* `stored`: what the database holds; `tracing`: which cliques may have lost a reason when something is removed;
* `contradictions`: literals of different values that have become the same;
* `changes`: what an update changed, in all names;
* `views`: patterns and queries over all names of things, answered from what is stored for their representatives;
* `names`, `reasons`: explanations in the names of users, and why terms are the same;
* `rewriting`: merges what rules find to be the same, and splits cliques that have lost their reasons.

Source: Motik, Nenov, Piro and Horrocks, Handling owl:sameAs via Rewriting (AAAI 2015), and Combining Rewriting and Incremental
Materialisation Maintenance for Datalog Programs with Equality (IJCAI 2015).
"""
