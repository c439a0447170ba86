"""Check bounds: does a number belong to the greater or to the lesser side of a border?

"at least 5" and "less than 5" put 5 with the greater ones, "at most 5" and "more than 5" with the lesser
ones, whether the sentence is a negation or not. A border that a slot states is moved over values of the data,
one by one: if the answer changes between v and v + 1 and not between v - 1 and v, v is with the greater.
Borders that are compared with sums, or that the prose itself says, are looked up in comparisons of the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from evolake.families.gates.changes import fixed_quantities
from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    Given,
    NumberSlot,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    integers_in,
    leaves,
)

GREATER, LESSER = "counts with the greater", "counts with the lesser"
COMPARATIVE = (
    r"(?:young|short|small|light|low|earli|slow|quick|cheap|few|narrow|near|cold)er than|less than|"
    r"earlier than"
)
LARGER = (
    r"(?:old|long|larg|great|heavi|tall|high|lat|fast|bigg|dear|wid|strong|farth|furth|warm|hott)e?r than|"
    r"more than|over|above|beyond|past"
)
FILL = (
    r"(?:(?:the|an?|of|number|day|minute|hour|age|year|level|value|line|limit|mark|place|point|a price of|"
    r"a total of|a weight of) ){0,3}"
)
BEFORE = {
    GREATER: (
        rf"(?:at least|a minimum of|at minimum|minimum (?:is|of)|{COMPARATIVE}|under|below|before|short "
        rf"of|reach(?:es|ed|ing)?|onwards? from) {FILL}"
    ),
    LESSER: rf"(?:at most|a maximum of|maximum (?:is|of)|{LARGER}|exceed(?:s|ed|ing)?|up to|surpass(?:es|ed|"
    rf"ing)?) {FILL}",
}
AFTER = {
    GREATER: (
        r"(?: [a-z]+){0,2},? (?:(?:or|and) (?:more|over|above|older|later|higher|longer|greater|heavier|"
        r"taller|upwards?|larger|up)\b|upwards)"
    ),
    LESSER: (
        r"(?: [a-z]+){0,2},? (?:(?:or|and) (?:less|fewer|under|below|younger|earlier|lower|shorter|"
        r"lighter|smaller|sooner)\b|or before)"
    ),
}
BETWEEN = r"between (?:the )?(?:[a-z]+ )?{low} (?:[a-z]+ )?and (?:the )?(?:[a-z]+ )?{high}(?!\w)"
RANGE = (
    r"from (?:the )?(?:[a-z]+ )?{low} (?:[a-z]+ )?(?:to|until|till|through) (?:the )?(?:[a-z]+ )?{high}(?!\w)"
)
INCLUSIVE = (
    r"\binclusive|\bboth (?:\w+ ){0,2}included|\bincluding (?:both|the (?:ends|limits|bounds)|these)|"
    r"\b(?:ends|limits|bounds|borders|numbers) (?:are )?"
    r"(?:both )?(?:included|count|belong)|\bthemselves (?:count|included|are included)|\bthrough\b"
)
EXCLUSIVE = (
    r"\bexclusive|\bstrictly|\bneither\b|\bexcluded|\bnot (?:included|counting|including)|\bnot count|"
    r"\bexcluding|\bwithout (?:these|both|the (?:ends|two))"
)
PROBED = 4
"""Values of the data that one border of one instance is moved over."""


def bounds(view: FamilyView) -> Examiner:
    """Examine the borders that slots state."""
    said = {number.slot: list(_said(view, rf"#{number.slot}(?!\d)")) for number in view.numbers.values()}
    said = {slot: items for slot, items in said.items() if items}
    probes, order = [], []
    for slot in said:
        number = view.numbers[slot]
        for place in view.few:
            inputs = view.instances[place].inputs
            for value in list(_values(inputs, number))[:PROBED]:
                order.append(slot)
                probes += [changed(inputs, number.path, value + step) for step in (-1, 0, 1)]
    moved = [(slot, step, place) for slot in said for step in (-1, 1) for place in range(len(view.instances))]
    moved_inputs = [
        changed(
            view.instances[place].inputs,
            view.numbers[slot].path,
            at(view.instances[place].inputs, view.numbers[slot].path) + step,
        )
        for slot, step, place in moved
    ]
    given = yield Wanted([*probes, *moved_inputs])
    seen: dict[int, list[str]] = {slot: [] for slot in said}
    for turn, slot in enumerate(order):
        below, same, above = given.answers[3 * turn : 3 * turn + 3]
        if {below.status, same.status, above.status} == {"ok"}:
            low, high = view.same(below.answer, same.answer), view.same(same.answer, above.answer)
            if low and not high:
                signs = [GREATER]
            elif high and not low:
                signs = [LESSER]
            elif not low:
                signs = ["?"]
            else:
                signs = []
            seen[slot] += signs
    shifted = _shifted(view, moved, given, 3 * len(order))
    places = []
    for slot, items in said.items():
        side = _side(seen[slot]) or _side_in_code(view, view.numbers[slot])
        if side is None:
            continue
        decides = shifted[slot][-1 if side == LESSER else 1]
        places += [
            _place(sentence, text, side, decides, len(view.instances), f"#{slot}") for text, sentence in items
        ]
    return places


def fixed_bounds(view: FamilyView) -> Examiner:
    """Examine the borders that the prose says as numbers."""
    yield Wanted()
    places = []
    cuts = {name: set(_cuts(tree)) for name, tree in view.trees.items()}
    for sentence in view.sentences:
        for quantity in fixed_quantities(re.sub(r"#\d+", lambda match: "x" * len(match[0]), sentence)):
            token = re.escape(sentence[quantity.start : quantity.end]) + r"(?!\w)"
            for text, _ in _said_in(sentence, sentence, token):
                wanted, other = (
                    (quantity.value - 1, quantity.value)
                    if text == GREATER
                    else (quantity.value, quantity.value - 1)
                )
                having = [held for held in cuts.values() if held & {wanted, other}]
                if text and having and all(wanted not in held for held in having):
                    does = LESSER if text == GREATER else GREATER
                    places.append(
                        ReadingPlace(
                            "a border",
                            sentence,
                            f"{quantity.value} {text}",
                            f"{quantity.value} {does}",
                            "contradicted",
                        )
                    )
                elif text and having:
                    places.append(ReadingPlace("a border", sentence, text, text, "fixed"))
    return places


def _place(sentence: str, text: str, side: str, decides: int, total: int, name: str) -> ReadingPlace:
    if not text:
        verdict = "ambiguous" if decides else "never decides"
        return ReadingPlace(
            "whether a border is inclusive or not", sentence, "", f"{name} {side}", verdict, decides, total
        )
    if text == side:
        return ReadingPlace(
            "a border",
            sentence,
            f"{name} {text}",
            f"{name} {side}",
            "fixed" if decides else "never decides",
            decides,
            total,
        )
    verdict = "contradicted" if decides else "never decides"
    return ReadingPlace("a border", sentence, f"{name} {text}", f"{name} {side}", verdict, decides, total)


def _said(view: FamilyView, token: str) -> Iterator[tuple[str, str]]:
    """Yield (side or "", sentence) for each sentence that makes a border of the token."""
    for number, sentence in enumerate(view.sentences):
        if re.search(token, sentence):
            nearby = " ".join(view.sentences[number : number + 2])
            yield from _said_in(sentence, nearby, token)


def _said_in(sentence: str, nearby: str, token: str) -> Iterator[tuple[str, str]]:
    anything = r"(?:#?\w+|\[[^\]]*\])"
    for form in (BETWEEN, RANGE):
        for low, high, side, other in (
            (token, anything, GREATER, LESSER),
            (anything, token, LESSER, GREATER),
        ):
            if re.search(form.format(low=low, high=high), sentence, re.IGNORECASE):
                if (end := _half_open(nearby)) is not None:
                    yield other if (side == LESSER) == (end == "last") else side, sentence
                elif re.search(EXCLUSIVE, sentence, re.IGNORECASE):
                    yield other, sentence
                elif re.search(INCLUSIVE, nearby, re.IGNORECASE):
                    yield side, sentence
                elif re.search(EXCLUSIVE, nearby, re.IGNORECASE):
                    yield other, sentence
                elif form == BETWEEN:
                    yield "", sentence
                return
    sides = {
        side
        for side in (GREATER, LESSER)
        if re.search(rf"\b{BEFORE[side]}{token}", sentence, re.IGNORECASE)
        or re.search(token + AFTER[side], sentence, re.IGNORECASE)
    }
    if len(sides) == 1:
        yield sides.pop(), sentence


def _half_open(text: str) -> str | None:
    """Return which end alone is left out, first or last; None if it is neither or both."""
    out = (
        r"(?:is |are |being |itself |any ?more |no longer )*(?:not (?:included|counted|there)|excluded|"
        r"left out|no longer|not in the last)"
    )
    last = re.search(
        rf"\b(?:last|latter|second|end|upper|later)\b[^.;]{{0,30}}\b{out}|\bnot in the last\b",
        text,
        re.IGNORECASE,
    )
    first = re.search(
        rf"\b(?:first|former|beginning|lower|earlier)\b[^.;]{{0,30}}\b{out}|\bnot in the first\b",
        text,
        re.IGNORECASE,
    )
    if bool(first) == bool(last):
        return None
    if last:
        return "last"
    return "first"


def _values(inputs: object, number: NumberSlot) -> Iterator[int]:
    """Yield values of the other data that are alone: no value next to them; nearest to the border first, and
    multiples of other numbers there."""
    border = at(inputs, number.path)
    others = [value for path, value in leaves(inputs) if path != number.path]
    single = {value for value in others if type(value) is int}
    data = {value for other in others for value in integers_in(other)}
    data |= {border // value * value for value in single if value > 2} | {
        (border // value + 1) * value for value in single if value > 2
    }
    yield from sorted(
        (value for value in data if not {value - 1, value + 1} & data),
        key=lambda value: (abs(value - border), value),
    )


def _side(seen: list[str]) -> str | None:
    """Return the side if the probes agree on it, None if they do not or say too little."""
    greater, lesser, mixed = (seen.count(word) for word in (GREATER, LESSER, "?"))
    most = max(greater, lesser)
    if most < 3 or min(greater, lesser) > most // 8 or mixed > most // 2:
        return None
    return GREATER if greater > lesser else LESSER


def _shifted(
    view: FamilyView, moved: list[tuple[int, int, int]], given: Given, start: int
) -> dict[int, dict[int, int]]:
    """Return slot -> step -> instances whose label is another when the border is moved by the step."""
    result: dict[int, dict[int, int]] = {}
    for (slot, step, place), solved in zip(moved, given.answers[start:], strict=True):
        other = solved.status == "ok" and not view.same(solved.answer, view.labels[place])
        counts = result.setdefault(slot, {-1: 0, 1: 0})
        counts[step] += other
    return result


def _side_in_code(view: FamilyView, number: NumberSlot) -> str | None:
    """Return the side on which comparisons with the input put equality, None unless those of all voters that
    have some agree."""
    if len(number.path) != 1 or number.offset:
        return None
    sides = set()
    for tree in view.trees.values():
        names = aliases(tree, number.path[0])
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
                if right in names and left not in names:
                    found |= {type(node.ops[0])}
                elif left in names and right not in names:
                    found |= {_TURNED.get(type(node.ops[0]), type(node.ops[0]))}
        sides |= {_SIDES[item] for item in found if item in _SIDES}
    return sides.pop() if len(sides) == 1 else None


_TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_SIDES = {ast.Lt: GREATER, ast.GtE: GREATER, ast.Gt: LESSER, ast.LtE: LESSER}


def aliases(tree: ast.Module, key: str) -> set[str]:
    """Return the expressions that stand for the input of that key: the subscript itself, and names that are
    assigned it and nothing else."""
    result: set[str] = set()
    assigned: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == key
        ):
            result.add(ast.unparse(node))
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if (
                isinstance(target, ast.Tuple)
                and isinstance(value, ast.Tuple)
                and len(target.elts) == len(value.elts)
            ):
                pairs = list(zip(target.elts, value.elts, strict=True))
            for name, item in pairs:
                if isinstance(name, ast.Name):
                    assigned.setdefault(name.id, set()).add(ast.unparse(item))
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            assigned.setdefault(node.target.id, set()).add("?")
    return result | {name for name, values in assigned.items() if values <= result}


def _cuts(tree: ast.Module) -> Iterator[int]:
    """Yield c for each comparison with a constant that parts the integers into those up to c and those from c
    + 1 on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
                for item, kind in (
                    (right, type(operator)),
                    (left, _TURNED.get(type(operator), type(operator))),
                ):
                    if isinstance(item, ast.Constant) and type(item.value) is int and kind in _SIDES:
                        yield item.value - (_SIDES[kind] == GREATER)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            for item in node.args[:2]:
                if isinstance(item, ast.Constant) and type(item.value) is int:
                    yield item.value - 1


