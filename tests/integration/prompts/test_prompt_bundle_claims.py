"""What a bundle states of a system prompt follows from its replies, and these are given again: of it and of
the first root."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bundle_fixtures import ROOT, SEEDS, SMALL_PROMPTS, improved_prompt_lake
from bundle_forging import answered, exported, forged, opened, verified

from evolake.bundles.container import as_json
from evolake.prompts.measuring_again import FIRST, INSTALLED, OWN, installed_root, reached, shares
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Problem
from evolake.prompts.report.story import gain_between
from evolake.prompts.settings import PromptsSettings

HELD_OUT = 6
ENVIRONMENT = {
    f"EVOLAKE_PROMPTS__{name.upper()}": str(value)
    for name, value in {**SMALL_PROMPTS, "heldout_problems": HELD_OUT, "answer_format": "boxed"}.items()
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("improved")
    improved_prompt_lake(folder / "lake", held_out=HELD_OUT)
    return exported(folder / "lake", "prompts", folder / "champion.tar", **ENVIRONMENT)


def restated(claims: Mapping[str, Any], held: dict[str, Any]) -> None:
    """State what follows from the claims, as a careful forger would."""
    now, start = shares(claims["replies"]), shares(claims["start"])
    gain = gain_between(now, start, held["gain"]["against_id"], held["gain"]["cycle"])
    assert gain is not None
    held.update(gain=gain.to_json(), score=sum(now.values()) / len(now))


def better_text(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["text"] = "+40% more correct replies"


def better_estimate(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"].update(estimate=0.4, low=0.3, high=0.5, beyond_noise=True)


def no_replies_of_the_root(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["start"] = []


def fewer_replies_of_the_root(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["start"] = claims["start"][:2]


def one_reply_twice(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["replies"].append(claims["replies"][0])


def problems_dropped(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims.update(replies=claims["replies"][:3], start=claims["start"][:3])
    restated(claims, held)


def no_replies(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims.update(replies=[], start=[])
    held.update(gain=None, score=0.9)


def better_score(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["score"] = 0.9


FORGERIES = {
    "text of the gain": (better_text, "the gain that is stated is not that of its evaluations: text"),
    "estimate": (better_estimate, "the gain that is stated"),
    "replies of the root": (no_replies_of_the_root, "no reply of that to 6 problems"),
    "fewer replies of the root": (fewer_replies_of_the_root, "no reply of that to 4 problems"),
    "a reply twice": (one_reply_twice, "twice"),
    "problems dropped": (problems_dropped, "holds out 6, and 3 are missing"),
    "no replies": (no_replies, "the bundle has no replies"),
    "score": (better_score, "its replies come to 0"),
}


def test_an_honest_bundle_holds_and_its_gain_is_measured_again(honest):
    for words in (("--all",), ("--sample", "1")):
        code, answer = answered(honest, *words, **ENVIRONMENT)
        assert (code, answer["reasons"], answer["gain"]) == (0, [], "measured again")
    assert [item["what"] for item in answer["recomputed"]] == ["gain over the first root"]


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_statement_is_refused_with_its_reason(honest, name, tmp_path):
    change, said = FORGERIES[name]
    code, reason = verified(forged(honest, tmp_path / "forged.tar", change), "--all", **ENVIRONMENT)
    assert (code, said in reason) == (1, True), reason


def answers(file: Path) -> dict[str, str]:
    """problem -> a reply that is right."""
    return {
        row["problem_id"]: f"\\boxed{{{json.loads(row['answer'])}}}"
        for row in json.loads(opened(file).members["problems.json"])
    }


@pytest.mark.parametrize(
    ("side", "said"),
    [("replies", "policy: its reply"), ("start", "the first root under the base model: its reply")],
)
def test_replies_that_the_policy_does_not_give_are_refused(honest, side, said, tmp_path):
    right = answers(honest)

    def change(claims: dict[str, Any], held: dict[str, Any]) -> None:
        for row in claims[side][:3]:
            row.update(reply=right[row["problem_id"]], correct=True, formatted=True)
        restated(claims, held)

    code, reason = verified(forged(honest, tmp_path / "forged.tar", change), "--all", **ENVIRONMENT)
    assert (code, said in reason, "is wrong here, and it claims right" in reason) == (1, True, True), reason


def test_another_answer_to_a_problem_that_ships_is_refused(honest, tmp_path):
    """As a forger would who calls what the policy says right."""
    rows = json.loads(opened(honest).members["problems.json"])
    rows[0]["answer"] = '"something else"'
    file = forged(honest, tmp_path / "forged.tar", lambda *_: None, {"problems.json": as_json(rows)})
    code, reason = verified(file, "--all", **ENVIRONMENT)
    assert (code, "or it has another text or answer" in reason) == (1, True), reason


def test_replies_of_an_endpoint_are_not_called_measured_again(honest, tmp_path):
    def change(claims: dict[str, Any], held: dict[str, Any]) -> None:
        claims["settings"]["policy"] = "endpoint"

    code, answer = answered(forged(honest, tmp_path / "endpoint.tar", change), "--all", **ENVIRONMENT)
    assert (code, answer["gain"]) == (0, "not measured again")
    assert {"policy", "gain"} <= {item["what"] for item in answer["not_measured_again"]}


@pytest.mark.parametrize(
    ("skill", "outcome"), [(lambda number: number % 4 > 0, "holds"), (lambda number: False, "fails")]
)
def test_a_gain_must_be_reached_on_problems_that_are_drawn_here(skill, outcome):
    """Three of four were right, and none of the first root's; on other problems they are again, or the
    weights know only those of the bundle."""
    own = PromptsSettings(**SMALL_PROMPTS, heldout_problems=12)

    def ask(side: str, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        return [
            {"problem_id": item.problem_id, "correct": side == OWN and skill(number)}
            for number, item in enumerate(problems)
        ]

    stated = {f"problem-{number}": float(number % 4 > 0) for number in range(12)}
    said = list(reached(ask, (stated, dict.fromkeys(stated, 0.0)), {"beyond_noise": True}, own, SEEDS, None))
    assert [(item.outcome, item.gain) for item in said] == [(outcome, True)], said


def test_a_first_root_that_leads_the_model_astray_is_no_help():
    """A gain over a root that is none of the installed ones must be one over these, too."""
    own = PromptsSettings(**SMALL_PROMPTS, heldout_problems=12)

    def ask(side: str, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        return [{"problem_id": item.problem_id, "correct": side != FIRST} for item in problems]

    stated = {f"problem-{number}": 1.0 for number in range(12)}
    said = list(
        reached(
            ask,
            (stated, dict.fromkeys(stated, 0.0)),
            {"beyond_noise": True},
            own,
            SEEDS,
            None,
            (FIRST, INSTALLED),
        )
    )
    assert [item.outcome for item in said] == ["holds", "fails"], said
    assert (
        installed_root(prompt_of(["Say nothing."]), SEEDS) is not None
        and installed_root(prompt_of([ROOT]), SEEDS) is None
    )
