"""How an operator puts a child together: members, glue, and what of the parents' declarations lives on.

Every voter of the child is glue over one voter of each member, by order, and a primary never sits with an
independent one. The glue itself comes in two forms, one for the primary and another for the independent
validators, so that a fault of an operator is outvoted or splits the vote as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evolake.families.model.contract import (
    CHECKERS,
    GENERATOR,
    READER,
    VALIDATOR,
    VALIDATORS,
    Alternative,
    Answer,
    Family,
    Filterable,
    MutationPoint,
    Port,
)
from evolake.families.model.source_code import NotComposable, compose, factory
from evolake.families.model.statement import SLOT, rules, rules_in, stated, whole
from evolake.families.operators.joining import Embedded, cutter, outer_bridge, own_text, say
from evolake.families.worlds.engine_files import parts_of
from evolake.lines import folder_of
from evolake.program_templates import fill_places

_, PROGRAMS, _ = parts_of(
    (folder_of("evolake.families.operators") / "programs.md").read_text(encoding="utf-8"), "programs"
)
LONGEST_TEMPLATE = 6000
LONGEST_SOURCE = 80_000
MEASURES = {"integer": ("int(answer)", "int(answer)"), "boolean": ("int(bool(answer))", "1 if answer else 0")}
"""How an answer becomes a quantity, by its declared type, for the primary and for the independent validators.
Other answers are none: a number that is made of the letters of a word, or of the sum of a list, would have to
be explained, and reads as glue."""


def program(name: str, /, **values: object) -> str:
    """Return a program of `programs.md`, its places filled in."""
    return fill_places(PROGRAMS[name], **values)


@dataclass(frozen=True)
class Member:
    """A parent in the child. function: its factory's name. speaks: whether its generator and reader are used
    as well as its validators."""

    function: str
    family: Family
    embedded: Embedded
    speaks: bool = True


@dataclass(frozen=True)
class Glue:
    """The few lines around the members' factories. `solve` is for the primary, `other` for the independent
    validators. `read` has `said`. check: for the checkers of a parent with many correct answers; "" where an
    operator takes none. other_check: for all but the first of them, if it is another."""

    generate: str
    solve: str
    other: str
    read: str
    check: str = ""
    other_check: str = ""


@dataclass(frozen=True)
class Declaration:
    """What a child says of itself, as a `Family` does."""

    title: str
    category: str
    template: str
    answer: Answer
    points: Sequence[MutationPoint]
    ports: Sequence[Port] = ()
    filterables: Sequence[Filterable] = ()


def build(
    operator: str, members: Sequence[Member], glue: Glue, declared: Declaration, *, parents: Sequence[Family]
) -> Family:
    """Return the child.

    Raises NotComposable: a source that cannot be wrapped, a parent without independent validators or reader,
    a child that is too large, or a rule whose words are elsewhere in the text.
    """
    speaking = [member for member in members if member.speaks]
    if any(member.embedded.reader is None for member in speaking):
        raise NotComposable("a parent without a reader")
    checkers = members[-1].embedded.checkers
    if any(member.family.checkers for member in members) and not glue.check:
        raise NotComposable("a parent with many correct answers")
    voters = voter_names([member.family for member in members])
    validators = {
        name: _joined(
            [
                (member, member.embedded.validators[source])
                for member, source in zip(members, sources, strict=True)
            ],
            "solution",
            glue.other,
        )
        for name, sources in voters.items()
    }
    said = said_source(declared.template, declared.points)
    child = Family(
        name=operator,
        title=declared.title,
        category=declared.category,
        language=parents[0].language,
        generator=_joined(
            [(member, member.embedded.generator) for member in speaking], "input", glue.generate
        ),
        template=declared.template,
        validator=_joined(
            [(member, member.embedded.validator) for member in members], "solution", glue.solve
        ),
        validators=validators,
        reader=_joined(
            [(member, member.embedded.reader or "") for member in speaking], "read", said + glue.read
        ),
        answer=declared.answer,
        points=tuple(declared.points),
        ports=tuple(declared.ports),
        filterables=tuple(declared.filterables),
        parents=tuple(dict.fromkeys(parent.family_id for parent in parents)),
        operator=operator,
        checkers={
            name: _joined([(members[-1], source)], "check", (number and glue.other_check) or glue.check)
            for number, (name, source) in enumerate(checkers.items())
        },
    )
    check_size(child)
    check_rules(child)
    return named(child)


def said_source(template: str, points: Sequence[MutationPoint]) -> str:
    """Return the source of `said(text)` for what follows the parts in the template, under any of its
    rules."""
    end, own = own_text(template)
    if outer_bridge(template):
        return program("bridge", said=repr(whole(own, points, {}, r"\d+")))
    return program("said", said=repr(whole(own, points, {})), end=repr(end))


def glue_of(operator: str, marker: str, parts: int, heads: tuple[str, str], /, **values: object) -> Glue:
    """Return the glue of an operator, from its four templates. heads: of the primary and of the independent
    validators. marker: "" for a bridge."""
    generate, solve, other, read = (
        program(f"{operator}_{name}", **values) for name in ("generate", "solve", "other", "read")
    )
    return Glue(
        generate, heads[0] + solve, heads[1] + other, (cutter(marker, parts) if marker else "") + read
    )


def named(child: Family) -> Family:
    """Return the child under a name that its content gives it."""
    return replace(child, name=f"{child.operator}-{child.family_id[:12]}")


def voter_names(families: Sequence[Family]) -> dict[str, tuple[str, ...]]:
    """Return independent validator of the child -> the member's validator for each member; the shorter lists
    are gone round again."""
    names = [list(family.validators) for family in families]
    if not all(names):
        raise NotComposable("a parent without independent validators")
    if len(names) == 1:
        return {name: (name,) for name in names[0]}
    return {
        f"pair{number + 1}": tuple(row[number % len(row)] for row in names)
        for number in range(max(map(len, names)))
    }


def moved_points(members: Sequence[Member], which: int) -> tuple[MutationPoint, ...]:
    """Return the points of one member, its own codes of single sources under the child's file names."""
    files = {GENERATOR: GENERATOR, VALIDATOR: VALIDATOR, READER: READER}
    files |= {
        name: name for member in members for name in member.family.sources() if name.startswith(CHECKERS)
    }
    for name, sources in voter_names([member.family for member in members]).items():
        files[f"{VALIDATORS}/{name}.py"] = f"{VALIDATORS}/{sources[which]}.py"

    def codes(item: Alternative) -> dict[str, str]:
        return {child: item.codes[parent] for child, parent in files.items() if parent in item.codes}

    member = members[which]
    originals = {f"{member.embedded.key}_{point.name}": point for point in member.family.points}
    return tuple(
        replace(
            point,
            alternatives=tuple(
                replace(item, codes=codes(original))
                for item, original in zip(point.alternatives, originals[point.name].alternatives, strict=True)
            ),
        )
        for point in member.embedded.points
    )


