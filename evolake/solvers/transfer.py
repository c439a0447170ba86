"""Compare the champion of a lake, or repositories that a user names, and every seed on two suites, and write
the page about it: what `evolake solvers transfer` does. The figures are `measurement.two_suites`.

Runs go to a journal in the output folder as they come, so that a killed comparison continues where it
stopped.

How a champion carries over: it and every seed on the suite that it was bred on and on another one, side by
side.

SATLUTION breeds on the formulas of one competition and shows the next one's (its section 4). Here the two
suites are measured in one go, under the same limits, and every figure that a claim could rest on has a
bootstrap interval over the formulas of its suite.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evolake.compute.local import LocalExecutor
from evolake.contest import LEAST_FORMULAS
from evolake.errors import InputError, MachineryError
from evolake.lake import Lake
from evolake.report.numbers import counted
from evolake.scratch import Scratch
from evolake.seeds import generator
from evolake.settings import Settings, load
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringOptions, plan_jobs, run_jobs
from evolake.solvers.measurement.duel import formulas_of, par2_contest, repeat_noise_floor
from evolake.solvers.measurement.metrics import compute_metrics, cost, known_truth, proved
from evolake.solvers.measurement.repositories import open_folder
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, seed_named, seed_trees
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.folders import named_suite, suite_title
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import CLOCK, TRANSFER, VARIANTS
from evolake.stats import Interval, bootstrap_interval

LEVEL = 0.95
LEAST_COST_S = 1e-6
TRUTHS = {"solved": None, "solved_sat": "SAT", "solved_unsat": "UNSAT"}
"""Column -> which formulas it counts; None: all."""


@dataclass(frozen=True)
class Entrant:
    """A solver of the comparison. role: champion, variant or seed."""

    title: str
    variant_id: str
    role: str


def transfer_rows(runs: pl.DataFrame, entrants: Sequence[Entrant], parts: Mapping[str, str]) -> pl.DataFrame:
    """Return rows of TRANSFER, suite by suite, solvers in the order given. Only formulas that every solver
    has run count.

    Args:
        runs: rows of RUNS of all entrants. entrants: the one that the others are compared with first. parts:
            "from" and "to" -> name of the suite.
    """
    rows = []
    for part, suite in parts.items():
        mine = _shared(runs.filter(pl.col("suite") == suite), len(entrants))
        if mine.is_empty():
            continue
        metrics = {row["variant_id"]: row for row in compute_metrics(mine).to_dicts()}
        costs = {entrant.variant_id: _costs(mine, entrant.variant_id) for entrant in entrants}
        first, share = (
            costs[entrants[0].variant_id],
            _shares([costs[entrant.variant_id] for entrant in entrants], _solved_by_anyone(mine)),
        )
        for place, item in enumerate(entrants):
            own, known = costs[item.variant_id], metrics[item.variant_id]
            rng = generator(0, "solvers", suite, f"transfer of {item.variant_id}")
            par2, gain = _interval(own, rng), _gain(first, own, formulas_of(mine), rng) if place else None
            vbs = bootstrap_interval(share[:, place], rng, level=LEVEL) if len(share) else None
            names = (
                *TRUTHS,
                "checked_share",
                "proof_share",
                "par2_sat",
                "par2_unsat",
                "memory_mean_mb",
                "memory_max_mb",
                "timeout_s",
            )
            rows.append(
                {
                    "suite": suite,
                    "part": part,
                    "solver": item.title,
                    "role": item.role,
                    "variant_id": item.variant_id,
                    "instances": len(own),
                    **{name: known[name] for name in names},
                    **_solved_ends(mine, item.variant_id),
                    "par2": par2.estimate,
                    "par2_low": par2.low,
                    "par2_high": par2.high,
                    **_ends("vbs", "share", vbs),
                    **_ends("gain", "", gain),
                    "noise_floor": repeat_noise_floor([first, own]) if own.shape[1] > 1 else None,
                }
            )
    return TRANSFER.frame(rows)


def claim(row: Mapping[str, float | None]) -> str:
    """Return what may be said of one row's gain."""
    low, high, floor = row["gain_low"], row["gain_high"], row["noise_floor"] or 1.0
    if row["gain"] is None:
        return ""
    if low is None or high is None:
        return f"no claim: fewer than {LEAST_FORMULAS} formulas decide nothing"
    if low > floor:
        word = "faster"
    elif high < 1 / floor:
        word = "slower"
    else:
        word = "no difference beyond the noise"
    return word if row["noise_floor"] else f"{word} (one pass: the noise of this host is not known)"


