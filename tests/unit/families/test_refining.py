"""Observations, the guard of submissions, refinement and experience."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import RULES, seed_family
from hypothesis import given
from hypothesis import strategies as st

from evolake.families.evolution.refining import SubmissionGuard, kind_of, observe, refine
from evolake.families.evolution.requests import lessons_of
from evolake.families.gates.judging import FamilyResults
from evolake.families.roles.models import CurateRequest
from evolake.families.roles.reviewers import curate, merged
from evolake.gates import GateResult, Verdict

FAMILY = seed_family("clinic-queue")


def edited(number: int):
    return replace(FAMILY, template=f"{FAMILY.template}Edit {number}.\n")


def examined(family, *, accepted: bool, rule: str = "families-majority", evidence=None) -> FamilyResults:
    outcome = "pass" if accepted else "block"
    verdict = Verdict(
        family.family_id,
        "0001",
        2,
        "consensus",
        rule,
        "1",
        "0" * 64,
        outcome,
        "" if accepted else "no majority",
        None,
        "r",
    )
    vote = {"difficulty": 3, "seed": 1, "label": None, "answers": {"primary": 4, "b": 5, "c": 6}}
    result = evidence or {"undecided": [vote], "primary_wrong": []}
    return FamilyResults(family.family_id, (GateResult("consensus", (verdict,), result),), accepted, family)


def test_a_block_is_a_structured_observation_with_its_traces():
    observation = observe(examined(FAMILY, accepted=False))
    assert observation is not None
    assert (observation.kind, observation.gate, observation.rule_id) == (
        "ambiguity",
        "consensus",
        "families-majority",
    )
    assert observation.reason == "no majority"
    assert [json.loads(trace)["answers"] for trace in observation.traces] == [{"primary": 4, "b": 5, "c": 6}]
    assert observation.lesson == ""  # which rules give, where what was blocked is learnt from
    assert observe(examined(FAMILY, accepted=True)) is None


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        (["gave up"] * 3, "unsolvable"),
        (["no answer", "gave up", "answered"], "unsolvable"),
        (["answered"] * 3, "ambiguity"),
    ],
)
def test_what_blind_reviewers_say_decides_between_unsolvable_and_ambiguous(statuses, kind):
    reviews = [{"matched": False, "status": status} for status in statuses] + [
        {"matched": True, "status": "answered"}
    ]
    assert kind_of("families-blind", {"reviews": reviews}) == kind
    assert kind_of("families-determinism", {}) == "implementation bug"


def test_a_rule_file_of_before_lessons_has_that_of_the_shipped_rule():
    blind = next(rule for rule in RULES.rules if rule.id == "families-blind")
    rules = (
        replace(blind, lesson=""),
        replace(blind, id="families-mine", lesson=""),
        replace(blind, id="families-ours", lesson="Say it."),
    )
    assert lessons_of(replace(RULES, rules=rules)) == {
        "families-blind": blind.lesson,
        "families-mine": "",
        "families-ours": "Say it.",
    }


def test_a_pass_does_not_survive_an_edit():
    guard = SubmissionGuard(3)
    guard.record(examined(FAMILY, accepted=True))
    assert guard.submit(FAMILY)
    assert guard.submit(replace(FAMILY, title="Another title"))
    assert not guard.submit(edited(1))
    assert guard.submit(FAMILY)


def run(passes: set[int], rounds: int, refusals: int = 9, give_up_at: int = 99, same_at: int = 99):
    versions = [FAMILY, *(edited(number) for number in range(1, 9))]
    accepted = {versions[number].family_id for number in passes}

    def revise(family, observation, number):
        assert observation.family_id == family.family_id
        if number == give_up_at:
            return None
        if number == same_at:
            return family
        return versions[number]

    done = refine(
        FAMILY,
        lambda family: examined(family, accepted=family.family_id in accepted),
        revise,
        rounds=rounds,
        guard=SubmissionGuard(refusals),
    )
    return (
        done.ended,
        len(done.rounds),
        len(done.observations),
        None if done.family is None else versions.index(done.family),
    )


def test_a_family_is_refined_until_it_passes_or_its_rounds_are_over():
    assert run({0}, rounds=2) == ("accepted", 1, 0, 0)
    assert run({2}, rounds=2) == ("accepted", 3, 2, 2)
    assert run({3}, rounds=2) == ("rounds", 3, 3, None)
    assert run(set(), rounds=0) == ("rounds", 1, 1, None)
    assert run({5}, rounds=5, refusals=3) == ("refused", 3, 3, None)
    assert run({5}, rounds=5, give_up_at=2) == ("given up", 2, 2, None)
    assert run({5}, rounds=5, same_at=2) == ("unchanged", 2, 2, None)


def test_a_repeated_reason_ends_the_refinements_of_operators():
    def told(*rules: str, end_at_repeat: bool = True) -> tuple[str, int]:
        versions = [FAMILY, *(edited(number) for number in range(1, len(rules)))]
        by_id = {family.family_id: rule for family, rule in zip(versions, rules, strict=True)}
        done = refine(
            FAMILY,
            lambda family: examined(
                family,
                accepted=not by_id[family.family_id],
                rule=by_id[family.family_id] or "families-majority",
            ),
            lambda family, observation, number: versions[number],
            rounds=len(rules) - 1,
            guard=SubmissionGuard(9),
            end_at_repeat=end_at_repeat,
        )
        return done.ended, len(done.rounds)

    assert told("families-ties", "families-ties", "") == ("repeated", 2)
    assert told("families-ties", "families-varied", "families-ties", "") == ("repeated", 3)
    assert told("families-ties", "families-varied", "") == ("accepted", 3)
    assert told("families-ties", "families-ties", "", end_at_repeat=False) == ("accepted", 3)


@given(
    st.lists(st.text(alphabet="abc .", max_size=12)),
    st.lists(st.text(alphabet="abc .", max_size=12)),
    st.integers(1, 5),
)
def test_merging_is_capped_stable_and_repeatable(existing, candidates, limit):
    once = merged(existing, candidates, limit)
    assert len(once) <= limit
    assert merged(once, [], limit) == once
    assert (
        curate(
            CurateRequest(existing=existing, candidates=candidates, limit=limit), np.random.default_rng(0)
        ).items
        == once
    )
