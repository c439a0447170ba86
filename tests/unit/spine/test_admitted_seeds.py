"""Seeds that come to a line that has begun enter the next cycle, once; starting over on other seeds is asked
for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import dagster as dg
import polars as pl
import pytest

from assets.added_seeds import Arrival, Seedling, admit_seeds, with_added_seeds, with_seeds
from assets.cycle import RESEAL_TAG
from assets.line import FIRST_CYCLE, SAID_OF_CYCLE, Line, register_keys
from assets.store import LineStore, _rules_of
from evolake.errors import InputError
from evolake.lake import TableSchema
from evolake.lake.added_seeds import SeedItem, file_item
from evolake.lake.population import Tables
from evolake.lake.schemas import ENTERED, STATE
from evolake.report.outcome import new_seeds
from resources.lake import LakeResource

TREES = TableSchema(
    "trees",
    1,
    {
        "tree_id": (pl.String, "the tree"),
        "state": (pl.String, "accepted or blocked"),
        "cycle": pl.String,
        "reason": (pl.String, "why blocked"),
    },
    keys=("tree_id",),
)
RULE = (
    "---\nid: grove-sound\nversion: {version}\nkind: static\ngate: sound\ncheck: toys.sound\nparameters: "
    "{{}}\n---\n{text}\n"
)


@dataclass(frozen=True)
class Grove(Tables):
    schemas: ClassVar = {"trees": TREES, "state": STATE}

    trees: pl.DataFrame
    state: pl.DataFrame


@dataclass
class GroveLine:
    """A line of trees: a seed is a text; one with "rotten" in it is blocked, one with "?" cannot be read, one
    with "!" makes judging itself raise."""

    line: Line
    folder: Path
    run: Callable[..., dg.ExecuteInProcessResult]
    project: Any

    def plant(self, name: str, text: str) -> None:
        (self.folder / f"{name}.txt").write_text(text)

    def trees(self, cycle: str) -> dict[str, str]:
        """Of the population that enters a cycle: tree -> state."""
        return dict(
            self.project.lake.read(self.line.name, "incoming_trees", cycle)
            .select("tree_id", "state")
            .iter_rows()
        )

    def notes(self, cycle: str) -> list[tuple[Any, ...]]:
        return list(
            self.project.lake.read(self.line.name, "immigrants", cycle)
            .select("name", "artifact_id", "state", "reason")
            .iter_rows()
        )

    def rule(self, text: str) -> None:
        folder = self.folder.parent / "rules" / self.line.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sound.md").write_text(text)
        _rules_of.cache_clear()  # as when the definitions are loaded anew


@pytest.fixture
def grove(project, tmp_path, monkeypatch) -> GroveLine:
    folder = tmp_path / "seeds" / "grove"
    folder.mkdir(parents=True)
    monkeypatch.setenv("EVOLAKE_SEEDS", str(folder.parent))
    line = Line(
        "grove",
        "A line of trees.",
        population=Grove.schemas,
        artifact=lambda row: {
            "artifact_id": row["tree_id"],
            "kind": "tree",
            "content_sha": None,
            "title": row["tree_id"],
        },
    )

    def items() -> list[SeedItem]:
        return [file_item(path) for path in sorted(folder.glob("*.txt"))]

    def tree(text: str, cycle: str) -> dict[str, Any]:
        if "?" in text:
            raise InputError("no tree", got=text)
        if "!" in text:
            raise RecursionError("too deep")
        rotten = "rotten" in text
        return {
            "tree_id": text,
            "state": "blocked" if rotten else "accepted",
            "cycle": cycle,
            "reason": "it is rotten" if rotten else None,
        }

    @line.seed_asset(schema=TREES)
    def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        rows = [tree(path.read_text(), store.cycle) for path in sorted(folder.glob("*.txt"))]
        tables = with_seeds(store, Grove.empty().add(trees=rows), items(), "trees", rows).frames()
        store.may_seal(tables)
        store.tell(store.seal_seeds(rows, tables, lacking="no tree", do="Plant one."))
        return TREES.frame(rows)

    @line.asset(deps=[line.incoming], schema=TREES)
    def grown(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        store.open_cycle()
        sealed = Grove.of(store.population())
        present = {row["tree_id"]: row for row in sealed.trees.to_dicts() if row["state"] != "blocked"}

        def admit(seed: Seedling) -> Arrival:
            assert seed.blob_sha is not None
            text = store.text(seed.blob_sha).strip()
            return (
                Arrival(present[text], present=True) if text in present else Arrival(tree(text, store.cycle))
            )

        admit_seeds(store, sealed, items, "trees", admit)
        closed = with_added_seeds(store, sealed, "trees")
        store.seal(closed.frames(), (), survivors="trees")
        return closed.trees

    defs = dg.Definitions(
        assets=[line.incoming, seeds, grown],
        resources=project.defs.resources,
        jobs=[
            dg.define_asset_job("seeds", dg.AssetSelection.assets(line.key("seeds"))),
            dg.define_asset_job("cycle", dg.AssetSelection.assets(line.key("grown"))),
        ],
    )

    def run(cycle: str = "", **tags: str) -> dg.ExecuteInProcessResult:
        register_keys(project.instance, line.name, [cycle] if cycle else [])
        return defs.resolve_job_def("cycle" if cycle else "seeds").execute_in_process(
            instance=project.instance, partition_key=cycle or None, raise_on_error=False, tags=tags
        )

    made = GroveLine(line, folder, run, project)
    made.rule(RULE.format(version=1, text="Sound trees."))
    made.plant("oak", "oak")
    assert made.run().success
    assert made.run(FIRST_CYCLE).success
    return made


def test_a_seed_that_is_refused_at_the_start_is_named_on_the_screen_and_among_the_seeds_of_the_first_cycle(
    grove,
):
    grove.plant("ash", "rotten ash")
    done = grove.run("", **{RESEAL_TAG: "grove"})
    said = [
        event.materialization.metadata.get(SAID_OF_CYCLE)
        for event in done.filter_events(lambda event: event.is_step_materialization)
    ]
    assert [text.value for text in said if text] == ["ash does not enter: it is rotten"]
    for _ in range(2):
        assert grove.run(FIRST_CYCLE).success
        assert grove.notes(FIRST_CYCLE) == [("ash", "rotten ash", "blocked", "it is rotten")]
        assert grove.trees("0002") == {"oak": "accepted", "rotten ash": "blocked"}
    assert "new seed: ash blocked" in new_seeds(grove.project.lake, "grove", FIRST_CYCLE)
    grove.rule(RULE.format(version=2, text="Sounder trees."))
    assert grove.run("0002").success
    assert [note[:3] for note in grove.notes("0002")] == [("ash", "rotten ash", "blocked")]


def test_a_seed_that_is_dropped_enters_the_next_cycle_once(grove):
    grove.plant("elm", "elm")
    assert grove.run("0002").success and grove.run("0003").success
    assert [grove.notes(cycle) for cycle in ("0001", "0002", "0003")] == [
        [],
        [("elm", "elm", "accepted", None)],
        [],
    ]
    assert [grove.trees(cycle) for cycle in ("0002", "0003", "0004")] == [
        {"oak": "accepted"},
        *[{"oak": "accepted", "elm": "accepted"}] * 2,
    ]
    artifacts = (
        grove.project.lake.read("grove", "immigrants__artifacts", "0002")
        .select("artifact_id", "cycle", "state")
        .to_dicts()
    )
    assert artifacts == [{"artifact_id": "elm", "cycle": "0002", "state": "accepted"}]


def test_a_lake_that_never_noted_its_seeds_takes_none_of_them_in_again(grove):
    lake = grove.project.lake
    tables = Grove.of(
        {name: lake.read("grove", f"incoming_{name}", "0002") for name in Grove.schemas}
    ).with_tables(state=[])
    hashes = {
        f"incoming_{name}": lake.publish(
            "grove", f"incoming_{name}", frame, cycle="0002", run_id="old", schema=Grove.schemas[name]
        ).content_sha
        for name, frame in tables.frames().items()
    }
    lake.seals.seal("grove", "0002", "old", lake.seals.read("grove", "0001").version, "old", hashes)
    grove.plant("elm", "elm")
    assert grove.run("0002").success
    assert grove.notes("0002") == [("elm", "elm", "accepted", None), ("oak", "oak", "present", None)]
    assert set(
        Grove.of({name: lake.read("grove", f"incoming_{name}", "0003") for name in Grove.schemas}).value(
            ENTERED
        )
    ) == {file_item(grove.folder / "elm.txt").sha, file_item(grove.folder / "oak.txt").sha}
    assert grove.trees("0003") == {"oak": "accepted", "elm": "accepted"}


def test_whatever_judging_a_seed_raises_is_its_block_and_the_cycle_goes_on(grove):
    grove.plant("elm", "elm")
    grove.plant("gum", "gum!")
    assert grove.run("0002").success
    elm, gum = grove.notes("0002")
    assert (elm, gum[:3]) == (("elm", "elm", "accepted", None), ("gum", None, "blocked"))
    assert gum[3].startswith("judging it raised RecursionError at ") and gum[3].endswith(": too deep")


def test_a_rerun_of_a_finished_cycle_takes_in_what_it_took_in_though_the_folder_has_changed(grove):
    grove.plant("elm", "elm")
    assert grove.run("0002").success
    before = grove.project.lake.seals.read("grove", "0003").version
    (grove.folder / "elm.txt").unlink()
    grove.plant("yew", "yew")
    assert grove.run("0002").success
    assert grove.project.lake.seals.read("grove", "0003").version == before
    assert grove.run("0003").success
    assert grove.notes("0003") == [("yew", "yew", "accepted", None)]


def test_what_is_blocked_or_cannot_be_read_is_a_row_and_comes_again_only_with_other_bytes_or_rules(grove):
    grove.plant("ash", "rotten ash")
    grove.plant("fir", "fir?")
    assert grove.run("0002").success and grove.run("0003").success
    blocked = [
        ("ash", "rotten ash", "blocked", "it is rotten"),
        ("fir", None, "blocked", "no tree\n  got: fir?"),
    ]
    assert [[note[:3] for note in grove.notes(cycle)] for cycle in ("0002", "0003")] == [
        [note[:3] for note in blocked],
        [],
    ]
    assert grove.notes("0002")[0] == blocked[0] and "no tree" in grove.notes("0002")[1][3]
    assert grove.trees("0004") == {"oak": "accepted", "rotten ash": "blocked"}
    grove.plant("fir", "fir")
    assert grove.run("0004").success
    assert [note[:3] for note in grove.notes("0004")] == [("fir", "fir", "accepted")]
    grove.rule(RULE.format(version=2, text="Sounder trees."))
    assert grove.run("0005").success
    assert [note[:3] for note in grove.notes("0005")] == [("ash", "rotten ash", "blocked")]


def test_seeds_that_would_void_finished_cycles_are_sealed_only_where_the_run_says_so(grove):
    assert grove.run().success  # the same seeds void nothing
    before = {cycle: grove.project.lake.seals.read("grove", cycle) for cycle in ("0001", "0002")}
    artifacts = grove.project.lake.record("grove", "seeds")
    grove.plant("elm", "elm")
    failure = next(
        event for event in grove.run().all_events if event.is_step_failure
    ).step_failure_data.user_failure_data
    refused = (failure.description if failure else None) or ""
    assert refused.startswith(
        "these seeds of line 'grove' are not those of cycle 0001: sealing them would void cycle 0001"
    )
    assert (
        "they enter the next cycle (evolake run --lines grove)" in refused
        and f"{RESEAL_TAG}: grove" in refused
    )
    assert {cycle: grove.project.lake.seals.read("grove", cycle) for cycle in before} == before
    assert grove.project.lake.record("grove", "seeds") == artifacts
    assert not grove.run("", **{RESEAL_TAG: "other"}).success
    assert grove.run("", **{RESEAL_TAG: "grove"}).success
    assert grove.trees("0001") == {"oak": "accepted", "elm": "accepted"}
    assert grove.project.lake.read("grove", "grown", "0001").height == 1  # readable until it runs again
    assert grove.run("0001").success
    assert grove.notes("0001") == []
