"""A model as designer: its trial and revision, its siblings, and what reaches the roles that propose next."""

from collections.abc import Sequence
from typing import Any

import pytest
from designs_genomes import DRAG, changed
from scripted_agents import scripted

from evolake.agents import AgentFailure
from evolake.agents.prompts import build_messages
from evolake.designs.evolution import designing
from evolake.designs.evolution.attempts import consensus_winner
from evolake.designs.evolution.design_contest import Succession
from evolake.designs.evolution.designing import DesignerTurn, Proposals, propose_candidates
from evolake.designs.evolution.objective_writing import initial_objectives, write_objectives
from evolake.designs.evolution.planning import plan_directions
from evolake.designs.evolution.population import Population, empty_population, texts_of
from evolake.designs.evolution.proposals import (
    Judge,
    derivation_rows,
    design_row,
    seed_candidate,
    store_candidate,
)
from evolake.designs.evolution.reviewing import analyse_designs, with_champion, with_notes
from evolake.designs.evolution.trials import SIDES, TrialRunner, TrialSize, worth_revising
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.roles import models
from evolake.designs.roles.designer import ANALYSIS_ROLE, DESIGN_ROLE
from evolake.designs.roles.objective import OBJECTIVE_ROLE
from evolake.designs.roles.planner import DIRECTIONS_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import TRIALS
from evolake.lake import Lake
from evolake.seeds import CycleSeeds

GOOD = compose(changed({"lr": 1.3}, v=DRAG)).replace("Open grammar: v:v, v:square", "Written by hand")
SLOW = GOOD.replace(
    '"lr": dict(type="log_uniform", default=1.3', '"lr": dict(type="log_uniform", default=0.1'
)
BAD = GOOD.replace("return {", "return {} if float(c[0]) > 0 else {")
SIZES = (TrialSize(10, 8, 3, 200),)
Started = tuple[Lake, Population]


@pytest.fixture
def start(tmp_path, judge_once, tiny) -> Started:
    """A lake and an archive with the baseline."""
    lake, population = Lake(tmp_path), empty_population()
    seed = seed_candidate(
        "baseline", compose(baseline(), "baseline"), population.graphs(), judge_once, baseline()
    )
    population = population.admit(
        [design_row(seed, "0001", *store_candidate(lake.blobs, seed))], derivation_rows(seed, "0001")
    )
    return lake, population.add(objectives=initial_objectives(tiny, cycle="0001", root_seed=1))


def direction(population: Population, text: str = "Add a drag.") -> dict[str, Any]:
    return {
        "direction_id": "d",
        "phase": "early_exploration",
        "direction": text,
        "rationale": "",
        "focus": "",
        "avoid": "",
        "key_insights": [],
        "reference_ids": population.live_ids()[:1],
    }


def reply(source: str, title: str = "n") -> models.DesignReply:
    return models.DesignReply(
        explanation="Drag at the edges. It is cheap.",
        solver_code=source,
        short_name=title,
        reference_weights=[],
    )


def proposed(
    serving: Any, start: Started, judge: Judge, settings: DesignsSettings, count: int = 1
) -> Proposals:
    lake, population = start
    sizes = settings.model_copy(update={"designs_per_cycle": count})
    turn = DesignerTurn(
        serving, judge, sizes, CycleSeeds(1, "designs", "0001"), "model", trials=TrialRunner(sizes, "0001", 1)
    )
    return propose_candidates(turn, population, [direction(population)], texts_of(lake))


def requests(serving: Any, role: str) -> list[Any]:
    return [request for name, request in serving.backend.asked if name == role]


def test_a_design_whose_trial_leaves_nothing_to_revise_is_judged_without_another_call(
    start, judge_at, tiny, monkeypatch
):
    monkeypatch.setattr(designing, "REVISION_SIZES", SIZES)
    serving = scripted(designs_designer=[reply(GOOD)], designs_designer_revision=[])
    result = proposed(serving, start, judge_at("0001"), tiny)
    assert [candidate.source for candidate in result.candidates] == [GOOD] and not requests(
        serving, "designs_designer_revision"
    )
    rows = TRIALS.frame(result.trials)
    assert rows.height == len(SIZES) * 3 * 2 and not worth_revising(rows.to_dicts())


