"""The duel: fresh seeds, the contest, limits that never help, reach, comparison with the baseline."""

import math
import zlib
from dataclasses import replace

import numpy as np
import pytest
from designs_runs import Inline, Run

from evolake.designs.evolution.attempts import consensus_winner
from evolake.designs.evolution.design_contest import Contender, Succession, decide_champion, gains, reaches
from evolake.designs.evolution.experiments import instance_seed
from evolake.designs.evolution.extrapolation import (
    LAWS,
    bends,
    gains_by_law,
    law_sizes,
    line_weights,
    plausible_laws,
)
from evolake.designs.evolution.population import empty_population
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DECISIONS, DUELS
from evolake.lake.secret import contest_seeds
from evolake.seeds import CycleSeeds

SETTINGS = DesignsSettings(
    batch=10,
    champion_repeats=3,
    low=FidelitySettings(max_n=40, max_steps=400, core_s=10),
    medium=FidelitySettings(max_n=57, max_steps=800, core_s=10),
    high=FidelitySettings(max_n=80, max_steps=1000, core_s=10),
)
CYCLE = CycleSeeds(3, "designs", "0004")


def noisy(traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings) -> Run:
    """`traced` is "steps at N=80, spread, largest size": linear in N, with a spread drawn from the seed and
    the design."""
    steps, spread, largest = (float(part) for part in traced.split(","))
    factor = np.exp(spread * np.random.default_rng([seed % 2**32, zlib.crc32(traced.encode())]).normal())
    needed = int(steps * n / 80 * factor)
    if n > largest or needed > max_work:
        return Run(3, 0.9, max_work, limit=max_work)
    return Run(needed, 0.4, needed)


def contender(name: str, steps: float, spread: float = 0.05, largest: int = 80) -> Contender:
    return Contender(name, f"{steps},{spread},{largest}", largest)


def duel(challenger: Contender, incumbent: Contender, baseline: Contender, repeats: int = 3, simulate=noisy):
    settings = SETTINGS.model_copy(update={"champion_repeats": repeats})
    return decide_champion(
        challenger,
        incumbent,
        baseline,
        executor=Inline(),
        settings=settings,
        cycle_seeds=CYCLE,
        profile="test",
        simulate=simulate,
    )


BASELINE = contender("base", 900)


def test_a_clear_win_crowns_the_challenger_and_measures_it_against_the_baseline():
    result = duel(contender("new", 200), contender("old", 500), BASELINE)
    assert result.champion_id == "new"
    decisions = {row["comparison"]: row for row in result.decisions}
    assert set(decisions) == {"incumbent", "baseline"}
    assert decisions["incumbent"]["ratio"] == pytest.approx(2.5, rel=0.1)
    assert decisions["baseline"]["ratio"] == pytest.approx(4.5, rel=0.1)
    assert (
        decisions["incumbent"]["ratio_low"]
        <= decisions["incumbent"]["ratio"]
        <= decisions["incumbent"]["ratio_high"]
    )
    assert {row["N"] for row in result.trials} == {20, 28, 40, 57, 80} == set(decisions["incumbent"]["sizes"])
    assert (decisions["incumbent"]["target"], decisions["baseline"]["target"]) == (80, None)


def test_a_win_within_the_noise_keeps_the_incumbent():
    result = duel(contender("new", 480, 0.5), contender("old", 500, 0.5), BASELINE)
    assert result.champion_id == "old"
    row = result.decisions[0]
    assert not row["wins"] and row["noise_floor"] > row["ratio"]
    assert (
        "no gain beyond the noise" in row["reason"]
        and "95% interval" in row["reason"]
        and "3 seeds" in row["reason"]
    )


def test_a_size_that_only_one_reaches_decides_with_a_lower_bound():
    result = duel(contender("wide", 300), contender("narrow", 100, largest=57), BASELINE)
    row = result.decisions[0]
    assert result.champion_id == "wide"
    assert row["N"] == 80
    assert row["ratio"] == pytest.approx(1000 / 300, rel=0.1) and row["sizes"] == [57, 80]
    assert "the incumbent did not solve it" in row["reason"]
    assert row["bound"] == "lower bound" and result.decisions[1]["bound"] == ""


