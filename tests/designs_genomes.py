"""Genomes for tests: the baseline in other forms, and variants of the reference design `open_search`."""

from pathlib import Path

from evolake.designs.genome.open_behaviour import Memory
from evolake.designs.genome.open_expression import Expression, places, replaced
from evolake.designs.genome.open_genome import (
    Constant,
    OpenGenome,
    Parameter,
    baseline,
    open_genome,
    read_genome,
    with_values,
)

OPEN_SEARCH = (
    Path(__file__).parents[1] / "data_lake" / "seeds" / "reference_designs" / "open_search.genome.json"
)
MAJORITY_TERM: Expression = ("mul", "k1", ("square", ("at", "v")))
"""What `open_search` subtracts from each literal's force."""
DRAG: Expression = ("mul", "pull", ("sub", 1.0, ("mul", 0.3, ("square", "v"))))
"""A drive of v that slows variables near their bounds."""


def changed(values: dict[str, float] | None = None, **drives: Expression) -> OpenGenome:
    """Return the baseline with other drives and other values of its parameters."""
    base = baseline()
    return with_values(open_genome(dict(base.drives) | drives, base.memories, base.constants), values or {})


def open_search() -> OpenGenome:
    """Return the reference design `open_search` as a genome."""
    return read_genome(OPEN_SEARCH.read_text())


def without_the_majority_term() -> OpenGenome:
    """Return `open_search` without its term -k1*v^2."""
    return _with_term(0.0)


def behind_a_slow_memory(rate: float, threshold: float, sharpness: float) -> OpenGenome:
    """Return `open_search` with its term times a slow memory of the share of clauses with three true
    literals.

    The memory moves by `rate` per step towards 1 where that share is above `threshold`, and towards 0 below.
    """
    follows = ("sub", ("sigmoid", ("mul", "sharpness", ("sub", "true3", "threshold"))), "gate")
    memory = Memory("gate", "scalar", 0.0, 1.0, ("mul", ("mul", "rate", "speed"), follows))
    values = {"rate": rate, "threshold": threshold, "sharpness": sharpness}
    fresh = [
        Constant(Parameter(name, "log_uniform", 0.0, value / 100, value * 100), value)
        for name, value in values.items()
    ]
    return _with_term(("mul", "gate", MAJORITY_TERM), (memory,), fresh)


def _with_term(
    term: Expression, memories: tuple[Memory, ...] = (), fresh: list[Constant] | None = None
) -> OpenGenome:
    whole = open_search()
    force = whole.drive("force")
    path = next(path for path, held in places(force) if held == MAJORITY_TERM)
    drives = dict(whole.drives) | {"force": replaced(force, path, term)}
    return open_genome(drives, [*whole.memories, *memories], [*whole.constants, *(fresh or [])])
