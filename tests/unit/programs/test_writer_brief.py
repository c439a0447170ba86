"""What a writer's prompt holds: every field once, nothing that is empty; and which program it is asked to
change."""

from __future__ import annotations

import numpy as np
import pytest
from programs_fixtures import OWN, imports
from pydantic import BaseModel

from evolake.agents.attempts import SiblingNote
from evolake.agents.prompts import build_messages
from evolake.programs.evolution.population import Islands
from evolake.programs.evolution.search_memory import parent_for_model, worth_showing
from evolake.programs.roles import (
    WRITER,
    WRITER_SESSION,
    Briefing,
    Measured,
    WriterRequest,
    WriterSessionRequest,
)

FULL = {
    "project": "PROJECT",
    "instructions": "INSTRUCTIONS",
    "goal": "GOAL",
    "limits": "LIMITS",
    "contest": "CONTEST",
    "parent_reason": "REASON",
    "front": ["FRONT"],
    "artifacts": {"hint": "ARTIFACT"},
    "attempts": "ATTEMPTS",
    "guidance": ["GUIDANCE"],
    "generation": "GENERATION",
    "sibling": SiblingNote(number=2, count=3, direction="DIRECTION", siblings=["SIBLING"]),
}
WORDS = [
    "PROJECT",
    "INSTRUCTIONS",
    "GOAL",
    "LIMITS",
    "CONTEST",
    "REASON",
    "FRONT",
    "ARTIFACT",
    "ATTEMPTS",
    "GUIDANCE",
    "GENERATION",
    "DIRECTION",
    "SIBLING",
]
PARENT = {"name": "aaaa", "score": 1.25, "metrics": {"size": 77.0}, "idea": "IDEA", "seconds": 1.75}
OTHER = PARENT | {"name": "bbbb", "score": 1.5, "idea": "OTHERIDEA"}
FILES = {"p.py": "z = 0\n" * 40 + "x = 1\ny = 2\n"}


def texts_of(role, request: BaseModel) -> str:
    return "\n".join(message["content"] for message in build_messages(role, request))


def requests() -> list[tuple]:
    other = Measured(**OTHER, files={"p.py": FILES["p.py"].replace("y = 2", "y = 3")})
    one = WriterRequest(**FULL, parent=Measured(**PARENT, files=FILES), best=[other])
    many = WriterSessionRequest(
        **FULL,
        files=["p.py"],
        program=FILES["p.py"],
        parent=PARENT,
        best=[OTHER | {"folder": "reference/best-1"}],
    )
    return [(WRITER, one), (WRITER_SESSION, many)]


@pytest.mark.parametrize(("role", "request_"), requests())
def test_every_field_reaches_the_prompt_once(role, request_):
    prompt = texts_of(role, request_)
    assert set(FULL) | {"round"} == set(Briefing.model_fields)  # a new field gets a word here
    for word in [
        *WORDS,
        "aaaa scored 1.25",
        "bbbb scored 1.5",
        "size 77",
        "1.75 s of processor time",
        "IDEA",
        "x = 1\n",
        "request 2 of 3",
    ]:
        assert word in prompt, word
    assert all(prompt.count(word) == 1 for word in WORDS)
    assert texts_of(role, request_.model_copy(update={"round": "ROUND"})).count("ROUND") == 1


def islands(scores: list[float]) -> tuple[Islands, dict]:
    row = {
        "project": "toy",
        "state": "accepted",
        "islands": [0],
        "size": 10,
        "metrics": "{}",
        "operator": "model",
        "cell": "",
    }
    rows = [
        row | {"program_id": f"{number}" * 8, "number": number, "score": score, "cell": str(number)}
        for number, score in enumerate(scores)
    ]
    return Islands(
        imports(), OWN.model_copy(update={"islands": 1}), {item["program_id"]: item for item in rows}
    ), rows[0]


def test_the_best_is_the_parent_of_at_least_half_and_none_far_behind_is_changed_instead_of_it():
    held, initial = islands([2.13, 1.91, 2.2, 2.5, 2.63])
    drawn = [
        [
            parent_for_model(held, place, initial, np.random.default_rng(seed))[0]["score"]
            for place in range(6)
        ]
        for seed in range(40)
    ]
    assert all(sum(score == 2.63 for score in scores) >= 3 for scores in drawn)
    assert {score for scores in drawn for score in scores} == {2.63, 2.5}
    best = max(held.rows.values(), key=lambda row: row["score"])
    assert [row["score"] for row in held.rows.values() if worth_showing(held, row, best, initial)] == [
        2.5,
        2.63,
    ]
    row, why = next(
        pair
        for seed in range(40)
        if (pair := parent_for_model(held, 1, initial, np.random.default_rng(seed)))[0]["score"] == 2.5
    )
    assert (
        row["score"] == 2.5
        and why == "It is another line of descent than the best (2.63), and not far behind it."
    )
