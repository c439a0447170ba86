"""`evolake lake log`: finished cycles in MLflow, Weights & Biases and OpenTelemetry."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, LAKE
from evolake.errors import InputError
from evolake.terminal import say, say_json


@click.command("log", short_help="Write cycles to MLflow, W&B, OpenTelemetry.")
@click.argument("line", required=False)
@click.option("--again", is_flag=True, help="Write cycles that are there too, for a log that was lost.")
@LAKE
@AS_JSON
def log(line: str | None, again: bool, root: Path | None, as_json: bool) -> int:
    """Write the finished cycles of LINE, by default of every line, to the logs that EVOLAKE_LOGS__MLFLOW,
    EVOLAKE_LOGS__WANDB and EVOLAKE_LOGS__OTEL name (docs/traces.md), in the place of what they had.

    A cycle is left alone if a log has it with the same content. Exit code 1: a log could not be written.
    """
    from evolake.lake import Lake, lake_format
    from evolake.report.logs import DONE, log_cycles
    from evolake.report.status import known_line, lines_in_lake

    settings = settings_module.load()
    if not any(settings.logs.model_dump().values()):
        raise InputError(
            "no log is named", do="set EVOLAKE_LOGS__MLFLOW, EVOLAKE_LOGS__WANDB or EVOLAKE_LOGS__OTEL"
        )
    lake = Lake(root or settings.require_lake())
    lake_format.require(lake.root)
    names = [known_line(lake.root, line)] if line else lines_in_lake(lake.root)
    rows = [
        {"line": name, **row} for name in names for row in log_cycles(lake, name, settings.logs, again=again)
    ]
    failed = [row for row in rows if row["state"] != DONE]
    if as_json:
        shown = [{**row, "tried_at": row["tried_at"].isoformat()} for row in rows]
        say_json({"verdict": "failed" if failed else "logged", "cycles": shown})
    else:
        for row in failed:
            say(f"{row['line']} {row['cycle']} is not in {row['target']}: {row['reason']}")
        names = ", ".join(sorted({row["target"] for row in rows})) or "no log"
        say(f"{len(rows) - len(failed)} written to {names}")
    return 1 if failed else 0
