"""What an event of Dagster costs while its files stay open, and while they do not: two runs of one op in
turn, side by side.

    python benchmarks/events.py [--events 300] [--runs 5] [--json]

Counted is the time of a run on the wall, by what waits for the disk, and its cpu time, each divided by the
events it wrote.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path

import click
import dagster as dg

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipelines.event_files import kept_open

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
WAYS = {"opened for each event": False, "kept open": True}


def one_run(folder: Path, events: int, *, keep: bool) -> tuple[float, float]:
    """(milliseconds, cpu milliseconds) an event, of a run in a home of its own under `folder`."""

    @dg.op
    def speaks(context) -> None:  # pyright: ignore[reportMissingParameterType]
        for number in range(events):
            context.log.info(f"line {number}")

    @dg.job
    def speaking() -> None:
        speaks()

    run_id = str(uuid.uuid4())
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        began, used = time.perf_counter(), time.process_time()
        with kept_open(instance, run_id) if keep else contextlib.nullcontext():
            speaking.execute_in_process(instance=instance, run_id=run_id, run_config=QUIET)
        took = time.perf_counter() - began, time.process_time() - used
        written = len(instance.all_logs(run_id))
    return 1e3 * took[0] / written, 1e3 * took[1] / written


@click.command()
@click.option(
    "--events",
    default=300,
    show_default=True,
    type=click.IntRange(min=1),
    help="Lines that a run writes, beside Dagster's own.",
)
@click.option(
    "--runs",
    default=5,
    show_default=True,
    type=click.IntRange(min=3),
    help="Runs of each way, after one that does not count.",
)
@click.option("--json", "as_json", is_flag=True)
def main(events: int, runs: int, as_json: bool) -> None:
    """Print the medians and their ratio."""
    result: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs + 1):
            for name, keep in WAYS.items():
                place = Path(folder) / f"{number}-{keep}"
                place.mkdir()
                result[name].append(one_run(place, events, keep=keep))
    medians = {
        name: [statistics.median(column) for column in zip(*times[1:], strict=True)]
        for name, times in result.items()
    }
    before, after = medians.values()
    ratio = before[0] / after[0]
    if as_json:
        click.echo(
            json.dumps(
                {
                    "ms_an_event": {name: median[0] for name, median in medians.items()},
                    "ratio": ratio,
                    "runs": runs,
                }
            )
        )
        return
    click.echo(f"{'files':<24}{'ms an event':>12}{'cpu ms':>8}")
    for name, (took, used) in medians.items():
        click.echo(f"{name:<24}{took:>12.2f}{used:>8.2f}")
    click.echo(f"{ratio:.1f} times as fast (medians of {runs} runs of {events} lines)")


if __name__ == "__main__":
    sys.exit(main())
