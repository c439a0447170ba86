"""Misreadings in varied prose (tests/families_misread): which ones the catalogue names, and that sound texts
are left alone."""

from __future__ import annotations

from typing import Any

import families_misread
import pytest

from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.static import Sample
from evolake.families.model.contract import Family
from evolake.families.readings.examining import examine
from evolake.families.sandbox.running import generate, solve
from evolake.families.settings import FamiliesSettings

SETTINGS = FamiliesSettings()

SILENT = {
    "dev": {"lift"},
    "fresh": {"repair"},
    "fresh2": set(),
    "fresh3": {"ladder", "reading", "password", "temperature", "border", "lots"},
    "fresh4": {"garden", "exclude", "coins", "queue", "candles"},
    "fresh5": {"swap", "bids", "pairs", "downstairs"},
    "held": {"books"},
}
"""Faults that nothing names. Gates block some of these, as docs/trust.md says."""


def remarks(family: Family, pool: Any) -> list[str]:
    instances = generate(
        family,
        pairs_of(SETTINGS.gate_difficulties, SETTINGS.sample_seeds, "sample"),
        pool=pool,
        caps=caps_of(SETTINGS),
    )
    answers = solve(family.validator, [item.inputs for item in instances], pool=pool, caps=caps_of(SETTINGS))
    assert {item.status for item in (*instances, *answers)} == {"ok"}
    return [
        place.remark()
        for place in examine(
            family, Sample(tuple(instances), tuple(answers), {}), pool=pool, settings=SETTINGS
        )
        if place.open
    ]


@pytest.mark.parametrize("name", SILENT)
def test_misreadings_of_the_set_are_named_but_these(name, pool):
    assert {family.name for family in families_misread.read(name) if not remarks(family, pool)} == SILENT[
        name
    ]


@pytest.mark.parametrize("name", families_misread.SOUND)
def test_no_sound_family_is_named(name, pool):
    named = {family.name: remarks(family, pool) for family in families_misread.read(name)}
    assert {family: said for family, said in named.items() if said} == {}
