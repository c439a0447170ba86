"""Types of the tables that every line shares, each defined once: readers, writers and SQL views take them
from here.

An asset that makes rows of a shared table publishes them as a side table named `<asset>__<table>`, so that
materializing the asset again replaces exactly its own rows; the catalogue shows the union of all side tables
under the table's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake.vocabulary import VOCABULARY

Instant = pl.Datetime("us", "UTC")
NAMES_BLOB = "Blob with "
"""How the description of a column begins if its values are names of blobs. Others that hold a hash begin with
"sha256"."""


@dataclass(frozen=True)
class TableSchema:
    """A table's columns, its version and the columns that distinguish its rows.

    Every column has a description: its own, given as (type, description) in `columns`, else that of `terms`,
    else that of the vocabulary. A description is no part of the stored table: another wording changes neither
    a hash nor a version.

    Attributes:
        name, version: written into the manifest with every part.
        columns: name -> polars type, in the order they are stored.
        keys: columns that together name a row. Publishing accepts repeated keys (checks report them); see
            `repeated_keys`.
        provenance: columns that say who wrote a row and when. They are stored but are not content: a re-run
            that differs in nothing else is the same content.
        terms: descriptions that the tables of one line share, by column; those of other columns are not used.
        descriptions: column -> what it means, with its unit.
    """

    name: str
    version: int
    columns: Mapping[str, Any]
    keys: tuple[str, ...]
    provenance: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    descriptions: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = {name: given[1] for name, given in self.columns.items() if isinstance(given, tuple)}
        summary = VOCABULARY | dict(self.terms) | own
        if silent := [name for name in self.columns if not summary.get(name)]:
            raise ValueError(
                f"schema {self.name}: say what {', '.join(silent)} means: a column is (type, description)"
            )
        object.__setattr__(self, "descriptions", {name: summary[name] for name in self.columns})
        object.__setattr__(
            self,
            "columns",
            {name: given[0] if name in own else given for name, given in self.columns.items()},
        )
        stray = [name for name in (*self.keys, *self.provenance) if name not in self.columns]
        if stray:
            raise ValueError(f"schema {self.name}: no such column: {', '.join(stray)}")

    @property
    def blobs(self) -> frozenset[str]:
        """The columns that name blobs: their descriptions begin with "Blob with"."""
        return frozenset(name for name, text in self.descriptions.items() if text.startswith(NAMES_BLOB))

    @property
    def described(self) -> dict[str, tuple[Any, str]]:
        """The columns as another schema can take them over: name -> (type, description)."""
        return {name: (kind, self.descriptions[name]) for name, kind in self.columns.items()}

    def note(self, column: str) -> str:
        """Return what a reader is shown about a column: its description, and whether it is no content."""
        aside = (
            " Not content: it may differ when the same work is done again."
            if column in self.provenance
            else ""
        )
        return self.descriptions[column] + aside

    def empty(self) -> pl.DataFrame:
        """Return a frame of no rows with these columns."""
        return pl.DataFrame(schema=dict(self.columns))

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """Return rows as a typed frame. A key that a row lacks is null.

        Raises:
            InputError: a row has a key that is no column, or a value that does not fit its column.
        """
        rows = [dict(row) for row in rows]
        for row in rows:
            if extra := [key for key in row if key not in self.columns]:
                raise self._stray(extra[0])
        data = {}
        for name, kind in self.columns.items():
            values = [row.get(name) for row in rows]
            try:
                data[name] = pl.Series(name, values, dtype=kind, strict=True)
            except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
                raise InputError(
                    f"table {self.name}: a value of column {name!r} does not fit",
                    wanted=repr(kind),
                    got=str(error).splitlines()[0],
                    do="give the column values of that type",
                ) from None
        return pl.DataFrame(data, schema=dict(self.columns))

    def validate(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with its columns in the schema's order. A column of nothing but untyped nulls takes
        the wanted type.

        Raises:
            InputError: naming the first column that is missing, is not in the schema or has another type.
        """
        for name, wanted in self.columns.items():
            if name not in frame.columns:
                there = f"columns {', '.join(frame.columns) or 'none'}"
                raise InputError(
                    f"table {self.name}: column {name!r} is missing",
                    wanted=repr(wanted),
                    got=there,
                    do="add the column",
                )
            got = frame.schema[name]
            if got != wanted and got != pl.Null:
                what = f"table {self.name}: column {name!r} has the wrong type"
                raise InputError(
                    what, wanted=repr(wanted), got=repr(got), do="cast the column before publishing"
                )
        if extra := [name for name in frame.columns if name not in self.columns]:
            raise self._stray(extra[0])
        return frame.select(
            pl.col(name).cast(kind) if frame.schema[name] == pl.Null else pl.col(name)
            for name, kind in self.columns.items()
        )

    def _stray(self, name: str) -> InputError:
        return InputError(
            f"table {self.name}: column {name!r} is not in its schema",
            wanted=", ".join(self.columns),
            got=repr(name),
            do="rename or drop the column, or raise the schema's version",
        )

    def repeated_keys(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of `frame` whose key is null somewhere or is borne by another row too."""
        keys = list(self.keys)
        return frame.filter(pl.struct(keys).is_duplicated() | pl.any_horizontal(pl.col(keys).is_null()))


ARTIFACTS = TableSchema(
    "artifacts",
    1,
    {
        "artifact_id": pl.String,
        "line": pl.String,
        "kind": (
            pl.String,
            "What sort of thing it is: design, objective, variant, family, system prompt, ...",
        ),
        "cycle": (pl.String, "Cycle in which it came to this state."),
        "state": (pl.String, "candidate, blocked (by a gate), accepted, champion or retired."),
        "content_sha": (
            pl.String,
            "Blob with the artifact itself (source, archive or record); of a system prompt its id.",
        ),
        "title": pl.String,
        "created_at": Instant,
        "run_id": pl.String,
        "code_version": (pl.String, "Version of evolake that wrote the row."),
    },
    keys=("artifact_id", "cycle", "state"),
    provenance=("created_at", "run_id"),
)
DERIVATIONS = TableSchema(
    "derivations",
    1,
    {
        "child_id": (pl.String, "Artifact that was made."),
        "parent_id": pl.String,
        "operator": pl.String,
        "weight": (pl.Float64, "Share that this parent has in the child; the shares of one child sum to 1."),
        "cycle": (pl.String, "Cycle in which the child was made."),
    },
    keys=("child_id", "parent_id", "operator", "cycle"),
)
VERDICTS = TableSchema(
    "verdicts",
    1,
    {
        "artifact_id": pl.String,
        "cycle": pl.String,
        "gate_no": (pl.Int64, "Place of the gate in the line's order, from 0."),
        "gate": pl.String,
        "rule_id": pl.String,
        "rule_version": (pl.String, "Version that the rule's file states."),
        "ruleset_hash": pl.String,
        "outcome": (pl.String, "pass, block, error (the gate could not judge; never a pass) or skip."),
        "reason": (pl.String, "What the rule objects to; empty where it passed."),
        "evidence_sha": pl.String,
        "run_id": pl.String,
    },
    keys=("artifact_id", "cycle", "gate_no", "rule_id"),
    provenance=("run_id",),
)
AGENT_CALLS = TableSchema(
    "agent_calls",
    4,
    {
        "call_id": (pl.String, "One attempt of one call; the same on a replay."),
        "artifact_id": (pl.String, "Artifact that the call was about; null where it was about none."),
        "cycle": pl.String,
        "role": (pl.String, "What was asked for, e.g. designer or reviewer; its prompt has that name."),
        "backend": pl.String,
        "model": pl.String,
        "prompt_sha": pl.String,
        "response_sha": (pl.String, "sha256 (hex) of the reply's text; null without one."),
        "input_tokens": pl.Int64,
        "cached_tokens": (pl.Int64, "Those of the input tokens that the server had in its cache."),
        "output_tokens": pl.Int64,
        "usd": (pl.Float64, "What this attempt cost now, in US dollars: 0 when replayed, null when unknown."),
        "latency_s": (pl.Float64, "Time that the endpoint took, in seconds; 0 for replays and operators."),
        "attempt": (pl.Int64, "Ten times the caller's attempt, plus the number of the repair."),
        "status": (
            pl.String,
            "ok, or what was wrong with the reply, in words joined by +; replayed in front if the call "
            "cache gave it.",
        ),
        "prompt_id": (pl.String, "Evolved system prompt that the model read (`prompts`); null without one."),
        "sampling": (
            pl.String,
            "How the reply was drawn, as JSON of what was sent (max_output_tokens, temperature, ...); "
            "null without a model.",
        ),
        "reason": (pl.String, "Why the reply could not be used, on one line; null if it could."),
    },
    keys=("call_id",),
)
SESSION_TURNS = TableSchema(
    "session_turns",
    1,
    {
        "session_id": (
            pl.String,
            "Session: sha256 (hex) of its first question and which draw of it this is; the same on a replay.",
        ),
        "turn": (pl.Int64, "Number of the turn in its session, from 1."),
        "cycle": pl.String,
        "artifact_id": (pl.String, "Artifact that the session made; null where it made none."),
        "role": (pl.String, "What was asked for; its prompt has that name, and the model is chosen by it."),
        "model": pl.String,
        "call_id": (pl.String, "The attempt in `agent_calls` that brought the turn."),
        "status": (pl.String, "As in `agent_calls`: ok, or what was wrong with the reply."),
        "tools": (pl.List(pl.String), "Tools that the turn called and that were run, in order."),
        "faults": (
            pl.List(pl.String),
            "Of each of them: unknown_tool, bad_call, outside, failed or unusable; empty where it did "
            "what was asked.",
        ),
        "fault": (
            pl.String,
            "What kind of no use the whole turn was; null for none. Three such turns in a row end a session.",
        ),
        "outcome": (
            pl.String,
            "On the last turn: finished, withdrawn (no gain was found), or how the session ended "
            "otherwise, e.g. looped; null before.",
        ),
        "reason": pl.String,
        "tree_sha": (pl.String, "sha256 (hex) over the files of the workspace after the turn."),
        "tools_s": (
            pl.Float64,
            "Time that the turn's commands took when they were run, in seconds; a replay has the same.",
        ),
        "record_sha": (
            pl.String,
            "Blob with the turn as JSON: what was said, each call with its arguments and what it gave back.",
        ),
    },
    keys=("session_id", "turn"),
)
EVALUATIONS = TableSchema(
    "evaluations",
    1,
    {
        "artifact_id": pl.String,
        "suite": (pl.String, "Set of instances that it was measured on."),
        "instance": (pl.String, "Instance within the suite."),
        "seed": (pl.Int64, "Seed of the run, or which repetition it was."),
        "status": (
            pl.String,
            "solved, unsolved, wrong (the answer is refuted), or how the run ended without one.",
        ),
        "cpu_s": pl.Float64,
        "wall_s": pl.Float64,
        "peak_mb": pl.Float64,
        "counters": (pl.String, "What the program counted (steps, conflicts, ...), as JSON."),
        "certificate": (
            pl.String,
            "What proves the answer: model, proof or planted solution; null if nothing does.",
        ),
        "host": pl.String,
    },
    keys=("artifact_id", "suite", "instance", "seed"),
    provenance=("wall_s", "host"),
)
CHAMPIONS = TableSchema(
    "champions",
    1,
    {
        "line": pl.String,
        "cycle": (pl.String, "Cycle at whose end it holds the title."),
        "artifact_id": (pl.String, "The champion: sha256 (hex) of what it consists of."),
        "score": (
            pl.Float64,
            "Its consensus at the time, lower is better; of a system prompt the share of correct held-out "
            "replies.",
        ),
    },
    keys=("line", "cycle"),
)
RULES = TableSchema(
    "rules",
    1,
    {
        "rule_id": pl.String,
        "version": (pl.String, "What the rule's file states as its edition; a change of meaning raises it."),
        "text_sha": (pl.String, "sha256 (hex) of the rule's whole file."),
        "since_cycle": pl.String,
        "kind": (
            pl.String,
            "static, process or learned (written by the line itself); guidance is prose that judges nothing.",
        ),
    },
    keys=("rule_id", "version"),
)
STATE = TableSchema(
    "state",
    1,
    {
        "name": (pl.String, "Which value of the line's memory it is."),
        "value": (pl.String, "What is remembered, as JSON."),
    },
    keys=("name",),
)
"""What a line carries from cycle to cycle next to its tables."""
OPENED = TableSchema(
    "opened",
    1,
    {
        "cycle": pl.String,
        "incoming_version": (
            pl.String,
            "Version of the sealed population that the cycle's work is based on.",
        ),
    },
    keys=("cycle",),
)
ADDED_SEEDS = TableSchema(
    "immigrants",
    1,
    {
        "cycle": pl.String,
        "name": (pl.String, "Name of the seed's file or folder."),
        "seed_sha": (pl.String, "sha256 (hex) of its content: what it is known by, so that it enters once."),
        "blob_sha": (
            pl.String,
            "Blob with it as it was when the cycle was opened; null if it could not be kept, or was "
            "refused before.",
        ),
        "artifact_id": (pl.String, "Artifact that it became; null where it could not be read."),
        "state": (
            pl.String,
            "accepted; blocked, by a gate or because it cannot be read; present where the population had "
            "it already.",
        ),
        "reason": (pl.String, "Why it was blocked; null where it was not."),
        "ruleset_hash": (pl.String, "Rules that it was judged by."),
    },
    keys=("seed_sha",),
)
"""The seeds that entered a cycle, next to the population that was sealed for it."""
ENTERED = "seeds_entered"
"""Name of the entry of a population's state that tells which seeds have entered: seed_sha ->
`added_seeds.entry`."""
INCOMING = "incoming_"
"""Prefix of the tables of a sealed population. One underscore: two would make it a side table, whose rows the
catalogue counts among the shared."""
SURVIVORS = "survivors"
"""Table of the population that is left at the end of a cycle."""
SHARED = {
    schema.name: schema
    for schema in (
        ARTIFACTS,
        DERIVATIONS,
        VERDICTS,
        AGENT_CALLS,
        SESSION_TURNS,
        EVALUATIONS,
        CHAMPIONS,
        RULES,
    )
}


def side_table(asset: str, schema: TableSchema) -> str:
    """Return the asset name under which `asset` publishes its rows of a shared table."""
    return f"{asset}__{schema.name}"


def shared_table_of(asset: str) -> str | None:
    """Return the shared table that an asset name is a side table of, or None."""
    _, mark, table = asset.rpartition("__")
    return table if mark and table in SHARED else None


def is_population(asset: str) -> bool:
    """Return True if the rows of a table are a population: made in many cycles, so that their own `cycle` is
    not that of the part.

    A view's `cycle` is that of the part in every table, e.g. the cycle that a population enters.
    """
    return asset.startswith(INCOMING) or asset == SURVIVORS


def tables_by_name(*schemas: TableSchema) -> dict[str, TableSchema]:
    """Return name -> schema: the tables of assets that are called as their schemas are."""
    return {schema.name: schema for schema in schemas}


def incoming_tables(population: Mapping[str, TableSchema]) -> dict[str, TableSchema]:
    """Return the tables that a line publishes with every seal: asset -> schema. population: name ->
    schema."""
    return {f"{INCOMING}{name}": schema for name, schema in population.items()} | {
        "opened": OPENED,
        "immigrants": ADDED_SEEDS,
    }
