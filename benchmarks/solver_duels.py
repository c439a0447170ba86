"""Can a duel of solvers tell? Identical builds must not differ, and a build at -O1 must lose to one at -O3 of
the same source.

    python benchmarks/solver_duels.py [--duels 20] [--suite quick-duel] [--timeout 0.25] [--pairs 2] [--seed minisat22] [--json]

The defaults are those of the profile `demo`. Everything is what a cycle uses: the build, the jail, the
formulas that a duel draws anew under a secret, interleaved pairs on one core, checked proofs, and the
decision. Each duel has its own formulas. The first row is A/A: the same program under two names. The second
is -O3 as the challenger of -O1: they search alike, so that only the speed of the program differs. Goals for
20 duels: at most one "better" in A/A, at least 18 for -O3 against
-O1; for other numbers of duels the same shares. Exit code 1 if a goal is missed.

Some five minutes on two quiet cores. On a busy machine the noise is larger; the printed noise floor says how
large.
"""  # noqa: E501

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from evolake.lake import BlobStore
from evolake.project import BROUGHT
from evolake.solvers.measurement.benchmark import MeasuringPlan, run_limits
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    run_duel,
)
from evolake.solvers.process.cpu_affinity import usable_cores
from evolake.solvers.process.execute import Program
from evolake.solvers.proof import ProofLimits
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.seeds.seeding import lay_out_seed, seed_named
from evolake.solvers.suites.fresh import FreshKey
from evolake.solvers.suites.opening import unseen_suite
from evolake.solvers.tables import DUELS

SEEDS = BROUGHT / "data_lake" / "seeds"
MEMORY_MB, PROOF_MB, PROOF_TIMEOUT_S = 1024, 128, 60.0
MOST_FALSE, LEAST_TRUE = 0.05, 0.90
"""Goals as shares of the duels: "better" among identical builds, and for -O3 against -O1."""
FAST, SLOW = "-O3", "-O1"


def build(folder: Path, name: str, blobs: BlobStore, work: Path, *, seed: bool) -> Program:
    """Build a repository as a cycle does."""
    adapter = load_adapter(seed_named(name).adapter)
    result = build_variant(folder, adapter, blobs, seed=seed)
    if not result.ok:
        raise SystemExit(f"{name} does not build: {result.reason}")
    return open_program(result, adapter, blobs, work / "programs")


def slowed(folder: Path, target: Path) -> Path:
    """Copy a repository with -O1 in place of -O3 in its build files."""
    shutil.copytree(folder, target)
    changed = 0
    for path in target.rglob("*"):
        if path.is_file() and path.name in ("Makefile", "template.mk", "makefile", "CMakeLists.txt"):
            text = path.read_text(encoding="latin-1")
            changed += text.count(FAST)
            path.write_text(text.replace(FAST, SLOW), encoding="latin-1")
    if not changed:
        raise SystemExit(f"no build file of {folder.name} says {FAST}: choose another --seed")
    return target


def fight(
    champion: Program,
    challenger: Program,
    number: int,
    *,
    suite: str,
    timeout_s: float,
    pairs: int,
    blobs: BlobStore,
    work: Path,
    threads: ThreadPoolExecutor,
) -> Decision:
    """Hold one duel on formulas of its own."""
    cycle = f"{number:04d}"
    formulas = unseen_suite(
        suite, blobs, work / "formulas", FreshKey(os.urandom(32), number, cycle), seeds=SEEDS
    )
    plan = MeasuringPlan(
        run_limits(timeout_s, MEMORY_MB, PROOF_MB),
        proof_limits=ProofLimits(PROOF_TIMEOUT_S, proof_mb=PROOF_MB),
        scratch=work / "runs",
        verdicts=work / "verdicts",
    )
    rows = run_duel(
        DuelPlan(
            Contender("champion", champion), Contender("challenger", challenger), formulas, cycle, pairs
        ),
        plan,
        threads,
    )
    return decide_duel(DUELS.frame(rows), decision_rng(number, cycle, "challenger"))


