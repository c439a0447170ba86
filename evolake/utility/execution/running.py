"""A whole study: problems, record, cells. Killed at any point, it continues with the next run of the same
command, after the last noted step."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.studies import current_record, record_before, with_earlier
from evolake.prompts.model.protocol import Policy
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import judge_with
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.rating.evaluating import decoding_of
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings
from evolake.stats.power import power_sentence
from evolake.utility.execution.cells import Cell, Pause, is_finished, journal_of, publish_cell, run_cell
from evolake.utility.execution.drawing import draw_problems, inputs_sha, journal_of_rates
from evolake.utility.execution.policy import POLICY, policy_settings
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import ARMS, LINE, LINEAGES, PROBLEMS, REPLIES, STEPS, STUDY, cell_of

OF_NO_CELL = ("seeds", "benchmarks")


@dataclass(frozen=True)
class Study:
    """Hold what decides the rows of a cell, in addition to its arm and its seed. problems: rows of
    PROBLEMS."""

    sha: str
    inputs_sha: str
    problems: list[dict[str, Any]]
    notes: list[str]
    policy: str
    settings: str
    root_seed: int


@dataclass(frozen=True)
class Outcome:
    """What a run did: cells it ran, those that were there, those that are left. study: None where it stopped
    before there was one."""

    study: Study | None
    ran: tuple[str, ...]
    kept: tuple[str, ...]
    left: tuple[str, ...]


def prepare(
    settings: Settings,
    lake: Lake,
    arms: Sequence[str],
    seeds: Sequence[int],
    run_id: str,
    policy: Policy | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Study:
    """Return the study that the settings describe, its problems and its record published. Problems that are
    there already are read.

    Args:
        policy, `tell`: as `draw_problems`.

    Raises:
        InputError: as `draw_problems`, or the settings name a policy that cannot learn.
    """
    own, prompts = settings.of(UtilitySettings), policy_settings(settings).of(PromptsSettings)
    if prompts.policy == "endpoint":
        raise InputError(
            "the policy endpoint cannot learn", wanted="local or tiny", do="set EVOLAKE_PROMPTS__POLICY=local"
        )
    inputs = inputs_sha(settings, lake)
    before = record_before(lake, LINE)
    if before.get("inputs_sha") == inputs and lake.record(LINE, "problems") is not None:
        problems, notes = lake.read(LINE, "problems").to_dicts(), before["notes"]
    else:
        drawn = draw_problems(settings, lake, policy, tell)
        problems, notes = PROBLEMS.frame(drawn.rows).to_dicts(), drawn.notes
    values = own.model_dump(mode="json", exclude=set(OF_NO_CELL)) | {
        "policy": prompts.model_dump(mode="json", include=set(POLICY))
    }
    summary = json.dumps(values, sort_keys=True)
    sha = hashlib.sha256(
        f"1\x1f{settings.seed}\x1f{summary}\x1f{json.dumps(problems, sort_keys=True)}".encode()
    ).hexdigest()
    study = Study(
        sha, inputs, problems, notes, prompts.policy_model or prompts.policy, summary, settings.seed
    )
    publish_study(lake, study, arms, seeds, run_id, before)
    journal_of_rates(settings, lake).clear()
    return study


def publish_study(
    lake: Lake, study: Study, arms: Sequence[str], seeds: Sequence[int], run_id: str, before: dict[str, Any]
) -> None:
    """Publish problems and record. Arms and seeds that an earlier run of the same study had are kept in the
    record."""
    arms, seeds = with_earlier(before, study.sha, arms, seeds, tuple(ARMS))
    lake.publish(LINE, "problems", PROBLEMS.frame(study.problems), cycle=None, run_id=run_id, schema=PROBLEMS)
    lake.publish(
        LINE, "study", STUDY.frame([record_of(study, arms, seeds)]), cycle=None, run_id=run_id, schema=STUDY
    )


def record_of(study: Study, arms: Sequence[str], seeds: Sequence[int]) -> dict[str, Any]:
    """Return the row of STUDY."""
    return {
        "study_sha": study.sha,
        "inputs_sha": study.inputs_sha,
        "policy": study.policy,
        "settings": study.settings,
        "root_seed": study.root_seed,
        "arms": list(arms),
        "seeds": list(seeds),
        "notes": study.notes,
    }


def power_of(study: Study, sizes: UtilitySettings, seeds: int) -> str:
    """Return which difference of two arms the held-out questions can show. Without pass rates half of the
    replies are taken to be right, where the spread is largest."""
    rates = [row["pass_rate"] for row in study.problems if row["suite"] == LINEAGES]
    known = [rate for rate in rates if rate is not None]
    share = sum(known) / len(known) if known else 0.5
    return (
        power_sentence(len(rates), seeds * sizes.eval_samples, share)
        if rates
        else "no held-out questions: no power can be stated"
    )


def make_cell(study: Study, name: str, settings: Settings) -> Cell:
    """Return a cell of the study, ready to be run."""
    prompts = policy_settings(settings).of(PromptsSettings)
    judge = judge_with(recipe_of(prompts), prompts.answer_format, prompts.format_bonus)
    return Cell(
        name,
        study.problems,
        settings.of(UtilitySettings),
        judge,
        study.sha,
        study.root_seed,
        decoding_of(prompts),
    )


def run_study(
    settings: Settings,
    arms: Sequence[str],
    seeds: Sequence[int],
    run_id: str,
    *,
    minutes: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
    policy: Policy | None = None,
) -> Outcome:
    """Run what is missing of the study that the settings describe.

    Args:
        minutes: stop at the end of the step, or of the batch of questions, in which these are over;
            None: never. `tell`: a line of progress.
        policy: None: that of the settings.

    Raises:
        InputError: as `prepare`. PartitionBusy: another run of the study is under way. MachineryError: the
            policy cannot be trained.
    """
    lake, started = Lake(settings.require_lake()), time.monotonic()
    with lake.line_lock(LINE, run_id=run_id):
        cells = [cell_of(arm, seed) for seed in seeds for arm in arms]

        def on_time() -> None:
            if minutes is not None and time.monotonic() - started > 60 * minutes:
                raise Pause

        def on_problems(done: int, of: int) -> None:
            tell(f"pass rates: {done} of {of} problems asked")
            on_time()

        try:
            study = prepare(settings, lake, arms, seeds, run_id, policy, on_problems)
        except Pause:
            return Outcome(None, (), (), tuple(cells))
        tell(power_of(study, settings.of(UtilitySettings), len(seeds)))
        kept = [name for name in cells if is_finished(lake, name, study.sha)]
        todo = [name for name in cells if name not in kept]
        ran: list[str] = []
        held = policy or (
            open_policy(policy_settings(settings), lake.root, "utility", run_id) if todo else None
        )
        with held if hasattr(held, "__exit__") else nullcontext():  # type: ignore[union-attr]
            for name in todo:
                assert held is not None
                cell = make_cell(study, name, settings)

                def on_step(step: int, name: str = name) -> None:
                    tell(
                        f"{name}: step {step} of {settings.of(UtilitySettings).steps}"
                        if step
                        else f"{name}: evaluated"
                    )
                    on_time()

                try:
                    rows = run_cell(cell, held, journal_of(lake, cell), on_step)
                except Pause:
                    break
                publish_cell(lake, cell, rows, run_id)
                ran.append(name)
    return Outcome(study, tuple(ran), tuple(kept), tuple(name for name in cells if name not in {*kept, *ran}))


@dataclass(frozen=True)
class Stored:
    """What the lake holds of its current study: the record's row, and frames of problems, steps and replies
    of that study alone."""

    study: dict[str, Any]
    problems: pl.DataFrame
    steps: pl.DataFrame
    replies: pl.DataFrame

    @property
    def missing(self) -> list[str]:
        """The cells that the record names and that are not there."""
        there = set(self.replies.select("arm", "seed").unique().rows())
        return [
            cell_of(arm, seed)
            for seed in self.study["seeds"]
            for arm in self.study["arms"]
            if (arm, seed) not in there
        ]


def read_study(lake: Lake) -> Stored:
    """Return the current study. Cells of an earlier one are left out.

    Raises:
        InputError: no study was run in this lake.
    """
    study = current_record(lake, LINE, "evolake families utility")
    steps, replies = [STEPS.empty()], [REPLIES.empty()]
    for cell in lake.cycles(LINE, "replies"):
        if is_finished(lake, cell, study["study_sha"]):
            replies.append(lake.read(LINE, "replies", cell))
            steps.append(lake.read(LINE, "steps", cell))
    return Stored(study, lake.read(LINE, "problems"), pl.concat(steps), pl.concat(replies))
