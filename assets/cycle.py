"""The feedback edge: open a cycle, and seal the population that enters the next one.

Cycle n+1 starts from what survived cycle n. Dagster refuses such a loop as a dependency, so it goes through
the lake: the external asset `L/incoming[n]` is sealed by the closing asset of cycle n-1, in a hash chain
(`evolake.lake.seals`), and opening cycle n reopens seal n+1. Dagster's events mirror the seals: an
observation, then a materialization (the other way round the UI calls fresh partitions stale).

Opening also notes, in the lake's table `<line>.opened`, on which version the cycle's work is based. Sealing
compares: a closing asset that is re-run alone after its population has changed cannot pass old work off as
new.

Seeds that change under a line that has begun: sealing them again voids every finished cycle, so it is done
only on an explicit request.
"""

from __future__ import annotations

import json
import os
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
import polars as pl

from assets.guards import require_passed
from assets.line import FIRST_CYCLE, IN_PROCESS_TAG, LINE_TAG, Line, cycle_key, is_cycle_key, register_keys
from assets.rules import observe_rules
from assets.shown import in_brief, note, warn
from assets.story import FOUND_TAG, log_elsewhere, story_page
from evolake.errors import PartitionBusy
from evolake.lake import Lake, Seal, following, population_version, preceding
from evolake.lake.schemas import INCOMING, OPENED
from resources.dagster_internals import repository_of
from resources.lake import LAKE_TAG, LakeResource
from resources.locks import hold_line, release_lines

__all__ = [
    "FIRST_CYCLE",
    "Line",
    "Opened",
    "Sealed",
    "cycle_key",
    "following",
    "open_cycle",
    "read_population",
    "seal_cycle",
    "seal_seeds",
]

BACKFILL_TAG = "dagster/backfill"


@dataclass(frozen=True)
class Opened:
    """A cycle that has begun: its key and the seal of the population that enters it."""

    cycle: str
    seal: Seal

    def metadata(self) -> dict[str, str]:
        """For the opening asset's materialization."""
        return {"incoming_version": in_brief(self.seal.version)}


@dataclass(frozen=True)
class Sealed:
    """A population that waits for `cycle`: its version, rows per table, whether it is the one before it again
    (nothing survived), and the asset whose page says what the cycle before found; None for seeds."""

    cycle: str
    version: str
    rows: dict[str, int]
    carried_over: bool
    story: dg.AssetKey | None = None

    def metadata(self) -> dict[str, Any]:
        """For the closing asset's materialization, the link to the story first. `warning` is there when
        nothing survived."""
        shown: dict[str, Any] = {"story": dg.MetadataValue.asset(self.story)} if self.story else {}
        shown |= {"next_cycle": self.cycle, "incoming_version": in_brief(self.version)}
        shown |= {f"rows_{table}": rows for table, rows in self.rows.items()}
        if self.carried_over:
            shown["warning"] = "WARN: no survivor; the previous population enters the next cycle again"
        return shown


def open_cycle(context: dg.AssetExecutionContext, lake: LakeResource, line: Line) -> Opened:
    """Begin the cycle of `context.partition_key`: hold the line, require every link of the chain, reopen the
    seal that this cycle will make.

    Raises:
        dg.Failure: not retried. Another run holds the line, or the chain is broken: says where, whose run is
            to blame, and what repairs it.
    """
    cycle = context.partition_key
    if not is_cycle_key(cycle):
        keys = "keys are 0001, 0002, ... To remove it from the UI"
        raise dg.Failure(
            f"{cycle!r} is no cycle of line {line.name!r}: {keys}: {forget_command(line, cycle)}",
            allow_retries=False,
        )
    make_seeds_first(context, lake, line, cycle)
    hold(context, lake, line, f"cycle {cycle} of line {line.name!r} cannot start")
    store = lake.open()
    if broken := store.seals.broken_link(line.name, cycle):
        raise dg.Failure(recovery_sentence(store, line, cycle, *broken), allow_retries=False)
    seal = store.seals.read(line.name, cycle)
    assert seal is not None, "an unbroken chain ends in a seal"
    store.seals.reopen(line.name, following(cycle), context.run.run_id)
    observe_rules(context, line)
    settings = lake.settings()
    row = {"cycle": cycle, "incoming_version": seal.version, "root_seed": settings.seed}
    row |= {"profile": settings.profile, "backend": settings.backend}
    row |= {"models": json.dumps(settings.models, sort_keys=True) if settings.backend == "model" else None}
    opened = OPENED.frame([row])
    store.publish(line.name, OPENED.name, opened, cycle=cycle, run_id=context.run.run_id, schema=OPENED)
    return Opened(cycle, seal)


