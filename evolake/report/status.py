"""Say from the seals which lines a lake holds, which of their cycles are finished, and which lines rules can
be tried on."""

from __future__ import annotations

from pathlib import Path

from evolake.errors import InputError
from evolake.gates.rules import load_rules
from evolake.lake import Lake, preceding
from evolake.lines import lines


def lines_in_lake(root: Path) -> list[str]:
    """Return lines that have at least one seal, by name."""
    return Lake(root).seals.lines()


def known_line(root: Path, line: str) -> str:
    """Return `line`, where the lake holds it.

    Raises:
        InputError: it does not; lists what there is.
    """
    lines = lines_in_lake(root)
    if line not in lines:
        raise InputError(
            f"no line {line!r} in the lake {root}",
            wanted=f"one of {', '.join(lines) or '(none yet)'}",
            do="run `evolake status`",
        )
    return line


def finished(root: Path, line: str, cycle: str) -> Lake:
    """Return the lake of a finished cycle.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    known_line(root, line)
    lake = Lake(root)
    done = sealed_cycles(lake, line)
    if cycle not in done:
        raise InputError(
            f"cycle {cycle!r} of {line} is not finished",
            wanted=f"one of {', '.join(done) or '(none yet)'}",
            do="run `evolake status`",
        )
    return lake


def sealed_cycles(lake: Lake, line: str) -> list[str]:
    """Return cycles that are done: those whose successor's population is sealed on an unbroken chain."""
    return finished_cycles(lake.seals.cycles(line), lake.seals.whole_up_to(line))


def finished_cycles(cycles: list[str], whole: int) -> list[str]:
    """Return the cycles before those that are sealed, up to where the chain is unbroken."""
    return [preceding(cycle) or "" for cycle in cycles[1:] if int(cycle) <= whole]


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
