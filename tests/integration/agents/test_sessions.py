"""The conformance of sessions: a real server on loopback for the model, a real jail for the tools, and ten
ways to misbehave that all end typed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import session_project
from loopback_model import Action, Asked, LoopbackModel, Script, call, say, status
from session_project import BUILD, EDIT, FILES, FINISH, LIST, READ, Ask, Finished, Project

from evolake.agents import AgentFailure
from evolake.agents.calls import count_outcomes
from evolake.agents.session_roles import SessionSpec, Unusable, hold_session, session_role
from evolake.agents.session_tools import Workspace
from evolake.errors import AgentUnavailable
from evolake.jail import Pool, open_pool
from evolake.lake.schemas import SESSION_TURNS
from evolake.report.health import examine
from evolake.settings import SamplingSettings, SessionSettings

MOST_CALLS, STRIKES, REPEATS = SessionSettings().calls, SessionSettings().strikes, SessionSettings().repeats


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(workers=1, preload=()) as pool:
        yield pool


@pytest.fixture
def project(tmp_path, pool) -> Project:
    return Project(tmp_path, pool)


EXPERT = [call(LIST, READ, thought="Look."), call(BUILD), call(EDIT), call(BUILD), call(FINISH)]


def test_an_agent_reads_edits_builds_and_finishes(project):
    held = project.hold(EXPERT)
    assert held.result == Finished(title="zero")
    assert held.workspace.changed == {"src/main.cc": FILES["src/main.cc"].replace("return 1", "return 0")}
    assert [text for _, text in held.results] == [
        "README.md  1 lines\nsrc/main.cc  3 lines\nsrc/util.h  900 lines",
        "    1  int main() {\n    2      return 1;\n    3  }\n    4  ",
        "error: it returns 1",
        "src/main.cc was changed at line 2",
        "built in 2 s",
        "The session is finished.",
    ]
    assert [(row["tools"], row["outcome"]) for row in held.turns] == [
        (["list_files", "read_file"], None),
        (["build"], None),
        (["edit_file"], None),
        (["build"], None),
        (["finish"], "finished"),
    ]
    assert {row["call_id"] for row in held.turns} == {row["call_id"] for row in held.rows}
    assert (
        SESSION_TURNS.frame(
            {name: turn.get(name) for name in SESSION_TURNS.columns} for turn in held.turns
        ).height
        == 5
    )
    last = held.asked[-1].body
    assert {tool["function"]["name"] for tool in last["tools"]} >= {
        "grep",
        "write_file",
        "delete_file",
        "build",
        "finish",
    }
    assert [message["role"] for message in last["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ] + ["assistant", "tool"] * 3


def test_a_long_argument_is_sent_whole_once_and_shortened_in_later_turns(project):
    text = "".join(f"// line {number}\n" for number in range(2_000))
    write = ("write_file", {"path": "src/long.cc", "text": text})
    held = project.hold([call(write), call(BUILD), call(EDIT), call(FINISH)])
    assert isinstance(held.result, Finished) and held.workspace.files["src/long.cc"] == text
    sent = [
        json.loads(asked.body["messages"][2]["tool_calls"][0]["function"]["arguments"])["text"]
        for asked in held.asked
        if len(asked.body["messages"]) > 2
    ]
    assert sent[0] == text and len(sent) == 3
    assert sent[1] == sent[2] and len(sent[1]) < 1_100 and "characters cut here" in sent[1]
    assert "are shown cut; the files have them whole" in held.asked[0].body["messages"][0]["content"]
    again = project.hold([], run_id="again")
    assert again.workspace.sha == held.workspace.sha and not again.asked


def test_an_endpoint_without_functions_is_asked_for_turns_as_replies(project):
    turns = [
        {"thought": "Look.", "calls": [{"tool": name, "arguments": given} for name, given in calls]}
        for calls in ((LIST, READ), (BUILD,), (EDIT,), (BUILD,), (FINISH,))
    ]

    def script(asked: Asked) -> Action:
        if "tools" in asked.body:
            return status(400, message="this model takes no tools")
        return say(turns[sum(message["role"] == "assistant" for message in asked.messages)])

    held = project.hold(script)
    assert held.result == Finished(title="zero")
    assert [asked.form for asked in held.asked if "tools" not in asked.body] == ["json_schema"] * 5
    assert sum("tools" in asked.body for asked in held.asked) == 1
    assert held.workspace.sha == project.hold(EXPERT, run_id="again").workspace.sha


def endless(turn: Callable[[int], Action]) -> Callable[[Asked], Action]:
    """The turn of a number, for ever."""
    return lambda asked: turn(sum(message["role"] == "assistant" for message in asked.messages))


MISBEHAVIOURS: dict[str, tuple[Script, str, int]] = {
    "loops": ([call(READ)], "looped", REPEATS),
    "loops through an edit and back": (
        endless(
            lambda number: call(
                EDIT
                if number % 2 == 0
                else ("edit_file", {"path": "src/main.cc", "search": "return 0", "replace": "return 1"})
            )
        ),
        "looped",
        2 * REPEATS - 1,
    ),
    "floods": (
        endless(lambda number: call(*[("grep", {"pattern": f"{number}{n}"}) for n in range(500)])),
        "flooded",
        STRIKES,
    ),
    "asks for unknown tools": (
        endless(lambda number: call(("shell", {"command": f"rm -rf {number}"}))),
        "unknown_tool",
        STRIKES,
    ),
    "edits outside": (
        endless(lambda number: call(("write_file", {"path": f"../../etc/passwd{number}", "text": "x"}))),
        "outside",
        STRIKES,
    ),
    "edits what is not its own": (
        endless(lambda number: call(("write_file", {"path": "README.md", "text": f"{number}"}))),
        "outside",
        STRIKES,
    ),
    "sends arguments of no use": (
        endless(lambda number: call(("read_file", '{"path": '))),
        "bad_call",
        STRIKES,
    ),
    "talks and calls nothing": ([say("I think that the program is fine as it is.")], "invalid", STRIKES),
    "says nothing": ([say("")], "empty", STRIKES),
    "is cut off": ([say('{"thought": "', finish="length")], "truncated", STRIKES),
    "declines": ([say(None, refusal="no")], "refused", 1),
    "writes more than can be read": ([status(413)], "rejected", 1),
    "never finishes": (endless(lambda number: call(("grep", {"pattern": f"a{number}"}))), "out_of_turns", 6),
    "uses all its tokens": (
        endless(
            lambda number: call(
                ("grep", {"pattern": f"a{number}"}), usage={"prompt_tokens": 2000, "completion_tokens": 500}
            )
        ),
        "out_of_tokens",
        4,
    ),
    "uses all its money": (
        endless(
            lambda number: call(
                ("grep", {"pattern": f"a{number}"}), usage={"prompt_tokens": 2000, "completion_tokens": 500}
            )
        ),
        "out_of_usd",
        4,
    ),
    "uses all its time": (
        endless(lambda number: call(("grep", {"pattern": f"a{number}"}))),
        "out_of_time",
        1,
    ),
}
BOUNDS = {
    "out_of_turns": {"turns": 6},
    "out_of_tokens": {"tokens": 10_000},
    "out_of_usd": {"usd": 0.01},
    "out_of_time": {"wall_s": 1e-9},
}
"""At the prices of the project a turn of these costs 0.003 usd; the time is over when the first turn is."""


@pytest.mark.parametrize("way", MISBEHAVIOURS)
def test_a_misbehaving_agent_ends_typed(project, way):
    script, outcome, turns = MISBEHAVIOURS[way]
    held = project.hold(script, session=SessionSettings.model_validate(BOUNDS.get(outcome, {})))
    assert isinstance(held.result, AgentFailure)
    assert (held.result.status, held.result.attempts, len(held.turns)) == (outcome, turns, turns)
    assert [row["outcome"] for row in held.turns] == [None] * (turns - 1) + [outcome]
    assert set(held.workspace.changed) <= {"src/main.cc"}
    assert {name: (project.folder / "tree" / name).read_text() for name in FILES} == FILES


def test_a_turn_runs_so_many_calls_and_the_rest_is_told(project):
    held = project.hold(
        [call(*[("grep", {"pattern": f"x{n}"}) for n in range(MOST_CALLS + 5)]), call(FINISH)]
    )
    assert len(held.turns[0]["tools"]) == MOST_CALLS
    assert held.results[MOST_CALLS - 1][1].endswith(
        f"(Only the first {MOST_CALLS} of {MOST_CALLS + 5} calls were run.)"
    )


def test_what_cannot_be_done_is_told_and_changes_nothing(project):
    held = project.hold(
        [
            call(
                ("edit_file", {"path": "src/main.cc", "search": "return 2", "replace": "return 0"}),
                ("edit_file", {"path": "src/util.h", "search": "helper", "replace": "hand"}),
                ("read_file", {"path": "/etc/passwd"}),
                ("grep", {"pattern": "(("}),
                ("grep", {"pattern": "(a|a)*$x"}),
                ("write_file", {"path": "src/main.cc/x", "text": ""}),
            ),
            call(("finish", {"title": 1, "more": 2})),
            call(FINISH),
        ]
    )
    faults = [fault for fault, _ in held.results]
    assert faults == ["failed", "failed", "failed", "failed", "", "outside", "bad_call", ""]
    absent, many, gone = [text for _, text in held.results][:3]
    assert (
        absent.startswith("`search` is 0 times in src/main.cc, wanted once; the nearest text there is\n    ")
        and "return" in absent
    )
    assert many.startswith(
        "`search` is 900 times in src/util.h, wanted once: at lines 1, 2, 3, "
    ) and many.endswith("the lines around it")
    assert gone == "there is no file '/etc/passwd'"
    assert held.workspace.changed == {}


def test_a_session_may_end_without_a_result_which_is_its_answer(project):
    held = project.hold([call(READ), call(("withdraw", {"reason": "Returning 0\nis no gain."}))])
    assert held.result == AgentFailure("mender", "withdrawn", "Returning 0 is no gain.", 2)
    assert [(turn["outcome"], turn["reason"]) for turn in held.turns] == [
        (None, None),
        ("withdrawn", "Returning 0\nis no gain."),
    ]
    again = project.hold([], run_id="run-2")
    assert (again.asked, again.result) == ([], held.result), "it is not asked for anew"
    assert (
        count_outcomes(held.rows, ("mender",), held.turns).words
        == "1 attempts, 0 with a valid reply, 1 withdrawn because no gain was found"
    )
    assert not count_outcomes(held.rows, ("mender",), held.turns).failed


def test_a_withdrawal_says_why(project):
    held = project.hold([call(("withdraw", {"reason": ""})), call(FINISH)])
    assert held.result == Finished(title="zero") and held.results[0][0] == "bad_call"


def finished_with(project: Project, script: Script) -> tuple[Any, list[dict[str, Any]]]:
    """What a session with a line's reply ends with, and its turns: its program has to return 0."""
    role = session_role("mender", Ask, Finished, setting="EVOLAKE_MENDER")
    role = replace(role, prompt=project.role.prompt)

    def to_reply(card: Finished, workspace: Workspace) -> str:
        if "return 0" not in workspace.files["src/main.cc"]:
            raise Unusable("src/main.cc does not return 0")
        return card.title

    context = project.context()
    with LoopbackModel(script) as server, project.agents(server.base_url) as agents:
        spec = SessionSpec(role, Ask(goal="Return 0."), context.workspace, to_reply, folder=context.parent)
        return hold_session(agents, spec, project.pool.call, seed=0).value, agents.turns()


