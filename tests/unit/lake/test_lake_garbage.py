"""Collecting garbage: whatever names a blob keeps it, however deep; what nothing names goes, but only when
asked and old enough."""

import json
import os
import tempfile
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolake.cli import cli
from evolake.errors import LakeError, PartitionBusy
from evolake.lake import Lake
from evolake.lake.audit import audit
from evolake.lake.garbage import DAY_S, collect, find

WAYS = (
    "column",
    "text",
    "list",
    "struct",
    "binary",
    "joined",
    "superseded",
    "tape",
    "fetched",
    "seal",
    "blob",
    "tree",
)


def name_it(lake: Lake, way: str, sha: str, number: int) -> list[str]:
    """Makes something of the lake name the blob `sha`; gives further blobs that are needed for that."""
    value = {
        "column": sha,
        "text": f"see {sha}.",
        "list": ["x", sha],
        "struct": {"inner": [{"deep": sha}]},
        "binary": sha.encode(),
        "joined": "f" * 7 + sha + "0",
    }
    line, asset = "solvers", f"table_{number}"
    if way in value:
        lake.publish(line, asset, pl.DataFrame({"value": [value[way]]}), cycle="0001", run_id="run")
    elif way == "superseded":
        for content in (sha, "another"):
            lake.publish(line, asset, pl.DataFrame({"value": [content]}), cycle="0001", run_id="run")
    elif way == "seal":
        lake.seals.seal(line, f"{number + 1:04d}", sha, None, "run", {"table": sha})
    elif way in ("tape", "fetched"):
        path = lake.root / way / "ab" / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"sha256": sha}))
    else:
        between = lake.blobs.put(json.dumps({"names": sha}).encode()) if way == "blob" else _tree(lake, sha)
        return [between, *name_it(lake, "column", between, number)]
    return []


def _tree(lake: Lake, sha: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "inside.json").write_text(f'"{sha}"')
        return lake.blobs.put_tree(Path(folder))


def all_old(lake: Lake) -> None:
    """Makes every blob two days old."""
    then = time.time() - 2 * DAY_S
    for path in (lake.root / "blobs").rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(named=st.lists(st.sampled_from(WAYS), max_size=6), unnamed=st.integers(0, 3))
def test_whatever_is_named_stays_and_nothing_else_of_that_age(named, unnamed):
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder) / "lake")
        lake.publish("solvers", "champion", pl.DataFrame({"score": [1.0]}), cycle="0001", run_id="run")
        kept = set()
        for number, way in enumerate(named):
            sha = lake.blobs.put(f"named {number}".encode())
            kept |= {sha, *name_it(lake, way, sha, number)}
        gone = {lake.blobs.put(f"nobody's {number}".encode()) for number in range(unnamed)}
        all_old(lake)
        before = {finding.where for finding in audit(lake) if not finding.note}

        summary = find(lake)
        assert {item.where.replace("/", "").removeprefix("blobs") for item in summary.items} == gone
        assert all(lake.blobs.has(sha) for sha in kept | gone)
        assert collect(lake) == summary
        assert [lake.blobs.has(sha) for sha in sorted(kept)] == [True] * len(kept)
        assert not any(lake.blobs.has(sha) for sha in gone)
        assert {finding.where for finding in audit(Lake(lake.root)) if not finding.note} == before


def test_what_is_young_or_was_put_again_stays(tmp_path):
    lake = Lake(tmp_path)
    lake.blobs.put(b"young")
    assert (find(lake).items, find(lake).young) == ((), 1)
    all_old(lake)
    assert len(find(lake).items) == 1
    lake.blobs.put(b"young")
    assert collect(lake).items == ()


def test_nothing_is_collected_while_a_line_is_at_work_or_a_table_is_damaged(tmp_path):
    lake = Lake(tmp_path)
    lake.publish("solvers", "plan", pl.DataFrame({"x": [1]}), cycle="0001", run_id="run")
    old = lake.blobs.put(b"old")
    all_old(lake)
    with lake.line_lock("solvers", run_id="the cycle"), pytest.raises(PartitionBusy, match="the cycle"):
        collect(Lake(tmp_path))
    manifest = tmp_path / "tables/solvers/plan/_manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes().replace(b"intent", b"intend", 1))
    with pytest.raises(LakeError):
        collect(Lake(tmp_path))
    assert lake.blobs.has(old)


def test_the_command_removes_nothing_unless_told_to(tmp_path):
    lake = Lake(tmp_path)
    sha = lake.blobs.put(b"nobody's")
    for words, verdict, left in (
        (["gc"], "dry run", True),
        (["gc", "--dry-run"], "dry run", True),
        (["gc", "--yes"], "removed", False),
    ):
        done = CliRunner().invoke(
            cli, ["lake", *words, "--older-than", "0", "--json", "--lake", str(tmp_path)]
        )
        summary = json.loads(done.output)
        assert (summary["verdict"], summary["bytes"], [item["where"] for item in summary["items"]]) == (
            verdict,
            8,
            [f"blobs/{sha[:2]}/{sha[2:]}"],
        )
        assert lake.blobs.has(sha) is left
    said = CliRunner().invoke(cli, ["lake", "gc", "--lake", str(tmp_path)]).output
    assert said.endswith("would be freed: 0 files, 0 bytes\n")
