"""A pilot: can this machine's model learn from families at all, before a study compares arms?

It asks the model as it is, keeps the families and levels that it answers right between two shares, states
what a number of held-out questions can show, trains for some steps on other instances of these, and compares
the held-out share before and after. The held-out questions are of the same families and levels, so it answers
whether anything is learnt, not whether it transfers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from evolake.answers.asking import answer_forms, request
from evolake.canonical_json import key_of
from evolake.errors import InputError
from evolake.families.model.contract import Family
from evolake.families.settings import FamiliesSettings
from evolake.prompts.model.protocol import Policy
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import judge_with
from evolake.prompts.rating.evaluating import decoding_of
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study.journal import Journal
from evolake.seeds import generator
from evolake.settings import Settings
from evolake.stats.bootstrap import Interval
from evolake.stats.grids import grid_interval
from evolake.utility.execution.cells import Cell, run_cell
from evolake.utility.execution.pass_rates import Key, PassRates, Sampling, draw_instances, measure
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import BASE, LINE, LINEAGES, TRAIN, cell_of

LEARNER = "seeds"
"""The arm whose name the pilot's cell has."""
SPARE = 3
"""How many times as many instances are drawn as are needed, since small levels repeat."""


@dataclass(frozen=True)
class PilotSizes:
    """between: shares of right replies of what is kept. levels: difficulties that are asked. instances,
    samples: of each family and level, and replies to each. questions: held out. replies: to each of these.
    steps: updates of the weights."""

    between: tuple[float, float] = (0.2, 0.5)
    levels: tuple[int, ...] = (1, 2, 3)
    instances: int = 16
    samples: int = 2
    questions: int = 100
    replies: int = 4
    steps: int = 40


@dataclass(frozen=True)
class PilotResult:
    """before, change: share of right replies to the held-out questions, and what the steps changed of it.
    updated: steps that moved the weights."""

    before: float
    change: Interval
    updated: int
    steps: int

    @property
    def learns(self) -> bool:
        """Return whether the share rose by more than its interval."""
        return self.change.low > 0

    def sentence(self) -> str:
        """Return the verdict."""
        moved = (
            f"{100 * self.change.estimate:+.1f} points ({100 * self.change.low:+.1f} to "
            f"{100 * self.change.high:+.1f})"
        )
        share = (
            f"{self.before:.1%} right before, {moved} after {self.steps} steps, {self.updated} of which "
            "moved the weights"
        )
        if self.learns:
            return f"this machine can show learning: {share}"
        return f"this machine cannot show learning at this size: {share}"


