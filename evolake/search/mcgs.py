"""Monte Carlo graph search: which designs to build on next.

Zhang, Sipling and Di Ventra 2026, section 4.3 and equation 1. Monte Carlo tree search assumes one parent; a
design has several, with weights, so visits flow up a graph. Creating a child adds its edge's weight w to the
parent's visits. From there every path continues by itself, breadth first: a contribution that goes from depth
d to d + 1 is multiplied by that edge's weight and 0.9**(d + 1), the first parent being depth 0. An ancestor
at depth n thus fades as 0.9**(n(n+1)/2), and a contribution below 1e-4 is dropped. Visits start at 0 (the
paper's code starts at 1).

    UCB_j = r_j + 0.1 * sqrt(N_total) / (1 + n_j),   r_j = 1 - (rank_j - 1)/(n - 1),   N_total = sum of all n_j

A graph is never changed: it is rebuilt each cycle, as the consensus that ranks the designs has changed
anyway.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.errors import InputError

FADE = 0.9
NEGLIGIBLE = 1e-4
EXPLORATION = 0.1
CHUNK = 8192
SUM_SLACK = 1e-6

Identifier = int | str


@dataclass(frozen=True)
class RankedDesign:
    """A design as the planner sees it. visits: how much has been built on it; reward: r_j in [0, 1]; ucb:
    higher is more promising."""

    design_id: Identifier
    visits: float
    reward: float
    ucb: float


class SearchGraph:
    """Designs and the weighted edges from parents to children, without cycles.

    Args:
        nodes: ids of all designs, each once.
        edges: (parent id, child id, weight); the weights of a child are in [0, 1] and sum to at most 1.

    Raises:
        InputError: an id twice, an edge to a design that is not a node, an edge twice, weights out of range,
            a cycle.
    """

    def __init__(self, nodes: Iterable[Identifier], edges: Iterable[tuple[Identifier, Identifier, float]]):
        self.nodes: tuple[Identifier, ...] = tuple(nodes)
        self._position = {name: position for position, name in enumerate(self.nodes)}
        if len(self._position) != len(self.nodes):
            got = f"{len(self.nodes)} ids, {len(self._position)} different"
            raise InputError(
                "a design is listed twice in the search graph", wanted="each design once", got=got
            )
        rows = [(self._find(child), self._find(parent), weight) for parent, child, weight in edges]
        table = np.array(rows, dtype=[("child", np.int64), ("parent", np.int64), ("weight", np.float64)])
        self._edges = np.sort(table, order=("child", "parent"))
        self._first = np.searchsorted(self._edges["child"], np.arange(len(self.nodes) + 1))
        self._check_weights()
        self._check_no_cycle()
        self.visits: np.ndarray = self._count_visits()
        self.visits.flags.writeable = False

    @property
    def total_visits(self) -> float:
        """N_total, the sum of all visits."""
        return float(self.visits.sum())

    def ucb(self, order: Sequence[Identifier]) -> list[RankedDesign]:
        """Return designs of `order` (ids, best consensus first), the most promising first; ties keep the
        consensus order.

        Ranks and n are those of `order`; N_total counts the whole graph.

        Raises:
            InputError: `order` names a design twice or one that is not in the graph.
        """
        if len(set(order)) != len(order):
            got = f"{len(order)} ids, {len(set(order))} different"
            raise InputError("the consensus order names a design twice", wanted="each design once", got=got)
        visits = self.visits[[self._find(name) for name in order]] if order else np.zeros(0)
        reward = 1 - np.arange(len(order)) / max(len(order) - 1, 1)
        value = reward + EXPLORATION * np.sqrt(self.total_visits) / (1 + visits)
        return [
            RankedDesign(
                design_id=order[place],
                visits=float(visits[place]),
                reward=float(reward[place]),
                ucb=float(value[place]),
            )
            for place in np.argsort(-value, kind="stable")
        ]

    def parents(self, design_id: Identifier) -> dict[Identifier, float]:
        """Return parents of a design and the weights of its edges."""
        position = self._find(design_id)
        rows = self._edges[self._first[position] : self._first[position + 1]]
        return {self.nodes[row["parent"]]: float(row["weight"]) for row in rows}

    def _find(self, name: Identifier) -> int:
        try:
            return self._position[name]
        except KeyError:
            raise InputError(
                f"design {name} is not in the search graph", wanted="a design that is a node", got=str(name)
            ) from None

    def _check_weights(self) -> None:
        same = (self._edges["child"][1:] == self._edges["child"][:-1]) & (
            self._edges["parent"][1:] == self._edges["parent"][:-1]
        )
        if same.any():
            child, parent, _ = self._edges[int(np.argmax(same))]
            raise InputError(
                f"design {self.nodes[child]} names its parent {self.nodes[parent]} twice",
                wanted="one edge per parent",
                got="two",
            )
        weight = self._edges["weight"]
        bad = ~((weight >= 0) & (weight <= 1))
        if bad.any():
            child, parent, value = self._edges[int(np.argmax(bad))]
            raise InputError(
                f"the weight of edge {self.nodes[parent]} -> {self.nodes[child]} cannot be used",
                wanted="0 to 1",
                got=f"{value}",
            )
        sums = np.bincount(self._edges["child"], weights=weight, minlength=len(self.nodes))
        if (sums > 1 + SUM_SLACK).any():
            child = int(np.argmax(sums))
            what = f"the weights of the parents of {self.nodes[child]} are too large"
            raise InputError(what, wanted="a sum of at most 1", got=f"{sums[child]:.6g}")

    def _check_no_cycle(self) -> None:
        """Take away designs without parents until none is left (Kahn 1962)."""
        waiting = np.diff(self._first).tolist()
        by_parent = np.argsort(self._edges["parent"], kind="stable")
        children = self._edges["child"][by_parent].tolist()
        first = np.searchsorted(self._edges["parent"][by_parent], np.arange(len(self.nodes) + 1)).tolist()
        free = [node for node, count in enumerate(waiting) if count == 0]
        taken = 0
        while free:
            node = free.pop()
            taken += 1
            for child in children[first[node] : first[node + 1]]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    free.append(child)
        if taken < len(self.nodes):
            stuck = [str(self.nodes[node]) for node, count in enumerate(waiting) if count > 0]
            raise InputError(
                "the search graph has a cycle",
                wanted="no design among its own ancestors",
                got=f"a cycle at or above design {stuck[0]}",
                do="look at the derivations of that design",
            )

    def _count_visits(self) -> np.ndarray:
        """Visits of all nodes, (n,). All paths that have come to the same depth go up together, some thousand
        starting edges at a time."""
        visits = np.zeros(len(self.nodes))
        for start in range(0, len(self._edges), CHUNK):
            at = self._edges["parent"][start : start + CHUNK]
            amount = self._edges["weight"][start : start + CHUNK]
            depth = 0
            visits += np.bincount(at, weights=amount, minlength=len(visits))
            while len(at):
                upward = self._first[at + 1] - self._first[at]
                path = np.repeat(np.arange(len(at)), upward)
                offset = np.arange(len(path)) - np.repeat(np.cumsum(upward) - upward, upward)
                edge = self._first[at[path]] + offset
                depth += 1
                arriving = amount[path] * self._edges["weight"][edge] * FADE**depth
                counts = arriving >= NEGLIGIBLE
                at, amount = self._edges["parent"][edge[counts]], arriving[counts]
                visits += np.bincount(at, weights=amount, minlength=len(visits))
        return visits
