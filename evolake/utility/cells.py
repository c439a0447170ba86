"""One cell: an arm with a seed. Trained step by step, evaluated every few steps, each step noted with the
weights after it.

Everything a step draws comes from the root seed, the cell's seed and the number of the step, never from the
arm's name: arms of one seed begin with the same weights and differ by their problems alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.lake import Lake
from evolake.prompts.evolution.payoff_matrix import rewarded
from evolake.prompts.evolution.prompt_contest import replies
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Decoding, Policy, Problem, Rollout, Sample
from evolake.prompts.study_journal import Journal
from evolake.seeds import child_seed, generator
from evolake.utility.drawing import problem_of
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import BASE, LINE, REPLIES, STEPS, TRAIN, parse_cell

REFLECTING = re.compile(
    r"\b(?:wait|mistake|however|but|retry|error|verify|wrong|evaluate|check)\b", re.IGNORECASE
)
"""The vocabulary of SSLogic, appendix J."""
NO_PROMPT = prompt_of([])

Judge = Callable[[Any, Problem, int, Sample], Rollout]


class Pause(Exception):
    """The time that was given is over; what was done is noted."""


@dataclass(frozen=True)
class CellRows:
    """Rows of STEPS and of REPLIES."""

    steps: list[dict[str, Any]]
    replies: list[dict[str, Any]]


@dataclass(frozen=True)
class Cell:
    """What a cell works on. problems: rows of PROBLEMS. study_sha, root_seed: of the study. judge: gives a
    reply its reward. decoding: how the replies of an evaluation are drawn; None: greedily, or as while
    training if there are several."""

    name: str
    problems: Sequence[Mapping[str, Any]]
    sizes: UtilitySettings
    judge: Judge
    study_sha: str
    root_seed: int
    decoding: Decoding | None = None

    def seed(self, purpose: str, step: int) -> int:
        """Return the seed of what a step draws."""
        return child_seed(self.root_seed, LINE, str(parse_cell(self.name)[1]), purpose, step)


def run_cell(
    cell: Cell, policy: Policy, journal: Journal, on_step: Callable[[int], None] = lambda step: None
) -> CellRows:
    """Train and evaluate; continues after the last noted step. The policy, as it starts, is put back to that
    in the end.

    on_step: called with each step that is done, noted already; what it raises ends the cell there.
    """
    start = policy.save()
    try:
        noted, state = journal.read()
        if state is not None:
            policy.load(state)
        last = 0 if parse_cell(cell.name)[0] == BASE else cell.sizes.steps
        first = len(noted) if noted else 0
        for number in range(first, max(1, last)):
            step = number + 1 if last else 0
            gave = step_of(cell, policy, step, noted[-1]["steps"][-1] if noted and last else None)
            noted.append(gave)
            journal.note(len(noted), gave, policy.save())
            on_step(step)
    finally:
        policy.load(start)
    return CellRows(
        [row for item in noted for row in item["steps"]], [row for item in noted for row in item["replies"]]
    )


def step_of(
    cell: Cell, policy: Policy, step: int, before: Mapping[str, Any] | None
) -> dict[str, list[dict[str, Any]]]:
    """Take one step, with its evaluation where one is due. before: the row of the step before."""
    steps = [train_step(cell, policy, step, before)] if step else []
    due = step % cell.sizes.every == 0 or step == cell.sizes.steps
    return {"steps": steps, "replies": evaluation(cell, policy, step) if due else []}


def train_step(cell: Cell, policy: Policy, step: int, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Sample, reward, update; gives the row of STEPS."""
    arm, seed = parse_cell(cell.name)
    pool = [problem_of(row) for row in cell.problems if arm in row["arms"]]
    batch = batch_of(pool, cell.sizes.batch_problems, step, cell)
    pairs = [(NO_PROMPT, problem) for problem in batch]
    samples = policy.sample(pairs, cell.sizes.rollouts, cell.seed("rollouts", step))
    groups, judged = rewarded(pairs, samples, cell.judge)
    stats = policy.update(groups, cell.seed("update", step))
    result = [rollout for rollout, _ in judged]
    tokens, count = sum(item.tokens for item in result), len(result)
    seen = min(len(pool), step * min(len(pool), cell.sizes.batch_problems))
    return {
        "arm": arm,
        "seed": seed,
        "step": step,
        "instances": seen,
        "tokens": (before["tokens"] if before else 0) + tokens,
        "rollouts": count,
        "reward": sum(item.reward or 0.0 for item in result) / count,
        "correct": sum(item.correct for item in result) / count,
        "formatted": sum(item.formatted for item in result) / count,
        "length": tokens / count,
        "reflections": sum(reflections(item.reply) for item in result) / count,
        "rejected": stats.rejected,
        "informative": stats.informative,
        "updated": stats.updated,
        "trained_tokens": stats.tokens,
        "kl": stats.kl,
        "entropy": stats.entropy,
        "grad_norm": stats.grad_norm,
        "study_sha": cell.study_sha,
    }


