"""The errors of the bounded readers. Each is the user's input error, and a ValueError as those of the standard
library's parsers are.

    InputError
    ├── Unreadable          no regular file, too large, or not UTF-8
    │   ├── Bomb            larger than its limit when it is decompressed
    │   └── Damaged         cut off or changed compressed data, or an archive that cannot be read
    └── Unparsable          JSON or TOML that is broken or beyond its limits
"""

from __future__ import annotations

from evolake.errors import InputError


class Unreadable(InputError, ValueError):
    """A file or an archive cannot be read within its limits."""


class Bomb(Unreadable):
    """Decompressed data is larger than its limit."""


class Damaged(Unreadable):
    """Compressed data or an archive is cut off or changed."""


class Unparsable(InputError, ValueError):
    """A text is not of its format, or is beyond the format's limits."""
