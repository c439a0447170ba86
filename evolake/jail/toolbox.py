"""What a native program that may make processes finds in its jail: a shell, make, a compiler with headers and
libraries, and no more of the system.

Each program is bound as one file, with the libraries that it needs (see `elf`). There is no interpreter of a
language other than the shell's, and nothing that unpacks or decodes an archive. The Python of the jail's
server is outside: the program runs in its own root (BOX).
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from evolake.jail import bubblewrap, elf
from evolake.jail.bubblewrap import BOX

PATH = "/usr/local/bin:/usr/bin:/bin"
SHELL = (
    "sh",
    "basename",
    "cat",
    "chmod",
    "cmp",
    "cp",
    "cut",
    "date",
    "dd",
    "dirname",
    "echo",
    "env",
    "expr",
    "false",
    "find",
    "grep",
    "head",
    "install",
    "ln",
    "ls",
    "mkdir",
    "mkfifo",
    "mv",
    "nproc",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "setsid",
    "sleep",
    "sort",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "true",
    "uname",
    "uniq",
    "wc",
    "xargs",
    "yes",
)
DRIVERS = ("g++", "gcc", "c++", "cc", "clang++", "clang")
BINARY_TOOLS = (
    "make",
    "cpp",
    "ar",
    "as",
    "ld",
    "ld.bfd",
    "ld.gold",
    "ld.lld",
    "nm",
    "ranlib",
    "strip",
    "gcc-ar",
    "gcc-nm",
    "gcc-ranlib",
)
INTERNALS = ("cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "liblto_plugin.so")
EXTRA = {"cmake": ("share/cmake*",)}
"""Tools that a build gets only where its adapter asks for them, with the folders that they read: cmake can
unpack archives and write files."""
HEADERS = Path("/usr/include")
_LIBRARY = re.compile(
    r"lib(?:c|c_nonshared|m|m-[\d.]+|mvec|pthread|pthread_nonshared|dl|rt|util|anl|resolv|z|stdc\+\+|"
    r"gcc_s|atomic|gomp|g)\.(?:a|so(?:\.\d+)*)"
)


def options(program: str, tools: Sequence[str] = ()) -> list[str]:
    """Return bubblewrap's options for the box, without /proc, devices and the folder to work in. program:
    what is to be run, of the system where it is an absolute path. tools: further ones of `EXTRA`. Raises
    BadProgram for one that cannot be started."""
    result = dict(standard()) | {place: path for tool in tools for place, path in _extra(tool).items()}
    if program.startswith("/") and (path := Path(program)).is_file():
        result |= {elf.place(path): path.resolve(), **elf.needed(path.resolve(), trusted=True)}
    links = [
        f"{BOX}{word}" if number % 3 == 2 else word for number, word in enumerate(bubblewrap.system_links())
    ]
    return links + [word for place, path in result.items() for word in ("--ro-bind", str(path), BOX + place)]


def _extra(tool: str) -> dict[str, Path]:
    """Return a program of `EXTRA` with its libraries and folders; nothing where this system has not got
    it."""
    result: dict[str, Path] = {}
    if (path := shutil.which(tool, path=PATH)) is not None:
        _add(result, Path(path))
        prefix = Path(path).resolve().parent.parent
        result |= {
            str(folder): folder
            for pattern in EXTRA[tool]
            for folder in sorted(prefix.glob(pattern))
            if folder.is_dir()
        }
    return result


@functools.cache
def standard() -> tuple[tuple[str, Path], ...]:
    """Return place -> file or folder of the host, of all programs named above that this system has."""
    result: dict[str, Path] = {}
    for name in (*SHELL, *BINARY_TOOLS, *DRIVERS):
        if path := shutil.which(name, path=PATH):
            _add(result, Path(path))
    for name in DRIVERS:
        if (driver := shutil.which(name, path=PATH)) is not None and elf.place(Path(driver)) in result:
            result |= _behind(driver)
    if HEADERS.is_dir():
        result[str(HEADERS)] = HEADERS
    return tuple(result.items())


def _add(result: dict[str, Path], path: Path) -> None:
    """Add the program at `path` and its libraries; nothing for a script, whose interpreter may be
    anything."""
    try:
        result |= {elf.place(path): path.resolve(), **elf.needed(path.resolve(), trusted=True)}
    except elf.BadProgram:
        return


def _behind(driver: str) -> dict[str, Path]:
    """Return what a compiler's driver calls and reads: its own folders, their programs' libraries, and the
    development files of the C library."""
    result: dict[str, Path] = {}
    folders = [
        Path(path).parent for name in INTERNALS if (path := _asked(driver, f"-print-prog-name={name}"))
    ]
    folders += [
        Path(path).parent
        for name in ("crtbegin.o", "libgcc.a")
        if (path := _asked(driver, f"-print-file-name={name}"))
    ]
    if resources := _asked(driver, "-print-resource-dir"):
        folders.append(Path(resources))
    for folder in dict.fromkeys(path.resolve() for path in folders):
        if folder.is_dir() and folder not in (Path("/usr/bin"), Path("/usr/lib"), Path("/")):
            result[str(folder)] = folder
            for name in INTERNALS:
                if (program := folder / name).is_file():
                    result |= {
                        place: path
                        for place, path in elf.needed(program, trusted=True).items()
                        if not place.startswith(f"{folder}/")
                    }
    for start in ("crt1.o", "Scrt1.o"):
        if path := _asked(driver, f"-print-file-name={start}"):
            result |= {
                elf.place(file): file.resolve()
                for file in Path(path).resolve().parent.iterdir()
                if file.suffix == ".o" or _LIBRARY.fullmatch(file.name)
            }
    return result


def _asked(driver: str, question: str) -> str | None:
    """Return an absolute path that the compiler's driver prints; None when it knows none."""
    try:
        said = subprocess.run(
            [driver, question], env={"PATH": PATH}, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    path = said.stdout.strip()
    return path if said.returncode == 0 and Path(path).is_absolute() and Path(path).exists() else None
