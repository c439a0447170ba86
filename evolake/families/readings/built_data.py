"""Readings that data built for the purpose distinguish: all numbers equal, spans that touch, pairs of equals,
the first place asked for."""

from __future__ import annotations

import re

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
    without_elements,
)

STRICT, WEAK = "one that equals it does not count", "one that equals it counts"


def pairs_of_numbers(view: FamilyView) -> list[KeyPath]:
    """Return the paths of lists whose elements are two integers each."""
    return [
        path
        for path in view.lists()
        if all(
            isinstance(item, list) and len(item) == 2 and all(type(part) is int for part in item)
            for place in view.few
            for item in at(view.instances[place].inputs, path)
        )
    ]


def average(view: FamilyView) -> Examiner:
    """Examine whether what equals the average is with those above it or below it: all numbers of the data
    become one."""
    return _all_equal(view, r"(?:the |their |his |this )?(?:average|mean)\b", 6, "what equals the average")


def zero(view: FamilyView) -> Examiner:
    """Examine whether zero is with the numbers above it or below it: all numbers of the data become zero."""
    return _all_equal(view, r"(?:zero|nought|0|freezing(?: point)?)(?!\d)\b", 0, "zero")


def _all_equal(view: FamilyView, border: str, value: int, name: str) -> Examiner:
    strict = view.matching(
        rf"\b(?:less|fewer|lower|smaller|more|higher|greater|larger|older|younger|taller|shorter|"
        rf"heavier|lighter|colder|warmer) than {border}|"
        rf"\b(?:below|under|above|over|exceed\w*|beyond) {border}"
    )
    weak = view.matching(
        r"\b(?:at least|at most|not (?:below|above|less than|more than)|no (?:less|more|fewer) than|"
        rf"reach\w*) {border}|{border} or (?:more|less|above|below|lower|higher)"
    )
    strict = [item for item in strict if item not in weak]
    counts = re.search(r"\bhow (?:many|often)\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if bool(strict) != bool(weak) and counts else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:6]:
            size = len(at(view.instances[place].inputs, path))
            trials.append((size, changed(view.instances[place].inputs, path, [value] * size)))
    given = yield Wanted([inputs for _, inputs in trials])
    ways = set()
    for (size, _), solved in zip(trials, given.answers, strict=True):
        if solved.answer == 0:
            ways.add(STRICT)
        else:
            ways.add(WEAK if solved.answer == size else "?")
    if (
        len(ways) != 1
        or "?" in ways
        or (value == 0 and re.search(r"\bnot\b|\bno\b", view.question, re.IGNORECASE))
    ):
        return []
    return [compared(name, (strict or weak)[0], STRICT if strict else WEAK, ways.pop())]


def touching(view: FamilyView) -> Examiner:
    """Examine whether spans that only touch have something in common: spans that touch against spans that are
    apart."""
    apart = view.matching(
        r"\b(?:begins?|starts?)\b[^.;]*\bends?\b[^.;]*\bnot\b|\bends?\b[^.;]*\b(?:begins?|"
        r"starts?)\b[^.;]*\bnot\b|\btouch\w*\b[^.;]{0,50}\b(?:not|no|allowed|free|harmless)\b|"
        r"\bnot\b[^.;]{0,30}\b(?:merely|only|just) touch\w*"
    )
    together = view.matching(
        r"\btouch\w*\b[^.;]{0,40}\b(?:too|also|counts?|as well|overlap|meet|clash|even)\b|"
        r"\beven if\b[^.;]{0,40}\b(?:touch|begins?|ends?)\b|"
        r"\b(?:begins?|starts?)\b[^.;]*\bends?\b[^.;]*\b(?:too|also|as well|clash|overlap|meet)\b"
    )
    together = [item for item in together if item not in apart]
    paths = pairs_of_numbers(view) if bool(apart) != bool(together) else []
    trials = [
        changed(view.instances[place].inputs, path, spans)
        for path in paths[:1]
        for place in view.few[:4]
        for spans in ([[2, 4], [4, 6], [6, 8]], [[2, 4], [5, 7], [8, 10]], [[2, 5], [4, 7], [6, 9]])
    ]
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 3):
        touch, far, over = given.answers[start : start + 3]
        if {touch.status, far.status, over.status} == {"ok"} and not view.same(far.answer, over.answer):
            if view.same(touch.answer, far.answer):
                way = "they are apart"
            elif view.same(touch.answer, over.answer):
                way = "they meet"
            else:
                way = "?"
            ways.add(way)
    if len(ways) != 1 or "?" in ways:
        return []
    return [
        compared(
            "spans that touch", (apart or together)[0], "they are apart" if apart else "they meet", ways.pop()
        )
    ]


