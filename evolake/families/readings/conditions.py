"""How conditions are joined, whether each or the sum is rounded, and what is free."""

from __future__ import annotations

import ast
import copy
import re

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    source_of,
)

ALL_NEEDED, ONE_ENOUGH, JUST_ONE = "both are needed", "one of the two is enough", "just one of the two"


def two_divisors(view: FamilyView) -> Examiner:
    """Examine how divisibility by two numbers is joined: all data become multiples of both, of the one, of
    the other, and of none."""
    divisors = [
        number
        for number in view.numbers.values()
        if re.search(
            rf"\b(?:divi\w+ (?:\w+ )?by|multiples? of|or by|and by|nor by|by) #{number.slot}(?!\d)",
            view.text,
            re.IGNORECASE,
        )
    ]
    stated = view.matching(r"\bdivi\w+|\bmultiples?\b") if len(divisors) == 2 else []
    says = _joined(" ".join(stated)) if stated else ""
    paths = lists_of_numbers(view) if says else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            first, other = (at(inputs, number.path) for number in divisors)
            if first > 1 and other > 1 and first != other and first % other and other % first:
                for value in (first * other, first, other, first * other + 1):
                    trials.append(changed(inputs, path, [value] * len(at(inputs, path))))
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 4):
        if all(solved.status == "ok" for solved in given.answers[start : start + 4]):
            zero = [solved.answer == 0 for solved in given.answers[start : start + 4]]
            ways.add(
                {
                    (True, False, False, False): ALL_NEEDED,
                    (False, True, True, True): ALL_NEEDED,
                    (True, True, True, False): ONE_ENOUGH,
                    (False, False, False, True): ONE_ENOUGH,
                    (True, False, False, True): JUST_ONE,
                    (False, True, True, False): JUST_ONE,
                }.get(tuple(zero), "?")
            )
    if len(ways) != 1 or "?" in ways:
        return []
    return [compared("how two conditions are joined", stated[0], says, ways.pop())]


def _joined(text: str) -> str:
    if re.search(
        r"\bnot (?:by |of |to )?both\b|\bexactly one\b|\bonly one of\b|\bboth\b[^.;]{0,30}\b(?:not|remains?|"
        r"stays?|shut|left out|excluded)",
        text,
        re.IGNORECASE,
    ):
        return JUST_ONE
    either = re.search(r"\bor\b|\bnor\b|\beither\b|\bat least one\b", text, re.IGNORECASE)
    both = re.search(
        r"\bboth\b|\band (?:also |at the same time )?(?:by|of|divi\w+|a multiple|multiples) |"
        r"\bas well as\b|\band also\b",
        text,
        re.IGNORECASE,
    )
    if either and not both:
        return ONE_ENOUGH
    if both and not either:
        return ALL_NEEDED
    return ""


def joined_by_or(view: FamilyView) -> Examiner:
    """Examine whether one of two conditions is enough in programs where the text has no word for that: `or`
    becomes `and`."""
    begins = view.matching(
        r"\b(?:begin|start)\w*\b[^.;]*\band\b[^.;]*\bend\w*\b|"
        r"\bend\w*\b[^.;]*\band\b[^.;]*\b(?:begin|start)\w*\b|\bboth\b[^.;]*\band\b|"
        r"\band also\b|\band at the same time\b|\bas well as\b"
    )
    plain = re.search(r"\b(?:or|either|nor|any of|at least one)\b", view.text, re.IGNORECASE)
    sources = []
    for tree in view.trees.values() if begins and not plain else []:
        source = _with_and(tree)
        sources += [source] if source else []
    given = yield Wanted((), sources)
    decides = max(given.decided, default=0)
    if decides < 2:
        return []
    return [
        ReadingPlace(
            "how two conditions are joined",
            begins[0],
            ALL_NEEDED,
            ONE_ENOUGH,
            "contradicted",
            decides,
            given.of,
        )
    ]