def test_files_that_make_no_reply_are_said_at_finish_and_the_session_continues(project):
    other = ("write_file", {"path": "src/other.cc", "text": "int n;\n"})
    result, turns = finished_with(project, [call(other, FINISH), call(EDIT, FINISH)])
    assert result == "zero" and [turn["outcome"] for turn in turns] == [None, "finished"]
    assert turns[0]["faults"] == ["", "unusable"]
    [_, said] = json.loads(turns[0]["text"])["calls"]
    assert said["result"].startswith(
        "The session is not finished, because its files are no reply: src/main.cc does not return 0. "
        "Correct that"
    )


def test_a_session_that_is_finished_without_a_change_found_no_gain(project):
    result, turns = finished_with(project, [call(READ), call(FINISH)])
    assert isinstance(result, AgentFailure) and result.status == "withdrawn"
    assert result.reason == turns[-1]["reason"] == "no gain found: the files are unchanged"


def test_what_is_wrong_with_a_turn_is_said_in_the_form_that_was_asked(project):
    held = project.hold([say("I edit it."), say("Now", finish="length"), call(EDIT, FINISH)])
    assert held.result == Finished(title="zero")
    first, second = (asked.body["messages"][-1]["content"] for asked in held.asked[1:])
    assert "it calls no tool" in first and "Call one tool or several" in first
    assert "output limit" in second and "twice as many tokens" in second and "shorter" not in second
    assert "JSON" not in first + second and "schema" not in first + second
    limits = [asked.body["max_completion_tokens"] for asked in held.asked]
    assert limits == [limits[0], limits[0], 2 * limits[0]]
    again = project.hold([], run_id="again")
    assert again.result == held.result and not again.asked


