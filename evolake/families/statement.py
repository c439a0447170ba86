"""The template and the statement: slots, rules, the line between setting and question.

Slots are `[Input Slot 3]`, as in the paper's prompts; `[输入槽位3]` in Chinese templates means the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evolake.families.contract import Family

SLOT = re.compile(r"\[\s*(?:Input\s*Slot|输入槽位|输入槽)\s*(\d{1,4})\s*\]", re.IGNORECASE)
RULE = re.compile(r"\[\s*Rule\s+([A-Za-z_]\w*)\s*\]")
QUESTION_LINE = re.compile(r"^[ \t]*<!--\s*question\s*-->[ \t]*$", re.MULTILINE)


def slots(template: str) -> list[int]:
    """The numbers of the slots, sorted, each once."""
    return sorted({int(number) for number in SLOT.findall(template)})


def rules(template: str) -> list[str]:
    """The names of the rules that the template shows, in order, each once."""
    return list(dict.fromkeys(RULE.findall(template)))


def with_rules(template: str, texts: Mapping[str, str]) -> str:
    """The template with the texts of its rules; a rule without a text stays as it is."""
    return RULE.sub(lambda match: texts.get(match[1], match[0]), template)


def stated(family: Family) -> str:
    """The family's template with the texts of the alternatives in force, slots still open."""
    return with_rules(family.template, {point.name: point.alternative().text for point in family.points})


def fill(template: str, slot_texts: Sequence[str]) -> str:
    """The statement: slots filled (a slot without a text stays as it is), the question line removed."""
    def text(match: re.Match[str]) -> str:
        number = int(match[1])
        return slot_texts[number - 1] if 1 <= number <= len(slot_texts) else match[0]

    parts = [part.strip("\n") for part in QUESTION_LINE.split(template)]
    return SLOT.sub(text, "\n\n".join(part for part in parts if part)).strip()


def split_question(template: str) -> tuple[str, str]:
    """(setting, question); the question is empty where the template does not mark it."""
    parts = QUESTION_LINE.split(template, maxsplit=1)
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else (template.strip(), "")


def join_question(setting: str, question: str) -> str:
    """A template from `split_question`'s parts."""
    return f"{setting.strip()}\n\n<!-- question -->\n{question.strip()}\n"


def shift_slots(template: str, by: int) -> str:
    """The template with every slot's number raised."""
    return SLOT.sub(lambda match: f"[Input Slot {int(match[1]) + by}]", template)


def prefix_rules(template: str, prefix: str) -> str:
    """The template with every rule's name prefixed."""
    return RULE.sub(lambda match: f"[Rule {prefix}{match[1]}]", template)


def fresh_marker(templates: Sequence[str], words: Sequence[str] = ("Part", "Section", "Stage", "Chapter", "Block", "Unit", "Case", "Scene")) -> str:
    """A word W such that no template has a line that begins with W and a number, or ends W sections: for the marker lines of a child."""
    for word in (*words, *(f"{first} {second}" for first in words for second in words)):
        if not any(re.search(rf"^[^\w\n]*+(?:End of )?{word}(?:[^\S\n]+\d|s\])", template, re.MULTILINE | re.IGNORECASE) for template in templates):
            return word
    raise ValueError("no marker word is free in these templates")
