"""Delete/rederive (DRed): overdelete the consequences of deleted facts, and rederive those with another derivation.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993).
"""

from __future__ import annotations

from kg_reasoner.engine.maintenance.strata import StratumByStratum
from kg_reasoner.storage.kernels import native


class DeleteRederive(StratumByStratum):
    """Overdeletes in a stratum, then rederives."""

    def process_candidates(self) -> None:
        """See `StratumByStratum.process_candidates`."""
        self.materialiser.call(native.overdelete)

    def rederive(self, first: int) -> None:
        """See `StratumByStratum.rederive`."""
        self.database.context.place = first
        self.materialiser.call(native.rederive)
