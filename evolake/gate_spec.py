"""A gate as data. One tuple of these per line says which gates there are and in which order, and everything
else follows from it: the verdicts' numbers, the assets that do them, counts in checks, the funnel, columns of
the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.lazy import Lazy

Evidence = Mapping[str, Any]
Collect = Callable[[Any], Evidence]


@dataclass(frozen=True)
class GateSpec:
    """One gate of a line.

    Attributes:
        number: its place, as verdicts show it; gates that come one after the other may share a number. name:
            what rules and verdicts call it.
        collect: (what the line hands its gates) -> evidence, which is imported when the gate is asked if it
            is lazy; None for what is found out later than by asking.
        evidence: keys that its evidence has. Stored evidence without one of them is collected again, e.g. of
            a gate that asks for more since.
        asset: the asset that does it, with the gates next to it; "" for one of the gate's own name.
        about: what it asks, in a sentence. label: its name on figures; "" for its name.
    """

    number: int
    name: str
    collect: Collect | Lazy[Collect] | None
    evidence: tuple[str, ...] = ()
    asset: str = ""
    about: str = ""
    label: str = ""

    @property
    def made_by(self) -> str:
        """The asset that does it."""
        return self.asset or self.name

    def collector(self) -> Collect:
        """Return the function that collects its evidence."""
        if self.collect is None:
            raise LookupError(f"nothing collects evidence for the gate {self.name}")
        return self.collect if callable(self.collect) else self.collect.load()


def gate_named(gates: Iterable[GateSpec], name: str) -> GateSpec:
    """Return the gate called `name`. Raises KeyError."""
    for gate in gates:
        if gate.name == name:
            return gate
    raise KeyError(name)


def gates_of_assets(gates: Iterable[GateSpec]) -> dict[str, tuple[GateSpec, ...]]:
    """Return asset -> its gates, both in order."""
    by_asset: dict[str, tuple[GateSpec, ...]] = {}
    for gate in gates:
        by_asset[gate.made_by] = (*by_asset.get(gate.made_by, ()), gate)
    return by_asset


def gates_before(gates: Iterable[GateSpec], asset: str) -> tuple[GateSpec, ...]:
    """Return the gates of the assets before `asset`; all of them where `asset` does none."""
    before: list[GateSpec] = []
    for gate in gates:
        if gate.made_by == asset:
            break
        before.append(gate)
    return tuple(before)
