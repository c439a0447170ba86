"""What assets read of each other, and the edges that Dagster is given: the transitive reduction.

An asset names everything that it reads, and the graph that people look at should still be a chain. So an
input that another one implies is no edge of Dagster's: it is loaded from the lake. A change of it must be
seen all the same, so what is between the two hands it on: the data version of an asset covers its own content
and that of whatever is read past it (`handed_on`).
"""

from __future__ import annotations

from collections.abc import Iterable

Name = tuple[str, ...]
_edges: dict[Name, frozenset[Name]] = {}
_past: dict[Name, frozenset[Name]] = {}
"""Asset -> what it reads without an edge."""


def declare_reads(asset: Name, reads: Iterable[Name]) -> frozenset[Name]:
    """From now on `asset` reads `reads`; gives those that are no edge because another of them implies them.
    What is read is declared first."""
    read = frozenset(reads)
    implied = frozenset(name for name in read if any(name in _above(other) for other in read - {name}))
    _edges[asset], _past[asset] = read - implied, implied
    return implied


def handed_on(asset: Name) -> list[Name]:
    """Return what others read past `asset`: it is between the two. In order."""
    above = _above(asset)
    return sorted(
        {name for reader, names in _past.items() if asset in _above(reader) for name in names & above}
    )


def _above(asset: Name) -> set[Name]:
    """Everything that `asset` is based on."""
    result: set[Name] = set()
    waiting = list(_edges.get(asset, ()))
    while waiting:
        if (name := waiting.pop()) not in result:
            result.add(name)
            waiting += _edges.get(name, ())
    return result
