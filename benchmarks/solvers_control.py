"""Do the operators of the solvers line beat random option settings at equal solver seconds?

    python benchmarks/solvers_control.py [--state FILE] [--cycles 10] [--minutes 0] [--seed minisat22] [--suite quick]
        [--formulas 0] [--duel-suite quick-duel] [--duel-draws 3] [--timeout 0.25] [--entrants 4] [--pairs 2]
        [--draw 1] [--json]

Two searches from one seed solver, in turns on one machine. The operators' side plans by the line's planner,
`--entrants` plans a cycle and as many that wait, and runs the children on the
suite in a race against the best so far: who can no longer reach it is stopped, and the saved seconds go to
those that wait. The control moves one to three options of the seed at random and runs each setting on the
whole suite, until it has spent what the operators have spent. Seconds are processor time of solvers on the
suite; builds and the checks of proofs count for neither side. Neither side runs the gates; an answer without
a certificate counts as unsolved, and a refuted one blocks its variant.

At the end the best of each side by PAR-2 on the suite fight duels on formulas that neither has seen: the
operators' against the control's, and each against the seed. FILE has a line for each variant; the same
command continues from it, and a cycle that was killed is drawn again as it was. `--minutes` ends a slice. The
defaults take some ten minutes on two cores. For CaDiCaL:

    --seed cadical195 --suite strong --duel-suite strong-duel --timeout 3 --duel-draws 1

A variant of CaDiCaL that changes nothing but options is its seed's program with these options on the command
line. Both are the same search, and an option's default is in a header that all files include, so that each
would be a build of 50 seconds.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from bench import SHORT, fresh_file

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.journal import append, read_journal
from evolake.lake import BlobStore
from evolake.project import BROUGHT
from evolake.seeds import CycleSeeds, child_seed
from evolake.solvers.edits import Edit, apply_edits, read_edits, write_edits
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.catalogue import EDITS_FILE
from evolake.solvers.edits.draw import applicable, editable_tree, new_tunable
from evolake.solvers.evolution.coder_turn import CoderTurn
from evolake.solvers.evolution.drafts import ExistingVariants
from evolake.solvers.evolution.planning import Base, KnownVariant, SearchRecord, parent_pool, plan_variants
from evolake.solvers.evolution.proposing import propose_variants
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs, run_limits
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    run_duel,
)
from evolake.solvers.measurement.measuring import usable_cores
from evolake.solvers.measurement.metrics import PENALTY, compute_metrics
from evolake.solvers.measurement.race import costs_of, race
from evolake.solvers.proof import ProofLimits
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import BuildResult, build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, seed_named
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.roles.shown import ShownRules
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.suites.folders import named_suite, unseen_suite
from evolake.solvers.suites.fresh import FreshKey
from evolake.solvers.tables import DUELS, RUNS

OPERATORS, CONTROL, SEED = "operators", "control", "seed"
SEEDS = BROUGHT / "data_lake" / "seeds"
MEMORY_MB, PROOF_MB, PROOF_TIMEOUT_S = 1024, 128, 60.0
LIVE = 8
"""Variants that the operators may build on, the best by PAR-2, beside the seed."""
MOST_MOVED = 3
"""Options that a random setting moves at most."""


@dataclass(frozen=True)
class ControlSetup:
    """What is compared; the lines of a state are an answer to one question."""

    seed: str
    suite: str
    timeout_s: float
    entrants: int
    draw: int
    formulas: int = 0


@dataclass(frozen=True)
class MeasuredVariant:
    """A variant with its runs. cycle: of the operators; of the control how many settings came before.
    stopped: why it did not run the whole suite."""

    side: str
    cycle: int
    variant_id: str
    operator: str
    parents: list[str]
    edits: str
    blocked: str
    stopped: str
    runs: list[dict[str, Any]]

    @property
    def seconds(self) -> float:
        return sum(run["cpu_s"] for run in self.runs)

    @property
    def whole(self) -> bool:
        """Whether it ran the whole suite and no answer was refuted."""
        return not self.blocked and not self.stopped

    @property
    def par2(self) -> float:
        return sum(run["cpu_s"] if run["solved"] else PENALTY * run["timeout_s"] for run in self.runs) / max(
            1, len(self.runs)
        )


@dataclass(frozen=True)
class BuildOnly:
    """What the coder's turn is told of a variant: whether it builds."""

    variant_id: str
    build: BuildResult
    output: str = ""

    @property
    def blocked_by(self) -> BuildResult | None:
        return None if self.build.ok else self.build

    @property
    def feedback(self) -> str:
        return "" if self.build.ok else f"it does not build: {self.build.reason}"


