"""The race: settings of one solver, run on the same formulas one after another, until so many seconds of
solvers are spent.

A round has some settings: at first those that the solver names, then random ones, changes of the best
and joins of two of them. All run a few formulas, the better half runs twice as many, and so on (successive
halving, Jamieson and Talwalkar, AISTATS 2016). Who is behind the default, or by more than the noise behind
the best so far, leaves (as in F-race, Birattari and others, GECCO 2002). Compared is the mean log of the
default's cost over the setting's, formula by formula. A run may take `CAP` times what the default took on its
formula, and one that is cut off, or whose answer has no certificate, costs twice its limit.

The best by one run of each formula is often the luckiest. So the few best run shuffled copies of all formulas
in the end, and both runs count. An option that the best does not need is taken away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evolake.lake import BlobStore
from evolake.reading.formula import read_dimacs, shuffled, write_dimacs
from evolake.seeds import generator
from evolake.solvers.edits.draw import NEAR, REACH, new_tunable
from evolake.solvers.execute import Program, RunLimits, alike
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs, run_limits
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.suites.folders import with_files
from evolake.solvers.suites.spec import Instance, Suite
from evolake.solvers.tables import CLOCK
from evolake.solvers.tuning.command_line import CommandLine, Setting

LINE, CYCLE = "solvers", "tune"
DEFAULT = Setting("")
ENTRANTS, FIRST, MOST_MOVED, FINALISTS, LIVE = 12, 4, 6, 3, 5
CAP, LEAST_CAP_S, LEAST_COST_S = 2.5, 0.2, 1e-3
CLIP = math.log(10.0)
"""One formula counts as at most ten times faster or slower, so that it decides no race."""
NO_LOSS = 0.02
"""Mean log cost that an option has to be worth to stay, and more than `BEHIND` standard errors."""
BEHIND = 1.0
"""Standard errors by which a setting may be behind the best so far."""


@dataclass
class Tried:
    """A setting and what it did. origin: how it came to be. gains: formula -> log of the default's cost over
    its own. seconds: of its runs. wrong: an answer was refuted. left: why it left the race; "" if it ran all
    formulas."""

    setting: Setting
    origin: str
    gains: dict[str, float] = field(default_factory=dict[str, float])
    seconds: float = 0.0
    wrong: str = ""
    left: str = "the budget ended"

    @property
    def mean(self) -> float:
        """Mean log gain over the formulas that it ran."""
        return float(np.mean(list(self.gains.values()))) if self.gains else -math.inf

    @property
    def ratio(self) -> float:
        """How many times cheaper than the default on the typical formula."""
        return math.exp(self.mean)


@dataclass(frozen=True)
class Field:
    """What is raced, on what, and how runs are made. journal: keeps finished runs; the same search continues
    from it."""

    program: Program
    line: CommandLine
    formulas: Suite
    plan: MeasuringPlan
    executor: Executor
    journal: Path
    draw: int = 1

    def generator(self, *path: str | int) -> np.random.Generator:
        """Return the generator of one choice."""
        return generator(self.draw, LINE, CYCLE, "/".join(map(str, path)))

    def run(
        self,
        settings: Sequence[Setting],
        formulas: Sequence[Instance],
        caps: Mapping[str, float] | None = None,
    ) -> dict[Setting, list[dict[str, Any]]]:
        """Return rows of RUNS of each setting, formula by formula. caps: formula -> seconds that a run of it
        may take, if less than the limit."""
        names = {" ".join(self.line.words(item)) or "default": item for item in settings}
        jobs = plan_jobs(
            {name: self.line.with_setting(self.program, item) for name, item in names.items()},
            replace(self.formulas, instances=tuple(formulas)),
            self.plan,
            cycle=CYCLE,
        )
        if caps is not None:
            jobs = [replace(job, limits=self._capped(caps[job.instance.name])) for job in jobs]
        rows = run_jobs(jobs, self.executor, journal=self.journal).to_dicts()
        return {item: [row for row in rows if row["variant_id"] == name] for name, item in names.items()}

    def _capped(self, seconds: float) -> RunLimits:
        limits = self.plan.limits
        if seconds >= limits.cpu_s:
            return limits
        return alike(run_limits(seconds, limits.memory_mb, limits.proof_mb), limits)[0]


class Search:
    """One race. `best` is what it found; `tried` all settings in the order of their entry."""

    def __init__(self, of: Field, on_round: Callable[[str], None] = lambda line: None) -> None:
        self.of, self.on_round = of, on_round
        order = of.generator("order").permutation(len(of.formulas.instances)).tolist()
        self.formulas = [of.formulas.instances[place] for place in order]
        self.tried: list[Tried] = []
        self.spent_s = 0.0
        rows = of.run([DEFAULT], self.formulas)[DEFAULT]
        self.default_runs = rows
        self.default = {row["instance"]: cost_of(row) for row in rows if row["status"] != CLOCK}
        self.default_s = sum(row["cpu_s"] for row in rows)
        self.formulas = [item for item in self.formulas if item.name in self.default]

    def best(self) -> list[Tried]:
        """Return the settings that ran all formulas and are ahead of the default, best first."""
        whole = [item for item in self.tried if not item.left and not item.wrong and item.mean > 0]
        return sorted(whole, key=lambda item: (-item.mean, len(item.setting.values)))

    def spend(self, seconds: float) -> None:
        """Race until so many seconds of solvers are spent, or no setting is left, in rounds."""
        number = 0
        while self.spent_s < seconds and (entrants := self._entrants(number)):
            self.tried += entrants
            self._round(entrants, seconds)
            number += 1
            self._say(number, entrants)

    def spend_without_a_race(self, seconds: float) -> None:
        """Run random settings, each on all formulas, until so many seconds are spent: the dumb search."""
        number = 0
        while self.spent_s < seconds:
            one = Tried(self._random(self.of.generator("control", number)), "random")
            self.tried.append(one)
            self._run([one], self.formulas)
            one.left = one.wrong
            number += 1

    def finals(self, blobs: BlobStore, cache: Path) -> Tried | None:
        """Return the best of the few best after they, and the default, ran shuffled copies of all formulas;
        None if none is ahead of the default then."""
        finalists = self.best()[:FINALISTS]
        if not finalists:
            return None
        copies = [copy_of(item, blobs, self.of.generator("copy", item.name)) for item in self.formulas]
        made = with_files(replace(self.of.formulas, instances=tuple(copies)), blobs, cache).instances
        for row in self.of.run([DEFAULT], made)[DEFAULT]:
            if row["status"] != CLOCK:
                self.default[row["instance"]] = cost_of(row)
            self.spent_s += row["cpu_s"]
        made = tuple(item for item in made if item.name in self.default)
        self._run(finalists, made)
        self.formulas += made
        first = max(finalists, key=lambda item: item.mean)
        return self._shortened(first) if first.mean > 0 and not first.wrong else None

    def _shortened(self, best: Tried) -> Tried:
        """Return a setting without the options that its cost does not rest on, each tried on all formulas and
        their copies: what is left is as good as the best within the noise."""
        longest = best
        for name, _ in best.setting.values:
            shorter = Tried(best.setting.without(name), "the best without an option")
            if shorter.setting == DEFAULT:
                break
            known = next((item for item in self.tried if item.setting == shorter.setting), None)
            self._run([shorter], self.formulas)
            shorter.left = shorter.wrong
            if known is None:
                self.tried.append(shorter)
            close = shorter.mean >= longest.mean - NO_LOSS or not self._behind(shorter, longest)
            if close and not shorter.wrong:
                best = shorter
        return best

    def _round(self, entrants: list[Tried], seconds: float) -> None:
        live, taken, count = list(entrants), 0, FIRST
        while live:
            batch = self.formulas[taken : min(count, len(self.formulas))]
            self._run(live, batch)
            taken += len(batch)
            live = [item for item in live if not item.wrong]
            if taken == len(self.formulas):
                for item in live:
                    item.left = ""
                return
            best = next(iter(self.best()), None)
            for item in live:
                if behind := self._behind(item, best):
                    item.left = behind
            live = sorted(
                (item for item in live if item.left == "the budget ended"), key=lambda item: -item.mean
            )
            stay = max(1, math.ceil(len(live) / 2))
            for item in live[stay:]:
                item.left = f"not in the better half after {taken} formulas"
            live, count = live[:stay], 2 * count
            if self.spent_s >= seconds:
                return

    def _behind(self, item: Tried, best: Tried | None) -> str:
        """Return why a setting leaves the race; "" if it stays."""
        if item.mean < 0 and len(item.gains) >= 2 * FIRST:
            return f"behind the default after {len(item.gains)} formulas"
        if best is None:
            return ""
        both = item.gains.keys() & best.gains.keys()
        if len(both) < FIRST:
            return ""
        apart = np.array([item.gains[name] - best.gains[name] for name in sorted(both)])
        error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
        if apart.mean() + BEHIND * error < 0:
            return f"behind the best so far after {len(item.gains)} formulas"
        return ""

    def _run(self, live: Sequence[Tried], formulas: Sequence[Instance]) -> None:
        caps = {item.name: max(LEAST_CAP_S, CAP * self.default[item.name]) for item in formulas}
        runs = self.of.run([item.setting for item in live], formulas, caps)
        for item in live:
            for row in runs[item.setting]:
                name = row["instance"]
                item.seconds += row["cpu_s"]
                self.spent_s += row["cpu_s"]
                if row["status"] == "wrong" or row["proof_status"] == "refuted":
                    item.wrong = item.left = f"a refuted answer on {name}"
                elif row["status"] != CLOCK:
                    gain = math.log(self.default[name] / cost_of(row))
                    item.gains[name] = min(max(gain, -CLIP), CLIP)

    def _entrants(self, number: int) -> list[Tried]:
        known = {item.setting for item in self.tried} | {DEFAULT}
        result: list[Tried] = []

        def enter(setting: Setting, origin: str) -> None:
            if setting not in known:
                known.add(setting)
                result.append(Tried(setting, origin))

        if number == 0:
            for preset in self.of.line.presets:
                enter(Setting(preset), "named by the solver")
        ranked = sorted(self.tried, key=lambda item: (-len(item.gains), -item.mean))[:LIVE]
        ahead = self.best()[:LIVE] or [item for item in ranked if item.mean > 0]
        for place in range(4 * ENTRANTS):
            if len(result) >= ENTRANTS:
                break
            random = self.of.generator("entrant", number, place)
            kind = place % 4 if ahead else 0
            if kind in (0, 2):
                enter(self._random(random), "random")
            elif kind == 1 or len(ahead) < 2:
                enter(
                    self._changed(ahead[int(random.integers(len(ahead)))].setting, random),
                    "a change of the best",
                )
            else:
                first, second = (ahead[int(at)].setting for at in random.choice(len(ahead), 2, replace=False))
                enter(_joined(first, second, random), "two of the best joined")
        return result

    def _random(self, random: np.random.Generator) -> Setting:
        presets = ("", *self.of.line.presets)
        setting = Setting(presets[int(random.integers(len(presets)))] if random.random() < 0.5 else "")
        names = list(self.of.line.options)
        most = min(MOST_MOVED, len(names))
        for at in random.choice(len(names), size=int(random.integers(1, most + 1)), replace=False):
            setting = self._moved(setting, names[int(at)], random, REACH)
        return setting

    def _changed(self, setting: Setting, random: np.random.Generator) -> Setting:
        """Return a setting with one option moved, added or taken away."""
        moved = [name for name, _ in setting.values]
        draw = random.random()
        if moved and draw < 1 / 3:
            return setting.without(moved[int(random.integers(len(moved)))])
        if moved and draw < 2 / 3:
            return self._moved(setting, moved[int(random.integers(len(moved)))], random, NEAR)
        names = list(self.of.line.options)
        return self._moved(setting, names[int(random.integers(len(names)))], random, REACH)

    def _moved(self, setting: Setting, name: str, random: np.random.Generator, reach: float) -> Setting:
        option = self.of.line.options[name]
        now = dict(setting.values).get(name)
        return setting.moved(name, new_tunable(option, random, now=now, reach=reach).parameters["value"])

    def _say(self, number: int, entrants: Sequence[Tried]) -> None:
        best = next(iter(self.best()), None)
        words = (
            "none ahead of the default yet" if best is None else f"best so far {best.ratio:.3g} times cheaper"
        )
        whole = sum(not item.left for item in entrants)
        self.on_round(
            f"round {number}: {len(entrants)} settings, {whole} ran all formulas; {words}; "
            f"{self.spent_s:.0f} s of solvers spent"
        )


def _joined(first: Setting, second: Setting, random: np.random.Generator) -> Setting:
    """Return a setting with each option of two as one of them has it."""
    values = dict(first.values) | {
        name: value
        for name, value in second.values
        if name not in dict(first.values) or random.random() < 0.5
    }
    kept = {name: value for name, value in values.items() if random.random() < 0.8}
    return Setting(first.preset if random.random() < 0.5 else second.preset, tuple(sorted(kept.items())))


def cost_of(row: Mapping[str, Any]) -> float:
    """Return a run's cost in seconds, as a duel counts it."""
    return max(LEAST_COST_S, float(row["cpu_s"]) if row["solved"] else PENALTY * float(row["timeout_s"]))


def copy_of(item: Instance, blobs: BlobStore, random: np.random.Generator) -> Instance:
    """Return a copy of a formula with variables renamed and clauses shuffled."""
    formula = read_dimacs(blobs.get(item.sha), lenient=True, name=item.name)
    sha = blobs.put(write_dimacs(shuffled(formula, random)))
    return replace(item, name=f"{item.name}~copy", base=item.base or item.name, sha=sha, path=None)
