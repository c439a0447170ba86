"""Make a variant of a seed's name: its sources fetched from a package index, an address, git, or a place of
this machine into the lake's blobs, with where they came from; unpacked once, laid out by its adapter.

After the first time no network is needed: an archive whose hash is pinned is a blob already, and what git
gave is remembered next to the blobs. It is held to the seed's own pin (hash or commit) each time; if it does
not fit, it is fetched again. Nothing of what is fetched is run here, and no setup.py is.

Of archives from elsewhere (tar, plain, gz, bz2 or xz, and zip) nothing is trusted: only files and folders are
laid out, only below the target. Every quantity has its bound before it is used: entries of any kind, bytes
after decompression (what is skipped counts), bytes of a header, lengths and depths of names, memory of a
decompressor. Two names that are one on some file systems are refused. Links are left out: no solver needs one
to be built, and a source tree that had one would fail its layout.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

from evolake.errors import InputError, MachineryError
from evolake.file_names import file_name
from evolake.lake import disk
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unreadable, read_bytes, reason
from evolake.reading.archives import DAMAGE, Limits, tar_comment, tar_entries, zip_entries
from evolake.scratch import Scratch
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.fetch_index import get_address, get_file, pip_places
from evolake.solvers.repository.seeds_file import Container, Seed, load_seeds, seed_names
from evolake.solvers.repository.variant import adopt_variant, create_variant, is_laid_out, source_sha

MOST_BYTES = 1 << 30
MOST_FILES = 100_000
"""Entries of every kind: folders, links and empty files count."""
LONGEST_PART, LONGEST_NAME, DEEPEST = 200, 1000, 32
"""Bytes of one part of a path and of all of it, and how many parts it may have."""
LARGEST_MEMBER = 256 << 20
BLOCK = 1 << 20
_DAMAGED = (*DAMAGE, FileExistsError, NotADirectoryError, IsADirectoryError)
"""Errors of reading contents, and of two entries that cannot be laid out together."""


def unpack_archive(data: bytes, into: Path) -> None:
    """Unpack the archive as the folder `into`, which must not exist; all of it appears, or none.

    Raises:
        InputError: it is no archive, is damaged, names a path outside or one twice, or is too large.
    """
    into.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-unpack-", dir=into.parent))
    try:
        used = 0
        seen: set[str] = set()
        for name, file, executable in _entries(data):
            path = _inside(name)
            if (known := _folded(path)) in seen:
                raise _refused(f"two entries named {name[:80]!r}, or alike but for case")
            seen.add(known)
            target = temporary / path
            with file:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    while block := file.read(BLOCK):
                        used += len(block)
                        if used > MOST_BYTES:
                            raise _too_large()
                        out.write(block)
            target.chmod(0o755 if executable else 0o644)
        temporary.chmod(0o755)
        if not into.exists():  # another process may have been faster
            temporary.replace(into)
    except Unreadable as error:
        raise _refused(_why(error)) from None
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(data: bytes, name: str) -> bytes:
    """Return the file `name`, below the archive's one top folder.

    Raises:
        InputError: there is none, it has more than LARGEST_MEMBER bytes, or the archive cannot be read.
    """
    try:
        for path, file, _ in _entries(data):
            with file:
                if path.partition("/")[2] == name:
                    result = file.read(LARGEST_MEMBER + 1)
                    if len(result) > LARGEST_MEMBER:
                        raise _refused(f"the file {name!r} has more than {LARGEST_MEMBER} bytes")
                    return result
    except Unreadable as error:
        raise _refused(_why(error)) from None
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    raise InputError(
        f"the archive has no file {name!r}",
        wanted="the path below its top folder",
        do="fix `member` of the seed",
    )


def _entries(data: bytes) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(path, contents, executable) of each regular file."""
    limits = Limits(MOST_BYTES, MOST_FILES)
    if data[:2] == b"PK":
        for info, file in zip_entries(data, name="the archive", limits=limits):
            yield info.filename, file, bool((info.external_attr >> 16) & 0o100)
        return
    for entry, file in tar_entries(data, name="the archive", limits=limits):
        if file is not None:
            yield entry.name, file, bool(entry.mode & 0o100)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    parts = [len(part.encode("utf-8", "surrogateescape")) for part in path.parts]
    if (
        path.is_absolute()
        or ".." in path.parts
        or not parts
        or "\\" in name
        or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)
    ):
        raise _refused(f"an entry named {name[:80]!r}")
    if max(parts) > LONGEST_PART or sum(parts) > LONGEST_NAME or len(parts) > DEEPEST:
        raise _refused(f"an entry named {name[:80]!r}, of {sum(parts)} bytes in {len(parts)} parts")
    return path


def _folded(path: PurePosixPath) -> str:
    """Return a path as a file system reads it that knows no case and composes letters."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _why(error: Unreadable) -> str:
    return error.what if error.got in (None, "more") else str(error.got)


def _too_large() -> InputError:
    return _refused(f"more than {MOST_FILES} entries or {MOST_BYTES} bytes")


def _refused(why: str) -> InputError:
    return InputError(
        "the archive cannot be unpacked",
        wanted="a tar or zip archive of files below it",
        got=why,
        do="name another archive",
    )


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


_ZSTD = b"\x28\xb5\x2f\xfd"


def seed_named(name: str, seeds: Path | None = None) -> Seed:
    """Return the seed called `name`. seeds: the file, by default that of the settings. Raises InputError if
    there is none."""
    known = load_seeds(seeds)
    return known[seed_names([name], known)[0]]


def upstream_tree(seed: Seed, blobs: BlobStore, cache: Path, *, now: datetime | None = None) -> Path:
    """Return the folder of the seed's upstream sources, unpacked once below `cache`; errors as of
    `fetch_seed` and `unpack_archive`."""
    fetched = fetch_seed(seed, blobs, now=now or datetime.now(UTC))
    folder = cache / "upstream" / fetched.sha256
    if not folder.is_dir():
        data = blobs.get(fetched.sha256)
        if data.startswith(_ZSTD):
            folder.parent.mkdir(parents=True, exist_ok=True)
            blobs.get_tree(fetched.sha256, folder)
        else:
            unpack_archive(data, folder)
    if seed.root is not None:
        root = folder / seed.root
        if not root.is_dir() or not root.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"the sources of {seed.name} have no folder {seed.root!r}",
                wanted="where the solver is in them",
                do="fix `root`",
            )
        return root
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def seed_trees(blobs: BlobStore, cache: Path, *, seeds: Path | None = None) -> Callable[[str], Path]:
    """Return seed's name -> folder of its upstream sources, for suites whose formulas come with a solver."""
    return lambda name: upstream_tree(seed_named(name, seeds), blobs, cache)


def lay_out_seed(
    seed: Seed, blobs: BlobStore, cache: Path, *, adapters: Path | None = None, now: datetime | None = None
) -> Path:
    """Return the seed as a variant, laid out once below `cache`; a tree that is laid out already is taken as
    it is. The folder is named for its sources, our patches included; treat it as read-only."""
    adapter = load_adapter(seed.adapter, adapters)
    tree = upstream_tree(seed, blobs, cache, now=now)
    made = cache / "seeds" / f".{file_name(seed.name)}-{datetime.now(UTC).timestamp():.6f}"
    (adopt_variant if is_laid_out(tree) else create_variant)(tree, adapter, made, base=seed.name)
    final = cache / "seeds" / file_name(f"{seed.name}-{source_sha(made)[:16]}")
    try:
        made.replace(final)
    except OSError:  # it is there already, with the same sources
        shutil.rmtree(made, ignore_errors=True)
    return final
