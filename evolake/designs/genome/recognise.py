"""Finds out whether a design file computes what a known genome does, by running both.

Seed designs come as files. If one of them is the baseline or another known design in other words, it can take
part in the grammar: its terms can be dropped, swapped and grafted. Text proves nothing, so both are traced in
float64 and run for five steps from the same start on the same instances; agreement to 1e-6 in every variable
is recognition. (The dynamics are chaotic: over more steps even equal designs part.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.designs.engines.isolated import fits_apart, states_apart
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
    """Return the first genome that computes what the file does, or None. A file that cannot be traced is
    none. genomes: those that it may be."""
    result = trace(source, pool=pool, dtype="float64", fits=fits_apart)
    if isinstance(result, Blocked):
        return None
    after = states_after(result)
    if after is None:
        return None
    for genome in genomes:
        traced = trace(compose(genome), pool=pool, dtype="float64", fits=fits_apart)
        states = states_after(traced) if isinstance(traced, TracedDesign) else None
        if states is not None and same_states(after, states):
            return genome
    return None


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