class SearchContext:
    """The seed, the suite, and how variants are built and run."""

    def __init__(self, question: ControlSetup, work: Path, threads: ThreadPoolExecutor) -> None:
        self.question, self.work, self.threads = question, work, threads
        self.blobs, self.adapter = (
            BlobStore(work / "lake" / "blobs"),
            load_adapter(seed_named(question.seed).adapter),
        )
        folder = lay_out_seed(seed_named(question.seed), self.blobs, work, now=datetime.now(UTC))
        self.base = Base(question.seed, folder, self.adapter)
        self.seed_id = source_sha(folder)
        self.suite = named_suite(
            question.suite, self.blobs, work / "formulas", seeds=SEEDS, count=question.formulas
        )
        self.settings = SolversSettings(variants_per_cycle=2 * question.entrants, repair_attempts=0)
        (work / "runs").mkdir(exist_ok=True)
        self.plan = MeasuringPlan(
            run_limits(question.timeout_s, MEMORY_MB, PROOF_MB),
            proof_limits=ProofLimits(PROOF_TIMEOUT_S, proof_mb=PROOF_MB),
            scratch=work / "runs",
            verdicts=work / "verdicts",
        )

    @cached_property
    def files(self) -> dict[str, str]:
        return dict(source_files(self.base.folder))

    def folder(self, edits: Sequence[Edit]) -> Path:
        """Return the repository of the seed with these edits, made once."""
        target = self.work / "variants" / child_name(edits)
        if not edits:
            return self.base.folder
        if not target.exists():
            made = target.with_name(f".{target.name}")
            shutil.rmtree(made, ignore_errors=True)
            shutil.copytree(self.base.folder, made, symlinks=True)
            (made / EDITS_FILE).write_text(write_edits(edits))
            if bad := [item for item in apply_edits(made, self.adapter, edits) if not item.applied]:
                raise SystemExit(
                    f"an edit of the state does not apply any more: {bad[0].edit.described()}: "
                    f"{bad[0].detail}"
                )
            made.rename(target)
        return target

    def build(self, folder: Path) -> BuildResult:
        """Return a variant's build; the seed's for one that is run with options on its command line."""
        built = self.base.folder if options_of(folder, self.adapter.tunables) else folder
        return build_variant(built, self.adapter, self.blobs, seed=built == self.base.folder)

    def program(self, folder: Path) -> Program | None:
        built = self.build(folder)
        if not built.ok:
            return None
        program, options = (
            open_program(built, self.adapter, self.blobs, self.work / "programs"),
            options_of(folder, self.adapter.tunables),
        )
        return replace(
            program,
            argv=(*program.argv, *options),
            proof_argv=program.proof_argv and (*program.proof_argv, *options),
        )

    def run(
        self, programs: Mapping[str, Program], formulas: Sequence[Instance], cycle: str
    ) -> dict[str, list[dict[str, Any]]]:
        """Return rows of RUNS by variant."""
        jobs = plan_jobs(programs, replace(self.suite, instances=tuple(formulas)), self.plan, cycle=cycle)
        rows = run_jobs(jobs, self.threads).to_dicts()
        return {name: [row for row in rows if row["variant_id"] == name] for name in programs}

    def duel(
        self, champion: Sequence[Edit], challenger: Sequence[Edit], suite: Suite, pairs: int, cycle: str
    ) -> Decision:
        sides = []
        for edits, name in ((champion, "champion"), (challenger, "challenger")):
            program = self.program(self.folder(edits))
            assert program is not None, "it was measured, so that it builds"
            sides.append(Contender(name, program))
        rows = run_duel(DuelPlan(sides[0], sides[1], suite, cycle, pairs), self.plan, self.threads)
        return decide_duel(DUELS.frame(rows), decision_rng(self.question.draw, cycle, "challenger"))


