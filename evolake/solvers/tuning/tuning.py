"""Which options make a solver faster on formulas like these? What `evolake solvers tune` does.

The formulas are split by their content: one half is raced on (`search`), the other half decides, in one duel
of the best setting against the default (`measurement.duel`), which no setting has seen. Formulas of a suite
with a spec are all raced on, and the duel's are drawn from the same recipes after the choice. A setting that
is not ahead on the first part fights no duel.

Everything that was run is in a journal below the lake's cache, so that the same command continues after a
kill, and prints the same result for nothing when it is done.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from evolake.compute.local import LocalExecutor
from evolake.contest import power_sentence
from evolake.errors import InputError
from evolake.lake import BlobStore, Lake, disk
from evolake.reading.formula import read_cnf_file
from evolake.settings import Settings, load
from evolake.solvers.edits.catalogue import family_of
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringOptions
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    families_of,
    run_duel,
    shortest_s,
)
from evolake.solvers.measurement.repositories import SuiteChoice, open_folder
from evolake.solvers.repository.adapters import known_adapters, load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, load_seeds, seed_named, seed_trees
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.folders import is_folder, named_suite, unseen_suite
from evolake.solvers.suites.fresh import FreshKey
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import DUELS
from evolake.solvers.tuning.command_line import CommandLine, Setting, command_line
from evolake.solvers.tuning.kinds import kinds_sentence, shape_of
from evolake.solvers.tuning.search import CYCLE, DEFAULT, Field, Search, Tried

LEAST_HALF = 6
"""Formulas of either half: fewer decide no duel."""
LEAST_RACE = 2.0
"""A race of fewer times what the default takes on all formulas tries next to nothing."""
FINALS = 7.0
"""Times what the default takes on all formulas that the end of the race costs at most, roughly: copies for
the default and three finalists, and the best without one option after another."""
SECRET_BYTES = 32
SayLine = Callable[[str], None]


@dataclass(frozen=True)
class TuneOptions:
    """minutes: of all cores that are used, for runs of solvers. unseen: share of a folder's formulas that
    decide. control: also try random settings without a race, for as long as the race took. draw: number that
    the race's random choices are drawn from."""

    minutes: float = 30.0
    unseen: float = 0.5
    control: bool = False
    draw: int = 1


@dataclass(frozen=True)
class Tuned:
    """What came of it.

    solver: name. words: the winner's options; none if no setting was ahead in the race. race: how it did
    there. decision: of the duel against the default on unseen formulas; None if there was none. control: the
    best of random settings, and `against_control` the winner's duel with it. preset: the best setting that
    the solver names, by the race. default_s: seconds of the default on the formulas of the race. race_s:
    of the race and its finals; duel_s: of duels. kinds: sentence on the formulas. trials: rows of DUELS.
    question: name of what was asked, apart from for how long.
    """

    solver: str
    line: CommandLine = field(repr=False)
    kinds: str
    formulas: int
    unseen: int
    words: tuple[str, ...]
    race: Tried | None
    decision: Decision | None
    tried: tuple[Tried, ...] = field(repr=False)
    default_s: float
    race_s: float
    duel_s: float
    trials: pl.DataFrame = field(repr=False)
    control: Tried | None = None
    against_control: Decision | None = None
    timeout_s: float = 0.0
    question: str = ""

    @property
    def preset(self) -> Tried | None:
        """See the class."""
        named = [
            item for item in self.tried if item.setting.preset and not item.setting.values and not item.left
        ]
        return max(named, key=lambda item: item.mean, default=None)

    @property
    def verdict(self) -> str:
        """Return "better", "worse", "undecided" or "none ahead"."""
        if self.decision is None:
            return "none ahead"
        if self.decision.verdict == "better" and not self.decision.wins:
            return "undecided"
        return self.decision.verdict


