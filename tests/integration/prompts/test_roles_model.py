"""Mutation and crossover by a model over real HTTP: what it is shown, what becomes of its hunks, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_model import Action, Asked, LoopbackModel, say
from prompts_fixtures import PROBLEMS, Adder, iterate, judge, library, model_agents, problem, reply_asked_for

from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Sample
from evolake.prompts.reproduction.crossover import cross
from evolake.prompts.reproduction.mutation import mutate
from evolake.prompts.reproduction.operators import Editing, Evidence, Reproduction

PROMPT = prompt_of(["Be kind.", "Count twice."])
ROLE_OF = {
    "SummaryReply": "summary", "CritiqueReply": "critique", "LocalReply": "local", "GlobalReply": "global", "CrossReply": "recombine",
}
SUMMARY = {"steps": "It adds and then doubts.", "principles_used": ["p2"], "errors": ["doubts the sum"]}
CRITIQUE = {"successes": ["commits"], "failures": ["doubts"], "guidance_needed": ["Commit."], "insufficient": ["p2"]}


def role_of(asked: Asked) -> str:
    """Which role a request is of, by the schema that it asks for."""
    return ROLE_OF[reply_asked_for(asked.messages[0]["content"])]


class Editor:
    """A model that answers by role; a reply may be a function of the request, and may be an action instead."""

    def __init__(self, **replies: Any):
        self.replies = {"summary": SUMMARY, "critique": CRITIQUE, "local": {"edits": []}, "global": {"edits": []}} | replies
        self.asked: list[tuple[str, str]] = []

    def __call__(self, asked: Asked) -> Action:
        role, user = role_of(asked), asked.messages[1]["content"]
        self.asked.append((role, user))
        reply = self.replies[role]
        reply = reply(user) if isinstance(reply, Callable) else reply
        return reply if isinstance(reply, Action) else say(reply)

    def users(self, role: str) -> list[str]:
        return [user for name, user in self.asked if name == role]


def evidence(*numbers: int) -> list[Evidence]:
    """For each sum one right reply and one that is not."""
    result = []
    for number in numbers:
        replies = [f"The sum is {2 * number + 3}", f"Is it {2 * number + 3} perhaps?"]
        result.append(Evidence(problem(number), tuple(
            judge(PROMPT, problem(number), place, Sample(reply, 4, False)) for place, reply in enumerate(replies)
        )))
    return result


Mutate = Callable[..., Reproduction]


@pytest.fixture
def by_model(tmp_path: Path) -> Iterator[Mutate]:
    """Mutates PROMPT by an editor."""

    def made(editor: Editor, *numbers: int, **more: Any) -> Reproduction:
        with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
            own = {name: more.pop(name) for name in ("limits", "guidance") if name in more}
            return mutate(Editing(agents, library(), "0001", 1, 1, **own), PROMPT, evidence(*numbers), **more)

    yield made


def hunks(made: Reproduction) -> list[tuple[str, str, str, bool, str]]:
    return [(step, item.hunk.kind, item.hunk.text, item.applied, item.reason) for step, item in made.hunks]


def test_four_steps_see_what_they_need_and_make_a_child(by_model: Mutate) -> None:
    editor = Editor(
        local=lambda user: {"edits": [
            {"kind": "add", "text": "Commit to a result."} if "What is 1 + 4?" in user else {"kind": "add", "text": "Trust the sum."},
            {"kind": "modify", "target": "p2", "old": "Count twice.", "text": "Count once."},
        ]},
        **{"global": {"edits": [{"kind": "merge", "targets": ["p3", "p4"], "text": "Commit to the sum."}]}},
    )
    made = by_model(editor, 1, 2, guidance=["Mind the units."])
    assert [role for role, _ in editor.asked if role in ("global", "recombine")] == ["global"]
    assert (len(editor.users("summary")), len(editor.users("critique")), len(editor.users("local"))) == (4, 2, 2)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count once.", "Commit to the sum.") and made.child.ids == ("p1", "p2", "p5")
    assert sorted(hunks(made)) == sorted([
        ("local", "add", "Commit to a result.", True, ""), ("local", "modify", "Count once.", True, ""),
        ("local", "add", "Trust the sum.", True, ""), ("local", "modify", "Count once.", False, "p2 was changed by an earlier hunk"),
        ("global", "merge", "Commit to the sum.", True, ""),
    ])
    summary = next(user for user in editor.users("summary") if "Is it 5 perhaps?" in user)
    assert "What is 1 + 4?" in summary and "The reply is correct: false." in summary and "Count twice." in summary
    critique = next(user for user in editor.users("critique") if "What is 1 + 4?" in user)
    assert "It adds and then doubts." in critique and "success: true" in critique and "success: false" in critique
    assert all("doubts" in user and "Mind the units." in user and "at most 2 edits" in user for user in editor.users("local"))
    plan, = editor.users("global")
    assert "Commit to a result." in plan and "Trust the sum." in plan and "problems: 2" in plan and '["p3", "p4"]' not in plan
    assert not any(entry.versions[0] in user for _, user in editor.asked for entry in library().entries)


def test_the_plan_decides_over_local_proposals(by_model: Mutate) -> None:
    editor = Editor(
        local={"edits": [{"kind": "modify", "target": "p2", "text": "Count once."}]},
        **{"global": {"edits": [{"kind": "modify", "targets": ["p2"], "text": "Count until sure."}]}},
    )
    made = by_model(editor, 1)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count until sure.")
    assert hunks(made)[0][3:] == (False, "the plan settles this principle")


def test_a_plan_that_does_not_apply_settles_nothing(by_model: Mutate) -> None:
    editor = Editor(
        local={"edits": [{"kind": "modify", "target": "p2", "text": "Count once."}]},
        **{"global": {"edits": [{"kind": "merge", "targets": ["p2", "p9"], "text": "Both."}, {"kind": "modify", "targets": ["p2"], "text": " "}]}},
    )
    made = by_model(editor, 1)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count once.")
    assert [hunk[3:] for hunk in hunks(made)] == [(True, ""), (False, "there is no principle p9"), (False, "the new text is empty")]


def test_hunks_that_do_not_fit_are_dropped_with_their_reason_and_the_rest_stands(by_model: Mutate) -> None:
    editor = Editor(local={"edits": [
        {"kind": "modify", "target": "p2", "old": "Count thrice.", "text": "Count once."}, {"kind": "add", "text": "Commit."},
        {"kind": "add", "text": "A third one."},
    ]})
    made = by_model(editor, 1)
    assert made.child is not None and made.child.texts == ("Be kind.", "Count twice.", "Commit.")
    assert [hunk[3:] for hunk in hunks(made)] == [(False, "p2 does not read as quoted"), (True, ""), (False, "one problem may propose 2 edits")]


@pytest.mark.parametrize(
    ("step", "lost", "child"),
    [("summary", 2, None), ("critique", 1, None), ("local", 1, None), ("global", 1, ("Be kind.", "Count twice.", "Commit."))],
)
def test_a_step_without_a_usable_reply_is_a_row_and_not_an_error(by_model: Mutate, step: str, lost: int, child: tuple[str, ...] | None) -> None:
    made = by_model(Editor(**({"local": {"edits": [{"kind": "add", "text": "Commit."}]}} | {step: {"nonsense": 1}})), 1)
    assert (made.child.texts if made.child else None) == child
    rows = made.rows(cycle="0001", arm="espl", iteration=1, backend="model")
    none = [(row["step"], row["kind"]) for row in rows if row["kind"] == "none"]
    assert none == [(step, "none")] * lost + ([] if child else [("child", "none")])


def test_a_model_crosses_prompts(tmp_path: Path) -> None:
    editor = Editor(recombine={"analysis": "The other one counts.", "edits": [
        {"kind": "add", "text": "Name the unit."}, {"kind": "drop", "targets": ["p1"]}, {"kind": "modify", "targets": ["p7"], "text": "x"},
    ]})
    other = prompt_of(["Name units."])
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        made = cross(
            Editing(agents, library(), "0001", 1, 1, ["Stay polite."]), [other, PROMPT], [[1.0, None], [0.75, 0.5]], PROBLEMS[:2], best=1,
        )
    assert made.child is not None and made.child.texts == ("Count twice.", "Name the unit.")
    assert [hunk[3:] for hunk in hunks(made)] == [(True, ""), (True, ""), (False, "there is no principle p7")]
    user, = editor.users("recombine")
    assert "Be kind." in user.split("# The other prompts")[0] and "Name units." in user.split("# The other prompts")[1]
    assert "won: [1]" in user and "Stay polite." in user and "What is 2 + 5?" in user


def test_an_edit_that_copies_a_problem_of_the_batch_is_left_out_by_the_iteration(tmp_path: Path) -> None:
    editor = Editor(local=lambda user: {"edits": [{"kind": "add", "text": f"Remember: {user.split('attempted')[1].split(chr(10))[2]}"}]})
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        done = iterate(found_population({"plain": PROMPT}, "0001"), Adder(skill=lambda prompt: 0.5), agents=agents, arm="evolution")
    local = [row for row in done.rows["edits"] if row["step"] == "local"]
    assert local and all("What is" in row["text"] and row["reason"] == "the new text copies a problem" for row in local)
    assert len(done.population.prompts) == 1


def test_a_crossover_proposes_no_more_than_its_limit(tmp_path: Path) -> None:
    editor = Editor(recombine={"edits": [{"kind": "add", "text": f"Advice {number}."} for number in range(6)]})
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        made = cross(
            Editing(agents, library(), "0001", 1, 1), [PROMPT, prompt_of(["a"])], [[1.0], [0.5]], PROBLEMS[:1], best=0,
        )
    assert made.child is not None and made.child.texts[2:] == ("Advice 0.", "Advice 1.", "Advice 2.", "Advice 3.")
    assert [hunk[3:] for hunk in hunks(made)] == [(True, "")] * 4 + [(False, "a crossover may propose 4 edits")] * 2


def test_a_crossover_that_says_what_the_mutant_says_gives_no_second_child(tmp_path: Path) -> None:
    editor = Editor(local={"edits": [{"kind": "add", "text": "Commit."}]}, recombine={"edits": [{"kind": "add", "text": "Commit."}]})
    roots = {"first": PROMPT, "second": prompt_of(["Add."])}
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
        done = iterate(found_population(roots, "0001"), Adder(skill=lambda prompt: 0.5), agents=agents, arm="evolution")
    assert [row["operator"] for row in done.population.rows()] == ["root", "root", "mutation"]
    assert done.rows["edits"][-1]["reason"] == "it says the same as a prompt that is there"


def test_a_crossover_without_a_usable_reply_gives_no_child(tmp_path: Path) -> None:
    with LoopbackModel(Editor(recombine={"edits": "none"})) as server, model_agents(server.base_url, tmp_path) as agents:
        made = cross(
            Editing(agents, library(), "0001", 1, 1), [prompt_of(["a"]), PROMPT], [[1.0], [0.5]], PROBLEMS[:1], best=0,
        )
    assert made.child is None and made.note.startswith("invalid") and [item.step for item in made.lost] == ["recombine"]


def test_an_iteration_by_a_model_replays_from_its_tape_to_the_same_rows(tmp_path: Path) -> None:
    editor = Editor(
        local=lambda user: {"edits": [{"kind": "add", "text": f"Commit, case {len(user)}."}]},
        recombine={"analysis": "", "edits": [{"kind": "add", "text": "Taken over."}]},
    )

    def run(base_url: str, **more: Any):
        with model_agents(base_url, tmp_path, **more) as agents:
            return iterate(found_population({"plain": PROMPT}, "0001"), Adder(), count=2, agents=agents, arm="evolution"), agents.rows()

    with LoopbackModel(editor) as server:
        first, calls = run(server.base_url)
        asked = len(editor.asked)
        assert run(server.base_url)[0].frames()["edits"].equals(first.frames()["edits"]) and len(editor.asked) == asked
    again, replayed = run("", replay_only=True)
    assert all(frame.equals(first.frames()[name]) for name, frame in again.frames().items())
    assert {row["status"] for row in calls} == {"ok"} and {row["status"] for row in replayed} == {"replayed"}
    children = [row for row in first.population.rows() if row["operator"] != "root"]
    assert children and {row["origin"] for row in children} == {"model"} and set(first.frames()["edits"]["backend"]) == {"model"}
    assert {row["artifact_id"] for row in calls} <= set(first.population.prompts["prompt_id"])