def _shared(runs: pl.DataFrame, solvers: int) -> pl.DataFrame:
    """Return runs of the formulas on which all solvers have as many results as the others; none that the
    clock cut short."""
    runs = runs.filter(~(pl.col("status") == CLOCK).any().over("instance"))
    each = runs.group_by("instance", "variant_id").len()
    counts = each.group_by("instance").agg(pl.len().alias("solvers"), pl.col("len").n_unique().alias("sizes"))
    whole = counts.filter((pl.col("solvers") == solvers) & (pl.col("sizes") == 1))["instance"]
    return runs.filter(pl.col("instance").is_in(whole.to_list()))


def _costs(runs: pl.DataFrame, variant_id: str) -> np.ndarray:
    """(formulas, passes) PAR-2 costs, formulas in order of their names."""
    side = (
        runs.filter(pl.col("variant_id") == variant_id)
        .sort("instance", "repeat")
        .select("instance", cost().clip(LEAST_COST_S).alias("cost"))
    )
    return side["cost"].to_numpy().reshape(side["instance"].n_unique(), -1)


def _solved_by_anyone(runs: pl.DataFrame) -> np.ndarray:
    return runs.group_by("instance").agg(pl.col("solved").any()).sort("instance")["solved"].to_numpy()


def _solved_ends(runs: pl.DataFrame, variant_id: str) -> dict[str, float | None]:
    """Return the ends of the intervals of formulas solved, all and by their known truth: formulas of each
    kind are resampled, their number is kept."""
    each = (
        proved(runs)
        .join(known_truth(runs), on=["suite", "formula_sha"])
        .filter(pl.col("variant_id") == variant_id)
    )
    shares = each.group_by("instance").agg(pl.col("solved").mean(), pl.col("truth").first()).sort("instance")
    ends: dict[str, float | None] = {}
    for name, truth in TRUTHS.items():
        own = (shares if truth is None else shares.filter(pl.col("truth") == truth))["solved"].to_numpy()
        rng = generator(0, "solvers", str(runs["suite"][0]), f"{name} of {variant_id}")
        result = bootstrap_interval(own, rng, statistic=_total, level=LEVEL) if len(own) else None
        ends |= {
            f"{name}_low": result and round(result.low, 9),
            f"{name}_high": result and round(result.high, 9),
        }
    return ends


def _total(samples: np.ndarray) -> np.ndarray:
    return samples.sum(axis=-1)


def _shares(costs: Sequence[np.ndarray], solved: np.ndarray) -> np.ndarray:
    """(formulas that anyone solved, solvers): 1 divided among the fastest."""
    means = np.stack([side.mean(axis=1) for side in costs], axis=1)[solved]
    best = means == means.min(axis=1, keepdims=True) if len(means) else np.zeros(means.shape, dtype=bool)
    return best / best.sum(axis=1, keepdims=True) if len(means) else best.astype(float)


def _interval(costs: np.ndarray, rng: np.random.Generator) -> Interval:
    return bootstrap_interval(costs.mean(axis=1), rng, level=LEVEL)


def _gain(first: np.ndarray, other: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> Interval:
    contest = par2_contest(other, first, groups, rng)
    return Interval(contest.effect, contest.low, contest.high, LEVEL)


def _ends(name: str, estimate: str, result: Interval | None) -> dict[str, float | None]:
    whole = f"{name}_{estimate}" if estimate else name
    bounded = result if result and math.isfinite(result.high) else None
    return {
        whole: result and result.estimate,
        f"{name}_low": bounded and bounded.low,
        f"{name}_high": bounded and bounded.high,
    }


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
    with LocalExecutor(options.processes(settings)) as executor:
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
