"""The operators on a family with many correct answers, whose primary lists them (`every(inputs)`).

extend: a rule is added, which only some of the right answers keep. aim: the objective is another: of the
right answers those count that come near the best one, by a number that each of them has.

Parts of an answer are compared: letters of a word, or items of a list. An instance is drawn until a
third of the answers that the primary lists no longer count, but two of them do. The child's primary gives the
first of those that count; an independent validator its parent's answer if it counts, else the last one. What
is asked of answers is written in two forms, one for the primary and the first checker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable, Unreadable, compose, defines, factory, parse
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import Declaration, Glue, Member, build, moved_points, point, program
from evolake.families.operators.joining import cutter, embed, say, sections, short

LISTED = 120
"""Right answers of an instance that are looked at."""
DRAWS = 12
"""Of one instance, before it is given up."""


@dataclass(frozen=True)
class _Kind:
    """What an operator asks of answers. rules: names of the alternatives. measured: the body of the function
    that gives the number of an answer, in two forms. fits: the condition that it counts. bound: what the
    generator returns. keys: of the inputs. result: what the reader returns."""

    rule: str
    rules: Mapping[str, str]
    measured: tuple[str, str]
    fits: str
    bound: str
    keys: str
    result: str


EXTEND = _Kind(
    "extra",
    {name: f'"{name}"' for name in ("up", "down", "above", "below")},
    (
        """    gap = lambda at: (answer[-1] > answer[at]) - (answer[-1] < answer[at])
    return int(len(answer) > 2 and {"up": gap(-2), "down": -gap(-2), "above": gap(-3), "below": -gap(-3)}[EXTRA] > 0)
""",
        """    if len(answer) < 3:
        return 0
    low, high = {"up": (-2, -1), "down": (-1, -2), "above": (-3, -1), "below": (-1, -3)}[EXTRA]
    return 1 if answer[high] > answer[low] else 0
""",
    ),
    "measured(answer)",
    '{"a": first}, texts',
    '"a"',
    """    said(text)
    return {"a": read_a(first)}
""",
)
AIM = _Kind(
    "aim",
    {name: f'"{name}"' for name in ("climbs", "drops")},
    (
        """    pairs = list(zip(answer, answer[1:]))
    return {"climbs": sum(one < two for one, two in pairs), "drops": sum(one > two for one, two in pairs)}[AIM]
""",
        """    return sum((answer[at] > answer[at - 1]) if AIM == "climbs" else (answer[at] < answer[at - 1]) for at in range(1, len(answer)))
""",
    ),
    'measured(answer) >= inputs["bound"]',
    '{"a": first, "bound": bound}, [*texts, str(bound)]',
    '"a", "bound"',
    """    return {{"a": read_a(first), "bound": int(said(text)["slot{slot}"])}}
""",
)


def lists_answers(family: Family) -> bool:
    """Return whether the family's primary lists its right answers, of which each has parts in an order."""
    if not family.checkers or family.answer.type not in ("list", "string"):
        return False
    try:
        return defines(parse(family.validator), "every")
    except Unreadable:
        return False


def extend(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent with one rule more. Raises NotComposable."""
    return _child("extend", EXTEND, parents[0], random)


def aim(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent, of whose answers only those near the best one count. Raises NotComposable."""
    return _child("aim", AIM, parents[0], random)


def _child(operator: str, kind: _Kind, parent: Family, random: np.random.Generator) -> Family:
    if not lists_answers(parent):
        raise NotComposable("a parent whose primary does not list right answers")
    name = list(kind.rules)[int(random.integers(len(kind.rules)))]
    part = say(parent, "letter" if parent.answer.type == "string" else "item")
    rule = point(parent, kind.rule, kind.rule, kind.rules, name, part=part)
    marker = fresh_marker([parent.template])
    inner = embed(_listing(parent), "a")
    members = [Member("part_a", parent, inner)]
    slot = inner.slots + 1
    question = say(parent, operator, place=f"{marker} 1", slot=slot, rule=f"[Rule {kind.rule}]")
    return build(
        operator,
        members,
        _glue(kind, marker, rule.alternative().code, slot),
        Declaration(
            title=say(parent, f"{operator} title", first=short(parent.title)),
            category=parent.category,
            template=join_question(sections([inner.text], marker), question),
            answer=parent.answer,
            points=(*moved_points(members, 0), rule),
        ),
        parents=[parent],
    )


def _listing(parent: Family) -> Family:
    """Return the parent whose generator gives right answers as well, and whose solvers give several."""
    every = factory("listed", parent.validator, "every")
    generate, own = (program(f"many_{name}", listed=str(LISTED)) for name in ("listed", "own"))
    return replace(
        parent,
        generator=compose([factory("drawn", parent.generator, "input"), every], generate),
        validator=compose([every], "solution = listed()\n"),
        validators={
            name: compose([factory("own", source, "solution"), every], own)
            for name, source in parent.validators.items()
        },
    )


def _glue(kind: _Kind, marker: str, code: str, slot: int) -> Glue:
    first, other = (
        {
            "rule": kind.rule.upper(),
            "code": code,
            "measured": body,
            "fits": kind.fits,
            "keys": kind.keys,
            "bound": kind.bound,
            "draws": DRAWS,
        }
        for body in kind.measured
    )
    result = kind.result.format(slot=slot) if "{slot}" in kind.result else kind.result
    return Glue(
        program("many_generate", **first),
        program("head") + program("many_solve", **first),
        program("many_other", **other),
        cutter(marker, 1) + program("filter_read", result=result),
        check=program("many_check", **first),
        other_check=program("many_check", **other),
    )
