"""More operations that the sweeps interrupt: of the shell, tables, Worlds of owlready2, SPARQL updates and graphs; and reading."""

from __future__ import annotations

import importlib.util
import io
import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from copy import deepcopy
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from rdflib import RDF as RDFLIB_RDF
from rdflib import Dataset, Graph, Literal, URIRef

from kg_reasoner import graph_of
from kg_reasoner.api.fact_tables import Facts
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.transaction import run_in
from kg_reasoner.api.update import Update
from kg_reasoner.errors import InconsistencyError, LimitError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Atom
from kg_reasoner.shell.scripts import run_script
from kg_reasoner.shell.session import Session
from kg_reasoner.terms import OWL, literal
from tests.faults.scenarios import (
    EX,
    KIT,
    KITTENS,
    REMOVED_RULE,
    ZOO,
    Make,
    Operation,
    Scenario,
    add_many_edges,
    add_program,
    axioms,
    begun,
    boxes,
    by_graph,
    cliques,
    dataset,
    edges,
    ex,
    letters,
    live,
    named,
    on_graph,
    remove_edges,
    sell,
    subscribed,
    zoo,
)
from tests.faults.subjects import Subject

# --- the shell -------------------------------------------------------------------------------------------------------------


def in_shell(make: Make) -> Make:
    """A subject with a session of the shell."""

    def with_session() -> Subject:
        subject = make()
        subject.kept["session"] = Session(subject.reasoner, io.StringIO())
        return subject

    return with_session


def in_shell_transaction(make: Make) -> Make:
    """A session in whose transaction something has changed."""

    def with_transaction() -> Subject:
        subject = in_shell(make)()
        shell('start; insert edge("d", "e"); delete edge("a", "b");')(subject)
        subject.transaction = subject.reasoner.open_transaction
        return subject

    return with_transaction


def shell(text: str, *, only_inside: bool = False) -> Operation:
    """Return what executes statements, with ``only_inside`` only where the session has a transaction to end."""

    def execute(subject: Subject) -> None:
        session: Session = subject.kept["session"]
        assert session.has_transaction == (subject.reasoner.open_transaction is not None)
        if session.has_transaction or not only_inside:
            list(run_script(session, [text], "script"))

    return execute


SHELL_UPDATES: Final = 'insert edge("d", "e"), insert edge("e", "f"), delete edge("a", "b");'
SHELL_KEYS: Final = 'insert_or_update box(7, "place 1"), modify box 2 <- box{.place = "place 3"}, delete box(1, "place 1");'


def remove_in_shell(subject: Subject) -> None:
    if parse(REMOVED_RULE).rules[0] in subject.reasoner.program.rules:  # the operation is repeated
        shell(f"remove {REMOVED_RULE}")(subject)


def _of_the_shell() -> Iterator[Scenario]:
    yield Scenario("shell, update", in_shell(edges), shell(SHELL_UPDATES))
    yield Scenario("shell, rule", in_shell(edges), shell("back(?y, ?x) :- path(?x, ?y), NOT edge(?y, ?x)."))
    yield Scenario("shell, keys", in_shell(boxes), shell(SHELL_KEYS))
    yield Scenario("shell, clear", in_shell(edges), shell("clear edge;"))
    yield Scenario("shell, remove a rule", in_shell(edges), remove_in_shell)
    yield Scenario("shell, transaction", in_shell(edges), shell(f"start; {SHELL_UPDATES} commit;"), is_block=True)
    yield Scenario("shell, commit", in_shell_transaction(edges), shell("commit;", only_inside=True), may_undo=True)
    yield Scenario("shell, rollback", in_shell_transaction(edges), shell("rollback;", only_inside=True))


# --- tables ----------------------------------------------------------------------------------------------------------------


def with_files() -> Subject:
    """A subject with the same facts in files."""
    subject = edges()
    subject.kept["folder"] = folder = tempfile.TemporaryDirectory()
    subject.kept["csv"] = path = Path(folder.name, "edge.csv")
    path.write_text("d,e\ne,f\na,b\n", encoding="utf-8")
    subject.kept["jsonl"] = path = Path(folder.name, "edge.jsonl")
    path.write_text('{"from": "d", "to": "e"}\n{"from": "a", "to": "b"}\n', encoding="utf-8")
    subject.kept["database"] = Path(folder.name, "edge.db")
    with closing(sqlite3.connect(subject.kept["database"])) as database:
        database.executescript("CREATE TABLE edge(a TEXT, b TEXT); INSERT INTO edge VALUES ('d', 'e'), ('e', 'f'), ('a', 'b')")
    return subject


