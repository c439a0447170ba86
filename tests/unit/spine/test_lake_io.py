"""The IO manager: frames in and out by annotation, metadata for the UI, and the content hash as the data
version."""

from __future__ import annotations

import dagster as dg
import polars as pl
import pytest

from assets.line import Line, register_keys
from evolake.errors import InputError
from evolake.lake import TableSchema

TYPED = TableSchema(
    "typed",
    1,
    {"name": (pl.String, "What it is called."), "size": (pl.Int64, "How much it holds, in MiB.")},
    ("name",),
)
LINE = Line("io", "A line for the IO manager.", owners=("team:toys",))


@LINE.asset()
def eager_frame() -> pl.DataFrame:
    return pl.DataFrame({"name": ["a", "b"], "size": [1, 2]})


@LINE.asset()
def lazy_frame(eager_frame: pl.LazyFrame) -> pl.LazyFrame:
    assert isinstance(eager_frame, pl.LazyFrame)
    return eager_frame.filter(pl.col("size") > 1)


@LINE.asset()
def both(eager_frame: pl.DataFrame, lazy_frame: pl.DataFrame) -> dg.MaterializeResult[pl.DataFrame]:
    assert isinstance(eager_frame, pl.DataFrame)
    return dg.MaterializeResult(value=pl.concat([eager_frame, lazy_frame]), metadata={"said": "hello"})


@LINE.asset(schema=TYPED)
def typed(eager_frame: pl.DataFrame) -> pl.DataFrame:
    return eager_frame.select("size", "name")


@LINE.asset(schema=TYPED)
def mistyped() -> pl.DataFrame:
    return pl.DataFrame({"name": [1], "size": [2]})


@LINE.asset()
def not_a_frame() -> dict:
    return {"rows": 1}


@LINE.seed_asset()
def whole() -> pl.DataFrame:
    return pl.DataFrame({"n": [1]})


@LINE.asset(deps=["whole"])
def beside(whole: pl.DataFrame) -> pl.DataFrame:
    return whole


def run(project, *assets: dg.AssetsDefinition, partition: str | None = "0001") -> dg.ExecuteInProcessResult:
    register_keys(project.instance, LINE.name, ["0001"])
    keys = [asset.key for asset in assets]
    defs = dg.Definitions(
        assets=[eager_frame, lazy_frame, both, typed, mistyped, not_a_frame, whole, beside],
        resources=project.defs.resources,
        executor=dg.in_process_executor,
        jobs=[dg.define_asset_job("some", dg.AssetSelection.assets(*keys))],
    )
    return defs.resolve_job_def("some").execute_in_process(
        instance=project.instance, partition_key=partition, raise_on_error=False
    )


def materialization(result: dg.ExecuteInProcessResult, asset: str) -> dg.AssetMaterialization:
    [results] = result.asset_materializations_for_node(f"io__{asset}")
    return results


def error_of(result: dg.ExecuteInProcessResult) -> str:
    error = next(event for event in result.all_events if event.is_step_failure).step_failure_data.error
    while error.cause:
        error = error.cause
    return f"{error.cls_name}: {error.message}"


def test_frames_go_in_and_out_as_annotated(project):
    result = run(project, eager_frame, lazy_frame, both)
    assert result.success
    assert project.lake.read("io", "both", "0001").to_dict(as_series=False) == {
        "name": ["a", "b", "b"],
        "size": [1, 2, 2],
    }
    assert materialization(result, "both").metadata["said"].value == "hello"


def test_the_data_version_is_the_content_hash(project):
    result = run(project, eager_frame, typed)
    for asset in ("eager_frame", "typed"):  # `lazy_frame` hands `eager_frame` on to `both`: see test_reads
        sha = project.lake.record("io", asset, "0001").content_sha
        tags = materialization(result, asset).tags
        assert (tags["dagster/data_version"], tags["dagster/data_version_is_user_provided"]) == (sha, "true")


def test_rows_columns_hash_and_path_are_shown(project):
    metadata = materialization(run(project, eager_frame), "eager_frame").metadata
    record = project.lake.record("io", "eager_frame", "0001")
    assert metadata["dagster/row_count"].value == 2
    assert metadata["dagster/column_schema"].value == dg.TableSchema(
        columns=[dg.TableColumn("name", "String"), dg.TableColumn("size", "Int64")]
    )
    assert (metadata["content_hash"].value, metadata["path"].value) == (
        record.content_sha,
        "tables/io/eager_frame/cycle=0001/part.parquet",
    )


def test_columns_of_a_declared_schema_say_what_they_mean(project):
    key = dg.TableColumnConstraints(other=["key"])
    wanted = dg.TableSchema(
        [
            dg.TableColumn("name", "String", "What it is called.", key),
            dg.TableColumn("size", "Int64", "How much it holds, in MiB."),
        ]
    )
    assert (
        materialization(run(project, eager_frame, typed), "typed").metadata["dagster/column_schema"].value
        == wanted
    )
    assert typed.metadata_by_key[typed.key]["dagster/column_schema"] == wanted


def test_a_declared_schema_orders_columns_and_is_written_down(project):
    assert run(project, eager_frame, typed).success
    record = project.lake.record("io", "typed", "0001")
    assert (record.schema_name, record.schema_version) == ("typed", 1)
    assert project.lake.read("io", "typed", "0001").columns == ["name", "size"]


def test_a_frame_that_breaks_its_schema_is_not_published(project):
    assert error_of(run(project, mistyped)).startswith("InputError")
    with pytest.raises(InputError):
        project.lake.read("io", "mistyped", "0001")
