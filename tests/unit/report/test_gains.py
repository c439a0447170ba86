"""No line calls something a gain that is none: not a difference of nothing, a share of accepted candidates,
or a root compared with itself."""

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evolake.cli.watch import describe
from evolake.designs.tables import DECISIONS as DESIGN_DECISIONS
from evolake.lake import ARTIFACTS, CHAMPIONS, Lake, TableSchema, side_table
from evolake.programs.report.story import improves, score_in_words
from evolake.prompts.evolution.population import ITERATION, Population
from evolake.prompts.model.prompt import Principle, SystemPrompt
from evolake.prompts.report.story import ROOT_LEADS, UNKNOWN, gain_of, why_no_gain
from evolake.prompts.tables import ARCHIVE, EVALUATIONS
from evolake.report.champion import Champion
from evolake.report.gain import NONE_YET, Gain
from evolake.report.outcome import Seen, outcome_of
from evolake.report.pages import page, sentence
from evolake.report.story import Story, story_of
from evolake.stats import Interval

CYCLE = "0001"


def gain(estimate: float, low: float, high: float, *, beyond: bool, is_ratio: bool = True) -> Gain:
    measure = "fewer median steps" if is_ratio else "more correct replies"
    return Gain(
        Interval(estimate, low, high, 0.95),
        measure,
        "b",
        "on 20 things",
        CYCLE,
        beyond,
        against="the start",
        is_ratio=is_ratio,
    )


def publish(
    root: Path,
    line: str,
    asset: str,
    schema: TableSchema,
    rows: list[dict[str, Any]],
    cycle: str | None = CYCLE,
) -> None:
    Lake(root).publish(line, asset, schema.frame(rows), cycle=cycle, run_id="r", schema=schema)


def crown(root: Path, line: str, name: str, kind: str) -> None:
    """A champion of the first cycle, which is finished."""
    row = {
        "artifact_id": name,
        "line": line,
        "kind": kind,
        "cycle": CYCLE,
        "state": "champion",
        "content_sha": "c",
        "title": name,
    }
    publish(root, line, side_table("close", ARTIFACTS), ARTIFACTS, [row])
    publish(
        root,
        line,
        side_table("close", CHAMPIONS),
        CHAMPIONS,
        [{"line": line, "cycle": CYCLE, "artifact_id": name, "score": 0.5}],
    )
    seals = Lake(root).seals
    seals.seal(line, CYCLE, "v1", None, "r")
    seals.seal(line, "0002", "v2", "v1", "r")


@pytest.mark.parametrize(
    ("is_ratio", "measured", "in_words"),
    [
        (True, (0.97, 0.9, 1.04), "0.97 times fewer median steps than the start, 95% interval 0.90 to 1.04"),
        (True, (1.2, 0.9, 1.6), "1.2 times fewer median steps than the start, 95% interval 0.9 to 1.6"),
        (True, (1.0, 1.0, 1.0), "no difference from the start"),
        (False, (0.0, 0.0, 0.0), "no difference from the start"),
        (False, (0.0, -0.05, 0.05), "no difference from the start, 95% interval -5 to +5"),
        (
            False,
            (0.1, -0.1, 0.3),
            "+10 percentage points more correct replies than the start, 95% interval -10 to +30",
        ),
    ],
)
def test_what_is_not_beyond_the_noise_is_no_gain_in_any_form(is_ratio, measured, in_words):
    result = gain(*measured, beyond=False, is_ratio=is_ratio)
    assert not result.is_gain
    assert (
        str(result)
        == result.to_json()["text"]
        == f"{NONE_YET}: {in_words}, on 20 things; not beyond the noise"
    )
    assert result.brief == f"gain: {NONE_YET} ({in_words}; not beyond the noise)"
    assert (
        result.short
        == f"{NONE_YET} ({in_words.replace(' from the start', '').replace(' than the start', '')}; not "
        "beyond the noise)"
    )


def test_a_gain_is_said_with_its_interval_and_being_worse_beyond_the_noise_is_none():
    better = gain(2.0, 1.9, 2.1, beyond=True)
    assert (
        better.is_gain
        and str(better)
        == "2.00 times fewer median steps than the start (95% interval 1.90 to 2.10), on 20 things"
    )
    assert better.short == "2.00 times fewer median steps (95% interval 1.90 to 2.10)"
    assert not gain(0.5, 0.4, 0.6, beyond=True).is_gain


@pytest.mark.parametrize(
    ("bound", "figure"),
    [("", "2.00 times"), ("lower bound", "at least 2.00 times"), ("estimate", "an estimated 2.00 times")],
)
def test_a_gain_of_which_one_side_was_not_measured_to_its_end_says_so(bound, figure):
    result = replace(gain(2.0, 1.9, 2.1, beyond=True), bound=bound, count="8 seeds")
    assert (
        str(result) == f"{figure} fewer median steps than the start (95% interval 1.90 to 2.10), on 20 things"
    )
    assert result.brief == f"{figure} fewer median steps than the start (95% interval 1.90 to 2.10, 8 seeds)"
    assert result.short == f"{figure} fewer median steps (95% interval 1.90 to 2.10, 8 seeds)"
    assert (result.to_json()["bound"], result.to_json()["count"]) == (bound, "8 seeds")


def test_an_interval_without_an_end_is_json_all_the_same():
    assert (
        json.loads(json.dumps(gain(2.0, 0.0, math.inf, beyond=False).to_json(), allow_nan=False))["high"]
        is None
    )