def tune(
    solver: str,
    choice: SuiteChoice,
    measuring: MeasuringOptions,
    options: TuneOptions = TuneOptions(),
    *,
    adapter: str | None = None,
    say: SayLine = lambda line: None,
) -> Tuned:
    """Race settings of a solver on formulas and let the best meet the default on unseen ones.

    Args:
        solver: name of a seed, folder of a repository, or a program. adapter: how a program is called, if its
            name does not say so. say: given what happens, line by line.

    Raises:
        InputError: no such solver or formulas, too few of them, no options, or too little time.
        MachineryError: no compiler, or a jail that does not work.
    """
    settings = load(measuring.profile)
    sizes = settings.of(SolversSettings)
    lake = settings.require_lake()
    blobs, cache = Lake(lake).blobs, lake / "cache" / "solvers"
    name, program = open_solver(solver, adapter, blobs, cache)
    line = command_line(program)
    seen, unseen = _halves(choice, options, settings, blobs, cache)
    kinds = kinds_sentence(
        [shape_of(read_cnf_file(item.path, lenient=True)) for item in seen.instances if item.path]
    )
    presets = f", {len(line.presets)} configurations by name" if line.presets else ""
    say(f"{name}: {len(line.options)} options{presets}")
    say(f"{len(seen.instances)} formulas to race on; {kinds}")
    plan = measuring.plan(sizes, cache)
    question = _question(program, seen, unseen, options, plan.limits.cpu_s)
    work = cache / "tune" / question
    disk.make_folder(work)
    with LocalExecutor(measuring.processes(settings)) as executor:
        of = Field(program, line, seen, plan, executor, work / "runs.jsonl", options.draw)
        search = Search(of, say)
        total = 60 * options.minutes * measuring.processes(settings)
        race_s = _race_seconds(search, total, len(seen.instances), unseen, say)
        search.spend(race_s)
        winner = search.finals(blobs, cache / "formulas")
        spent = search.spent_s
        control = _control(of, search, options, say)
        result = Tuned(
            solver=name,
            line=line,
            kinds=kinds,
            formulas=len(seen.instances),
            unseen=0,
            words=line.words(winner.setting) if winner else (),
            race=winner,
            decision=None,
            tried=tuple(search.tried),
            default_s=search.default_s,
            race_s=spent,
            duel_s=0.0,
            trials=DUELS.empty(),
            control=control,
            timeout_s=plan.limits.cpu_s,
            question=question,
        )
        if winner is None:
            return result
        if unseen is None:
            unseen = _drawn(choice, work, settings, blobs, cache)
        say(f"{len(unseen.instances)} unseen formulas; {power_sentence(families_of(unseen))}")

        def duel(against: Setting, cycle: str) -> tuple[Decision, pl.DataFrame]:
            sides = [
                Contender(" ".join(line.words(item)) or "default", line.with_setting(program, item))
                for item in (against, winner.setting)
            ]
            rows = run_duel(
                DuelPlan(sides[0], sides[1], unseen, cycle, 1), plan, executor, journal=work / "duel.jsonl"
            )
            trials = DUELS.frame(rows)
            return decide_duel(trials, decision_rng(options.draw, cycle, "challenger")), trials

        decision, trials = duel(DEFAULT, CYCLE)
        seconds = float(trials["cpu_s"].sum())
        against = None
        if control is not None:
            against, more = duel(control.setting, f"{CYCLE}-control")
            seconds += float(more["cpu_s"].sum())
        return replace(
            result, decision=decision, trials=trials, unseen=len(unseen.instances), duel_s=seconds,
            against_control=against,
        )  # fmt: skip


def open_solver(solver: str, adapter: str | None, blobs: BlobStore, cache: Path) -> tuple[str, Program]:
    """Return a solver's name and its program: of a seed, which is fetched and built, of a repository, or a
    program that is there already, by path or on PATH.

    Raises:
        InputError: it is none of them, it does not build, or it is not known how it is called.
    """
    path = Path(solver)
    if adapter is None and solver in load_seeds():
        seed = seed_named(solver)
        family = load_adapter(seed.adapter)
        build = build_variant(lay_out_seed(seed, blobs, cache), family, blobs, seed=True)
        if not build.ok:
            raise InputError(f"{solver} does not build", got=build.reason, do="see `evolake doctor`")
        return solver, open_program(build, family, blobs, cache)
    if path.is_dir():
        opened = open_folder(path, adapter, blobs, cache)
        if opened.program is None:
            raise InputError(
                f"{solver} cannot be used", got=opened.reason, do="evolake solvers verify names what is wrong"
            )
        return path.resolve().name, opened.program
    on_path = shutil.which(solver) if "/" not in solver else None
    found = path if path.is_file() else on_path
    if found is None:
        raise InputError(
            f"there is no solver {solver}",
            wanted=f"a seed ({', '.join(sorted(load_seeds()))}), a repository's folder, or a program",
            do="check the name",
        )
    return path.name, _copied(Path(found), adapter, blobs, cache)


def _copied(path: Path, adapter: str | None, blobs: BlobStore, cache: Path) -> Program:
    """Return a user's program, called as the adapter of its family says."""
    family = adapter or next(
        (
            known
            for known in known_adapters()
            if family_of(load_adapter(known)) == re.sub(r"[\d._-]*$", "", path.name)
        ),
        None,
    )
    if family is None:
        raise InputError(
            f"how is {path.name} called?",
            wanted=f"--adapter with one of {', '.join(known_adapters())}, or a file NAME.toml",
            do="say of which family it is",
        )
    run = load_adapter(family)
    sha = blobs.put(path.read_bytes())
    folder = cache / "programs" / sha
    disk.make_folder(folder)
    if not (folder / path.name).is_file():
        disk.write_atomic(folder / path.name, blobs.get(sha), tag="tune")
    (folder / path.name).chmod(0o555)
    return Program(
        folder=folder,
        argv=(path.name, *run.argv[1:]),
        proof_argv=None if run.proof_argv is None else (path.name, *run.proof_argv[1:]),
        proof=run.proof,
        statistics=dict(run.statistics),
        exit_codes=dict(run.exit_codes),
    )


