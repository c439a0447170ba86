"""A tuned setting as a variant of the solvers line: the options that it moves become defaults in the
sources of the solver's seed, and the tree enters the next cycle as any other submission. What evolves from it
starts where the options end.

A setting that the solver names (`--sat`) moves several options. CaDiCaL prints all that differ from
their defaults, by which they are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.jail.direct import DirectRun, run_direct
from evolake.lake import Lake
from evolake.scratch import Scratch
from evolake.settings import Settings
from evolake.solvers.edits import Edit, apply_edits
from evolake.solvers.edits.anchors import tunables
from evolake.solvers.edits.catalogue import Value
from evolake.solvers.evolution.authors import submit
from evolake.solvers.evolution.planning import LINE
from evolake.solvers.evolution.population import LIVE
from evolake.solvers.execute import Program
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import read_card
from evolake.solvers.tables import VARIANTS
from evolake.solvers.tuning.command_line import HELP_LIMITS
from evolake.solvers.tuning.page import interval
from evolake.solvers.tuning.tuning import Tuned, open_solver

EASY = b"p cnf 2 2\n1 2 0\n-1 2 0\n"
_DIFFERS = re.compile(r"^c\s+--(?P<name>\w+)=(?P<value>\S+)\s+\(different from default", re.MULTILINE)


def seed_in(lake: Lake, solver: str) -> dict[str, Any]:
    """Return the row of the seed that a tuned setting changes, of those that entered the newest cycle.

    Raises:
        InputError: the line has not begun, or has no such seed.
    """
    cycles = lake.seals.cycles(LINE)
    rows = lake.read(LINE, f"incoming_{VARIANTS.name}", max(cycles)).to_dicts() if cycles else []
    seeds = {row["base"]: row for row in rows if row["operator"] == "seed" and row["state"] in LIVE}
    if solver not in seeds:
        raise InputError(
            f"no seed {solver} lives in this lake's solvers line",
            wanted="a solver that variants descend from",
            got=", ".join(seeds) or "a line that has not begun",
            do=f"EVOLAKE_SOLVERS__SEEDS='[\"{solver}\"]' evolake run --lines solvers begins one",
        )
    return seeds[solver]


def submit_setting(lake: Lake, settings: Settings, result: Tuned) -> dict[str, Any]:
    """Keep the setting that a tuning chose as a submission to the next cycle; return its row of SUBMISSIONS.

    Raises:
        InputError: see `seed_in`; or an option of the setting is none of the sources.
        ValueError: the tuning chose none.
    """
    if result.race is None or result.decision is None:
        raise ValueError(f"the tuning of {result.solver} chose no setting")
    row, adapters = seed_in(lake, result.solver), settings.seeds / "solvers" / "adapters"
    moved = dict(result.race.setting.values)
    if result.race.setting.preset:
        _, program = open_solver(result.solver, None, lake.blobs, lake.root / "cache" / "solvers")
        moved = named_values(program, result.words) | moved
    with Scratch("tuned") as place:
        tree = Path(place) / "tree"
        lake.blobs.get_tree(row["archive_sha"], tree)
        adapter = load_adapter(read_card(tree)["adapter"], adapters)
        kinds = {item.name: item.kind for item in tunables(tree, adapter)}
        edits = [
            Edit("tunable", name, {"value": _as(kinds.get(name), value)}) for name, value in moved.items()
        ]
        lost = [
            item for item in apply_edits(tree, adapter, edits) if item.status not in ("applied", "no-change")
        ]
        if lost:
            raise InputError(
                f"the setting {' '.join(result.words)} cannot be moved into the sources of {result.solver}",
                wanted="options whose defaults are in the sources",
                got="; ".join(f"{item.edit.name}: {item.detail}" for item in lost),
                do="use the options on the command line",
            )
        hypothesis = (
            f"Options {' '.join(result.words)} as defaults: {result.decision.ratio:.3g} times lower cost "
            f"({interval(result.decision)}) on {result.decision.formulas} unseen formulas of the user's kind."
        )
        return submit(lake, tree, row["variant_id"], hypothesis, adapters=adapters)


def named_values(program: Program, words: Sequence[str]) -> dict[str, Value]:
    """Return option -> value of all that a solver takes otherwise than by default when it is called with
    these words. It is asked, in the jail.

    Raises:
        InputError: it does not print them.
    """
    with Scratch("asked") as place:
        formula = Path(place) / "easy.cnf"
        formula.write_bytes(EASY)
        argv = [f"{{solver}}/{program.argv[0]}", *words, f"{{work}}/{formula.name}"]
        run = DirectRun(argv, program.folder, {formula.name: formula}, {}, program.environment, program.tools)
        text = run_direct(run, HELP_LIMITS).stdout.decode("utf-8", "replace")
    found = {match["name"]: _value(match["value"]) for match in _DIFFERS.finditer(text)}
    if not found:
        raise InputError(
            f"{program.argv[0]} does not print which options {words[0]} moves",
            wanted="lines `c --OPTION=VALUE (different from default ...)`",
            do="use the setting on the command line",
        )
    return found


def _value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    return float(text)


def _as(kind: str | None, value: Value) -> Value:
    """Return the value as the sources have it: CaDiCaL prints 0 and 1 of what it calls true and false."""
    if kind == "bool":
        return bool(value)
    return int(value) if kind == "int" else value