def lost_at_the_end(view: FamilyView) -> Examiner:
    """Examine whether what leaves at an end is lost: the numbers of an answer that always add up to those of
    the data lose nothing."""
    yield Wanted()
    stated = view.matching(
        r"\b(?:last|first|end|edge|outermost|rightmost|leftmost)\b[^.;]*\b(?:runs? (?:into|out|off|away)|"
        r"(?:is|are|gets?) lost|flows? (?:out|away|off|into)|falls? (?:off|out|down)|leaves? (?:the|for)|"
        r"goes (?:away|out)|disappears?|vanish\w*|thrown away|discarded|eaten)\b"
    )
    kept = []
    for path in lists_of_numbers(view) if stated else []:
        for instance, label in zip(view.instances, view.labels, strict=True):
            items = at(instance.inputs, path)
            if (
                not isinstance(label, list)
                or len(label) != len(items)
                or not all(type(item) is int for item in label)
            ):
                return []
            kept.append(sum(label) == sum(items))
    if len(kept) < 12 or not all(kept):
        return []
    return [
        ReadingPlace(
            "what leaves at an end",
            stated[0],
            "it is lost",
            "nothing is ever lost",
            "contradicted",
            0,
            len(kept),
        )
    ]


def percent_of_what(view: FamilyView) -> Examiner:
    """Examine whether each percentage is of what is left: two of fifty leave a quarter, or nothing."""
    left = view.matching(
        r"(?=.*(?:%|\bper ?cent\b))(?=.*\b(?:at that time|at the time|of what (?:is|was) left|of the rest|"
        r"of the (?:new|last|lowered|reduced|current) price|of what remains|what it costs then|each time "
        r"of|already (?:lowered|reduced)|previous price)\b)"
    )
    first = view.matching(
        r"(?=.*(?:%|\bper ?cent\b))(?=.*\bof the (?:original|first|full|old|list|initial) (?:price|amount|"
        r"sum)\b)"
    )
    paths = lists_of_numbers(view) if bool(left) != bool(first) else []
    trials = [
        changed(view.instances[place].inputs, path, percents)
        for path in paths[:1]
        for place in view.few[:5]
        for percents in ([50, 50], [50])
    ]
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 2):
        twice, once = given.answers[start : start + 2]
        if (
            twice.status == once.status == "ok"
            and type(twice.answer) is type(once.answer) is int
            and once.answer > 3
        ):
            if twice.answer == 0:
                way = "of the first price"
            elif abs(twice.answer * 2 - once.answer) <= 2:
                way = "of what is left"
            else:
                way = "?"
            ways.add(way)
    if len(ways) != 1 or "?" in ways:
        return []
    return [
        compared(
            "of what a percentage is taken",
            (left or first)[0],
            "of what is left" if left else "of the first price",
            ways.pop(),
        )
    ]


