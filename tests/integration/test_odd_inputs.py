"""Inputs by someone who had not seen the code: each ends as `odd_inputs.toml` says."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from agent_backend_fixtures import AddReply
from loopback_model import Action, Asked, LoopbackModel, call, completion, raw, say

from evolake.agents.endpoint import Body, Endpoint
from evolake.agents.reply_validation import read_completion
from evolake.agents.sampling import Sampling
from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.errors import InputError
from evolake.families.dataset.exports import reward_source
from evolake.prompts.model.problem_files import read_side
from evolake.prompts.model.scoring import judge_reply

INPUTS = tomllib.loads(Path(__file__).with_name("odd_inputs.toml").read_text(encoding="utf-8"))
PRELUDE = """exec 2>&1
export EVOLAKE_LAKE=$W/lake EVOLAKE_MODELS='{"default": "m"}' EVOLAKE_BUDGET__TOKENS_PER_RUN=100000
export EVOLAKE_PROGRAMS__{PROJECTS=$W/tiny,GENERATIONS_PER_CYCLE=1,CANDIDATES_PER_GENERATION=1}
export EVOLAKE_PROGRAMS__{BASELINE_SHARE=0,HELDOUT_REPEATS=3}
RUN="run --lines programs --cycles 1 --profile demo"
run() { $E $RUN; }
two_lakes() { export DAGSTER_HOME=$W/home; cp -a $B a; cp -a $B b; }
at() { EVOLAKE_LAKE=$W/$1 run; }
both() { verify a && verify b; }
verify() { EVOLAKE_LAKE=$W/$1 $E lake verify; }
call() { EVOLAKE_BACKEND=model EVOLAKE_MODEL_API_KEY=$KEY EVOLAKE_MODEL_BASE_URL=$URL $E doctor --call; }
"""
TINY = {
    "initial_program.py": "def f(x):\n    return 2.0 * x + 1.0\n",
    "evaluator.py": "import runpy\ndef evaluate(path):\n    f = runpy.run_path(path)['f']\n"
    "    return {'combined_score': -sum((f(i) - 3 * i) ** 2 for i in range(5))}\n",
}


def reply(*script: Action) -> tuple[Any, ...]:
    with LoopbackModel(script) as server:
        endpoint = Endpoint(server.base_url, "none", deadline_s=30, retries=1)
        body = endpoint.post("m", [{"role": "user", "content": "x"}], AddReply, sampling=Sampling(500))
    assert isinstance(body, Body)
    read = read_completion(body.text, calls="tool_calls" in body.text)
    return read.outcome, read.content, read.detail, read.counts


@pytest.mark.parametrize("item", INPUTS["stream"], ids=itertools.count())
def test_a_stream_is_what_its_whole_message_is(item):
    name, same, deltas, last = item
    times = 60_000 if "sixty" in name else 1
    usages = [{"prompt_tokens": 7, "completion_tokens": 1 + n} if "usage" in name else None for n in range(2)]
    finish = {"finish_reason": "tool_calls" if "tool_calls" in same else "stop"}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": json.loads(delta)} for delta in deltas * times]
    choices[-1] |= finish | last
    events = [{"choices": [choice], "usage": usages[n % 2]} for n, choice in enumerate(choices)]
    lines = [json.dumps(event, ensure_ascii="pair" in name) for event in events]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
    stream = raw(body, "text/event-stream" + "; charset=iso-8859-1" * ("charset" in name))
    second = say({"total": 5})
    whole = completion(None, usage=usages[-1], finish=finish["finish_reason"])
    message = {"role": "assistant", "content": None} | json.loads(same or "{}")
    message["content"] = message["content"] and message["content"] * times
    whole["choices"][0]["message"] = message
    assert reply(stream, second) == reply(raw(json.dumps(whole).encode()) if same else second, second)


@pytest.mark.parametrize("item", INPUTS["answer"], ids=itertools.count())
def test_an_answer_is_read_as_people_write_it(item):
    question, label, right, wrong = item
    reward: dict[str, Any] = {"__name__": "reward"}
    exec(compile(reward_source(), "reward.py", "exec"), reward)
    units, boxes = asked_units(question), [f"\\boxed{{{right}}}", f"\\boxed{{{wrong}}}"]
    assert [matches(box, json.loads(label), units=units) for box in boxes] == [True, False]
    assert reward["reward"](boxes, [label] * 2, units=[units] * 2) == [1.0, 0.0]


@pytest.mark.parametrize("item", INPUTS["row"], ids=itertools.count())
def test_a_file_is_read_or_refused_by_name(item, tmp_path):
    refused, right, wrong, rows = item
    place = tmp_path / "train.jsonl" if isinstance(rows, str) else tmp_path
    if isinstance(rows, str):
        place.write_text(rows + "\n", encoding="utf-16" if rows.startswith("\ufeff") else "utf-8")
    else:
        for number, shard in enumerate(rows):
            file = tmp_path / f"train-{number:05}-of-{len(rows):05}.parquet"
            pl.DataFrame(shard).write_parquet(file)
            if "cut" in shard[0]:
                file.write_bytes(file.read_bytes()[:300])
    if refused:
        with pytest.raises(InputError, match=refused):
            read_side(str(place), "train", gym_problems=1, seed=5)
        return
    problems = read_side(str(place), "train", gym_problems=1, seed=5)
    boxes = [f"\\boxed{{{right}}}", f"\\boxed{{{wrong}}}"]
    assert len(problems) == (1 if isinstance(rows, str) else len(rows))
    assert [judge_reply(box, problems[0], "boxed").correct for box in boxes] == [True, False]


def bash(folder: Path, script: str, **variables: str) -> tuple[int, str]:
    for name, text in TINY.items():
        (folder / "tiny").mkdir(parents=True, exist_ok=True)
        (folder / "tiny" / name).write_text(text)
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("EVOLAKE_", "DAGSTER_"))}
    own = {"W": str(folder), "E": str(Path(sys.executable).with_name("evolake"))} | variables
    command = ["bash", "-c", f"{PRELUDE}\n{script}"]
    done = subprocess.run(command, cwd=folder, env=kept | own, stdout=-1, check=False, timeout=900)
    return done.returncode, done.stdout.decode(errors="replace")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sealed") / "w"
    code, said = bash(folder, "run")
    assert code == 0, said
    return folder / "lake"


def served(asked: Asked) -> Action:
    return call(("report_total", {"total": 42})) if "tools" in asked.body else say({"total": 42})


@pytest.mark.parametrize("item", INPUTS["sh"], ids=itertools.count())
def test_a_command_works_or_names_the_cause(item, sealed, tmp_path):
    codes, says, never, script = item
    with LoopbackModel(served) as server:
        code, said = bash(tmp_path / "w", script, B=str(sealed), URL=server.base_url)
    if "unshare: " in said and os.environ.get("EVOLAKE_REQUIRE_ALL") != "1":
        pytest.skip("this host allows no mounts in a namespace of its own")
    assert str(code) in codes and re.search(says, said), said
    assert not re.search(f"Traceback|this is a bug|{never}", said), said
