"""`evolake run --dry-run`: what a cycle will cost, as a table."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from evolake.agents.forecast import LineForecast, RoleForecast, forecasts, total_of
from evolake.settings import Settings
from evolake.terminal import columns_text, say, say_json, say_text

HEADS = (
    "line",
    "role",
    "calls at most",
    "probably",
    "tokens at most",
    "probably ",
    "usd at most",
    "probably  ",
)
"""Spaces tell columns of one name apart."""
WIDTH = 140
"""Characters of a line if the output is no terminal."""
OPERATORS = "No model is called: operators make everything, and cost processor time alone."
NOTE = """
A cycle of each line. Tokens are estimates; a budget (EVOLAKE_BUDGET__...) is a limit. A call is one reply, a repair or a turn of a session
included; tries that the endpoint lost are not counted. Nothing was started."""  # noqa: E501


def dry_run(settings: Settings, names: Sequence[str], *, as_json: bool) -> int:
    """Print the forecast of the next cycle of each line.

    Raises:
        InputError: there is no such line, or no lake is named. CorruptPart, LakeError: the lake's calls
            cannot be read.
    """
    lake = settings.require_lake()
    of_lines = forecasts(settings, lake, names)
    asking = [item for item in of_lines if item.rows]
    total = total_of([item.total for item in asking])
    if as_json:
        whole = {name: value for name, value in vars(total).items() if name not in ("role", "model")}
        say_json(
            {
                "verdict": "forecast",
                "backend": settings.backend,
                "lines": [item.to_json() for item in of_lines],
                "total": whole,
            }
        )
        return 0
    if not asking:
        say(OPERATORS if settings.backend == "operators" else "No model is called by these lines.")
        return 0
    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    rows = [_cells(item.line, row) for item in asking for row in (*item.rows, item.total)]
    if len(asking) > 1:
        rows.append(_cells("all", total))
    say_text(columns_text(HEADS, rows, width, numbers=HEADS[2:], whole=HEADS[:2]))
    for item in of_lines:
        if item.rows:
            part = f"cycle {item.cycle}" if item.cycle else "the whole study"
            say(f"{item.line}, {part}: {item.stops}; probable by {_source(item)}")
        else:
            say(f"{item.line}: {item.stops}")
    say_text(NOTE)
    return 0


def _cells(line: str, row: RoleForecast) -> tuple[str, ...]:
    calls = f"{row.calls_most:,}", f"{row.calls_likely:,.1f}".removesuffix(".0")
    return (
        line,
        row.role,
        *calls,
        f"{row.tokens_most:,}",
        f"{row.tokens_likely:,}",
        _usd_text(row.usd_most),
        _usd_text(row.usd_likely),
    )


def _usd_text(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}"


def _source(item: LineForecast) -> str:
    if not item.cycles:
        return "the settings and the sizes of the prompts"
    named = item.cycles[0] if len(item.cycles) == 1 else f"{item.cycles[0]} to {item.cycles[-1]}"
    return f"the calls of cycle{'s' if len(item.cycles) > 1 else ''} {named}"
