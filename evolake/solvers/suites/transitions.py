"""Questions about systems that change step by step, as formulas: does a small sequential circuit reach a
state (bounded model checking: Biere, Cimatti, Clarke and Zhu 1999), and does a puzzle have a plan of so many
moves (planning as satisfiability: Kautz and Selman 1992).

Either answer is possible, and a state before the last step counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.reading.formula import Formula, formula_of
from evolake.solvers.suites.circuits import Circuit

Literal = tuple[int, int]
"""A place among inputs and bits of counters, and 1 if its value is inverted."""


@dataclass(frozen=True)
class Counters:
    """Counters of `bits` bits that control each other. In a step, a counter takes the value of another one if
    both conditions of `load` hold; else it adds one if either condition of `count` holds."""

    inputs: int
    bits: int
    rules: tuple[tuple[int, tuple[Literal, Literal], tuple[Literal, Literal]], ...]
    """For each counter: the other one, load, count."""

    def after(self, state: Sequence[int], given: Sequence[int]) -> tuple[int, ...]:
        """Return the state one step later. given: the values of the inputs."""
        places = [*given, *(value >> place & 1 for value in state for place in range(self.bits))]

        def read(literal: Literal) -> int:
            return places[literal[0]] ^ literal[1]

        return tuple(
            state[other]
            if read(load[0]) and read(load[1])
            else (value + (read(count[0]) or read(count[1]))) % (1 << self.bits)
            for value, (other, load, count) in zip(state, self.rules, strict=True)
        )


def drawn_counters(
    counters: int, bits: int, inputs: int, steps: int, seed: int
) -> tuple[Counters, tuple[int, ...]]:
    """Return a machine, and the state in which a walk of twice as many steps from zero ends."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def pair() -> tuple[Literal, Literal]:
        first, second = rng.permutation(inputs + counters * bits)[:2].tolist()
        signs = rng.integers(2, size=2).tolist()
        return (first, signs[0]), (second, signs[1])

    rules = tuple(
        (int(number + rng.integers(1, counters)) % counters, pair(), pair()) for number in range(counters)
    )
    machine = Counters(inputs, bits, rules)
    state = (0,) * counters
    for _ in range(2 * steps):
        state = machine.after(state, rng.integers(2, size=inputs).tolist())
    return machine, state


def reachable(counters: int, bits: int, inputs: int, steps: int, seed: int) -> Formula:
    """Ask whether drawn counters (`Counters`) that start at zero reach a state in at most `steps` steps; the
    state is the end of a walk that is twice as long."""
    machine, target = drawn_counters(counters, bits, inputs, steps, seed)
    circuit = Circuit()
    state = [[-circuit.true] * bits for _ in range(counters)]
    hits = []
    for step in range(steps + 1):
        hits.append(circuit.true)
        for wires, value in zip(state, target, strict=True):
            for place, wire in enumerate(wires):
                hits[-1] = circuit.both(hits[-1], wire if value >> place & 1 else -wire)
        if step == steps:
            break
        places = circuit.wires(inputs) + [wire for wires in state for wire in wires]
        state = [
            _stepped(circuit, wires, state[other], *(_read(places, pair) for pair in (load, count)))
            for wires, (other, load, count) in zip(state, machine.rules, strict=True)
        ]
    circuit.clauses.append(hits)
    return circuit.formula()


def _read(places: list[int], pair: tuple[Literal, Literal]) -> list[int]:
    return [-places[place] if inverted else places[place] for place, inverted in pair]


def _stepped(
    circuit: Circuit, wires: list[int], other: list[int], load: list[int], count: list[int]
) -> list[int]:
    one = -circuit.both(-count[0], -count[1])
    counted = circuit.add(wires, [one] + [-circuit.true] * (len(wires) - 1))
    loads = circuit.both(*load)
    return [circuit.choose(loads, a, b) for a, b in zip(other, counted, strict=True)]


def drawn_board(width: int, height: int, seed: int) -> list[int]:
    """Return the tile of each cell, 0 for the hole: uniformly drawn among the boards from which the
    ordered one can be reached."""
    rng = np.random.Generator(np.random.PCG64(seed))
    board = rng.permutation(width * height).tolist()
    swaps = sum(a > b for a, b in itertools.combinations(board, 2))
    hole = board.index(0)
    if (swaps + hole % width + hole // width) % 2:  # a move changes both
        a, b = [cell for cell in range(3) if cell != hole][:2]
        board[a], board[b] = board[b], board[a]
    return board


def neighbours(width: int, height: int, cell: int) -> Iterator[int]:
    """Yield the cells that share a side with a cell."""
    y, x = divmod(cell, width)
    if x:
        yield cell - 1
    if x < width - 1:
        yield cell + 1
    if y:
        yield cell - width
    if y < height - 1:
        yield cell + width


def sliding_puzzle(width: int, height: int, steps: int, seed: int) -> Formula:
    """Ask for a plan of at most `steps` moves that orders the tiles of a drawn board, the hole first."""
    cells = range(width * height)
    n = len(cells)

    def at(step: int, cell: int, tile: int) -> int:
        return (step * n + cell) * n + tile + 1

    clauses = [[at(0, cell, tile)] for cell, tile in enumerate(drawn_board(width, height, seed))]
    clauses += [[at(steps, cell, cell)] for cell in cells]
    for step in range(steps + 1):
        for a in cells:
            clauses += [[at(step, a, tile) for tile in cells], [at(step, cell, a) for cell in cells]]
            for tile, other in itertools.combinations(cells, 2):
                clauses += [
                    [-at(step, a, tile), -at(step, a, other)],
                    [-at(step, tile, a), -at(step, other, a)],
                ]
    for step, a in itertools.product(range(steps), cells):
        near = list(neighbours(width, height, a))
        clauses.append([-at(step, a, 0), *(at(step + 1, cell, 0) for cell in (a, *near))])
        for tile in cells[1:]:
            clauses.append([-at(step, a, tile), at(step + 1, a, 0), at(step + 1, a, tile)])
            clauses += [
                [-at(step, a, tile), -at(step, cell, 0), -at(step + 1, a, 0), at(step + 1, cell, tile)]
                for cell in near
            ]
    return formula_of((steps + 1) * n * n, clauses)
