"""Objects of the seeds' own sources, compiled once for all lakes of a user: a variant compiles only what it
changes.

What is kept was compiled in a jail by the build of a seed, never by that of a variant, and no build sees the
store: it is shown copies that it cannot write to (see `compiled_before`). An object is given only for the
command line, the folder and the contents of every file that made it, headers of the system among them, by the
same compiler, assembler and make, and only if all files that an edit may not touch, and the names of all
others, are the seed's: then a compiler gives those bytes again. A store that is absent, damaged or full costs
time and changes nothing. It is below XDG_CACHE_HOME, else ~/.cache, and holds at most `MOST_MB`. What was not
used longest goes first.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from evolake.jail import NativeOutcome, toolbox
from evolake.scratch import Scratch
from evolake.solvers.repository import compiled_before
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.compiled_before import PLACE, Compiled
from evolake.solvers.repository.unified_diff import matches
from evolake.solvers.repository.variant import build_script, sources_of

VERSION = "2"
MOST_MB = 256
"""MiB of the whole store."""
MANIFEST = "objects.json"
PATIENCE_S = 1800.0
"""How long a build waits for another that compiles the same seed."""


@dataclass(frozen=True)
class Kept:
    """Objects of one seed, whose sources hash to `seed`. flags, executed: of what the compiler itself ran to
    make them, as `BuildResult` has them."""

    seed: str
    objects: Sequence[Compiled]
    flags: Sequence[str]
    executed: Sequence[str]


@dataclass(frozen=True)
class ObjectStore:
    """The part of the store that one seed and its variants share. root: of the whole store. most_mb: of the
    whole store."""

    root: Path
    key: str
    most_mb: int = MOST_MB

    def read(self, seed: str | None = None) -> Kept | None:
        """Return what is kept, of the seed whose sources hash so where one is named; None if nothing is, or
        not all of it can be used."""
        folder = self.root / self.key
        try:
            sha, _, text = (folder / MANIFEST).read_bytes().partition(b"\n")
            if hashlib.sha256(text).hexdigest().encode() != sha:
                return None
            values = json.loads(text)
            objects = [
                compiled_before.from_json(item, (folder / f"{number}.o").read_bytes())
                for number, item in enumerate(values["objects"], 1)
            ]
            kept = Kept(values["seed"], objects, values["flags"], values["executed"])
            os.utime(folder / MANIFEST)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        headers: dict[str, str] = {}
        for item in objects:
            headers |= item.system
        return (
            kept
            if seed in (None, kept.seed) and all(_sha(path) == sha for path, sha in headers.items())
            else None
        )

    def keep(self, kept: Kept) -> None:
        """Keep this in place of what is there. Where it cannot be written, nothing is kept."""
        objects = [compiled_before.to_json(item) for item in kept.objects]
        text = json.dumps(
            {
                "seed": kept.seed,
                "objects": objects,
                "flags": list(kept.flags),
                "executed": list(kept.executed),
            }
        ).encode()
        files = {f"{number}.o": item.data for number, item in enumerate(kept.objects, 1)}
        files[MANIFEST] = hashlib.sha256(text).hexdigest().encode() + b"\n" + text
        if not kept.objects or sum(map(len, files.values())) > self.most_mb << 20:
            return
        making = self.root / f".{self.key}-{secrets.token_hex(8)}"
        try:
            making.mkdir(parents=True)
            for name, data in files.items():
                (making / name).write_bytes(data)
            shutil.rmtree(self.root / self.key, ignore_errors=True)
            making.rename(self.root / self.key)
            self._forget_oldest()
        except OSError:
            shutil.rmtree(making, ignore_errors=True)

    @contextlib.contextmanager
    def turn(self) -> Generator[bool]:
        """Wait until no other process compiles this seed; yield False if it waited without effect, or the
        store cannot be locked."""
        lock = FileLock(
            self.root / f"{self.key}.lock", timeout=PATIENCE_S, thread_local=False, fallback_to_soft=False
        )
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (OSError, NotImplementedError, Timeout):
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _forget_oldest(self) -> None:
        """Remove what was not used longest until the store is no larger than it may be."""
        used = sorted(self.root.glob(f"*/{MANIFEST}"), key=lambda path: path.stat().st_mtime)
        sizes = {path.parent: sum(file.stat().st_size for file in path.parent.iterdir()) for path in used}
        for folder in list(sizes)[:-1]:
            if sum(sizes.values()) <= self.most_mb << 20:
                return
            shutil.rmtree(folder, ignore_errors=True)
            del sizes[folder]


@dataclass(frozen=True)
class Before:
    """What a build is given next to its sources. compiler: its path; "" gives nothing. kept: objects to
    answer with. store: where a seed's are to be kept."""

    compiler: str = ""
    kept: Kept | None = None
    store: ObjectStore | None = None

    @property
    def used(self) -> bool:
        """Return whether compiled objects are reused."""
        return bool(self.kept or self.store)

    @property
    def environment(self) -> list[str]:
        """Return the environment of a build that reuses objects."""
        return [f"PATH={compiled_before.SCRIPTS}:{toolbox.PATH}"] if self.used else []

    @property
    def files(self) -> dict[str, bytes]:
        """Return the files that a build needs at its place."""
        return {f"{compiled_before.KEPT}/.keep": b""} if self.store else {}

    @property
    def outputs(self) -> list[str]:
        """Return the files that a build leaves to be stored."""
        return compiled_before.kept_names() if self.store else []

    @contextlib.contextmanager
    def shown(self) -> Generator[dict[str, Path]]:
        """Place in the jail -> file or folder of the host; a folder of this build's own, whose files
        everybody may read."""
        tools = compiled_before.helpers() if self.used else None
        if tools is None:
            yield {}
            return
        scripts = (
            compiled_before.answering_files(self.compiler, self.kept.objects)
            if self.kept
            else compiled_before.keeping_files(self.compiler)
        )
        with Scratch("compiled") as parent:
            folder = Path(parent) / "compiled"
            for place in [path for path in tools if path.startswith(f"{PLACE}/")]:
                scripts[place.removeprefix(f"{PLACE}/")] = tools.pop(place).read_bytes()
            for path, data in scripts.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            for path in (folder, *folder.rglob("*")):
                path.chmod(0o755)
            yield {PLACE: folder} | tools

    def programs(self, outcome: NativeOutcome) -> list[tuple[str, ...]]:
        """Return what the build executed, as if nothing had been given."""
        return (
            compiled_before.without_scripts(outcome.programs, self.compiler)
            if self.used
            else list(outcome.programs)
        )


