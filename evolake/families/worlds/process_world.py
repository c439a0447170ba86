"""Draw process worlds: a theme, rules and a question on the run make their own family. There are three engines,
each a file of the folder `engines`: boards, queues, and runs of three signals.

A rule has its meaning in the terms of each program: `run` of the primary and the generator, `relation` and
`table` of the two others. Each file says what these are written in, and in the table `process`:

    keys      of the inputs. steps: the one with the steps of a course. course: the expression of the states
              before the first step and after each, in terms of the primary; none: every step changes the state
    heads     point, or `any` other one -> arguments of a rule's function, by meaning
    openings  point -> first statement of its rules in `run`
    found     the table in which programs look up these functions
    one, many words that depend on whether an amount is 1
    cards     places and `says`, sentences of the list, `without` and `with` cards
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from textwrap import indent
from typing import Any

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.worlds.engine import MEANINGS, Details, Engine, Question, Rules, engine_in, family_of
from evolake.families.worlds.engine_files import FOLDER, Words, checked, one_of, said, some_of
from evolake.families.worlds.liveliness import NoWorld, Steps, entry, is_alive

PROCESSES = {
    name: engine_in((FOLDER / f"{name}.md").read_text(encoding="utf-8"), name)
    for name in ("runs", "queues", "boards")
}
"""Name -> engine."""
RUNS, QUEUES, BOARDS = PROCESSES.values()
DIAL = (
    " <dial> numbered from 1 to [Input Slot 4]; forward from the last <mark>, it comes to <mark> 1 again. At the "
    "start it is at <mark> [Input Slot 5]."
)
"""What a run says of its pointer."""
BOARD_SHARE, QUEUE_SHARE = 0.25, 0.3
"""Share of boards, and of queues among the others."""
OPTIONAL = (("r",), ("q",), ("r", "q"), ())
"""What a run has next to its two stores: a pointer, a mode, both, nothing."""
CLOSED = 0.6
"""Share of runs with a rule that ends every turn."""
QUESTIONS, RUN_DRAWS = 5, 400
"""Themes and questions of a run, and rules for each, that are tried before a draw is given up."""
DRAWS = 15
"""Of rules of a board or a queue, for one question."""


def process_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld."""
    kind = random.random()
    if kind >= 1 - BOARD_SHARE or kind < QUEUE_SHARE * (1 - BOARD_SHARE):
        process = QUEUES if kind < QUEUE_SHARE else BOARDS
        if (family := drawn_world(random, process)) is None:
            raise NoWorld(f"no rules of a {process.name[:-1]} were found that all make a difference")
        return family
    for _ in range(QUESTIONS):
        if (family := _drawn_run(random)) is not None:
            return family
    raise NoWorld("no rules were found that keep a run alive and make its answer vary")


def drawn_world(random: np.random.Generator, process: Engine) -> Family | None:
    """Return a family of a drawn theme, question and two rules of each point; None if none came of any."""
    theme = one_of(random, process.themes)
    for place in random.permutation(len(process.questions)).tolist():
        question = process.questions[place]
        for _ in range(DRAWS):
            rules = {point: some_of(random, alike) for point, alike in process.rules.items()}
            in_force = [alternatives[0] for alternatives in rules.values()]
            if _spoken(rules) and not question.cards and not any(item.cards for item in in_force):
                continue
            if _is_alive(process, family := world_of(process, theme, rules, question)):
                return family
    return None


def _drawn_run(random: np.random.Generator) -> Family | None:
    """Return a family of a drawn theme and question; None if no rules were found for them."""
    theme, question = one_of(random, RUNS.themes), one_of(random, RUNS.questions)
    store = one_of(random, "ab")
    asked = {store if name == "s" else name for name in question.uses}
    fitting = [names for names in OPTIONAL if asked <= {"a", "b", *names}]
    names = {"a", "b", *one_of(random, fitting)}
    points = list(RUNS.rules)[: None if random.random() < CLOSED else -1]
    allowed = [item for item in RUNS.alternatives if names.issuperset(item.reads)]
    for _ in range(RUN_DRAWS):
        drawn = some_of(random, allowed, 2 * len(points))
        rules = {name: drawn[2 * place : 2 * place + 2] for place, name in enumerate(points)}
        if _lively(rules, asked):
            family = world_of(RUNS, theme, rules, question, store)
            if _is_alive(RUNS, family):
                return family
    return None


def _lively(rules: Rules, asked: set[str]) -> bool:
    """Return whether every rule in force matters to what is asked, both stores do, and no variable is spoken
    of that does not."""
    chosen = [alternatives[0] for alternatives in rules.values()]
    changed = {name for item in chosen for name in item.writes}
    matters, before = set(asked), set[str]()
    while matters != before:
        before = set(matters)
        matters |= {name for item in chosen if before & set(item.writes) for name in item.reads}
    return (
        all(matters & set(item.writes) for item in chosen)
        and changed >= matters == {"a", "b"} | _touched(rules)
        and len({item.kind for item in chosen}) == len(chosen)
    )


def _touched(rules: Rules) -> set[str]:
    return {name for alike in rules.values() for item in alike for name in item.reads}


def _spoken(rules: Rules) -> bool:
    """Return whether any rule asks for the card."""
    return any(item.cards for alike in rules.values() for item in alike)


def _is_alive(process: Engine, family: Family) -> bool:
    key, course = process.process["steps"], process.process.get("course")
    if not course:
        return is_alive(family, Steps(key))
    states = entry(f"{family.validator}\n\ndef states(inputs):\n    return {course}\n", "states")

    def changes(inputs: Any) -> list[bool]:
        return [before != after for before, after in itertools.pairwise(states(inputs))]

    return is_alive(family, Steps(key, changes))


