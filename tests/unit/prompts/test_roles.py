"""The classical answers of every role, and that every prompt file fits its role."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompts_fixtures import PROBLEMS, judge, library, operators, problem

from evolake.agents import Agents
from evolake.agents.prompts import build_messages
from evolake.agents.roles import roles_in
from evolake.prompts.edit_memory import Editing, Evidence, Reproduction, listed
from evolake.prompts.model.prompt import Hunk, SystemPrompt, apply, prompt_of
from evolake.prompts.model.protocol import Rollout, Sample
from evolake.prompts.reproduction import cross, mutate, trajectory_of, wins
from evolake.prompts.roles.editing import CONSOLIDATOR, EDITOR, RECOMBINER, edit_locally, recombine
from evolake.prompts.roles.models import (
    BatchProblem,
    Contender,
    CritiqueReply,
    CritiqueRequest,
    CrossRequest,
    GlobalRequest,
    LocalRequest,
    Suggestion,
    SummaryRequest,
    Trajectory,
)
from evolake.prompts.roles.reflection import CRITIC, SUMMARIZER, symptoms

ROWS = library().to_rows()
LAST = "Write the answer last, after everything else."
LAST_ALONE = "Write the answer last, alone, and add nothing after it."
TEXTS = st.lists(
    st.sampled_from(["a b", "a c", "d", LAST, LAST_ALONE, "Be brief."]), unique=True, min_size=1, max_size=4
)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def trajectory(success: bool, *errors: str, count: int = 1, words: int = 10) -> Trajectory:
    return Trajectory(
        success=success, count=count, words=words, steps="", principles_used=[], errors=list(errors)
    )


def local(texts: list[str], failures: list[str], limit: int = 2) -> LocalRequest:
    return LocalRequest(
        principles=listed(prompt_of(texts)),
        problem="What is 2 + 3?",
        critique=CritiqueReply(failures=failures),
        limit=limit,
        library=ROWS,
    )


def contender(name: str, texts: list[str], values: list[float | None]) -> Contender:
    return Contender(name=name, principles=listed(prompt_of(texts)), won=[], values=values)


def crossing(best: Contender, *others: Contender, limit: int = 4) -> CrossRequest:
    problems = [
        BatchProblem(number=place + 1, text="t", category="c", answer="1")
        for place in range(len(best.values))
    ]
    return CrossRequest(best=best, others=list(others), problems=problems, limit=limit, library=ROWS)


@pytest.mark.parametrize(
    ("reply", "answer", "answered", "truncated", "expected"),
    [
        ("", "5", False, False, ["empty"]),
        (" \n", "5", False, True, ["empty", "truncated"]),
        ("Let me see", "5", False, True, ["truncated", "unanswered"]),
        ("It is 5, I think", "5", False, False, ["unanswered", "buried"]),
        ("It is 6", "5", True, False, ["near", "wrong"]),
        ("It is 5 or 60", "5", True, False, ["buried", "wrong"]),
        ("It is 15", "5", True, False, ["wrong"]),
        ("It is 5.5", "5", True, False, ["near", "wrong"]),
        ("It is blue", '"red"', True, False, ["wrong"]),
        ("Red or blue; red it is. Blue", '"Red"', True, False, ["buried", "wrong"]),
        ("-5", "5", True, False, ["wrong"]),
        ("1040", "1000", True, False, ["near", "wrong"]),
    ],
)
def test_symptoms_of_a_failed_reply(reply, answer, answered, truncated, expected):
    assert symptoms(reply, answer, answered=answered, truncated=truncated) == expected


@given(
    st.text(max_size=80),
    st.sampled_from(["5", '"a (b"', "[1, 2]", "null", "true"]),
    st.booleans(),
    st.booleans(),
)
def test_every_failed_reply_that_says_something_wrong_has_a_symptom(reply, answer, answered, truncated):
    assert symptoms(reply, answer, answered=answered, truncated=truncated)


@given(
    st.lists(
        st.sampled_from([text for entry in library().entries for text in entry.versions]),
        unique=True,
        max_size=8,
    ),
    st.lists(
        st.sampled_from(["wrong", "buried", "truncated", "unanswered", "something a model wrote"]),
        unique=True,
        max_size=4,
    ),
    st.integers(1, 3),
    st.integers(0, 1000),
)
def test_local_edits_keep_the_limit_and_modify_only_what_is_there(texts, failures, limit, seed):
    request = local(texts, failures, limit)
    edits = edit_locally(request, random(seed)).edits
    assert len(edits) <= limit and edits == edit_locally(request, random(seed)).edits
    hunks = [
        Hunk(edit.kind, (edit.target,) if edit.target else (), edit.text, edit.old)
        for edit in edits
        if edit.kind == "modify"
    ]
    outcomes = apply(prompt_of(texts), hunks).outcomes
    assert all(outcome.applied or outcome.reason.endswith("says the same already") for outcome in outcomes)


@given(st.lists(TEXTS, min_size=2, max_size=4), st.integers(1, 4), st.data())
def test_edits_of_a_crossover_apply_to_the_best_prompt(texts, limit, data):
    values = st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=3, max_size=3)
    best, *others = [contender(str(place), text, data.draw(values)) for place, text in enumerate(texts)]
    edits = recombine(crossing(best, *others, limit=limit), random()).edits
    outcomes = apply(
        prompt_of(texts[0]), [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in edits]
    ).outcomes
    assert len(edits) <= limit and all(
        outcome.applied or outcome.reason.endswith("says the same already") for outcome in outcomes
    )


def test_prompt_files_fit_their_roles_and_hide_what_is_for_operators():
    problem = {"principles": listed(prompt_of(["Be kind."])), "problem": "What is 2 + 3?"}
    requests = {
        SUMMARIZER.name: SummaryRequest(
            **problem, answer="5", reply="6", correct=False, answered=True, truncated=False
        ),
        CRITIC.name: CritiqueRequest(
            **problem, answer="5", trajectories=[trajectory(True), trajectory(False, "wrong")], library=ROWS
        ),
        EDITOR.name: local(["Be kind."], ["wrong"]).model_copy(update={"guidance": ["Mind the units."]}),
        CONSOLIDATOR.name: GlobalRequest(
            principles=problem["principles"],
            new=["p2"],
            suggestions=[Suggestion(id="p1", text="Be very kind.", problems=2)],
            library=ROWS,
        ),
        RECOMBINER.name: crossing(
            contender("best", ["Be kind."], [1.0, None]), contender("other 1", ["Count."], [0.0, 1.0])
        ),
    }
    for role in (item for item in roles_in("evolake.prompts.roles") if item.name in requests):
        system, user = build_messages(role, requests[role.name])
        assert "Be kind." in user["content"] and "JSON Schema" in system["content"]
        assert not any(
            entry.versions[0] in user["content"] + system["content"] for entry in library().entries
        )
    assert "- Mind the units." in build_messages(EDITOR, requests[EDITOR.name])[1]["content"]


# Mutation in its four steps, and crossover, on the operators backend.


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


def test_only_problems_with_success_and_failure_are_reflected_on():
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


def test_without_contrast_there_is_no_child_and_a_row_says_so():
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


def test_a_child_is_its_parent_with_the_applied_hunks():
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
def test_a_problem_is_won_by_the_highest_value_unless_all_are_equal(phi, won):
    assert wins(phi) == won


def crossed(
    agents: Agents, prompts: list[SystemPrompt], phi: list[list[float | None]], best: int = 0, **more: Any
) -> Reproduction:
    own = {name: more.pop(name) for name in vars(editing(agents)) if name in more}
    return cross(editing(agents, **own), prompts, phi, PROBLEMS[: len(phi[0])], best=best, **more)


def test_a_crossover_edits_the_best_prompt_by_what_others_won_with():
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


def test_a_crossover_of_one_prompt_or_without_a_win_gives_no_child():
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