def test_a_session_that_never_makes_a_reply_ends_with_the_reason(project):
    def turn(number: int) -> Action:
        return (
            call(
                ("write_file", {"path": "src/other.cc", "text": "int n;\n"}),
                ("finish", {"title": str(number)}),
            )
            if not number
            else call(("finish", {"title": str(number)}))
        )

    result, turns = finished_with(project, endless(turn))
    assert isinstance(result, AgentFailure) and (result.status, len(turns)) == ("unusable", STRIKES + 1)
    assert "src/main.cc does not return 0" in result.reason and turns[-1]["reason"] == result.reason


def test_the_limits_are_in_the_prompt_and_what_is_left_in_the_last_results(project):
    limits = SessionSettings(turns=6, calls=7, tokens=10_000, wall_s=None)
    held = project.hold(
        endless(
            lambda number: call(
                ("grep", {"pattern": f"a{number}"}), usage={"prompt_tokens": 2000, "completion_tokens": 500}
            )
        ),
        session=limits,
    )
    rule = held.asked[0].messages[0]["content"]
    assert (
        "at most 7: further calls of a turn are not run" in rule
        and "6 turns, 10,000 tokens" in rule
        and "usd" not in rule
    )
    notes = [text.partition("no line matches\n")[2] for _, text in held.results]
    assert notes == [
        "(7,500 of 10,000 tokens are left; this turn took 2,500.)",
        "(5,000 of 10,000 tokens are left; this turn took 2,500.)",
        "(3 turns are left.)\n(2,500 of 10,000 tokens are left; this turn took 2,500.)",
        "(2 turns are left.)\n(0 of 10,000 tokens are left; this turn took 2,500.)",
    ]


