"""A suite is a spec, not a pile of files: generators with parameters, read from `<seeds>/suites/<name>.toml`,
pinned by `<name>.lock.json`.

    [suite]
    name = "train"
    description = "what it is for"

    [[instances]]                      # one formula, and `shuffles` equivalent copies of it under other names
    name = "r3-220-1"
    family = "random-3"
    generator = "rksat"                # see `generators`
    parameters = {n = 220, m = 937, k = 3, seed = 220001}
    status = "UNSAT"
    shuffles = 0
    duel_shuffles = 1                  # in how many shuffled copies a duel runs the formula that it draws in
                                       place of this one

    [[archives]]                       # every *.cnf in a folder of a seed's source tree
    seed = "cadical195"
    folder = "test/cnf"
    family = "cadical-test"
    skip = ["prime4294967297"]         # files to leave out, without .cnf

Order matters: the first n formulas of a suite are a suite too (`Suite.first`), so the specs put a balanced
quick selection on top.

The lock holds, for each formula, its sha256, its status and which solvers confirmed it
(`evolake.solvers.suites.confirm` writes it). Each formula is generated once, checked against the lock and
kept as a blob; one that the lock does not know, or whose bytes differ, is never benchmarked. Solvers get
read-only copies named by content, so that none can decide by name.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unparsable, Unreadable, parse_json, parse_toml, read_text, reason
from evolake.reading.formula import Formula, read_dimacs, shuffled, write_dimacs
from evolake.seeds import child_seed
from evolake.solvers.suites.generators import generate, pcg

Status = Literal["SAT", "UNSAT", "unknown"]
FOLDER = "suites"
STATUSES = ("SAT", "UNSAT", "unknown")


@dataclass(frozen=True)
class Instance:
    """One formula of a suite.

    base: name of the formula that it is a shuffle of, its own name for shuffle 0. seed: of the generator, or
    of the shuffle. sha: sha256 of the file, its name in the blob store. path: the file itself, None until it
    is materialized.
    """

    name: str
    family: str
    status: Status
    sha: str
    path: Path | None = None
    seed: int = 0
    shuffle: int = 0
    base: str = ""


@dataclass(frozen=True)
class Suite:
    """Formulas with known (or unknown) answers, in the spec's order. remarks: what was repaired and left out
    in a user's folder."""

    name: str
    instances: tuple[Instance, ...]
    remarks: tuple[str, ...] = ()

    @property
    def sha(self) -> str:
        """sha256 over the names, statuses and contents: two suites of one sha ask the same."""
        text = json.dumps([[item.name, item.family, item.status, item.sha] for item in self.instances])
        return hashlib.sha256(text.encode()).hexdigest()

    def first(self, count: int) -> Suite:
        """Return the first `count` formulas; 0 means all."""
        return replace(self, instances=self.instances[:count]) if count else self


@dataclass(frozen=True)
class Recipe:
    """How one formula comes to be.

    generator None: the file `source` of the archive `seed_name`. duel_shuffles: shuffled copies in which a
    duel runs its formula, at least 1.
    """

    name: str
    family: str
    status: Status
    generator: str | None
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)
    seed: int = 0
    shuffle: int = 0
    base: str = ""
    seed_name: str = ""
    source: str = ""
    duel_shuffles: int = 1


@dataclass(frozen=True)
class Archive:
    """A folder of formulas inside a seed's source tree."""

    seed: str
    folder: str
    family: str
    skip: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A suite's spec. locked: formula name -> {"sha256", "status", "confirmed_by"}."""

    name: str
    description: str
    recipes: tuple[Recipe, ...]
    archives: tuple[Archive, ...]
    locked: dict[str, dict[str, Any]] = field(hash=False)


def suite_names(seeds: Path) -> list[str]:
    """Return names of the suites whose specs are below `seeds`."""
    return sorted(path.stem for path in (seeds / FOLDER).glob("*.toml"))


def load_spec(name: str, seeds: Path) -> Spec:
    """Return the spec of a suite with its lock. Raises InputError if there is none, or where it cannot be
    used."""
    path = seeds / FOLDER / f"{name}.toml"
    if name not in suite_names(seeds):
        known = ", ".join(suite_names(seeds)) or "none"
        raise InputError(
            f"there is no suite {name!r}",
            wanted=f"one of {known}, or a folder of .cnf files",
            do=f"write {path}",
        )
    try:
        data = parse_toml(read_text(path), name=str(path))
        recipes = tuple(recipe for entry in data.get("instances", []) for recipe in _recipes(entry))
        archives = tuple(
            Archive(**(entry | {"skip": tuple(entry.get("skip", ()))})) for entry in data.get("archives", [])
        )
        description = str(data["suite"]["description"])
    except (Unparsable, Unreadable) as error:
        raise InputError(
            f"the suite's spec {path} cannot be used", got=reason(error), do="fix the file"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the suite's spec {path} cannot be used",
            got=f"{type(error).__name__}: {error}",
            do="fix the file",
        ) from None
    names = [recipe.name for recipe in recipes]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"the suite's spec {path} has a name twice",
            wanted="a name for each formula",
            got=", ".join(twice),
        )
    lock = path.with_suffix(".lock.json")
    locked = parse_json(read_text(lock, DATA_BYTES), name=str(lock))["formulas"] if lock.is_file() else {}
    return Spec(name, description, recipes, archives, locked)


def original_name(instance: str, shuffle: int) -> str:
    """Return the name of the formula that an instance of a suite is a copy of: copy number k of `name` is
    `name~k`. A name alone makes no copy."""
    return instance.removesuffix(f"~{shuffle}") if shuffle else instance


