"""What a model that writes programs is sent: every field that decides, its siblings, its limits; and a
revision after one evaluation."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from loopback_model import KEY, Action, Asked, LoopbackModel, call, say
from programs_fixtures import OWN, imports, rules
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.jail import open_pool
from evolake.lake import BlobStore
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context
from evolake.programs.evolution.population import Islands
from evolake.programs.evolution.search_memory import GenerationEntry, SearchMemory, failed_rows
from evolake.programs.evolution.writer_calls import groups_of
from evolake.programs.evolution.writer_session import SessionWriter, writes_in_sessions
from evolake.programs.roles import DIRECTIONS, Measured, WriterRequest
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.settings import BudgetSettings, Settings

FILE = "initial_program.py"
SIZES = {"islands": 1, "candidates_per_generation": 1, "candidates_per_call": 1}
CONTEST = {
    "cycle": "0003",
    "project": "toy",
    "champion_id": "a" * 64,
    "challenger_id": "b" * 64,
    "wins": False,
    "pairs": 8,
    "difference": 0.0123,
    "low": -0.0456,
    "high": 0.0789,
    "noise": 0.0321,
    "holder_id": "a" * 64,
    "holder_mean": 0.61,
    "holder_low": 0.6,
    "holder_high": 0.62,
    "initial_mean": 0.57,
    "protected": True,
    "reason": "not beyond the noise",
}


class Writer:
    """Answers by a plan in the order of what is asked, and from its end on with an edit of the scale."""

    def __init__(self, plan: list[Action]):
        self.plan, self.prompts, self._lock = plan, list[str](), threading.Lock()

    def __call__(self, asked: Asked) -> Action:
        with self._lock:
            number = len(self.prompts)
            self.prompts.append("\n".join(str(message["content"]) for message in asked.messages))
        return (
            self.plan[number]
            if number < len(self.plan)
            else edited("scale = 2.0", f"scale = 2.{number + 10}", "a steeper line")
        )


def edited(search: str, replace: str, idea: str) -> Action:
    return say({"idea": idea, "edits": [{"file": FILE, "search": search, "replace": replace}]})


def generation(
    lake: Path,
    plan: list[Action],
    *,
    sessions: bool = False,
    memory: SearchMemory | None = None,
    waves: int = 2,
    best: float | None = None,
    **own: int,
) -> tuple[GenerationEntry, Writer]:
    """(what one generation made, the model with what it was asked). best: known score of the toy."""
    writer = Writer(plan)
    with LoopbackModel(writer) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "m"},
            model_repairs=1,
            model_max_retries=0,
            model_threads=1,
            budget=BudgetSettings(tokens_per_run=10**7),
            workers=1,
        )
        toy = imports()
        known_best = toy.given.construction.model_copy(update={"best": best})
        project = replace(toy, given=toy.given.model_copy(update={"construction": known_best}))
        blobs, sizes = BlobStore(lake), OWN.model_copy(update=SIZES | own)
        start, _ = admit(project, sizes, rules(), blobs, cycle="0004", run_id="r", root_seed=0, mode=None)
        islands = Islands(project, sizes, {start["program_id"]: start})
        known = replace(memory or SearchMemory(), rows=[start, *(memory.rows if memory else ())])
        with (
            open_agents(settings, lake, "0004", "run", line="programs") as agents,
            Evaluator(project, sizes) as evaluator,
            open_pool(1, ()) as pool,
        ):
            session = SessionWriter(agents, pool.call) if sessions else None
            context = Context(
                evaluator,
                sizes,
                agents,
                blobs,
                rules(),
                "0004",
                "run",
                0,
                1,
                ("prefer plain lines",),
                session,
                waves,
                40,
            )
            entry = run_generation(
                context,
                islands,
                1,
                next_number=5,
                seen={start["program_id"]},
                artifacts={start["program_id"]: {"hint": "too small a sum"}},
                memory=known,
            )
    return entry, writer


def past(start_id: str = "c" * 64) -> SearchMemory:
    blocked = {
        "program_id": "d" * 64,
        "cycle": "0002",
        "number": 1,
        "state": "blocked",
        "operator": "model",
        "parents": [start_id],
        "score": None,
        "reason": "run: its evaluation ended as cpu: used more than 5 s",
        "idea": "an endless refinement",
        "cpu_s": 5.04,
    }
    worse = blocked | {
        "program_id": "e" * 64,
        "state": "retired",
        "score": 0.44,
        "reason": None,
        "idea": "a flat line",
        "cpu_s": 0.02,
    }
    failed = {
        "cycle": "0003",
        "reason": "edit 1: `search` is 0 times",
        "idea": "a cubic",
        "parent_id": start_id,
    }
    return SearchMemory([blocked, worse], [failed], CONTEST, "a" * 64)


@pytest.mark.parametrize("sessions", [False, True])
def test_every_field_that_decides_reaches_the_author(tmp_path, sessions):
    plan = [call(("finish", {"idea": "nothing found"}))] if sessions else []
    _, writer = generation(tmp_path, plan, sessions=sessions, memory=past(), revisions=0)
    prompt = writer.prompts[0]
    for fact in (
        "scale = 2.0",
        "too small a sum",
        "prefer plain lines",
        "The champion is aaaaaaaa: combined_score 0.61 under seeds that the search never had; the initial "
        "program 0.57.",
        "In cycle 0003 the challenger bbbbbbbb lost: better by 0.0123 (95% interval -0.0456 to 0.0789) on "
        "8 held-out seeds, not beyond the noise.",
        "Noise of the score within a seed: 0.0321.",
        "is not champion: the contest at the end of this cycle decides, under fresh seeds",
        "0002 | dddddddd | cccccccc | blocked |  | 5 | an endless refinement | run: its evaluation ended "
        "as cpu: used more than 5 s",
        "0002 | eeeeeeee | cccccccc | retired | 0.44 | 0.02 | a flat line",
        "0003 |  | cccccccc | unmade |  |  | a cubic | edit 1: `search` is 0 times",
        "One evaluation: 5 s of processor time, 20 s on the clock, 1024 MiB",
        "numpy 2.",
        "This is generation 1 of 4 in cycle 0004.",
        "s of processor time",
        "Direction of this one: ",
    ):
        assert fact in prompt, fact
    assert ("40 turns and 12 evaluations at most" in prompt) is sessions
    assert "TARGET" not in prompt and "31.4159" not in prompt  # the evaluator is never shown
    for empty in ("[]", "{}", "none", "Pareto front"):
        assert empty not in prompt.partition("# Project")[2]


def test_siblings_know_each_other_and_no_two_requests_are_alike(tmp_path):
    plan = [
        edited("scale = 2.0", "scale = 2.5", "a steeper line"),
        edited("shift = 1\n", "shift = 1; import evaluator\n", "look at the target"),
    ]
    plan += [edited("shift = shift + 1", f"shift = shift + {number}", "a larger shift") for number in (2, 3)]
    _, writer = generation(tmp_path, plan, candidates_per_generation=4, revisions=0)
    assert len(writer.prompts) == 4 == len(set(writer.prompts))
    assert [
        f"This is request {number} of 4" in prompt for number, prompt in enumerate(writer.prompts, 1)
    ] == [True] * 4
    assert (
        len({prompt.partition("Direction of this one: ")[2].partition("\n")[0] for prompt in writer.prompts})
        == 4
    )
    assert "Others of this generation" not in writer.prompts[1]
    for prompt in writer.prompts[2:]:  # of the second wave
        assert (
            "- a steeper line -> score 0.7062" in prompt
            and "- look at the target -> blocked by reach: " in prompt
        )
    assert (
        "scale = 2.5" in writer.prompts[2].partition("# The program to change")[2]
    )  # the best is the parent of the third
    assert "# Other programs" not in writer.prompts[2]  # the initial program is far behind


def test_an_edit_that_does_not_apply_gets_a_repair_turn_with_the_nearest_text_and_is_then_a_row_with_its_idea(
    tmp_path,
):
    astray = edited("    scale = 2\n    shift = 1", "x", "a line that is not there")
    entry, writer = generation(
        tmp_path / "a", [astray, edited("scale = 2.0", "scale = 2.5", "a steeper line")], revisions=0
    )
    assert [row["idea"] for row in entry.programs] == ["a steeper line"] and entry.unmade == []
    repair = writer.prompts[1]
    assert (
        "`search` is 0 times in initial_program.py, wanted once; the nearest text there is\n    5      "
        "scale = 2.0\n    6      shift = 1" in repair
    )
    entry, writer = generation(tmp_path / "b", [astray, astray], revisions=0)
    [row] = failed_rows([{"cycle": "0004", "project": "toy", "generation": 1}], [entry])
    assert row["idea"] == "a line that is not there" and row["operator"] == "model" and row["parent_id"]
    assert row["reason"].startswith("unusable: edit 1: `search` is 0 times") and len(writer.prompts) == 2


def test_a_one_shot_author_revises_what_failed_or_is_the_best_after_one_evaluation_and_the_better_program_counts(  # noqa: E501
    tmp_path,
):
    failing, better = (
        edited("scale = 2.0", "scale = 2.0 / 0", "a division"),
        edited("scale = 2.0 / 0", "scale = 2.5", "a steeper line"),
    )
    entry, writer = generation(tmp_path / "a", [failing, better])
    assert [row["idea"] for row in entry.programs] == ["a steeper line"]
    assert (
        "The program above is your draft (a division).\nrun blocks it: " in writer.prompts[1]
        and "ZeroDivisionError" in writer.prompts[1]
    )
    assert " of 5 s of processor time" in writer.prompts[1]
    for gone in ("# Limits", "# Parent", "Direction of this one", "prefer plain lines", "too small a sum"):
        assert gone in writer.prompts[0] and gone not in writer.prompts[1]
    assert sorted(item["purpose"] for item in entry.measured) == [
        "search",
        "trial",
    ]  # each evaluation is counted once
    assert {item["artifact_id"] for item in entry.calls} == {entry.programs[0]["program_id"]}
    entry, writer = generation(tmp_path / "d", [edited("scale = 2.0", "scale = 1.0", "a flat line")])
    assert [row["idea"] for row in entry.programs] == ["a flat line"] and len(
        writer.prompts
    ) == 1  # it is worse than its parent
    steep = edited("scale = 2.0", "scale = 2.5", "a steeper line")
    entry, _ = generation(tmp_path / "b", [steep, edited("scale = 2.5", "scale = 9.0", "much steeper")])
    assert [row["idea"] for row in entry.programs] == ["a steeper line"] and sorted(
        item["purpose"] for item in entry.measured
    ) == ["search", "trial"]
    kept = say({"idea": "", "edits": []})
    entry, _ = generation(tmp_path / "c", [steep, kept])
    assert [item["purpose"] for item in entry.measured] == ["search"] and len(entry.programs) == 1


def several(*programs: tuple[str, str, str]) -> Action:
    written = [
        {"idea": idea, "edits": [{"file": FILE, "search": search, "replace": replace}]}
        for search, replace, idea in programs
    ]
    return say({"programs": written})


def test_children_of_one_parent_are_asked_for_in_one_call_and_one_that_makes_no_program_alone(tmp_path):
    first = several(
        ("scale = 2.0", "scale = 2.5", "a steeper line"), ("scale = 7", "x", "a line that is not there")
    )
    last = several(("scale = 2.5", "scale = 2.6", "c"), ("scale = 2.5", "scale = 2.7", "d"))
    plan = [first, edited("scale = 2.0", "scale = 2.25", "another line"), last]
    entry, writer = generation(
        tmp_path / "a", plan, candidates_per_generation=4, candidates_per_call=4, revisions=0
    )
    assert [row["idea"] for row in entry.programs] == [
        "a steeper line",
        "another line",
        "c",
        "d",
    ] and entry.unmade == []
    together, alone, second = writer.prompts
    directions = together.partition("They are 1, 2 of 4 of this generation.\n")[2].splitlines()[:2]
    assert [line.partition(". ")[0] for line in directions] == ["1", "2"] and len(
        {line[3:] for line in directions} & set(DIRECTIONS)
    ) == 2
    assert together.count("scale = 2.0") == 1
    assert (
        "Your reply could not be used: your idea (a line that is not there) was not applied: edit 1: "
        in alone
    )
    assert "They are 3, 4 of 4" in second and "- another line -> score " in second
    assert {call["role"] for call in entry.calls} == {"programs_writer", "programs_writer_group"}
    none = say({"programs": []})
    plan = [none, none, edited("scale = 2.0", "scale = 2.5", "e"), edited("scale = 2.0", "scale = 2.6", "f")]
    entry, writer = generation(
        tmp_path / "b", plan, candidates_per_generation=2, candidates_per_call=2, revisions=0, waves=1
    )
    assert [row["idea"] for row in entry.programs] == [
        "e",
        "f",
    ] and "needs 2 entries, one for each direction; got 0" in writer.prompts[1]


def test_calls_hold_requests_of_one_parent_and_no_more_text_than_a_reply_may_have():
    def request(name: str, length: int) -> WriterRequest:
        return WriterRequest(
            project="p", goal="g", parent=Measured(name=name, score=1.0, files={FILE: "x" * length})
        )

    requests = [request("a", 100), request("b", 100), request("a", 100), request("a", 100), request("b", 100)]
    assert groups_of(requests, 4) == [[0, 2, 3], [1, 4]] and groups_of(requests, 2) == [[0, 2], [1, 4], [3]]
    assert groups_of(requests, 1) == [[0], [1], [2], [3], [4]]
    assert groups_of([request("a", 5_000)] * 3, 4) == [[0, 1], [2]] and groups_of(
        [request("a", 13_000)] * 2, 4
    ) == [[0], [1]]


def test_evaluations_of_a_session_are_bounded(tmp_path):
    evaluate = call(
        ("edit_file", {"path": FILE, "search": "shift = 1\n", "replace": "shift = 1.5\n"}),
        ("evaluate", {}),
        ("evaluate", {}),
    )
    entry, _ = generation(
        tmp_path, [evaluate, call(("finish", {"idea": "a shift"}))], sessions=True, session_evaluations=1
    )
    results = [done["result"] for done in json.loads(entry.turns[0]["text"])["calls"]]
    assert (
        results[1].endswith("(0 evaluations left.)")
        and results[2] == "All 1 evaluations of this session are used: finish."
    )
    assert sorted(item["purpose"] for item in entry.measured) == ["search", "session"]


def test_no_author_is_asked_after_three_who_withdrew_from_the_best_known_score(tmp_path):
    plan = [call(("withdraw", {"reason": f"nothing in {place}"})) for place in range(5)]
    asked = {"sessions": True, "candidates_per_generation": 5}
    far, writer = generation(tmp_path / "far", plan, best=1e9, **asked)
    assert len(writer.prompts) == len(far.unmade) == 5
    assert not any("reaches the best known" in prompt for prompt in writer.prompts)
    assert not any("combine the strengths" in prompt for prompt in writer.prompts)
    reached, writer = generation(tmp_path / "reached", plan, best=-1e9, **asked)
    assert len(writer.prompts) == len(reached.unmade) == 3
    assert all("It reaches the best known value: withdraw" in prompt for prompt in writer.prompts)
    assert "- withdrawn: nothing in 0" in writer.prompts[1]


def test_nothing_is_evaluated_after_a_change_that_failed(tmp_path):
    wrong = ("write_file", {"path": "helper.py", "text": "x = 1"})
    plan = [call(wrong, ("evaluate", {}), ("finish", {"idea": "none"})), call(shifted("1.5"))]
    entry, _ = generation(tmp_path, [*plan, call(("finish", {"idea": "a shift"}))], sessions=True)
    said = [done["result"] for done in json.loads(entry.turns[0]["text"])["calls"]]
    assert said[1:] == ["Not run: a change of a file before it in this turn failed."] * 2
    assert [row["idea"] for row in entry.programs] == ["a shift"] and len(entry.turns) == 3


def shifted(shift: str, *, was: str = "1") -> tuple[str, dict[str, str]]:
    """A change of the toy's shift."""
    return "edit_file", {"path": FILE, "search": f"shift = {was}\n", "replace": f"shift = {shift}\n"}


