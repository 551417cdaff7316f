"""DBSP: incremental circuits over Z-sets, and a Datalog interpreter as a circuit. The README of this folder is a tutorial.

Source: Budiu, Chajed, McSherry, Ryzhyk and Tannen, DBSP: Automatic Incremental View Maintenance for Rich Query Languages
(PVLDB 16, 2023).
"""

from kg_reasoner.dbsp import aggregates
from kg_reasoner.dbsp.circuit import Circuit, Nested
from kg_reasoner.dbsp.datalog import Datalog
from kg_reasoner.dbsp.wiring import Feedback, Stream
from kg_reasoner.dbsp.zset import ZSet

__all__ = ["Circuit", "Datalog", "Feedback", "Nested", "Stream", "ZSet", "aggregates"]
