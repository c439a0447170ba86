"""The catalogue of structural patches, ours, each with parameters, a slot and a form for every base family
whose anchors it knows, read from `patches.toml`.

An entry has the fields of `PatchSpec` and `Parameter`. Instead of forms it has `bases` and `rewrites`, in
order: each has the fields of `Rewrite`, or `shared`, which names rewrites of the file's beginning that
several patches make. One that is not made in every base has `bases` itself. Names and slots are stable:
they are in `edits.json` of stored variants.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite


def read_patches(path: Path) -> dict[str, PatchSpec]:
    """Return name -> patch of a file, in its order.

    Raises:
        TypeError: naming the patch: an entry has a field that there is not, or lacks one.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = {name: [Rewrite(**given) for given in all_] for name, all_ in entries.pop("shared", {}).items()}
    result: dict[str, PatchSpec] = {}
    for name, entry in entries.items():
        try:
            result[name] = _patch(name, shared, **entry)
        except (TypeError, KeyError) as error:
            raise TypeError(f"{path}: patch {name}: {error}") from error
    return result


def _patch(
    name: str,
    shared: Mapping[str, Sequence[Rewrite]],
    *,
    slot: str,
    expects: str,
    bases: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]],
    rewrites: Sequence[dict[str, Any]],
    shadows: Sequence[str] = (),
) -> PatchSpec:
    forms: dict[str, tuple[Rewrite, ...]] = dict.fromkeys(bases, ())
    for given in rewrites:
        made_in = given.pop("bases", bases)
        made = shared[given["shared"]] if "shared" in given else [Rewrite(**given)]
        for base in made_in:
            forms[base] += tuple(made)
    ranges = {parameter: Parameter(**given) for parameter, given in parameters.items()}
    return PatchSpec(name, slot, expects, ranges, forms, tuple(shadows))


PATCHES = read_patches(Path(__file__).with_name("patches.toml"))


def family_of(adapter: Any) -> str:
    """Return the base family of an adapter: its name without the version, and without what
    `evolake solvers adapt` adds where a seed has the name (`minisat22`, `minisat22-own` -> `minisat`)."""
    return re.sub(r"[\d.]*(-own)?$", "", adapter.name)


def catalogue(adapter: Any) -> list[PatchSpec]:
    """Return the patches that have a form for this base, by name."""
    return [spec for name, spec in sorted(PATCHES.items()) if family_of(adapter) in spec.forms]
