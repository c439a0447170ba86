"""OpenEvolve's config.yaml: what it names and evolake knows is used, the rest is said to be unused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.errors import InputError
from evolake.reading import Unparsable, parse_yaml


@dataclass(frozen=True)
class Config:
    """What of a config.yaml is used; None where it says nothing. unused: names of what it says next to
    that."""

    iterations: int | None = None
    timeout_s: float | None = None
    population: int | None = None
    islands: int | None = None
    features: tuple[str, ...] = ()
    bins: int | None = None
    cascade: bool | None = None
    thresholds: tuple[float, ...] = ()
    instructions: str = ""
    unused: tuple[str, ...] = ()


LARGEST = 10**9
"""Largest count that is used."""
USED = {
    "max_iterations": "iterations",
    "evaluator.timeout": "timeout_s",
    "database.population_size": "population",
    "database.num_islands": "islands",
    "database.feature_dimensions": "features",
    "database.feature_bins": "bins",
    "evaluator.cascade_evaluation": "cascade",
    "evaluator.cascade_thresholds": "thresholds",
    "prompt.system_message": "instructions",
}
"""Name in config.yaml -> field above."""


def read_config(data: bytes, where: str) -> Config:
    """Read a config.yaml. Raises InputError where it is none, or a value that is used does not fit."""
    try:
        loaded = parse_yaml(data, name=where)
    except Unparsable as error:
        raise InputError(f"{where} is no YAML", got=error.got, do="fix the file") from None
    if loaded is not None and not isinstance(loaded, dict):
        raise InputError(
            f"{where} is no table", wanted="names with values", got=type(loaded).__name__, do="fix the file"
        )
    flat = dict(_flat(loaded or {}))
    result = {
        USED[name]: _fitting(name, value, where)
        for name, value in flat.items()
        if name in USED and value is not None
    }
    return Config(**result, unused=tuple(sorted(name for name in flat if name not in USED)))


def _flat(table: Mapping[Any, Any], before: str = "") -> list[tuple[str, Any]]:
    return [
        entry
        for name, value in table.items()
        for entry in (
            _flat(value, f"{before}{name}.") if isinstance(value, dict) else [(f"{before}{name}", value)]
        )
    ]


def _fitting(name: str, value: Any, where: str) -> Any:
    numbers = isinstance(value, int | float) and not isinstance(value, bool)
    field = USED[name]
    if (
        field in ("iterations", "population", "islands", "bins")
        and isinstance(value, int)
        and numbers
        and 0 < value <= LARGEST
    ):
        return value
    if field == "timeout_s" and numbers and 0 < value <= 1e6:
        return float(value)
    if field == "features" and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if (
        field == "thresholds"
        and isinstance(value, list)
        and all(isinstance(item, int | float) for item in value)
    ):
        return tuple(float(item) for item in value)
    if field == "cascade" and isinstance(value, bool):
        return value
    if field == "instructions" and isinstance(value, str):
        return value
    if field == "bins" and isinstance(value, dict):
        return None
    raise InputError(
        f"{where}: {name} cannot be used",
        wanted="a value as OpenEvolve has it",
        got=repr(value)[:80],
        do="fix or remove it",
    )
