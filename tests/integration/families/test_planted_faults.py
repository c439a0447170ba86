"""Every class of faults, planted automatically into sound families, is caught at the gate that is meant for it or before."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from families_fixtures import SEEDS, judged, seed_family

from evolake.families.faults.catalogue import FAULTS, NOBODY
from evolake.families.faults.injection import Planted, kill_rates, plant, plant_faults
from evolake.families.faults.unseen import UNSEEN
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.loading import read_families
from evolake.families.model.similarity import Fingerprint
from evolake.families.tables_faults import KILL_RATES, PLANTED, kill_rate_rows, planted_rows

FAMILIES = [seed_family(name) for name in ("clinic-queue", "remainder-subsets", "truth-tellers")]


@pytest.fixture(scope="module")
def fingerprints(pool) -> dict[str, Fingerprint]:
    found = {family.family_id: judged(family, pool).fingerprint for family in FAMILIES}
    return {family_id: fingerprint for family_id, fingerprint in found.items() if fingerprint is not None}


@pytest.mark.parametrize(("number", "name"), list(enumerate(FAULTS)), ids=list(FAULTS))
def test_a_planted_fault_is_caught_at_its_gate_or_before(number, name, pool, fingerprints):
    family = FAMILIES[number % len(FAMILIES)]
    row = plant(FAULTS[name], family, fingerprints, lambda one, known: judged(one, pool, known=known))
    assert (row.outcome, row.name) == ("caught", family.name)
    assert GATE_NAMES.index(row.gate) <= GATE_NAMES.index(FAULTS[name].expected), row.reason
    assert row.planted_id != family.family_id


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_can_be_planted_into_ten_families_at_least(name):
    seeds = read_families(SEEDS / "families")
    planted = set()
    for family in seeds:
        with contextlib.suppress(NotComposable):
            planted.add(FAULTS[name].plant(family).family_id)
    assert len(planted) >= 10
    assert not planted & {family.family_id for family in seeds}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_text_and_programs_have_wrong_together_is_seen_by_no_gate(name, pool, fingerprints):
    row = plant(UNSEEN[name], FAMILIES[0], fingerprints, lambda one, known: judged(one, pool, known=known))
    assert (row.outcome, row.expected) == ("survived", NOBODY)
    assert row.planted_id != FAMILIES[0].family_id


def test_rows_are_repeatable_typed_and_say_what_does_not_apply(pool, fingerprints):
    faults = [FAULTS["text and code of a rule differ"], FAULTS["memory bomb in the generator"]]
    families = [*FAMILIES[:2], replace(FAMILIES[2], points=())]

    def planted() -> list[Planted]:
        return plant_faults(
            families, fingerprints, lambda one, known: judged(one, pool, known=known), each=3, cycle="0001", root_seed=0, faults=faults
        )

    rows = planted()
    assert rows == planted()
    assert sorted(row.outcome for row in rows) == ["caught"] * 5 + ["does not apply"]
    first, second = kill_rates(rows)
    assert (first.planted, first.caught, first.does_not_apply, first.gates, first.rate) == (2, 2, 1, {"static": 2}, 1.0)
    assert (second.planted, second.caught, second.does_not_apply, second.gates, second.rate) == (3, 3, 0, {"execution": 3}, 1.0)
    for table, made in ((PLANTED, planted_rows(rows)), (KILL_RATES, kill_rate_rows([first, second]))):
        assert table.frame(made).height == len(made)
