"""In which order things are taken, and which extreme; who goes first among equals (two elements of a list
change places, or their names do: any way to write the programs is seen); in which order a list is answered;
whether what occurs twice counts twice."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evolake.families.model.wording import ORDER_WORDS, TIE_WORDS
from evolake.families.readings.view import (
    LEAST_PROBES,
    Examiner,
    FamilyView,
    Given,
    KeyPath,
    ReadingPlace,
    Wanted,
    at,
    called_names,
    changed,
    compared,
    source_of,
)

MOST_ELEMENTS = 7


def ties(view: FamilyView) -> Examiner:
    """Examine who goes first among equals: two elements of a list change places, or their names do.

    If another element is answered after the exchange of places, and it is now the earlier one, the programs
    take the first; if the exchange of names changes nothing and the exchange of places does not either, they
    go by the name.
    """
    stated = [
        sentence
        for sentence in view.sentences
        if _on_equals(sentence) and (ORDER_WORDS.search(sentence) or _order_said(sentence))
    ]
    pairs = []
    for path in view.lists() if stated else []:
        for place in view.few:
            items, label = at(view.instances[place].inputs, path), view.labels[place]
            own = [
                number for number, item in enumerate(items) if _name(item) is not None and _names(label, item)
            ]
            for number in own[:2]:
                for other in [
                    index
                    for index in range(len(items))
                    if index != number and _name(items[index]) is not None
                ][:MOST_ELEMENTS]:
                    pairs.append((path, place, number, other))
    inputs = []
    for path, place, number, other in pairs:
        given = view.instances[place].inputs
        items = at(given, path)
        places, names = list(items), copy.deepcopy(list(items))
        places[number], places[other] = places[other], places[number]
        names[number], names[other] = (
            _renamed(items[number], items[other]),
            _renamed(items[other], items[number]),
        )
        inputs += [changed(given, path, places), changed(given, path, names)]
    given = yield Wanted(inputs)
    seen: list[str] = []
    for turn, (path, place, number, other) in enumerate(pairs):
        moved, renamed = given.answers[2 * turn : 2 * turn + 2]
        label = view.labels[place]
        if {moved.status, renamed.status} != {"ok"}:
            continue
        items = at(view.instances[place].inputs, path)
        mine, theirs = _name(items[number]), _name(items[other])
        if isinstance(label, list):
            after = moved.answer if isinstance(moved.answer, list) else []
            known = mine in label and theirs in label and mine in after and theirs in after
            exchanged = known and (label.index(mine) < label.index(theirs)) != (
                after.index(mine) < after.index(theirs)
            )
            before = known and label.index(mine) < label.index(theirs)
            if exchanged:
                seen.append("the first" if before == (number < other) else "the last")
        elif not view.same(moved.answer, label) and moved.answer == theirs:
            seen.append("the first" if number < other else "the last")
        elif (
            view.same(moved.answer, label)
            and view.same(renamed.answer, label)
            and mine != theirs
            and type(mine) is type(theirs)
        ):
            seen.append("the smaller name" if mine < theirs else "the larger name")
    if not stated or not (does := _agreed(seen)):
        return []
    sentence = stated[0]
    says = _order_said(sentence)
    if not says:
        return []
    groups = ({"the first", "the last"}, {"the smaller name", "the larger name"})
    comparable = any({says, does} <= group for group in groups) or (
        says in groups[1] and does in groups[0] and "alphabet" in sentence
    )
    verdict = "fixed" if says == does or not comparable else "contradicted"
    return [ReadingPlace("who goes first among equals", sentence, says, does, verdict)]


def _order_said(sentence: str) -> str:
    """Return what the sentence says of equals, "" if it says two things or none."""
    match = TIE_WORDS.search(sentence) or MORE_TIES.search(sentence)
    rest = sentence[match.end() :] if match else sentence
    if "," in rest and (said := _side_said(rest.split(",", 1)[1])):
        return said
    return _side_said(rest)


def _side_said(rest: str) -> str:
    first = bool(
        re.search(
            r"\b(?:first|earliest|earlier|sooner|before|leftmost|uppermost|topmost|(?:further|higher) up|"
            r"nearer (?:to )?the (?:top|beginning|start|front))\b",
            rest,
            re.IGNORECASE,
        )
    )
    last = bool(
        re.search(
            r"\b(?:last|latest|later|after|rightmost|lowermost|bottommost|most recent(?:ly)?|(?:further|"
            r"lower) down|nearer (?:to )?the (?:end|bottom|back))\b",
            rest,
            re.IGNORECASE,
        )
    )
    if "alphabet" in rest.casefold() and first != last:
        return "the smaller name" if first else "the larger name"
    low = bool(re.search(r"\b(?:smallest|lowest|smaller|lower|least)\b", rest, re.IGNORECASE))
    high = bool(
        re.search(r"\b(?:largest|highest|greatest|larger|higher|greater|biggest)\b", rest, re.IGNORECASE)
    )
    if low + high + first + last != 1:
        return ""
    if first:
        return "the first"
    if last:
        return "the last"
    if low:
        return "the smaller name"
    return "the larger name"


MORE_TIES = re.compile(
    r"\b(?:draws?|dead heat|equally|as (?:many|much|good|high|fast) as|shared? the|level on|level with|"
    r"no clear)\b",
    re.IGNORECASE,
)


def _on_equals(sentence: str) -> bool:
    return bool(TIE_WORDS.search(sentence) or MORE_TIES.search(sentence))


def _agreed(seen: Sequence[str]) -> str:
    """Return what nearly all probes show, "" if they do not agree or are too few."""
    best = max(sorted(set(seen)), key=seen.count, default="")
    return best if seen.count(best) >= LEAST_PROBES and seen.count(best) >= 0.9 * len(seen) else ""


def _name(item: Any) -> Any:
    """Return what an element of a list is called by: its first text, or the element itself if it is one."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        values = item.values()
    elif isinstance(item, list):
        values = item
    else:
        values = ()
    return next((value for value in values if isinstance(value, str)), None)


