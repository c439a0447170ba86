"""Splits by lineage: two sides of a set of artifacts, none of which shares an ancestor with one of the other
side.

An artifact is on the side of its roots, the ancestors without parents. One whose roots are of both sides is
on neither: it would tie them together, and where operators compose freely, ties make one lineage of nearly
everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence


def roots_of(parents: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return artifact -> those without parents that it descends from, itself where it has none.

    parents: artifact -> its parents. A parent that is not among the artifacts is a root: it left the lake.
    """
    result: dict[str, frozenset[str]] = {}
    for artifact in parents:
        path = [artifact]
        while path:
            item = path[-1]
            above = parents.get(item) or ()
            missing = [parent for parent in above if parent not in result and parent not in path]
            if missing:
                path.append(missing[0])
            else:
                result[item] = frozenset[str]().union(
                    *(result.get(parent, frozenset()) for parent in above)
                ) or frozenset({item})
                path.pop()
    return result


def held(artifact: str, roots: Mapping[str, Collection[str]], is_held: Callable[[str], bool]) -> bool | None:
    """Return whether all roots of an artifact are held out; None where some are and some are not.

    Args:
        roots: as of `roots_of`; an artifact that is not among them is its own root. is_held: of a root's id
            alone, so that a later set moves none.
    """
    sides = {is_held(root) for root in roots.get(artifact) or (artifact,)}
    return sides.pop() if len(sides) == 1 else None