def _halves(
    choice: SuiteChoice, options: TuneOptions, settings: Settings, blobs: BlobStore, cache: Path
) -> tuple[Suite, Suite | None]:
    """Return what is raced on and what decides; None where that is drawn after the choice."""
    suite = named_suite(
        choice.name,
        blobs,
        cache / "formulas",
        seeds=settings.seeds,
        trees=seed_trees(blobs, cache),
        count=choice.instances,
        statuses=choice.statuses,
    )
    if not is_folder(choice.name, settings.seeds):
        return _enough(suite, len(suite.instances)), None
    ordered = sorted(
        suite.instances, key=lambda item: hashlib.sha256(f"{options.draw} {item.sha}".encode()).digest()
    )
    count = round(options.unseen * len(ordered))
    parts = replace(suite, instances=tuple(ordered[count:])), replace(suite, instances=tuple(ordered[:count]))
    for part in parts:
        _enough(part, len(ordered))
    return parts


def _enough(part: Suite, all_of_them: int) -> Suite:
    if len(part.instances) < LEAST_HALF:
        raise InputError(
            "too few formulas to tune on",
            wanted=f"at least {LEAST_HALF} to race on and {LEAST_HALF} that decide; 40 are better",
            got=f"{all_of_them}, of which {len(part.instances)} in one part",
            do="put more formulas of the same kind into the folder",
        )
    return part


def _drawn(choice: SuiteChoice, work: Path, settings: Settings, blobs: BlobStore, cache: Path) -> Suite:
    """Return formulas of the suite's recipes by a key that is drawn now, once for this question."""
    secret = work / "unseen.key"
    if not secret.is_file():
        disk.write_atomic(secret, os.urandom(SECRET_BYTES), tag="tune")
    key = FreshKey(secret.read_bytes(), 0, CYCLE)
    return unseen_suite(
        choice.name, blobs, cache / "formulas", key, seeds=settings.seeds, count=choice.instances,
        trees=seed_trees(blobs, cache),
    )  # fmt: skip


def _race_seconds(search: Search, total: float, formulas: int, unseen: Suite | None, say: SayLine) -> float:
    """Return how many seconds of solvers are left for the race after the default's runs, the finals and the
    duel. Raises InputError where that is next to nothing."""
    once = search.default_s
    decided = len(unseen.instances) if unseen is not None else formulas
    kept = once + FINALS * once + 2 * once * decided / formulas
    longest = max(search.default.values(), default=0.0)
    limit = search.of.plan.limits.cpu_s
    if all(row["status"] == "refused" for row in search.default_runs):
        raise InputError(
            "the solver answers none of the formulas",
            got=search.default_runs[0]["problems"],
            do="check how it is called (--adapter)",
        )
    if longest < shortest_s(limit):
        raise InputError(
            "the formulas are too easy to tune on",
            wanted=f"formulas that take the default at least {shortest_s(limit):.2g} s",
            got=f"at most {longest:.2g} s",
            do="take harder formulas",
        )
    solved = sum(bool(row["solved"]) for row in search.default_runs)
    say(
        f"the default solves {solved} of {formulas} within {limit:g} s and takes {once:.0f} s; of "
        f"{total:.0f} s of solvers {max(0.0, total - kept):.0f} s are for the race"
    )
    if total - kept < LEAST_RACE * once:
        needed = (kept + LEAST_RACE * once) / 60
        raise InputError(
            "too little time to tune",
            wanted=f"at least {needed:.1f} minutes of one core in all, better five times as many",
            got=f"{total / 60:.1f}",
            do="pass more --minutes, a shorter --timeout, or fewer formulas",
        )
    return total - kept


def _control(of: Field, search: Search, options: TuneOptions, say: SayLine) -> Tried | None:
    if not options.control:
        return None
    dumb = Search(of, say)
    dumb.spend_without_a_race(search.spent_s)
    say(f"without a race: {len(dumb.tried)} random settings in {dumb.spent_s:.0f} s")
    return next(iter(dumb.best()), None)


def _question(
    program: Program, seen: Suite, unseen: Suite | None, options: TuneOptions, limit_s: float
) -> str:
    """Return a name of what is asked, apart from for how long."""
    parts = [
        program.folder.name,
        program.proof_argv or program.argv,
        seen.sha,
        unseen and unseen.sha,
        options.draw,
        limit_s,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]
