"""Finds out whether a design file computes what a known genome does, by running both.

Seed designs come as files. If one of them is the baseline or another known design in other words, it can take part in the grammar: its terms can be
dropped, swapped and grafted. Text proves nothing, so both are traced in float64 and run for five steps from the same start on the same
instances; agreement to 1e-6 in every variable is recognition. (The dynamics are chaotic: over more steps even equal designs part.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.designs.genome.grammars import compose
from evolake.designs.genome.variation import DesignGenome
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.tracing.trace import trace

STEPS = 5
TOLERANCE = 1e-6
PROBE_N = 24
PROBE_BATCH = 6
PROBE_SEED = 20


def recognised(source: str, pool: Any, genomes: Sequence[DesignGenome]) -> DesignGenome | None:
    """Return the first genome that computes what the file does, or None. A file that cannot be traced is none. genomes: those that it may be."""
    result = trace(source, pool=pool, dtype="float64")
    if isinstance(result, Blocked):
        return None
    after = states_after(result)
    for genome in genomes:
        traced = trace(compose(genome), pool=pool, dtype="float64")
        if isinstance(traced, TracedDesign) and same_states(after, states_after(traced)):
            return genome
    return None


def states_after(traced: TracedDesign, steps: int = STEPS) -> dict[str, np.ndarray]:
    """Return every variable after a few steps of the batched engine in float64, on small fixed instances."""
    from evolake.designs.engines.engine import make_stepper
    from evolake.designs.model.instances import planted

    instances = planted(PROBE_N, PROBE_BATCH, PROBE_SEED)
    stepper, _ = make_stepper(traced, instances, seed=PROBE_SEED, engine="torch", dtype="float64")
    stepper.run(steps)
    return stepper.state()


def same_states(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    """Equal variables, equal to `TOLERANCE`, relative for large values."""
    if set(first) != set(second):
        return False
    return all(np.allclose(first[name], second[name], rtol=TOLERANCE, atol=TOLERANCE) for name in first)
