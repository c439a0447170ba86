"""Where answers jump when numbers of the data grow one by one: begun units, spans of days, halves, and what a
border changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

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
)

STARTED = (
    r"\b(?:started|begun|commenced|broken|incomplete|unfinished|opened|partial|"
    r"begins)\b[^.;]{0,50}\b(?:whole|full|complete|charged|counts?|counted|paid|pays?|costs?|as one|in "
    r"full|for one)\b|\b(?:each|every|per|any) (?:started|begun|commenced|partial)\b|\b(?:part|fraction|"
    r"piece|rest|remainder) of an? \w+[^.;]{0,40}\b(?:whole|full|counts|charged|complete)\b|\b(?:even|"
    r"also) (?:if|when) (?:it|the \w+|one) is not (?:full|complete|filled|used up)\b|\bround\w* (?:\w+ "
    r"){0,3}up\b"
)
ONLY_FULL = (
    r"\bonly (?:\w+ )?(?:full|whole|complete|finished|entire)\b|\b(?:full|whole|complete|finished) \w+ "
    r"only\b|\b(?:started|begun|unfinished|incomplete|partial|broken)\b[^.;]{0,50}\b(?:not|nothing|free|"
    r"ignored|lost|never)\b|\bround\w* (?:\w+ ){0,3}down\b"
)
UNITS = (
    (r"\bhours?\b", 60),
    (r"\bminutes?\b", 60),
    (r"\bmet(?:re|er)s?\b", 100),
    (r"\bdays?\b", 24),
    (r"\bweeks?\b", 7),
    (r"\bdozens?\b", 12),
    (r"\bkilo\w+\b", 1000),
    (r"\blit(?:re|er)s?\b", 1000),
)
WORDS = {
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "hundred": 100,
}
MOST_UNITS = 4


def lists_of_numbers(view: FamilyView) -> list[KeyPath]:
    """Return the paths of lists that hold integers alone."""
    return [
        path
        for path in view.lists()
        if all(type(item) is int for place in view.few for item in at(view.instances[place].inputs, path))
    ]


def begun_units(view: FamilyView) -> Examiner:
    """Examine whether a begun unit counts: all numbers of the data grow from below a multiple of the unit to
    above it."""
    up, down = view.matching(STARTED), view.matching(ONLY_FULL)
    paths = lists_of_numbers(view) if bool(up) != bool(down) else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:5]:
            inputs = view.instances[place].inputs
            for unit in list(_units(view, inputs))[:MOST_UNITS]:
                for value in range(2 * unit - 1, 2 * unit + 3):
                    trials.append((unit, changed(inputs, path, [value] * len(at(inputs, path)))))
    given = yield Wanted([inputs for _, inputs in trials])
    ways = set()
    for start in range(0, len(trials), 4):
        answers = integers(given.answers[start : start + 4])
        if answers:
            jumps = [later != earlier for earlier, later in pairwise(answers)]
            if jumps == [True, False, False]:
                way = {"does not count"}
            elif jumps == [False, True, False]:
                way = {"counts as a whole one"}
            else:
                way = set()
            ways |= way
    if len(ways) != 1:
        return []
    says = "counts as a whole one" if up else "does not count"
    return [compared("a begun unit", (up or down)[0], says, ways.pop())]


def _units(view: FamilyView, inputs: object) -> Iterator[int]:
    found = {int(text) for text in re.findall(r"(?<![#\d])\b\d{1,4}\b", view.text)}
    found |= {value for word, value in WORDS.items() if re.search(rf"\b{word}\b", view.text, re.IGNORECASE)}
    found |= {value for form, value in UNITS if re.search(form, view.text, re.IGNORECASE)}
    found |= {at(inputs, number.path) for number in view.numbers.values()}
    yield from sorted(item for item in found if 3 <= item <= 1000)


COUNTED = r"(?:count\w*|includ\w*|paid|pays?|charged|costs?|belongs?|part of|calculated|reckoned|billed)"
AN_END = (
    r"(?:(?:first|last|latter|former|second|final|closing|opening) (?:of (?:the|these|those) )?(?:one|day|"
    r"night|year|hour|number|two)?|(?:day|night|date|morning|evening|year|hour) (?:of|on which) [\w' "
    r"]{2,30}?|end|start|departure|arrival|return)"
)
NOT_COUNTED = (
    rf"\b{AN_END}\b[^.;]{{0,25}}\b(?:is|are|does|do)? ?(?:not|never|no longer|"
    rf"n't)\b[^.;]{{0,15}}\b{COUNTED}\b",
    rf"\b(?:not|without|excluding|except|minus)\b (?:{COUNTED} )?(?:the )?{AN_END}\b",
    r"\bup to,? but (?:not including|excluding|without)\b|\bbut not including\b|\bexclusive of the "
    r"(?:last|first|end)\b",
    rf"\b{AN_END} (?:is )?(?:free|excluded|left out)\b",
    rf"\b{AN_END} is {COUNTED},? (?:and |but |while )?(?:the )?{AN_END} is not\b",
)
BOTH_COUNTED = (
    r"\binclusive\b|\bboth\b[^.;]{0,30}\b(?:count\w*|includ\w*|paid|belong)|\bincluding both\b|\bfirst "
    r"and (?:the )?last\b[^.;]{0,30}\b(?:count\w*|includ\w*|paid|too|as well)\b|\b(?:last|final) (?:day|"
    r"one)\b[^.;]{0,25}\b(?:still|too|as well|also|included|counts|inclusive)\b|\b(?:last|final) (?:of "
    r"(?:the|these|those) )\w+\b[^.;]{0,25}\b(?:still|too|as well|also|included|counts)\b|\bthrough\b"
)
HALF_OPEN, CLOSED, OPEN = "one end is not counted", "both ends are counted", "no end is counted"
NEITHER = (
    r"\b(?:days?|years?|those|ones|numbers?|weeks?) (?:that (?:are|"
    r"lie) )?(?:strictly )?(?:in )?between\b(?! (?:the )?(?:visits|meals|two visits))|"
    r"\bneither (?:of (?:the|these|them)|the first nor|end)\b|\bneither\b[^.;]*\bnor\b[^.;]*\b(?:count|day)|"
    r"\b(?:first and (?:the )?last|both (?:ends|days|of them|the))\b[^.;]{0,30}\b(?:not|excluded|left out)\b"
)


def spans(view: FamilyView) -> Examiner:
    """Examine whether both ends of a record's span count, by how a sum grows with the spans: from [3, 3] to
    [3, 4] to [3, 5]."""
    opened = [
        item for item in view.sentences if any(re.search(form, item, re.IGNORECASE) for form in NOT_COUNTED)
    ]
    closed = [item for item in view.matching(BOTH_COUNTED) if item not in opened]
    if opened and not closed:
        says = HALF_OPEN
    elif closed and not opened:
        says = CLOSED
    else:
        says = ""
    neither = view.matching(NEITHER)
    if neither:
        says, opened = (OPEN, neither) if not closed else ("", opened)
    paths = [path for path in view.lists() if says and _are_spans(view, path)]
    limits = [
        number
        for number in view.numbers.values()
        if re.search(
            rf"\b(?:more|longer) than #{number.slot}(?!\d)|\b(?:over|beyond|exceed\w*) #{number.slot}(?!\d)",
            view.text,
            re.IGNORECASE,
        )
    ]
    trials = []
    for path in paths[:1]:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            lengths = [
                0,
                1,
                2,
                *([at(inputs, limits[0].path) + step for step in (-1, 0, 1)] if limits else []),
            ]
            for length in lengths:
                trials.append(
                    (
                        place,
                        length,
                        changed(inputs, path, [[*item[:-1], item[-2] + length] for item in at(inputs, path)]),
                    )
                )
    given = yield Wanted([inputs for *_, inputs in trials])
    each = 6 if limits else 3
    ways = []
    for start in range(0, len(trials), each):
        answers = integers(given.answers[start : start + each])
        if not answers:
            ways.append("?")
        else:
            ways.append(_counted(answers))
    known = {way for way in ways if way != "?"}
    if len(known) != 1 or ways.count("?") * 2 > len(ways):
        return []
    does = known.pop()
    return [compared("whether both ends of a span count", (opened or closed)[0], says, does)]


def _counted(answers: Sequence[int]) -> str:
    grows = answers[1] - answers[0]
    if answers[1] == 0 and answers[2] > 0 and answers[0] <= 0:
        return OPEN
    if grows and answers[2] - answers[1] == grows:
        if answers[0] == 0:
            return HALF_OPEN
        if answers[0] == grows:
            return CLOSED
        return "?"
    if len(answers) == 6 and answers[3] == 0:
        if answers[4]:
            return CLOSED
        if answers[5]:
            return HALF_OPEN
        return "?"
    return "?"


def _are_spans(view: FamilyView, path: KeyPath) -> bool:
    return all(
        isinstance(item, list)
        and len(item) >= 2
        and type(item[-1]) is type(item[-2]) is int
        and item[-2] <= item[-1]
        for instance in view.instances
        for item in at(instance.inputs, path)
    )


MORE_THAN_HALF = (
    r"\bmore than half\b|\bover half\b|\babove half\b|\bthe greater half\b|\ban absolute majority\b|"
    r"\ba majority\b|\bexceeds? half\b|\bmost of (?:the|all)\b"
)
LEAST_HALF = (
    r"\bat least half\b|\bno(?:t)? (?:less|fewer) than half\b|\bhalf (?:of \w+ )?or more\b|\bhalf or more\b"
)


def halves(view: FamilyView) -> Examiner:
    """Examine whether just a half is enough: all numbers of the data become half of a number of the text, and
    then far less and far more."""
    more, least = view.matching(MORE_THAN_HALF), view.matching(LEAST_HALF)
    paths = lists_of_numbers(view) if bool(more) != bool(least) else []
    trials = []
    for path in paths[:1]:
        for number in view.numbers.values():
            for place in view.few[:6]:
                inputs = view.instances[place].inputs
                whole = 2 * max(1, at(inputs, number.path) // 2)
                even = changed(inputs, number.path, whole)
                size = len(at(inputs, path))
                trials += [
                    (number.slot, changed(even, path, [value] * size))
                    for value in (whole // 2, whole // 2 - 1, whole // 2 + 1)
                ]
    given = yield Wanted([inputs for _, inputs in trials])
    ways = []
    for start in range(0, len(trials), 3):
        half, less, above = given.answers[start : start + 3]
        if {half.status, less.status, above.status} == {"ok"} and not view.same(less.answer, above.answer):
            ways += ["a half is enough"] if view.same(half.answer, above.answer) else []
            ways += ["a half is not enough"] if view.same(half.answer, less.answer) else []
    if len(ways) < 3 or len(set(ways)) != 1:
        return []
    says = "a half is not enough" if more else "a half is enough"
    return [compared("just a half", (more or least)[0], says, ways[0])]


FOR_ALL = (
    r"\b(?:for|on|of) (?:each|every one|all) of (?:his|her|its|their|the|these|those|them)\b|"
    r"\bfor all (?:of )?(?:them|his|her|its|their|pieces|the)\b|"
    r"\bnot (?:only|just) (?:for )?(?:those|the ones|what|the part)\b|\b(?:the )?whole (?:order|amount|sum|"
    r"lot|quantity)\b|\beach of (?:his|her|them)\b"
)
FOR_REST = (
    r"\bonly (?:for )?(?:those|the ones|what|the part|the pieces|each \w+) (?:beyond|above|over|after|"
    r"that exceeds?)\b|\b(?:each|every|any) (?:further|additional|extra|more)\b|\b(?:beyond|above|over) "
    r"(?:that|this|it)\b"
)


def all_or_rest(view: FamilyView) -> Examiner:
    """Examine whether reaching a border changes what all pieces cost or only further ones: then the sum jumps
    there, or grows evenly beyond."""
    every, rest = view.matching(FOR_ALL), view.matching(FOR_REST)
    paths = lists_of_numbers(view) if bool(every) != bool(rest) else []
    border = [
        number
        for number in view.numbers.values()
        if re.search(
            rf"#{number.slot}(?: \w+){{0,2}} or more|\b(?:at least|more than|reach\w*|"
            rf"from) #{number.slot}(?!\d)",
            view.text,
            re.IGNORECASE,
        )
    ]
    trials = []
    for path in paths[:1] if len(border) == 1 else []:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            at_border = at(inputs, border[0].path)
            trials += [
                changed(inputs, path, [value] * len(at(inputs, path)))
                for value in range(max(0, at_border - 3), at_border + 5)
            ]
    given = yield Wanted(trials)
    ways = []
    for start in range(0, len(trials), 8):
        answers = integers(given.answers[start : start + 8])
        if answers:
            grows = [later - earlier for earlier, later in pairwise(answers)]
            if grows[0] == grows[1] and grows[5] == grows[6] and grows[1] != grows[6]:
                ways.append("only those beyond" if set(grows[2:5]) <= {grows[0], grows[6]} else "all of them")
    if len(ways) < 3 or len(set(ways)) != 1:
        return []
    return [
        compared(
            "what a border changes",
            (every or rest)[0],
            "all of them" if every else "only those beyond",
            ways[0],
        )
    ]


def percent_first(view: FamilyView) -> Examiner:
    """Examine whether an amount is taken off before a percentage or after it: an amount that a percentage
    still lessens came before."""
    percent = [
        number
        for number in view.numbers.values()
        if re.search(rf"#{number.slot} ?(?:%|per ?cent)", view.text, re.IGNORECASE)
    ]
    amounts = [number for number in view.numbers.values() if number not in percent]
    says, sentence = _first_said(view)
    trials = []
    for number in amounts if says and len(percent) == 1 else []:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            amount, share = at(inputs, number.path), at(inputs, percent[0].path)
            for value in (share, 0):
                lessened = changed(inputs, percent[0].path, value)
                trials += [
                    (number.slot, lessened),
                    (number.slot, changed(lessened, number.path, amount + 100)),
                ]
    given = yield Wanted([inputs for _, inputs in trials])
    ways: dict[int, list[str]] = {}
    for start in range(0, len(trials), 4):
        answers = integers(given.answers[start : start + 4])
        if answers and answers[2] != answers[3]:
            less, plain = answers[1] - answers[0], answers[3] - answers[2]
            ways.setdefault(trials[start][0], []).append("the percentage" if less == plain else "the amount")
    known = [items for items in ways.values() if len(items) >= 3 and len(set(items)) == 1]
    return [compared("what is taken off first", sentence, says, known[0][0])] if len(known) == 1 else []


def _first_said(view: FamilyView) -> tuple[str, str]:
    """Return what the text takes off first, the amount or the percentage, and its sentence; "" if it says
    neither."""
    taken = r"\b(?:voucher|coupon|tak\w+ off|deduct\w*|subtract\w*|rebate|fee|gift|reduc\w+|discount|off)\b"
    for number, sentence in enumerate(view.sentences):
        part = re.search(r"\b(?:first|before (?:that|anything|all))\b", sentence, re.IGNORECASE)
        near = " ".join(view.sentences[max(0, number - 1) : number + 2])
        if (
            not part
            or not re.search(r"%|per ?cent", near, re.IGNORECASE)
            or not re.search(taken, sentence, re.IGNORECASE)
        ):
            continue
        clauses = re.split(r"[,;:]|\bthen\b|\bonly then\b", sentence)
        clause = next(
            (item for item in clauses if re.search(r"\bfirst\b|\bbefore\b", item, re.IGNORECASE)), sentence
        )
        return (
            "the percentage" if re.search(r"%|per ?cent|discount", clause, re.IGNORECASE) else "the amount"
        ), sentence
    return "", ""


def struck_off(view: FamilyView) -> Examiner:
    """Examine whether one extreme value is struck off or all that equal it: all numbers of the data become
    one."""
    stated = view.matching(
        r"(?=.*\b(?:struck|strikes?|cross\w*|drop\w*|delet\w*|discard\w*|remov\w*|left out|leav\w+ out|"
        r"cut|ignor\w*|set aside|not count\w*|taken (?:away|out)|thrown (?:away|out))\b)(?=.*\b(?:highest|"
        r"lowest|best|worst|largest|smallest|greatest|high|low)\b)(?=.*\b(?:one of|a single|once|only one|"
        r"one such|one that|even if|even when|one is|one each|just one|one \w+est)\b)"
    )
    paths = lists_of_numbers(view) if stated else []
    trials = [
        changed(view.instances[place].inputs, path, [7] * max(6, len(at(view.instances[place].inputs, path))))
        for path in paths[:1]
        for place in view.few[:6]
    ]
    given = yield Wanted(trials)
    ways = [
        "all equal ones" if solved.answer == 0 else "one"
        for solved in given.answers
        if solved.status == "ok" and type(solved.answer) is int
    ]
    if len(ways) < 3 or len(set(ways)) != 1:
        return []
    return [compared("what is struck off", stated[0], "one", ways[0])]


SUPERLATIVE = r"(?:greatest|highest|largest|biggest|tallest|longest|heaviest|best|oldest|top|maximum)"
LEAST = r"(?:smallest|lowest|shortest|lightest|least|youngest|minimum)"


def next_to_extreme(view: FamilyView) -> Examiner:
    """Examine whether the second largest may equal the largest: the largest is put in twice more."""
    beneath = view.matching(
        rf"\b{SUPERLATIVE}\b[^.;]{{0,40}}\b(?:below|under|smaller than|less than|lower than|"
        rf"shorter than|lighter than|beneath) the (?:very )?"
        rf"{SUPERLATIVE}\b|\bsecond[- ]{SUPERLATIVE} (?:different|distinct)|\b(?:different|"
        rf"distinct)\b[^.;]{{0,30}}\bsecond[- ]{SUPERLATIVE}"
    )
    above = view.matching(
        rf"\b{LEAST}\b[^.;]{{0,40}}\b(?:above|over|larger than|more than|higher than|greater than) the "
        rf"(?:very )?{LEAST}\b|\bsecond[- ]{LEAST} (?:different|distinct)|\b(?:different|"
        rf"distinct)\b[^.;]{{0,30}}\bsecond[- ]{LEAST}"
    )
    paths = lists_of_numbers(view) if bool(beneath) != bool(above) else []
    trials = []
    for path in paths[:1]:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            extreme = max(items) if beneath else min(items)
            trials.append((extreme, changed(view.instances[place].inputs, path, [extreme, *items, extreme])))
    given = yield Wanted([inputs for _, inputs in trials])
    same = [
        solved.answer == extreme
        for (extreme, _), solved in zip(trials, given.answers, strict=True)
        if solved.status == "ok"
    ]
    if len(same) < 3 or not (all(same) or not any(same)):
        return []
    does = "an equal one is next" if all(same) else "only another value is next"
    return [
        ReadingPlace(
            "the one next to the extreme",
            (beneath or above)[0],
            "only another value is next",
            does,
            "contradicted" if all(same) else "fixed",
        )
    ]