def make_seeds_first(context: dg.AssetExecutionContext, lake: LakeResource, line: Line, cycle: str) -> None:
    """Make the line's seeds if `cycle` is the first and they were never sealed: their own run, in this
    process, that the UI shows.

    Nothing if this run cannot make them (it has no job for the seeds): the chain then says which group to
    materialize.

    Raises:
        dg.Failure: the seeds failed, or there is nothing to make them of; not retried. The backfill's runs of
            later cycles, which could only fail, are cancelled. Another run holds the line.
    """
    store, repository = lake.open(), repository_of(context)
    if (
        cycle != FIRST_CYCLE
        or store.seals.read(line.name, cycle) is not None
        or repository is None
        or not repository.has_job(line.seeds_job_name)
    ):
        return
    if lack := line.idle() or line.missing():
        cancel_waiting(context)
        raise dg.Failure(f"the line {line.name!r} cannot begin: {lack}", allow_retries=False)
    note(
        context,
        f"line {line.name} has no seeds yet: making the group {line.seeds_group} first, in a separate run",
    )
    run_id = str(uuid.uuid4())
    release_lines(
        context.run.run_id
    )  # the run of the seeds takes the line, from before it is recorded until it has ended (pipelines.burial)
    try:
        hold_line(store, line.name, run_id)
    except PartitionBusy as busy:
        raise dg.Failure(
            f"the seeds of line {line.name!r} cannot be made: {busy}", allow_retries=False
        ) from busy
    try:
        made = repository.get_job(line.seeds_job_name).execute_in_process(
            instance=context.instance,
            run_id=run_id,
            raise_on_error=False,
            tags={IN_PROCESS_TAG: str(os.getpid()), LINE_TAG: line.name, LAKE_TAG: store.id},
        )
    finally:
        release_lines(run_id)
    if not made.success:
        cancel_waiting(context)
        raise dg.Failure(
            f"the seeds of line {line.name!r} could not be made: see run {made.run_id}. Then materialize "
            f"the group {line.seeds_group!r}, and this "
            "cycle again.",
            allow_retries=False,
        )


def cancel_waiting(context: dg.AssetExecutionContext) -> None:
    """Cancel what waits in the queue of the backfill that this run is one of."""
    if backfill := context.run.tags.get(BACKFILL_TAG):
        waiting = dg.RunsFilter(tags={BACKFILL_TAG: backfill}, statuses=[dg.DagsterRunStatus.QUEUED])
        for run in context.instance.get_runs(waiting):
            context.instance.report_run_canceling(run)
            context.instance.report_run_canceled(run, f"cycle {context.partition_key} did not begin")


def forget_command(line: Line, cycle: str) -> str:
    """Return the command that takes a partition out of the UI which no cycle will fill."""
    return f"evolake cycles forget {shlex.quote(cycle)} --line {line.name}"


def read_population(lake: LakeResource, line: Line, cycle: str) -> dict[str, pl.DataFrame]:
    """Return the tables that enter `cycle`, each compared with the hash that its seal holds.

    Raises:
        dg.Failure: not sealed, or a table is not the one that was sealed.
    """
    store = lake.open()
    seal = store.seals.read(line.name, cycle)
    if seal is None or seal.state != "sealed":
        state = seal.state if seal else "missing"
        raise dg.Failure(recovery_sentence(store, line, cycle, cycle, state), allow_retries=False)
    tables: dict[str, pl.DataFrame] = {}
    for asset, sha in seal.tables.items():
        record = store.record(line.name, asset, cycle)
        if record is None or record.content_sha != sha:
            why = (
                f"not what was sealed (table {asset}: wanted content {sha[:12]}, got "
                f"{record.content_sha[:12] if record else 'nothing'})"
            )
            raise dg.Failure(recovery_sentence(store, line, cycle, cycle, why), allow_retries=False)
        tables[asset.removeprefix(INCOMING)] = store.read(line.name, asset, cycle)
    return tables


