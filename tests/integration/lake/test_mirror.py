"""Mirrors over HTTP in a real S3 server and in a folder: whole, incremental, resumable after SIGKILL, and
nothing unknown is overwritten."""

import hashlib
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
import zstandard
from click.testing import CliRunner
from commands import evolake

from evolake.cli import cli
from evolake.errors import InputError, LakeError, PartitionBusy
from evolake.lake import Lake
from evolake.lake import mirror as local
from evolake.lake import object_store as remote
from evolake.lake.mirror import check, pull, push
from evolake.lake.object_store import way_out

CUT_OFF = Path(__file__).with_name("killed_mirror.py")


@pytest.fixture(scope="module")
def server():
    """The address of an S3 server on the loopback interface, with an empty bucket `lakes`."""
    import httpx2
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    assert httpx2.put(f"{address}/lakes").status_code == 200
    yield address
    server.stop()


@pytest.fixture
def s3(server, monkeypatch) -> str:
    """The bucket, with the environment that a user would set."""
    for name, value in {
        "ACCESS_KEY_ID": "team",
        "SECRET_ACCESS_KEY": "secret",
        "REGION": "us-east-1",
        "ENDPOINT_URL": server,
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return "s3://lakes"


@pytest.fixture(params=["s3", "file"])
def url(request, tmp_path) -> str:
    """A mirror that nobody has pushed to."""
    return (
        f"{request.getfixturevalue('s3')}/{tmp_path.name}"
        if request.param == "s3"
        else f"file://{tmp_path}/mirror"
    )


def filled(root: Path, blobs: int = 3) -> Lake:
    """A lake with a table of two cycles, one of them superseded once, blobs, a seal and a file of the
    tape."""
    lake = Lake(root, lock_timeout_s=0)
    for cycle, value in (("0001", 1), ("0002", 2), ("0001", 3)):
        lake.publish("designs", "candidates", pl.DataFrame({"score": [value]}), cycle=cycle, run_id="run")
    for number in range(blobs):
        lake.blobs.put(f"blob {number}".encode())
    lake.seals.seal("designs", "0001", "version", None, "run")
    (root / "tape/ab").mkdir(parents=True)
    (root / "tape/ab/entry.json").write_text("{}")
    (root / "work").mkdir()
    (root / "work/scratch").write_text("of this machine")
    return lake


def contents(root: Path) -> dict[str, bytes]:
    """What a mirror holds of a lake."""
    return {path: (root / path).read_bytes() for path in local.files(root)}


def test_a_pulled_lake_is_the_one_that_was_pushed_byte_for_byte(tmp_path, url):
    lake = filled(tmp_path / "lake")
    pushed = push(lake, url)
    pulled = pull(tmp_path / "copy", url)
    assert contents(tmp_path / "copy") == contents(lake.root)
    assert (pushed.number, pushed.files, pulled.fetched) == (1, pulled.files, pulled.files)
    assert Lake(tmp_path / "copy").read("designs", "candidates").equals(lake.read("designs", "candidates"))
    assert not (tmp_path / "copy/work").exists()


def test_a_second_push_and_pull_move_only_what_was_added(tmp_path, url):
    lake = filled(tmp_path / "lake")
    push(lake, url)
    pull(tmp_path / "copy", url)
    assert push(lake, url).sent == 0
    lake.blobs.put(b"one more")
    (tmp_path / "lake/tape/ab/entry.json").unlink()
    again = push(lake, url)
    assert (again.number, again.sent, again.sent_bytes) == (2, 1, len(b"one more"))
    pulled = pull(tmp_path / "copy", url)
    assert (pulled.fetched, pulled.fetched_bytes, pulled.removed) == (1, len(b"one more"), 1)
    assert contents(tmp_path / "copy") == contents(lake.root)


def cut_off(what: str, root: Path, url: str, last: int) -> None:
    done = subprocess.run([sys.executable, str(CUT_OFF), what, str(root), url, str(last)], check=False)
    assert done.returncode == -9


def test_push_and_pull_go_on_where_a_sigkill_cut_them_off(tmp_path, s3):
    url = f"{s3}/killed"
    lake = filled(tmp_path / "lake", blobs=30)
    cut_off("push", lake.root, url, 20)
    with pytest.raises(InputError, match="there is no snapshot"):
        pull(tmp_path / "copy", url)
    assert (
        0 < push(lake, url).sent <= len(contents(lake.root)) - 12
    )  # of those at work when it was killed some may have arrived

    cut_off("pull", tmp_path / "copy", url, 20)
    with pytest.raises(InputError, match="not whole"):
        Lake(tmp_path / "copy")
    assert 0 < pull(tmp_path / "copy", url).fetched <= len(contents(lake.root)) - 12
    assert contents(tmp_path / "copy") == contents(lake.root)
    Lake(tmp_path / "copy")


def test_neither_side_overwrites_what_it_does_not_know(tmp_path, url):
    lake, copy = filled(tmp_path / "lake"), tmp_path / "copy"
    push(lake, url)
    pull(copy, url)
    Lake(copy).publish(
        "designs", "candidates", pl.DataFrame({"score": [9]}), cycle="0003", run_id="elsewhere"
    )
    assert push(Lake(copy), url).number == 2
    lake.publish("designs", "candidates", pl.DataFrame({"score": [8]}), cycle="0003", run_id="here")
    before = contents(lake.root)
    with pytest.raises(LakeError, match="holds what this lake has not"):
        push(lake, url)
    with pytest.raises(InputError, match="has changed since it was mirrored"):
        pull(lake.root, url)
    assert contents(lake.root) == before
    with pytest.raises(LakeError, match="of another lake"):
        push(filled(tmp_path / "stranger"), url)


def test_damage_is_neither_sent_nor_fetched(tmp_path):
    url = f"file://{tmp_path}/mirror"
    lake = filled(tmp_path / "lake")
    part = tmp_path / "lake/tables/designs/candidates/cycle=0002/part.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-1] + b"?")
    with pytest.raises(LakeError, match="nothing was mirrored"):
        push(lake, url)
    part.write_bytes(whole)
    push(lake, url)
    victim = next(
        path
        for path in (tmp_path / "mirror/objects").rglob("*")
        if path.is_file() and path.read_bytes() == b"blob 1"
    )
    victim.write_bytes(b"blob 2")
    with pytest.raises(LakeError, match="an object of the mirror"):
        pull(tmp_path / "copy", url)
    with pytest.raises(InputError, match="not whole"):
        Lake(tmp_path / "copy")


def test_a_mirror_is_checked_without_pulling_it_and_a_push_over_damage_fails_until_it_is_mended(tmp_path):
    url = f"file://{tmp_path}/mirror"
    lake = filled(tmp_path / "lake")
    push(lake, url)
    whole = check(url)
    assert (whole.number, whole.damaged, whole.read) == (1, (), whole.objects)
    objects = {path.read_bytes(): path for path in (tmp_path / "mirror/objects").rglob("*") if path.is_file()}
    objects[b"blob 0"].unlink()
    objects[b"blob 1"].write_bytes(b"blob 9")
    objects[b"blob 2"].write_bytes(b"blob 2 and more")
    found = {item.path: item.got for item in check(url).damaged}
    names = {
        number: f"blobs/{sha[:2]}/{sha[2:]}"
        for number in range(3)
        for sha in [hashlib.sha256(f"blob {number}".encode()).hexdigest()]
    }
    assert (found[names[0]], found[names[2]], len(found)) == ("no such object", "15 bytes", 3) and found[
        names[1]
    ].startswith("sha256")

    done = evolake("lake", "verify", "--mirror", url, "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["verdict"] == "findings"
    lake.blobs.put(b"one more")
    with pytest.raises(LakeError, match="1 of the .* objects that were read") as raised:
        push(
            lake, url
        )  # sends what is missing or of another size; the one that it cannot know from a listing is read
    assert f"evolake lake verify --mirror {url}" in str(raised.value.do)
    for item in check(url).damaged:
        (tmp_path / "mirror" / item.place).unlink()
    assert push(lake, url).sent == 1
    assert check(url, full=True).damaged == ()
    assert evolake("lake", "verify", "--mirror", url).returncode == 0


def test_who_lost_a_race_goes_on_by_the_command_that_it_is_told(tmp_path, url):
    lake, copy = filled(tmp_path / "lake"), tmp_path / "copy"
    push(lake, url)
    pull(copy, url)
    Lake(copy).blobs.put(b"made elsewhere")
    push(Lake(copy), url)
    lake.blobs.put(b"made here")
    for lost in (lambda: push(lake, url), lambda: pull(lake.root, url)):
        with pytest.raises((LakeError, InputError)) as raised:
            lost()
        assert (
            raised.value.do == way_out(url)
            and f"evolake lake pull {url} --lake NEW_FOLDER" in raised.value.do
        )
    new = tmp_path / "new"
    pull(new, url)
    Lake(new).blobs.put(b"the next cycle")
    assert push(Lake(new), url).number == 3
    assert push(lake, f"file://{tmp_path}/another").number == 1


def test_a_push_goes_on_after_a_damaged_snapshot_was_removed(tmp_path):
    url = f"file://{tmp_path}/mirror"
    lake = filled(tmp_path / "lake")
    push(lake, url)
    lake.blobs.put(b"one more")
    push(lake, url)
    snapshot = tmp_path / "mirror/snapshots/00000002.json.zst"
    snapshot.write_bytes(b"damaged")
    with pytest.raises(LakeError, match="remove it from the store"):
        push(lake, url)
    snapshot.unlink()
    assert push(lake, url).number == 2
    assert check(url, full=True).damaged == ()


def test_a_line_at_work_is_not_mirrored_half(tmp_path):
    lake = filled(tmp_path / "lake")
    with lake.line_lock("designs", run_id="the cycle"), pytest.raises(PartitionBusy, match="the cycle"):
        push(Lake(lake.root), f"file://{tmp_path}/mirror")


def test_the_commands_say_what_was_moved(tmp_path):
    lake, url = filled(tmp_path / "lake"), f"file://{tmp_path}/mirror"
    sent = json.loads(
        CliRunner().invoke(cli, ["lake", "push", url, "--lake", str(lake.root), "--json"]).output
    )
    got = json.loads(
        CliRunner().invoke(cli, ["lake", "pull", url, "--lake", str(tmp_path / "copy"), "--json"]).output
    )
    assert (sent["verdict"], got["verdict"], got["fetched"]) == ("pushed", "pulled", sent["files"])
    said = CliRunner().invoke(cli, ["lake", "pull", url, "--lake", str(tmp_path / "copy")]).output
    assert (
        said == f"{tmp_path}/copy is snapshot 1 of {url}: 0 of {sent['files']} files (0 bytes) were fetched, "
        "0 removed\n"
    )


@pytest.mark.parametrize(
    "path", ["../outside", "/etc/x", "tables/../../x", "locks/x", "seeds/x", "dagster_home/x"]
)
def test_a_mirror_that_names_files_elsewhere_is_refused(tmp_path, path):
    from evolake.lake.object_store import Remote

    url = f"file://{tmp_path}/mirror"
    push(filled(tmp_path / "lake"), url)
    remote = Remote(url)
    newest = remote.newest()
    assert newest is not None
    remote.add(2, {path: next(iter(newest.files.values()))})
    with pytest.raises(InputError, match="that no lake has"):
        pull(tmp_path / "copy", url)


def snapshot(files: object, **changed: object) -> bytes:
    """A snapshot as a stranger's mirror may hold it."""
    return zstandard.ZstdCompressor().compress(
        json.dumps({"format": 1, "number": 1, "files": files} | changed).encode()
    )


SHA = hashlib.sha256(b"data").hexdigest()
HOSTILE = {
    "bomb": (
        lambda: zstandard.ZstdCompressor(level=1).compress(bytes(128 << 20)) * 9,
        "expands too much|too large",
    ),
    "deep": (lambda: zstandard.ZstdCompressor().compress(b"[" * 200_000), "nested deeper"),
    "digits": (lambda: zstandard.ZstdCompressor().compress(b'{"format": ' + b"9" * 10_000 + b"}"), "digits"),
    "path is a number": (lambda: snapshot([[5, SHA, 4]]), "names no file"),
    "name is a path": (lambda: snapshot([["a", "../" * 21 + "x", 4]]), "names no file"),
    "size is a text": (lambda: snapshot([["a", SHA, "4"]]), "names no file"),
    "too short an entry": (lambda: snapshot([["a", SHA]]), "damaged"),
    "no list": (lambda: snapshot(7), "damaged"),
    "no object": (lambda: zstandard.ZstdCompressor().compress(b"[1]"), "damaged"),
    "no snapshot": (lambda: b"junk", "cannot be decompressed"),
    "cut": (lambda: snapshot([])[:-3], "cannot be decompressed"),
    "larger object": (lambda: snapshot([["a", SHA, 3]]), "too large"),
    "path outside": (lambda: snapshot([["../a", SHA, 4]]), "no lake has"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_mirror_ends_in_one_sentence_within_bounded_memory(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "SNAPSHOT_BYTES", 64 << 20)
    make, why = HOSTILE[kind]
    for name, data in {
        "snapshots/00000001.json.zst": make(),
        f"objects/{SHA[:2]}/{SHA[2:]}": b"data",
    }.items():
        (tmp_path / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / name).write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises((LakeError, InputError), match=why):
            pull(tmp_path / "lake", f"file://{tmp_path}/mirror")
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
    assert not (tmp_path / "lake/a").exists()