def add_csv(subject: Subject) -> None:
    subject.reasoner.add_table("edge", subject.kept["csv"])


def add_json_lines(subject: Subject) -> None:
    subject.reasoner.add_table("edge", subject.kept["jsonl"])


def with_parquet() -> Subject:
    """A subject with facts in a file of Parquet."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    subject = with_files()
    subject.kept["parquet"] = path = Path(subject.kept["folder"].name, "edge.parquet")
    write_table(pa.table({"from": ["d", "e", "a"], "to": ["e", "f", "b"]}), path)
    return subject


def change_by_parquet(subject: Subject) -> None:
    """Move what the file says to another relation, in one step."""

    def move() -> None:
        subject.reasoner.remove_table("edge", subject.kept["parquet"])
        subject.reasoner.add_table("wire", subject.kept["parquet"])

    run_in(subject.reasoner.transaction(), move)


def add_arrow(subject: Subject) -> None:
    import pyarrow as pa

    subject.reasoner.add_table("edge", pa.table({"from": ["d", "e"], "to": ["e", "f"]}))


def change_by_cursor(subject: Subject) -> None:
    with closing(sqlite3.connect(subject.kept["database"])) as database:
        subject.reasoner.remove_table("edge", database.execute("SELECT a, b FROM edge WHERE a = 'a'"))


def add_by_cursor(subject: Subject) -> None:
    with closing(sqlite3.connect(subject.kept["database"])) as database:
        subject.reasoner.add_table("edge", database.execute("SELECT a, b FROM edge"))


def _of_tables() -> Iterator[Scenario]:
    if importlib.util.find_spec("pyarrow") is not None:
        yield Scenario("add a file of facts", with_files, add_csv)
        yield Scenario("add a file of JSON lines", with_files, add_json_lines)
        yield Scenario("move a file of Parquet", with_parquet, change_by_parquet)
        yield Scenario("add a table of Arrow", edges, add_arrow)
        yield Scenario("add rows of a cursor", with_files, add_by_cursor)
        yield Scenario("remove rows of a cursor", with_files, change_by_cursor)


# --- Python functions, streams, limits -------------------------------------------------------------------------------------


def add_functions(subject: Subject) -> None:
    """Register functions, and add rules that call them."""
    reasoner = subject.reasoner
    if "doubled" not in reasoner.core.functions:
        reasoner.function("doubled", "string", returns="string")(lambda text: text + text)
    for name in {"longest", "joined"} - reasoner.core.reductions.keys():
        if name == "longest":
            reasoner.aggregate(name, "string", returns="string")(lambda texts: max(texts, key=lambda text: (len(text), text)))
        else:
            reasoner.reduction(name, "string", initial=str, add=lambda state, text: "".join(sorted(state + text)), returns="string")
    reasoner.add_program("""
        twice(?x, ?z) :- edge(?x, ?y), BIND(doubled(?y) AS ?z) .
        last(?x, ?z) :- AGGREGATE(edge(?x, ?y) ON ?x BIND longest(?y) AS ?z) .
        all(?x, ?z) :- AGGREGATE(edge(?x, ?y) ON ?x BIND joined(?y) AS ?z) .
    """)


def add_constructor_program(subject: Subject) -> None:
    """Declarations beside rules, and facts of the program."""
    subject.reasoner.add_program("""
        input relation weight(x: string, w: integer) .
        weight("a", 3) . weight("b", 4) .
        heavy(?x) :- weight(?x, ?w), edge(?x, _), FILTER(?w > 3) .
    """)


def listen(subject: Subject) -> None:
    """Iterate over changes, and stop it again."""
    with subject.reasoner.changes("path"):
        pass


def foresee(subject: Subject) -> None:
    subject.reasoner.foresee(Update(removed={"edge": letters("ab")}))
    subject.reasoner.remove_facts("edge", letters("ab"))


NUMBERS: Final = [(literal(number), literal(number % 7)) for number in range(4200)]
"""So many that rules over one atom are evaluated on columns."""


def numbered() -> Subject:
    """Rules with functions over one atom, with few facts so far."""
    reasoner = Reasoner("next(?y, ?x + 1) :- v(?x, ?y) . few(?x) :- next(?y, ?x), ?x < 9 .")
    reasoner.add_facts("v", NUMBERS[:3])
    reasoner.materialise()
    return Subject(reasoner)


def add_numbers(subject: Subject) -> None:
    subject.reasoner.add_facts("v", NUMBERS)
    subject.reasoner.materialise()


def counters() -> Subject:
    """Rules that calculate within joins, in recursion and with several atoms."""
    reasoner = Reasoner("""
        c(?x, ?x) :- v(?x) . c(?z, ?y + 1) :- c(?z, ?y), ?y < 60 .
        low(?x, ?y) :- c(?x, ?y), v(?y), ?x * 3 < ?y, NOT w(?x) .
        sum(?z, ?s) :- AGGREGATE(c(?z, ?y), v(?y) ON ?z BIND SUM(?y) AS ?s) .
    """)
    reasoner.add_facts("v", [(literal(number),) for number in (3, 50)])
    reasoner.materialise()
    return Subject(reasoner)


def count_further(subject: Subject) -> None:
    reasoner = subject.reasoner
    with reasoner.transaction():
        reasoner.add_facts("v", [(literal(number),) for number in (-9, 20, 10**18)])
        reasoner.remove_facts("v", [(literal(50),)])
        reasoner.add_facts("w", [(literal(3),)])
    reasoner.materialise()


def count_more(subject: Subject) -> None:
    subject.reasoner.add_facts("v", [(literal(number),) for number in (-9, 20, 10**18)])
    subject.reasoner.materialise()


UNBOUNDED: Final = "number(?y) :- number(?x), BIND(?x + 1 AS ?y) . number(0) ."


def exceed_limits(subject: Subject) -> None:
    from kg_reasoner.concurrency.limits import Limits

    with suppress(LimitError), subject.reasoner.limited(Limits(facts=40)):
        run_in(subject.reasoner.transaction(), lambda: subject.reasoner.add_program(UNBOUNDED))


WAITING: Final = """
    @prefix : <http://example.org/> .
    [?x, :same, ?y] :- [?x, :key, ?k], [?y, :key, ?k] .
    [?y, ?p, ?o] :- [?x, :same, ?y], [?x, ?p, ?o] .
