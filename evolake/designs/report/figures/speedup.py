"""Champion against baseline by size, like figure S3(b) of the paper's supplement."""

from __future__ import annotations

from evolake.designs.report.material import Material
from evolake.designs.report.supplement_champion import by_size
from evolake.report.figures import Figure


def draw_speedup(material: Material) -> bytes:
    """Draw how many times less work, at every size that both were run at."""
    from evolake.designs.report.scaling_plots import speedup

    champion = material.population.champion_id
    frame = by_size(material.population, champion) if champion else None
    rows = frame.to_dicts() if frame is not None else []
    return speedup(
        [(row["N"], row["times_less"], row["baseline_solved"] and row["champion_solved"]) for row in rows]
    )


FIGURE = Figure("Champion against baseline", draw_speedup, place="supplement", order=21)