def trial_rows(
    ours: Sequence[float | None], start: Sequence[float | None], **more: Any
) -> list[dict[str, Any]]:
    """Rows of a trial at one size. ours, start: the work of each batch; None for one that was not solved."""
    plain, own = {"N": 40, "failure": None}, {SIDES[0]: more}
    return [
        plain
        | {"side": side, "pair": pair, "solved": work is not None, "median_work": work or 900.0}
        | own.get(side, {})
        for side, works in zip(SIDES, (ours, start), strict=True)
        for pair, work in enumerate(works)
    ]


def test_a_trial_is_worth_a_revision_if_the_design_broke_or_solved_less_and_not_for_more_or_less_work():
    start = [100.0, 110.0, 90.0]
    assert worth_revising(trial_rows([100.0, None, 90.0], start))
    assert worth_revising(trial_rows([None] * 3, start, failure="the process that ran it died"))
    assert not worth_revising(trial_rows([50.0, 60.0, 40.0], start)) and not worth_revising(
        trial_rows([500.0, 600.0, 400.0], start)
    )
    assert not worth_revising(trial_rows([None] * 3, [None] * 3)) and not worth_revising(
        trial_rows([400.0, 500.0, None], [300.0, None, None])
    )


@pytest.mark.parametrize(
    ("first", "revised", "judged"),
    [(SLOW, GOOD, GOOD), (GOOD, None, GOOD), (GOOD, BAD, GOOD), (GOOD, SLOW, GOOD)],
)
def test_a_design_is_tried_beside_its_parent_and_revised_once_and_what_needs_less_work_is_judged(
    start, judge_at, tiny, monkeypatch, first, revised, judged
):
    monkeypatch.setattr(designing, "REVISION_SIZES", SIZES)
    monkeypatch.setattr(designing, "worth_revising", lambda rows: True)
    said = models.RevisionReply(explanation="Another step.", solver_code=revised)
    serving = scripted(designs_designer=[reply(first)], designs_designer_revision=[said])
    result = proposed(serving, start, judge_at("0001"), tiny)
    assert [candidate.source for candidate in result.candidates] == [judged]
    [request] = requests(serving, "designs_designer_revision")
    assert request.source == first and "N=10 ratio: " in request.trial and "a step costs" in request.trial
    rows = TRIALS.frame(result.trials)
    assert TRIALS.repeated_keys(rows).is_empty()
    assert rows.height == len(SIZES) * 3 * 2 * (2 if revised in (GOOD, SLOW) else 1)
    assert rows["work_per_step"].min() > 0 and rows["steps_run"].min() > 0  # type: ignore[operator]


def test_no_two_requests_of_a_cycle_are_alike_and_each_says_what_came_of_those_before(
    start, judge_at, tiny, monkeypatch
):
    monkeypatch.setattr(designing, "REVISION_SIZES", SIZES)
    failure = AgentFailure("designs_designer", "invalid", "no file at all", 3)
    serving = scripted(
        designs_designer=[reply(GOOD), failure, reply(BAD, "broken")],
        designs_designer_repair=[models.DesignRepairReply(error_summary="It stays.", solver_code=BAD)],
    )
    result = proposed(serving, start, judge_at("0001"), tiny, 3)
    prompts = [
        build_messages(DESIGN_ROLE, request)[1]["content"]
        for request in requests(serving, "designs_designer")
    ]
    assert len(set(prompts)) == 3
    assert "request 1 of 3" in prompts[0] and "request 3 of 3" in prompts[2]
    assert "Drag at the edges. (accepted; N=10 ratio: " in prompts[1] and "no file at all" in prompts[2]
    assert [(row["role"], row["reason"], row["idea"]) for row in result.failed_proposals] == [
        ("designs_designer", "no file at all", "Add a drag.")
    ]


def measured(design_id: str, n: int, steps: int, per_step: float) -> dict[str, Any]:
    return {
        "design_id": design_id,
        "cycle": "0001",
        "fidelity": "low",
        "level": 0,
        "batch": 4,
        "N": n,
        "ratio": 4.3,
        "run_till_median": True,
        "max_steps": 900,
        "unsolved_fraction": 0.25,
        "median_step": steps,
        "steps_run": steps + 7,
        "seed": 1,
        "wall_s": 0.1,
        "cpu_s": 0.1,
        "profile": "test",
        "engine": "fused",
        "timed_out": False,
        "diverged": 0,
        "failure": None,
        "work_per_step": per_step,
        "median_work": steps * per_step,
        "max_work": 911.0,
        "kind": "planted",
    }


