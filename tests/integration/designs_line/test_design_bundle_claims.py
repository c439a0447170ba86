"""What a bundle states of a design is measured again: against the baseline, on the bundle's seeds and on
fresh ones."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundle_fixtures import BASELINE_DESIGN, improved_design_lake
from bundle_forging import answered, exported, forged, verified
from lent_pool import lent_pool

from evolake.designs.measuring_again import Contest, stated_gain
from evolake.designs.settings import DesignsSettings

EQUAL, SLOW = (BASELINE_DESIGN.replace('"default": 1.0', f'"default": {rate}') for rate in (1.1, 0.2))
LUCKY = 239
"""Of 400 root seeds, one under which an equal design looks twice as good, beyond the noise of three seeds."""


@pytest.fixture(autouse=True)
def commands_share_a_jail(monkeypatch) -> None:
    monkeypatch.setattr("evolake.jail.open_pool", lent_pool)


@pytest.fixture(autouse=True)
def the_same_fresh_seeds_each_time(monkeypatch) -> None:
    """An honest statement is refused in one of a hundred cases, which no test may be."""
    monkeypatch.setattr(
        "evolake.designs.measuring_again.fresh_seeds", lambda count: list(range(5000, 5000 + count))
    )


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    """A champion that needs fewer steps than the baseline."""
    folder = tmp_path_factory.mktemp("improved")
    improved_design_lake(folder / "lake")
    return exported(folder / "lake", "designs", folder / "champion.tar")


def restated(claims: Mapping[str, Any], held: dict[str, Any]) -> None:
    """State what follows from the claims, as a careful forger would."""
    before = held["gain"]
    gain = stated_gain(
        Contest.model_validate(claims["contest"]),
        "own",
        before["against_id"],
        DesignsSettings.model_validate(claims["settings"]),
    )
    assert gain is not None
    held["gain"] = replace(gain, against=before["against"]).to_json()


def better_text(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["text"] = held["gain"]["text"].replace("times", "hundred times")


def better_estimate(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"].update(estimate=9.0, low=8.0, high=10.0)


def no_contest(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["contest"] = None


def fewer_rows_of_the_baseline(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """Only the seeds with the most steps."""
    claims["contest"]["baseline"] = sorted(
        claims["contest"]["baseline"], key=lambda row: -row["median_step"]
    )[:3]


def one_row_twice(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["contest"]["own"].append(claims["contest"]["own"][0])


def a_seed_left_out(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for side in ("own", "baseline"):
        del claims["contest"][side][0]


def fewer_steps(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for row in claims["contest"]["own"]:
        row["median_step"] //= 4
    for row in claims["runs"]:
        row["median_step"] //= 4
    restated(claims, held)


def fewer_steps_in_the_contest_alone(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for row in claims["contest"]["own"]:
        row["median_step"] //= 4
    restated(claims, held)


def a_slower_baseline(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for row in claims["contest"]["baseline"]:
        row.update(median_step=row["max_steps"], unsolved_fraction=1.0)
    restated(claims, held)


def a_baseline_that_the_clock_cut(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """As if it had run long without a solution. A run that a clock cut is no pair, so nothing follows from
    these."""
    for row in claims["contest"]["baseline"]:
        row.update(timed_out=True, steps_run=5_000_000, unsolved_fraction=1.0)


def cheaper_steps(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for row in claims["contest"]["own"]:
        row["work_per_step"] /= 3
    restated(claims, held)


def less_work_for_the_baseline(claims: dict[str, Any], held: dict[str, Any]) -> None:
    for row in claims["contest"]["baseline"]:
        row["max_work"] *= 2


def other_values_of_the_baseline(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["contest"]["hyper"] = {"lr": 0.2}


def runs_at_one_size_dropped(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["runs"] = []


FORGERIES = {
    "text of the gain": (better_text, "the gain that is stated is not that of its evaluations: text"),
    "estimate": (better_estimate, "the gain that is stated"),
    "no contest": (no_contest, "the bundle has no runs of the baseline"),
    "fewer rows of the baseline": (
        fewer_rows_of_the_baseline,
        "the bundle has no run of the baseline under seed",
    ),
    "a row twice": (one_row_twice, "twice"),
    "a seed left out": (a_seed_left_out, "which the contest draws"),
    "steps": (fewer_steps, "it claims median step"),
    "steps of the contest": (fewer_steps_in_the_contest_alone, "it claims median step"),
    "steps of the baseline": (a_slower_baseline, "contest with the baseline: the baseline: under seed"),
    "clock": (a_baseline_that_the_clock_cut, "the gain that is stated"),
    "work of a step": (cheaper_steps, "it claims median step"),
    "allowed work": (less_work_for_the_baseline, "differ in size, instances or allowed work"),
    "values of the baseline": (other_values_of_the_baseline, "baseline.py has the id"),
    "sizes": (runs_at_one_size_dropped, "its rows of the lake have a run at N=113"),
}


def test_an_honest_bundle_holds_and_its_gain_is_measured_again(honest):
    for words in (("--all",), ("--sample", "1")):
        code, answer = answered(honest, *words)
        assert (code, answer["reasons"], answer["gain"]) == (0, [], "measured again")
    assert [item["what"] for item in answer["recomputed"]] == ["gain over the baseline"]
    assert {"score", "runs of the search"} == {item["what"] for item in answer["not_measured_again"]}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_statement_is_refused_with_its_reason(honest, name, tmp_path):
    change, said = FORGERIES[name]
    code, reason = verified(forged(honest, tmp_path / "forged.tar", change), "--all")
    assert (code, said in reason) == (1, True), reason


def test_a_root_seed_that_was_chosen_for_its_scores_is_no_help(tmp_path):
    """All is as it was measured, under the luckiest of 400 root seeds; the design is no better than the
    baseline."""
    improved_design_lake(tmp_path / "lake", better=EQUAL, n=28, repeats=3, seed=LUCKY)
    file = exported(tmp_path / "lake", "designs", tmp_path / "b.tar", EVOLAKE_SEED=str(LUCKY))
    code, answer = answered(file, "--all")
    assert (code, "not reached" in answer["reasons"][0], answer["gain"]) == (1, True, "not reached"), answer[
        "reasons"
    ]


def test_a_slowed_baseline_is_no_help(tmp_path):
    """A gain over a design that is called baseline must be one over the baseline that is installed."""
    improved_design_lake(tmp_path / "lake", better=BASELINE_DESIGN, baseline=SLOW, n=28)
    code, reason = verified(exported(tmp_path / "lake", "designs", tmp_path / "b.tar"), "--all")
    assert (code, "over the baseline that is installed here: not reached" in reason) == (1, True), reason
