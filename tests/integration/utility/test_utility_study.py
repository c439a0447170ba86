"""The study with real weights, real updates and instances drawn in the jail: killed by the system it goes on
to the same rows; its command says what it did."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import evolake
from tiny_policy import tiny_policy
from utility_lake import SETTINGS, SIZES, families_lake

from evolake.lake import Lake
from evolake.prompts.model.protocol import Problem, Rollout, Sample
from evolake.prompts.model.recipes import SSLOGIC
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study_journal import Journal
from evolake.settings import load
from evolake.utility import running
from evolake.utility.cells import Cell, run_cell
from evolake.utility.drawing import policy_settings
from evolake.utility.running import Outcome, read_study, run_study
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import LINEAGES, TRAIN


def even(prompt: Any, problem: Problem, number: int, sample: Sample) -> Rollout:
    """Rewards replies of an even number of characters: something that random weights get right sometimes."""
    good = len(sample.reply) % 2 == 0
    return Rollout(
        "", problem.problem_id, number, sample.reply, sample.tokens, sample.truncated, good, True, float(good)
    )


def cell(name: str = "evolved-0") -> Cell:
    rows = [
        {
            "problem_id": f"p{number}",
            "suite": TRAIN if number < 5 else LINEAGES,
            "arms": ["evolved"] if number < 5 else [],
            "family_id": None,
            "category": "c",
            "difficulty": 1,
            "text": f"{number} and {number}?",
            "answer": str(2 * number),
            "case_sensitive": True,
            "scorer": "answer",
        }
        for number in range(7)
    ]
    return Cell(name, rows, SIZES, even, "sha", 7)


def study(root: Path, tell: Callable[[str], None] = lambda line: None) -> Outcome:
    """Runs what is missing of a study of two arms and two seeds in the lake there, with rewards that move
    random weights."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            **SETTINGS,
            "EVOLAKE_LAKE": str(root),
            "EVOLAKE_UTILITY__TEST_PROBLEMS": "2",
        }.items():
            patch.setenv(name, value)
        patch.setattr(running, "judge_with", lambda *_: even)
        return run_study(load("laptop"), ["base", "evolved"], [0, 1], "run-study", tell=tell)


def published(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Every table of the study, row by row."""
    lake = Lake(root)
    parts = [
        ("study", None),
        ("problems", None),
        *((asset, cell) for asset in ("steps", "replies") for cell in lake.cycles("utility", asset)),
    ]
    return {f"{asset} {cell}": lake.read("utility", asset, cell).to_dicts() for asset, cell in parts}


def test_a_study_killed_by_the_system_between_steps_goes_on_to_the_tables_of_an_unbroken_one(tmp_path):
    """The child is killed by SIGKILL in the middle of its second cell; what it published and noted is read
    here, and the rest is done here."""
    families_lake(tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    study(tmp_path / "whole")
    whole = published(tmp_path / "whole")
    code = (
        "import os, signal, sys; sys.path[:0] = sys.argv[1].split(os.pathsep)\n"
        "from pathlib import Path\n"
        "from test_utility_study import study\n"
        "def kill(line):\n"
        "    if line == 'evolved-0: step 2 of 3':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "study(Path(sys.argv[2]), kill)\n"
    )
    places = f"{Path(__file__).parent}:{Path(__file__).parents[2]}"
    done = subprocess.run(
        [sys.executable, "-c", code, places, str(tmp_path / "killed")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = [path.parent.name for path in (tmp_path / "killed").rglob("*.weights")]
    assert left == ["evolved-0"] and published(tmp_path / "killed").keys() == {
        "study None",
        "problems None",
        "steps base-0",
        "replies base-0",
    }

    said: list[str] = []
    again = study(tmp_path / "killed", said.append)

    assert (again.kept, again.ran) == (("base-0",), ("evolved-0", "base-1", "evolved-1"))
    assert said[0].startswith("this size sees 99.1 points: 2 held-out questions with 2 replies each")
    assert said[1:3] == ["evolved-0: step 3 of 3", "base-1: evaluated"]
    assert published(tmp_path / "killed") == whole
    assert len(whole) == 2 + 2 * 4 and all(row["updated"] for row in whole["steps evolved-0"]), (
        "the weights have moved"
    )


def test_arms_of_one_seed_differ_by_their_problems_alone():
    problems = [{**row, "arms": ["evolved", "seeds"] if row["arms"] else []} for row in cell().problems]

    def rows(name: str) -> list[dict[str, Any]]:
        item, policy = Cell(name, problems, SIZES, even, "sha", 7), tiny_policy(SSLOGIC)
        before = policy.save()
        result = run_cell(item, policy, Unkept())
        assert policy.save() == before, "the policy is put back"
        return [{key: value for key, value in row.items() if key != "arm"} for row in result.replies]

    assert rows("evolved-0") == rows("seeds-0") != rows("seeds-1")


def test_the_profile_gpu_at_small_sizes_trains_and_evaluates_a_cell(tmp_path):
    """Its recipe, its passes and its form of answers, with random weights for the model that one names."""
    settings = load("gpu")
    prompts = settings.of(PromptsSettings).model_copy(update={"policy": "tiny", "lora_rank": 4, "threads": 1})
    own = settings.of(UtilitySettings).model_copy(update={"steps": 1, "batch_problems": 2, "max_tokens": 6})
    assert (own.rollouts, own.answer_format, prompts.rows_at_once) == (16, "boxed", 256)
    settings = settings.with_section(prompts).with_section(own)
    result = run_cell(
        replace(cell(), sizes=own),
        open_policy(policy_settings(settings), tmp_path, "utility", "run"),
        Unkept(),
    )
    assert [(row["step"], row["rollouts"], row["updated"]) for row in result.steps] == [(1, 2 * 16, True)]
    assert [row["problem_id"] for row in result.replies] == ["p5", "p6"]


class Unkept(Journal):
    """A journal that keeps nothing."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"), "")

    def read(self) -> tuple[list[dict[str, Any]], bytes | None]:
        return [], None

    def note(self, step: int, gave: Any, state: bytes | None) -> None:
        return None


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """(lake, settings' variables) after the command was run in two goes: one arm, then all."""
    root = tmp_path_factory.mktemp("utility")
    families_lake(root / "lake")
    (root / "bench.jsonl").write_text('{"question": "1 + 1?", "answer": "2", "scorer": "exact"}\n')
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            **SETTINGS,
            "EVOLAKE_LAKE": str(root / "lake"),
            "EVOLAKE_PROFILE": "laptop",
        }.items():
            patch.setenv(name, value)
        first = evolake(
            "families",
            "utility",
            "--arms",
            "base,evolved",
            "--benchmark",
            str(root / "bench.jsonl"),
            "--json",
        )
        second = evolake(
            "families",
            "utility",
            "--benchmark",
            str(root / "bench.jsonl"),
            "--json",
            "--out",
            str(root / "out"),
        )
        yield root, json.loads(first.stdout), json.loads(second.stdout)


