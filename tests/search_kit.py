"""What every search over literals must do: `conforms(make)`."""

from __future__ import annotations

import math

import numpy as np

from evolake.programs.search.searches import Literals, MakeSearch

PROGRAM = {
    "program.py": '# EVOLVE-BLOCK-START\nA = 3\nB = -0.5\nC = True\nD = "ab"\nE = "c"\n'
    "F = 2.0  # EVOLVE-PARAM 1 4\n# EVOLVE-BLOCK-END\n"
}
WITHOUT = {"program.py": "# EVOLVE-BLOCK-START\nx = y\n# EVOLVE-BLOCK-END\n"}
ROUNDS = 12


def merit_of(values: tuple) -> float:
    """Higher for smaller numbers; some fail."""
    numbers = [float(item) for item in values if not isinstance(item, str)]
    return -math.inf if len(numbers) > 2 and numbers[1] > 1.5 else -sum(number**2 for number in numbers)


def asked_by(make: MakeSearch, seed: int, texts: dict[str, str] = PROGRAM) -> list[dict[str, str]]:
    """The programs of some rounds."""
    literals = Literals(texts)
    space = literals.space
    search, result = make(space, merit_of(space.values), np.random.default_rng(seed), 3), []
    for _ in range(ROUNDS):
        asked = search.ask()
        if not len(asked):
            break
        result += [literals.program(values) for values in asked]
        search.tell(asked, [merit_of(tuple(values)) for values in asked])
    return result


def conforms(make: MakeSearch) -> None:
    """It asks for programs that differ in literals alone and can be read, the same again from the same seed,
    ends or continues after failures, and asks for nothing where nothing can be changed."""
    found = asked_by(make, 1)
    assert found and any(one != PROGRAM for one in found)
    assert found == asked_by(make, 1)
    for one in found:
        compile(one["program.py"], "program.py", "exec")
        lines = one["program.py"].splitlines()
        assert [line.partition(" = ")[0] for line in lines] == [
            line.partition(" = ")[0] for line in PROGRAM["program.py"].splitlines()
        ]
    assert asked_by(make, 1, WITHOUT) == []
