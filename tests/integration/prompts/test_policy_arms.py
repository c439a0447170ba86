"""The four arms with real weights, real updates and the operators backend: equal rollouts from the same
start, and what the command says of them."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tiny_policy import tiny_policy

from evolake.agents import open_agents
from evolake.errors import InputError
from evolake.prompts.arms_study import ArmRun, Comparison, Pause, compare, summary
from evolake.prompts.commands import prompts
from evolake.prompts.evolution.prompt_contest import evaluate, score
from evolake.prompts.model.library import load_library
from evolake.prompts.model.problems import ProblemSet, problem_set
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Problem, Rollout, Sample
from evolake.prompts.model.recipes import ESPL
from evolake.prompts.model.scoring import judge_with
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study_journal import Journal
from evolake.settings import load

ROOT = prompt_of(["Answer."])
OWN = (
    load("demo")
    .of(PromptsSettings)
    .model_copy(
        update={
            "policy": "tiny",
            "batch_problems": 2,
            "prompts_per_iteration": 2,
            "rollouts": 3,
            "max_tokens": 10,
            "heldout_problems": 3,
            "crossover": 1.0,
        }
    )
)
ARMS = ["espl", "rl", "evolution", "reflection"]


def even(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
    """The true judge with another reward: for an even number of characters, which random weights give now and
    then."""
    return replace(
        judge_with(ESPL, "last")(prompt, problem, number, sample), reward=float(len(sample.reply) % 2 == 0)
    )


def load_problems() -> ProblemSet:
    return problem_set(OWN, lake=None, seeds=load("demo").seeds, seed=5)


def run(policy: LocalPolicy, arms: list[str], lake: Path, **options: Any) -> list[ArmRun]:
    settings = load("demo").with_section(OWN)
    comparison = Comparison(
        policy,
        load_problems(),
        ROOT,
        iterations=3,
        every=2,
        agents=lambda _: open_agents(settings, lake, "compare", "run", line="prompts"),
        judge=even,
        settings=OWN,
        library=load_library(settings.seeds / "prompts"),
    )
    return compare(comparison, arms, root_seed=5, **options)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, ArmRun]:
    """Three iterations of every arm, one arm after the other."""
    policy, seen = tiny_policy(), list[tuple[str, int]]()
    before = policy.save()
    done = run(
        policy,
        ARMS,
        tmp_path_factory.mktemp("arms"),
        report=lambda arm, _, number: seen.append((arm, number)),
    )
    assert policy.save() == before
    assert seen == [(arm, number) for arm in ARMS for number in (1, 2, 3)]
    return {item.arm.name: item for item in done}


def test_arms_take_equal_rollouts_on_the_same_problems_from_the_same_weights(runs):
    assert {name: len(run.rows["rollouts"]) for name, run in runs.items()} == dict.fromkeys(
        ARMS, 3 * 2 * 2 * 3
    )
    drawn = {
        name: [(row["iteration"], row["problem_id"]) for row in run.rows["rollouts"]]
        for name, run in runs.items()
    }
    assert {tuple(sorted(set(some))) for some in drawn.values()} == {tuple(sorted(set(drawn["rl"])))}
    first = {
        name: [row["reply"] for row in run.rows["rollouts"] if row["iteration"] == 1]
        for name, run in runs.items()
    }
    assert first["espl"] == first["evolution"] and first["rl"] == first["reflection"]
    trained = {name: [row.get("step") for row in run.rows["updates"]] for name, run in runs.items()}
    assert trained["evolution"] == trained["reflection"] == [None] * 3
    assert (trained["rl"][-1] or 0) > 0
    assert {
        name: sorted({row["iteration"] for row in run.rows["heldout"]}) for name, run in runs.items()
    } == {name: [0, 2, 3] for name in ARMS}
    assert len(runs["rl"].population.prompts) == 1 and runs["rl"].prompt == ROOT
    starts = [[row["reply"] for row in run.rows["heldout"] if row["iteration"] == 0] for run in runs.values()]
    assert starts[0] == starts[1] == starts[2] == starts[3]


def test_an_arm_gives_the_same_rows_alone_and_after_others(runs, tmp_path):
    assert ARMS.index("rl") > 0
    [alone] = run(tiny_policy(), ["rl"], tmp_path)
    assert (alone.rows, alone.prompt) == (runs["rl"].rows, runs["rl"].prompt)


def test_the_summary_counts_and_compares_with_rl_by_problem(runs):
    two = [runs["espl"], runs["rl"]]
    report = summary(two, 5)
    assert list(report["arms"]) == ["espl", "rl"] and list(report["differences"]) == ["espl"]
    for item in two:
        arm = report["arms"][item.arm.name]
        assert (
            arm["rollouts"],
            len(arm["mean_reward"]),
            [point["iteration"] for point in arm["heldout"]],
        ) == (36, 3, [0, 2, 3])
        for point in arm["heldout"]:
            rows = [row for row in item.rows["heldout"] if row["iteration"] == point["iteration"]]
            assert point["correct"]["share"] == pytest.approx(score(rows).correct)
            assert point["formatted"]["share"] == pytest.approx(score(rows).formatted)
            assert point["correct"]["low"] <= point["correct"]["share"] <= point["correct"]["high"]
    last = {
        item.arm.name: score([row for row in item.rows["heldout"] if row["iteration"] == 3]).correct
        for item in two
    }
    assert report["differences"]["espl"]["difference"] == pytest.approx(last["espl"] - last["rl"])


def journals(folder: Path) -> Callable[[str, int], Journal]:
    return lambda arm, replicate: Journal(folder / f"{arm}-{replicate}", "key")


def test_a_comparison_killed_by_the_system_or_ended_between_iterations_goes_on_to_the_same_rows(tmp_path):
    """A child is killed by SIGKILL in the middle of its second arm; then it is ended here after each
    iteration. Nothing noted is sampled again."""
    arms, whole = ["espl", "rl"], run(tiny_policy(), ["espl", "rl"], tmp_path, replicates=2)
    code = (
        "import os, signal, sys; sys.path[:0] = sys.argv[1].split(os.pathsep)\n"
        "from pathlib import Path\n"
        "from test_policy_arms import journals, run, tiny_policy\n"
        "def kill(arm, replicate, done):\n"
        "    if (arm, done) == ('rl', 2):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "folder = Path(sys.argv[2])\n"
        "run(tiny_policy(), ['espl', 'rl'], folder, replicates=2, journal=journals(folder), report=kill)\n"
    )
    places = f"{Path(__file__).parent}:{Path(__file__).parents[2]}"
    killed = subprocess.run(
        [sys.executable, "-c", code, places, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    seen: list[tuple[int, str, int]] = []

    def end(arm: str, replicate: int, done: int) -> None:
        seen.append((replicate, arm, done))
        raise Pause

    for _ in range(7):
        with pytest.raises(Pause):
            run(tiny_policy(), arms, tmp_path, replicates=2, journal=journals(tmp_path), report=end)
    assert seen == [(0, "rl", 3), *((1, arm, number) for arm in arms for number in (1, 2, 3))]
    again = run(tiny_policy(), arms, tmp_path, replicates=2, journal=journals(tmp_path), report=end)
    resumed, reference = (
        [(item.arm, item.replicate, item.rows, item.prompt) for item in runs] for runs in (again, whole)
    )
    assert resumed == reference
    assert whole[0].rows["rollouts"] != whole[2].rows["rollouts"] and any(
        row["updated"] for row in whole[0].rows["updates"]
    )
    report = summary(whole, 5)
    assert report["replicates"] == 2 and report["arms"]["rl"]["rollouts"] == 72
    assert 0 < report["differences"]["espl"]["p"] <= report["differences"]["espl"]["p_holm"] <= 1


@pytest.mark.parametrize("arms", [[], ["rl", "rl"], ["none"]])
def test_arms_that_are_unknown_or_twice_are_refused(tmp_path, arms):
    with pytest.raises(InputError, match="cannot be compared"):
        run(tiny_policy(), arms, tmp_path)


def test_an_evaluation_takes_held_out_problems_only_and_keeps_every_reply():
    policy, problems = tiny_policy(), load_problems()
    rows = evaluate(
        policy, [ROOT, prompt_of(["Guess."])], problems.heldout, samples=2, answer_format="last", seed=1
    )
    assert [(row["prompt_id"], row["problem_id"], row["sample"]) for row in rows] == [
        (prompt.prompt_id, problem.problem_id, number)
        for prompt in (ROOT, prompt_of(["Guess."]))
        for problem in problems.heldout
        for number in (0, 1)
    ]
    replies = policy.sample([(ROOT, problem) for problem in problems.heldout], 1, 1, greedy=True)
    greedy = evaluate(policy, [ROOT], problems.heldout, samples=1, answer_format="last", seed=9)
    assert [row["reply"] for row in greedy] == [samples[0].reply for samples in replies]
    with pytest.raises(InputError, match="held-out problems only"):
        evaluate(policy, [ROOT], problems.train[:1], samples=1, answer_format="last", seed=1)


def test_the_command_prints_one_object_and_writes_the_rows(tmp_path, monkeypatch):
    for name, value in {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "EVOLAKE_PROMPTS__POLICY": "tiny",
        "EVOLAKE_PROMPTS__BATCH_PROBLEMS": "2",
        "EVOLAKE_PROMPTS__ROLLOUTS": "2",
        "EVOLAKE_PROMPTS__HELDOUT_PROBLEMS": "3",
        "EVOLAKE_PROMPTS__MAX_TOKENS": "8",
        "EVOLAKE_PROMPTS__LORA_RANK": "4",
        "EVOLAKE_PROMPTS__THREADS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    asked = [
        "compare",
        "--arms",
        "rl,evolution",
        "--iterations",
        "1",
        "--profile",
        "demo",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(prompts, asked, standalone_mode=False)
    assert done.exception is None and done.return_value == 0
    summary = json.loads(done.stdout)
    assert (summary["verdict"], summary["policy"], summary["source"], list(summary["arms"])) == (
        "compared",
        "tiny",
        "shipped",
        ["rl", "evolution"],
    )
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == summary
    again = CliRunner().invoke(prompts, asked, standalone_mode=False)
    assert json.loads(again.stdout) == summary and again.stderr == ""
    rollouts = pl.read_parquet(tmp_path / "out" / "rollouts.parquet")
    assert rollouts.group_by("arm").len().sort("arm").rows() == [("evolution", 8), ("rl", 8)]
    assert done.stderr.splitlines() == ["rl: iteration 1 of 1", "evolution: iteration 1 of 1"]


def test_the_command_gives_the_policy_its_tools_and_goes_on_only_with_the_same_corpus(tmp_path, monkeypatch):
    corpus = tmp_path / "corpus.txt"
    for name, value in {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "EVOLAKE_PROMPTS__POLICY": "tiny",
        "EVOLAKE_PROMPTS__BATCH_PROBLEMS": "2",
        "EVOLAKE_PROMPTS__ROLLOUTS": "2",
        "EVOLAKE_PROMPTS__HELDOUT_PROBLEMS": "3",
        "EVOLAKE_PROMPTS__MAX_TOKENS": "8",
        "EVOLAKE_PROMPTS__LORA_RANK": "4",
        "EVOLAKE_PROMPTS__THREADS": "1",
        "EVOLAKE_PROMPTS__CORPUS": str(corpus),
        "EVOLAKE_PROMPTS__TOOLS": '["search"]',
    }.items():
        monkeypatch.setenv(name, value)
    asked = [
        "compare",
        "--arms",
        "evolution",
        "--iterations",
        "1",
        "--profile",
        "demo",
        "--out",
        str(tmp_path / "out"),
    ]
    said = []
    for text in ("one", "one", "two"):
        corpus.write_text(text)
        done = CliRunner().invoke(prompts, asked, standalone_mode=False)
        assert done.exception is None
        said.append(done.stderr.splitlines())
    assert said == [["evolution: iteration 1 of 1"], [], ["evolution: iteration 1 of 1"]]
    rollouts = pl.read_parquet(tmp_path / "out" / "rollouts.parquet")
    assert rollouts["calls"].to_list() == ["[]"] * 8


def test_show_says_that_there_is_no_prompt_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    done = CliRunner().invoke(prompts, ["show"], standalone_mode=False)
    assert isinstance(done.exception, InputError) and "no prompts yet" in str(done.exception)
