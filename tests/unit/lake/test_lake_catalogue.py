"""SQL over the lake: the views show what is published, verified, and a user's statement reaches nothing
else."""

import polars as pl
import pytest

from evolake.errors import CorruptPart, InputError
from evolake.lake import ARTIFACTS, DERIVATIONS, SHARED, Catalogue, Lake, TableSchema

RANKING = TableSchema(
    "ranking", 1, {"design": (pl.String, "Which one."), "rank": (pl.Int64, "Its place.")}, keys=("design",)
)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake(tmp_path / "odd=name [x] 'lake'")


def publish_edges(
    lake: Lake, cycle: str, edges: list[tuple[str, str]], *, asset: str = "candidates", run: str = "run"
) -> None:
    rows = [
        {"child_id": child, "parent_id": parent, "operator": "swap", "weight": 1.0, "cycle": cycle}
        for child, parent in edges
    ]
    lake.publish(
        "designs",
        f"{asset}__derivations",
        DERIVATIONS.frame(rows),
        cycle=cycle,
        run_id=run,
        schema=DERIVATIONS,
    )


def rows(lake: Lake, sql: str, **parameters) -> list[tuple]:
    with Catalogue(lake) as catalogue:
        return catalogue.query(sql, parameters).rows


def test_an_empty_lake_has_every_shared_table_typed_and_empty(lake):
    with Catalogue(lake, {("designs", "ranking"): RANKING}) as catalogue:
        assert {name: catalogue.query(f"FROM {name}").rows for name in SHARED} == {
            name: [] for name in SHARED
        }
        assert {name: catalogue.query(f"FROM {name}").columns for name in SHARED} == {
            name: list(s.columns) for name, s in SHARED.items()
        }
        assert dict(catalogue.frame("FROM artifacts").schema) == dict(ARTIFACTS.columns)
        ranking = catalogue.query("FROM designs.ranking")
        assert (ranking.columns, ranking.types, ranking.rows) == (
            ["design", "rank", "cycle"],
            ["VARCHAR", "BIGINT", "VARCHAR"],
            [],
        )
        assert catalogue.warnings == []
    assert not lake.root.exists()


def test_a_table_is_a_view_with_a_cycle_column_whatever_its_versions(lake):
    lake.publish("designs", "ranking", pl.DataFrame({"design": ["a"], "rank": [1]}), cycle="0001", run_id="r")
    lake.publish(
        "designs",
        "ranking",
        pl.DataFrame({"rank": [2], "design": ["b"], "note": ["new"]}),
        cycle="0002",
        run_id="r",
    )
    lake.publish("designs", "seeds", pl.DataFrame({"design": ["s"]}), cycle=None, run_id="r")
    lake.publish(
        "prompts", "ranking", pl.DataFrame({"cycle": ["0005"], "x": [1.5]}), cycle="0005", run_id="r"
    )
    assert rows(lake, "SELECT design, rank, note, cycle FROM designs.ranking ORDER BY cycle") == [
        ("a", 1, None, "0001"),
        ("b", 2, "new", "0002"),
    ]
    assert rows(lake, "SELECT design FROM designs.ranking WHERE cycle = '0002'") == [("b",)]
    assert rows(lake, "FROM designs.seeds") == [("s", None)]
    assert rows(lake, "FROM prompts.ranking") == [("0005", 1.5)]


def test_shared_tables_are_the_union_of_all_side_tables_of_all_lines(lake):
    publish_edges(lake, "0001", [("a", "root")])
    publish_edges(lake, "0002", [("b", "a")], asset="tuning")
    lake.publish(
        "prompts",
        "x__derivations",
        DERIVATIONS.frame([{"child_id": "p", "cycle": "0001"}]),
        cycle="0001",
        run_id="r",
        schema=DERIVATIONS,
    )
    assert rows(lake, "SELECT child_id FROM derivations ORDER BY 1") == [("a",), ("b",), ("p",)]
    assert rows(lake, "SELECT child_id, cycle FROM designs.tuning__derivations") == [("b", "0002")]


