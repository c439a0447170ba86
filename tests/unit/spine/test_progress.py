"""What long stages say: how far they are, on a terminal and in a log, without a silence of more than the
interval between two looks."""

from __future__ import annotations

import io
import time

from rich.console import Console

from assets.progress import report, reported_to
from pipelines.events import Event, event_of
from pipelines.progress import Progress
from pipelines.watching import Watch


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


def test_how_far_a_step_is_keeps_the_time_since_the_step_began():
    progress, _ = in_a_log(0.05)
    progress.show(Event("toys", "step", "seeds", "faults"))
    before = progress._now["toys"]
    time.sleep(0.02)
    progress.show(Event("toys", "working", "seeds", "faults, class 2 of 39"))
    now = progress._now["toys"]
    assert before and now and now.since == before.since and now.at > before.at
    assert now.doing() == "faults, class 2 of 39, 0 s" and now.doing(60.0) == "faults, class 2 of 39"


def test_what_an_asset_reports_reaches_the_line_s_process_with_its_step():
    told: list[Event] = []
    watch = Watch("toys", "cycle 1 of 2", told.append, lambda done: None)
    watch._step = "candidates"
    with reported_to(watch.on_progress):
        report("class 3 of 39")
    report("nobody listens any more")
    assert told == [Event("toys", "working", "cycle 1 of 2", "candidates, class 3 of 39")]
    assert event_of(told[0].to_json()) == told[0]


def test_a_terminal_shows_for_how_long_a_step_is_at_work():
    out = io.StringIO()
    progress = Progress(Console(file=out, force_terminal=True, width=120), ["toys"])
    progress.show(Event("toys", "working", "seeds", "faults, class 3 of 39"))
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as shown:
        console.print(progress._table())
    assert "faults, class 3 of 39" in shown.get() and ", 0 s" not in shown.get()
