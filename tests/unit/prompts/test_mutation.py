"""Mutation in its four steps, and crossover, on the operators backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from prompts_fixtures import PROBLEMS, judge, library, operators, problem

from evolake.agents import Agents
from evolake.agents.prompts import build_messages
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Rollout, Sample
from evolake.prompts.reproduction.crossover import cross, wins
from evolake.prompts.reproduction.evidence import Evidence
from evolake.prompts.reproduction.mutation import mutate, trajectory_of
from evolake.prompts.reproduction.operators import Editing, Reproduction
from evolake.prompts.roles.models import CritiqueRequest
from evolake.prompts.roles.reflection import CRITIC

PROMPT = prompt_of(["Be kind."])
RIGHT, BURIED, CUT = "The sum is {}", "It is {} I think", "Let me think"


def rollout(number: int, place: int, text: str, *, truncated: bool = False) -> Rollout:
    """Of sum `number`; `{}` in the text is the right answer."""
    reply = text.format(2 * number + 3)
    return judge(PROMPT, problem(number), place, Sample(reply, 4, truncated))


def evidence(number: int, *texts: str) -> Evidence:
    return Evidence(
        problem(number),
        tuple(rollout(number, place, text, truncated=text == CUT) for place, text in enumerate(texts)),
    )


def mutation(agents: Agents, *shown: Evidence, **more: Any) -> Reproduction:
    own = {name: more.pop(name) for name in vars(editing(agents)) if name in more}
    return mutate(editing(agents, **own), PROMPT, shown, **more)


def editing(agents: Agents, **more: Any) -> Editing:
    return Editing(agents, **({"library": library(), "cycle": "0001", "iteration": 1, "root_seed": 4} | more))


def asked(agents: Agents) -> list[str]:
    return [row["role"] for row in agents.rows()]


def test_only_problems_with_success_and_failure_are_reflected_on() -> None:
    with operators() as agents:
        made = mutation(
            agents, evidence(1, RIGHT, RIGHT), evidence(2, BURIED, BURIED), evidence(3, RIGHT, BURIED, CUT)
        )
        assert asked(agents) == [
            *["prompts_summarizer"] * 3,
            "prompts_critic",
            "prompts_editor",
            "prompts_consolidator",
        ]
        assert made.child is not None and {
            item.hunk.problem_id for step, item in made.hunks if step == "local"
        } == {"sum-3"}


def test_without_contrast_there_is_no_child_and_a_row_says_so() -> None:
    with operators() as agents:
        made = mutation(agents, evidence(1, RIGHT, RIGHT), evidence(2, CUT, CUT))
        assert agents.rows() == []
    (row,) = made.rows(cycle="0001", arm="espl", iteration=1, backend="operators")
    assert made.child is None
    assert (row["step"], row["kind"], row["applied"], row["reason"]) == (
        "child",
        "none",
        False,
        "no problem had both success and failure",
    )


def test_a_child_is_its_parent_with_the_applied_hunks() -> None:
    with operators() as agents:
        made = mutation(agents, evidence(1, RIGHT, BURIED), evidence(2, RIGHT, CUT))
    assert (
        made.child is not None
        and made.child.principles[0].text == "Be kind."
        and len(made.child.principles) > 1
    )
    assert all(library().names_of(principle.text) for principle in made.child.principles[1:])
    rows = made.rows(cycle="0001", arm="espl", iteration=1, backend="operators")
    assert {row["child_id"] for row in rows} == {made.child.prompt_id} and [
        row["number"] for row in rows
    ] == list(range(len(rows)))
    assert {row["principle_id"] for row in rows if row["applied"]} >= {
        principle.id for principle in made.child.principles[1:]
    }


def test_a_problem_proposes_no_more_than_the_limit() -> None:
    with operators() as agents:
        made = mutation(
            agents, evidence(1, RIGHT, BURIED, CUT), evidence(2, RIGHT, BURIED, CUT), edits_per_problem=1
        )
    assert [item.hunk.problem_id for step, item in made.hunks if step == "local"] == ["sum-1", "sum-2"]


@pytest.mark.parametrize(
    ("phi", "won"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], [[0], [1]]),
        ([[1.0, 0.5], [1.0, 0.2], [0.4, 0.5]], [[0, 1], [0], [1]]),
        ([[0.5, 0.0], [0.5, 0.0]], [[], []]),
        ([[None, 0.1], [1.0, 0.0]], [[1], []]),
        ([[0.3]], [[]]),
    ],
)
def test_a_problem_is_won_by_the_highest_value_unless_all_are_equal(
    phi: list[list[float | None]], won: list[list[int]]
) -> None:
    assert wins(phi) == won


def crossed(
    agents: Agents, prompts: list[SystemPrompt], phi: list[list[float | None]], best: int = 0, **more: Any
) -> Reproduction:
    own = {name: more.pop(name) for name in vars(editing(agents)) if name in more}
    return cross(editing(agents, **own), prompts, phi, PROBLEMS[: len(phi[0])], best=best, **more)


def test_a_crossover_edits_the_best_prompt_by_what_others_won_with() -> None:
    prompts = [prompt_of(["Be kind."]), prompt_of(["Be kind.", "Name the unit."])]
    with operators() as agents:
        made = crossed(agents, prompts, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        assert asked(agents) == ["prompts_recombiner"]
    assert (
        made.parent == prompts[0]
        and made.child is not None
        and made.child.texts == ("Be kind.", "Name the unit.")
    )
    assert [(step, item.hunk.kind, item.applied) for step, item in made.hunks] == [("recombine", "add", True)]
    assert (
        crossed(agents, prompts, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], known={prompts[1].texts}).note
        == "it says the same as a prompt that is there"
    )


def test_a_crossover_of_one_prompt_or_without_a_win_gives_no_child() -> None:
    with operators() as agents:
        alone = crossed(agents, [PROMPT], [[1.0]])
        idle = crossed(agents, [PROMPT, prompt_of(["Count."])], [[1.0], [0.5]])
    assert (alone.child, alone.note) == (None, "one prompt alone has no other to cross with")
    assert (idle.child, idle.note) == (None, "no edit was applied")


def test_a_reply_that_the_problems_own_verifier_could_not_score_says_so_to_the_critic():
    lost = replace(rollout(1, 0, BURIED), unverified="its verifier raised KeyError: 'steps'")
    trajectories = [trajectory_of(item, 2, None, success=False) for item in (lost, rollout(2, 0, BURIED))]
    assert [(item.count, item.unscored) for item in trajectories] == [
        (2, "its verifier raised KeyError: 'steps'"),
        (2, ""),
    ]
    prompt = build_messages(
        CRITIC, CritiqueRequest(principles=[], problem="p", answer="5", trajectories=trajectories)
    )[1]["content"]
    assert "its verifier raised KeyError: 'steps'" in prompt and "which is not its failure" in prompt
