"""What a lake knows and no author of a variant can: 32 random bytes, drawn once and kept next to the tables,
outside every repository.

Generators and the root seed are public, so that a proposer could make next cycle's formulas beforehand. Seeds
of unseen formulas therefore come from a keyed hash under these bytes. They are in no table, no blob and no
request; a copy of the lake has them, and gives the same formulas.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore

FOLDER, NAME, BYTES = "private", "formulas.key", 32


def lake_secret(root: Path) -> bytes:
    """Return the secret of the lake at `root`; drawn and stored at the first call. Of several processes the
    first one's counts.

    Raises:
        MachineryError: the file cannot be read or written, or is not of 32 bytes.
    """
    path = root / FOLDER / NAME
    try:
        if not path.exists():
            _draw(path)
        data = path.read_bytes()
    except OSError as error:
        raise MachineryError(
            f"the lake's secret {path} cannot be used",
            got=error.strerror,
            do="make the lake's folder writable",
        ) from None
    if len(data) != BYTES:
        do = (
            "restore it from a copy of the lake; without one remove it: unseen formulas of later cycles "
            "will be others"
        )
        raise MachineryError(
            f"the lake's secret {path} is damaged", wanted=f"{BYTES} bytes", got=f"{len(data)}", do=do
        )
    return data


def secret_of(blobs: BlobStore) -> bytes:
    """Return the secret of the lake whose blobs these are; errors as of `lake_secret`."""
    return lake_secret(blobs.path("0" * 64).parents[2])


def secret_seed(secret: bytes, root_seed: int, *key: str) -> int:
    """Return a 63-bit seed for one use: HMAC-SHA256 (RFC 2104) of the root seed and the key's words under the
    secret."""
    text = "\x1f".join([str(root_seed), *key])
    return int.from_bytes(hmac.new(secret, text.encode(), hashlib.sha256).digest()[:8]) >> 1


def _draw(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.parent / f".{NAME}-{os.getpid()}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(beside, path)  # fails where another process was faster
    except FileExistsError:
        pass
    finally:
        beside.unlink()
