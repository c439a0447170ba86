"""Standings, results by family, sources and code as compact text of a prompt: one line an item, and nothing
that was not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.solvers.roles.models import Excerpt, FamilyResult, SourceFile, SourceTree, Standing, Tried

_COLUMNS: Mapping[str, str] = {
    "rank": "rank",
    "consensus": "consensus",
    "visits": "visits",
    "solved": "solved",
    "instances": "of",
    "solved_sat": "SAT solved",
    "instances_sat": "SAT of",
    "solved_unsat": "UNSAT solved",
    "instances_unsat": "UNSAT of",
    "best_of_all": "fastest on",
    "additionally_solved": "beyond seeds",
    "wrong": "wrong",
    "vbs_mismatch": "contradicted",
    "unproved": "unproved",
    "failed": "failed runs",
    "checked_share": "proofs checked",
    "memory_mb": "mean MiB",
    "memory_max_mb": "most MiB",
    "par2": "PAR-2 s",
    "par2_sat": "PAR-2 SAT s",
    "par2_unsat": "PAR-2 UNSAT s",
}
"""Field of a Standing -> head of its column."""
LONGEST_CHANGE = 200


def stated(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, each empty one as `none`."""
    return {name: text or "none" for name, text in texts.items()}


def standings_text(standings: Sequence[Standing], champion: str = "") -> str:
    """Return a line for each variant. Columns in which nothing was measured, or everything is zero, are left
    out.

    Args:
        champion: short id of the champion, which is marked; "" for none.
    """
    fields = [name for name in _COLUMNS if any(getattr(item, name) for item in standings)]
    found = {share for item in standings for share, count in item.solved_within.items() if count}
    shares = sorted(found, key=lambda share: (len(share), share))
    head = [
        "id",
        "title",
        "base",
        "made by",
        *(_COLUMNS[name] for name in fields),
        *(f"within {share}" for share in shares),
    ]
    rows = [
        [
            item.variant_id + (" (champion)" if item.variant_id == champion else ""),
            _cell(item.title),
            item.base,
            item.operator,
            *(_figure(getattr(item, name)) for name in fields),
            *(_figure(item.solved_within.get(share)) for share in shares),
        ]
        for item in standings
    ]
    changes = [f"{item.variant_id} changes: {text}" for item in standings if (text := _changes(item))]
    return "\n".join([*(" | ".join(row) for row in [head, *rows]), *changes])


def families_text(families: Sequence[FamilyResult]) -> str:
    """Return, for each family of formulas, what each variant solves of it and what its runs took."""
    lines = []
    for family in families:
        lines.append(f"{family.family} ({family.instances}):")
        for variant, solved in family.solved.items():
            parts = [f"solved {solved:g}"]
            parts += [f"{family.conflicts[variant]:.3g} conflicts"] if variant in family.conflicts else []
            parts += [f"{family.cpu_s[variant]:.3g} s"] if variant in family.cpu_s else []
            parts += [f"PAR-2 {family.seconds[variant]:.3g} s"] if variant in family.seconds else []
            parts += (
                [f"{family.checked[variant]:.0%} of proofs checked"]
                if family.checked.get(variant, 1) < 1
                else []
            )
            lines.append(f"  {variant}: {', '.join(parts)}")
    return "\n".join(lines)


def sources_text(trees: Sequence[SourceTree]) -> str:
    """Return the files of each tree with their functions, one line a file."""
    return "\n".join(
        line for tree in trees for line in (f"{tree.variant_id} ({tree.base})", *_file_lines(tree.files))
    )


def outline_text(files: Sequence[SourceFile]) -> str:
    """Return one line a file: path, number of lines, functions with their first lines."""
    return "\n".join(_file_lines(files))


def code_text(excerpts: Sequence[Excerpt]) -> str:
    """Return excerpts as they are, each below a line that names its file and first line."""
    return "\n".join(f"=== {item.path} from line {item.first_line}\n{item.text}" for item in excerpts)


def first_excerpts(excerpts: Sequence[Excerpt], most: int) -> list[Excerpt]:
    """Return the first excerpts that come to at most `most` characters together, each as a whole; one that
    does not fit is passed over."""
    kept: list[Excerpt] = []
    for item in excerpts:
        if sum(len(other.text) for other in kept) + len(item.text) <= most:
            kept.append(item)
    return kept


def diffs_text(tried: Sequence[Tried]) -> str:
    """Return each attempt in a line, and its diff below; what has no diff says why."""
    parts = []
    for item in tried:
        named = (
            f"{item.variant_id or 'no variant'} ({item.title or item.hypothesis[:80]}), child of "
            f"{item.parent_id}: {item.outcome}"
        )
        if item.gate:
            why = f" at {item.gate}: {item.reason}"
        elif item.reason:
            why = f": {item.reason}"
        else:
            why = ""
        places = f"\nchanged {'; '.join(item.places)}" if item.places else ""
        parts.append(f"{named}{why}{places}\n{item.diff}".rstrip())
    return "\n\n".join(parts)


def change_values(request: Any) -> dict[str, Any]:
    """Return what every coder is sent of a change, as prompt values. request: a CodeRequest or a request of a
    session."""
    lent = (
        f"of another code base, {request.second_base}: carry its idea over, not its text\n"
        if request.second_base
        else ""
    )
    second = f"{lent}{request.second_parent_diff}"
    plain = ("goal", "hypothesis", "instructions", "base", "rules", "knowledge", "conditions", "note")
    return {name: getattr(request, name) for name in plain} | stated(
        {
            "parent": standings_text([request.parent], request.champion),
            "parent_diff": request.parent_diff,
            "second_parent": second,
            "contests": "\n".join(request.contests),
            "families": families_text(request.families),
            "tried": diffs_text(request.tried),
        }
    )


def _file_lines(files: Sequence[SourceFile]) -> list[str]:
    """Return a line for each file with functions to name; the others of a folder in one line, with their
    numbers of lines."""
    lines, plain = list[str](), dict[str, list[str]]()
    for item in files:
        if functions := _functions_of(item):
            lines.append(f"  {item.path} ({item.lines} lines) {' '.join(functions)}")
        else:
            folder, _, name = item.path.rpartition("/")
            plain.setdefault(folder, []).append(f"{name} {item.lines}")
    return [*lines, *(f"  {folder}/: {', '.join(names)}" for folder, names in plain.items())]


def _functions_of(item: SourceFile) -> list[str]:
    """Return the functions of a source file, without the class that it is named for; of a header none: it is
    shown whole to the role that names it."""
    stem, _, kind = item.path.rpartition("/")[2].rpartition(".")
    return [] if kind.startswith("h") else [name.removeprefix(f"{stem}::") for name in item.functions]


def _changes(item: Standing) -> str:
    return "; ".join(item.edits) or _cell(item.changed[:LONGEST_CHANGE])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _figure(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
