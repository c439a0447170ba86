"""How hard the formulas of a suite are for one solver: the table next to a spec whose formulas are too hard
to be confirmed by several.

    python -m evolake.solvers.measurement.hardness hard-train hard-holdout [--solver cadical195] [--timeout 60] [--proof-timeout 60] [--lock]

One formula at a time; a row is written as it is known, and formulas whose bytes have a row are not run again.
Conflicts and propagations do not depend on the machine, the cpu seconds do. A model is checked, a proof where
the checker ends in time; what is known neither so nor from how the formula is made is "unchecked", and its
status in the lock unknown.
"""  # noqa: E501

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import BlobStore, Lake
from evolake.reading.formula import read_dimacs
from evolake.scratch import Scratch
from evolake.settings import load
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import run_limits
from evolake.solvers.measurement.measuring import Job, measure
from evolake.solvers.proof import ProofLimits
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, seed_named
from evolake.solvers.rules.outcomes import NO_PROOF, fault_of
from evolake.solvers.suites.fresh import status_by_construction
from evolake.solvers.suites.spec import FOLDER, Instance, Recipe, Spec, build, load_spec, recipes_of
from evolake.terminal import exit_code_of, say

COLUMNS = (
    "suite",
    "name",
    "family",
    "sha256",
    "variables",
    "clauses",
    "status",
    "known_by",
    "cpu_s",
    "conflicts",
    "decisions",
    "propagations",
    "restarts",
    "peak_mb",
    "proof_bytes",
    "proof_cpu_s",
    "solver",
)
"""`known_by` says what a status rests on: model (checked), proof (verified), construction, unchecked (one
solver's word), or unsolved."""
MEMORY_MB, PROOF_MB = 4096, 4096


def table_path(suite: str, seeds: Path) -> Path:
    """Return the table of a suite: next to its spec."""
    return seeds / FOLDER / f"{suite}.measured.csv"