def test_a_replay_costs_nothing_and_gives_the_same_bytes(project):
    first = project.hold(EXPERT)
    with project.agents(None, run_id="run-2", replay_only=True) as agents:
        context = project.context()
        again = agents.session(project.role, Ask(goal="Return 0."), context, seed=0).value
        assert (again, context.workspace.sha) == (first.result, first.workspace.sha)
        assert [turn | {"status": "ok"} for turn in agents.turns()] == first.turns
        assert {row["usd"] for row in agents.rows()} == {0.0}
        assert agents.spent.calls == 0
    assert len(project.built) == 2, "what a command said is kept"


def test_the_records_of_a_session_are_verified_with_the_tape(project):
    project.hold(EXPERT)
    lake = project.folder / "lake"
    assert [finding for finding in examine(lake).findings if finding.kind == "tape"] == []
    records = sorted((lake / "tape/sessions").glob("??/*.json"))
    assert len(records) == 3, "two commands, and how it ended"
    records[0].write_text(records[0].read_text().replace("s", "z", 5))
    records[1].rename(records[1].with_name("0" * 62 + ".json"))
    parts = [
        (finding.where.split("/")[1], finding.what)
        for finding in examine(lake).findings
        if finding.kind == "tape"
    ]
    assert len(parts) == 2 and {place for place, _ in parts} == {"sessions"}
    assert any("it lies where another belongs" in what for _, what in parts)


