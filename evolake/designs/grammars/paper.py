"""The paper's grammar: the terms of its best design and their relatives, with ready openings. An oracle to
hold search against, by setting."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evolake.designs.genome.grammar import Grammar
from evolake.designs.grammars.paper_genome import compose, genetic
from evolake.designs.grammars.paper_genome import genome as paper
from evolake.designs.grammars.paper_genome.genome import PaperGenome


def _open_terms(present: Collection[str]) -> list[str]:
    return [
        name
        for name, kind in paper.kinds().items()
        if name not in present and set(present).issuperset(kind.requires)
    ]


def _backbone_of(genome: PaperGenome) -> Mapping[str, float] | None:
    return None if genome.terms else genome.backbone_values()


def _simpler(genome: PaperGenome) -> tuple[PaperGenome, str] | None:
    if not genome.terms:
        return None
    last = genome.term_names()[-1]
    return paper.without(genome, [last]), last


GRAMMAR = Grammar(
    name="paper",
    operators=genetic.OPERATORS,
    of_two=("graft",),
    odds={
        "early_exploration": (0.4, 0.05, 0.15, 0.15, 0.25),
        "systematic_search": (0.3, 0.1, 0.15, 0.2, 0.25),
        "exploitation": (0.15, 0.15, 0.15, 0.15, 0.4),
        "stagnation": (0.3, 0.1, 0.2, 0.25, 0.15),
        "breakthrough_needed": (0.35, 0.05, 0.2, 0.35, 0.05),
    },
    baseline=lambda: paper.BASELINE,
    seeds=lambda: (paper.BASELINE, paper.design_340()),
    terms=lambda: tuple(paper.kinds()),
    open_terms=_open_terms,
    genome=PaperGenome,
    from_json=paper.from_json,
    compose=compose.compose,
    scales_of=paper.scales_of,
    with_values=genetic.with_values,
    backbone_of=_backbone_of,
    with_backbone=paper.genome,
    simpler=_simpler,
    propose=genetic.propose,
    unmarked=True,
)
