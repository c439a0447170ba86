"""Readings of a list by place: equal neighbours, the ends, and whether places matter at all."""

from __future__ import annotations

import re

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, at, changed, compared

MORE = (
    r"(?<!no )(?:higher|larger|greater|bigger|taller|longer|heavier|warmer|more|lower|smaller|shorter|"
    r"lighter|colder|less|older|younger)"
)


def equal_neighbours(view: FamilyView) -> Examiner:
    """Examine whether equal neighbours rise: a list of one number repeated, for a question that counts or
    measures."""
    strict = view.matching(
        r"\bstrictly (?:increas|decreas|ris|fall|grow|higher|lower|larger|smaller|ascend|descend|great|"
        r"tall|warm)|\b(?:equal|same|level) \w+ (?:break|end)|"
        rf"(?<!not )(?<!never )(?<!nowhere )\b(?:above|below|{MORE} than) (?:the|its) (?:[a-z]+ )?(?:one |"
        r"day |number )?before\b"
    )
    weak = view.matching(
        r"\bnon-?decreasing|\bnon-?increasing|\bnever (?:falls?|drops?|decreases?|gets? \w+er|rises?|"
        r"sinks?)|\bnot (?:fall|drop|decrease)|\bno (?:lower|smaller|less|higher|larger|greater|shorter|"
        r"longer|lighter|heavier) than (?:the|its) (?:one|day|number|\w+ )?before|\bat least as (?:\w+) "
        r"as the (?:\w+ )?(?:one )?before|\bequal (?:\w+ )?(?:neighbours )?(?:also )?counts? too|\b(?:not|"
        r"never|nowhere) (?:above|below) (?:the|its) (?:[a-z]+ )?(?:one )?before\b|\b(?:rises?|falls?|"
        r"grows?|climbs?) or stays?\b|\bwithout (?:an? |any )?(?:fall|drop|decrease|rise|increase)\b|"
        r"\b(?:equal|just as \w+|the same)\b[^.;]{0,50}\b(?:still|also|too)\b"
    )
    trials = []
    for path in view.lists() if strict or weak else []:
        for place in view.few[:5]:
            items = at(view.instances[place].inputs, path)
            if len(items) >= 4 and all(type(item) is int for item in items):
                trials.append(
                    (path, len(items), changed(view.instances[place].inputs, path, [items[0]] * len(items)))
                )
    given = yield Wanted([inputs for *_, inputs in trials])
    seen = []
    for (_, length, _), solved in zip(trials, given.answers, strict=True):
        if solved.status == "ok" and type(solved.answer) is int:
            if solved.answer <= 1:
                way = "do not count"
            elif length - 2 <= solved.answer <= length:
                way = "count"
            else:
                way = "?"
            seen.append(way)
    if len(seen) < 2 or len(set(seen)) > 1 or seen[0] == "?":
        return []
    said = [(sentence, "do not count") for sentence in strict[:1]] + [
        (sentence, "count") for sentence in weak[:1]
    ]
    if len(said) != 1:
        return []
    sentence, says = said[0]
    return [compared("whether equal neighbours count", sentence, says, seen[0])]


