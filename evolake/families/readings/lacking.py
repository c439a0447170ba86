"""What a sentence asks for and no program can do, and answers that the text promises and no instance has."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    leaves,
)


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
