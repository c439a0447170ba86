"""Which lines of a lake rules can be tried on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evolake.errors import InputError
from evolake.gates.rules import load_rules
from evolake.lines import lines

if TYPE_CHECKING:
    from evolake.lake import Lake


def ruled_lines(lake: Lake, rules: Path, line: str | None = None) -> list[str]:
    """Return the lines that have rules, a place in the lake and rule files in `rules/<line>/`; with `line`,
    that one.

    Raises:
        InputError: there is none, or `line` is none of them; or a rule file that cannot be used.
    """
    known = [name for name, spec in lines().items() if spec.gates]
    if line is not None and line not in known:
        raise InputError(f"no line {line!r} has rules", wanted=f"one of {', '.join(known)}", got=repr(line))
    if not rules.is_dir():
        raise InputError(
            f"there is no folder {rules}",
            wanted="a folder laid out as data_lake/seeds/rules: one folder of rule files per line",
        )
    begun = set(lake.seals.lines())
    if line is not None and line not in begun:
        raise InputError(
            f"the lake {lake.root} holds nothing of the line {line!r}",
            wanted="a line that has begun",
            do=f"evolake run --lines {line}",
        )
    result = (
        [line] if line else [name for name in known if name in begun and any((rules / name).glob("*.md"))]
    )
    if not result:
        what = f"no line of the lake {lake.root} has rule files in {rules}"
        raise InputError(
            what,
            wanted=f"a folder of {', '.join(known)} with rule files, and a line that has begun",
            do="evolake status",
        )
    for name in result:
        load_rules(rules, name)
    return result
