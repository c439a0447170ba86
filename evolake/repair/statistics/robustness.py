"""What a superficial re-encoding of the problems does to each arm: the change of its solve rate, perturbed
run against unperturbed run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from evolake.repair.statistics.bootstrap import ratio_interval, stream
from evolake.repair.statistics.groups import groups


def robustness_rows(
    before: pl.DataFrame, after: pl.DataFrame, base_ids: Mapping[str, str], root_seed: int
) -> list[dict[str, Any]]:
    """Return rows of ROBUSTNESS: what a perturbation did to each arm's solve rate, every perturbed run paired
    with that of the problem it was made from.

    Args:
        before, after: rows of RESULTS, of the unperturbed and of the perturbed problems. base_ids: perturbed
            problem -> the problem it was made from.

    Raises:
        ValueError: a perturbed run has no unperturbed one to be paired with.
    """
    origin = pl.DataFrame(
        {"problem_id": list(base_ids), "base_id": list(base_ids.values())},
        schema={"problem_id": pl.String, "base_id": pl.String},
    )
    base = before.select("arm", "seed", base_id="problem_id", was=pl.col("solved"))
    pairs = after.join(origin, on="problem_id", how="left").join(
        base, on=["arm", "seed", "base_id"], how="left", maintain_order="left"
    )
    if pairs["was"].null_count():
        raise ValueError(
            f"{pairs['was'].null_count()} of {pairs.height} perturbed runs have no run of the problem "
            "they were made from"
        )
    rows = []
    for (suite, variation, arm), result in groups(pairs, "suite", "variation", "arm"):
        moved = pl.col("solved").cast(pl.Int64) - pl.col("was").cast(pl.Int64)
        sums = result.group_by("base_id").agg(above=moved.sum(), below=pl.len()).sort("base_id")
        delta = ratio_interval(
            sums["above"].to_numpy(),
            sums["below"].to_numpy(),
            stream(root_seed, "robustness", variation, arm),
        )
        rows.append(
            {
                "suite": suite,
                "variation": variation,
                "arm": arm,
                "problems": sums.height,
                "pairs": result.height,
                "rate_before": float(result["was"].cast(pl.Float64).sum() / result.height),
                "rate_after": float(result["solved"].cast(pl.Float64).sum() / result.height),
                "gained": result.filter(pl.col("solved") & ~pl.col("was")).height,
                "lost": result.filter(~pl.col("solved") & pl.col("was")).height,
                "delta": delta.estimate,
                "delta_low": delta.low,
                "delta_high": delta.high,
            }
        )
    return rows