@pytest.mark.parametrize(
    "end", [("finish", {"idea": "shifts"}), ("withdraw", {"reason": "0.7 is the best that I found"})]
)
def test_the_best_version_that_a_session_evaluated_is_not_lost(tmp_path, end):
    first, second = shifted("1.5"), shifted("9", was="1.5")
    plan = [call(first, ("evaluate", {})), call(second, ("evaluate", {})), call(end)]
    entry, _ = generation(tmp_path, plan, sessions=True, session_evaluations=3)
    scores = [row["score"] for row in entry.measured if row["purpose"] == "session"]
    print(scores)
    [child] = entry.programs
    assert len(scores) == 2 and child["score"] == max(scores) > min(scores)
    assert ("best version that was evaluated" in child["idea"]) is (end[0] == "finish")
    assert ("withdrawn: 0.7 is the best that I found" in child["idea"]) is (end[0] == "withdraw")


def test_a_session_sees_what_its_script_prints_and_the_run_counts_as_an_evaluation(tmp_path):
    scripts = [
        f"import {FILE.removesuffix('.py')} as program, sys\nprint('x' * 9000)\nprint('seen', "
        "program.__name__)\nprint('bad', file=sys.stderr)",
        "import os\nprint(os.path.exists('evaluator' + '.py'), sorted(os.environ)[:0])\nraise SystemExit(3)",
        "print(open('evaluator.py').read())",
        "while True:\n    pass",
    ]
    plan = [call(*(("run", {"script": script}) for script in scripts)), call(("run", {"script": "print(1)"}))]
    plan += [
        call(("edit_file", {"path": FILE, "search": "shift = 1\n", "replace": "shift = 1.5\n"})),
        call(("finish", {"idea": "a shift"})),
    ]
    entry, writer = generation(tmp_path, plan, sessions=True, session_evaluations=3)
    assert "and so does every script that you run" in writer.prompts[0]
    first, second, third, endless = [done["result"] for done in json.loads(entry.turns[0]["text"])["calls"]]
    assert first.startswith("exit code 0; used ") and first.endswith(
        "seen initial_program\nstandard error:\nbad\n(2 evaluations left.)"
    )
    assert "(5021 characters before it are left out)" in first and len(first) < 4_300, first[:200]
    assert (
        "printed:\nFalse []\n" in second
        and second.startswith("exit code 3; ")
        and second.endswith("(1 evaluation left.)")
    )
    assert third == "It was not run: it reaches for what scores the program: names evaluator.py, uses open."
    assert endless.startswith(("cpu: ", "timeout: ")) and endless.endswith("(0 evaluations left.)")
    assert (
        json.loads(entry.turns[1]["text"])["calls"][0]["result"]
        == "All 3 evaluations of this session are used: finish."
    )
    rows = [row for row in entry.measured if row["purpose"] == "scratch"]
    assert [row["side"] for row in rows] == ["1/0/1", "1/0/2", "1/0/3"] and all(
        row["cpu_s"] > 0 and row["score"] is None for row in rows
    )
    assert sorted(row["purpose"] for row in entry.measured) == ["scratch"] * 3 + ["search"]


def test_sessions_are_the_default_of_a_model_alone():
    assert writes_in_sessions(OWN, "model") and not writes_in_sessions(OWN, "operators")
    assert not writes_in_sessions(OWN.model_copy(update={"writer": "one-shot"}), "model")
