"""Certifications per second on one core: claims on problems of the study's own generator, four to eight
variables.

    python benchmarks/certify.py

Each problem is loaded into the solver once and takes sixteen assignments, certified or refuted with a minimal
core, and one claim `unsat`, as a trial of the study does. Printed: all of them together, the assignments
alone, and the claims `unsat` alone (one per problem: a second one is remembered). The goal is 500 per second.
"""

from __future__ import annotations

import time

import numpy as np

from evolake.repair.benchmark.generator import generate
from evolake.repair.certification.certify import Certifier
from evolake.repair.model.candidates import UNSAT, Claim
from evolake.repair.model.problems import Problem

GOAL = 500
CLAIMS = 16
ROUNDS = 3


def main() -> None:
    problems = [item.problem for item in generate(200, 0) if 4 <= len(item.problem.variables) <= 8]
    random = np.random.default_rng(0)
    claims = [
        [
            Claim(
                "sat",
                {item.name: int(random.integers(item.low, item.high + 1)) for item in problem.variables},
            )
            for _ in range(CLAIMS)
        ]
        for problem in problems
    ]
    together, apart, unsat = [], [], []
    for _ in range(ROUNDS):
        together.append(
            rate(
                [
                    (problem, claim)
                    for problem, some in zip(problems, claims, strict=True)
                    for claim in [*some, UNSAT]
                ]
            )
        )
        apart.append(
            rate([(problem, claim) for problem, some in zip(problems, claims, strict=True) for claim in some])
        )
        unsat.append(rate([(problem, UNSAT) for problem in problems]))
    fast, only, claimed = np.median(together), np.median(apart), np.median(unsat)
    print(
        f"{len(problems)} problems of 4 to 8 variables: {fast:.0f} certifications a second on one core, "
        f"slowest round {min(together):.0f} (goal {GOAL}, ratio {fast / GOAL:.1f}x); assignments alone "
        f"{only:.0f}, claims of unsat alone {claimed:.0f}"
    )


def rate(posed: list[tuple[Problem, Claim]]) -> float:
    """Certifications a second of processor time, in one process and one thread."""
    certifier, start = Certifier(), time.process_time()
    for problem, claim in posed:
        certifier.certify(problem, claim)
    return len(posed) / (time.process_time() - start)


if __name__ == "__main__":
    main()
