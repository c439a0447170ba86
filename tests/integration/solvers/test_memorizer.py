"""A variant that knows its training formulas by heart is blocked, and gains nothing in a duel. Real builds
and runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from solver_gates import RULES, GatesProject, open_project
from solver_memorizer import plant_memory

from evolake.gates.checkers import apply
from evolake.solvers.execute import Program, RunLimits, run_solver
from evolake.solvers.formula import read_cnf_file, write_dimacs
from evolake.solvers.gates.runs import GateRunner, carry_evidence, carry_runs
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.suites import Instance, Suite, with_files
from evolake.solvers.suites.fresh import carried_suite
from evolake.solvers.suites.generators import planted_ksat

SECRET = bytes(range(32))
LIMITS = RunLimits(cpu_s=10, wall_s=120, memory_mb=1024)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("memorizer"))


def training(project: GatesProject, count: int = 10) -> Suite:
    """Satisfiable formulas of some tenths of a second each."""
    blobs = project.context.blobs
    formulas = {f"train-{seed}": planted_ksat(54, 1134, 5, seed) for seed in range(count)}
    items = tuple(
        Instance(name, "planted-5", "SAT", blobs.put(write_dimacs(formula)), base=name)
        for name, formula in formulas.items()
    )
    return with_files(Suite("train", items), blobs, project.context.cache)


def built(project: GatesProject, folder: Path) -> Program:
    adapter = project.adapter("minisat22")
    result = build_variant(folder, adapter, project.context.blobs)
    assert result.ok, result.reason
    return open_program(result, adapter, project.context.blobs, project.context.cache)


def test_a_table_of_models_does_not_carry_over(project: GatesProject, tmp_path: Path, requires: Any):
    """Ten models are few numbers, and every answer is right: no rule on sources and no other gate objects."""
    requires("c++")
    suite = training(project)
    seed = built(project, project.seed("minisat22"))
    known = []
    for item in suite.instances:
        assert item.path is not None
        run = run_solver(seed, item.path, LIMITS, scratch=tmp_path)
        assert run.model is not None
        known.append((read_cnf_file(item.path), run.model))
    carried = carried_suite(
        suite, project.context.blobs, project.context.cache, secret=SECRET, root_seed=0, count=10, copies=2
    )
    project = replace(
        project,
        context=replace(
            project.context, carried=carried, smoke=project.context.smoke.first(12), correctness_limits=LIMITS
        ),
    )
    folder = project.copy("minisat22", "memorizer")
    assert set(plant_memory(folder, known)) == {"src/core/Solver.h", "src/core/Solver.cc"}
    for name in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / name).write_text(
            "# Better phases\n\nThe first phase of each variable is chosen with care.\n"
        )
    judged = project.judge(folder, "minisat22")
    assert judged.blocked_by is not None and judged.blocked_by.rule_id == "solvers-stability-carried-over", (
        judged.feedback
    )
    assert "its gain does not carry over" in judged.blocked_by.reason
    mine = carry_evidence([row for row in judged.runs["stability"] if row["suite"] == "carried"])
    theirs = carry_evidence(carry_runs(GateRunner("seed", seed, "0001", LIMITS), carried))
    gain = sum(row["original"] for row in theirs) / sum(row["original"] for row in mine)
    assert gain > 4, "it gains nothing by heart, so that blocking it shows nothing"
    rule = next(rule for rule in RULES.rules if rule.id == "solvers-stability-carried-over")
    assert apply(rule.check, {"carried": theirs, "base_carried": []}, rule.parameters) is None
