"""A slot that the reader makes the same inputs of, whatever it says, decides nothing and blocks; one that
repeats what the inputs have does not."""

from dataclasses import replace

import pytest
from families_fixtures import judged_but_for_guesses as judged
from families_fixtures import seed_family

from evolake.families.gates.sentences import unread_slots
from evolake.families.model.contract import Family
from evolake.families.sandbox.running import Caps, generate

RETURN = '["\\n".join(lines), str(asked)]'


def with_slot(expression: str, sentence: str) -> Family:
    """The clinic with a third slot: what the generator writes into it, and the sentence that has it."""
    family = seed_family("clinic-queue")
    assert RETURN in family.generator
    return replace(
        family,
        generator=family.generator.replace(RETURN, f'["\\n".join(lines), str(asked), {expression}]'),
        template=family.template.replace(
            "A clinic has a single doctor.", f"{sentence} It has one doctor.", 1
        ),
    )


@pytest.mark.parametrize(
    ("expression", "sentence", "unread"),
    [
        ("str(random.randint(400, 900))", "A clinic lies [Input Slot 3] metres above the sea.", {3}),
        ("random.choice(['Ulm', 'Bonn', 'Kiel', 'Jena'])", "A clinic is in [Input Slot 3].", {3}),
        ("str(count)", "A clinic has [Input Slot 3] patients today.", set()),
        ("str(asked) + ' or more'", "A clinic has [Input Slot 3] patients today.", set()),
    ],
)
def test_a_slot_that_is_the_same_to_the_reader_whatever_it_says_is_found(pool, expression, sentence, unread):
    family = with_slot(expression, sentence)
    instances = generate(family, [(level, seed) for level in (2, 5, 8) for seed in (1, 2, 3)], pool=pool)
    assert all(item.status == "ok" for item in instances)
    assert unread_slots(family, family.reader or "", instances, pool=pool, caps=Caps()) == unread


def test_a_family_with_such_a_slot_is_blocked(pool):
    blocked = judged(
        with_slot("str(random.randint(400, 900))", "A clinic lies [Input Slot 3] metres above the sea."), pool
    ).blocked_by
    assert blocked is not None and (blocked.gate, blocked.rule_id) == ("sentences", "families-idle")
    assert "metres above the sea" in blocked.reason
