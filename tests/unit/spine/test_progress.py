"""What long stages say: how far they are, on a terminal and in a log, without a silence of more than the
interval between two looks."""

from __future__ import annotations

import io
import time

from rich.console import Console

from pipelines.events import Event
from pipelines.progress import Progress


def in_a_log(every_s: float) -> tuple[Progress, io.StringIO]:
    out = io.StringIO()
    return Progress(Console(file=out, width=200), ["toys", "idle"], every_s=every_s), out


def until(out: io.StringIO, text: str, seconds: float = 20.0) -> str:
    """What was printed once `text` is in it."""
    end = time.monotonic() + seconds
    while text not in out.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    return out.getvalue()


def test_in_a_log_a_line_that_prints_nothing_says_what_it_does_and_how_far_it_is():
    progress, out = in_a_log(0.05)
    with progress:
        progress.show(Event("toys", "began", "cycle 1 of 2"))
        progress.show(Event("toys", "step", "cycle 1 of 2", "candidates"))
        assert "toys: cycle 1 of 2, candidates, 0 s" in until(out, "candidates, 0 s")
        progress.show(Event("toys", "working", "cycle 1 of 2", "candidates, class 3 of 39: loops"))
        assert "toys: cycle 1 of 2, candidates, class 3 of 39: loops, 0 s" in until(out, "loops, 0 s")
    ended = out.getvalue()
    time.sleep(0.2)
    assert out.getvalue() == ended and "idle" not in ended


def test_a_line_that_has_ended_or_printed_lately_says_nothing_more():
    progress, out = in_a_log(60.0)
    with progress:
        progress.show(Event("toys", "began", "seeds"))
        progress.show(Event("toys", "step", "seeds", "seeds"))
        progress.show(Event("toys", "ended", "seeds", seconds=3.0))
        progress.show(Event("toys", "stopped"))
        time.sleep(0.1)
    assert out.getvalue().splitlines() == ["toys: seeds (estimating the time left)", "toys: seeds in 3 s"]


def test_the_end_of_a_long_asset_is_printed_at_once_and_nothing_before_it():
    progress, out = in_a_log(60.0)
    with progress:
        progress.show(Event("toys", "began", "cycle 1 of 1"))
        for done in (1, 2):
            progress.show(
                Event("toys", "working", "cycle 1 of 1", f"wheels, turn {done} of 2: best 1.{done}")
            )
        progress.show(Event("toys", "working", "cycle 1 of 1", "wheels, turn 1 of 12"))
    assert out.getvalue().splitlines()[1:] == ["toys: cycle 1 of 1, wheels, turn 2 of 2: best 1.2"]
