"""Text held against code: by the text solver, which knows the text only, and by changing one thing."""

import re
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import RULES, operators, seed_family
from families_fixtures import judged_but_for_guesses as judged
from families_in_other_dress import DRESSED, FAULTY

from evolake.families.commands.checking import Checked
from evolake.families.evolution.draft_feedback import measure_draft
from evolake.families.evolution.records import independence_seen
from evolake.families.evolution.refining import observe
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.sentences import probe_texts
from evolake.families.gates.specs import GATES
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.families.operators.joining import own_text
from evolake.families.operators.of_families import guard
from evolake.families.operators.registry import child_of
from evolake.families.sandbox.running import Caps, generate, solve
from evolake.families.settings import FamiliesSettings

SETTINGS = FamiliesSettings()


def world(name: str, seed: int) -> Family:
    return child_of(name, [], np.random.default_rng(seed))


def misread_by_all(family: Family) -> Family:
    """The two sentences of a rule change places, and nothing else does: reader and programs agree on what the
    text does not say."""
    [point, *others] = family.points
    one, other = point.alternatives
    turned = replace(point, alternatives=(replace(one, text=other.text), replace(other, text=one.text)))
    return replace(family, points=(turned, *others))


@pytest.mark.parametrize(("name", "seed"), [("constraint_world", 20000), ("puzzle_world", 20003)])
def test_a_misreading_that_text_and_programs_share_is_blocked_by_the_text_solver(name, seed, pool):
    family = world(name, seed)
    good = judged(family, pool)
    assert good.accepted, good.blocked_by
    by_text = [review for review in good.reviews if review.reviewer == "text"]
    assert good.evidence["blind"]["text"] == {"asked": 40, "read": 40, "unread": "", "differ": 0, "wrong": []}
    assert [review.number for review in by_text] == list(range(5, 45))
    assert all(review.matched and review.status == "answered" for review in by_text)
    assert independence_seen(good).to_json() | {"level": "text", "text_right": 40, "text_answers": 40} == (
        independence_seen(good).to_json()
    )
    assert Checked(good, independence_seen(good)).summary == (
        "text solver: 40 of 40 questions read, it agrees with the programs"
    )
    faulty = misread_by_all(family)
    examined = judged(faulty, pool)
    verdict = examined.blocked_by
    assert verdict is not None
    assert (verdict.gate, verdict.rule_id) == ("blind", "families-text-agrees")
    [first, *_] = examined.evidence["blind"]["text"]["wrong"]
    said = faulty.points[0].alternative().text
    assert first["sentence"] in (said, f"- {said}") or said in first["sentence"]
    assert first["sentence"] in verdict.reason
    assert first["question"] in verdict.reason
    seen = observe(examined)
    assert seen is not None
    assert '"sentence"' in seen.traces[0]
    gates = FamilyGates(pool, operators(), RULES, SETTINGS, "0001", "test")
    assert any(
        fault.startswith("text: text and programs differ")
        for fault in measure_draft(faulty, gates, []).faults
    )


def test_a_family_that_the_text_solver_cannot_read_has_no_review_by_it(pool):
    examined = judged(seed_family("clinic-queue"), pool)
    assert examined.accepted
    assert {review.reviewer == "text" for review in examined.reviews} == {False}
    text = examined.evidence["blind"]["text"]
    assert (text["asked"], text["read"], text["differ"]) == (40, 0, 0)
    assert text["unread"]
    checked = Checked(examined, independence_seen(examined))
    assert checked.summary.startswith("text solver: unread, as it does not know ")
    assert checked.independence.level == "none"


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
