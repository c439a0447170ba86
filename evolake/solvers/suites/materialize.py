"""From a spec to files: each formula is generated once, checked against the lock and kept as a blob; solvers
get read-only copies named by content.

A formula's file name says nothing about it, so that no solver can decide by name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.solvers.formula.cnf import Formula, read_dimacs, shuffled, write_dimacs
from evolake.solvers.suites.generators import generate, pcg
from evolake.solvers.suites.spec import Archive, Instance, Recipe, Spec, Suite, load_spec

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