def widths(view: FamilyView) -> Examiner:
    """Examine whether "from day #1 to day #2" counts both ends, where the answer is how many there are."""
    stated = []
    for sentence in view.sentences:
        for low in view.numbers:
            for high in view.numbers:
                forms = "|".join(form.format(low=f"#{low}", high=f"#{high}") for form in (RANGE, BETWEEN))
                if low == high or not re.search(forms, sentence, re.IGNORECASE):
                    continue
                inclusive, exclusive = (
                    re.search(INCLUSIVE, sentence, re.IGNORECASE),
                    re.search(EXCLUSIVE, sentence, re.IGNORECASE),
                )
                if bool(inclusive) != bool(exclusive):
                    stated.append(
                        (low, high, sentence, "both ends counted" if inclusive else "not both ends counted")
                    )
    probes = [
        changed(inputs, view.numbers[high].path, at(inputs, view.numbers[low].path) + step)
        for low, high, *_ in stated
        for inputs in (view.instances[place].inputs for place in view.few)
        for step in (0, 1, 2)
    ]
    given = yield Wanted(probes)
    result, each = [], 3 * len(view.few)
    for turn, (_, _, sentence, says) in enumerate(stated):
        answers = [
            solved.answer if solved.status == "ok" else None
            for solved in given.answers[turn * each : (turn + 1) * each]
        ]
        triples = [answers[start : start + 3] for start in range(0, len(answers), 3)]
        whole = [tuple(item for item in items if type(item) is int) for items in triples]
        known = [
            items[0] for items in whole if len(items) == 3 and items[2] - items[1] == items[1] - items[0] == 1
        ]
        if len(known) >= 3 and len(set(known)) == 1 and known[0] in (-1, 0, 1):
            does = "both ends counted" if known[0] == 1 else "not both ends counted"
            result.append(compared("whether both ends count", sentence, says, does))
    return result


