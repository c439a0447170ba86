"""What loading the definitions costs, beside importing Dagster and Polars alone: fresh interpreters in turn,
one run.

    python benchmarks/import_time.py [--runs 15] [--json]

Counted is the cpu time (user and system) of each interpreter from start to exit, so that other work on the
machine matters little. The ratio is that of the medians; its spread is the middle half of the ratios of the
pairs that ran one after the other. The goal is at most 1.3.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import click
from bench import SHORT

ROOT = Path(__file__).parents[1]
WAYS = {
    "dagster and polars": "import dagster, polars",
    "pipelines.definitions": "import pipelines.definitions",
}
GOAL = 1.3


def cpu_ms(program: str) -> float:
    """Cpu time of a fresh interpreter that runs `program`, in milliseconds. It may write and read compiled
    files."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"`{program}` ended with exit code {child.returncode}")
    return 1e3 * (used.ru_utime + used.ru_stime)


@click.command()
@click.option(
    "--runs",
    default=2 if SHORT else 15,
    show_default=True,
    type=click.IntRange(min=2),
    help="Interpreters of each kind, after two (in the short form one) that do not count.",
)
@click.option("--json", "as_json", is_flag=True)
def main(runs: int, as_json: bool) -> None:
    """Print the medians, and their ratio with its spread."""
    for program in WAYS.values():
        for _ in range(1 if SHORT else 2):
            cpu_ms(program)
    pairs = [tuple(cpu_ms(program) for program in WAYS.values()) for _ in range(runs)]
    alone, definitions = (statistics.median(times) for times in zip(*pairs, strict=True))
    low, _, high = statistics.quantiles([after / before for before, after in pairs], n=4)
    ratio = definitions / alone
    verdict = "met" if ratio <= GOAL else "missed"
    if as_json:
        rows = dict(zip(WAYS, (alone, definitions), strict=True))
        click.echo(
            json.dumps(
                {
                    "verdict": verdict,
                    "goal": GOAL,
                    "ratio": ratio,
                    "spread": [low, high],
                    "cpu_ms": rows,
                    "runs": runs,
                }
            )
        )
        return
    click.echo(f"{'import':<24}{'cpu ms':>8}")
    for name, median in zip(WAYS, (alone, definitions), strict=True):
        click.echo(f"{name:<24}{median:>8.0f}")
    click.echo(
        f"ratio {ratio:.2f} (middle half of {runs} pairs: {low:.2f} to {high:.2f}); goal of at most "
        f"{GOAL}: {verdict}"
    )


if __name__ == "__main__":
    sys.exit(main())
