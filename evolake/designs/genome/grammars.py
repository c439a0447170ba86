"""The two grammars that designs are written in, and which of them a genome is of.

    open    typed expressions (`open_genome`): names no gate, starts at the baseline dynamics. The default.
    paper   the terms of the paper's best design and their relatives (`grammar`), with ready openings: an oracle to hold search against, by setting.

A genome of one grammar is none of the other. Where a lake holds designs of both, those of the other grammar are varied as files are: by their values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evolake.designs.genome import compose as paper_compose
from evolake.designs.genome import genetic as paper_genetic
from evolake.designs.genome import grammar as paper
from evolake.designs.genome import open_compose, open_genetic
from evolake.designs.genome import open_genome as opened
from evolake.designs.genome.genetic import Child, Parent
from evolake.designs.genome.grammar import Genome
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.genome.values import Scale
from evolake.designs.genome.values import scales_of as paper_scales

Name = Literal["open", "paper"]
AnyGenome = Genome | OpenGenome


@dataclass(frozen=True)
class Grammar:
    """What proposers and planners ask of a grammar.

    Attributes:
        operators: how a child may be made. crossing: the one that needs a second parent. odds: of each operator in each phase of the planner.
        baseline: the genome of the baseline dynamics. seeds: genomes that a seed file may turn out to be.
        terms: every name that a genome may be described by; open_terms: those that a genome with some of them may get next.
    """

    name: Name
    operators: tuple[str, ...]
    crossing: str
    odds: Mapping[str, tuple[float, ...]]
    baseline: Callable[[], AnyGenome]
    seeds: Callable[[], tuple[AnyGenome, ...]]
    terms: Callable[[], tuple[str, ...]]
    open_terms: Callable[[Collection[str]], list[str]]


def _paper_open_terms(present: Collection[str]) -> list[str]:
    return [name for name, kind in paper.kinds().items() if name not in present and set(present).issuperset(kind.requires)]


PAPER = Grammar(
    "paper", paper_genetic.OPERATORS, "graft",
    {
        "early_exploration": (0.4, 0.05, 0.15, 0.15, 0.25), "systematic_search": (0.3, 0.1, 0.15, 0.2, 0.25),
        "exploitation": (0.15, 0.15, 0.15, 0.15, 0.4), "stagnation": (0.3, 0.1, 0.2, 0.25, 0.15),
        "breakthrough_needed": (0.35, 0.05, 0.2, 0.35, 0.05),
    },
    lambda: paper.BASELINE, lambda: (paper.BASELINE, paper.design_340()), lambda: tuple(paper.kinds()), _paper_open_terms,
)
OPEN = Grammar(
    "open", open_genetic.OPERATORS, "crossover",
    {  # insert, subtree, point, hoist, constants, add_memory, drop_memory, crossover
        "early_exploration": (0.35, 0.1, 0.05, 0.03, 0.3, 0.07, 0.0, 0.1), "systematic_search": (0.3, 0.1, 0.05, 0.05, 0.25, 0.05, 0.02, 0.18),
        "exploitation": (0.15, 0.05, 0.05, 0.1, 0.4, 0.03, 0.02, 0.2), "stagnation": (0.3, 0.12, 0.06, 0.06, 0.15, 0.08, 0.03, 0.2),
        "breakthrough_needed": (0.3, 0.15, 0.08, 0.05, 0.05, 0.1, 0.02, 0.25),
    },
    opened.baseline, lambda: (opened.baseline(),), opened.vocabulary,
    lambda present: [name for name in opened.vocabulary() if name not in present],
)
GRAMMARS: Mapping[str, Grammar] = {"open": OPEN, "paper": PAPER}


def grammar_of(genome: AnyGenome) -> Grammar:
    """The grammar that a genome is of."""
    return OPEN if isinstance(genome, OpenGenome) else PAPER


def read_genome(text: str) -> AnyGenome:
    """The genome in its canonical JSON, of either grammar. Raises what `from_json` of its grammar raises."""
    return opened.from_json(text) if json.loads(text).get("grammar") == OPEN.name else paper.from_json(text)


def grammar_name(text: str | None) -> str | None:
    """The grammar of a genome's JSON as it was stored; None without one."""
    return None if not text else grammar_of(read_genome(text)).name


def compose(genome: AnyGenome, title: str = "", rationale: str = "") -> str:
    """The design file of a genome of either grammar."""
    return open_compose.compose(genome, title, rationale) if isinstance(genome, OpenGenome) else paper_compose.compose(genome, title, rationale)


def scales_of(genome: AnyGenome) -> tuple[Scale, ...]:
    """Scales of a genome's hyperparameters."""
    return open_genetic.scales_of(genome) if isinstance(genome, OpenGenome) else paper_scales(genome)


def with_values(genome: AnyGenome, values: Mapping[str, Any]) -> AnyGenome:
    """A genome with other hyperparameter values."""
    return opened.with_values(genome, values) if isinstance(genome, OpenGenome) else paper_genetic.with_values(genome, values)


def simpler(genome: AnyGenome) -> tuple[AnyGenome, str] | None:
    """What is left without the part that came last, and what that was; None where only the baseline's own form is left.

    Of the paper's grammar the last term; of the open one the last memory, else the last drive that is not the baseline's.
    """
    if isinstance(genome, Genome):
        if not genome.terms:
            return None
        last = genome.term_names()[-1]
        return paper.without(genome, [last]), last
    return opened.simpler(genome)


def parent_of(design_id: str, title: str, genome: AnyGenome) -> Parent:
    """A parent straight from a genome."""
    return Parent(design_id, title, compose(genome, title), genome.values(), scales_of(genome), genome)


def adopted(parent: Parent, name: Name) -> Parent:
    """A parent as the operators of a grammar take it: a genome of the other one counts only where it is the baseline's form with other values."""
    genome = parent.genome
    if genome is None or grammar_of(genome).name == name:
        return parent
    if isinstance(genome, OpenGenome):
        plain = genome.drives == opened.baseline().drives
        return replace(parent, genome=paper.genome(genome.values()) if plain else None)
    return replace(parent, genome=None if genome.terms else opened.with_backbone(genome.backbone_values()))


def propose(
    parents: Sequence[Parent], taken: Collection[str], random: np.random.Generator, *, operator: str | None = None, focus: Sequence[str] = ()
) -> Child | None:
    """One child of `parents[0]` by the operators of its grammar; see `genetic.propose`. A design without a genome is perturbed."""
    by = open_genetic.propose if parents and isinstance(parents[0].genome, OpenGenome) else paper_genetic.propose
    return by(parents, taken, random, operator=operator, focus=focus)
