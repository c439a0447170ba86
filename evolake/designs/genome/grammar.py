"""What a grammar of designs is: how genomes are written, read, varied and described."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evolake.designs.genome.values import Scale
from evolake.designs.genome.variation import Child, DesignGenome, Parent


class Propose(Protocol):
    """One child of `parents[0]`, whose genome is of the grammar (the others are donors); None if only what is
    in `taken` came of it."""

    def __call__(
        self,
        parents: Sequence[Parent],
        taken: Collection[str],
        random: np.random.Generator,
        *,
        operator: str | None = None,
        focus: Sequence[str] = (),
    ) -> Child | None:
        """Return a child of these parents, or None if none is found that is not in `taken`."""
        ...


@dataclass(frozen=True)
class Grammar:
    """What proposers and planners ask of a grammar. Functions of genomes are given those of this grammar
    alone.

    Attributes:
        operators: how a child may be made. of_two: those that need a second parent. odds: of each
            operator in each phase of the planner.
        baseline: the genome of the baseline dynamics. seeds: genomes that a seed file may turn out to be.
        terms: every name that a genome may be described by; open_terms: those that a genome with some of them
            may get next.
        genome: the class of its genomes. from_json: reads what their `to_json` wrote. unmarked: their JSON
            names no grammar.
        backbone_of: values of a genome that is the baseline's form, else None. with_backbone: that form with
            other values.
        simpler: what is left without the part that came last, and what that was; None where only the
            baseline's own form is left.
    """

    name: str
    operators: tuple[str, ...]
    of_two: tuple[str, ...]
    odds: Mapping[str, tuple[float, ...]]
    baseline: Callable[[], DesignGenome]
    seeds: Callable[[], tuple[DesignGenome, ...]]
    terms: Callable[[], tuple[str, ...]]
    open_terms: Callable[[Collection[str]], list[str]]
    genome: type[Any]
    from_json: Callable[[str], DesignGenome]
    compose: Callable[[Any, str, str], str]
    scales_of: Callable[[Any], tuple[Scale, ...]]
    with_values: Callable[[Any, Mapping[str, Any]], DesignGenome]
    backbone_of: Callable[[Any], Mapping[str, float] | None]
    with_backbone: Callable[[Mapping[str, float]], DesignGenome]
    simpler: Callable[[Any], tuple[DesignGenome, str] | None]
    propose: Propose
    unmarked: bool = False
