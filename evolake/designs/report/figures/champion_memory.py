"""What the champion's memories do with a clause, next to the baseline's: like figure S1 of the paper's
supplement, for any design.

The gates of the paper's design can be drawn one by one, since it is known which they are. Of any design one
can say how fast each memory of a clause moves at a given state, so that is drawn: against how far the clause
is from satisfied, for a clause that was violated for a short time, for long, and for very long. The graph is
asked, nothing is simulated.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from evolake.designs.report.material import Material, baseline_of
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.report.scaling_plots import Response

CLAUSES = 81
LONG, SHORT = "xl", "xs"
LEVELS = (1.0, 100.0, 10_000.0)
"""Of the long-term memory, where a design has it: at the start, and for clauses that stay violated."""
AT_SHORT = 0.05
"""Of the short-term memory, as in panel (f) of the paper's figure."""


def draw_champion_memory(material: Material) -> bytes:
    """Return a panel per memory of the champion."""
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.report.scaling_plots import responses

    population, result = material.population, []
    champion, baseline = population.champion_id, baseline_of(population)
    for role, name in (("champion", champion), ("baseline", baseline)):
        if name is not None and not (role == "baseline" and name == champion):
            row = population.row(name)
            result += responses_of(
                TracedDesign.from_json(json.loads(material.texts(row["traced_sha"]))), role
            )
    wanted = {item.memory for item in result if item.role == "champion"}
    return responses(
        [item for item in result if item.memory in wanted],
        f"How fast each memory of a clause moves, with {SHORT} at {AT_SHORT:g}",
    )


def responses_of(traced: TracedDesign, role: str) -> list[Response]:
    """Return one per memory and level; none of a design that cannot be asked."""
    from evolake.designs.engines.reference import ReferenceStepper
    from evolake.designs.model.instances import Planted
    from evolake.designs.model.stepper import Failed
    from evolake.designs.report.scaling_plots import Response

    c = np.linspace(0.0, 1.0, CLAUSES)
    idx = np.arange(3 * CLAUSES, dtype=np.int32).reshape(1, CLAUSES, 3)
    apart = Planted(
        idx,
        np.ones_like(idx, dtype=np.int8),
        np.ones((1, 3 * CLAUSES), dtype=np.int8),
        3 * CLAUSES,
        CLAUSES,
        0,
    )
    names = {variable.name for variable in traced.variables}
    memories = [variable.name for variable in traced.variables if tuple(variable.shape) == ("B", "M")]
    result = []
    for level in LEVELS if LONG in names else LEVELS[:1]:
        try:
            stepper = ReferenceStepper(traced, apart, 0, "float64")
            stepper.put(
                "v",
                np.stack([1 - 2 * c, np.full_like(c, -1.0), np.full_like(c, -1.0)], axis=1).reshape(1, -1),
            )
            for name, value in ((LONG, level), (SHORT, AT_SHORT)):
                if name in memories:
                    stepper.put(name, np.full((1, CLAUSES), value))
            rates = stepper.rates(0)
        except Failed:
            return []
        text = f"{LONG} = {level:,.0f}" if LONG in names else ""
        result += [Response(name, role, text, c, rates[name].reshape(-1)) for name in memories]
    return result


FIGURE = Figure("What the champion's memories do", draw_champion_memory, place="supplement", order=20)