def after_a_cycle(start: Started, judge: Judge) -> tuple[Lake, Population, str]:
    """An archive after a cycle: a child that is first by consensus and lost its contest, and a reply that
    gave no design."""
    lake, population = start
    base = population.live_ids()[0]
    child = designing.candidate_of(reply(GOOD, "edge drag"), population, direction(population), "model")
    made = designing.judged_and_repaired(scripted(), child, population.graphs(), judge, 1)
    population = population.admit(
        [design_row(made, "0001", *store_candidate(lake.blobs, made))], derivation_rows(made, "0001")
    )
    rows = [
        measured(name, n, steps, cost)
        for n in (10, 14, 20)
        for name, steps, cost in ((base, 60 * n, 1.0), (made.design_id, 40 * n, 1.125))
    ]
    ranking = [
        {
            "design_id": name,
            "cycle": "0001",
            "rank": rank,
            "consensus": 0.1 * rank,
            "visits": 1.0,
            "ucb": 0.9,
            "largest_solved": 20,
            "median_step": 800,
            "median_work": 900.0,
            "fidelity": "low",
        }
        for rank, name in enumerate((made.design_id, base), 1)
    ]
    decision = {
        "cycle": "0001",
        "comparison": "incumbent",
        "challenger_id": made.design_id,
        "incumbent_id": base,
        "wins": False,
        "ratio": 1.07,
        "ratio_low": 0.71,
        "ratio_high": 1.61,
        "reason": "a ratio of 1.07 (95% interval 0.71 to 1.61, 6 seeds): no gain beyond the noise",
    }
    population = population.add(experiments=rows).with_ranking(ranking)
    closed = with_champion(population, Succession(base, [decision], []), cycle="0001", new_designs=1)
    first = consensus_winner(closed, ranking, [decision], base)
    failed_proposals = [
        {
            "number": 0,
            "cycle": "0001",
            "role": "designs_designer",
            "reason": "reply cut off",
            "idea": "A slower memory.",
        }
    ]
    return lake, with_notes(closed, first, failed_proposals), made.design_id


def test_every_fact_that_decides_reaches_the_roles_that_propose_next(start, judge_at, tiny, judge_objectives):
    lake, population, child = after_a_cycle(start, judge_at("0001"))
    texts, serving = (
        texts_of(lake),
        scripted(designs_designer=[AgentFailure("designs_designer", "invalid", "-", 1)]),
    )
    plan = plan_directions(serving, population, texts, settings=tiny, cycle="0002", root_seed=1)
    assert plan.rows and not requests(serving, "designs_planner_lookup"), (
        "two designs leave nothing to look up"
    )
    turn = DesignerTurn(
        serving,
        judge_at("0002"),
        tiny.model_copy(update={"designs_per_cycle": 1}),
        CycleSeeds(1, "designs", "0002"),
        "model",
    )
    propose_candidates(turn, population, [direction(population, "Drag again.")], texts)
    analyse_designs(serving, population, [child], {}, texts, settings=tiny, cycle="0002", root_seed=1)
    write_objectives(
        serving,
        population,
        judge_objectives(population),
        settings=tiny,
        seeds=CycleSeeds(1, "designs", "0002"),
        origin="model",
    )
    roles: tuple[Any, ...] = (DIRECTIONS_ROLE, DESIGN_ROLE, ANALYSIS_ROLE, OBJECTIVE_ROLE)
    prompts = {
        role.name: build_messages(role, requests(serving, role.name)[0])[1]["content"] for role in roles
    }
    contest = (
        "Champion: ",
        "a ratio of 1.07 (95% interval 0.71 to 1.61",
        "First by consensus: ",
        "did not tell them apart beyond the noise",
    )
    tried = ("unmade", "A slower memory.", "reply cut off", "Drag at the edges.")
    ratio, measurements = "1.33 times less work (95% interval ", ("1.125", "N=20 900 of 911")
    for name, facts in {
        "designs_planner_directions": (*contest, *tried, ratio, *measurements, "scaling law: work of"),
        "designs_designer": (*contest, *tried, ratio),
        "designs_designer_analysis": (*contest, ratio, *measurements, "counted seconds"),
        "designs_objective_writer": contest,
    }.items():
        assert [fact for fact in facts if fact not in prompts[name]] == [], name
