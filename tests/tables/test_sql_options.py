"""Facts by queries of SQL: the options --sql and --database of `run` and `shell`."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.test_cli import bad, good
from tests.helpers.extras import needed
from tests.tables.databases import postgresql

PROGRAM = """
input relation edge(from: string, to: string) .
output relation path(from: string, to: string) .
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
"""
PATHS = "# path (3 facts)\na\tb\na\tc\nb\tc\n"
QUERY = "edge=SELECT a, b FROM edges WHERE a <> 'x=y'"
STATEMENTS = ("CREATE TABLE edges (a TEXT, b TEXT)", "INSERT INTO edges VALUES ('a', 'b'), ('b', 'c'), ('x=y', 'z')")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("roads.db")) as database, database:
        for statement in STATEMENTS:
            database.execute(statement)
    Path("p.dl").write_text(PROGRAM)
    return Path("p.dl")


def test_run_takes_facts_by_queries(program: Path) -> None:
    for url in ("sqlite:///roads.db", "roads.db", f"sqlite:///{program.parent.absolute()}/roads.db"):
        shown = good("run", program, "--sql", QUERY, "--database", url)
        assert shown.stdout == PATHS and "warning" not in shown.stderr
    Path("roads.db").rename("a road?#%41.db")
    assert good("run", program, "--sql", QUERY, "--database", "a road?#%41.db").stdout == PATHS


def test_queries_in_the_shell(program: Path) -> None:
    options = "--database", "roads.db", "--sql", QUERY, "--sql", "egde=SELECT 1"
    shown = good("shell", program, *options, input="dump path;")
    assert shown.stdout.count("path{") == 3
    assert "the program does not use the relation egde, for which there is a query, did you mean 'edge'?" in shown.stderr


def test_run_warns_of_queries_without_a_relation_and_the_reverse(program: Path) -> None:
    shown = good("run", program, "--sql", "egde=SELECT 1, 2", "--database", "roads.db").stderr
    assert "the program does not use the relation egde, for which there is a query, did you mean 'edge'?" in shown
    assert "no table for the input relation edge" in shown


def test_missing_values_and_columns_by_name(program: Path) -> None:
    query = "edge=SELECT 'z' AS \"to\", NULL AS \"from\" UNION ALL SELECT 'b', 'a'"
    assert "column from" in bad("run", program, "--sql", query, "--database", "roads.db")
    shown = good("run", program, "--sql", query, "--database", "roads.db", "--nulls", "skip").stdout
    assert shown == "# path (1 fact)\na\tb\n"


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--sql", QUERY], "--sql needs --database URL", 2),
        (["--database", "roads.db"], "--database needs queries", 2),
        (["--sql", "SELECT 1", "--database", "roads.db"], "does not name a relation and its query", 2),
        (["--sql", QUERY, "--sql", QUERY, "--database", "roads.db"], "two queries for the relation edge", 2),
        (["--sql", QUERY, "--table", "edge=p.dl", "--database", "roads.db"], "--sql and --table both give facts", 2),
        (["--sql", QUERY, "--database", "mysql://h/d"], "unknown kind of database", 1),
        (["--sql", QUERY, "--database", "sqlite:///none.db"], "none.db does not exist", 1),
        (["--sql", QUERY, "--database", "p.dl"], "the query for edge fails: file is not a database", 1),
        (["--sql", "edge=SELECT c FROM edges", "--database", "roads.db"], "the query for edge fails: no such column: c", 1),
        (["--sql", "edge=SELECT a FROM edges", "--database", "roads.db"], "the query for edge: ", 1),
        (["--sql", "edge=DELETE FROM edges", "--database", "roads.db"], "readonly database", 1),
        (["--sql", "edge=ATTACH 'new.db' AS n", "--database", "roads.db"], "not authorized", 1),
        (["--sql", "edge=VACUUM INTO 'new.db'", "--database", "roads.db"], "authorization denied", 1),
    ],
)
def test_wrong_options_are_errors_and_create_no_database(program: Path, options: list[str], message: str, code: int) -> None:
    assert message in bad("run", program, *options, code=code)
    assert not Path("none.db").exists() and not Path("new.db").exists()


@pytest.mark.parametrize(("scheme", "module"), [("duckdb", "duckdb"), ("postgresql", "psycopg")])
def test_the_extra_is_named(program: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert f"[{scheme}]" in bad("run", program, "--sql", QUERY, "--database", f"{scheme}:///roads.db")


def test_duckdb(program: Path) -> None:
    duckdb = needed("duckdb")
    with duckdb.connect("roads.duckdb") as database:
        for statement in STATEMENTS:
            database.execute(statement)
    url = "duckdb:///roads.duckdb"
    assert good("run", program, "--sql", QUERY, "--database", url).stdout == PATHS
    assert "read-only" in bad("run", program, "--sql", "edge=DELETE FROM edges", "--database", url)
    assert "the query for edge fails" in bad("run", program, "--sql", "edge=SELECT * FROM 'p.csv'", "--database", url)


@pytest.mark.long
def test_postgresql(program: Path) -> None:
    psycopg = needed("psycopg")
    with postgresql() as url:
        with psycopg.connect(url) as connection:
            for statement in STATEMENTS:
                connection.execute(statement)
        assert good("run", program, "--sql", QUERY, "--database", url).stdout == PATHS
        assert "the query for edge fails" in bad("run", program, "--sql", "edge=DELETE FROM edges", "--database", url)


@pytest.mark.parametrize("hosts", ["localhost:abc", "localhost:65536", "localhost:5432,other:0", "[::1]:x"])
def test_a_wrong_port(program: Path, hosts: str) -> None:
    needed("psycopg")
    shown = bad("run", program, "--sql", QUERY, "--database", f"postgresql://tim:secret@{hosts}/none")
    port = hosts.rpartition(":")[2]
    assert f"cannot open the database postgresql://tim:***@{hosts}/none: {port} is not a port" in shown


@pytest.mark.parametrize("password", ["secret", "secret:secret", "secret@secret"])
def test_passwords_are_not_shown(program: Path, password: str) -> None:
    needed("psycopg")
    url = f"postgresql://tim:{password}@localhost:1/none?password=hidden"
    shown = bad("run", program, "--sql", QUERY, "--database", url)
    assert "cannot open the database postgresql://tim:***@localhost" in shown and "secret" not in shown and "hidden" not in shown
