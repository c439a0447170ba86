"""From the archive to candidates: planner and designer in turn, gates, repair, duplicates; and what a cycle
leaves behind."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from designs_genomes import DRAG, changed
from one_by_one import one_after_another
from scripted_agents import scripted

from evolake.agents import AgentFailure, Agents
from evolake.agents.roles import OperatorsBackend
from evolake.designs.evolution import designing
from evolake.designs.evolution.designing import DesignerTurn, propose_candidates
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.evolution.objective_writing import initial_objectives, write_objectives
from evolake.designs.evolution.planning import plan_directions
from evolake.designs.evolution.population import Population, empty_population, texts_of
from evolake.designs.evolution.proposals import (
    Judge,
    blocking_gate,
    derivation_rows,
    design_row,
    seed_candidate,
    store_candidate,
)
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.roles import models
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DIRECTIONS
from evolake.lake import Lake
from evolake.seeds import CycleSeeds

GOOD = compose(changed({"lr": 1.3}, v=DRAG)).replace("Open grammar: v:v, v:square", "Written by hand")
BAD = GOOD.replace("return {", "return {} if float(c[0]) > 0 else {")


@pytest.fixture
def start(tmp_path, judge_once, tiny, seed_files) -> tuple[Lake, Population]:
    """A lake and an archive with the baseline, which has a genome, and the file of design 340."""
    lake, population = Lake(tmp_path), empty_population()
    for name, source, own in (
        ("baseline", compose(baseline(), "baseline"), baseline()),
        ("design_340", seed_files["design_340"].read_text(), None),
    ):
        seed = seed_candidate(name, source, population.graphs(), judge_once, own)
        population = population.admit(
            [design_row(seed, "0001", *store_candidate(lake.blobs, seed))], derivation_rows(seed, "0001")
        )
    return lake, population.add(objectives=initial_objectives(tiny, cycle="0001", root_seed=1))


def planned(
    serving: Agents, lake: Lake, population: Population, settings: DesignsSettings
) -> list[dict[str, Any]]:
    return plan_directions(
        serving,
        population,
        texts_of(lake),
        settings=settings,
        cycle="0001",
        root_seed=1,
        guidance=["use xs:xl"],
    ).rows


def operators() -> Agents:
    return Agents(OperatorsBackend("0001"), line="designs", cycle="0001")


def proposed(
    serving: Agents,
    lake: Lake,
    population: Population,
    rows: list[dict[str, Any]],
    judge: Judge,
    settings: DesignsSettings,
):
    turn = DesignerTurn(serving, judge, settings, CycleSeeds(1, "designs", "0001"), "model")
    return propose_candidates(turn, population, rows, texts_of(lake), ["steps"])


def test_requests_served_side_by_side_give_what_one_after_another_gives(start, judge_at, tiny, monkeypatch):
    """Three requests of one direction, seeded so that the operators draw for the third what they drew for the
    second."""
    lake, population = start
    rows = planned(operators(), lake, population, tiny)[:1]
    judged: list[str] = []

    def judge(source: str, hyper: Any, known: Any) -> Any:
        judged.append(source)
        return judge_at("0001")(source, hyper, known)

    def serve(workers: int) -> Any:
        serving = operators()
        turn = DesignerTurn(
            serving, judge, tiny, CycleSeeds(1, "designs", "0001"), "operators", workers=workers
        )
        result = propose_candidates(turn, population, rows, texts_of(lake))
        calls = [(row["role"], row["artifact_id"], row["response_sha"]) for row in serving.rows()]
        return (
            [design_row(candidate, "0001", "", "") for candidate in result.candidates],
            result.failures,
            result.repeats,
            calls,
        )

    seed = CycleSeeds.seed
    monkeypatch.setattr(CycleSeeds, "seed", lambda self, purpose, number: seed(self, purpose, min(number, 1)))
    with monkeypatch.context() as serial:
        serial.setattr(designing, "in_turn", one_after_another)
        reference = serve(1)
    judged.clear()
    assert [serve(workers) for workers in (1, 5)] == [reference] * 2
    assert len(judged) > 2 * 3, "the third request was to meet the second"


def reply(source: str, **more: Any) -> models.DesignReply:
    return models.DesignReply(
        **({"explanation": "e", "solver_code": source, "short_name": "n", "reference_weights": []} | more)
    )


def test_a_plan_is_rows_with_whole_ids_and_what_people_asked_for(start, tiny):
    lake, population = start
    rows = planned(scripted(), lake, population, tiny)
    assert DIRECTIONS.repeated_keys(DIRECTIONS.frame(rows)).is_empty()
    assert len(rows) == 2
    assert all(
        set(row["reference_ids"]) <= set(population.live_ids()) and row["reference_ids"] for row in rows
    )
    assert all(row["guidance"] == ["use xs:xl"] and row["focus"] == "xs:xl" for row in rows)


def test_a_planner_without_a_usable_reply_leaves_no_directions_and_no_candidates(start, tiny, judge_at):
    lake, population = start
    failure = AgentFailure("designs_planner_directions", "garbled", "no JSON", 3)
    plan = plan_directions(
        scripted(designs_planner_directions=[failure]),
        population,
        texts_of(lake),
        settings=tiny,
        cycle="0001",
        root_seed=1,
    )
    assert (plan.rows, plan.failure) == ([], failure)
    assert proposed(scripted(), lake, population, plan.rows, judge_at("0001"), tiny).candidates == []


def test_a_file_that_does_not_trace_goes_back_once_and_may_come_back_mended(start, tiny, judge_at):
    lake, population = start
    settings = tiny.model_copy(update={"designs_per_cycle": 1})
    mended = models.DesignRepairReply(error_summary="No branch on data.", solver_code=GOOD)
    serving = scripted(designs_designer=[reply(BAD)], designs_designer_repair=[mended])
    result = proposed(
        serving, lake, population, planned(scripted(), lake, population, settings), judge_at("0001"), settings
    )
    assert [candidate.accepted for candidate in result.candidates] == [True]
    assert result.candidates[0].source == GOOD
    asked = [request for role, request in serving.backend.asked if role == "designs_designer_repair"]  # pyright: ignore[reportAttributeAccessIssue]
    assert [request.source for request in asked] == [BAD] and "trace" in asked[0].error


def test_a_file_that_stays_broken_is_blocked_and_stays_as_a_row(start, tiny, judge_at):
    lake, population = start
    settings = tiny.model_copy(update={"designs_per_cycle": 2})
    serving = scripted(designs_designer=[reply(BAD), reply(BAD)])
    result = proposed(
        serving, lake, population, planned(scripted(), lake, population, settings), judge_at("0001"), settings
    )
    assert [blocking_gate(candidate) for candidate in result.candidates] == ["trace"]
    assert result.repeats == 1
    row = design_row(result.candidates[0], "0001", *store_candidate(lake.blobs, result.candidates[0]))
    assert (row["state"], row["traced_sha"], row["graph_sha"]) == ("blocked", None, None)
    assert row["reason"].startswith("trace: ")


def test_a_design_that_computes_a_known_one_is_a_duplicate_and_is_not_repaired(start, tiny, judge_at):
    lake, population = start
    settings = tiny.model_copy(update={"designs_per_cycle": 1})
    renamed = (
        compose(baseline(), "another title")
        .replace("winner = place[:, :1]", "winner = (place)[:, :1]")
        .replace("alpha", "speed")
    )
    serving = scripted(designs_designer=[reply(renamed)])
    result = proposed(
        serving, lake, population, planned(scripted(), lake, population, settings), judge_at("0001"), settings
    )
    assert [blocking_gate(candidate) for candidate in result.candidates] == ["duplicate"]
    assert f"duplicate of {population.live_ids()[0]}" in result.candidates[0].examined.reason  # pyright: ignore[reportOptionalMemberAccess]
    assert "designs_designer_repair" not in [role for role, _ in serving.backend.asked]  # pyright: ignore[reportAttributeAccessIssue]


def test_processes_give_the_same_rows_as_this_one(start, tiny, inline):
    lake, population = start
    jobs = [
        Job(
            design_id, texts_of(lake)(population.row(design_id)["traced_sha"]), "low", "0001", "test", 1, tiny
        )
        for design_id in population.live_ids()
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        apart = run_jobs(executor, jobs)
    here = run_jobs(inline, jobs)
    times = {"wall_s", "cpu_s"}
    assert [{key: row[key] for key in row.keys() - times} for row in apart] == [
        {key: row[key] for key in row.keys() - times} for row in here
    ]


def test_an_objective_that_fails_everywhere_is_replaced_and_one_that_stays_broken_is_blocked(
    start, tiny, inline, judge_objectives
):
    lake, population = start
    jobs = [
        Job(
            design_id, texts_of(lake)(population.row(design_id)["traced_sha"]), "low", "0001", "test", 1, tiny
        )
        for design_id in population.live_ids()
    ]
    population = population.add(experiments=run_jobs(inline, jobs))
    broken = models.ObjectiveReply(
        objective_description="broken",
        objective_code="def objective(experiment_results):\n    return 1 / 0\n",
    )
    kept = models.ObjectiveRepairReply(
        error_summary="none", objective_code="def objective(experiment_results):\n    return float('nan')\n"
    )

    def written(**answers: list[Any]):
        judge = judge_objectives(population)
        return write_objectives(
            scripted(**answers),
            population,
            judge,
            settings=tiny,
            seeds=CycleSeeds(1, "designs", "0001"),
            origin="model",
        ).rows

    replaced = written(designs_objective_writer=[broken])
    assert [row["state"] for row in replaced] == ["blocked", "accepted"]
    assert [row["description"] == "broken" for row in replaced] == [True, False]
    stays = written(designs_objective_writer=[broken], designs_objective_repair=[kept])
    assert [row["state"] for row in stays] == ["blocked", "blocked"]
    assert ["scored 0 of 2 designs" in row["reason"] for row in stays] == [True, True]
