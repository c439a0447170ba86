"""The rules of a queue: who is called next, who goes away, how long a service lasts; each with its meaning
three times over.

    run       expressions of one person `c` at minute `t`                              (minute by minute)
    table     columns over all persons; `w` are the places of those in the line        (from call to call)
    relation  what may be, of two persons or of a service                              (clauses)

Of a point's kind the meanings are

    next   run: key of the smallest.  table: which of `w`.  relation: whether person i goes before person j in minute t
    leave  run: whether `c` goes away; `waited` is None on arrival.  table: (the last minute of being called, how many others are borne on arrival)
           relation: whether a person goes away who has waited so long (-1 on arrival) and found so many
           others
    pace   run: (minutes served, minutes closed after it).  table: the same, of person i.  relation: whether they may be `served` and `closed`

A person is (minute of arrival, need, card); `FOREVER` is later than any minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evolake.families.worlds import parts
from evolake.families.worlds.entries import entries
from evolake.families.worlds.parts import WithAmount, labels_of

POINTS = ("next", "leave", "pace")
"""The mutation points of a queue, in the order of its text."""
HEADS = {
    ("next", "run"): "c, t",
    ("next", "table"): "w, t, need, card",
    ("next", "relation"): "i, j, t, people",
    ("leave", "run"): "c, others, waited",
    ("leave", "table"): "come, need, card",
    ("leave", "relation"): "waited, others, need, card",
    ("pace", "run"): "c, t",
    ("pace", "table"): "i, t, come, need, card",
    ("pace", "relation"): "served, closed, t, waited, need, card",
}
"""Arguments of a rule's function, by point and engine."""


@dataclass(frozen=True)
class Rule(parts.Rule):
    """A kind of rule of queues; the text of `next` is the end of a sentence. cards: whether it asks for the
    card."""

    cards: bool = False


RULES = entries("queue_rules", Rule, "rules")["rules"]


Chosen = WithAmount[Rule]


def chosen_rules(point: str | None = None) -> list[Chosen]:
    """Return every rule of a point, or of all, with every amount."""
    return [Chosen(rule, amount) for rule in RULES if point in (None, rule.point) for amount in rule.amounts]


def functions(rules: Iterable[Chosen], meaning: str) -> str:
    """Return a function for each rule, in the terms of one engine."""
    return "".join(
        f"\n\ndef {rule.key}({HEADS[rule.rule.point, meaning]}):\n    return {rule.code(meaning)}\n"
        for rule in rules
    )


def labels(keys: Iterable[str]) -> list[str]:
    """Return what titles call the rules of these keys. Raises KeyError for a key of no rule."""
    return labels_of(keys, chosen_rules())