"""


def waiting() -> Subject:
    """A rule about any property, without facts for it so far."""
    subject = axioms()
    subject.reasoner.add_program(WAITING)
    subject.reasoner.materialise()
    return subject


def end_waiting(subject: Subject) -> None:
    subject.reasoner.add_triples([(ex(name), ex("key"), ex("k")) for name in ("a", "b")])
    subject.reasoner.materialise()


def stop_waiting(subject: Subject) -> None:
    subject.reasoner.remove_rules(parse(WAITING).rules[1:])
    subject.reasoner.materialise()


def ended(make: Make, operation: Operation) -> Make:
    """A subject after an operation."""

    def done() -> Subject:
        subject = make()
        operation(subject)
        return subject

    return done


CHOSEN: Final = """
    relation next(from: string, to: string) choose one per (from) of path .
    shared(?x, ?y) :- CHOOSE(edge(?z, ?x), NOT next(?x, ?x) PER ?z), next(?x, ?y) .
    type Route = Direct(from: string, to: string) | Far(from: string, to: string) .
    route(Direct(?x, ?y)) :- edge(?x, ?y) .
    route(Far(?x, ?y)) :- path(?x, ?y), NOT edge(?x, ?y) .
    ends(?x, ?all) :- AGGREGATE(route(?r), ?r = Far(?x, ?y) ON ?x BIND SET(?y) AS ?all) .
