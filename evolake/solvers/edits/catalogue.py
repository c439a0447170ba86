"""What an edit is, as data: a named change with parameters that base sources take deterministically; and
the catalogue of structural patches, ours, read from `patches.toml`.

    {"kind": "tunable", "name": "var-decay", "parameters": {"value": 0.85}}          the declared default of
                                                                                     an option is moved
    {"kind": "patch", "name": "restart-geometric", "parameters": {"first": 80, ...}}  one structural patch of
                                                                                      the catalogue

A variant made by operators carries the list of its edits (`edits.json`), so it can be made again from its
base, mutated, and crossed with others.

A patch has parameters, a slot and a form for every base family whose anchors it knows. An entry has the
fields of `PatchSpec` and `Parameter`. Instead of forms it has `bases` and `rewrites`, in order: each has the
fields of `Rewrite`, or `shared`, which names rewrites of the file's beginning that several patches make. One
that is not made in every base has `bases` itself. Names and slots are stable: they are in `edits.json` of
stored variants.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from evolake.errors import InputError
from evolake.reading import Unparsable, parse_json

EditKind = Literal["tunable", "patch"]
Value = float | int | bool
EDITS_FILE = "edits.json"
OutcomeStatus = Literal[
    "applied",
    "unknown-edit",
    "not-for-this-base",
    "anchor-missing",
    "anchor-ambiguous",
    "overlap",
    "slot-taken",
    "out-of-range",
    "no-change",
]


@dataclass(frozen=True)
class Edit:
    """One edit. `parameters` of a tunable is `{"value": ...}`; of a patch, a value for each parameter of its
    spec."""

    kind: EditKind
    name: str
    parameters: Mapping[str, Value]

    def to_json(self) -> dict[str, Any]:
        """Return the edit as JSON values."""
        return {"kind": self.kind, "name": self.name, "parameters": dict(sorted(self.parameters.items()))}

    @property
    def key(self) -> str:
        """kind:name: a variant has at most one edit of a key."""
        return f"{self.kind}:{self.name}"

    def described(self) -> str:
        """Return one short line for people."""
        values = ", ".join(f"{name}={value}" for name, value in sorted(self.parameters.items()))
        return (
            f"{self.name} = {self.parameters.get('value')}"
            if self.kind == "tunable"
            else f"{self.name}({values})"
        )


@dataclass(frozen=True)
class EditOutcome:
    """What became of one edit. Anything but `applied` left the sources without a trace of it; `detail` says
    why in one line."""

    edit: Edit
    status: OutcomeStatus
    detail: str = ""
    files: tuple[str, ...] = ()

    @property
    def applied(self) -> bool:
        """Return whether the edit was applied."""
        return self.status == "applied"


@dataclass(frozen=True)
class Parameter:
    """A number of a patch. `logarithmic`: moves are in ratios; `whole`: only integers."""

    low: float
    high: float
    default: float
    whole: bool = False
    logarithmic: bool = True

    def problem(self, value: Value) -> str | None:
        """Return why `value` cannot be used; None if it can."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return f"{value!r} is not a number"
        if self.whole and value != int(value):
            return f"{value!r} is not a whole number"
        return None if self.low <= value <= self.high else f"{value!r} is outside {self.low:g}..{self.high:g}"


@dataclass(frozen=True)
class Rewrite:
    """One change of text. `path` ends the file's path (`core/Solver.cc`); `anchor` is code that is there
    once, white space aside.

    `text` holds `@parameter@` where values go. `place`: replace the anchor, or insert before or after it.
    Equal rewrites of several edits count once (`support` ones come first), so that patches may share helpers.
    """

    path: str
    anchor: str
    text: str
    place: Literal["replace", "before", "after"] = "replace"
    support: bool = False


@dataclass(frozen=True)
class PatchSpec:
    """A structural patch of the catalogue.

    Attributes:
        slot: what it decides; a variant has at most one patch a slot.
        forms: base family (`minisat`, `glucose`, ...) -> its rewrites.
        expects: the hypothesis, in one sentence.
        shadows: options that no longer decide anything once this patch is in.
    """

    name: str
    slot: str
    expects: str
    parameters: Mapping[str, Parameter]
    forms: Mapping[str, tuple[Rewrite, ...]]
    shadows: tuple[str, ...] = ()

    def files(self, family: str) -> tuple[str, ...]:
        """Return files that it touches in one base family."""
        return tuple(sorted({rewrite.path for rewrite in self.forms.get(family, ())}))

    def rewrites(self, family: str, values: Mapping[str, Value]) -> tuple[Rewrite, ...]:
        """Return its rewrites with the values filled in."""
        result = []
        for rewrite in self.forms[family]:
            text = rewrite.text
            for name, parameter in self.parameters.items():
                text = text.replace(f"@{name}@", literal(values[name], whole=parameter.whole))
            result.append(Rewrite(rewrite.path, rewrite.anchor, text, rewrite.place, rewrite.support))
        return tuple(result)


def literal(value: Value, *, whole: bool = False) -> str:
    """Return the value as C++ writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if whole else repr(float(value))


def read_edit(data: Mapping[str, Any]) -> Edit:
    """Return an edit from its JSON.

    Raises:
        InputError: a field is missing or of the wrong kind.
    """
    wanted = '{"kind": "tunable" or "patch", "name": text, "parameters": {name: number or boolean}}'
    if (
        not isinstance(data, Mapping)
        or set(data) != {"kind", "name", "parameters"}
        or data["kind"] not in get_args(EditKind)
    ):
        raise InputError("this is no edit", wanted=wanted, got=repr(data)[:200])
    parameters = data["parameters"]
    if not isinstance(data["name"], str) or not isinstance(parameters, Mapping):
        raise InputError("this is no edit", wanted=wanted, got=repr(data)[:200])
    if not all(
        isinstance(name, str) and isinstance(value, int | float) for name, value in parameters.items()
    ):
        raise InputError(
            "an edit's parameters are numbers or booleans", wanted=wanted, got=repr(dict(parameters))[:200]
        )
    return Edit(data["kind"], data["name"], dict(parameters))


def read_edits(text: str) -> tuple[Edit, ...]:
    """Return edits from the text of `edits.json`.

    Raises:
        InputError: not a JSON list of edits.
    """
    try:
        data = parse_json(text, name=EDITS_FILE)
    except Unparsable as error:
        raise InputError(f"{EDITS_FILE} is not JSON", got=error.got) from None
    if not isinstance(data, list):
        raise InputError(f"{EDITS_FILE} must hold a list of edits", got=type(data).__name__)
    return tuple(read_edit(item) for item in data)


def write_edits(edits: Sequence[Edit]) -> str:
    """Return the text of `edits.json`: sorted by kind and name, so that equal sets give equal bytes."""
    return (
        json.dumps(
            [edit.to_json() for edit in sorted(edits, key=lambda edit: edit.key)], indent=1, sort_keys=True
        )
        + "\n"
    )


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
