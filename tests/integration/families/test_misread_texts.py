"""Misreadings in varied prose (tests/families_misread): which ones the catalogue names, and that sound texts
are left alone."""

import re
from dataclasses import replace
from typing import Any

import families_misread
import numpy as np
import pytest
from families_fixtures import RULES, operators, seed_family
from families_fixtures import judged_but_for_guesses as judged
from families_in_other_dress import DRESSED, FAULTY
from families_two_readings import CASES, faulty, good

from evolake.families.evolution.draft_feedback import measure_draft
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.sentences import probe_texts
from evolake.families.gates.specs import GATES
from evolake.families.gates.static import Sample
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.families.operators.joining import own_text
from evolake.families.operators.of_families import guard
from evolake.families.operators.registry import child_of
from evolake.families.readings.examining import CATALOGUE, examine
from evolake.families.readings.view import ReadingPlace
from evolake.families.sandbox.running import Caps, generate, solve
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


# Readings of a text that all programs of a family take the other way are named; families whose programs
# do what the text says are not.


UNHEARD = {"keys-ba"}
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
    assert silent == UNHEARD


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


# Text held against code: good families in another dress pass, and five faults on which every program of
# the family agrees are blocked.


PARENTS = [seed_family("clinic-queue"), seed_family("remainder-subsets")]


@pytest.mark.parametrize("name", DRESSED)
def test_a_good_family_in_another_dress_passes_every_gate(name, pool):
    examined = judged(DRESSED[name], pool)
    assert examined.blocked_by is None
    assert len(examined.results) == len(GATES)


@pytest.mark.parametrize("name", FAULTY)
def test_a_text_that_contradicts_every_program_is_blocked(name, pool):
    plant, rule = FAULTY[name]
    blocked = judged(plant(), pool).blocked_by
    assert blocked is not None
    assert (blocked.gate, blocked.rule_id) == ("sentences", rule), blocked.reason


def test_what_operators_say_is_read_word_by_word(pool):
    """Of a drawn world all words are; of a child those that its operator added."""
    world = child_of("process_world", [], np.random.default_rng(100))
    for family, parts in ((world, False), (child_of("pipe", PARENTS, np.random.default_rng(1)), True)):
        instances = generate(family, [(3, 1), (5, 2)], pool=pool)
        answers = solve(family.validator, [instance.inputs for instance in instances], pool=pool)
        probed = probe_texts(family, family.reader, instances, answers, pool=pool, caps=Caps(), short=Caps())
        own = own_text(stated(family))[1]
        assert probed.words > 60
        assert [item for item in probed.loose if item.replace("*", "") in own] == []
        assert bool(probed.loose) is parts


def test_a_reader_that_overlooks_what_the_operator_says_is_blocked(pool):
    child = guard([seed_family("remainder-subsets"), seed_family("truth-tellers")], np.random.default_rng(1))
    assert child.reader is not None and child.reader.count("\nSAID = ") == 1
    lenient = replace(child, reader=re.sub("\nSAID = .*\n", '\nSAID = r"Let . be[^\\\\n]*"\n', child.reader))
    assert lenient.reader != child.reader
    blocked = judged(lenient, pool).blocked_by
    assert blocked is not None and blocked.rule_id == "families-sentences-read"
    assert "what the operator says" in blocked.reason
