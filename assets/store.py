"""What one asset reads and publishes of its line, in its own partition: the one place that books rows to a
line, an asset, a cycle and a run.

    @line.asset(schema=PLANS)
    def plan(context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        with store.roles(agents) as served:   # what was asked is published as this asset's AGENT_CALLS when
            ...                               # the block ends well
        store.side(VERDICTS, rows)            # this asset's rows of a shared table, as <asset>__verdicts
        store.extra(REVIEWS, rows)            # a further table of the line, under the schema's name
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.cycle import Opened, Sealed, open_cycle, read_population, require_consent, seal_cycle, seal_seeds
from assets.line import FIRST_CYCLE, SAID_OF_CYCLE, SEED_ROUND, Line
from assets.progress import report
from assets.proposals import require_proposals_of
from assets.rules import require_loaded
from assets.shown import in_brief, note, table, warn
from evolake import __version__
from evolake.lake import (
    AGENT_CALLS,
    ARTIFACTS,
    CHAMPIONS,
    CONTEST_SEEDS,
    DERIVATIONS,
    RULES,
    SESSION_TURNS,
    VERDICTS,
    BlobStore,
    Lake,
    Record,
    TableSchema,
    side_table,
)
from evolake.settings import Settings
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents
    from evolake.gates import Ruleset, Verdict
    from evolake.seeds import CycleSeeds

Row = Mapping[str, Any]
SIDE_TABLES = "tables"
"""Metadata of a materialization: the tables that the asset published next to its own."""
SHOWN_OF_TABLE = {"table": "string", "rows": "int", "content": "string"}


@dataclass(frozen=True)
class LineStore:
    """The line's rows as the asset that is being materialized sees them. An asset without cycles publishes
    unpartitioned rows of round 0000.

    compute: where it computes; None if nothing heavy is done.
    """

    line: Line
    context: dg.AssetExecutionContext
    resource: LakeResource
    compute: ComputeResource | None = None
    _refused: list[str] = field(default_factory=list[str])
    _published: dict[str, Record] = field(default_factory=dict[str, Record])

    @property
    def lake(self) -> Lake:
        """The lake."""
        return self.resource.open()

    @property
    def blobs(self) -> BlobStore:
        """The lake's blobs."""
        return self.lake.blobs

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        return self.resource.settings()

    @property
    def seeds(self) -> CycleSeeds:
        """Return the seeds of this line's cycle."""
        from evolake.seeds import CycleSeeds

        return CycleSeeds(self.settings.seed, self.line.name, self.cycle)

    def contest(self, ids: Iterable[str]) -> CycleSeeds:
        """Return the seeds of this cycle's contest, which nobody can know before all that may take part are
        stored (`evolake.lake.secret`). ids: of these."""
        from evolake.lake.secret import contest_seeds, lake_secret

        return contest_seeds(lake_secret(self.lake.root), self.seeds, ids)

    def reveal(self, contest: CycleSeeds) -> None:
        """Publish what the contest that this asset decided was drawn by."""
        self.side(CONTEST_SEEDS, [{"line": contest.line, "cycle": contest.cycle, "root_seed": contest.root}])

    @property
    def remote(self) -> Executor | None:
        """The workers on other hosts that compute for this asset; None where this host does."""
        return self.compute.remote() if self.compute else None

    @property
    def run_id(self) -> str:
        """The run that materializes."""
        return self.context.run.run_id

    @property
    def asset(self) -> str:
        """The asset's own name in the line."""
        return self.context.asset_key.path[-1]

    @property
    def partition(self) -> str | None:
        """The cycle that rows are published in; None for an unpartitioned asset."""
        return self.context.partition_key if self.context.has_partition_key else None

    @property
    def cycle(self) -> str:
        """The cycle that rows name; 0000 for the seeds."""
        return self.partition or SEED_ROUND

    def text(self, sha: str) -> str:
        """Return a blob as text."""
        return self.blobs.get(sha).decode()

    def population(self) -> dict[str, pl.DataFrame]:
        """Return the tables that entered this cycle, as they were sealed."""
        return read_population(self.resource, self.line, self.cycle)

    def read(self, asset: str, schema: TableSchema | None = None) -> pl.DataFrame:
        """Return what `asset` published in this cycle; with a shared table's schema, its rows of that
        table."""
        return self.lake.read(self.line.name, side_table(asset, schema) if schema else asset, self.cycle)

    def rows(self, asset: str, schema: TableSchema | None = None) -> list[dict[str, Any]]:
        """Return `read` as rows."""
        return self.read(asset, schema).to_dicts()

    def has(self, asset: str, schema: TableSchema | None = None) -> bool:
        """Return whether `read` would find a part."""
        return (
            self.lake.record(self.line.name, side_table(asset, schema) if schema else asset, self.cycle)
            is not None
        )

    def extra(self, schema: TableSchema, rows: Iterable[Row], name: str | None = None) -> pl.DataFrame:
        """Publish a further table of the line, under the schema's name unless another is given. The UI shows
        it with what the asset returned."""
        frame, asset = schema.frame(rows), name or schema.name
        self._published[asset] = self.lake.publish(
            self.line.name, asset, frame, cycle=self.partition, run_id=self.run_id, schema=schema
        )
        shown = [
            {"table": f"{self.line.name}.{key}", "rows": record.rows, "content": in_brief(record.content_sha)}
            for key, record in self._published.items()
        ]
        self.context.add_output_metadata({SIDE_TABLES: table(SHOWN_OF_TABLE, shown)})
        return frame

    def side(self, schema: TableSchema, rows: Iterable[Row]) -> pl.DataFrame:
        """Publish the rows that this asset adds to a shared table; verdicts with the time, which is no
        content: a replay seals the same."""
        if schema is VERDICTS:
            now = datetime.now(UTC)
            rows = [{**row, "judged_at": now} for row in rows]
        return self.extra(schema, rows, side_table(self.asset, schema))

    def verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Publish verdicts of this asset."""
        self.side(VERDICTS, (verdict.row() for verdict in verdicts))

    def artifacts(self, rows: Iterable[Row], state: str | None = None, name: str | None = None) -> None:
        """Publish rows of ARTIFACTS, as the asset's own unless another name is given.

        rows: the line's own (`Line.artifact` says what each is); state: for all of them, else each row's.
        """
        own = {
            "line": self.line.name,
            "created_at": datetime.now(UTC),
            "run_id": self.run_id,
            "code_version": __version__,
        }
        made = (
            {**self.line.artifact(row), "cycle": row["cycle"], "state": state or row["state"]} | own
            for row in rows
        )
        self.extra(ARTIFACTS, made, name or side_table(self.asset, ARTIFACTS))

    def champion(self, artifact_id: str, score: float | None) -> None:
        """Publish who is champion after this cycle."""
        self.side(
            CHAMPIONS,
            [{"line": self.line.name, "cycle": self.cycle, "artifact_id": artifact_id, "score": score}],
        )

    def rules(self) -> Ruleset:
        """Return the line's rules, as this process loaded them.

        Raises:
            InputError: a rule file is bad, or was edited after the definitions were loaded.
        """
        folder = self.line.rules or self.settings.seeds / "rules" / self.line.name
        ruleset = _rules_of(folder.parent, folder.name)
        require_loaded(folder, ruleset.hash)
        return ruleset

    def guidance(self) -> list[str]:
        """Return what people asked of this cycle's planners, oldest first."""
        from evolake.agents import read_guidance

        return [note.text for note in read_guidance(self.lake.root, self.line.name, self.cycle)]

    @contextmanager
    def roles(self, agents: AgentsResource | None = None) -> Generator[Agents]:
        """Yield the agents of this line and cycle. Their calls are published when the block ends well.

        Raises:
            InputError: the model backend lacks something.
            AgentUnavailable: as `called`.
        """
        with (agents or AgentsResource()).open(
            self.resource, self.cycle, self.run_id, line=self.line.name
        ) as served:
            yield served
            self.called(served.rows(), served.last_failure, served.turns())

    def called(self, rows: Sequence[Row], last: str = "", turns: Sequence[Row] = ()) -> None:
        """Publish the calls of this asset, and the turns of sessions, each with its blob.

        Args:
            last: what was wrong with the last reply that could not be used.

        Raises:
            AgentUnavailable: no proposal came, and none in too many cycles before (the setting
                `agents.failed_cycles_allowed`).
        """
        self.side(AGENT_CALLS, rows)
        if turns or self.has(self.asset, SESSION_TURNS):
            blobs = [self.blobs.put(turn["text"].encode("utf-8", "replace")) for turn in turns]
            summary = ({name: turn[name] for name in SESSION_TURNS.columns if name in turn} for turn in turns)
            self.side(
                SESSION_TURNS, (row | {"record_sha": sha} for row, sha in zip(summary, blobs, strict=True))
            )
        require_proposals_of(
            self.lake,
            self.line,
            self.asset,
            self.cycle,
            rows,
            allowed=self.settings.agents.failed_cycles_allowed,
            last=last,
            turns=turns,
        )

    def open_cycle(self) -> Opened:
        """Begin this cycle; see `assets.cycle.open_cycle`."""
        return open_cycle(self.context, self.resource, self.line)

    def seal(
        self,
        tables: Mapping[str, pl.DataFrame],
        guarded_by: Sequence[dg.AssetChecksDefinition],
        *,
        survivors: str,
    ) -> Sealed:
        """Seal the population that enters the next cycle; see `assets.cycle.seal_cycle`. survivors: the table
        whose rows they are."""
        return seal_cycle(
            self.context,
            self.resource,
            self.line,
            self.cycle,
            tables,
            guarded_by=guarded_by,
            population=survivors,
        )

    def may_seal(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Fail before anything is published where these seeds would void finished cycles; see
        `assets.cycle`."""
        require_consent(self.context, self.lake, self.line, tables)

    def seal_seeds(
        self, rows: Sequence[Row], tables: Mapping[str, pl.DataFrame], *, lacking: str, do: str
    ) -> dict[str, Any]:
        """Publish the rules and seal what enters cycle 0001; gives metadata.

        Args:
            rows: the seeds, accepted or blocked. tables: the archive with them.
            lacking, do: what is missing where every seed is blocked, and what to do.
        """
        self.side(RULES, self.rules().rows())
        accepted = [row for row in rows if row["state"] == "accepted"]
        if not accepted:
            reasons = (
                "; ".join(self._refused)
                or "; ".join(f"{self.line.artifact(row)['title']}: {row['reason']}" for row in rows)
                or "there is none"
            )
            raise dg.Failure(f"{lacking} ({reasons}). {do}", allow_retries=False)
        sealed = seal_seeds(self.context, self.resource, self.line, tables)
        said = {SAID_OF_CYCLE: "; ".join(self._refused)} if self._refused else {}
        return (
            sealed.metadata()
            | said
            | {"accepted": len(accepted), "blocked": len(rows) - len(accepted), "first_cycle": FIRST_CYCLE}
        )

    def refused(self, name: str, reason: str) -> None:
        """Report that a seed does not enter: in the run's log, and on the screen of `evolake run` when the
        seeds are sealed."""
        text = f"{name} does not enter: {' '.join(reason.removeprefix(f'{name}: ').split())}"
        self.warn(text)
        self._refused.append(text)

    def derivations(self, rows: Iterable[Row]) -> None:
        """Publish who descends from whom."""
        self.side(DERIVATIONS, rows)

    def tell(self, metadata: Mapping[str, Any]) -> None:
        """Metadata that the UI shows of what is materialized."""
        self.context.add_output_metadata({name: in_brief(value) for name, value in metadata.items()})

    def log(self, text: str) -> None:
        """Say in the run's log how far the asset is."""
        note(self.context, text)

    def progress(self, what: str, done: int, of: int, about: str = "") -> None:
        """Report how far a long stage is, as `class 3 of 39: NAME`, to the run's log and on the screen of
        `evolake run`."""
        text = f"{what} {done} of {of}{f': {about}' if about else ''}"
        self.log(text)
        report(text)

    def warn(self, text: str) -> None:
        """Say in the run's log what a reader of the cycle should know."""
        warn(self.context, f"WARN: {text}")


@functools.cache
def _rules_of(folder: Path, line: str) -> Ruleset:
    """Return rules that are read once in a process: all cycles that it makes are judged alike."""
    from evolake.gates import load_rules

    return load_rules(folder, line)
