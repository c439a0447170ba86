"""The sources of a queue's family: generator, reader and three engines that share no code.

    simulation  minute by minute, with a list of those in the line
    table       from call to call: the next one is at the earliest minute at which a desk is free and somebody is there
    clauses     a variable for each person and minute of beginning, waiting, being served; a SAT solver finds the one course that the rules allow
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake.families.worlds.parts import constants_of
from evolake.families.worlds.queues.questions import QueueQuestion
from evolake.families.worlds.queues.rules import HEADS, Chosen, functions

Rules = Mapping[str, Sequence[Chosen]]
"""Point -> its alternatives, of which the first is in force."""
RUN = '''

def held(people, desks):
    """The calls in their order, the numbers of those who went away, and how many stand in the line at the end of each minute."""
    everybody = [{"number": number, "come": one[0], "need": one[1], "card": one[2]} for number, one in enumerate(people, start=1)]
    waiting, taken, calls, gone, line, t = [], [0] * desks, [], [], [0], 0
    while len(calls) + len(gone) < len(everybody) or t < max(taken):
        t += 1
        for c in everybody:
            if c["come"] == t:
                (gone if leave(c, len(waiting), None) else waiting).append(c)
        for desk in range(desks):
            if taken[desk] < t and waiting:
                c = min(waiting, key=lambda c: order(c, t))
                waiting.remove(c)
                lasting, closed = pace(c, t)
                calls.append({**c, "called": t, "last": t + lasting - 1})
                taken[desk] = t + lasting + closed - 1
        for c in list(waiting):
            if leave(c, len(waiting) - 1, t - c["come"]):
                waiting.remove(c)
                gone.append(c)
        line.append(len(waiting))
    return calls, gone, line
'''
CHECKED = '''

def solution(inputs):
    if not isinstance(inputs, dict) or {"desks", "people", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "desks, people, ask"}
    ask, people = inputs["ask"], PEOPLE
'''
TABLE = '''

def courses(people, desks):
    come, need, card = np.array(people).T
    latest, borne = KINDS[LEAVE](come, need, card)
    start, until, rank = np.zeros((3, come.size), int)
    joined, free = np.zeros(come.size, bool), np.ones(desks, int)

    def waiting(m):
        """Who stands in the line at the end of minute m."""
        return joined & (come <= m) & (latest > m) & ((start == 0) | (start > m))

    def call_until(end):
        while True:
            w = np.flatnonzero(joined & (start == 0) & (latest >= np.maximum(come, free.min())))
            t = max(free.min(), come[w].min()) if w.size else end
            if t >= end:
                return
            i = KINDS[NEXT](w[come[w] <= t], t, need, card)
            lasting, closed = KINDS[PACE](i, t, come, need, card)
            start[i], until[i], rank[i] = t, t + lasting - 1, rank.max() + 1
            free[free.argmin()] = t + lasting + closed

    for i in range(come.size):
        call_until(come[i])
        joined[i] = waiting(come[i] - 1).sum() <= borne[i]
    call_until(FOREVER)
    return come, need, card, start, until, rank, free, waiting
'''
CLAUSES = '''

def barred(others, need, card):
    """The least number of others that somebody does not bear to find on arriving; None where any is borne."""
    return next((k for k in range(others + 1) if KINDS[LEAVE](-1, k, need, card)), None)


def allowed(people, t, i):
    """(minutes served, minutes closed after it) of a service that begins in minute t."""
    come, need, card = people[i]
    return next((s, c) for s in range(need + 1, 0, -1) for c in range(4) if KINDS[PACE](s, c, t, t - come, need, card))


def unrolled(people, desks, minutes, L):
    n = len(people)
    for i, (come, need, card) in enumerate(people):
        yield from ([-L(kind, i, t)] for kind in ("begins", "waits") for t in minutes if t < come)
        at = [L("waits", j, come - 1) for j in range(i)] if come > 1 else []
        k = barred(len(at), need, card)
        if k is None:
            yield [L("joins", i, 0)]
        else:
            yield from ([*(-one for one in some), -L("joins", i, 0)] for some in combinations(at, k))
            yield from ([*some, L("joins", i, 0)] for some in combinations(at, len(at) - k + 1))
        for t in minutes:
            if t < come:
                continue
            there, begins, waits = L("joins", i, 0) if t == come else L("waits", i, t - 1), L("begins", i, t), L("waits", i, t)
            goes = KINDS[LEAVE](t - come, 0, need, card)
            yield from ([-begins, there], [-waits, there], [-waits, -begins], [-waits] if goes else [-there, begins, waits])
            yield [-there, begins, L("full", 0, t)]
            for j in range(n):
                if j != i and people[j][0] <= t and KINDS[NEXT](j, i, t, people):
                    here = L("joins", j, 0) if t == people[j][0] else L("waits", j, t - 1)
                    yield [-begins, -here, L("begins", j, t)]
        causes = {(kind, t): [] for kind in ("serves", "holds") for t in minutes}
        for s in range(come, minutes.stop):
            lasting, closed = allowed(people, s, i)
            for kind, more in (("serves", 0), ("holds", closed)):
                for t in range(s, min(s + lasting + more, minutes.stop)):
                    causes[kind, t].append(L("begins", i, s))
        for (kind, t), begun in causes.items():
            yield [-L(kind, i, t), *begun]
            yield from ([-one, L(kind, i, t)] for one in begun)
    for t in minutes:
        yield from counted([L("holds", i, t) for i in range(n) if people[i][0] <= t], desks, lambda k, i, t=t: L(k, i, t), L("full", 0, t))


def counted(held, desks, L, full):
    """No more desks are held than there are, and where `full` holds, all of them are. L(k, i): at least k are held by the first i persons."""
    yield from ([L(0, 0)], *([-L(k, 0)] for k in range(1, desks + 2)))
    for i, one in enumerate(held):
        for k in range(desks + 2):
            yield from ([-L(k, i), L(k, i + 1)], [-L(k, i + 1), L(k, i), one])
            if k:
                yield from ([-L(k - 1, i), -one, L(k, i + 1)], [-L(k, i + 1), L(k, i), L(k - 1, i)])
    yield from ([-L(desks + 1, len(held))], [-full, L(desks, len(held))])
'''
CLAUSES_BODY = '''    n, desks = len(people), inputs["desks"]
    longest = [max(sum(allowed(people, t, i)) for t in (people[i][0], FOREVER)) + 1 for i in range(n)]
    # from the last arrival that found a desk free until the last call, every desk is held
    end = max(people[i][0] + sum(longest[i:]) // desks for i in range(n)) + 2 * max(longest)
    minutes = range(1, end + 1)
    kinds = ["begins", "waits", "serves", "holds", "full", "joins", *range(desks + 2)]
    number = {kind: place for place, kind in enumerate(kinds, start=1)}

    def L(kind, i, t):
        return number[kind] + (t * (n + 1) + i) * len(kinds)

    with Minisat22(bootstrap_with=unrolled(people, desks, minutes, L)) as solver:
        if not solver.solve():
            return {"status": "schema_error", "detail": "no course"}
        model = solver.get_model()

    def is_(kind, i, t):
        return model[L(kind, i, t) - 1] > 0

'''
GENERATE = '''

def input(difficulty):
    desks = random.choice((1, 2) if difficulty < 5 else (1, 2, 3))
    at, people = 0, []
    for _ in range(5 + 4 * difficulty // 5):
        at += random.randint(1, (5, 3, 2)[desks - 1])
        people.append([at, random.randint(1 + desks, 5 + desks){drawn}])
    calls, gone, line = held({people}, desks)
    ask = {make}
    lines = [SAYS[{which}].format(i, *one) for i, one in enumerate(people, start=1)]
    return {{"desks": desks, "people": people, "ask": ask}}, [str(desks), "\\n".join(lines), *map(str, ask.values())]
'''
READ = '''

def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    people = []
    for number, line in enumerate(match["slot2"].split("\\n"), start=1):
        [(card, found)] = [(card, found) for card, form in enumerate(FORMS) if (found := re.fullmatch(form, line))]
        if int(found[1]) != number:
            raise ValueError(f"not in order: {{line}}")
        people.append([int(found[2]), int(found[3]){card}])
    return {{"desks": int(match["slot1"]), "people": people, "ask": {{{ask}}}}}
'''
PEOPLE = {True: 'inputs["people"]', False: '[(*one, 0) for one in inputs["people"]]'}


def simulation_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """The primary. cards: whether the inputs say who has a card."""
    return (
        '"""Minute by minute, with a list of those in the line."""\n\n' + constants_of(rules) + _cases(rules) + RUN + _checked(cards)
        + f'    calls, gone, line = held(people, inputs["desks"])\n{question.run}\n'
    )


def table_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """An independent validator."""
    return (
        '"""From call to call: the next is where a desk is free and somebody is there."""\n\nimport numpy as np\n\nFOREVER = 10**6\n'
        + constants_of(rules) + functions(_all(rules), "table") + _kinds(rules) + TABLE + _checked(cards)
        + f'    come, need, card, start, until, rank, free, waiting = courses(people, inputs["desks"])\n{question.table}\n'
    )


def clauses_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """An independent validator."""
    return (
        '"""Clauses say what may be in each minute, and a SAT solver finds the course."""\n\nfrom itertools import combinations\n\n'
        "from pysat.solvers import Minisat22\n\nFOREVER = 10**6\n" + constants_of(rules) + functions(_all(rules), "relation") + _kinds(rules)
        + CLAUSES + _checked(cards) + CLAUSES_BODY + question.clauses + "\n"
    )


def generator_source(rules: Rules, question: QueueQuestion, says: Sequence[str], *, cards: bool) -> str:
    """The generator. says: how a line speaks of a person, with {0} for the number, {1} of arriving and {2} of the need; without and with a card."""
    summary = {True: ("one[2]", ", random.randrange(2)", "people"), False: ("0", "", "[(*one, 0) for one in people]")}[cards]
    which, drawn, people = summary
    return (
        "import random\n\n" + f"SAYS = {list(says)!r}\n" + constants_of(rules) + _cases(rules) + RUN
        + GENERATE.format(drawn=drawn, people=people, which=which, make=question.make)
    )


def reader_source(whole: str, declared: str, question: QueueQuestion, forms: Sequence[str], *, cards: bool) -> str:
    """The reader. whole: the expression of the whole statement. declared: the assignment of its sentences. forms: expressions of `says`."""
    ask = f'"{question.key}": int(match["slot3"])' if question.key else ""
    return (
        "import re\n\n" + f"WHOLE = {whole!r}\nFORMS = {list(forms)!r}\n{declared}" + READ.format(ask=ask, card=", card" if cards else "")
    )


def _cases(rules: Rules) -> str:
    """The rules as one function for each point, of which each is a case."""
    names = {"next": "order", "leave": "leave", "pace": "pace"}
    results = ""
    for point, alternatives in rules.items():
        results += f"\n\ndef {names[point]}({HEADS[point, 'run']}):\n"
        results += "".join(f'    if {point.upper()} == "{item.key}":\n        return {item.code("run")}\n' for item in alternatives)
    return results


def _checked(cards: bool) -> str:
    return CHECKED.replace("PEOPLE", PEOPLE[cards])


def _all(rules: Rules) -> list[Chosen]:
    return [rule for alternatives in rules.values() for rule in alternatives]


def _kinds(rules: Rules) -> str:
    return "\n\nKINDS = {" + ", ".join(f'"{item.key}": {item.key}' for item in _all(rules)) + "}\n"
