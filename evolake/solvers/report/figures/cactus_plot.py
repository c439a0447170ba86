"""How many formulas each variant solves within a time."""

from __future__ import annotations

from evolake.report.figures import Figure
from evolake.solvers.report.material import Material, title_of


def draw_cactus_plot(material: Material) -> bytes:
    """Draw one curve per variant that was measured."""
    from evolake.solvers.report.plots import SolverTimes, cactus

    rows, champion_id = material.rows, material.champion["variant_id"]
    times = []
    for (variant_id,), part in sorted(
        material.population.runs.group_by("variant_id"), key=lambda item: str(item[0])
    ):
        row = rows[str(variant_id)]
        if variant_id == champion_id:
            kind = "champion"
        elif row["operator"] == "seed":
            kind = "seed"
        else:
            kind = "other"
        times.append(SolverTimes(title_of(row), part["cpu_s"].filter(part["solved"]).to_list(), kind))
    return cactus(times, material.timeout_s, "Formulas of the suite train solved within a time")


FIGURE = Figure("Cactus plot", draw_cactus_plot, order=1, asset="survivors")
