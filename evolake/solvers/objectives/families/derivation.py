"""Length of derivations: bytes of the proofs of unsatisfiable formulas, which the host counts. What a solver prints of its effort is its own word."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, mean, of_status, read_runs

FAMILY = Family(
    "the length of proofs", "log proof bytes of unsatisfiable formulas, unsolved at {UNSOLVED_FACTOR} times the longest",
    ranges={"UNSOLVED_FACTOR": (2.0, 10.0)}, order=9,
)

UNSOLVED_FACTOR = 4.0
LEAST_BYTES = 1e6


def objective(results):
    """Mean log proof bytes of unsatisfiable formulas; an unsolved run counts as some times the longest proof, of at least LEAST_BYTES."""
    runs = of_status(read_runs(results), "UNSAT")
    if not runs:
        return WORST
    lengths = [float(run["proof_bytes"]) if run.get("solved") and run.get("proof_bytes") is not None else None for run in runs]
    known = [length for length in lengths if length is not None]
    if not known:
        raise ValueError("no solved run has a proof")
    ceiling = UNSOLVED_FACTOR * max(LEAST_BYTES, *known)
    return mean([math.log(1.0 + (ceiling if length is None else length)) for length in lengths])
