"""What each term of a design does on each kind of formulas: its work without the term over its work with it,
on the same formulas."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from evolake.designs.engines.isolated import fits_apart
from evolake.designs.evolution.breeding import uniform_ratio
from evolake.designs.evolution.racing import BudgetLevel, Stage, run_stages
from evolake.designs.genome.open_ablation import Ablation
from evolake.designs.genome.open_compose import compose
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import FormulaKind, uniform_kind
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import trace
from evolake.seeds import child_seed

SAME = 1.15
"""Ratios within this factor of 1 are reported as no difference."""


@dataclass(frozen=True)
class TermEffect:
    """What a term does on one kind of formulas. ratio: work without it over work with it, geometric mean over
    budget levels; above 1 it helps.

    bound: "at least" if some run without the term was not solved, "at most" if some run with it was not,
    "about" if both.
    """

    term: str
    kind: str
    ratio: float
    bound: str = ""

    def __str__(self) -> str:
        size = f"{max(self.ratio, 1 / self.ratio):.2g}x"
        if 1 / SAME < self.ratio < SAME:
            return f"makes no difference on {self.kind} ones"
        below = {"at least": "at most ", "at most": "at least "}.get(
            self.bound, self.bound and f"{self.bound} "
        )
        if self.ratio > 1:
            if self.bound:
                said = f"{self.bound} "
            else:
                said = ""
        else:
            said = below
        return f"{'helps' if self.ratio > 1 else 'costs'} {self.kind} ones {said}{size}"


def term_effects(
    term: str, levels: Sequence[BudgetLevel], whole: Sequence[Stage], without: Sequence[Stage]
) -> list[TermEffect]:
    """Return what a term does, by kind. whole, without: stages of all budget levels, each run to its end or
    its limit."""
    result = []
    for kind in dict.fromkeys(level.kind.name for level in levels):
        pairs = [
            (own, other)
            for level, own, other in zip(levels, whole, without, strict=True)
            if level.kind.name == kind
        ]
        logs = [math.log(_counted(other) / _counted(own)) for own, other in pairs]
        cut = any(not own.solved for own, _ in pairs), any(not other.solved for _, other in pairs)
        bound = {
            (True, True): "about",
            (False, True): "at least",
            (True, False): "at most",
            (False, False): "",
        }[cut]
        result.append(TermEffect(term, kind, math.exp(sum(logs) / len(logs)), bound))
    return result


def _counted(stage: Stage) -> float:
    """Work of a run: its median if it was solved, else what it ran, for no more is known."""
    return max(1.0, stage.median_work if stage.solved else stage.steps_run * stage.per_step)


def ablation_levels(settings: DesignsSettings, cycle: str, root_seed: int) -> list[BudgetLevel]:
    """Return the formulas that the terms of a cycle's champion are left out on: a batch of each kind that
    nothing else draws."""
    n, race = settings.ablation_n, settings.race
    kinds = (FormulaKind(ratio=settings.ratio), uniform_kind(uniform_ratio(n)))
    return [
        BudgetLevel(
            n, race.batch, child_seed(root_seed, "designs", cycle, "ablation", place), race.max_steps, kind
        )
        for place, kind in enumerate(kinds)
    ]


def traced_ablations(items: Sequence[Ablation], pool: Any) -> list[tuple[Ablation, str]]:
    """Return each ablation with TracedDesign's JSON text; those that cannot be traced are left out. pool: an
    open jail pool."""
    traced = [(item, trace(compose(item.genome), pool=pool, fits=fits_apart)) for item in items]
    return [
        (item, json.dumps(result.to_json(), sort_keys=True))
        for item, result in traced
        if isinstance(result, TracedDesign)
    ]


def ablation_rows(
    design_id: str,
    whole: str,
    without: Sequence[tuple[Ablation, str]],
    executor: Executor,
    levels: Sequence[BudgetLevel],
    cycle: str,
    core_s: float,
) -> list[dict[str, Any]]:
    """Return rows of ABLATIONS.

    Args:
        whole: TracedDesign's JSON text of the champion. without: of each of its ablations. core_s: seconds of
            a core that a run may take.
    """
    pending = [
        [executor.submit(run_stages, text, [level], [level.max_steps], core_s) for level in levels]
        for text in (whole, *(text for _, text in without))
    ]
    known, *others = [[future.result()[0] for future in futures] for futures in pending]
    return [
        {
            "cycle": cycle,
            "design_id": design_id,
            "number": number,
            "slot": item.slot,
            "term": item.term,
            "kind": effect.kind,
            "N": level.n,
            "batch": level.batch,
            "ratio": effect.ratio,
            "bound": effect.bound,
            "effect": str(effect),
        }
        for number, ((item, _), stages) in enumerate(zip(without, others, strict=True))
        for level, effect in zip(levels, term_effects(str(item), levels, known, stages), strict=True)
    ]
