"""The gate of an objective: it runs in the jail on the results at hand, and its rules judge what that trial
showed (`objective_trial`).

Operators' and models' objectives, the starting portfolio and what a merge brings meet the same rules. One
that passes votes, and what comes after it is compared with it too. Those of the starting portfolio are not
compared, for no objective votes yet, but what follows is compared with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.objective_trial import TrialContext, TriedObjective, scores_of
from evolake.gates import Finding, GateResults, Ruleset, checker, run_gates
from evolake.objectives.score import HasSource

if TYPE_CHECKING:
    from evolake.compute import Jails

AGAIN = "again"
SHORT = 12
JudgeObjective = Callable[..., GateResults]
"""(objective, starting=False) -> its gate's results. starting: of the starting portfolio, compared with
nobody."""


def objective_judge(
    context: TrialContext,
    pool: Jails,
    *,
    ruleset: Ruleset,
    cycle: str,
    run_id: str,
    keep: Callable[[bytes], str] | None = None,
) -> JudgeObjective:
    """Take objectives through their gate, one after the other: each is compared with those that vote, and
    with those before it that passed.

    Args:
        context: see `objective_trial.trial_context`. keep: stores evidence, gives its sha; verdicts name it,
            so that a changed rule can be previewed.
    """
    held = context
    store = (
        None
        if keep is None
        else lambda evidence, put=keep: put(json.dumps(evidence, sort_keys=True).encode())
    )

    def judge(objective: HasSource, starting: bool = False) -> GateResults:
        nonlocal held
        beside = replace(held, voting={}) if starting else held
        result = run_gates(
            TriedObjective(objective, beside, pool),
            (OBJECTIVE,),
            ruleset,
            artifact_id=objective.objective_id,
            cycle=cycle,
            run_id=run_id,
            store=store,
        )
        if result.accepted:
            held = held.joined_by(objective.objective_id, scores_of(objective, held, pool))
        return result

    return judge


@checker("designs.objective_runs")
def objective_runs(evidence: Mapping[str, Any], *, min_scored: int, min_share: float = 0.0) -> Finding | None:
    """Check that it scored at least `min_scored` designs, and this share of them. With no results at all
    there is nothing to fail on."""
    rows = evidence["scores"]
    scored = sum(row["score"] is not None for row in rows)
    if not rows or scored >= max(min_scored, min_share * len(rows)):
        return None
    first = next(row for row in rows if row["score"] is None)
    return Finding(
        f"scored {scored} of {len(rows)} designs; the first failure: {first['status']} {first['reason']}".strip()[  # noqa: E501
            :500
        ]
    )


@checker("designs.objective_repeats")
def objective_repeats(evidence: Mapping[str, Any]) -> Finding | None:
    """Asked twice about the same results it gives the same scores, to the last bit."""
    return next(
        (_other_score(run) for run in evidence["runs"] if run["run"] == AGAIN and run["difference"] != 0.0),
        None,
    )


@checker("designs.objective_ignores_order")
def objective_ignores_order(evidence: Mapping[str, Any], *, tolerance: float) -> Finding | None:
    """Whatever the order of designs and of their rows, and whatever they are called, scores differ by at most
    `tolerance`, relative to the larger."""
    return next(
        (
            _other_score(run)
            for run in evidence["runs"]
            if run["difference"] is None or run["difference"] > tolerance
        ),
        None,
    )


@checker("designs.objective_tells_apart")
def objective_tells_apart(evidence: Mapping[str, Any], *, min_share: float) -> Finding | None:
    """Of the pairs of designs whose results differ it scores at least this share differently."""
    pairs, summary = evidence["told_apart"]["pairs"], evidence["told_apart"]["told"]
    if not pairs or summary >= min_share * pairs:
        return None
    return Finding(
        f"tells {summary} of {pairs} pairs of designs apart whose results differ; at least "
        f"{min_share:.0%} are asked for"
    )


@checker("designs.objective_is_new")
def objective_is_new(evidence: Mapping[str, Any], *, max_tau: float) -> Finding | None:
    """With no objective that votes it agrees by more than `max_tau` (Kendall) on designs and parts of their
    results."""
    nearest = evidence["nearest"]
    if nearest is None or nearest["tau"] <= max_tau:
        return None
    return Finding(
        f"ranks as objective {nearest['objective_id'][:SHORT]} does, which votes already (Kendall's tau "
        f"{nearest['tau']:.6f})"
    )


def _other_score(run: Mapping[str, Any]) -> Finding:
    before, after = ("none" if score is None else f"{score:.9g}" for score in run["scores"])
    how = "asked again" if run["run"] == AGAIN else f"with the {run['run']}"
    return Finding(f"another score {how}: design {run['design_id'][:SHORT]} got {before}, then {after}")
