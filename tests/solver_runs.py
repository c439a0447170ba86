"""Rows of benchmark runs for tests."""

from typing import Any

ANSWERS = {"sat": "SAT", "unsat": "UNSAT"}


def run_row(
    variant: str, instance: str, status: str, cpu_s: float, *, expected: str | None = None, **other: Any
) -> dict[str, Any]:
    """A row of RUNS. A SAT answer has a checked model, an UNSAT answer a verified proof, unless `other` says
    otherwise."""
    answer = ANSWERS.get(status)
    certificate = {"sat": "model", "unsat": "proof"}.get(status)
    row = {
        "variant_id": variant,
        "cycle": "0001",
        "suite": "train",
        "instance": instance,
        "family": instance.split("-")[0],
        "expected": expected or answer or "SAT",
        "formula_sha": instance,
        "shuffle": 0,
        "seed": 0,
        "repeat": 0,
        "status": status,
        "answer": answer,
        "solved": status in ANSWERS,
        "answer_checked": status in ANSWERS,
        "certificate": certificate,
        "proof_status": "verified" if status == "unsat" else None,
        "cpu_s": cpu_s,
        "wall_s": cpu_s,
        "peak_mb": 20.0,
        "conflicts": 1000,
        "decisions": 2000,
        "propagations": 30000,
        "timeout_s": 10.0,
        "memory_mb": 1024,
        "host": "here",
    }
    return row | other
