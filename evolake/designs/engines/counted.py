"""Convert seconds of a core to steps. Limits are counted, so that the machine and its load do not decide when
a run ends."""

from __future__ import annotations

RATES = {"fused": 50e6, "mixed": 10e6, "torch": 4e6, "reference": 0.2e6}
"""Steps of the baseline's work times instances times variables that a core is assumed to compute in a second,
by engine."""


def counted_steps(core_s: float, engine: str, variables: int, per_step: float) -> int:
    """Return the steps that an engine is assumed to compute in `core_s` seconds of a core; at least one.

    Args:
        variables: of all instances together. per_step: work of a step (`evolake.designs.work.relative`).
    """
    return max(1, int(core_s * RATES[engine] / (variables * per_step)))


def counted_s(steps: int, engine: str, variables: int, per_step: float) -> float:
    """Return the seconds of a core that steps on so many variables, of all instances together, count for."""
    return steps * variables * per_step / RATES.get(engine, RATES["fused"])
