"""The study with a model: a real HTTP server that answers, misbehaves, is killed for, or is not there."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import evolake
from loopback_model import KEY, Action, Asked, LoopbackModel, say

from evolake.lake import Lake
from evolake.repair.names import INFORMED, KNOWN_ARMS, WHOLE_CONFLICT
from evolake.repair.running import read_study

PROGRAM = [
    sys.executable,
    "-c",
    "from evolake.cli import main; main()",
    "repair",
    "run",
    "--backend",
    "model",
]
SMALL = ["--problems", "5", "--seeds", "1", "--perturbed", "0", "--transfer", "1", "--json"]
STUDY = {
    "EVOLAKE_REPAIR__PROBLEMS": "5",
    "EVOLAKE_REPAIR__SEEDS": "1",
    "EVOLAKE_REPAIR__PERTURBED": "0",
    "EVOLAKE_REPAIR__TRANSFER": "1",
}
"""SMALL as settings."""
SIZES = {"EVOLAKE_REPAIR__CANDIDATES": "2", "EVOLAKE_REPAIR__ROUNDS": "3"}
CALLS = 6
PROBLEMS = 6


def environment(lake: Path, base_url: str, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    given = {
        "EVOLAKE_LAKE": str(lake),
        "EVOLAKE_WORKERS": "1",
        "EVOLAKE_MODEL_BASE_URL": base_url,
        "EVOLAKE_MODEL_API_KEY": KEY,
        "EVOLAKE_MODELS__DEFAULT": "loopback-model",
        "EVOLAKE_BUDGET__TOKENS_PER_RUN": "10000000",
        "EVOLAKE_MODEL_MAX_RETRIES": "0",
        "NO_PROXY": "127.0.0.1",
    }
    return kept | given | SIZES | more


def run(lake: Path, base_url: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    words = ("repair", "run", "--backend", "model", *SMALL, *arguments)
    return evolake(*words, environment=environment(lake, base_url, **more))


class Model:
    """Answers by turns: the low ends of all domains, a claim `unsat`, prose, an assignment that lacks a
    variable, an assignment of 7s."""

    def __init__(self, on_request: Callable[[int], None] = lambda number: None):
        self._lock = threading.Lock()
        self._count = 0
        self._on_request = on_request

    def __call__(self, asked: Asked) -> Action:
        with self._lock:
            self._count += 1
            number = self._count
        self._on_request(number)
        domains = re.findall(
            r"^- (-?\d+) <= (\w+) <= (-?\d+), integer$", asked.messages[-1]["content"], re.MULTILINE
        )
        assert domains, "the prompt shows the problem"
        lows: dict[str, Any] = {name: int(low) for low, name, _ in domains}
        turn = number % 5
        if turn == 1:
            return say({"status": "unsat"})
        if turn == 2:
            return say("I am afraid that I cannot do that.")
        if turn == 3:
            return say({"status": "sat", "assignment": dict(list(lows.items())[1:])})
        return say({"status": "sat", "assignment": lows if turn else dict.fromkeys(lows, 7)})


def tape_entries(lake: Path) -> int:
    return len(list((lake / "tape").glob("??/*.json")))


@pytest.fixture(scope="module")
def asked_and_run(tmp_path_factory) -> tuple[list[Asked], subprocess.CompletedProcess[str], Path]:
    """What a server was asked by a study of the default arms, what the command said, and the lake."""
    lake = tmp_path_factory.mktemp("asked")
    with LoopbackModel(Model()) as server:
        done = run(lake, server.base_url)
        return list(server.requests), done, lake


def test_the_whole_path_with_a_model(asked_and_run):
    asked, done, lake = asked_and_run
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert (answer["backend"], answer["model"], len(answer["ran"])) == ("model", "loopback-model", 9)
    stored = read_study(Lake(lake))
    results = stored.results
    assert set(results["backend"]) == {"model"} and set(results["model"]) == {"loopback-model"}
    assert len(asked) == results["calls"].sum() == tape_entries(lake)
    assert (results["input_tokens"] >= 100 * results["calls"]).all() and (
        results["output_tokens"] == 20 * results["calls"]
    ).all()
    assert (results.filter(pl.col("arm") != "one_shot")["calls"] <= CALLS).all()
    assert results["solved"].sum() > 0 and results["parse_failures"].sum() > 0
    malformed = stored.attempts.filter(pl.col("verdict") == "malformed")
    assert malformed.height > 0 and malformed["solver_calls"].sum() == 0
    assert (
        malformed.height
        <= stored.attempts.filter(~pl.col("parsed")).height
        == results["parse_failures"].sum()
    )
    schema = (asked[0].response_format or {})["json_schema"]["schema"]
    forms = [schema["$defs"][form["$ref"].rpartition("/")[2]] for form in schema["anyOf"]]
    held = [(form["required"], form["additionalProperties"]) for form in forms]
    assert held == [(["status", "assignment"], False), (["status"], False)], (
        "a server that keeps to the schema keeps to the contract"
    )
    calls = Lake(lake).read("repair", "results__agent_calls")
    made = Counter(calls["role"].to_list())
    for root in (lake.parent / "fresh", lake):  # what was done before makes no difference to a study
        planned = evolake(
            "run",
            "--dry-run",
            "--backend",
            "model",
            "--json",
            "repair",
            environment=environment(root, "", **STUDY),
        )
        [study] = json.loads(planned.stdout)["lines"]
        most = {row["role"]: row["calls_most"] for row in study["roles"]}
        assert made.keys() == most.keys() and all(made[role] <= most[role] for role in made), (made, most)
    assert calls.height == len(asked) and set(calls["role"]) == {
        "repair_plain",
        "repair_informed",
        "repair_generic",
        "repair_core",
        "repair_directed",
    }


def test_no_prompt_on_the_wire_holds_a_label_an_id_or_more_than_its_arm_may_see(asked_and_run):
    texts = [json.dumps(asked.body) for asked in asked_and_run[0]]
    problems = Lake(asked_and_run[2]).read("repair", "problems")
    secrets = [*problems["problem_id"], *map(str, problems["seed"]), '"label"', "core_size", "certified_by"]
    assert [secret for secret in secrets if any(secret in text for text in texts)] == []
    plain = [text for text in texts if "earlier answers" not in text and "answer to start from" not in text]
    assert plain and not any(
        word in text for text in plain for word in ("violated", "refuted", "did not satisfy")
    )
    generic = [text for text in texts if "oldest first\\n" in text]
    assert generic and not any(
        word in text for text in generic for word in ("violated", "the solver", "satisfiable")
    )


def test_a_model_is_told_whole_conflicts_and_the_informed_arm_sends_what_the_plain_one_sends(tmp_path):
    prompts = {}
    for arm in (WHOLE_CONFLICT, INFORMED, "multi_no_feedback"):
        with LoopbackModel(Model()) as server:
            assert run(tmp_path / arm, server.base_url, "--arms", arm).returncode == 0
            prompts[arm] = [json.dumps(asked.body["messages"]) for asked in server.requests]
    parts = [text for text in prompts[WHOLE_CONFLICT] if "the solver refuted it; no assignment with" in text]
    assert parts and any("satisfies all of: c" in text for text in parts)
    assert set(prompts[INFORMED]) == set(prompts["multi_no_feedback"])
    roles = {arm: set(Lake(tmp_path / arm).read("repair", "results__agent_calls")["role"]) for arm in prompts}
    assert roles == {
        WHOLE_CONFLICT: {"repair_conflict"},
        INFORMED: {"repair_informed"},
        "multi_no_feedback": {"repair_plain"},
    }


def test_a_killed_run_repeats_no_paid_call(tmp_path):
    started: list[subprocess.Popen[str]] = []
    ready = threading.Event()

    def kill_at_the_fortieth(number: int) -> None:
        if number == 40:
            ready.wait()
            started[0].send_signal(signal.SIGKILL)

    with LoopbackModel(Model(kill_at_the_fortieth)) as server:
        started.append(
            subprocess.Popen(
                [*PROGRAM, *SMALL],
                env=environment(tmp_path, server.base_url),
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        ready.set()
        started[0].communicate()
        assert started[0].returncode == -signal.SIGKILL
        paid = tape_entries(tmp_path)
        before = len(server.requests)
        assert 0 < paid < before
        done = run(tmp_path, server.base_url)
        assert done.returncode == 0, done.stderr
        total = read_study(Lake(tmp_path)).results["calls"].sum()
        assert len(server.requests) - before == total - paid
        assert "one_shot-0" in json.loads(done.stdout)["kept"]

        again = run(tmp_path, server.base_url)
        assert again.returncode == 0 and json.loads(again.stdout)["ran"] == []
        assert len(server.requests) - before == total - paid


def test_the_same_tape_gives_the_same_content_without_a_server(tmp_path):
    with LoopbackModel(Model()) as server:
        assert run(tmp_path, server.base_url, "--arms", "cd_vgs_core_rank").returncode == 0
    lake = Lake(tmp_path)
    before = {name: lake.record("repair", name, "cd_vgs_core_rank-0") for name in ("results", "attempts")}
    for name in ("results", "attempts"):
        for path in (tmp_path / "tables" / "repair" / name).rglob("*"):
            if path.is_file():
                path.unlink()
    done = run(tmp_path, "http://127.0.0.1:9/v1", "--arms", "cd_vgs_core_rank", "--replay-only")
    assert done.returncode == 0, done.stderr
    for name, record in before.items():
        replayed = Lake(tmp_path).record("repair", name, "cd_vgs_core_rank-0")
        assert record is not None and replayed is not None and replayed.content_sha == record.content_sha


def test_an_endpoint_that_does_not_answer_ends_with_two_before_the_first_problem(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = run(tmp_path / "lake", f"http://127.0.0.1:{port}/v1")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (2, "error")
    assert f"the model endpoint http://127.0.0.1:{port}/v1 does not answer" in done.stderr
    assert not (tmp_path / "lake").exists()


def test_a_model_that_only_talks_uses_up_its_budget_and_solves_nothing(tmp_path):
    arms = KNOWN_ARMS[1:]
    with LoopbackModel([say("No.")]) as server:
        assert run(tmp_path, server.base_url, "--arms", ",".join(arms)).returncode == 0
        assert len(server.requests) == CALLS * PROBLEMS * len(arms), "no reply is asked for twice"
    results = read_study(Lake(tmp_path)).results
    assert (
        set(results["arm"]) == set(arms)
        and (results["parse_failures"] == CALLS).all()
        and (results["solver_calls"] == 0).all()
        and not results["budget_exceeded"].any()
    )
