"""Where the search is, from what its champions achieved cycle by cycle.

The consensus itself cannot show it: it is relative to the designs of the day. The size a champion solves and
the steps it takes there can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Phase = Literal["exploring", "converging", "refining", "stuck", "breakthrough_needed"]

WINDOW = 3
FEWER_STEPS = 0.95


@dataclass(frozen=True)
class Progress:
    """What the champion of a cycle achieved. reach: largest size solved; steps: median steps at that size."""

    cycle: str
    reach: float
    steps: float


def phase_of(progress: Sequence[Progress]) -> Phase:
    """Return the phase after the last of `progress` (oldest first).

    exploring: at most three cycles so far. converging: the reach grew within the last three. refining: it did
    not, but the steps at that reach fell by 5% or more. stuck: neither, for three cycles.
    breakthrough_needed: neither, for six.
    """
    if len(progress) <= WINDOW:
        return "exploring"
    if reach_grew(progress, WINDOW):
        return "converging"
    if steps_fell(progress, WINDOW):
        return "refining"
    if (
        len(progress) > 2 * WINDOW
        and not reach_grew(progress, 2 * WINDOW)
        and not steps_fell(progress, 2 * WINDOW)
    ):
        return "breakthrough_needed"
    return "stuck"


def reach_grew(progress: Sequence[Progress], cycles: int) -> bool:
    """Return whether a champion of the last `cycles` solved a larger size than all before."""
    return max(entry.reach for entry in progress[-cycles:]) > max(entry.reach for entry in progress[:-cycles])


def steps_fell(progress: Sequence[Progress], cycles: int) -> bool:
    """Return whether at the largest reach the fewest steps of the last `cycles` are at least 5% below the
    fewest before."""
    reach = max(entry.reach for entry in progress)
    before = [entry.steps for entry in progress[:-cycles] if entry.reach == reach]
    lately = [entry.steps for entry in progress[-cycles:] if entry.reach == reach]
    return bool(before) and bool(lately) and min(lately) <= FEWER_STEPS * min(before)


def words_on_phase(phase: Phase, progress: Sequence[Progress], reach: Sequence[float] = ()) -> str:
    """Return one or two sentences on where the search is. reach: the largest size that each measured
    candidate solved, 0 for none."""
    if not progress and not len(reach):
        return "Nothing has been measured yet."
    if not progress:
        solved = (
            f"the largest size that one solved is N={max(reach):g}"
            if max(reach) > 0
            else "none solved any size"
        )
        return f"No cycle has decided on a champion yet; {len(reach)} were measured, and {solved}."
    best = min(progress, key=lambda entry: (-entry.reach, entry.steps))
    state = {
        "exploring": "The search has only begun.",
        "converging": "The largest solvable size is growing.",
        "refining": "The largest solvable size stands, but it is reached in fewer steps.",
        "stuck": f"No champion has improved for {WINDOW} cycles.",
        "breakthrough_needed": f"No champion has improved for {2 * WINDOW} cycles; more of the same will not do.",
    }[phase]
    return f"{state} Best so far: N={best.reach:g} in {best.steps:g} median steps (cycle {best.cycle})."
