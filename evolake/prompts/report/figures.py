"""The figures of the prompts line, from the lake to PNG bytes. Used by the assets' metadata and by the report."""

from __future__ import annotations

import polars as pl

from evolake.lake import Lake, preceding
from evolake.plots.arms import ArmCurve, arm_curves
from evolake.plots.genealogy import Ancestor, genealogy
from evolake.plots.ratings import RatedPrompt, rating_against_score
from evolake.prompts.evolution.population import Population, population_of
from evolake.prompts.tables import ARCHIVE
from evolake.seeds import generator
from evolake.stats.bootstrap import bootstrap_interval
from evolake.stats.proportions import wilson_interval

LINE = "prompts"
TRAINING, HELDOUT_CHAMPION, HELDOUT_ROOT = "training batch", "held out, champion", "held out, first root"


def population_entering(lake: Lake, cycle: str) -> Population:
    """The population that was sealed for `cycle`."""
    return population_of({name: lake.read(LINE, f"incoming_{name}", cycle) for name in ARCHIVE})


def cycle_figures(lake: Lake, entering: str) -> dict[str, bytes]:
    """Title -> PNG. `entering`: the cycle that the population enters; tables of that and later cycles are not looked at."""
    population = population_entering(lake, entering)
    last = preceding(entering)
    cycles = [cycle for cycle in lake.cycles(LINE, "heldout") if last is not None and cycle <= last]
    heldout = _together(lake, "heldout", cycles)
    return {
        "Evolutionary tree": _tree(population),
        "Learning curves": arm_curves(
            learning_curves(_together(lake, "rollouts", cycles), heldout, _champions(lake, cycles)),
            "Share of correct replies, with 95% bands over problems", "iteration", "correct",
        ),
        "Rating against held-out score": rating_against_score(rated_prompts(population, heldout), "Rating against held-out score"),
    }


def learning_curves(rollouts: pl.DataFrame, heldout: pl.DataFrame, champions: dict[int, str]) -> list[ArmCurve]:
    """Shares of correct replies by iteration: of the training batch, and on held-out problems under the champion and under the first root.

    Args:
        champions: iteration -> the prompt that reigned after it.
    """
    root = heldout.filter(pl.col("iteration") == heldout["iteration"].min())["prompt_id"].to_list()[:1]
    columns = {"iteration": list(champions), "prompt_id": list(champions.values())}
    reigned = pl.DataFrame(columns, schema={"iteration": pl.Int64, "prompt_id": pl.String})
    parts = {
        TRAINING: rollouts, HELDOUT_CHAMPION: heldout.join(reigned, on=["iteration", "prompt_id"]),
        HELDOUT_ROOT: heldout.filter(pl.col("prompt_id").is_in(root)),
    }
    return [_curve(name, part) for name, part in parts.items() if part.height]


def rated_prompts(population: Population, heldout: pl.DataFrame) -> list[RatedPrompt]:
    """Every prompt that was rated and evaluated: its rating now, its share of correct held-out replies when it was last evaluated."""
    found = []
    for row in population.rows():
        own = heldout.filter(pl.col("prompt_id") == row["prompt_id"])
        if row["rounds"] and own.height:
            own = own.filter(pl.col("iteration") == own["iteration"].max())
            interval = wilson_interval(int(own["correct"].sum()), own.height)
            score = float(own["correct"].mean())  # pyright: ignore[reportArgumentType]
            found.append(RatedPrompt(row["prompt_id"], row["mu"], row["sigma"], score, interval.low, interval.high, row["state"] == "champion"))
    return found


def _curve(name: str, rows: pl.DataFrame) -> ArmCurve:
    """Mean over problems of each problem's share, by iteration; the band resamples problems."""
    points = []
    for (iteration,), part in sorted(rows.group_by("iteration"), key=lambda item: item[0]):
        shares = part.group_by("problem_id").agg(pl.col("correct").mean()).sort("problem_id")["correct"].to_numpy()
        band = bootstrap_interval(shares, generator(0, LINE, f"{iteration}", name, 0))
        points.append((iteration, band.estimate, band.low, band.high))
    x, y, low, high = (list(column) for column in zip(*points, strict=True))
    return ArmCurve(name, x, y, low, high)


def _tree(population: Population) -> bytes:
    states = {"blocked": "blocked", "champion": "champion", "retired": "retired"}
    nodes = [
        Ancestor(row["prompt_id"], f"{row['iteration']:04d}", states.get(row["state"], "accepted"), f"{row['operator']} {row['number']}")
        for row in population.rows()
    ]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in population.derivations.to_dicts()]
    return genealogy(nodes, edges, population.champion_id, column="iteration")


def _champions(lake: Lake, cycles: list[str]) -> dict[int, str]:
    """Last iteration of a cycle -> who reigned after it."""
    found = {}
    for cycle in cycles:
        last = lake.read(LINE, "updates", cycle)["iteration"].max()
        found[last] = lake.read(LINE, "survivors__champions", cycle)["artifact_id"].item()
    return found


def _together(lake: Lake, table: str, cycles: list[str]) -> pl.DataFrame:
    return pl.concat([lake.read(LINE, table, cycle) for cycle in cycles])
