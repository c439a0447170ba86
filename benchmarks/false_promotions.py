"""How often a challenger that is no better becomes champion, and how large a gain must be to be seen: two
tables, by simulation.

    python benchmarks/false_promotions.py [--line solvers] [--contests 1000] [--skewed 500] [--power 60]

The lines' own functions decide, with the repeats that are their default: `decide_champion` of designs on
simulated runs, `run_duel` and `decide_by_metrics` of programs (with one, two and four declared metrics),
`decide_duel` of solvers (also with a look after each pass, as `evolake solvers duel` does), `decide_champion`
of prompts. Under every noise model both rivals are equally good. Same seed, same tables; some five minutes on
one core. Exit code 1 if a share of false promotions is above
2.5 % by more than the simulation's own error (the lower end of its 99.9 % interval, as there are many cells).

Designs are compared at a target size, so further models have challengers that are better at small sizes and
no better at the target: `power laws cross` and `exponential laws cross` (a gain of 1.65 at the smallest size
that shrinks along the law), `not reached` (the same, and neither is solved beyond half of the target), `no
growth` (work shows neither law), `ends before the target` and `falls from the middle on` (the gain follows no
law: 1.65 up to the size before the target, or up to two before it). For the last two 5 % are stated.

Noise models: `seeds` (no noise within a seed, independent across seeds), `heavy tails` (Student's t with 2
degrees of freedom), `ties` (three values), `censored` (two of five runs end at the limit), `correlated` (nine
tenths of the variance come from the seed and are shared by both rivals), `within a seed` (a repetition
differs, too), `helps some, hurts others` (the log of each formula's cost is changed by a normal number of
mean 0 and standard deviation 0.47).

Skewed models (`SKEWED`): the challenger's gains have mean 0 (of costs: their logs have), and are no more
symmetric. At least 4 losses in n pairs are expected, but for `rarer losses`, and for `losses in one of ten`
and `of thirty` with few pairs: n pairs cannot see those, so another rate than 2.5 % is stated (`stated`).
Scores of programs have no noise then: only the losses tell that their evaluator uses its seed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from bench import SHORT

from evolake.contest import ERROR
from evolake.designs.evolution.design_contest import Contender, decide_champion
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.programs.evolution.program_contest import LEAST_REPEATS
from evolake.programs.evolution.program_contest import decide_by_metrics as decide_programs
from evolake.programs.evolution.program_contest import run_duel as run_programs
from evolake.programs.sandbox.evaluating import Evaluation
from evolake.programs.settings import ProgramsSettings
from evolake.prompts.evolution.prompt_contest import decide_champion as decide_prompts
from evolake.prompts.settings import PromptsSettings
from evolake.seeds import CycleSeeds
from evolake.solvers.measurement.duel import decide_duel as decide_solvers
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import DUELS
from evolake.stats import wilson_interval

Noise = Callable[[np.random.Generator, int], np.ndarray]
"""(generator, n) -> (2, n): what chance adds to champion and challenger under n seeds, in standard
deviations; lower is better."""
HELPS = "helps some, hurts others"
SURE = 0.999
"""Level of the interval by which a cell of the first table is above the stated rate."""
SEEN = 0.8
"""Share of contests in which a gain of the second table is seen."""
LIMIT = 1.0
"""Noise above which a run counts as unsolved under the model `censored`, in standard deviations."""
SPREAD = 0.5
"""Standard deviation of the factor by which a variant changes the cost of a formula, under the model `helps
some, hurts others`."""


LOOKS = 3
"""Passes of `evolake solvers duel`, each with a look."""


def across_seeds(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=(2, n))


def heavy_tails(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_t(2, size=(2, n))


def ties(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(3, size=(2, n)) - 1.0


def censored(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.minimum(rng.normal(0.75, 1.0, size=(2, n)), LIMIT)


def correlated(rng: np.random.Generator, n: int) -> np.ndarray:
    return math.sqrt(0.9) * rng.normal(size=n) + math.sqrt(0.1) * rng.normal(size=(2, n))


MODELS: Mapping[str, Noise] = {
    "seeds": across_seeds,
    "heavy tails": heavy_tails,
    "ties": ties,
    "censored": censored,
    "correlated": correlated,
}


class Inline(Executor):
    """Runs what is submitted at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it and return its finished future."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass(frozen=True)
