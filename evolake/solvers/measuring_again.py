"""Measure again what a bundle states of a solver: a duel here with the one that it was better than, on
formulas drawn here.

Times are of a machine, and the formulas of a duel are drawn under the secret of its lake. So the stated gain
is computed again from the rows of the duel (`unfounded`), and then the two solvers meet here, side by side,
on formulas of the same recipes that no one could know before (`met_again`). What is compared is a ratio of
times on each recipe, which does not depend on how fast the machine is.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.measuring import DOUBT, difference
from evolake.bundles.model import Said
from evolake.contest import LEVEL
from evolake.contest.paired import flip_ends, subsets
from evolake.report.numbers import counted
from evolake.solvers.measurement.benchmark import MeasuringPlan
from evolake.solvers.measurement.duel import (
    CHALLENGER,
    CHAMPION,
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    run_duel,
)
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.report.story import gain_of_decision
from evolake.solvers.rules.outcomes import NO_PROOF
from evolake.solvers.suites import Suite
from evolake.solvers.suites.spec import Spec, load_spec, recipes_of, suite_names
from evolake.solvers.tables import CLOCK, DUELS
from evolake.stats import Interval

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = (
    "instance",
    "formula",
    "family",
    "pair",
    "part",
    "place",
    "status",
    "solved",
    "certificate",
    "proof_status",
    "cpu_s",
    "timeout_s",
)
GAIN = "gain over the former champion"
LEAST_SAMPLE = 8
"""Formulas of a sample: some more than may decide, or only a large gain could be seen."""
MOST_PAIRS, FEW_PAIRS = 10, 2
"""Passes of each side over the formulas: at most, and if only a sample is run again."""


class Trial(BaseModel):
    """One run of the duel by which the solver became champion. part: champion (the other one) or challenger
    (this one)."""

    model_config = ConfigDict(extra="forbid", strict=True)
    instance: str = Field(max_length=200)
    formula: str | None = Field(max_length=200)
    family: str | None = Field(default=None, max_length=200)
    pair: int = Field(ge=0, lt=1000)
    part: str
    place: int
    status: str
    solved: bool
    certificate: str | None
    proof_status: str | None
    cpu_s: float = Field(ge=0)
    timeout_s: float = Field(gt=0, le=7200)


class Duel(BaseModel):
    """The duel that a stated gain rests on."""

    model_config = ConfigDict(extra="forbid")
    cycle: str = Field(max_length=20)
    trials: list[Trial] = Field(min_length=2, max_length=100_000)


@dataclass(frozen=True)
class Recipes:
    """The recipes that a duel's formulas were made by. suite: of which they are among the `first` ones.
    names: in the order of the suite."""

    suite: str
    names: tuple[str, ...]
    first: int


def rows_of(duel: Duel, own: str, other: str) -> list[dict[str, Any]]:
    """Return the duel as rows of DUELS."""
    ids = {CHAMPION: other, CHALLENGER: own}
    return [
        {
            **row.model_dump(),
            "cycle": duel.cycle,
            "champion_id": other,
            "challenger_id": own,
            "variant_id": ids[row.part],
        }
        for row in duel.trials
    ]


def unfounded(held: Mapping[str, Any], duel: Duel | None, own: str, root_seed: int) -> str:
    """Return why the stated gain does not follow from the duel in the bundle; "" if it does."""
    if duel is None:
        return (
            "a gain over the former champion is stated, and the bundle has no runs of their duel: export "
            "it again"
        )
    if odd := _odd(duel):
        return odd
    rows = rows_of(duel, own, str(held["gain"]["against_id"]))
    decision = decide_duel(DUELS.frame(rows), decision_rng(root_seed, duel.cycle, own))
    if not decision.wins:
        return f"by the runs in the bundle it did not win: {decision.reason}"
    gain = gain_of_decision(decision.row(duel.cycle))
    return difference(held["gain"], replace(gain, against=str(held["gain"].get("against"))))


def _odd(duel: Duel) -> str:
    """Return what is wrong with the form of a duel; "" if nothing is."""
    keys = [(row.instance, row.pair, row.part) for row in duel.trials]
    if len(set(keys)) < len(keys):
        return "it has a run of the duel twice"
    pairs = 1 + max(row.pair for row in duel.trials)
    instances, sides, there = sorted({row.instance for row in duel.trials}), (CHAMPION, CHALLENGER), set(keys)
    if strange := next((row.part for row in duel.trials if row.part not in sides), None):
        return f"its duel has a run of {strange!r}, which is no side of one"
    if lacking := len(instances) * pairs * len(sides) - len(there):
        # not all that are wanted are listed: a bundle can ask for more than the memory holds
        name, pair, side = next(
            key for key in itertools.product(instances, range(pairs), sides) if key not in there
        )
        return f"its duel lacks {counted(lacking, 'run')}: {name}, pass {pair} of the {side}"
    of_recipe: dict[str, set[str]] = {}
    for row in duel.trials:
        of_recipe.setdefault(row.instance.rpartition("@")[0], set()).add(row.formula or row.instance)
    if apart := next((recipe for recipe, formulas in of_recipe.items() if len(formulas) > 1), None):
        return f"its duel counts the copies of one formula of {apart} as several formulas"
    if len({row.timeout_s for row in duel.trials}) > 1:
        return "the runs of its duel have different time limits"
    for row in duel.trials:
        if row.solved and (
            row.certificate is None or row.status not in ("sat", "unsat") or row.cpu_s > row.timeout_s
        ):
            return (
                f"its duel counts {row.instance} as solved by the {row.part}, without a model or proof in "
                "time"
            )
    return ""


def recipes_in(duel: Duel, suite: str, seeds: Path) -> Recipes | str | None:
    """Return the recipes of a duel's formulas; why they are not those of a duel; None if the suite is not
    installed here.

    A duel has the first formulas of a suite, so that none can be left out from among them.

    Args:
        suite: by its settings. Other installed suites are tried, too, as settings may have changed since.
    """
    asked = {name.rpartition("@")[0] for name in (row.instance for row in duel.trials)}
    specs = {name: load_spec(name, seeds) for name in suite_names(seeds)}
    for name in sorted(specs, key=lambda name: (name != suite, name)):
        first = _first(specs[name], len(asked))
        if set(first) == asked:
            return Recipes(name, first, len(first))
    if suite not in specs:
        return None
    missing = sorted(set(_first(specs[suite], len(asked))) - asked)
    return (
        f"the formulas of its duel are not the first {len(asked)} of the suite {suite}: "
        f"{missing[0] if missing else 'others'} is missing"
    )


def _first(spec: Spec, count: int) -> tuple[str, ...]:
    return tuple(recipe.name for recipe in recipes_of(spec)[:count])


def drawn(recipes: Recipes, sample: int | None) -> Recipes:
    """Return the recipes that formulas are drawn by here: all, or as many as a sample asks, but enough to
    decide."""
    count = len(recipes.names) if sample is None else max(LEAST_SAMPLE, sample)
    if count >= len(recipes.names):
        return recipes
    chosen = set(secrets.SystemRandom().sample(recipes.names, count))
    return replace(recipes, names=tuple(name for name in recipes.names if name in chosen))


def met_again(
    own: Contender,
    other: Contender,
    suite: Suite,
    duel: Duel,
    stated: Mapping[str, Any],
    plan: MeasuringPlan,
    sample: int | None,
    *,
    cores: int = 1,
) -> Iterator[Said]:
    """Let the two solvers meet on formulas that were drawn here.

    Args:
        suite: these formulas, named `recipe@...`. plan: limits as in the bundle's duel. sample: evaluations
            to run again; None for all.
    """
    pairs = 1 + max(row.pair for row in duel.trials)
    done = _duel(own, other, suite, plan, min(pairs, MOST_PAIRS if sample is None else FEW_PAIRS), cores)
    bad = [
        row
        for row in done
        if row["part"] == CHALLENGER and (row["status"] == "wrong" or row["proof_status"] in NO_PROOF)
    ]
    if bad:
        yield Said(
            GAIN,
            "fails",
            f"its answer to {bad[0]['instance']}, drawn here, is refuted or has no proof",
            gain=True,
        )
        return
    decision = decide_duel(DUELS.frame(done), np.random.default_rng(0))
    before, now = _log_ratios(rows_of(duel, own.variant_id, other.variant_id)), _log_ratios(done)
    yield compared(before, now, decision, stated)


def beside(
    name: str, own: Contender, seed: Contender, suite: Suite, plan: MeasuringPlan, cores: int = 1
) -> Said:
    """Return how the solver compares with the installed seed `name`: of interest where it was measured
    against another solver."""
    decision = decide_duel(
        DUELS.frame(_duel(own, seed, suite, plan, FEW_PAIRS, cores)), np.random.default_rng(0)
    )
    return Said(
        f"the seed {name}, which is installed here",
        "note",
        f"{_figure(decision)}; the stated gain is over another solver",
    )


def compared(
    before: Mapping[str, float], now: Mapping[str, float], decision: Decision, stated: Mapping[str, Any]
) -> Said:
    """Return whether the stated gain is reached on formulas that were drawn here.

    If the stated runs are as those here, what a recipe gave there and here could as well be exchanged, for
    each recipe by itself: signs of the differences are flipped (`evolake.contest.paired`), and a statement
    among the best `DOUBT` is refused.

    Args:
        before, now: recipe -> log of the other's cost over the solver's, in the bundle and here. decision:
            of the duel here.
    """
    common = sorted(set(before) & set(now))
    better = np.array([before[name] - now[name] for name in common])
    chosen = subsets(len(better), np.random.default_rng(0))
    least, _ = flip_ends(better, np.ones(len(better)), chosen, DOUBT)
    said = f"{_figure(decision)}, stated {float(stated['estimate']):.3g}"
    if least > 1e-9:
        return Said(GAIN, "fails", f"not reached on formulas drawn here: {said}", gain=True)
    if not decision.wins:
        return Said(
            GAIN,
            "open",
            f"neither reached beyond the noise nor refuted on formulas drawn here: {said}",
            gain=True,
        )
    return Said(GAIN, "holds", f"on formulas drawn here {said}", gain=True)


def _figure(decision: Decision) -> str:
    """Return the ratio of costs with its interval, number of formulas and the noise that was measured
    here."""
    interval = Interval(decision.ratio, decision.ratio_low, decision.ratio_high, LEVEL)
    count = counted(decision.formulas, "formula")
    return (
        f"cost of the other over its own is {interval} on {count}, noise of this machine "
        f"{decision.noise_floor:.4g}"
    )


def _duel(
    own: Contender, other: Contender, suite: Suite, plan: MeasuringPlan, pairs: int, cores: int
) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(cores) as executor:
        return run_duel(DuelPlan(other, own, suite, "bundle", pairs), plan, executor)


def _log_ratios(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return recipe -> log of the champion's cost over the challenger's; copies and passes are summed,
    without pairs that a clock cut."""
    sums: dict[tuple[str, str], float] = {}
    cut = {(row["instance"], row["pair"]) for row in rows if row["status"] == CLOCK}
    for row in rows:
        if (row["instance"], row["pair"]) in cut:
            continue
        recipe = str(row["instance"]).rpartition("@")[0]
        cost = max(row["cpu_s"], 1e-6) if row["solved"] else PENALTY * row["timeout_s"]
        sums[recipe, row["part"]] = sums.get((recipe, row["part"]), 0.0) + cost
    recipes = {recipe for recipe, _ in sums}
    return {recipe: math.log(sums[recipe, CHAMPION] / sums[recipe, CHALLENGER]) for recipe in sorted(recipes)}
