"""What applies to a tree next to the edits that a variant of it carries: patches whose anchors are in it,
options that decide something in it.

Anchors depend on no value, so they are looked up once per tree; what fits next to a list of edits is then a
question of spans. A tree that was written as a diff may lack an anchor, or hold the code of a patch already,
with whatever values: that patch is not for it, nor is another one of its slot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.solvers.edits.anchors import file_named, pattern
from evolake.solvers.edits.apply import Splice, place_rewrites
from evolake.solvers.edits.catalogue import PATCHES, catalogue, family_of
from evolake.solvers.edits.draw import placed, shadowed
from evolake.solvers.edits.model import Edit, PatchSpec, Rewrite
from evolake.solvers.edits.tunables import Tunable, read_tunables

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
