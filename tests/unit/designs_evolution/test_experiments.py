"""Running designs through the schedule with a stand-in for the simulation (it is passed in: nothing real is
replaced)."""

import math
from concurrent.futures import Executor, Future
from dataclasses import replace

import polars as pl
import pytest
from designs_runs import Run

from evolake.designs.bundle import carried_runs
from evolake.designs.engines.counted import RATES
from evolake.designs.evolution.experiments import (
    OBJECTIVE_KEYS,
    Job,
    instance_seed,
    results_by_design,
    run_jobs,
    run_schedule,
)
from evolake.designs.evolution.extrapolation import chosen, extrapolate
from evolake.designs.evolution.population import empty_population
from evolake.designs.evolution.schedule import (
    Level,
    budget_of,
    is_solved,
    largest_solved,
    latest_levels,
    next_level,
    promoted,
    size_of,
    sizes,
)
from evolake.designs.evolution.scoring import worse_over_kinds
from evolake.designs.evolution.tuning import measured_trial
from evolake.designs.model.instances import FormulaKind
from evolake.designs.settings import DesignsSettings, FidelitySettings, UniformSettings
from evolake.designs.tables import EXPERIMENTS, EXTRAPOLATIONS
from evolake.errors import MachineryError
from evolake.objectives.score import ScoreRow

SETTINGS = DesignsSettings(
    batch=10,
    low=FidelitySettings(max_n=40, max_steps=400, core_s=10),
    medium=FidelitySettings(max_n=57, max_steps=1600, core_s=20),
    high=FidelitySettings(max_n=80, max_steps=6400, core_s=30),
)


def quadratic(traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings) -> Run:
    """A design that needs `factor * n**2` steps; `traced` is the factor."""
    needed = int(float(traced) * n * n)
    return (
        Run(needed, 0.4, needed, limit=max_work)
        if needed <= max_work
        else Run(2 * max_work, 0.8, max_work, limit=max_work)
    )


def slow(traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings) -> Run:
    """A step costs so much that one takes six counted seconds at N=10; as many steps as `core_s` allows."""
    per_step = 6 * RATES["reference"] / (settings.batch * 10)
    limit = int(core_s * RATES["reference"] / (settings.batch * n * per_step))
    return (
        Run(1, 0.4, 1, work_per_step=per_step, limit=limit)
        if limit
        else Run(99, 1.0, 1, work_per_step=per_step, limit=1)
    )


def job(name: str, factor: float, fidelity: str = "low", earlier: tuple = (), cycle: str = "0001") -> Job:
    return Job(name, str(factor), fidelity, cycle, "test", 7, SETTINGS, earlier)  # pyright: ignore[reportArgumentType]


def levels(rows: list[dict]) -> list[tuple[int, int, bool]]:
    return [(row["N"], row["max_work"], row["unsolved_fraction"] < 0.5) for row in rows]


def test_a_schedule_climbs_until_a_level_fails():
    rows = run_schedule(job("a", 0.45), quadratic)
    assert levels(rows) == [
        (10, 50, True),
        (14, 100, True),
        (20, 200, True),
        (28, 400, True),
        (40, 400, False),
    ]


def test_higher_fidelities_go_on_where_the_lower_one_stopped():
    low = run_schedule(job("a", 0.45), quadratic)
    medium = run_schedule(job("a", 0.45, "medium", tuple(low)), quadratic)
    high = run_schedule(job("a", 0.45, "high", (*low, *medium)), quadratic)
    assert levels(medium) == [(40, 800, True), (57, 1600, True)]
    assert levels(high) == [(80, 3200, True)]
    assert run_schedule(job("a", 0.45, "high", (*low, *medium, *high)), quadratic) == []


def test_all_designs_of_all_cycles_meet_the_same_instances_of_a_size():
    first = {row["N"]: row["seed"] for row in run_schedule(job("a", 0.45), quadratic)}
    other = {row["N"]: row["seed"] for row in run_schedule(job("b", 0.3, cycle="0009"), quadratic)}
    assert first == {n: other[n] for n in first}
    assert len(set(first.values())) == len(first)
    assert instance_seed(7, 10) != instance_seed(8, 10)


