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
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evolake.designs.model.instances import MOST_VALUES, P0, RATIO, Planted, distinct_triples, planted
from evolake.errors import InputError
from evolake.seeds import generator

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
    distinct = (idx[..., 0] != idx[..., 1]) & (idx[..., 0] != idx[..., 2]) & (idx[..., 1] != idx[..., 2])
    literal = np.take_along_axis(hidden, idx.reshape(batch, -1), axis=1).reshape(idx.shape) * sgn
    good = (
        np.all(distinct)
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
