"""The grammars that designs are written in, and which of them a genome is of: the open one, and those that
are in `evolake.designs.grammars`.

A genome of one grammar is none of another. Where a lake holds designs of several, those of the others are
varied as files are: by their values.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evolake.designs.genome.grammar import Grammar
from evolake.designs.genome.open_grammar import OPEN
from evolake.designs.genome.values import Scale
from evolake.designs.genome.variation import Child, DesignGenome, Parent, propose_perturbed
from evolake.lines import modules_of

FURTHER = "evolake.designs.grammars"
GRAMMARS: Mapping[str, Grammar] = {
    grammar.name: grammar for grammar in (OPEN, *(module.GRAMMAR for module in modules_of(FURTHER).values()))
}


def grammar_of(genome: DesignGenome) -> Grammar:
    """Return the grammar that a genome is of."""
    return next(grammar for grammar in GRAMMARS.values() if isinstance(genome, grammar.genome))


def unmarked_grammar() -> Grammar:
    """Return the grammar whose genomes name none: the first one, from before there were several."""
    return next(grammar for grammar in GRAMMARS.values() if grammar.unmarked)


def read_genome(text: str) -> DesignGenome:
    """Return the genome in its canonical JSON, of any grammar. Raises what `from_json` of its grammar
    raises."""
    named = GRAMMARS.get(str(json.loads(text).get("grammar")))
    return (named or unmarked_grammar()).from_json(text)


def grammar_name(text: str | None) -> str | None:
    """Return the grammar of a genome's JSON as it was stored; None without one."""
    return None if not text else grammar_of(read_genome(text)).name


def compose(genome: DesignGenome, title: str = "", rationale: str = "") -> str:
    """Return the design file of a genome of any grammar."""
    return grammar_of(genome).compose(genome, title, rationale)


def scales_of(genome: DesignGenome) -> tuple[Scale, ...]:
    """Return scales of a genome's hyperparameters."""
    return grammar_of(genome).scales_of(genome)


def with_values(genome: DesignGenome, values: Mapping[str, Any]) -> DesignGenome:
    """Return a genome with other hyperparameter values."""
    return grammar_of(genome).with_values(genome, values)


def simpler(genome: DesignGenome) -> tuple[DesignGenome, str] | None:
    """Return what is left without the part that came last, and what that was; None where only the baseline's
    own form is left."""
    return grammar_of(genome).simpler(genome)


def parent_of(design_id: str, title: str, genome: DesignGenome) -> Parent:
    """Return a parent straight from a genome."""
    return Parent(design_id, title, compose(genome, title), genome.values(), scales_of(genome), genome)


def adopted(parent: Parent, name: str) -> Parent:
    """Return a parent as the operators of a grammar take it: a genome of another one counts only where it is
    the baseline's form with other values."""
    genome = parent.genome
    if genome is None or grammar_of(genome).name == name:
        return parent
    backbone = grammar_of(genome).backbone_of(genome)
    return replace(parent, genome=None if backbone is None else GRAMMARS[name].with_backbone(backbone))


def propose(
    parents: Sequence[Parent],
    taken: Collection[str],
    random: np.random.Generator,
    *,
    operator: str | None = None,
    focus: Sequence[str] = (),
) -> Child | None:
    """Return one child of `parents[0]` by the operators of its grammar (the others are donors), or None. A
    design without a genome is perturbed."""
    if parents[0].genome is None:
        return propose_perturbed(parents[0], taken, random, operator=operator)
    return grammar_of(parents[0].genome).propose(parents, taken, random, operator=operator, focus=focus)
