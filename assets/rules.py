"""Rules as Dagster sees them: files that people edit, observed and never computed.

What makes an asset stale after an edit is its code version: it holds the hash of the rules of the gates that
the asset asks (`assets.package`). So an observation has no data version, which would make stale every asset
with an edge from the rules, whichever rule was edited. It shows the hash of all rules, and the log of an
observation says since when they are in force.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import dagster as dg

from assets.line import Line, loaded_rules
from assets.package import SUFFIX_DIGITS
from evolake.errors import InputError

LOADED = "EVOLAKE_RULES_LOADED"
"""Variable of a process that has loaded the definitions, and of the runs that it starts: JSON of folder of
rules -> what its rules add to a code version."""
HASH = "rules_hash"
"""Metadata of an observation: hash of all rules of the line that judge."""


def rules_asset(line: Line) -> dg.SourceAsset:
    """Return an observable source asset in the line's seeds group: its rule files, with the hash of those
    that judge in each observation's metadata.

    Observing an empty or absent folder raises InputError.
    """

    def observe() -> dg.ObserveResult:
        return dg.ObserveResult(metadata={HASH: line.rules_hash()})

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


def observation(line: Line) -> dg.AssetObservation:
    """Return the observation of a line's rules as the files are now. Raises InputError for a bad file."""
    return dg.AssetObservation(asset_key=line.key("rules"), metadata={HASH: line.rules_hash()})


def observe_rules(context: dg.AssetExecutionContext, line: Line) -> None:
    """Log in Dagster which rules of the line are in force, as the opening asset of a cycle does. A line
    without rule files has none."""
    if line.rules_folder.is_dir():
        context.log_event(observation(line))


def note_loaded(lines: Sequence[Line]) -> None:
    """Note by which rules the definitions were loaded, if the process that started this one has not."""
    versions = {str(loaded_rules(line)[0]): line.rules_version(None) for line in lines}
    os.environ.setdefault(LOADED, json.dumps(versions))


def require_loaded(folder: Path, ruleset_hash: str) -> None:
    """Check rules that are about to judge against those that the code server, or the command, has loaded.
    Others would make assets whose code version, and so what the UI marks as stale, is of another edition.

    Raises:
        InputError: they were edited after that.
    """
    loaded = json.loads(os.environ.get(LOADED, "{}")).get(str(folder))
    if loaded not in (None, f"+{ruleset_hash[:SUFFIX_DIGITS]}"):
        raise InputError(
            f"the rules of {folder.name} were edited after the definitions were loaded: no judging yet",
            wanted=f"the rules that were loaded: {loaded.strip('+') or 'none that can be read'}",
            got=ruleset_hash[:SUFFIX_DIGITS],
            do="choose Reload definitions (or restart the code server), then start the run again",
        )
