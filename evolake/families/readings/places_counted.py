"""From where places are counted: the last place by the text is asked for, and answers that are places are
looked at."""

from __future__ import annotations

import re

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, at, changed


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
