"""From the archive to candidates: planner and designer in turn, gates, repair, duplicates; and what a cycle
leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from designs_genomes import DRAG, changed
from one_by_one import one_after_another
from scripted_agents import scripted

from evolake.agents import AgentFailure, Agents
from evolake.agents.backends import OperatorsBackend
from evolake.cycle_seeds import CycleSeeds
from evolake.designs.evolution import designing
from evolake.designs.evolution.design_contest import Succession
from evolake.designs.evolution.designing import DesignerTurn, propose_candidates
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.evolution.judging_objectives import JudgeObjective
from evolake.designs.evolution.line_state import rank_designs
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
from evolake.designs.evolution.reviewing import analyse_designs, review_portfolio, reviewed, with_champion
from evolake.designs.evolution.scoring import live_objectives
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import OPERATORS
from evolake.designs.genome.open_genome import baseline
from evolake.designs.roles import models
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ANALYSES, DIRECTIONS, EXPERIMENTS, REVIEWS
from evolake.lake import Lake
from evolake.objectives.long_consensus import LongConsensus, rank_long
from evolake.objectives.score import score_all

GOOD = compose(changed({"lr": 1.3}, v=DRAG)).replace("Open grammar: v:v, v:square", "Written by hand")
BAD = GOOD.replace("return {", "return {} if float(c[0]) > 0 else {")


@pytest.fixture
def start(
    tmp_path: Path, judge_once: Judge, tiny: DesignsSettings, seed_files: dict[str, Path]
) -> tuple[Lake, Population]:
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


def test_requests_served_side_by_side_give_what_one_after_another_gives(
    start: tuple[Lake, Population],
    judge_at: Callable[[str], Judge],
    tiny: DesignsSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_a_plan_is_rows_with_whole_ids_and_what_people_asked_for(
    start: tuple[Lake, Population], tiny: DesignsSettings
) -> None:
    lake, population = start
    rows = planned(scripted(), lake, population, tiny)
    assert DIRECTIONS.repeated_keys(DIRECTIONS.frame(rows)).is_empty()
    assert len(rows) == 2
    assert all(
        set(row["reference_ids"]) <= set(population.live_ids()) and row["reference_ids"] for row in rows
    )
    assert all(row["guidance"] == ["use xs:xl"] and row["focus"] == "xs:xl" for row in rows)


def test_a_planner_without_a_usable_reply_leaves_no_directions_and_no_candidates(
    start: tuple[Lake, Population], tiny: DesignsSettings, judge_at: Callable[[str], Judge]
) -> None:
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


def test_operators_propose_accepted_designs_with_lineage(
    start: tuple[Lake, Population], tiny: DesignsSettings, judge_at: Callable[[str], Judge]
) -> None:
    lake, population = start
    serving = scripted()
    result = proposed(
        serving, lake, population, planned(serving, lake, population, tiny), judge_at("0001"), tiny
    )
    assert [candidate.accepted for candidate in result.candidates] == [True] * 3
    assert len({candidate.design_id for candidate in result.candidates}) == 3
    for candidate in result.candidates:
        rows = derivation_rows(candidate, "0001")
        assert sum(row["weight"] for row in rows) == pytest.approx(1.0)
        assert {row["parent_id"] for row in rows} <= set(population.live_ids())
        assert candidate.operator in ({"perturb"} if candidate.genome is None else set(OPERATORS))
    assert any(candidate.genome is not None for candidate in result.candidates)
    again = proposed(
        scripted(), lake, population, planned(scripted(), lake, population, tiny), judge_at("0001"), tiny
    )
    assert [candidate.design_id for candidate in again.candidates] == [
        candidate.design_id for candidate in result.candidates
    ]


def test_a_file_that_does_not_trace_goes_back_once_and_may_come_back_mended(
    start: tuple[Lake, Population], tiny: DesignsSettings, judge_at: Callable[[str], Judge]
) -> None:
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


def test_a_file_that_stays_broken_is_blocked_and_stays_as_a_row(
    start: tuple[Lake, Population], tiny: DesignsSettings, judge_at: Callable[[str], Judge]
) -> None:
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


def test_a_design_that_computes_a_known_one_is_a_duplicate_and_is_not_repaired(
    start: tuple[Lake, Population], tiny: DesignsSettings, judge_at: Callable[[str], Judge]
) -> None:
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


def ranked(population: Population, pool: Any) -> LongConsensus:
    rows = score_all(live_objectives(population), population.results(), pool)
    table = pl.DataFrame(
        [{"objective_id": row.objective_id, "design_id": row.design_id, "score": row.score} for row in rows]
    )
    known = population.objectives.to_dicts()
    return rank_long(table, {row["objective_id"]: row["created_round"] for row in known}, 1)


def test_a_cycle_measures_ranks_learns_and_reviews(
    start: tuple[Lake, Population],
    tiny: DesignsSettings,
    judge_at: Callable[[str], Judge],
    pool: Any,
    inline: Executor,
    judge_objectives: Callable[[Population], JudgeObjective],
) -> None:
    lake, population = start
    serving, texts = scripted(), texts_of(lake)
    directions = planned(serving, lake, population, tiny)
    result = proposed(serving, lake, population, directions, judge_at("0001"), tiny)
    fresh = [candidate.design_id for candidate in result.candidates]
    population = population.admit(
        [
            design_row(candidate, "0001", *store_candidate(lake.blobs, candidate))
            for candidate in result.candidates
        ],
        [row for candidate in result.candidates for row in derivation_rows(candidate, "0001")],
    )
    jobs = [
        Job(design_id, texts(population.row(design_id)["traced_sha"]), "low", "0001", "test", 1, tiny)
        for design_id in population.unmeasured()
    ]
    rows = run_jobs(inline, jobs)
    assert EXPERIMENTS.repeated_keys(EXPERIMENTS.frame(rows)).is_empty()
    population = population.add(experiments=rows)
    judge = judge_objectives(population)
    written = write_objectives(
        serving, population, judge, settings=tiny, seeds=CycleSeeds(1, "designs", "0001"), origin="operators"
    )
    assert written.rows and {row["family"] for row in written.rows} == {"program"}
    population = population.add(objectives=written.rows)
    scored = ranked(population, pool)
    order = [str(name) for name in scored.order]
    consensus = dict(zip(map(str, scored.design_ids), map(float, scored.result.consensus), strict=True))
    population = population.with_ranking(rank_designs(population, consensus, order, "0001"))
    learnt = analyse_designs(
        serving,
        population,
        fresh,
        {row["direction_id"]: row["direction"] for row in directions},
        texts,
        settings=tiny,
        cycle="0001",
        root_seed=1,
    )
    assert ANALYSES.frame(learnt.rows)["design_id"].to_list() == fresh
    assert [edge[:2] for edge in learnt.population.edges()] == [edge[:2] for edge in population.edges()]
    assert [edge[2] for edge in learnt.population.edges()] == pytest.approx(
        [edge[2] for edge in population.edges()]
    )
    assert all(learnt.population.row(design_id)["key_insight"] for design_id in fresh)
    closed = with_champion(
        learnt.population, Succession(order[0], [], []), cycle="0001", new_designs=len(fresh)
    )
    assert closed.champion_id == order[0]
    assert (closed.value("designs_since_review"), learnt.population.value("designs_since_review", 0)) == (
        len(fresh),
        0,
    )
    rows = REVIEWS.frame(
        review_portfolio(serving, closed, scored, settings=tiny, cycle="0001", root_seed=1).rows
    )
    after = reviewed(closed, rows.to_dicts())
    assert rows.height == len(live_objectives(after)) and reviewed(closed, []) is closed
    assert after.value("designs_since_review") == 0
    assert after.value("review_guidance") and after.value("review_phase")
    assert dict(after.objectives.select("objective_id", "multiplier").rows()) == dict(
        rows.select("objective_id", "multiplier").rows()
    )
    standing_still = with_champion(after, Succession(order[0], [], []), cycle="0002", new_designs=0)
    assert (standing_still.value("cycles_without_gain"), len(standing_still.value("progress"))) == (1, 2)


def test_processes_give_the_same_rows_as_this_one(
    start: tuple[Lake, Population], tiny: DesignsSettings, inline: Executor
) -> None:
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
    start: tuple[Lake, Population],
    tiny: DesignsSettings,
    inline: Executor,
    judge_objectives: Callable[[Population], JudgeObjective],
) -> None:
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
