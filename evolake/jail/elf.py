"""What a program needs next to itself to start: its loader and its shared libraries, read from the file,
which is never executed to find out.

Only what the jail has to show is looked at: the interpreter's name and the needed libraries (System V ABI,
"Program Loading and Dynamic Linking"). A library is looked for where the loader will: in the system's cache
(/etc/ld.so.cache, glibc's format "glibc-ld.so.cache1.1") and in the system's folders; in folders that the
file itself names only where it is the system's own.
"""

from __future__ import annotations

import functools
import os
import struct
from dataclasses import dataclass
from pathlib import Path

CACHE = Path("/etc/ld.so.cache")
MAGIC, NEW_CACHE = b"\x7fELF", b"glibc-ld.so.cache1.1"
FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29
MOST_SEGMENTS, MOST_ENTRIES, MOST_LIBRARIES, LONGEST_NAME = 256, 4096, 64, 512


class BadProgram(ValueError):
    """The file cannot be started in a jail. The message is the reason."""


@dataclass(frozen=True)
class Needs:
    """loader: path, "" for a static program. libraries: names. folders: where the file says that they are.
    script: the interpreter's line of a script."""

    loader: str = ""
    libraries: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    script: tuple[str, ...] = ()


def read(path: Path) -> Needs:
    """Return what the file says that it needs. Raises BadProgram, or OSError when it cannot be read."""
    with path.open("rb") as file:
        head = file.read(64)
        if head.startswith(b"#!"):
            file.seek(2)
            return Needs(script=tuple(os.fsdecode(word) for word in file.readline(256).split(None, 1)))
        if len(head) < 64 or not head.startswith(MAGIC):
            raise BadProgram("it is neither an ELF file nor a script")
        if head[4:6] != b"\x02\x01":
            raise BadProgram("it is not for 64 bits, little end first")
        (start,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        if size != 56 or count > MOST_SEGMENTS:
            raise BadProgram("its program headers cannot be used")
        table = _read_at(file, start, size * count)
        if len(table) != size * count:
            raise BadProgram("it is cut short")
        segments = list(struct.iter_unpack("<IIQQQQQQ", table))
        read_at = functools.partial(_read_at, file)
        loader, dynamic = "", b""
        for kind, _, offset, _, _, length, *_ in segments:
            if kind == PT_INTERP:
                loader = os.fsdecode(read_at(offset, min(length, LONGEST_NAME)).partition(b"\0")[0])
            elif kind == PT_DYNAMIC:
                dynamic = read_at(offset, min(length, 16 * MOST_ENTRIES))
        entries = []
        for tag, value in struct.iter_unpack("<QQ", dynamic[: len(dynamic) // 16 * 16]):
            if tag == DT_NULL:
                break
            entries.append((tag, value))
        texts = next((value for tag, value in entries if tag == DT_STRTAB), None)
        if texts is None:
            return Needs(loader)
        base = next(
            (
                texts - address + offset
                for kind, _, offset, address, _, length, *_ in segments
                if kind == PT_LOAD and address <= texts < address + length
            ),
            None,
        )
        if base is None:
            raise BadProgram("its names are outside of it")

        def text(value: int) -> str:
            return os.fsdecode(read_at(base + value, LONGEST_NAME).partition(b"\0")[0])

        libraries = tuple(dict.fromkeys(text(value) for tag, value in entries if tag == DT_NEEDED))
        if len(libraries) > MOST_LIBRARIES:
            raise BadProgram(f"it needs {len(libraries)} libraries")
        folders = [
            folder
            for tag, value in entries
            if tag in (DT_RPATH, DT_RUNPATH)
            for folder in text(value).split(":")
        ]
        return Needs(loader, libraries, tuple(folder for folder in folders if folder))


def _read_at(file, offset: int, length: int) -> bytes:
    try:
        file.seek(offset)
    except (OverflowError, ValueError, OSError):
        raise BadProgram("it points outside of itself") from None
    return file.read(length)


LIBRARIES = frozenset(
    {
        "libc.so.6",
        "libm.so.6",
        "libmvec.so.1",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "libatomic.so.1",
        "libz.so.1",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
        "libc.musl-x86_64.so.1",
        "libc.musl-aarch64.so.1",
        "libc++.so.1",
        "libc++abi.so.1",
        "libunwind.so.1",
        "libgomp.so.1",
        "libquadmath.so.0",
    }
)
"""What a candidate's program may ask for: the languages' own libraries and zlib. No interpreter of another
language is in any of them."""


def needed(path: Path, *, trusted: bool) -> dict[str, Path]:
    """Return place in the jail -> file of the host, of the loader and all libraries of the program at `path`,
    but not itself.

    trusted: it is the system's own, and may ask for any library. Raises BadProgram for one that cannot be
    started, or asks for what it may not.
    """
    needs = read(path)
    if needs.script:
        raise BadProgram("it is a script")
    if not needs.loader and not needs.libraries:
        return {}
    result = _loader(needs.loader)
    own = folders_of(path, needs) if trusted else ()
    for name in needs.libraries:
        if not trusted and name not in LIBRARIES:
            raise BadProgram(f"it needs the library {name}, which no solver's jail holds")
        result |= _library(name, own)
    if CACHE.is_file():
        result[str(CACHE)] = CACHE
    return result


def folders_of(path: Path, needs: Needs) -> tuple[str, ...]:
    """Return the folders that a file of the system names for its libraries."""
    here = str(path.resolve().parent)
    return tuple(folder.replace("${ORIGIN}", here).replace("$ORIGIN", here) for folder in needs.folders)


def _loader(name: str) -> dict[str, Path]:
    """Return the system's loader. A file that names another is not started."""
    if not name:
        return {}
    path = Path(name)
    if (
        path.parent.as_posix() not in ("/lib64", "/lib", "/usr/lib", "/usr/lib64")
        or not path.name.startswith("ld-")
        or not _is_file(path)
    ):
        raise BadProgram(f"its loader {name[:100]!r} is not the system's")
    return {place(path): path.resolve()}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long a name
        return False


@functools.lru_cache(maxsize=512)
def _closure(name: str, own: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    result: dict[str, Path] = {}
    waiting = [(name, own)]
    while waiting:
        wanted, folders = waiting.pop()
        for path in _places(wanted, folders):
            if (at := place(path)) not in result:
                result[at] = path.resolve()
                try:
                    needs = read(path.resolve())
                except BadProgram:
                    continue
                waiting += [(other, folders_of(path, needs) or folders) for other in needs.libraries]
    return tuple(result.items())


def _library(name: str, own: tuple[str, ...]) -> dict[str, Path]:
    """Return the library called `name` and all that it needs itself; nothing where the system has none: then
    the loader says so."""
    return dict(_closure(name, own))


def _places(name: str, own: tuple[str, ...]) -> list[Path]:
    """Return where the loader may take the library from: every entry of the cache, else the first folder that
    has it."""
    if "/" in name:
        return []
    for folder in own:
        if (path := Path(folder, name)).is_file():
            return [path]
    cached = [path for path in cache().get(name, ()) if path.is_file()]
    return cached or [path for folder in system_folders() if (path := Path(folder, name)).is_file()][:1]


def system_folders() -> tuple[str, ...]:
    """Return the folders of libraries that the loader knows by itself."""
    machine = f"{os.uname().machine}-linux-gnu"
    return (f"/lib/{machine}", f"/usr/lib/{machine}", *FOLDERS)


@functools.lru_cache(maxsize=1)
def cache() -> dict[str, tuple[Path, ...]]:
    """Return library -> its files, of the system's cache; empty where the system has none."""
    try:
        data = CACHE.read_bytes()
    except OSError:
        return {}
    start = data.find(NEW_CACHE)
    if start < 0:
        return {}
    (count,) = struct.unpack_from("<I", data, start + len(NEW_CACHE))
    result: dict[str, list[Path]] = {}
    for number in range(count):
        _, key, value = struct.unpack_from("<iII", data, start + 48 + 24 * number)
        name, path = (data[start + at :].partition(b"\0")[0].decode() for at in (key, value))
        if _for_this_machine(Path(path)):
            result.setdefault(name, []).append(Path(path))
    return {name: tuple(dict.fromkeys(paths)) for name, paths in result.items()}


def _for_this_machine(path: Path) -> bool:
    """Not one of 32 bits."""
    return not any(part in ("i386-linux-gnu", "lib32", "libx32") for part in path.parts)


def place(path: Path) -> str:
    """Return where the file is in a jail, whose top folders are links as the host's are (/lib -> usr/lib)."""
    return str(path.parent.resolve() / path.name)
