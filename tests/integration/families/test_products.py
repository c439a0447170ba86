"""Instances, drift and stored evidence with the real jail: labels by majority, drops that are counted,
verdicts without a run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from families_fixtures import RULES, SETTINGS, judged, seed_family
from loopback_model import KEY, LoopbackModel, serve
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.errors import InputError, MachineryError
from evolake.families.evolution.cycle_measures import drift_summary, measure_pair
from evolake.families.evolution.records import candidate_row, gates_seen, vote_rows
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
    sources_behind,
    write_entries,
)
from evolake.families.evolution.stages import Further, replay_gate
from evolake.families.gates.instances import sample_families, sample_instances
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.families.model.contract import Family, as_json
from evolake.families.model.source_code import switch
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import CANDIDATES, DROPPED, INSTANCES, VALIDATOR_VOTES, VOTES
from evolake.gates import Ruleset
from evolake.jail import open_pool
from evolake.lake import BlobStore
from evolake.lazy import Lazy
from evolake.settings import BudgetSettings, Settings

CLINIC, SUBSETS = seed_family("clinic-queue"), seed_family("remainder-subsets")
SMALL = SETTINGS.model_copy(update={"instances_per_family": 18})
OFF_BY_ONE = (
    "\n\n_exact = solution\n\n\ndef solution(inputs):\n    return _exact(inputs) + (1 if inputs['asked'] "
    "% 2 else 0)\n"
)


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=2, preload=PRELOAD) as pool:
        yield pool


def sample(family: Any, pool: Any, **more: Any):
    settings = SMALL.model_copy(update=more)
    return sample_instances(family, pool=pool, settings=settings, root_seed=0, cycle="0001")


def test_instances_are_labelled_distinct_and_one_to_three_to_five(pool):
    result = sample(CLINIC, pool)
    frame = INSTANCES.frame(result.rows)
    assert dict(frame.group_by("band").len().iter_rows()) == {"1-3": 2, "4-6": 6, "7-10": 10}
    assert frame["text_sha"].n_unique() == frame["instance_id"].n_unique() == 18
    assert set(zip(frame["votes"], frame["voters"], strict=True)) == {(3, 3)}
    assert result.dropped == {}
    assert sample(CLINIC, pool) == result


def test_an_outvoted_primary_labels_nothing(pool):
    faulty = replace(CLINIC, validator=CLINIC.validator + OFF_BY_ONE)
    result = sample(faulty, pool, instance_rounds=2)
    assert result.dropped["primary outvoted"] > 0
    right = {row["text"]: row["answer"] for row in sample(CLINIC, pool, instances_per_family=60).rows}
    assert all(right.get(row["text"], row["answer"]) == row["answer"] for row in result.rows)
    assert all(row["votes"] == 3 for row in result.rows)


def test_instances_without_a_majority_are_dropped_and_counted(pool):
    names = sorted(CLINIC.validators)
    wrong = {
        names[0]: CLINIC.validators[names[0]] + OFF_BY_ONE.replace("(1 if", "(2 if"),
        names[1]: CLINIC.validators[names[1]] + OFF_BY_ONE,
    }
    result = sample(replace(CLINIC, validators=wrong), pool, instance_rounds=1)
    assert set(result.dropped) == {"no majority"}
    assert result.dropped["no majority"] + len(result.rows) == 18


def test_what_every_voter_solves_at_once_is_trivial(pool):
    assert len(sample(CLINIC, pool, trivial_steps=0).rows) == 18
    result = sample(CLINIC, pool, trivial_steps=100_000, instance_rounds=2)
    assert (result.rows, result.dropped) == ([], {"trivial": 36})


def test_many_families_give_the_same_whatever_the_number_of_workers(pool):
    twin = replace(CLINIC, template=CLINIC.template + "\n")  # another id, the same texts but for blanks
    runs = [
        sample_families(
            [CLINIC, SUBSETS, twin], pool=pool, settings=SMALL, root_seed=0, cycle="0001", workers=workers
        )
        for workers in (1, 3)
    ]
    assert runs[0] == runs[1]
    rows, dropped = runs[0]
    assert Counter(row["family_id"] for row in rows)[SUBSETS.family_id] == 18
    assert len({row["text_sha"] for row in rows}) == len(rows)
    INSTANCES.frame(rows)
    DROPPED.frame(dropped)


@pytest.fixture(scope="module")
def blobs(tmp_path_factory) -> BlobStore:
    return BlobStore(tmp_path_factory.mktemp("blobs"))


def further(blobs: BlobStore, examined: FamilyResults | None = None, ruleset: Ruleset = RULES) -> Further:
    """With nothing known, and `examined` for what has to be run; None: nothing is to be run."""

    def examine(*_: Any) -> FamilyResults:
        assert examined is not None, "evidence is stored; nothing is to be run"
        return examined

    return Further(list, [], ruleset, blobs, examine)


def stages(row: dict, blobs: BlobStore, ruleset: Ruleset = RULES):
    renewal = further(blobs, ruleset=ruleset)
    return [
        replay_gate(row, gate, ruleset, renewal, blobs=blobs, cycle="0001", run_id="later")
        for gate in GATE_NAMES
    ]


def test_a_family_that_gets_further_is_run_and_a_fault_of_ours_is_no_verdict(pool, blobs):
    lone = replace(CLINIC, validators={})
    examined = judged(lone, pool)
    assert examined.blocked_by is not None and examined.blocked_by.gate == "consensus"
    row = candidate_row(examined, blobs, cycle="0001", origin="operators")
    stopped = replay_gate(
        row, "blind", RULES, further(blobs, examined), blobs=blobs, cycle="0001", run_id="later"
    )
    assert (stopped.gate, stopped.verdicts[-1].rule_id, stopped.passed, stopped.rows) == (
        "consensus",
        "families-voters",
        False,
        (),
    )
    whole = judged(CLINIC, pool)
    cut = replace(whole, results=whole.results[: GATE_NAMES.index("blind")])
    with pytest.raises(MachineryError, match="does not come to the gate 'blind'"):
        replay_gate(row, "blind", RULES, further(blobs, cut), blobs=blobs, cycle="0001", run_id="later")
    again = replay_gate(row, "blind", RULES, further(blobs, whole), blobs=blobs, cycle="0001", run_id="later")
    assert again.passed and len(again.rows) == 5


# Evidence that comes with the seeds is used where all that it depends on is the same, and held to what
# gates see here.


NAMES = ("bus-legs", "clinic-queue", "growing-words", "parking-fees")
FAMILIES = [seed_family(name) for name in NAMES]
SIZES = FamiliesSettings(checked_evidence=1)
PATH = Path("evidence.jsonl.xz")


@pytest.fixture(scope="module")
def seen(pool) -> dict[str, FamilyResults]:
    """The families after their gates, each compared with those before it."""
    result: dict[str, FamilyResults] = {}
    for family in FAMILIES:
        result[family.name] = judged(
            family, pool, settings=SIZES, known=[item.fingerprint for item in result.values()]
        )
    return result


@pytest.fixture(scope="module")
def entries(seen) -> dict[str, FamilyEvidence]:
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


def test_the_file_gives_back_what_was_written_and_a_damaged_one_is_told(entries, tmp_path):
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


def test_stored_evidence_gives_the_verdicts_again_without_a_run(pool, blobs):
    examined = judged(CLINIC, pool)
    row = candidate_row(examined, blobs, cycle="0001", origin="operators")
    CANDIDATES.frame([row])
    result = stages(row, blobs)
    assert [(verdict.rule_id, verdict.outcome) for item in result for verdict in item.verdicts] == [
        (verdict.rule_id, verdict.outcome) for verdict in examined.verdicts
    ]
    by_gate = dict(zip(GATE_NAMES, result, strict=True))
    whole, single = vote_rows(
        row["family_id"], "0001", by_gate["consensus"].rows, by_gate["consensus"].passed
    )
    assert (VOTES.frame(whole).height, VALIDATOR_VOTES.frame(single).height) == (40, 120)
    assert [review["matched"] for review in by_gate["blind"].rows] == [True] * 5


def test_a_stricter_rule_blocks_on_the_same_evidence(pool, blobs):
    row = candidate_row(judged(CLINIC, pool), blobs, cycle="0001", origin="operators")
    strict = Ruleset(
        line=RULES.line,
        rules=tuple(
            replace(rule, parameters={"least_matches": 6}) if rule.id == "families-blind" else rule
            for rule in RULES.rules
        ),
    )
    assert [item.passed for item in stages(row, blobs, strict)] == [gate != "blind" for gate in GATE_NAMES]


def test_a_solver_model_is_measured_on_a_family_and_its_parent(pool, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    point = CLINIC.points[0]
    child = switch(
        CLINIC, point.name, next(item.name for item in point.alternatives if item.name != point.chosen)
    )
    settings = SETTINGS.model_copy(update={"drift_difficulties": [5, 7], "drift_samples": 4})
    ours = Settings(
        backend="model",
        model_api_key=SecretStr(KEY),
        models={"families_solver": "m"},
        budget=BudgetSettings(tokens_per_run=10**7),
        model_threads=2,
        model_repairs=0,
    )
    with LoopbackModel(serve(lambda asked: {"reasoning": "a guess", "final": r"\boxed{-1}"})) as server:
        agents = open_agents(
            ours.model_copy(update={"model_base_url": server.base_url}),
            tmp_path,
            "0001",
            "run",
            line="families",
        )
        with agents:
            rows = measure_pair(
                child, CLINIC, pool=pool, agents=agents, settings=settings, cycle="0001", root_seed=0
            )
            assert "def solution" not in str([asked.messages for asked in server.requests])
    assert [
        (row["role"], row["difficulty"], row["samples"], row["correct"], row["failed_calls"]) for row in rows
    ] == [("evolved", 5, 4, 0, 0), ("evolved", 7, 4, 0, 0), ("parent", 5, 4, 0, 0), ("parent", 7, 4, 0, 0)]
    assert [(row["k"], row["delta"]) for row in drift_summary(rows, "0001", 0)] == [(1, 0.0)]
    assert {call["role"] for call in agents.rows()} == {"families_solver"}