"""


def choosing() -> Subject:
    """A reasoner with choices, records and sets, which are new terms."""
    subject = edges()
    subject.reasoner.add_program(CHOSEN)
    subject.reasoner.materialise()
    return subject


def change_choices(subject: Subject) -> None:
    with subject.reasoner.transaction():
        subject.reasoner.remove_facts("edge", letters("ab", "da"))
        list(subject.reasoner.facts("ends"))
        subject.reasoner.add_facts("edge", letters("ac", "de"))


def graph_over_live() -> Subject:
    """A graph over relations that change with transactions, of which its own has begun."""
    subject = live()
    subject.graph = graph_of(subject.reasoner)
    subject.graph.add(KIT)
    sell(subject)
    return subject


def commit_graph(subject: Subject) -> None:
    assert subject.graph is not None
    subject.graph.commit()


def refusing_cliques() -> Subject:
    """A reasoner that merges equal terms, and refuses that two of them are different."""
    subject = cliques()
    subject.reasoner.on_inconsistency = "raise"
    subject.reasoner.add_triples([(ex("a"), OWL.differentFrom, ex("z"))])
    subject.reasoner.materialise()
    return subject


def contradict_cliques(subject: Subject) -> None:
    with suppress(InconsistencyError):
        subject.reasoner.add_triples([(ex("a"), OWL.sameAs, ex("z")), (ex("z"), ex("likes"), ex("a"))])


def copy_graph(subject: Subject) -> None:
    """Copy a graph, in which an earlier fault must not have left anything out."""
    assert subject.graph is not None
    for other in (deepcopy(subject.graph), pickle.loads(pickle.dumps(subject.graph))):
        assert set(other) == set(subject.graph)
        assert set(other.store.explicit) == set(subject.store.explicit)


def _of_programs() -> Iterator[Scenario]:
    yield Scenario("choices and records, block", choosing, change_choices, is_block=True)
    yield Scenario("choices and records, tiny tables", choosing, remove_edges, is_tiny=True)
    yield Scenario("live relations, rolled back", begun(live), sell, then="roll back")
    yield Scenario("live relations, commit of a graph", graph_over_live, commit_graph, may_undo=True)
    yield Scenario("cliques, refusing", refusing_cliques, contradict_cliques)
    yield Scenario("copy and pickle", deferring(zoo), copy_graph, leaves_open=True)
    yield Scenario("copy and pickle, datasets", deferring(dataset), copy_graph, leaves_open=True)
    yield Scenario("functions in Python", edges, add_functions)
    yield Scenario("functions in Python, inside", begun(edges), add_functions)
    yield Scenario("declarations and facts", edges, add_constructor_program)
    yield Scenario("iterate over changes", edges, listen)
    yield Scenario("rules on columns", numbered, add_numbers)
    yield Scenario("calculation in joins", counters, count_further)
    yield Scenario("calculation in joins, inside", begun(counters), count_more)
    yield Scenario("foresee", edges, foresee)
    yield Scenario("exceed limits", edges, exceed_limits)
    yield Scenario("add many facts, subscribed", subscribed, add_many_edges)
    yield Scenario("deferred rules, facts for them", waiting, end_waiting)
    yield Scenario("deferred rules, facts for them, inside", begun(waiting), end_waiting)
    yield Scenario("deferred rules, facts for them, rolled back", begun(waiting), end_waiting, then="roll back")
    yield Scenario("deferred rules, rollback", ended(begun(waiting), end_waiting), _roll_back)
    yield Scenario("deferred rules, removed", waiting, stop_waiting)
    yield Scenario("deferred rules, planned and removed", ended(waiting, end_waiting), stop_waiting)
    yield Scenario("keys, rolled back", begun(boxes), _change_boxes, then="roll back")
    yield Scenario("profile, remove facts", _profiled, remove_edges)
    yield Scenario("add program, on demand before", _asked, add_program)


def _roll_back(subject: Subject) -> None:
    assert subject.transaction is not None
    if subject.transaction.is_open:
        subject.transaction.rollback()


def _change_boxes(subject: Subject) -> None:
    subject.reasoner.insert_or_update("box", [(literal(1), literal("place 3")), (literal(8), literal("place 1"))])


def _profiled() -> Subject:
    subject = edges()
    subject.kept["profile"] = subject.reasoner.profile()
    return subject


def _asked() -> Subject:
    subject = edges()
    subject.reasoner.answers('path("b", ?y)', on_demand=True)
    return subject


# --- graphs and SPARQL updates ---------------------------------------------------------------------------------------------

UPDATES: Final = {
    "insert data": "INSERT DATA { GRAPH :g2 { :kit a :Cat } :mia :likes :kit }",
    "delete data": "DELETE DATA { GRAPH :g1 { :tom :likes :mia } GRAPH :g2 { :tom a :Cat } }",
    "delete where": "DELETE WHERE { GRAPH ?g { ?x a ?class } }",
    "modify": "DELETE { GRAPH ?g { ?x :likes ?y } } INSERT { GRAPH :g3 { ?y :likedBy ?x } } WHERE { GRAPH ?g { ?x :likes ?y } }",
    "clear": "CLEAR ALL",
    "drop": "DROP SILENT GRAPH :g1",
    "create": "CREATE SILENT GRAPH :g4",
    "add": "ADD :g1 TO :g2",
    "copy": "COPY :g1 TO :g2",
    "move": "MOVE SILENT :g1 TO :g5 ; CLEAR SILENT GRAPH :g2",
}
PREFIX: Final = "PREFIX : <http://example.org/> "


def allowing() -> Subject:
    """A dataset whose updates may load local files, and such a file."""
    subject = dataset(allow={"load", "files"})
    subject.kept["folder"] = folder = tempfile.TemporaryDirectory()
    subject.kept["file"] = path = Path(folder.name, "kittens.ttl")
    path.write_text(KITTENS, encoding="utf-8")
    return subject


def load_by_update(subject: Subject) -> None:
    assert subject.graph is not None
    subject.graph.update(f"LOAD <{subject.kept['file'].as_uri()}> INTO GRAPH <http://example.org/g6>")


TRIG: Final = "@prefix : <http://example.org/> . :g7 { :kit a :Cat } :g1 { :kit :likes :tom } :x :y :z ."
NQUADS: Final = "<http://example.org/kit> <http://example.org/likes> <http://example.org/tom> <http://example.org/g7> .\n"
JSONLD: Final = '{"@id": "http://example.org/kit", "@type": "http://example.org/Cat"}'
N3: Final = "@prefix : <http://example.org/> . :kit a :Cat ; :likes :tom ."
RDFXML: Final = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">
<Cat rdf:about="http://example.org/kit"><likes rdf:resource="http://example.org/tom"/></Cat></rdf:RDF>"""
NTRIPLES: Final = "<http://example.org/kit> <http://example.org/likes> <http://example.org/tom> .\n"
PARSED: Final = {"trig": TRIG, "nquads": NQUADS, "json-ld": JSONLD, "n3": N3, "xml": RDFXML, "nt": NTRIPLES}


