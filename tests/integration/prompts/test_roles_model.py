"""Mutation and crossover by a model over real HTTP: what it is shown, what becomes of its hunks, and what
happens when it fails."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from loopback_model import Action, Asked, LoopbackModel
from prompts_fixtures import PROBLEMS, Adder, iterate, judge, library, model_agents, problem, reply_asked_for
from prompts_scripted_model import Editor
from tiny_policy import groups_of, problems, tiny_policy

from evolake.agents.calls import failure_of
from evolake.agents.endpoint import Body, Rejected
from evolake.agents.sampling import Sampling
from evolake.errors import InputError
from evolake.prompts.edit_memory import Editing, Evidence, Reproduction
from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Policy, Sample
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.registry import PolicyEndpoint, open_editors
from evolake.prompts.reproduction import SHORT_REPLY, cross, mutate
from evolake.prompts.settings import PromptsSettings
from evolake.settings import BudgetSettings, load

PROMPT = prompt_of(["Be kind.", "Count twice."])


def evidence(*numbers: int, words: int = SHORT_REPLY) -> list[Evidence]:
    """For each sum one right reply and one that is not. words: before their last ones."""
    result = []
    for number in numbers:
        replies = [
            f"{'well ' * words}The sum is {2 * number + 3}",
            f"{'well ' * words}Is it {2 * number + 3} perhaps?",
        ]
        result.append(
            Evidence(
                problem(number),
                tuple(
                    judge(PROMPT, problem(number), place, Sample(reply, 4, False))
                    for place, reply in enumerate(replies)
                ),
            )
        )
    return result


Mutate = Callable[..., Reproduction]


@pytest.fixture
def by_model(tmp_path) -> Iterator[Mutate]:
    """Mutates PROMPT by an editor."""

    def made(editor: Editor, *numbers: int, **more: Any) -> Reproduction:
        with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
            own = {name: more.pop(name) for name in ("limits", "guidance", "memory", "waves") if name in more}
            shown = evidence(*numbers, words=more.pop("words", SHORT_REPLY))
            return mutate(Editing(agents, library(), "0001", 1, 1, **own), PROMPT, shown, **more)

    yield made


def hunks(made: Reproduction) -> list[tuple[str, str, str, bool, str]]:
    return [(step, item.hunk.kind, item.hunk.text, item.applied, item.reason) for step, item in made.hunks]


def test_four_steps_see_what_they_need_and_make_a_child(by_model):
    editor = Editor(
        local=lambda user: {
            "edits": [
                {"kind": "add", "text": "Commit to a result."}
                if "What is 1 + 4?" in user
                else {"kind": "add", "text": "Trust the sum."},
                {"kind": "modify", "target": "p2", "old": "Count twice.", "text": "Count once."},
            ]
        },
        **{"global": {"edits": [{"kind": "merge", "targets": ["p3", "p4"], "text": "Commit to the sum."}]}},
    )
    made = by_model(editor, 1, 2, guidance=["Mind the units."])
    assert [role for role, _ in editor.asked if role in ("global", "recombine")] == ["global"]
    assert (len(editor.users("summary")), len(editor.users("critique")), len(editor.users("local"))) == (
        4,
        2,
        2,
    )
    assert (
        made.child is not None
        and made.child.texts == ("Be kind.", "Count once.", "Commit to the sum.")
        and made.child.ids == ("p1", "p2", "p5")
    )
    assert sorted(hunks(made)) == sorted(
        [
            ("local", "add", "Commit to a result.", True, ""),
            ("local", "modify", "Count once.", True, ""),
            ("local", "add", "Trust the sum.", True, ""),
            ("local", "modify", "Count once.", False, "p2 was changed by an earlier hunk"),
            ("global", "merge", "Commit to the sum.", True, ""),
        ]
    )
    summary = next(user for user in editor.users("summary") if "Is it 5 perhaps?" in user)
    assert (
        "What is 1 + 4?" in summary
        and "(no answer in the wanted form)" in summary
        and "Count twice." in summary
    )
    critique = next(user for user in editor.users("critique") if "What is 1 + 4?" in user)
    assert (
        "It adds and then doubts." in critique
        and "success: true" in critique
        and "success: false" in critique
    )
    assert all(
        "doubts" in user and "Mind the units." in user and "at most 2 edits" in user
        for user in editor.users("local")
    )
    (plan,) = editor.users("global")
    assert (
        "Commit to a result." in plan
        and "Trust the sum." in plan
        and "problems: 2" in plan
        and "Additions: p3, p4" in plan
    )
    assert not any(entry.versions[0] in user for _, user in editor.asked for entry in library().entries)


def test_hunks_that_do_not_fit_are_dropped_with_their_reason_and_the_rest_stands(by_model):
    editor = Editor(
        local={
            "edits": [
                {"kind": "modify", "target": "p2", "old": "Count thrice.", "text": "Count once."},
                {"kind": "add", "text": "Commit."},
                {"kind": "add", "text": "A third one."},
            ]
        }
    )
    made = by_model(editor, 1)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count twice.", "Commit.")
    assert [hunk[3:] for hunk in hunks(made)] == [
        (False, "p2 does not read as quoted"),
        (True, ""),
        (False, "one problem may propose 2 edits"),
    ]


@pytest.mark.parametrize(
    ("step", "lost", "child"),
    [
        ("summary", 2, None),
        ("critique", 1, None),
        ("local", 1, None),
        ("global", 1, ("Be kind.", "Count twice.", "Commit.")),
    ],
)
def test_a_step_without_a_usable_reply_is_a_row_and_not_an_error(by_model, step, lost, child):
    made = by_model(
        Editor(**({"local": {"edits": [{"kind": "add", "text": "Commit."}]}} | {step: {"nonsense": 1}})), 1
    )
    assert (made.child.texts if made.child else None) == child
    rows = made.rows(cycle="0001", arm="espl", iteration=1, backend="model")
    none = [(row["step"], row["kind"]) for row in rows if row["kind"] == "none"]
    assert none == [(step, "none")] * lost + ([] if child else [("child", "none")])


def test_a_model_crosses_prompts(tmp_path):
    editor = Editor(
        recombine={
            "analysis": "The other one counts.",
            "edits": [
                {"kind": "add", "text": "Name the unit."},
                {"kind": "drop", "targets": ["p1"]},
                {"kind": "modify", "targets": ["p7"], "text": "x"},
            ],
        }
    )
    other = prompt_of(["Name units."])
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        made = cross(
            Editing(agents, library(), "0001", 1, 1, ["Stay polite."]),
            [other, PROMPT],
            [[1.0, None], [0.75, 0.5]],
            PROBLEMS[:2],
            best=1,
        )
    assert made.child is not None and made.child.texts == ("Count twice.", "Name the unit.")
    assert [hunk[3:] for hunk in hunks(made)] == [(True, ""), (True, ""), (False, "there is no principle p7")]
    (user,) = editor.users("recombine")
    assert (
        "Be kind." in user.split("# The other prompts")[0]
        and "Name units." in user.split("# The other prompts")[1]
    )
    assert "won: [1]" in user and "Stay polite." in user and "What is 2 + 5?" in user


def test_an_edit_that_copies_a_problem_of_the_batch_is_left_out_by_the_iteration(tmp_path):
    editor = Editor(
        local=lambda user: {
            "edits": [{"kind": "add", "text": f"Remember: {user.split('attempted')[1].split(chr(10))[2]}"}]
        }
    )
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        done = iterate(
            found_population({"plain": PROMPT}, "0001"),
            Adder(skill=lambda prompt: 0.5),
            agents=agents,
            arm="evolution",
        )
    local = [row for row in done.rows["edits"] if row["step"] == "local"]
    assert local and all(
        row["reason"].startswith("unusable: ") and "the new text copies a problem" in row["reason"]
        for row in local
    )
    assert len(done.population.prompts) == 1


def test_edits_of_which_none_applies_are_asked_for_once_more_with_the_reason(by_model):
    replies = iter(
        [
            {"edits": [{"kind": "modify", "target": "p2", "old": "Count thrice.", "text": "Count once."}]},
            {"edits": [{"kind": "modify", "target": "p2", "old": "Count twice.", "text": "Count once."}]},
        ]
    )
    seen: list[str] = []

    class Listening(Editor):
        def __call__(self, asked: Asked) -> Action:
            seen.append(asked.messages[-1]["content"])
            return super().__call__(asked)

    editor = Listening(local=lambda user: next(replies))
    made = by_model(editor, 1, words=0)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count once.") and made.lost == ()
    assert made.idea == "modify p2: Count once."
    [reason] = [text for text in seen if "no edit applies" in text]
    assert "p2 does not read as quoted" in reason and "p2 reads: Count twice." in reason


def test_no_two_requests_of_a_cycle_are_alike_and_the_recombiner_reads_what_was_tried(tmp_path):
    numbers = iter(range(100))
    asked: list[str] = []

    class Listening(Editor):
        def __call__(self, request: Asked) -> Action:
            asked.append(json.dumps(request.messages))
            return super().__call__(request)

    editor = Listening(
        local=lambda user: {"edits": [{"kind": "add", "text": f"Commit, way {next(numbers)}."}]},
        recombine=lambda user: {
            "analysis": "It commits.",
            "edits": [{"kind": "add", "text": f"Taken over, {next(numbers)}."}],
        },
    )
    roots = {"first": PROMPT, "second": prompt_of(["Add."])}
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path, model_threads=1) as agents:
        done = iterate(
            found_population(roots, "0001"),
            Adder(skill=lambda prompt: 0.5),
            count=3,
            agents=agents,
            arm="evolution",
        )
    assert len(set(asked)) == len(asked) > 10
    last = editor.users("recombine")[-1]
    assert "It commits. [add: Taken over" in last and "replies right" in last and "rating" in last
    ideas = [row["idea"] for row in done.population.rows() if row["operator"] != "root"]
    assert ideas and all(ideas)


# The policy as the editor of its own prompts: its base with the adapter off, or as it stands; by random
# weights, and by a played model.


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
def test_replies_of_random_weights_are_calls_of_a_model_and_no_edits(tmp_path, editor):
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


def test_what_the_policy_proposes_becomes_a_child_and_replays_for_nothing(tmp_path):
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


def test_a_policy_without_weights_here_cannot_edit(tmp_path):
    class Far:
        name = "far away"

    far: Any = Far()
    with pytest.raises(InputError, match="cannot edit prompts"):
        mutated(tmp_path, far, "base")
