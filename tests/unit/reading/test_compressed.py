"""Compressed data is read in steps, within a limit of bytes and of ratio, whatever its format."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.reading import Bomb, Damaged, decompress, decompressed, kind_of
from evolake.reading.archives import Limits, tar_comment, tar_entries, zip_entries
from evolake.reading.compressed import FREE_BYTES, WINDOW_BYTES, Kind

PACK: dict[Kind, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor(level=3).compress,
    "zlib": zlib.compress,
}
EVERY = pytest.mark.parametrize("kind", list(PACK))
MANY = pytest.mark.parametrize("kind", ["gzip", "xz", "bzip2", "zstd"])
LIMIT = 1 << 20


@EVERY
@given(data=st.binary(max_size=5000), repeated=st.integers(1, 50), cut=st.integers(1, 4000))
@settings(max_examples=30, deadline=None)
def test_what_was_compressed_comes_back_in_whatever_pieces_it_arrives(kind, data, repeated, cut):
    packed = PACK[kind](data * repeated)
    chunks = [packed[at : at + cut] for at in range(0, len(packed), cut)]
    assert b"".join(decompressed(chunks, LIMIT, name="it", kind=kind)) == data * repeated


@EVERY
def test_a_byte_more_than_the_limit_is_refused_and_names_the_data(kind):
    packed = PACK[kind](bytes(1000))
    assert decompress(packed, 1000, name="x.bin", kind=kind) == bytes(1000)
    with pytest.raises(Bomb, match="x.bin is too large when it is decompressed"):
        decompress(packed, 999, name="x.bin", kind=kind)


@EVERY
def test_a_cut_or_foreign_stream_is_damage(kind):
    packed = PACK[kind](os.urandom(3000))
    for data in (b"", packed[:2], packed[:-1], packed + b"junk", b"junk" * 10):
        with pytest.raises(Damaged, match="x.bin cannot be decompressed"):
            decompress(data, LIMIT, name="x.bin", kind=kind)


@MANY
def test_streams_one_after_another_are_one_and_padding_is_no_stream(kind):
    packed = PACK[kind](b"one")
    assert decompress(packed + packed + bytes(16), LIMIT, name="it", kind=kind) == b"oneone"
    assert kind_of(packed) == kind


@MANY
def test_a_bomb_stops_at_its_limit_and_gives_no_large_piece(kind):
    packed = PACK[kind](bytes(8 << 20)) * 40
    pieces: list[int] = []
    with pytest.raises(Bomb):
        for piece in decompressed([packed], 32 << 20, name="it", kind=kind, ratio=1 << 30):
            pieces.append(len(piece))
    assert sum(pieces) <= 32 << 20 and max(pieces) <= 32 << 20


def test_many_small_frames_take_a_time_that_grows_with_their_length_only():
    packed = zstandard.ZstdCompressor().compress(b"") * 100_000
    assert decompress(packed, LIMIT, name="it", kind="zstd") == b""


def test_what_expands_beyond_the_ratio_is_refused_though_it_is_below_the_limit():
    packed = zstandard.ZstdCompressor().compress(bytes(FREE_BYTES + (1 << 20)))
    with pytest.raises(Bomb, match="expands too much"):
        decompress(packed, 1 << 40, name="it", kind="zstd")


def test_a_window_larger_than_the_bound_is_refused():
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=30, enable_ldm=True)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packed.compress(b"a" * 100) + packed.flush()
    assert WINDOW_BYTES < 1 << 30
    with pytest.raises(Damaged):
        decompress(data, LIMIT, name="it", kind="zstd")


def test_an_error_of_the_source_of_the_bytes_is_not_taken_for_damage():
    def broken() -> object:
        yield PACK["gzip"](b"x")[:5]
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError):
        list(decompressed(broken(), LIMIT, name="it", kind="gzip"))  # type: ignore[arg-type]


def packed_tar(*names: str, size: int = 10, format: int = tarfile.PAX_FORMAT, **headers: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format, pax_headers=headers) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = size
            archive.addfile(info, io.BytesIO(b"x" * size))
    return buffer.getvalue()


@pytest.mark.parametrize("pack", [bytes, PACK["gzip"], PACK["xz"], PACK["bzip2"], PACK["zstd"]])
def test_a_tar_archive_is_read_entry_by_entry_however_it_is_compressed(pack):
    found = [
        (entry.name, file.read() if file else None)
        for entry, file in tar_entries(pack(packed_tar("a", "b/c")), name="t")
    ]
    assert found == [("a", b"x" * 10), ("b/c", b"x" * 10)]


def test_archives_beyond_their_limits_or_no_archives_are_refused():
    for limits in (Limits(bytes=15), Limits(entries=1)):
        with pytest.raises(Bomb, match="t is too large"):
            list(tar_entries(packed_tar("a", "b"), name="t", limits=limits))
    for data in (b"", b"junk" * 300, packed_tar("a")[:600], PACK["xz"](packed_tar("a"))[:-5]):
        with pytest.raises(Damaged, match="t cannot be"):
            list(tar_entries(data, name="t"))
    with pytest.raises(Damaged, match="a header of"):
        list(tar_entries(packed_tar("a", comment="c" * (2 << 20)), name="t"))
    assert tar_comment(packed_tar("a", comment="1" * 40), name="t") == "1" * 40


def test_a_zip_archive_is_read_within_its_limits():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"x" * 100)
        archive.writestr("b", b"y")
    assert [(info.filename, file.read()) for info, file in zip_entries(buffer.getvalue(), name="z")] == [
        ("a", b"x" * 100),
        ("b", b"y"),
    ]
    with pytest.raises(Bomb, match="z is too large"):
        list(zip_entries(buffer.getvalue(), name="z", limits=Limits(bytes=100)))
    with pytest.raises(Damaged):
        list(zip_entries(b"PK junk", name="z"))