def add_other(graph: Graph) -> None:
    graph += Graph().parse(data=KITTENS, format="turtle")


def subtract_other(graph: Graph) -> None:
    graph -= Graph().parse(data=ZOO, format="turtle")


def _of_graphs() -> Iterator[Scenario]:
    for name, text in UPDATES.items():
        yield Scenario(f"update, {name}", dataset, on_graph(lambda graph, text=text: graph.update(PREFIX + text)))  # type: ignore[misc]
    yield Scenario("update, modify, by graph", by_graph, on_graph(lambda graph: graph.update(PREFIX + UPDATES["modify"])))
    yield Scenario("update, load", allowing, load_by_update)
    for format, document in PARSED.items():
        is_ours = format != "n3"  # rdflib's own parser adds triple after triple
        yield Scenario(f"dataset, parse {format}", dataset, on_graph(_parse(document, format)), is_one=is_ours)
    yield Scenario("rdflib, clear", zoo, on_graph(lambda graph: graph.remove((None, None, None))))
    yield Scenario("rdflib, set", zoo, on_graph(lambda graph: graph.set((EX.tom, EX.likes, Literal(7)))), is_one=False)
    yield Scenario("rdflib, +=", zoo, on_graph(add_other))
    yield Scenario("rdflib, -=", zoo, on_graph(subtract_other), is_one=False)
    yield Scenario("rdflib, close", deferring(zoo), on_graph(lambda graph: graph.close()))
    yield Scenario("rdflib, close and commit", deferring(zoo), on_graph(lambda graph: graph.close(True)), may_undo=True)
    yield Scenario("dataset by graph, read", by_graph, on_graph(lambda graph: list(graph.quads())))
    change_read = on_graph(lambda graph: graph.update(PREFIX + UPDATES["modify"]))
    yield Scenario("dataset by graph, change what was read", seen_by_graph, change_read)
    for name, make in {"dataset": dataset, "dataset by graph": seen_by_graph}.items():
        yield Scenario(f"{name}, commit what is deferred", deferring(make), on_graph(lambda graph: graph.commit()), may_undo=True)
        yield Scenario(f"{name}, roll back what is deferred", deferring(make), on_graph(lambda graph: graph.rollback()))
    yield Scenario("dataset, add graph", dataset, on_graph(lambda graph: graph.add_graph(URIRef(EX.g9))))
    yield Scenario("graphs, create", named, create_graph)


