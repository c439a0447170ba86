"""Mutation and crossover by a model over real HTTP: what it is shown, what becomes of its hunks, and what
happens when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_model import Action, Asked, LoopbackModel
from prompts_fixtures import PROBLEMS, Adder, iterate, judge, library, model_agents, problem
from prompts_scripted_model import Editor

from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Sample
from evolake.prompts.reproduction.crossover import cross
from evolake.prompts.reproduction.evidence import Evidence
from evolake.prompts.reproduction.mutation import SHORT_REPLY, mutate
from evolake.prompts.reproduction.operators import Editing, Reproduction

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
def by_model(tmp_path: Path) -> Iterator[Mutate]:
    """Mutates PROMPT by an editor."""

    def made(editor: Editor, *numbers: int, **more: Any) -> Reproduction:
        with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path) as agents:
            own = {name: more.pop(name) for name in ("limits", "guidance", "memory", "waves") if name in more}
            shown = evidence(*numbers, words=more.pop("words", SHORT_REPLY))
            return mutate(Editing(agents, library(), "0001", 1, 1, **own), PROMPT, shown, **more)

    yield made


def hunks(made: Reproduction) -> list[tuple[str, str, str, bool, str]]:
    return [(step, item.hunk.kind, item.hunk.text, item.applied, item.reason) for step, item in made.hunks]


def test_four_steps_see_what_they_need_and_make_a_child(by_model: Mutate) -> None:
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


def test_hunks_that_do_not_fit_are_dropped_with_their_reason_and_the_rest_stands(by_model: Mutate) -> None:
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
def test_a_step_without_a_usable_reply_is_a_row_and_not_an_error(
    by_model: Mutate, step: str, lost: int, child: tuple[str, ...] | None
) -> None:
    made = by_model(
        Editor(**({"local": {"edits": [{"kind": "add", "text": "Commit."}]}} | {step: {"nonsense": 1}})), 1
    )
    assert (made.child.texts if made.child else None) == child
    rows = made.rows(cycle="0001", arm="espl", iteration=1, backend="model")
    none = [(row["step"], row["kind"]) for row in rows if row["kind"] == "none"]
    assert none == [(step, "none")] * lost + ([] if child else [("child", "none")])


def test_a_model_crosses_prompts(tmp_path: Path) -> None:
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


def test_an_edit_that_copies_a_problem_of_the_batch_is_left_out_by_the_iteration(tmp_path: Path) -> None:
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


def test_an_iteration_by_a_model_replays_from_its_tape_to_the_same_rows(tmp_path: Path) -> None:
    editor = Editor(
        local=lambda user: {"edits": [{"kind": "add", "text": f"Commit, case {len(user)}."}]},
        recombine={"analysis": "", "edits": [{"kind": "add", "text": "Taken over."}]},
    )

    def run(base_url: str, **more: Any):
        with model_agents(base_url, tmp_path, **more) as agents:
            return iterate(
                found_population({"plain": PROMPT}, "0001"), Adder(), count=2, agents=agents, arm="evolution"
            ), agents.rows()

    with LoopbackModel(editor) as server:
        first, calls = run(server.base_url)
        asked = len(editor.asked)
        assert (
            run(server.base_url)[0].frames()["edits"].equals(first.frames()["edits"])
            and len(editor.asked) == asked
        )
    again, replayed = run("", replay_only=True)
    assert all(frame.equals(first.frames()[name]) for name, frame in again.frames().items())
    assert {row["status"] for row in calls} == {"ok"} and {row["status"] for row in replayed} == {"replayed"}
    children = [row for row in first.population.rows() if row["operator"] != "root"]
    assert (
        children
        and {row["origin"] for row in children} == {"model"}
        and set(first.frames()["edits"]["backend"]) == {"model"}
    )
    assert {row["artifact_id"] for row in calls} <= set(first.population.prompts["prompt_id"])


def test_edits_of_which_none_applies_are_asked_for_once_more_with_the_reason(by_model: Mutate) -> None:
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


def test_no_two_requests_of_a_cycle_are_alike_and_the_recombiner_reads_what_was_tried(tmp_path: Path) -> None:
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
