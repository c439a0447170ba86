"""The policy as the editor of its own prompts: its base with the adapter off, or as it stands; by random
weights, and by a played model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prompts_fixtures import judge, library, problem, reply_asked_for
from tiny_policy import groups_of, problems, tiny_policy

from evolake.agents.calls import failure_of
from evolake.agents.endpoint import Body, Rejected
from evolake.agents.sampling import Sampling
from evolake.errors import InputError
from evolake.prompts.edit_memory import Editing, Evidence, Reproduction
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Policy, Sample
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.own_editor import PolicyEndpoint
from evolake.prompts.policies.registry import open_editors
from evolake.prompts.reproduction import mutate
from evolake.prompts.settings import PromptsSettings
from evolake.settings import BudgetSettings, load

PROMPT = prompt_of(["Be kind.", "Count twice."])
ASKED = [
    {"role": "system", "content": "You edit prompts."},
    {"role": "user", "content": "Shorten: count twice."},
]
REPLIES = {
    "SummaryReply": {"steps": "It adds.", "principles_used": [], "errors": []},
    "CritiqueReply": {
        "successes": [],
        "failures": ["doubts"],
        "guidance_needed": ["Commit."],
        "insufficient": [],
    },
    "LocalReply": {"edits": [{"kind": "add", "text": "Commit to one answer."}]},
}


def answered(policy: LocalPolicy, *, adapted: bool) -> dict[str, Any]:
    body = PolicyEndpoint(policy.answer, adapted=adapted, most_tokens=12, seed=4).post(
        "m", [*ASKED], None, sampling=Sampling(500)
    )
    assert isinstance(body, Body)
    return json.loads(body.text)


def test_the_base_stays_as_it_is_while_the_policy_learns():
    policy = tiny_policy()
    base, online = answered(policy, adapted=False), answered(policy, adapted=True)
    assert base == answered(policy, adapted=False)
    samples = policy.sample([(PROMPT, problem) for problem in problems(2)], 4, 7)
    assert policy.update(groups_of(samples, [[1.0, 0.0, 0.0, 1.0]] * 2), 0).updated
    policy.model.get_submodule(
        "base_model.model.model.layers.0.self_attn.q_proj.lora_B.default"
    ).weight.data += 5.0  # a step that no chance hides
    assert answered(policy, adapted=False) == base
    assert answered(policy, adapted=True) != online
    assert (
        base["usage"]["completion_tokens"] <= 12,
        base["model"],
        base["choices"][0]["message"]["role"],
    ) == (True, "m", "assistant")


def test_a_conversation_that_is_too_long_is_rejected_with_its_length():
    endpoint = PolicyEndpoint(tiny_policy().answer, adapted=False, most_tokens=12, seed=4)
    said = endpoint.post("m", [{"role": "user", "content": "sum " * 9000}], None, sampling=Sampling(12))
    assert (
        isinstance(said, Rejected)
        and said.status == "rejected"
        and "tokens, and the model reads" in said.reason
    )


def mutated(lake: Path, policy: Policy, editor: str) -> tuple[Reproduction, list[dict[str, Any]]]:
    sizes = {
        "budget": BudgetSettings(tokens_per_run=10**7),
        "model_repairs": 0,
        "model_max_output_tokens": 24,
    }
    settings = load("demo").model_copy(update=sizes)
    own = settings.of(PromptsSettings).model_copy(update={"policy": "tiny", "editor": editor})
    evidence = Evidence(
        problem(3),
        tuple(
            judge(PROMPT, problem(3), at, Sample(text, 4, False))
            for at, text in enumerate(("The sum is 9", "9?"))
        ),
    )
    with open_editors(settings.with_section(own), lake, "0001", "run", policy) as agents:
        made = mutate(Editing(agents, library(), "0001", 1, 1), PROMPT, [evidence])
        return made, agents.rows()


@pytest.mark.parametrize("editor", ["base", "policy"])
def test_replies_of_random_weights_are_calls_of_a_model_and_no_edits(tmp_path: Path, editor: str):
    policy = tiny_policy()
    made, calls = mutated(tmp_path, policy, editor)
    assert made.child is None and calls
    assert {call["backend"] for call in calls} == {"model"} and all(
        call["model"].startswith(policy.name) for call in calls
    )
    assert all("adapter off" in call["model"] for call in calls) == (editor == "base")
    assert all(failure_of(call["status"]) and call["output_tokens"] for call in calls)


@dataclass
class Played:
    """A policy whose model answers as it is told to: a scripted model behind the same seam, no model."""

    name: str = "played"
    asked: list[str] = field(default_factory=list)

    def save(self) -> bytes:
        return b"weights"

    def answer(self, messages: Sequence[Mapping[str, str]], **drawn: Any) -> Sample:
        title = reply_asked_for(messages[0]["content"])
        self.asked.append(title)
        return Sample(json.dumps(REPLIES.get(title, {"edits": []})), 9, False, (1, 2), (3,))


def test_what_the_policy_proposes_becomes_a_child_and_replays_for_nothing(tmp_path: Path):
    scripted: Any = Played()
    made, calls = mutated(tmp_path, scripted, "base")
    assert made.child is not None and "Commit to one answer." in made.child.text()
    again: Any = Played()
    replayed, _ = mutated(tmp_path, again, "base")
    assert (
        (again.asked, replayed.child) == ([], made.child)
        and scripted.asked
        and len(calls) == len(scripted.asked)
    )


def test_a_policy_without_weights_here_cannot_edit(tmp_path: Path):
    class Far:
        name = "far away"

    far: Any = Far()
    with pytest.raises(InputError, match="cannot edit prompts"):
        mutated(tmp_path, far, "base")
