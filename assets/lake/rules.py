"""Rules as Dagster sees them: files that people edit, observed and never computed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import dagster as dg

from assets.line import Line, files_version
from assets.package import WATCHED
from evolake import settings as settings_module
from evolake.errors import InputError


def rules_asset(
    line: Line, folder: Path | None = None, *, name: str = "rules", pattern: str = "*.md", description: str | None = None
) -> dg.SourceAsset:
    """An observable source asset in the line's seeds group. Its data version is the hash of the files under `folder` that match `pattern`.

    `folder` None: the line's own, among the seeds that the settings name. An edited rule makes every asset that depends on it stale, and nothing
    else. Observing an empty or absent folder raises InputError.
    """

    shown = description or f"Rule files of the line {line.name}."

    def version() -> dg.DataVersion:
        rules = folder or settings_module.load().seeds / "rules" / line.name
        paths = [path for path in rules.rglob(pattern) if path.is_file()]
        if not paths:
            raise InputError(f"no rule file in {rules}", wanted=f"at least one {pattern}", do="restore data_lake/seeds/rules/ (git checkout)")
        return dg.DataVersion(files_version(paths, rules))

    WATCHED[line.key(name)] = version
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # observable source assets are in beta in Dagster 1.13
        define = cast("Any", dg.observable_source_asset)  # pyright: ignore[reportUnknownMemberType]
        return define(name=name, key_prefix=line.name, group_name=line.seeds_group, description=shown)(version)


def observe_rules(context: dg.AssetExecutionContext, line: Line) -> None:
    """Note in Dagster which version of the line's rules is in force, as the opening asset of a cycle does.

    What judges by rules later in that run is then known to stand on that version. Without this, Dagster would know no version before somebody
    observes the rules by hand, and would call every cycle stale that is already there.
    """
    for key, version in WATCHED.items():
        if key.path[0] == line.name:
            context.log_event(dg.AssetObservation(asset_key=key, tags={"dagster/data_version": version().value}))