def _names(label: Any, item: Any) -> bool:
    """Return whether the label is the element's name, or a list in which the name is."""
    name = _name(item)
    return name in label if isinstance(label, list) else isinstance(label, str) and label == name


def _renamed(item: Any, other: Any) -> Any:
    """Return the element under the name of the other one."""
    if isinstance(item, str):
        return _name(other)
    mine, theirs = _name(item), _name(other)
    pairs = item.items() if isinstance(item, dict) else enumerate(item)
    done, result = False, {}
    for key, value in pairs:
        result[key] = theirs if value == mine and not done else value
        done = done or value == mine
    return result if isinstance(item, dict) else list(result.values())


def answer_order(view: FamilyView) -> Examiner:
    """Examine in which order a list is answered: by what the labels are."""
    yield Wanted()
    lists = [
        label
        for label in view.labels
        if isinstance(label, list) and len(label) > 2 and len({type(item) for item in label}) == 1
    ]
    if len(lists) < 4:
        return []
    rising = sum(label == sorted(label) for label in lists)
    falling = sum(label == sorted(label, reverse=True) for label in lists)
    up = (
        r"\b(?:ascending|increasing|rising|alphabetical) order|\bfrom (?:the )?(?:smallest|lowest|least) "
        r"to\b|\b(?:smallest|lowest) first\b|\bsorted (?:up|upwards)"
    )
    down = (
        r"\b(?:descending|decreasing|falling|reverse alphabetical) order|\bfrom (?:the )?(?:largest|highest|"
        r"greatest|biggest) to\b|"
        r"\b(?:largest|highest|greatest) first\b"
    )
    for sentence in view.sentences[-3:]:
        ups, downs = (
            bool(re.search(up, sentence, re.IGNORECASE)),
            bool(re.search(down, sentence, re.IGNORECASE)),
        )
        if re.search(r"reverse alphabetical", sentence, re.IGNORECASE):
            ups = False
        if ups != downs:
            says = "rising" if ups else "falling"
            if rising == len(lists):
                does = "rising"
            else:
                does = "falling" if falling == len(lists) else ""
            if does and rising != falling:
                return [compared("the order of the answer", sentence, says, does, len(lists), len(lists))]
    return []


