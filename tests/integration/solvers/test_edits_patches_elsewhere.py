"""The other seeds with each patch of the catalogue, as test_edits_patches.py has MiniSat; and what all
seeds share.

Kissat is a base here if EVOLAKE_KISSAT names an archive of its sources, or their folder: no package of the
index has them. Then each of its patches solves the smoke suite too, and a variant with several edits is
taken through the gates.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from solver_gates import RULES, open_project
from solver_patch_builds import with_defaults
from solver_patches import BASES, FORMS, KISSAT, Bench, assert_patch_differs, open_benches, seed_of

from evolake.gates import load_rules
from evolake.gates.checkers import apply
from evolake.lake.blobs import BlobStore
from evolake.settings import load
from evolake.solvers.edits import Edit, apply_edits, catalogue, family_of, tunables, write_edits
from evolake.solvers.execute import CORRECTNESS_LIMITS
from evolake.solvers.gates.collecting import compliance_evidence
from evolake.solvers.gates.judging import judge_variant
from evolake.solvers.gates.runs import GateRunner, correctness_runs
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.seeding import seed_trees
from evolake.solvers.suites import Suite
from evolake.solvers.suites.folders import named_suite

pytestmark = pytest.mark.slow
ELSEWHERE = [(base, patch) for base, patch in FORMS if base != "minisat22"]


@pytest.fixture(scope="module")
def benches(tmp_path_factory) -> Iterator[Callable[[str], Bench]]:
    with open_benches(tmp_path_factory.mktemp("patched")) as opened:
        yield opened


@pytest.mark.parametrize(("base", "patch"), ELSEWHERE, ids=[f"{base}-{patch}" for base, patch in ELSEWHERE])
def test_a_patch_compiles_answers_right_with_proofs_and_changes_the_search(
    base, patch, requires, benches, tmp_path
):
    requires("c++")
    assert_patch_differs(benches(base), patch, tmp_path)


@pytest.mark.parametrize("base", BASES)
def test_every_seed_declares_options_that_can_be_moved(base):
    adapter = load_adapter(base)
    result = tunables(seed_of(base), adapter)
    assert len(result) >= 12
    assert all(item.problem(item.default) is None for item in result)
    assert len(catalogue(adapter)) == sum(family == base for family, _ in FORMS)
    assert family_of(adapter) == base.rstrip("0123456789")


@pytest.mark.parametrize("base", BASES)
def test_every_patch_keeps_the_rules_of_the_compliance_gate(base, tmp_path):
    adapter, seed = load_adapter(base), seed_of(base)
    rules = load_rules(load().seeds / "rules", "solvers").of_gate("compliance")
    objections = {}
    for spec in catalogue(adapter):
        folder = tmp_path / spec.name
        shutil.copytree(seed, folder)
        edit = with_defaults(spec.name)
        assert apply_edits(folder, adapter, [edit])[0].applied
        (folder / "edits.json").write_text(write_edits([edit]))
        evidence = compliance_evidence(folder, seed, base)
        objections |= {
            (spec.name, rule.id): result.reason
            for rule in rules
            if (result := apply(rule.check, evidence, rule.parameters))
        }
    assert objections == {}


if KISSAT:

    @pytest.fixture(scope="session")
    def smoke(tmp_path_factory) -> Suite:
        place = tmp_path_factory.mktemp("smoke")
        blobs = BlobStore(place / "blobs")
        return named_suite(
            "smoke", blobs, place / "formulas", seeds=load().seeds, trees=seed_trees(blobs, place / "seeds")
        )

    @pytest.mark.parametrize("patch", [patch for base, patch in FORMS if base == "kissat"])
    def test_kissat_with_a_patch_solves_the_smoke_suite_and_every_proof_verifies(
        patch: str, requires: Callable[[str], str], benches: Callable[[str], Bench], smoke: Suite
    ) -> None:
        requires("c++")
        built = benches("kissat")
        rows = correctness_runs(GateRunner(patch, built.program(patch), "0001", CORRECTNESS_LIMITS), smoke)
        statuses = {item.name: item.status.lower() for item in smoke.instances}
        assert {row["instance"]: row["status"] for row in rows} == statuses
        assert {row["proof_status"] for row in rows if row["status"] == "unsat"} == {"verified"}
        assert all(row["solved"] for row in rows)

    def test_a_variant_of_kissat_with_several_edits_comes_through_the_gates(
        requires: Callable[[str], str], tmp_path: Path
    ) -> None:
        requires("c++")
        adapter, seed, folder = load_adapter("kissat"), seed_of("kissat"), tmp_path / "variant"
        edits = [
            *(
                with_defaults(f"kissat-{name}")
                for name in (
                    "reduce-age",
                    "rephase-sequence",
                    "chrono-relative",
                    "probe-schedule",
                    "mode-lengths",
                )
            ),
            Edit("tunable", "tier2", {"value": 8}),
            Edit("tunable", "target", {"value": 2}),
            Edit("tunable", "vivifyeffort", {"value": 150}),
        ]
        shutil.copytree(seed, folder)
        assert [outcome for outcome in apply_edits(folder, adapter, edits) if not outcome.applied] == []
        (folder / "edits.json").write_text(write_edits(edits))
        results = judge_variant(
            folder,
            adapter=adapter,
            base=seed,
            ruleset=RULES,
            context=open_project(tmp_path / "project").context,
            cycle="0001",
            run_id="test",
        )
        assert results.accepted, [
            (verdict.gate, verdict.reason) for verdict in results.verdicts if verdict.outcome == "block"
        ]
