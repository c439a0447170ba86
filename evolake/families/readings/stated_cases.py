"""Readings of well-known kinds of questions: counting out, handshakes, nearest without going over, the size
of a sum, tops with level neighbours."""

from __future__ import annotations

import re
from typing import Any

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.reordered import sequences_of
from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, at, changed, compared


def counted_out(view: FamilyView) -> Examiner:
    """Examine who goes out of a circle where a number is counted: the one on whom it falls, or the one after
    it."""
    yield Wanted()
    stated = view.matching(
        r"\b(?:goes|go|steps?|falls?|is|are|must|has to|leaves?)\b[^.;]{0,20}\b(?:out|leave|removed|"
        r"taken out|eliminated|struck|circle)\b"
    )
    round_about = re.search(r"\b(?:circle|ring|round)\b", view.text, re.IGNORECASE)
    skipped = re.search(
        r"\b(?:skip\w*|passed over|passes over|spared|left standing|jump\w*|are (?:left|safe))\b",
        view.text,
        re.IGNORECASE,
    )
    numbers = sorted(view.numbers.values(), key=lambda number: number.slot)
    if not stated or not round_about or skipped or len(numbers) != 2 or view.lists():
        return []
    ways: dict[str, int] = {"the one on whom it falls": 0, "the one after it": 0}
    for order in (numbers, numbers[::-1]):
        for name, offset in zip(ways, (-1, 0), strict=True):
            sizes, steps = (
                [at(item.inputs, number.path) - number.offset for item in view.instances] for number in order
            )
            outs = [_out(size, step, offset) for size, step in zip(sizes, steps, strict=True)]
            ways[name] = max(
                ways[name],
                sum(
                    label in (out, out[-1], out[0])
                    for out, label in zip(outs, view.labels, strict=True)
                    if out
                ),
            )
    total = len(view.labels)
    best = max(ways, key=lambda name: ways[name])
    return (
        [compared("who goes out", stated[0], "the one on whom it falls", best)]
        if ways[best] == total and min(ways.values()) < total
        else []
    )


def _out(size: int, step: int, offset: int) -> list[int]:
    """Return in which order 1 .. size go out, [] for a size that no circle of a text has."""
    if not 1 < size <= 400 or step < 1:
        return []
    left, place, out = list(range(1, size + 1)), 0, []
    while left:
        place = (place + step + offset) % len(left)
        out.append(left.pop(place))
    return out


MEETINGS = (
    r"\bshakes? hands\b|\bhandshakes?\b|\bclink\w*\b|\bplays? (?:\w+ )?(?:once )?against\b|"
    r"\bmeets? every other\b|\beach (?:two|pair)\b|\bevery two\b|"
    r"\bcalls? each other\b|\bembrace\w*\b"
)


def met_once(view: FamilyView) -> Examiner:
    """Examine whether two who meet meet once: two different elements are the whole data."""
    stated = [
        item
        for item in view.matching(MEETINGS)
        if not re.search(
            r"\b(?:twice|both ways|there and back|"
            r"home and away|each other's)\b",
            item,
            re.IGNORECASE,
        )
    ]
    counts = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    counts = counts and not re.search(
        r"\b(?:twice|home and away|two (?:games|matches))\b", view.text, re.IGNORECASE
    )
    lists = [path for path in view.lists() if stated and counts and len(view.lists()) == 1]
    trials = []
    for path in lists:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            other = next((item for item in items if item != items[0]), None)
            if other is not None:
                trials.append(changed(view.instances[place].inputs, path, [items[0], other]))
    given = yield Wanted(trials)
    seen = [solved.answer for solved in given.answers if solved.status == "ok"]
    if len(seen) < 4 or not set(seen) <= {0, 1, 2} or not set(seen) & {1, 2} or {1, 2} <= set(seen):
        return []
    return [compared("how often two meet", stated[0], "once", "twice" if 2 in seen else "once")]