def world_of(process: Engine, theme: Words, rules: Rules, question: Question, store: str = "a") -> Family:
    """Return the family of these choices; of each rule the first alternative is in force. store: the one that
    is asked about."""
    details = Details(slot=3)
    if process is RUNS:
        details = _of_run(theme, rules, question, store)
        asked = {part: getattr(question, part) for part in ("primary", "first", "second", "make")}
        question = replace(
            question, **{part: code.replace('"S"', f'"{store}"') for part, code in asked.items()}
        )
    elif process is QUEUES:
        details = _of_queue(theme, cards=question.cards or _spoken(rules))
    details.codes["checked"] = checked(process.process["keys"])
    details.forms[details.slot] = r"\d+"
    details.held = dict.fromkeys(rules, "")
    details.rules = lambda part: _source(process, rules, part)
    return family_of(process, theme, rules, question, "process_world", details)


def _of_queue(theme: Words, *, cards: bool) -> Details:
    """Return what depends on whether persons have cards. `says`: how the list speaks of a person, with {0} for
    the number, {1} of arriving, {2} of the need; without and with a card."""
    places = QUEUES.process["cards"]["with" if cards else "without"]
    says = [said(sentence, theme) for sentence in places["says"]]
    forms = [re.sub("[XYZ]", r"(\\d+)", re.escape(item.format(*"XYZ"))) for item in says]
    listed = [(item.removeprefix("- ").format("{number}", "{arrival}", "{need}"), "") for item in says]
    return Details(places={**places, "says": says, "forms": forms}, slot=3, listed=listed)


def _of_run(theme: Words, rules: Rules, question: Question, store: str) -> Details:
    """Return what depends on the variables that a run uses, and on the store that is asked about."""
    touched = _touched(rules) | set(question.uses)
    uses = ["a", "b", *(name for name in "rq" if name in touched)]
    slot, begin, cap, forms = 4, "", 'int(match["slot1"])', dict.fromkeys(range(1, 6), r"\d+")
    start = ['"a": int(match["slot2"])', '"b": int(match["slot3"])']
    texts = ["str(cap)", 'str(start["a"])', 'str(start["b"])']
    if "r" in uses:
        begin += DIAL
        texts += ["str(m)", 'str(start["r"] + 1)']
        cap += ', "marks": int(match["slot4"])'
        start.append('"r": int(match["slot5"]) - 1')
        slot = 6
    if "q" in uses:
        modes = list(theme["modes"])
        shows = theme["lamp"].split()[-1]
        begin += f" <lamp> either {modes[1]} or {modes[0]}. At the start it {shows} [Input Slot {slot}]."
        forms[slot] = "|".join(modes)
        texts.append(f'{modes!r}[start["q"]]')
        start.append(f'"q": {modes!r}.index(match["slot{slot}"])')
        slot += 1
    whens = [*theme["when"], theme["close"]]
    words = {
        "s": theme[store],
        "begin": begin,
        "slot": str(slot),
        "ruled": "\n".join(f"- {when}, [Rule {point}]." for when, point in zip(whens, rules, strict=False)),
    }
    places = {
        "uses": uses,
        "events": list(theme["events"]),
        "slot": slot,
        "cap_and_marks": 'cap, "marks": m' if "r" in uses else "cap",
        "start_texts": ", ".join(texts),
        "read_cap": cap,
        "read_start": ", ".join(start),
        "close": "(CLOSE,)" if "close" in rules else "()",
        "per": 2 if "close" in rules else 1,
    }
    return Details(words, {}, places, forms | {slot: r"\w+(?:, \w+)*"}, slot + 1)


def functions(process: Engine, rules: Rules, meaning: str) -> str:
    """Return a function for each rule, in the terms of one program."""
    heads, result = process.process["heads"], ""
    for point, alternatives in rules.items():
        head = (heads.get(point) or heads["any"])[MEANINGS.index(meaning)]
        for rule in alternatives:
            body = f"return {getattr(rule, meaning)}"
            if meaning == "run":
                opening = process.process.get("openings", {}).get(point)
                body = "\n".join(filter(None, [opening, rule.run]))
            result += f"\n\ndef {rule.name}({head}):\n{indent(body, '    ')}\n"
    return result


def _source(process: Engine, rules: Rules, part: str) -> str:
    """Return the rules in the terms of a program: functions, and the table in which it looks them up (of
    relations between states with the variables that they read and write); or cases, of one function for each
    point of queues, of one for all of runs."""
    known = list(itertools.chain(*rules.values()))
    meaning = {"first": "relation", "second": "table"}.get(part, "run")
    if meaning == "run" and process is RUNS:
        return "".join(
            f'    {"el" if number else ""}if rule == "{rule.name}":\n{indent(rule.run, " " * 8)}\n'
            for number, rule in enumerate(known)
        )
    if meaning == "run" and process is QUEUES:
        heads = {"next": "order(c, t)", "leave": "leave(c, others, waited)", "pace": "pace(c, t)"}
        return "".join(
            f"\n\ndef {heads[point]}:\n"
            + "".join(
                f'    if {point.upper()} == "{rule.name}":\n        return {rule.run}\n'
                for rule in alternatives
            )
            for point, alternatives in rules.items()
        )
    table = ", ".join(f'"{rule.name}": {rule.name}' for rule in known)
    if meaning == "relation" and process is RUNS:
        rows = (f'    "{rule.name}": ({rule.name}, {rule.reads!r}, {rule.writes!r}),\n' for rule in known)
        table = f"\n{''.join(rows)}"
    found = process.process.get("found", "KINDS")
    return f"{functions(process, rules, meaning)}\n\n{found} = {{{table}}}\n"
