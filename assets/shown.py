"""Texts, numbers and figures for Dagster's log and pages.

Hidden characters are made visible: names and reasons come from candidates, and logs are read on terminals.
Numbers have at most four digits and a content hash its first twelve, so that no value is wider than its cell.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from evolake.visible import in_a_cell, visible

DIGITS = 4
SHA_DIGITS = 12
_SHA = re.compile(r"[0-9a-f]{64}")


def markdown(text: str) -> dg.MetadataValue:
    """Return Markdown as metadata. Terminals print it, too: `dagster asset materialize` logs what it
    stores."""
    return dg.MetadataValue.md(visible(text))


def in_brief(value: Any) -> Any:
    """Return a value of metadata as a page has room for it: a float to four digits, of a sha256 the first
    twelve, any other as it is."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if abs(value) < 10**DIGITS else round(value)
    return value[:SHA_DIGITS] if isinstance(value, str) and _SHA.fullmatch(value) else value


def table(columns: Mapping[str, str], rows: Sequence[Mapping[str, str | int]]) -> dg.MetadataValue:
    """Return rows as a table that the UI shows without a click. columns: name -> type, as in
    `dg.TableColumn`."""
    schema = dg.TableSchema([dg.TableColumn(name, kind) for name, kind in columns.items()])
    records = [
        dg.TableRecord(
            {name: in_a_cell(row[name]) if isinstance(row[name], str) else row[name] for name in columns}
        )
        for row in rows
    ]
    return dg.MetadataValue.table(records, schema)


def note(context: Any, text: str) -> None:
    """Write one line to the run's log. context: of an asset, a check or an op."""
    context.log.info(in_a_cell(text))


def warn(context: Any, text: str) -> None:
    """Write one line to the run's log as a warning."""
    context.log.warning(in_a_cell(text))


def shown(png: bytes, title: str) -> dg.MetadataValue:
    """Return a figure as metadata."""
    return markdown(f"![{title}](data:image/png;base64,{base64.b64encode(png).decode()})")


def figures_of(package: str, material: Any, asset: str) -> dict[str, dg.MetadataValue]:
    """Return the figures of a line that belong to an asset, as its metadata. package: the line's figures.
    material: what they are drawn from."""
    from evolake.report.figures import draw_figures

    return {title: shown(png, title) for title, png in draw_figures(package, material, asset).items()}
