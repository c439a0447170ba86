"""Checkers of the built program next to that of its base (what it asks of the system, how much it holds, read
from its ELF headers), and of build files that a variant may change: the net behind the rules on sources.

They read `evidence["program"]` and `evidence["base_program"]`, both as `program_facts` gives them. However a
source hides a call, the linker must know it: the names that a program takes from shared libraries are in its
dynamic symbols. The bytes come from a build by untrusted sources; nothing is believed beyond its bounds, and
what cannot be read is said in `problem`. Of build files the text is a lint that names the cause early; what
decides is what the kernel reported of the build: which programs ran, and with which flags.

Format: Tool Interface Standard, Executable and Linking Format, version 1.2; System V ABI, AMD64 and AArch64
supplements (64 bit, little-endian).
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.gates import Finding, checker

BUILD_FILES, DECLARED = "build_files", "declared_level"
LEVEL = re.compile(r"-O[0-3s]?")
FREE = re.compile(r"-W[a-z0-9=+-]*|-I\S*|-std=\S+|-g[0-3]?|-M[A-Z]*|-o|-c|-pipe|-quiet")
"""Words of a compiler's command line that change nothing that is measured: warnings, where headers of the
tree are, names of files."""
_DECLARATION = re.compile(r"^Build flags: (-O[0-3s])\s*$", re.MULTILINE)
LONGEST_NOTE = 1 << 16


def declared_level(changelog: Path) -> str:
    """Return the optimisation level that a variant says it is built with, by a line like `Build flags: -O2`
    of CHANGELOG.md; "" without one."""
    if changelog.is_symlink() or not changelog.is_file():
        return ""
    result = _DECLARATION.findall(changelog.read_bytes()[:LONGEST_NOTE].decode("utf-8", "replace"))
    return result[-1] if result else ""


@checker("solvers.build_files")
def build_files(evidence: Mapping[str, Any], *, lines: Sequence[str]) -> Finding | None:
    """Where a variant may change build files, no line that it adds to them matches one of the regular
    expressions `lines`; the cause is named."""
    opened = set(evidence.get(BUILD_FILES, ()))
    patterns = [re.compile(pattern) for pattern in lines]
    for row in (row for row in evidence["source"]["lines"] if row["file"] in opened):
        if result := next((match for pattern in patterns if (match := pattern.search(row["text"]))), None):
            return Finding(
                f"a build does more than compile sources: {result[0].strip()!r} added in "
                f"{row['file']}:{row['line']}"
            )
    return None


def build_differs(ours: Sequence[str], theirs: Sequence[str], declared: str) -> str:
    """Return what a build with changed build files did that the build of its base did not; "" for nothing
    that counts.

    Args:
        ours, theirs: command lines of compilers without names of files, and paths of programs that ran, as
            `BuildResult` has them.
        declared: the optimisation level that the variant says it is built with.
    """
    known: dict[tuple[str, ...], set[str]] = {}
    for line in theirs:
        rest, level = _reduced(line)
        known.setdefault(rest, set()).add(level)
    for line in ours:
        rest, level = _reduced(line)
        if rest not in known:
            return f"its build is not that of its base: it runs {line[:200]!r}"
        if level not in known[rest] | ({declared} if declared else set()):
            was = " or ".join(sorted(known[rest])) or "none"
            return (
                f"it is compiled with {level or 'no -O'} where its base is with {was}, which would be "
                "measured as a better or worse search; a variant that means it says so by a line `Build "
                f"flags: {level or '-O0'}` of CHANGELOG.md"
            )
    return ""


def _reduced(line: str) -> tuple[tuple[str, ...], str]:
    """Return a command line without what is free, and its optimisation level; the last one counts."""
    name, *words = line.split()
    levels = [word for word in words if LEVEL.fullmatch(word)]
    rest = sorted({word for word in words if not FREE.fullmatch(word) and not LEVEL.fullmatch(word)})
    return (name, *rest), levels[-1] if levels else ""


EXECUTABLE, WRITABLE = 1, 2
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551
LOADED, NO_BYTES = 2, 8
BUILD_ID = ".note.gnu.build-id"
"""A hash that the linker makes of all that it wrote, of what is not loaded too."""
NEEDED, STRINGS, SYMBOLS = 1, 5, 6
RUN_PATHS = (15, 29, 0x7FFFFEFC, 0x7FFFFFFD, 0x7FFFFFFF)
"""Tags that make the loader look elsewhere or load more: RPATH, RUNPATH, AUDIT, AUXILIARY, FILTER."""
MOST_SYMBOLS, LONGEST_NAME = 100_000, 4000


def program_facts(program: bytes) -> dict[str, Any]:
    """Return what a program asks for and holds.

    Returns:
        imports: names of undefined dynamic symbols, sorted. libraries: those it needs. sections: names of its
            loaded sections. executable_bytes,
        data_bytes: of its segments that are executed, and of the others. writes_code: a segment or the stack
            is both written and executed.
        loads_more: it makes the loader look elsewhere. problem: why it cannot be read, or "".
    """
    empty = {
        "imports": [],
        "libraries": [],
        "sections": [],
        "executable_bytes": 0,
        "data_bytes": 0,
        "writes_code": False,
        "loads_more": False,
        "problem": "",
    }
    try:
        return empty | _facts(program)
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        return empty | {"problem": f"its headers cannot be read ({error})"}


def loaded_sha(program: bytes) -> str:
    """Return the sha256 (hex) of all that is loaded of a program: names, addresses and bytes of its sections,
    without the linker's build id. Programs that differ by names of symbols and by what debuggers read have
    one. "" of one whose headers cannot be read."""
    try:
        digest = hashlib.sha256()
        for name, kind, address, offset, size in _loaded(program):
            if name != BUILD_ID:
                if kind != NO_BYTES and offset + size > len(program):
                    raise ValueError("a section is beyond its end")
                digest.update(f"{name} {kind} {address} {size}\n".encode())
                digest.update(b"" if kind == NO_BYTES else program[offset : offset + size])
        return digest.hexdigest()
    except (struct.error, ValueError, IndexError, OverflowError):
        return ""


def _facts(data: bytes) -> dict[str, Any]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF file of 64 bits, little-endian")
    segments = list(_segments(data))
    loads = [item for item in segments if item[0] == LOAD]
    stack = next((flags for kind, flags, *_ in segments if kind == STACK), EXECUTABLE)
    tags = _dynamic(data, segments)
    result = {
        "sections": _sections(data),
        "executable_bytes": sum(size for _, flags, _, _, size in loads if flags & EXECUTABLE),
        "data_bytes": sum(size for _, flags, _, _, size in loads if not flags & EXECUTABLE),
        "writes_code": bool(stack & EXECUTABLE)
        or any(flags & EXECUTABLE and flags & WRITABLE for _, flags, *_ in loads),
        "loads_more": any(tag in RUN_PATHS for tag, _ in tags),
    }
    if not tags:
        return result
    strings = _offset(next(value for tag, value in tags if tag == STRINGS), loads)
    symbols = _offset(next(value for tag, value in tags if tag == SYMBOLS), loads)
    libraries = sorted({_name(data, strings + value) for tag, value in tags if tag == NEEDED})
    return result | {"libraries": libraries, "imports": _imports(data, symbols, strings)}


def _segments(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """(type, flags, offset, address, bytes in the file) of each segment."""
    place, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, place + number * size)
        if offset + length > len(data):
            raise ValueError("a segment is beyond its end")
        yield kind, flags, offset, address, length


def _dynamic(data: bytes, segments: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int]]:
    """Return the entries of the dynamic segment; [] of a program that is linked statically."""
    result = []
    for kind, _, offset, _, length in segments:
        if kind == DYNAMIC:
            for place in range(offset, offset + length - 15, 16):
                tag, value = struct.unpack_from("<QQ", data, place)
                if tag == 0:
                    break
                result.append((tag, value))
    return result


def _offset(address: int, loads: list[tuple[int, int, int, int, int]]) -> int:
    """Return where in the file the bytes at an address are."""
    for _, _, offset, start, length in loads:
        if start <= address < start + length:
            return offset + address - start
    raise ValueError("an address that no segment holds")


def _imports(data: bytes, symbols: int, strings: int) -> list[str]:
    """Return the names of the undefined dynamic symbols. The table ends where the strings begin, as linkers
    write it."""
    if not symbols < strings or (strings - symbols) // 24 > MOST_SYMBOLS:
        raise ValueError("dynamic symbols that are not followed by their names")
    result = set()
    for place in range(symbols + 24, strings - 23, 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, place)
        if section == 0 and name:
            result.add(_name(data, strings + name))
    return sorted(result)


def _sections(data: bytes) -> list[str]:
    """Names of the sections that are loaded."""
    return sorted({name for name, *_ in _loaded(data)})


def _loaded(data: bytes) -> list[tuple[str, int, int, int, int]]:
    """(name, type, address, offset, bytes) of each section that is loaded, in the file's order."""
    place = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    if not place or not count:
        raise ValueError("no section headers")
    headers = [struct.unpack_from("<IIQQQQ", data, place + number * size) for number in range(count)]
    strings = headers[names][4]
    return [
        (_name(data, strings + name), kind, address, offset, length)
        for name, kind, flags, address, offset, length in headers
        if flags & LOADED
    ]