def _with_and(tree: ast.Module) -> str | None:
    changed_any = False

    class _Joining(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST:
            return node if "schema_error" in ast.unparse(node) else self.generic_visit(node)

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
            nonlocal changed_any
            self.generic_visit(node)
            if isinstance(node.op, ast.Or) and all(
                isinstance(item, ast.Compare | ast.Call) for item in node.values
            ):
                kinds = ast.NotEq | ast.Lt | ast.Gt | ast.NotIn
                negative = all(
                    isinstance(item, ast.Compare) and isinstance(item.ops[0], kinds) for item in node.values
                )
                if not negative:
                    changed_any = True
                    node.op = ast.And()
            return node

    new = _Joining().visit(copy.deepcopy(tree))
    return source_of(new) if changed_any else None


EACH_ROUNDED = (
    r"\b(?:each|every)\b[^.;]{0,60}\b(?:rounded|rounds|whole|dropped|down|up|full)\b|\b(?:rounded|rounds|"
    r"dropped|cut)\b[^.;]{0,40}\b(?:each|every|singly|one by one|separately|per \w+)\b"
)
SUM_ROUNDED = (
    r"\b(?:total|sum|end result|all together|whole bill|final (?:amount|sum|result))\b(?! "
    r"of)[^.;]{0,40}\b(?:is|are|gets|then) (?:then |finally )?(?:rounded|cut)\b|\b(?:rounded|rounds|"
    r"dropped|cut)\b[^.;]{0,40}\b(?:only (?:once|at the end|then)|at the (?:very )?end|the (?:total|sum|"
    r"final))\b|\bonly (?:the|this|that) (?:total|sum)\b[^.;]{0,30}\bround"
)


def each_or_sum(view: FamilyView) -> Examiner:
    """Examine whether each part or the sum is rounded: rounded one by one, two parts of the data give what
    they give together."""
    each, whole = view.matching(EACH_ROUNDED), view.matching(SUM_ROUNDED)
    paths = (
        view.lists() if bool(each) != bool(whole) and all(type(label) is int for label in view.labels) else []
    )
    trials = []
    for path in paths if len(paths) == 1 else []:
        for place in range(len(view.instances)):
            items = at(view.instances[place].inputs, path)
            for cut in {1, len(items) // 2} if len(items) > 2 else ():
                trials.append((place, changed(view.instances[place].inputs, path, items[:cut])))
                trials.append((place, changed(view.instances[place].inputs, path, items[cut:])))
    given = yield Wanted([inputs for _, inputs in trials])
    gaps = []
    for start in range(0, len(trials), 2):
        first, rest = given.answers[start : start + 2]
        if first.status == rest.status == "ok" and type(first.answer) is type(rest.answer) is int:
            gaps.append(view.labels[trials[start][0]] - first.answer - rest.answer)
    small = [abs(gap) for gap in gaps]
    if len(gaps) < 16 or max(small) > 12 * max(1, min([item for item in small if item], default=1)):
        return []
    apart = sum(gap != 0 for gap in gaps)
    if each and 3 <= apart <= len(gaps) * 7 // 10:
        return [
            ReadingPlace(
                "what is rounded",
                each[0],
                "each part",
                "the sum of the parts",
                "contradicted",
                apart,
                len(gaps),
            )
        ]
    if whole and not apart:
        return [
            ReadingPlace("what is rounded", whole[0], "the sum", "each part", "contradicted", 0, len(gaps))
        ]
    return []


FREE = (
    r"\b(?:free|for nothing|nothing at all|costs? nothing|pays? nothing|no (?:charge|fee|fare|toll)|gratis)\b"
)


def free_beyond(view: FamilyView) -> Examiner:
    """Examine whether what is free beyond a border costs nothing there: all numbers of the data go beyond
    it."""
    trials, stated = [], []
    costs = re.search(
        r"\b(?:coins?|cost|pay|paid|price|fee|euros?|money|earn)\b", view.question, re.IGNORECASE
    )
    for number in view.numbers.values() if costs else []:
        for sentence in view.sentences:
            over = re.search(
                rf"\b(?:over|above|more than|at least|older than|heavier than|longer than|exceed\w*|"
                rf"beyond) #{number.slot}(?!\d)[^.;#]*{FREE}",
                sentence,
                re.IGNORECASE,
            )
            if over and not re.search(
                r"\b(?:first|part|rest|what is|those|only|further|each|every) ", over[0], re.IGNORECASE
            ):
                stated.append((sentence, number))
    for path in lists_of_numbers(view)[:1] if len(stated) == 1 else []:
        for place in view.few[:6]:
            inputs = view.instances[place].inputs
            border = max([at(inputs, number.path) for number in view.numbers.values()])
            trials.append(changed(inputs, path, [border + 5] * len(at(inputs, path))))
    given = yield Wanted(trials)
    ways = {"free" if solved.answer == 0 else "not free" for solved in given.answers if solved.status == "ok"}
    return [compared("what is free", stated[0][0], "free", "not free")] if ways == {"not free"} else []


def halfway_values(view: FamilyView) -> Examiner:
    """Examine where a value half way between two multiples goes: all numbers of the data become one and a
    half of the unit."""
    middle = (
        r"\b(?:ending|ends?|end) in (?:5|five|50|fifty)\b|\b(?:half ?way|midway|just|exactly|right) (?:in "
        r"the middle|between|in between)?\b|\bin the middle\b|\bhalves\b|\bhalf (?:an? )?\w+\b"
    )
    stated = []
    for sentence in view.sentences:
        if match := re.search(middle, sentence, re.IGNORECASE):
            rest = sentence[match.end() :]
            up = re.search(r"\b(?:up|upwards|higher|larger|greater|bigger|upper|next)\b", rest, re.IGNORECASE)
            down = re.search(r"\b(?:down|downwards|lower|smaller|lesser)\b", rest, re.IGNORECASE)
            if bool(up) != bool(down):
                stated.append((sentence, "up" if up else "down"))
    rounded = re.search(r"\bround|\bnearest\b|\bmultiple", view.text, re.IGNORECASE)
    words = {
        "ten": 10,
        "tens": 10,
        "hundred": 100,
        "hundreds": 100,
        "twenty": 20,
        "hundredths": 100,
        "thousand": 1000,
    }
    units = {int(text) for text in re.findall(r"(?<![#\d])\b\d{1,4}\b", view.text)}
    units |= {value for word, value in words.items() if re.search(rf"\b{word}\b", view.text, re.IGNORECASE)}
    units = {unit for unit in units if unit >= 4 and unit % 2 == 0}
    trials = []
    for path in lists_of_numbers(view)[:1] if rounded and len({says for _, says in stated}) == 1 else []:
        for place in view.few[:5]:
            inputs = view.instances[place].inputs
            for unit in sorted(units)[:4]:
                trials += [
                    changed(inputs, path, [value] * len(at(inputs, path)))
                    for value in (2 * unit, 2 * unit + unit // 2, 3 * unit)
                ]
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 3):
        low, half, high = given.answers[start : start + 3]
        if {low.status, half.status, high.status} == {"ok"} and low.answer != high.answer:
            if half.answer == low.answer:
                way = {"down"}
            elif half.answer == high.answer:
                way = {"up"}
            else:
                way = set()
            ways |= way
    return [compared("where a half goes", stated[0][0], stated[0][1], ways.pop())] if len(ways) == 1 else []
