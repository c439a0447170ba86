"""What a world's reader declares: each sentence that its statements may say, with the function or constant of
the engines that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.sentences import ALWAYS, DECLARATION, sentences
from evolake.families.model.statement import QUESTION_LINE, RULE, SLOT, rules, with_rules

Holder = Callable[[MutationPoint, Alternative], str]


def declared_source(
    template: str, points: Sequence[MutationPoint], holder: Holder, listed: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the assignment of SENTENCES.

    holder: the name in the engines of a rule's alternative, "" where only the rule's constant is. listed:
    (sentence of a list with {slots}, name in the engines).
    """
    result: dict[str, str] = {}
    for sentence in sentences(QUESTION_LINE.sub("", template)):
        if not SLOT.sub("", sentence).strip():
            continue
        shown = rules(sentence)
        if not shown:
            result[_slotted(sentence)] = ALWAYS
        for point in points:
            if point.name in shown:
                for item in point.alternatives:
                    summary = with_rules(sentence, {point.name: item.text})
                    assert not RULE.search(summary)
                    result |= {
                        _slotted(element): f"{name}?" if (name := holder(point, item)) else ""
                        for element in sentences(summary)
                    }
    result |= {f"- {sentence}": f"{name}?" for sentence, name in listed}
    rows = "".join(f"    {text!r}: {code!r},\n" for text, code in result.items())
    return f"{DECLARATION} = {{\n{rows}}}\n"


def _slotted(sentence: str) -> str:
    return SLOT.sub(lambda match: f"{{slot{match[1]}}}", sentence)