def test_superseded_rows_stay_in_reach(lake):
    publish_edges(lake, "0001", [("old", "root")], run="first")
    publish_edges(lake, "0001", [("new", "root")], run="second")
    assert rows(lake, "SELECT child_id FROM derivations") == [("new",)]
    assert rows(
        lake,
        "SELECT child_id, superseded, origin_line, origin_asset, origin_cycle, origin_run FROM "
        "derivations_all ORDER BY 1",
    ) == [
        ("new", False, "designs", "candidates__derivations", "0001", "second"),
        ("old", True, "designs", "candidates__derivations", "0001", "first"),
    ]
    assert rows(lake, "SELECT state, run_id, rows FROM parts ORDER BY 1") == [
        ("current", "second", 1),
        ("superseded", "first", 1),
    ]


def test_ancestors_and_descendants_walk_the_genealogy_and_end_on_loops(lake):
    publish_edges(lake, "0001", [("b", "a"), ("c", "a"), ("c", "b")])
    publish_edges(lake, "0002", [("d", "c"), ("e", "d"), ("d", "e"), ("lonely", "stranger")])
    assert rows(lake, "SELECT artifact_id FROM ancestors('d') ORDER BY 1") == [("a",), ("b",), ("c",), ("e",)]
    assert rows(lake, "SELECT artifact_id FROM descendants($id) ORDER BY 1", id="a") == [
        ("b",),
        ("c",),
        ("d",),
        ("e",),
    ]
    assert rows(lake, "FROM ancestors('a')") == []


def test_a_child_keeps_its_superseded_parents_only_while_it_has_no_current_ones(lake):
    publish_edges(lake, "0001", [("gone", "root"), ("kept", "old parent")])
    publish_edges(lake, "0002", [("child", "gone")])
    publish_edges(lake, "0001", [("kept", "new parent")], run="again")
    assert rows(lake, "SELECT artifact_id FROM ancestors('child') ORDER BY 1") == [("gone",), ("root",)]
    assert rows(lake, "SELECT artifact_id FROM ancestors('kept')") == [("new parent",)]


def test_a_damaged_part_stops_the_queries_that_need_it_and_no_others(lake):
    publish_edges(lake, "0001", [("a", "root")])
    part = lake.publish("designs", "ranking", pl.DataFrame({"rank": [1]}), cycle="0001", run_id="r").path
    part.write_bytes(part.read_bytes()[:-1])
    with Catalogue(lake) as catalogue:
        assert catalogue.query("SELECT artifact_id FROM ancestors('a')").rows == [("root",)]
        with pytest.raises(CorruptPart, match="materialize designs/ranking cycle 0001 again"):
            catalogue.query('SELECT * FROM "designs"."ranking"')
    with Catalogue(lake) as catalogue:
        assert catalogue.query("SELECT state FROM parts WHERE asset = 'ranking'").rows == [("missing",)]
        with pytest.raises(CorruptPart, match="it was put aside earlier"):
            catalogue.query("FROM designs.ranking")


@pytest.mark.parametrize(
    "statement", ["FROM query_table('designs.' || 'ranking')", "FROM query('FROM designs.rank' || 'ing')"]
)
def test_a_damaged_part_is_found_where_the_statement_hides_its_name(lake, statement):
    part = lake.publish("designs", "ranking", pl.DataFrame({"rank": [1]}), cycle="0001", run_id="r").path
    part.write_bytes(b"junk")
    with Catalogue(lake) as catalogue, pytest.raises((CorruptPart, InputError)):
        catalogue.query(statement)


def test_a_superseded_part_that_is_damaged_is_reported_once_and_then_left_out(lake):
    publish_edges(lake, "0001", [("old", "root")])
    publish_edges(lake, "0001", [("new", "root")])
    kept = next(lake.root.rglob("_history/**/*.parquet"))
    kept.write_bytes(b"junk")
    with (
        Catalogue(lake) as catalogue,
        pytest.raises(CorruptPart, match="it continues without these superseded rows"),
    ):
        catalogue.query("FROM derivations_all")
    with Catalogue(lake) as catalogue:
        assert catalogue.query("SELECT child_id FROM derivations_all").rows == [("new",)]
        assert catalogue.warnings == [f"superseded part is lost: {kept}"]


