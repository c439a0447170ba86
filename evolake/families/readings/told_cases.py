"""Readings of well-known kinds of questions: counting out, handshakes, nearest without going over, the size of a sum, tops with level neighbours."""

from __future__ import annotations

import re
from typing import Any

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.places import Examiner, ReadingPlace, Wanted, compared
from evolake.families.readings.view import FamilyView, at, changed


def counted_out(view: FamilyView) -> Examiner:
    """Examine who goes out of a circle where a number is counted: the one on whom it falls, or the one after it."""
    yield Wanted()
    told = view.matching(r"\b(?:goes|go|steps?|falls?|is|are|must|has to|leaves?)\b[^.;]{0,20}\b(?:out|leave|removed|taken out|eliminated|struck|circle)\b")
    round_about = re.search(r"\b(?:circle|ring|round)\b", view.text, re.IGNORECASE)
    skipped = re.search(r"\b(?:skip\w*|passed over|passes over|spared|left standing|jump\w*|are (?:left|safe))\b", view.text, re.IGNORECASE)
    numbers = sorted(view.numbers.values(), key=lambda number: number.slot)
    if not told or not round_about or skipped or len(numbers) != 2 or view.lists():
        return []
    ways: dict[str, int] = {"the one on whom it falls": 0, "the one after it": 0}
    for order in (numbers, numbers[::-1]):
        for name, offset in zip(ways, (-1, 0), strict=True):
            outs = [_out(*(at(item.inputs, number.path) - number.offset for number in order), offset) for item in view.instances]
            ways[name] = max(ways[name], sum(label in (out, out[-1], out[0]) for out, label in zip(outs, view.labels, strict=True) if out))
    total = len(view.labels)
    best = max(ways, key=lambda name: ways[name])
    return [compared("who goes out", told[0], "the one on whom it falls", best)] if ways[best] == total and min(ways.values()) < total else []


def _out(size: int, step: int, offset: int) -> list[int]:
    """Return in which order 1 .. size go out, [] for a size that no circle of a text has."""
    if not 1 < size <= 400 or step < 1:
        return []
    left, place, out = list(range(1, size + 1)), 0, []
    while left:
        place = (place + step + offset) % len(left)
        out.append(left.pop(place))
    return out


MEETINGS = (r"\bshakes? hands\b|\bhandshakes?\b|\bclink\w*\b|\bplays? (?:\w+ )?(?:once )?against\b|\bmeets? every other\b|\beach (?:two|pair)\b|\bevery two\b|"
            r"\bcalls? each other\b|\bembrace\w*\b")


def met_once(view: FamilyView) -> Examiner:
    """Examine whether two who meet meet once: two different elements are the whole data."""
    told = [item for item in view.matching(MEETINGS) if not re.search(r"\b(?:twice|both ways|there and back|home and away|each other's)\b", item, re.IGNORECASE)]
    counts = re.search(r"\bhow many\b", view.question, re.IGNORECASE) and not re.search(r"\b(?:twice|home and away|two (?:games|matches))\b", view.text, re.IGNORECASE)
    lists = [path for path in view.lists() if told and counts and len(view.lists()) == 1]
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
    return [compared("how often two meet", told[0], "once", "twice" if 2 in seen else "once")]


def not_over(view: FamilyView) -> Examiner:
    """Examine whether the answer goes over a number that it must not exceed: the record that it names has more."""
    yield Wanted()
    told = []
    for sentence in view.sentences:
        if re.search(r"\bwithout (?:having|being|going|getting|exceeding|passing)\b[^.;]*\b(?:more|over|above|beyond|exceed\w*|that|it)\b|"
                     r"\bwithout exceeding\b|\bbut (?:is |has |does )?not (?:go |have |be )?(?:more|over|above|beyond|exceed)\b", sentence, re.IGNORECASE):
            told += [(sentence, int(text), None) for text in re.findall(r"(?<![#\d])\b\d{1,4}\b", sentence)]
            told += [(sentence, 0, number) for number in view.numbers.values() if re.search(rf"#{number.slot}(?!\d)", sentence)]
    paths = view.lists()
    if len(told) != 1 or len(paths) != 1:
        return []
    sentence, fixed, number = told[0]
    over = of = 0
    for instance, label in zip(view.instances, view.labels, strict=True):
        limit = at(instance.inputs, number.path) if number else fixed
        value = _value_of(at(instance.inputs, paths[0]), label)
        if value is not None:
            of += 1
            over += value > limit
    if of * 2 < len(view.labels):
        return []
    return [ReadingPlace("what must not be exceeded", sentence, "never over it", "over it" if over else "never over it",
                         "contradicted" if over else "fixed", over, of)]


