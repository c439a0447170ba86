"""The errors of the bounded readers. Each is the user's input error, and a ValueError as those of the
standard library's parsers are.

    InputError
    ├── Unreadable          no regular file, too large, or not UTF-8
    │   ├── Bomb            larger than its limit when it is decompressed
    │   └── Damaged         cut off or changed compressed data, or an archive that cannot be read
    └── Unparsable          JSON or TOML that is broken or beyond its limits
"""

from __future__ import annotations

from evolake.errors import InputError


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
