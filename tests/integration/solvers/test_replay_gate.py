"""A gate's asset does its gate: evidence that is stored is reused, what is lost or of an earlier version is
made again, and comes out the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from solver_gates import RULES, SEEDS, GatesProject, open_project

from evolake.solvers.evolution.workspace import VariantGateResult, Workspace, replay_gate
from evolake.solvers.gates.evidence import load_evidence, store_evidence
from evolake.solvers.gates.specs import GATES
from evolake.solvers.repository.variant import archive_variant, source_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import VARIANTS

Replay = Callable[[str, dict[str, str]], VariantGateResult]
SETTINGS = SolversSettings(
    seeds=["minisat22"],
    memory_mb=1024,
    train_instances=3,
    holdout_instances=1,
    smoke_instances=12,
    proof_mb=128,
)
NEWER = {"build": "base_flags", "stability": "carried"}
"""Gate -> a key that evidence of an earlier version has not."""


@pytest.fixture(scope="module")
def project(tmp_path_factory, requires) -> GatesProject:
    requires("c++")
    return open_project(tmp_path_factory.mktemp("replayed"))


@pytest.fixture(scope="module")
def replay(project) -> Replay:
    """(gate, the evidence that the row names) -> what the gate says of a seed."""
    folder = project.seed("minisat22")
    row: dict[str, Any] = dict.fromkeys(VARIANTS.columns) | {
        "variant_id": source_sha(folder),
        "cycle": "0001",
        "title": "seed",
        "base": "minisat22",
        "parents": [],
        "archive_sha": archive_variant(folder, project.context.blobs),
        "evidence": "{}",
    }
    workspace = Workspace(
        project.context.blobs,
        project.root / "work",
        SEEDS,
        SETTINGS,
        0,
        {"minisat22": row},
        lambda name: pytest.fail(f"{name} is not needed"),
    )
    gates = {gate.name: gate for gate in GATES}
    return lambda gate, evidence: replay_gate(
        workspace, gates[gate], row | {"evidence": json.dumps(evidence)}, RULES, cycle="0001", run_id="test"
    )


@pytest.fixture(scope="module")
def made(replay) -> dict[str, VariantGateResult]:
    """Gate -> what it says where nothing is stored."""
    return {gate.name: replay(gate.name, {}) for gate in GATES}


def shas(made: dict[str, VariantGateResult]) -> dict[str, str]:
    return {gate: str(result.evidence_sha) for gate, result in made.items()}


def test_what_is_not_there_is_made(made):
    assert {gate: (result.passed, result.reused) for gate, result in made.items()} == {
        gate.name: (True, False) for gate in GATES
    }
    assert {gate for gate, result in made.items() if result.runs} == {"smoke", "correctness", "stability"}


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_what_is_there_is_reused_but_for_the_cheap_gate_that_wants_the_parents(gate, replay, made):
    again = replay(gate, shas(made))
    assert (again.reused, again.runs is None) == ((False, False) if gate == "compliance" else (True, True))
    assert (again.evidence_sha, [verdict.outcome for verdict in again.verdicts]) == (
        made[gate].evidence_sha,
        [verdict.outcome for verdict in made[gate].verdicts],
    )


@pytest.mark.parametrize("gate", NEWER)
def test_evidence_of_an_earlier_version_is_made_again(gate, replay, made, project):
    whole = load_evidence(shas(made)[gate], project.context.blobs)
    old = store_evidence(
        {key: value for key, value in whole.items() if key != NEWER[gate]}, project.context.blobs
    )
    again = replay(gate, shas(made) | {gate: old})
    assert (again.reused, again.passed, set(again.evidence)) == (False, True, set(whole))
