"""The line's roles behind a real HTTP endpoint: a model that writes validators, reviews and solves blind with
programs that run in the jail."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from families_fixtures import SETTINGS, judged, seed_family
from loopback_model import KEY, Asked, LoopbackModel, serve
from pydantic import SecretStr

from evolake.agents import Agents, open_agents
from evolake.families.evolution.validator_pool import complete
from evolake.settings import BudgetSettings, Settings

CLINIC = seed_family("clinic-queue")
PROCEED = {
    "readability": "pass",
    "novelty": "pass",
    "difficulty_alignment": "pass",
    "action": "proceed",
    "feedback": "",
}
assert CLINIC.reader is not None
SOLVER = (
    CLINIC.reader
    + CLINIC.validators["sorting"].replace("KEYS[ORDER]", 'KEYS["shortest"]')
    + "\nprint('\\\\boxed{%s}' % solution(read(TEXT)))\n"
)


def agents_for(server: LoopbackModel, folder: Path) -> Agents:
    settings = Settings(
        backend="model",
        model_base_url=server.base_url,
        model_api_key=SecretStr(KEY),
        models={"default": "m"},
        budget=BudgetSettings(tokens_per_run=10**7),
        model_threads=3,
        model_repairs=1,
    )
    return open_agents(settings, folder, "0001", "run", line="families")


def asked_for(asked: Asked) -> str:
    """Which role a request is of, by the first words of its prompt."""
    return {"You review": "quality", "You write": "validator", "You solve": "blind"}[
        asked.messages[0]["content"][:10].strip()
    ]


def model(
    *, quality: Any = PROCEED, blind: str = SOLVER, final: str | None = None, validators: Sequence[str] = ()
) -> Any:
    """A script: each role's answer. A blind reviewer runs its program, then repeats what it printed (or says
    `final`)."""
    left = list(validators)

    def answer(asked: Asked) -> Any:
        role = asked_for(asked)
        if role == "quality":
            return quality
        if role == "validator":
            return {"source": left.pop(0) if left else "", "algorithm": "mine"}
        text = asked.messages[1]["content"]
        _, shown, printed = text.rpartition("  output: ")
        if not shown:
            # what prints a box has answered, so a script that says something else at the end prints the bare
            # answer
            return {"reasoning": "run it", "code": blind.replace("\\boxed{%s}", "%s") if final else blind}
        return {"reasoning": "seen", "final": final or printed.partition("```")[0]}

    return serve(answer)


def test_a_model_that_solves_from_the_text_passes_a_good_family(pool, tmp_path):
    with LoopbackModel(model()) as server, agents_for(server, tmp_path) as agents:
        examined = judged(CLINIC, pool, agents)
        requests = [asked for asked in server.requests if asked_for(asked) == "blind"]
    assert examined.accepted, examined.blocked_by
    assert {
        (review.reviewer, review.status, review.matched, len(review.turns)) for review in examined.reviews
    } == {("model", "answered", True, 1)}
    first = [
        asked.messages[1]["content"] for asked in requests if "  output: " not in asked.messages[1]["content"]
    ]
    assert (
        len(first) == len(requests) == 5
    )  # a program that prints the box has answered: no second call repeats it
    assert not any(
        secret in prompt
        for prompt in first
        for secret in ("def solution", "def read", '"asked"', "ORDER", CLINIC.family_id)
    )
    assert {call["role"] for call in agents.rows()} == {
        "families_quality_reviewer",
        "families_blind_reviewer",
    }


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"final": r"\boxed{N/A}"}, "gave up"),
        ({"final": r"\boxed{-1}"}, "answered"),
        ({"final": "I do not know"}, "no answer"),
        ({"blind": "import socket\nsocket.socket()"}, "no answer"),
        ({"blind": "while True: pass"}, "no answer"),
    ],
)
def test_a_model_that_cannot_solve_it_blocks_the_family(pool, tmp_path, options, status):
    with LoopbackModel(model(**options)) as server, agents_for(server, tmp_path) as agents:
        examined = judged(
            CLINIC,
            pool,
            agents,
            settings=SETTINGS.model_copy(update={"call_cpu_s": 0.5, "blind_difficulties": [3, 5, 7]}),
        )
    assert examined.blocked_by is not None
    assert examined.blocked_by.rule_id == "families-blind"
    assert {review.status for review in examined.reviews} == {status}


def test_a_reviewer_without_a_usable_reply_is_no_pass(pool, tmp_path):
    with (
        LoopbackModel(model(quality={"action": "proceed"})) as server,
        agents_for(server, tmp_path) as agents,
    ):
        examined = judged(CLINIC, pool, agents)
    assert examined.blocked_by is not None
    assert (examined.blocked_by.gate, "no usable reply" in examined.blocked_by.reason) == ("quality", True)


def test_no_reviewer_is_paid_for_a_family_whose_programs_disagree(pool, tmp_path):
    wrong = replace(
        CLINIC, validators=dict.fromkeys(CLINIC.validators, "def solution(inputs):\n    return -1\n")
    )
    with LoopbackModel(model()) as server, agents_for(server, tmp_path) as agents:
        examined = judged(wrong, pool, agents)
    assert examined.blocked_by is not None
    assert (examined.blocked_by.gate, server.requests) == ("consensus", [])


def test_a_quality_review_that_says_revise_sends_it_back(pool, tmp_path):
    revise = PROCEED | {"readability": "revise", "action": "revise", "feedback": "Say who goes first."}
    with LoopbackModel(model(quality=revise)) as server, agents_for(server, tmp_path) as agents:
        examined = judged(CLINIC, pool, agents)
    assert examined.blocked_by is not None
    assert (examined.blocked_by.rule_id, examined.blocked_by.reason) == (
        "families-reviewer",
        "readability: Say who goes first.",
    )


def test_a_copy_is_no_second_validator_and_its_author_is_told(pool, tmp_path):
    bare, good = replace(CLINIC, validators={}), list(CLINIC.validators.values())
    with (
        LoopbackModel(model(validators=[good[0], good[0].replace("inputs", "given")])) as server,
        agents_for(server, tmp_path) as agents,
    ):
        sizes = SETTINGS.model_copy(update={"validators": 2})
        assert dict(complete(bare, pool=pool, agents=agents, settings=sizes, root_seed=0).validators) == {
            "built1": good[0]
        }
    with (
        LoopbackModel(model(validators=[CLINIC.validator, good[0]])) as server,
        agents_for(server, tmp_path / "primary") as agents,
    ):
        assert dict(complete(bare, pool=pool, agents=agents, settings=sizes, root_seed=0).validators) == {
            "built1": good[0]
        }
        assert "it is the program of another author again" in server.requests[-1].messages[1]["content"]


def test_missing_validators_are_written_by_the_model_and_have_to_agree(pool, tmp_path):
    bare = replace(CLINIC, validators={})
    good = list(CLINIC.validators.values())
    with LoopbackModel(model(validators=good)) as server, agents_for(server, tmp_path / "good") as agents:
        whole = complete(bare, pool=pool, agents=agents, settings=SETTINGS, root_seed=0)
        assert dict(whole.validators) == {"built1": good[0], "built2": good[1]}
        assert judged(whole, pool, agents).accepted
    written = ["def solution(inputs):\n    return inputs.nonsense\n", good[0]]
    with LoopbackModel(model(validators=written)) as server, agents_for(server, tmp_path / "bad") as agents:
        assert dict(complete(bare, pool=pool, agents=agents, settings=SETTINGS, root_seed=0).validators) == {
            "built1": good[0]
        }
        second = server.requests[-1].messages[1]["content"]
    assert (
        "- mine: at difficulty 1: error AttributeError" in second
    )  # what happened to the first one is said to the next author
