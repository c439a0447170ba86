"""What every operator that joins families needs: a parent made ready to live inside a child, and the sections
that keep statements apart.

`embed` gives a parent under a prefix: its rules, constants, ports and filterables renamed, its slots shifted,
its statement in one piece. The child's template puts each piece under a marker line; `cutter` is the source
of a function that cuts a child's statement at those lines again, so each parent's reader sees exactly the
text that it was written for, at any depth of nesting. Where the second statement continues with the answer to
the first, there are no marker lines: a bridge, one line that names the answer by its own letter, is between
the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evolake.families.model.ast_transforms import rename_constants
from evolake.families.model.contract import Family, Filterable, MutationPoint, Port
from evolake.families.model.statement import prefix_rules, shift_slots, slots, split_question

LETTERS = "κλμνξπρστυφχψωαβγδεζηθ"
"""Letters that stand for what is not given as a number, in the order in which children take them."""


@dataclass(frozen=True)
class Embedded:
    """A parent under a prefix. `key` is its place in the child's inputs. Sources have their constants
    renamed; text is its whole statement."""

    key: str
    text: str
    slots: int
    generator: str
    validator: str
    validators: dict[str, str]
    reader: str | None
    points: tuple[MutationPoint, ...]
    ports: tuple[Port, ...]
    filterables: tuple[Filterable, ...]


def embed(family: Family, key: str, *, shift: int = 0, files: Mapping[str, str] | None = None) -> Embedded:
    """Return the family ready to be part of a child.

    Args:
        key: a lower-case letter or word; rule `tie` becomes `<key>_tie`, TIE becomes `<KEY>_TIE`, ports and
            filterables likewise, and their paths in the inputs start with it.
        shift: how many slots of the child come before.
        files: file name in the parent -> file name in the child, for alternatives that have separate codes
            for single sources.

    Raises NotComposable for a source that cannot be parsed.
    """
    prefix = f"{key}_"
    constants = {point.constant: f"{prefix}{point.name}".upper() for point in family.points}

    def renamed(source: str) -> str:
        return rename_constants(source, constants) if constants else source

    setting, question = split_question(family.template)
    text = prefix_rules(shift_slots("\n\n".join(part for part in (setting, question) if part), shift), prefix)
    moved = files or {}
    points = tuple(
        replace(
            point,
            name=f"{prefix}{point.name}",
            alternatives=tuple(
                replace(item, codes={moved[name]: code for name, code in item.codes.items() if name in moved})
                for item in point.alternatives
            ),
        )
        for point in family.points
    )
    ports = tuple(
        replace(
            port,
            name=f"{prefix}{port.name}",
            key=(key, *port.key),
            slot=port.slot + shift,
            high=port.high if isinstance(port.high, int) else (key, *port.high),
        )
        for port in family.ports
    )
    filterables = tuple(
        replace(
            item,
            name=f"{prefix}{item.name}",
            key=(key, *item.key),
            together=tuple((key, *path) for path in item.together),
        )
        for item in family.filterables
    )
    return Embedded(
        key=key,
        text=text,
        slots=len(slots(family.template)),
        generator=renamed(family.generator),
        validator=renamed(family.validator),
        validators={name: renamed(source) for name, source in family.validators.items()},
        points=points,
        ports=ports,
        filterables=filterables,
        reader=None if family.reader is None else renamed(family.reader),
    )


def sections(texts: Sequence[str], marker: str) -> str:
    """Return the texts, each under its marker line, and a last marker line that ends them: what follows it is
    the child's own text."""
    return (
        "\n\n".join(f"[{marker} {number}]\n\n{text.strip()}" for number, text in enumerate(texts, start=1))
        + f"\n\n[End of {marker}s]"
    )


BRIDGE = re.compile(
    r"^(?:Let ([α-ω]) be the answer to the question above\.|设 ([α-ω]) 为上面问题的答案。)[^\n]*$",
    re.MULTILINE,
)
"""The line between two statements, the first of which gives a quantity of the second."""
_PART = re.compile(r"^\[(?P<word>[^\[\]\n]+) 1\]$.*?^\[End of (?P=word)s\]$", re.MULTILINE | re.DOTALL)


def bridged(first: str, bridge: str, second: str) -> str:
    """Return two statements with a bridge between them."""
    assert BRIDGE.fullmatch(bridge), bridge
    return f"{first.strip()}\n\n{bridge}\n\n{second.strip()}\n"


def outer_bridge(template: str) -> str:
    """Return the bridge of the operator that made the text, "" if that was another one. Inner bridges are
    inside of parts, or have earlier letters."""
    inside = [match.span() for match in _PART.finditer(template)]
    free = [
        match
        for match in BRIDGE.finditer(template)
        if not any(start < match.start() < end for start, end in inside)
    ]
    return max(free, key=lambda match: LETTERS.index(match[1] or match[2]))[0] if free else ""


_END = re.compile(r"^\[End of .+s\]$", re.MULTILINE)


def own_text(template: str) -> tuple[str, str]:
    """Return (the last marker line, what follows it: the operator's own text); a bridge twice; ("", the
    whole) of a text without either."""
    if bridge := outer_bridge(template):
        return bridge, bridge
    result = list(_END.finditer(template))
    return (result[-1][0], template[result[-1].end() :]) if result else ("", template)


def cutter(marker: str, count: int) -> str:
    """Return the source of `cut(text)`: the statements between the marker lines, which raises ValueError
    where one is missing or doubled."""
    return f"""def cut(text):
    lines = text.split("\\n")
    marks = ["[{marker} %d]" % number for number in range(1, {count + 1})] + ["[End of {marker}s]"]
    places = [lines.index(mark) for mark in marks]
    if places != sorted(places) or any(lines.count(mark) != 1 for mark in marks):
        raise ValueError("sections")
    return ["\\n".join(lines[start + 1 : end]).strip() for start, end in zip(places, places[1:])]
"""
