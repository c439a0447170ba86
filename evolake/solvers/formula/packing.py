"""Unpack formulas and proofs by their first bytes, whatever their names say, within the bounds of
`evolake.reading`.

A name whose ending promises a packing that the bytes do not have is an error, since such a file was cut or
mixed up. No formula and no proof, text or binary, begins as a packed file does.
"""

from __future__ import annotations

from evolake.reading import decompress, kind_of
from evolake.reading.compressed import ENDINGS as ENDINGS


def unpacked(data: bytes, ending: str, most: int, name: str) -> bytes:
    """Return the contents of a file, plain or packed.

    Args:
        data: the file's bytes. ending: of its name, with the dot. most: the largest number of bytes to
            return. name: what errors call the file.

    Raises:
        Bomb: unpacked, it is larger than that, or expands too much. Damaged: it is cut off, changed, or not
            packed as its ending says.
    """
    kind = kind_of(data) or (ENDINGS.get(ending.lower()) if data else None)
    return decompress(data, most, name=name, kind=kind) if kind else data