def not_over(view: FamilyView) -> Examiner:
    """Examine whether the answer goes over a number that it must not exceed: the record that it names has
    more."""
    yield Wanted()
    stated = []
    for sentence in view.sentences:
        if re.search(
            r"\bwithout (?:having|being|going|getting|exceeding|passing)\b[^.;]*\b(?:more|over|above|"
            r"beyond|exceed\w*|that|it)\b|\bwithout exceeding\b|\bbut (?:is |has |does )?not (?:go |have |"
            r"be )?(?:more|over|above|beyond|exceed)\b",
            sentence,
            re.IGNORECASE,
        ):
            stated += [(sentence, int(text), None) for text in re.findall(r"(?<![#\d])\b\d{1,4}\b", sentence)]
            stated += [
                (sentence, 0, number)
                for number in view.numbers.values()
                if re.search(rf"#{number.slot}(?!\d)", sentence)
            ]
    paths = view.lists()
    if len(stated) != 1 or len(paths) != 1:
        return []
    sentence, fixed, number = stated[0]
    over = of = 0
    for instance, label in zip(view.instances, view.labels, strict=True):
        limit = at(instance.inputs, number.path) if number else fixed
        value = _value_of(at(instance.inputs, paths[0]), label)
        if value is not None:
            of += 1
            over += value > limit
    if of * 2 < len(view.labels):
        return []
    return [
        ReadingPlace(
            "what must not be exceeded",
            sentence,
            "never over it",
            "over it" if over else "never over it",
            "contradicted" if over else "fixed",
            over,
            of,
        )
    ]


def _value_of(items: Any, label: Any) -> int | None:
    """Return the number of the record that the label names, None if there is none or several."""
    found = [
        item[1]
        for item in items
        if isinstance(item, list) and len(item) == 2 and item[0] == label and type(item[1]) is int
    ]
    return found[0] if len(found) == 1 else None


def size_of_sum(view: FamilyView) -> Examiner:
    """Examine whether the size of a sum is meant or the sum of sizes: numbers of either sign cancel in one of
    them."""
    whole = view.matching(
        r"\b(?:distance|size|amount|absolute value|magnitude) of (?:the|their|this) (?:total|sum|result|"
        r"balance)\b|\b(?:total|sum|balance)\b[^.;]{0,30}\b(?:without (?:its|the) sign|its (?:size|"
        r"distance|absolute value))\b"
    )
    each = view.matching(
        r"\b(?:sum|total) of (?:the|their|all) (?:distances|sizes|absolute values|magnitudes)\b|"
        r"\bsigns? (?:is|are) (?:dropped|ignored) before\b|"
        r"\bup or down,? counts\b"
    )
    paths = lists_of_numbers(view) if bool(whole) != bool(each) else []
    trials = [
        changed(view.instances[place].inputs, path, [6, -6, 6, -6])
        for path in paths[:1]
        for place in view.few[:4]
    ]
    given = yield Wanted(trials)
    known = {0: "the size of the sum", 24: "the sum of the sizes"}
    ways = {known.get(solved.answer, "?") if type(solved.answer) is int else "?" for solved in given.answers}
    if len(ways) != 1 or "?" in ways:
        return []
    return [
        compared(
            "sizes and sums",
            (whole or each)[0],
            "the size of the sum" if whole else "the sum of the sizes",
            ways.pop(),
        )
    ]


HIGH = r"(?:higher|larger|greater|taller|warmer|more|above|bigger|over)"
LEVEL = (
    r"(?:not (?:lower|smaller|less|colder|below)|no (?:lower|smaller|less)|at least as (?:high|large|"
    r"great|tall|warm)|never lower|as high as or)"
)
BEFORE = r"[^.;,]{0,30}\b(?:before|previous|preceding|left|predecessor)\b"
AFTER = r"[^.;,]{0,30}\b(?:after|next|following|right|successor)\b"


