"""Policies that use tools: programs in the real jail, a task that only the search can solve through real
iterations, and the settings' way there."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from fitted_policy import BOXES, WORDS, asked, fitted_base, fitted_policy, words
from prompts_fixtures import iterate, operators
from tiny_policy import PROMPT, tiny_policy

from evolake.errors import InputError
from evolake.jail import Limits
from evolake.prompts.evolution.iteration import Iterations
from evolake.prompts.evolution.population import found_population
from evolake.prompts.evolution.prompt_contest import evaluate
from evolake.prompts.model.protocol import Sample
from evolake.prompts.model.recipes import ESPL
from evolake.prompts.model.scoring import judge_with
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.models import Base
from evolake.prompts.policies.registry import missing, open_policy
from evolake.prompts.policies.turns import Stops, replies
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import EVALUATIONS
from evolake.prompts.tools import NOTHING_PRINTED, Python, Toolbox
from evolake.settings import Settings, load

CORPORA = (11, 12, 13)


@pytest.fixture(scope="module")
def base() -> Base:
    return fitted_base()


@pytest.fixture(scope="module")
def python() -> Iterator[Python]:
    tool = Python(2, None, Limits(cpu_s=1, wall_s=6, memory_mb=128, output_bytes=5000))
    yield tool
    tool.close()


def right(policy: LocalPolicy, held: dict[str, str], samples: int = 1) -> list[tuple[Sample, bool]]:
    """Replies to each box, greedy where there is one, and whether the real judge calls them correct."""
    problems = asked(held)
    result = policy.sample([(PROMPT, problem) for problem in problems], samples, 5, greedy=samples == 1)
    judge = judge_with(ESPL, "last")
    return [
        (item, judge(PROMPT, problem, 0, item).correct)
        for problem, some in zip(problems, result, strict=True)
        for item in some
    ]


def test_what_only_the_corpus_says_is_answered_with_the_tool_and_not_without_it(base):
    for seed in CORPORA:
        held = words(seed)
        judged = right(fitted_policy(base, held), held)
        assert [correct for _, correct in judged] == [True] * 4
        calls = [
            [(call.tool, call.given, call.status) for call in sample.calls or ()] for sample, _ in judged
        ]
        assert calls == [[("search", box, "ok")] for box in BOXES]
        other = {box: WORDS[(WORDS.index(word) + 1) % len(WORDS)] for box, word in held.items()}
        assert [correct for _, correct in right(fitted_policy(base, other), held)] == [False] * 4, (
            "another corpus, another answer"
        )
        assert [correct for _, correct in right(fitted_policy(base, None), held)].count(True) <= 1


def test_through_real_iterations_the_policy_learns_to_call_the_tool(base):
    """What looks the word up is rewarded, what guesses is not: real rollouts, judge, rating and updates, on
    samples that have results in them."""
    held = words(CORPORA[0])
    policy = fitted_policy(base, held, replace(ESPL, learning_rate=5e-3))
    sizes = PromptsSettings(batch_problems=4, prompts_per_iteration=1, rollouts=8, answer_format="last")
    with operators() as agents:
        done: Iterations = iterate(
            found_population({"root": PROMPT}, "0001"),
            policy,
            asked(held),
            count=6,
            agents=agents,
            arm="rl",
            settings=sizes,
            root_seed=5,
            judge=judge_with(ESPL, "last"),
        )
    frames = done.frames()
    rows, updates = frames["rollouts"].to_dicts(), frames["updates"].to_dicts()
    called = [bool(json.loads(row["calls"])) for row in rows]
    assert np.mean([row["correct"] for row, some in zip(rows, called, strict=True) if some]) > 0.9
    assert np.mean([row["correct"] for row, some in zip(rows, called, strict=True) if not some]) < 0.4
    shares = [np.mean(called[start : start + 32]) for start in range(0, len(called), 32)]
    assert np.mean(shares[-2:]) > max(0.8, shares[0] + 0.15)
    assert updates[0]["updated"] and updates[0]["grad_norm"] > 0
    for row in rows:
        results = [call["result"] for call in json.loads(row["calls"])]
        assert all(result in row["reply"] for result in results)
    first = [row for row in rows if row["iteration"] == 1]
    mixed = {row["problem_id"] for row in first if not row["correct"]} & {
        row["problem_id"] for row in first if row["correct"]
    }
    assert updates[0]["trained_tokens"] == sum(row["tokens"] for row in first if row["problem_id"] in mixed)


def test_held_out_problems_are_answered_with_the_tools_too(base):
    held = words(CORPORA[1])
    problems = [replace(problem, split="heldout") for problem in asked(held)]
    rows = evaluate(fitted_policy(base, held), [PROMPT], problems, samples=1, answer_format="last", seed=1)
    assert [row["correct"] for row in rows] == [True] * 4
    frame = EVALUATIONS.frame([row | {"cycle": "0001", "arm": "rl", "iteration": 1} for row in rows])
    assert [json.loads(calls)[0]["tool"] for calls in frame["calls"]] == ["search"] * 4
    plain = evaluate(tiny_policy(), [PROMPT], problems, samples=1, answer_format="last", seed=1)
    assert [row["calls"] for row in plain] == [None] * 4


@pytest.mark.parametrize(
    ("program", "status", "text"),
    [
        ("print(6 * 7)", "ok", "42"),
        ("x = 6\nx * 7", "ok", "42"),
        ("'text'", "ok", "'text'"),
        ("print('a'); None", "ok", "a"),
        ("x = 1", "ok", NOTHING_PRINTED),
        (
            "import hashlib, fractions, numpy\nprint(hashlib.sha256(b'evolake').hexdigest()[:8])",
            "ok",
            hashlib.sha256(b"evolake").hexdigest()[:8],
        ),
        ("print('before')\n1 / 0", "error", "before\nZeroDivisionError: division by zero at line 2"),
        ("1 +", "error", "SyntaxError"),
        ("raise SystemExit(3)", "error", "SystemExit: 3"),
        ("\0", "error", "null bytes"),
        ("while True: pass", "cpu", "cpu: used more than 1 s"),
        ("import time\ntime.sleep(60)", "timeout", "timeout: still running"),
        ("x = bytearray(10 ** 9)", "memory", "memory: MemoryError"),
        ("print('x' * 10 ** 6)", "output", "output: wrote more than 5000 bytes"),
        ("open('/etc/shadow').read()", "", ""),
        ("import socket\nsocket.socket()", "forbidden", "PermissionError"),
        ("import os\nos.fork()", "forbidden", "PermissionError"),
        ("import os\nos._exit(0)", "protocol", "protocol: "),
    ],
)
def test_what_becomes_of_a_program(python, program, status, text):
    [result] = python.answer([program])
    if not status:
        assert result.status in ("error", "forbidden")
    else:
        assert (result.status, text in result.text) == (status, True), result
    assert "Traceback" not in result.text


def test_programs_run_side_by_side_and_leave_nothing_to_each_other(python):
    leaving = "import builtins, math\nbuiltins.left = math.pi = 3\nprint(1)"
    looking = "import builtins, math\nprint(hasattr(builtins, 'left'), math.pi > 3)"
    assert [item.text for item in python.answer([leaving, looking] * 3)] == ["1", "False True"] * 3


def test_a_reply_that_computes_reads_what_its_program_printed(python):
    """The digest stands nowhere but in what the interpreter gives back; a program that fails is told so, and
    the reply goes on."""
    tokenizer = tiny_policy().tokenizer
    digest = hashlib.sha256(b"17").hexdigest()
    turns = iter(
        [
            "<tool>python\nimport hashlib\nprint(hashlib.sha256(b'17').hexdigest())\n</tool>",
            "<tool>python print(x)</tool>",
            "It is known.",
        ]
    )
    read: list[str] = []

    def draw(rows: list[list[int]], stops: Stops) -> list[list[int]]:
        read.append(tokenizer.decode(rows[0]))
        return [
            tokenizer(next(turns), add_special_tokens=False)["input_ids"]
            + [tokenizer.eos_token_id] * (len(read) == 3)
        ]

    toolbox = Toolbox([python], most_calls=2, most_tokens=120)
    [reply] = replies([[5]], draw, toolbox, tokenizer, most_tokens=400, ends=[tokenizer.eos_token_id])
    assert [call.status for call in reply.calls] == ["ok", "error"]
    assert digest not in read[0] and f"<result>\n{digest}\n</result>" in read[1]
    assert "NameError: name 'x' is not defined at line 1" in read[2]


def settings(**own: object) -> Settings:
    return load("demo").with_section(
        PromptsSettings(policy="tiny", lora_rank=4, max_tokens=8, threads=1, **own)
    )  # type: ignore[arg-type]


def test_the_settings_give_a_policy_its_tools_and_close_them_with_it(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"text": "box Q holds K"}\n')
    given = settings(
        tools=["python", "search"], corpus=str(tmp_path / "corpus.jsonl"), tool_turns=2, tool_tokens=99
    )
    with open_policy(given, tmp_path, "0001", "run") as policy:  # type: ignore[attr-defined]
        assert (policy.tools.most_calls, policy.tools.most_tokens) == (2, 99)
        called = policy.tools.answer(["<tool>search Q</tool>", "<tool>python 6 * 7</tool>"])
        assert [(item.answered.status, item.answered.text) for item in called] == [
            ("ok", "[1] box Q holds K"),
            ("ok", "42"),
        ]
        assert "python" in policy.tools.description() and "up to 2 times" in policy.tools.description()
        [[sample]] = policy.sample([(PROMPT, asked({"Q": "K"})[0])], 1, 1)
        assert sample.calls == () and set(sample.reply_mask) == {1}
    with pytest.raises(Exception, match="closed"):
        policy.tools.answer(["<tool>python 1</tool>"])
    assert open_policy(settings(), tmp_path, "0001", "run").tools is None  # type: ignore[attr-defined]


def test_tools_that_cannot_be_had_are_told_before_any_work(tmp_path):
    lost = settings(tools=["search"], corpus=str(tmp_path / "nosuch"))
    for refuse in (lambda: missing(lost), lambda: open_policy(lost, tmp_path, "0001", "run")):
        with pytest.raises(InputError, match="there is no corpus"):
            refuse()