def repeats(view: FamilyView) -> Examiner:
    """Examine whether what occurs twice counts twice."""
    distinct = [
        sentence
        for sentence in view.sentences
        if re.search(r"\b(?:different|distinct|unique)\b", sentence, re.IGNORECASE)
    ]
    once = view.matching(
        r"\b(?:not|never|nobody|no one|none|nothing|no \w+)\b[^.]{0,40}\b(?:a second time|twice|more than "
        r"once)\b|\b(?:repeated|repetitions|repeats|that comes? again|doubles|"
        r"duplicates)\b[^.]{0,30}\b(?:ignored|left out|not counted?|no second|away|aside|removed|taken "
        r"out|dropped)\b|\bcounts? (?:only )?once\b|\bcounted (?:only )?once\b|\bonly once\b|\bwithout "
        r"repeats?\b|\bignor\w+ repeats\b|\bcounts? (?:for|as) (?:only |just )?one\b(?! pair)|\b(?:taken|"
        r"listed|written|entered|noted|put) (?:down )?(?:only |just )?once\b|\b(?:several|many|more than "
        r"one|two or more)\b[^.;]{0,40}\b(?:for one|as one|(?<!at )once)\b(?! pair)|\b(?:once only|one "
        r"time only)\b"
    )
    often = view.matching(
        r"\bas often as\b|\bevery occurrence\b|\beach occurrence\b|\bwith repeats\b|"
        r"\brepeats (?:are )?count|\beach time (?:it|he|she)\b|"
        r"\bcounts? (?:again|each time|every time|twice|as many times)"
    )
    once = [
        item
        for item in once
        if not re.search(r"\b(?:in|within) (?:it|them|each|a word|the word)\b", item, re.IGNORECASE)
    ]
    paths = []
    for path in view.lists() if distinct or once or often else []:
        items = [at(view.instances[place].inputs, path) for place in view.few]
        if all(
            isinstance(item, str | int) and not isinstance(item, bool) for values in items for item in values
        ):
            paths.append(path)
    trials = []
    for path in paths:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            trials += [
                (path, place, number, [*items, items[number]])
                for number in dict.fromkeys((0, len(items) // 2, len(items) - 1))
            ]
            trials += [
                (path, place, -1, items[:number] + items[number + 1 :])
                for number in dict.fromkeys((0, len(items) // 2))
                if len(items) > 2
            ]
    given = yield Wanted(
        [changed(view.instances[place].inputs, path, items) for path, place, _, items in trials]
    )
    result = []
    for path in paths:
        added = _changes(view, trials, given, path, lambda number: number >= 0)
        removed = _changes(view, trials, given, path, lambda number: number < 0)
        noun = _noun_of(view, path)
        for sentence in dict.fromkeys([*distinct, *once]):
            said = sentence in once or bool(
                noun
                and re.search(
                    rf"(?<!\bare )(?<!\bas )\b(?:different|distinct|"
                    rf"unique) {noun}",
                    sentence,
                    re.IGNORECASE,
                )
            )
            if said and added[1] >= 4:
                counted = added[0] >= max(LEAST_PROBES, added[1] // 10)
                verdict = "contradicted" if counted else "fixed"
                result.append(
                    ReadingPlace(
                        "whether repeats count",
                        sentence,
                        "once",
                        "each time" if counted else "once",
                        verdict,
                        *added,
                    )
                )
        for sentence in often:
            if added[1] >= 4 and removed[0] >= LEAST_PROBES:
                verdict = "contradicted" if not added[0] else "fixed"
                result.append(
                    ReadingPlace(
                        "whether repeats count",
                        sentence,
                        "each time",
                        "each time" if added[0] else "once",
                        verdict,
                        *removed,
                    )
                )
    return result


Trial = tuple[KeyPath, int, int, Any]


def _changes(
    view: FamilyView, trials: Sequence[Trial], given: Given, path: KeyPath, wanted: Callable[[int], bool]
) -> tuple[int, int]:
    """Return how many answers of these trials are no longer the label, and of how many."""
    changes = [
        not view.same(solved.answer, view.labels[place])
        for (where, place, number, _), solved in zip(trials, given.answers, strict=True)
        if where == path and wanted(number) and solved.status == "ok"
    ]
    return sum(changes), len(changes)


def _noun_of(view: FamilyView, path: KeyPath) -> str:
    """Return an expression of the plural nouns in the sentence that states the list, "" if no slot states
    it."""
    items = at(view.instances[0].inputs, path)
    for number, text in enumerate(view.instances[0].slot_texts, start=1):
        if items and all(str(item) in text for item in items):
            for sentence in view.sentences:
                if re.search(rf"#{number}(?!\d)", sentence):
                    nouns = set(re.findall(r"[a-z]{2,}s\b", sentence.casefold())) - {
                        "is",
                        "was",
                        "says",
                        "has",
                        "as",
                        "its",
                        "this",
                    }
                    return f"(?:[a-z]+ )?(?:{'|'.join(sorted(nouns))})" if nouns else ""
    return ""


UP_ORDER, DOWN_ORDER = "rising", "falling"


def sorting(view: FamilyView) -> Examiner:
    """Examine in which order things are taken: sorts of the programs against the order that the text says."""
    small = "smallest|lightest|shortest|lowest|youngest|earliest|cheapest|least|slowest|fewest"
    large = (
        "largest|heaviest|tallest|longest|highest|oldest|latest|greatest|biggest|dearest|fastest|most "
        "expensive"
    )
    rising = (
        rf"\b(?:{small})(?: \w+)? (?:comes? |goes? |is \w+ |are \w+ )?first\b|"
        rf"\bfrom (?:the )?(?:{small})\b.{{0,20}}\bto (?:the )?(?:{large})|"
        r"\b(?:ascending|increasing|rising) order|\border of (?:increasing|ascending|rising)"
    )
    falling = (
        rf"\b(?:{large})(?: \w+)? (?:comes? |goes? |is \w+ |are \w+ )?first\b|"
        rf"\bfrom (?:the )?(?:{large})\b.{{0,20}}\bto (?:the )?(?:{small})|"
        r"\b(?:descending|decreasing|falling) order|\border of (?:decreasing|descending|falling)"
    )
    ups, downs = view.matching(rising), view.matching(falling)
    if bool(ups) == bool(downs):
        yield Wanted()
        return []
    tree = view.trees.get("primary")
    source = _sort_turned(tree) if tree is not None else None
    given = yield Wanted((), [source] if source else [])
    found = {way for item in view.trees.values() for way in _sorted_ways(item)}
    says, sentence = (UP_ORDER, ups[0]) if ups else (DOWN_ORDER, downs[0])
    if len(found) != 1 or (source and not given.decided[0]):
        return []
    does = found.pop()
    decides, total = (given.decided[0], given.of) if source else (0, 0)
    return [compared("the order in which things are taken", sentence, says, does, decides, total)]


def _sorts(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("sorted", "sort"):
            yield node


def _sorted_ways(tree: ast.Module) -> Iterator[str]:
    text = ast.unparse(tree)
    if re.search(r"\.pop\(\)|reversed\(|\[::-1\]|\[-1\]", text):
        yield "?"
        return
    names = called_names(tree)
    if "heappop" in names and not names & {"sorted", "sort"}:
        yield DOWN_ORDER if re.search(r"heappush\(\w+, \(?-|\[\(?-\w+", text) else UP_ORDER
    for call in _sorts(tree):
        reverse = any(
            keyword.arg == "reverse" and ast.unparse(keyword.value) == "True" for keyword in call.keywords
        )
        key = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
        body = key.body if isinstance(key, ast.Lambda) else None
        first = body.elts[0] if isinstance(body, ast.Tuple) and body.elts else body
        negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
        yield DOWN_ORDER if reverse != negative else UP_ORDER


def _sort_turned(tree: ast.Module) -> str | None:
    tree, changed = copy.deepcopy(tree), False
    for call in _sorts(tree):
        changed = True
        kept = [keyword for keyword in call.keywords if keyword.arg != "reverse"]
        reverse = any(
            keyword.arg == "reverse" and ast.unparse(keyword.value) == "True" for keyword in call.keywords
        )
        call.keywords = kept if reverse else [*kept, ast.keyword("reverse", ast.Constant(True))]
    return source_of(tree) if changed else None


SMALL, LARGE = "the smallest", "the largest"


def extremes(view: FamilyView) -> Examiner:
    """Examine whether the smallest is asked for and the largest is taken, or the other way round."""
    yield Wanted()
    small = view.matching(
        r"\b(?:smallest|lowest|shortest|lightest|cheapest|fewest|youngest|minimum|minimal|poorest|weakest|"
        r"(?<!at )least(?! \d| #))\b"
    )
    large = view.matching(
        r"\b(?:largest|highest|longest|heaviest|greatest|biggest|tallest|oldest|maximum|maximal|"
        r"dearest|most expensive|richest|strongest|(?<!at )most(?! \d| #))\b"
    )
    if bool(small) == bool(large):
        return []
    says, sentence = (SMALL, small[0]) if small else (LARGE, large[0])
    found = {name: set(_extremes_taken(tree)) for name, tree in view.trees.items()}
    known = [items for items in found.values() if items]
    other = LARGE if says == SMALL else SMALL
    if sum(other in items for items in known) >= 2 and not any(says in items for items in known):
        return [ReadingPlace("which extreme is taken", sentence, says, other, "contradicted")]
    return []


def _extremes_taken(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        kept = (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.targets[0]) in map(ast.unparse, node.value.args)
        )
        if (
            kept
            and isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) in ("min", "max")
        ):
            yield SMALL if ast.unparse(node.value.func) == "min" else LARGE
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("min", "max")
            and len(node.args) == 1
        ):
            key = next((item.value for item in node.keywords if item.arg == "key"), None)
            body = key.body if isinstance(key, ast.Lambda) else None
            first = body.elts[0] if isinstance(body, ast.Tuple) and body.elts else body
            negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
            yield SMALL if (node.func.id == "min") != negative else LARGE
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in (
            "sorted",
            "sort",
            "reduce",
        ):
            yield "?"
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE)
            and "best" in ast.unparse(node)
        ):
            yield "?"