def test_seeds_are_fresh_shared_by_both_and_change_with_the_cycle():
    result = duel(contender("new", 200), contender("old", 500), BASELINE)
    largest = [row for row in result.trials if row["N"] == 80]
    seeds = {
        part: [row["seed"] for row in largest if row["part"] == part]
        for part in ("challenger", "incumbent", "baseline")
    }
    assert seeds["challenger"] == seeds["incumbent"] == seeds["baseline"]
    assert instance_seed(3, 80) not in seeds["incumbent"]
    later = decide_champion(
        contender("new", 200),
        contender("old", 500),
        BASELINE,
        executor=Inline(),
        settings=SETTINGS,
        cycle_seeds=CycleSeeds(3, "designs", "0005"),
        profile="test",
        simulate=noisy,
    )
    assert not {row["seed"] for row in later.trials} & {row["seed"] for row in result.trials}


def test_a_table_of_answers_for_what_is_public_wins_nothing_under_seeds_of_a_contest():
    known = {CYCLE.seed("champion", number) for number in range(100)}

    def simulate(traced: str, n: int, max_work: int, seed: int, core_s: float, sizes: DesignsSettings) -> Run:
        done = noisy(traced, n, max_work, seed, core_s, sizes)
        return Run(1, 0.0, 1) if traced.startswith("2000") and seed in known else done

    def champion(seeds: CycleSeeds) -> str:
        return decide_champion(
            contender("table", 2000),
            contender("old", 500),
            BASELINE,
            executor=Inline(),
            settings=SETTINGS,
            cycle_seeds=seeds,
            profile="test",
            simulate=simulate,
        ).champion_id

    assert champion(CYCLE) == "table"
    assert champion(contest_seeds(b"s" * 32, CYCLE, ["table", "old", "base"])) == "old"


@pytest.mark.parametrize(
    ("slower", "cpu_s", "champion"), [(8.0, 1e-3, "old"), (1.5, 1e-3, "new"), (8.0, 1e-6, "new")]
)
def test_a_gain_in_work_that_processor_time_contradicts_promotes_nothing(slower, cpu_s, champion):
    """Work says 4.6 times less; at eight times the seconds for a unit of work it takes longer."""

    def timed(traced: str, *args) -> Run:
        run = noisy(traced, *args)
        return replace(run, cpu_s=cpu_s * run.steps_run * (slower if traced.startswith("200") else 1.0))

    result = duel(contender("new", 200), contender("old", 920), BASELINE, simulate=timed)
    decision = result.decisions[0]
    assert result.champion_id == champion and decision["wins"] == (champion == "new")
    assert ("processor time contradicts its work: 8 times" in decision["reason"]) == (champion == "old")


def row(
    median_step: int,
    solved: bool = True,
    steps_run: int = 1000,
    timed_out: bool = False,
    per_step: float = 1.0,
) -> dict:
    return {
        "median_step": median_step,
        "unsolved_fraction": 0.4 if solved else 0.9,
        "steps_run": steps_run,
        "max_steps": 1000 / per_step,
        "timed_out": timed_out,
        "work_per_step": per_step,
        "median_work": median_step * per_step,
        "max_work": 1000.0,
    }


def test_what_a_limit_cut_never_helps_the_challenger():
    solved = row(500)
    assert gains([solved], [solved]) == [0.0]
    assert gains([row(145, False)], [solved]) == [pytest.approx(np.log(0.5))], (
        "an estimate below the limit is none"
    )
    assert gains([row(145, False, 87)], [solved]) == [pytest.approx(np.log(0.5))], (
        "fewer counted seconds are no help either"
    )
    assert gains([row(145, False, 87, True), solved], [solved, solved]) == [0.0], (
        "what a clock cut is no pair"
    )
    assert gains([row(250, per_step=2.0)], [solved]) == [0.0], "half the steps of twice the work are no gain"
    assert gains([solved], [row(9000, False)]) == [pytest.approx(np.log(2))], (
        "the incumbent counts with the limit, not with what is projected"
    )
    assert gains([solved], [row(9000, False, 87)]) == [pytest.approx(np.log(87 / 500))], (
        "after 87 steps nothing more is known"
    )
    assert gains([solved], [row(9000, False, 87, True)]) == []
    assert gains([row(1, False)], [row(9000, False)]) == [0.0]


