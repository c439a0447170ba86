"""PAR-2 of the champion and of what each cycle made, and of the seeds."""

from __future__ import annotations

from evolake.report.figures import Figure
from evolake.solvers.report.material import Material, title_of

LINE = "solvers"


def draw_par2_by_cycle(material: Material) -> bytes:
    """Draw one point per cycle."""
    from evolake.solvers.report.plots import Par2Point, par2_trajectory

    lake, rows = material.lake, material.rows
    points, seeds = [], {row["variant_id"] for row in material.population.seeds()}
    last: dict[str, float] = {}
    for each in (key for key in lake.cycles(LINE, "metrics") if key <= material.cycle):
        last = dict(lake.read(LINE, "metrics", each).select("variant_id", "par2").iter_rows())
        decisions = lake.read(LINE, "champion", each).to_dicts()
        winner = max((row for row in decisions if row["wins"]), key=lambda row: row["ratio"], default=None)
        if winner:
            champion_id = winner["challenger_id"]
        elif decisions:
            champion_id = decisions[0]["champion_id"]
        else:
            champion_id = min(last, key=lambda name: last[name])
        fresh = set(lake.read(LINE, "benchmark_runs", each)["variant_id"]) - seeds
        points.append(
            Par2Point(
                each,
                last.get(champion_id, float("nan")),
                [last[name] for name in sorted(fresh) if name in last],
            )
        )
    return par2_trajectory(
        points, {title_of(rows[name]): last[name] for name in sorted(seeds) if name in last}
    )


FIGURE = Figure("PAR-2 by cycle", draw_par2_by_cycle, order=2, asset="survivors")