def seal_cycle(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    line: Line,
    cycle: str,
    tables: Mapping[str, pl.DataFrame],
    *,
    built_on: Opened | str | None = None,
    guarded_by: Sequence[dg.AssetChecksDefinition] = (),
    population: str | None = None,
) -> Sealed:
    """Seal what survived `cycle` as the population of the next one, register the next partition, mirror it in
    Dagster's events.

    Args:
        tables: name -> frame; published as `incoming_<name>` of the next cycle. No rows means that nothing
            survived: the population that entered `cycle` is sealed again, with a warning. That is legal.
        built_on: the version of `incoming[cycle]` that the work is based on. None: what the opening asset
            noted.
        guarded_by: blocking checks that must have passed on this cycle's current parts; in a whole run they
            have, in a partial one they may not.
        population: the table whose rows count as survivors; None: all of them.

    Raises:
        dg.Failure: not retried. A guard has not passed, or the cycle was opened on another population than
            the one that is sealed now.
    """
    hold(context, lake, line, f"cycle {cycle} of line {line.name!r} cannot be sealed")
    store = lake.open()
    if built_on is None:
        entering = opened_version(store, line, cycle)
    elif isinstance(built_on, str):
        entering = built_on
    else:
        entering = built_on.seal.version
    now = store.seals.read(line.name, cycle)
    if entering is None:
        raise dg.Failure(
            f"cycle {cycle} cannot be sealed: no asset of the cycle has opened it. The line's first asset "
            "has to call `open_cycle`",
            allow_retries=False,
        )
    if now is None or now.state != "sealed" or now.version != entering:
        why = "its work is based on another population than the one that enters it now"
        raise dg.Failure(f"cycle {cycle} cannot be sealed: {why}. {mend(line, cycle)}", allow_retries=False)
    require_passed(store, guarded_by, cycle)
    survived = (
        tables[population].height if population else sum(frame.height for frame in tables.values())
    ) > 0
    if not survived:
        warn(
            context,
            f"WARN: cycle {cycle} of {line.name} has no survivor; what entered it enters cycle "
            f"{following(cycle)} again",
        )
        tables = read_population(lake, line, cycle)
    store.note_profile(lake.settings().profile)
    return _seal(context, store, line, following(cycle), tables, entering, carried_over=not survived)


def seal_seeds(
    context: dg.AssetExecutionContext, lake: LakeResource, line: Line, tables: Mapping[str, pl.DataFrame]
) -> Sealed:
    """Seal the population that enters cycle 0001. For the line's seed asset.

    Raises:
        dg.Failure: another run holds the line, there are no seeds at all, or they would void finished cycles
            (`resealing`).
    """
    hold(context, lake, line, f"the seeds of line {line.name!r} cannot be sealed")
    if not any(frame.height for frame in tables.values()):
        raise dg.Failure(
            f"line {line.name!r} has no seeds: every table is empty. Add seeds and materialize again.",
            allow_retries=False,
        )
    require_consent(context, lake.open(), line, tables)
    lake.open().note_profile(lake.settings().profile)
    return _seal(context, lake.open(), line, FIRST_CYCLE, tables, None, carried_over=False)


def hold(context: dg.AssetExecutionContext, lake: LakeResource, line: Line, refusal: str) -> None:
    """Take the line's lock for this run, or fail with `refusal` and who holds it."""
    try:
        lake.hold(line.name, context.run.run_id)
    except PartitionBusy as busy:
        raise dg.Failure(f"{refusal}: {busy} Nothing was changed.", allow_retries=False) from busy


def mend(line: Line, first: str) -> str:
    """Return what to do when everything from cycle `first` on has to run again."""
    return (
        f"Materialize the whole group {line.name!r} from cycle {first} on, in one new backfill (or: "
        f"evolake run --lines {line.name}). "
        'Do not use "re-execute from failure" on the old backfill: it runs later cycles first.'
    )


def recovery_sentence(lake: Lake, line: Line, cycle: str, broken: str, why: str) -> str:
    """Return why `cycle` cannot start: the first broken link, the cycle whose run is to blame, and what
    repairs it."""
    opening = f"cycle {cycle} cannot start: the population that enters cycle {broken} is {why}"
    blamed = preceding(broken)
    if blamed is None:
        return f"{opening}. Materialize the group {line.seeds_group!r} first."
    seal = lake.seals.read(line.name, broken)
    if seal is None:
        return (
            f"{opening}: cycle {blamed} has not run. {mend(line, blamed)} If {cycle} was mistyped: "
            f"{forget_command(line, cycle)}"
        )
    if seal.state != "sealed":
        return (
            f"{opening}: the run of cycle {blamed} failed or did not finish (run {seal.run_id}). "
            f"{mend(line, blamed)}"
        )
    return f"{opening}: cycle {blamed} has to run again. {mend(line, blamed)}"


