"""The consensus of all designs, cycle by cycle."""

from __future__ import annotations

from evolake.designs.report.material import Material
from evolake.report.figures import Figure


def draw_consensus_by_cycle(material: Material) -> bytes:
    """Draw one column per cycle, the first design named."""
    from evolake.designs.report.objective_plots import CycleValues, consensus_trajectory

    titles = dict(material.population.designs.select("design_id", "title").iter_rows())
    return consensus_trajectory(
        [
            CycleValues(
                str(cycle), frame["consensus"].to_list(), titles.get(frame.sort("rank")["design_id"][0], "")
            )
            for (cycle,), frame in sorted(material.consensus().group_by("cycle"))
        ]
    )


FIGURE = Figure("Consensus by cycle", draw_consensus_by_cycle, order=6)
