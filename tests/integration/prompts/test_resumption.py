"""A cycle of several iterations, killed after each and gone on with: the same rows, the same weights, nothing
sampled twice."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prompts_fixtures import PROBLEMS, SEEDS, SIZES, Adder, operators

from evolake.lake import BlobStore
from evolake.prompts.evolution.population import found_population
from evolake.prompts.evolution.training_cycle import Notes, facts_of, read_entry, train
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Problem, Rollout, Sample
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.tables import JOURNAL
from evolake.prompts.tables import PROBLEMS as TABLE
from evolake.settings import Settings, settings_type

ITERATIONS = 3
ROWS = TABLE.frame(
    {"cycle": "0001", **{name: getattr(problem, name) for name in TABLE.columns if name != "cycle"}}
    for problem in PROBLEMS
)


class Killed(Exception):
    """What stands for a kill: nothing after it runs."""


@dataclass
class Desk:
    """What is noted, and when to be killed: after so many notes, before the next iteration begins."""

    kill_after: int = 99
    rows: list[dict[str, Any]] = field(default_factory=list)

    def write(self, rows: list[dict[str, Any]]) -> None:
        self.rows = JOURNAL.frame(rows).to_dicts()
        if len(rows) >= self.kill_after:
            raise Killed


def settings_of(lake: Path, **sizes: Any) -> Settings:
    own = SIZES.model_copy(
        update={"iterations_per_cycle": ITERATIONS, "answer_format": "last", "format_bonus": 0.25, **sizes}
    )
    return settings_type()(lake=lake, seeds=SEEDS.parent).with_section(own)


def run(
    settings: Settings, policy, desk: Desk, blobs: BlobStore, *, guidance: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    population = found_population(load_roots(SEEDS), "0000")
    facts = facts_of(settings, population, ROWS, guidance=guidance, cycle="0001")
    return train(
        population,
        policy,
        PROBLEMS,
        Notes(desk.rows, desk.write, facts, blobs),
        agents=operators(),
        settings=settings,
        guidance=guidance,
        checkpoint=None,
    )


@pytest.fixture
def blobs(tmp_path) -> BlobStore:
    return BlobStore(tmp_path / "lake")


@pytest.mark.parametrize("killed_after", [1, 2, 3])
def test_a_killed_cycle_goes_on_to_the_same_rows(tmp_path, blobs, killed_after):
    settings = settings_of(tmp_path)
    whole = run(settings, Adder(), Desk(), blobs)
    desk = Desk(killed_after)
    with pytest.raises(Killed):
        run(settings, Adder(), desk, blobs)
    assert [row["number"] for row in desk.rows] == list(range(1, killed_after + 1))
    desk.kill_after, again = 99, Adder()
    assert run(settings, again, desk, blobs) == whole
    asked = SIZES.batch_problems * SIZES.prompts_per_iteration
    assert len(again.asked) == asked * (ITERATIONS - killed_after)


def even(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
    """Rewards replies of an even number of characters: something that random weights get right sometimes."""
    good = len(sample.reply) % 2 == 0
    return Rollout(
        prompt.prompt_id,
        problem.problem_id,
        number,
        sample.reply,
        sample.tokens,
        sample.truncated,
        good,
        True,
        float(good),
    )


def test_real_weights_are_the_same_to_the_byte_after_a_kill(tmp_path, blobs, monkeypatch):
    monkeypatch.setattr("evolake.prompts.evolution.training_cycle.judge_with", lambda *_: even)
    settings = settings_of(
        tmp_path, policy="tiny", max_tokens=6, lora_rank=4, lora_alpha=4, threads=1, iterations_per_cycle=2
    )
    whole = run(settings, open_policy(settings, tmp_path, "0001", "run"), Desk(), blobs)
    desk = Desk(1)
    with pytest.raises(Killed):
        run(settings, open_policy(settings, tmp_path, "0001", "run"), desk, blobs)
    desk.kill_after = 99
    assert run(settings, open_policy(settings, tmp_path, "0001", "run"), desk, blobs) == whole
    shas = [row["checkpoint_sha"] for row in whole]
    assert len(set(shas)) == 2
    assert all(blobs.has(sha) for sha in shas)


@pytest.mark.parametrize("change", [{"guidance": ("shorter",)}, {"learning_rate": 1e-3}, {"rollouts": 5}])
def test_notes_of_other_work_are_not_taken_for_this(tmp_path, blobs, change):
    desk = Desk(2)
    with pytest.raises(Killed):
        run(settings_of(tmp_path), Adder(), desk, blobs)
    desk.kill_after, policy = 99, Adder()
    guidance = change.get("guidance", ())
    sizes = {name: value for name, value in change.items() if name != "guidance"}
    run(settings_of(tmp_path, **sizes), policy, desk, blobs, guidance=guidance)
    assert len(policy.asked) == SIZES.batch_problems * SIZES.prompts_per_iteration * ITERATIONS


def test_a_note_whose_blob_is_lost_is_done_again(tmp_path, blobs):
    settings, desk = settings_of(tmp_path), Desk()
    whole = run(settings, Adder(), desk, blobs)
    blobs.path(desk.rows[1]["entry_sha"]).unlink()
    policy = Adder()
    assert run(settings, policy, desk, blobs) == whole
    assert len(policy.asked) == SIZES.batch_problems * SIZES.prompts_per_iteration * (ITERATIONS - 1)


def test_an_entry_reads_back_to_the_same_values(tmp_path, blobs):
    rows = run(settings_of(tmp_path), Adder(), Desk(), blobs)
    last = read_entry(blobs.get(rows[-1]["entry_sha"]))
    assert last.population.iteration == ITERATIONS
    assert last.rows["updates"][0]["checkpoint_sha"] == rows[-1]["checkpoint_sha"]
    calls = [call for row in rows for call in json.loads(blobs.get(row["calls_sha"]))]
    assert calls and len({call["call_id"] for call in calls}) == len(calls)
