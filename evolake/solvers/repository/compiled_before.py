"""How a build in the jail is shown objects that were compiled before, and how those of a seed are kept: a
compiler's name that leads to a script.

The script stands for the compiler in the jail's PATH. Of a seed it calls the compiler and keeps, next to each
object, the command line, the folder, the hash of each file that was read (SUNPRO_DEPENDENCIES makes gcc and
clang write them all, and changes no command line), the messages and the time it took. Of a variant it answers
the same command line in the same folder, if all those files hash alike, with the object and the messages;
anything else it hands to the compiler. The kernel reports the script's command lines as it reports the
compiler's, so that a build's flags are seen as before.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.jail import elf
from evolake.jail.bubblewrap import WORK
from evolake.jail.toolbox import PATH

PLACE = "/compiled"
"""Where the jail shows the script, its tools and the objects; nothing in the jail can write there."""
SCRIPTS, TOOLS = f"{PLACE}/bin", f"{PLACE}/tools"
HELPERS = ("cat", "sed", "sha256sum")
KEPT = ".compiled"
"""Folder of a seed's build in which the script keeps what it makes."""
MOST_OBJECTS = 400
ENDINGS = ("args", "o", "err", "sums", "times")
SEPARATOR = "\x1f"
INTERNALS = re.compile(r"cc1(?:plus)?|(?:[\w.]+-)*as")
"""Programs that a compiler's driver runs to make an object."""
_LONGER = (
    r"plugin|profile|test-coverage|dump|save|stack-usage|callgraph|auto-profile|lto|wpa|record|module|"
    r"compare|diagnostics-"
)
_WORD = re.compile(
    rf"-(?:[cowg]|pipe|ansi|pthread|pedantic|g[0-3]|[IDU].*|W(?![pal],).*|O\w*|std=.*|f(?!{_LONGER}).*|"
    r"m(?!\w+=native).*)|[^-@].*",
    re.DOTALL,
)
"""Words of a command line that make one object of what it reads, and nothing of this machine's own."""
_SUM = re.compile(r"([0-9a-f]{64}) [ *](/?[^/\n][^\n]*)")

_TIME = re.compile(r"(\d+)m([\d.]+)s")

_KEEPING = """#!/bin/sh
one= out= last=
for word in "$@"; do
  case $word in -c) one=1 ;; esac
  case $last in -o) out=$word ;; esac
  last=$word
done
if [ -z "$one" ] || [ -z "$out" ]; then exec {compiler} "$@"; fi
n=1
set -C
until {{ true > {kept}/$n.args; }} 2>/dev/null; do
  n=$((n + 1))
  if [ $n -gt {most} ]; then exec {compiler} "$@"; fi
done
set +C
printf '%s\\0' "$PWD" "$@" > {kept}/$n.args
SUNPRO_DEPENDENCIES={kept}/$n.d {compiler} "$@" 2> {kept}/$n.err
status=$?
times > {kept}/$n.times
{tools}/cat {kept}/$n.err >&2
if [ $status = 0 ]; then
  set -f
  files= last=
  for word in "$@"; do
    case $last in -o) ;; *) case $word in -*) ;; *) if [ -f "$word" ]; then files="$files $word"; fi ;; esac ;; esac
    last=$word
  done
  if {tools}/sha256sum -- $files $({tools}/sed -e 's/^[^:]*: *//' -e 's/\\\\$//' {kept}/$n.d) > {kept}/$n.sums 2>/dev/null; then
    {tools}/cat "$out" > {kept}/$n.o
  fi
fi
exit $status
"""  # noqa: E501
_ANSWERING = """#!/bin/sh
IFS='{separator}'
case "$PWD$IFS$*" in
{cases}*) exec {compiler} "$@" ;;
esac
if {tools}/sha256sum --status -c {place}/$n.sums 2>/dev/null && {tools}/cat {place}/$n.o > "$out" 2>/dev/null; then
  {tools}/cat {place}/$n.err >&2
  exit 0
fi
exec {compiler} "$@"
"""  # noqa: E501


@dataclass(frozen=True)
class Compiled:
    """One object of a seed: the folder and the words of the compiler's command line, its name by that, the
    file, what the compiler said, hash by path of what it read: `own` of the build's folder, `system` of the
    compiler's and the libraries' headers."""

    folder: str
    words: tuple[str, ...]
    out: str
    data: bytes
    said: bytes
    own: Mapping[str, str]
    system: Mapping[str, str]
    cpu_s: float


def helpers() -> dict[str, Path] | None:
    """Return place in the jail -> file of the host, of the tools that the scripts use; None where this system
    lacks one."""
    result: dict[str, Path] = {}
    for name in HELPERS:
        if (path := shutil.which(name, path=PATH)) is None:
            return None
        try:
            result |= elf.needed(Path(path).resolve(), trusted=True) | {
                f"{TOOLS}/{name}": Path(path).resolve()
            }
        except elf.BadProgram:
            return None
    return result