def test_the_command_runs_what_is_missing_and_says_what_it_found(studied):
    root, first, second = studied
    assert (first["verdict"], first["ran"]) == ("complete", ["base-0", "evolved-0"])
    assert (second["kept"], second["ran"]) == (["base-0", "evolved-0"], ["seeds-0", "mixed-0", "parents-0"])
    assert first["study_sha"] == second["study_sha"] and any(
        "drawn from a world" in note for note in second["notes"]
    )
    assert any(note.startswith("of bench: 0 of 1 held-out problems have") for note in second["notes"])
    assert {(row["matching"], row["suite"]) for row in second["summary"]} == {
        (matching, suite) for matching in ("steps", "instances", "tokens") for suite in (LINEAGES, "bench")
    }
    page = (root / "out" / "report.html").read_text()
    for said in (
        "What evolved families are worth",
        "Held-out lineages, equal tokens",
        "Bench, equal steps",
        "Differences, paired by problem",
    ):
        assert said in page
    assert "Not finished" not in page and len(list((root / "out" / "figures").glob("*.png"))) == 4


def test_problems_that_are_evaluated_on_share_no_ancestor_with_those_that_are_trained_on(studied):
    stored = read_study(Lake(studied[0] / "lake"))
    parents = dict(
        Lake(studied[0] / "lake")
        .read("families", "incoming_families", "0002")
        .select("family_id", "parents")
        .iter_rows()
    )

    def lineage(family: str) -> set[str]:
        return {family}.union(*(lineage(parent) for parent in parents[family]))

    sides = [
        set().union(
            *map(lineage, stored.problems.filter(pl.col("suite") == suite)["family_id"].unique().to_list())
        )
        for suite in (TRAIN, LINEAGES)
    ]
    assert all(sides) and not sides[0] & sides[1]
    trained = stored.problems.filter(pl.col("suite") == TRAIN).explode("arms")
    operators = {arm: set(part["operator"].unique().to_list()) for (arm,), part in trained.group_by("arms")}
    assert (
        operators["seeds"] == operators["parents"] == {"seed"}
        and "seed" not in operators["evolved"]
        and "seed" in operators["mixed"]
    )
    assert stored.problems["text"].str.contains("Reply with|1 \\+ 1").all()


def test_a_pause_ends_after_a_step_and_a_changed_size_is_another_study(studied):
    settings = load("laptop")
    settings = settings.with_section(settings.of(UtilitySettings).model_copy(update={"learning_rate": 2e-3}))
    paused = run_study(settings, ["evolved"], [0], "run-pause", minutes=1e-9)
    assert (
        (paused.ran, paused.left) == ((), ("evolved-0",))
        and paused.study
        and paused.study.sha != studied[2]["study_sha"]
    )
    said: list[str] = []
    assert run_study(settings, ["evolved"], [0], "run-again", tell=said.append).ran == ("evolved-0",)
    assert said[1:] == ["evolved-0: step 2 of 3", "evolved-0: step 3 of 3"]
    assert read_study(Lake(settings.require_lake())).missing == []
