"""Gate 1, build: what the built program is, beside that of its base. A base is built when its seed is judged, and found again here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_variant
from evolake.solvers.rules.elf import program_facts

PROGRAM, BASE_PROGRAM, FLAGS, BASE_FLAGS = "program", "base_program", "flags", "base_flags"


def program_evidence(build: BuildResult, base: Path, adapter: Adapter, blobs: BlobStore) -> dict[str, Any]:
    """`program` and `base_program` as `elf.program_facts` gives them, `flags` and `base_flags`: compilers' command lines and other programs that ran.
    None, all of them, where nothing was built.

    Raises:
        MachineryError: the base's own sources cannot be built here.
    """
    if build.program is None:
        return {PROGRAM: None, BASE_PROGRAM: None, FLAGS: None, BASE_FLAGS: None}
    of_base = build_variant(base, adapter, blobs)
    if of_base.program is None:
        raise MachineryError("the base of a variant cannot be built here", got=of_base.reason, do="see evolake doctor")
    return {
        PROGRAM: program_facts(blobs.get(build.program)), BASE_PROGRAM: program_facts(blobs.get(of_base.program)),
        FLAGS: [*build.flags, *build.executed], BASE_FLAGS: [*of_base.flags, *of_base.executed],
    }
