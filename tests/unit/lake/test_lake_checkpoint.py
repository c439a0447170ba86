"""A manifest's checkpoint gives what its lines give, and is believed only where it fits them; else the lines
are read."""

import json

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolake.lake import Catalogue, Lake, chained, checkpoint
from evolake.lake.audit import audit, repair
from evolake.lake.manifest import Manifests
from evolake.lake.manifest_lines import ABANDONED, COMMIT, INTENT

LINE, ASSET = "designs", "candidates"


@pytest.fixture(autouse=True)
def early(monkeypatch):
    monkeypatch.setattr(checkpoint, "FEWEST_LINES", 1)


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    for number in range(1, 5):
        lake.publish(LINE, ASSET, pl.DataFrame({"x": [number, None]}), cycle=f"{number:04d}", run_id="run")
    lake.publish(LINE, ASSET, pl.DataFrame({"x": [7]}), cycle="0002", run_id="again")
    Lake(lake.root).cycles(LINE, ASSET)
    return lake


def manifest(lake):
    return lake.root / "tables" / LINE / ASSET / "_manifest.jsonl"


def logs(lake, *, lines: bool = False) -> dict:
    manifests = Manifests(lake.root)
    result = manifests.reread(manifest(lake)) if lines else manifests.look(manifest(lake))
    return dict(result.partitions.items())


def findings(lake) -> list[tuple[str, bool]]:
    return [(finding.kind, finding.note) for finding in audit(Lake(lake.root))]


def sign(path, head, rows: bytes) -> None:
    path.write_bytes(chained.signed(head) + b"\n" + rows)


def test_it_gives_what_the_lines_give_and_the_lines_after_it_count(lake):
    assert checkpoint.path_of(manifest(lake)).exists()
    assert logs(lake) == logs(lake, lines=True)
    lake.publish(LINE, ASSET, pl.DataFrame({"x": [1]}), cycle="0005", run_id="run")
    assert logs(lake) == logs(lake, lines=True)
    assert findings(lake) == []


def test_it_is_really_read(lake, monkeypatch):
    known = chained.unsigned
    monkeypatch.setattr(
        chained,
        "unsigned",
        lambda line: known(line) if b'"of"' in line else pytest.fail("a line of the manifest was parsed"),
    )
    assert list(logs(lake)) == ["0001", "0002", "0003", "0004"]


@pytest.mark.parametrize("fault", ["torn", "empty", "head", "rows", "newer", "other lines", "gone"])
def test_whatever_is_wrong_with_it_the_lines_are_read_and_it_is_made_again(lake, fault):
    path = checkpoint.path_of(manifest(lake))
    wanted, data = logs(lake, lines=True), path.read_bytes()
    head, _, rows = data.partition(b"\n")
    summary = chained.unsigned(head)
    assert summary is not None
    if fault == "gone":
        path.unlink()
    elif fault == "newer":
        sign(path, summary | {"format": checkpoint.FORMAT + 1}, rows)
    elif fault == "other lines":
        sign(path, summary | {"of": "f" * 64}, rows)
    else:
        flipped = bytearray(data)
        flipped[10 if fault == "head" else len(head) + 50] ^= 1
        path.write_bytes({"torn": data[: len(data) // 2], "empty": b""}.get(fault, bytes(flipped)))
    assert [note for kind, note in findings(lake) if kind == "checkpoint"] == (
        [] if fault == "gone" else [True]
    )
    assert logs(lake) == wanted
    assert path.read_bytes() == data


def test_one_that_fits_and_says_something_else_is_found_by_verify_and_mended(lake):
    """Nobody writes such a file by accident: its sums hold, the lines are those that it was made of, and its
    rows are others."""
    import hashlib
    import io

    path = checkpoint.path_of(manifest(lake))
    read = checkpoint.read(manifest(lake))
    assert read is not None and not isinstance(read, str)
    summary, stored = read
    buffer = io.BytesIO()
    stored.rows.with_columns(run_id=pl.lit("forged")).write_ipc(buffer)
    sign(path, summary | {"rows": hashlib.sha256(buffer.getvalue()).hexdigest()}, buffer.getvalue())
    assert ("checkpoint", False) in findings(lake)
    repair(Lake(lake.root))
    assert findings(lake) == []
    assert logs(lake) == logs(lake, lines=True)


def test_a_lake_that_cannot_be_written_to_is_read_without(lake):
    folder = lake.root / "cache"
    checkpoint.path_of(manifest(lake)).unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    folder.write_bytes(b"a file where the folder should be")
    assert logs(lake) == logs(lake, lines=True)
    with Catalogue(Lake(lake.root)) as catalogue:
        assert catalogue.query("SELECT count(*) FROM designs.candidates").rows == [(7,)]


def line(event: str, cycle: str, token: int) -> dict:
    sha = f"{token:064x}"
    return {
        "event": event,
        "token": token,
        "line": LINE,
        "asset": ASSET,
        "cycle": cycle,
        "path": f"tables/{LINE}/{ASSET}/cycle={cycle}/part.parquet",
        "rows": token,
        "size": 9,
        "content_sha": sha,
        "file_sha": sha,
        "schema_name": None,
        "schema_version": None,
        "run_id": "run",
        "created_at": "2026-01-01T00:00:00.123456+00:00",
        "columns": {"x": "Int64"},
        "provenance": ["x"] if token % 2 else [],
    }


EVENTS = st.tuples(
    st.sampled_from([INTENT, COMMIT, ABANDONED]), st.sampled_from(["0001", "0002", "0003"]), st.integers(1, 5)
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(EVENTS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_log_that_grows_says_what_it_says_read_at_once(tmp_path_factory, batches):
    """By appends to one reader, by checkpoints at every step, and from the lines alone."""
    root = tmp_path_factory.mktemp("lake")
    path = root / "tables" / LINE / ASSET / "_manifest.jsonl"
    growing = Manifests(root)
    for batch in batches:
        growing.note(path, [line(*event) for event in batch])
        fresh = Manifests(root)
        wanted = dict(Manifests(root).reread(path).partitions.items())
        assert (
            dict(growing.look(path).partitions.items()) == wanted == dict(fresh.look(path).partitions.items())
        )
    summary = checkpoint.read(path)
    assert summary is not None and not isinstance(summary, str)
    assert json.loads(json.dumps(summary[0]))["lines"] == path.read_bytes().count(b"\n")