def _value_of(items: Any, label: Any) -> int | None:
    """Return the number of the record that the label names, None if there is none or several."""
    found = [item[1] for item in items if isinstance(item, list) and len(item) == 2 and item[0] == label and type(item[1]) is int]
    return found[0] if len(found) == 1 else None


def size_of_sum(view: FamilyView) -> Examiner:
    """Examine whether the size of a sum is meant or the sum of sizes: numbers of either sign cancel in one of them."""
    whole = view.matching(r"\b(?:distance|size|amount|absolute value|magnitude) of (?:the|their|this) (?:total|sum|result|balance)\b|"
                          r"\b(?:total|sum|balance)\b[^.;]{0,30}\b(?:without (?:its|the) sign|its (?:size|distance|absolute value))\b")
    each = view.matching(r"\b(?:sum|total) of (?:the|their|all) (?:distances|sizes|absolute values|magnitudes)\b|\bsigns? (?:is|are) (?:dropped|ignored) before\b|"
                         r"\bup or down,? counts\b")
    paths = lists_of_numbers(view) if bool(whole) != bool(each) else []
    trials = [changed(view.instances[place].inputs, path, [6, -6, 6, -6]) for path in paths[:1] for place in view.few[:4]]
    given = yield Wanted(trials)
    ways = {{0: "the size of the sum", 24: "the sum of the sizes"}.get(solved.answer, "?") if type(solved.answer) is int else "?" for solved in given.answers}
    if len(ways) != 1 or "?" in ways:
        return []
    return [compared("sizes and sums", (whole or each)[0], "the size of the sum" if whole else "the sum of the sizes", ways.pop())]


HIGH = r"(?:higher|larger|greater|taller|warmer|more|above|bigger|over)"
LEVEL = r"(?:not (?:lower|smaller|less|colder|below)|no (?:lower|smaller|less)|at least as (?:high|large|great|tall|warm)|never lower|as high as or)"
BEFORE = r"[^.;,]{0,30}\b(?:before|previous|preceding|left|predecessor)\b"
AFTER = r"[^.;,]{0,30}\b(?:after|next|following|right|successor)\b"


def level_tops(view: FamilyView) -> Examiner:
    """Examine whether a top may be level with a neighbour: a top of two equal numbers is the only one."""
    text = view.text
    left = "level" if re.search(rf"\b{LEVEL}{BEFORE}", text, re.IGNORECASE) else "higher" if re.search(rf"(?<!not )\b{HIGH} than{BEFORE}", text, re.IGNORECASE) else ""
    right = "level" if re.search(rf"\b{LEVEL}{AFTER}", text, re.IGNORECASE) else "higher" if re.search(rf"(?<!not )\b{HIGH} than{AFTER}", text, re.IGNORECASE) else ""
    both = re.search(rf"\b({HIGH}|{LEVEL})\b[^.;]{{0,15}}\bboth\b[^.;]{{0,20}}\b(?:neighbou?rs|sides|hours|days|ones|the one)\b", text, re.IGNORECASE)
    if both and not left and not right:
        left = right = "level" if re.search(LEVEL, both[0], re.IGNORECASE) else "higher"
    if left and not right and re.search(r"\band (?:than )?(?:the )?(?:one |\w+ )?(?:after|following|next)\b", text, re.IGNORECASE):
        right = left
    told = view.matching(rf"\b(?:{HIGH}|{LEVEL})\b")
    counts = re.search(r"\bhow (?:many|often)\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if left and right and told and counts else []
    trials = [changed(view.instances[place].inputs, path, items) for path in paths[:1] for place in view.few[:4]
              for items in ([2, 2, 9, 9, 2, 1, 1], [1, 2, 9, 3, 2, 1, 0])]
    given = yield Wanted(trials)
    seen = {(given.answers[start].answer, given.answers[start + 1].answer) for start in range(0, len(trials), 2)}
    if len(seen) != 1:
        return []
    pair, single = seen.pop()
    expected = (left == "level") + (right == "level")
    if single != 1 or pair not in (0, 1, 2):
        return []
    names = {0: "a level top is none", 1: "a level top is one", 2: "a level top is two"}
    return [compared("tops with level neighbours", told[0], names[expected], names[pair])]
