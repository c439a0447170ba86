"""Text held against code: good families in another dress pass, and five faults on which every program of the
family agrees are blocked."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import judged_but_for_guesses as judged
from families_fixtures import seed_family
from families_in_other_dress import DRESSED, FAULTY

from evolake.families.gates.sentences import probe_texts
from evolake.families.gates.specs import GATES
from evolake.families.model.statement import stated
from evolake.families.operators.joining import own_text
from evolake.families.operators.of_two_families import guard
from evolake.families.operators.registry import child_of
from evolake.families.sandbox.running import Caps, generate, solve

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