def measure_text(family: Family, place: str) -> str:
    """Return how the child's text calls the number that is made of this parent's answer. Raises
    NotComposable."""
    if family.answer.type not in MEASURES:
        raise NotComposable(f"an answer of type {family.answer.type} is no quantity")
    return say(family, family.answer.type, place=place)


def require_quantity(family: Family) -> None:
    """Raise NotComposable for a family whose answer is no number that another statement can continue with."""
    if family.answer.type != "integer":
        raise NotComposable(f"an answer of type {family.answer.type} is no quantity of another statement")


def measure_heads(family: Family) -> tuple[str, str]:
    """Return the head with `measure(answer)` for this parent: the primary's, and that of the independent
    validators."""
    first, other = (
        f"{PROGRAMS['head']}\n\ndef measure(answer):\n    return {code}\n"
        for code in MEASURES[family.answer.type]
    )
    return first, other


def at(name: str, path: Sequence[str]) -> str:
    """Return the expression `name["x"]["y"]`."""
    return name + "".join(f"[{part!r}]" for part in path)


def high_of(name: str, port: Port) -> str:
    """Return the expression of a port's highest value in the inputs called `name`; `size` is in PORT_HEAD."""
    return str(port.high) if isinstance(port.high, int) else f"size({at(name, port.high)})"


