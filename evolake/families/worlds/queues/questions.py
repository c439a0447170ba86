"""Questions on what came of a queue, with the answer of each engine.

`run` folds `calls` (a mapping for each call, in the order of the calls), `gone` (numbers of those who went
away) and `line` (how many are in it at the end of each minute, from minute 0 on). `table` folds arrays by
person: `start`, `until` (0 for who is not served), `rank` (of the call), and `waiting(m)`, who is in line at
the end of minute m. `clauses` asks through `is_`, which says by the model whether person i (from 0) begins,
waits or is served in minute t.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class QueueQuestion(Question):
    """text: with {s1} for the slot of `key`. make: sets `ask`, in the generator, from what `run` folds. low,
    high: of the port of `key`, see Port. cards: whether it asks for the card.
    """

    key: str = ""
    make: str = "{}"
    low: int = 1
    high: int | tuple[str, ...] = 0
    cards: bool = False


WAIT = (
    "The wait of a {member} is the number of the {unit} of being called minus the number of the {unit} of "
    "arriving."
)
ASCENDING = "Give a list of their numbers in ascending order; it may be empty."
QUESTIONS = (
    QueueQuestion(
        "lost",
        "who goes away",
        f"Which of the {{folk}} are never served? {ASCENDING}",
        '    return sorted(one["number"] for one in gone)',
        "    return (np.flatnonzero(start == 0) + 1).tolist()",
        '    return [i + 1 for i in range(n) if not any(is_("begins", i, t) for t in minutes)]',
        answer="list",
    ),
    QueueQuestion(
        "called",
        "when each is called",
        "In which {unit} is each {member} called? Give a mapping from the number of the {member} to the "
        "number of the {unit}, for those that are served.",
        '    return {str(call["number"]): call["called"] for call in calls}',
        '    return {f"{i + 1}": int(start[i]) for i in np.flatnonzero(start)}',
        '    return {f"{i + 1}": t for i in range(n) for t in minutes if is_("begins", i, t)}',
        answer="mapping",
    ),
    QueueQuestion(
        "order",
        "in which order they are called",
        "In which order are the {folk} called? Give a list of their numbers, those called within one "
        "{unit} in the order of their calls.",
        '    return [call["number"] for call in calls]',
        "    return (np.argsort(np.where(rank, rank, rank.size + 1))[: rank.max()] + 1).tolist()",
        """    called = [(t, i) for t in minutes for i in range(n) if is_("begins", i, t)]
    before = {(t, i): sum(s < t or (s == t and KINDS[NEXT](j, i, t, people)) for s, j in called if j != i) for t, i in called}
    return [i + 1 for rank in range(len(called)) for (_, i), earlier in before.items() if earlier == rank]""",
        answer="list",
    ),
    QueueQuestion(
        "waits",
        "the sum of the waits",
        WAIT + " What is the sum of the waits of all {folk} that are served?",
        '    return sum(call["called"] - call["come"] for call in calls)',
        "    return int(np.where(start, start - come, 0).sum())",
        '    return sum(t - people[i][0] for i in range(n) for t in minutes if is_("begins", i, t))',
    ),
    QueueQuestion(
        "card_waits",
        "the waits of those with priority",
        WAIT + " What is the wait of each {member} with {card} that is served? Give a list, in the order of "
        "their numbers; it may be empty.",
        '    return [call["called"] - call["come"] for call in sorted(calls, key=lambda one: '
        'one["number"]) if call["card"]]',
        "    return (start - come)[(start > 0) & (card == 1)].tolist()",
        "    return [t - people[i][0] for i in range(n) for t in minutes if people[i][2] == 1 and "
        'is_("begins", i, t)]',
        cards=True,
        answer="list",
    ),
    QueueQuestion(
        "lines",
        "how long the line is",
        "How many stand in the line at the end of each {unit} from {unit} 1 to {unit} {s1}? Give a list.",
        '    return [*line, *[0] * ask["minute"]][1 : ask["minute"] + 1]',
        '    return [int(waiting(m).sum()) for m in range(1, ask["minute"] + 1)]',
        '    return [sum(m in minutes and is_("waits", i, m) for i in range(n)) for m in range(1, '
        'ask["minute"] + 1)]',
        "minute",
        '{"minute": max([m for m, count in enumerate(line) if m and count] or [1])}',
        high=60,
        answer="list",
    ),
    QueueQuestion(
        "over",
        "who waits long",
        WAIT
        + f" Which of the {{folk}} that are served have a wait of more than {{s1}} {{units}}? {ASCENDING}",
        '    return sorted(call["number"] for call in calls if call["called"] > call["come"] + ask["limit"])',
        '    return (np.flatnonzero((start - come > ask["limit"]) & (start > 0)) + 1).tolist()',
        '    return [i + 1 for i in range(n) if any(is_("begins", i, t) and t - people[i][0] > '
        'ask["limit"] for t in minutes)]',
        "limit",
        '{"limit": random.randint(2, 4)}',
        low=2,
        high=20,
        answer="list",
    ),
    QueueQuestion(
        "word",
        "a word for what becomes of them",
        "For each {member}, in the order of their numbers, write one letter: A if the {member} is called "
        "in the {unit} of arriving, L if this happens later, and N if the {member} is never served. Which "
        "word do the letters make?",
        """    known = {call["number"]: "A" if call["called"] == call["come"] else "L" for call in calls}
    return "".join(known.get(number, "N") for number in range(1, len(people) + 1))""",
        '    return "".join(np.where(start == 0, "N", np.where(start > come, "L", "A")))',
        """    begun = [[t for t in minutes if is_("begins", i, t)] for i in range(n)]
    return "".join("N" if not at else "AL"[at[0] > people[i][0]] for i, at in enumerate(begun))""",
        answer="string",
    ),
    QueueQuestion(
        "busy",
        "when all are busy",
        f"In which {{units}} is a {{member}} being served at every {{desk}}? {ASCENDING}",
        '    return [m for m in range(len(line)) if sum(call["called"] <= m <= call["last"] for call in '
        'calls) == inputs["desks"]]',
        """    size = int(until.max()) + 2
    change = np.bincount(start, start > 0, size) - np.bincount(until + 1, until > 0, size)
    return np.flatnonzero(np.cumsum(change) == inputs["desks"]).tolist()""",
        '    return [t for t in minutes if sum(is_("serves", i, t) for i in range(n)) == inputs["desks"]]',
        answer="list",
    ),
)
