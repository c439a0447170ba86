"""Questions on all the arrangements that fit a world's constraints, with the answer of each engine.

`make` draws what is asked, in the generator, from `open_`, the views that fit; it sets `ask` and `texts`, or
leaves `ask` None. `search` folds `found`, mappings of things to values; `sat` asks a solver, through
`models(clauses)` and `possible(clauses, literals)`; `listing` folds `views`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.model.contract import Alternative, AnswerType, MutationPoint


@dataclass(frozen=True)
class Question:
    """structures: where it may be asked. text: with {s1}, {s2} for its slots. keys: of `ask`, one per slot.

    least, most: how many arrangements an instance leaves. point: the rule that the text holds.
    """

    name: str
    title: str
    structures: tuple[str, ...]
    text: str
    make: str
    search: str
    sat: str
    listing: str
    keys: tuple[str, ...] = ()
    answer: AnswerType = "integer"
    least: int = 3
    most: int = 60
    point: str | None = None


PLACED = ("row", "ring", "groups")
ORDERS = ("row", "ring")
EVERYWHERE = (*PLACED, "selection")
MAKE_ONE = """    moved = [e for e in range(count) if len({value(view, e) for view in open_}) > 1]
    thing = random.choice(moved or range(count))
    ask, texts = {"thing": thing}, [names[thing]]
"""
STATEMENTS = """    statements = []
    while len(statements) < 4 + difficulty // 3:
        drawn = clue(random.choice(open_) if random.random() < 0.7 else hidden, count, n, more)
        if drawn not in clues and drawn not in statements:
            statements.append(drawn)
    ask, texts = {"statements": statements}, ["\\n".join(f"({i + 1}) {said(one, names)}" for i, one in enumerate(statements))]
"""
EXTREME = "[Rule extreme]"
QUESTIONS = (
    Question(
        "count",
        "in how many ways",
        EVERYWHERE,
        "How many different {ways} fit everything that is said?",
        "    ask, texts = {}, []\n",
        "    return len(found)",
        "    return len(models(clauses))",
        "    return sum(1 for _ in views)",
        least=4,
    ),
    Question(
        "extreme",
        "the least or greatest number of each",
        PLACED,
        f"What is the {EXTREME} possible number of the {{place}} of each of the {{folk}}? Give a mapping "
        "from the names to these numbers.",
        "    ask, texts = {}, []\n",
        '    return {names[e]: (min if EXTREME == "smallest" else max)(x[e] for x in found) for e in '
        "range(count)}",
        """    order = V if EXTREME == "smallest" else V[::-1]
    return {names[e]: next(v for v in order if possible(clauses, [X(e, v)])) for e in S}""",
        """    end = 0 if EXTREME == "smallest" else -1
    return {names[e]: sorted(value(view, e) for view in views)[end] for e in range(count)}""",
        answer="mapping",
        point="extreme",
        most=24,
    ),
    Question(
        "possible",
        "which numbers are possible",
        ORDERS,
        "Which {places} are possible for {s1}? Give a list of their numbers in ascending order.",
        MAKE_ONE,
        '    return sorted({x[ask["thing"]] for x in found})',
        '    return [v for v in V if possible(clauses, [X(ask["thing"], v)])]',
        '    return [place for place in range(1, n + 1) if any(value(view, ask["thing"]) == place for '
        "view in views)]",
        ("thing",),
        "list",
        most=40,
    ),
    Question(
        "certain",
        "which are settled",
        PLACED,
        "For which of the {folk} is the {place} settled, being the same in all the {ways} that fit "
        "everything that is said? Give a mapping from the name of each of them to the number of the "
        "{place}; it may be empty.",
        "    ask, texts = {}, []\n",
        "    return {names[e]: found[0][e] for e in range(count) if len({x[e] for x in found}) == 1}",
        """    open_values = {e: [v for v in V if possible(clauses, [X(e, v)])] for e in S}
    return {names[e]: values[0] for e, values in open_values.items() if len(values) == 1}""",
        """    first = views[0]
    return {names[e]: value(first, e) for e in range(count) if all(value(view, e) == value(first, e) for view in views)}""",
        answer="mapping",
        least=2,
        most=4,
    ),
    Question(
        "statements",
        "what follows and what is possible",
        EVERYWHERE,
        "Look at these statements:\n\n{s1}\n\nWhich of them [Rule force]? Give a list of their numbers in "
        "ascending order; it may be empty.",
        STATEMENTS,
        """    met = [[KINDS[kind][0](x, *more, *args) for x in found] for kind, *args in ask["statements"]]
    return [number for number, row in enumerate(met, start=1) if (all if FORCE == "must" else any)(row)]""",
        """    whole, holding = len(models(clauses)), []
    for place, (kind, *args) in enumerate(ask["statements"]):
        both = [*clauses, *KINDS[kind](X, V, S, *given, *args)]
        if len(models(both)) == whole if FORCE == "must" else possible(both, []):
            holding.append(place + 1)
    return holding""",
        """    holding, number = [], 0
    for kind, *args in ask["statements"]:
        number += 1
        true = sum(bool(KINDS[kind](view, *more, *args)) for view in views)
        if true == len(views) if FORCE == "must" else true > 0:
            holding.append(number)
    return holding""",
        ("statements",),
        "list",
        point="force",
        most=10,
    ),
    Question(
        "weight",
        "the least or greatest total",
        ("selection",),
        f"What is the {EXTREME} total {{total}} of a choice that fits everything that is said?",
        "    ask, texts = {}, []\n",
        '    return (min if EXTREME == "smallest" else max)(sum(weight for e, weight in '
        "enumerate(weights) if x[e]) for x in found)",
        """    totals = [sum(weights[e] for e in S if model[X(e, 1) - 1] > 0) for model in models(clauses)]
    return sorted(totals)[0 if EXTREME == "smallest" else -1]""",
        """    best = None
    for team in views:
        total = sum(map(weights.__getitem__, team))
        if best is None or (total < best if EXTREME == "smallest" else total > best):
            best = total
    return best""",
        point="extreme",
    ),
    Question(
        "who",
        "the number of each",
        ORDERS,
        "Exactly one arrangement fits everything that is said. Which number does each of the {folk} have "
        "in it? Give a mapping from the names to the numbers.",
        "    ask, texts = {}, []\n",
        """    if len(found) != 1:
        return {"status": "schema_error", "detail": "more or less than one arrangement"}
    return {names[e]: place for e, place in found[0].items()}""",
        """    if len(models(clauses)) != 1:
        return {"status": "schema_error", "detail": "not one arrangement"}
    return {names[e]: next(v for v in V if possible(clauses, [X(e, v)])) for e in S}""",
        """    [order] = views
    return {names[e]: place for place, e in enumerate(order, start=1)}""",
        answer="mapping",
        least=1,
        most=1,
    ),
    Question(
        "word",
        "the one order that fits",
        ORDERS,
        "Exactly one arrangement fits everything that is said. Which word do the first letters of the "
        "names make, in the order of their numbers from 1 upwards?",
        "    ask, texts = {}, []\n",
        """    if len(found) != 1:
        return {"status": "schema_error", "detail": "more or less than one arrangement"}
    return "".join(names[e][0] for e in sorted(found[0], key=found[0].get))""",
        """    [model] = models(clauses)
    return "".join(names[e][0] for v in V for e in S if model[X(e, v) - 1] > 0)""",
        """    [order] = views
    return "".join(names[e][:1] for e in order)""",
        answer="string",
        least=1,
        most=1,
    ),
    Question(
        "kth",
        "one order from the list of all",
        ORDERS,
        "Write each arrangement that fits everything that is said as a word: the first letters of the "
        "names in the order of their numbers, from 1 upwards. Sort these words alphabetically. Which word "
        "is number {s1} of the sorted list, counted from 1?",
        """    rank = random.randint(1, len(open_))
    ask, texts = {"rank": rank}, [str(rank)]