def pilot_rates(
    families: Sequence[Family],
    policy: Policy,
    sizes: PilotSizes,
    settings: Settings,
    folder: Path,
    *,
    pool: Any,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> PassRates:
    """Return how often the model as it is is right, by family and level; continues where an earlier run was
    cut off."""
    own = settings.of(UtilitySettings)
    sampling = Sampling(
        sizes.levels, sizes.instances, sizes.samples, own.answer_format, own.longest_statement, settings.seed
    )
    key = key_of(
        {
            "sizes": vars(sampling),
            "families": [family.family_id for family in families],
            "policy": _policy_facts(settings),
        }
    )
    return measure(
        families,
        policy,
        sampling,
        pool=pool,
        settings=settings.of(FamiliesSettings),
        journal=Journal(folder / "rates", key),
        tell=tell,
    )


def pilot_problems(
    families: Sequence[Family], rates: PassRates, sizes: PilotSizes, settings: Settings, *, pool: Any
) -> list[dict[str, Any]]:
    """Return rows of PROBLEMS of the families and levels that are kept: held-out questions, and what to train
    on; no text is asked twice.

    Raises:
        InputError: nothing is kept, or what is kept has too few different questions. MachineryError: the jail
            failed.
    """
    own = settings.of(UtilitySettings)
    kept = rates.between(*sizes.between)
    low, high = (f"{share:.0%}" for share in sizes.between)
    if not kept:
        raise InputError(
            "the model as it is is right too often or too seldom everywhere",
            wanted=f"a family and level with {low} to {high} right replies",
            got="none",
            do=(
                "name other families or levels, widen --between, or take another model by "
                "EVOLAKE_PROMPTS__POLICY_MODEL"
            ),
        )
    needed = sizes.questions + own.batch_problems * sizes.steps
    count = -(-SPARE * needed // len(kept))
    drawn: dict[Key, list[dict[str, Any]]] = {}
    for family in families:
        levels = sorted(level for name, level in kept if name == family.family_id)
        rows = (
            draw_instances(
                family,
                levels,
                count,
                pool=pool,
                settings=settings.of(FamiliesSettings),
                root_seed=settings.seed,
            )
            if levels
            else []
        )
        for row in {row["text_sha"]: row for row in rows if row["text_sha"] not in rates.texts}.values():
            drawn.setdefault((row["family_id"], row["difficulty"]), []).append(row)
    in_turn = [
        row for place in range(count) for key in sorted(drawn) for row in drawn[key][place : place + 1]
    ]
    heldout, train = in_turn[: sizes.questions], in_turn[sizes.questions : needed]
    if len(heldout) < sizes.questions or len(train) < own.batch_problems:
        raise InputError(
            "the families and levels that are kept have too few different questions",
            wanted=f"{sizes.questions} to hold out and {own.batch_problems} more",
            got=str(len(in_turn)),
            do="ask fewer held-out questions, or name more families or levels",
        )
    forms = answer_forms(in_turn)
    return [
        _row(row, suite, forms.get(row["family_id"]), own)
        for suite, some in ((LINEAGES, heldout), (TRAIN, train))
        for row in some
    ]


def _row(row: Mapping[str, Any], suite: str, form: type | None, own: UtilitySettings) -> dict[str, Any]:
    return {
        "problem_id": row["instance_id"],
        "suite": suite,
        "arms": [LEARNER] if suite == TRAIN else [],
        "family_id": row["family_id"],
        "category": row["category"],
        "difficulty": row["difficulty"],
        "text": f"{row['text']}\n\n{request(row['language'], form, own.answer_format)}",
        "answer": row["answer"],
        "case_sensitive": row["case_sensitive"],
        "scorer": "answer",
    }


def run_pilot(
    problems: Sequence[Mapping[str, Any]],
    policy: Policy,
    sizes: PilotSizes,
    settings: Settings,
    folder: Path,
    on_step: Callable[[int], None] = lambda step: None,
) -> PilotResult:
    """Evaluate, train, evaluate; continues after the last noted step. What `on_step` raises ends it there."""
    prompts = settings.of(PromptsSettings)
    own = settings.of(UtilitySettings).model_copy(
        update={"steps": sizes.steps, "every": sizes.steps, "eval_samples": sizes.replies}
    )
    judge = judge_with(recipe_of(prompts), prompts.answer_format, prompts.format_bonus)
    sha = key_of(
        {
            "problems": [dict(row) for row in problems],
            "sizes": own.model_dump(mode="json"),
            "policy": _policy_facts(settings),
        }
    )
    base = Cell(cell_of(BASE, 0), problems, own, judge, sha, settings.seed, decoding_of(prompts))
    done = {}
    for cell in (base, replace(base, name=cell_of(LEARNER, 0))):
        done[cell.name] = run_cell(cell, policy, Journal(folder / cell.name, f"{sha} {cell.name}"), on_step)
    trained = done[cell_of(LEARNER, 0)]
    return pilot_result(
        done[base.name].replies,
        trained.replies,
        sum(row["updated"] for row in trained.steps),
        sizes.steps,
        settings.seed,
    )


def pilot_result(
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
    updated: int,
    steps: int,
    root_seed: int,
) -> PilotResult:
    """Return the change of the share of right replies, paired by question. before, after: rows of REPLIES to
    the same questions."""
    first, last = (_shares(rows) for rows in (before, after))
    names = sorted(first)
    differences = np.array([[last[name] - first[name] for name in names]])
    change = grid_interval(differences, generator(root_seed, LINE, "pilot", "change"))
    return PilotResult(fmean(first.values()), change, updated, steps)


def _shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Question -> share of its replies that are right."""
    replies: dict[str, list[float]] = {}
    for row in rows:
        replies.setdefault(row["problem_id"], []).append(float(row["correct"]))
    return {name: fmean(values) for name, values in replies.items()}


def _policy_facts(settings: Settings) -> dict[str, Any]:
    """Return what replies and updates depend on."""
    own = settings.of(PromptsSettings).model_dump(
        mode="json", exclude={"threads", "rows_at_once", "vllm_url", "vllm_folder"}
    )
    return own | {"seed": settings.seed}
