"""The operators that make a family of another one.

(a) switch: another alternative of one rule, or of two, in the text and in every source together.

(d) aggregate: several instances of a family, and one question about all their answers: sum, largest, spread,
which, how many. The parent's statement is given once, with letters in place of what varies; each case gives
the letters' texts. The child's reader puts them back and hands the parent's reader a whole statement for
every case. All cases but the last are easier than the difficulty asked for, and more of them come with it: a
rule that decides hard instances alone decides something here, too.

    series: the answers themselves are asked for, in a list, whatever they are; of a parent with many correct
    answers, the child's checkers ask the parent's about each.

(e) invert: a number of the question is withheld, and asked for: which one makes the answer largest, the
smallest that makes it even. Every validator tries all the values that the text gives, each by its own
algorithm. They are around the number that the parent drew, where its instances are neither empty nor all
alike.

(f) filter: a condition that elements of a list must meet before the family's own question is asked (parity, a
bound, distinctness). Parallel lists lose the same elements. An instance is drawn again until the condition
removes something and leaves enough. The condition is a separate function: if what it removes decides nothing,
the gate `sentences` sees it.

The operators that make one family of two. The second family's instance is drawn first, so on shared seeds it
is the instance of the parent itself: if the operator changes nothing, the answers are a parent's and the
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
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from evolake.families.model.contract import Answer, Family, Filterable, MutationPoint, Port
from evolake.families.model.source_code import (
    NotComposable,
    compose,
    constants,
    factory,
    rename_constants,
    switch,
    with_sources,
)
from evolake.families.model.statement import RULE, SLOT, fresh_marker, join_question, slots
from evolake.families.model.without_rules import ways_without
from evolake.families.operators.common import (
    PROGRAMS,
    Declaration,
    Glue,
    Member,
    at,
    build,
    check_size,
    glue_of,
    lettered,
    measure_heads,
    measure_text,
    moved_points,
    moved_up,
    named,
    not_bound,
    point,
    port_glue,
    program,
    require_quantity,
)
from evolake.families.operators.joining import (
    bridged,
    cutter,
    embed,
    fresh_letters,
    heading,
    in_title,
    quoting,
    say,
    sections,
    short,
)
from evolake.families.worlds.mechanics import NAMED, rules_of

TWO_RULES = 0.4
"""Share of children that change two rules in one step, if there are two."""


def switch_rule(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a child of the first parent. Raises NotComposable when it declares no rule with an
    alternative."""
    parent = parents[0]
    points = [point for point in parent.points if len(point.alternatives) > 1]
    if not points:
        raise NotComposable("a parent without a rule to switch")
    count = 2 if len(points) > 1 and random.random() < TWO_RULES else 1
    child = parent
    for number in sorted(random.choice(len(points), size=count, replace=False).tolist()):
        others = [item.name for item in points[number].alternatives if item.name != points[number].chosen]
        child = switch(child, points[number].name, others[int(random.integers(len(others)))])
    return as_child(child, parent)


def as_child(changed: Family, parent: Family) -> Family:
    """Return the changed family with its ancestry and a title that says which rules hold now."""
    return named(
        replace(changed, title=retold(parent, changed), parents=(parent.family_id,), operator="switch")
    )


def retold(parent: Family, changed: Family) -> str:
    """Return the parent's title, in which the rules of the changed family stand for those that no longer
    hold: a process or puzzle world names all of its rules, of others the words of the new ones are quoted.
    """
    before = {point.name: point.alternative() for point in parent.points}
    news = [point for point in changed.points if point.chosen != before[point.name].name]
    title, ends = parent.title, [rules_of(family) for family in (parent, changed)]
    if ends[0] and ends[1] and ends[0] in title:
        title, news = title.replace(ends[0], ends[1]), [point for point in news if point.name not in NAMED]
    return quoting(
        title,
        parent.language,
        gone=[in_title(before[point.name].text) for point in news],
        new=[in_title(point.alternative().text) for point in news],
    )


FOLDS = {name: f'"{name}"' for name in ("sum", "largest", "spread", "argmax", "even", "alternating")}


