"""The secret of a lake: 32 random bytes, drawn once and stored next to the tables, outside every repository,
jail, table, blob and request. A copy of the lake has them, and gives the same numbers.

Root seed, cycle and generators are public, so that a table of answers could be written beforehand for
whatever follows from these. What decides about candidates is therefore drawn under a keyed hash. The key of a
contest (`contest_seeds`) covers the ids of all that may take part, too, and ids are hashes of content. So it
does not exist before the candidates are stored, and a changed candidate meets other formulas, even if its
author has read the secret. The same candidates give the same key, so a replay, also one after a kill, is
exact. The cycle publishes the key with its decision (`CONTEST_SEEDS`), so that others can draw the same; it
says nothing about other keys.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore
from evolake.seeds import CycleSeeds

if TYPE_CHECKING:
    from evolake.lake.catalogue import Catalogue

SECRET_FOLDER, SECRET_FILE, SECRET_BYTES = "private", "formulas.key", 32
"""The file holds the bytes of the secret and then their SHA-256, without which a changed bit would change all
later draws unseen. Files of before have no check sum."""


def lake_secret(root: Path) -> bytes:
    """Return the secret of the lake at `root`; drawn and stored at the first call. Of several processes the
    first one's counts.

    Raises:
        MachineryError: the file cannot be read or written, or is damaged.
    """
    path = root / SECRET_FOLDER / SECRET_FILE
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
    secret = data[:SECRET_BYTES]
    if data not in (secret + hashlib.sha256(secret).digest(), secret) or len(secret) != SECRET_BYTES:
        do = (
            "restore it from a copy of the lake; without one remove it: unseen formulas of later cycles "
            "will be others"
        )
        raise MachineryError(
            f"the lake's secret {path} is damaged",
            wanted=f"{SECRET_BYTES} bytes and their check sum",
            got=f"{len(data)} bytes" + (", another check sum" if len(data) == 2 * SECRET_BYTES else ""),
            do=do,
        )
    return secret


def secret_of(blobs: BlobStore) -> bytes:
    """Return the secret of the lake whose blobs these are; errors as of `lake_secret`."""
    return lake_secret(blobs.path("0" * 64).parents[2])


def secret_seed(secret: bytes, root_seed: int, *key: str) -> int:
    """Return a 63-bit seed for one use: HMAC-SHA256 (RFC 2104) of the root seed and the key's words under the
    secret."""
    text = "\x1f".join([str(root_seed), *key])
    return int.from_bytes(hmac.new(secret, text.encode(), hashlib.sha256).digest()[:8]) >> 1


def contest_seeds(secret: bytes, seeds: CycleSeeds, ids: Iterable[str]) -> CycleSeeds:
    """Return the seeds of what decides in a cycle: `seeds` with a root that follows from the secret, from
    `seeds` and from the ids of all that may take part."""
    root = secret_seed(secret, seeds.root, "contest", seeds.line, seeds.cycle, *sorted(set(ids)))
    return CycleSeeds(root, seeds.line, seeds.cycle)


def revealed_root(catalogue: Catalogue, seeds: CycleSeeds) -> int:
    """Return the root of the seeds of a finished contest: what its cycle published, or, of a cycle that was
    finished before roots were, the root seed by which it drew."""
    rows = catalogue.frame(
        "SELECT root_seed FROM contest_seeds WHERE line = $line AND cycle = $cycle",
        {"line": seeds.line, "cycle": seeds.cycle},
    )
    return int(rows["root_seed"][0]) if rows.height else seeds.root


def _draw(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.parent / f".{SECRET_FILE}-{os.getpid()}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        secret = secrets.token_bytes(SECRET_BYTES)
        file.write(secret + hashlib.sha256(secret).digest())
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(beside, path)  # fails where another process was faster
    except FileExistsError:
        pass
    finally:
        beside.unlink()
