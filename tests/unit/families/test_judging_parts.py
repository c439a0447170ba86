"""The parts of the gates that need no jail: votes, leaks, drawings, growth, similarity, probes, the
operators' reviewers, rules read from text."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from families_fixtures import RULES, SEEDS, seed_family
from hypothesis import example, given
from hypothesis import strategies as st

from evolake.families.evolution.refining import SubmissionGuard, kind_of, observe, refine
from evolake.families.gates.consensus import accepted_wrongly, alike, consensus_evidence, vote, wrong_answers
from evolake.families.gates.execution import Execution, execution_evidence
from evolake.families.gates.judging import FamilyResults, rule_evidence
from evolake.families.gates.leaks import leaking_place
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.family_files import read_families
from evolake.families.roles.models import CurateRequest, QualityRequest
from evolake.families.roles.readers import rules_in
from evolake.families.roles.reviewers import curate, merged, review_quality
from evolake.families.sandbox.running import Instance, Solved
from evolake.gates import GateResult, Verdict
from evolake.gates.checkers import CHECKERS


def solved(answer, status: str = "ok") -> Solved:
    return Solved(status, "", answer, type(answer).__name__, None, 0.0)


@pytest.mark.parametrize(
    ("answers", "label", "agreed"),
    [
        ([5, 5, 5], 5, ("a", "b", "c")),
        ([5, 6, 5.0], 5, ("a", "c")),
        ([6, 5, 5], 5, ("b", "c")),
        ([[1, 2], "[1,2]", [2, 1]], [1, 2], ("a", "b")),
        (["N/A", "N/A", 5], None, ()),
        ([4, 5, 6], None, ()),
        ([4, 4, 5, 5], None, ()),
        ([4, 5], None, ()),
        ([4], 4, ("a",)),
    ],
)
def test_a_label_needs_a_strict_majority(answers, label, agreed):
    counted = vote(
        {name: solved(answer) for name, answer in zip("abcd", answers, strict=False)}, case_sensitive=True
    )
    assert (counted.label, counted.for_label, counted.decided) == (label, agreed, bool(agreed))


def test_a_voter_that_fails_votes_for_nothing_but_counts():
    failed = Solved("error", "boom", None, "", None, 0.0)
    assert not vote({"primary": solved(5), "b": failed}, case_sensitive=True).decided
    assert vote({"primary": solved(5), "b": failed, "c": solved(5)}, case_sensitive=True).for_label == (
        "primary",
        "c",
    )
    assert not vote(
        {"primary": solved(None, "schema_error"), "b": failed, "c": failed}, case_sensitive=True
    ).decided


def execution_of(first: list[Any], second: list[Any], of: str = "a") -> tuple[str, ...]:
    """Return what the rules of gate 0 say where one source came to these results in its two runs: whether it
    repeats itself, and whether it keeps to its limits."""
    family = seed_family("clinic-queue")
    if of == "generator":
        seen = Execution(tuple(first), tuple(second), {}, {}, {})
    else:
        instances = tuple(Instance(1, seed, "ok", "", "", {}, (), 0.0) for seed in range(len(first)))
        seen = Execution(instances, instances, {of: tuple(first)}, {of: tuple(second)}, {})
    evidence = execution_evidence(family, seen)
    said = [CHECKERS[f"families.{name}"](evidence) for name in ("determinism", "confined", "instances")]
    return tuple(finding.reason if finding else "" for finding in said)


LATE = Solved("cpu", "TimeUp: past the cpu cap", None, "NoneType", None, 9.0)


@pytest.mark.parametrize("late", [LATE, replace(LATE, status="timeout"), replace(LATE, status="memory")])
@pytest.mark.parametrize("runs", [(0, 1), (1, 0)])
def test_a_validator_past_its_limits_in_one_run_is_not_said_to_differ_between_two(late, runs):
    answered = [solved(3), solved(4)]
    both = (answered, [solved(3), late])
    said = execution_of(both[runs[0]], both[runs[1]])
    assert said == ("", f"validator a: {late.status}: TimeUp: past the cpu cap", "")


def test_a_validator_that_answers_otherwise_or_raises_in_one_run_differs_between_two():
    for other in (solved(5), solved("3"), Solved("error", "boom", None, "", None, 0.0)):
        determinism, *rest = execution_of([solved(3), LATE], [other, LATE])
        assert determinism == "validator a: 1 of 2 answers differ between two runs on one input"
        assert rest[0].startswith("validator a: cpu")


@pytest.mark.parametrize(
    "question",
    [
        "Output only the complete sequence itself.",
        "Complete the sequence with as few brackets as possible.",
        "Print the last word.",
        "Answer with the number of coins.",
        "Each card is red.\nPlease output the red cards.",
        "Sort the numbers in rising order",
        "Now, report the sum.",
        "输出最后的单词。",
        "How many coins are left?",
    ],
)
def test_a_request_is_a_question(question):
    assert "nothing is asked" not in _review(f"There are 5 cards. {question}")


def _review(statement: str) -> str:
    request = QualityRequest(
        title="t",
        category="logical",
        statement=statement,
        answer="1",
        difficulty=5,
        parent_statement="",
        metrics={"growth": 9.0},
    )
    return review_quality(request, np.random.default_rng(0)).feedback


def test_a_validator_that_answers_nothing_is_no_second_opinion():
    family = seed_family("clinic-queue")
    names = list(family.validators)
    failed = Solved("error", "SyntaxError", None, "", None, 0.0)
    voted = {name: solved(5) for name in ("primary", *names)}
    whole, broken = vote(voted, case_sensitive=True), vote(voted | {names[0]: failed}, case_sensitive=True)
    assert broken.decided
    answered_once = consensus_evidence(family, [whole, broken])
    assert (
        answered_once["silent"] == [] and CHECKERS["families.voters"](answered_once, least=len(names)) is None
    )
    evidence = consensus_evidence(family, [broken, broken])
    assert (
        evidence["silent"] == [names[0]]
        and CHECKERS["families.voters"](evidence, least=len(names) - 1) is None
    )
    finding = CHECKERS["families.voters"](evidence, least=len(names))
    assert finding is not None and f"{names[0]} answers no instance" in finding.reason


def test_shipped_validators_are_no_copies_and_every_rule_has_its_checker():
    nearest = {
        family.name: max((pair[2] for pair in alike(family)), default=0.0)
        for family in read_families(SEEDS / "families")
    }
    assert max(nearest.values()) < 0.98, nearest
    assert {rule.check for rule in RULES.rules} <= set(CHECKERS)
    assert {rule.gate for rule in RULES.rules} == set(GATE_NAMES)
    assert rule_evidence(seed_family("clinic-queue")) == {"unstated": [], "unused": [], "mismatched": []}


@pytest.mark.parametrize(
    ("write", "answer", "leaks"),
    [
        (lambda n: f"Numbers {n}, {n + 3} and 9. How many?", lambda n: 2 * n + 40, False),
        (lambda n: f"Numbers {n}, 4. Total {3 * n + 10} marks. How many?", lambda n: 3 * n + 10, True),
        (lambda n: f"Take {n} of {n * n}. (Psst: {n + 100})", lambda n: n + 100, True),
        (lambda n: f"Ann, Bob, Cid and {n} others. Who wins?", lambda n: ("Ann", "Bob", "Cid")[n % 3], False),
        (
            lambda n: f"{n} people. The winner is {('Ann', 'Bob', 'Cid')[n % 3]}, who else?",
            lambda n: ("Ann", "Bob", "Cid")[n % 3],
            True,
        ),
        (
            lambda n: f"Sort these: [{n}, 1, {n + 1}]. Not like [1, {n}, {n + 1}].",
            lambda n: [1, n, n + 1],
            True,
        ),
        (lambda n: f"Sort these: [{n + 1}, 1, {n}].", lambda n: [1, n, n + 1], False),
        (lambda n: f"The answer is 7, as always ({n}).", lambda n: 7, False),
    ],
)
def test_a_place_that_always_holds_the_answer_is_a_leak(write, answer, leaks):
    numbers = range(12, 42)
    _, share = leaking_place([write(n) for n in numbers], [answer(n) for n in numbers])
    assert (share >= 0.9) == leaks


WORDS = st.text(alphabet="abcXYZ 0159./", min_size=1, max_size=6).map(str.strip).filter(bool)
LABELS = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
)


@given(LABELS)
@example([[], {}])
@example([0, "0"])
@example([0.1, "0.1"])
def test_perturbed_answers_are_judged_wrong(label):
    assert len(wrong_answers(label)) >= 2
    assert accepted_wrongly(label) == []


POINT = {
    "constant": "TIE",
    "alternatives": [["the lowest number goes first", "1"], ["the highest number goes first", "2"]],
}
NESTED = {
    "constant": "X",
    "alternatives": [["the lowest number", "1"], ["the lowest number goes first of all", "2"]],
}


@pytest.mark.parametrize(
    ("statement", "points", "expected"),
    [
        ("Here the  lowest\nnumber goes first.", [POINT], {"TIE": "1"}),
        ("Here nothing is said.", [POINT], "does not say the rule TIE"),
        ("First the lowest number goes first, then the highest number goes first.", [POINT], "two rules"),
        (
            "In A the lowest number goes first; in B the highest number goes first.",
            [POINT, {**POINT, "constant": "B_TIE"}],
            {"TIE": "1", "B_TIE": "2"},
        ),
        (
            "In both the lowest number goes first.",
            [POINT, {**POINT, "constant": "B_TIE"}],
            {"TIE": "1", "B_TIE": "1"},
        ),
        ("Not all: the lowest number goes first of all.", [NESTED], {"X": "2"}),
    ],
)
def test_rules_are_read_from_the_statement(statement, points, expected):
    rules = rules_in(statement, points)
    assert rules == expected if isinstance(expected, dict) else expected in str(rules)


# Observations, the guard of submissions, refinement and experience.


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


def test_a_generator_past_its_limits_in_one_run_is_not_said_to_differ_between_two():
    made = Instance(1, 7, "ok", "", "text", {"n": 1}, ("1",), 0.0)
    late = replace(made, status="cpu", reason="TimeUp", text="", inputs=None, slot_texts=())
    assert execution_of([made], [late], "generator") == ("", "", "input(1) with seed 7: cpu: TimeUp")
    raised = replace(late, status="error")
    assert "1 of 1 instances differ" in execution_of([made], [raised], "generator")[0]


@pytest.mark.parametrize(
    "text", ["There are 5 cards.", "The output is shown.", "The report was printed.", ""]
)
def test_a_statement_that_requests_nothing_asks_nothing(text):
    assert "nothing is asked" in _review(text)


def test_thresholds_are_parameters_of_rules():
    voters = {
        "kind": "validators",
        "validators": ["a", "b", "c"],
        "alike": [["b", "a", 0.7], ["c", "a", 1.0], ["c", "b", 0.9]],
        "silent": [],
    }
    finding = CHECKERS["families.voters"](voters, least=3)
    assert (
        finding is not None
        and "2 independent validators, at least 3 are needed; c is a copy of a" in finding.reason
    )
    said = CHECKERS["families.voters"](voters | {"kind": "checkers"}, least=3)
    assert (
        said is not None
        and "2 independent checkers, at least 3 are needed" in said.reason
        and "Add checkers/*.py" in said.reason
    )
    assert (
        CHECKERS["families.voters"](voters, least=2) is None
        and CHECKERS["families.voters"](voters, least=2, copy=0.6) is not None
    )
    answers = {
        "boolean": False,
        "answers": [
            [1, "same", True],
            *([4, "same", False] for _ in range(9)),
            [5, "one", False],
            [7, "two", False],
        ],
    }
    varied = CHECKERS["families.varied"]
    assert varied(answers, largest_share=0.8, least_nontrivial=0.5) is None
    finding = varied(answers, largest_share=0.8, least_nontrivial=0.5, from_difficulty=1)
    assert (
        finding is not None
        and finding.reason == "one answer holds in 83% of the 12 instances at difficulty 1 and above"
    )
    assert varied(answers, largest_share=0.8, least_nontrivial=0.5, from_difficulty=8) is not None, (
        "no instance is that hard"
    )
    numbers = {"unbacked": [], "unsaid": [6, 40]}
    assert "the number 6," in str(CHECKERS["families.quantities"](numbers))
    assert "the number 40," in str(CHECKERS["families.quantities"](numbers, said_from=7))
    assert CHECKERS["families.quantities"](numbers, said_from=41) is None
