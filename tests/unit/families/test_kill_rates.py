"""Kill rates from rows, their table and their figure."""

from __future__ import annotations

import math
from dataclasses import replace

from evolake.families.faults.injection import KillRate, Planted, kill_rates, short_caps
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import KILL_RATES
from evolake.families.tables_faults import figure_of, kill_rate_rows
from evolake.plots import FaultKills
from evolake.plots import kill_rates as figure
from evolake.stats.proportions import wilson_interval


def bounds(caught: int, planted: int) -> tuple[float, float]:
    result = wilson_interval(caught, planted)
    return result.low, result.high


def row(fault: str, outcome: str, gate: str = "", number: int = 0) -> Planted:
    return Planted(fault, "blind", f"family {number}", "name", "planted", outcome, gate, "", "")


ROWS = [
    row("a", "caught", "blind"),
    row("a", "survived", number=1),
    row("a", "caught", "static", 2),
    row("a", "does not apply", number=3),
    row("b", "does not apply"),
    row("c", "survived"),
]


def test_what_does_not_apply_is_no_survival():
    result = kill_rates(ROWS)
    assert result[0] == KillRate("a", "blind", 3, 2, 1, {"blind": 1, "static": 1})
    assert result[0].rate == 2 / 3
    assert (result[1].planted, result[1].does_not_apply, math.isnan(result[1].rate)) == (0, 1, True)
    assert (result[2].planted, result[2].caught, result[2].rate) == (1, 0, 0.0)


def test_a_class_that_nothing_caught_keeps_a_row():
    frame = KILL_RATES.frame(kill_rate_rows(kill_rates(ROWS)))
    assert frame.select("fault", "gate", "caught_here", "caught", "rate").rows() == [
        ("a", "blind", 1, 2, 2 / 3),
        ("a", "static", 1, 2, 2 / 3),
        ("b", "", 0, 0, None),
        ("c", "", 0, 0, 0.0),
    ]


def test_the_figure_is_the_same_bytes_again_and_says_when_there_is_nothing():
    classes = [FaultKills(rate.fault, rate.planted, rate.gates) for rate in kill_rates(ROWS)]
    drawn = figure(classes, GATE_NAMES, "Faults")
    assert drawn == figure(classes, GATE_NAMES, "Faults")
    assert drawn.startswith(b"\x89PNG")
    rows = kill_rate_rows(kill_rates(ROWS))
    shares = {rate.fault: (rate.caught, rate.planted) for rate in kill_rates(ROWS) if rate.planted}
    sure = [
        replace(item, interval=bounds(*shares[item.fault])) if item.fault in shares else item
        for item in classes
    ]
    assert (
        figure_of(KILL_RATES.frame(rows))
        == figure(sure, GATE_NAMES, "Planted faults and the gates that catch them")
        != drawn
    )
    assert drawn != figure(classes[:1], GATE_NAMES, "Faults") != figure([], GATE_NAMES, "Faults")


def test_caps_for_planted_faults_are_short_and_never_longer_than_those_of_the_settings():
    settings = FamiliesSettings(instance_cpu_s=2.0, call_cpu_s=1.0)
    assert short_caps(settings) == settings.model_copy(update={"instance_cpu_s": 0.5})