def aggregate(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return several cases of the first parent. Raises NotComposable."""
    parent = parents[0]
    names = ["sum"] if parent.answer.type == "boolean" else list(FOLDS)
    fold = point(parent, "fold", "fold", FOLDS, names[int(random.integers(len(names)))])
    cases = _Cases(parent)
    code = fold.alternative().code
    said = {"measure": measure_text(parent, f"{cases.marker} 1"), "fold": "fold"}
    glue = glue_of("aggregate", cases.marker, 1, measure_heads(parent), code=code, **cases.values(0))
    return cases.child("aggregate", glue, Answer("integer"), [fold], **said)


def series(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return several cases of the first parent, whose answers all are asked for. Raises NotComposable."""
    parent = parents[0]
    cases = _Cases(parent)
    glue = Glue(
        *(
            program(name, **values)
            for name, values in (
                ("aggregate_generate", cases.values(1)),
                ("series_solve", {}),
                ("series_other", {}),
                ("aggregate_read", cases.values(1)),
            )
        ),
        check=program("series_check"),
    )
    head, cut = PROGRAMS["head"], cutter(cases.marker, 1)
    glue = replace(glue, solve=head + glue.solve, other=head + glue.other, read=cut + glue.read)
    answer = replace(parent.answer, type="list")
    return cases.child("series", glue, answer, [])


class _Cases:
    """A parent, of which a child has several cases: letters stand for the texts of its slots."""

    def __init__(self, parent: Family):
        self.parent, numbers = parent, slots(parent.template)
        self.letters = fresh_letters([parent], len(numbers))
        self.marker = fresh_marker([parent.template])
        self.inner = embed(parent, "a")
        shown = SLOT.sub(lambda match: self.letters[numbers.index(int(match[1]))], self.inner.text)
        self.text = sections([shown], self.marker)

    def values(self, more: int) -> dict[str, object]:
        """Return what the generator and the reader of the child are filled with. more: cases, and levels by
        which they are harder."""
        return {"marker": self.marker, "letters": repr(self.letters), "more": more}

    def child(
        self, operator: str, glue: Glue, answer: Answer, points: Sequence[MutationPoint], **said: object
    ) -> Family:
        """Return the child. said: values of its own sentences."""
        place = {"place": f"{self.marker} 1", "letters": ", ".join(self.letters), "slot": 1}
        members = [Member("part_a", self.parent, self.inner)]
        return build(
            operator,
            members,
            glue,
            Declaration(
                title=say(self.parent, f"{operator} title", first=short(self.parent.title)),
                category=self.parent.category,
                template=f"{self.text}\n\n{say(self.parent, operator, **place, **said)}\n",
                answer=answer,
                points=(*moved_points(members, 0), *points),
            ),
            parents=[self.parent],
        )


RAISED = """

easier = input


def input(difficulty):
    return easier(4 + 6 * difficulty // 10)
"""


def raised(family: Family) -> Family:
    """Return the family without its easiest levels: the others take their place. Raises NotComposable where
    that is done."""
    if RAISED in family.generator:
        raise NotComposable("a family whose levels are raised")
    return named(replace(family, generator=f"{family.generator.rstrip()}\n{RAISED}"))


REDRAWN = 6
"""Draws of an instance, until it needs the rules that few instances need."""


def deciding(family: Family, weak: Collection[tuple[str, str]]) -> Family:
    """Return the family, of which instances are drawn until their answers are others without some rules.

    weak: (rule, way to be without it), as the gate `static` counted them. The programs that decide are copies
    with names of their own, which no switch of a rule changes. Raises NotComposable.
    """
    if family.checkers:
        raise NotComposable("a parent with many correct answers")
    own = {point.constant: f"DRAWN_{point.constant}" for point in family.points}
    lacking: dict[str, list[str]] = {}
    factories = [
        factory("as_it_comes", family.generator, "input"),
        factory("with_all", rename_constants(family.validator, own), "solution"),
    ]
    for way in ways_without(family):
        if (way.point, way.way) in weak:
            name = f"lacking_{len(factories)}"
            factories.append(factory(name, rename_constants(way.source, own), "solution"))
            lacking.setdefault(f"{way.point} {way.way}", []).append(f"{name}()")
    if not lacking or "as_it_comes" in family.generator:
        raise NotComposable("a family without such rules, or whose instances need them already")
    without = ", ".join(f"[{', '.join(names)}]" for names in lacking.values())
    glue = program("deciding_generate", without=f"[{without}]", draws=REDRAWN)
    child = replace(family, generator=compose(factories, glue))
    check_size(child)
    return named(child)


ASKS = {
    name: f'"{name}"' for name in ("largest", "smallest", "first", "third", "spread", "distinct", "total")
}


def invert(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent, asked for its own number. Raises NotComposable."""
    parent = parents[0]
    if not parent.ports:
        raise NotComposable("a parent without a port")
    require_quantity(parent)
    number = int(random.integers(len(parent.ports)))
    port = parent.ports[number]
    marker = fresh_marker([parent.template])
    letter, value = fresh_letters([parent], 2)
    inner = embed(parent, "a")
    ask = point(
        parent,
        "ask",
        "ask",
        ASKS,
        list(ASKS)[int(random.integers(len(ASKS)))],
        port=letter,
        value=value,
        none=port.low - 1,
    )
    question = say(
        parent,
        "invert",
        place=f"{marker} 1",
        port=letter,
        bottom=inner.slots,
        slot=inner.slots + 1,
        value=value,
        measure=measure_text(parent, f"{marker} 1"),
        ask="ask",
    )
    glue = port_glue(
        "invert",
        parent,
        port,
        marker,
        1,
        letter,
        none=port.low - 1,
        code=ask.alternative().code,
        bottom=inner.slots,
        top=inner.slots + 1,
    )
    members = [Member("part_a", parent, inner)]
    moved = inner.ports[number]
    return build(
        "invert",
        members,
        glue,
        Declaration(
            title=say(parent, "invert title", first=short(parent.title)),
            category=parent.category,
            template=join_question(sections([lettered(inner.text, moved.slot, letter)], marker), question),
            answer=Answer("integer"),
            points=(*moved_points(members, 0), ask),
            ports=moved_up(inner.ports, moved),
            filterables=not_bound(inner.filterables, moved.high),
        ),
        parents=[parent],
    )


KEEPS = {name: f'"{name}"' for name in ("odd", "even", "third", "place")}
SIDES = {name: f'"{name}"' for name in ("least", "most")}
DRAWS = 24
"""Of one instance, before it is given up."""
BOUNDED = 0.4
"""Share of children whose condition is a bound that the text gives."""
PLAIN = """        inputs = {"a": first}
"""
BOUND = """        numbers = sorted({{{number} for item in whole}})
        bound = numbers[len(numbers) // 3 if SIDE == "least" else len(numbers) // 3 * 2]
        inputs, texts = {{"a": first, "bound": bound}}, [*texts, str(bound)]
"""
KEEP_PLAIN = (
    '{"odd": value % 2 == 1, "even": value % 2 == 0, "third": value % 3 != 0, "place": place % 2 == 0}'
)
KEEP_BOUND = '{"least": value >= inputs["bound"], "most": value <= inputs["bound"]}'
TESTS_PLAIN = """    if KEEP in ("odd", "even"):
        return (value & 1) == (KEEP == "odd")
    if KEEP == "third":
        return bool(value - value // 3 * 3)
    return not len(before) & 1
"""
TESTS_BOUND = """    if SIDE == "least":
        return not value < inputs["bound"]
    return not value > inputs["bound"]
"""
READ_PLAIN = """    said(text)
    return {{"a": read_a(first)}}
"""
READ_BOUND = """    return {{"a": read_a(first), "bound": int(said(text)["slot{slot}"])}}
"""


def constrain(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent with a condition on one of its lists. Raises NotComposable."""
    parent = parents[0]
    free = [
        number
        for number, item in enumerate(parent.filterables)
        if not any(_bounds(port, item) for port in parent.ports)
    ]
    if not free:
        raise NotComposable("a parent without a list that may be filtered")
    number = free[int(random.integers(len(free)))]
    chosen = parent.filterables[number]
    marker = fresh_marker([parent.template])
    inner = embed(parent, "a")
    bounded = bool(random.random() < BOUNDED)
    kind, codes = ("side", SIDES) if bounded else ("keep", KEEPS)
    said = {"noun": chosen.noun, "quantity": chosen.quantity}
    rule = point(parent, kind, kind, codes, list(codes)[int(random.integers(len(codes)))], **said)
    shown = say(parent, "keep bound", side=kind, slot=inner.slots + 1) if bounded else f"[Rule {kind}]"
    question = say(parent, "filter", place=f"{marker} 1", noun=chosen.noun, rule=shown)
    glue = _glue(chosen, marker, bounded, rule.alternative().code, inner.slots + 1)
    members = [Member("part_a", parent, inner)]
    cut_too = {inner.filterables[number].key, *inner.filterables[number].together}
    return build(
        "filter",
        members,
        glue,
        Declaration(
            title=say(parent, "filter title", first=short(parent.title)),
            category=parent.category,
            template=join_question(sections([inner.text], marker), question),
            answer=parent.answer,
            points=(*moved_points(members, 0), rule),
            ports=inner.ports,
            filterables=tuple(item for item in inner.filterables if item.key not in cut_too),
        ),
        parents=[parent],
    )


def _bounds(port: Port, item: Filterable) -> bool:
    """Return whether the port's highest value is taken from the list: after filtering it could be too
    high."""
    return not isinstance(port.high, int) and port.high in (item.key, *item.together)


def _glue(chosen: Filterable, marker: str, bounded: bool, code: str, slot: int) -> Glue:
    number = "item" if chosen.field is None else f"item[{chosen.field!r}]"
    return glue_of(
        "filter",
        marker,
        1,
        (PROGRAMS["head"], PROGRAMS["head"]),
        list=at("first", chosen.key),
        number=number,
        least=chosen.min_length,
        paths=[list(path) for path in (chosen.key, *chosen.together)],
        draws=DRAWS,
        code=code,
        rule="SIDE" if bounded else "KEEP",
        keys='"a", "bound"' if bounded else '"a"',
        keeps=KEEP_BOUND if bounded else KEEP_PLAIN,
        tests=TESTS_BOUND if bounded else TESTS_PLAIN,
        drawn=BOUND.format(number=number) if bounded else PLAIN,
        result=(READ_BOUND if bounded else READ_PLAIN).format(slot=slot),
    )


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