def _side(text: str, neighbour: str) -> str:
    """Return how a top compares with one neighbour by the text: level, higher, or "" if the text does not
    say."""
    if re.search(rf"\b{LEVEL}{neighbour}", text, re.IGNORECASE):
        return "level"
    return "higher" if re.search(rf"(?<!not )\b{HIGH} than{neighbour}", text, re.IGNORECASE) else ""


def level_tops(view: FamilyView) -> Examiner:
    """Examine whether a top may be level with a neighbour: a top of two equal numbers is the only one."""
    text = view.text
    left, right = (_side(text, neighbour) for neighbour in (BEFORE, AFTER))
    both = re.search(
        rf"\b({HIGH}|{LEVEL})\b[^.;]{{0,15}}\bboth\b[^.;]{{0,20}}\b(?:neighbou?rs|sides|hours|days|ones|"
        r"the one)\b",
        text,
        re.IGNORECASE,
    )
    if both and not left and not right:
        left = right = "level" if re.search(LEVEL, both[0], re.IGNORECASE) else "higher"
    if (
        left
        and not right
        and re.search(
            r"\band (?:than )?(?:the )?(?:one |\w+ )?(?:after|following|next)\b", text, re.IGNORECASE
        )
    ):
        right = left
    stated = view.matching(rf"\b(?:{HIGH}|{LEVEL})\b")
    counts = re.search(r"\bhow (?:many|often)\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if left and right and stated and counts else []
    trials = [
        changed(view.instances[place].inputs, path, items)
        for path in paths[:1]
        for place in view.few[:4]
        for items in ([2, 2, 9, 9, 2, 1, 1], [1, 2, 9, 3, 2, 1, 0])
    ]
    given = yield Wanted(trials)
    seen = {
        (given.answers[start].answer, given.answers[start + 1].answer) for start in range(0, len(trials), 2)
    }
    if len(seen) != 1:
        return []
    pair, single = seen.pop()
    expected = (left == "level") + (right == "level")
    if single != 1 or pair not in (0, 1, 2):
        return []
    names = {0: "a level top is none", 1: "a level top is one", 2: "a level top is two"}
    return [compared("tops with level neighbours", stated[0], names[expected], names[pair])]


NUMBER_WORDS = {
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
}
GOES_ROUND = (
    r"\b(?:weeks?|wheel|circle|ring|round|cycle|clock|follow\w*|again and again|seasons?|repeat\w*)\b"
)


def periods(view: FamilyView) -> Examiner:
    """Examine whether what goes round comes back after as many steps as the text says: a number of steps is
    raised by so many."""
    stated = {}
    for sentence in view.matching(GOES_ROUND):
        for word, value in NUMBER_WORDS.items():
            if re.search(
                rf"\b{word} (?:\w+ )?(?:days|hours|months|places|seats|seasons|colours|signs|phases|spokes|"
                rf"years|letters|notes)\b",
                sentence,
                re.IGNORECASE,
            ):
                stated[value] = sentence
    numbers = (
        list(view.numbers.values())
        if len(stated) == 1 and not re.search(r"\bseven\b|\b7\b", view.text)
        else []
    )
    size = next(iter(stated), 0)
    others = sorted(
        {5, 6, 7, 8, 10, 12, 24, size - 1, size + 1}
        - {size}
        - {step for step in range(2, 40) if size and step % size == 0}
    )
    trials = [
        (
            number.slot,
            step,
            place,
            changed(
                view.instances[place].inputs,
                number.path,
                at(view.instances[place].inputs, number.path) + step,
            ),
        )
        for number in numbers
        for step in (size, *others)
        for place in view.few
    ]
    given = yield Wanted([inputs for *_, inputs in trials])
    same: dict[tuple[int, int], list[bool]] = {}
    for (slot, step, place, _), solved in zip(trials, given.answers, strict=True):
        same.setdefault((slot, step), []).append(
            solved.status == "ok" and view.same(solved.answer, view.labels[place])
        )
    for slot in {slot for slot, _ in same}:
        fitting = [step for step in others if all(same[slot, step]) and len(same[slot, step]) >= 4]
        if len(fitting) == 1 and not all(same[slot, size]):
            return [
                ReadingPlace(
                    "how many places go round", stated[size], str(size), str(fitting[0]), "contradicted"
                )
            ]
    return []


SMALLER_THAN = (
    r"\b(?:smaller|lower|less|shorter|lighter|fewer|colder|younger|"
    r"cheaper)\b[^.;,]{0,25}\bthan\b[^.;,]{0,30}\bbefore\b|\bbelow\b[^.;,]{0,20}\bbefore\b"
)
LARGER_THAN = (
    r"\b(?:larger|higher|greater|more|taller|heavier|bigger|warmer|older|longer|"
    r"dearer)\b[^.;,]{0,25}\bthan\b[^.;,]{0,30}\bbefore\b|\babove\b[^.;,]{0,20}\bbefore\b"
)


def level_with_before(view: FamilyView) -> Examiner:
    """Examine where a number goes that equals the one before it: with those that fall, or with those that
    rise."""
    smaller, larger = view.matching(SMALLER_THAN), view.matching(LARGER_THAN)
    weak = re.search(
        r"\b(?:not|no|never)\b (?:\w+ ){0,2}(?:smaller|lower|less|larger|higher|greater|more|below|"
        r"above)\b|\bat least as\b|\bor equal\b|\bequal(?:s|ly)?\b|"
        r"\bthe same\b|\bafter\b",
        view.text,
        re.IGNORECASE,
    )
    paths = lists_of_numbers(view) if bool(smaller) != bool(larger) and not weak else []
    data = ([9, 8, 7, 6], [6, 7, 8, 9], [7, 7, 7, 7])
    trials = [
        changed(view.instances[place].inputs, path, items)
        for path in paths[:1]
        for place in view.few[:4]
        for items in data
    ]
    given = yield Wanted(trials)
    seen = set()
    for start in range(0, len(trials), 3):
        kinds = [
            _share(solved.answer, items)
            for solved, items in zip(given.answers[start : start + 3], data, strict=True)
        ]
        if "?" in kinds or kinds[0] == kinds[1]:
            return []
        seen.add("with those that fall" if kinds[2] == kinds[0] else "with those that rise")
    if len(seen) != 1:
        return []
    says = "with those that rise" if smaller else "with those that fall"
    return [compared("a number that equals the one before", (smaller or larger)[0], says, seen.pop())]


def _share(answer: Any, items: list[int]) -> str:
    """Return whether an answer speaks of all elements but perhaps the first, of none but perhaps the first,
    or of something else."""
    if answer in (sum(items), sum(items[1:]), len(items), len(items) - 1):
        return "all"
    return "none" if answer in (0, items[0], 1) else "?"


def alphabet_of_equals(view: FamilyView) -> Examiner:
    """Examine whether equals come by the alphabet or as they are given: two words of one length, the later
    one by the alphabet first."""
    equal = r"\b(?:same|equal\w*|ties?|as (?:long|many|large|high))\b"
    stated = [item for item in view.matching(r"\balphabet") if re.search(equal, item, re.IGNORECASE)]
    turned = re.search(r"\b(?:reverse|reversed|backwards?) (?:alphabet|order)", view.text, re.IGNORECASE)
    lists = view.lists() if stated and not turned else []
    paths = [
        path for path in lists if all(isinstance(item, str) for item in at(view.instances[0].inputs, path))
    ]
    trials = []
    for path in paths[:1]:
        for place in view.few[:5]:
            inputs = changed(view.instances[place].inputs, path, ["bab", "aba"])
            for number in view.numbers.values():
                inputs = changed(inputs, number.path, 1 + number.offset)
            trials.append(inputs)
    given = yield Wanted(trials)
    firsts = [
        str(solved.answer[0]) if isinstance(solved.answer, list) and solved.answer else str(solved.answer)
        for solved in given.answers
    ]
    ways = {{"aba": "by the alphabet", "bab": "as they are given"}.get(first, "?") for first in firsts}
    return (
        [compared("the order of equals", stated[0], "by the alphabet", ways.pop())]
        if len(ways) == 1 and "?" not in ways
        else []
    )


def ends_of_a_row(view: FamilyView) -> Examiner:
    """Examine whether a place at an end counts that has a single neighbour: a row of one kind gives all its
    places, or all but two."""
    stated = view.matching(
        r"\b(?:no|none of (?:its|the)|neither of (?:its|the)|nobody|"
        r"not any)\b[^.;]{0,30}\b(?:neighbou?r\w*|next to (?:it|him|her)|beside (?:it|him|her))\b|"
        r"\bneighbou?r\w*\b[^.;]{0,30}\b(?:none|no|empty|free)\b"
    )
    spoken = re.search(
        r"\b(?:ends?|edges?|walls?|borders?|first and (?:the )?last|both sides|two neighbou?rs|circle|"
        r"ring|round table|at either)\b",
        view.text,
        re.IGNORECASE,
    )
    counts = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    trials = []
    for path in sequences_of(view) if stated and not spoken and counts else []:
        value = at(view.instances[0].inputs, path)
        plain = isinstance(value, str) or all(isinstance(item, str | int) for item in value)
        for kind in sorted(set(value), key=str) if plain else ():
            for size in (7, 9):
                trials.append(
                    (
                        path,
                        kind,
                        size,
                        changed(
                            view.instances[0].inputs,
                            path,
                            kind * size if isinstance(value, str) else [kind] * size,
                        ),
                    )
                )
    given = yield Wanted([inputs for *_, inputs in trials])
    found = {}
    for (path, kind, size, _), solved in zip(trials, given.answers, strict=True):
        found.setdefault((path, kind), []).append(
            size - solved.answer if type(solved.answer) is int else None
        )
    if any(gaps == [2, 2] for gaps in found.values()):
        return [
            ReadingPlace(
                "the ends of a row",
                stated[0],
                "an end has one neighbour",
                "no place at an end is ever counted",
                "contradicted",
            )
        ]
    return []


TIMES = r"\b(?:minutes?|seconds?|hours?|times?|days?)\b"
FASTEST, SLOWEST = r"\b(?:fastest|quickest)\b", r"\b(?:slowest)\b"
OLDEST, YOUNGEST = r"\b(?:oldest|eldest)\b", r"\byoungest\b"


def named_extreme(view: FamilyView) -> Examiner:
    """Examine whether the record that an answer names has the number that a word like fastest or oldest
    means, by what the numbers are."""
    yield Wanted()
    born = re.search(r"\b(?:born|birth|founded|built|launched)\b", view.text, re.IGNORECASE)
    words = []
    for form, wanted in ((FASTEST, "least"), (SLOWEST, "greatest")):
        timed = re.search(TIMES, view.text, re.IGNORECASE) and not re.search(
            r"\bspeed|\bper\b|\bkm/h\b", view.text
        )
        words += [(item, wanted) for item in view.matching(form) if timed]
    for form, wanted in (
        (OLDEST, "least" if born else "greatest"),
        (YOUNGEST, "greatest" if born else "least"),
    ):
        words += [(item, wanted) for item in view.matching(form)]
    paths = view.lists()
    if len({wanted for _, wanted in words}) != 1 or len(paths) != 1:
        return []
    ends = []
    for instance, label in zip(view.instances, view.labels, strict=True):
        items = at(instance.inputs, paths[0])
        value = _value_of(items, label)
        if value is None:
            return []
        values = [item[1] for item in items]
        if value == min(values):
            end = "least"
        elif value == max(values):
            end = "greatest"
        else:
            end = "?"
        ends.append(end)
    if len(ends) < 12 or len(set(ends)) != 1 or "?" in ends:
        return []
    return [
        compared("which extreme is named", words[0][0], f"the {words[0][1]} number", f"the {ends[0]} number")
    ]