def options_of(folder: Path, style: str) -> tuple[str, ...]:
    """Return the options by which the seed's program is the variant at `folder`; none for another style, for
    patches, and for the seed."""
    path = folder / EDITS_FILE
    edits = read_edits(path.read_text()) if style == "cadical-options" and path.is_file() else ()
    return (
        tuple(f"--{edit.name}={int(edit.parameters['value'])}" for edit in edits)
        if all(edit.kind == "tunable" for edit in edits)
        else ()
    )


def child_name(edits: Sequence[Edit]) -> str:
    """Return a folder's name for a list of edits."""
    return hashlib.sha256(write_edits(edits).encode()).hexdigest()[:24]


def refuted(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return why a variant is blocked; "" if no answer of it is refuted."""
    return next((f"wrong on {row['instance']}" for row in rows if row["status"] == "wrong"), "")


def operators_cycle(
    context: SearchContext, measured: Sequence[MeasuredVariant], cycle: int
) -> list[MeasuredVariant]:
    """Return the children of one cycle, each raced against the best so far."""
    name, seeds = f"{cycle:04d}", CycleSeeds(context.question.draw, "solvers", f"{cycle:04d}")
    own = [item for item in measured if item.side in (OPERATORS, SEED)]
    live = sorted((item for item in own if item.whole), key=lambda item: (item.par2, item.variant_id))
    live = [*live[:LIVE], *(item for item in live[LIVE:] if item.side == SEED)]
    titles = {
        item.variant_id: ", ".join(edit.described() for edit in read_edits(item.edits))
        or context.question.seed
        for item in live
    }
    known = [
        KnownVariant(
            item.variant_id,
            context.base.name,
            titles[item.variant_id][:60],
            item.operator,
            context.folder(read_edits(item.edits)),
            tuple(read_edits(item.edits)),
        )
        for item in live
    ]
    ranking = [
        {
            "variant_id": item.variant_id,
            "rank": place,
            "consensus": 0.0,
            "ucb": 1 - place / 100,
            "visits": 1.0,
        }
        for place, item in enumerate(live, 1)
    ]
    runs = RUNS.frame([run for item in live for run in item.runs])
    pool = parent_pool(
        known,
        {context.base.name: context.base},
        ranking=ranking,
        metrics=compute_metrics(runs).to_dicts(),
        settings=context.settings,
        cycle=name,
    )
    existing = ExistingVariants(
        {item.variant_id for item in own},
        {context.base.name: {write_edits(read_edits(item.edits)) for item in own}},
    )
    into = context.work / "drafts"
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    with Agents(OperatorsBackend(name), line="solvers", cycle=name) as agents:
        planned = plan_variants(
            agents, pool, SearchRecord(), ShownRules(), settings=context.settings, seeds=seeds
        )
        turn = CoderTurn(
            agents,
            lambda folder: BuildOnly(source_sha(folder), context.build(folder)),
            into,
            context.settings,
            seeds,
            workers=len(usable_cores()),
        )
        made = propose_variants(turn, planned.rows, pool, existing).variants
    programs = {
        item.variant_id: program
        for item in made
        if not item.blocked and (program := context.program(item.folder))
    }
    ran: dict[str, list[dict[str, Any]]] = {item.variant_id: [] for item in made}

    def measure(names: Sequence[str], batch: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
        result = context.run({key: programs[key] for key in names}, batch, name)
        for key, rows in result.items():
            ran[key] += rows
        return result

    entering = [item.variant_id for item in made if item.variant_id in programs]
    entrants, waiting = entering[: context.question.entrants], entering[context.question.entrants :]
    formulas = list(context.suite.instances)
    _, standings = race(
        entrants,
        formulas,
        measure,
        keep=max(1, len(entering)),
        first=max(1, len(formulas) // 3),
        champion=costs_of(live[0].runs),
        waiting=waiting,
    )
    stopped = {item.variant_id: item.stopped for item in standings if item.stopped}
    return [
        MeasuredVariant(
            OPERATORS,
            cycle,
            item.variant_id,
            item.operator,
            [parent for parent, _ in item.weights],
            write_edits(item.edits or ()),
            "it does not build" if item.blocked else refuted(ran[item.variant_id]),
            stopped.get(item.variant_id, ""),
            ran[item.variant_id],
        )
        for item in made
        if item.blocked or ran[item.variant_id]
    ]


def random_setting(context: SearchContext, number: int) -> MeasuredVariant:
    """Return one setting of the control: one to three options of the seed, each moved as the operators move
    one."""
    random = np.random.Generator(
        np.random.PCG64(child_seed(context.question.draw, "solvers", "control", "setting", number))
    )
    options = applicable(editable_tree(context.files, context.adapter)).options
    chosen = random.choice(len(options), size=int(random.integers(1, MOST_MOVED + 1)), replace=False)
    edits = tuple(new_tunable(options[int(place)], random) for place in chosen)
    folder = context.folder(edits)
    program, variant_id = context.program(folder), source_sha(folder)
    rows = (
        context.run({variant_id: program}, context.suite.instances, "control")[variant_id] if program else []
    )
    return MeasuredVariant(
        CONTROL,
        number,
        variant_id,
        "random",
        [],
        write_edits(edits),
        refuted(rows) if program else "it does not build",
        "",
        rows,
    )


def seed_itself(context: SearchContext) -> MeasuredVariant:
    """Return the seed with its runs."""
    program = context.program(context.base.folder)
    if program is None:
        raise SystemExit(f"{context.question.seed} does not build here")
    rows = context.run({context.seed_id: program}, context.suite.instances, "seed")[context.seed_id]
    return MeasuredVariant(SEED, 0, context.seed_id, "seed", [], write_edits(()), "", "", rows)


def unseen_formulas(context: SearchContext, name: str, draws: int) -> Suite:
    """Return the formulas of the last duels: the recipes of a suite, drawn so many times under a key that
    nobody knows."""
    drawn = [
        unseen_suite(
            name,
            context.blobs,
            context.work / "formulas",
            FreshKey(os.urandom(32), context.question.draw, f"control{number}"),
            seeds=SEEDS,
        )
        for number in range(draws)
    ]
    instances = tuple(item for suite in drawn for item in suite.instances)
    return replace(drawn[0], instances=instances[: 3 if SHORT else None])


def machine() -> str:
    """Return the processor, the cores that are used and the load."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    model = next(models, platform.machine())
    return f"{model}, {len(usable_cores())} cores, load {os.getloadavg()[0]:.1f}"


class ControlState:
    """What is done: a line for each variant, after a line of the question."""

    def __init__(self, path: Path, question: ControlSetup) -> None:
        self.path = path
        lines = read_journal(path)
        if lines and lines.get("question") != vars(question):
            raise click.UsageError(
                f"{path} answers another question, {lines.get('question')}: use its options, or name "
                "another file"
            )
        if not lines:
            append(path, "question", vars(question))
        steps = [items for key, items in lines.items() if key.split()[0] in ("seed", "cycle", "setting")]
        self.measured = [MeasuredVariant(**item) for items in steps for item in items]

    def add(self, key: str, items: Sequence[MeasuredVariant]) -> None:
        """Keep what one step gave; a step is kept as a whole or not at all."""
        append(self.path, key, [vars(item) for item in items])
        self.measured += items

    def duel(self, key: str, hold: Callable[[], Decision]) -> Decision:
        """Return a duel's decision, held once."""
        done = read_journal(self.path)
        if key not in done:
            decision = hold()
            append(self.path, key, vars(decision))
            return decision
        return Decision(**done[key])

    def of(self, side: str) -> list[MeasuredVariant]:
        return [item for item in self.measured if item.side == side]

    def seconds(self, side: str) -> float:
        return sum(item.seconds for item in self.of(side))

    def best(self, side: str) -> MeasuredVariant:
        """Return the best of a side by PAR-2 on the suite; the seed where none is better."""
        return min(
            (item for item in [*self.of(SEED), *self.of(side)] if item.whole), key=lambda item: item.par2
        )


def search(context: SearchContext, state: ControlState, cycles: int, end: float) -> bool:
    """Both searches in turns. Returns whether they came to their end before the time was over."""
    if not state.of(SEED):
        state.add("seed", [seed_itself(context)])
    done = max(
        (int(key.split()[1]) for key in read_journal(state.path) if key.startswith("cycle ")), default=0
    )
    for cycle in range(done, cycles + 1):
        if cycle > done:
            state.add(f"cycle {cycle}", operators_cycle(context, state.measured, cycle))
            progress(state, f"cycle {cycle}")
        while state.seconds(CONTROL) < state.seconds(OPERATORS):
            if time.monotonic() > end:
                return False
            number = len(state.of(CONTROL)) + 1
            state.add(f"setting {number}", [random_setting(context, number)])
        if time.monotonic() > end and cycle < cycles:
            return False
    return True


def progress(state: ControlState, what: str) -> None:
    best = {side: state.best(side).par2 for side in (OPERATORS, CONTROL)}
    click.echo(
        f"{what}: best PAR-2 {best[OPERATORS]:.4f} s of {len(state.of(OPERATORS))} variants by operators, "
        f"{best[CONTROL]:.4f} s of {len(state.of(CONTROL))} random settings, seed "
        f"{state.of(SEED)[0].par2:.4f} s",
        err=True,
    )


def summary(state: ControlState, duels: Mapping[str, Decision]) -> dict[str, Any]:
    """Return what both sides came to."""
    sides = {}
    for side in (OPERATORS, CONTROL):
        best, items = state.best(side), state.of(side)
        sides[side] = {
            "variants": len(items),
            "stopped": sum(bool(item.stopped) for item in items),
            "blocked": sum(bool(item.blocked) for item in items),
            "solver_s": round(state.seconds(side), 2),
            "best_par2": round(best.par2, 4),
            "made_by": best.operator,
            "edits": [edit.described() for edit in read_edits(best.edits)],
            "operators": dict(Counter(item.operator for item in items)),
        }
    verdicts = {
        name: {
            "verdict": item.verdict,
            "ratio": round(item.ratio, 3),
            "low": round(item.ratio_low, 3),
            "high": round(item.ratio_high, 3),
            "formulas": item.formulas,
            "solved": [item.solved_champion, item.solved_challenger],
            "reason": item.reason,
        }
        for name, item in duels.items()
    }
    return {"seed_par2": round(state.of(SEED)[0].par2, 4), "sides": sides, "duels": verdicts}


@click.command()
@click.option(
    "--state",
    "path",
    default=fresh_file("state.jsonl"),
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of results; the run continues from it. Default: a file that is removed at the end.",
)
@click.option(
    "--cycles",
    default=1 if SHORT else 10,
    show_default=True,
    help="Cycles of the operators.",
    type=click.IntRange(1),
)
@click.option(
    "--minutes",
    default=0.0,
    help="Stop after so many minutes and go on with the next call; 0: run to the end.",
    type=click.FloatRange(0),
)
@click.option("--seed", default="minisat22", show_default=True, help="Seed solver.")
@click.option("--suite", default="quick", show_default=True, help="Formulas that both sides are bred on.")
@click.option(
    "--formulas",
    default=2 if SHORT else 0,
    show_default=True,
    help="Only the first so many of the suite; 0: all.",
    type=click.IntRange(0),
)
@click.option(
    "--duel-suite",
    default="quick-duel",
    show_default=True,
    help="Suite whose recipes the last duels draw anew.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default=0.25,
    show_default=True,
    help="Seconds of processor time of a run.",
    type=click.FloatRange(0.01),
)
@click.option(
    "--entrants",
    default=1 if SHORT else 4,
    show_default=True,
    help="Children that enter the race of a cycle; as many wait.",
    type=click.IntRange(1),
)
@click.option(
    "--duel-draws",
    default=1 if SHORT else 3,
    show_default=True,
    help="How often the last duels draw each recipe.",
    type=click.IntRange(1),
)
@click.option(
    "--pairs",
    default=1 if SHORT else 2,
    show_default=True,
    help="Pairs of each duel on each instance.",
    type=click.IntRange(1),
)
@click.option("--draw", default=1, show_default=True, help="Seed of all draws.")
@click.option("--json", "as_json", is_flag=True)
def main(
    path: Path,
    cycles: int,
    minutes: float,
    seed: str,
    suite: str,
    formulas: int,
    duel_suite: str,
    timeout_s: float,
    entrants: int,
    duel_draws: int,
    pairs: int,
    draw: int,
    as_json: bool,
) -> None:
    """Search in turns, hold the duels and print what both sides came to."""
    where, end = machine(), time.monotonic() + 60 * minutes if minutes else float("inf")
    question = ControlSetup(seed, suite, timeout_s, entrants, draw, formulas)
    state, work = ControlState(path, question), path.resolve().with_suffix(".work")
    (work / "variants").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max(1, len(usable_cores()))) as threads:
        context = SearchContext(question, work, threads)
        if not search(context, state, cycles, end):
            click.echo(f"not at the end yet: the same command goes on from {path}", err=True)
            raise SystemExit(3)
        fresh = unseen_formulas(context, duel_suite, duel_draws)
        best = {side: state.best(side) for side in (SEED, OPERATORS, CONTROL)}
        duels = {}
        for number, (challenger, champion) in enumerate(
            ((OPERATORS, CONTROL), (OPERATORS, SEED), (CONTROL, SEED)), start=1
        ):
            edits = [read_edits(best[side].edits) for side in (champion, challenger)]
            key = (
                f"duel {duel_suite} {duel_draws} {pairs} {best[challenger].variant_id} "
                f"{best[champion].variant_id}"
            )
            duels[f"{challenger} against {champion}"] = state.duel(
                key, partial(context.duel, *edits, fresh, pairs, f"{number:04d}")
            )
    result = {
        "machine": where,
        **vars(question),
        "duel_suite": duel_suite,
        "duel_draws": duel_draws,
        "pairs": pairs,
        **summary(state, duels),
    }
    if as_json:
        print(json.dumps(result))
        return
    print(f"{where}; {seed} on {suite}, {timeout_s:g} s; the seed's PAR-2 is {result['seed_par2']:.4f} s")
    for side, row in result["sides"].items():
        print(
            f"{side}: best PAR-2 {row['best_par2']:.4f} s ({', '.join(row['edits']) or 'the seed'}; made "
            f"by {row['made_by']}) of {row['variants']} variants in {row['solver_s']:g} solver seconds; "
            f"{row['stopped']} stopped, {row['blocked']} blocked; {row['operators']}"
        )
    for name, row in result["duels"].items():
        print(
            f"{name}, {row['formulas']} unseen formulas: {row['verdict']}, ratio {row['ratio']:.3f} "
            f"({row['low']:.3f} to {row['high']:.3f}); solved {row['solved'][1]:g} against "
            f"{row['solved'][0]:g}; {row['reason']}"
        )


if __name__ == "__main__":
    main()
