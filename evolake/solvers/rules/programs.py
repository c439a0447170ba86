"""Checkers of the built program next to that of its base: what it asks of the system, and how much it holds.

They read `evidence["program"]` and `evidence["base_program"]`, both as `elf.program_facts` gives them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.gates import Finding, checker
from evolake.solvers.rules.build_files import BUILD_FILES, DECLARED, build_differs

Row = Mapping[str, Any]


@checker("solvers.program_asks")
def program_asks(
    evidence: Row, *, allowed: Sequence[str], refused: Sequence[str], sections: str
) -> Finding | None:
    """Check that a program asks the system for nothing that its base does not ask for.

    allowed: regular expressions of names that any program may take from the C and C++ libraries; refused: of
    those among them that it may not. sections: of the sections that a compiler makes. Names that the base has
    are free.
    """
    ours, theirs = evidence["program"], evidence["base_program"]
    if ours is None:
        return None  # nothing was built, and the rule of the build says so
    if ours["problem"]:
        return Finding(f"the built program is not as a compiler makes it: {ours['problem']}")
    fine, bad, made = re.compile("|".join(allowed)), re.compile("|".join(refused)), re.compile(sections)
    new = [
        name
        for name in ours["imports"]
        if name not in theirs["imports"] and (not fine.fullmatch(name) or bad.fullmatch(name))
    ]
    if new:
        return Finding(f"the built program takes from the system what its base does not: {_listed(new)}")
    if more := sorted(set(ours["libraries"]) - set(theirs["libraries"])):
        return Finding(f"the built program is linked with {_listed(more)}")
    if odd := [
        name for name in ours["sections"] if name not in theirs["sections"] and not made.fullmatch(name)
    ]:
        return Finding(f"the built program has sections of its own: {_listed(odd)}")
    for name, said in (
        ("writes_code", "may execute what it writes"),
        ("loads_more", "tells the loader to look elsewhere"),
    ):
        if ours[name] and not theirs[name]:
            return Finding(f"the built program {said}")
    if theirs["libraries"] and not ours["libraries"]:
        return Finding(
            "the built program is linked statically, so that what it takes from the system cannot be seen"
        )
    return None


@checker("solvers.program_size")
def program_size(evidence: Row, *, most_code: int, most_data: int) -> Finding | None:
    """Check that a program holds at most so many bytes of code and of data more than that of its base."""
    ours, theirs = evidence["program"], evidence["base_program"]
    if ours is None:
        return None
    for name, limit, what in (("executable_bytes", most_code, "code"), ("data_bytes", most_data, "data")):
        if ours[name] - theirs[name] > limit:
            return Finding(
                f"the built program holds {ours[name] - theirs[name]} bytes of {what} more than its base; "
                f"at most {limit} are taken"
            )
    return None


@checker("solvers.same_flags")
def same_flags(evidence: Row) -> Finding | None:
    """Check that a variant is built by the programs and with the flags that build its base, as the kernel
    reported them; so are any two variants of one base. One that changed a build file may differ by the
    folders of headers and by warnings, and by the optimisation level that its CHANGELOG.md states."""
    ours, theirs = evidence["flags"], evidence["base_flags"]
    if ours is None or ours == theirs:
        return None
    if evidence.get(BUILD_FILES):
        said = build_differs(ours, theirs, evidence.get(DECLARED, ""))
        return Finding(said) if said else None
    more, less = (sorted(set(a) - set(b)) for a, b in ((ours, theirs), (theirs, ours)))
    said = f"runs {more[0]!r}" if more else f"does not run {less[0]!r}"
    return Finding(f"its build is not that of its base: it {said[:200]}")


@checker("solvers.changes_something")
def changes_something(evidence: Row) -> Finding | None:
    """Check that what is loaded of a program is not that of its seed, nor that of a variant that lives:
    nothing that is measured of it could differ."""
    if not (same := evidence["same_program"]):
        return None
    whose = same if same == "its seed" else f"the variant {same}"
    return Finding(f"changes nothing: the compiler makes the same program of it as of {whose}, byte for byte")


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:5]) + (f", and {len(items) - 5} more" if len(items) > 5 else "")
