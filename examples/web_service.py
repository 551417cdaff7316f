"""Answer SPARQL over HTTP, by several threads, within limits. Started without arguments, it asks itself two questions and ends.

Prints:

    {"x": ["http://example.org/tom"]}
    400 SERVICE <http://example.org/other> is not allowed: nothing is fetched unless the owner of the data allows it
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

from rdflib import Graph

import kg_reasoner

DATA = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cat rdfs:subClassOf :Animal .
:tom a :Cat .
"""
GRAPH = kg_reasoner.attach(Graph().parse(data=DATA, format="turtle"))


class Handler(BaseHTTPRequestHandler):
    """``GET /?query=...`` gives the values of each variable as JSON."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query).get("query", [""])[0]
        try:
            with GRAPH.store.reasoner.limited(kg_reasoner.Limits(seconds=2, facts=100_000)):
                result = GRAPH.query(query)
                rows = list(result)
            columns = {str(name): [str(row[name]) for row in rows] for name in result.vars or ()}
            status, body = 200, json.dumps(columns)
        except kg_reasoner.ReasonerError as error:
            status, body = 400, str(error).partition("\n")[0]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def ask(port: int, query: str) -> str:
    try:
        with urlopen(f"http://127.0.0.1:{port}/?query={quote(query)}") as answer:
            return answer.read().decode()
    except HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def main() -> None:
    if len(sys.argv) > 1:
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(ask(server.server_port, "SELECT ?x { ?x a <http://example.org/Animal> }"))
        print(ask(server.server_port, "SELECT * { SERVICE <http://example.org/other> { ?s ?p ?o } }"))
        server.shutdown()


if __name__ == "__main__":
    main()