def _name(data: bytes, place: int) -> str:
    end = data.index(b"\0", place, place + LONGEST_NAME)
    return data[place:end].decode("ascii", "backslashreplace")


Row = Mapping[str, Any]


@checker("solvers.program_asks")
def program_asks(
    evidence: Row, *, allowed: Sequence[str], refused: Sequence[str], sections: str
) -> Finding | None:
    """Check that a program asks the system for nothing that its base does not ask for.

    allowed: regular expressions of names that any program may take from the C and C++ libraries; refused: of
    those among them that it may not. sections: of the sections that a compiler makes. Names that the base has
    are free.
    """
    ours, theirs = evidence["program"], evidence["base_program"]
    if ours is None:
        return None  # nothing was built, and the rule of the build says so
    if ours["problem"]:
        return Finding(f"the built program is not as a compiler makes it: {ours['problem']}")
    fine, bad, made = re.compile("|".join(allowed)), re.compile("|".join(refused)), re.compile(sections)
    new = [
        name
        for name in ours["imports"]
        if name not in theirs["imports"] and (not fine.fullmatch(name) or bad.fullmatch(name))
    ]
    if new:
        return Finding(f"the built program takes from the system what its base does not: {_listed(new)}")
    if more := sorted(set(ours["libraries"]) - set(theirs["libraries"])):
        return Finding(f"the built program is linked with {_listed(more)}")
    if odd := [
        name for name in ours["sections"] if name not in theirs["sections"] and not made.fullmatch(name)
    ]:
        return Finding(f"the built program has sections of its own: {_listed(odd)}")
    for name, said in (
        ("writes_code", "may execute what it writes"),
        ("loads_more", "tells the loader to look elsewhere"),
    ):
        if ours[name] and not theirs[name]:
            return Finding(f"the built program {said}")
    if theirs["libraries"] and not ours["libraries"]:
        return Finding(
            "the built program is linked statically, so that what it takes from the system cannot be seen"
        )
    return None


