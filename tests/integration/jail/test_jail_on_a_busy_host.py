"""A wall clock is a guard: a busy host is not taken for a candidate that sleeps, nor the other way round."""

import time
from contextlib import nullcontext

import pytest
from busy_host import busy_host

from evolake.errors import HostBusy
from evolake.jail import GENERIC_DRIVER, Limits, NativeRun, open_pool, patience, run_native, waiting
from evolake.jail.patience import patiently
from evolake.jail.waiting import Clock, Waiting

LIMITS = Limits(cpu_s=1, wall_s=2, stretch=1)
SLEEPS = "import time\ndef f():\n    time.sleep(60)\n"
SPINS = "def f():\n    while True:\n        pass\n"
SPINNING_PROGRAM = ["/bin/sh", "-c", "while :; do :; done"]
SLEPT = "still running after 2 s of wall clock, most of which it slept or waited"
BURNT = "used more than 1 s of processor time"
HOSTS = {"idle": nullcontext, "busy": busy_host}


@pytest.mark.parametrize("host", HOSTS)
def test_a_sleeping_candidate_is_blocked_with_its_reason_in_bounded_time(host):
    with HOSTS[host](), open_pool(1, ()) as pool:
        outcome = pool.call(GENERIC_DRIVER, SLEEPS, {"function": "f", "args": []}, Limits(cpu_s=1, wall_s=2))
    assert (outcome.status, outcome.reason, outcome.starved) == ("timeout", SLEPT, False)
    assert outcome.wall_s < 8


@pytest.mark.parametrize("host", HOSTS)
def test_a_candidate_that_computes_without_end_is_blocked_by_its_processor_time(host):
    with HOSTS[host](), open_pool(1, ()) as pool:
        outcome = pool.call(
            GENERIC_DRIVER, SPINS, {"function": "f", "args": []}, Limits(cpu_s=1, wall_s=2, stretch=20)
        )
    assert (outcome.status, outcome.reason, outcome.starved) == ("cpu", BURNT, False)


def test_a_candidate_that_the_host_does_not_run_is_called_starved():
    with busy_host(), open_pool(1, ()) as pool:
        candidate = pool.call(GENERIC_DRIVER, SPINS, {"function": "f", "args": []}, LIMITS)
        program = run_native(NativeRun(SPINNING_PROGRAM), limits=LIMITS)
    assert (candidate.status, candidate.starved) == ("timeout", True) and candidate.cpu_s < 1
    assert (program.status, program.starved) == ("timeout", True) and program.cpu_s < 1
    assert "the host was too busy" in candidate.reason and candidate.reason == program.reason


def test_waits_of_several_processes_of_a_program_count():
    busy_child = ["/bin/sh", "-c", "(while :; do :; done) & wait"]
    with busy_host():
        outcome = run_native(NativeRun(busy_child), limits=Limits(cpu_s=1, wall_s=2, stretch=1, processes=2))
    assert (outcome.status, outcome.starved) == ("timeout", True)


def test_a_starved_run_is_repeated_with_a_longer_limit_until_it_ends(monkeypatch):
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    tried: list[float] = []

    def run(stretch: float) -> float:
        tried.append(stretch)
        return stretch

    assert patiently(run, lambda result: result < 16, "it") == 16
    assert tried == [4, 8, 16]


def test_a_run_that_is_starved_in_every_try_is_nobodys_verdict(monkeypatch):
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    tried: list[float] = []
    with pytest.raises(HostBusy, match="the host was too busy to run it, so nothing was judged"):
        patiently(tried.append, lambda result: True, "it")
    assert len(tried) == patience.TRIES


def test_a_wait_for_a_quieter_host_ends(monkeypatch):
    monkeypatch.setattr(patience, "running", lambda: 1000)
    monkeypatch.setattr(patience, "QUIET_S", 0.1)
    monkeypatch.setattr(patience, "LOOK_S", 0.02)
    began = time.monotonic()
    patience.wait_for_quiet()
    assert time.monotonic() - began < 10


def test_a_clock_stops_while_its_run_waits_and_ends_at_the_most(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(waiting, "LATE_S", 1000.0)
    waits = Waiting()
    clock = Clock(10.0, 3.0, waits)
    assert clock.left_s() == waiting.LOOK_S
    now = 109.9
    assert clock.left_s() == pytest.approx(0.1)
    waits.seconds = 8.0
    now = 111.0
    assert clock.left_s() > 0 and clock.starved
    now = 118.5
    assert clock.left_s() == 0 and not clock.starved
    waits.seconds = 25.0
    now = 129.0
    assert clock.left_s() > 0
    now = 130.0
    assert clock.left_s() == 0 and clock.starved


def test_a_look_that_is_late_ends_no_run(monkeypatch):
    """Between any two readings of the clock, the host may keep the supervisor's thread."""
    now = 100.0

    def later() -> float:
        nonlocal now
        now += waiting.LOOK_S * 1.5
        return now

    monkeypatch.setattr(time, "monotonic", later)
    clock = Clock(900.0, 3.0, Waiting())
    assert all(clock.left_s() > 0 for _ in range(100))
    now += 4000.0
    assert clock.left_s() == 0


def test_a_host_that_stood_still_as_a_whole_ends_no_run(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = Clock(10.0, 100.0, Waiting())
    now = 400.0
    assert clock.left_s() > 0 and clock.waited_s == pytest.approx(300 - waiting.LATE_S)