def test_designs_say_none_yet_if_the_champion_does_not_beat_the_baseline(tmp_path):
    decision = {
        "cycle": CYCLE,
        "comparison": "baseline",
        "challenger_id": "d",
        "incumbent_id": "base",
        "N": 80,
        "batch": 24,
        "profile": "demo",
        "pairs": 3,
        "ratio": 0.97,
        "ratio_low": 0.9,
        "ratio_high": 1.04,
        "wins": False,
        "reason": "r",
    }
    publish(tmp_path, "designs", "champion_decisions", DESIGN_DECISIONS, [decision])
    crown(tmp_path, "designs", "d", "design")
    story = story_of(Lake(tmp_path), "designs", CYCLE)
    assert story.gain.startswith(f"{NONE_YET}: 0.97 times") and story.short_gain.startswith(NONE_YET)
    assert f"gain: {NONE_YET} (0.97 times less median work than base" in outcome_of(
        Lake(tmp_path), "designs", CYCLE
    )


def decided(holder: str, mean: float, *, higher: bool = True) -> dict[str, Any]:
    return {
        "cycle": CYCLE,
        "project": "fit",
        "champion_id": "start",
        "holder_id": holder,
        "wins": holder != "start",
        "holder_mean": mean,
        "initial_mean": 1.0,
        "pairs": 2,
        "protected": True,
        "reason": "r",
        "score_name": "points",
        "higher_is_better": higher,
        "initial_id": "start",
    }


@pytest.mark.parametrize(
    ("holder", "mean", "higher", "in_words"),
    [
        ("start", 1.0, True, "none yet (the initial program leads with held-out points 1)"),
        ("other", 1.0, True, "none yet (held-out points 1, the initial program's 1)"),
        ("other", 2.0, False, "none yet (held-out points 2, the initial program's 1)"),
        ("other", 2.0, True, "held-out points 2, the initial program's 1"),
        ("other", 0.5, False, "held-out points 0.5, the initial program's 1"),
    ],
)
def test_a_program_s_score_beside_that_of_the_initial_program_is_a_gain_only_if_it_is_better(
    holder, mean, higher, in_words
):
    row = decided(holder, mean, higher=higher) | {"searches": "hill,restart", "baseline_mean": None}
    assert score_in_words(row) == in_words
    assert improves(row) == (NONE_YET not in in_words)


def prompts_lake(root: Path, checkpoint: str | None) -> Lake:
    """A lake of prompts whose root leads after a cycle; the weights are those of the base model if there is
    no checkpoint."""
    prompt = SystemPrompt((Principle("p1", "Think first."),))
    population = Population.empty()
    population = population.add(prompts=[population.root(prompt, "root", CYCLE)]).with_values(
        **{"checkpoint": checkpoint, ITERATION: 1}
    )
    for name, schema in ARCHIVE.items():
        publish(root, "prompts", f"incoming_{name}", schema, population.frames()[name].to_dicts(), "0002")
    rows = [
        {
            "cycle": CYCLE,
            "iteration": iteration,
            "prompt_id": prompt.prompt_id,
            "problem_id": f"p{number}",
            "correct": number < 3,
        }
        for iteration in (0, 1)
        for number in range(9)
    ]
    publish(root, "prompts", "heldout", EVALUATIONS, rows)
    return Lake(root)


def test_a_root_under_the_base_model_is_not_compared_with_itself(tmp_path):
    root = SystemPrompt((Principle("p1", "Think first."),)).prompt_id
    assert gain_of(prompts_lake(tmp_path / "base", None), root, CYCLE, CYCLE) is None
    assert why_no_gain(root, {"root": root, "updates": 0}) == ROOT_LEADS and ROOT_LEADS.startswith(NONE_YET)
    assert (
        why_no_gain(root, {"root": root, "updates": 1})
        == why_no_gain("other", {"root": root, "updates": 0})
        == UNKNOWN
    )
    trained = gain_of(prompts_lake(tmp_path / "trained", "sha"), root, CYCLE, CYCLE)
    assert trained is not None and not trained.is_gain
    assert str(trained).startswith(
        f"{NONE_YET}: no difference from the first root under the base model, on 9 held-out problems"
    )
    champion = {"prompt_id": root, "operator": "root", "size": 1, "mu": 25.0, "sigma": 8.0}
    for held, word in ((None, ROOT_LEADS), (trained, "no difference")):
        holder = Champion("prompts", root, "system prompt", "t", "c", CYCLE, CYCLE, 0.3, 0, held)
        values = {"report": SimpleNamespace(held=holder), "champion": champion, "no_gain": ROOT_LEADS}
        lead = sentence("evolake.prompts.report", "headline.html.j2", **values)
        assert f"Gain: {NONE_YET}" in lead and word in lead and "+0.00%" not in lead


def test_every_place_that_shows_a_gain_shows_none_yet():
    none = gain(0.0, 0.0, 0.0, beyond=False, is_ratio=False)
    story = Story(
        "toys", CYCLE, champion="t", champion_id="t", since=CYCLE, gain=str(none), short_gain=none.short
    )
    shown = (
        page([], [story]),
        str(story.lines()),
        str(describe(Seen("toys", [CYCLE], story), datetime.now(UTC))),
    )
    for text in shown:
        assert NONE_YET in text and "+0.00%" not in text
