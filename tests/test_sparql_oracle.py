from collections import Counter
from hypothesis import given, settings, note, event, HealthCheck, assume
from .sparql_oracle.strategies import cases
from .sparql_oracle.evaluate import evaluate
from .sparql_oracle.compare import same_answers
from .sparql_oracle.text import query_text
from .sparql_oracle.others import by_oxigraph
import os

@settings(max_examples=int(os.environ.get("N", 200)), suppress_health_check=list(HealthCheck))
@given(cases())
def test_x(case):
    dataset, query = case
    text = query_text(query)
    note(text)
    o = evaluate(query, dataset)
    event("empty" if (not o.result.rows if hasattr(o.result, "rows") else not o.result) else "some")
    for n in o.notes: event(n)
    try:
        f = by_oxigraph(dataset, text)
    except SyntaxError as e:
        event("refused: "+str(e)[:60]); return
    if o.notes: return
    note(f"found {f}\nexpected {o.result}")
    assert same_answers(o.result, f, True)
