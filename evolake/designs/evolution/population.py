"""The archive of the designs line: what enters a cycle and what leaves it.

Six tables (`tables.ARCHIVE`): designs, derivations, experiments, objectives, the last ranking and a small
state. Rows are added and their `state` changes; no row is removed, so the blocked and the retired stay, with
their ancestors. A change gives a new Population.

A design that can run is known by what it computes: sha256 of its graph's hash and its hyperparameter values.
A second file with the same graph is blocked as a duplicate; it, and a file that cannot be traced, are known
by their text instead.

The seed designs as what may immigrate: Python files in `designs` of the seeds.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from evolake.canonical_json import key_of
from evolake.designs.evolution.experiments import LINE, results_by_design
from evolake.designs.evolution.schedule import is_cut
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.genome.variation import Parent, Scale, values_text
from evolake.designs.model.contract import TracedDesign
from evolake.designs.tables import ARCHIVE
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.added_seeds import SeedItem, SeedSource, file_item
from evolake.lake.population import Archive
from evolake.parsing import parse_python
from evolake.reading import TEXT_BYTES, Unreadable, read_bytes

LIVE = ("accepted", "champion")
Texts = Callable[[str], str]


def design_id_of(traced: TracedDesign) -> str:
    """Of a design that runs: sha256 over the graph's hash and the hyperparameter values."""
    content = {
        "graph": traced.graph_sha,
        "hyper": {name: traced.hyper_values[name] for name in sorted(traced.hyper_values)},
    }
    return key_of(content, ascii_only=True)


def text_id_of(source: str, hyper: Mapping[str, Any]) -> str:
    """Of a design that was blocked: sha256 over its text and its changed values, whatever they are."""
    return hashlib.sha256(
        ("text\x1f" + source + "\x1f" + values_text(hyper)).encode(errors="backslashreplace")
    ).hexdigest()


