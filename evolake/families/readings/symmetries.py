"""What must not change an answer, and what must: data turned round, rows and columns, elements that do not
count, extremes."""

from __future__ import annotations

import random
import re
from typing import Any

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    KeyPath,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    integers,
    leaves,
    texts_in,
    without_elements,
)

WAYS = (
    (
        r"\b(?:rises?|rose|risen|ascents?|ascend\w*|upstairs|climb(?:s|ed|ing)?|increases?|increased|"
        r"gains?|gained|growth|grew|uphill|upward)\b",
        "upwards alone",
    ),
    (
        r"\b(?:falls?|fell|fallen|descents?|descend\w*|decreases?|decreased|drops?|dropped|sank|sinks?|"
        r"downhill|downstairs|loss|losses|downward)\b",
        "downwards alone",
    ),
)
BOTH_WAYS = (
    r"\b(?:differences?|changes?|chang\w+|up or down|up and down|either way|in either direction|distance|"
    r"apart|fluctuat\w+|order|sort\w*|rank\w*)\b"
)


def one_way(view: FamilyView) -> Examiner:
    """Examine whether rises alone count, or falls alone: turned round, rises are falls, so the same answer
    always means that both count."""
    denied = (
        r"\b(?:what|who|that|whatever)?[^.;,]{0,30}\b(?:not|never|nothing|ignored|without|no|except|apart "
        r"from)\b"
    )
    said = []
    for form, says in WAYS:
        found = [
            item
            for item in view.matching(form)
            if any(
                re.search(form, clause, re.IGNORECASE) and not re.search(denied, clause, re.IGNORECASE)
                for clause in re.split(r"[;:,]", item)
            )
        ]
        said += [(found, says)] if found else []
    steps = view.matching(
        r"\b(?:day|one|next|after|before|passed|in turn|hour|year|station|along|stages?|week|month|level|"
        r"heights?|values?)\b"
    )
    lists = (
        lists_of_numbers(view)
        if said and steps and not re.search(BOTH_WAYS, view.text, re.IGNORECASE)
        else []
    )
    paths = [path for path in lists if len(view.lists()) == 1]
    trials = [
        (place, changed(view.instances[place].inputs, path, at(view.instances[place].inputs, path)[::-1]))
        for path in paths
        for place in range(len(view.instances))
    ]
    given = yield Wanted([inputs for _, inputs in trials])
    same = [
        solved.status == "ok" and view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    shuffled = len({str(label) for label in view.labels})
    if len(same) < 12 or not all(same) or shuffled < 4:
        return []
    return [
        ReadingPlace(
            "rises and falls",
            said[0][0][0],
            said[0][1],
            "turned round, the data give the same answers",
            "contradicted",
            0,
            len(same),
        )
    ]


def rows_or_columns(view: FamilyView) -> Examiner:
    """Examine whether rows or columns are meant: what is in each row is put into another order, and what is
    in each column."""
    rows, columns = (
        view.matching(r"\brows?\b|\blines?\b|\bacross\b|\bhorizontal"),
        view.matching(r"\bcolumns?\b|\bfiles?\b|\bvertical"),
    )
    paths = (
        [path for path in view.lists() if all(_is_grid(at(item.inputs, path)) for item in view.instances)]
        if bool(rows) != bool(columns)
        else []
    )
    trials = []
    for path in paths[:1]:
        for place in view.few:
            grid = at(view.instances[place].inputs, path)
            chance = random.Random(len(grid))
            inside_rows = [_shuffled(row, chance) for row in grid]
            turned = [list(column) for column in zip(*[list(row) for row in grid], strict=True)]
            inside_columns = [
                list(row) for row in zip(*[_shuffled(column, chance) for column in turned], strict=True)
            ]
            if isinstance(grid[0], str):
                inside_columns = ["".join(row) for row in inside_columns]
            trials += [
                (place, changed(view.instances[place].inputs, path, new))
                for new in (inside_rows, inside_columns)
            ]
    given = yield Wanted([inputs for _, inputs in trials])
    same = [
        solved.status == "ok" and view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    by_rows, by_columns = same[0::2], same[1::2]
    if len(by_rows) < 4 or all(by_rows) == all(by_columns):
        return []
    says, sentence = ("row by row", rows[0]) if rows else ("column by column", columns[0])
    return [compared("rows or columns", sentence, says, "row by row" if all(by_rows) else "column by column")]


def _is_grid(value: Any) -> bool:
    if (
        not isinstance(value, list)
        or len(value) < 2
        or not all(isinstance(row, list | str) and len(row) == len(value[0]) > 1 for row in value)
    ):
        return False
    return len({type(cell) for row in value for cell in row}) == 1


def _shuffled(row: Any, chance: random.Random) -> Any:
    cells = list(row)
    chance.shuffle(cells)
    return "".join(cells) if isinstance(row, str) else cells


LARGE_WORDS = (
    r"\b(?:largest|highest|longest|heaviest|greatest|biggest|tallest|oldest|maximum|dearest|"
    r"most expensive|richest|strongest|fastest|latest|best|"
    r"the most|top)\b"
)
SMALL_WORDS = (
    r"\b(?:smallest|lowest|shortest|lightest|cheapest|fewest|youngest|minimum|poorest|weakest|slowest|"
    r"earliest|worst|the least|the fewest|bottom)\b"
)
SECOND_WORDS = (
    r"\b(?:runner-up|runners-up|second[- ](?:best|highest|largest|greatest|longest|smallest|lowest|"
    r"fastest|cheapest|place)|next[- ](?:best|highest|lowest))\b"
)
SCALE, RAISE = 1000, 7


def extremes_that_matter(view: FamilyView) -> Examiner:
    """Examine which extreme a program treats apart: numbers are spread out, and the largest, the second, the
    smallest and one between are raised."""
    large, small, second = view.matching(LARGE_WORDS), view.matching(SMALL_WORDS), view.matching(SECOND_WORDS)
    paths = (
        [path for path in lists_of_numbers(view) if len(view.lists()) == 1]
        if bool(large) != bool(small) or second
        else []
    )
    trials = []
    for path in paths:
        for place in view.few:
            inputs = view.instances[place].inputs
            items = [item * SCALE + 10 * number for number, item in enumerate(at(inputs, path))]
            if len(set(items)) < 5:
                continue
            order = sorted(range(len(items)), key=items.__getitem__)
            trials.append(changed(inputs, path, items))
            for index in (order[-1], order[-2], order[len(order) // 2], order[1], order[0]):
                trials.append(
                    changed(
                        inputs, path, [item + RAISE * (number == index) for number, item in enumerate(items)]
                    )
                )
    given = yield Wanted(trials)
    rises = []
    for start in range(0, len(trials), 6):
        answers = integers(given.answers[start : start + 6])
        if answers:
            rises.append(tuple(answer - answers[0] for answer in answers[1:]))
    if len(rises) < 3 or len(set(rises)) != 1:
        return []
    top, next_top, middle, next_low, low = rises[0]
    places = []
    if second and not (next_top != middle or next_low != middle):
        places.append(
            ReadingPlace(
                "the one next to the extreme",
                second[0],
                "the second matters",
                "the second is as any other",
                "contradicted",
            )
        )
    elif bool(large) != bool(small) and not second and (top == middle) != (low == middle):
        says = "the largest apart" if large else "the smallest apart"
        does = "the smallest apart" if top == middle else "the largest apart"
        places.append(compared("which extreme is apart", (large or small)[0], says, does))
    return places


IGNORED = (
    r"(?:\b(?:not|never|n't)\b[^.;]{0,20}\b(?:count\w*|charged|paid|includ\w*|consider\w*|matter|"
    r"regard\w*|add\w*|contribute)|\bignor\w*|\bleft out\b|\bskip\w*|\bdisregard\w*|\bleav\w+ out|"
    r"\bomit\w*|\bfor free\b|\bfree of charge\b|\bcounts? (?:as|for) nothing)"
)


def ignored_values(view: FamilyView) -> Examiner:
    """Examine whether what does not count does not: elements that hold a value which a sentence leaves out
    are taken away."""
    columns: dict[tuple[Any, ...], set[str]] = {}
    for item in view.instances:
        for where, value in texts_in(item.inputs):
            columns.setdefault(where, set()).add(value)
    named = {
        value: sentence
        for values in columns.values()
        if 2 <= len(values) <= 12
        for value in sorted(values)
        if len(value) > 1
        for sentence in view.sentences
        if re.search(rf"\b{re.escape(value)}(?:s|es)?\b[^.;,]{{0,40}}{IGNORED}", sentence, re.IGNORECASE)
    }
    return (
        yield from without_elements(
            view,
            named,
            view.lists(),
            lambda item, value: item == value or (isinstance(item, list) and value in item),
            least=8,
        )
    )


def ignored_gaps(view: FamilyView) -> Examiner:
    """Examine whether spaces, hyphens or commas inside texts count where a sentence says that they do not:
    they are taken away."""
    stated = view.matching(
        rf"\b(?:spaces?|gaps?|blanks?|hyphens?|punctuation|apostrophes?)\b[^.;]{{0,30}}{IGNORED}|"
        r"\b(?:without|not counting|ignoring|apart from|except) (?:the )?(?:spaces?|gaps?|blanks?|"
        r"hyphens?|punctuation)"
    )
    paths: list[KeyPath] = []
    if stated:
        paths = [
            path
            for path, value in leaves(view.instances[0].inputs)
            if isinstance(value, str)
            or (isinstance(value, list) and value and all(isinstance(item, str) for item in value))
        ]
    trials = []
    for path in paths:
        for place in range(len(view.instances)):
            value = at(view.instances[place].inputs, path)
            new = (
                [re.sub(r"[ '-]", "", item) for item in value]
                if isinstance(value, list)
                else re.sub(r"[ '-]", "", value)
            )
            if new != value:
                trials.append((place, changed(view.instances[place].inputs, path, new)))
    given = yield Wanted([inputs for _, inputs in trials])
    others = [
        solved.status == "ok" and not view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    if len(others) < 8 or not all(type(label) is int for label in view.labels):
        return []
    does = "they count" if sum(others) * 2 > len(others) else "they do not"
    return [compared("whether gaps count", stated[0], "they do not", does, sum(others), len(others))]


def equals_in_texts(view: FamilyView) -> Examiner:
    """Examine which of equally frequent words is answered: the first seen, the last, or the first or last by
    the alphabet."""
    stated = []
    for sentence in view.sentences:
        if re.search(
            r"\b(?:several|more than one|two or more|equally|ties?|tied|equal|the same number|as often)\b",
            sentence,
            re.IGNORECASE,
        ):
            alphabet = re.search(r"\balphabet", sentence, re.IGNORECASE)
            first = re.search(
                r"\b(?:first|earliest|earlier|before (?:the )?(?:others?|all|any)|sooner|foremost)\b",
                sentence,
                re.IGNORECASE,
            )
            last = re.search(
                r"\b(?:last|latest|later|after (?:the )?(?:others?|all)|most recent\w*)\b",
                sentence,
                re.IGNORECASE,
            )
            if bool(first) != bool(last) or alphabet:
                if alphabet:
                    meant = "the alphabet"
                elif first:
                    meant = "the first seen"
                else:
                    meant = "the last seen"
                stated.append((sentence, meant))
    paths = []
    if len({says for _, says in stated}) == 1 and all(isinstance(label, str) for label in view.labels):
        paths = [
            path
            for path in view.lists()
            if all(isinstance(item, str) for item in at(view.instances[0].inputs, path))
        ]
    trials = []
    for path in paths[:1]:
        for place in view.few:
            low, high = (sorted(set(at(view.instances[place].inputs, path))) * 2)[:2]
            if low != high:
                for order in (
                    [high, low, low, high],
                    [low, high, high, low],
                    [high, low, high, low],
                    [low, high, low, high],
                ):
                    trials.append((low, changed(view.instances[place].inputs, path, order)))
    given = yield Wanted([inputs for _, inputs in trials])
    known = {
        ("h", "l", "h", "l"): "the first seen",
        ("h", "l", "l", "h"): "the last seen",
        ("l",) * 4: "the alphabet",
        ("h",) * 4: "the alphabet",
    }
    ways = []
    for start in range(0, len(trials), 4):
        answers = tuple(
            "l" if solved.answer == trials[start][0] else "h" for solved in given.answers[start : start + 4]
        )
        ways.append(known.get(answers, "?"))
    if len(ways) < 3 or len(set(ways)) != 1 or "?" in ways:
        return []
    return [compared("which of equals is meant", stated[0][0], stated[0][1], ways[0])]


def shared_ranks(view: FamilyView) -> Examiner:
    """Examine which rank comes after a shared one: the next number, or as many later as share it."""
    skipped = view.matching(
        r"\branks?\b[^.;]*\b(?:empty|skipped|left out|free|missing|omitted|jumped)\b|"
        r"\bfollowed by (?:an? |rank |the )?(?:third|3)\b|"
        r"\b(?:as many|that many) (?:ranks|places)\b"
    )
    dense = view.matching(
        r"\b(?:no|without) (?:ranks?|places?|numbers?|gaps?)\b[^.;]*\b(?:skipped|empty|left out|missing|"
        r"gaps?)\b|\bwithout gaps\b|\bfollowed by (?:an? |rank |the )?(?:second|2)\b|\bnext (?:lower "
        r")?(?:rank|place) (?:is|goes)\b"
    )
    paths = lists_of_numbers(view) if bool(skipped) != bool(dense) else []
    trials = [
        changed(view.instances[place].inputs, path, [9, 9, 5, 5, 2])
        for path in paths[:1]
        for place in view.few[:3]
    ]
    given = yield Wanted(trials)
    ways = {str(solved.answer) for solved in given.answers}
    does = {
        "[1, 1, 3, 3, 5]": "later",
        "[5, 5, 3, 3, 1]": "later",
        "[1, 1, 2, 2, 3]": "the next",
        "[3, 3, 2, 2, 1]": "the next",
        "[4, 4, 2, 2, 1]": "later",
    }.get(ways.pop() if len(ways) == 1 else "", "")
    return (
        [
            compared(
                "the rank after a shared one", (skipped or dense)[0], "later" if skipped else "the next", does
            )
        ]
        if does
        else []
    )


AT_START = (
    r"\bfirst\b[^.;]{0,60}\b(?:at once|immediately|straight away|right away|at the (?:very )?(?:start|"
    r"beginning|outset)|at (?:hour|minute|second|time|day|metre|kilometre|place|point|mark) (?:0|zero))\b|"
    r"\bat (?:both|each|either) ends?\b|\b(?:begin|start)s? (?:at once|immediately|with one)\b"
)


def at_the_start(view: FamilyView) -> Examiner:
    """Examine whether what comes at the very start is counted: all spans become nothing, and there must still
    be one of each."""
    stated = view.matching(AT_START) if re.search(r"\bhow many\b", view.question, re.IGNORECASE) else []
    paths = []
    for path in view.lists() if stated else []:
        items = at(view.instances[0].inputs, path)
        if all(
            isinstance(item, list) and len(item) == 2 and all(type(part) is int for part in item)
            for item in items
        ):
            paths.append(path)
    trials = [
        (
            len(at(view.instances[place].inputs, path)),
            changed(
                view.instances[place].inputs,
                path,
                [[item[0], 0] for item in at(view.instances[place].inputs, path)],
            ),
        )
        for path in paths[:1]
        for place in view.few
    ]
    given = yield Wanted([inputs for _, inputs in trials])
    seen = {
        {0: "none", size: "one each"}.get(solved.answer, "?") if type(solved.answer) is int else "?"
        for (size, _), solved in zip(trials, given.answers, strict=True)
        if solved.status == "ok"
    }
    if len(seen) != 1 or "?" in seen:
        return []
    does = seen.pop()
    return [compared("what comes at the very start", stated[0], "one each", does)]


SMALLER_ONE = r"\b(?:cheaper|smaller|lower|lesser|lighter|shorter|younger|weaker|slower|worse|earlier)\b"
LARGER_ONE = (
    r"\b(?:dearer|larger|higher|greater|bigger|heavier|longer|taller|older|stronger|faster|better|later|"
    r"more expensive)\b"
)
LEFT_OUT = (
    r"[^.;]{0,25}\b(?:free|nothing|not counted|does not count|is not paid|left out|dropped|struck|ignored|"
    r"crossed|away|lost|half|halved|less)\b"
)


def sides_of_pairs(view: FamilyView) -> Examiner:
    """Examine which of two numbers of a record is left out: the larger one is raised, and the smaller one
    lowered."""
    small = view.matching(SMALLER_ONE + r" (?:one|of|\w+)?" + LEFT_OUT)
    large = view.matching(LARGER_ONE + r" (?:one|of|\w+)?" + LEFT_OUT)
    paths = []
    for path in view.lists() if bool(small) != bool(large) else []:
        items = [item for place in view.few for item in at(view.instances[place].inputs, path)]
        if all(
            isinstance(item, list) and len(item) == 2 and all(type(part) is int for part in item)
            for item in items
        ):
            paths.append(path)
    trials = []
    for path in paths[:1]:
        for place in view.few:
            inputs = view.instances[place].inputs
            items = at(inputs, path)
            for larger in (True, False):
                new = []
                for item in items:
                    side = item.index(max(item) if larger else min(item))
                    new.append(
                        [
                            part + (50 if larger else -50) * (number == side)
                            for number, part in enumerate(item)
                        ]
                    )
                trials.append((place, changed(inputs, path, new)))
    given = yield Wanted([inputs for _, inputs in trials])
    moved = [
        solved.status != "ok" or not view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    by_larger, by_smaller = moved[0::2], moved[1::2]
    if len(by_larger) < 4 or any(by_larger) == any(by_smaller):
        return []
    says = "the smaller one" if small else "the larger one"
    return [
        compared(
            "which of two is left out",
            (small or large)[0],
            says,
            "the smaller one" if any(by_larger) else "the larger one",
        )
    ]
