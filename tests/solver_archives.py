"""Archives made in memory, and changed ones: what unpacking must stand."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from evolake.errors import InputError
from evolake.solvers.repository.seeding import unpack_archive

Entry = tuple[str, bytes]


def tar(
    *entries: Entry, mode: str = "w:gz", change: Callable[[tarfile.TarInfo], None] = lambda _: None
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            change(info)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zipped(*entries: Entry, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def changed(rng: np.random.Generator, data: bytes) -> bytes:
    """`data` with a few bytes changed, cut out, put in or repeated."""
    text = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        place, length = int(rng.integers(len(text) + 1)), int(rng.integers(1, 9))
        kind = int(rng.integers(4))
        if kind == 0:
            text[place : place + length] = rng.bytes(length)
        elif kind == 1:
            del text[place : place + length * 40]
        elif kind == 2:
            text[place:place] = rng.bytes(length)
        else:
            text[place:place] = text[place : place + 600]
    return bytes(text)


def sources() -> list[bytes]:
    entries = (("top/a.cc", b"int main() {}\n" * 20), ("top/b/c.h", b"x" * 700), ("top/" + "n" * 120, b""))
    return [tar(*entries, mode=mode) for mode in ("w", "w:gz", "w:bz2", "w:xz")] + [zipped(*entries)]


def fuzz(rng: np.random.Generator, count: int, folder: Path) -> int:
    """How many of so many changed archives were refused; anything but a refusal or a folder below `folder`
    raises."""
    good, refused = sources(), 0
    for number in range(count):
        try:
            unpack_archive(changed(rng, good[number % len(good)]), folder / str(number))
        except InputError:
            refused += 1
    return refused