def _parse(document: str, format: str) -> Callable[[Any], object]:
    return lambda graph: graph.parse(data=document, format=format)


def seen_by_graph() -> Subject:
    """A dataset by graph, each of which has been read."""
    subject = by_graph()
    list(cast(Dataset, subject.graph).quads())
    return subject


def deferring(make: Make) -> Make:
    """A graph or dataset with a triple that was added and not passed to the reasoner yet."""

    def made() -> Subject:
        subject = make()
        assert subject.graph is not None
        subject.graph.add(KIT)
        return subject

    return made


def create_graph(subject: Subject) -> None:
    graphs = subject.reasoner.named_graphs
    graphs.create(np.array([graphs.encode(ex("g9"))], np.int32))


# --- Worlds of owlready2 ---------------------------------------------------------------------------------------------------


def animals() -> Subject:
    """A World, which a reasoner follows."""
    import owlready2

    from kg_reasoner.owlready2 import attach

    world = owlready2.World()
    with world.get_ontology("http://example.org/animals#"):
        cat = type("Cat", (type("Animal", (owlready2.Thing,), {}),), {})
        owns = type("owns", (owlready2.ObjectProperty,), {})
        type("Owner", (owlready2.Thing,), {"equivalent_to": [owns.some(cat)]})
        owlready2.Thing("ann", owns=[cat("tom")])
    attached = attach(world)
    subject = Subject(attached.reasoner)
    subject.kept |= {"world": world, "attached": attached}
    subject.look = lambda: {"World": _seen_in(subject)}
    return subject


def _seen_in(subject: Subject) -> frozenset[str]:
    """What a World states, after the reasoner has followed it."""
    world = subject.kept["world"]
    subject.reasoner = subject.kept["attached"].reasoner
    triples = world.graph.execute("SELECT s,p,o FROM objs UNION ALL SELECT s,p,o FROM datas").fetchall()
    objects = [(each.name, sorted(map(str, each.is_a))) for each in (*world.classes(), *world.individuals())]
    return frozenset(map(str, (*triples, *objects)))


def change_world(subject: Subject) -> None:
    """Ask for the reasoner after a change that is there whatever becomes of that."""
    assert subject.kept["attached"].reasoner


def changed_animals() -> Subject:
    subject = animals()
    world = subject.kept["world"]
    ontology = world.get_ontology("http://example.org/animals#")
    ontology.tom.is_a.append(ontology.Owner)
    ontology.ann.owns = []
    return subject


def sync(subject: Subject) -> None:
    from kg_reasoner.owlready2 import sync_reasoner

    sync_reasoner(subject.kept["world"], infer_property_values=True, debug=0)


def _of_worlds() -> Iterator[Scenario]:
    if importlib.util.find_spec("owlready2") is not None:
        yield Scenario("World, followed", changed_animals, change_world)
        yield Scenario("World, sync_reasoner", animals, sync)
        yield Scenario("World, sync_reasoner again", ended(animals, sync), sync)


# --- what only reads -------------------------------------------------------------------------------------------------------

FAR: Final = Atom("path", (literal("a"), literal("a")))
_TYPES: Final = "SELECT ?s ?o { ?s a ?o } ORDER BY ?s ?o"


def _written(facts: Facts) -> bytes:
    file = io.BytesIO()
    facts.write_to(file, "csv")
    return file.getvalue()


