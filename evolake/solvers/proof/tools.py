"""The classical proof checkers as programs: found on PATH or where evolake built them, built from the sources
that cadical's releases carry.

cadical's test folder holds drat-trim.c (Heule, Wetzler) and lrat-trim.c (Pollitt, Fleury, Biere), both free
to use. Either is a second opinion that shares no code with the default checker, so a user who has the seed
cadical195 and a C compiler needs to install nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeRun, run_native
from evolake.jail.protocol import one_line
from evolake.reading import Unreadable, read_bytes
from evolake.reading.archives import MOST_BYTES, tar_entries

SOURCES = {"drat-trim": "test/cnf/drat-trim.c", "lrat-trim": "test/cnf/lrat-trim.c"}
COMPILERS = ("cc", "gcc", "clang")
LARGEST_SOURCE = 4 << 20
BUILD_LIMITS = Limits(cpu_s=60, wall_s=180, memory_mb=2048, file_mb=16, processes=16)


def tools_folder() -> Path:
    """Return where built checkers are: EVOLAKE_PROOF_TOOLS, else `cache/proof-tools` in the lake."""
    if named := os.environ.get("EVOLAKE_PROOF_TOOLS"):
        return Path(named)
    from evolake.settings import load

    return load().require_lake() / "cache" / "proof-tools"


def find_program(name: str) -> Path | None:
    """Return the program on PATH, else the one that was built; None when there is neither."""
    if result := shutil.which(name):
        return Path(result).resolve()
    built = tools_folder() / name
    return built.resolve() if os.access(built, os.X_OK) else None


def build_tools(source: Path, into: Path | None = None) -> list[Path]:
    """Compile the checkers that `source` carries, in the jail, into `into` (default: `tools_folder()`); their
    paths.

    source: a folder of cadical's sources, or an archive of it. Raises InputError when it carries none or
    there is no compiler, MachineryError when a source does not compile.
    """
    command = compiler()
    if command is None:
        raise InputError(
            "there is no C compiler",
            wanted=f"one of {', '.join(COMPILERS)} on PATH",
            do="on Debian: apt-get install gcc libc6-dev",
        )
    texts = _sources(source)
    if not texts:
        raise InputError(
            f"{source} carries no proof checker",
            wanted=f"cadical's sources with {' or '.join(SOURCES.values())}",
        )
    target = into or tools_folder()
    for name, text in texts.items():
        compile_program(
            [command, "-O2", "-w", "-o", "./program", "program.c", "-lm"], {"program.c": text}, target / name
        )
    return [target / name for name in texts]


def compiler() -> str | None:
    """Return the path of a C compiler; None if there is none on PATH."""
    return next((path for name in COMPILERS if (path := shutil.which(name))), None)


def compile_program(argv: Sequence[str], files: Mapping[str, bytes], path: Path) -> None:
    """Run a compiler in the jail on `files` (name -> contents) and keep the `program` that it makes at
    `path`.

    Raises:
        MachineryError: the sources do not compile. OSError: the program cannot be kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done = run_native(NativeRun(list(argv), dict(files), ["program"]), BUILD_LIMITS)
    if done.exit_code != 0 or "program" not in done.outputs:
        raise MachineryError(
            f"{path.name} did not compile",
            got=one_line(done.stderr.decode("utf-8", "replace") or done.reason),
        )
    fresh = path.parent / f".{path.name}-{os.getpid()}"
    fresh.write_bytes(done.outputs["program"])
    fresh.chmod(0o755)
    fresh.replace(path)


def _sources(source: Path) -> dict[str, bytes]:
    """Program -> its source, of those that the folder or archive holds."""
    if source.is_dir():
        return {
            name: read_bytes(path, LARGEST_SOURCE)
            for name, place in SOURCES.items()
            if (path := source / place).is_file()
        }
    texts: dict[str, bytes] = {}
    try:
        for entry, file in tar_entries(read_bytes(source, MOST_BYTES), name=str(source)):
            name = next((name for name, place in SOURCES.items() if entry.name.endswith("/" + place)), None)
            if name and file is not None and entry.size <= LARGEST_SOURCE:
                texts[name] = file.read()
    except (Unreadable, OSError) as error:
        got = error.got or error.what if isinstance(error, Unreadable) else str(error)
        raise InputError(
            f"{source} cannot be read", wanted="a folder or an archive of cadical's sources", got=got
        ) from None
    return texts
