"""Parents straight from genomes, for tests of the genetic operators."""

from __future__ import annotations

from evolake.designs.genome.grammars import parent_of
from evolake.designs.genome.variation import DesignGenome, Parent


def parent_of_genome(design_id: str, title: str, genome: DesignGenome) -> Parent:
    """Return the design of a genome as a parent that can be varied."""
    return parent_of(design_id, title, genome)
