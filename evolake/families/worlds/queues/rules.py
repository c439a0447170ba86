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


ALL = "FOREVER + 0 * come"
RULES = (
    Rule(
        "next",
        "first",
        "order of arrival",
        "the {member} that has stood in it longest",
        'c["number"]',
        "w[0]",
        "people[i][0] < people[j][0]",
    ),
    Rule(
        "next",
        "last",
        "latest arrival",
        "the {member} that was the last to arrive",
        '-c["number"]',
        "w[-1]",
        "people[i][0] > people[j][0]",
    ),
    Rule(
        "next",
        "short",
        "shortest need",
        "the {member} that needs the fewest {units}, and among equals the earlier one",
        '(c["need"], c["number"])',
        "w[np.argmin(need[w])]",
        "people[i][1] < people[j][1] or (people[i][1] == people[j][1] and i < j)",
    ),
    Rule(
        "next",
        "long",
        "longest need",
        "the {member} that needs the most {units}, and among equals the earlier one",
        '(-c["need"], c["number"])',
        "w[np.argmax(need[w])]",
        "(people[j][1], people[i][0]) < (people[i][1], people[j][0])",
    ),
    Rule(
        "next",
        "priority",
        "priority",
        "a {member} with {card} if any is there, and of several that come into question the earliest",
        '(1 - c["card"], c["number"])',
        "w[np.argmax(card[w])]",
        "people[i][2] > people[j][2] or (people[i][2] == people[j][2] and i < j)",
        cards=True,
    ),
    Rule(
        "next",
        "common",
        "priority reversed",
        "a {member} without {card} if any is there, and of several that come into question the one that "
        "came first",
        '(c["card"], c["number"])',
        "w[np.argmin(card[w])]",
        "(people[i][2], people[i][0]) < (people[j][2], people[j][0])",
        cards=True,
    ),
    Rule(
        "next",
        "swing",
        "turns from both ends",
        "the {member} at its front if the number of the {unit} is odd, and the {member} at its back if it "
        "is even",
        'c["number"] if t % 2 == 1 else -c["number"]',
        "w[0 if t & 1 else -1]",
        "(people[i][0] < people[j][0]) == (t % 2 > 0)",
    ),
    Rule(
        "next",
        "odd",
        "odd numbers first",
        "a {member} with an odd number if any is there, and otherwise one with an even number, in both "
        "cases the lowest number",
        '(c["number"] % 2 == 0, c["number"])',
        "w[np.argmin(w & 1)]",
        "(i % 2, i) < (j % 2, j)",
    ),
    Rule(
        "leave",
        "stay",
        "patience without end",
        "No {member} leaves the line before being called.",
        "False",
        f"{ALL}, {ALL}",
        "others < 0",
    ),
    Rule(
        "leave",
        "patience",
        "limited patience",
        "Any {member} that is not called in the {unit} of arriving or in one of the {k} {units} after it "
        "goes away unserved at the end of the last of them.",
        "waited == K",
        f"come + K, {ALL}",
        "waited >= K",
        (2, 3, 4, 5),
    ),
    Rule(
        "leave",
        "eager",
        "impatience without priority",
        "Only {folk} with {card} stand and wait for any time: one without it that is not called in the "
        "{unit} of arriving or in one of the {k} {units} that follow gives up, unserved, at the end of "
        "the last of them.",
        'waited == K and not c["card"]',
        f"np.where(card == 1, FOREVER, come + K), {ALL}",
        "waited > K - 1 and card == 0",
        (2, 3, 4),
        cards=True,
    ),
    Rule(
        "leave",
        "full",
        "a limited line",
        "There is room for {k} in the line: any {member} that finds so many in it on arriving does not "
        "join it and is never served.",
        "waited is None and others >= K",
        f"{ALL}, 0 * come + K - 1",
        "waited < 0 and others > K - 1",
        (2, 3, 4),
    ),
    Rule(
        "leave",
        "picky",
        "a line limited for some",
        "Any {member} without {card} turns round on arriving, unserved, if {k} or more stand in the line "
        "already.",
        'waited is None and not c["card"] and others >= K',
        f"{ALL}, np.where(card == 1, FOREVER, K - 1)",
        "waited < 0 and not card and K <= others",
        (2, 3),
        cards=True,
    ),
    Rule(
        "leave",
        "hasty",
        "shyness of the slow",
        "Any {member} that needs more than {k} {units} and on arriving finds any other in the line does "
        "not come in at all.",
        'waited is None and c["need"] > K and others > 0',
        f"{ALL}, np.where(need > K, 0, FOREVER)",
        "waited < 0 < others and need >= K + 1",
        (3, 4, 5),
    ),
    Rule(
        "pace",
        "exact",
        "services as needed",
        "A service lasts exactly the {units} that are needed.",
        'c["need"], 0',
        "need[i], 0",
        "served == need and not closed",
    ),
    Rule(
        "pace",
        "breaks",
        "breaks",
        "A service lasts the {units} that are needed, and after it the {desk} is closed for {k} {units} "
        "in which no {member} is served there.",
        'c["need"], K',
        "need[i], K",
        "(served, closed) == (need, K)",
        (2, 3),
    ),
    Rule(
        "pace",
        "hurry",
        "hurry after long waits",
        "A service lasts the {units} that are needed, but a single {unit} less if the {member} is called "
        "more than {k} {units} after arriving.",
        'c["need"] - (t - c["come"] > K), 0',
        "need[i] - int(t > come[i] + K), 0",
        "closed == 0 and need - served == (1 if waited > K else 0)",
        (2, 3, 4),
    ),
    Rule(
        "pace",
        "favour",
        "quicker services for some",
        "A service lasts the {units} that are needed, but a single {unit} less for {folk} with {card}.",
        'c["need"] - c["card"], 0',
        "need[i] - card[i], 0",
        "served + card == need and closed == 0",
        cards=True,
    ),
    Rule(
        "pace",
        "tired",
        "slower services later",
        "A service that begins before {unit} {k} lasts the {units} that are needed, any other a single "
        "{unit} more.",
        'c["need"] + (t >= K), 0',
        "need[i] + int(t >= K), 0",
        "closed == 0 and served == (need if t < K else need + 1)",
        (6, 8, 10),
    ),
    Rule(
        "pace",
        "cut",
        "services cut short",
        "A service lasts the {units} that are needed, though never more than {k}.",
        'min(K, c["need"]), 0',
        "np.minimum(need, K)[i], 0",
        "closed == 0 and served <= K and (served == need or served == K < need)",
        (4, 5),
    ),
)


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