@dataclass(frozen=True)
class Population(Archive):
    """The six tables of the archive, each a frame of its schema in `tables.ARCHIVE`."""

    schemas = ARCHIVE

    designs: pl.DataFrame
    experiments: pl.DataFrame
    objectives: pl.DataFrame
    ranking: pl.DataFrame

    def add(self, **tables: Iterable[Mapping[str, Any]]) -> Population:
        """Return the archive with rows appended, as for any archive. A run that a clock cut has shown nothing
        and is no row here, so that the design is run again."""
        if "experiments" in tables:
            tables["experiments"] = [row for row in tables["experiments"] if not is_cut(row)]
        return super().add(**tables)

    def designs_in(self, *states: str) -> pl.DataFrame:
        """Return designs in one of `states`."""
        return self.designs.filter(pl.col("state").is_in(states))

    def live_ids(self) -> list[str]:
        """Return designs that are ranked and may be used as parents: accepted and champion, in the order they
        came."""
        return self.designs_in(*LIVE)["design_id"].to_list()

    def keys(self) -> set[str]:
        """Return keys (`variation.design_key`) of every design that was ever proposed here, also the
        blocked."""
        return set(self.designs["key"].drop_nulls().to_list())

    def graphs(self) -> dict[str, str]:
        """Return graph_sha -> design id, for the duplicate gate."""
        traced = self.designs.filter(pl.col("graph_sha").is_not_null() & (pl.col("state") != "blocked"))
        return dict(zip(traced["graph_sha"].to_list(), traced["design_id"].to_list(), strict=True))

    def unmeasured(self) -> list[str]:
        """Return live designs without any experiment: seeds, merged designs, tuned copies."""
        measured = set(self.experiments["design_id"].to_list())
        return [design_id for design_id in self.live_ids() if design_id not in measured]

    def experiment_rows(self, ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return rows of EXPERIMENTS, of all designs or of `ids`."""
        frame = (
            self.experiments if ids is None else self.experiments.filter(pl.col("design_id").is_in(list(ids)))
        )
        return frame.to_dicts()

    def results(self, kind: str = "planted") -> dict[str, list[dict[str, Any]]]:
        """Return what objectives receive of a kind of formulas, for every live design; a design without
        experiments gets an empty list."""
        live = self.live_ids()
        result = results_by_design(self.experiment_rows(live), kind)
        return {design_id: result.get(design_id, []) for design_id in live}

    def edges(self) -> list[tuple[str, str, float]]:
        """Return (child, parent, weight) of every derivation, for the graph search and the genealogy."""
        return list(self.derivations.select("child_id", "parent_id", "weight").iter_rows())

    def tuned_share(self) -> float:
        """Return share of live designs that are tuned copies; 1.0 when there is no design at all."""
        live = self.designs_in(*LIVE)
        return float(live["tuned"].mean()) if live.height else 1.0  # pyright: ignore[reportArgumentType]

    def admit(
        self, designs: Sequence[Mapping[str, Any]], derivations: Sequence[Mapping[str, Any]]
    ) -> Population:
        """Return the population with new designs and their derivations. A design that is here already keeps
        its row and its parents."""
        known = set(self.designs["design_id"].to_list())
        return self.add(
            designs=[row for row in designs if row["design_id"] not in known],
            derivations=[row for row in derivations if row["child_id"] not in known],
        )

    def with_states(self, states: Mapping[str, str]) -> Population:
        """Return the archive with design states changed by id."""
        return replace(self, designs=_mapped(self.designs, "design_id", "state", states))

    def with_design_values(self, column: str, values: Mapping[str, str]) -> Population:
        """Return a text column of designs changed by id (title, key_insight, success_level)."""
        return replace(self, designs=_mapped(self.designs, "design_id", column, values))

    def with_ranking(self, rows: Iterable[Mapping[str, Any]]) -> Population:
        """Return the ranking replaced by rows of RANKING."""
        return self.with_tables(ranking=rows)

    def with_multipliers(self, multipliers: Mapping[str, float]) -> Population:
        """Return the archive with multipliers of objectives changed by id."""
        return replace(self, objectives=_mapped(self.objectives, "objective_id", "multiplier", multipliers))

    def with_weights(self, weights: Mapping[str, Mapping[str, float]]) -> Population:
        """Return the population with the reference weights of the given children replaced: child -> parent ->
        weight. Parents that are not named get 0."""
        rows = self.derivations.to_dicts()
        for row in rows:
            if row["child_id"] in weights:
                row["weight"] = float(weights[row["child_id"]].get(row["parent_id"], 0.0))
        return self.with_tables(derivations=rows)

    def parent(self, design_id: str, texts: Texts) -> Parent:
        """Return a design as the operators take it. `texts` reads a blob as text by its sha."""
        row = self.row(design_id)
        traced = TracedDesign.from_json(json.loads(texts(row["traced_sha"])))
        scales = tuple(
            Scale(item.name, item.type, item.low, item.high, tuple(item.choices)) for item in traced.hypers
        )
        genome = read_genome(row["genome"]) if row["genome"] else None
        return Parent(
            design_id, row["title"], texts(row["source_sha"]), dict(traced.hyper_values), scales, genome
        )


def empty_population() -> Population:
    """Return an archive without rows."""
    return Population.empty()


def population_of(frames: Mapping[str, pl.DataFrame]) -> Population:
    """Return the archive from its published tables. Raises InputError where a column is missing or has
    another type."""
    return Population.of(frames)


def archive_asset(table: str) -> str:
    """Return the asset name under which a table of the archive is published, e.g. `incoming_designs`."""
    return f"incoming_{table}"


def read_population(lake: Lake, cycle: str) -> Population:
    """Return the archive that enters `cycle`. Raises InputError if nothing was published."""
    return population_of({name: lake.read(LINE, archive_asset(name), cycle) for name in ARCHIVE})


def texts_of(lake: Lake) -> Texts:
    """Return a reader of blobs as text."""
    return lambda sha: lake.blobs.get(sha).decode()


def _mapped(frame: pl.DataFrame, key: str, column: str, values: Mapping[str, Any]) -> pl.DataFrame:
    if not values:
        return frame
    kind = frame.schema[column]
    replaced = pl.col(key).replace_strict(
        list(values), list(values.values()), default=None, return_dtype=kind
    )
    return frame.with_columns(pl.coalesce(replaced, pl.col(column)).alias(column))


WANTED = ("VARIABLES_SPEC", "HYPER_SPACE", "_grad_single")


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """By name."""
    return [file_item(path) for path in sorted((seeds / SEEDS.folder).glob("*.py")) if path.is_file()]


def check(path: Path) -> str:
    """Raise InputError where the file does not define what a design has; what it computes is for the
    gates."""
    do = "see evolake designs check"
    if not accepts(path):
        raise InputError(f"{path} is no design", wanted="a Python file", do=do)
    try:
        tree = parse_python(read_bytes(path, TEXT_BYTES))
    except Unreadable:
        raise
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # the last two: nested too deep for the parser
        raise InputError(f"{path} is no Python", got=str(error), do=do) from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    defined |= {name.id for node in assigned for name in ast.walk(node) if isinstance(name, ast.Name)}
    if missing := [name for name in WANTED if name not in defined]:
        raise InputError(f"{path} is no design", wanted=", ".join(WANTED), got=f"no {missing[0]}", do=do)
    return path.stem


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return path.is_file() and path.suffix == ".py"


SEEDS = SeedSource("designs", items, accepts, check)
