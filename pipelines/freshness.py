"""A night that did not run shows red: where EVOLAKE_NIGHTLY_LINES switches a line's schedule on, its assets
carry a freshness policy.

The schedule says how far apart nights are; an asset that is older than one and a half of the widest gap is
red, one older than one and a quarter is yellow. Dagster's daemon looks, so a daemon that is down shows
nothing: that is what `alerts` of the machine itself are for (docs/operations.md).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice, pairwise

import dagster as dg

from evolake.errors import InputError
from pipelines.lines import Asset, BuiltLine
from pipelines.schedules import LINES_VARIABLE, TWO_IN_THE_NIGHT, cron_or, works_nightly
from resources.dagster_internals import cron_string_iterator

SOME_MONDAY = 1_767_571_200.0
"""From when on gaps are counted, so that the same schedule always gives the same policy."""
TICKS = 100


def refuse_unknown(lines: Sequence[BuiltLine]) -> None:
    """Raise InputError where EVOLAKE_NIGHTLY_LINES names what is no line."""
    known = [built.line.name for built in lines]
    for name in filter(None, (part.strip() for part in os.environ.get(LINES_VARIABLE, "").split(","))):
        if name not in (*known, "all"):
            raise InputError(
                f"{LINES_VARIABLE} names no line: {name!r}",
                wanted=f"all, or some of: {', '.join(known)}",
                do="fix the variable",
            )


def kept_fresh(built: BuiltLine) -> list[Asset]:
    """Return the line's assets; those of its cycles with a freshness policy where its schedule is on from the
    start."""
    if not works_nightly(built.line.name):
        return list(built.assets)
    policy = policy_of(cron_or(TWO_IN_THE_NIGHT))

    def with_policy(spec: dg.AssetSpec) -> dg.AssetSpec:
        return dg.apply_freshness_policy(spec, policy) if spec.group_name == built.line.name else spec

    return [
        asset.map_asset_specs(with_policy) if isinstance(asset, dg.AssetsDefinition) else asset
        for asset in built.assets
    ]


def policy_of(cron: str) -> dg.FreshnessPolicy:
    """Return the policy of assets that are made at each tick of `cron` (UTC)."""
    ticks = islice(cron_string_iterator(SOME_MONDAY, cron, "UTC"), TICKS)
    gap = max((later - earlier for earlier, later in pairwise(ticks)), default=timedelta(days=1))
    return dg.FreshnessPolicy.time_window(fail_window=1.5 * gap, warn_window=1.25 * gap)
