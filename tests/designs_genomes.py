"""Parents straight from genomes, for tests of the genetic operators."""

from __future__ import annotations

from evolake.designs.genome import genetic, open_genetic
from evolake.designs.genome.compose import compose
from evolake.designs.genome.genetic import Parent
from evolake.designs.genome.grammar import Genome
from evolake.designs.genome.open_compose import compose as open_compose
from evolake.designs.genome.open_genome import OpenGenome


def parent_of_genome(design_id: str, title: str, genome: Genome | OpenGenome) -> Parent:
    """Return the design of a genome as a parent that can be varied."""
    if isinstance(genome, OpenGenome):
        return Parent(design_id, title, open_compose(genome, title), genome.values(), open_genetic.scales_of(genome), genome)
    return Parent(design_id, title, compose(genome, title), genome.values(), genetic.scales_of(genome), genome)