def summary(what: str, results: list[Decision], seconds: float) -> dict[str, Any]:
    """Return one row of the table."""
    verdicts = Counter(
        result.verdict if result.verdict != "better" or result.wins else "undecided" for result in results
    )
    return {
        "challenger against champion": what,
        "duels": len(results),
        **{name: verdicts[name] for name in ("better", "worse", "undecided")},
        "median_ratio": round(statistics.median(result.ratio for result in results), 3),
        "largest_ratio": round(max(result.ratio for result in results), 3),
        "smallest_ratio": round(min(result.ratio for result in results), 3),
        "noise_floor": round(statistics.median(result.noise_floor for result in results), 3),
        "unsolved": round(
            sum(
                2 * result.instances - result.solved_champion - result.solved_challenger for result in results
            ),
            2,
        ),
        "left_out": sum(result.left_out for result in results),
        "formulas": min(result.formulas for result in results),
        "instances": min(result.instances for result in results),
        "seconds": round(seconds, 1),
    }


def machine() -> str:
    """Return the processor, the cores that are used and the load."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
    return f"{model}, {len(usable_cores())} cores, load {os.getloadavg()[0]:.1f}"


@click.command()
@click.option("--duels", default=20, show_default=True, help="Duels of each kind.", type=click.IntRange(1))
@click.option("--suite", default="quick-duel", show_default=True, help="Suite whose recipes are drawn anew.")
@click.option(
    "--timeout",
    "timeout_s",
    default=0.25,
    show_default=True,
    help="Seconds of processor time of a run.",
    type=click.FloatRange(0.01),
)
@click.option("--pairs", default=2, show_default=True, help="Pairs on each instance.", type=click.IntRange(1))
@click.option("--seed", default="minisat22", show_default=True, help="Seed solver whose source is built.")
@click.option("--json", "as_json", is_flag=True)
def main(duels: int, suite: str, timeout_s: float, pairs: int, seed: str, as_json: bool) -> None:
    """Print both rates, the time and the machine."""
    where = machine()
    with tempfile.TemporaryDirectory(prefix="evolake-duels-") as parent:
        work = Path(parent)
        (work / "runs").mkdir()
        blobs = BlobStore(work / "lake" / "blobs")
        folder = lay_out_seed(seed_named(seed), blobs, work, now=datetime.now(UTC))
        fast = build(folder, seed, blobs, work, seed=True)
        slow = build(slowed(folder, work / "slow"), seed, blobs, work, seed=False)
        rows = []
        with ThreadPoolExecutor(max(1, len(usable_cores()))) as threads:
            for what, champion, first in (
                (f"{FAST} against itself", fast, 1),
                (f"{FAST} against {SLOW}", slow, duels + 1),
            ):
                began = time.monotonic()
                results = [
                    fight(
                        champion,
                        fast,
                        number,
                        suite=suite,
                        timeout_s=timeout_s,
                        pairs=pairs,
                        blobs=blobs,
                        work=work,
                        threads=threads,
                    )
                    for number in range(first, first + duels)
                ]
                rows.append(summary(what, results, time.monotonic() - began))
    most, least = max(1, math.floor(MOST_FALSE * duels)), math.ceil(LEAST_TRUE * duels)
    met = rows[0]["better"] <= most and rows[1]["better"] >= least
    if as_json:
        print(
            json.dumps(
                {
                    "machine": where,
                    "suite": suite,
                    "timeout_s": timeout_s,
                    "pairs": pairs,
                    "rows": rows,
                    "goals_met": met,
                }
            )
        )
    else:
        print(
            f"{where}; suite {suite}, {timeout_s:g} s, {pairs} pairs on each of {rows[0]['instances']} "
            f"instances of {rows[0]['formulas']} formulas"
        )
        for row in rows:
            print(
                f"{row['challenger against champion']}: {row['better']} of {row['duels']} better, "
                f"{row['worse']} worse, {row['undecided']} undecided; ratio {row['smallest_ratio']} to "
                f"{row['largest_ratio']}, median {row['median_ratio']}; noise floor {row['noise_floor']}; "
                f"{row['unsolved']:g} instances unsolved, {row['left_out']} pairs left out; "
                f"{row['seconds']:g} s"
            )
        print(
            f"goals {'met' if met else 'missed'}: at most {most} better among identical builds, at least "
            f"{least} of {duels} for {FAST}"
        )
    if not met:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
