"""Kinds of 3-SAT formulas that designs are judged on, and batches of them.

    planted   a hidden assignment is drawn first and clauses are drawn that it satisfies
              (`evolake.designs.model.instances`); p0 is the share of clauses with three true literals under
              it
    uniform   clauses are drawn uniformly, and a formula is used if a SAT solver finds it satisfiable. It
              hides nothing

A design that is judged on one kind comes to live on how that kind is made: what lowers the work on planted
formulas with p0 = 0.08 may raise it tenfold on uniform ones. Finding out which uniform formulas are
satisfiable takes a solver longer than drawing them, so batches are kept as files in `EVOLAKE_FORMULA_CACHE`,
else `$XDG_CACHE_HOME/evolake/formulas`, else `~/.cache/evolake/formulas`. The name of a file is the hash of
what the batch is drawn from, and what is read is checked: its assignments have to satisfy its clauses.

Planted 3-SAT near the hardest ratio, after Barthel et al. (Phys. Rev. Lett. 88, 188701, 2002), which is what
the paper measures on.

A hidden assignment is drawn; a clause takes three distinct variables and has 3, 2 or 1 true literals under it
with probabilities p0, (1 - 4 p0)/2 and (1 + 2 p0)/2, the false ones placed uniformly. At p0 = 0.08 no
first-order bias points to the hidden assignment.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evolake.errors import InputError
from evolake.seeds import generator

RATIO = 4.3
P0 = 0.08


MOST_VALUES = 1_000_000_000
"""Variables of all instances together: beyond, no machine that this runs on holds the clauses."""


@dataclass(frozen=True)
class Planted:
    """A batch of instances of one size.

    idx: (B, M, 3) int32, variables 0..n-1, distinct in a clause. sgn: (B, M, 3) int8, +1 for a plain literal
    and -1 for a negated one. hidden: (B, N) int8, +1 true and -1 false; it satisfies every clause.
    """

    idx: np.ndarray = field(repr=False)
    sgn: np.ndarray = field(repr=False)
    hidden: np.ndarray = field(repr=False)
    n: int
    m: int
    seed: int

    @property
    def batch(self) -> int:
        """Return the number of instances."""
        return self.idx.shape[0]


def planted(n: int, batch: int, seed: int, *, ratio: float = RATIO, p0: float = P0) -> Planted:
    """Return `batch` instances with `n` variables and int(ratio*n) clauses; the same arguments give the same
    bytes.

    Raises:
        InputError: n < 3, batch < 1, more than MOST_VALUES in all, a ratio that leaves no clause, a negative
            seed, p0 outside [0, 1/4].
    """
    if n < 3:
        raise InputError(
            "too few variables for 3-SAT", wanted="n of at least 3", got=str(n), do="choose a larger n"
        )
    if batch < 1:
        raise InputError(
            "no instances asked for",
            wanted="at least 1 instance",
            got=str(batch),
            do="choose a positive number of instances",
        )
    if seed < 0:
        raise InputError(
            "a seed cannot be negative", wanted="0 or more", got=str(seed), do="choose another seed"
        )
    if n * batch > MOST_VALUES:
        raise InputError(
            "too many variables",
            wanted=f"n times instances of at most {MOST_VALUES}",
            got=f"{n} times {batch}",
            do="choose fewer",
        )
    m = int(ratio * n)
    if m < 1 or not 0 <= p0 <= 0.25:
        raise InputError(
            "no such ensemble",
            wanted="a ratio with at least one clause and p0 between 0 and 0.25",
            got=f"ratio {ratio}, p0 {p0}",
        )
    rng = generator(seed, "designs", "", f"planted n={n} batch={batch} ratio={ratio} p0={p0}")
    hidden = (2 * rng.integers(0, 2, size=(batch, n), dtype=np.int8) - 1).astype(np.int8)
    idx = distinct_triples(rng, batch * m, n).reshape(batch, m, 3)
    false_count = rng.choice(3, size=(batch, m), p=[p0, (1 - 4 * p0) / 2, (1 + 2 * p0) / 2])
    place = _uniform_order(rng, batch * m).reshape(batch, m, 3)
    truth = np.where(place < false_count[..., None], -1, 1).astype(np.int8)
    sgn = truth * np.take_along_axis(hidden, idx.reshape(batch, -1), axis=1).reshape(batch, m, 3)
    return Planted(idx.astype(np.int32), sgn.astype(np.int8), hidden, n, m, seed)


def distinct_triples(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """Return (count, 3) uniform ordered triples of distinct numbers below n: each draw skips over the ones
    before it."""
    first = rng.integers(0, n, size=count)
    second = rng.integers(0, n - 1, size=count)
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third = rng.integers(0, n - 2, size=count)
    third += third >= low
    third += third >= high
    return np.stack([first, second, third], axis=1)


def _uniform_order(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3) uniform permutations of 0, 1, 2."""
    orders = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    return orders[rng.integers(0, 6, size=count)]