def test_who_solves_fewer_runs_does_not_win():
    def lucky(traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings) -> Run:
        fails = traced == "new" and seed == seeds[-1]
        return (
            Run(3, 0.9, max_work, limit=max_work) if fails else Run(10 if traced == "new" else 900, 0.4, 900)
        )

    from evolake.seeds import child_seed

    seeds = [child_seed(3, "designs", "0004", "champion", index) for index in range(8)]
    settings = SETTINGS.model_copy(update={"champion_repeats": 8})
    result = decide_champion(
        Contender("new", "new", 80),
        Contender("old", "old", 80),
        Contender("old", "old", 80),
        executor=Inline(),
        settings=settings,
        cycle_seeds=CYCLE,
        profile="test",
        simulate=lucky,
    )
    assert result.champion_id == "new", "seven pairs decide before the one that it fails"
    seeds.append(seeds[2])
    again = decide_champion(
        Contender("new", "new", 80),
        Contender("old", "old", 80),
        Contender("old", "old", 80),
        executor=Inline(),
        settings=settings,
        cycle_seeds=CYCLE,
        profile="test",
        simulate=lucky,
    )
    assert again.champion_id == "old"
    assert (
        again.decisions[0]["bound"] == "estimate"
        and "the challenger did not solve it within the limit in 1 of 8" in again.decisions[0]["reason"]
    )
    assert again.decisions[0]["reason"].endswith("who solves fewer runs does not win")