@checker("solvers.program_size")
def program_size(evidence: Row, *, most_code: int, most_data: int) -> Finding | None:
    """Check that a program holds at most so many bytes of code and of data more than that of its base."""
    ours, theirs = evidence["program"], evidence["base_program"]
    if ours is None:
        return None
    for name, limit, what in (("executable_bytes", most_code, "code"), ("data_bytes", most_data, "data")):
        if ours[name] - theirs[name] > limit:
            return Finding(
                f"the built program holds {ours[name] - theirs[name]} bytes of {what} more than its base; "
                f"at most {limit} are taken"
            )
    return None


@checker("solvers.same_flags")
def same_flags(evidence: Row) -> Finding | None:
    """Check that a variant is built by the programs and with the flags that build its base, as the kernel
    reported them; so are any two variants of one base. One that changed a build file may differ by the
    folders of headers and by warnings, and by the optimisation level that its CHANGELOG.md states."""
    ours, theirs = evidence["flags"], evidence["base_flags"]
    if ours is None or ours == theirs:
        return None
    if evidence.get(BUILD_FILES):
        said = build_differs(ours, theirs, evidence.get(DECLARED, ""))
        return Finding(said) if said else None
    more, less = (sorted(set(a) - set(b)) for a, b in ((ours, theirs), (theirs, ours)))
    said = f"runs {more[0]!r}" if more else f"does not run {less[0]!r}"
    return Finding(f"its build is not that of its base: it {said[:200]}")


@checker("solvers.changes_something")
def changes_something(evidence: Row) -> Finding | None:
    """Check that what is loaded of a program is not that of its seed, nor that of a variant that lives:
    nothing that is measured of it could differ."""
    if not (same := evidence["same_program"]):
        return None
    whose = same if same == "its seed" else f"the variant {same}"
    return Finding(f"changes nothing: the compiler makes the same program of it as of {whose}, byte for byte")


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:5]) + (f", and {len(items) - 5} more" if len(items) > 5 else "")
