"""Kill rates from rows, their table and their figure."""

from __future__ import annotations

import math
from dataclasses import replace

from evolake.families.faults.injection import KillRate, Planted, kill_rates, short_caps
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.settings import FamiliesSettings
from evolake.families.tables_faults import KILL_RATES, figure_of, kill_rate_rows
from evolake.plots import FaultKills
from evolake.plots import kill_rates as figure
from evolake.stats.proportions import wilson_interval


def bounds(caught: int, planted: int) -> tuple[float, float]:
    found = wilson_interval(caught, planted)
    return found.low, found.high


def row(fault: str, outcome: str, gate: str = "", number: int = 0) -> Planted:
    return Planted(fault, "blind", f"family {number}", "name", "planted", outcome, gate, "", "")


ROWS = [
    row("a", "caught", "blind"), row("a", "survived", number=1), row("a", "caught", "static", 2), row("a", "does not apply", number=3),
    row("b", "does not apply"), row("c", "survived"),
]


def test_what_does_not_apply_is_no_survival():
    found = kill_rates(ROWS)
    assert found[0] == KillRate("a", "blind", 3, 2, 1, {"blind": 1, "static": 1})
    assert found[0].rate == 2 / 3
    assert (found[1].planted, found[1].does_not_apply, math.isnan(found[1].rate)) == (0, 1, True)
    assert (found[2].planted, found[2].caught, found[2].rate) == (1, 0, 0.0)


def test_a_class_that_nothing_caught_keeps_a_row():
    frame = KILL_RATES.frame(kill_rate_rows(kill_rates(ROWS)))
    assert frame.select("fault", "gate", "caught_here", "caught", "rate").rows() == [
        ("a", "blind", 1, 2, 2 / 3), ("a", "static", 1, 2, 2 / 3), ("b", "", 0, 0, None), ("c", "", 0, 0, 0.0),
    ]


def test_the_figure_is_the_same_bytes_again_and_says_when_there_is_nothing():
    classes = [FaultKills(one.fault, one.planted, one.gates) for one in kill_rates(ROWS)]
    drawn = figure(classes, GATE_NAMES, "Faults")
    assert drawn == figure(classes, GATE_NAMES, "Faults")
    assert drawn.startswith(b"\x89PNG")
    rows = kill_rate_rows(kill_rates(ROWS))
    shares = {one.fault: (one.caught, one.planted) for one in kill_rates(ROWS) if one.planted}
    sure = [replace(one, interval=bounds(*shares[one.fault])) if one.fault in shares else one for one in classes]
    assert figure_of(KILL_RATES.frame(rows)) == figure(sure, GATE_NAMES, "Planted faults and the gates that catch them") != drawn
    assert drawn != figure(classes[:1], GATE_NAMES, "Faults") != figure([], GATE_NAMES, "Faults")


def test_caps_for_planted_faults_are_short_and_never_longer_than_those_of_the_settings():
    settings = FamiliesSettings(instance_cpu_s=2.0, call_cpu_s=1.0)
    assert short_caps(settings) == settings.model_copy(update={"instance_cpu_s": 0.5})
