"""Draw formulas that no role has seen: a suite's recipes with other seeds, products or graphs, their
variables renamed, clauses and literals shuffled; and those of the correctness gate.

A duel of a cycle is fought on them, so that a variant which knows the formulas of the suite (by their
clauses, by their size, or as a heuristic that suits just these) gains nothing there. Each also has a few
fresh variables and clauses, so that exact sizes, parities and ratios decide nothing. Parameters stay those of
the suite, and with them the difficulty. A status is kept only if the generator makes it so; else it is
unknown, and an answer is judged by its model or its proof.

Formulas of the correctness gate are small, of many kinds, each drawn for itself, no two alike and none a copy
of another. Every model is evaluated and every proof checked there, so that no status need be known
beforehand. Small, since a proof costs several times what it took to find: all of them take a solver some
seconds together.

Seeds of unseen formulas come from a keyed hash under the lake's secret (`evolake.lake.secret`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.lake.secret import secret_seed
from evolake.reading.formula import Formula, padded, read_dimacs, shuffled, write_dimacs
from evolake.solvers.suites.combinatorial import coloring, drawn_principle, quasigroup_with_holes, tseitin
from evolake.solvers.suites.generators import generate, multiplier, pcg, planted_ksat, random_ksat
from evolake.solvers.suites.spec import (
    Instance,
    Recipe,
    Status,
    Suite,
    Trees,
    build,
    load_spec,
    recipes_of,
    with_files,
)

FRESH, CARRIED, PADDED = "fresh", "carried", "padded"
CARRY_COPIES = 2
"""Renamed and shuffled copies of each formula that is carried over."""
PADDED_COPIES = 2
"""Further copies of each, with fresh variables and clauses."""
BY_CONSTRUCTION: dict[str, Status] = {
    "planted": "SAT",
    "qgh": "SAT",
    "arx": "SAT",
    "filter": "SAT",
    "tseitin": "UNSAT",
    "counts": "UNSAT",
    "miter": "UNSAT",
}
"""Generators whose formulas have one status whatever the seed. Of what cnfgen makes, see `principles`; where
those draw nothing, the lock's holds."""


@dataclass(frozen=True)
class FreshKey:
    """What the fresh formulas of one cycle are drawn by."""

    secret: bytes = field(repr=False)
    root_seed: int
    cycle: str

    def generator(self, name: str) -> np.random.Generator:
        """Return the generator of the formula `name`."""
        return pcg(secret_seed(self.secret, self.root_seed, FRESH, self.cycle, name))


def fresh_suite(
    name: str,
    blobs: BlobStore,
    cache: Path,
    key: FreshKey,
    *,
    seeds: Path,
    count: int = 0,
    trees: Trees | None = None,
) -> Suite:
    """Return the suite `name` again for one cycle, as files; the same for the same key.

    Each recipe becomes one formula, in as many shuffled copies as it asks for (`Recipe.duel_shuffles`); an
    instance's `base` names its formula. A suite's own shuffled copies become separate formulas if their
    generator draws anything, else copies of the one formula.

    Args:
        seeds, trees: as for `materialize_suite`. count: only the first so many recipes, 0 for all.

    Raises:
        InputError: no such suite, or a recipe that cannot be made.
    """
    spec = load_spec(name, seeds)
    instances = []
    for recipe in recipes_of(spec)[: count or None]:
        rng = key.generator(recipe.name)
        locked: Status = spec.locked.get(recipe.name, {}).get("status", recipe.status)
        formula, status = fresh_formula(recipe, locked, rng, trees)
        label = f"{recipe.name}@{key.cycle}"
        base = f"{recipe.base}@{key.cycle}" if recipe.shuffle and not _draws(recipe) else label
        for number in range(recipe.duel_shuffles):
            sha = blobs.put(write_dimacs(shuffled(padded(formula, rng), rng)))
            shuffle = recipe.shuffle + number if base != label else number
            instances.append(
                Instance(
                    f"{label}~{number}" if number else label,
                    recipe.family,
                    status,
                    sha,
                    shuffle=shuffle,
                    base=base,
                )
            )
    return with_files(Suite(f"{name}-{FRESH}", tuple(instances)), blobs, cache)