class Run:
    """A simulated run of a design, with the fields of `experiments.Measured`."""

    median_step: int
    unsolved_fraction: float
    steps_run: int
    wall_s: float = 0.0
    cpu_s: float = 0.0
    engine: str = "simulated"
    timed_out: bool = False
    diverged: bool = False
    failure: str | None = None
    work_per_step: float = 1.0
    together_step: int | None = None
    left_again: int = 0
    limit: int = 0


STEPS, SIGMA, MOST = 100_000.0, 0.2, 100_000_000
"""Median steps of the champion, standard deviation of their log over seeds, and the limit."""
SIZES = (10, 14, 20, 28, 40, 57, 80)
"""Sizes of the simulated profile: a duel measures up to five of them, and the largest is the target."""
HALF = 40
LEVEL = FidelitySettings(max_n=SIZES[-1], max_steps=MOST, core_s=1)
AHEAD = 0.5
"""Log of the factor by which a challenger is better at small sizes that is no better at the target."""


@dataclass(frozen=True)
class LogGains:
    """Log of the factor by which the challenger needs less work at each of `SIZES`, and the largest size that
    either solves.

    growth: log of the champion's work at each size, less that at the smallest.
    """

    by_size: tuple[float, ...]
    largest: int = SIZES[-1]
    growth: tuple[float, ...] = tuple(2 * math.log(n / SIZES[0]) for n in SIZES)


FLAT = (0.0,) * len(SIZES)
"""No growth: neither law fits better, and both have to speak for the challenger."""


def even(gain: float, largest: int = SIZES[-1]) -> LogGains:
    """Return the same gain at every size."""
    return LogGains((gain,) * len(SIZES), largest)


def crossing(at: Callable[[float], float], largest: int, growth: float) -> LogGains:
    """AHEAD at the smallest size and nothing at the target, along a line in at(N); the champion's work grows
    by `growth` along it, too."""
    x = np.array([at(n) for n in SIZES])
    share = (x - x[0]) / (x[-1] - x[0])
    return LogGains(tuple((AHEAD * (1 - share)).tolist()), largest, tuple((growth * share).tolist()))


NO_BETTER: Mapping[str, LogGains] = {
    "power laws cross": crossing(math.log, SIZES[-1], 4.0),
    "power laws, not reached": crossing(math.log, HALF, 4.0),
    "exponential laws cross": crossing(float, SIZES[-1], 5.0),
    "exponential laws, not reached": crossing(float, HALF, 5.0),
    "no growth, not reached": crossing(math.log, HALF, 0.0),
    "ends before the target": LogGains((AHEAD,) * (len(SIZES) - 1) + (0.0,)),
    "falls from the middle on": LogGains((AHEAD,) * (len(SIZES) - 2) + (AHEAD / 2, 0.0)),
}
"""Challengers that are better at small sizes and no better at the target: by other laws, or by none."""
RARER = "rarer losses"
FIXED = {"losses in one of ten": 0.1, "losses in one of thirty": 1 / 30}
"""Losses whose share does not depend on the number of pairs."""
EXPECTED, EXPECTED_RARER = 4.0, 1.5
"""Losses that are expected in n pairs under the skewed models."""
GAIN = 0.5
FAMILIES, RELATED = 8, 0.8
"""Families of related formulas or problems, and the correlation of neighbours in one."""


