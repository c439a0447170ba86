"""Places and counts: from where places are counted, from the k-th on, tops at the ends of a row, first and
last digits, pairs that share nothing; every k-th from where on, ordered pairs or not, and those that are not
something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    called_names,
    changed,
    compared,
    integers,
)


def counted_from(view: FamilyView) -> Examiner:
    """Examine from where places are counted: the last place by the text is asked for, and answers that are
    places are looked at."""
    one = view.matching(
        r"\b(?:leftmost|lowest|bottom|nearest)\b[^.;]{0,30}\b(?:is|has|gets|bears)\b[^.;]{0,20}\b1\b|"
        r"\b(?:counted|numbered|count(?:ing)?|number(?:ed|ing)?|start(?:s|ing)?|begin(?:s|ning)?) (?:\w+ "
        r"){0,4}?(?:from|at|with) (?:(?:number|house|place|no\.?|the|a|an|seat|door|day) ){0,2}(?:1|"
        r"one)\b|\bfirst (?:\w+ ){0,3}(?:is|has|bears|gets|being) (?:the )?(?:number |place |position |"
        r"no\. ?)?(?:1|one)\b|\bnumbered 1\b"
    )
    zero = view.matching(
        r"\b(?:leftmost|first|lowest|bottom|nearest)\b[^.;]{0,30}\b(?:is|has|gets|"
        r"bears)\b[^.;]{0,20}\b0\b|\b(?:counted|numbered|count(?:ing)?|number(?:ed|ing)?|start(?:s|ing)?|"
        r"begin(?:s|ning)?) (?:\w+ ){0,4}?(?:from|at|with) (?:(?:number|house|place|no\.?|the|a|an|seat|"
        r"door|day) ){0,2}(?:0|zero|nought)\b|\bfirst (?:\w+ ){0,3}(?:is|has|bears|gets|being) (?:the "
        r")?(?:number |place |position |no\. ?)?(?:0|zero|nought)\b|\bnumbered 0\b"
    )
    asks = bool(
        re.search(
            r"\b(?:place|position|seat|index|slot|number of the|at which|on which|"
            r"which (?:\w+ )?(?:number|place|field|square|house))\b",
            view.question,
            re.IGNORECASE,
        )
    )
    lists = view.lists()
    trials = []
    for number in view.numbers.values() if one or zero else []:
        for path in lists:
            for place in view.few:
                inputs = view.instances[place].inputs
                end = len(at(inputs, path))
                trials += [
                    (number.slot, path, changed(inputs, number.path, end + number.offset)),
                    (number.slot, path, changed(inputs, number.path, end - 1 + number.offset)),
                    (number.slot, path, changed(inputs, number.path, end + 1 + number.offset)),
                ]
    given = yield Wanted([inputs for *_, inputs in trials])
    if one and not zero:
        says = "1"
    elif zero and not one:
        says = "0"
    else:
        says = ""
    sentence = (one or zero or [view.question])[0]
    result = []
    for number in view.numbers.values():
        if re.search(
            rf"\b(?:place|position|seat|field|square|house|card|cell|box|door|room|shelf|index|number|spot|"
            rf"tile|bench|at|on) #{number.slot}(?!\d)",
            view.text,
            re.IGNORECASE,
        ):
            for path in lists:
                answers = [
                    solved
                    for (slot, where, _), solved in zip(trials, given.answers, strict=True)
                    if (slot, where) == (number.slot, path)
                ]
                last, before, after = answers[0::3], answers[1::3], answers[2::3]
                failed = sum(item.status == "error" for item in last)
                if (
                    says == "1"
                    and last
                    and failed == len(last)
                    and all(item.status == "ok" for item in before)
                ):
                    result.append(
                        ReadingPlace(
                            "from where places are counted",
                            sentence,
                            "1",
                            "0",
                            "contradicted",
                            failed,
                            len(last),
                        )
                    )
                beyond = sum(item.status == "error" for item in after)
                if (
                    says == "0"
                    and last
                    and not failed
                    and beyond == len(after)
                    and all(item.status == "ok" for item in before)
                ):
                    result.append(
                        ReadingPlace(
                            "from where places are counted",
                            sentence,
                            "0",
                            "1",
                            "contradicted",
                            beyond,
                            len(after),
                        )
                    )
    if asks and len(lists) == 1 and all(type(label) is int for label in view.labels):
        sizes = [len(at(item.inputs, lists[0])) for item in view.instances]
        if all(0 <= label <= size for label, size in zip(view.labels, sizes, strict=True)):
            lowest = sum(label == 0 for label in view.labels)
            highest = sum(label == size for label, size in zip(view.labels, sizes, strict=True))
            if lowest and not highest:
                does = "0"
            elif highest and not lowest:
                does = "1"
            else:
                does = ""
            zero_said = re.search(
                r"\b(?:answer|give|say|write|reply|return|is|are)\b[^.]*\b0\b|\bnone\b|\bno such\b|"
                r"\bnever\b",
                view.text,
                re.IGNORECASE,
            )
            if (does == "0" and says == "0") or (does == "1" and says == "1"):
                result.append(ReadingPlace("from where places are counted", sentence, says, does, "fixed"))
            elif does and says and does != says and not (does == "0" and zero_said):
                result.append(
                    ReadingPlace(
                        "from where places are counted",
                        sentence,
                        says,
                        does,
                        "contradicted",
                        max(lowest, highest),
                        len(sizes),
                    )
                )
    return result[:1]


COMPLEMENTS = (
    ast.Mod,
    ast.Not,
    ast.NotIn,
    ast.NotEq,
    ast.IsNot,
    ast.Sub,
    ast.Eq,
    ast.Lt,
    ast.Gt,
    ast.LtE,
    ast.GtE,
    ast.BitXor,
    ast.Invert,
    ast.IfExp,
    ast.Continue,
    ast.Delete,
)
REMOVING = frozenset(
    ["difference", "discard", "remove", "pop", "difference_update", "symmetric_difference", "get", "find"]
)


def negation(view: FamilyView) -> Examiner:
    """Examine whether a question for those that are not something is answered by a program that can say no at
    all."""
    yield Wanted()
    asks = re.search(
        r"\b(?:how many|which|what is the number|count|what is the sum)\b[^?]*\b(?:do|does|did|is|are|"
        r"was|were|has|have|can|will)(?: not|n't)\b|"
        r"\b(?:how many|which|count|number of)\b[^?]*\b(?:never|nobody|without|none|no longer)\b",
        view.question,
        re.IGNORECASE,
    )
    if not asks:
        return []
    unable = [name for name, tree in view.trees.items() if not _can_deny(tree)]
    if not unable:
        return [ReadingPlace("a negation", view.question, "not", "not", "fixed")]
    return [
        ReadingPlace(
            "a negation",
            view.question,
            "not",
            f"nothing is denied in the program {unable[0]}",
            "contradicted",
        )
    ]


def _can_deny(tree: ast.Module) -> bool:
    """Return whether a source has any means to count what is not so. Checks of the form of the inputs are
    left out."""
    for statement in [
        item for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for item in node.body
    ]:
        if isinstance(statement, ast.If) and "schema_error" in ast.unparse(statement):
            continue
        for node in ast.walk(statement):
            if isinstance(node, COMPLEMENTS) or (isinstance(node, ast.If) and node.orelse):
                return True
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in REMOVING
            ):
                return True
            if (
                isinstance(node, ast.Constant)
                and node.value in (0, False)
                and isinstance(node.value, bool | int)
                and node.value is not True
            ):
                return True
    return False


def steps(view: FamilyView) -> Examiner:
    """Examine where "every k-th" begins: slices that take every k-th from the first one, or from the k-th."""
    yield Wanted()
    stated = view.matching(r"\bevery (?:#\d+|second|third|fourth|fifth|\w+th)\b")
    if not stated:
        return []
    first = view.matching(
        r"\b(?:start|begin)\w* (?:with|at|from) the (?:very )?first\b|\bthe (?:very )?first (?:\w+ "
        r"){0,4}(?:included|counts|is (?:taken|one of|the first|among|read|also)|belongs)"
    )
    later = view.matching(
        r"\b(?:start|begin)\w* (?:with|at|from) the (?:#\d+(?:th|nd|rd)?|second|third|fourth|"
        r"\w+th)\b"
    )
    found = {way for tree in view.trees.values() for way in _begins(tree)}
    if len(found) != 1 or (bool(first) and bool(later)):
        return []
    does = found.pop()
    if first:
        says = "the first"
    elif later:
        says = "the k-th"
    else:
        says = ""
    if says:
        return [compared("where every k-th begins", (first or later)[0], says, does)]
    if does == "the first":
        return [compared("where every k-th begins", stated[0], "the k-th", does)]
    return []


def _begins(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Slice)
            and node.step is not None
            and not ast.unparse(node.step).startswith("-")
        ):
            lower = ast.unparse(node.lower) if node.lower else "0"
            step = ast.unparse(node.step)
            less = (
                isinstance(node.step, ast.Constant)
                and type(node.step.value) is int
                and lower == str(node.step.value - 1)
            )
            if lower == "0":
                yield "the first"
            elif lower == f"{step} - 1" or less:
                yield "the k-th"


def pairs(view: FamilyView) -> Examiner:
    """Examine whether a pair and the same pair the other way round are one."""
    lists = view.lists()
    probes = (
        [
            changed(
                view.instances[place].inputs,
                lists[0],
                at(view.instances[place].inputs, lists[0])[start : start + 2],
            )
            for place in view.few
            for start in (0, 1, 2)
        ]
        if len(lists) == 1 and re.search(r"\bpairs?\b", view.text, re.IGNORECASE)
        else []
    )
    given = yield Wanted(probes)
    counts = [
        solved.answer for solved in given.answers if solved.status == "ok" and type(solved.answer) is int
    ]
    ordered = view.matching(
        r"\bordered pairs?|\border (?:of the two )?matters|\bcount as (?:two|different) pairs"
    )
    unordered = view.matching(
        r"\bunordered pairs?|\border (?:\w+ ){0,3}(?:does not|doesn't) matter|"
        r"\bcount as one pair|\bcounts? (?:as )?(?:only )?once\b.*\bpair|"
        r"\bpair\b.*\bcounted (?:only )?once|"
        r"\b([A-Z]\w*) (?:with|and) ([A-Z]\w*) (?:is|are|makes?) (?:no other|the same|one)\b"
    )
    if bool(ordered) == bool(unordered):
        return []
    found = {way for tree in view.trees.values() for way in _paired(tree)}
    if set(counts) in ({0, 2}, {0, 1}) and min(counts.count(0), len(counts) - counts.count(0)) >= 3:
        found = {"ordered" if 2 in counts else "unordered"}
    says = "ordered" if ordered else "unordered"
    if len(found) != 1:
        return []
    does = found.pop()
    return [compared("whether pairs are ordered", (ordered or unordered)[0], says, does)]


def _paired(tree: ast.Module) -> Iterator[str]:
    names = called_names(tree)
    if "combinations" in names:
        yield "unordered"
    if "permutations" in names:
        yield "ordered"
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "range"
            and len(node.args) == 2
            and ast.unparse(node.args[0]).endswith("+ 1")
        ):
            yield "unordered"
        if (
            isinstance(node, ast.Slice)
            and node.lower is not None
            and node.upper is None
            and re.fullmatch(r"\w+ \+ 1", ast.unparse(node.lower))
        ):
            yield "unordered"


ORDINALS = {"third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "tenth": 10}


def from_the_kth(view: FamilyView) -> Examiner:
    """Examine with which unit another price begins: all numbers of the data grow past the k-th, and the sum
    grows otherwise from there on."""
    stated = {}
    for sentence in view.sentences:
        for word, number in ORDINALS.items():
            if re.search(
                rf"\b(?:from|beginning with|starting with) the {word}\b[^.;]{{0,30}}\b(?:on|onwards?|"
                r"upwards?)\b",
                sentence,
                re.IGNORECASE,
            ):
                stated[number] = (sentence, "with it")
            elif re.search(rf"\bafter the {word}\b", sentence, re.IGNORECASE):
                stated[number] = (sentence, "with the next one")
    paths = lists_of_numbers(view) if len(stated) == 1 else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:5]:
            inputs, number = view.instances[place].inputs, next(iter(stated))
            trials += [
                changed(inputs, path, [value] * len(at(inputs, path)))
                for value in range(number - 2, number + 3)
            ]
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 5):
        if answers := integers(given.answers[start : start + 5]):
            grows = [later - earlier for earlier, later in pairwise(answers)]
            if grows[0] != grows[3] and grows[1] in (grows[0], grows[3]) and grows[2] in (grows[0], grows[3]):
                if grows[1] != grows[0]:
                    way = "with it"
                elif grows[2] != grows[1]:
                    way = "with the next one"
                else:
                    way = "?"
                ways.add(way)
    if len(ways) != 1 or "?" in ways:
        return []
    sentence, says = next(iter(stated.values()))
    return [compared("with which one another price begins", sentence, says, ways.pop())]


def tops_at_ends(view: FamilyView) -> Examiner:
    """Examine whether the ends of a row can be tops: a row that only rises has its top at the end."""
    counted = view.matching(
        r"\b(?:ends?|first and (?:the )?last)\b[^.;]{0,40}\b(?:only one|a single|one neighbou?r|just one)\b"
    )
    left_out = view.matching(
        r"\b(?:ends?|first and (?:the )?last)\b[^.;]{0,40}\b(?:not (?:looked|counted|"
        r"considered)|never|cannot|left out|ignored)\b"
    )
    compares = re.search(
        r"\b(?:higher|larger|greater|taller|more|heavier|bigger|warmer)\b[^.;]*\b(?:than|both)\b",
        view.text,
        re.IGNORECASE,
    )
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if bool(counted) != bool(left_out) and compares and asked else []
    trials = [
        changed(view.instances[place].inputs, path, items)
        for path in paths[:1]
        for place in view.few[:4]
        for items in ([2, 4, 6, 8, 10], [10, 8, 6, 4, 2], [2, 4, 10, 6, 3])
    ]
    given = yield Wanted(trials)
    seen = {tuple(integers(given.answers[start : start + 3])) for start in range(0, len(trials), 3)}
    known: dict[tuple[int, ...], str] = {(1, 1, 1): "an end can be one", (0, 0, 1): "an end is never one"}
    does = known.get(seen.pop(), "") if len(seen) == 1 else ""
    says = "an end can be one" if counted else "an end is never one"
    return [compared("tops at the ends", (counted or left_out)[0], says, does)] if does else []


def first_and_last_digit(view: FamilyView) -> Examiner:
    """Examine which of the first and the last digit is the larger one: all numbers become one whose last
    digit is larger, and one whose first is."""
    larger, smaller = r"(?:larger|greater|higher|bigger|more)", r"(?:smaller|lower|less)"
    last_larger = view.matching(
        rf"\blast (?:digit|figure)\b[^.;]{{0,40}}\b{larger} than (?:the |its )?first\b|"
        rf"\bfirst (?:digit|figure)\b[^.;]{{0,40}}\b{smaller} than (?:the |its )?last\b"
    )
    first_larger = view.matching(
        rf"\bfirst (?:digit|figure)\b[^.;]{{0,40}}\b{larger} than (?:the |its )?last\b|"
        rf"\blast (?:digit|figure)\b[^.;]{{0,40}}\b{smaller} than (?:the |its )?first\b"
    )
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE) and not re.search(
        r"\bnot\b", view.text, re.IGNORECASE
    )
    paths = lists_of_numbers(view) if bool(last_larger) != bool(first_larger) and asked else []
    trials = [
        changed(view.instances[place].inputs, path, [value] * 4)
        for path in paths[:1]
        for place in view.few[:4]
        for value in (258, 852)
    ]
    given = yield Wanted(trials)
    seen = {tuple(integers(given.answers[start : start + 2])) for start in range(0, len(trials), 2)}
    known: dict[tuple[int, ...], str] = {(4, 0): "the last is larger", (0, 4): "the first is larger"}
    does = known.get(seen.pop(), "") if len(seen) == 1 else ""
    says = "the last is larger" if last_larger else "the first is larger"
    return (
        [compared("the first and the last digit", (last_larger or first_larger)[0], says, does)]
        if does
        else []
    )


def separate_pairs(view: FamilyView) -> Examiner:
    """Examine whether a thing can be in several pairs: three of one kind are the whole data."""
    one = view.matching(
        r"\b(?:one|a single) pair only\b|\bonly (?:in )?one pair\b|\bnot (?:\w+ )?(?:two|several|"
        r"more than one) pairs?\b|\bat most one pair\b"
    )
    many = view.matching(r"\b(?:several|more than one|many|two) pairs?\b")
    many = [item for item in many if item not in one]
    asked = re.search(r"\bhow many\b[^?]*\bpairs?\b", view.question, re.IGNORECASE)
    trials = []
    for path in view.lists() if bool(one) != bool(many) and asked else []:
        for place in view.few[:4]:
            items = at(view.instances[place].inputs, path)
            if all(isinstance(item, str | int) for item in items):
                trials.append(changed(view.instances[place].inputs, path, [items[0]] * 3))
    given = yield Wanted(trials)
    seen = set(integers(given.answers))
    does = {1: "one pair only", 3: "several pairs"}.get(seen.pop() if len(seen) == 1 else 0, "")
    return (
        [
            compared(
                "in how many pairs a thing can be",
                (one or many)[0],
                "one pair only" if one else "several pairs",
                does,
            )
        ]
        if does
        else []
    )


EXACTLY_THEN = r"\b{word},? or (?:exactly|just|right|precisely) (?:at|on|by|in) (?:that|this|the same)\b"


def with_that_one(view: FamilyView) -> Examiner:
    """Examine whether a border counts that a later sentence calls "exactly that one": all numbers of the data
    become the border."""
    stated = []
    for number, sentence in enumerate(view.sentences):
        if re.search(
            EXACTLY_THEN.format(
                word=r"(?:earlier|before|sooner|less|fewer|lower|smaller|later|after|more|"
                r"higher|larger)"
            ),
            sentence,
            re.IGNORECASE,
        ):
            near = " ".join(view.sentences[max(0, number - 1) : number + 1])
            slots = [slot for slot in view.numbers if re.search(rf"#{slot}(?!\d)", near)]
            stated += [(sentence, slots[0])] if len(slots) == 1 else []
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if len(stated) == 1 and asked else []
    trials = [
        changed(inputs, path, [at(inputs, view.numbers[stated[0][1]].path) + step] * len(at(inputs, path)))
        for path in paths[:1]
        for inputs in (view.instances[place].inputs for place in view.few[:6])
        for step in (-3, 0, 3)
    ]
    given = yield Wanted(trials)
    lower = bool(
        stated
        and re.search(
            r"\b(?:earlier|before|sooner|less|fewer|lower|smaller),? or\b", stated[0][0], re.IGNORECASE
        )
    )
    ways = set()
    for start in range(0, len(trials), 3):
        if (answers := integers(given.answers[start : start + 3])) and answers[0] != answers[2]:
            ways.add("it is with them" if answers[1] == answers[0 if lower else 2] else "it is not")
    return (
        [compared("one exactly at the border", stated[0][0], "it is with them", ways.pop())]
        if len(ways) == 1
        else []
    )
