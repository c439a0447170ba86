"""Finds out whether a design file computes the baseline dynamics, by running both.

Seed designs come as files. If one of them is the baseline in other words, it gets the baseline's genome, so
that operators can change its drives and not only its values. Text proves nothing, so both are traced in
float64 and run for five steps from the same start on the same instances; agreement to 1e-6 in every variable
is recognition. (The dynamics are chaotic: over more steps even equal designs part.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from evolake.designs.engines.isolated import fits_apart, states_apart
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import OpenGenome, baseline
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.tracing.trace import trace

STEPS = 5
TOLERANCE = 1e-6
PROBE_N = 24
PROBE_BATCH = 6
PROBE_SEED = 20


def recognised(source: str, pool: Any) -> OpenGenome | None:
    """Return the baseline's genome if the file computes what the baseline does, else None, also for a file
    that cannot be traced."""
    result = trace(source, pool=pool, dtype="float64", fits=fits_apart)
    if isinstance(result, Blocked):
        return None
    after = states_after(result)
    if after is None:
        return None
    traced = trace(compose(baseline()), pool=pool, dtype="float64", fits=fits_apart)
    states = states_after(traced) if isinstance(traced, TracedDesign) else None
    return baseline() if states is not None and same_states(after, states) else None


def states_after(traced: TracedDesign, steps: int = STEPS) -> dict[str, np.ndarray] | None:
    """Return every variable after a few steps of the batched engine in float64, on small fixed instances;
    None for a design that breaks on them."""
    states = states_apart(json.dumps(traced.to_json()), PROBE_N, PROBE_BATCH, PROBE_SEED, steps)
    return None if isinstance(states, str) else states


def same_states(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    """Equal variables, equal to `TOLERANCE`, relative for large values."""
    if set(first) != set(second):
        return False
    return all(np.allclose(first[name], second[name], rtol=TOLERANCE, atol=TOLERANCE) for name in first)
