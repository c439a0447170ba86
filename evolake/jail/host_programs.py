"""Programs of the host that a jail is shown beyond its toolbox: found on PATH, with the libraries and folders
that they need, read-only."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evolake.errors import InputError
from evolake.jail import elf, toolbox

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
STANDARD = tuple(toolbox.PATH.split(":"))


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
        if interpreter.name not in toolbox.SHELL or interpreter.name == "env":
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
