"""The classical answers of every role, and that every prompt file fits its role."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompts_fixtures import library

from evolake.agents.prompts import build_messages
from evolake.agents.roles import roles_in
from evolake.prompts.model.edits import Hunk, apply
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.reproduction.operators import listed
from evolake.prompts.roles.crossing import RECOMBINER, recombine
from evolake.prompts.roles.editing import CONSOLIDATOR, EDITOR, edit_locally
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
def test_symptoms_of_a_failed_reply(
    reply: str, answer: str, answered: bool, truncated: bool, expected: list[str]
) -> None:
    assert symptoms(reply, answer, answered=answered, truncated=truncated) == expected


@given(
    st.text(max_size=80),
    st.sampled_from(["5", '"a (b"', "[1, 2]", "null", "true"]),
    st.booleans(),
    st.booleans(),
)
def test_every_failed_reply_that_says_something_wrong_has_a_symptom(
    reply: str, answer: str, answered: bool, truncated: bool
) -> None:
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
def test_local_edits_keep_the_limit_and_modify_only_what_is_there(
    texts: list[str], failures: list[str], limit: int, seed: int
) -> None:
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
def test_edits_of_a_crossover_apply_to_the_best_prompt(
    texts: list[list[str]], limit: int, data: st.DataObject
) -> None:
    values = st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=3, max_size=3)
    best, *others = [contender(str(place), text, data.draw(values)) for place, text in enumerate(texts)]
    edits = recombine(crossing(best, *others, limit=limit), random()).edits
    outcomes = apply(
        prompt_of(texts[0]), [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in edits]
    ).outcomes
    assert len(edits) <= limit and all(
        outcome.applied or outcome.reason.endswith("says the same already") for outcome in outcomes
    )


def test_prompt_files_fit_their_roles_and_hide_what_is_for_operators() -> None:
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
