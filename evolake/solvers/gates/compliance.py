"""Gate 0, compliance: the evidence that its rules judge. Layout, documents, and what the sources add to those
of the base.

Nothing is run and nothing is built. The base is the seed's repository as the pipeline lays it out, our own
patches to it included, so that every variant of a seed is judged against the same sources, however many
generations it is away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import parse_json, read_text, reason
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.unified_diff_paths import matches
from evolake.solvers.repository.variant import CARD, DOCUMENTS, EDITS, check_layout, read_card, sources_of
from evolake.solvers.rules import additions, read_tree
from evolake.solvers.rules.build_files import BUILD_FILES

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
