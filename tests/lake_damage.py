"""Planted damage for the lake's tests: single-bit flips, and a small lake."""

import tarfile
from collections.abc import Iterator
from pathlib import Path

from evolake.lake import Lake
from evolake.lake.audit import audit

TOY = Path(__file__).parent / "unit" / "lake" / "toy_lake.tar.xz"
"""A toy line of four cycles of which two ran again, shared rows, blobs, tape, and a writer that died between
its replace and its commit."""


def damage_of(root: Path) -> list[str]:
    """What `evolake lake verify` finds in a lake, without notes; [] if it is intact."""
    return [f"{finding.where}: {finding.what}" for finding in audit(Lake(root)) if not finding.note]


def flips(data: bytes, every: int = 1) -> Iterator[tuple[int, bytes]]:
    """(bit, the bytes with that bit flipped), for every `every`-th bit."""
    for bit in range(0, len(data) * 8, every):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << (bit % 8)
        yield bit, bytes(changed)


def flip(data: bytes, bit: int) -> bytes:
    """The bytes with one bit flipped, counted round."""
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << (bit % 8)
    return bytes(changed)


def toy_lake(folder: Path) -> Path:
    """The small lake, unpacked below `folder`."""
    with tarfile.open(TOY) as archive:
        # Python before 3.11.4 has no filters, and later ones warn without; the archive is this project's own.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / "lake"
