"""The gate of an objective: it runs in the jail on the results at hand, next to the objectives that vote, and
its rules judge what that trial showed.

Operators' and models' objectives, the starting portfolio and what a merge brings meet the same rules. One
that passes votes, and what comes after it is compared with it too. Those of the starting portfolio are not
compared with others, for no objective votes yet.

The trial scores the designs seven times: twice as they are, with the designs in opposite and in shuffled
order, with the rows of each design in opposite and in shuffled order, and with the designs renamed. What
depends on chance, on the clock, on what was scored before, on the order of rows or on a design's name shows.

A handful of designs can be ranked in few ways, so that objectives of quite different meaning rank them alike.
Hence the probes: next to the designs some of them once more, without their largest or their smallest sizes.
Agreement is Kendall's tau of the ranks of the probes, as in the consensus.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.scoring import consensus_from
from evolake.gates import Finding, GateResults, Ruleset, checker, run_gates
from evolake.objectives.long_consensus import LongConsensus
from evolake.objectives.score import HasSource, ScoreRow, nearest_voter, numbers, score_all, score_table

if TYPE_CHECKING:
    from evolake.compute import Jails


PROBED = 24
"""Designs that are looked at in part too."""
CUTS = (slice(0, -1), slice(0, -2), slice(0, -3), slice(1, None), slice(3, None))
Results = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class TrialContext:
    """What objectives are tried on.

    Attributes:
        designs: those that have results, in the order of their ids. probes: the designs, then parts of them.
        voting: objective id -> scores of the probes, (n,) float, missing ones +inf, of those that vote.
    """

    designs: tuple[str, ...]
    probes: Results
    voting: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class TriedObjective:
    """An objective and what it is tried on."""

    objective: HasSource
    context: TrialContext
    pool: Jails


def trial_context(results: Results, voting: Sequence[HasSource], pool: Jails) -> TrialContext:
    """Return the context of a population's results. voting: the objectives that vote; each is a call of the
    jail.

    Raises:
        JailUnavailable: the jail itself failed.
    """
    measured = {design_id: list(results[design_id]) for design_id in sorted(results) if results[design_id]}
    probes = measured | _parts(measured)
    return TrialContext(tuple(measured), probes, score_table(voting, probes, pool))


def collect_trial(item: TriedObjective) -> dict[str, Any]:
    """Return the evidence of the gate: scores of the designs, how far each further run differs, what is
    distinguished, and who ranks most alike.

    Raises:
        JailUnavailable: the jail itself failed.
    """
    context = item.context
    first = score_all([item.objective], context.probes, item.pool)
    shown = first[: len(context.designs)]
    rows = [
        {"design_id": row.design_id, "score": row.score, "status": row.status, "reason": row.reason}
        for row in shown
    ]
    if all(row.score is None for row in shown):
        return {"scores": rows, "runs": [], "told_apart": {"pairs": 0, "told": 0}, "nearest": None}
    nearest = nearest_voter(numbers(first), context.voting)
    runs = [
        _compared(name, shown, score_all([item.objective], probes, item.pool))
        for name, probes in _orders(context).items()
    ]
    return {
        "scores": rows,
        "runs": runs,
        "told_apart": _distinguished(shown, context.probes),
        "nearest": nearest and dict(zip(("objective_id", "tau"), nearest, strict=True)),
    }


def consensus_at(context: TrialContext, population: Population, cycle: str) -> LongConsensus | None:
    """Return the consensus of those that vote on the designs of the context; None if no objective votes or
    nothing is measured."""
    if not context.voting or not context.designs:
        return None
    rows = [
        {"objective_id": name, "design_id": design_id, "score": float(score)}
        for name, scores in context.voting.items()
        for design_id, score in zip(context.designs, scores[: len(context.designs)], strict=True)
    ]
    return consensus_from(pl.DataFrame(rows), population, cycle)


def _parts(measured: Mapping[str, list[Mapping[str, Any]]]) -> dict[str, list[Mapping[str, Any]]]:
    names = list(measured)
    chosen = (
        names
        if len(names) <= PROBED
        else [names[place] for place in np.linspace(0, len(names) - 1, PROBED).round().astype(int)]
    )
    parts = {}
    for name in chosen:
        ladder = sorted(measured[name], key=lambda row: row["N"])
        parts |= {f"{name}/{number}": part for number, cut in enumerate(CUTS) if (part := ladder[cut])}
    return parts


def _orders(context: TrialContext) -> dict[str, Results]:
    """Return the designs once more, in other orders and by other names. Parts are left out: what they would
    show, the designs do."""
    designs: Results = {name: context.probes[name] for name in context.designs}
    order = random.Random(1)
    mixed = order.sample(list(designs), len(designs))
    return {
        "again": designs,
        "designs reversed": {name: designs[name] for name in reversed(list(designs))},
        "designs shuffled": {name: designs[name] for name in mixed},
        "rows reversed": {name: list(rows)[::-1] for name, rows in designs.items()},
        "rows shuffled": {name: order.sample(list(rows), len(rows)) for name, rows in designs.items()},
        "designs renamed": {
            name: [{**row, "design_id": _renamed(name)} for row in rows] for name, rows in designs.items()
        },
    }


def _renamed(name: str) -> str:
    """Return an id that looks like one and is no design's."""
    return hashlib.sha256(f"renamed {name}".encode()).hexdigest()


def _compared(name: str, first: Sequence[ScoreRow], run: Sequence[ScoreRow]) -> dict[str, Any]:
    """Return the run's largest difference from the first, relative to the larger score, null where one of the
    two is missing; and where it is."""
    result = {row.design_id: row.score for row in run}
    worst = max(first, key=lambda row: _difference(row.score, result[row.design_id]))
    largest = _difference(worst.score, result[worst.design_id])
    scores = [worst.score, result[worst.design_id]]
    return {
        "run": name,
        "difference": None if largest == np.inf else largest,
        "design_id": worst.design_id,
        "scores": scores,
    }


def _difference(first: float | None, other: float | None) -> float:
    if first == other:
        return 0.0
    return np.inf if first is None or other is None else abs(first - other) / max(abs(first), abs(other))


def _distinguished(shown: Sequence[ScoreRow], results: Results) -> dict[str, int]:
    """Pairs of designs whose results differ, and those of them whose scores differ too."""
    seen = [
        (
            row.score,
            tuple(
                (item["N"], item["median_step"], item["unsolved_fraction"] < 0.5)
                for item in results[row.design_id]
            ),
        )
        for row in shown
    ]

    def alike(keys: Sequence[Any]) -> int:
        return sum(count * (count - 1) // 2 for count in Counter(keys).values())

    total = len(seen) * (len(seen) - 1) // 2
    pairs = total - alike([ladder for _, ladder in seen])
    tied = alike([score for score, _ in seen]) - alike(seen)
    return {"pairs": pairs, "told": pairs - tied}


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
        context: see `trial_context`. keep: stores evidence, gives its sha; verdicts name it,
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
            voting = {**held.voting, **score_table([objective], held.probes, pool)}
            held = replace(held, voting=voting)
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