def _draws(recipe: Recipe) -> bool:
    """Return whether `fresh_formula` gives another formula than the recipe's, and not the same one
    renamed."""
    if recipe.generator == "cnfgen":
        return drawn_principle(str(recipe.parameters.get("args", "")), pcg(0)) is not None
    return recipe.generator == "mult" or "seed" in recipe.parameters


def fresh_formula(
    recipe: Recipe, locked: Status, rng: np.random.Generator, trees: Trees | None = None
) -> tuple[Formula, Status]:
    """Return a formula as the recipe's, of another seed, and its status where that is known by how it is
    made. locked: the status of the recipe's own.
    """
    if recipe.generator is None:
        return read_dimacs(build(recipe, trees), lenient=True), locked
    parameters = dict(recipe.parameters)
    status: Status = status_by_construction(recipe.generator, parameters)
    if (
        recipe.generator == "cnfgen"
        and (drawn := drawn_principle(str(parameters.get("args", "")), rng)) is not None
    ):
        return drawn, "UNSAT"
    if recipe.generator == "mult":
        parameters, status = _other_product(parameters, rng)
    elif "seed" in parameters:
        parameters["seed"] = int(rng.integers(2**62))
    else:
        status = locked
    made = generate(recipe.generator, parameters)
    return (made if isinstance(made, Formula) else read_dimacs(made, lenient=True)), status