def who_begins(view: FamilyView) -> Examiner:
    """Examine who has the first turn: the first number is raised, which is another's when another person is
    asked for."""
    begins = {}
    for sentence in view.sentences:
        if match := re.search(
            r"\b([A-Z][a-z]+) (?:has|takes|makes|gets|does) the first\b|\b([A-Z][a-z]+) (?:begins|starts|"
            r"opens|goes first|moves first|plays first|is first)\b|\b(?:starting|beginning) with "
            r"([A-Z][a-z]+)\b|\bthe first (?:turn|move|one) is ([A-Z][a-z]+)'s\b",
            sentence,
        ):
            begins[next(name for name in match.groups() if name)] = sentence
    names = set(re.findall(r"\b[A-Z][a-z]+\b", re.sub(r"(?:^|[.?!] )[A-Z][a-z]+", " ", " " + view.question)))
    names |= {name for name in begins if re.search(rf"\b{name}\b", view.question)}
    known = {
        name
        for name in re.findall(r"\b[A-Z][a-z]+\b", view.text)
        if len(re.findall(rf"\b{name}\b", view.text)) > 1
    }
    asked = names & known
    paths = lists_of_numbers(view) if len(begins) == 1 and len(asked) == 1 else []
    trials = []
    for path in paths[:1]:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            for index in (0, 1):
                raised = [item + 100 * (number == index) for number, item in enumerate(items)]
                trials.append((place, changed(view.instances[place].inputs, path, raised)))
    given = yield Wanted([inputs for _, inputs in trials])
    moved = [
        solved.status == "ok" and not view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    if len(moved) < 8 or any(moved[0::2]) == any(moved[1::2]):
        return []
    (starter, sentence), own = next(iter(begins.items())), all(moved[0::2])
    if not own and not all(moved[1::2]):
        return []
    person = asked.pop()
    other = next(iter(sorted(known - {person, starter})), "the other")
    if not own:
        person = starter if starter != person else other
    return [compared("who begins", sentence, starter, person)]


EQUAL_PAIR = (
    r"\b(?:two (?:equal|like|identical)|both (?:\w+ )?(?:are |show |have )?(?:equal|the same|alike)|"
    r"doubles?\b|a double|same number twice|equal (?:dice|numbers|"
    r"cards|values|halves|sides|eyes)|the same (?:number|value) on both)\b"
)


def equal_pairs(view: FamilyView) -> Examiner:
    """Examine whether two equal numbers of a record are treated apart: all records become two equals, and
    then two others of the same sum."""
    stated = view.matching(EQUAL_PAIR)
    paths = pairs_of_numbers(view) if stated else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:6]:
            size = len(at(view.instances[place].inputs, path))
            trials += [
                changed(view.instances[place].inputs, path, [pair] * size)
                for pair in ([3, 3], [2, 4], [4, 2])
            ]
    given = yield Wanted(trials)
    same = [
        len({str(solved.answer) for solved in given.answers[start : start + 3]}) == 1
        and given.answers[start].status == "ok"
        for start in range(0, len(trials), 3)
    ]
    if len(same) < 4 or not all(same):
        return []
    return [
        ReadingPlace(
            "two equal numbers",
            stated[0],
            "they are apart",
            "they are as any two of their sum",
            "contradicted",
            0,
            len(same),
        )
    ]


FROM_BEHIND = (
    r"\bcount\w*\b[^.;]{0,30}\bfrom (?:the )?(?:right|back|end|rear|bottom|last)\b|"
    r"\bnumber\w*\b[^.;]{0,30}\bfrom (?:the )?(?:right|back|end|rear|bottom|last)\b|"
    r"\bfrom (?:the )?(?:right|back|end|rear|bottom)(?:,| on| with| is|$)|\b(?:right|hind|bottom|"
    r"last)most\b[^.;]{0,25}\b(?:is|has|bears|being) (?:number |place )?(?:1|one)\b"
)
FROM_FRONT = (
    r"\bcount\w*\b[^.;]{0,30}\bfrom (?:the )?(?:left|front|start|beginning|top|first)\b|"
    r"\bnumber\w*\b[^.;]{0,30}\bfrom (?:the )?(?:left|front|start|beginning|top)\b|"
    r"\b(?:left|fore|top)most\b[^.;]{0,25}\b(?:is|has|bears|being) (?:number |place )?(?:1|one)\b"
)


def counted_from_which_end(view: FamilyView) -> Examiner:
    """Examine from which end places are counted: the lowest place is asked for."""
    behind, front = view.matching(FROM_BEHIND), view.matching(FROM_FRONT)
    if behind:
        front = [item for item in front if item not in behind]
    trials = []
    if bool(behind) != bool(front):
        for number in view.numbers.values():
            for path in view.lists():
                for place in view.few:
                    items = at(view.instances[place].inputs, path)
                    if (
                        all(isinstance(item, str | int) for item in items)
                        and items[0] != items[-1]
                        and len(set(items)) == len(items)
                    ):
                        trials.append(
                            (
                                number.slot,
                                path,
                                items,
                                changed(view.instances[place].inputs, number.path, 1 + number.offset),
                            )
                        )
    given = yield Wanted([inputs for *_, inputs in trials])
    found: dict[tuple[int, KeyPath], set[str]] = {}
    for (slot, path, items, _), solved in zip(trials, given.answers, strict=True):
        if solved.answer == items[0]:
            way = "the front"
        elif solved.answer == items[-1]:
            way = "the back"
        else:
            way = "?"
        found.setdefault((slot, path), set()).add(way)
    ways = [next(iter(items)) for items in found.values() if len(items) == 1 and "?" not in items]
    if len(ways) != 1 or len(trials) < 4:
        return []
    return [
        compared(
            "from which end places are counted",
            (behind or front)[0],
            "the back" if behind else "the front",
            ways[0],
        )
    ]


