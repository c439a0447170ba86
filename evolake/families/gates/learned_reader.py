"""A second reader, learnt from examples: the template turned round, and for each hidden input the slot that
spells it.

It sees instances on its own seeds and finds, for every top-level key of the inputs, a slot and a way of
reading it that gives the key's value in all of them (or that the value never changes). Where a key cannot be
explained there is no such reader. So a family whose author wrote no reader can still be solved from its text,
and one with a reader is read in two ways. Slot texts are a candidate's, so the learning happens in the jail.
"""

from __future__ import annotations

from typing import Any

from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.model.contract import MAX_SOURCE_BYTES, Family
from evolake.families.model.statement import stated
from evolake.families.sandbox.running import called, generate
from evolake.families.settings import FamiliesSettings

TRAINING = ((2, 4, 6, 8, 9), 3)
"""Difficulties and seeds a difficulty of the examples."""
DRIVER = "evolake.families.gates.reading:learn"


def learn_reader(family: Family, *, pool: Any, settings: FamiliesSettings) -> str | None:
    """Return the source of a reader, None where some input cannot be explained by the slots. Raises
    MachineryError when the jail failed."""
    caps = caps_of(settings)
    examples = generate(family, pairs_of(*TRAINING, "reader"), pool=pool, caps=caps)
    if any(item.status != "ok" for item in examples):
        return None
    payload = {
        "template": stated(family),
        "examples": [{"inputs": item.inputs, "slots": list(item.slot_texts)} for item in examples],
    }
    outcome = called(pool, DRIVER, "", payload, caps)
    usable = (
        outcome.status == "ok"
        and isinstance(outcome.value, str)
        and len(outcome.value.encode(errors="replace")) <= MAX_SOURCE_BYTES
    )
    return outcome.value if usable else None