def read_table(path: Path) -> dict[str, dict[str, str]]:
    """Return formula's name -> row of COLUMNS as text; none if there is no file. Raises InputError for a file
    of other columns."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(
                f"{path} is not a table of this kind",
                wanted=", ".join(COLUMNS),
                do="remove it to measure again",
            )
        return {row["name"]: row for row in reader}


@dataclass(frozen=True)
class MeasuringSolver:
    """The solver that formulas are measured by, and its limits.

    check: whether proofs are checked; a later run with proofs runs the formulas of which nothing else is
    known again.
    """

    name: str
    program: Program
    timeout_s: float
    proof: ProofLimits
    check: bool = True


def measure_spec(
    spec: Spec, solver: MeasuringSolver, path: Path, blobs: BlobStore
) -> dict[str, dict[str, str]]:
    """Return rows of COLUMNS of all formulas of the spec, in its order, written to `path` as they come.

    Raises:
        InputError: the solver gives an answer that is refuted, or other than the one by which the formula was
            made.
    """
    rows = read_table(path)
    for recipe in recipes_of(spec):
        data = build(recipe)
        known = rows.get(recipe.name)
        same = known is not None and known["sha256"] == hashlib.sha256(data).hexdigest()
        if (
            known
            and same
            and not (solver.check and known["known_by"] == "unchecked" and not known["proof_cpu_s"])
        ):
            continue
        rows[recipe.name] = _measured(recipe, data, solver, blobs, spec.name)
        _write(path, rows.values())
        say(
            " ".join(
                str(rows[recipe.name][name])
                for name in ("name", "status", "known_by", "cpu_s", "conflicts", "proof_cpu_s")
            ),
            err=True,
        )
    ordered = {recipe.name: rows[recipe.name] for recipe in recipes_of(spec)}
    _write(path, ordered.values())
    return ordered


def lock_measured(spec: Spec, rows: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """Return what the spec's lock holds by the rows of its table. Raises InputError where a formula has no
    row."""
    if missing := [recipe.name for recipe in recipes_of(spec) if recipe.name not in rows]:
        raise InputError(
            f"{missing[0]} of the suite {spec.name!r} is not measured",
            do="run this command without --lock first",
        )
    return {
        recipe.name: {
            "sha256": rows[recipe.name]["sha256"],
            "status": locked_status(rows[recipe.name]),
            "confirmed_by": [rows[recipe.name]["solver"], rows[recipe.name]["known_by"]],
        }
        for recipe in recipes_of(spec)
    }


def locked_status(row: Mapping[str, str]) -> str:
    """Return the status that a row warrants."""
    return row["status"] if row["known_by"] in ("model", "proof", "construction") else "unknown"


def _measured(
    recipe: Recipe, data: bytes, solver: MeasuringSolver, blobs: BlobStore, suite: str
) -> dict[str, str]:
    made = status_by_construction(recipe.generator or "", recipe.parameters)
    formula, sha = read_dimacs(data), blobs.put(data)
    with Scratch("hardness") as folder:
        path = Path(folder) / "formula.cnf"
        path.write_bytes(data)
        item = Instance(recipe.name, recipe.family, made, sha, path, recipe.seed, base=recipe.name)
        job = Job(
            solver.name,
            solver.program,
            item,
            suite,
            "hardness",
            run_limits(solver.timeout_s, MEMORY_MB, PROOF_MB),
            proof_share=1.0 if solver.check else 0.0,
            proof_limits=replace(solver.proof, proof_mb=PROOF_MB),
            measured=False,
        )
        run = measure(job)
    if run["status"] == "wrong" or run["proof_status"] in NO_PROOF:
        raise InputError(
            f"{solver.name} gives {recipe.name} an answer that "
            f"{fault_of(run['status'], run['proof_status'])}",
            got=run["problems"],
        )
    status = run["answer"] or made
    if made != "unknown" and status != made:
        raise InputError(f"{solver.name} says {status} of {recipe.name}", wanted=f"{made}, as it is made so")
    if not run["answer"]:
        otherwise = "unsolved"
    elif made != "unknown":
        otherwise = "construction"
    else:
        otherwise = "unchecked"
    known_by = run["certificate"] or otherwise
    values = {
        "suite": suite,
        "name": recipe.name,
        "family": recipe.family,
        "sha256": sha,
        "variables": formula.variables,
        "clauses": formula.clauses,
        "status": status,
        "known_by": known_by,
        "solver": solver.name,
        "cpu_s": f"{run['cpu_s']:.2f}",
        "peak_mb": f"{run['peak_mb']:.0f}",
        "proof_cpu_s": "" if run["proof_cpu_s"] is None else f"{run['proof_cpu_s']:.1f}",
        **{name: run[name] for name in ("conflicts", "decisions", "propagations", "restarts", "proof_bytes")},
    }
    return {name: "" if values[name] is None else str(values[name]) for name in COLUMNS}


def _write(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    beside = path.with_name(f".{path.name}-new")
    with beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row[name] for name in COLUMNS] for row in rows)
    beside.replace(path)


def main() -> int:
    """Measure the suites that the command line names; return the exit code. What is wrong is said without a
    traceback."""
    return exit_code_of(_measure)


def _measure() -> None:
    parser = argparse.ArgumentParser(prog="python -m evolake.solvers.measurement.hardness")
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--seeds", type=Path, default=Path("data_lake/seeds"))
    parser.add_argument("--solver", default="cadical195")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--proof-timeout", type=float, default=60.0)
    parser.add_argument("--no-proofs", action="store_true")
    parser.add_argument("--lock", action="store_true")
    given = parser.parse_args()
    specs = [load_spec(name, given.seeds) for name in given.suites]
    lake = Lake(load().require_lake())
    seed, adapter = seed_named(given.solver), load_adapter(given.solver)
    cache = lake.root / "cache" / "solvers"
    built = build_variant(
        lay_out_seed(seed, lake.blobs, cache, now=datetime.now(UTC)), adapter, lake.blobs, seed=True
    )
    if not built.ok:
        raise InputError(f"{given.solver} does not build", got=built.reason, do="see evolake doctor")
    solver = MeasuringSolver(
        given.solver,
        open_program(built, adapter, lake.blobs, cache),
        given.timeout,
        ProofLimits(given.proof_timeout),
        not given.no_proofs,
    )
    for spec in specs:
        path = table_path(spec.name, given.seeds)
        rows = measure_spec(spec, solver, path, lake.blobs)
        if given.lock:
            text = json.dumps({"suite": spec.name, "formulas": lock_measured(spec, rows)}, indent=1) + "\n"
            (given.seeds / FOLDER / f"{spec.name}.lock.json").write_text(text, encoding="utf-8")
            say(f"{spec.name}: {len(rows)} formulas locked")


if __name__ == "__main__":
    sys.exit(main())
