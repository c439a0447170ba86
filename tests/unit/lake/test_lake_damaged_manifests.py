"""A manifest that lost a line, or in which one was changed, is an error for readers, SQL and publishers; a
torn last line is not."""

import polars as pl
import pytest
from lake_damage import flips, toy_lake

from evolake.errors import CorruptPart, LakeError
from evolake.lake import ARTIFACTS, Catalogue, Lake, chained
from evolake.lake.manifest import Manifest, Manifests

LINE, ASSET = "designs", "candidates"


def frame(cycle: str) -> pl.DataFrame:
    return pl.DataFrame({"design": [f"a{cycle}", "b"]})


@pytest.fixture
def lake(tmp_path):
    lake = Lake(tmp_path / "lake")
    for cycle in ("0001", "0002", "0003"):
        lake.publish(LINE, ASSET, frame(cycle), cycle=cycle, run_id="run")
        rows = ARTIFACTS.frame([{"artifact_id": cycle, "line": LINE, "cycle": cycle, "state": "accepted"}])
        lake.publish(LINE, f"{ASSET}__artifacts", rows, cycle=cycle, run_id="run", schema=ARTIFACTS)
    return lake


def manifest(lake, asset: str = ASSET):
    return lake.root / "tables" / LINE / asset / "_manifest.jsonl"


def lines(path) -> list[bytes]:
    return [line + b"\n" for line in path.read_bytes().split(b"\n") if line]


def sees(lake) -> dict[str, bool]:
    """Who tells that the table is damaged: whoever reads a cycle, lists the cycles, publishes, and asks in
    SQL."""

    def complains(act) -> bool:
        try:
            act()
        except LakeError as error:
            return "lake verify" in str(error)
        return False

    def ask():
        with Catalogue(Lake(lake.root)) as catalogue:
            assert any("designs.candidates" in warning for warning in catalogue.warnings)
            assert catalogue.query("SELECT count(*) FROM artifacts").rows == [
                (3,)
            ]  # other tables can be asked
            catalogue.query("SELECT * FROM designs.candidates")

    return {
        "list": complains(lambda: Lake(lake.root).cycles(LINE, ASSET)),
        "read": complains(lambda: Lake(lake.root).read(LINE, ASSET)),
        "sql": complains(ask),
        "record": complains(lambda: Lake(lake.root).record(LINE, ASSET, "0003")),
    }


@pytest.mark.parametrize("lost", [[0], [1], [2], [0, 1], [2, 3], [0, 1, 2, 3], [4, 5], [0, 1, 2, 3, 4, 5]])
def test_whoever_reads_a_table_is_told_that_lines_of_its_manifest_are_lost(lake, lost):
    kept = [line for number, line in enumerate(lines(manifest(lake))) if number not in lost]
    manifest(lake).write_bytes(b"".join(kept))
    assert sees(lake) == {"list": True, "read": True, "sql": True, "record": True}


def test_whoever_reads_a_table_is_told_that_its_manifest_is_gone(lake):
    manifest(lake).unlink()
    assert sees(lake) == {"list": True, "read": True, "sql": True, "record": True}
    with pytest.raises(LakeError, match="is gone or empty"):
        Lake(lake.root).publish(LINE, ASSET, frame("x"), cycle="0004", run_id="run")


def test_a_shared_table_tells_that_one_of_its_side_tables_is_damaged(lake):
    path = manifest(lake, f"{ASSET}__artifacts")
    path.write_bytes(b"".join(lines(path)[2:]))
    with Catalogue(Lake(lake.root)) as catalogue:
        for table in ("artifacts", "artifacts_all", "designs.candidates__artifacts"):
            with pytest.raises(LakeError, match="_manifest.jsonl is damaged"):
                catalogue.query(f"SELECT * FROM {table}")
        assert catalogue.query("SELECT count(*) FROM designs.candidates").rows == [(6,)]


@pytest.mark.parametrize("change", ["repeated", "swapped", "of another table", "edited and signed again"])
def test_lines_in_the_wrong_place_are_seen(lake, change):
    own = lines(manifest(lake))
    other = lines(manifest(lake, f"{ASSET}__artifacts"))
    edited = chained.unsigned(own[2].strip()) | {"rows": 77}
    changed = {
        "repeated": [*own, own[3]],
        "swapped": [own[0], own[2], own[1], *own[3:]],
        "of another table": [*own[:2], other[2], *own[3:]],
        "edited and signed again": [*own[:2], chained.signed(edited) + b"\n", *own[3:]],
    }
    manifest(lake).write_bytes(b"".join(changed[change]))
    with pytest.raises(LakeError, match="lake verify"):
        Lake(lake.root).publish(LINE, ASSET, frame("x"), cycle="0004", run_id="run")
    assert sees(lake)["list"]


