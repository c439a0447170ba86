"""Every patch of the catalogue on every base it has a form for: it compiles, answers right, its proofs verify, and it searches differently.

Kissat is a base here where EVOLAKE_KISSAT names an archive of its sources, or their folder: no package of the index has them. Then each of its
patches solves the smoke suite too, and a variant with several edits is taken through the gates.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from solver_gates import RULES, open_project
from solver_patch_builds import build_patched, with_defaults

from evolake.gates import load_rules
from evolake.gates.checkers import apply
from evolake.lake.blobs import BlobStore
from evolake.settings import load
from evolake.solvers.edits import PATCHES, Edit, EditOutcome, apply_edits, catalogue, family_of, tunables, write_edits
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.crossover import cross_edits
from evolake.solvers.formula.cnf import read_cnf_file
from evolake.solvers.formula.model_check import falsified_clauses
from evolake.solvers.gates.compliance import compliance_evidence
from evolake.solvers.gates.judging import judge_variant
from evolake.solvers.gates.runs import correctness_runs
from evolake.solvers.process.execute import Program, RunLimits, SolverRun, run_solver
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.build import build_variant, compiler
from evolake.solvers.repository.object_store import store_of
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.seeds.seeding import lay_out_seed, seed_named, seed_trees
from evolake.solvers.seeds.seeds_file import Seed
from evolake.solvers.suites import Suite
from evolake.solvers.suites.opening import named_suite

KISSAT = os.environ.get("EVOLAKE_KISSAT", "")
BASES = ("minisat22", "glucose421", "maplechrono", "mergesat3", "cadical195", *(("kissat",) if KISSAT else ()))
FORMS = [(base, spec.name) for base in BASES for spec in PATCHES.values() if base.rstrip("0123456789") in spec.forms]
LATER = {"cadical-chrono-relative", "kissat-chrono-relative"}
"""Patches that decide on deeper trails than such small formulas have."""
LAST = "more-holes"
"""A long search, for patches that change none of the shorter ones."""
LARGER = {"mergesat3": "larger", "kissat": "larger"}
"""A search of middle length that comes before it: the second mode of MergeSat begins after ten thousand conflicts, the fourth focused phase of Kissat
later."""
SHORT = {"maplechrono": "short"}
"""Whose proof is checked, and which is searched first, in place of `unsat`, whose search and proof are several times as long here as elsewhere."""
LIMITS = RunLimits(cpu_s=60, wall_s=300)

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Programs:
    """One base and its patched programs."""

    adapter: Adapter
    outcomes: dict[str, EditOutcome]
    programs: dict[str, Path]
    log: str
    searched: dict[str, float] = field(default_factory=dict)

    def conflicts(self, cnf: Path, scratch: Path) -> float:
        """Of the unpatched program on one formula; run once."""
        if cnf.name not in self.searched:
            self.searched[cnf.name] = self.run("", cnf, scratch).counters["conflicts"]
        return self.searched[cnf.name]

    def program(self, patch: str) -> Program:
        adapter = self.adapter
        return Program(self.programs[patch].parent, adapter.argv, adapter.proof_argv, adapter.proof, {}, adapter.statistics, adapter.exit_codes)

    def run(self, patch: str, cnf: Path, scratch: Path) -> SolverRun:
        """With a proof."""
        return run_solver(self.program(patch), cnf, LIMITS, scratch=scratch, want_proof=True)


@pytest.fixture(scope="session")
def seed_folder(tmp_path_factory) -> Callable[[str], Path]:
    """Folder of a seed laid out as a variant; the sources are fetched once."""
    place = tmp_path_factory.mktemp("seeds")
    given = Seed("kissat", "given", "kissat", "MIT", path=Path(KISSAT))
    return cache(lambda name: lay_out_seed(given if name == "kissat" else seed_named(name), BlobStore(place / "blobs"), place))


@pytest.fixture(scope="session")
def patched(seed_folder, tmp_path_factory) -> Callable[[str], Programs]:
    """The programs of one base, built once."""

    def build(name: str) -> Programs:
        adapter, folder = load_adapter(name), seed_folder(name)
        return Programs(adapter, *build_patched(folder, adapter, tmp_path_factory.mktemp(name), kept_objects(folder, adapter)))

    return cache(build)


def kept_objects(folder: Path, adapter: Adapter) -> dict[str, bytes]:
    """Of CaDiCaL, whose patches change 6 of 79 units: the objects that a build of the seed left in the user's store, by name; none if none did."""
    if adapter.name != "cadical195" or not (store := store_of(folder, adapter, compiler()[1])) or not (kept := store.read(source_sha(folder))):
        return {}
    return {Path(item.out).stem: item.data for item in kept.objects}


