"""Readings of a text that all programs of a family take the other way are named; families whose programs do
what the text says are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from families_fixtures import RULES, operators, seed_family
from families_two_readings import CASES, faulty, good

from evolake.families.evolution.draft_feedback import measure_draft
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.static import Sample
from evolake.families.model.contract import Family
from evolake.families.readings.examining import CATALOGUE, examine
from evolake.families.readings.view import ReadingPlace
from evolake.families.sandbox.running import generate, solve
from evolake.families.settings import FamiliesSettings

SETTINGS = FamiliesSettings()
SILENT = {"keys-ba"}
"""The one fault of the set that nothing sees: "can" for "cannot", where the programs could deny either."""


def found(family: Family, pool: Any) -> list[ReadingPlace]:
    instances = generate(
        family,
        pairs_of(SETTINGS.gate_difficulties, SETTINGS.sample_seeds, "sample"),
        pool=pool,
        caps=caps_of(SETTINGS),
    )
    answers = solve(family.validator, [item.inputs for item in instances], pool=pool, caps=caps_of(SETTINGS))
    assert {item.status for item in (*instances, *answers)} == {"ok"}
    return examine(family, Sample(tuple(instances), tuple(answers), {}), pool=pool, settings=SETTINGS)


def test_every_misreading_of_the_set_is_named_but_one(pool):
    silent = {family.name for family in faulty() if not any(place.open for place in found(family, pool))}
    assert silent == SILENT


def test_no_good_family_is_named(pool):
    named = {
        family.name: [place.remark() for place in found(family, pool) if place.open] for family in good()
    }
    assert {name: remarks for name, remarks in named.items() if remarks} == {}


def test_a_border_that_no_sentence_fixes_is_ambiguous_with_its_count(pool):
    case = next(case for case in CASES if case.name == "vintage")
    clear = case.family(0, 0)
    vague = replace(clear, template=clear.template.replace(", both years included", ""))
    remarks = [place.remark() for place in found(vague, pool) if place.open]
    assert len(remarks) == 2 and all(
        item.startswith("ambiguous: whether a border is inclusive or not decides ") for item in remarks
    )
    assert "of 40 instances, and no sentence says which" in remarks[0]


def test_the_catalogue_has_at_least_twenty_readings_and_says_nothing_of_a_text_that_is_not_english(pool):
    assert len({reading.name for reading in CATALOGUE}) == len(CATALOGUE) >= 20
    assert found(replace(seed_family("clinic-queue"), language="zh"), pool) == []


def test_a_draft_that_misreads_its_own_text_is_told_so_before_anybody_is_asked(pool):
    case = next(case for case in CASES if case.name == "pumpkins")
    gates = FamilyGates(pool, operators(), RULES, SETTINGS, "0001", "test")
    faults = {text: measure_draft(case.family(text, 1), gates, []).faults for text in (0, 1)}
    assert [fault for fault in faults[1] if fault.startswith("readings: ")] == []
    assert [fault for fault in faults[0] if fault.startswith("readings: ")] == [
        "readings: who goes first among equals: the text says 'the first', the programs do 'the last': "
        "'Should two or more weigh equally much, the prize goes to the gardener who came earliest.'"
    ]