def batch_of(pool: Sequence[Problem], count: int, step: int, cell: Cell) -> list[Problem]:
    """Return the problems of a step: the pool in an order that the seed gives, from one end to the other,
    then in another order."""
    count = min(count, len(pool))
    result: list[Problem] = []
    for place in range((step - 1) * count, step * count):
        turn, number = divmod(place, len(pool))
        order = generator(cell.root_seed, LINE, str(parse_cell(cell.name)[1]), "order", turn).permutation(
            len(pool)
        )
        result.append(pool[int(order[number])])
    return result


def evaluation(cell: Cell, policy: Policy, step: int) -> list[dict[str, Any]]:
    """Return rows of REPLIES on everything that is held out."""
    arm, seed = parse_cell(cell.name)
    rows = [row for row in cell.problems if row["suite"] != TRAIN]
    suites = [row["suite"] for row in rows for _ in range(cell.sizes.eval_samples)]
    result = replies(
        policy,
        [NO_PROMPT],
        [problem_of(row) for row in rows],
        samples=cell.sizes.eval_samples,
        answer_format=cell.sizes.answer_format,
        seed=cell.seed("evaluation", step),
        decoding=cell.decoding,
    )
    kept = ("problem_id", "sample", "reply", "tokens", "truncated", "correct", "formatted", "unverified")
    return [
        {"arm": arm, "seed": seed, "step": step, "suite": suite}
        | {name: row[name] for name in kept}
        | {"reflections": reflections(row["reply"]), "study_sha": cell.study_sha}
        for suite, row in zip(suites, result, strict=True)
    ]


def reflections(reply: str) -> int:
    """Return how many words of self-checking a reply has."""
    return len(REFLECTING.findall(reply))


def journal_of(lake: Lake, cell: Cell) -> Journal:
    """Return the cell's journal, in the lake's work folder, which is no part of its content."""
    key = hashlib.sha256(f"{cell.study_sha}\x1f{cell.name}".encode()).hexdigest()
    return Journal(lake.root / "work" / LINE / cell.study_sha[:16] / cell.name, key)


def publish_cell(lake: Lake, cell: Cell, rows: CellRows, run_id: str) -> None:
    """Publish a cell's rows, replies last: a cell with replies is a finished one. Its journal goes then."""
    lake.publish(LINE, "steps", STEPS.frame(rows.steps), cycle=cell.name, run_id=run_id, schema=STEPS)
    lake.publish(LINE, "replies", REPLIES.frame(rows.replies), cycle=cell.name, run_id=run_id, schema=REPLIES)
    journal_of(lake, cell).clear()


def is_finished(lake: Lake, name: str, study_sha: str) -> bool:
    """Return whether the lake holds the cell of this very study."""
    return lake.record(LINE, "replies", name) is not None and lake.read(LINE, "replies", name)[
        "study_sha"
    ].unique().to_list() == [study_sha]