PORT_HEAD = """
def size(value):
    return value if isinstance(value, int) else len(value)
"""


def port_glue(
    operator: str, first: Family, port: Port, marker: str, parts: int, letter: str, /, **values: object
) -> Glue:
    """Return the glue of a child of one parent or two, where a letter stands for a port of the last.

    first: whose answer is measured. values: for the templates, next to what is known of the port.
    """
    inputs = ("first", "second")[parts - 1]
    names = values | {
        "index": port.slot - 1,
        "value": at(inputs, port.key),
        "high": high_of(inputs, port),
        "low": port.low,
        "letter": repr(letter),
        "legal": repr(str(port.low)),
    }
    glue = glue_of(operator, marker, parts, measure_heads(first), **names)
    return replace(glue, generate=PORT_HEAD + glue.generate)


def lettered(text: str, slot: int, letter: str) -> str:
    """Return the text with the letter in place of the slot; later slots move up."""

    def shown(match: re.Match[str]) -> str:
        number = int(match[1])
        return letter if number == slot else f"[Input Slot {number - (number > slot)}]"

    return SLOT.sub(shown, text)


def moved_up(ports: Sequence[Port], gone: Port) -> tuple[Port, ...]:
    """Return the other ports, where the slot of one has become a letter."""
    return tuple(
        replace(port, slot=port.slot - (port.slot > gone.slot)) for port in ports if port.slot != gone.slot
    )


def not_bound(filterables: Sequence[Filterable], high: int | tuple[str, ...]) -> tuple[Filterable, ...]:
    """Return those that may still be filtered where a port's highest value was taken from `high` (a path in
    the child's inputs)."""
    return tuple(
        item
        for item in filterables
        if isinstance(high, int) or not any(_meets(path, high) for path in (item.key, *item.together))
    )


def _meets(first: tuple[str, ...], other: tuple[str, ...]) -> bool:
    short = min(len(first), len(other))
    return first[:short] == other[:short]


def point(
    family: Family, name: str, kind: str, names: Mapping[str, str], chosen: str, **values: object
) -> MutationPoint:
    """Return a rule slot of an operator. names: alternative -> code; its text is the sentence `<kind>
    <alternative>`."""
    alternatives = tuple(
        Alternative(item, say(family, f"{kind} {item}", **values), code) for item, code in names.items()
    )
    return MutationPoint(name, alternatives, chosen)


def check_rules(child: Family) -> None:
    """Raise NotComposable where reviewers who look for the words of rules in the text could not see which
    ones hold: the words of one parent's rule may be in the other's statement.
    """
    order = rules(child.template)
    shown = sorted(
        (item for item in child.points if item.name in order), key=lambda item: order.index(item.name)
    )
    listed = [
        {
            "constant": item.constant,
            "alternatives": [(element.text, element.name) for element in item.alternatives],
        }
        for item in shown
    ]
    result = rules_in(stated(child), listed)
    if isinstance(result, str):
        raise NotComposable(result)
    if wrong := [item.name for item in shown if result[item.constant] != item.chosen]:
        raise NotComposable(f"the words of the rule {wrong[0]!r} stand elsewhere in the text")


def check_size(child: Family) -> None:
    """Raise NotComposable for a child that has grown too large to be read or run."""
    if len(child.template) > LONGEST_TEMPLATE:
        raise NotComposable(f"a template of more than {LONGEST_TEMPLATE} characters")
    if any(len(source) > LONGEST_SOURCE for source in child.sources().values()):
        raise NotComposable(f"a source of more than {LONGEST_SOURCE} characters")


def _joined(parts: Sequence[tuple[Member, str]], entry: str, glue: str) -> str:
    return compose([factory(member.function, source, entry) for member, source in parts], glue)
