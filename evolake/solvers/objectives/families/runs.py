"""Helpers that the solvers' objective families share: reading the rows of a benchmark.

A row is one run on one formula: instance, family, expected, shuffle, repeat, status, answer, solved, certificate, proof_status, cpu_s, timeout_s,
peak_mb, proof_bytes (null without a proof). Shuffled copies of a formula are named `<formula>~<number>`.
"""

import math

WORST = 1e9
WRONG_FACTOR = 10.0


def read_runs(results):
    """Rows that can be used: those with a timeout and a cpu time."""
    runs = []
    for row in results:
        try:
            cpu_s, timeout_s = float(row["cpu_s"]), float(row["timeout_s"])
        except (KeyError, TypeError, ValueError):
            continue
        if math.isfinite(cpu_s) and math.isfinite(timeout_s) and timeout_s > 0:
            runs.append({**row, "cpu_s": max(cpu_s, 0.0), "timeout_s": timeout_s})
    return runs


def penalised(run, penalty=2.0):
    """Cpu seconds of a solved run; else `penalty` times the timeout, ten times that for a wrong answer."""
    if run.get("solved"):
        return run["cpu_s"]
    return penalty * run["timeout_s"] * (WRONG_FACTOR if run.get("status") == "wrong" else 1.0)


def of_status(runs, status):
    """Runs on formulas that are known to have this status."""
    return [run for run in runs if run.get("expected") == status]


def grouped(runs, key):
    """Lists of runs by key(run), in order of the keys."""
    groups = {}
    for run in runs:
        groups.setdefault(str(key(run)), []).append(run)
    return [groups[name] for name in sorted(groups)]


def mean(values):
    """Arithmetic mean, exact whatever the order."""
    return math.fsum(values) / len(values)


def log_cost(run, floor, penalty=2.0):
    """Log of the penalised cost; `floor` seconds are added, so that the quickest runs do not count for more than they save."""
    return math.log(penalised(run, penalty) + floor)
