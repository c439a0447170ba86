"""Formulas about systems that change: their answers are those of a search through all states."""

import itertools
from functools import partial

import pytest
from pysat.formula import CNF
from pysat.solvers import Solver

from evolake.reading.formula import Formula, write_dimacs
from evolake.solvers.suites.generators import generate
from evolake.solvers.suites.transitions import drawn_board, drawn_counters


def answer(generator, **parameters):
    formula = generate(generator, parameters)
    assert isinstance(formula, Formula)
    text = write_dimacs(formula).decode()
    with Solver("glucose4", bootstrap_with=CNF(from_string=text).clauses) as solver:
        return "SAT" if solver.solve() else "UNSAT"


def reached(start, following, steps):
    """All states that are at most so many steps away."""
    found, border = {start}, {start}
    for _ in range(steps):
        border = {after for state in border for after in following(state)} - found
        found |= border
    return found


def stepped(machine, state):
    """The states that one step leads to."""
    return [machine.after(state, given) for given in itertools.product((0, 1), repeat=machine.inputs)]


@pytest.mark.parametrize("sizes", [(2, 2, 1, 3), (3, 2, 2, 2), (2, 3, 2, 4), (4, 1, 1, 3)])
def test_counters_reach_just_the_states_that_a_search_reaches(sizes: tuple[int, int, int, int]):
    counters, bits, inputs, steps = sizes
    expected, found = [], []
    for seed in range(20):
        machine, target = drawn_counters(*sizes, seed)
        states = reached((0,) * counters, partial(stepped, machine), steps)
        expected.append("SAT" if target in states else "UNSAT")
        found.append(answer("reach", counters=counters, bits=bits, inputs=inputs, steps=steps, seed=seed))
    assert found == expected and set(found) == {"SAT", "UNSAT"}


def test_counters_load_if_both_conditions_hold_and_count_if_one_does():
    machine, _ = drawn_counters(2, 3, 1, 1, 0)
    always, never, given = (0, 0), (0, 1), [1]
    for load, count, expected in [
        ((always, always), (never, never), (5, 7)),
        ((always, never), (never, always), (0, 6)),
        ((never, never), (never, never), (7, 5)),
    ]:
        rules = ((1, load, count), (0, load, count))
        assert type(machine)(1, 3, rules).after((7, 5), given) == expected


def moves(width, height, board):
    """The boards that one move leads to."""
    hole = board.index(0)
    for cell in range(len(board)):
        if abs(cell % width - hole % width) + abs(cell // width - hole // width) == 1:
            after = list(board)
            after[hole], after[cell] = after[cell], 0
            yield tuple(after)


@pytest.mark.parametrize("size", [(2, 2), (3, 2), (2, 3)])
def test_a_board_has_a_plan_as_long_as_the_shortest_one_and_none_shorter(size: tuple[int, int]):
    cells = size[0] * size[1]
    distance = {}
    border, length = {tuple(range(cells))}, 0
    while border:
        distance |= dict.fromkeys(border, length)
        border, length = {new for board in border for new in moves(*size, board)} - set(distance), length + 1
    for seed in range(6):
        optimum = distance[tuple(drawn_board(*size, seed))]
        for steps in range(max(0, optimum - 2), optimum + 2):
            said = answer("sliding", width=size[0], height=size[1], steps=steps, seed=seed)
            assert said == ("SAT" if steps >= optimum else "UNSAT")
