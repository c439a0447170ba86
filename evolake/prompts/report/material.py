"""What the figures of the prompts line are drawn from. Used by the assets' metadata and by the report."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from evolake.lake import Lake, preceding
from evolake.prompts.evolution.population import Population, population_of
from evolake.prompts.tables import ARCHIVE

LINE = "prompts"
FIGURES = "evolake.prompts.report.figures"


@dataclass(frozen=True)
class Material:
    """The population that leaves the last of `cycles`, and tables of these cycles alone."""

    lake: Lake
    cycles: list[str]
    population: Population

    def table(self, name: str) -> pl.DataFrame:
        """Return the rows of all cycles."""
        return pl.concat([self.lake.read(LINE, name, cycle) for cycle in self.cycles], how="diagonal")

    def champions(self) -> dict[int, str]:
        """Return last iteration of a cycle -> who was champion after it."""
        result = {}
        for cycle in self.cycles:
            last = self.lake.read(LINE, "updates", cycle)["iteration"].max()
            result[last] = self.lake.read(LINE, "survivors__champions", cycle)["artifact_id"].item()
        return result


def population_entering(lake: Lake, cycle: str) -> Population:
    """Return the population that was sealed for `cycle`."""
    return population_of({name: lake.read(LINE, f"incoming_{name}", cycle) for name in ARCHIVE})


def material_of(lake: Lake, entering: str) -> Material:
    """Return `entering`: the cycle that the population enters; tables of that and later cycles are not looked
    at."""
    last = preceding(entering)
    cycles = [cycle for cycle in lake.cycles(LINE, "heldout") if last is not None and cycle <= last]
    return Material(lake, cycles, population_entering(lake, entering))