def opened_version(lake: Lake, line: Line, cycle: str) -> str | None:
    """Return the version of the population that the cycle's work is based on; None if it was not opened."""
    if lake.record(line.name, OPENED.name, cycle) is None:
        return None
    return lake.read(line.name, OPENED.name, cycle)["incoming_version"].item()


def _seal(
    context: dg.AssetExecutionContext,
    store: Lake,
    line: Line,
    cycle: str,
    tables: Mapping[str, pl.DataFrame],
    built_on: str | None,
    *,
    carried_over: bool,
) -> Sealed:
    hashes = {
        f"{INCOMING}{table}": store.publish(
            line.name,
            f"{INCOMING}{table}",
            frame,
            cycle=cycle,
            run_id=context.run.run_id,
            schema=line.population.get(table),
        ).content_sha
        for table, frame in sorted(tables.items())
    }
    ended = preceding(cycle)
    page, found = (
        story_page(store, line, ended, context.run.run_id, lambda text: warn(context, text))
        if ended
        else ({}, "")
    )
    version = population_version(hashes)
    store.seals.seal(line.name, cycle, version, built_on, context.run.run_id, hashes)
    register_keys(context.instance, line.name, [cycle])
    unlogged = log_elsewhere(store, line, ended) if ended else []
    for text in unlogged:
        warn(context, f"WARN: {text}")
    if unlogged:
        page["warning"] = "WARN: " + "; ".join(unlogged)
    sealed = Sealed(
        cycle,
        version,
        {table: frame.height for table, frame in tables.items()},
        carried_over,
        line.story.key if ended else None,
    )
    tags = {"dagster/data_version": version}
    key = line.key("incoming")
    context.log_event(dg.AssetObservation(asset_key=key, partition=cycle, tags=tags))
    context.log_event(
        dg.AssetMaterialization(asset_key=key, partition=cycle, tags=tags, metadata=sealed.metadata())
    )
    if ended:
        context.log_event(
            dg.AssetMaterialization(asset_key=line.story.key, partition=ended, tags=tags, metadata=page)
        )
    if found:
        context.instance.add_run_tags(context.run.run_id, {FOUND_TAG: found})
    return sealed


RESEAL_TAG = "evolake/reseal"
"""Tag of a run that may seal the seeds of a line again; its value is the line's name."""


def require_consent(
    context: dg.AssetExecutionContext, lake: Lake, line: Line, tables: Mapping[str, pl.DataFrame]
) -> None:
    """Nothing where these seeds void no finished cycle, or the run may do so.

    Raises:
        dg.Failure: not retried. Says what would be voided, and what to do instead.
    """
    from evolake.report.status import sealed_cycles

    done = sealed_cycles(lake, line.name)
    if not done or context.run.tags.get(RESEAL_TAG) == line.name:
        return
    sealed = lake.seals.read(line.name, FIRST_CYCLE)
    if sealed is not None and sealed.version == _version(line, tables):
        return
    cycles = (
        f"cycle {done[0]}" if len(done) == 1 else f"{len(done)} finished cycles ({done[0]} to {done[-1]})"
    )
    raise dg.Failure(
        f"these seeds of line {line.name!r} are not those of cycle {FIRST_CYCLE}: sealing them would void "
        f"{cycles}, which would have to run again. Nothing was sealed. New seeds need no sealing: they "
        f"enter the next cycle (evolake run --lines {line.name}). To start over all the same: evolake "
        f"seeds reseal {line.name}, or give the run the tag {RESEAL_TAG}: {line.name}.",
        allow_retries=False,
    )


def _version(line: Line, tables: Mapping[str, pl.DataFrame]) -> str:
    """Return the version that the tables would be sealed as."""
    from evolake.lake.hashing import content_hash

    hashes: dict[str, str] = {}
    for name, frame in tables.items():
        schema = line.population.get(name)
        hashes[f"{INCOMING}{name}"] = (
            content_hash(schema.validate(frame), schema.provenance) if schema else content_hash(frame)
        )
    return population_version(hashes)