@pytest.fixture(scope="session")
def formulas(tmp_path_factory) -> dict[str, Path]:
    """A satisfiable and three unsatisfiable 3-SAT formulas near the threshold, pigeons in holes, and more of them."""
    folder = tmp_path_factory.mktemp("formulas")
    clauses = {
        "sat": _random(200, 850, 3, planted=True), "unsat": _random(190, 870, 4), "short": _random(120, 552, 4), "larger": _random(210, 950, 4),
        "holes": _pigeons(7), LAST: _pigeons(8),
    }
    for name, rows in clauses.items():
        variables = max(abs(literal) for row in rows for literal in row)
        lines = [" ".join(map(str, [*row, 0])) for row in rows]
        (folder / f"{name}.cnf").write_text("\n".join([f"p cnf {variables} {len(rows)}", *lines, ""]))
    return {name: folder / f"{name}.cnf" for name in clauses}


def _random(variables: int, clauses: int, seed: int, *, planted: bool = False) -> list[list[int]]:
    """Random 3-SAT. `planted`: with a hidden model, and without the clauses that it falsifies."""
    random = np.random.default_rng(seed)
    model = random.choice([-1, 1], variables + 1)
    rows: list[list[int]] = []
    while len(rows) < clauses:
        row = [int(v + 1) * int(random.choice([-1, 1])) for v in random.choice(variables, 3, replace=False)]
        if not planted or any(literal * model[abs(literal)] > 0 for literal in row):
            rows.append(row)
    return rows


def _pigeons(holes: int) -> list[list[int]]:
    rows = [[p * holes + h + 1 for h in range(holes)] for p in range(holes + 1)]
    return rows + [[-(p * holes + h + 1), -(q * holes + h + 1)] for h in range(holes) for p in range(holes + 1) for q in range(p)]


@pytest.mark.parametrize(("base", "patch"), FORMS, ids=[f"{base}-{patch}" for base, patch in FORMS])
def test_a_patch_compiles_answers_right_with_proofs_and_changes_the_search(
    base: str, patch: str, requires, patched, formulas: dict[str, Path], tmp_path: Path
) -> None:
    requires("c++")
    built = patched(base)
    assert built.outcomes[patch].applied, built.outcomes[patch]
    assert patch in built.programs, built.log[-3000:]
    conflicts, before = {}, {}
    always = ("sat", proven := SHORT.get(base, "unsat"), "holes")
    for name in (*always, *({"unsat"} - {proven}), *({LARGER[base]} if base in LARGER else ()), LAST):
        cnf = formulas[name]
        if name not in always and conflicts != before:
            break
        run = built.run(patch, cnf, tmp_path / name)
        assert (run.status, run.problems) == ("sat" if name == "sat" else "unsat", ())
        if run.status == "sat":
            assert run.model is not None and len(falsified_clauses(read_cnf_file(cnf), run.model)) == 0
        elif name == proven:
            assert run.proof is not None
            assert check_proof(cnf, run.proof).verdict == "verified"
        conflicts[name], before[name] = run.counters["conflicts"], built.conflicts(cnf, tmp_path / "base")
    assert conflicts != before or patch in LATER, "the patch changes nothing here"


@pytest.mark.parametrize("base", BASES)
def test_every_seed_declares_options_that_can_be_moved(base: str, seed_folder) -> None:
    adapter = load_adapter(base)
    result = tunables(seed_folder(base), adapter)
    assert len(result) >= 12
    assert all(item.problem(item.default) is None for item in result)
    assert len(catalogue(adapter)) == sum(family == base for family, _ in FORMS)
    assert family_of(adapter) == base.rstrip("0123456789")


@pytest.mark.parametrize("base", BASES)
def test_every_patch_keeps_the_rules_of_the_compliance_gate(base: str, seed_folder, tmp_path: Path) -> None:
    adapter, seed = load_adapter(base), seed_folder(base)
    rules = load_rules(load().seeds / "rules", "solvers").of_gate("compliance")
    objections = {}
    for spec in catalogue(adapter):
        folder = tmp_path / spec.name
        shutil.copytree(seed, folder)
        edit = with_defaults(spec.name)
        assert apply_edits(folder, adapter, [edit])[0].applied
        (folder / "edits.json").write_text(write_edits([edit]))
        evidence = compliance_evidence(folder, seed, base)
        objections |= {(spec.name, rule.id): result.reason for rule in rules if (result := apply(rule.check, evidence, rule.parameters))}
    assert objections == {}


