"""Archives that are written to harm: each ends as an error in words, within its bounds, and leaves nothing
behind."""

import bz2
import gzip
import lzma
import stat
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest
from solver_archives import fuzz, tar, zipped

from evolake.errors import InputError
from evolake.reading import compressed
from evolake.solvers.repository import seeding as fetch_unpack
from evolake.solvers.repository.seeding import member, unpack_archive


def header(name: bytes, size: int, kind: bytes) -> bytes:
    """A raw tar header that claims `size` bytes."""
    block = bytearray(
        struct.pack(
            "100s8s8s8s12s12s8s1s100s8s",
            name,
            b"0000644",
            b"0",
            b"0",
            b"%011o" % size,
            b"0",
            b" " * 8,
            kind,
            b"",
            b"ustar  ",
        )
    )
    block += bytes(512 - len(block))
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


HOSTILE = {
    "empty files": lambda: tar(*((f"top/{n}", b"") for n in range(300))),
    "folders": lambda: tar(
        *((f"top/{n}", b"") for n in range(300)), change=lambda info: setattr(info, "type", tarfile.DIRTYPE)
    ),
    "links": lambda: tar(
        *((f"top/{n}", b"") for n in range(300)), change=lambda info: setattr(info, "type", tarfile.SYMTYPE)
    ),
    "many in a zip": lambda: zipped(*((f"top/{n}", b"") for n in range(300))),
    "deep": lambda: tar(("a/" * 60 + "x", b"")),
    "long part": lambda: tar(("a" * 250, b"")),
    "long name": lambda: tar(("/".join(["a" * 190] * 8), b"")),
    "deep in a zip": lambda: zipped(("a/" * 60 + "x", b"")),
    "twice": lambda: tar(("a/x", b"1"), ("a/x", b"2")),
    "twice but for case": lambda: tar(("a/Makefile", b"1"), ("a/makefile", b"2")),
    "twice but for composition": lambda: tar(("a/\u00e9", b"1"), ("a/e\u0301", b"2")),
    "file and folder": lambda: tar(("a", b"1"), ("a/b", b"2")),
    "control characters": lambda: tar(("a/x\ny", b"")),
    "outside": lambda: tar(("../x", b"")),
    "absolute": lambda: zipped(("/etc/x", b"")),
    "bomb": lambda: tar(("a", bytes(3 << 20))),
    "bomb in a zip": lambda: zipped(("a", bytes(3 << 20))),
    "bomb of bz2": lambda: bz2.compress(bytes(3 << 20)),
    "bomb of xz": lambda: lzma.compress(bytes(3 << 20)),
    "skipped bytes": lambda: gzip.compress(header(b"x", 1 << 40, b"9")),
    "long header": lambda: header(b"x", 2 << 20, b"L") + bytes(2 << 20),
    "long pax": lambda: header(b"x", 2 << 20, b"x") + bytes(2 << 20),
    "xz of zip": lambda: zipped(("a", b"x"), kind=zipfile.ZIP_LZMA),
    "cut": lambda: tar(("a", bytes(5000)))[:40],
    "cut xz": lambda: lzma.compress(tar(("a", b"x"), mode="w"))[:-30],
    "nothing": lambda: b"",
    "no memory": lambda: lzma.compress(
        b"x" * 100, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 32 << 20}]
    ),
    "encrypted": lambda: _encrypted(),
    "sparse": lambda: tar(("a", b""), change=lambda info: setattr(info, "type", tarfile.GNUTYPE_SPARSE)),
}


def _encrypted() -> bytes:
    data = bytearray(zipped(("a", b"text")))
    for place in (data.index(b"PK\3\4") + 6, data.index(b"PK\1\2") + 8):
        data[place] |= 1
    return bytes(data)


@pytest.fixture
def small(monkeypatch) -> None:
    """The same bounds, less of them, so that tests need not be large."""
    monkeypatch.setattr(fetch_unpack, "MOST_FILES", 200)
    monkeypatch.setattr(fetch_unpack, "MOST_BYTES", 2 << 20)
    monkeypatch.setattr(compressed, "WINDOW_BYTES", 8 << 20)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_whole(name, small, tmp_path):
    data = HOSTILE[name]()
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpack_archive(data, tmp_path / "box" / "into")
    assert list((tmp_path / "box").iterdir()) == []
    with pytest.raises(InputError):
        member(data, "no/such/file")


def test_a_member_is_read_within_bounds(monkeypatch):
    monkeypatch.setattr(fetch_unpack, "LARGEST_MEMBER", 1 << 20)
    assert member(tar(("top/small", b"x")), "small") == b"x"
    large = zipped(("top/large", bytes(30 << 20)))
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 1048576 bytes"):
        member(large, "large")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_good_archives_of_each_kind_are_laid_out(mode, tmp_path):
    unpack_archive(
        tar(
            ("top/a", b"text"),
            ("top/b/c", bytes(100_000)),
            mode=mode,
            change=lambda info: setattr(info, "mode", 0o755),
        ),
        tmp_path / "x",
    )
    assert (tmp_path / "x/top/a").read_bytes() == b"text" and (
        tmp_path / "x/top/b/c"
    ).stat().st_size == 100_000
    assert stat.S_IMODE((tmp_path / "x/top/a").stat().st_mode) == 0o755


def test_streams_one_after_another_are_one_archive(tmp_path):
    plain = tar(("a", b"text"), mode="w")
    unpack_archive(gzip.compress(plain[:300]) + gzip.compress(plain[300:]), tmp_path / "x")
    assert (tmp_path / "x/a").read_bytes() == b"text"


def test_changed_archives_never_end_otherwise(small, tmp_path):
    refused = fuzz(np.random.default_rng(11), 200, tmp_path / "box")
    assert 50 < refused <= 200
    assert not [path for path in (tmp_path / "box").iterdir() if path.name.startswith(".tmp")]
    assert {path.name for path in tmp_path.iterdir()} == {"box"}
