"""Processor time decides and the clock is a guard: a run that the clock cut short on a busy machine is made
again, or is no result."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from busy_host import busy_host
from solver_runs import run_row

from evolake.jail import NativeOutcome
from evolake.solvers.evolution.closing import _lost
from evolake.solvers.evolution.cycle_benchmark import current_runs
from evolake.solvers.evolution.population import Population
from evolake.solvers.evolution.solver_contest import _measured
from evolake.solvers.execute import Program, RunLimits, starved
from evolake.solvers.gates.runs import carry_evidence
from evolake.solvers.measurement import measuring
from evolake.solvers.measurement.measuring import Job, measure_together, usable_cores
from evolake.solvers.measurement.metrics import compute_metrics
from evolake.solvers.objectives.portfolio import results_of
from evolake.solvers.rules.outcomes import answered
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.tables import HOLDOUT_RUNS, RUNS

SHELL = (Path("/bin/sh"), Path("/bin/sleep"))
LIMITS = RunLimits(cpu_s=0.4, wall_s=0.5, memory_mb=256)


@pytest.fixture
def busy_core() -> Iterator[int]:
    """A processor on which other processes want to run all the time."""
    with busy_host():
        yield max(os.sched_getaffinity(0))


def job(folder: Path, script: str, limits: RunLimits, core: int) -> Job:
    """A solver that is a shell script, on one formula."""
    (folder / "program").mkdir()
    (folder / "runs").mkdir()
    (folder / "program" / "solver").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "program" / "solver").chmod(0o755)
    (folder / "a.cnf").write_bytes(b"p cnf 2 1\n1 -2 0\n")
    program = Program(folder / "program", ("solver", "{cnf}"), tools=SHELL)
    return Job(
        "v",
        program,
        Instance("a", "x", "SAT", "0" * 64, folder / "a.cnf"),
        "s",
        "0001",
        limits,
        cores=(core,),
        scratch=folder / "runs",
    )


def test_a_run_that_a_busy_machine_starves_is_made_again_with_a_longer_clock(tmp_path, busy_core):
    [row] = measure_together([job(tmp_path, "while :; do :; done", LIMITS, busy_core)])
    assert (row["status"], row["solved"]) == ("timeout", False), (
        "it came to its limit of processor time, long after its first clock"
    )
    assert row["cpu_s"] >= LIMITS.cpu_s and row["wall_s"] > LIMITS.wall_s


def test_a_run_that_stays_starved_is_no_result(tmp_path, busy_core):
    limits = replace(LIMITS, cpu_s=1.5, wall_s=0.15)
    [row] = measure_together([job(tmp_path, "while :; do :; done", limits, busy_core)])
    assert (row["status"], row["answer"], row["solved"]) == ("clock", None, False)
    assert row["cpu_s"] < limits.cpu_s and "still running after 1.35 s of wall clock" in row["problems"]


def test_a_program_that_waits_by_itself_ran_out_of_time(tmp_path, monkeypatch):
    """Else a solver could sleep where it is slow, and such formulas would not count."""
    calls: list[RunLimits] = []

    def counted(program: Program, cnf: Path, limits: RunLimits, **other: Any) -> Any:
        calls.append(limits)
        return run_solver(program, cnf, limits, **other)

    run_solver = measuring.run_solver
    monkeypatch.setattr(measuring, "run_solver", counted)
    [row] = measure_together([job(tmp_path, "exec sleep 30", replace(LIMITS, wall_s=2), usable_cores()[0])])
    assert (row["status"], len(calls)) == ("timeout", 1)


def cut(variant: str, formula: str, **other: Any) -> dict[str, Any]:
    """A row of RUNS that the clock cut short."""
    return run_row(variant, formula, "clock", 0.1, answer=None, solved=False, **other)


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return RUNS.frame(rows)


def test_what_the_clock_cut_short_counts_in_no_figure_and_has_no_vote():
    runs = table(
        run_row("v", "a", "sat", 1.0),
        cut("v", "b"),
        run_row("w", "a", "sat", 2.0),
        run_row("w", "b", "sat", 4.0),
        cut("x", "a"),
    )
    metrics = {
        row["variant_id"]: (row["instances"], row["solved"], row["par2"])
        for row in compute_metrics(runs).to_dicts()
    }
    assert metrics == {"v": (1, 1.0, 1.0), "w": (2, 2.0, 3.0), "x": (1, 0.0, 20.0)}, (
        "without any result, it is unsolved"
    )
    assert {name: [row["instance"] for row in rows] for name, rows in results_of(runs).items()} == {
        "v": ["a"],
        "w": ["a", "b"],
        "x": ["a"],
    }


def test_what_the_clock_cut_short_is_measured_again_in_the_next_cycle():
    rows = [
        run_row("v", "a", "sat", 1.0),
        cut("v", "b"),
        run_row("w", "a", "sat", 2.0),
        run_row("w", "b", "sat", 4.0),
    ]
    live = [{"variant_id": name, "state": "accepted"} for name in "vw"]
    population = Population.empty().with_tables(variants=live, runs=rows)
    kept = current_runs(population, RUNS.empty(), SolversSettings(memory_mb=1024))
    assert set(kept["variant_id"]) == {"w"}
    suite = Suite("s", tuple(Instance(name, "x", "SAT", name) for name in "ab"))
    assert _measured(HOLDOUT_RUNS.frame(rows), suite) == {"w"}


def test_what_the_clock_cut_short_blocks_no_variant():
    def carried(name: str, *statuses: str) -> Sequence[dict[str, Any]]:
        return [
            run_row(
                "v",
                f"{name}~carried{place}" if place else name,
                status,
                1.0,
                suite="carried",
                shuffle=place,
                answer="SAT",
            )
            for place, status in enumerate(statuses)
        ]

    assert carry_evidence([*carried("a", "sat", "clock", "sat"), *carried("b", "clock", "sat", "sat")]) == [
        {"instance": "a", "original": 1.0, "copies": [1.0], "conflicts": {"0": 1000, "2": 1000}, "padded": {}}
    ]
    evidence = {"runs": [run_row("v", "a", "sat", 1.0), cut("v", "b", expected="SAT")]}
    assert answered(evidence, least_sat=2, least_unsat=0) is None
    evidence["runs"][1]["status"] = "timeout"
    assert answered(evidence, least_sat=2, least_unsat=0) is not None


@pytest.mark.parametrize(
    ("status", "cpu_s", "delayed_s", "wall_s", "expected"),
    [
        ("timeout", 0.1, 0.4, 0.5, True),
        ("timeout", 0.3, 0.0, 0.5, True),
        ("timeout", 0.1, 0.1, 0.5, False),
        ("timeout", 0.4, 0.1, 0.5, False),
        ("cpu", 0.1, 0.4, 0.5, False),
        ("ok", 0.1, 0.4, 0.5, False),
    ],
)
def test_the_machine_is_at_fault_if_the_run_was_ready_half_of_the_time(
    status, cpu_s, delayed_s, wall_s, expected
):
    outcome = NativeOutcome(
        status, None, None, {}, b"", b"", "", cpu_s, wall_s, 1.0, "bubblewrap", delayed_s=delayed_s
    )
    assert starved(outcome, LIMITS) == expected


def test_a_duel_that_lost_formulas_to_the_clock_is_held_again():
    """A challenger that did not win is not asked again by a suite of as many instances as its duel had."""
    decision = {"champion_id": "c", "challenger_id": "v", "instances": 12}
    assert _lost(Population.empty(), "c", [decision])["v"] < 13
    assert _lost(Population.empty(), "c", [decision | {"instances": 13}])["v"] >= 13
