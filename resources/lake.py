"""The lake as a Dagster resource, and the IO manager that publishes frames into it.

Frames go in and out by type annotation: `pl.DataFrame` loads the part, `pl.LazyFrame` scans it. What is
published is described in the materialization's metadata (rows, columns, content hash, path), and its data
version *is* the content hash, so that Dagster calls a partition stale exactly when the content that enters it
has changed. (Annotations are not postponed in this file: Dagster reads the type of a nested resource from the
class body.)
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from pydantic import PrivateAttr

from evolake import settings as settings_module
from evolake.errors import EvolakeError, InputError
from evolake.lake import Lake, Record, TableSchema
from evolake.settings import Settings
from resources.locks import hold_line, release_lines
from resources.run_settings import RunSettings, lay_over, refusal
from resources.tables import COLUMNS, column_schema, named

LAKE_TAG = "evolake/lake"
"""Tag of every run: the id of its lake. Several lakes may share what Dagster keeps of runs and checks."""


def is_of_another(run: dg.DagsterRun, lake: Lake) -> bool:
    """Return whether a run is known to work on another lake."""
    known = run.tags.get(LAKE_TAG)
    return known is not None and known != lake.id


class LakeResource(dg.ConfigurableResource):
    """The lake at `root`; where that is empty, wherever the settings say (EVOLAKE_LAKE, else the project's
    data_lake/)."""

    root: str = ""
    _lake: Lake | None = PrivateAttr(default=None)
    _refused: InputError | None = PrivateAttr(default=None)

    def open(self) -> Lake:
        """Return the lake, opened on first use, so that loading definitions touches no disk.

        Raises:
            dg.Failure: the run was given settings that cannot be used.
        """
        if self._refused is not None:
            raise refusal(self._refused)
        if self._lake is None:
            self._lake = Lake(Path(self.root) if self.root else self.settings().require_lake())
        return self._lake

    def settings(self) -> Settings:
        """Return the settings of this process (environment over profile over defaults)."""
        return settings_module.load()

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Tag the run with the lake that it works on. A lake that cannot be opened is said by the asset."""
        self._refused = lay_over(context)
        if self._refused is None and context.run and context.instance and LAKE_TAG not in context.run.tags:
            with suppress(EvolakeError):
                context.instance.add_run_tags(context.run.run_id, {LAKE_TAG: self.open().id})

    def hold(self, line: str, run_id: str) -> None:
        """Take the line's lock for the whole of this run; see resources.locks."""
        hold_line(self.open(), line, run_id)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Give the line back when the run ends, well or badly."""
        if context.run:
            release_lines(context.run.run_id)


class LakeIOManager(dg.ConfigurableIOManager):
    """Publishes what assets return as `tables/<line>/<asset>/cycle=<partition>/part.parquet`. Asset keys are
    (line, asset)."""

    lake: dg.ResourceDependency[LakeResource]
    settings: dg.ResourceDependency[RunSettings]

    def handle_output(self, context: dg.OutputContext, obj: pl.DataFrame | pl.LazyFrame) -> None:
        """Publish a frame, note what was published and make its content hash the data version.

        Raises:
            TypeError: the asset returned something else than a polars frame.
        """
        if not isinstance(obj, pl.DataFrame | pl.LazyFrame):
            raise TypeError(
                f"asset {context.asset_key.to_user_string()} returned a {type(obj).__name__}; the lake "
                "takes polars frames. "
                "Return a frame, or annotate the asset `-> None` or `-> dg.MaterializeResult` if it has "
                "no table."
            )
        line, asset = _names(context.asset_key)
        frame = obj.collect() if isinstance(obj, pl.LazyFrame) else obj
        self.lake.hold(line, context.run_id)
        cycle = context.partition_key if context.has_partition_key else None
        schema = named(context.definition_metadata)
        record = self.lake.open().publish(
            line, asset, frame, cycle=cycle, run_id=context.run_id, schema=schema
        )
        context.add_output_metadata(describe(record, frame, self.lake.open().root, schema))
        context.step_context.set_data_version(context.asset_key, dg.DataVersion(record.content_sha))

    def load_input(self, context: dg.InputContext) -> pl.DataFrame | pl.LazyFrame:
        """Return the frame that the asset's upstream published for this partition (verified against the
        manifest)."""
        line, asset = _names(context.asset_key)
        cycle = context.asset_partition_key if context.has_asset_partitions else None
        if context.dagster_type.typing_type is pl.LazyFrame:
            return self.lake.open().scan(line, asset, cycle)
        return self.lake.open().read(line, asset, cycle)


def describe(
    record: Record, frame: pl.DataFrame, root: Path, schema: TableSchema | None = None
) -> dict[str, Any]:
    """Return the metadata that the UI shows of a published table. root: the lake's folder, which `path` is
    relative to."""
    free = [dg.TableColumn(name, type=str(kind)) for name, kind in frame.schema.items()]
    return {
        "dagster/row_count": record.rows,
        COLUMNS: column_schema(schema) if schema else dg.TableSchema(free),
        "content_hash": record.content_sha,
        "path": dg.MetadataValue.path(record.path.relative_to(root).as_posix()),
    }


def _names(key: dg.AssetKey) -> tuple[str, str]:
    if len(key.path) != 2:
        raise ValueError(f"asset key {key.to_user_string()!r} must be <line>/<asset> to live in the lake")
    return key.path[0], key.path[1]
