"""Genomes: designs written as a list of terms, so that they can be mutated, grafted and compared term by
term.

A genome is a backbone (the seven parameters of the baseline dynamics) and at most one term of each kind. A
kind sits in one slot:

    mix      how the long-term memory and the switch xs enter the force on v
    v        additive or multiplicative on dv
    xs       the baseline part of dxs
    release  a gate; the product of all gates times `kappa` is added inside dxs (paper, section S1.1)
    xl       the drive of dxl

`compose` turns a genome into the Python file that is traced, run and stored. The empty genome is the
baseline. Kinds that only make sense next to another one name it in `requires` (the tail gate's shift needs
the tail gate and the memory gate).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evolake.canonical_json import canonical_json, text_sha
from evolake.designs.genome.parameters import BACKBONE, Parameter, clip
from evolake.designs.genome.values import Scale
from evolake.designs.grammars.paper_genome import force, memory, release
from evolake.designs.grammars.paper_genome.kind import Kind
from evolake.errors import InputError

KAPPA = Parameter("kappa", "log_uniform", 0.5, 0.01, 10.0)


@functools.cache
def kinds() -> Mapping[str, Kind]:
    """Return every kind by name, in the order in which `compose` writes them."""
    return {kind.name: kind for kind in (*force.KINDS, *memory.KINDS, *release.KINDS)}


@dataclass(frozen=True)
class PaperGenome:
    """A design as data: `backbone` values by name, `terms` values by kind and parameter. Immutable; build
    with `genome(...)`."""

    backbone: tuple[tuple[str, float], ...]
    terms: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = field(default=())

    def term_names(self) -> tuple[str, ...]:
        """Return kinds present, in writing order."""
        return tuple(name for name, _ in self.terms)

    def backbone_values(self) -> dict[str, float]:
        """Return name -> value of the backbone's parameters."""
        return dict(self.backbone)

    def term_values(self) -> dict[str, dict[str, float]]:
        """Return term -> its parameters' values."""
        return {name: dict(values) for name, values in self.terms}

    def values(self) -> dict[str, float]:
        """Return all hyperparameters, flat: what HYPER_SPACE will hold as defaults."""
        return self.backbone_values() | {name: value for _, values in self.terms for name, value in values}

    def has_release(self) -> bool:
        """Return whether at least one gate is there, and with it `kappa`."""
        return any(kinds()[name].slot == "release" for name in self.term_names())

    def to_json(self) -> str:
        """Return canonical JSON: equal genomes give equal text."""
        return canonical_json(
            {"backbone": self.backbone_values(), "terms": self.term_values()}, ascii_only=True
        )

    def key(self) -> str:
        """Return sha256 of the canonical JSON."""
        return text_sha(self.to_json())


def parameters_of(genome: PaperGenome) -> dict[str, Parameter]:
    """Return every hyperparameter of the composed file by name; `kappa` only with a release term."""
    result = {parameter.name: parameter for parameter in backbone_parameters(genome.has_release())}
    for name in genome.term_names():
        result.update({parameter.name: parameter for parameter in kinds()[name].parameters})
    return result


def backbone_parameters(with_release: bool) -> tuple[Parameter, ...]:
    """Return the parameters that every genome has. with_release: whether a release term is among its
    terms."""
    return (*BACKBONE, KAPPA) if with_release else BACKBONE


def genome(
    backbone: Mapping[str, float] | None = None, terms: Mapping[str, Mapping[str, float]] | None = None
) -> PaperGenome:
    """Return a valid genome: absent values get their defaults, values are clipped to their bounds, terms are
    put in writing order.

    Raises:
        InputError: an unknown kind or parameter, or a kind whose required kinds are absent.
    """
    backbone, terms = dict(backbone or {}), {name: dict(values) for name, values in (terms or {}).items()}
    for name in terms:
        if name not in kinds():
            raise InputError(f"no term kind named {name!r}", wanted=f"one of {', '.join(kinds())}")
        missing = [needed for needed in kinds()[name].requires if needed not in terms]
        if missing:
            raise InputError(f"term {name!r} cannot stand alone", wanted=f"also {', '.join(missing)}")
    ordered = [kind for kind in kinds().values() if kind.name in terms]
    with_release = any(kind.slot == "release" for kind in ordered)
    if not with_release:
        backbone.pop(KAPPA.name, None)
    return PaperGenome(
        backbone=_filled("the backbone", backbone_parameters(with_release), backbone),
        terms=tuple((kind.name, _filled(kind.name, kind.parameters, terms[kind.name])) for kind in ordered),
    )


def from_json(text: str) -> PaperGenome:
    """Return inverse of `PaperGenome.to_json`."""
    data: dict[str, Any] = json.loads(text)
    return genome(data["backbone"], data["terms"])


def scales_of(genome: PaperGenome) -> tuple[Scale, ...]:
    """Return the scales of a genome's hyperparameters."""
    return tuple(
        Scale(name, result.type, result.low, result.high) for name, result in parameters_of(genome).items()
    )


def without(source: PaperGenome, names: Iterable[str]) -> PaperGenome:
    """Return `source` less the named kinds and all kinds that need one of them."""
    gone = set(names)
    while more := {
        name for name in source.term_names() if name not in gone and gone.intersection(kinds()[name].requires)
    }:
        gone |= more
    return genome(
        source.backbone_values(),
        {name: values for name, values in source.term_values().items() if name not in gone},
    )


def _filled(
    owner: str, parameters: Iterable[Parameter], values: Mapping[str, float]
) -> tuple[tuple[str, float], ...]:
    known = {parameter.name: parameter for parameter in parameters}
    if unknown := sorted(set(values) - set(known)):
        raise InputError(f"{owner} has no parameter {unknown[0]!r}", wanted=f"one of {', '.join(known)}")
    return tuple(
        (name, clip(parameter, float(values.get(name, parameter.default))))
        for name, parameter in known.items()
    )


BASELINE = PaperGenome(backbone=tuple((parameter.name, parameter.default) for parameter in BACKBONE))


@functools.cache
def design_340() -> PaperGenome:
    """Return the paper's best design as a genome (values of Table S1)."""
    return genome(
        {
            "alpha": 11.235688545,
            "beta": 42.065836371,
            "gamma": 0.281994359,
            "delta": 0.080119353,
            "epsilon": 8.49962e-4,
            "zeta": 0.021103039,
            "kappa": 1.014919369,
            "lr": 2.986207806,
        },
        {
            "xl_gate": {"xl_thr": 1000.379659, "w_l": 2.025190327},
            "weak_band": {"eta": 0.335452911, "w_b": 0.063176186},
            "push_up": {"xs_target": 0.090885026},
            "tail_gate": {"xs_tail": 0.530799664, "w_tail": 0.106837921},
            "tail_shift": {"tail_mu": 0.424182193},
            "amp_norm": {"xl_norm": 10086.845894, "amp_p": 1.752768188},
            "amp_floor": {"a_floor": 0.009278704},
        },
    )
