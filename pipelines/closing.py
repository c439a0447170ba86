"""What `evolake run` says last: plain sentences, one per line of the screen, gathered once all lines have
stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake import settings as settings_module
from evolake.lake import Lake


def closing_lines(lake: Lake, sealed: Mapping[str, Sequence[str]], runs: Sequence[str]) -> list[str]:
    """Return the last sentences of a run.

    Args:
        lake: as the run left it.
        sealed: line -> cycles that this run sealed, in order.
        runs: ids of all runs that it made, the failed ones too: what rows of the lake name as their `run_id`.
    """
    return [*_cycles(sealed), _spent(lake, sealed, runs)]


def _cycles(sealed: Mapping[str, Sequence[str]]) -> list[str]:
    """How far each line came, in one sentence; none if no cycle was sealed."""
    parts = [
        f"{line} {cycles[0]}" + (f" to {cycles[-1]}" if len(cycles) > 1 else "")
        for line, cycles in sealed.items()
        if cycles
    ]
    return (
        [f"sealed: {', '.join(parts)}; next: evolake status, or evolake report --out report.html"]
        if parts
        else []
    )


def _spent(lake: Lake, sealed: Mapping[str, Sequence[str]], runs: Sequence[str]) -> str:
    """Return what was asked of a model, what it took and what the budget leaves, with the cycle that each
    line stopped in."""
    from evolake.agents.budget import spent_sentence

    cycles = {line: sorted({*done, *lake.seals.cycles(line)[-1:]}) for line, done in sealed.items()}
    return spent_sentence(settings_module.load(), lake.root, cycles, runs)
