"""Run again what a busy host cut off. A wall clock is a guard: whatever it cut is neither a result nor a
vote.

The jail ends a run by the clock for one of two reasons (see `waiting`). The run slept or waited on purpose:
then that is the candidate's failure. Or the host did not let it run for as long as it may: then nothing is
known of the candidate. Such a run is repeated when the host is quieter, each time with a longer limit, a
bounded number of times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evolake.errors import HostBusy
from evolake.jail.protocol import STRETCH, Call, NativeOutcome, Outcome
from evolake.jail.waiting import PROCESSORS

TRIES, GROWTH = 3, 2.0
"""How often a run is tried, and how many times as long each further try may last."""
QUIET_S, LOOK_S = 30.0, 0.5
"""Longest wait for a quieter host before a further try, and the time between two looks at the host."""
T = TypeVar("T")


def patiently(run: Callable[[float], T], starved: Callable[[T], bool], what: str) -> T:
    """Return the first result of `run` that the host did not cut off.

    Args:
        run: called with `Limits.stretch` of this try. starved: whether a result was cut off by the host.
        what: name of what is run, for the error.

    Raises:
        HostBusy: every try was cut off; nothing is known of the candidate.
    """
    stretch = STRETCH
    for number in range(TRIES):
        if number:
            wait_for_quiet()
        result = run(stretch)
        if not starved(result):
            return result
        stretch *= GROWTH
    raise HostBusy(
        f"the host was too busy to run {what}, so nothing was judged",
        wanted="a processor for as long as its limit",
        got=f"{TRIES} tries, the last {stretch / GROWTH:g} times as long as the limit",
        do="run again with fewer workers, or when the host is quieter",
    )


def starved(outcome: Outcome | NativeOutcome) -> bool:
    """Return whether the host cut a run off; for `patiently`."""
    return outcome.starved


def map_patiently(pool: Any, calls: Sequence[Call], what: str) -> list[Outcome]:
    """Return the outcomes of `pool.map(calls)`, of which those that the host cut off are repeated one by one.

    Raises:
        HostBusy: as `patiently`.
    """

    def again(call: Call, first: Outcome) -> Outcome:
        tried = [first]

        def run(stretch: float) -> Outcome:
            return (
                tried.pop()
                if tried
                else pool.run(replace(call, limits=replace(call.limits, stretch=stretch)))
            )

        return patiently(run, starved, what)

    return [again(call, outcome) for call, outcome in zip(calls, pool.map(calls), strict=True)]


def wait_for_quiet() -> None:
    """Return when no more processes want to run than the host has processors, or after `QUIET_S`."""
    until = time.monotonic() + QUIET_S
    while running() > PROCESSORS and time.monotonic() < until:
        time.sleep(LOOK_S)


def running() -> int:
    """Return how many threads of the host run or want to; 0 if the host does not say."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0
