"""Genomes: designs written as a list of terms, so that they can be mutated, grafted and compared term by term.

A genome is a backbone (the seven parameters of the baseline dynamics) and at most one term of each kind. A kind sits in one slot:

    mix      how the long-term memory and the switch xs enter the force on v
    v        additive or multiplicative on dv
    xs       the baseline part of dxs
    release  a gate; the product of all gates times `kappa` is added inside dxs (paper, section S1.1)
    xl       the drive of dxl

`compose` turns a genome into the Python file that is traced, run and stored. The empty genome is the baseline. Kinds that only make sense
beside another one name it in `requires` (the tail gate's shift needs the tail gate and the memory gate).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evolake.canonical_json import canonical_json, text_sha
from evolake.designs.genome import grammar_force, grammar_memory, grammar_release
from evolake.designs.genome.grammar_kind import Kind, Parameter
from evolake.errors import InputError

BACKBONE: tuple[Parameter, ...] = (
    Parameter("alpha", "log_uniform", 5.0, 0.5, 50.0),
    Parameter("beta", "log_uniform", 20.0, 2.0, 300.0),
    Parameter("gamma", "uniform", 0.25, 0.02, 0.5),
    Parameter("delta", "uniform", 0.05, 0.005, 0.3),
    Parameter("epsilon", "log_uniform", 1e-3, 1e-4, 5e-2),
    Parameter("zeta", "log_uniform", 1e-3, 1e-4, 1.0),
    Parameter("lr", "log_uniform", 1.0, 0.1, 6.0),
)
KAPPA = Parameter("kappa", "log_uniform", 0.5, 0.01, 10.0)


@functools.cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by name, in the order in which `compose` writes them."""
    return {kind.name: kind for kind in (*grammar_force.KINDS, *grammar_memory.KINDS, *grammar_release.KINDS)}


@dataclass(frozen=True)
class Genome:
    """A design as data: `backbone` values by name, `terms` values by kind and parameter. Immutable; build with `genome(...)`."""

    backbone: tuple[tuple[str, float], ...]
    terms: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = field(default=())

    def term_names(self) -> tuple[str, ...]:
        """Kinds present, in writing order."""
        return tuple(name for name, _ in self.terms)

    def backbone_values(self) -> dict[str, float]:
        return dict(self.backbone)

    def term_values(self) -> dict[str, dict[str, float]]:
        return {name: dict(values) for name, values in self.terms}

    def values(self) -> dict[str, float]:
        """All hyperparameters, flat: what HYPER_SPACE will hold as defaults."""
        return self.backbone_values() | {name: value for _, values in self.terms for name, value in values}

    def has_release(self) -> bool:
        """True when at least one gate is there, and with it `kappa`."""
        return any(kinds()[name].slot == "release" for name in self.term_names())

    def to_json(self) -> str:
        """Canonical JSON: equal genomes give equal text."""
        return canonical_json({"backbone": self.backbone_values(), "terms": self.term_values()}, ascii_only=True)

    def key(self) -> str:
        """sha256 of the canonical JSON."""
        return text_sha(self.to_json())


def parameters_of(genome: Genome) -> dict[str, Parameter]:
    """Every hyperparameter of the composed file by name; `kappa` only with a release term."""
    result = {parameter.name: parameter for parameter in backbone_parameters(genome.has_release())}
    for name in genome.term_names():
        result.update({parameter.name: parameter for parameter in kinds()[name].parameters})
    return result


def backbone_parameters(release: bool) -> tuple[Parameter, ...]:
    """The parameters that every genome has. release: whether a release term is among its terms."""
    return (*BACKBONE, KAPPA) if release else BACKBONE


def genome(backbone: Mapping[str, float] | None = None, terms: Mapping[str, Mapping[str, float]] | None = None) -> Genome:
    """A valid genome: absent values get their defaults, values are clipped to their bounds, terms are put in writing order.

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
    release = any(kind.slot == "release" for kind in ordered)
    if not release:
        backbone.pop(KAPPA.name, None)
    return Genome(
        backbone=_filled("the backbone", backbone_parameters(release), backbone),
        terms=tuple((kind.name, _filled(kind.name, kind.parameters, terms[kind.name])) for kind in ordered),
    )


def from_json(text: str) -> Genome:
    """Inverse of `Genome.to_json`."""
    data: dict[str, Any] = json.loads(text)
    return genome(data["backbone"], data["terms"])


def clip(parameter: Parameter, value: float) -> float:
    """`value` inside the parameter's bounds; whole for an int."""
    bounded = min(max(value, parameter.low), parameter.high)
    return float(round(bounded)) if parameter.type == "int" else float(bounded)


def without(source: Genome, names: Iterable[str]) -> Genome:
    """`source` less the named kinds and all kinds that need one of them."""
    gone = set(names)
    while more := {name for name in source.term_names() if name not in gone and gone.intersection(kinds()[name].requires)}:
        gone |= more
    return genome(source.backbone_values(), {name: values for name, values in source.term_values().items() if name not in gone})


def _filled(owner: str, parameters: Iterable[Parameter], values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    known = {parameter.name: parameter for parameter in parameters}
    if unknown := sorted(set(values) - set(known)):
        raise InputError(f"{owner} has no parameter {unknown[0]!r}", wanted=f"one of {', '.join(known)}")
    return tuple((name, clip(parameter, float(values.get(name, parameter.default)))) for name, parameter in known.items())


BASELINE = Genome(backbone=tuple((parameter.name, parameter.default) for parameter in BACKBONE))


@functools.cache
def design_340() -> Genome:
    """The paper's best design as a genome (values of Table S1)."""
    return genome(
        {"alpha": 11.235688545, "beta": 42.065836371, "gamma": 0.281994359, "delta": 0.080119353, "epsilon": 8.49962e-4, "zeta": 0.021103039,
         "kappa": 1.014919369, "lr": 2.986207806},
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
