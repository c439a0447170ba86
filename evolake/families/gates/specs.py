"""The gates of a family, cheapest first. In the paper, gates 1 are g1 and gates 2 are g2; gate 3 is ours.

A further gate is an entry here, a module next to this one with the function that collects its evidence and
the checkers of its rules, a rule file under data_lake/seeds/rules/families that names it, and a test with its
planted fault; its asset, table, check, place in the funnel and column of the report follow.
"""

from __future__ import annotations

from evolake.gate_spec import GateSpec
from evolake.lazy import Lazy

_COLLECTING = "evolake.families.gates.judging"
GATES = (
    GateSpec(
        0,
        "execution",
        Lazy(f"{_COLLECTING}:execution"),
        ("instances", "unstable_instances", "slots", "slot_texts", "voters", "answer_type"),
        about="every source runs within its limits, twice the same",
    ),
    GateSpec(
        1,
        "static",
        Lazy(f"{_COLLECTING}:static"),
        (
            "failed",
            "unfilled",
            "answers",
            "size",
            "magnitude",
            "work",
            "nearest",
            "unstated",
            "benchmarks",
            "bites",
        ),
        asset="quality",
        about="what can be seen on a sample and on the sources; near-duplicates",
    ),
    GateSpec(
        2,
        "consensus",
        Lazy(f"{_COLLECTING}:consensus"),
        ("kind", "validators", "alike", "silent", "instances", "undecided", "primary_wrong"),
        asset="consensus_labels",
        about=(
            "the label of each sampled instance by strict majority of independent validators; an instance "
            "without one has none"
        ),
    ),
    GateSpec(
        2,
        "quality",
        Lazy(f"{_COLLECTING}:quality"),
        ("failure", "action", "feedback"),
        asset="blind_reviews",
        about="the quality reviewer, who may be a model: asked after the votes, which cost nothing",
        label="quality reviewer",
    ),
    GateSpec(
        2,
        "blind",
        Lazy(f"{_COLLECTING}:blind"),
        ("reviews", "probes", "accepted_wrongly", "text"),
        asset="blind_reviews",
        about="reviewers who saw the text only, what they answered, and whether it is the label",
        label="blind reviews",
    ),
    GateSpec(
        3,
        "sentences",
        Lazy(f"{_COLLECTING}:sentences"),
        (
            "made_by",
            "sentences",
            "unread",
            "unbacked",
            "unsaid",
            "idle",
            "dead",
            "dead_functions",
            "ties",
            "order_of_equals",
            "vague",
            "declared",
        ),
        about=(
            "text held against code: a sentence gone, a quantity another, a rule or a function without effect"
        ),
    ),
)
GATE_NAMES = tuple(gate.name for gate in GATES)


def own_modules() -> tuple[str, ...]:
    """Return the modules of gates that have a separate one, with their checkers; those of the others are in
    `checkers`."""
    return tuple(
        dict.fromkeys(
            gate.collect.module
            for gate in GATES
            if isinstance(gate.collect, Lazy) and gate.collect.module != _COLLECTING
        )
    )
