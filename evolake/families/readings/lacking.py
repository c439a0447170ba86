"""What a sentence asks for and no program can do, answers that the text promises and no instance has, and
what is given and has no effect: values that the prose names, and columns of records."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    leaves,
    texts_in,
)


def named_values(view: FamilyView) -> Examiner:
    """Examine whether values of the data that the prose names matter: each of them becomes another value of
    the same place in the data."""
    prose = " ".join(re.sub(r"#\d+", " ", sentence) for sentence in view.sentences)
    words = dict.fromkeys(re.findall(r"[A-Za-z][A-Za-z-]+", prose))
    columns: dict[tuple[Any, ...], set[str]] = {}
    for item in view.instances:
        for where, value in texts_in(item.inputs):
            columns.setdefault(where, set()).add(value)
    stated = []
    for where, values in columns.items():
        if 2 <= len(values) <= 12 and len(view.instances) > len(values):
            forms = {
                value: (value.casefold(), value.casefold() + "s")
                for value in sorted(values)
                if len(value) > 1
            }
            said = [
                (value, word) for value, known in forms.items() for word in words if word.casefold() in known
            ]
            stated += [(where, value, word, values) for value, word in said if len(said) < len(values)]
    trials = []
    for where, value, _, values in stated:
        for other in [item for item in sorted(values) if item != value][:3]:
            for place in range(len(view.instances)):
                new = _replaced(view.instances[place].inputs, where, value, other)
                if new != view.instances[place].inputs:
                    trials.append((where, value, place, new))
    given = yield Wanted([inputs for *_, inputs in trials])
    result = []
    for where, value, word, _ in stated:
        answers = [
            solved.status != "ok" or not view.same(solved.answer, view.labels[place])
            for (path, old, place, _), solved in zip(trials, given.answers, strict=False)
            if path == where and old == value
        ]
        if len(answers) >= 8:
            sentence = next(
                (item for item in view.sentences if re.search(rf"\b{re.escape(word)}\b", item)), ""
            )
            verdict = "fixed" if any(answers) else "contradicted"
            does = f"{value} as any other" if not any(answers) else f"{value} apart"
            result.append(
                ReadingPlace(
                    "a value that the text names",
                    sentence,
                    f"{value} apart",
                    does,
                    verdict,
                    sum(answers),
                    len(answers),
                )
            )
    return result


def _replaced(value: Any, where: tuple[Any, ...], old: str, new: str) -> Any:
    if not where:
        return new if value == old else value
    if isinstance(value, dict):
        return {
            key: _replaced(item, where[1:], old, new) if key == where[0] else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _replaced(item, where[1:], old, new) if where[0] in ("*", number) else item
            for number, item in enumerate(value)
        ]
    return value


def idle_columns(view: FamilyView) -> Examiner:
    """Examine whether each number and each kind of thing in records of the data matters: exchanged between
    records, it must change some answer."""
    trials = []
    for path in view.lists():
        for place in range(len(view.instances)):
            items = at(view.instances[place].inputs, path)
            keys = _keys(items)
            for key in keys:
                values = [item[key] for item in items]
                kinds = {type(value) for value in values}
                if (
                    len(kinds) != 1
                    or not kinds <= {int, str, bool}
                    or (kinds == {str} and len(set(values)) > max(2, 2 * len(values) // 3))
                ):
                    continue
                same = (
                    [[value] * len(items) for value in dict.fromkeys((values[0], values[-1]))]
                    if len(set(values)) > 1
                    else []
                )
                if isinstance(items[0], list) and all(type(part) is int for part in items[0]):
                    same = (
                        [
                            [1000 + number for number in range(len(items))],
                            [2000 - 3 * number for number in range(len(items))],
                        ]
                        if same
                        else []
                    )
                for column in same:
                    new = copy.deepcopy(items)
                    for item, value in zip(new, column, strict=True):
                        item[key] = value
                    trials.append((path, key, place, changed(view.instances[place].inputs, path, new)))
    given = yield Wanted([inputs for *_, inputs in trials])
    result = []
    for path, key in dict.fromkeys((path, key) for path, key, *_ in trials):
        answers = [
            solved.status != "ok" or not view.same(solved.answer, view.labels[place])
            for (where, column, place, _), solved in zip(trials, given.answers, strict=True)
            if (where, column) == (path, key)
        ]
        plain = (
            {type(part) for part in at(view.instances[0].inputs, path)[0]} == {int}
            if isinstance(key, int)
            else False
        )
        if plain and not re.search(
            r"\b(?:rows?|columns?|x|y|squares?|positions?|coordinates?)\b", view.text, re.IGNORECASE
        ):
            continue
        if len(answers) >= 20 and not any(answers):
            name = f"part {key + 1 if isinstance(key, int) else key} of each record in {'.'.join(path)}"
            says, does = f"{name} is given", "it changes no answer"
            result.append(
                ReadingPlace(
                    "a column of the data", view.sentences[0], says, does, "contradicted", 0, len(answers)
                )
            )
    return result


def _keys(items: Sequence[Any]) -> list[Any]:
    """Return the columns of a list of records of one form, none if it is not that."""
    if (
        items
        and all(isinstance(item, list) and len(item) == len(items[0]) > 1 for item in items)
        and len({str(type(part)) for part in items[0]}) > 1
    ):
        return list(range(len(items[0])))
    if len(items) > 2 and all(
        isinstance(item, list) and 2 <= len(item) == len(items[0]) <= 4 and set(map(type, item)) == {int}
        for item in items
    ):
        return list(range(len(items[0])))
    if items and all(isinstance(item, dict) and item.keys() == items[0].keys() for item in items):
        return list(items[0])
    return []


def promised_answers(view: FamilyView) -> Examiner:
    """Examine whether an answer that the text promises for a case (`the answer is "nobody"`) is ever given,
    also where all data have an equal one."""
    stated = []
    for sentence in view.sentences:
        if re.search(
            r"\b(?:answer|reply|write|say|respond|return|report|result|give)\b", sentence, re.IGNORECASE
        ):
            stated += [
                (sentence, word) for word in re.findall(r"[\"“']([A-Za-z][A-Za-z -]{1,20})[\"”']", sentence)
            ]
    quoted = [
        (sentence, word) for sentence, word in stated if all(isinstance(label, str) for label in view.labels)
    ]
    quoted = [
        (sentence, word)
        for sentence, word in quoted
        if not any(word.casefold() == label.casefold() for label in view.labels)
    ]
    trials = []
    for path in view.lists() if quoted else []:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            trials += [
                changed(view.instances[place].inputs, path, new)
                for new in (items + items, items[:1], [items[0]] * 4, [])
            ]
    given = yield Wanted(trials)
    seen = {str(solved.answer).casefold() for solved in given.answers if solved.status == "ok"}
    lonely = [(sentence, word) for sentence, word in quoted if word.casefold() not in seen]
    if not lonely or len(view.instances) < 12 or len(quoted) != len({word for _, word in stated}):
        return []
    sentence, word = lonely[0]
    does = f"none of {len(view.labels)} labels is that"
    return [
        ReadingPlace(
            "an answer for a case of its own", sentence, f"the answer {word!r}", does, "contradicted"
        )
    ]


def outside_range(view: FamilyView) -> Examiner:
    """Examine whether answers stay among the numbers of a circle that the text gives, as the hours 1 to 12: 0
    in place of 12 is outside."""
    yield Wanted()
    labels = view.labels
    if not all(type(label) is int for label in labels):
        return []
    for sentence in view.sentences:
        for match in re.finditer(r"(?<![#\d])\b([01])(?: to | through | up to |-|–)(\d{1,3})\b", sentence):
            low, high = (int(part) for part in match.groups())
            if high - low < 3 or not re.search(r"\b(?:which|what)\b", view.question, re.IGNORECASE):
                continue
            shifted = low - 1 if low else high + 1
            missing = high if low else 0
            inside = range(min(low, shifted), max(high, shifted) + 1)
            if (
                labels.count(shifted)
                and missing not in labels
                and all(label in inside for label in labels)
                and len(set(labels)) * 2 > high - low
            ):
                return [
                    ReadingPlace(
                        "the numbers of a circle",
                        sentence,
                        f"{low} to {high}",
                        f"{shifted} in place of {missing}",
                        "contradicted",
                        labels.count(shifted),
                        len(labels),
                    )
                ]
    return []


def circle_size(view: FamilyView) -> Examiner:
    """Examine whether what goes round has as many places as the text says: a remainder by a number one more
    or less than a number of the text."""
    yield Wanted()
    stated = view.matching(
        r"\b(?:week|circle|ring|round|cycle|again|repeat\w*|begins anew|clock|follow\w*|over and over|"
        r"wheel|season|days?)\b"
    )
    words = {
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "eleven": 11,
        "twelve": 12,
        "thirteen": 13,
    }
    said = {
        value: item
        for item in stated
        for word, value in words.items()
        if re.search(rf"\b{word}\b", item, re.IGNORECASE)
    }
    said |= {int(text): item for item in stated for text in re.findall(r"(?<![#\d])\b\d{1,2}\b", item)}
    listed = {len(re.findall(r"[A-Z][a-z]+(?=[,.]| and )", item)) for item in view.sentences}
    whole = {int(text) for text in re.findall(r"(?<![#\d])\b\d{1,4}\b", view.text)} | {
        value for word, value in words.items() if re.search(rf"\b{word}\b", view.text, re.IGNORECASE)
    }
    turned = [set(_turning(tree)) for tree in view.trees.values()]
    turned = [items for items in turned if items]
    for size, sentence in sorted(said.items()):
        near = {size - 1, size + 1} - whole
        everywhere = set.intersection(*turned) & near if turned else set()
        turns = size in listed or re.search(r"\bweek|\bcircle|\bring|\bclock|\bcycle", sentence)
        if everywhere and turns and not any(size in items for items in turned):
            return [
                ReadingPlace(
                    "how many places go round", sentence, str(size), str(min(everywhere)), "contradicted"
                )
            ]
    return []


def _turning(tree: ast.Module) -> list[int]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(
            node.op, ast.Mod | ast.Sub | ast.FloorDiv
        ):
            side = node.right if isinstance(node, ast.BinOp) else node.value
            if isinstance(side, ast.Constant) and type(side.value) is int and side.value > 2:
                found.append(side.value)
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "divmod"
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Constant)
        ):
            found.append(node.args[1].value)
    return found


def named_letters(view: FamilyView) -> Examiner:
    """Examine whether a letter that the prose names matters in texts of the data: it becomes a letter that
    the prose does not name."""
    prose = re.sub(r"#\d+", " ", view.text)
    letters = set(re.findall(r"(?<![A-Za-z'’])([b-hj-zB-HJ-Z])(?![A-Za-z'’])", prose))
    named = set(re.findall(r"(?<![A-Za-z'’])([A-Za-z])(?![A-Za-z'’])", prose))
    texts = {
        path: _text(at(view.instances[0].inputs, path))
        for path, value in leaves(view.instances[0].inputs)
        if _text(value)
    }
    trials = []
    for letter in sorted(letters):
        for path in texts:
            for place in range(len(view.instances)):
                value = at(view.instances[place].inputs, path)
                text = _text(value)
                other = next((item for item in sorted(set(text)) if item.isalpha() and item not in named), "")
                if letter in text and other and len(text) > 5:
                    new = (
                        [item.replace(letter, other) for item in value]
                        if isinstance(value, list)
                        else value.replace(letter, other)
                    )
                    trials.append((letter, place, changed(view.instances[place].inputs, path, new)))
    given = yield Wanted([inputs for *_, inputs in trials])
    for letter in sorted(letters):
        same = [
            solved.status == "ok" and view.same(solved.answer, view.labels[place])
            for (item, place, _), solved in zip(trials, given.answers, strict=True)
            if item == letter
        ]
        if len(same) >= 12 and all(same):
            sentence = next(
                item for item in view.sentences if re.search(rf"(?<![A-Za-z'’]){letter}(?![A-Za-z'’])", item)
            )
            return [
                ReadingPlace(
                    "a letter that the text names",
                    sentence,
                    f"{letter} apart",
                    f"{letter} as any other",
                    "contradicted",
                    0,
                    len(same),
                )
            ]
    return []


def _text(value: object) -> str:
    """Return the letters of a text or of a list of texts that are words of the data, "" for anything else."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "".join(value)
    return value if isinstance(value, str) else ""


