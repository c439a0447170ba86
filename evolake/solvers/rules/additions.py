"""What a variant adds to its base and takes from it: only functions whose tokens differ are looked at, and a
function that moved is not new.

The seeds read clocks for their statistics and open the file that argv names; that is theirs to do. So a rule
judges the difference, fact by fact, of the functions of one name. The result is plain JSON, stored as the
evidence of the compliance gate; learned rules are replayed on it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.solvers.rules.syntax import FILE_SCOPE, Fact, TooDeep, Unit, units
from evolake.solvers.rules.tokens import lexical_additions, nesting

SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hh", ".hpp", ".hxx", ".H")
REMOVED_KINDS = ("name", "call", "member-call", "string", "return")
LARGEST_SOURCE = 8 << 20
LARGEST_READ, MOST_READ = 384 << 10, 2 << 20
"""Bytes of one changed source file, and of all of them together, that are read for facts."""
DEEPEST = 200
"""Open brackets at one place of a source file that is read; the seeds have at most 14."""
Place = tuple[str, str]


@dataclass(frozen=True)
class Additions:
    """The difference of two source trees.

    added, removed: one mapping a fact: kind, name, text, file, function, line, count. options: every declared
    option's default in the variant. changed, new, gone: files of C and C++, relative to the tree. binary:
    files that are no text. others: further files that differ, came or went; lines: text added to those.
    tokens, data: see `lexical_additions`. unread: changed source files that are too large or nest too deep,
    and why. judged, unmodified: functions (and files' own units) looked at, and those left alone because the
    base has the same.
    """

    added: list[dict[str, Any]] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    judged: int = 0
    unmodified: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the additions as JSON values."""
        return asdict(self)


def additions(variant: dict[str, bytes], base: dict[str, bytes]) -> Additions:
    """Return what `variant` adds to `base`. Both map a relative path to the file's bytes, as `read_tree`
    gives them."""
    sources = [{path: data for path, data in tree.items() if _is_source(path)} for tree in (variant, base)]
    touched = {
        path for path in sources[0].keys() | sources[1].keys() if sources[0].get(path) != sources[1].get(path)
    }
    unread = _unread({path: data for path, data in sources[0].items() if path in touched})
    read = touched - unread.keys()
    changed = [{path: data for path, data in tree.items() if path in read} for tree in sources]
    ours, theirs = ({path: units(data) for path, data in tree.items()} for tree in changed)
    tokens, data = lexical_additions(*changed)
    known = {unit.digest for result in theirs.values() for unit in result}
    kept = {unit.digest for result in ours.values() for unit in result}
    before = _by_place(theirs, kept)
    after = _by_place(ours, known)
    added = [
        row
        for place, result in sorted(after.items())
        for row in _difference(place, result, before.get(place, []))
    ]
    removed = [
        row
        for place, result in sorted(before.items())
        for row in _difference(place, result, after.get(place, []))
        if row["kind"] in REMOVED_KINDS
    ]
    others = {
        path
        for path in variant.keys() | base.keys()
        if not _is_source(path) and variant.get(path) != base.get(path)
    }
    binary = sorted(path for path, data in variant.items() if b"\0" in data and base.get(path) != data)
    texts = {path: variant[path] for path in others if path in variant and path not in binary}
    judged = sum(len(result) for result in after.values())
    options = _options({path: data for path, data in sources[0].items() if path not in unread})
    return Additions(
        added=added,
        removed=removed,
        options=options,
        changed=sorted(touched & sources[0].keys() & sources[1].keys()),
        new=sorted(sources[0].keys() - sources[1].keys()),
        gone=sorted(sources[1].keys() - sources[0].keys()),
        binary=binary,
        others=sorted(others),
        lines=_added_lines(texts, base),
        tokens=tokens,
        data=data,
        unread=sorted(unread.values()),
        judged=judged,
        unmodified=sum(len(result) for result in ours.values()) - judged,
    )


def read_tree(folder: Path, leave_out: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return every regular file below `folder` by its relative path. Links are not followed: a link reads as
    the text `-> target`.

    Args:
        leave_out: relative paths of files and folders that are not read.

    A file above LARGEST_SOURCE reads as a few bytes that are no text, so that it counts among `binary`.

    Raises:
        InputError: no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", wanted="a solver's repository", do="check the path")
    result = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if any(relative == name or relative.startswith(f"{name}/") for name in leave_out):
            continue
        if path.is_symlink():
            result[relative] = f"-> {path.readlink()}".encode()
        elif path.is_file():
            size = path.stat().st_size
            result[relative] = path.read_bytes() if size <= LARGEST_SOURCE else b"\0" + str(size).encode()
    return result


def _unread(sources: dict[str, bytes]) -> dict[str, str]:
    """Path -> why it is not read. Facts of the rest take time in proportion to their bytes."""
    result, used = {}, 0
    for path, data in sorted(sources.items()):
        used += len(data)
        if len(data) > LARGEST_READ or used > MOST_READ:
            result[path] = (
                f"{path} has {len(data)} bytes; at most {LARGEST_READ} of one file and {MOST_READ} of all "
                "changed ones are read"
            )
        elif (depth := nesting(data)) > DEEPEST:
            result[path] = f"{path} nests {depth} brackets; at most {DEEPEST} are read"
        else:
            try:
                units(data)
            except TooDeep as error:
                result[path] = f"{path} {error}"
    return result


def _is_source(path: str) -> bool:
    return path.endswith(SOURCE_SUFFIXES)


def _by_place(
    result: dict[str, tuple[Unit, ...]], same_elsewhere: set[str]
) -> dict[Place, list[tuple[str, Unit]]]:
    """Units that the other tree lacks, by where they are: functions by name wherever they are, the rest by
    its file."""
    places: dict[Place, list[tuple[str, Unit]]] = {}
    for path, members in result.items():
        for unit in members:
            if unit.digest not in same_elsewhere:
                place = (path, FILE_SCOPE) if unit.name == FILE_SCOPE else ("", unit.name)
                places.setdefault(place, []).append((path, unit))
    return places


def _difference(
    place: Place, here: list[tuple[str, Unit]], there: list[tuple[str, Unit]]
) -> list[dict[str, Any]]:
    """Facts that are more often here than there, as rows."""
    total: Counter[Fact] = Counter()
    for _, unit in here:
        total.update(unit.facts)
    for _, unit in there:
        total.subtract(unit.facts)
    path, unit = here[0]
    return [
        {
            "kind": fact.kind,
            "name": fact.name,
            "text": fact.text,
            "file": path,
            "function": place[1],
            "line": unit.line,
            "count": count,
        }
        for fact, count in sorted(total.items())
        if count > 0
    ]


def _options(sources: dict[str, bytes]) -> dict[str, str]:
    """Defaults of declared options. Of one name in two files, the last path's."""
    return {
        fact.name: fact.text
        for _, data in sorted(sources.items())
        if b"Option" in data or b"OPTION" in data
        for unit in units(data)
        for fact in sorted(unit.facts)
        if fact.kind == "option"
    }


def _added_lines(others: dict[str, bytes], base: dict[str, bytes]) -> list[dict[str, Any]]:
    """Lines of scripts, makefiles and the like that the base's file of that name does not have."""
    rows = []
    for path, data in sorted(others.items()):
        old = Counter(line.strip() for line in base.get(path, b"").decode("utf-8", "replace").splitlines())
        for number, raw in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            line = raw.strip()
            if line and old[line] <= 0:
                rows.append({"file": path, "line": number, "text": line[:300]})
            old[line] -= 1
    return rows
