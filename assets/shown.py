"""Texts for Dagster's log and pages, with hidden characters made visible: names and reasons come from candidates, and logs are read on terminals."""

from __future__ import annotations

from typing import Any

import dagster as dg

from evolake.visible import in_a_cell, visible


def markdown(text: str) -> dg.MetadataValue:
    """Return Markdown as metadata. Terminals print it, too: `dagster asset materialize` logs what it stores."""
    return dg.MetadataValue.md(visible(text))


def note(context: Any, text: str) -> None:
    """Write one line to the run's log. context: of an asset, a check or an op."""
    context.log.info(in_a_cell(text))


def warn(context: Any, text: str) -> None:
    """Write one line to the run's log as a warning."""
    context.log.warning(in_a_cell(text))
