"""From plans to variants: by edits and by diffs, with real builds as the gate, feedback, repairs, crossovers
and documents."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback_model import KEY, Asked, LoopbackModel, serve
from one_by_one import one_after_another
from pydantic import SecretStr
from small_solver import GOOD, STRAY, UNBUILDABLE, Built, SmallProject, planned, small_project

from evolake.agents import Agents, open_agents
from evolake.agents.roles import OperatorsBackend
from evolake.settings import BudgetSettings, Settings
from evolake.solvers.edits import Edit
from evolake.solvers.evolution import excerpt
from evolake.solvers.evolution import proposing as propose_module
from evolake.solvers.evolution.authors import Commission
from evolake.solvers.evolution.coder_turn import Trial
from evolake.solvers.evolution.drafts import Proposals
from evolake.solvers.repository.variant import source_sha


@pytest.fixture
def project(tmp_path, requires) -> SmallProject:
    requires("c++")
    return small_project(tmp_path)


def operators() -> Agents:
    return Agents(OperatorsBackend("0001"), line="solvers", cycle="0001")


DECAY, FIRST = Edit("tunable", "var-decay", {"value": 0.8}), Edit("tunable", "rfirst", {"value": 40})


def test_plans_carried_out_side_by_side_give_what_one_after_another_gives(project, monkeypatch):
    """Two crossovers of the same parents, the second of which has to find something new."""
    parents = [project.seed, project.child("one", DECAY), project.child("two", FIRST)]
    plans = [planned(parents[1:], "crossover", "", number=number) for number in range(2)] + [
        planned([project.seed], number=2)
    ]
    judged: list[Path] = []

    def propose(workers: int) -> Any:
        with operators() as agents:
            result = project.propose(
                agents,
                plans,
                parents,
                judge=lambda folder: (judged.append(folder), project.judge(folder))[1],
                workers=workers,
            )
            calls = [(row["role"], row["artifact_id"], row["response_sha"]) for row in agents.rows()]
            return (
                [
                    (item.variant_id, item.title, item.edits, item.diff, item.dropped)
                    for item in result.variants
                ],
                result.failed_proposals,
                calls,
            )

    with monkeypatch.context() as serial:
        serial.setattr(propose_module, "in_turn", one_after_another)
        reference = propose(1)
    assert len({variant_id for variant_id, *_ in reference[0]}) == 3
    judged.clear()
    assert [propose(workers) for workers in (1, 2, 5)] == [reference] * 3
    assert len(judged) == 3 * 4, "the second crossover was to meet the first"


def test_what_exists_already_goes_back_to_the_coder(project):
    with operators() as agents:
        (first,) = project.propose(agents, [planned([project.seed])]).variants
        (second,) = project.propose(agents, [planned([project.seed])], existing=[first.variant_id]).variants
    assert second.variant_id != first.variant_id
    assert (second.repairs, second.objections) == (1, ("This variant exists already, source for source.",))


class Coder:
    """A model that looks up, then answers with the scripted diffs in turn."""

    def __init__(self, *diffs: str, regions: list[dict[str, Any]] | None = None) -> None:
        self.diffs = list(diffs)
        self.regions = regions or [{"path": "src/core/Solver.cc", "first_line": 1, "last_line": 60}]
        self.prompts: list[str] = []

    def __call__(self, asked: Asked) -> dict[str, Any]:
        self.prompts.append(asked.messages[1]["content"])
        if "which lines you have to read" in asked.messages[0]["content"]:
            return {"regions": self.regions, "rationale": "all of it"}
        return {
            "title": "larger budget",
            "changelog": "The budget is three times the first interval.",
            "diff": self.diffs.pop(0),
        }


def by_model(
    project: SmallProject, coder: Coder, plans: list[dict[str, Any]] | None = None, **more: Any
) -> tuple[Proposals, list[dict[str, Any]]]:
    with LoopbackModel(serve(coder)) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "scripted"},
            budget=BudgetSettings(tokens_per_run=10_000_000),
        )
        with open_agents(settings, project.into.parent / "lake", "0001", "run", line="solvers") as agents:
            return project.propose(
                agents, plans or [planned([project.seed], "rewrite", "")], **more
            ), agents.rows()


@pytest.fixture
def large(monkeypatch) -> None:
    """Sources of which a coder is asked what it wants to see."""
    monkeypatch.setattr(excerpt, "SMALL_SOURCES", 0)


def test_what_a_plan_names_is_shown_and_the_coder_is_not_asked_which(project, large):
    coder = Coder(GOOD)
    plan = planned([project.seed], "rewrite", "") | {
        "instructions": "Let budget() return three times the first interval."
    }
    _, rows = by_model(project, coder, [plan])
    assert [row["role"] for row in rows] == ["solvers_coder"]
    sources = coder.prompts[0].partition("# The sources")[2]
    assert (
        "return opt_first.value * 2;" in sources
        and "static IntOption opt_first" in sources
        and "int main()" not in sources
    )


def test_a_later_plan_is_told_what_the_earlier_ones_came_to_and_what_is_known(project):
    coder = Coder(UNBUILDABLE, UNBUILDABLE, UNBUILDABLE, GOOD)
    plans = [planned([project.seed], "rewrite", "", number=number) for number in range(2)]
    result, _ = by_model(project, coder, plans, knowledge=["Restarts matter."])
    assert [item.blocked for item in result.variants] == [True, False]
    first, second = coder.prompts[0], coder.prompts[-1]
    assert (
        "child of" in second
        and ": blocked" in second
        and "undeclared_name" in second
        and "src/core/Solver.cc: budget" in second
    )
    assert ": blocked" not in first and all("Restarts matter." in text for text in (first, second))


def test_stray_context_and_a_compile_error_go_back_to_the_model_until_it_builds(project):
    coder = Coder(STRAY, UNBUILDABLE, GOOD)
    result, rows = by_model(project, coder)
    (variant,) = result.variants
    assert (variant.repairs, variant.blocked) == (2, False)
    assert "does not apply" in variant.objections[0] and "undeclared_name" in variant.objections[1]
    assert "does not apply" in coder.prompts[1] and "undeclared_name" in coder.prompts[2]
    assert [row["role"] for row in rows] == ["solvers_coder", "solvers_coder_repair", "solvers_coder_repair"]


def test_repairs_are_bounded_and_what_was_judged_last_is_a_blocked_variant(project):
    coder = Coder(UNBUILDABLE, STRAY, STRAY)
    result, _ = by_model(project, coder)
    (variant,) = result.variants
    assert variant.blocked and "undeclared_name" in variant.judged.feedback
    assert coder.diffs == []


def test_a_model_that_never_applies_leaves_a_plan_unmade_with_the_reasons(project):
    result, _ = by_model(project, Coder(STRAY, "", STRAY))
    assert result.variants == []
    assert [len(item.objections) for item in result.failed_proposals] == [3]
    assert "There is no diff" in result.failed_proposals[0].objections[1]


def test_a_diff_outside_the_sources_is_refused_and_told(project):
    outside = "--- /dev/null\n+++ b/bin/starexec_run_default\n@@ -0,0 +1,1 @@\n+echo s UNSATISFIABLE\n"
    coder = Coder(outside, GOOD, GOOD)
    result, _ = by_model(project, coder)
    assert "bin/starexec_run_default" in result.variants[0].objections[0]
    assert json.dumps(result.variants[0].diff).count("UNSATISFIABLE") == 0


def test_what_makes_its_judge_raise_is_its_own_end_and_the_next_plan_is_made(project):
    calls = []

    def judge(folder: Path) -> Built:
        calls.append(folder)
        if len(calls) == 1:
            raise RecursionError("too deep")
        return project.judge(folder)

    with operators() as agents:
        result = project.propose(
            agents, [planned([project.seed]), planned([project.seed], number=1)], judge=judge
        )
    assert [item.plan_id for item in result.failed_proposals] == ["plan0"]
    assert result.failed_proposals[0].reason.startswith("judging it raised RecursionError")
    assert [item.plan_id for item in result.variants] == ["plan1"]


REVISED = GOOD.replace("* 3;", "* 4;")


def measured(*ratios: float) -> tuple[Callable[[Commission, Path], Trial], list[str]]:
    """A trial that gives these ratios in turn, and the sources of each variant that it was asked of."""
    asked: list[str] = []

    def trial(commission: Commission, folder: Path) -> Trial:
        asked.append((folder / "src/core/Solver.cc").read_text())
        rows = [
            {"variant_id": name, "cpu_s": 1.0}
            for name in (commission.parents[0].variant_id, source_sha(folder))
        ]
        return Trial(rows, f"PAR-2 ratio {ratios[len(asked) - 1]:g}", ratios[len(asked) - 1])

    return trial, asked


@pytest.mark.parametrize(("ratios", "kept"), [((0.9, 1.05), "* 4;"), ((0.9, 0.8), "* 3;")])
def test_a_coder_sees_its_variant_beside_its_parent_and_the_cheaper_of_two_stays(project, ratios, kept):
    trial, asked = measured(*ratios)
    coder = Coder(GOOD, REVISED)
    result, rows = by_model(project, coder, trial=trial)
    (variant,) = result.variants
    assert [row["role"] for row in rows] == [
        "solvers_coder",
        "solvers_coder_revise",
    ] and "PAR-2 ratio 0.9" in coder.prompts[1]
    assert kept in (variant.folder / "src/core/Solver.cc").read_text() and len(asked) == 2
    assert len(variant.trials) == 3, "the parent once, and both variants"
    assert {row["artifact_id"] for row in rows} <= {
        variant.variant_id,
        *(row["variant_id"] for row in variant.trials),
    }


def test_a_gain_or_a_difference_within_the_noise_takes_no_question_and_an_empty_diff_keeps_the_variant(
    project,
):
    for ratio in (1.3, 0.95):
        trial, _ = measured(ratio)
        result, rows = by_model(project, Coder(GOOD), trial=trial)
        assert [row["role"] for row in rows] == ["solvers_coder"] and len(result.variants[0].trials) == 2
    trial, _ = measured(0.9)
    plan = planned([project.seed], "rewrite", "", number=1)
    result, rows = by_model(project, Coder(GOOD, ""), [plan], trial=trial)
    assert [row["role"] for row in rows] == ["solvers_coder", "solvers_coder_revise"] and "* 3;" in (
        result.variants[0].folder / "src/core/Solver.cc"
    ).read_text()


def test_no_two_requests_of_a_cycle_are_the_same(project):
    coder = Coder(UNBUILDABLE, UNBUILDABLE, UNBUILDABLE, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY)
    plans = [planned([project.seed], "rewrite", "", number=number) for number in range(3)]
    by_model(project, coder, plans)
    assert len(coder.prompts) == 9 == len(set(coder.prompts))
    assert "This is request 2 of 3 of this generation." in coder.prompts[3]


def test_the_same_seed_makes_the_same_variants(project, tmp_path):
    plans = [planned([project.seed], number=number) for number in range(3)]
    first, second = [], []
    for ids in (first, second):
        with operators() as agents:
            ids.extend(item.variant_id for item in project.propose(agents, plans).variants)
    assert first == second and len(set(first)) == 3
