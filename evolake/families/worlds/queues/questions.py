"""Questions on what came of a queue, with the answer of each engine.

`run` folds `calls` (a mapping for each call, in the order of the calls), `gone` (numbers of those who went away) and `line` (how many stand in it at
the end of each minute, from minute 0 on). `table` folds arrays by person: `start`, `until` (0 for who is not served), `rank` (of the call), and
`waiting(m)`, who stands in line at the end of minute m. `clauses` asks through `is_`, which tells by the model whether person i (from 0) begins,
waits
or is served in minute t.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class QueueQuestion(Question):
    """text: with {s1} for the slot of `key`. make: sets `ask`, in the generator, from what `run` folds. low, high: of the port of `key`, see Port.
    cards: whether it asks for the card.
    """

    key: str = ""
    make: str = "{}"
    low: int = 1
    high: int | tuple[str, ...] = 0
    cards: bool = False


WAIT = "The wait of a {member} is the number of the {unit} of being called minus the number of the {unit} of arriving."
QUESTIONS = (
    QueueQuestion(
        "lost", "how many go away", "How many of the {folk} are never served?", "    return len(gone)", "    return int((start == 0).sum())",
        '    return sum(not any(is_("begins", i, t) for t in minutes) for i in range(n))',
    ),
    QueueQuestion(
        "finish", "when the last service ends", "What is the number of the last {unit} in which any {member} is served?",
        '    return max(call["last"] for call in calls)', "    return int(until.max())",
        '    return max(t for t in minutes if any(is_("serves", i, t) for i in range(n)))',
    ),
    QueueQuestion(
        "longest", "the longest wait", WAIT + " What is the longest wait of any {member} that is served?",
        '    return max(call["called"] - call["come"] for call in calls)', "    return int((start - come)[start > 0].max())",
        '    return max(sum(is_("waits", i, t) for t in minutes) for i in range(n) if any(is_("serves", i, t) for t in minutes))',
    ),
    QueueQuestion(
        "waits", "the sum of the waits", WAIT + " What is the sum of the waits of all {folk} that are served?",
        '    return sum(call["called"] - call["come"] for call in calls)', "    return int(np.where(start, start - come, 0).sum())",
        '    return sum(t - people[i][0] for i in range(n) for t in minutes if is_("begins", i, t))',
    ),
    QueueQuestion(
        "card_waits", "the waits of those with priority", WAIT + " What is the sum of the waits of those {folk} with {card} that are served?",
        '    return sum(call["called"] - call["come"] for call in calls if call["card"])', "    return int(((start - come) * card)[start > 0].sum())",
        '    return sum(t - people[i][0] for i in range(n) for t in minutes if people[i][2] == 1 and is_("begins", i, t))', cards=True,
    ),
    QueueQuestion(
        "most", "the longest line", "How many stand in the line at the end of that {unit} at whose end it is longest?", "    return max(line)",
        "    return max(int(waiting(m).sum()) for m in range(1, int(free.max()) + 1))",
        '    return max(sum(is_("waits", i, t) for i in range(n)) for t in minutes)',
    ),
    QueueQuestion(
        "line_at", "the line at a certain time", "How many stand in the line at the end of {unit} {s1}?",
        '    return line[ask["minute"]] if ask["minute"] < len(line) else 0', '    return int(waiting(ask["minute"]).sum())',
        '    return sum(ask["minute"] in minutes and is_("waits", i, ask["minute"]) for i in range(n))', "minute",
        '{"minute": random.choice([m for m, count in enumerate(line) if m and count] or [1])}', high=60,
    ),
    QueueQuestion(
        "when", "when one of them is called",
        "What is the number of the {unit} in which {member} {s1} is called? If this never happens, the answer is 0.",
        '    return next((call["called"] for call in calls if call["number"] == ask["who"]), 0)', '    return int(start[ask["who"] - 1])',
        '    return next((t for t in minutes if is_("begins", ask["who"] - 1, t)), 0)', "who",
        '{"who": random.randint(2, len(people))}', high=("people",),
    ),
    QueueQuestion(
        "whose", "whose call is a certain one",
        "Count the calls in their order, those within one {unit} too, from 1. What is the number of the {member} of call {s1}? If there are not so "
        "many calls, the answer is 0.",
        '    return calls[ask["call"] - 1]["number"] if ask["call"] <= len(calls) else 0',
        '    return int((rank == ask["call"]) @ np.arange(1, rank.size + 1))',
        '''    called = [(t, i) for t in minutes for i in range(n) if is_("begins", i, t)]
    before = {(t, i): sum(s < t or (s == t and KINDS[NEXT](j, i, t, people)) for s, j in called if j != i) for t, i in called}
    return next((i + 1 for (t, i), earlier in before.items() if earlier == ask["call"] - 1), 0)''', "call",
        '{"call": random.randint(2, len(calls)) if len(calls) > 1 else 1}', high=("people",),
    ),
    QueueQuestion(
        "over", "how many wait long", WAIT + " How many of the {folk} that are served have a wait of more than {s1} {units}?",
        '    return sum(call["called"] > call["come"] + ask["limit"] for call in calls)',
        '    return int((start - come > ask["limit"])[start > 0].sum())',
        '    return sum(is_("begins", i, t) for i in range(n) for t in minutes if t - people[i][0] > ask["limit"])', "limit",
        '{"limit": random.randint(2, 4)}', low=2, high=20,
    ),
    QueueQuestion(
        "busy", "how long all are busy", "In how many {units} is a {member} being served at every {desk}?",
        '    return sum(sum(call["called"] <= m <= call["last"] for call in calls) == inputs["desks"] for m in range(len(line)))',
        '''    size = int(until.max()) + 2
    change = np.bincount(start, start > 0, size) - np.bincount(until + 1, until > 0, size)
    return int((np.cumsum(change) == inputs["desks"]).sum())''',
        '    return sum(sum(is_("serves", i, t) for i in range(n)) == inputs["desks"] for t in minutes)',
    ),
    QueueQuestion(
        "idle", "how long nobody is served", "Until the last service is over, in how many {units}, from {unit} 1 on, is no {member} being served?",
        '''    served = {m for call in calls for m in range(call["called"], call["last"] + 1)}
    return max(served) - len(served)''',
        '''    at = np.arange(1, until.max() + 1)[:, None]
    return int((~((start > 0) & (start <= at) & (at <= until)).any(axis=1)).sum())''',
        '''    served = [any(is_("serves", i, t) for i in range(n)) for t in minutes]
    return served[: max(k for k, one in enumerate(served) if one)].count(False)''',
    ),
    QueueQuestion(
        "overtaken", "how often one overtakes another",
        "In how many pairs of served {folk} is the one that arrived later called in an earlier {unit} than the other?",
        '    return sum(one["number"] > two["number"] and one["called"] < two["called"] for one in calls for two in calls)',
        '''    s = start[start > 0]
    return int(np.triu(s[:, None] > s).sum())''',
        '''    begun = [(i, t) for i in range(n) for t in minutes if is_("begins", i, t)]
    return sum(i < j and not t <= s for i, t in begun for j, s in begun)''',
    ),
)
