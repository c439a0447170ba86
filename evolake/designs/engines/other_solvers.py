"""Solvers that a design is compared with, on the same formulas: probSAT (`probsat.c`, compiled once per
machine, run in the jail), MiniSat and CaDiCaL of python-sat (`cdcl_worker`). Every model that comes back is
checked. A flip takes less than the clock can tell, so probSAT's seconds are shared out by flips, as those of
a design are by steps; those of the others are measured for each formula.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evolake.designs.engines.engine import Simulation, order_ranks
from evolake.designs.model.instances import Planted, satisfied, to_dimacs
from evolake.errors import MachineryError
from evolake.jail import Limits
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.native import compile_program, compiler

SOURCE = Path(__file__).with_name("probsat.c")
WORKER = Path(__file__).with_name("cdcl_worker.py")
FLAGS = ("-O3", "-Wall")
CB = 2.15
"""probSAT's break parameter; see docs/designs-finding.md for how it was tuned."""
CDCL = {"MiniSat": "minisat22", "CaDiCaL": "cadical195"}
OTHERS = ("probSAT", *CDCL)


@dataclass(frozen=True)
class Solved:
    """What a solver came to on a batch, by formula.

    status: (B,) 1 solved with a checked model, -1 reported to be unsatisfiable, 0 neither. steps: (B,) steps,
    flips or conflicts. cpu_s: (B,) processor seconds. Both of unsolved ones are what was spent.
    """

    solver: str
    status: np.ndarray
    steps: np.ndarray
    cpu_s: np.ndarray

    @property
    def share(self) -> float:
        """Return the share of formulas that were solved."""
        return float((self.status == 1).mean())

    def median(self, values: np.ndarray) -> tuple[float, float, float]:
        """Return the median of `values` over formulas and its 95% interval; infinite if too few were
        solved."""
        known = np.sort(np.where(self.status == 1, values, np.inf))
        low, high = order_ranks(len(known))
        middle = known[[(len(known) - 1) // 2, len(known) // 2]].mean()
        return float(middle), float(known[low - 1]), float(known[high - 1])


def of_design(result: Simulation) -> Solved:
    """Return what a run without the stop rule of the median came to. A formula's seconds are its share of the
    steps that were computed."""
    taken = np.where(result.solved_at > 0, result.solved_at, result.steps_run)
    each = result.cpu_s / max(1, int(taken.sum()))
    return Solved("design", (result.solved_at > 0).astype(int), taken, taken * each)


def solve(solver: str, instances: Planted, *, seconds: float, seed: int = 0, cb: float = CB) -> Solved:
    """Solve a batch by one of OTHERS.

    seconds: processor seconds for a formula. cb: of probSAT.

    Raises:
        MachineryError: probSAT cannot be compiled, python-sat is missing, or a reply is none.
    """
    text = "".join(to_dimacs(instances, index).partition("\n")[2] for index in range(instances.batch))
    if solver == "probSAT":
        reply = _probsat(text, instances, seconds, seed, cb)
    else:
        run = subprocess.run(
            [sys.executable, "-P", str(WORKER), CDCL[solver], repr(seconds)],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise MachineryError(f"{solver} did not run", got=run.stderr[-300:], do="install python-sat")
        reply = run.stdout
    return _checked(solver, reply.splitlines(), instances)


def _probsat(text: str, instances: Planted, seconds: float, seed: int, cb: float) -> str:
    program = ready_program()
    most_s = 10 + 1.5 * seconds * instances.batch
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as file:
        file.write(text)
        file.flush()
        outcome = run_direct(
            DirectRun(
                [f"{{solver}}/{program.name}", "{work}/formulas", repr(cb), str(seed), repr(seconds)],
                program.parent,
                {"formulas": Path(file.name)},
            ),
            Limits(cpu_s=most_s, wall_s=20 * most_s, output_bytes=instances.batch * (instances.n + 100)),
        )
    if outcome.status != "ok" or outcome.exit_code:
        raise MachineryError("probSAT did not end well", got=outcome.reason or str(outcome.exit_code))
    return outcome.stdout.decode("ascii", "replace")


def _checked(solver: str, lines: Sequence[str], instances: Planted) -> Solved:
    """Return what the lines of a reply say, with every model checked. Raises MachineryError."""
    try:
        rows = [line.split() for line in lines]
        status = [{"1": 1, "SAT": 1, "UNSAT": -1}.get(row[0], 0) for row in rows]
        steps, cpu_s = ([float(row[place]) for row in rows] for place in (1, 2))
        if len(rows) != instances.batch:
            raise ValueError(f"{len(rows)} lines")
        for index, row in enumerate(rows):
            model = np.where(np.frombuffer(row[3].encode(), np.uint8) == ord("1"), 1, -1)
            if status[index] == 1 and not (len(model) == instances.n and satisfied(instances, index, model)):
                raise ValueError(f"a model of formula {index} that is none")
    except (IndexError, ValueError) as error:
        raise MachineryError(f"{solver} sent a reply that cannot be", got=str(error)) from None
    steps, cpu_s = np.array(steps), np.array(cpu_s)
    if solver == "probSAT":
        cpu_s = steps * cpu_s.sum() / max(1.0, steps.sum())
    return Solved(solver, np.array(status), steps, cpu_s)


def ready_program() -> Path:
    """Return the compiled probSAT, which is compiled if it is not there yet. Raises MachineryError."""
    source = SOURCE.read_bytes()
    name = hashlib.sha256(" ".join(FLAGS).encode() + source).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = cache / "evolake" / "solvers" / f"probsat-{name}"
    if not os.access(path, os.X_OK):
        command = compiler()
        if command is None:
            raise MachineryError(
                "probSAT is not compiled, and there is no C compiler", wanted="cc, gcc or clang on PATH"
            )
        argv = [command, *FLAGS, "-o", "./program", "probsat.c", "-lm"]
        try:
            compile_program(argv, {"probsat.c": source}, path)
        except OSError as error:
            raise MachineryError(f"probSAT cannot be kept in {path.parent}", got=str(error)) from error
    return path