EXACTLY = (
    r"\b(?:exactly|precisely) (?:one|two|three|four|\d|#)|\bone and only one\b|\b(?:if|when|where) "
    r"(?:just|only) (?:one|two|three)\b|\bno more and no (?:less|fewer)\b|\bneither more nor (?:less|"
    r"fewer)\b|\b(?:just|only) one of (?:its|the|his|her|their)\b"
)
BACKWARDS = (
    r"\bfrom (?:the )?(?:right|back|end|rear|bottom|last)\b[^.;]{0,20}\b(?:to|towards?) (?:the )?(?:left|"
    r"front|start|beginning|top|first)\b|\bbackwards\b|\b(?:in )?reverse(?:d)? order\b|\blast (?:one "
    r")?(?:comes )?first\b|\bstarting (?:with|from|at) the (?:last|rightmost|end)\b"
)
LAST_IN = (
    r"\b(?:topmost|uppermost|on (?:the )?top|from the top|last (?:put|in|come|added|laid|placed)|most "
    r"recent(?:ly)?|newest|latest arrival|put (?:there|on|in) last)\b"
)
FIRST_IN = (
    r"\b(?:waited (?:the )?longest|longest waiting|waiting (?:the )?longest|first come|first in|"
    r"front of the (?:queue|line)|head of the (?:queue|line)|"
    r"frontmost|(?:came|arrived|joined|put in) first|been (?:there|waiting|in it) (?:the )?longest)\b"
)


