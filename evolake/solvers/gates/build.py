"""Gate 1, build: what the built program is, next to that of its base. A base is built when its seed is
judged, and found again here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_variant
from evolake.solvers.repository.unified_diff_paths import matches
from evolake.solvers.repository.variant import sources_of
from evolake.solvers.rules.build_files import BUILD_FILES, DECLARED, declared_level
from evolake.solvers.rules.elf import loaded_sha, program_facts

SAME_PROGRAM = "same_program"
PROGRAM, BASE_PROGRAM, FLAGS, BASE_FLAGS = "program", "base_program", "flags", "base_flags"


def program_evidence(
    build: BuildResult, base: Path, adapter: Adapter, blobs: BlobStore, folder: Path | None = None
) -> dict[str, Any]:
    """Return `program` and `base_program` as `elf.program_facts` gives them, `flags` and `base_flags`:
    compilers' command lines and other programs that ran. None, all of them, if nothing was built. Of a
    variant whose build files are not its base's, also which, and the level that it states.

    folder: the variant's.

    Raises:
        MachineryError: the base's own sources cannot be built here.
    """
    if build.program is None:
        return {PROGRAM: None, BASE_PROGRAM: None, FLAGS: None, BASE_FLAGS: None}
    of_base = build_variant(base, adapter, blobs, seed=True)
    if of_base.program is None:
        raise MachineryError(
            "the base of a variant cannot be built here", got=of_base.reason, do="see evolake doctor"
        )
    return {
        PROGRAM: program_facts(blobs.get(build.program)),
        BASE_PROGRAM: program_facts(blobs.get(of_base.program)),
        FLAGS: [*build.flags, *build.executed],
        BASE_FLAGS: [*of_base.flags, *of_base.executed],
        **_changed(folder, base, adapter),
    }


def same_program(
    build: BuildResult, folder: Path, base: Path, adapter: Adapter, blobs: BlobStore, known: Mapping[str, str]
) -> dict[str, str]:
    """Return whose program a variant's is, byte for byte of what is loaded: `same_program`, an id of `known`
    or "its seed"; "" if it is its own.

    A variant with its seed's very sources is its seed. known: `loaded_sha` of a program -> id of the variant
    that has it.
    """
    code = loaded_sha(blobs.get(build.program)) if build.program else ""
    if not code or _sources(folder) == _sources(base):
        return {SAME_PROGRAM: ""}
    of_base = build_variant(base, adapter, blobs, seed=True)
    if of_base.program is not None and loaded_sha(blobs.get(of_base.program)) == code:
        return {SAME_PROGRAM: "its seed"}
    return {SAME_PROGRAM: known.get(code, "")}


def _sources(folder: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in sources_of(folder).items()}


def _changed(folder: Path | None, base: Path, adapter: Adapter) -> dict[str, Any]:
    """Return the build files of a variant that are not its base's, and the optimisation level that it states;
    nothing if there are none."""
    if folder is None or not adapter.build_files:
        return {}
    trees = (
        {name: path for name, path in sources_of(tree).items() if matches(name, adapter.build_files)}
        for tree in (folder, base)
    )
    ours, theirs = ({name: path.read_bytes() for name, path in tree.items()} for tree in trees)
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return {BUILD_FILES: changed, DECLARED: declared_level(folder / "CHANGELOG.md")} if changed else {}
