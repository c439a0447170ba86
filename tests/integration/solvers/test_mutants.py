"""Planted bad variants are blocked by a gate that names the cause, with and without the lint; good variants
pass. Real builds, runs and proofs."""

from pathlib import Path
from typing import Any

import pytest
from solver_gates import GatesProject, open_project, unlinted
from solver_mutants import MUTANTS, plant
from solver_patch_builds import with_defaults

from evolake.solvers.edits import Edit, apply_edits, write_edits
from evolake.solvers.gates.evidence import load_evidence
from evolake.solvers.gates.judging import VariantResults

GOOD = (
    Edit("tunable", "var-decay", {"value": 0.85}),
    Edit("tunable", "cla-decay", {"value": 0.995}),
    Edit("tunable", "rfirst", {"value": 50}),
    Edit("tunable", "rinc", {"value": 1.5}),
    with_defaults("restart-geometric"),
    with_defaults("restart-ema"),
    with_defaults("phase-rephase"),
    with_defaults("reduce-glue-tiers"),
    with_defaults("vsids-ramp"),
    with_defaults("minimise-binary"),
)
IN_SHORT = {"wrong-learnt-clause", "memory-growth", "hard-coded-instance"}
"""One mutant for each gate that can block: smoke, stability, and (with the lint and without it) compliance
and correctness. `make test` runs these, the seed that they change and one good variant; the others are marked
`long`."""
assert {mutant.name for mutant in MUTANTS} >= IN_SHORT
COMPARED = ("instance", "status", "answer", "proof_status", "conflicts", "decisions", "problems")


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("gates"))


class SeedsJudged(dict[str, VariantResults]):
    """Base -> its seed as the gates judged it, judged when it is first asked for."""

    def __init__(self, project: GatesProject) -> None:
        self.project = project

    def __missing__(self, base: str) -> VariantResults:
        self[base] = self.project.judge(self.project.seed(base), base)
        return self[base]


@pytest.fixture(scope="session")
def seeds_judged(project) -> SeedsJudged:
    return SeedsJudged(project)


def long_unless(short: bool) -> tuple[pytest.MarkDecorator, ...]:
    return () if short else (pytest.mark.long,)


def behaviour(judged: VariantResults, beside: VariantResults) -> dict[str, list[Any]]:
    """What the runs of each gate that was reached came to, of formulas that `beside` was run on too; times
    and memory apart."""
    asked = {gate: {row["instance"] for row in rows} for gate, rows in beside.runs.items()}
    return {
        gate: [[row[name] for name in COMPARED] for row in rows if row["instance"] in asked.get(gate, ())]
        for gate, rows in judged.runs.items()
    }


@pytest.mark.parametrize("base", ["minisat22", pytest.param("glucose421", marks=pytest.mark.long)])
def test_a_seed_passes_every_rule(base, seeds_judged, requires):
    requires("c++")
    judged = seeds_judged[base]
    assert judged.accepted, judged.feedback
    assert {row["proof_status"] for row in judged.runs["correctness"] if row["expected"] == "UNSAT"} == {
        "verified"
    }


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(mutant, id=mutant.name, marks=long_unless(mutant.name in IN_SHORT)) for mutant in MUTANTS],
)
def test_a_planted_fault_is_blocked_by_a_gate_that_names_it(mutant, project, seeds_judged, requires):
    requires("c++")
    folder = project.copy(mutant.base, mutant.name)
    assert plant(mutant, folder)
    rule, words = mutant.behind or (mutant.rule, mutant.words)
    behind = project.quick.judge(folder, mutant.base, unlinted())
    assert behind.build is not None and behind.build.ok, behind.feedback
    assert changed(behind, seeds_judged[mutant.base]), (
        "it behaves as the seed does, so that blocking it shows nothing"
    )
    assert behind.blocked_by is not None and (
        behind.blocked_by.rule_id,
        words in behind.blocked_by.reason,
    ) == (rule, True), behind.feedback
    if mutant.behind:
        judged = project.judge(folder, mutant.base)
        assert judged.blocked_by is not None and (judged.blocked_by.gate, judged.blocked_by.rule_id) == (
            "compliance",
            mutant.rule,
        ), judged.feedback
        assert mutant.words in judged.blocked_by.reason and mutant.rule in judged.feedback


def changed(mutant: VariantResults, seed: VariantResults) -> bool:
    """Whether some run ended otherwise than the seed's; memory counts too."""
    mine, theirs = behaviour(mutant, seed), behaviour(seed, mutant)
    assert mine.keys() <= theirs.keys() and all(len(rows) == len(theirs[gate]) for gate, rows in mine.items())
    if any(rows != theirs[gate] for gate, rows in mine.items()):
        return True
    return any(
        mine["peak_mb"] > 2 * other["peak_mb"]
        for mine, other in zip(mutant.runs.get("stability", ()), seed.runs["stability"], strict=False)
    )


@pytest.mark.parametrize(
    "edit", [pytest.param(edit, id=edit.name, marks=long_unless(edit is GOOD[0])) for edit in GOOD]
)
def test_a_good_variant_passes(edit, project, seeds_judged, requires):
    requires("c++")
    folder = project.copy("minisat22", f"good-{edit.name}")
    assert [outcome.status for outcome in apply_edits(folder, project.adapter("minisat22"), [edit])] == [
        "applied"
    ]
    (folder / "edits.json").write_text(write_edits([edit]))
    for name in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / name).write_text(f"# {edit.name}\n\nOne edit of the catalogue: {edit.described()}.\n")
    judged, seed = project.quick.judge(folder, "minisat22"), seeds_judged["minisat22"]
    assert judged.accepted, judged.feedback
    assert behaviour(judged, seed) != behaviour(seed, judged)


def test_missing_documents_and_scripts_of_ones_own_are_blocked(project, tmp_path):
    folder = project.copy("minisat22", "bare")
    (folder / "HYPOTHESIS.md").write_text("\n")
    assert blocked(project, folder) == (
        "solvers-documents",
        "HYPOTHESIS.md has 0 characters; at least 20 are wanted",
    )
    (folder / "starexec_build").write_text("#!/bin/sh\nexit 0\n")
    (folder / "HYPOTHESIS.md").write_text("A hypothesis that can be refuted by a run.")
    assert blocked(project, folder) == (
        "solvers-frozen-files",
        "changes files that are the pipeline's: starexec_build",
    )


def blocked(project: GatesProject, folder: Path) -> tuple[str, str]:
    verdict = project.judge(folder, "minisat22", stop_at="compliance").blocked_by
    assert verdict is not None
    return verdict.rule_id, verdict.reason


def test_a_variant_is_judged_from_its_archive_and_up_to_a_gate(project, requires):
    from evolake.solvers.repository.variant import archive_variant

    requires("c++")
    sha = archive_variant(project.seed("minisat22"), project.context.blobs)
    judged = project.judge(sha, "minisat22", stop_at="build")  # type: ignore[arg-type]
    assert (
        {verdict.gate for verdict in judged.verdicts} == {"compliance", "build"} == set(judged.evidence_shas)
    )
    assert {
        gate: load_evidence(sha, project.context.blobs) for gate, sha in judged.evidence_shas.items()
    } == judged.evidence
    assert judged.blocked_by is None and not judged.accepted
