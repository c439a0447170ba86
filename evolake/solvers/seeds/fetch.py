"""Sources of seed solvers: from a package index, an address, git, or a place of this machine, into the lake's
blobs, with where they came from.

After the first time no network is needed: an archive whose hash is pinned is a blob already, and what git
gave is remembered next to the blobs. What is remembered never has the last word: it is held to the seed's own
pin (hash or commit) each time; where it does not fit, it is fetched again. Nothing of what is fetched is run
here, and no setup.py is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.lake import disk
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unreadable, read_bytes, reason
from evolake.reading.archives import tar_comment
from evolake.scratch import Scratch
from evolake.solvers.seeds.fetch_index import get_address, get_file, pip_places
from evolake.solvers.seeds.fetch_unpack import member
from evolake.solvers.seeds.seeds_file import Container, Seed

GIT_TIMEOUT_S = 600.0
_SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Fetched:
    """Where the sources of a seed came from; a row of provenance.

    sha256: of the archive with the sources, which is a blob; for a folder of this machine, of its
    deterministic archive. source: address or path, and the file inside where it came in another archive.
    fetched_at: UTC, of the first time.
    """

    name: str
    version: str
    sha256: str
    source: str
    fetched_at: datetime
    licence: str
    adapter: str


def fetch_seed(seed: Seed, blobs: BlobStore, *, now: datetime) -> Fetched:
    """Return the seed's sources as a blob, fetched if they are not there.

    Raises:
        MachineryError: they cannot be reached. InputError: their hash is not the pinned one, or there is
            nothing where the seed says.
    """
    record = _record(seed, blobs)
    if seed.path is None and (known := _remembered(record, seed)) and _is_pinned(seed, known.sha256, blobs):
        return known
    sha, source = _sources(seed, blobs)
    if seed.sha256 and sha != seed.sha256:
        raise InputError(
            f"the sources of {seed.name} from {source} are not the pinned ones",
            wanted=f"sha256 {seed.sha256}",
            got=f"sha256 {sha}",
            do=(
                "do not use them; fix `sha256` in data_lake/seeds/solvers.toml only if you know why they "
                "changed"
            ),
        )
    fetched = Fetched(seed.name, seed.version, sha, source, now, seed.licence, seed.adapter)
    if seed.path is None:
        values = asdict(fetched) | {"fetched_at": now.isoformat()}
        disk.write_atomic(record, json.dumps(values).encode(), tag=str(os.getpid()))
    return fetched


def _record(seed: Seed, blobs: BlobStore) -> Path:
    key = hashlib.sha256(json.dumps(asdict(seed), sort_keys=True, default=str).encode()).hexdigest()
    return _beside(blobs, f"{seed.name}-{key[:16]}.json")


def _beside(blobs: BlobStore, name: str) -> Path:
    return blobs.path("0" * 64).parents[2] / "fetched" / name


def _remembered(record: Path, seed: Seed) -> Fetched | None:
    """Return what a record says of where and when; what the seed itself says is taken from the seed."""
    try:
        values = json.loads(record.read_text())
        at = datetime.fromisoformat(values["fetched_at"])
        return Fetched(
            seed.name,
            seed.version,
            str(values["sha256"]),
            str(values["source"]),
            at,
            seed.licence,
            seed.adapter,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _is_pinned(seed: Seed, sha: str, blobs: BlobStore) -> bool:
    """Return whether the blob is whole and the one that the seed pins: by its hash, or, of git, by the commit
    that git wrote into the archive."""
    if not _SHA.fullmatch(sha) or (seed.sha256 and sha != seed.sha256) or not blobs.has(sha):
        return False
    return bool(seed.sha256) or _commit_of(blobs.get(sha)) == seed.commit


def _commit_of(archive: bytes) -> str | None:
    try:
        return tar_comment(archive, name="the archive")
    except Unreadable:
        return None


def _sources(seed: Seed, blobs: BlobStore) -> tuple[str, str]:
    """(sha of the blob, where it came from)."""
    if seed.container is not None:
        data, source = _from_container(seed, seed.container, blobs)
    elif seed.path is not None:
        if seed.path.is_dir():
            return blobs.put_tree(seed.path), str(seed.path)
        data, source = _from_path(seed.path, seed.name), str(seed.path)
    elif seed.git:
        data, source = _from_git(seed.git, seed.commit, seed.name), f"{seed.git} {seed.commit}"
    else:
        if seed.sha256 and blobs.has(seed.sha256):
            return seed.sha256, seed.url
        data, source = get_address(seed.url, pip_places()), seed.url
    sha = hashlib.sha256(data).hexdigest()
    return (sha if seed.sha256 and sha != seed.sha256 else blobs.put(data)), source


def _from_container(seed: Seed, container: Container, blobs: BlobStore) -> tuple[bytes, str]:
    origin = _beside(blobs, f"{container.file}-{container.sha256[:16]}.source")
    if blobs.has(container.sha256):
        source = origin.read_text() if origin.is_file() else container.file
        return member(blobs.get(container.sha256), seed.member), f"{source}/{seed.member}"
    if container.path is not None:
        data, source = _from_path(container.path, container.file), str(container.path)
    else:
        data, source = get_file(container.project, container.file, pip_places())
    got = hashlib.sha256(data).hexdigest()
    if got != container.sha256:
        raise InputError(
            f"{source} is not the pinned {container.file}",
            wanted=f"sha256 {container.sha256}",
            got=f"sha256 {got}",
            do="do not use it; fix `sha256` in data_lake/seeds/solvers.toml only if you know why it changed",
        )
    blobs.put(data)
    disk.write_atomic(origin, source.encode(), tag=str(os.getpid()))
    return member(data, seed.member), f"{source}/{seed.member}"


def _from_path(path: Path, name: str) -> bytes:
    try:
        return read_bytes(path, DATA_BYTES)
    except (OSError, Unreadable) as error:
        raise InputError(
            f"{name} cannot be read", wanted=f"a file at {path}", got=reason(error), do="fix `path`"
        ) from None


def _from_git(address: str, commit: str, name: str) -> bytes:
    """One commit as a tar archive. Only bare objects are fetched: no hook, filter or submodule of the
    repository is used."""
    with Scratch("git") as folder:
        environment = {
            **os.environ,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:ssh:file",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        command = ["git", "-c", "core.hooksPath=/dev/null", "-C", folder]
        try:
            everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
            for arguments in (
                ["init", "--bare", "--quiet"],
                ["fetch", "--quiet", "--no-tags", "--", address, *everything],
            ):
                subprocess.run(
                    [*command, *arguments],
                    env=environment,
                    capture_output=True,
                    timeout=GIT_TIMEOUT_S,
                    check=True,
                )
            archive = [*command, "archive", "--format=tar", f"--prefix={name}/", f"{commit}^{{commit}}"]
            return subprocess.run(
                archive, env=environment, capture_output=True, timeout=GIT_TIMEOUT_S, check=True
            ).stdout
        except FileNotFoundError:
            raise MachineryError(
                f"{name} comes from git, which cannot be found", wanted="git on PATH", do="install git"
            ) from None
        except subprocess.CalledProcessError as error:
            said = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
            raise MachineryError(
                f"{name} cannot be fetched from {address}",
                wanted=f"its commit {commit}",
                got=said[-1] if said else None,
            ) from None
        except subprocess.TimeoutExpired:
            raise MachineryError(
                f"{name} cannot be fetched from {address}", got=f"no end after {GIT_TIMEOUT_S:g} s"
            ) from None
