"""No way round the gates: before a cycle is sealed, its blocking checks must have passed on the parts that
are there now.

In a run of the whole group a failing blocking check stops what is downstream. But the UI can also materialize
the closing asset alone, or start a run without its checks. This looks the checks up in Dagster's event log,
per partition, and refuses unless the newest evaluation passed and judged the newest materialization.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from resources.dagster_internals import COMPLETED_ASSET_CHECK_EXECUTION_RECORD_STATUSES, PartitionKeyFilter


def require_passed(
    context: dg.AssetExecutionContext, checks: Sequence[dg.AssetChecksDefinition], cycle: str
) -> None:
    """Fail, not to be retried, when one of `checks` has not passed on the current part of `cycle`."""
    if missing := unmet(context.instance, checks, cycle):
        raise dg.Failure(
            f"cycle {cycle} cannot be sealed: these checks have not passed on its current parts: "
            f"{', '.join(missing)}. "
            "Materialize the whole group for this cycle, with its checks.",
            allow_retries=False,
        )


def unmet(
    instance: dg.DagsterInstance, checks: Sequence[dg.AssetChecksDefinition], partition: str
) -> list[str]:
    """Return those of `checks` that have not passed on the current part of `partition`, each with the
    reason."""
    return [
        f"{key.asset_key.to_user_string()}:{key.name} ({why})"
        for key, why in _not_passed(instance, _keys(checks), partition)
    ]


def _keys(checks: Sequence[dg.AssetChecksDefinition]) -> list[dg.AssetCheckKey]:
    return [key for check in checks for key in check.check_keys]


def _not_passed(
    instance: dg.DagsterInstance, keys: Sequence[dg.AssetCheckKey], cycle: str
) -> list[tuple[dg.AssetCheckKey, str]]:
    result: list[tuple[dg.AssetCheckKey, str]] = []
    for key in keys:
        judged = evaluation(instance, key, cycle)
        newest = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=key.asset_key, asset_partitions=[cycle]), limit=1
        ).records
        target = judged.target_materialization_data if judged else None
        if judged is None:
            result.append((key, "not run"))
        elif not judged.passed:
            result.append((key, "failed"))
        elif not newest or target is None or target.storage_id != newest[0].storage_id:
            result.append((key, "passed on an older part"))
    return result


def evaluation(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, cycle: str
) -> dg.AssetCheckEvaluation | None:
    """Return the newest finished evaluation of a check for one cycle."""
    history = instance.event_log_storage.get_asset_check_execution_history(
        key,
        limit=1,
        status=COMPLETED_ASSET_CHECK_EXECUTION_RECORD_STATUSES,
        partition_filter=PartitionKeyFilter(key=cycle),
    )
    return history[0].evaluation if history else None
