"""What may be changed next: what applies to a tree next to the edits that a variant of it carries (patches
whose anchors are in it, options that decide something in it), and what a classical operator draws from that,
deterministic from a generator.

Anchors depend on no value, so they are looked up once per tree; what fits next to a list of edits is then a
question of spans. A tree that was written as a diff may lack an anchor, or hold the code of a patch already:
that patch is not for it, nor is another one of its slot.

Numbers move log-uniformly: by a ratio within the range, around where they are. A value in (0, 1) near one,
such as a decay, moves by the ratio of its distance to one, since 0.95 and 0.99 differ as 0.5 and 0.9 do. An
option whose default is zero gets a small value, one with an open range moves at most sixteenfold.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.solvers.edits.anchors import Tunable, file_named, pattern, read_tunables
from evolake.solvers.edits.apply import Splice, place_rewrites
from evolake.solvers.edits.catalogue import (
    PATCHES,
    Edit,
    Parameter,
    PatchSpec,
    Rewrite,
    Value,
    catalogue,
    family_of,
)

REACH = 16.0
NEAR = 3.0
NEAR_ONE = 0.7
SMALL_FRACTIONS = (0.001, 0.05)


def new_tunable(
    tunable: Tunable, random: np.random.Generator, *, now: Value | None = None, reach: float = REACH
) -> Edit:
    """Return a move of one option from `now` (its default unless given), at most by the factor `reach`."""
    value = tunable.default if now is None else now
    return Edit("tunable", tunable.name, {"value": _moved_default(tunable, value, random, reach)})


def new_patch(spec: PatchSpec, random: np.random.Generator) -> Edit:
    """Return a patch with parameters drawn over their whole ranges."""
    return Edit(
        "patch",
        spec.name,
        {name: _drawn(parameter, random) for name, parameter in sorted(spec.parameters.items())},
    )


def mutated(
    edit: Edit, known: Mapping[str, Tunable], patches: Mapping[str, PatchSpec], random: np.random.Generator
) -> Edit | None:
    """Return the same edit with one of its values moved a little; None where the edit is unknown here."""
    if edit.kind == "tunable":
        tunable = known.get(edit.name)
        return new_tunable(tunable, random, now=edit.parameters["value"], reach=NEAR) if tunable else None
    spec = patches.get(edit.name)
    if spec is None:
        return None
    name = sorted(spec.parameters)[int(random.integers(len(spec.parameters)))]
    return Edit(
        "patch",
        edit.name,
        {**edit.parameters, name: _near(spec.parameters[name], edit.parameters[name], random)},
    )


def placed(edits: Sequence[Edit], edit: Edit, patches: Mapping[str, PatchSpec]) -> tuple[Edit, ...]:
    """Return `edits` with `edit` put in, in place of the one of its key and of the patch of its slot."""
    slot = patches[edit.name].slot if edit.kind == "patch" and edit.name in patches else None

    def stays(other: Edit) -> bool:
        same_slot = (
            slot is not None
            and other.kind == "patch"
            and other.name in patches
            and patches[other.name].slot == slot
        )
        return other.key != edit.key and not same_slot

    return (*(other for other in edits if stays(other)), edit)


def shadowed(edits: Sequence[Edit], patches: Mapping[str, PatchSpec]) -> set[str]:
    """Return options that no longer decide anything under the patches among `edits`."""
    return {
        name
        for edit in edits
        if edit.kind == "patch" and edit.name in patches
        for name in patches[edit.name].shadows
    }


def _moved_default(tunable: Tunable, value: Value, random: np.random.Generator, reach: float) -> Value:
    if tunable.kind == "bool" or ((tunable.low, tunable.high) == (0, 1) and tunable.kind == "int"):
        return not value if tunable.kind == "bool" else 1 - int(value)
    if tunable.kind == "int" and tunable.high - tunable.low <= 4:
        others = [number for number in range(int(tunable.low), int(tunable.high) + 1) if number != value]
        return others[int(random.integers(len(others)))]
    if tunable.kind == "float":
        return _moved_real(float(value), tunable, random, reach)
    low, high = max(tunable.low, 0 if value >= 0 else tunable.low), tunable.high
    scale = max(1.0, abs(float(value)))
    target = round(scale * _ratio(random, reach)) if value else int(random.integers(1, 9))
    moved = int(min(max(target, low), high))
    return moved if moved != value else int(value + 1 if value + 1 <= high else value - 1)


def _moved_real(value: float, tunable: Tunable, random: np.random.Generator, reach: float) -> float:
    if value == 0:
        low, high = SMALL_FRACTIONS
        return _tidy(
            float(np.exp(random.uniform(math.log(low), math.log(min(high, tunable.high))))),
            tunable.low,
            tunable.high,
        )
    if tunable.high <= 1 and value >= NEAR_ONE:
        return _tidy(1 - (1 - value) * _ratio(random, reach), max(tunable.low, 0.5), tunable.high)
    if tunable.low >= 1:
        return _tidy(tunable.low + (value - tunable.low) * _ratio(random, reach), tunable.low, tunable.high)
    return _tidy(value * _ratio(random, reach), tunable.low, tunable.high)


def _ratio(random: np.random.Generator, reach: float) -> float:
    """Log-uniform in [1/reach, reach], and at least a tenth away from one."""
    size = random.uniform(0.1, math.log(reach))
    return math.exp(size if random.random() < 0.5 else -size)


def _drawn(parameter: Parameter, random: np.random.Generator) -> Value:
    low, high = parameter.low, parameter.high
    if parameter.logarithmic and low > 0:
        value = math.exp(random.uniform(math.log(low), math.log(high)))
    else:
        value = random.uniform(low, high)
    return _fitted(parameter, value)


def _near(parameter: Parameter, value: Value, random: np.random.Generator) -> Value:
    if parameter.logarithmic and parameter.low > 0:
        moved = float(value) * _ratio(random, NEAR)
    else:
        moved = float(value) + random.normal(0, (parameter.high - parameter.low) / 4)
    fitted = _fitted(parameter, moved)
    if fitted != value:
        return fitted
    step = 1 if parameter.whole else (parameter.high - parameter.low) / 20
    return _fitted(parameter, value + step if value + step <= parameter.high else value - step)


def _fitted(parameter: Parameter, value: float) -> Value:
    value = min(max(value, parameter.low), parameter.high)
    return round(value) if parameter.whole else _tidy(value, parameter.low, parameter.high)


def _tidy(value: float, low: float, high: float) -> float:
    """Four significant digits of the value (of its distance to one, when that is small), within the range."""
    digits = float(f"{value:.4g}") if not 0.9 < value < 1 else 1 - float(f"{1 - value:.3g}")
    return float(min(max(float(f"{digits:.10g}"), low), high))


_HOLE = re.compile(r"@\\s\*\\b(\w+)\\b\\s\*@")
_PASTED = re.compile(r"\bGET\w*\s*\(\s*\w+\s*##\s*(\w+)")
"""`GET_OPTION (NAME##effort)`: the ending that a macro puts behind the name that it is given."""
_NUMBER = r"[0-9][\w.]*(?:[-+][0-9]+)?"


@dataclass(frozen=True)
class EditableTree:
    """A tree with what can be changed in it. options: name -> option, of those that are read next to where
    they are declared. patches: name -> where it would change the text."""

    options: Mapping[str, Tunable]
    patches: Mapping[str, tuple[Splice, ...]]


@dataclass(frozen=True)
class Applicable:
    """What applies next to some edits: names of patches, and options, in order of their names."""

    patches: tuple[str, ...]
    options: tuple[Tunable, ...]


def editable_tree(files: Mapping[str, str], adapter: Any) -> EditableTree:
    """Return what can be changed in the sources `files`, path -> text. adapter: of their base; `name` and
    `tunables` are read."""
    family, specs = family_of(adapter), catalogue(adapter)
    telling = {
        spec.name: [item for item in spec.forms[family] if not _holds(item, item.anchor)] for spec in specs
    }
    standing = {name: [item for item in items if _stands(files, item)] for name, items in telling.items()}
    decided = set()
    for spec in specs:
        own = [item for item in telling[spec.name] if not item.support]
        if own and all(item in standing[spec.name] for item in own):
            decided.add(spec.slot)
    patches = {}
    for spec in specs:
        splices = place_rewrites(files, spec.forms[family])
        if isinstance(splices, list) and spec.slot not in decided and not standing[spec.name]:
            patches[spec.name] = tuple(_owned(spec, splice) for splice in splices)
    words = sum((Counter(re.findall(r"\w+", text)) for text in files.values()), Counter())
    pasted = {ending for text in files.values() for ending in _PASTED.findall(text)}

    def is_read(variable: str) -> bool:
        """Next to its declaration, by its name or by a macro that pastes one together."""
        names = [variable.removesuffix(ending) for ending in pasted if variable.endswith(ending)]
        return words[variable] > 1 or any(words[name] for name in names)

    read = {item.name: item for item in read_tunables(files, adapter.tunables) if is_read(item.variable)}
    return EditableTree(read, patches)


def applicable(tree: EditableTree, carried: Sequence[Edit] = ()) -> Applicable:
    """Return what applies to the tree next to `carried`, the edits that a variant made of it has. A patch
    takes the place of one of its slot, and counts as applicable where all others stay; an option that a
    carried patch decides in its place is left out."""
    dead = shadowed(carried, PATCHES)

    def fits(edit: Edit) -> bool:
        others = [
            splice
            for other in placed(carried, edit, PATCHES)
            if other.key != edit.key
            for splice in _splices(tree, other)
        ]
        return not any(mine.overlaps(other) for mine in _splices(tree, edit) for other in others)

    return Applicable(
        tuple(name for name in tree.patches if fits(Edit("patch", name, {}))),
        tuple(
            item
            for name, item in tree.options.items()
            if name not in dead and fits(Edit("tunable", name, {}))
        ),
    )


def _splices(tree: EditableTree, edit: Edit) -> tuple[Splice, ...]:
    if edit.kind == "patch":
        return tree.patches.get(edit.name, ())
    return (Splice(tree.options[edit.name].span, edit.key),) if edit.name in tree.options else ()


def _owned(spec: PatchSpec, splice: Splice) -> Splice:
    """With a text that no other patch has, where values go into it: what is equal but for values is not the
    same change."""
    return (
        Splice(splice.span, f"{spec.name}: {splice.text}", splice.support) if "@" in splice.text else splice
    )


def _stands(files: Mapping[str, str], rewrite: Rewrite) -> bool:
    """Return whether the text of a rewrite is in its file."""
    path = file_named(files, rewrite.path)
    return path is not None and _holds(rewrite, files[path])


def _holds(rewrite: Rewrite, text: str) -> bool:
    """Return whether the rewrite's text is in `text`, whatever the values in it. Its own anchor holds it if
    it changes numbers only: then it does not show whether the patch is there."""
    return re.search(_HOLE.sub(lambda hole: _NUMBER, pattern(rewrite.text).pattern), text) is not None