def test_most_runs_must_be_solved_to_reach_a_size():
    assert reaches([{"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.9}])
    assert not reaches([{"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.9}])
    cut = {"unsolved_fraction": 1.0, "timed_out": True}
    assert reaches([{"unsolved_fraction": 0.4}, cut, cut]) and not reaches([cut])


def test_a_pair_that_a_clock_cut_takes_no_victory_away():
    def sometimes_starved(
        traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings
    ) -> Run:
        if traced == "new" and seed == starved:
            return Run(145, 1.0, 87, timed_out=True, failure="cut by the clock", limit=max_work)
        return Run(10 if traced == "new" else 900, 0.4, 900, limit=max_work)

    from evolake.seeds import child_seed

    starved = child_seed(3, "designs", "0004", "champion", 1)
    settings = SETTINGS.model_copy(update={"champion_repeats": 8})
    result = decide_champion(
        Contender("new", "new", 80),
        Contender("old", "old", 80),
        Contender("old", "old", 80),
        executor=Inline(),
        settings=settings,
        cycle_seeds=CYCLE,
        profile="test",
        simulate=sometimes_starved,
    )
    row = result.decisions[0]
    assert (result.champion_id, row["pairs"], row["bound"]) == ("new", 7, "")
    assert "did not solve it" not in row["reason"]


# Who is promoted is decided by the law through several sizes at the target, and by nothing that a limit
# or a bend hides.


LIMIT = 10**7
LEVEL = FidelitySettings(max_n=160, max_steps=LIMIT, core_s=10)
LAW_SETTINGS = DesignsSettings(batch=10, champion_repeats=8, low=LEVEL, medium=LEVEL, high=LEVEL)
SIZES = [28, 40, 57, 80]


def law_duel(
    new: tuple[float, float], old: tuple[float, float], largest: tuple[int, int], spread: float = 0.05
) -> Succession:
    """Designs by (work at N=80, exponent) and the largest size that each solves."""

    def simulate(
        name: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings
    ) -> Run:
        side = int(name == "new")
        work, exponent = (old, new)[side]
        random = np.random.default_rng([side, n, seed % 2**32])
        needed = round(work * (n / 80) ** exponent * math.exp(spread * random.normal()))
        return Run(needed, 0.4, needed) if n <= largest[1 - side] else Run(3, 0.9, max_work, limit=max_work)

    champion, challenger = Contender("old", "old", largest[1]), Contender("new", "new", largest[0])
    return decide_champion(
        challenger,
        champion,
        champion,
        executor=Inline(),
        settings=LAW_SETTINGS,
        cycle_seeds=CycleSeeds(3, "designs", "0004"),
        profile="test",
        simulate=simulate,
    )


def test_a_challenger_that_is_ahead_where_it_was_solved_and_scales_worse_is_not_promoted():
    result = law_duel((40_000, 4.0), (50_000, 2.0), (80, 80))
    row = result.decisions[0]
    assert result.champion_id == "old" and not row["wins"]
    assert (row["N"], row["target"], row["law"]) == (80, 160, "power law") and row["ratio"] == pytest.approx(
        1.25 / 4, rel=0.2
    )
    assert "by the power law through N=20, 28, 40, 57, 80 at N=160 a ratio of" in row["reason"]


def test_a_challenger_that_is_behind_where_it_was_solved_and_scales_better_is_promoted():
    result = law_duel((60_000, 2.0), (50_000, 4.0), (80, 80))
    assert result.champion_id == "new" and result.decisions[0]["ratio"] == pytest.approx(4 / 1.2, rel=0.2)
    assert (
        DECISIONS.frame(result.decisions).height == 2
        and DUELS.repeated_keys(DUELS.frame(result.trials)).is_empty()
    )


def test_a_gain_that_does_not_reach_beyond_the_error_at_the_target_is_none():
    assert law_duel((40_000, 3.0), (50_000, 3.0), (80, 80), spread=0.05).champion_id == "new"
    assert law_duel((40_000, 3.0), (50_000, 3.0), (80, 80), spread=0.6).champion_id == "old"


def test_a_size_that_only_the_incumbent_solves_keeps_it_champion():
    result = law_duel((10_000, 2.0), (50_000, 2.0), (57, 80))
    assert result.champion_id == "old" and result.decisions[0]["reason"].endswith(
        "who solves fewer runs does not win"
    )


def test_a_size_that_the_incumbent_did_not_solve_bounds_its_work_from_below():
    result = law_duel((50_000, 2.0), (50_000, 2.0), (80, 57))
    row = result.decisions[0]
    assert (result.champion_id, row["bound"], row["sizes"]) == ("new", "lower bound", [57, 80])
    differences = np.array([[0.0, 0.0, 3.0, 0.0]] * 4)
    for law in LAWS:
        item = gains_by_law(differences, [True, False, False, False], SIZES, 160, law)
        assert all(
            weight >= 0
            for n, weight in zip(item.sizes, line_weights(item.sizes, 160, law), strict=True)
            if n == 28
        )


@pytest.mark.parametrize("law", LAWS)
def test_a_line_is_continued_exactly_and_its_weights_sum_to_one(law):
    line = np.array([1.0 - 0.3 * LAWS[law](n) for n in SIZES])
    weights = line_weights(SIZES, 160, law)
    assert weights.sum() == pytest.approx(1) and line @ weights == pytest.approx(1.0 - 0.3 * LAWS[law](160))
    assert line_weights([80], 160, law).tolist() == [1.0]
    item = gains_by_law(np.stack([line, line]), [False] * 4, SIZES, 160, law)
    assert item.gains == pytest.approx([line @ weights] * 2) and item.sizes == tuple(SIZES)
    alone = gains_by_law(np.array([[0.5], [0.4]]), [False], [80], 160, law)
    assert (alone.target, alone.gains) == (80, (0.5, 0.4))


def test_gains_that_end_before_the_target_are_not_continued():
    random = np.random.default_rng(1)
    falling = np.array([0.5, 0.5, 0.5, 0.0]) + 0.05 * random.normal(size=(8, 4))
    assert bends(falling, SIZES, "power law")
    assert np.mean(gains_by_law(falling, [False] * 4, SIZES, 80, "power law").gains) < 0.1
    assert not bends(np.zeros((8, 2)), [57, 80], "power law") and not bends(
        np.zeros((1, 4)), SIZES, "power law"
    )


def test_the_law_that_the_work_follows_is_taken_and_both_where_it_is_open():
    sizes = [40, 57, 80, 113, 160]
    power, exponential = (
        {n: 1 + slope * LAWS[law](n) for n in sizes}
        for law, slope in (("power law", 2.5), ("exponential law", 0.03))
    )
    assert plausible_laws([power, power]) == ["power law"] and plausible_laws([exponential, exponential]) == [
        "exponential law"
    ]
    assert plausible_laws([power, exponential]) == list(LAWS) == plausible_laws([{40: 1.0}, {40: 2.0}])


def test_a_duel_measures_the_largest_size_and_up_to_four_before_it():
    assert law_sizes([10, 14, 20, 28, 40, 57, 80], 57) == (14, 20, 28, 40, 57) and law_sizes(
        [10, 14], 14
    ) == (10, 14)


# The first by consensus beside the champion: the reason where they differ.


FIRST, CHAMPION = "a" * 64, "b" * 64
RANKING = [
    {"design_id": CHAMPION, "rank": 2},
    {"design_id": FIRST, "rank": 1},
    {"design_id": "c" * 64, "rank": 3},
]


def archive(state: str = "accepted", reason: str | None = None):
    rows = [(FIRST, state, reason), (CHAMPION, "champion", None)]
    return empty_population().admit(
        [
            {
                "design_id": name,
                "state": now,
                "reason": why,
                "cycle": "0001",
                "title": f"title {name[0]}",
                "origin": "seed",
                "operator": "seed",
                "tuned": False,
            }
            for name, now, why in rows
        ],
        [],
    )


def decision(ratio: float, floor: float, wins: bool = False) -> dict:
    duel = {
        "comparison": "incumbent",
        "challenger_id": FIRST,
        "ratio": ratio,
        "ratio_high": ratio * floor,
        "noise_floor": floor,
    }
    return duel | {"wins": wins, "reason": "as measured"}


def test_the_champion_that_is_first_is_said_to_be():
    result = consensus_winner(archive(), RANKING, [], FIRST)
    assert (result.design_id, result.same, result.reason) == (
        FIRST,
        True,
        "The consensus has the champion first.",
    )


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        ([decision(0.5, 1.2)], "It lost the duel: as measured"),
        ([decision(1.1, 1.2)], "The duel did not tell them apart beyond the noise"),
        ([decision(0.9, 1.2)], "The duel did not tell them apart beyond the noise"),
        ([decision(2.0, 1.2, wins=True)], "It won its duel and has lost the title since"),
        ([], "It has not met the champion on fresh seeds in this cycle"),
        (
            [decision(2.0, 1.2) | {"comparison": "baseline"}],
            "It has not met the champion on fresh seeds in this cycle",
        ),
    ],
)
def test_where_they_differ_the_duel_says_why(decisions, said):
    result = consensus_winner(archive(), RANKING, decisions, CHAMPION)
    assert (result.design_id, result.title, result.same) == (FIRST, "title a", False)
    assert result.reason.startswith(said) and result.reason.endswith(
        "The consensus has the champion at place 2 of 3."
    )


def test_what_is_blocked_since_is_said_to_be():
    result = consensus_winner(
        archive("blocked", "contract: it raised"), RANKING, [decision(0.5, 1.2)], CHAMPION
    )
    assert "It is blocked now: contract: it raised. " in result.reason


def ran(result, part: str, n: int = 80) -> int:
    return sum(row["part"] == part and row["N"] == n for row in result.trials)


def test_a_hopeless_challenger_is_given_up_after_three_pairs_and_the_champion_is_measured_to_the_end():
    result = duel(contender("new", 700), contender("old", 500), BASELINE, repeats=8)
    assert [ran(result, part) for part in ("challenger", "incumbent", "baseline")] == [3, 8, 8]
    assert [(row["pairs"], row["wins"]) for row in result.decisions] == [(3, False), (8, True)]


def test_a_clear_challenger_wins_after_seven_of_eight_pairs():
    result = duel(contender("new", 200), BASELINE, BASELINE, repeats=8)
    assert [ran(result, part) for part in ("challenger", "incumbent", "baseline")] == [7, 7, 0]
    assert result.champion_id == "new" and result.decisions[0]["test"] == "sign flips of 7 pairs"


def test_a_duel_of_which_a_clock_cut_every_run_is_undecided():
    def starved(
        traced: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings
    ) -> Run:
        return Run(145, 1.0, 87, timed_out=True, failure="cut by the clock", limit=max_work)

    result = decide_champion(
        contender("new", 1),
        contender("old", 2),
        BASELINE,
        executor=Inline(),
        settings=SETTINGS,
        cycle_seeds=CYCLE,
        profile="test",
        simulate=starved,
    )
    assert result.champion_id == "old"
    assert [(row["pairs"], row["ratio"], row["wins"]) for row in result.decisions] == [(0, None, False)] * 2
    assert all(row["reason"].startswith("undecided: this machine was too busy") for row in result.decisions)
    assert DECISIONS.frame(result.decisions).height == 2
