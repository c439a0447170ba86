"""A jail pool that keeps account: calls and seconds, by gate. Rejected families cost too, and the report says
how much."""

from __future__ import annotations

from typing import Any


class MeteredPool:
    """Passes calls on to a pool of evolake.jail. `gate` names the account; times come from the kernel and
    differ from run to run."""

    def __init__(self, pool: Any, gate: str = ""):
        self._pool = pool
        self.gate = gate
        self.costs: dict[str, dict[str, float]] = {}

    def call(self, **arguments: Any) -> Any:
        """Run a call in the pool and add what it took to the gate's account."""
        outcome = self._pool.call(**arguments)
        account = self.costs.setdefault(self.gate, {"calls": 0, "cpu_s": 0.0, "wall_s": 0.0})
        account["calls"] += 1
        account["cpu_s"] += outcome.cpu_s
        account["wall_s"] += outcome.wall_s
        return outcome