def ends(view: FamilyView) -> Examiner:
    """Examine which end of a list is meant by "the first #k" and "the last is not counted": one element at an
    end " "becomes another."""
    stated = []
    rest = re.search(r"\b(?:still|left|remain\w*|not|rest|other)\b", view.question, re.IGNORECASE)
    for slot in view.numbers if not rest else ():
        for sentence in view.matching(rf"\b(?:first|last) #{slot}(?!\d)"):
            if (
                len(
                    found := {
                        match.casefold()
                        for match in re.findall(rf"\b(first|last) #{slot}(?!\d)", sentence, re.IGNORECASE)
                    }
                )
                == 1
            ):
                stated.append((sentence, "used", found.pop(), slot))
    skipped = (
        r"\b(?:except|all but|without|apart from|other than|leaving out|leaves? out|not counting|ignor\w+|"
        r"skip\w*) (?:for )?(?:the |its )?(?:very )?"
        r"(first|last)\b(?! #)"
    )
    skipped_after = (
        r"\bthe (?:very )?(first|last) (?:\w+ ){0,2}(?:is|are|does|do) not (?:counted|count|included|"
        r"considered)"
    )
    for sentence in view.sentences:
        for expression in (skipped, skipped_after):
            if match := re.search(expression, sentence, re.IGNORECASE):
                stated.append((sentence, "skipped", match[1].casefold(), 0))
                break
    trials = []
    for path in view.lists() if stated else []:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            for index in (0, len(items) - 1):
                for other in [item for item in items[1:-1] if item != items[index]][:3]:
                    new = [other if number == index else item for number, item in enumerate(items)]
                    trials.append(
                        (path, place, index, len(items), changed(view.instances[place].inputs, path, new))
                    )
    given = yield Wanted([inputs for *_, inputs in trials])
    result = []
    for sentence, use, end, slot in stated:
        for path in view.lists():
            counts = {"first": [0, 0], "last": [0, 0]}
            for (where, place, index, length, _), solved in zip(trials, given.answers, strict=True):
                number = view.numbers.get(slot)
                if (
                    where != path
                    or solved.status != "ok"
                    or (number and at(view.instances[place].inputs, number.path) - number.offset >= length)
                ):
                    continue
                side = counts["first" if index == 0 else "last"]
                side[0] += not view.same(solved.answer, view.labels[place])
                side[1] += 1
            other = "last" if end == "first" else "first"
            if min(counts[end][1], counts[other][1]) < 6:
                continue
            idle, busy = (other, end) if use == "used" else (end, other)
            does = end if counts[idle][0] == 0 else "?"
            wrong = (
                counts[idle][0] >= 3 and counts[busy][0] == 0
                if use == "used"
                else counts[idle][0] >= max(3, counts[idle][1] // 5)
            )
            if use == "skipped" and wrong and counts[busy][0] == 0:
                wrong = True
            if does == end and counts[busy][0]:
                result.append(
                    ReadingPlace(
                        "which end is meant", sentence, f"the {end} {use}", f"the {end} {use}", "fixed"
                    )
                )
            elif wrong and len(view.lists()) == 1:
                does = f"the {other} {use}" if counts[busy][0] == 0 else "both used"
                result.append(
                    ReadingPlace(
                        "which end is meant",
                        sentence,
                        f"the {end} {use}",
                        does,
                        "contradicted",
                        *counts[idle],
                    )
                )
    return result


def positions(view: FamilyView) -> Examiner:
    """Examine whether a sentence on places in the data is heeded: put into other orders, the data must give
    another answer somewhere."""
    lists = view.lists()
    single = bool(lists) and all(
        not isinstance(item, list | dict) for path in lists for item in at(view.instances[0].inputs, path)
    )
    stated = view.matching(
        r"\bthe (?:very )?(?:first|last|second|third) (?:one |[a-z]+ )?(?:counts?|pays?|gets?|costs?|"
        r"scores?|weighs|is (?:counted|doubled|halved|worth|free))\b|\bthe (?:one|[a-z]+) (?:right |"
        r"directly |just )?before it\b|\bthan the (?:one|[a-z]+) (?:right |directly |just )?before\b|"
        r"\bprevious (?:one|day|number)\b"
        + (r"|\b(?:neighbours?|neighbors?|adjacent)\b|\bthree in a row\b" if single else "")
    )
    trials = []
    for place in view.few if stated and len(lists) == 1 else []:
        items = at(view.instances[place].inputs, lists[0])
        if len(items) > 3:
            half = len(items) // 2
            orders = (
                items[::-1],
                items[1:] + items[:1],
                items[half:] + items[:half],
                items[::2] + items[1::2],
            )
            trials += [
                (place, changed(view.instances[place].inputs, lists[0], order))
                for order in orders
                if order != items
            ]
    given = yield Wanted([inputs for _, inputs in trials])
    answers = [
        solved.status != "ok" or not view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    if len(answers) < 16:
        return []
    return [
        compared(
            "places in the data",
            stated[0],
            "count",
            "count" if any(answers) else "change no answer",
            sum(answers),
            len(answers),
        )
    ]
