"""Turns between lines that run side by side: who has the machine alone, who shares it, and whose head start
they wait for."""

from __future__ import annotations

import fcntl
from pathlib import Path
from threading import Thread

import dagster as dg

from assets.line import MEASURES_TIME
from pipelines.events import SEEDS, Event, HeadStart, Turns
from pipelines.one_line import measuring

FIRST = [Event("designs", "began", SEEDS), Event("designs", "ended", SEEDS)]


def held(folder: Path, lock: str) -> bool:
    """Whether somebody keeps others from the lock."""
    with (folder / f"{lock}.lock").open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_steps_share_the_machine_and_one_that_measures_time_has_it_alone(tmp_path):
    sharing, also, alone = Turns(tmp_path), Turns(tmp_path), Turns(tmp_path)
    sharing.enter(alone=False)
    also.enter(alone=False)
    assert not held(tmp_path, "room")
    sharing.leave()
    also.leave()
    alone.enter(alone=True)
    assert held(tmp_path, "room")
    alone.leave()
    assert not held(tmp_path, "room")


def test_during_a_head_start_steps_that_share_the_machine_go_on_and_one_that_measures_time_begins_after_it(
    tmp_path,
):
    start, sharing, alone = HeadStart(tmp_path, "designs"), Turns(tmp_path), Turns(tmp_path)
    start.tell(FIRST[0])
    order: list[str] = []

    def measure() -> None:
        alone.enter(alone=True)
        order.append("measures")
        alone.leave()

    waiting = Thread(target=measure)
    waiting.start()
    for _ in range(3):
        sharing.enter(alone=False)
        order.append("shares")
        sharing.leave()
    start.tell(Event("designs", "stopped"))
    waiting.join()
    assert order == ["shares"] * 3 + ["measures"]


def test_the_stages_that_measure_time_are_those_whose_assets_say_so():
    @dg.asset(key=["solvers", "champion"], metadata={MEASURES_TIME: True})
    def champion() -> None: ...

    @dg.asset(key=["solvers", "metrics"])
    def metrics() -> None: ...

    definitions = dg.Definitions([champion, metrics])
    assert measuring(definitions, "solvers") == {"solvers__champion"}
    assert measuring(definitions, "designs") == set()