def keeping_files(compiler: str) -> dict[str, bytes]:
    """Return name -> contents of what a seed's build is shown at PLACE but for the tools. compiler: its path
    in the jail."""
    script = _KEEPING.format(
        compiler=shlex.quote(compiler), kept=f"{WORK}/{KEPT}", tools=TOOLS, most=MOST_OBJECTS
    )
    return {_script(compiler): script.encode()}


def answering_files(compiler: str, objects: Sequence[Compiled]) -> dict[str, bytes]:
    """Return the same of a variant's: the script for the compiler, and what it answers with."""
    cases, files = [], {}
    for number, item in enumerate(objects, 1):
        asked = SEPARATOR.join([item.folder, *item.words])
        cases.append(f"{shlex.quote(asked)}) n={number} out={shlex.quote(item.out)} ;;\n")
        sums = "".join(f"{sha}  {path}\n" for path, sha in sorted(item.own.items()))
        files |= {f"{number}.o": item.data, f"{number}.err": item.said, f"{number}.sums": sums.encode()}
    script = _ANSWERING.format(
        separator=SEPARATOR, cases="".join(cases), compiler=shlex.quote(compiler), tools=TOOLS, place=PLACE
    )
    return files | {_script(compiler): script.encode()}


def _script(compiler: str) -> str:
    return f"{SCRIPTS.removeprefix(PLACE)[1:]}/{posixpath.basename(compiler)}"


def kept_names() -> list[str]:
    """Return names, in the build's folder, of all that the script of a seed's build may leave."""
    return [f"{KEPT}/{number}.{ending}" for number in range(1, MOST_OBJECTS + 1) for ending in ENDINGS]


def read_kept(outputs: Mapping[str, bytes]) -> list[Compiled]:
    """Return the objects among what a seed's build left; those that a later build could not be answered with
    exactly are left out."""
    result = []
    for number in range(1, MOST_OBJECTS + 1):
        parts = [outputs.get(f"{KEPT}/{number}.{ending}") for ending in ENDINGS]
        if all(part is not None for part in parts) and (item := _compiled(*(part or b"" for part in parts))):
            result.append(item)
    return result


def _compiled(args: bytes, data: bytes, said: bytes, sums: bytes, times: bytes) -> Compiled | None:
    try:
        folder, *words = args.decode().removesuffix("\0").split("\0")
        lines = sums.decode().splitlines()
        cpu_s = sum(
            60 * float(minutes) + float(seconds)
            for minutes, seconds in _TIME.findall(times.decode().splitlines()[-1])
        )
    except (ValueError, IndexError):
        return None
    matched = [_SUM.fullmatch(line) for line in lines]
    if (
        not data
        or words.count("-o") != 1
        or words.count("-c") != 1
        or not all(map(_WORD.fullmatch, words))
        or SEPARATOR in args.decode()
    ):
        return None
    own, system = {}, {}
    for line in matched:
        if line is None:
            return None
        path = posixpath.normpath(posixpath.join(folder, line[2]))
        (own if path.startswith(f"{WORK}/") else system)[path] = line[1]
    return (
        Compiled(folder, tuple(words), words[words.index("-o") + 1], data, said, own, system, cpu_s)
        if own
        else None
    )


def without_scripts(programs: Iterable[tuple[str, ...]], compiler: str) -> list[tuple[str, ...]]:
    """Return what a build executed, as if the scripts and their tools had not been there: the script's
    command lines are the compiler's."""
    name = posixpath.basename(compiler)
    parts = [
        (compiler, *words) if path == f"{SCRIPTS}/{name}" else (path, *words) for path, *words in programs
    ]
    return [line for line in parts if not line[0].startswith(f"{PLACE}/")]


def answered(programs: Iterable[tuple[str, ...]], objects: Sequence[Compiled]) -> list[Compiled]:
    """Return which of the objects the script of a variant's build answered with."""
    names = {f"{PLACE}/{number}.o": item for number, item in enumerate(objects, 1)}
    return [
        names[line[2]]
        for line in programs
        if line[0] == f"{TOOLS}/cat" and len(line) == 3 and line[2] in names
    ]


def to_json(item: Compiled) -> dict[str, Any]:
    """Return all but the object itself, of which the hash."""
    return {
        "folder": item.folder,
        "words": list(item.words),
        "out": item.out,
        "said": item.said.decode("latin-1"),
        "own": dict(item.own),
        "system": dict(item.system),
        "cpu_s": item.cpu_s,
        "sha": hashlib.sha256(item.data).hexdigest(),
    }


def from_json(values: Mapping[str, Any], data: bytes) -> Compiled:
    """Return the reverse. Raises ValueError where `data` is not the object that was written, KeyError or
    TypeError where something is missing."""
    if hashlib.sha256(data).hexdigest() != values["sha"]:
        raise ValueError("an object is damaged")
    return Compiled(
        values["folder"],
        tuple(values["words"]),
        values["out"],
        data,
        values["said"].encode("latin-1"),
        dict(values["own"]),
        dict(values["system"]),
        float(values["cpu_s"]),
    )
