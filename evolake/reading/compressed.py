"""Decompress gzip, xz, bzip2, Zstandard and zlib data in steps, within a limit of bytes and of ratio.

A few hundred bytes can become gigabytes: Zstandard's blocks expand 32,000 times, and streams may follow one
another. Every format is fed and drained in small steps here, each result is counted before the next step, and
the memory that a stream may ask for (its window) is bounded as well.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from evolake.reading.files import Bomb, Damaged

Kind = Literal["gzip", "xz", "bzip2", "zstd", "zlib"]

RATIO = 1000
"""Times that data may expand beyond FREE_BYTES. Regular formulas of SAT competitions reach about 200 with
xz."""
FREE_BYTES = 64 << 20
"""Decompressed bytes for which no ratio is asked: a short file of zeros is no attack."""
WINDOW_BYTES = 128 << 20
"""Memory that a stream's window may take; `zstd --long` and `xz -9` stay within it."""
STEP = 1 << 20
ZSTD_STEP = 1 << 10
"""Compressed bytes for one step of Zstandard, whose decompressor takes no limit of its own: at most 32 MiB
come of it."""
ENDINGS: dict[str, Kind] = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zst": "zstd"}
"""Ending of a file's name -> how it is compressed."""
_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_NOT_ZERO = re.compile(rb"[^\0]")
_DAMAGE = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)


def kind_of(data: bytes) -> Kind | None:
    """Return how data is compressed, by its first bytes; None for plain data."""
    return next((kind for start, kind in _STARTS if data.startswith(start)), None)


def decompress(data: bytes, limit: int, *, name: str, kind: Kind, ratio: int = RATIO) -> bytes:
    """Return `data` decompressed, all streams in it.

    Args:
        limit: most bytes of the result. name: what an error calls the data, such as the user's file. ratio:
            times that
        it may expand.

    Raises:
        Bomb: it is larger than a limit. Damaged: it is cut off, changed or of another kind.
    """
    return b"".join(decompressed([data], limit, name=name, kind=kind, ratio=ratio))


def decompressed(
    chunks: Iterable[bytes], limit: int, *, name: str, kind: Kind, ratio: int = RATIO
) -> Iterator[bytes]:
    """Yield decompressed pieces of at most some 32 MiB, so that the caller can stop early. Arguments and
    errors as of `decompress`."""
    used = made = 0
    for taken, piece in _steps(chunks, kind, name):
        used, made = used + taken, made + len(piece)
        if made > limit:
            raise Bomb(
                f"{name} is too large when it is decompressed",
                wanted=f"at most {limit:,} bytes",
                got="more",
                do="use a smaller one",
            )
        if made > max(FREE_BYTES, ratio * used):
            got = f"more than {ratio} times its compressed size"
            raise Bomb(
                f"{name} expands too much when it is decompressed",
                wanted=f"at most {ratio} times",
                got=got,
                do="store it otherwise",
            )
        if piece:
            yield piece


def _steps(chunks: Iterable[bytes], kind: Kind, name: str) -> Iterator[tuple[int, bytes]]:
    """(compressed bytes taken, decompressed bytes) of each step."""
    source = _Source(chunks)
    while True:
        decoder = _DECODERS[kind]()
        while not decoder.eof:
            fed = source.take(decoder.step) if decoder.needs_input else b""
            if decoder.needs_input and not fed:
                raise _damaged(name, kind, "it ends before its end")
            try:
                made = decoder.decompress(fed)
            except _DAMAGE as error:
                raise _damaged(name, kind, str(error) or type(error).__name__) from None
            yield len(fed), made
        source.put_back(decoder.unused_data)
        if source.only_zeros():  # padding, as of tar on tapes and of xz
            return


def _damaged(name: str, kind: Kind, got: str) -> Damaged:
    return Damaged(f"{name} cannot be decompressed", wanted=f"whole {kind} data", got=got, do="get it again")


class _Source:
    """Compressed bytes, taken in steps of any size."""

    def __init__(self, chunks: Iterable[bytes]):
        self._chunks, self._held, self._place = iter(chunks), b"", 0

    def take(self, size: int) -> bytes:
        while self._place >= len(self._held):
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._held, self._place = chunk, 0
        result = self._held[self._place : self._place + size]
        self._place += len(result)
        return result

    def put_back(self, data: bytes) -> None:
        if data:
            self._place -= len(data)

    def only_zeros(self) -> bool:
        """Return whether nothing but zeros is left; the zeros before the next stream are skipped."""
        while True:
            if more := _NOT_ZERO.search(self._held, self._place):
                self._place = more.start()
                return False
            chunk = next(self._chunks, None)
            if chunk is None:
                return True
            self._held, self._place = chunk, 0


class _Zlib:
    """zlib's decompressor with the interface of those of bz2 and lzma."""

    step = 1 << 16

    def __init__(self, window: int):
        self._inner, self._rest = zlib.decompressobj(window), b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes) -> bytes:
        result = self._inner.decompress(self._rest + data, STEP)
        self._rest = self._inner.unconsumed_tail
        return result


class _Bounded:
    """A decompressor of bz2 or lzma, drained in steps."""

    step = STEP

    def __init__(self, inner: Any):
        self._inner = inner

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return self._inner.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes) -> bytes:
        return self._inner.decompress(data, STEP)


class _Zstd:
    """Zstandard's decompressor, fed so little at a time that what comes of it is bounded."""

    step = ZSTD_STEP
    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._inner = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES).decompressobj(
            write_size=1 << 17
        )

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes) -> bytes:
        try:
            return self._inner.decompress(data)
        except self._error as error:
            raise ValueError(str(error)) from None


_DECODERS: dict[Kind, Callable[[], Any]] = {
    "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "zlib": lambda: _Zlib(zlib.MAX_WBITS),
    "zstd": _Zstd,
    "bzip2": lambda: _Bounded(bz2.BZ2Decompressor()),
    "xz": lambda: _Bounded(lzma.LZMADecompressor(memlimit=2 * WINDOW_BYTES)),
}
