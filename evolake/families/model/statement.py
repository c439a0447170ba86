"""The template and the statement: slots, rules, the line between setting and question.

Slots are `[Input Slot 3]`, as in the paper's prompts; `[输入槽位3]` in Chinese templates means the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.families.model.contract import Family, MutationPoint

SLOT = re.compile(r"\[\s*(?:Input\s*Slot|输入槽位|输入槽)\s*(\d{1,4})\s*\]", re.IGNORECASE)
RULE = re.compile(r"\[\s*Rule\s+([A-Za-z_]\w*)\s*\]")
QUESTION_LINE = re.compile(r"^[ \t]*<!--\s*question\s*-->[ \t]*$", re.MULTILINE)


def slots(template: str) -> list[int]:
    """Return the numbers of the slots, sorted, each once."""
    return sorted({int(number) for number in SLOT.findall(template)})


def rules(template: str) -> list[str]:
    """Return the names of the rules that the template shows, in order, each once."""
    return list(dict.fromkeys(RULE.findall(template)))


def with_rules(template: str, texts: Mapping[str, str]) -> str:
    """Return the template with the texts of its rules; a rule without a text stays as it is."""
    return RULE.sub(lambda match: texts.get(match[1], match[0]), template)


def stated(family: Family) -> str:
    """Return the family's template with the texts of the alternatives in force, slots still open."""
    return with_rules(family.template, {point.name: point.alternative().text for point in family.points})


def fill(template: str, slot_texts: Sequence[str]) -> str:
    """Return the statement: slots filled (a slot without a text stays as it is), the question line
    removed."""

    def text(match: re.Match[str]) -> str:
        number = int(match[1])
        return slot_texts[number - 1] if 1 <= number <= len(slot_texts) else match[0]

    parts = [part.strip("\n") for part in QUESTION_LINE.split(template)]
    return SLOT.sub(text, "\n\n".join(part for part in parts if part)).strip()


def split_question(template: str) -> tuple[str, str]:
    """Return (setting, question); the question is empty where the template does not mark it."""
    parts = QUESTION_LINE.split(template, maxsplit=1)
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else (template.strip(), "")


def join_question(setting: str, question: str) -> str:
    """Return a template from `split_question`'s parts."""
    return f"{setting.strip()}\n\n<!-- question -->\n{question.strip()}\n"


def shift_slots(template: str, by: int) -> str:
    """Return the template with every slot's number raised."""
    return SLOT.sub(lambda match: f"[Input Slot {int(match[1]) + by}]", template)


def prefix_rules(template: str, prefix: str) -> str:
    """Return the template with every rule's name prefixed."""
    return RULE.sub(lambda match: f"[Rule {prefix}{match[1]}]", template)


def fresh_marker(
    templates: Sequence[str],
    words: Sequence[str] = ("Part", "Section", "Stage", "Chapter", "Block", "Unit", "Case", "Scene"),
) -> str:
    """Return a word W such that no template has a line that begins with W and a number, or ends W sections:
    for the marker lines of a child."""
    for word in (*words, *(f"{first} {second}" for first in words for second in words)):
        if not any(
            re.search(
                rf"^[^\w\n]*+(?:End of )?{word}(?:[^\S\n]+\d|s\])", template, re.MULTILINE | re.IGNORECASE
            )
            for template in templates
        ):
            return word
    raise ValueError("no marker word is free in these templates")


def rules_in(statement: str, points: Sequence[dict[str, Any]]) -> dict[str, str] | str:
    """Return constant -> expression as the statement says, or why it does not say. points: {"constant",
    "alternatives": [[text, expression]]}, in order of the text. Points with the same alternatives (a family
    that occurs twice in a child) take the sentences in their order.
    """
    flat = " ".join(statement.split())
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in points:
        groups.setdefault(
            tuple(sorted(" ".join(text.split()) for text, _ in point["alternatives"])), []
        ).append(point)
    result: dict[str, str] = {}
    for texts, members in groups.items():
        said = _occurrences(flat, texts)
        names = ", ".join(point["constant"] for point in members)
        if not said:
            return f"the statement does not say the rule {names}"
        if len(members) == 1 and len(set(said)) > 1:
            return f"the statement says two rules for {names}"
        if len(members) > 1 and len(set(said)) > 1 and len(said) != len(members):
            return f"the statement does not say which rule is meant where: {names}"
        for number, point in enumerate(members):
            spoken = said[number] if len(said) == len(members) else said[0]
            result[point["constant"]] = next(
                code for text, code in point["alternatives"] if " ".join(text.split()) == spoken
            )
    return result


def whole(text: str, points: Sequence[MutationPoint], forms: Mapping[int, str], form: str = ".+?") -> str:
    """Return the expression that exactly the statements of a template match, under any of its rules, with a
    group slot<n> per slot.

    forms: expressions of slots. form: that of all others.
    """
    parts = [part.strip("\n") for part in QUESTION_LINE.split(text)]
    flat = "\n\n".join(part for part in parts if part).strip()
    rules = {point.name: "|".join(re.escape(item.text) for item in point.alternatives) for point in points}
    result, at, seen = [], 0, set()
    for match in sorted([*SLOT.finditer(flat), *RULE.finditer(flat)], key=lambda item: item.start()):
        result.append(re.escape(flat[at : match.start()]))
        if match.re is RULE:
            result.append(f"(?:{rules[match[1]]})")
        else:
            slot = int(match[1])
            result.append(f"(?P=slot{slot})" if slot in seen else f"(?P<slot{slot}>{forms.get(slot, form)})")
            seen.add(slot)
        at = match.end()
    return "".join([*result, re.escape(flat[at:])])


def _occurrences(flat: str, texts: Sequence[str]) -> list[str]:
    """Return the alternatives that are in the text, by position; where one contains another, the longer
    one."""
    result: list[tuple[int, int, str]] = []
    for text in sorted(texts, key=len, reverse=True):
        at = flat.find(text) if text else -1
        while at != -1:
            if not any(start <= at and at + len(text) <= end for start, end, _ in result):
                result.append((at, at + len(text), text))
            at = flat.find(text, at + 1)
    return [text for _, _, text in sorted(result)]