def to_dimacs(instances: Planted, index: int) -> str:
    """Return instance `index` as DIMACS CNF text."""
    clauses = (instances.idx[index].astype(np.int64) + 1) * instances.sgn[index]
    head = f"c 3-SAT, seed {instances.seed}, instance {index}\np cnf {instances.n} {instances.m}\n"
    return head + "".join(f"{a} {b} {c} 0\n" for a, b, c in clauses.tolist())


def read_formulas(path: Path) -> list[Planted]:
    """Return the 3-SAT formulas of a DIMACS file, or of all `.cnf` and `.dimacs` files of a folder, packed or
    plain: one batch for each size, smallest first, with a hidden assignment of zeros, for none is known.

    Raises:
        InputError: there are none, or one has a clause that is not of three different variables.
    """
    from evolake.reading.formula import read_cnf_file

    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if {".cnf", ".dimacs"} & set(file.suffixes)]
    sizes: dict[tuple[int, int], list[np.ndarray]] = {}
    for file in files:
        formula = read_cnf_file(file)
        clauses = formula.literals.reshape(-1, 3) if (np.diff(formula.starts) == 3).all() else None
        if clauses is None or not len(clauses) or not _distinct(np.abs(clauses)).all():
            raise InputError(
                f"{file} is no 3-SAT formula",
                wanted="clauses of three literals of different variables",
                got="another clause" if formula.clauses else "no clause",
                do="leave it out, or use a solver of the line solvers",
            )
        sizes.setdefault((formula.variables, formula.clauses), []).append(clauses)
    if not sizes:
        raise InputError(f"no formulas in {path}", wanted="files ending in .cnf or .dimacs")
    return [
        Planted(
            np.abs(literals) - 1,
            np.sign(literals).astype(np.int8),
            np.zeros((len(literals), n), np.int8),
            n,
            m,
            0,
        )
        for (n, m), literals in ((size, np.stack(sizes[size])) for size in sorted(sizes))
    ]


def _distinct(idx: np.ndarray) -> np.ndarray:
    return (idx[..., 0] != idx[..., 1]) & (idx[..., 0] != idx[..., 2]) & (idx[..., 1] != idx[..., 2])


def write_batch(instances: Planted, path: Path) -> None:
    """Write a batch for `read_batch`, which another process of ours calls."""
    np.savez(path, idx=instances.idx, sgn=instances.sgn, hidden=instances.hidden)


def read_batch(path: str) -> Planted:
    """Return the batch that `write_batch` wrote."""
    with np.load(path, allow_pickle=False) as data:
        idx, hidden = data["idx"], data["hidden"]
        return Planted(idx, data["sgn"], hidden, hidden.shape[1], idx.shape[1], 0)


def satisfied(instances: Planted, index: int, assignment: np.ndarray) -> bool:
    """Return whether an assignment, (N,) of +1 and -1, satisfies every clause of an instance."""
    return bool((assignment[instances.idx[index]] * instances.sgn[index] > 0).any(axis=1).all())


def write_dimacs(instances: Planted, folder: Path, name: str = "planted") -> list[Path]:
    """Return one file per instance, `<name>_n<N>_seed<S>_<index>.cnf`, in `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index in range(instances.batch):
        path = folder / f"{name}_n{instances.n}_seed{instances.seed}_{index:04d}.cnf"
        path.write_text(to_dimacs(instances, index))
        paths.append(path)
    return paths


KindName = Literal["planted", "uniform"]
KINDS: tuple[KindName, ...] = ("planted", "uniform")
FOLDER = "EVOLAKE_FORMULA_CACHE"
SOLVER = "cadical153"
MOST_DRAWN = 200
"""Formulas that are drawn per formula that is wanted. Far below the threshold of 4.27 most are satisfiable;
far above none is."""
_FORMAT = 1


@dataclass(frozen=True)
class FormulaKind:
    """A kind of formulas: name, clauses per variable, and p0 if planted (0 for uniform ones, which have
    none)."""

    name: KindName = "planted"
    ratio: float = RATIO
    p0: float = P0

    def __str__(self) -> str:
        return f"planted p0={self.p0:g}" if self.name == "planted" else f"uniform ratio={self.ratio:g}"


PLANTED = FormulaKind()


def uniform_kind(ratio: float) -> FormulaKind:
    """Return the kind of uniform satisfiable formulas with so many clauses per variable."""
    return FormulaKind("uniform", ratio, 0.0)


def draw_formulas(kind: FormulaKind, n: int, batch: int, seed: int) -> Planted:
    """Return a batch of a kind; the same arguments give the same formulas.

    Raises:
        InputError: as `planted` does, or so many clauses that no formula of hundreds is satisfiable.
    """
    if kind.name == "planted":
        return planted(n, batch, seed, ratio=kind.ratio, p0=kind.p0)
    return _uniform(n, batch, seed, kind.ratio)


def cache_folder() -> Path:
    """Return where batches of uniform formulas are kept."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evolake" / "formulas"


