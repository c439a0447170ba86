"""Evidence that comes with the seeds is used where all that it depends on is the same, and held to what gates
see here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from families_fixtures import RULES, judged, seed_family

from evolake.errors import InputError, MachineryError
from evolake.families.evolution.code_version import sources_behind
from evolake.families.evolution.records import gates_seen
from evolake.families.evolution.shipped_seeds import (
    CARRIERS,
    NOT_OF_GATES,
    ROOTS,
    FamilyEvidence,
    ShippedGates,
    drawn,
    entry_of,
    evidence_key,
    read_entries,
    write_entries,
)
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.specs import GATES
from evolake.families.model.contract import Family, as_json
from evolake.families.settings import FamiliesSettings
from evolake.gates import Ruleset
from evolake.lazy import Lazy

NAMES = ("bus-legs", "clinic-queue", "growing-words", "parking-fees")
FAMILIES = [seed_family(name) for name in NAMES]
SIZES = FamiliesSettings(checked_evidence=1)
PATH = Path("evidence.jsonl.xz")


@pytest.fixture(scope="module")
def seen(pool: Any) -> dict[str, FamilyResults]:
    """The families after their gates, each compared with those before it."""
    result: dict[str, FamilyResults] = {}
    for family in FAMILIES:
        result[family.name] = judged(
            family, pool, settings=SIZES, known=[item.fingerprint for item in result.values()]
        )
    return result


@pytest.fixture(scope="module")
def entries(seen: dict[str, FamilyResults]) -> dict[str, FamilyEvidence]:
    result = {evidence_key(family, SIZES, 0): entry_of(seen[family.name]) for family in FAMILIES}
    return {key: entry for key, entry in result.items() if entry}


def gates_with(
    entries: dict[str, FamilyEvidence],
    seen: dict[str, FamilyResults],
    expected: int = len(FAMILIES),
    ruleset: Ruleset = RULES,
):
    """The gates, and the names of the families that were taken through all of them."""
    asked: list[str] = []

    def examine(family: Family, known: Sequence[Any]) -> FamilyResults:
        asked.append(family.name)
        return seen[family.name]

    return ShippedGates(entries, PATH, examine, ruleset, SIZES, 0, "0000", "test", expected), asked


def judge_all(gates: ShippedGates, families: Sequence[Family] = FAMILIES) -> list[Any]:
    known: list[Any] = []
    result = []
    for family in families:
        result.append(gates.judge(family, known))
        known += [result[-1][0].fingerprint] if result[-1][0].accepted else []
    return result


def test_shipped_evidence_is_what_the_gates_would_have_stored_and_a_drawn_family_is_looked_at_again(
    entries, seen
):
    gates, asked = gates_with(entries, seen)
    assert [(as_json(given), result.accepted, result.fingerprint) for result, given in judge_all(gates)] == [
        (as_json(gates_seen(item)), True, item.fingerprint) for item in seen.values()
    ]
    assert asked == [NAMES[place] for place in drawn(len(NAMES), 1, 0, "seeds")]
    assert gates.describe() == "4 shipped (1 re-verified here), 0 made"


def test_other_evidence_than_the_gates_see_is_an_error_that_names_the_file(entries, seen):
    name = NAMES[next(iter(drawn(len(NAMES), 1, 0, "seeds")))]
    key = evidence_key(seed_family(name), SIZES, 0)
    execution = {"evidence": {**entries[key].gates["execution"]["evidence"], "instances": []}, "rows": []}
    spoilt = {**entries, key: replace(entries[key], gates={**entries[key].gates, "execution": execution})}
    gates, _ = gates_with(spoilt, seen)
    with pytest.raises(
        MachineryError, match=rf"the shipped evidence of the family '{name}'(.|\n)*{PATH}(.|\n)*'execution'"
    ):
        judge_all(gates)


def test_rules_judge_shipped_evidence_as_they_are_now(entries, seen):
    rule = next(rule for rule in RULES.rules if rule.id == "families-blind")
    strict = replace(rule, parameters={**rule.parameters, "least_matches": 99})
    ruleset = replace(RULES, rules=tuple(strict if item is rule else item for item in RULES.rules))
    gates, asked = gates_with(entries, seen, 0, ruleset)
    outcome = [gates.judge(family, []) for family in FAMILIES]
    blocked = [(item.accepted, item.blocked_by.rule_id if item.blocked_by else None) for item, _ in outcome]
    assert blocked == [(False, "families-blind")] * len(FAMILIES)
    assert asked == []


def test_the_file_gives_back_what_was_written_and_a_damaged_one_is_told(entries, tmp_path: Path):
    path = tmp_path / "evidence" / "families.jsonl.xz"
    assert read_entries(path) == {}
    write_entries(entries, path)
    assert read_entries(path) == entries
    before = path.read_bytes()
    write_entries(dict(reversed(entries.items())), path)
    assert path.read_bytes() == before
    path.write_bytes(before[:-20])
    with pytest.raises(InputError, match="the shipped evidence .* cannot be read"):
        read_entries(path)


def test_a_key_covers_the_code_of_the_gates_and_every_setting_but_those_that_no_gate_reads():
    behind = sources_behind(ROOTS, CARRIERS)
    assert {gate.collect.module for gate in GATES if isinstance(gate.collect, Lazy)} <= behind.keys()
    assert {
        "evolake.families.gates.blind",
        "evolake.families.sandbox.driver",
        "evolake.answers.reading",
        "evolake.seeds",
    } <= behind.keys()
    assert set(FamiliesSettings.model_fields) >= NOT_OF_GATES
    read = {
        name
        for text in behind.values()
        for name in FamiliesSettings.model_fields
        if f"settings.{name}" in text
    }
    assert read and not read & NOT_OF_GATES