def ignored_numbers(view: FamilyView) -> Examiner:
    """Examine whether a number that a sentence leaves out counts: elements that are this number are taken
    away."""
    named = {}
    for sentence in view.sentences:
        for match in re.finditer(
            r"\b(?:number|numbers|value|values|a|an|card|"
            r"every) (\d{1,3})\b,?(?: however,?)?[^.;,]{0,15}(?:does not|do not|is not|are not|is ignored|"
            r"are ignored|never|is left out|counts for nothing|counts nothing)\b",
            sentence,
            re.IGNORECASE,
        ):
            named[int(match[1])] = sentence
    return (
        yield from without_elements(
            view, named, lists_of_numbers(view), lambda item, value: item == value, least=6
        )
    )


BETWEEN_THINGS = (
    r"\b(?:passages?|steps?|moves?|legs|stretch(?:es)?|sections?|gaps?|jumps?|roads?|tunnels?|bridges?|"
    r"changes?|rides?|hops?|intervals?|pauses?|cuts?)\b"
)


def things_between(view: FamilyView) -> Examiner:
    """Examine whether what is between the elements is counted, or the elements: answers that always are the
    number of elements."""
    yield Wanted()
    asked = [
        sentence
        for sentence in view.sentences
        if re.search(BETWEEN_THINGS, sentence, re.IGNORECASE)
        and re.search(
            r"\b(?:count\w*|how many|number of|once for|every time|each time)\b", sentence, re.IGNORECASE
        )
    ]
    paths = view.lists()
    if not asked or len(paths) != 1:
        return []
    sizes = [len(at(item.inputs, paths[0])) for item in view.instances]
    if (
        len(set(sizes)) > 2
        and list(view.labels) == sizes
        and all(isinstance(item, str) for item in at(view.instances[0].inputs, paths[0]))
    ):
        return [
            ReadingPlace(
                "what is counted",
                asked[0],
                "what lies between",
                "the elements",
                "contradicted",
                len(sizes),
                len(sizes),
            )
        ]
    return []


ON_TIME = (
    r"\b(?:at the very|exactly at|just at|right at|in the very|at the same|in the same|at just the) "
    r"(?:minute|moment|hour|time|second|day)\b[^.;]*"
)


def on_the_dot(view: FamilyView) -> Examiner:
    """Examine whether who comes at the very minute of something that recurs need not wait: all numbers become
    a multiple of the period."""
    stated = view.matching(ON_TIME)
    still = [
        item
        for item in stated
        if re.search(
            r"\b(?:still|catch\w*|gets? (?:on|in)|in time|without waiting|"
            r"not wait|at once)\b",
            item,
            re.IGNORECASE,
        )
    ]
    late = [
        item
        for item in stated
        if re.search(
            r"\b(?:miss\w*|too late|must wait|has to wait|the next|not (?:catch|"
            r"get))\b",
            item,
            re.IGNORECASE,
        )
        and item not in still
    ]
    waits = re.search(r"\bwait\w*\b", view.question, re.IGNORECASE)
    periods = [
        number
        for number in view.numbers.values()
        if re.search(rf"\bevery #{number.slot}(?!\d)", view.text, re.IGNORECASE)
    ]
    paths = lists_of_numbers(view) if bool(still) != bool(late) and waits and len(periods) == 1 else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            trials.append(changed(inputs, path, [2 * at(inputs, periods[0].path)] * len(at(inputs, path))))
    given = yield Wanted(trials)
    ways = {
        "no waiting" if solved.answer == 0 else "waiting" for solved in given.answers if solved.status == "ok"
    }
    return (
        [compared("at the very minute", (still or late)[0], "no waiting" if still else "waiting", ways.pop())]
        if len(ways) == 1
        else []
    )
