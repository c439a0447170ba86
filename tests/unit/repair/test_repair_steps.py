"""What the certifier decides follows from the steps of its solver; a clock only guards."""

from __future__ import annotations

import pytest
from busy_host import busy_host
from repair_cases import LIN_0127, market_split

from evolake.errors import HostBusy
from evolake.jail import patience
from evolake.repair import certifier as certify
from evolake.repair.certifier import Certifier
from evolake.repair.conflicts import certify_whole
from evolake.repair.problems import UNSAT, Claim, problem_of


def judged() -> list[tuple]:
    """Verdicts on problems that are too hard for the limit, and on an easy one."""
    certifier, hard = Certifier(timeout_ms=60), market_split()
    claim = Claim("sat", {item.name: 1 for item in hard.variables})
    found = [certifier.certify(hard, UNSAT), certify_whole(certifier, hard, claim)]
    found.append(certifier.certify(problem_of(LIN_0127), UNSAT))
    return [(item.verdict, item.core, item.values, item.reason) for item in found]


def test_a_busy_host_changes_no_verdict_and_no_core():
    with busy_host():
        busy = judged()
    idle = judged()
    assert busy == idle
    assert idle[0][0] == "unknown" and idle[0][3] == "the solver could not decide the problem in 60,000 steps"


def test_a_check_that_the_clock_ends_is_repeated_until_the_steps_decide(monkeypatch: pytest.MonkeyPatch):
    reference = judged()
    waits: list[None] = []
    monkeypatch.setattr(patience, "wait_for_quiet", lambda: waits.append(None))
    monkeypatch.setattr(certify, "GUARD", 0.02)
    monkeypatch.setattr(patience, "GROWTH", 100.0)
    assert judged() == reference
    assert waits, "the clock has to end a check, or nothing is tried here"


def test_a_check_that_the_clock_ends_every_time_is_no_verdict(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    monkeypatch.setattr(certify, "GUARD", 0.01)
    monkeypatch.setattr(patience, "GROWTH", 1.0)
    certifier = Certifier(timeout_ms=200)
    with pytest.raises(HostBusy, match="the certifying solver, so nothing was judged"):
        certifier.certify(market_split(), UNSAT)
    monkeypatch.undo()
    assert certifier.certify(problem_of(LIN_0127), UNSAT).verdict == "certified"
