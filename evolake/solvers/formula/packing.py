"""Unpack formulas and proofs, by their first bytes and to a limit: a name may say otherwise, and a few bytes may hold gigabytes.

The packing is known by its magic number. A name whose ending promises a packing that the bytes do not have is an error, since such a file was cut or
mixed up. No formula and no proof, text or binary, begins with a magic number.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
"""First bytes of a packed file -> the ending that it usually has."""
ENDINGS = (".gz", ".xz", ".bz2", ".zst")
PIECE = 1 << 20
"""Most bytes that are unpacked in one step."""
ZSTD_PIECE = 1 << 10
"""Packed bytes that Zstandard gets at a time: it has no limit of its own, and a block of four bytes may hold 128 KiB."""


class CannotUnpack(ValueError):
    """The bytes are damaged, cut off, or not packed as the file's name says."""


class TooLarge(ValueError):
    """Unpacked, it would be larger than the limit."""


def packing_of(data: bytes, ending: str = "") -> str:
    """Return the ending of `ENDINGS` that the first bytes stand for, else that of the file's name if it is one; "" for a plain file."""
    found = next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), "")
    return found or (ending if ending in ENDINGS and data else "")


def unpacked(data: bytes, ending: str, most: int) -> bytes:
    """Return the contents of a file, plain or packed.

    Args:
        data: the file's bytes. ending: of its name, with the dot. most: the largest number of bytes to return.

    Raises:
        CannotUnpack, TooLarge.
    """
    kind = packing_of(data, ending)
    if kind:
        try:
            data = UNPACK[kind](data, most)
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise CannotUnpack(f"damaged {kind[1:]} data: {error}") from None
    if len(data) > most:
        raise TooLarge(f"larger than {most >> 20} MiB unpacked")
    return data


def _streams(start: Callable[[], Any]) -> Callable[[bytes, int], bytes]:
    """Return the function that unpacks all streams of a file, one after the other. start: gives a decompressor as zlib, lzma and bz2 have it."""

    def unpack(data: bytes, most: int) -> bytes:
        parts, size = [], 0
        while data:
            stream = start()
            while not stream.eof:
                part = stream.decompress(data, PIECE)
                # what a stream has not consumed yet it keeps (bz2, lzma) or hands back (zlib)
                data = getattr(stream, "unconsumed_tail", b"")
                if not part and not data and not stream.eof:
                    raise EOFError("the end is missing")
                parts.append(part)
                size += len(part)
                if size > most:
                    raise TooLarge(f"larger than {most >> 20} MiB unpacked")
            data = stream.unused_data.lstrip(b"\0")
        return b"".join(parts)

    return unpack


def _from_zstd(data: bytes, most: int) -> bytes:
    """Return all frames of a Zstandard file, whether or not they state their lengths."""
    import zstandard

    parts, size, frame = [], 0, None
    for start in range(0, len(data), ZSTD_PIECE):
        piece = data[start : start + ZSTD_PIECE]
        while piece:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                parts.append(frame.decompress(piece))
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            size += len(parts[-1])
            if size > most:
                raise TooLarge(f"larger than {most >> 20} MiB unpacked")
            piece, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("the last frame is cut off")
    return b"".join(parts)


UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    ".gz": _streams(lambda: zlib.decompressobj(wbits=31)),
    ".xz": _streams(lzma.LZMADecompressor), ".bz2": _streams(bz2.BZ2Decompressor), ".zst": _from_zstd,
}
"""Ending -> what unpacks (data, most bytes)."""
