"""The operators that make one family of two. The second family's instance is drawn first, so on shared seeds
it is the instance of the parent itself: if the operator changes nothing, the answers are a parent's and the
near-duplicate gate sees it.

(b) pipe: the answer of one family becomes a number in the other. How many values the number can take is in
the text and is read from there.

(c) guard: a condition on the answer of one family decides which of two wordings of a rule holds in the other.
The rule becomes two rules, one for each case, and the words that a letter stands for; the second family's
validators are there twice, under either rule. Its generator and reader must not know the rule, for the
instance is drawn and read before the condition is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evolake.families.model.contract import Family, MutationPoint
from evolake.families.model.source_code import (
    NotComposable,
    constants,
    rename_constants,
    switch,
    with_sources,
)
from evolake.families.model.statement import RULE
from evolake.families.operators.common import (
    Declaration,
    Member,
    build,
    glue_of,
    lettered,
    measure_heads,
    moved_points,
    moved_up,
    not_bound,
    point,
    port_glue,
    require_quantity,
)
from evolake.families.operators.joining import bridged, embed, fresh_letters, heading, say, short


def pipe(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent's answer into a port of the second. Raises NotComposable."""
    first, second = parents
    if not second.ports:
        raise NotComposable("a parent without a port")
    require_quantity(first)
    port = second.ports[int(random.integers(len(second.ports)))]
    letter, value = fresh_letters([first, second], 2)
    left = embed(first, "a")
    right = embed(second, "b", shift=left.slots)
    members = [Member("part_a", first, left), Member("part_b", second, right)]
    inner = right.ports[second.ports.index(port)]
    shown = lettered(right.text, inner.slot, letter)
    low = say(first, "pipe low", low=port.low) if port.low else ""
    bridge = say(first, "pipe", value=value, port=letter, low=low, slot=left.slots + right.slots)
    glue = port_glue("pipe", first, port, "", 2, letter, slot=left.slots + right.slots)
    return build(
        "pipe",
        members,
        glue,
        Declaration(
            title=say(first, "pipe title", first=heading(first.title), second=short(second.title)),
            category=second.category,
            template=bridged(left.text, bridge, shown),
            answer=second.answer,
            points=moved_points(members, 0) + moved_points(members, 1),
            ports=left.ports + moved_up(right.ports, inner),
            filterables=left.filterables + not_bound(right.filterables, inner.high),
        ),
        parents=[first, second],
    )


WHEN = {"even": "(2, 0)", "odd": "(2, 1)", "third": "(3, 1)"}
GUARDED = re.compile(r"(?:\[Rule (\w+)\]，\S+ 代表这句话：)?“\[Rule (\w+)\]”(?: \[Rule (\w+)\])?")
"""The rules of a guard's own sentence, in both languages."""


def guard(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a child in which the first parent's answer decides a rule of the second. Raises
    NotComposable."""
    first, second = parents
    require_quantity(first)
    rule = _choose(second, random)
    then, other = (
        rule.alternatives[number].name
        for number in random.choice(len(rule.alternatives), size=2, replace=False).tolist()
    )
    second_then, second_else = _under(second, rule, then, "then"), _under(second, rule, other, "else")
    letter, value = fresh_letters([first, second], 2)
    left = embed(first, "a")
    right = embed(second_then, "b", shift=left.slots)
    members = [
        Member("part_a", first, left),
        Member("part_b", second_then, right),
        Member("part_c", second_else, embed(second_else, "b", shift=left.slots), speaks=False),
    ]
    names = {"then": f"b_{rule.name}_then", "other": f"b_{rule.name}_else", "when": "when"}
    when = point(first, "when", "when", WHEN, list(WHEN)[int(random.integers(len(WHEN)))], value=value)
    bridge = say(first, "guard", value=value, port=letter, **names)
    code, words = when.alternative().code, rule.alternative(then).text
    glue = glue_of("guard", "", 2, measure_heads(first), code=code, letter=repr(letter), words=repr(words))
    shown = right.text.replace(f"[Rule {names['then']}]", letter)
    apart = tuple(item for item in moved_points(members, 2) if item.name == names["other"])
    return build(
        "guard",
        members,
        glue,
        Declaration(
            title=say(first, "guard title", first=heading(first.title), second=short(second.title)),
            category=second.category,
            template=bridged(left.text, bridge, shown),
            answer=second.answer,
            points=(*moved_points(members, 0), *moved_points(members, 1), *apart, when),
            ports=left.ports + right.ports,
            filterables=left.filterables + right.filterables,
        ),
        parents=[first, second],
    )


def _choose(family: Family, random: np.random.Generator) -> MutationPoint:
    """Return a rule that neither the generator nor the reader knows, and that is no condition of another
    guard or the words that it decides about."""
    known = set(constants(family.generator)) | (set(constants(family.reader)) if family.reader else set())
    inner = {name for match in GUARDED.finditer(family.template) for name in match.groups() if name}
    free = [
        item
        for item in family.points
        if len(item.alternatives) > 1 and item.constant not in known and item.name not in inner
    ]
    if not free:
        raise NotComposable("a parent without a rule that its generator and reader do not know")
    return free[int(random.integers(len(free)))]


def _under(family: Family, rule: MutationPoint, alternative: str, suffix: str) -> Family:
    """Return the family under an alternative of the rule, which gets its own name."""
    changed = switch(family, rule.name, alternative) if alternative != rule.chosen else family
    name = f"{rule.name}_{suffix}"
    sources = {
        file: rename_constants(source, {rule.constant: name.upper()})
        for file, source in changed.sources().items()
    }
    template = RULE.sub(
        lambda match: f"[Rule {name}]" if match[1] == rule.name else match[0], changed.template
    )
    points = tuple(replace(item, name=name) if item.name == rule.name else item for item in changed.points)
    return replace(with_sources(changed, sources), template=template, points=points)
