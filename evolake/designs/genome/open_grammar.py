"""The open grammar, the default: typed expressions that name no gate and start at the baseline dynamics."""

from __future__ import annotations

from collections.abc import Mapping

from evolake.designs.genome import open_compose, open_genetic
from evolake.designs.genome import open_genome as opened
from evolake.designs.genome.grammar import Grammar
from evolake.designs.genome.open_genome import OpenGenome


def _backbone_of(genome: OpenGenome) -> Mapping[str, float] | None:
    return genome.values() if genome.drives == opened.baseline().drives else None


OPEN = Grammar(
    name="open",
    operators=open_genetic.OPERATORS,
    of_two=("crossover", "switch"),
    # insert, guarded, subtree, point, hoist, constants, gate, add_memory, drop_memory, crossover, switch
    odds={
        "early_exploration": (0.23, 0.1, 0.09, 0.05, 0.03, 0.25, 0.06, 0.07, 0.0, 0.1, 0.02),
        "systematic_search": (0.2, 0.09, 0.09, 0.05, 0.05, 0.2, 0.05, 0.05, 0.02, 0.16, 0.04),
        "exploitation": (0.1, 0.05, 0.04, 0.05, 0.1, 0.37, 0.03, 0.03, 0.02, 0.18, 0.03),
        "stagnation": (0.2, 0.09, 0.1, 0.06, 0.06, 0.12, 0.06, 0.08, 0.03, 0.15, 0.05),
        "breakthrough_needed": (0.2, 0.11, 0.12, 0.08, 0.05, 0.05, 0.07, 0.05, 0.02, 0.19, 0.06),
    },
    baseline=opened.baseline,
    seeds=lambda: (opened.baseline(),),
    terms=opened.vocabulary,
    open_terms=lambda present: [name for name in opened.vocabulary() if name not in present],
    genome=OpenGenome,
    from_json=opened.from_json,
    compose=open_compose.compose,
    scales_of=open_genetic.scales_of,
    with_values=opened.with_values,
    backbone_of=_backbone_of,
    with_backbone=opened.with_backbone,
    simpler=opened.simpler,
    propose=open_genetic.propose,
)
