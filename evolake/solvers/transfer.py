"""Compare the champion of a lake, or repositories that a user names, and every seed on two suites, and
write the page about it: what `evolake solvers transfer` does. The figures are `measurement.two_suites`.

Runs go to a journal in the output folder as they come, so that a killed comparison continues where it
stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError, MachineryError
from evolake.lake import Lake
from evolake.report.numbers import counted
from evolake.scratch import Scratch
from evolake.settings import Settings, load
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringOptions, plan_jobs, run_jobs
from evolake.solvers.measurement.repositories import open_folder
from evolake.solvers.measurement.two_suites import LEVEL, TRUTHS, Entrant, claim, transfer_rows
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, seed_named, seed_trees
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.folders import named_suite, suite_title
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import VARIANTS

LINE, CYCLE = "solvers", "transfer"
JOURNAL, RUNS_FILE, TABLE_FILE = "runs.jsonl", "runs.parquet", "transfer.parquet"


@dataclass(frozen=True)
class Transferred:
    """table: rows of TRANSFER. runs: rows of RUNS. parts: "from" and "to" -> name of the suite. folder: where
    both are."""

    table: pl.DataFrame = field(repr=False)
    runs: pl.DataFrame = field(repr=False)
    parts: dict[str, str]
    folder: Path


@dataclass(frozen=True)
class Sides:
    """The suites: names or folders. Empty `bred`: the settings' train_suite. instances: only the first so
    many of each, 0 for all."""

    bred: str
    other: str
    instances: int = 0


def transfer(
    sides: Sides,
    out: Path,
    options: MeasuringOptions,
    *,
    variants: Sequence[str] = (),
    seeds: Sequence[str] = (),
    on_progress: Callable[[int, int, Any], None] | None = None,
) -> Transferred:
    """Measure, and write runs and table into `out`.

    Args:
        variants: ids of variants (or their beginnings) or folders of repositories; default: the champion. The
            first is compared with all others.
        seeds: which seeds; default: those of the settings.

    Raises:
        InputError: no such variant, seed or suite, one suite twice, no champion yet, or a repository that
            does not build. MachineryError: no compiler, or a jail that does not work.
    """
    settings = load(options.profile)
    sizes = settings.of(SolversSettings)
    lake = Lake(settings.require_lake())
    cache = lake.root / "cache" / "solvers"
    suites = _suites(sides, settings, sizes, lake, cache)
    opened = _opened(variants, seeds or sizes.seeds, settings, lake, cache)
    _made(out)
    programs, plan = (
        {item.variant_id: program for item, program in opened},
        options.plan(sizes, cache, draw=b"transfer"),
    )
    jobs = [job for suite in suites.values() for job in plan_jobs(programs, suite, plan, cycle=CYCLE)]
    with ProcessPoolExecutor(options.processes(settings)) as executor:
        runs = run_jobs(jobs, executor, journal=out / JOURNAL, on_progress=on_progress)
    parts = {part: suite.name for part, suite in suites.items()}
    table = transfer_rows(runs, [item for item, _ in opened], parts)
    _write(runs, out / RUNS_FILE)
    _write(table, out / TABLE_FILE)
    return Transferred(table, runs, parts, out)


def _suites(
    sides: Sides, settings: Settings, sizes: SolversSettings, lake: Lake, cache: Path
) -> dict[str, Suite]:
    trees, names = (
        seed_trees(lake.blobs, cache, seeds=settings.seeds / "solvers.toml"),
        (sides.bred or sizes.train_suite, sides.other),
    )
    titles = [suite_title(name, settings.seeds) for name in names]
    if titles[0] == titles[1]:
        raise InputError(
            "both suites have one name",
            wanted="another suite after --to",
            got=titles[1],
            do="name another, or rename a folder",
        )
    return {
        part: named_suite(
            name, lake.blobs, cache / "formulas", seeds=settings.seeds, trees=trees, count=sides.instances
        )
        for part, name in zip(("from", "to"), names, strict=True)
    }


def _opened(
    variants: Sequence[str], seeds: Sequence[str], settings: Settings, lake: Lake, cache: Path
) -> list[tuple[Entrant, Program]]:
    """Return who takes part, each once: those named (or the champion), then the seeds."""
    result: dict[str, tuple[Entrant, Program]] = {}
    for name in variants or [""]:
        entrant, program = (
            _folder(Path(name), lake, cache)
            if name and Path(name).is_dir()
            else _of_lake(name, settings, lake, cache)
        )
        result.setdefault(entrant.variant_id, (entrant, program))
    for name in seeds:
        seed = seed_named(name, settings.seeds / "solvers.toml")
        folder = lay_out_seed(seed, lake.blobs, cache, adapters=settings.seeds / "solvers" / "adapters")
        variant_id = source_sha(folder)
        if variant_id not in result:
            result[variant_id] = (
                Entrant(name, variant_id, "seed"),
                _program(folder, seed.adapter, name, settings, lake, cache),
            )
    if len(result) < 2:
        raise InputError(
            "there is nothing to compare with",
            wanted="a variant and a seed that it is not",
            do="name other seeds by --seed",
        )
    return list(result.values())


def _of_lake(name: str, settings: Settings, lake: Lake, cache: Path) -> tuple[Entrant, Program]:
    """Return the variant whose id begins so; the champion if nothing is given."""
    cycles = lake.seals.cycles(LINE)
    rows = lake.read(LINE, f"incoming_{VARIANTS.name}", max(cycles)).to_dicts() if cycles else []
    chosen = (
        [row for row in rows if row["variant_id"].startswith(name) and row["state"] != "blocked"]
        if name
        else [row for row in rows if row["state"] == "champion"]
    )
    if len(chosen) != 1:
        what = (
            f"{'several variants begin' if chosen else 'no folder is named and no variant that passed begins'} "  # noqa: E501
            f"with {name!r}"
        )
        do = "evolake run --lines solvers makes one; --variant DIR takes a repository of your own"
        raise InputError(
            what if name else "the lake has no champion of the solvers line", wanted="one variant", do=do
        )
    row = chosen[0]
    with Scratch("transfer") as place:
        folder = Path(place) / "variant"
        lake.blobs.get_tree(row["archive_sha"], folder)
        program = _program(folder, read_card(folder)["adapter"], row["title"], settings, lake, cache)
    return Entrant(
        row["title"], row["variant_id"], "champion" if row["state"] == "champion" else "variant"
    ), program


def _folder(folder: Path, lake: Lake, cache: Path) -> tuple[Entrant, Program]:
    opened = open_folder(folder, None, lake.blobs, cache)
    if opened.program is None:
        raise InputError(
            f"{folder} cannot be measured: {opened.reason}",
            wanted="a repository of the layout",
            do="evolake solvers layout makes one",
        )
    return Entrant(folder.name, opened.variant_id, "variant"), opened.program


def _program(
    folder: Path, adapter_name: str, title: str, settings: Settings, lake: Lake, cache: Path
) -> Program:
    adapter = load_adapter(adapter_name, settings.seeds / "solvers" / "adapters")
    built = build_variant(folder, adapter, lake.blobs)
    if not built.ok:
        raise MachineryError(f"{title} cannot be built here", got=built.reason, do="see evolake doctor")
    return open_program(built, adapter, lake.blobs, cache)


def _made(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder {out} cannot be made",
            got=error.strerror or str(error),
            do="name another after --out",
        ) from None


def _write(frame: pl.DataFrame, path: Path) -> None:
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    frame.write_parquet(beside)
    beside.replace(path)


PAGE = "transfer.md"
HEADS = (
    "solver",
    "solved",
    "SAT",
    "UNSAT",
    "PAR-2, s",
    "PAR-2 SAT",
    "PAR-2 UNSAT",
    "memory mean/max, MiB",
    "share of VBS",
    "UNSAT checked",
    "UNSAT proved",
)
TITLES = {"from": "Bred on", "to": "Carried over to"}


def write_page(table: pl.DataFrame, folder: Path) -> Path:
    """Write transfer.md next to the tables. table: rows of TRANSFER."""
    beside = folder / f".{PAGE}-{os.getpid()}"
    beside.write_text(page(table), encoding="utf-8")
    beside.replace(folder / PAGE)
    return folder / PAGE


def page(table: pl.DataFrame) -> str:
    """Return one table of figures and one sentence per other solver for each suite."""
    first = table.row(0, named=True)
    lines = [
        f"# {first['solver']} against {counted(table['variant_id'].n_unique() - 1, 'other solver')}",
        "",
        f"In parentheses: {LEVEL:.0%} intervals over formulas: of gains by the contest that duels use, of "
        "the others by a bootstrap.",
        "A formula is solved where its model was checked or its proof verified; an UNSAT answer whose "
        "proof was not checked counts as unsolved.",
    ]
    for suite in table["suite"].unique(maintain_order=True):
        rows = table.filter(pl.col("suite") == suite).to_dicts()
        lines += [
            "",
            f"## {TITLES[rows[0]['part']]} {suite}: {rows[0]['instances']} formulas, "
            f"{rows[0]['timeout_s']:g} s of cpu time",
            "",
        ]
        lines += [
            _row(HEADS),
            _row("---" if place == 0 else "---:" for place in range(len(HEADS))),
            *(_row(_cells(row)) for row in rows),
            "",
        ]
        lines += [f"- {_sentence(first['solver'], row)}" for row in rows if row["gain"] is not None]
    return "\n".join(lines) + "\n"


def _row(cells: Any) -> str:
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['solver']} ({row['role']}, {row['variant_id'][:8]})",
        *(_with_ends(row, name, name, "{:g}") for name in TRUTHS),
        _with_ends(row, "par2", "par2", "{:.3g}"),
        _or_dash(row["par2_sat"], "{:.3g}"),
        _or_dash(row["par2_unsat"], "{:.3g}"),
        f"{row['memory_mean_mb']:.0f}/{row['memory_max_mb']:.0f}",
        _with_ends(row, "vbs_share", "vbs", "{:.0%}"),
        _or_dash(row["checked_share"], "{:.0%}"),
        _or_dash(row["proof_share"], "{:.0%}"),
    ]


def _with_ends(row: Mapping[str, Any], name: str, ends: str, form: str) -> str:
    value, low, high = row[name], row[f"{ends}_low"], row[f"{ends}_high"]
    if value is None:
        return "-"
    return (
        form.format(value)
        if low is None
        else f"{form.format(value)} ({form.format(low)} to {form.format(high)})"
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _sentence(first: str, row: Mapping[str, Any]) -> str:
    floor = f", noise floor {row['noise_floor']:.4g}" if row["noise_floor"] else ""
    said = claim(row)
    said = said if said.startswith("no ") else f"{first} is {said}"
    return (
        f"cost of {row['solver']} over that of {first}: "
        f"{_with_ends(row, 'gain', 'gain', '{:.3g}')}{floor}: {said}."
    )
