"""Steps against size, the paper's own measure: calls of a design's function, whatever each of them
computes."""

from __future__ import annotations

from evolake.designs.report.figures.scaling import draw_by
from evolake.designs.report.material import Material
from evolake.report.figures import Figure


def draw_scaling_steps(material: Material) -> bytes:
    """Draw one curve per design that was run, in steps; what decides is work."""
    return draw_by(
        material,
        lambda level: float(level["median_step"]),
        "steps",
        "Median steps to a solution by instance size",
        "median steps",
    )


FIGURE = Figure("Scaling in steps", draw_scaling_steps, place="supplement", order=22)
