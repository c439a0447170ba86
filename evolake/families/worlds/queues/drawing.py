"""A queue, drawn whole: a theme, a rule each for calls, leaving and services, and a question make their own
family."""

from __future__ import annotations

import re

import numpy as np

from evolake.families.model.contract import Alternative, Family, MutationPoint, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.declaring import declared_source
from evolake.families.worlds.liveliness import Steps, is_alive
from evolake.families.worlds.parts import WorldSources, by_rules, drawn_world, points_of, process_family
from evolake.families.worlds.queues.engines import (
    Rules,
    clauses_source,
    generator_source,
    reader_source,
    simulation_source,
    table_source,
)
from evolake.families.worlds.queues.questions import QUESTIONS, QueueQuestion
from evolake.families.worlds.queues.rules import POINTS, Chosen, chosen_rules
from evolake.families.worlds.queues.themes import QUEUE_THEMES, QueueTheme
from evolake.families.worlds.trying import all_matter

TRIED, TRIES, DIFFERENT, CHANGED = 5, 12, 4, 3
"""A queue's answers are looked at on so many instances of one difficulty: how many must differ, and be others
by another rule."""
ARRIVAL = "{member} {{0}} arrives in {unit} {{1}} and needs {{2}} {units}"
COURSE = (
    "At most one {member} arrives in any {unit}, and they are numbered in the order of their arrival.",
    "In every {unit}, three things happen in this order: a {member} that arrives joins the line at its "
    "back unless a rule forbids it; then each free {desk} in turn calls a {member} from the line as long "
    "as there is one to call; then whoever gives up goes away.",
    "The {unit} of the call is the first {unit} of the service, and a {desk} is free again in the {unit} "
    "after the last one of a service, unless a rule closes it.",
)
"""What holds of every queue, before and after the list of persons."""


def queue_world(random: np.random.Generator) -> Family | None:
    """Return a family that no other is a parent of, None if no question and rules were found that all
    matter."""
    return drawn_world(
        random, QUEUE_THEMES, QUESTIONS, {point: chosen_rules(point) for point in POINTS}, _mattering
    )


def _mattering(theme: QueueTheme, rules: dict[str, list[Chosen]], question: QueueQuestion) -> Family | None:
    minded = question.cards or any(alternatives[0].rule.cards for alternatives in rules.values())
    if minded < _spoken(rules):
        return None
    family = queue_of(theme, rules, question)
    return (
        family
        if all_matter(family, TRIED, TRIES, DIFFERENT, CHANGED) and is_alive(family, Steps("people"))
        else None
    )


def _spoken(rules: Rules) -> bool:
    """Return whether any rule asks for the card."""
    return any(alternative.rule.cards for alternatives in rules.values() for alternative in alternatives)


def queue_of(theme: QueueTheme, rules: Rules, question: QueueQuestion) -> Family:
    """Return the family of these choices; of each rule the first alternative is in force."""
    cards = question.cards or _spoken(rules)
    points = points_of(rules, lambda item: said(item, theme))
    text, says = template(theme, question), lines(theme, cards=cards)
    forms = {1: r"\d+", 2: r".+?", 3: r"\d+"}
    listed = [(item.removeprefix("- ").format("{number}", "{arrival}", "{need}"), "") for item in says]
    ports = (
        (Port(question.key, ("ask", question.key), 3, question.low, question.high),) if question.key else ()
    )
    return process_family(
        theme,
        title(theme, rules, question),
        text,
        WorldSources(
            generator=generator_source(rules, question, says, cards=cards),
            simulation=simulation_source(rules, question, cards=cards),
            clauses=clauses_source(rules, question, cards=cards),
            table=table_source(rules, question, cards=cards),
            reader=reader_source(
                whole(text, points, forms),
                declared_source(text, points, _holder, listed),
                question,
                [
                    re.escape(item.format(*"XYZ")).translate({ord(letter): r"(\d+)" for letter in "XYZ"})
                    for item in says
                ],
                cards=cards,
            ),
        ),
        points=points,
        ports=ports,
        answer=question.answer,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return item.name


def said(item: Chosen, theme: QueueTheme) -> str:
    """Return the rule in the words of the theme."""
    return item.rule.text.format(**theme.words, k=item.amount)


def lines(theme: QueueTheme, *, cards: bool) -> list[str]:
    """Return how the list speaks of a person, with {0} for the number, {1} for the arrival, {2} for the need;
    without a card, and with one."""
    line = "- " + ARRIVAL.format(**theme.words).capitalize()
    return (
        [f"{line}, without {theme.words['card']}.", f"{line}, with {theme.words['card']}."]
        if cards
        else [f"{line}."]
    )


def template(theme: QueueTheme, question: QueueQuestion) -> str:
    """Return the statement with its slots and rules."""
    words = theme.words
    numbered = f"{words['units'].capitalize()} are numbered from 1 on."
    first = " ".join([theme.opening, numbered, COURSE[0].format(**words), "This is what is known of them:"])
    course = " ".join(item.format(**words) for item in COURSE[1:])
    ruled = "\n".join(
        [
            f"- Called from the line is always [Rule {POINTS[0]}].",
            *(f"- [Rule {point}]" for point in POINTS[1:]),
        ]
    )
    asked = question.text.format(**words, s1="[Input Slot 3]")
    return (
        f"{first}\n\n[Input Slot 2]\n\n{course}\n\nThese are the rules:\n\n{ruled}\n\n<!-- question -->\n"
        f"{asked}\n"
    )


def title(theme: QueueTheme, rules: Rules, question: QueueQuestion) -> str:
    """Return what the puzzle is about, what is asked, and which rules are in force."""
    return (
        f"{theme.title}: "
        f"{question.title}{by_rules(alternatives[0].rule.label for alternatives in rules.values())}"
    )
