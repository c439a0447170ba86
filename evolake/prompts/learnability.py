"""What the policy can learn from a family of problems: nothing where every reply of a group is right or every
one wrong, most where half are.

A group is N replies of one prompt to one problem in one iteration: what one advantage is relative to. A
prompt that holds two places of an iteration has two groups for each problem. A group whose rewards are equal
carries no gradient (E-SPL, SSLogic: GRPO). With chance p of a right reply the rewards vary by p (1 - p),
which curricula for reinforcement learning call learnability (Tzannetos et al. 2023, Proximal Curriculum;
Rutherford et al. 2024, Sampling for Learnability).

The score of a group with r right and w wrong replies is 4 r w / (n (n + 1)), n = r + w: the posterior mean of
4 p (1 - p) under Haldane's prior Beta(0, 0), which expects a family to be too easy or impossible until
replies show otherwise. A family is scored over its groups and one more that taught nothing, so that few
groups say little. It is taken group by group: a family half of whose problems are always solved and half
never has a pass rate of 1/2, and teaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from evolake.seeds import generator
from evolake.stats.bootstrap import bootstrap_interval
from evolake.stats.proportions import wilson_interval

LINE = "prompts"
KEY = ("arm", "policy", "source", "family", "difficulty")
ASKED = ("arm", "policy", "iteration", "prompt_id", "problem_id")


def group_score(right: int, wrong: int) -> float:
    """Of one group, from 0 (all right, all wrong, or no reply) to below 1. Raises ValueError for a negative
    count."""
    if right < 0 or wrong < 0:
        raise ValueError(f"counts of replies are not negative (got {right} right, {wrong} wrong)")
    replies = right + wrong
    return 4 * right * wrong / (replies * (replies + 1)) if replies else 0.0


def score(groups: Iterable[tuple[int, int]]) -> float:
    """Of (right, wrong) replies by group, from 0 to below 1; 0 without any. A group of no replies teaches
    nothing, as the one that is added."""
    scores = [group_score(right, wrong) for right, wrong in groups]
    return sum(scores) / (len(scores) + 1)


def learnability_rows(
    rollouts: pl.DataFrame,
    problems: pl.DataFrame,
    policies: Mapping[int, str],
    *,
    group_size: int,
    cycle: str,
    root_seed: int,
    before: pl.DataFrame | None = None,
    policies_before: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """Return rows of LEARNABILITY of a cycle, in the order of their keys.

    Args:
        rollouts: of ROLLOUTS. problems: of PROBLEMS; replies to what is held out there, or is not there, are
            left out.
        policies: iteration -> the policy's name. group_size: N, replies of a group; a prompt's replies to a
            problem are numbered group after group.
        before, policies_before: of the cycle before, for what was asked there already.
    """
    train = problems.filter(pl.col("split") == "train").select("problem_id", "source", "family", "difficulty")
    groups = (
        _groups(rollouts, policies, group_size)
        .join(train, on="problem_id")
        .sort(*KEY, "iteration", "prompt_id", "problem_id", "place")
    )
    asked = _groups(rollouts, policies).join(train, on="problem_id").sort(*ASKED)
    earlier = [] if before is None else _groups(before, policies_before or {}).sort(*ASKED).to_dicts()
    first = _first([*earlier, *asked.to_dicts()])
    asked_by_key = asked.partition_by(*KEY, as_dict=True)
    rows: list[dict[str, Any]] = []
    for key, part in groups.group_by(*KEY, maintain_order=True):
        named, items = dict(zip(KEY, key, strict=True)), part.to_dicts()
        again = _moved(asked_by_key[key].to_dicts(), first)
        replies, correct = (sum(item[name] for item in items) for name in ("replies", "correct"))
        share = wilson_interval(correct, replies)
        rows.append(
            named
            | {
                "cycle": cycle,
                "problems": part["problem_id"].n_unique(),
                "groups": len(items),
                "replies": replies,
                "correct": correct,
                "rejected": replies - sum(item["kept"] for item in items),
                "informative": sum(item["rewards"] > 1 for item in items),
                "pass_rate": share.estimate,
                "low": share.low,
                "high": share.high,
                "variance": fmean(
                    item["right"] * (item["kept"] - item["right"]) / item["kept"] ** 2
                    if item["kept"]
                    else 0.0
                    for item in items
                ),
                "score": score((item["right"], item["kept"] - item["right"]) for item in items),
                "repeated": len(again),
                **_change(
                    again, cycle, root_seed, f"{named['family']}/{named['difficulty']}/{named['policy']}"
                ),
            }
        )
    return rows


def _groups(rollouts: pl.DataFrame, policies: Mapping[int, str], size: int | None = None) -> pl.DataFrame:
    """One row per group of `size` replies, counted by `place`; None: per prompt, problem and iteration.
    kept: replies with a reward, of which `right` are right; rewards: how many different ones they have."""
    kept = pl.col("reward").is_not_null()
    named = pl.DataFrame(
        {"iteration": list(policies), "policy": list(policies.values())},
        schema={"iteration": pl.Int64, "policy": pl.String},
    )
    place = pl.lit(0, pl.Int64) if size is None else pl.col("number") // size
    return (
        rollouts.join(named, on="iteration")
        .with_columns(place=place)
        .group_by(*ASKED, "place")
        .agg(
            replies=pl.len().cast(pl.Int64),
            correct=pl.col("correct").sum().cast(pl.Int64),
            kept=kept.sum().cast(pl.Int64),
            right=(pl.col("correct") & kept).sum().cast(pl.Int64),
            rewards=pl.col("reward").drop_nulls().n_unique().cast(pl.Int64),
        )
    )


def _asked(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(item[name] for name in ("arm", "policy", "prompt_id", "problem_id"))


def _first(groups: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """Return the earliest group of each prompt and problem."""
    result: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for group in sorted(groups, key=lambda group: group["iteration"]):
        result.setdefault(_asked(group), group)
    return result


def _moved(
    groups: Sequence[Mapping[str, Any]], first: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> list[tuple[float, float]]:
    """(share right when first asked, when last asked) of every prompt and problem that were asked in two
    iterations."""
    last = {_asked(group): group for group in sorted(groups, key=lambda group: group["iteration"])}
    return [
        (first[asked]["correct"] / first[asked]["replies"], group["correct"] / group["replies"])
        for asked, group in sorted(last.items())
        if first[asked]["iteration"] < group["iteration"]
    ]


def _change(
    again: Sequence[tuple[float, float]], cycle: str, root_seed: int, purpose: str
) -> dict[str, float | None]:
    """Means of the shares before and after, and the interval of their difference; nulls if nothing was asked
    again."""
    names = ("before", "after", "moved", "moved_low", "moved_high")
    if not again:
        return dict.fromkeys(names)
    change = bootstrap_interval(
        [after - before for before, after in again],
        generator(root_seed, LINE, cycle, f"learnability/{purpose}", 0),
    )
    values = (
        fmean(before for before, _ in again),
        fmean(after for _, after in again),
        change.estimate,
        change.low,
        change.high,
    )
    return dict(zip(names, values, strict=True))