COUNTED = (
    r"\b(?:first|last|both) (?:and (?:the )?(?:last|first) )?(?:\w+ )?(?:both )?(?:counts?|are counted|"
    r"included)\b"
)


def spans_of_records(view: FamilyView) -> Examiner:
    """Examine whether a record's span, as [.., 3, 7], counts both its ends: all spans become [.., 3, 3], for
    a question that adds lengths up."""
    inclusive = view.matching(rf"{INCLUSIVE}|{COUNTED}")
    exclusive = view.matching(EXCLUSIVE)
    paths = (
        [path for path in view.lists() if _are_spans(view, path)]
        if bool(inclusive) != bool(exclusive)
        else []
    )
    trials = []
    for path in paths[:1]:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            trials.append(
                (
                    len(items),
                    changed(view.instances[place].inputs, path, [[*item[:-1], item[-2]] for item in items]),
                )
            )
    given = yield Wanted([inputs for _, inputs in trials])
    seen = {
        {0: "not both ends counted", length: "both ends counted"}.get(solved.answer, "?")
        if type(solved.answer) is int
        else "?"
        for (length, _), solved in zip(trials, given.answers, strict=True)
    }
    if len(trials) < 4 or len(seen) != 1 or "?" in seen:
        return []
    says = "both ends counted" if inclusive else "not both ends counted"
    return [compared("whether both ends count", (inclusive or exclusive)[0], says, seen.pop())]


def _are_spans(view: FamilyView, path: tuple[str, ...]) -> bool:
    """Return whether each element of the list is a record that ends in two numbers, the second never the
    smaller."""
    return all(
        isinstance(item, list)
        and len(item) >= 2
        and type(item[-1]) is type(item[-2]) is int
        and item[-2] <= item[-1]
        for instance in view.instances
        for item in at(instance.inputs, path)
    )
