"""Rules as Dagster sees them: files that people edit, observed and never computed.

What makes an asset stale after an edit is its code version: it holds the hash of the rules of the gates that
the asset asks (`assets.package`). So an observation has no data version, which would make stale every asset
with an edge from the rules, whichever rule was edited. It shows the hash of all rules, and the log of an
observation says since when they are in force.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import dagster as dg

from assets.line import Line
from assets.package import WATCHED
from evolake import settings as settings_module

HASH = "rules_hash"
"""Metadata of an observation: hash of all rules of the line that judge."""


def rules_asset(line: Line, folder: Path | None = None) -> dg.SourceAsset:
    """Return an observable source asset in the line's seeds group: its rule files, with the hash of those
    that judge in each observation's metadata.

    `folder` None: the line's own, among the seeds that the settings name. Observing an empty or absent folder
    raises InputError.
    """

    def version(gates: Collection[str] | None) -> str:
        from evolake.rule_files import files_hash

        return files_hash(folder or settings_module.load().seeds / "rules" / line.name, gates)

    def observe() -> dg.ObserveResult:
        return dg.ObserveResult(metadata={HASH: version(None)})

    WATCHED[line.key("rules")] = version
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", dg.BetaWarning
        )  # observable source assets are in beta in Dagster 1.13
        define = cast("Any", dg.observable_source_asset)  # pyright: ignore[reportUnknownMemberType]
        return define(
            name="rules",
            key_prefix=line.name,
            group_name=line.seeds_group,
            description=f"Rule files of the line {line.name}.",
        )(observe)


def observation(key: dg.AssetKey) -> dg.AssetObservation:
    """Return the observation of a line's rules as the files are now. Raises InputError for a bad file."""
    return dg.AssetObservation(asset_key=key, metadata={HASH: WATCHED[key](None)})


def observe_rules(context: dg.AssetExecutionContext, line: Line) -> None:
    """Log in Dagster which rules of the line are in force, as the opening asset of a cycle does."""
    for key in WATCHED:
        if key.path[0] == line.name:
            context.log_event(observation(key))