""",
        '    return sorted("".join(names[e][0] for e in sorted(x, key=x.get)) for x in found)[ask["rank"] '
        "- 1]",
        """    words = ["".join(names[e][0] for v in V for e in S if model[X(e, v) - 1] > 0) for model in models(clauses)]
    return next(word for word in words if sum(other <= word for other in words) == ask["rank"])""",
        """    words = ["".join(names[e][:1] for e in order) for order in views]
    for _ in range(ask["rank"] - 1):
        words.remove(min(words))
    return min(words)""",
        ("rank",),
        "string",
        least=5,
        most=40,
    ),
    Question(
        "best",
        "the one best choice",
        ("selection",),
        f"Of the choices that fit everything that is said, exactly one has the {EXTREME} total {{total}}. "
        "Which word do the first letters of the {folk} that "
        "are {part} in it make, in alphabetical order?",
        """    totals = sorted(sum(weights[e] for e in view) for view in open_)
    if totals[0] < totals[1] and totals[-2] < totals[-1] and totals[0] > 0:
        ask, texts = {}, []
""",
        """    total = {tuple(x.values()): sum(weight for e, weight in enumerate(weights) if x[e]) for x in found}
    best = (min if EXTREME == "smallest" else max)(total.values())
    if list(total.values()).count(best) != 1:
        return {"status": "schema_error", "detail": "several best choices"}
    return "".join(sorted(names[e][0] for e, taken in enumerate(next(key for key in total if total[key] == best)) if taken))""",
        """    rated = sorted((sum(weights[e] for e in S if model[X(e, 1) - 1] > 0), model) for model in models(clauses))
    model = rated[0 if EXTREME == "smallest" else -1][1]
    return "".join(sorted(names[e][0] for e in S if model[X(e, 1) - 1] > 0))""",
        """    sign = 1 if EXTREME == "smallest" else -1
    team = min(views, key=lambda some: sign * sum(map(weights.__getitem__, some)))
    return "".join(sorted(names[e][:1] for e in team))""",
        answer="string",
        point="extreme",
        most=40,
    ),
)


def points_of(question: Question, ways: str) -> tuple[MutationPoint, ...]:
    """Return the rule slot of a question: which end, or certain against possible. ways: what the arrangements
    are called, singular."""
    if question.point == "extreme":
        ends = tuple(Alternative(name, name, f'"{name}"') for name in ("smallest", "largest"))
        return (MutationPoint("extreme", ends, "smallest"),)
    if question.point == "force":
        texts = {
            "must": f"hold in every {ways} that fits the rules and what is known",
            "can": f"hold in at least one {ways} that fits the rules and what is known",
        }
        return (
            MutationPoint(
                "force", tuple(Alternative(name, text, f'"{name}"') for name, text in texts.items()), "must"
            ),
        )
    return ()