def status_by_construction(generator: str, parameters: Mapping[str, Any]) -> Status:
    """Return the status that each formula of a generator has with these parameters, whatever its seed;
    "unknown" where that cannot be shown."""
    match generator:
        case "xor":
            return "SAT" if parameters["satisfiable"] else "UNSAT"
        case "even":
            return "UNSAT" if parameters["n"] * parameters["d"] // 2 % 2 else "SAT"
        case "mult":
            product = int(parameters["product"])
            factor = _least_factor(product)
            fits = max(factor, product // factor) < 1 << max(parameters["bits_a"], parameters["bits_b"])
            if factor == product:
                return "UNSAT"
            if factor > 2 and fits and parameters["bits_a"] == parameters["bits_b"]:
                return "SAT"
            return "unknown"
        case _:
            return BY_CONSTRUCTION.get(generator, "unknown")


def carried_suite(
    suite: Suite,
    blobs: BlobStore,
    cache: Path,
    *,
    secret: bytes,
    root_seed: int,
    count: int,
    copies: int = CARRY_COPIES,
) -> Suite:
    """Return some formulas of `suite`, each as it is, in `copies` shuffled copies and in `PADDED_COPIES`
    copies that also have a few fresh variables and clauses. If a gain on the first does not carry over
    to the others, it was learnt by heart, or lives on exact sizes.

    Args:
        count: how many formulas, drawn under the secret as the copies are; all if the suite has no more.
            They are the same in every cycle of a lake, so that variants of all cycles are judged alike.

    A copy's `base` is the name of its formula, its `shuffle` its number from 1; the padded ones come last.
    """
    rng = pcg(secret_seed(secret, root_seed, CARRIED))
    chosen = sorted(rng.permutation(len(suite.instances))[:count].tolist())
    instances = []
    for item in (suite.instances[place] for place in chosen):
        formula = read_dimacs(blobs.get(item.sha), lenient=True, name=item.name)
        for number in range(copies + PADDED_COPIES + 1):
            own = pcg(secret_seed(secret, root_seed, CARRIED, item.name, str(number)))
            known = formula if number <= copies else padded(formula, own)
            sha = blobs.put(write_dimacs(shuffled(known, own))) if number else item.sha
            label = f"{item.name}~{PADDED if number > copies else CARRIED}{number}" if number else item.name
            instances.append(Instance(label, item.family, item.status, sha, shuffle=number, base=item.name))
    return with_files(Suite(CARRIED, tuple(instances)), blobs, cache)


def _other_product(parameters: Mapping[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], Status]:
    """Parameters of a multiplier with another product: a prime for a prime, two primes of the factors'
    lengths for a product of two.

    Raises:
        InputError: a product of more than two primes, for which there is no such thing.
    """
    product, widths = int(parameters["product"]), (int(parameters["bits_a"]), int(parameters["bits_b"]))
    factor = _least_factor(product)
    if factor == product:
        low, high = max(3, product - product // 8), min(product + product // 8, (1 << sum(widths)) - 1)
        return {**parameters, "product": _prime(low, high, rng)}, "UNSAT"
    if _least_factor(product // factor) != product // factor:
        raise InputError(
            f"the product {product} has more than two prime factors",
            wanted="a prime, or a product of two",
            do="fix the suite's spec",
        )
    sizes = [value.bit_length() for value in (factor, product // factor)]
    made = [_prime(max(3, 1 << size - 1), (1 << size) - 1, rng) for size in sizes]
    fits = all(size <= width for size, width in zip(sorted(sizes), sorted(widths), strict=True))
    return {**parameters, "product": made[0] * made[1]}, "SAT" if fits else "UNSAT"


def _prime(low: int, high: int, rng: np.random.Generator) -> int:
    """Return a prime from low to high, both included."""
    while True:
        value = int(rng.integers(low, high + 1)) | 1
        if low <= value <= high and _least_factor(value) == value:
            return value


def _least_factor(value: int) -> int:
    """Return the least prime factor; for products of multipliers of some 20 bits by trial division."""
    divisor = 2
    while divisor * divisor <= value:
        if value % divisor == 0:
            return divisor
        divisor += 1 if divisor == 2 else 2
    return value


LEAST = 32
"""Different formulas of which a correctness gate has shown something."""
CORRECTNESS = "correctness"
DRAWS = 20
"""How often a formula that was drawn before is drawn again; two alike among millions are no chance."""
Drawn = tuple[Status, Formula]


def _planted(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(200, 301))
    return "SAT", planted_ksat(n, round(4.2 * n), 3, _seed(rng))


def _threshold(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(110, 141))
    return "unknown", random_ksat(n, round(4.26 * n), 3, _seed(rng))


def _crowded(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(100, 131))
    return "unknown", random_ksat(n, round(float(rng.uniform(4.6, 5.2)) * n), 3, _seed(rng))


def _parity(rng: np.random.Generator) -> Drawn:
    return "UNSAT", tseitin(2 * int(rng.integers(5, 7)), 4, _seed(rng))


def _coloring(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(50, 71))
    return "unknown", coloring(n, round(float(rng.uniform(4.3, 4.7)) * n), 4, _seed(rng))


def _square(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(14, 19))
    return "SAT", quasigroup_with_holes(n, round(0.42 * n * n), _seed(rng))


def _product(rng: np.random.Generator) -> Drawn:
    a, b = (int(factor) | 1 for factor in rng.integers(1 << 10, 1 << 11, size=2))
    return "SAT", multiplier(11, 11, a * b)


KINDS: tuple[tuple[str, Callable[[np.random.Generator], Drawn]], ...] = (
    ("planted", _planted),
    ("crowded", _crowded),
    ("parity", _parity),
    ("threshold", _threshold),
    ("coloring", _coloring),
    ("crowded-too", _crowded),
    ("product", _product),
    ("square", _square),
)


def correctness_suite(blobs: BlobStore, cache: Path, seed: int, count: int = LEAST) -> Suite:
    """Return `count` different formulas, in turns of each kind; the same for the same seed.

    Raises:
        MachineryError: fewer than `LEAST` are asked for, or the generators do not give so many different
            ones.
    """
    if count < LEAST:
        raise MachineryError(
            f"a correctness gate of {count} formulas shows too little",
            wanted=f"at least {LEAST}",
            do="raise correctness_instances",
        )
    instances: dict[str, Instance] = {}
    for number in range(count):
        kind, make = KINDS[number % len(KINDS)]
        for attempt in range(DRAWS):
            drawn = int(
                np.random.SeedSequence([seed, number, attempt]).generate_state(1, dtype=np.uint64)[0]
                >> np.uint64(1)
            )
            status, formula = make(pcg(drawn))
            sha = blobs.put(write_dimacs(formula))
            if sha not in instances:
                name = f"{kind}-{number}"
                instances[sha] = Instance(name, kind, status, sha, seed=drawn, base=name)
                break
    if len(instances) < count:
        raise MachineryError(
            "the generators of the correctness gate repeat themselves",
            wanted=f"{count} formulas",
            got=f"{len(instances)}",
        )
    return with_files(Suite(CORRECTNESS, tuple(instances.values())), blobs, cache)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 62))