def twice(traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings) -> Run:
    """As `quadratic`, by a design that takes half the steps at twice the work a step."""
    run = quadratic(traced, n, max_work, seed, core_s, settings)
    return replace(
        run,
        median_step=run.median_step // 2,
        steps_run=run.steps_run // 2,
        work_per_step=2.0,
        limit=max_work // 2,
    )


def test_half_the_steps_at_twice_the_work_are_no_gain_in_anything_that_objectives_see():
    plain, packed = (
        run_schedule(job(name, 0.5), simulate) for name, simulate in (("plain", quadratic), ("packed", twice))
    )
    assert [row["median_step"] for row in packed] == [row["median_step"] // 2 for row in plain]
    assert [row["median_work"] for row in packed] == [row["median_work"] for row in plain]
    told = results_by_design([*plain, *packed])
    steps = ("max_steps", "median_step", "steps_run", "unsolved_fraction", "N")
    assert [[row[key] for key in steps] for row in told["plain"]] == [
        [row[key] for key in steps] for row in told["packed"]
    ]


def test_what_a_clock_cut_is_no_level_and_is_run_again():
    rows = run_schedule(job("a", 0.45), quadratic)
    cut = [*rows[:-1], rows[-1] | {"timed_out": True, "failure": "cut by the clock after 50 s"}]
    assert [row["N"] for row in results_by_design(cut)["a"]] == [10, 14, 20, 28]
    again = run_schedule(job("a", 0.45, "medium", tuple(cut)), quadratic)
    assert levels(again)[0] == (40, 800, True), "with its plain budget: it has not failed"
    assert empty_population().add(experiments=cut).experiments["N"].to_list() == [10, 14, 20, 28]
    assert (
        empty_population()
        .add(experiments=[row | {"timed_out": True, "unsolved_fraction": 1.0} for row in rows])
        .experiments.is_empty()
    )


def test_counted_seconds_cover_the_whole_fidelity_and_what_ends_by_them_is_a_row():
    rows = run_schedule(job("a", 0.0), slow)
    assert [(row["N"], row["unsolved_fraction"] < 0.5, row["timed_out"]) for row in rows] == [
        (10, True, False),
        (14, False, False),
    ]


def test_an_estimate_never_stands_before_a_run_that_was_solved():
    solved = run_schedule(job("slow", 0.49), quadratic)
    early = [row | {"design_id": "early"} for row in solved[:-1]] + [
        solved[-1] | {"design_id": "early", "median_step": 145, "median_work": 145.0}
    ]
    late = [row | {"design_id": "late", "unsolved_fraction": 0.4, "median_work": 399.0} for row in solved]
    told = results_by_design([*early, *late])
    assert (
        early[-1]["unsolved_fraction"] > 0.5
        and told["early"][-1]["median_step"] == 400 > told["late"][-1]["median_step"]
    )


def test_a_dead_worker_is_our_fault_and_names_the_design():
    from concurrent.futures import BrokenExecutor

    class Broken(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future: Future = Future()
            future.set_exception(BrokenExecutor("gone"))
            return future

    with pytest.raises(MachineryError, match="design a"):
        run_jobs(Broken(), [job("a", 0.45)], simulate=quadratic)


def test_objectives_see_one_row_a_size_and_no_times():
    low = run_schedule(job("a", 0.45), quadratic)
    medium = run_schedule(job("a", 0.45, "medium", tuple(low)), quadratic)
    result = results_by_design([*low, *medium])
    assert list(result) == ["a"]
    assert [(row["N"], row["max_steps"]) for row in result["a"]] == [
        (10, 50),
        (14, 100),
        (20, 200),
        (28, 400),
        (40, 800),
        (57, 1600),
    ]
    assert all(
        set(row) == {*OBJECTIVE_KEYS, "max_steps", "median_step", "steps_run", "work_per_step"}
        for row in result["a"]
    )
    assert not {"wall_s", "cpu_s"} & set(OBJECTIVE_KEYS)


def test_trials_of_tuning_go_as_far_as_the_setting_says_and_only_while_they_reach_the_top():
    def reached(fidelity: str) -> dict[str, list[tuple[int, int, bool]]]:
        settings = SETTINGS.model_copy(update={"tuning_fidelity": fidelity})
        jobs = [replace(item, settings=settings) for item in (job("fast", 0.2), job("slow", 0.45))]
        return {job.design_id: levels(measured_trial(job, quadratic))[-2:] for job in jobs}

    assert reached("low") == {
        "fast": [(28, 400, True), (40, 400, True)],
        "slow": [(28, 400, True), (40, 400, False)],
    }
    assert reached("medium") == {
        "fast": [(40, 400, True), (57, 1600, True)],
        "slow": [(28, 400, True), (40, 400, False)],
    }
    assert reached("high") == {
        "fast": [(57, 1600, True), (80, 3200, True)],
        "slow": [(28, 400, True), (40, 400, False)],
    }


def with_uniform(job: Job, share: float = 0.25) -> Job:
    settings = job.settings.model_copy(update={"uniform": UniformSettings(share=share, max_n=20)})
    return replace(job, settings=settings)


def by_kind(
    traced: str,
    n: int,
    max_work: int,
    seed: int,
    core_s: float,
    settings: DesignsSettings,
    *,
    kind: FormulaKind | None = None,
) -> Run:
    """As `quadratic`; on uniform formulas four times as much."""
    run = quadratic(traced, n, max_work, seed, core_s, settings)
    return run if kind is None else replace(run, median_step=4 * run.median_step)


def test_uniform_formulas_follow_the_planted_ones_at_low_fidelity():
    plain, both = run_schedule(job("a", 0.45), by_kind), run_schedule(with_uniform(job("a", 0.45)), by_kind)
    planted_rows = [row for row in both if row["kind"] == "planted"]
    assert planted_rows == plain
    uniform_rows = both[len(plain) :]
    assert [(row["kind"], row["N"], row["ratio"]) for row in uniform_rows] == [
        ("uniform", n, 4.1) for n in (10, 14, 20)
    ]
    assert {row["batch"] for row in uniform_rows} == {max(1, round(plain[0]["batch"] / 3))}
    assert not {row["seed"] for row in uniform_rows} & {row["seed"] for row in plain}
    frame = EXPERIMENTS.frame(both)
    assert EXPERIMENTS.repeated_keys(frame).is_empty()
    higher = run_schedule(
        replace(with_uniform(job("a", 0.45)), fidelity="medium", earlier=tuple(both)), by_kind
    )
    assert {row["kind"] for row in higher} <= {"planted"}


def test_sizes_of_one_kind_say_nothing_of_the_other():
    both = run_schedule(with_uniform(job("a", 0.45)), by_kind)
    plain = run_schedule(job("a", 0.45), by_kind)
    assert latest_levels(both) == latest_levels(plain) and largest_solved(both) == largest_solved(plain)
    assert [level["N"] for level in latest_levels(both, "uniform")] == [10, 14, 20] and largest_solved(
        both, "uniform"
    ) <= 20
    assert results_by_design(both) == results_by_design(plain)
    uniform = results_by_design(both, "uniform")["a"]
    assert [level["median_step"] for level in uniform] == [
        4 * level["median_step"] for level in results_by_design(plain)["a"][:3]
    ]
    before = [{name: value for name, value in row.items() if name != "kind"} for row in plain]
    assert [row["N"] for row in latest_levels(before)] == [row["N"] for row in latest_levels(plain)], (
        "rows of lakes of before are planted"
    )


def test_a_design_is_scored_by_its_worse_place_over_kinds():
    def rows(**scores: float | None) -> list[ScoreRow]:
        return [
            ScoreRow("o", name, score, "ok" if score is not None else "error", "")
            for name, score in scores.items()
        ]

    planted_rows = rows(specialist=1.0, fair=2.0, slow=3.0, old=1.5, broken=None)
    uniform_rows = rows(specialist=90.0, fair=10.0, slow=30.0, broken=1.0)
    scores = {row.design_id: row.score for row in worse_over_kinds(planted_rows, uniform_rows)}
    # the specialist is the last of three on uniform formulas; what did not run on them keeps its score
    assert scores == {"specialist": 3.0, "fair": 2.0, "slow": 3.0, "old": 1.5, "broken": None}
    lost = {
        row.design_id: row.score
        for row in worse_over_kinds(planted_rows, rows(specialist=None, fair=10.0, slow=30.0))
    }
    assert lost["specialist"] == 3.0 and lost["fair"] == 2.0
    assert worse_over_kinds(planted_rows, []) == planted_rows


# Sizes, budgets, resuming and promotion.


PAPER = DesignsSettings()


def row(n: int, max_steps: int, unsolved: float) -> dict:
    return {"N": n, "max_steps": max_steps, "unsolved_fraction": unsolved}


def test_sizes_are_those_of_the_paper():
    assert [size_of(PAPER, k) for k in range(17)] == [
        10,
        14,
        20,
        28,
        40,
        57,
        80,
        113,
        160,
        226,
        320,
        453,
        640,
        905,
        1280,
        1810,
        2560,
    ]
    assert sizes(PAPER, "low")[-1] == 640
    assert sizes(PAPER, "medium")[-1] == 1280
    assert sizes(PAPER, "high")[-1] == 2560


def test_exactly_half_unsolved_is_a_failure_and_stops_the_schedule():
    assert not is_solved(row(10, 50, 0.5))
    assert next_level(PAPER, "low", [], [row(10, 50, 0.5)]) is None


def test_a_schedule_ends_at_the_largest_size_of_its_fidelity():
    done = [row(size_of(PAPER, k), budget_of(PAPER, "low", k), 0.4) for k in range(13)]
    assert next_level(PAPER, "low", [], done) is None
    assert next_level(PAPER, "medium", done, []) == Level(13, 905, 100_000)


def test_a_doubled_budget_starts_from_what_the_level_failed_with_and_not_from_its_plain_budget():
    low = [*(row(size_of(PAPER, k), 10_000, 0.4) for k in range(10)), row(320, 10_000, 0.6)]
    medium = [row(320, 20_000, 0.6)]
    assert next_level(PAPER, "medium", low, []) == Level(10, 320, 20_000)
    assert next_level(PAPER, "medium", low, medium) is None
    assert next_level(PAPER, "high", [*low, *medium], []) == Level(10, 320, 40_000)


@pytest.mark.parametrize(
    ("total", "medium", "high"),
    [(0, 0, 0), (1, 1, 1), (2, 1, 1), (6, 3, 1), (7, 4, 1), (20, 10, 2), (30, 15, 3)],
)
def test_the_best_half_goes_to_medium_and_the_best_tenth_to_high(total, medium, high):
    order = [f"d{number}" for number in range(total)]
    assert promoted(order, "low", PAPER) == order
    assert promoted(order, "medium", PAPER) == order[:medium]
    assert promoted(order, "high", PAPER) == order[:high]


# Who goes on by scaling: what is expected at sizes that were not run, and how sure that is.


SCALING_SETTINGS = DesignsSettings(
    low=FidelitySettings(max_n=40, max_steps=5000, core_s=1),
    medium=FidelitySettings(max_n=80, max_steps=9000, core_s=1),
)
RUN = (10, 14, 20, 28, 40)


def rows(name: str, steps, failed_at: int | None = None) -> list[dict]:
    return [
        {
            "design_id": name,
            "N": n,
            "max_steps": 1000,
            "median_step": round(steps(n)),
            "unsolved_fraction": 0.9 if n == failed_at else 0.2,
        }
        for n in RUN
        if failed_at is None or n <= failed_at
    ]


def test_a_power_law_is_continued_and_a_scattered_one_is_less_sure():
    result = extrapolate("a", rows("a", lambda n: 3 * n**1.5), 80)
    assert result.work == pytest.approx(3 * 80**1.5, rel=0.02) and result.high / result.low < 1.2
    shaky = extrapolate("a", rows("a", lambda n: 3 * n**1.5 * (1.3 if n in (14, 28) else 0.8)), 80)
    assert shaky.low < result.low < result.high < shaky.high


def test_what_did_not_suffice_at_a_smaller_size_is_a_bound():
    result = extrapolate("a", rows("a", lambda n: n, failed_at=40), 80)
    assert result.low == 1000 <= result.work < result.high and result.levels == 4, (
        "how far beyond the bound it lies is open"
    )


def test_a_bound_above_the_line_bends_it_and_one_below_does_not():
    plain = extrapolate("a", rows("a", lambda n: 3 * n**1.5)[:4], 80)
    near, far = (
        extrapolate(
            "a",
            [
                *rows("a", lambda n: 3 * n**1.5)[:4],
                row | {"N": 40, "unsolved_fraction": 0.9, "max_steps": most},
            ],
            80,
        )
        for row in rows("a", lambda n: 1)[:1]
        for most in (500, 3000)
    )
    assert (near.work, near.low, near.high) == (plain.work, max(500, plain.low), plain.high)
    assert far.work > 1.5 * plain.work and far.high > 2 * plain.high


LAWS = {  # in the order of the consensus
    "first": lambda n: 20 * n**1.4,
    "fast at first": lambda n: 0.02 * n**3.2,
    "fast at the end": lambda n: 8 * n**1.1,
    "slow": lambda n: 60 * n**1.6,
}


def test_scaling_sends_on_who_will_be_fast_and_always_the_first_of_the_consensus():
    measured = [row for name, steps in LAWS.items() for row in rows(name, steps)] + rows(
        "hardly run", lambda n: 1, failed_at=14
    )
    order = [*LAWS, "hardly run"]
    going, report = chosen(
        order,
        measured,
        "medium",
        SCALING_SETTINGS.model_copy(update={"promotion": "scaling", "medium_share": 0.4}),
        "0003",
    )
    assert going == ["first", "fast at the end"]
    by_consensus, same = chosen(
        order, measured, "medium", SCALING_SETTINGS.model_copy(update={"medium_share": 0.4}), "0003"
    )
    assert (
        by_consensus
        == ["first", "fast at first"]
        == promoted(order, "medium", SCALING_SETTINGS.model_copy(update={"medium_share": 0.4}))
    )
    assert [{**row, "goes_on": None} for row in report] == [{**row, "goes_on": None} for row in same], (
        "what is expected does not hang on the setting"
    )
    frame = EXTRAPOLATIONS.frame(report)
    assert frame.filter(pl.col("goes_on"))["design_id"].to_list() == going
    assert frame["N"].unique().to_list() == [sizes(SCALING_SETTINGS, "medium")[-1]]
    assert frame["place"].to_list() == list(range(5)) and frame["low_work"].null_count() == 1
    assert all(math.isfinite(row["high_work"]) for row in report if row["high_work"] is not None)


def test_a_bundle_carries_the_runs_on_planted_formulas():
    both, plain = run_schedule(with_uniform(job("a", 0.45)), by_kind), run_schedule(job("a", 0.45), by_kind)
    carried = carried_runs(both, "a", "search", 4.3)
    assert carried == carried_runs(plain, "a", "search", 4.3) and len(carried) == len(plain)
    before = [{name: value for name, value in row.items() if name != "kind"} for row in plain]
    assert (
        carried_runs(before, "a", "search", 4.3) == carried and carried_runs(both, "b", "search", 4.3) == []
    )
