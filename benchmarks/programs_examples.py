"""What operators alone make of an example of `examples/programs`, against the clock.

    python benchmarks/programs_examples.py circle_packing | function_minimization | matrix_kernel [--minutes 10] [--cycles N] [--lake DIR]

Cycles of the line in a lake of their own, one after another, as long as one more like the longest so far ends
within the minutes. Printed after each: the champion's mean under held-out seeds, the initial program's under
the same seeds, the noise floor, seconds on the clock since the beginning. With nothing else running: the
score of `matrix_kernel` is processor time.
"""  # noqa: E501

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import click

from evolake import evolve
from evolake.lake import Lake

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "programs"
SIZES = {
    "circle_packing": {"generations_per_cycle": 6, "candidates_per_generation": 12},
    "function_minimization": {"generations_per_cycle": 6, "candidates_per_generation": 12},
    "matrix_kernel": {"generations_per_cycle": 4, "candidates_per_generation": 8},
}


@click.command()
@click.argument("name", type=click.Choice(sorted(SIZES)))
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--cycles", default=20, show_default=True, help="At most.")
@click.option(
    "--lake",
    type=click.Path(path_type=Path),
    help="Missing or made by this command; default: a new temporary folder, which is kept.",
)
def main(name: str, minutes: float, cycles: int, lake: Path | None) -> None:
    """Run cycles and print what they came to."""
    folder = lake or Path(tempfile.mkdtemp(prefix="evolake-examples-"))
    begun, longest, usage = time.monotonic(), 0.0, os.times()
    print(f"lake: {folder}")
    for _ in range(cycles):
        start = time.monotonic()
        if start + longest > begun + 60 * minutes:
            break
        evolve(EXAMPLES / name, lake=folder, cycles=1, profile="laptop", **SIZES[name])
        longest = max(longest, time.monotonic() - start)
        print(f"{describe(Lake(folder), name)}; {time.monotonic() - begun:.0f} s", flush=True)
    spent = os.times()
    seconds = spent.children_user + spent.children_system - usage.children_user - usage.children_system
    print(f"{time.monotonic() - begun:.0f} s on the clock, {seconds:.0f} s of processor time")


def describe(lake: Lake, name: str) -> str:
    """Return a line on the newest cycle."""
    cycle = lake.cycles("programs", "champion")[-1]
    [row] = [row for row in lake.read("programs", "champion", cycle).to_dicts() if row["project"] == name]
    judged = lake.read("programs", "candidates", cycle)
    gain = row["holder_mean"] - row["initial_mean"]
    spread = f"95% {row['holder_low']:.4g} to {row['holder_high']:.4g}"
    title = "a new champion" if row["wins"] else "the champion stays"
    change = f"{row['initial_mean']:.4g} -> {row['holder_mean']:.4g} ({spread}), by {gain:.4g}"
    return f"cycle {cycle}: {change}, noise floor {row['noise']:.2g}; {title}; {len(judged)} candidates"


if __name__ == "__main__":
    main()