READS: Final[Mapping[str, Callable[[Reasoner], object]]] = {
    "explain": lambda reasoner: str(reasoner.explain(FAR)),
    "all proofs": lambda reasoner: [str(proof) for proof in islice(reasoner.all_proofs(FAR), 3)],
    "why not": lambda reasoner: str(reasoner.why_not(Atom("path", (literal("a"), literal("z"))))),
    "answers": lambda reasoner: set(reasoner.answers("path(?x, ?y), NOT edge(?x, ?y), degree(?x, ?n)")),
    "SPARQL": lambda reasoner: sorted(map(str, reasoner.query("SELECT ?p (COUNT(?s) AS ?n) { ?s ?p ?o } GROUP BY ?p"))),
    "inconsistencies": lambda reasoner: list(map(str, reasoner.inconsistencies())),
    "OWL profiles": lambda reasoner: str(reasoner.owl_profiles()),
    "hierarchy": lambda reasoner: str(reasoner.hierarchy()),
    "plan": lambda reasoner: str(reasoner.plan("SELECT * { ?s ?p ?o . ?o ?p ?s }")),
    "index": lambda reasoner: list(reasoner.query_index("by_place", "place 1")),
    "multiset": lambda reasoner: list(reasoner.counts("vote")),
    "axioms of a proof": lambda reasoner: reasoner.axioms_of(reasoner.explain(next(iter(reasoner.triples(which="inferred"))))),
    "consistency": lambda reasoner: reasoner.is_consistent(),
    "labels": lambda reasoner: str(reasoner.explain(FAR).with_prefixes(reasoner.labels("en"))),
    "ids": lambda reasoner: reasoner.triple_ids().tolist(),
    "results formats": lambda reasoner: [getattr(reasoner.query(_TYPES), f"to_{name}")() for name in ("csv", "tsv", "json", "xml")],
    "constructed graph": lambda reasoner: set(reasoner.query("CONSTRUCT { ?s a ?o } WHERE { ?s a ?o }").to_graph()),
    "file of facts": lambda reasoner: _written(reasoner.facts("path")),
}
_READ: Final[Mapping[str, Make]] = {
    **dict.fromkeys(("SPARQL", "inconsistencies", "OWL profiles", "hierarchy", "plan"), axioms),
    **dict.fromkeys(("axioms of a proof", "consistency", "ids", "results formats", "constructed graph"), axioms),
    "index": boxes,
    "multiset": live,
}
"""What is read, where it is not `edges`."""


GRAPH_READS: Final[Mapping[str, Callable[[Any], object]]] = {
    "documents": lambda graph: [graph.serialize(format=name) for name in ("turtle", "trig", "nquads", "json-ld", "xml")],
    "choices": lambda graph: set(graph.triples_choices(([EX.tom, EX.kit], RDFLIB_RDF.type, None))),
    "walks": lambda graph: (set(graph.transitive_objects(EX.tom, RDFLIB_RDF.type)), set(graph.all_nodes())),
    "description": lambda graph: set(graph.cbd(EX.tom)),
    "graphs": lambda graph: {part.identifier: set(part) for part in graph.graphs()},
    "inferred": lambda graph: set(graph.store.inferred),
}
"""What is read in a dataset."""


def knowing(make: Make, read: Operation) -> Make:
    """A subject, and what another one like it reads."""

    def prepared() -> Subject:
        subject = make()
        subject.kept["read"] = read(make())
        return subject

    return prepared


def reads_the_same(read: Operation) -> Operation:
    """Return what reads, and finds that nothing that an interrupted reader has left behind misleads it."""

    def execute(subject: Subject) -> None:
        assert read(subject) == subject.kept["read"]

    return execute


def _of_reading() -> Iterator[Scenario]:
    for name, read in READS.items():
        operation = partial(lambda read, subject: read(subject.reasoner), read)
        yield Scenario(f"read, {name}", knowing(_READ.get(name, edges), operation), reads_the_same(operation))
    for name, read in GRAPH_READS.items():
        operation = partial(lambda read, subject: read(subject.graph), read)
        for kind, make in {"dataset": dataset, "dataset by graph": by_graph}.items():
            yield Scenario(f"{kind}, read {name}", knowing(make, operation), reads_the_same(operation))


SURFACES: Final = (_of_the_shell, _of_tables, _of_programs, _of_graphs, _of_worlds, _of_reading)
