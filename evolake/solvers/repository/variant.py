"""A variant is a repository: sources, how they are built and run, and the documents that say why and what.

    src/                      the sources, and nothing that a build makes
    build/ bin/               empty but for bin/starexec_run_default; a build fills them
    starexec_build            builds src/ into bin/
    bin/starexec_run_default  CNF [OUTDIR]   runs it, with OUTDIR/proof.out
    HYPOTHESIS.md CHANGELOG.md RESULTS.md                    before, with, and after the edit; RESULTS.md is
                                                             the pipeline's
    variant.toml              base = seed, adapter = family  edits.json   of variants that operators made

Both scripts are written from the adapter and may not differ from it: a variant changes what is solved and
how, not how it is built or run. The identity of a variant is the hash of its sources; documents do not count,
so that results written back do not make another variant of it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.lake.disk import whole_folder
from evolake.reading import Unparsable, Unreadable, parse_toml, read_bytes, read_text, reason
from evolake.scratch import Scratch
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.unified_diff import DiffResult, apply_diff, diff_files, matches

_BUILD = """#!/bin/sh
# Builds src/ into {program}. Written from the adapter {name}.
set -eu
case "$0" in */*) cd "${{0%/*}}" ;; esac
rm -rf build {program}
mkdir build
{exports}{commands}"""

_RUN = """#!/bin/sh
# Solves the file $1; where $2 is a folder, writes the proof $2/proof.out. Written from the adapter {name}.
case "$0" in */*) here="${{0%/*}}" ;; *) here=. ;; esac
{proof}{plain}
"""


def build_script(adapter: Adapter, *, serial: bool = False) -> str:
    """Return the text of starexec_build. serial: with one job of make at a time, so that what a failing build
    says is always the same."""
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in sorted(adapter.environment.items())
    )
    commands = "".join(
        shlex.join(_one_job(command) if serial else command) + "\n" for command in adapter.build
    )
    return _BUILD.format(program=adapter.program, name=adapter.name, exports=exports, commands=commands)


def _one_job(command: Sequence[str]) -> list[str]:
    """Return the command with -j1 in place of another number of jobs; GNU make takes the last."""
    return [*command, "-j1"] if command[0].rpartition("/")[2] in ("make", "gmake") else list(command)


def run_script(adapter: Adapter) -> str:
    """Return the text of bin/starexec_run_default; the shell becomes the solver, so that no process is
    made."""
    proof = f'if [ -n "${{2-}}" ]; then {_line(adapter.proof_argv)}; fi\n' if adapter.proof_argv else ""
    return _RUN.format(name=adapter.name, proof=proof, plain=_line(adapter.argv))


def _line(argv: tuple[str, ...]) -> str:
    return " ".join([f'exec "$here/{argv[0]}"', *(_word(word) for word in argv[1:])])


def _word(word: str) -> str:
    """Return a word of a command line with the two files in place of {cnf} and {proof}, quoted for the
    shell."""
    places = {"{cnf}": '"$1"', "{proof}": '"$2/proof.out"'}
    return "".join(
        places.get(part) or shlex.quote(part) for part in re.split(r"({cnf}|{proof})", word) if part
    )


SOURCES, BUILD, BIN = "src", "build", "bin"
BUILD_SCRIPT, RUN_SCRIPT, CARD, EDITS = (
    "starexec_build",
    "bin/starexec_run_default",
    "variant.toml",
    "edits.json",
)
DOCUMENTS = ("CHANGELOG.md", "HYPOTHESIS.md", "RESULTS.md")
WRITTEN_OUT = "solver"
"""Folder that a variant is written to, with a README next to it."""
TOP = {SOURCES, BUILD, BIN, BUILD_SCRIPT, CARD, EDITS, *DOCUMENTS}
MOST_FILES, MOST_BYTES = 5000, 64 << 20
PRODUCTS = ("**/*.o", "**/*.or", "**/*.op", "**/*.od", "**/*.a", "**/*.so", "**/depend.mk")

__all__ = [
    "DiffResult",
    "adopt_variant",
    "apply_diff",
    "archive_variant",
    "as_variant",
    "check_layout",
    "create_variant",
    "diff_sources",
    "is_laid_out",
    "read_card",
    "repository_in",
    "source_sha",
    "sources_of",
]


def create_variant(seed_tree: Path, adapter: Adapter, into: Path, *, base: str = "") -> None:
    """Write the seed whose upstream tree is `seed_tree` as a variant at `into`, which must be missing or
    empty.

    base: the seed's name; the adapter's by default.

    Raises:
        InputError: the tree is not what the adapter expects (a folder, a licence, the context of our patch),
            or `into` holds something.
    """
    base = base or adapter.name
    with whole_folder(into) as folder:
        _copy_sources(seed_tree, adapter, folder / SOURCES, base)
        if adapter.layout.patch:
            result = apply_diff(folder, adapter.layout.patch, editable=("src/**",))
            if not result.applied:
                raise InputError(
                    f"the adapter's patch does not fit the sources of {base}",
                    wanted="the sources that the patch was written for",
                    got=result.problems[0],
                    do="take the version that the seed names, or write a patch for this one",
                )
        for name in (BUILD, BIN):
            (folder / name).mkdir()
        for name, text in ((BUILD_SCRIPT, build_script(adapter)), (RUN_SCRIPT, run_script(adapter))):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        _write_card(folder, base, adapter.name)
        for name, text in _documents(base, bool(adapter.layout.patch)).items():
            (folder / name).write_text(text)
        if problems := check_layout(folder, adapter):
            raise InputError(
                f"{base} cannot be laid out",
                wanted="a repository as the adapter says",
                got=problems[0],
                do="fix the adapter",
            )


def adopt_variant(repository: Path, adapter: Adapter, into: Path, *, base: str) -> None:
    """Make a repository that is laid out already the variant `into` of the seed `base`, which must be missing
    or empty. Its sources stay as they are.

    Raises:
        InputError: it is not laid out as the adapter says, or `into` holds something.
    """
    if problems := check_layout(repository, adapter):
        do = "fix it, or begin with its upstream tree: evolake solvers layout"
        raise InputError(
            f"{repository} is not laid out as a variant",
            wanted=f"a repository of the adapter {adapter.name}",
            got=problems[0],
            do=do,
        )
    with whole_folder(into) as folder:
        for name in (SOURCES, BUILD, BIN):
            shutil.copytree(repository / name, folder / name)
        for name in (BUILD_SCRIPT, *DOCUMENTS):
            _copy(repository / name, folder / name)
        _write_card(folder, base, adapter.name)


def is_laid_out(folder: Path) -> bool:
    """Return whether a tree is meant as a repository of this layout: what has no variant.toml is an upstream
    tree, wherever a tree is read."""
    return (folder / CARD).is_file()


def repository_in(folder: Path) -> Path:
    """Return the repository that a user means by a folder: its `solver` if it was written by `evolake
    champion solvers --out` or `show --out`."""
    inner = folder / WRITTEN_OUT
    return inner if is_laid_out(inner) and not is_laid_out(folder) else folder


def as_variant(
    folder: Path, adapter_name: str | None, work: Path, adapters: Path | None = None
) -> tuple[Path, Adapter, str]:
    """Return a tree that a user names, as a variant: the tree itself where it is laid out, else laid out
    below `work` by its adapter.

    Args:
        adapter_name: needed for an upstream tree; of a repository, in place of what its card says. adapters:
            their folder.

    Returns:
        Its folder, its adapter and the name of its seed.

    Raises:
        InputError: no adapter is named for an upstream tree, or it does not fit.
    """
    if is_laid_out(folder):
        card = read_card(folder)
        return folder, load_adapter(adapter_name or card["adapter"], adapters), card["base"]
    if adapter_name is None:
        raise InputError(
            f"{folder} is not laid out as a variant",
            wanted=f"a file {CARD} in it, or --adapter NAME",
            do="name the solver's family",
        )
    adapter = load_adapter(adapter_name, adapters)
    create_variant(folder, adapter, work / "variant")
    return work / "variant", adapter, adapter.name


def _write_card(folder: Path, base: str, adapter: str) -> None:
    (folder / CARD).write_text(f'base = "{base}"\nadapter = "{adapter}"\n')


def _copy_sources(seed_tree: Path, adapter: Adapter, target: Path, base: str) -> None:
    source = seed_tree / adapter.layout.source
    if not source.is_dir():
        raise InputError(
            f"the sources of {base} are not what the adapter {adapter.name} expects",
            wanted=f"a folder {adapter.layout.source!r} in them",
            got=str(seed_tree),
            do="fix `root` of the seed",
        )
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.is_dir() or ".git" in path.parts or matches(name, adapter.layout.exclude):
            continue
        if path.is_symlink() or not path.is_file():
            raise InputError(
                f"{path} cannot be part of a variant", wanted="regular files", do="exclude it in the adapter"
            )
        _copy(path, target / name)
    for name in adapter.layout.keep:
        if not (seed_tree / name).is_file():
            raise InputError(
                f"the sources of {base} have no file {name}",
                wanted="the files that the adapter keeps",
                do="fix the adapter",
            )
        _copy(seed_tree / name, target / Path(name).name)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def _documents(base: str, patched: bool) -> dict[str, str]:
    change = (
        "Laid out from its upstream sources, with the patch of its adapter."
        if patched
        else "Laid out from its upstream sources, unchanged."
    )
    return {
        "HYPOTHESIS.md": (
            f"# Hypothesis\n\nThe solver {base} as its authors published it: what variants are measured "
            "against.\n"
        ),
        "CHANGELOG.md": f"# {base}\n\n{change}\n",
        "RESULTS.md": "# Results\n\nNot evaluated yet.\n",
    }


def read_card(folder: Path) -> dict[str, str]:
    """Return `base` and `adapter` of the variant at `folder`. Raises InputError if variant.toml is missing or
    says something else."""
    path = folder / CARD
    try:
        data = parse_toml(read_text(path), name=CARD)
    except (OSError, Unreadable, Unparsable) as error:
        raise InputError(
            f"{path} cannot be read",
            wanted="base = 'SEED' and adapter = 'NAME'",
            got=reason(error),
            do="write it",
        ) from None
    if set(data) != {"base", "adapter"} or not all(isinstance(value, str) for value in data.values()):
        raise InputError(
            f"{path} cannot be used",
            wanted="base = 'SEED' and adapter = 'NAME'",
            got=repr(data)[:200],
            do="write it so",
        )
    return data


def check_layout(folder: Path, adapter: Adapter | None = None) -> list[str]:
    """Return what is wrong with the layout, one sentence each; [] when nothing is. adapter: by default the
    one that variant.toml names."""
    if not folder.is_dir():
        return [f"{folder.name} is no folder"]
    problems = []
    try:
        card = read_card(folder)
        adapter = adapter or load_adapter(card["adapter"])
        if card["adapter"] != adapter.name:
            problems.append(f"variant.toml names the adapter {card['adapter']}; it is {adapter.name}")
    except InputError as error:
        problems.append(error.what)
    problems += [
        f"{name} has no place in a variant" for name in sorted({path.name for path in folder.iterdir()} - TOP)
    ]
    links = [path.relative_to(folder).as_posix() for path in _walk(folder) if path.is_symlink()]
    problems += [f"{name} is a link" for name in links]
    problems += [f"{name} is missing" for name in (SOURCES, BUILD, BIN) if not (folder / name).is_dir()]
    problems += [
        f"{name} is missing"
        for name in (BUILD_SCRIPT, RUN_SCRIPT, CARD, *DOCUMENTS)
        if not (folder / name).is_file()
    ]
    if links or not (folder / SOURCES).is_dir():
        return problems
    products = [*_files(folder, BUILD), *(name for name in _files(folder, BIN) if name != RUN_SCRIPT)]
    products += [name for name in _files(folder, SOURCES) if matches(name, PRODUCTS)]
    problems += [f"{name} is made by a build and has no place in a variant" for name in products[:5]]
    sources = sources_of(folder)
    if len(sources) > MOST_FILES or sum(path.stat().st_size for path in sources.values()) > MOST_BYTES:
        problems.append(f"there are more than {MOST_FILES} source files or {MOST_BYTES >> 20} MiB of them")
    return problems + (_against_adapter(folder, adapter) if adapter else [])


def _against_adapter(folder: Path, adapter: Adapter) -> list[str]:
    problems = []
    for name, text in ((BUILD_SCRIPT, build_script(adapter)), (RUN_SCRIPT, run_script(adapter))):
        path = folder / name
        if path.is_file() and read_bytes(path, MOST_BYTES) != text.encode():
            problems.append(f"{name} is not as the adapter {adapter.name} writes it")
        elif path.is_file() and not path.stat().st_mode & 0o100:
            problems.append(f"{name} cannot be executed")
    return problems + [
        f"the licence {name} is missing" for name in adapter.licences if not (folder / name).is_file()
    ]


def sources_of(folder: Path) -> dict[str, Path]:
    """Return the source files of a variant, by path relative to it, in order. Links are left out."""
    return {name: folder / name for name in _files(folder, SOURCES)}


def source_sha(folder: Path) -> str:
    """Return the variant's identity: sha256 over its sources, both scripts and variant.toml (path,
    executable, bytes). Documents do not count."""
    digest = hashlib.sha256(b"evolake variant 1\n")
    for name in [*sources_of(folder), BUILD_SCRIPT, RUN_SCRIPT, CARD]:
        path = folder / name
        if path.is_symlink() or not path.is_file():
            digest.update(f"{len(name.encode())} {name} missing\n".encode())
            continue
        data = read_bytes(path, MOST_BYTES)
        digest.update(
            f"{len(name.encode())} {name} {int(bool(path.stat().st_mode & 0o100))} {len(data)}\n".encode()
        )
        digest.update(data)
    return digest.hexdigest()


def archive_variant(folder: Path, blobs: BlobStore) -> str:
    """Store the variant without what a build made, and return the name of its archive: equal variants have
    one, whenever and wherever stored.

    Raises:
        InputError: a link leads out of it.
    """
    with Scratch("archive") as parent:
        target = Path(parent) / "variant"
        for name in (SOURCES, BUILD, BIN):
            (target / name).mkdir(parents=True)
        for name in [*sources_of(folder), BUILD_SCRIPT, RUN_SCRIPT, CARD, EDITS, *DOCUMENTS]:
            if (folder / name).is_file() and not (folder / name).is_symlink():
                _copy(folder / name, target / name)
        return blobs.put_tree(target)


def diff_sources(old_folder: Path, new_folder: Path) -> str:
    """Return unified diff of the sources of two variants; `apply_diff` takes the one to the other."""
    return diff_files(sources_of(old_folder), sources_of(new_folder))


def _files(folder: Path, below: str) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in _walk(folder / below)
        if path.is_file() and not path.is_symlink()
    )


def _walk(folder: Path) -> Iterator[Path]:
    """Everything below `folder`; links are not followed."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in os.scandir(folder):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
