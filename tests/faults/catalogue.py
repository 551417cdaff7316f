"""All scenarios, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.faults.scenarios import GROUPS, Scenario
from tests.faults.surfaces import SURFACES

SCENARIOS: Final[Mapping[str, Scenario]] = {scenario.name: scenario for group in (*GROUPS, *SURFACES) for scenario in group()}