HELD_ELSEWHERE = """
import sys, time
from pathlib import Path
import session_project
from evolake.jail import open_pool


class Stuck(session_project.Project):
    def build(self, folder, arguments):
        (self.folder / "building").touch()
        time.sleep(600)


if __name__ == "__main__":
    with open_pool(workers=1, preload=()) as pool:
        project = Stuck(Path(sys.argv[1]), pool)
        with project.agents(sys.argv[2]) as agents:
            agents.session(project.role, session_project.Ask(goal="Return 0."), project.context(), seed=0)
"""


def test_a_session_whose_process_is_killed_goes_on_from_its_last_turn_and_pays_nothing_twice(project):
    """SIGKILL while a command of its second turn runs: two turns are paid for by then, and three are left."""
    with LoopbackModel(endless(lambda number: EXPERT[number])) as server:
        script, paths = project.folder / "held.py", [str(Path(session_project.__file__).parent)]
        script.write_text(HELD_ELSEWHERE)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        child = subprocess.Popen(
            [sys.executable, str(script), str(project.folder), server.base_url], env=environment
        )
        try:
            while not (project.folder / "building").exists():
                assert child.poll() is None, "it ended by itself"
                time.sleep(0.02)
        finally:
            child.kill()
        assert child.wait() == -signal.SIGKILL
        assert len(server.requests) == 2
        with project.agents(server.base_url, run_id="run-2") as agents:
            context = project.context()
            result = agents.session(project.role, Ask(goal="Return 0."), context, seed=0).value
            turns, rows = agents.turns(), agents.rows()
        asked = [
            sum(message["role"] == "assistant" for message in request.messages) for request in server.requests
        ]
    assert (result, asked) == (Finished(title="zero"), [0, 1, 2, 3, 4]), (
        "each turn was asked for once, over both lives"
    )
    assert [row["status"] for row in turns] == ["replayed"] * 2 + ["ok"] * 3 and [
        row["usd"] == 0 for row in rows
    ] == [True] * 2 + [False] * 3
    assert context.workspace.changed == {"src/main.cc": FILES["src/main.cc"].replace("return 1", "return 0")}
    assert len(project.built) == 2, "the command that was cut off is run again, since nothing of it was kept"


def test_a_session_that_failed_is_held_anew_by_the_next_run_and_not_by_the_same(project):
    assert project.hold([call(READ)]).result.status == "looped"
    assert project.hold(EXPERT).asked == []
    assert project.hold(EXPERT, run_id="run-2").result == Finished(title="zero")
    assert project.hold([], run_id="run-3").asked == [], "one that was finished answers for ever"


def test_how_replies_are_drawn_is_sent_by_role_and_stands_on_each_row(project):
    drawn = {
        "default": SamplingSettings(temperature=0.5, top_p=0.9),
        "mender": SamplingSettings(
            temperature=0.1, seed=7, reasoning_effort="high", max_output_tokens=999, extra_body={"top_k": 3}
        ),
    }
    held = project.hold([call(FINISH)], sampling=drawn)
    sent = {
        "max_output_tokens": 999,
        "temperature": 0.1,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "high",
        "extra_body": {"top_k": 3},
    }
    assert json.loads(held.rows[0]["sampling"]) == sent
    body = held.asked[0].body
    assert body["max_completion_tokens"] == 999 and "extra_body" not in body
    assert {name: body[name] for name in ("temperature", "top_p", "seed", "reasoning_effort", "top_k")} == {
        "temperature": 0.1,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "high",
        "top_k": 3,
    }


def test_a_session_that_was_cut_off_goes_on_from_its_last_turn(project):
    with pytest.raises(AgentUnavailable):
        project.hold([*EXPERT[:4], status(401)])
    held = project.hold([EXPERT[4]], run_id="run-2")
    assert held.result == Finished(title="zero")
    assert len(held.asked) == 1, "what was paid for is not paid for again"
    assert [row["status"] for row in held.turns] == ["replayed"] * 4 + ["ok"]
    assert len(project.built) == 2