def test_a_crossover_of_patches_and_a_moved_option_builds_cleanly_and_solves(requires, seed_folder, formulas, tmp_path: Path) -> None:
    requires("c++")
    adapter, seed = load_adapter("minisat22"), seed_folder("minisat22")
    first = [with_defaults("reduce-glue-tiers"), with_defaults("restart-ema"), Edit("tunable", "var-decay", {"value": 0.85})]
    second = [with_defaults("restart-geometric"), with_defaults("phase-rephase"), Edit("tunable", "var-decay", {"value": 0.9})]
    crossed = cross_edits(source_files(seed), adapter, first, second)
    assert [edit.name for edit in crossed.edits] == ["reduce-glue-tiers", "restart-ema", "var-decay", "phase-rephase"]
    assert [(item.what, item.reason) for item in crossed.dropped] == [
        ("tunable:var-decay", "same-edit-other-values"), ("patch:restart-geometric", "slot-taken"),
    ]
    ids = []
    for number, order in enumerate((crossed.edits, crossed.edits[::-1])):
        folder = tmp_path / str(number)
        shutil.copytree(seed, folder)
        assert all(outcome.applied for outcome in apply_edits(folder, adapter, order))
        (folder / "edits.json").write_text(write_edits(order))
        ids.append(source_sha(folder))
    assert ids[0] == ids[1] != source_sha(seed)
    blobs = BlobStore(tmp_path / "blobs")
    built = build_variant(tmp_path / "0", adapter, blobs)
    assert built.ok and built.program, built.reason
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / Path(adapter.program).name
    program.write_bytes(blobs.get(built.program))
    program.chmod(0o755)
    ready = Program(tmp_path / "bin", adapter.argv, adapter.proof_argv, adapter.proof, {}, adapter.statistics, adapter.exit_codes)
    run = run_solver(ready, formulas["unsat"], LIMITS, scratch=tmp_path / "scratch", want_proof=True)
    assert run.status == "unsat" and run.proof is not None
    assert check_proof(formulas["unsat"], run.proof).verdict == "verified"


if KISSAT:

    @pytest.fixture(scope="session")
    def smoke(tmp_path_factory) -> Suite:
        place = tmp_path_factory.mktemp("smoke")
        blobs = BlobStore(place / "blobs")
        return named_suite("smoke", blobs, place / "formulas", seeds=load().seeds, trees=seed_trees(blobs, place / "seeds"))

    @pytest.mark.parametrize("patch", [patch for base, patch in FORMS if base == "kissat"])
    def test_kissat_with_a_patch_solves_the_smoke_suite_and_every_proof_verifies(patch: str, requires, patched, smoke: Suite) -> None:
        requires("c++")
        built = patched("kissat")
        rows = correctness_runs(built.program(patch), smoke, variant_id=patch, cycle="0001")
        statuses = {item.name: item.status.lower() for item in smoke.instances}
        assert {row["instance"]: row["status"] for row in rows} == statuses
        assert {row["proof_status"] for row in rows if row["status"] == "unsat"} == {"verified"}
        assert all(row["solved"] for row in rows)

    def test_a_variant_of_kissat_with_several_edits_comes_through_the_gates(requires, seed_folder, tmp_path: Path) -> None:
        requires("c++")
        adapter, seed, folder = load_adapter("kissat"), seed_folder("kissat"), tmp_path / "variant"
        edits = [
            *(with_defaults(f"kissat-{name}") for name in ("reduce-age", "rephase-sequence", "chrono-relative", "probe-schedule", "mode-lengths")),
            Edit("tunable", "tier2", {"value": 8}), Edit("tunable", "target", {"value": 2}), Edit("tunable", "vivifyeffort", {"value": 150}),
        ]
        shutil.copytree(seed, folder)
        assert [outcome for outcome in apply_edits(folder, adapter, edits) if not outcome.applied] == []
        (folder / "edits.json").write_text(write_edits(edits))
        results = judge_variant(
            folder, adapter=adapter, base=seed, ruleset=RULES, bench=open_project(tmp_path / "project").bench, cycle="0001", run_id="test",
        )
        assert results.accepted, [(verdict.gate, verdict.reason) for verdict in results.verdicts if verdict.outcome == "block"]
