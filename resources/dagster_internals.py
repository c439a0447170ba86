"""Everything that evolake takes from Dagster's private modules, which may move with any version of Dagster.
No other module imports from them.

PoolGranularity                               whether pools count runs is no public setting
                                              (`assets.package.limit_pool`)
InstanceRef                                   a configuration that is read without opening what it names
                                              (`pipelines.home`)
PlanOrchestrationContext, ExecutionPlan,      an executor that wraps another implements its interface, whose
                                              types are not public
RetryMode, StepDependencyConfig               (`pipelines.executor`)
UnresolvedAssetJobDefinition                  what `dg.define_asset_job` returns (`pipelines.jobs`)
cron_string_iterator, is_valid_cron_string    ticks of a schedule as Dagster's daemon counts them
                                              (`pipelines.policy`, `pipelines.schedules`)
CheckError                                    what a run that was loaded without a repository raises
                                              (`assets.cycle`)
SqliteEventLogStorage                         whether events are stored in files of this host
                                              (`pipelines.burial`)
"""

from __future__ import annotations

import dagster as dg

from evolake.errors import MachineryError


def moved(error: ImportError) -> MachineryError:
    """Return the error that says which private name of Dagster is gone."""
    return MachineryError(
        f"evolake does not fit Dagster {dg.__version__}",
        wanted="the private names in resources/dagster_internals.py, which Dagster 1.13 has",
        got=str(error),
        do=(
            "install the version of Dagster that constraints.txt names: pip install -c constraints.txt "
            "dagster"
        ),
    )


try:
    from dagster._check import CheckError
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
    from dagster._core.execution.context.system import PlanOrchestrationContext
    from dagster._core.execution.plan.plan import ExecutionPlan
    from dagster._core.execution.retries import RetryMode
    from dagster._core.execution.step_dependency_config import StepDependencyConfig
    from dagster._core.instance.config import PoolGranularity
    from dagster._core.instance.ref import InstanceRef
    from dagster._utils.schedules import cron_string_iterator, is_valid_cron_string
except ImportError as error:
    raise moved(error) from error

__all__ = [
    "ExecutionPlan",
    "InstanceRef",
    "PlanOrchestrationContext",
    "PoolGranularity",
    "RetryMode",
    "StepDependencyConfig",
    "UnresolvedAssetJobDefinition",
    "cron_string_iterator",
    "has_events_in_files",
    "is_valid_cron_string",
    "repository_of",
]


def repository_of(context: dg.AssetExecutionContext) -> dg.RepositoryDefinition | None:
    """Return the definitions that the run was loaded with; None of a run in process, which is made from a job
    alone."""
    try:
        return context.repository_def
    except CheckError:
        return None


def has_events_in_files(instance: dg.DagsterInstance) -> bool:
    """Return whether the events of runs are stored in SQLite files, which no two hosts share."""
    # Imported here: Dagster's storage brings SQLAlchemy and Alembic, which take as long to load as all
    # definitions.
    try:
        from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
    except ImportError as error:
        raise moved(error) from error
    return isinstance(instance.event_log_storage, SqliteEventLogStorage)
