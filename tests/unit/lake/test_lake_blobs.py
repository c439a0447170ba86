"""Blobs are named by what they hold; trees come out as they went in, and never outside their folder."""

import io
import os
import tarfile

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.errors import CorruptPart, InputError, LakeError
from evolake.lake import BlobStore
from evolake.lake.trees import pack, unpack


@pytest.fixture
def blobs(tmp_path) -> BlobStore:
    return BlobStore(tmp_path / "lake")


@settings(max_examples=25, deadline=None)
@given(data=st.binary(max_size=200))
def test_what_is_put_is_got(tmp_path_factory, data):
    blobs = BlobStore(tmp_path_factory.mktemp("lake"))
    sha = blobs.put(data)
    assert (blobs.put(data), blobs.get(sha), blobs.has(sha)) == (sha, data, True)


def test_a_blob_lies_under_its_name_and_is_written_once(blobs, tmp_path):
    sha = blobs.put(b"proof")
    path = tmp_path / "lake/blobs" / sha[:2] / sha[2:]
    written = path.stat().st_mtime_ns
    blobs.put(b"proof")
    assert path.stat().st_mtime_ns == written
    assert [each.name for each in path.parent.iterdir()] == [sha[2:]]


def test_a_damaged_blob_is_put_aside_and_mended_by_putting_it_again(blobs):
    sha = blobs.put(b"proof")
    blobs.path(sha).write_bytes(b"prooF")
    assert not blobs.has(sha)
    with pytest.raises(CorruptPart, match="has been moved to"):
        blobs.get(sha)
    with pytest.raises(InputError, match="there is no blob"):
        blobs.get(sha)
    assert blobs.get(blobs.put(b"proof")) == b"proof"
    blobs.path(sha).write_bytes(b"prooF")
    assert blobs.get(blobs.put(b"proof")) == b"proof"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 63, "A" * 64])
def test_only_a_sha_names_a_blob(blobs, name):
    with pytest.raises(InputError, match="does not name a blob"):
        blobs.get(name)


def make_tree(folder):
    (folder / "src/deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "src/main.c").write_text("int main(){}")
    (folder / "src/deep/ünïcode.txt").write_bytes(b"\x00\xff")
    (folder / "configure").write_text("#!/bin/sh")
    (folder / "configure").chmod(0o755)
    (folder / "src/link").symlink_to("../configure")
    (folder / ("long" * 40)).write_text("x")


def listing(folder):
    def what(path):
        if path.is_symlink():
            return str(path.readlink())
        return None if path.is_dir() else (path.read_bytes(), path.stat().st_mode & 0o777)

    return {path.relative_to(folder).as_posix(): what(path) for path in folder.rglob("*")}


def test_a_tree_comes_out_as_it_went_in(blobs, tmp_path):
    make_tree(tmp_path / "tree")
    blobs.get_tree(blobs.put_tree(tmp_path / "tree"), tmp_path / "out/here")
    assert listing(tmp_path / "out/here") == listing(tmp_path / "tree")


def test_the_same_tree_gives_the_same_bytes(tmp_path):
    make_tree(tmp_path / "one")
    make_tree(tmp_path / "two")
    os.utime(tmp_path / "two/configure", (1, 1))
    (tmp_path / "two/src/main.c").chmod(0o600)
    assert pack(tmp_path / "one") == pack(tmp_path / "two")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "src/../../outside"])
def test_a_link_out_of_the_tree_is_refused_when_packing(tmp_path, target):
    make_tree(tmp_path / "tree")
    (tmp_path / "tree/bad").symlink_to(target)
    with pytest.raises(InputError, match="is a link out of"):
        pack(tmp_path / "tree")


def test_a_pipe_is_refused_when_packing(tmp_path):
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree/pipe")
    with pytest.raises(InputError, match="cannot be stored"):
        pack(tmp_path / "tree")


def archive(*entries: tuple[str, bytes, str]) -> bytes:
    """A tar.zst of (name, tar type, link target or content) as a stranger might make it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, text in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(text)
            else:
                info.linkname = text
            tar.addfile(info, io.BytesIO(text.encode()) if kind == tarfile.REGTYPE else None)
    return zstandard.compress(buffer.getvalue())


@pytest.mark.parametrize(
    "entries",
    [
        [("../evil", tarfile.REGTYPE, "x")],
        [("/tmp/evil-absolute", tarfile.REGTYPE, "x")],
        [("a/../../evil", tarfile.REGTYPE, "x")],
        [("out", tarfile.SYMTYPE, "/etc")],
        [("out", tarfile.SYMTYPE, "..")],
        [
            ("sub", tarfile.SYMTYPE, "."),
            ("sub/evil", tarfile.REGTYPE, "x"),
            ("sub/evil", tarfile.REGTYPE, "y"),
        ],
        [("a/b", tarfile.SYMTYPE, "../c"), ("c", tarfile.SYMTYPE, "a/../..")],
        [("d", tarfile.DIRTYPE, ""), ("d/e", tarfile.SYMTYPE, "f"), ("d/f", tarfile.SYMTYPE, "../../g")],
        [("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [("device", tarfile.CHRTYPE, "")],
        [("twice", tarfile.REGTYPE, "x"), ("twice", tarfile.REGTYPE, "y")],
    ],
)
def test_an_archive_that_would_leave_its_folder_lays_out_nothing(tmp_path, entries):
    into = tmp_path / "inner/into"
    with pytest.raises(LakeError, match="the stored tree cannot be unpacked"):
        unpack(archive(*entries), into)
    assert [path for path in tmp_path.rglob("*") if path.name != "inner"] == []


def test_too_large_or_broken_archives_lay_out_nothing(tmp_path):
    big = archive(("zeros", tarfile.REGTYPE, "0" * 5000))
    for data, limit in ((big, 4999), (big[:50], 10**6), (b"not zstd", 10**6)):
        with pytest.raises(LakeError, match="cannot be unpacked"):
            unpack(data, tmp_path / "into", max_bytes=limit)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_not_overwritten(blobs, tmp_path):
    make_tree(tmp_path / "tree")
    with pytest.raises(InputError, match="is not empty"):
        blobs.get_tree(blobs.put_tree(tmp_path / "tree"), tmp_path / "tree")
    with pytest.raises(InputError, match="is not a folder"):
        blobs.put_tree(tmp_path / "nowhere")
