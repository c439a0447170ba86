"""What a native program that may make processes finds in its jail: a shell, make, a compiler with headers and
libraries, programs of the host that it is shown beyond these, and no more of the system.

Each program is bound as one file, read-only, with the libraries that it needs (see `elf`). There is no
interpreter of a language other than the shell's, and nothing that unpacks or decodes an archive. The Python
of the jail's server is outside: the program runs in its own root (BOX).
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evolake.errors import InputError
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
DRIVERS = ("g++", "gcc", "c++", "cc", "clang++", "clang", "gfortran")
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
INTERNALS = ("cc1", "cc1plus", "f951", "collect2", "lto1", "lto-wrapper", "liblto_plugin.so")
EXTRA = {"cmake": ("share/cmake*",)}
"""Tools that a build gets only where its adapter asks for them, with the folders that they read: cmake can
unpack archives and write files."""
HEADERS = Path("/usr/include")
_LIBRARY = re.compile(
    r"lib(?:c|c_nonshared|m|m-[\d.]+|mvec|pthread|pthread_nonshared|dl|rt|util|anl|resolv|z|stdc\+\+|"
    r"gcc_s|atomic|gomp|g|gfortran|quadmath)\.(?:a|so(?:\.\d+)*)"
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


BELOW_PREFIX = {
    "node": ("lib/node_modules", "share/nodejs", "share/node_modules"),
    "ruby": ("lib/ruby", "lib/*/ruby", "share/rubygems-integration"),
    "perl": ("lib/*/perl*", "share/perl*", "lib/perl*"),
    "php": ("lib/php",),
    "lua": ("share/lua",),
    "guile": ("share/guile", "lib/*/guile"),
}
"""Program -> the folders that it reads, below the folder that its own `bin` is in."""
ASKED = {
    "rustc": ("--print", "sysroot"),
    "Rscript": ("-e", "cat(R.home())"),
    "julia": ("-e", "print(Sys.BINDIR)"),
}
"""Program -> the arguments by which it says where the folder is that it reads."""
FURTHER = {"Rscript": ("/etc/R", "/usr/share/R", "/usr/lib/R", "/usr/local/lib/R")}
PACKAGES = {
    "node": "nodejs",
    "Rscript": "r-base-core",
    "rustc": "rustc",
    "ruby": "ruby",
    "php": "php-cli",
    "lua": "lua5.4",
    "java": "default-jre-headless",
    "ghc": "ghc",
    "guile": "guile-3.0",
    "octave": "octave",
    "sbcl": "sbcl",
    "ocaml": "ocaml",
    "perl": "perl",
}
"""Program -> Debian's package of it, where the names differ or one could look for it."""
UNUSABLE = {
    "go": (
        "its compiler shares pages of files of the host with other processes, which the jail's filter refuses"
    )
}
"""Program -> why it does not work in a jail, as was tried."""
STANDARD = tuple(PATH.split(":"))


@dataclass(frozen=True)
class HostPrograms:
    """places: place in the jail -> file or folder of the host. path: folders of the jail in which the
    programs are, beyond the usual ones."""

    places: dict[str, Path] = field(default_factory=dict[str, Path])
    path: tuple[str, ...] = ()


def host_programs(names: Sequence[str], where: str) -> HostPrograms:
    """Find programs of the host by their names. where: what messages call what asks for them.

    Raises:
        InputError: one is not on PATH, or cannot be run in a jail.
    """
    places: dict[str, Path] = {}
    path: list[str] = []
    for name in names:
        if name in UNUSABLE:
            what = f"{where}: the program {name!r} cannot be run in a jail"
            raise InputError(
                what, got=UNUSABLE[name], do="use another language, or bring a program that is built already"
            )
        found = _found(name)
        if found is None:
            raise InputError(
                f"{where}: the program {name!r} is not installed",
                wanted="programs on PATH in [jail] programs",
                got=f"PATH={os.environ.get('PATH', '')}",
                do=(
                    f"apt-get install {PACKAGES.get(name, name)}, or add its folder to PATH, or remove it "
                    "from project.toml"
                ),
            )
        try:
            places |= _shown(name, found)
        except elf.BadProgram as error:
            what = f"{where}: the program {name!r} cannot be run in a jail"
            raise InputError(
                what,
                wanted="a compiled program of this machine",
                got=f"{found}: {error}",
                do="correct [jail] programs",
            ) from None
        path.append(str(found.parent))
    return HostPrograms(places, tuple(dict.fromkeys(folder for folder in path if folder not in STANDARD)))


def _found(name: str) -> Path | None:
    """Return the program's file: of a folder that it says is its own, the one in there, since what is on PATH
    may only choose among several."""
    chosen = shutil.which(name)
    if chosen is None:
        return None
    inner = Path(_reported_folder(name, chosen) or "/") / "bin" / name
    return inner if name in ASKED and inner.is_file() else Path(chosen)


def _shown(name: str, path: Path) -> dict[str, Path]:
    """Return a program, its libraries, and the folders that it reads. Raises BadProgram."""
    real = path.resolve()
    places = {elf.place(path): real, str(real): real}
    needs = elf.read(real)
    if needs.script:
        interpreter = Path(needs.script[0])
        if interpreter.name not in SHELL or interpreter.name == "env":
            raise elf.BadProgram(f"it is a script of {' '.join(needs.script)}; name a program that is none")
    else:
        places |= elf.needed(real, trusted=True)
    folders = [Path(folder) for folder in FURTHER.get(name, ())]
    folders += [
        folder
        for pattern in BELOW_PREFIX.get(name, ())
        for folder in sorted(real.parent.parent.glob(pattern))
    ]
    if (reported := _reported_folder(name, str(path))) is not None:
        folders.append(Path(reported))
    for folder in folders:
        if folder.is_dir():
            places[str(folder)] = folder.resolve()
    for library in _libraries_in(Path(reported)) if name == "Rscript" and reported else ():
        places |= {
            place: file
            for place, file in elf.needed(library, trusted=True).items()
            if not place.startswith(f"{reported}/")
        }
    return {place: file for place, file in places.items() if not _inside(place, places)}


def _libraries_in(folder: Path) -> list[Path]:
    """R's own program and shared libraries, which its shell script starts and loads."""
    return [
        path
        for pattern in ("bin/exec/R", "lib/*.so", "modules/*.so", "library/*/libs/*.so")
        for path in sorted(folder.glob(pattern))
    ]


def _inside(place: str, places: dict[str, Path]) -> bool:
    """Return whether a place is in a folder that is shown as it is."""
    return any(str(parent) in places and places[str(parent)] == parent for parent in Path(place).parents)


@functools.cache
def _reported_folder(name: str, program: str) -> str | None:
    """Return the folder that a program says is its own; None if it says none. Only programs of `ASKED` are
    started."""
    if name not in ASKED:
        return None
    home = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
    environment = {"PATH": os.environ.get("PATH", ""), **home}
    try:
        done = subprocess.run(
            [program, *ASKED[name]],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return None
    folder = done.stdout.strip()
    return (
        folder
        if done.returncode == 0 and folder.startswith("/") and folder.count("/") > 1 and Path(folder).is_dir()
        else None
    )
