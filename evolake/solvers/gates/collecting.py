"""What each gate looks at, of a variant that is in a folder or in the lake: one function per gate. Gate 0,
compliance, sees layout, documents, and what the sources add to those of the base; nothing is run or built for
it. Gate 1, build, sees what the built program is, next to that of its base, which is built when its seed is
judged, and found again here.

The base is the seed's repository as the pipeline lays it out, our own patches to it included, so that every
variant of a seed is judged against the same sources, however many generations it is away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.reading import parse_json, read_text, reason
from evolake.solvers.execute import Program
from evolake.solvers.gates.evidence import build_evidence, gate_evidence
from evolake.solvers.gates.runs import GateContext, filling_fault, runs_of
from evolake.solvers.measurement.measuring import COMPLAINT, Rows
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.build import BuildResult, build_by, build_variant, open_program
from evolake.solvers.repository.unified_diff import matches
from evolake.solvers.repository.variant import (
    CARD,
    DOCUMENTS,
    EDITS,
    check_layout,
    read_card,
    source_sha,
    sources_of,
)
from evolake.solvers.rules import additions, read_tree
from evolake.solvers.rules.programs import BUILD_FILES, DECLARED, declared_level, loaded_sha, program_facts

NOT_SOURCES = (*DOCUMENTS, EDITS, CARD, ".git")
LARGEST_EDITS = 1 << 20


def compliance_evidence(
    folder: Path,
    base: Path,
    base_name: str,
    *,
    adapter: Adapter | None = None,
    parent_edits: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> dict[str, Any]:
    """Return what the rules of the compliance gate judge, as JSON.

    Args:
        folder: the variant's repository without build products, as an archive of it holds. base, base_name:
            that of its seed.
        adapter: the seed's; None: the one that the base's variant.toml names.
        parent_edits: the edits of each parent, for rules that keep what a parent carries.

    Raises:
        InputError: the base is not there. The variant's own faults are evidence, never an exception.
    """
    if not base.is_dir():
        raise InputError(
            "there is no base to compare the variant with",
            wanted=f"a seed's repository at {base}",
            do="fetch the seeds first",
        )
    adapter = adapter or load_adapter(read_card(base)["adapter"])
    edits, problems = read_edits(folder)
    if (folder / CARD).is_file() and (folder / CARD).read_bytes() != (base / CARD).read_bytes():
        problems.append(f"{CARD} is not that of the base")
    opened = [name for name in sources_of(folder) if matches(name, adapter.build_files)]
    source = additions(read_tree(folder, NOT_SOURCES), read_tree(base, NOT_SOURCES))
    return {
        "layout": [*check_layout(folder, adapter), *problems],
        "documents": {name: _characters(folder / name) for name in DOCUMENTS},
        "source": source.to_json(),
        "edits": edits,
        "parent_edits": [[dict(edit) for edit in edits] for edits in parent_edits],
        "base": base_name,
        **({BUILD_FILES: opened} if opened else {}),
    }


def read_edits(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the edits of a variant that operators made (none if there is no such file), and what is wrong
    with the file."""
    path = folder / EDITS
    if path.is_symlink() or not path.is_file():
        return [], [f"{EDITS} is no regular file"] if path.is_symlink() or path.exists() else []
    try:
        edits = parse_json(read_text(path, LARGEST_EDITS), name=EDITS)
        if not isinstance(edits, list) or not all(
            isinstance(edit, dict) and isinstance(edit.get("name"), str) for edit in edits
        ):
            raise ValueError("is no list of edits with names")
    except ValueError as error:
        return [], [f"{EDITS} cannot be read: {reason(error)}"]
    return edits, []


def _characters(path: Path) -> int | None:
    """Return the number of characters, white space not counted; None if there is no such file. A link does
    not count."""
    if path.is_symlink() or not path.is_file():
        return None
    return len("".join(path.read_bytes()[:LARGEST_EDITS].decode("utf-8", "replace").split()))


SAME_PROGRAM = "same_program"
PROGRAM, BASE_PROGRAM, FLAGS, BASE_FLAGS = "program", "base_program", "flags", "base_flags"


def program_evidence(
    build: BuildResult, base: Path, adapter: Adapter, blobs: BlobStore, folder: Path | None = None
) -> dict[str, Any]:
    """Return `program` and `base_program` as `program_facts` gives them, `flags` and `base_flags`:
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


@dataclass
class Subject:
    """A variant on its way through the gates: what they collect from, and what they leave for those after
    them.

    folder, base: its repository and its seed's. base_name: the seed's name. parent_edits: the edits of each
    parent. context: formulas and limits. opened: opens its built solver; None: of the build that its gate
    made.
    built: what came of that. runs: gate -> rows of RUNS that it made. complaints: instance -> the end of what
    its run wrote that did not end well.
    """

    variant_id: str
    cycle: str
    folder: Callable[[], Path]
    base: Path
    base_name: str
    adapter: Adapter
    parent_edits: Sequence[Sequence[Mapping[str, Any]]]
    context: Callable[[], GateContext]
    opened: Callable[[], Program] | None = None
    built: BuildResult | None = None
    runs: dict[str, Rows] = field(default_factory=dict)
    complaints: dict[str, str] = field(default_factory=dict)

    @cached_property
    def program(self) -> Program:
        """Its built solver."""
        if self.opened is not None:
            return self.opened()
        assert self.built is not None, "what runs comes after the build"
        context = self.context()
        return open_program(self.built, self.adapter, context.blobs, context.cache)


def compliance(subject: Subject) -> dict[str, Any]:
    """Return its layout, and its sources next to those of its seed."""
    return compliance_evidence(
        subject.folder(),
        subject.base,
        subject.base_name,
        parent_edits=subject.parent_edits,
        adapter=subject.adapter,
    )


def build(subject: Subject) -> dict[str, Any]:
    """Return what came of its build, and the program next to its seed's."""
    context = subject.context()
    of_seed = source_sha(subject.folder()) == source_sha(subject.base)
    subject.built = build_by(context.executor, subject.folder(), subject.adapter, context.blobs, seed=of_seed)
    asked = subject.built, subject.folder(), subject.base, subject.adapter, context.blobs
    others = {code: name for code, name in context.programs().items() if name != subject.variant_id}
    return (
        build_evidence(subject.built)
        | program_evidence(subject.built, subject.base, subject.adapter, context.blobs, subject.folder())
        | same_program(*asked, others)
    )


def smoke(subject: Subject) -> dict[str, Any]:
    """Return its runs on small formulas and their copies."""
    return _runs("smoke", subject)


def correctness(subject: Subject) -> dict[str, Any]:
    """Return its runs with every model and proof checked."""
    return _runs("correctness", subject)


def stability(subject: Subject) -> dict[str, Any]:
    """Return its runs on growing formulas and on secret copies, next to those of its seed; `unfilled`: why it
    has no filling build."""
    filling, fault = filling_fault(subject.folder(), subject.base, subject.adapter, subject.context())
    return _runs("stability", subject, filling) | ({"unfilled": fault} if fault else {})


def _runs(gate: str, subject: Subject, filling: Program | None = None) -> dict[str, Any]:
    context = subject.context()
    rows = runs_of(
        gate, subject.program, context, variant_id=subject.variant_id, cycle=subject.cycle, filling=filling
    )
    subject.complaints |= {row["instance"]: said for row in rows if (said := row.pop(COMPLAINT, ""))}
    subject.runs[gate] = rows
    return gate_evidence(gate, subject.runs[gate], context)
