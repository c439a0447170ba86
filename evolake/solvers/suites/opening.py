"""One way to a suite, by the name of a spec or by the path of a folder: what commands and settings call a
suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evolake.lake.blobs import BlobStore
from evolake.solvers.formula.cnf import padded, read_dimacs, shuffled, write_dimacs
from evolake.solvers.settings import folder_title
from evolake.solvers.suites.competition import competition_suite, formula_files
from evolake.solvers.suites.fresh import FRESH, FreshKey, fresh_suite
from evolake.solvers.suites.materialize import Trees, materialize_suite, with_files
from evolake.solvers.suites.spec import Instance, Suite, load_spec, suite_names


def named_suite(
    name: str,
    blobs: BlobStore,
    cache: Path,
    *,
    seeds: Path,
    trees: Trees | None = None,
    count: int = 0,
    statuses: Path | None = None,
    locked: bool = False,
) -> Suite:
    """Return the suite whose spec has that name, or that folder's formulas where `name` is none.

    Args:
        seeds, trees, count: as for `materialize_suite`. statuses, locked: of a folder, as for
            `competition_suite`.

    Raises:
        InputError: it is neither, or what those two raise.
    """
    if is_folder(name, seeds):
        return competition_suite(Path(name), blobs, cache, statuses=statuses, count=count, locked=locked)
    return materialize_suite(name, blobs, cache, seeds=seeds, trees=trees, count=count)


def unseen_suite(
    name: str,
    blobs: BlobStore,
    cache: Path,
    key: FreshKey,
    *,
    seeds: Path,
    count: int = 0,
    trees: Trees | None = None,
) -> Suite:
    """Return the formulas of a cycle's duels: of a spec, drawn again; of a locked folder, its formulas
    renamed and shuffled, as there is no generator of them. All have a few fresh variables and clauses, so
    that exact sizes decide nothing."""
    if not is_folder(name, seeds):
        return fresh_suite(name, blobs, cache, key, seeds=seeds, count=count, trees=trees)
    suite = competition_suite(Path(name), blobs, cache, count=count, locked=True)

    def copied(item: Instance) -> Instance:
        formula = read_dimacs(blobs.get(item.sha), lenient=True, name=item.name)
        label, rng = f"{item.name}@{key.cycle}", key.generator(item.name)
        return replace(
            item,
            name=label,
            base=label,
            sha=blobs.put(write_dimacs(shuffled(padded(formula, rng), rng))),
            path=None,
        )

    return with_files(
        replace(suite, name=f"{suite.name}-{FRESH}", instances=tuple(map(copied, suite.instances))),
        blobs,
        cache,
    )


def suite_title(name: str, seeds: Path) -> str:
    """Return the name that its runs will bear; makes no formula. Raises InputError for what is no suite."""
    if is_folder(name, seeds):
        formula_files(Path(name))
        return folder_title(Path(name))
    return load_spec(name, seeds).name


def is_folder(name: str, seeds: Path) -> bool:
    """Return whether `name` means a folder of formulas; a spec of that name goes before."""
    return name not in suite_names(seeds) and Path(name).is_dir()