@pytest.mark.parametrize(
    "statement",
    [
        "FROM read_text('/etc/passwd')",
        "FROM read_parquet('{part}')",
        "FROM '{part}'",
        "FROM glob('/etc/*')",
        "FROM read_blob('/proc/self/environ')",
        "WITH x AS (COPY (SELECT 1) TO '{out}') SELECT 1",
        "WITH x AS (COPY (SELECT 1) TO '{part}') SELECT 1",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
        "SELECT * FROM query('COPY (SELECT 1) TO ''{out}''')",
        "COPY artifacts TO '{out}'",
        "EXPORT DATABASE '{out}'",
        "ATTACH '{out}'",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW artifacts",
        "WITH x AS (INSERT INTO artifacts VALUES (1) RETURNING *) FROM x",
        "SET enable_external_access = true",
        "SELECT * FROM enable_logging(storage = 'file', storage_path = '{out}')",
        "INSTALL httpfs",
        "LOAD '/tmp/evil.so'",
        "SELECT 1; SELECT 2",
        "-- nothing",
    ],
)
def test_a_statement_can_read_the_views_and_nothing_else_and_write_nothing(lake, tmp_path, statement):
    record = lake.publish("designs", "ranking", pl.DataFrame({"rank": [1]}), cycle="0001", run_id="r")
    before = record.path.read_bytes()
    text = statement.format(part=str(record.path).replace("'", "''"), out=tmp_path / "out")
    with Catalogue(lake) as catalogue, pytest.raises(InputError):
        catalogue.query(text)
    assert record.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [lake.root.name]


@pytest.mark.parametrize(
    "statement",
    [
        "DESCRIBE artifacts",
        "SHOW TABLES",
        "SUMMARIZE artifacts",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
        "PIVOT artifacts ON state",
    ],
)
def test_statements_that_read_are_run(lake, statement):
    assert rows(lake, statement) is not None


def test_a_walk_copes_with_two_hundred_thousand_ancestors(lake):
    """Each design has two parents of its own: all but the first are its ancestors."""
    nodes = 200_001
    child = pl.int_range(0, nodes // 2, eager=True).repeat_by(2).explode()
    parent = pl.int_range(1, nodes, eager=True)
    frame = pl.DataFrame({"child_id": child.cast(pl.String), "parent_id": parent.cast(pl.String)})
    frame = frame.with_columns(operator=pl.lit("graft"), weight=pl.lit(0.5), cycle=pl.lit("0001"))
    lake.publish("designs", "candidates__derivations", frame, cycle="0001", run_id="run", schema=DERIVATIONS)
    assert rows(lake, "SELECT count(*), count(DISTINCT artifact_id) FROM ancestors('0')") == [
        (nodes - 1, nodes - 1)
    ]
    assert rows(lake, "SELECT count(*) FROM descendants('200000')") == [(17,)]


def test_a_damaged_part_is_found_through_macros_and_views(lake):
    publish_edges(lake, "0001", [("a", "root")])
    part = next(lake.root.rglob("part.parquet"))
    data = bytearray(part.read_bytes())
    data[40] ^= 1
    part.write_bytes(data)
    with Catalogue(lake) as catalogue, pytest.raises(CorruptPart):
        catalogue.query("FROM ancestors('a')")


def test_the_seals_are_a_table(lake):
    lake.seals.seal("designs", "0001", "v1", None, "seeds")
    lake.seals.seal("designs", "0002", "v2", "other", "run")
    assert rows(lake, "SELECT line, cycle, state, version, built_on, broken FROM seals ORDER BY cycle") == [
        ("designs", "0001", "sealed", "v1", None, False),
        ("designs", "0002", "sealed", "v2", "other", True),
    ]
