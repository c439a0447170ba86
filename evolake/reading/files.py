"""Read files that the user named: regular files only, and never more than a limit.

A named pipe would wait for a writer for ever, and a device such as /dev/zero never ends. The file is opened
without blocking and looked at through its descriptor, so that it cannot be exchanged in between.

The errors of the bounded readers. Each is the user's input error, and a ValueError as those of the standard
library's parsers are.

    InputError
    ├── Unreadable          no regular file, too large, or not UTF-8
    │   ├── Bomb            larger than its limit when it is decompressed
    │   └── Damaged         cut off or changed compressed data, or an archive that cannot be read
    └── Unparsable          JSON or TOML that is broken or beyond its limits
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evolake.errors import InputError

if TYPE_CHECKING:
    from io import BufferedReader


def reason(error: BaseException) -> str:
    """Return why something could not be read, in a few words and without the name of the file, which the
    caller names."""
    if isinstance(error, InputError):
        return (
            error.got
            if error.got not in (None, "more")
            else f"more than {error.wanted}".replace("more than at most", "more than")
        )
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Unreadable(InputError, ValueError):
    """A file or an archive cannot be read within its limits."""


class Bomb(Unreadable):
    """Decompressed data is larger than its limit."""


class Damaged(Unreadable):
    """Compressed data or an archive is cut off or changed."""


class Unparsable(InputError, ValueError):
    """A text is not of its format, or is beyond the format's limits."""


TEXT_BYTES = 16 << 20
"""Limit of a text that a person or a model writes: programs, rules, settings, queries."""
STEP = 1 << 20
"""Bytes that are read at a time."""
DATA_BYTES = 1 << 30
"""Limit of a file of data: problems, proofs, archives."""
KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def require_regular(path: Path) -> None:
    """Check that `path` is a regular file, without opening it.

    Raises:
        Unreadable: it is a folder, a pipe, a device or a socket. OSError: it is missing or cannot be looked
            at.
    """
    _require(path, path.stat().st_mode)


def require_ordinary(path: Path) -> None:
    """Check that `path` is a regular file or a folder.

    Raises:
        Unreadable: it is a pipe, a device or a socket. OSError: it is missing or cannot be looked at.
    """
    if not path.is_dir():
        require_regular(path)


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file for reading bytes.

    Raises:
        Unreadable: as `require_regular`. OSError: it is missing or cannot be opened.
    """
    require_regular(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        _require(path, os.fstat(descriptor).st_mode)
        yield file


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the contents of a regular file of at most `limit` bytes.

    Raises:
        Unreadable: as `require_regular`, or it is larger. OSError: it is missing or cannot be opened.
    """
    # In steps: `read(limit + 1)` allocates that many bytes before it reads one, more than a jailed process
    # may have.
    parts, size = [], 0
    with open_regular(path) as file:
        while size <= limit and (piece := file.read(min(STEP, limit + 1 - size))):
            parts.append(piece)
            size += len(piece)
    data = b"".join(parts)
    if len(data) > limit:
        raise Unreadable(
            f"{path} is too large to be read",
            wanted=f"at most {limit:,} bytes",
            got="more",
            do="name a smaller file",
        )
    return data


def read_text(path: Path, limit: int = TEXT_BYTES) -> str:
    """Return the text of a regular file of at most `limit` bytes in UTF-8; a byte order mark at its start is
    left out.

    Raises:
        Unreadable: as `read_bytes`, or it is not UTF-8. OSError: it is missing or cannot be opened.
    """
    data = read_bytes(path, limit)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{path} is no text",
            wanted="UTF-8",
            got="UTF-16 in place of UTF-8"
            if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            else f"byte {error.start} is {data[error.start]:#04x}, which is no UTF-8",
            do="save it as UTF-8",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _require(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "of another kind")
        raise Unreadable(
            f"{path} is {kind}",
            wanted="a regular file",
            got=kind,
            do="name a file; copy a pipe's contents into one first",
        )