def test_every_flip_of_a_bit_is_seen_or_leaves_what_is_published_as_it_was(lake):
    """A commit whose closing brace is hit reads like a torn line: its intent stands, and the part's bytes say
    that it was put in place."""
    data = manifest(lake).read_bytes()
    wanted = Lake(lake.root).manifests.load(manifest(lake))
    now = {cycle: log.committed.record for cycle, log in wanted.items()}
    unseen = []
    for bit, changed in flips(data):
        log = chained.parse(changed)
        if not log.faults:
            unseen.append((bit, changed))
    assert len(unseen) <= 8 * 12
    for _, changed in unseen:
        manifest(lake).write_bytes(changed)
        again = Lake(lake.root)
        assert {cycle: again.record(LINE, ASSET, cycle) for cycle in again.cycles(LINE, ASSET)} == now


def test_a_line_that_a_dying_writer_left_unfinished_is_no_damage(lake):
    whole = manifest(lake).read_bytes()
    new = whole + b"\n" + lines(manifest(lake))[5]
    for length in range(len(whole), len(new) - 1, 7):
        manifest(lake).write_bytes(new[:length])
        assert Lake(lake.root).cycles(LINE, ASSET) == ["0001", "0002", "0003"]
    Lake(lake.root).publish(LINE, ASSET, frame("x"), cycle="0004", run_id="run")
    assert Lake(lake.root).cycles(LINE, ASSET) == ["0001", "0002", "0003", "0004"]


def test_a_table_whose_first_part_appears_while_its_manifest_is_read_is_not_damaged(tmp_path, monkeypatch):
    lake, look, looks = Lake(tmp_path / "lake"), Manifests.look, []

    def while_a_writer_begins(self: Manifests, path) -> Manifest:
        result = look(self, path)
        looks.append(path)
        if len(looks) == 1:
            with monkeypatch.context() as other:
                other.setattr(Manifests, "look", look)
                Lake(lake.root).publish(LINE, ASSET, frame("0001"), cycle="0001", run_id="run")
        return result

    monkeypatch.setattr(Manifests, "look", while_a_writer_begins)
    assert lake.cycles(LINE, ASSET) == ["0001"]


def test_rows_that_are_not_those_of_the_content_hash_are_not_read(lake):
    part = Lake(lake.root).record(LINE, ASSET, "0002").path
    own = [chained.unsigned(line.strip()) for line in lines(manifest(lake))]
    data, chain = b"", ""
    for no, body in enumerate(
        own, start=1
    ):  # a whole manifest, chained and signed again by whoever changed the hash
        text, chain = chained.encode(
            {k: v for k, v in body.items() if k not in ("no", "chain")} | {"content_sha": "f" * 64}, no, chain
        )
        data += text
    manifest(lake).write_bytes(data)
    with pytest.raises(
        CorruptPart, match="the rows of designs/candidates cycle 0002 are not those that its record names"
    ):
        Lake(lake.root).read(LINE, ASSET, "0002")
    assert part.exists()


def test_a_lake_that_0_2_0_wrote_is_read_and_grown_and_its_old_lines_count(tmp_path):
    root = toy_lake(tmp_path)
    lake = Lake(root)
    assert lake.cycles("ordered", "candidates") == ["0001", "0002", "0003", "0004"]
    assert lake.read("ordered", "candidates", "0003")["member"].to_list() == ["seed>0001>0002!>0003"]
    assert lake.read("ordered", "late", "0001")["x"].to_list() == [1]
    with Catalogue(lake) as catalogue:
        assert (catalogue.warnings, catalogue.query("SELECT count(*) FROM artifacts").rows) == ([], [(2,)])
    lake.publish(
        "ordered",
        "candidates",
        pl.DataFrame({"cycle": ["0005"], "member": ["x"]}),
        cycle="0005",
        run_id="new",
    )
    path = root / "tables/ordered/candidates/_manifest.jsonl"
    own = lines(path)
    for lost in range(len(own) - 1):
        path.write_bytes(b"".join(own[:lost] + own[lost + 1 :]))
        with pytest.raises(LakeError, match="_manifest.jsonl is damaged"):
            Lake(root).cycles("ordered", "candidates")