def _recipes(entry: dict[str, Any]) -> list[Recipe]:
    if entry["status"] not in STATUSES:
        raise InputError(f"{entry['name']}: {entry['status']!r} is no status", wanted=", ".join(STATUSES))
    name, parameters = entry["name"], dict(entry["parameters"])
    asked = entry.get("duel_shuffles", 1)
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        what = f"{name}: duel_shuffles cannot be used"
        raise InputError(
            what, wanted="a whole number of at least 1", got=repr(asked), do="correct the suite's spec"
        )
    first = Recipe(
        name,
        entry["family"],
        entry["status"],
        entry["generator"],
        parameters,
        int(parameters.get("seed", 0)),
        0,
        name,
        duel_shuffles=asked,
    )
    copies = [
        replace(
            first,
            name=f"{name}~{number}",
            shuffle=number,
            seed=child_seed(0, "solvers", "", f"shuffle {name}", number),
        )
        for number in range(1, int(entry.get("shuffles", 0)) + 1)
    ]
    return [first, *copies]


Trees = Callable[[str], Path]
"""Name of a seed -> the folder of its unpacked sources."""


def materialize_suite(
    name: str, blobs: BlobStore, cache: Path, *, seeds: Path, trees: Trees | None = None, count: int = 0
) -> Suite:
    """Return the suite with every formula in the blob store and as a file in `cache`.

    Args:
        seeds: folder that holds `suites/`. trees: where a suite takes formulas from a seed's sources and a
            blob is not there yet, the way to that seed's unpacked tree. count: only the first so many
            formulas, 0 for all.

    Raises:
        InputError: no such suite, or one that its lock does not fit. MachineryError: a generator gave other
            bytes than the lock says.
    """
    spec = load_spec(name, seeds)
    instances = []
    for recipe in recipes_of(spec)[: count or None]:
        pin = spec.locked.get(recipe.name)
        if pin is None:
            raise InputError(
                f"the lock of suite {name!r} does not know {recipe.name!r}",
                wanted="a sha256 and two solvers that agree on its status",
                do=f"python -m evolake.solvers.suites.confirm {name}",
            )
        if recipe.status != "unknown" and recipe.status != pin["status"]:
            what = f"{recipe.name}: the spec of suite {name!r} says {recipe.status}"
            raise InputError(what, got=f"{pin['status']} in its lock", do="fix the spec")
        sha = str(pin["sha256"])
        if not blobs.has(sha):
            _generate(recipe, sha, blobs, trees)
        instances.append(
            Instance(
                recipe.name,
                recipe.family,
                pin["status"],
                sha,
                None,
                recipe.seed,
                recipe.shuffle,
                recipe.base or recipe.name,
            )
        )
    return with_files(Suite(name, tuple(instances)), blobs, cache)


def with_files(suite: Suite, blobs: BlobStore, cache: Path) -> Suite:
    """Return `suite` with the path of a read-only file for each formula, laid out in `cache` from the blobs
    where it is not there yet."""
    cache.mkdir(parents=True, exist_ok=True)
    return replace(
        suite, instances=tuple(replace(item, path=_file(item.sha, blobs, cache)) for item in suite.instances)
    )


def recipes_of(spec: Spec) -> list[Recipe]:
    """Return all formulas of a spec: those that are generated, then those from archives as the lock lists
    them."""
    return [*spec.recipes, *(recipe for archive in spec.archives for recipe in _of_archive(archive, spec))]


def archive_name(archive: Archive, stem: str) -> str:
    """Return a suite's name for the file `stem`.cnf of an archive."""
    return f"{archive.family}/{stem}"


def build(recipe: Recipe, trees: Trees | None = None) -> bytes:
    """Return the bytes of one formula, as its recipe asks. Raises InputError where it needs a seed's sources
    and there is no way to them."""
    if recipe.generator is None:
        if trees is None:
            what = f"{recipe.name} comes with the sources of {recipe.seed_name}"
            raise InputError(what, wanted="those sources", do="fetch the seeds first")
        return (trees(recipe.seed_name) / recipe.source).read_bytes()
    made = generate(recipe.generator, recipe.parameters)
    if recipe.shuffle:
        made = shuffled(made if isinstance(made, Formula) else read_dimacs(made), pcg(recipe.seed))
    return write_dimacs(made) if isinstance(made, Formula) else made


def _generate(recipe: Recipe, sha: str, blobs: BlobStore, trees: Trees | None) -> None:
    got = blobs.put(build(recipe, trees))
    if got != sha:
        raise MachineryError(
            f"the formula {recipe.name!r} has other bytes than its lock says",
            wanted=f"sha256 {sha}",
            got=f"sha256 {got}",
            do="install the versions of constraints.txt, or confirm the suite again",
        )


def _of_archive(archive: Archive, spec: Spec) -> list[Recipe]:
    names = sorted(name for name in spec.locked if name.startswith(archive_name(archive, "")))
    stems = [name.removeprefix(archive_name(archive, "")) for name in names]
    return [
        Recipe(
            name,
            archive.family,
            spec.locked[name]["status"],
            None,
            base=name,
            seed_name=archive.seed,
            source=f"{archive.folder}/{stem}.cnf",
        )
        for name, stem in zip(names, stems, strict=True)
    ]


def _file(sha: str, blobs: BlobStore, cache: Path) -> Path:
    target = cache / f"{sha}.cnf"
    if not target.exists():
        beside = cache / f".{sha}-{secrets.token_hex(8)}"
        beside.write_bytes(blobs.get(sha))
        beside.chmod(0o444)
        beside.replace(target)
    return target