def losses(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    """Return a small gain in most pairs and a large loss in the others."""
    return np.where(rng.random(n) < share, -GAIN * (1 - share) / share, GAIN)


def related(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return gains in families, in each an autoregression of the first order."""
    values, families = rng.normal(size=n), family_places(n)
    for place in range(1, n):
        if families[place] == families[place - 1]:
            values[place] = RELATED * values[place - 1] + math.sqrt(1 - RELATED**2) * values[place]
    return values


def family_places(n: int) -> np.ndarray:
    return np.arange(n) * FAMILIES // n


RELATED_GROUPS = "related groups"
REPLIES = 8
"""Replies to each problem under the skewed models."""
SHARES = {"rare losses and noise": (0.8, 0.1), "rare gains": (0.2, 0.1), RELATED_GROUPS: (0.5, 0.16)}
"""Share of correct replies of the champion, and how much a gain of 1 adds to it, such that few are cut off;
(0.8, 0.16) for the other models. Rare losses are of a challenger that is right or wrong on a problem."""
SKEWED: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "rare losses": lambda rng, n: losses(rng, n, EXPECTED / n),
    "rare losses and noise": lambda rng, n: losses(rng, n, EXPECTED / n) + 0.2 * rng.normal(size=n),
    "losses in three of ten": lambda rng, n: losses(rng, n, 0.3),
    **{name: lambda rng, n, share=share: losses(rng, n, share) for name, share in FIXED.items()},
    "log-normal losses": lambda rng, n: math.exp(0.125) - rng.lognormal(0.0, 0.5, size=n),
    "exponential losses": lambda rng, n: 1.0 - rng.exponential(size=n),
    "rare gains": lambda rng, n: -losses(rng, n, EXPECTED / n),
    RELATED_GROUPS: related,
    RARER: lambda rng, n: losses(rng, n, EXPECTED_RARER / n),
}
"""Gains of a challenger that is no better, (generator, n) -> (n,)."""
NO_LAW = {"ends before the target": 0.05, "falls from the middle on": 0.05}
"""Stated rates of false promotions for gains that follow no law."""
STATED_FEW: Mapping[str, Mapping[str, float]] = {
    "8": {"losses in three of ten": 0.09, "log-normal losses": 0.06, "exponential losses": 0.08},
    "22": {"log-normal losses": 0.03, "exponential losses": 0.035},
}
"""Number of pairs -> stated rates with so few, which see little of such losses."""


def stated(repeats: str, model: str) -> float:
    """Return the stated rate of a cell. repeats: begins with the number of pairs."""
    pairs = repeats.split()[0]
    expected = EXPECTED_RARER if model == RARER else FIXED.get(model, math.inf) * int(pairs)
    if expected < EXPECTED:
        return math.exp(-expected)  # none of them comes in n pairs
    few = STATED_FEW.get(pairs, {})
    return few.get(model, NO_LAW.get(model, ERROR))


def designs(noise: np.ndarray, gains: LogGains, settings: DesignsSettings, number: int) -> bool:
    """Whether the challenger wins a duel of designs. noise: (sizes, 2, seeds)."""
    seeds: dict[int, int] = {}

    def simulate(name: str, n: int, max_work: int, seed: int, core_s: float, own: DesignsSettings) -> Run:
        place, size, side = seeds.setdefault(seed, len(seeds)), SIZES.index(n), int(name)
        steps = round(
            STEPS
            * math.exp(gains.growth[size] + noise[size, side, place] * SIGMA - gains.by_size[size] * side)
        )
        if n > gains.largest:
            return Run(steps, 1.0, max_work)
        return (
            Run(steps, 0.0, steps)
            if noise[size, side, place] < LIMIT or max_work == MOST
            else Run(steps, 1.0, max_work)
        )

    champion, challenger = (Contender(name, name, SIZES[-1]) for name in ("0", "1"))
    done = decide_champion(
        challenger,
        champion,
        champion,
        executor=Inline(),
        settings=settings,
        profile="simulated",
        cycle_seeds=CycleSeeds(number, "designs", "0001"),
        simulate=simulate,
    )
    return done.champion_id == "1"


def over_sizes(noise: Noise, rng: np.random.Generator, repeats: int) -> np.ndarray:
    """Noise that is drawn again at every size."""
    return np.stack([noise(rng, repeats) for _ in SIZES])


def designs_settings(repeats: int, limit: float = MOST) -> DesignsSettings:
    high = LEVEL.model_copy(update={"max_steps": int(limit)})
    return DesignsSettings(champion_repeats=repeats, low=LEVEL, medium=LEVEL, high=high)


def programs(
    noises: Sequence[np.ndarray], gains: Sequence[float], rng: np.random.Generator, within: float = 0.0
) -> bool:
    """Whether the challenger wins a duel of programs. noises, gains: one for each metric, gains in standard
    deviations over seeds. within: noise within a seed."""
    names = [f"x{place}" for place in range(len(noises))]

    def evaluate(side: str, seed: int) -> Evaluation:
        values = [
            -noise[int(side), seed] + gain * int(side) + within * float(rng.normal())
            for noise, gain in zip(noises, gains, strict=True)
        ]
        return Evaluation("ok", metrics=dict(zip(names, values, strict=True)), seed=seed)

    scores = [partial(_metric, name) for name in names]
    result = run_programs(
        {"champion": "0", "again": "0", "challenger": "1"}, range(noises[0].shape[1]), evaluate, scores=scores
    )
    known = {
        name: {side: [item.metrics[name] for item in items] for side, items in result.items()}
        for name in names
    }
    return bool(decide_programs(known, rng)["wins"])


def _metric(name: str, item: Evaluation) -> float:
    return item.metrics[name]


def solvers(
    costs: np.ndarray,
    rng: np.random.Generator,
    timeout_s: float = 1e9,
    looks: int = 1,
    families: np.ndarray | None = None,
) -> bool:
    """Return whether the challenger wins a duel of solvers. costs: (2, formulas, passes) of champion and
    challenger. families: (formulas,) None: each formula is its own."""
    _, formulas, passes = costs.shape
    part, formula, place = (
        axis.ravel() for axis in np.meshgrid(*(np.arange(size) for size in costs.shape), indexing="ij")
    )
    cpu = costs.ravel()
    named = np.array(["champion", "challenger"])[part]
    rows, names = formulas * passes * 2, [f"f{number:03d}" for number in formula]
    frame = pl.DataFrame(
        {
            "cycle": ["0001"] * rows,
            "champion_id": ["champion"] * rows,
            "challenger_id": ["challenger"] * rows,
            "instance": names,
            "formula": names,
            "family": names if families is None else [f"k{families[number]}" for number in formula],
            "pair": place,
            "part": named,
            "place": np.zeros(rows, dtype=np.int64),
            "variant_id": named,
            "status": np.where(cpu < timeout_s, "sat", "timeout"),
            "solved": cpu < timeout_s,
            "certificate": ["model"] * rows,
            "proof_status": pl.Series([None] * rows, dtype=pl.String),
            "cpu_s": cpu,
            "conflicts": np.zeros(rows, dtype=np.int64),
            "timeout_s": np.full(rows, timeout_s),
            "host": ["here"] * rows,
            "proof_bytes": pl.Series([None] * rows, dtype=pl.Int64),
        },
        schema=dict(DUELS.columns),
    )
    return decide_solvers(frame, rng, looks).wins


def solvers_pass_by_pass(costs: np.ndarray, rng: np.random.Generator, timeout_s: float = 1e9) -> bool:
    """Return whether the challenger wins a duel that is looked at after each pass, as `evolake solvers duel`
    does."""
    passes = costs.shape[2]
    return any(solvers(costs[:, :, :done], rng, timeout_s, passes) for done in range(1, passes + 1))


def costs_of(
    rng: np.random.Generator, formulas: int, passes: int, gain: float = 1.0, spread: float = SPREAD
) -> np.ndarray:
    """Costs of which the challenger's differ by a log-normal factor of geometric mean 1/gain, with 3 % of
    noise in each run."""
    base = rng.uniform(0.3, 1.0, size=formulas)
    sigma = math.sqrt(math.log1p(spread**2))
    factor = np.exp(rng.normal(0.0, sigma, size=formulas)) / gain
    return np.stack([base, base * factor])[:, :, None] * np.exp(
        rng.normal(0, 0.03, size=(2, formulas, passes))
    )


def of_noise(noise: np.ndarray, rng: np.random.Generator, passes: int) -> np.ndarray:
    """Costs of both solvers: a formula's own, times what chance adds; half a standard deviation is a
    tenth."""
    base = rng.uniform(0.3, 1.0, size=noise.shape[1])
    return (base * np.exp(0.2 * np.clip(noise, -20, 20)))[:, :, None] * np.exp(
        rng.normal(0, 0.03, size=(2, noise.shape[1], passes))
    )


def of_gains(gains: np.ndarray, rng: np.random.Generator, passes: int) -> np.ndarray:
    """Costs of both solvers, the challenger's with these gains in the logs."""
    base = rng.uniform(0.3, 1.0, size=len(gains))
    both = np.stack([base, base * np.exp(-0.2 * gains)])[:, :, None]
    return both * np.exp(rng.normal(0, 0.03, size=(2, len(gains), passes)))


def prompts(
    rng: np.random.Generator, problems: int, samples: int, gain: float = 0.0, changed: float = 0.0
) -> bool:
    """Whether the challenger wins a duel of prompts. changed: by how much it is better or worse at single
    problems."""
    own = rng.uniform(0.2, 0.8, size=problems)
    other = np.clip(own + gain + changed * np.where(rng.random(problems) < 0.5, 1.0, -1.0), 0, 1)
    return prompts_by_shares(own, other, rng, samples)


def prompts_by_shares(
    own: np.ndarray,
    other: np.ndarray,
    rng: np.random.Generator,
    samples: int,
    families: np.ndarray | None = None,
) -> bool:
    """Whether the challenger wins a duel of prompts with these shares of correct replies on each problem."""
    sides = {"champion": own, "challenger": other}
    correct = {
        (side, f"q{place:03d}"): list(rng.random(samples) < p)
        for side, shares in sides.items()
        for place, p in enumerate(shares)
    }
    named = None if families is None else {f"q{place:03d}": f"k{kind}" for place, kind in enumerate(families)}
    decided = decide_prompts("champion", "challenger", correct, rng, cycle="0001", families=named)
    return bool(decided["wins"])


def rng_of(seed: int, *what: Any) -> np.random.Generator:
    """Return a separate generator for each contest of each cell of a table."""
    return np.random.default_rng([seed, *(int.from_bytes(str(part).encode()[:24], "big") for part in what)])


Cell = tuple[str, str, str, int, int]
"""Line, repeats, noise model, contests, contests that the challenger won."""


def of_designs(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of designs."""
    for repeats in dict.fromkeys((3, DesignsSettings().champion_repeats)):
        for model, noise in MODELS.items():
            same = replace(even(0.0), growth=FLAT) if model == "censored" else even(0.0)
            settings = designs_settings(
                repeats, STEPS * math.exp(SIGMA * LIMIT) if model == "censored" else MOST
            )
            drawn = (
                over_sizes(noise, rng_of(seed, "designs", model, repeats, k), repeats)
                for k in range(contests)
            )
            yield (
                "designs",
                f"{repeats} seeds",
                model,
                contests,
                sum(designs(values, same, settings, k) for k, values in enumerate(drawn)),
            )
        for model, gains in NO_BETTER.items():
            settings = designs_settings(repeats)
            drawn = (
                over_sizes(across_seeds, rng_of(seed, "designs", model, repeats, k), repeats)
                for k in range(contests)
            )
            yield (
                "designs",
                f"{repeats} seeds",
                model,
                contests,
                sum(designs(values, gains, settings, k) for k, values in enumerate(drawn)),
            )


def of_programs(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of programs."""
    for repeats in dict.fromkeys((3, LEAST_REPEATS, ProgramsSettings().heldout_repeats)):
        for model, noise in (*MODELS.items(), ("within a seed", across_seeds)):
            within = 1.0 if model == "within a seed" else 0.0
            drawn = (rng_of(seed, "programs", model, repeats, k) for k in range(contests))
            yield (
                "programs",
                f"{repeats} seeds",
                model,
                contests,
                sum(programs([noise(rng, repeats)], [0.0], rng, within) for rng in drawn),
            )
    repeats = ProgramsSettings().heldout_repeats
    for count in (2, 4):
        for model, noise in MODELS.items():
            drawn = (rng_of(seed, "metrics", model, count, k) for k in range(contests))
            won = sum(
                programs([noise(rng, repeats) for _ in range(count)], [0.0] * count, rng) for rng in drawn
            )
            yield "programs", f"{repeats} seeds, {count} metrics", model, contests, won


def of_solvers(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of solvers."""
    passes = SolversSettings().pairs
    for formulas in (9, 22, 54):
        drawn = (rng_of(seed, "solvers", HELPS, formulas, k) for k in range(contests))
        yield (
            "solvers",
            f"{formulas} formulas",
            HELPS,
            contests,
            sum(solvers(costs_of(rng, formulas, passes), rng) for rng in drawn),
        )
    for model, noise in MODELS.items():
        limit = 0.6 if model == "censored" else 1e9
        drawn = (rng_of(seed, "solvers", model, 22, k) for k in range(contests))
        yield (
            "solvers",
            "22 formulas",
            model,
            contests,
            sum(solvers(of_noise(noise(rng, 22), rng, passes), rng, limit) for rng in drawn),
        )
    for formulas in (9, 22, 54):
        drawn = (rng_of(seed, "solvers", "looks", formulas, k) for k in range(contests))
        won = sum(solvers_pass_by_pass(costs_of(rng, formulas, LOOKS), rng) for rng in drawn)
        yield "solvers", f"{formulas} formulas, {LOOKS} looks", HELPS, contests, won


def of_prompts(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of prompts."""
    own = PromptsSettings()
    for samples, changed in ((own.duel_samples, 0.0), (own.duel_samples, 0.2), (4, 0.2)):
        drawn = (rng_of(seed, "prompts", samples, changed, k) for k in range(contests))
        won = sum(prompts(rng, own.duel_problems, samples, changed=changed) for rng in drawn)
        repeats = f"{own.duel_problems} problems, {samples} {'reply' if samples == 1 else 'replies'}"
        yield "prompts", repeats, HELPS if changed else "seeds", contests, won


def skewed_designs(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the skewed cells of designs."""
    repeats = DesignsSettings().champion_repeats
    settings = designs_settings(repeats)

    def wins(rng: np.random.Generator, model: str, k: int) -> bool:
        gains = SKEWED[model](rng, repeats) + 0.01 * rng.normal(size=repeats)  # rounded steps break ties
        noise = np.broadcast_to(np.stack([np.zeros(repeats), -gains]), (len(SIZES), 2, repeats))
        return designs(noise, even(0.0), settings, k)

    yield from skewed("designs", f"{repeats} seeds", contests, seed, wins)


def skewed_programs(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the skewed cells of programs."""
    for repeats in (LEAST_REPEATS, ProgramsSettings().heldout_repeats):

        def wins(rng: np.random.Generator, model: str, k: int, repeats: int = repeats) -> bool:
            return programs([np.stack([np.zeros(repeats), -SKEWED[model](rng, repeats)])], [0.0], rng)

        yield from skewed("programs", f"{repeats} seeds", contests, seed, wins)


def skewed_solvers(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the skewed cells of solvers."""
    passes = SolversSettings().pairs
    for formulas in (22, 54):

        def wins(rng: np.random.Generator, model: str, k: int, formulas: int = formulas) -> bool:
            families = family_places(formulas) if model == RELATED_GROUPS else None
            return solvers(of_gains(SKEWED[model](rng, formulas), rng, passes), rng, families=families)

        yield from skewed("solvers", f"{formulas} formulas", contests, seed, wins, grouped=True)


def skewed_prompts(contests: int, seed: int) -> Iterator[Cell]:
    """Yield the skewed cells of prompts."""
    problems = PromptsSettings().duel_problems

    def wins(rng: np.random.Generator, model: str, k: int) -> bool:
        families = family_places(problems) if model == RELATED_GROUPS else None
        rare = {"rare losses": EXPECTED / problems, RARER: EXPECTED_RARER / problems, **FIXED}
        wrong = rare.get(model, 0.0)
        own, scale = (1 - wrong, wrong / GAIN) if wrong else SHARES.get(model, (0.8, 0.16))
        other = np.clip(own + scale * SKEWED[model](rng, problems), 0, 1)
        return prompts_by_shares(np.full(problems, own), other, rng, REPLIES, families)

    yield from skewed(
        "prompts", f"{problems} problems, {REPLIES} replies", contests, seed, wins, grouped=True
    )


def skewed(
    line: str,
    repeats: str,
    contests: int,
    seed: int,
    wins: Callable[[np.random.Generator, str, int], bool],
    grouped: bool = False,
) -> Iterator[Cell]:
    """Yield a cell for each skewed model. wins: (generator, model, number) -> whether the challenger wins.
    grouped: whether pairs of the line may be related; seeds are drawn independently."""
    for model in SKEWED:
        if grouped or model != RELATED_GROUPS:
            won = sum(wins(rng_of(seed, line, repeats, model, k), model, k) for k in range(contests))
            yield line, repeats, model, contests, won


SKEWED_LINES: Mapping[str, Callable[[int, int], Iterator[Cell]]] = {
    "designs": skewed_designs,
    "programs": skewed_programs,
    "solvers": skewed_solvers,
    "prompts": skewed_prompts,
}
LINES: Mapping[str, tuple[Callable[[int, int], Iterator[Cell]], int]] = {
    "designs": (of_designs, 1),
    "programs": (of_programs, 1),
    "solvers": (of_solvers, 4),
    "prompts": (of_prompts, 4),
}
"""Line -> its cells, and by how much fewer contests it has because they take longer."""


def seen_gain(wins: Callable[[float, int], bool], contests: int, most: float) -> float:
    """Return the smallest gain that at least SEEN of the contests see, by bisection; infinite if `most` is
    not seen.

    Args:
        wins: (gain, number of the contest) -> whether the challenger wins. The same number has the same
            noise.
    """
    low, high = 0.0, most
    if sum(wins(high, k) for k in range(contests)) < SEEN * contests:
        return math.inf
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if sum(wins(middle, k) for k in range(contests)) >= SEEN * contests
            else (middle, high)
        )
    return high


def power(lines: Sequence[str], contests: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """(line, repeats, gain that is seen 8 times in 10) for every row of the second table."""
    for line in lines:
        yield from POWERS[line](contests, seed)


def power_of_designs(contests: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of designs."""
    for repeats in SEEDS:
        noises = [
            over_sizes(across_seeds, rng_of(seed, "power", repeats, k), repeats) for k in range(contests)
        ]
        settings = designs_settings(repeats)
        for what, largest in (("", SIZES[-1]), (", at half of the target", HALF)):
            gain = seen_gain(
                lambda g, k, n=noises, s=settings, m=largest: designs(n[k], even(g, m), s, k),
                contests,
                12 * SIGMA,
            )
            factor = "more than 11" if math.isinf(gain) else f"{math.exp(gain):.2f}"
            yield "designs", f"{repeats} seeds{what}", f"{factor} times less work"


def power_of_programs(contests: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of programs."""
    for repeats in (*SEEDS, ProgramsSettings().heldout_repeats):
        noises = [across_seeds(rng_of(seed, "power", repeats, k), repeats) for k in range(contests)]
        gain = seen_gain(lambda g, k, n=noises: programs([n[k]], [g], np.random.default_rng(k)), contests, 12)
        yield (
            "programs",
            f"{repeats} seeds",
            f"{'more than 12' if math.isinf(gain) else f'{gain:.1f}'} standard deviations of a score",
        )
    repeats = ProgramsSettings().heldout_repeats
    pairs = [
        [across_seeds(rng_of(seed, "power", "metrics", repeats, k, place), repeats) for place in range(2)]
        for k in range(contests)
    ]
    gain = seen_gain(lambda g, k: programs(pairs[k], [g, 0.0], np.random.default_rng(k)), contests, 12)
    yield (
        "programs",
        f"{repeats} seeds, 2 metrics",
        f"{'more than 12' if math.isinf(gain) else f'{gain:.1f}'} standard deviations of one of them",
    )


def power_of_solvers(contests: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of solvers."""
    passes = SolversSettings().pairs
    for spread in (SPREAD, 0.1):
        for formulas in (9, 22, 54):

            def wins(gain: float, k: int, formulas: int = formulas, spread: float = spread) -> bool:
                rng = rng_of(seed, "power", formulas, k)
                return solvers(costs_of(rng, formulas, passes, math.exp(gain), spread), rng)

            gain = seen_gain(wins, contests // 2, math.log(6))
            factor = "more than 6" if math.isinf(gain) else f"{math.exp(gain):.2f}"
            yield "solvers", f"{formulas} formulas, factors of sd {spread:g}", f"{factor} times lower cost"


def power_of_prompts(contests: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of prompts."""
    for problems in (12, PromptsSettings().duel_problems):
        gain = seen_gain(
            lambda g, k, n=problems: prompts(rng_of(seed, "power", n, k), n, 1, g), contests, 0.8
        )
        yield (
            "prompts",
            f"{problems} problems, 1 reply",
            f"{'more than +80' if math.isinf(gain) else f'{100 * gain:+.0f}'} % correct replies",
        )


SEEDS = (3, 4, 5, 6, 8, 12)
POWERS: Mapping[str, Callable[[int, int], Iterator[tuple[str, str, str]]]] = {
    "designs": power_of_designs,
    "programs": power_of_programs,
    "solvers": power_of_solvers,
    "prompts": power_of_prompts,
}


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown with aligned columns."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([texts[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *texts[1:]])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--contests",
        type=int,
        default=40 if SHORT else 1000,
        help="simulated contests of a cell (of solvers and prompts a quarter); default: %(default)s",
    )
    parser.add_argument(
        "--skewed",
        type=int,
        default=20 if SHORT else 500,
        help="simulated contests of a skewed cell, 0 for none (default: %(default)s)",
    )
    parser.add_argument(
        "--power",
        type=int,
        default=0 if SHORT else 60,
        help="simulated contests of a step of the second table, 0 for none (default: %(default)s)",
    )
    parser.add_argument(
        "--line", action="append", choices=[*LINES], help="line to simulate; may be repeated (default: all)"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    chosen = given.line or [*LINES]
    rows, above = [("line", "repeats", "noise", "false promotions", "95% interval", "stated")], []
    for line in chosen:
        cells, fewer = LINES[line]
        plain = cells(given.contests // fewer, given.seed) if given.contests else iter(())
        shaped = SKEWED_LINES[line](given.skewed, given.seed) if given.skewed else iter(())
        for _, repeats, model, contests, won in chain(plain, shaped):
            share = wilson_interval(won, contests)
            rows.append(
                (
                    line,
                    repeats,
                    model,
                    f"{100 * share.estimate:.1f} % of {contests:,}",
                    f"{100 * share.low:.1f} to {100 * share.high:.1f} %",
                    f"{100 * stated(repeats, model):.2g} %",
                )
            )
            above += (
                [f"{line}, {repeats}, {model}"]
                if wilson_interval(won, contests, SURE).low > stated(repeats, model)
                else []
            )
    print(
        f"Equal rivals: how often the challenger becomes champion (stated: at most {100 * ERROR:g} %)\n\n"
        f"{in_columns(rows)}\n",
        flush=True,
    )
    if given.power:
        seen = [
            ("line", "repeats", "gain that is seen 8 times in 10"),
            *power(chosen, given.power, given.seed),
        ]
        print(
            f"Power, with noise that is independent across seeds ({SIGMA:g} in the log of a design's "
            f"steps)\n\n{in_columns(seen)}"
        )
    for cell in above:
        print(f"\nabove what is stated: {cell}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