def lacking_means(view: FamilyView) -> Examiner:
    """Examine whether any program has a means for what a sentence says: an equality, a way from behind, the
    newest or the oldest of a store."""
    yield Wanted()
    sources = [ast.unparse(tree) for tree in view.trees.values()]
    result = []
    stored = re.search(
        r"(?=.*\b(?:tak|remov|serv|goes|go|leav|wash|pick|draw|load|unload|pop|fetch)\w*\b)"
        r"(?=.*\b(?:piles?|stacks?|heaps?|queues?|lines?|stores?|trays?|box|waiting|shelf)\b)",
        view.text,
        re.IGNORECASE,
    )
    checks: tuple[tuple[str, str, str, Callable[[str], bool]], ...] = (
        ("an exact number", EXACTLY, "no program tests for equality", _equal),
        ("a way from behind", BACKWARDS, "no program goes from behind", _from_behind),
    )
    for name, form, does, able in checks:
        if (stated := view.matching(form)) and sources and not any(map(able, sources)):
            result.append(ReadingPlace(name, stated[0], "what the sentence says", does, "contradicted"))
    newest, oldest = view.matching(LAST_IN), view.matching(FIRST_IN)
    if stored and sources and bool(newest) != bool(oldest):
        takes = {way for source in sources for way in _taken(source)}
        says = "the newest" if newest else "the oldest"
        if takes and says not in takes:
            result.append(
                compared("which one of a store goes first", (newest or oldest)[0], says, takes.pop())
            )
    return result


def _equal(source: str) -> bool:
    return bool(
        re.search(
            r"==(?! ['\"]\w*['\"])|!=|\^|% 2\b|\bis (?:not )?\w|symmetric_difference|"
            r"\bnot \(?\w+.* and | in [\[({]\d|assert|combinations|\bset\(|- \{",
            source,
        )
    )


def _from_behind(source: str) -> bool:
    return bool(
        re.search(
            r"reversed|\.reverse\(|::\s*-|\[-|\.pop\(\)|appendleft|rfind|rindex|rsplit|rstrip|"
            r"insert\(0|, -1|- 1 - |-= 1|- 1\b|// 10|% 10|~|"
            r"reverse=",
            source,
        )
    )


def _taken(source: str) -> set[str]:
    newest = re.search(
        r"\.pop\(\)|\[-1\]|\[:-1\]|reversed|::\s*-1|insert\(0|appendleft|max\(|rindex|rfind|- 1\]", source
    )
    oldest = re.search(
        r"popleft|\.pop\(0\)|\[0\]|\[1:\]|\[:1\]|\[:[^\]-]+\]|\bmin\(|next\(iter|heappop|\+= 1", source
    )
    return ({"the newest"} if newest else set()) | ({"the oldest"} if oldest and not newest else set())
