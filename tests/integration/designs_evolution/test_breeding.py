"""The race of a cycle through the real jail and engine: the same rows whoever is at work, and children that
descend from the archive's designs."""

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import pytest

from evolake.designs.evolution import breeding, judging
from evolake.designs.evolution.breeding import (
    Bred,
    KnownDesigns,
    RaceSetup,
    RunLevels,
    Starter,
    breed,
    budget_levels,
    cycles_of_same_formulas,
    should_breed,
)
from evolake.designs.evolution.gate_specs import GATES
from evolake.designs.evolution.judging import DesignGates, DesignResults
from evolake.designs.evolution.proposals import design_row
from evolake.designs.evolution.racing import BudgetLevel, Stage, run_stages
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.settings import DesignsSettings, RaceSettings
from evolake.designs.tables import RACED
from evolake.designs.tracing.trace import trace
from evolake.seeds import CycleSeeds

RACE = RaceSettings(candidates=7, enter=2, max_n=24, batch=4, max_steps=300)


@pytest.fixture(scope="module")
def starter(judge_once) -> Starter:
    result = judge_once(compose(baseline()), {}, {})
    assert result.accepted and result.traced is not None
    return Starter(
        result.design_id, "baseline", baseline(), json.dumps(result.traced.to_json(), sort_keys=True)
    )


@pytest.fixture
def settings(tiny, monkeypatch) -> DesignsSettings:
    monkeypatch.setattr(breeding, "GENERATION", 3)
    return tiny.model_copy(update={"race": RACE})


@pytest.fixture(scope="module")
def line_gates(judge_at) -> DesignGates:
    return judge_at("0001")


def raced(
    starter: Starter,
    judge: DesignGates,
    executor: Executor,
    settings: DesignsSettings,
    workers: int = 1,
    run: RunLevels = run_stages,
) -> Bred:
    graph = json.loads(starter.traced)["graph_sha"]
    setup, known = (
        RaceSetup(judge, judge.of_genome, executor, "operators", workers, run),
        KnownDesigns({graph: starter.design_id}, {baseline().key()}),
    )
    return breed([starter], setup, known, settings=settings, cycle_seeds=CycleSeeds(5, "designs", "0003"))


def content(bred: Bred) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "cpu_s"} for row in bred.rows]


def test_a_race_comes_to_the_same_with_two_workers_and_its_children_descend_from_the_archive(
    starter, line_gates, inline, settings
):
    first = raced(starter, line_gates, inline, settings)
    again = raced(starter, line_gates, inline, settings, workers=2)
    assert content(first) == content(again) and [item.design_id for item in first.entering] == [
        item.design_id for item in again.entering
    ]
    rows = RACED.frame(first.rows).to_dicts()
    assert [row["number"] for row in rows] == list(range(1 + RACE.candidates)) and rows[0]["state"] == "start"
    assert (
        rows[0]["sizes"] == [level.n for level in budget_levels(settings, "0003", 5)][: len(rows[0]["sizes"])]
    )
    assert {row["design_id"] for row in rows if row["state"] == "enters"} == {
        item.design_id for item in first.entering
    } and first.entering
    assert all((row["gate"] is None) == (row["state"] != "blocked") for row in rows)
    for element in first.entering:
        assert element.accepted and dict(element.weights) == pytest.approx({starter.design_id: 1.0})
        row = next(row for row in rows if row["design_id"] == element.design_id)
        assert element.operator == (
            row["operator"] if set(json.loads(row["parents"])) == {starter.design_id} else "race"
        )
        assert design_row(element, "0003", "", None)["state"] == "accepted"
    assert len(first.judged) == RACE.candidates and first.cpu_s == pytest.approx(
        sum(row["cpu_s"] for row in rows)
    )


def test_a_race_ends_when_its_work_is_spent(starter, line_gates, inline, settings):
    heavy = settings.model_copy(update={"race": RACE.model_copy(update={"work": 1, "batch": 200})})
    result = raced(starter, line_gates, inline, heavy)
    work = sum(row["steps_run"] for row in result.rows) * 200 * 24
    assert work > 10**6 and len(result.rows) < 1 + RACE.candidates


def test_a_racer_that_a_clock_cuts_says_so_and_is_no_parent_and_rungs_are_allowed_far_more_than_experiments(
    starter, line_gates, inline, settings
):
    allowed: list[float] = []

    def run(traced: str, levels: Sequence[BudgetLevel], limits: Sequence[int], core_s: float) -> list[Stage]:
        allowed.append(core_s)
        return [Stage(40, True, 0.1, 40), Stage(900, False, 0.1, 30, timed_out=True)]

    result = raced(
        starter,
        line_gates,
        inline,
        settings.model_copy(update={"race": RACE.model_copy(update={"candidates": 1})}),
        run=run,
    )
    assert [row["timed_out"] for row in result.rows if row["state"] != "blocked"] == [True] * len(allowed)
    assert set(allowed) == {5 * settings.low.core_s}


def test_a_cycle_races_where_its_settings_ask_for_it_and_operators_write(settings):
    assert should_breed(settings, "operators") and not should_breed(settings, "model")
    assert not should_breed(DesignsSettings(), "operators")