def store_of(folder: Path, adapter: Adapter, identity: str) -> ObjectStore | None:
    """Return the part of the store for the seed of the variant at `folder`, by what a variant may not change;
    None if there is no store.

    identity: of compiler and make.
    """
    root = store_folder()
    if root is None or compiled_before.helpers() is None:
        return None
    sources = sources_of(folder)
    frozen = {name: _sha(path) for name, path in sources.items() if not matches(name, adapter.editable)}
    of_all: list[Any] = [
        VERSION,
        build_script(adapter),
        identity,
        toolchain(),
        sorted(sources),
        sorted(frozen.items()),
    ]
    return ObjectStore(root, hashlib.sha256(json.dumps(of_all).encode()).hexdigest())


def store_folder() -> Path | None:
    """Return where the objects are; None where this user has no place for them."""
    try:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evolake" / "objects"
        nearest = next(folder for folder in (place, *place.parents) if folder.exists())
    except (OSError, RuntimeError, StopIteration):
        return None
    return place if place.is_absolute() and os.access(nearest, os.W_OK | os.X_OK) else None


@functools.cache
def toolchain() -> str:
    """Return what changes when a program or library of a build's jail does: the hash of their sizes and
    times."""
    known: Mapping[str, Path] = dict(toolbox.standard())
    files = [path for path in known.values() if path.is_file()]
    files += [
        path / name
        for path in known.values()
        if path.is_dir()
        for name in toolbox.INTERNALS
        if (path / name).is_file()
    ]
    facts = [(str(path), (status := path.stat()).st_size, status.st_mtime_ns) for path in sorted(files)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _sha(path: Path | str) -> str | None:
    """Of a file's contents; None where it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
