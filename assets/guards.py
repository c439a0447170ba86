"""No way round the gates: before a cycle is sealed, its blocking checks must have passed on the parts that
are there now.

In a run of the whole group a failing blocking check stops what is downstream. But the UI can also materialize
the closing asset alone, or start a run without its checks. This looks the checks up in Dagster's event log,
per partition, and refuses unless the newest evaluation passed and judged the newest materialization, which is
what the lake holds. Another lake may share the log, with cycles of the same names: evaluations count by runs
of this one alone (`LAKE_TAG`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import dagster as dg

from evolake.lake import Lake
from resources.dagster_internals import COMPLETED_ASSET_CHECK_EXECUTION_RECORD_STATUSES, PartitionKeyFilter
from resources.lake import LAKE_TAG

PAGE = 20


def require_passed(
    context: dg.AssetExecutionContext, lake: Lake, checks: Sequence[dg.AssetChecksDefinition], cycle: str
) -> None:
    """Fail, not to be retried, when one of `checks` has not passed on the current part of `cycle`."""
    if missing := unmet(context.instance, lake, checks, cycle):
        raise dg.Failure(
            f"cycle {cycle} cannot be sealed: these checks have not passed on its current parts: "
            f"{', '.join(missing)}. "
            "Materialize the whole group for this cycle, with its checks.",
            allow_retries=False,
        )


def unmet(
    instance: dg.DagsterInstance, lake: Lake, checks: Sequence[dg.AssetChecksDefinition], cycle: str
) -> list[str]:
    """Return those of `checks` that have not passed on the lake's current part of `cycle`, each with the
    reason."""

    @lru_cache
    def lake_of(run_id: str) -> str | None:
        run = instance.get_run_by_id(run_id)
        return run.tags.get(LAKE_TAG) if run else None

    result: list[str] = []
    for key in [key for check in checks for key in check.check_keys]:
        evaluated = (item for run_id, item in evaluations(instance, key, cycle) if lake_of(run_id) == lake.id)
        made = (part for part in parts(instance, key, cycle) if lake_of(part.run_id) in (lake.id, None))
        judged, newest = next(evaluated, None), next(made, None)
        target = judged.target_materialization_data if judged else None
        if judged is None:
            why = "not run"
        elif not judged.passed:
            why = "failed"
        elif not newest or not target or target.storage_id != newest.storage_id:
            why = "passed on an older part"
        elif not _is_there(lake, newest, cycle):
            why = "passed on a part that the lake does not hold"
        else:
            continue
        result.append(f"{key.asset_key.to_user_string()}:{key.name} ({why})")
    return result


def _is_there(lake: Lake, part: dg.EventLogRecord, cycle: str) -> bool:
    """Return whether the lake holds what a materialization says that it published."""
    made = part.asset_materialization
    said = made.metadata.get("content_hash") if made else None
    if made is None or said is None:
        return True
    line, asset = made.asset_key.path
    record = lake.record(line, asset, cycle)
    return record is not None and record.content_sha == said.value


def parts(instance: dg.DagsterInstance, key: dg.AssetCheckKey, cycle: str) -> Iterator[dg.EventLogRecord]:
    """Yield the materializations of a check's asset in one cycle, the newest first."""
    wanted = dg.AssetRecordsFilter(asset_key=key.asset_key, asset_partitions=[cycle])
    cursor, more = None, True
    while more:
        page = instance.fetch_materializations(wanted, limit=PAGE, cursor=cursor)
        yield from page.records
        cursor, more = page.cursor, page.has_more


def evaluations(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, cycle: str
) -> Iterator[tuple[str, dg.AssetCheckEvaluation]]:
    """Yield (run, evaluation) of a check that was finished for one cycle, the newest first."""
    cursor = None
    while page := instance.event_log_storage.get_asset_check_execution_history(
        key,
        limit=PAGE,
        cursor=cursor,
        status=COMPLETED_ASSET_CHECK_EXECUTION_RECORD_STATUSES,
        partition_filter=PartitionKeyFilter(key=cycle),
    ):
        yield from ((record.run_id, record.evaluation) for record in page if record.evaluation)
        cursor = page[-1].id
