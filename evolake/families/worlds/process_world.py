"""A process world, drawn whole: a theme, rules and a question on the run make their own family. The rules are
those of a board, those of a queue, or those for three signals and for the end of a turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from evolake.families.model.contract import Alternative, Family, MutationPoint, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.board_world import board_world
from evolake.families.worlds.constraints import upper
from evolake.families.worlds.liveliness import NoWorld, Steps, entry, is_alive
from evolake.families.worlds.parts import WorldSources, by_rules, declared_source, points_of, process_family
from evolake.families.worlds.queue_world import queue_world
from evolake.families.worlds.runs import (
    POINTS,
    RUN_THEMES,
    RUNS,
    Bound,
    RunQuestion,
    RunTheme,
    bound_actions,
    clauses_source,
    generator_source,
    labels,
    reader_source,
    simulation_source,
    table_source,
)

BOARDS, QUEUES = 0.25, 0.3
"""Share of boards, and of queues among the others."""
OPTIONAL = (("r",), ("q",), ("r", "q"), ())
"""What a world has next to its two stores: a pointer, a mode, both, nothing."""
CLOSED = 0.6
"""Share of worlds with a rule that ends every turn."""
QUESTIONS = 5
"""Themes and questions that are tried before a draw is given up."""
DRAWS = 400


def process_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld."""
    kind = random.random()
    if kind >= 1 - BOARDS or kind < QUEUES * (1 - BOARDS):
        name, drawn = ("queue", queue_world) if kind < QUEUES else ("board", board_world)
        if (family := drawn(random)) is None:
            raise NoWorld(f"no rules of a {name} were found that all make a difference")
        return family
    for _ in range(QUESTIONS):
        if (family := _run_world(random)) is not None:
            return family
    raise NoWorld("no rules were found that keep a run alive and make its answer vary")


def _run_world(random: np.random.Generator) -> Family | None:
    """Return a family of a drawn theme and question; None if no rules were found for them."""
    theme = RUN_THEMES[int(random.integers(len(RUN_THEMES)))]
    question = RUNS[int(random.integers(len(RUNS)))]
    store = "ab"[int(random.integers(2))]
    asked = {"b"} if question.open_start else {store if name == "s" else name for name in question.uses}
    fitting = [names for names in OPTIONAL if asked <= {"a", "b", *names}]
    names = {"a", "b", *fitting[int(random.integers(len(fitting)))]}
    points = POINTS if random.random() < CLOSED else POINTS[:-1]
    allowed = [action for action in bound_actions() if names.issuperset(action.reads)]
    for _ in range(DRAWS):
        drawn = [
            allowed[place]
            for place in random.choice(len(allowed), size=2 * len(points), replace=False).tolist()
        ]
        rules = {name: drawn[2 * place : 2 * place + 2] for place, name in enumerate(points)}
        if not _lively(rules, asked):
            continue
        family = run_world_of(theme, rules, question, store)
        if is_alive(family, Steps("events", _changes(family))):
            return family
    return None


def run_world_of(theme: RunTheme, rules: dict[str, list[Bound]], question: RunQuestion, store: str) -> Family:
    """Return the family of these choices; of each rule the first alternative is in force. store: the one that
    is asked about."""
    touched = {
        name for alternatives in rules.values() for alternative in alternatives for name in alternative.reads
    }
    uses = ["a", "b", *(name for name in "rq" if name in touched or name in question.uses)]
    points = points_of(rules, lambda item: said(item, theme))
    text, last = template(theme, rules, question, store, uses)
    details = {"uses": uses, "events": theme.events, "modes": theme.modes}
    forms = dict.fromkeys(range(1, last + 1 + len(question.keys)), r"\d+") | {last: r"\w+(?:, \w+)*"}
    if "q" in uses:
        forms[last - 1] = "|".join(theme.modes)
    ports = (Port("level", ("ask", "level"), last + 1, 1, ("cap",)),) if question.keys else ()
    return process_family(
        theme,
        title(theme, rules, question),
        text,
        WorldSources(
            generator=generator_source(rules, question, store, **details),
            simulation=simulation_source(rules, question, store),
            clauses=clauses_source(rules, question, store),
            table=table_source(rules, question, store),
            reader=reader_source(
                whole(text, points, forms), declared_source(text, points, _holder), question, **details
            ),
        ),
        points=points,
        ports=ports,
        answer=question.answer,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    """Return which engine has the action: an action of a rule is a function of two of the engines."""
    return item.name if point.name in POINTS else ""


def said(item: Bound, theme: RunTheme) -> str:
    """Return the action in the words of the theme, as a command."""
    words = {
        **theme.words,
        "s": theme.words[item.first],
        "t": theme.words[item.second],
        "k": str(item.amount),
        "an_even": "an even-numbered",
    }
    if item.amount == 1:
        words |= {"units": theme.words["units"].removesuffix("s"), "marks": theme.words["mark"]}
    return item.action.text.format(**words)


def template(
    theme: RunTheme, rules: dict[str, list[Bound]], question: RunQuestion, store: str, uses: list[str]
) -> tuple[str, int]:
    """Return (the statement with its slots and rules, the slot of the signals)."""
    parts, slot = [theme.opening], 4
    if "r" in uses:
        parts.append(theme.dial.format(size=f"[Input Slot {slot}]", start=f"[Input Slot {slot + 1}]"))
        slot += 2
    if "q" in uses:
        parts.append(theme.mode.format(start=f"[Input Slot {slot}]"))
        slot += 1
    lines = [f"- {when}, [Rule {name}]." for when, name in zip(theme.when, POINTS, strict=False)]
    if "close" in rules:
        lines.append(f"- {theme.close}, [Rule close].")
    words = {
        **theme.words,
        "s": theme.words[store],
        "first": theme.words["a"],
        "second": theme.words["b"],
        "s1": f"[Input Slot {slot + 1}]",
    }
    asked = upper(question.text.format(**words))
    rest = "\n".join(lines)
    return (
        f"{' '.join(parts)}\n\nThese are the rules:\n\n{rest}\n\n{theme.listing} [Input Slot {slot}].\n\n"
        f"<!-- question -->\n{asked}\n",
        slot,
    )


def title(theme: RunTheme, rules: dict[str, list[Bound]], question: RunQuestion) -> str:
    """Return what the puzzle is about, what is asked, and which rules are in force."""
    return (
        f"{theme.title}: "
        f"{question.title}{by_rules(labels(alternatives[0].key for alternatives in rules.values()))}"
    )


def _lively(rules: dict[str, list[Bound]], asked: set[str]) -> bool:
    """Return whether every rule in force matters to what is asked, both stores do, and no variable is spoken
    of that does not."""
    chosen = [alternatives[0] for alternatives in rules.values()]
    changed = {name for item in chosen for name in item.writes}
    matters, before = set(asked), set[str]()
    while matters != before:
        before = set(matters)
        matters |= {name for item in chosen if before & set(item.writes) for name in item.reads}
    spoken = {
        name for alternatives in rules.values() for alternative in alternatives for name in alternative.reads
    }
    return (
        all(matters & set(item.writes) for item in chosen)
        and changed >= matters == {"a", "b"} | spoken
        and len({item.action for item in chosen}) == len(chosen)
    )


def _changes(family: Family) -> Callable[[Any], list[bool]]:
    """For each turn of a run, whether it changes the state."""
    played = entry(family.validator, "played")

    def changes(inputs: Any) -> list[bool]:
        trace = played(inputs["start"], inputs)
        return [before != after for before, after in itertools.pairwise(trace)]

    return changes