def prepare(kind: FormulaKind, n: int, batch: int, seed: int) -> None:
    """Draw a batch that a solver has to look at, so that who needs it finds it in the cache."""
    if kind.name == "uniform" and not _path(n, batch, seed, kind.ratio).exists():
        draw_formulas(kind, n, batch, seed)


def _uniform(n: int, batch: int, seed: int, ratio: float) -> Planted:
    m = int(ratio * n)
    if n < 3 or batch < 1 or seed < 0 or n * batch > MOST_VALUES or m < 1:
        wanted = (
            "n of 3 or more, 1 or more instances, a seed of 0 or more, n times instances of at most "
            f"{MOST_VALUES}, 1 or more clauses"
        )
        raise InputError(
            "no such batch of uniform formulas",
            wanted=wanted,
            got=f"n={n}, {batch} instances, seed {seed}, {m} clauses",
        )
    path = _path(n, batch, seed, ratio)
    known = _read(path, n, batch, m)
    if known is None:
        known = _solved(n, batch, seed, ratio)
        _write(path, known)
    idx, sgn, hidden = known
    return Planted(idx, sgn, hidden, n, m, seed)


def _candidates(n: int, batch: int, seed: int, ratio: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random, m = generator(seed, "designs", "", f"uniform n={n} batch={batch} ratio={ratio}"), int(ratio * n)
    while True:
        yield (
            distinct_triples(random, m, n).astype(np.int32),
            (2 * random.integers(0, 2, size=(m, 3), dtype=np.int8) - 1).astype(np.int8),
        )


def _solved(n: int, batch: int, seed: int, ratio: float) -> tuple[np.ndarray, ...]:
    """Return clauses and a model of each formula that is satisfiable, in the order in which they are
    drawn."""
    from pysat.solvers import Solver

    result: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for number, (idx, sgn) in enumerate(_candidates(n, batch, seed, ratio)):
        if number >= MOST_DRAWN * batch:
            raise InputError(
                "hardly any uniform formula with so many clauses is satisfiable",
                wanted=f"{batch} of {number}",
                got=f"{len(result)} with {ratio:g} clauses per variable and {n} variables",
                do="choose a ratio of at most 4.2",
            )
        with Solver(SOLVER, bootstrap_with=((idx + 1) * sgn).tolist()) as solver:
            if solver.solve():
                true = set(solver.get_model() or ())
                result.append(
                    (
                        idx,
                        sgn,
                        np.where([variable + 1 in true for variable in range(n)], 1, -1).astype(np.int8),
                    )
                )
        if len(result) == batch:
            break
    return tuple(np.stack(part) for part in zip(*result, strict=True))


def _path(n: int, batch: int, seed: int, ratio: float) -> Path:
    named = f"uniform {_FORMAT} n={n} batch={batch} seed={seed} ratio={ratio!r}"
    return cache_folder() / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.npz"


def _read(path: Path, n: int, batch: int, m: int) -> tuple[np.ndarray, ...] | None:
    """Return a batch from its file; None if there is none, or none whose assignments satisfy its clauses."""
    try:
        with np.load(path, allow_pickle=False) as data:
            idx, sgn, hidden = (
                np.asarray(data[name], dtype=kind)
                for name, kind in (("idx", np.int32), ("sgn", np.int8), ("hidden", np.int8))
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if (
        idx.shape != (batch, m, 3)
        or sgn.shape != idx.shape
        or hidden.shape != (batch, n)
        or idx.min() < 0
        or idx.max() >= n
    ):
        return None
    literal = np.take_along_axis(hidden, idx.reshape(batch, -1), axis=1).reshape(idx.shape) * sgn
    good = (
        np.all(_distinct(idx))
        and np.all(np.abs(sgn) == 1)
        and np.all(np.abs(hidden) == 1)
        and np.all((literal > 0).any(axis=2))
    )
    return (idx, sgn, hidden) if good else None


def _write(path: Path, batch: tuple[np.ndarray, ...]) -> None:
    """Write a batch, whole or not at all; a cache that cannot be written is no error."""
    idx, sgn, hidden = batch
    kept: dict[str, Any] = {
        "idx": idx.astype(np.uint16) if idx.max() < 2**16 else idx,
        "sgn": sgn,
        "hidden": hidden,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.savez_compressed(file, **kept)
        Path(file.name).replace(path)
    except OSError:
        return
