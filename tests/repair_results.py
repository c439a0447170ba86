"""Result rows of a made-up study: each arm solves with a chance of its own, and harder problems are harder
for every arm and seed."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from evolake.repair.names import ARMS, INFORMED, NAMED, SHUFFLED, WHOLE_CONFLICT
from evolake.repair.tables import PROBLEMS, RESULTS

K, R = 4, 4
SKILL = (
    dict(zip(ARMS, (0.15, 0.4, 0.45, 0.7, 0.85), strict=True))
    | {INFORMED: 0.6, WHOLE_CONFLICT: 0.8, SHUFFLED: 0.41}
    | dict(zip(NAMED, (0.5, 0.65, 0.87), strict=True))
)


def made_up_problems(
    count: int, *, suite: str = "lia", variation: str = "none", base: str = "lin"
) -> pl.DataFrame:
    """Rows of PROBLEMS, every fifth pair unsatisfiable (60/40)."""
    mark = "" if variation == "none" else f"~{variation}"
    return PROBLEMS.frame(
        [
            {
                "problem_id": f"{base}-{place:04d}{mark}",
                "suite": suite,
                "variation": variation,
                "base_id": f"{base}-{place:04d}",
                "k": 4,
                "m": 5,
                "label": "unsat" if place % 5 in (1, 3) else "sat",
                "certified_by": ["z3", "enumeration"],
                "core_size": 2,
                "seed": place,
                "json": "{}",
            }
            for place in range(count)
        ]
    )


def made_up_results(
    problems: pl.DataFrame,
    seeds: int = 3,
    *,
    arms: Sequence[str] = ARMS,
    skill: Mapping[str, float] = SKILL,
    stream: int = 0,
) -> pl.DataFrame:
    """Rows of RESULTS: every arm and seed on every problem."""
    rng = np.random.default_rng(stream)
    rows = []
    hardness = {problem: rng.normal(0, 0.25) for problem in problems["problem_id"]}
    for arm in arms:
        for seed in range(seeds):
            for problem in problems.to_dicts():
                solved = bool(rng.random() < skill[arm] - hardness[problem["problem_id"]])
                if arm == "one_shot":
                    rounds = 1
                elif solved:
                    rounds = int(rng.integers(1, R + 1))
                else:
                    rounds = R
                calls = 1 if arm == "one_shot" else rounds * K
                first = int(rng.integers(max(1, calls - K + 1), calls + 1))
                rows.append(
                    {
                        "arm": arm,
                        "seed": seed,
                        "problem_id": problem["problem_id"],
                        "suite": problem["suite"],
                        "variation": problem["variation"],
                        "backend": "operators",
                        "model": "operators",
                        "solved": solved,
                        "claim": problem["label"],
                        "certified_status": "certified" if solved else "refuted",
                        "calls": calls,
                        "solver_calls": int(rng.integers(1, calls + 1)),
                        "rounds": rounds,
                        "first_certified_call": first if solved else None,
                        "budget_exceeded": False,
                        "parse_failures": int(rng.integers(0, 2)),
                        "latency_s": float(rng.gamma(2, 0.01)),
                        "cpu_s": 0.01,
                        "input_tokens": 0,
                        "output_tokens": 0,
                        "study_sha": "s",
                    }
                )
    return RESULTS.frame(rows)