def test_instances_are_those_of_a_few_cycles_alone(settings):
    drawn = [level.seed for cycle in ("0003", "0004") for level in budget_levels(settings, cycle, 0)]
    assert len(set(drawn)) == len(drawn)
    assert [level.n for level in budget_levels(settings, "0001", 0)][-2:] == [24, 24]


def test_a_race_holds_planted_and_uniform_formulas_by_share(settings):
    levels = budget_levels(settings, "0003", 5)
    kinds = [level.kind for level in levels]
    assert [str(kind) for kind in kinds if kind.name == "uniform"] == ["uniform ratio=4.2"] * 5 and len(
        levels
    ) == 12
    assert {kind.p0 for kind in kinds if kind.name == "planted"} == set(RACE.p0) and kinds[-2].p0 == RACE.p0[
        0
    ]
    assert [level.n for level in levels] == sorted(level.n for level in levels)
    alone = settings.model_copy(update={"race": RACE.model_copy(update={"uniform_share": 0.0})})
    assert {level.kind.name for level in budget_levels(alone, "0003", 5)} == {"planted"}
    seeds = [
        {level.seed for level in budget_levels(settings, cycle, 5)} for cycle in ("0000", "0003", "0004")
    ]
    assert seeds[0] == seeds[1] and not seeds[1] & seeds[2]
    assert (
        cycles_of_same_formulas("0003") == ["0000", "0001", "0002"] and cycles_of_same_formulas("0004") == []
    )


def test_what_a_design_solved_in_an_earlier_race_on_the_same_formulas_is_not_run_again(
    starter, line_gates, inline, settings
):
    asked: list[list[int]] = []

    def run(traced: str, levels: Sequence[BudgetLevel], limits: Sequence[int], core_s: float) -> list[Stage]:
        if traced == starter.traced:
            asked.append([level.seed for level in levels])
        return run_stages(traced, levels, limits, core_s)

    first = raced(starter, line_gates, inline, settings, run=run)
    known = KnownDesigns(
        {json.loads(starter.traced)["graph_sha"]: starter.design_id},
        {baseline().key()},
        RACED.frame(first.rows).to_dicts(),
    )
    again = breed(
        [starter],
        RaceSetup(line_gates, line_gates.of_genome, inline, "operators", 1, run),
        known,
        settings=settings,
        cycle_seeds=CycleSeeds(5, "designs", "0003"),
    )
    solved = {
        seed for seed, good in zip(first.rows[0]["seeds"], first.rows[0]["solved"], strict=True) if good
    }
    assert solved and len(asked[0]) == len(budget_levels(settings, "0003", 5))
    assert len(asked) == 1 or not set(asked[1]) & solved
    shown = ("sizes", "kinds", "median_steps", "solved", "solved_rungs", "score", "elite")
    assert [{name: row[name] for name in shown} for row in again.rows] == [
        {name: row[name] for name in shown} for row in first.rows
    ]


def test_what_enters_has_passed_every_gate_in_the_jail_and_what_only_raced_has_not_been_there(
    starter, line_gates, inline, settings, monkeypatch
):
    traced: list[str] = []

    def counted(source: str, **options: Any) -> Any:
        traced.append(source)
        return trace(source, **options)

    monkeypatch.setattr(judging, "trace", counted)
    result = raced(starter, line_gates, inline, settings)
    assert [item.source for item in result.entering] == traced and len(result.judged) > len(traced)
    for item in result.entering:
        assert {verdict.gate for verdict in item.examined.verdicts} == {gate.name for gate in GATES}
    only_raced = [item for item in result.judged if item.accepted and item.source not in traced]
    assert only_raced and all(
        {verdict.gate for verdict in item.examined.verdicts} == {"contract", "trace", "duplicate"}
        for item in only_raced
    )
    by_id = {item.design_id: item for item in result.judged}
    assert all(by_id[item.design_id].examined is item.examined for item in result.entering)


def test_a_racer_whose_file_is_another_design_does_not_enter_and_the_next_one_does(
    starter, line_gates, inline, settings
):
    first = raced(starter, line_gates, inline, settings)
    best = first.entering[0]

    def swapped(source: str, hyper: Any, known: Any) -> DesignResults:
        """Judge another file than the one that raced."""
        return line_gates(compose(baseline()) if source == best.source else source, hyper, {})

    setup = RaceSetup(swapped, line_gates.of_genome, inline, "operators")
    known = KnownDesigns({json.loads(starter.traced)["graph_sha"]: starter.design_id}, {baseline().key()})
    again = breed([starter], setup, known, settings=settings, cycle_seeds=CycleSeeds(5, "designs", "0003"))
    row = next(row for row in again.rows if row["design_id"] == best.design_id)
    assert (row["state"], row["gate"], row["reason"]) == ("blocked", "trace", breeding.OTHER_GRAPH)
    assert best.design_id not in {item.design_id for item in again.entering}
    assert first.entering[1].design_id == again.entering[0].design_id
    assert not any(item.design_id == best.design_id and item.accepted for item in again.judged)
