"""The conditions under which a variant is run, judged and promoted, in words for the roles that propose:
limits, cost, contest and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.solvers.evolution.contest_record import measurement_noise
from evolake.solvers.settings import SolversSettings


def measuring_conditions(settings: SolversSettings, contests: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return one line for each condition. contests: records of earlier ones, whose noise is stated."""
    formulas = f"{settings.train_instances} formulas" if settings.train_instances else "all formulas"
    fresh = max(settings.train_instances, settings.duel_instances) if settings.train_instances else 0
    noise = measurement_noise(contests)
    return [
        f"Benchmark: {formulas} of the training suite. A run has one core, {settings.timeout_s:g} s of "
        f"processor time, {settings.memory_mb} MiB of memory and {settings.proof_mb} MiB for its proof, "
        f"whose check has {settings.proof_timeout_s:g} s.",
        "Cost of a run (PAR-2): its processor time if the answer is right and certified, twice the limit "
        "if not. Objectives over the benchmark make the consensus rank; rank 1 alone promotes nothing.",
        f"Contest: up to {settings.challengers} best-ranked variants that have not lost to this champion "
        f"run next to it on {fresh or 'as many'} fresh formulas of the same families, {settings.pairs} "
        "passes each. Promoted is who solves no fewer and whose whole "
        "95% interval of the PAR-2 ratio (champion over challenger) lies above 1.",
        *(
            [f"Noise: repeated passes of one solver differ by a factor of up to {noise:.3g} in PAR-2."]
            if noise and noise > 1
            else []
        ),
    ]
